//! What is made of random bits: the draws of `random.wgsl`.

use std::sync::Arc;

use crate::wgsl::access::bindings;
use crate::wgsl::assemble::build;
use crate::wgsl::grid::TRIPS_MAX;
use crate::wgsl::kept::kept;
use crate::wgsl::params::params;
use crate::wgsl::source::source;
use crate::wgsl::{Assembled, Entry, Form, Grid, Needs, Slot, Target};

/// The kernel. Two blocks at most, of ten rounds.
pub const RANDOM: Entry =
    Entry::new("random", source!("random.wgsl"), TRIPS_MAX * (1 + 2 * 10)).told(RandomJob::MEMBERS);

params! {
    struct RandomJob {
        grid: Grid,
        key: [u32; 4],
        draw: [u32; 2],
    }
}

/// How a quad is drawn. What the words of `draw` in the parameters mean stands with each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Draw {
    /// The bits of a stream: its number.
    Bits,
    /// The highest bits as a fraction of one: how many are shifted out, the bits of the f32 that
    /// scales the rest.
    Uniform,
    /// 53 bits of two streams as a fraction of one, in f64.
    Uniform64,
    /// Box and Muller: two normal numbers from two words.
    Normal,
    /// One of as many integers (0 for 2^32), from a lowest one on.
    Below,
    /// Whether the bits are below a threshold.
    Chance,
}

impl Draw {
    /// Every draw.
    pub const ALL: [Self; 6] =
        [Self::Bits, Self::Uniform, Self::Uniform64, Self::Normal, Self::Below, Self::Chance];

    const fn text(self) -> &'static str {
        match self {
            Self::Bits => "let v = block(q, p.draw.x);",
            Self::Uniform => {
                "let kept = block(q, 0u) >> vec4<u32>(p.draw.x);\n\
                 let v = vec4<f32>(kept) * bitcast<f32>(p.draw.y);"
            }
            Self::Uniform64 => {
                "let high = vec4<u64>(block(q, 0u)) << vec4<u32>(21u);\n\
                 let low = vec4<u64>(block(q, 1u)) >> vec4<u32>(11u);\n\
                 let v = vec4<f64>(high | low) * 1.1102230246251565e-16lf;"
            }
            // From 2^-32 to 1, and from 0 to a whole turn.
            Self::Normal => {
                "let b = block(q, 0u);\n\
                 let u = (u32_to_f32(b.xxzz) + 1.0) * 2.3283064365386963e-10;\n\
                 let r = sqrt(max(-2.0 * ln_f32(u), vec4<f32>(0.0)));\n\
                 let turn = vec4<f32>(b.yyww >> vec4<u32>(8u)) * 3.7450704e-7;\n\
                 let v = r * vec4<f32>(cos_f32(turn).x, sin_f32(turn).y, cos_f32(turn).z, \
                 sin_f32(turn).w);"
            }
            Self::Below => {
                "let a = block(q, 0u);\n\
                 let b = block(q, 1u);\n\
                 let n = p.draw.x;\n\
                 let v = vec4<u32>(part_of(a.x, b.x, n), part_of(a.y, b.y, n), \
                 part_of(a.z, b.z, n), part_of(a.w, b.w, n)) + vec4<u32>(p.draw.y);"
            }
            Self::Chance => "let v = block(q, 0u) < vec4<u32>(p.draw.x);",
        }
    }

    /// The kernel that stores it in a form.
    #[must_use]
    pub fn assemble(self, form: Form, target: Target) -> Arc<Assembled> {
        let slots = [Slot::write(form)];
        let needs = if self == Self::Uniform64 { Needs::INT64 } else { Needs::NONE };
        kept(RANDOM.name, &slots, self.text(), (0, target), || {
            let bindings = bindings(&slots, target);
            let regions = [("bindings", &*bindings), ("draw", self.text())];
            build(&RANDOM, &slots, &regions, needs, (0, target))
        })
    }
}
