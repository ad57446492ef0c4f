//! The text of windows: the taps along x are written out, by name: `e5` is the sixth element of
//! those that the windows of a quad have in a row, `v1` the second quad of them.

use std::collections::BTreeSet;

use crate::dtype::DType;
use crate::kernel::reduce::text::{Fold, Reduce};
use crate::op::Kind;
use crate::wgsl::lines::{StoredQuad, lane, put};
use crate::wgsl::params::params;
use crate::wgsl::source::source;
use crate::wgsl::{Entry, Needs, Region, Writes};

/// The kernel.
pub const WINDOWS: Entry =
    Entry::core("windows", source!("windows.wgsl")).told(WindowsJob::MEMBERS);

params! {
    struct WindowsJob {
        columns: [u32; 4],
        result: [u32; 4],
        space: [u32; 4],
        step: [u32; 2],
        reach: [u32; 2],
        first: [u32; 2],
        along: [u32; 2],
        input: [u32; 4],
        weight: [u32; 4],
        outer: [u32; 2],
    }
}

/// What the elements of a window come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Gather {
    /// The largest, or NaN if one is.
    Highest,
    /// Their sum.
    Sum,
    /// Their sum, each times a weight; the weights are another input.
    Weighted,
}

/// The kernel for windows that have so many taps along x.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct WindowsText {
    /// What it makes of them.
    pub gather: Gather,
    /// What the elements are.
    pub dtype: DType,
    /// The taps along x.
    pub taps: u32,
    /// From window to window.
    pub step: u32,
    /// From tap to tap.
    pub reach: u32,
    /// Which element of a quad the first one is, if quads are loaded.
    pub phase: Option<u32>,
    /// Whether rows of the result are whole quads. Otherwise it is stored by elements.
    pub whole: bool,
    /// Whether images and channels are one axis.
    pub lone: bool,
    /// Whether the result has one plane.
    pub flat: bool,
}

impl WindowsText {
    const fn fold(&self) -> Reduce {
        let fold = match self.gather {
            Gather::Highest => Fold::Max,
            Gather::Sum | Gather::Weighted => Fold::Sum,
        };
        Reduce { fold, kind: Kind::of(self.dtype), index: false }
    }

    /// What a window finds beside the input, as it is held: for a maximum the least of the dtype,
    /// for a sum 0.
    const fn least(&self) -> &'static str {
        match (self.gather, self.dtype) {
            // Negative infinity, lifted.
            (Gather::Highest, DType::F32 | DType::F16 | DType::Bf16) => "-2139095040",
            (Gather::Highest, DType::F64) => "-9218868437227405312li",
            (Gather::Highest, DType::I8) => "-128",
            (Gather::Highest, DType::I16) => "-32768",
            _ => self.fold().neutral(),
        }
    }

    fn arithmetic(&self) -> String {
        let least = self.least();
        self.fold().arithmetic(false, false)
            + &format!("fn least() -> vec4<Held> {{\n    return vec4<Held>({least});\n}}\n")
    }

    /// The place of the first window, and what is the same for all lines.
    fn place(&self) -> String {
        let mut text = String::new();
        match self.flat {
            true => put!(text, "let lead = plane;\nlet z0 = p.job.first.x;"),
            false => put!(
                text,
                "let lead = plane / p.job.result.x;\n\
                 let z0 = (plane - lead * p.job.result.x) * p.job.step.x + p.job.first.x;"
            ),
        }
        match self.lone {
            true => put!(text, "let channel = lead;\nlet begin = lead * p.job.input.w;"),
            false => put!(
                text,
                "let image = lead / p.job.result.w;\n\
                 let channel = lead - image * p.job.result.w;\n\
                 let begin = image * p.job.outer.x + channel * p.job.input.w;"
            ),
        }
        if self.gather == Gather::Weighted {
            put!(text, "let weights = channel * p.job.weight.w;");
        }
        text
    }

    /// The element of window `n` at tap `k`, counted from the first that is loaded.
    fn at(&self, n: u32, k: u32) -> u32 {
        self.phase.unwrap_or(0) + n * self.step + k * self.reach
    }

    fn take(&self) -> String {
        let all = (0..4).flat_map(|n| (0..self.taps).map(move |k| self.at(n, k)));
        let (unit, name) = if self.phase.is_some() { (4, 'v') } else { (1, 'e') };
        let loaded: BTreeSet<u32> = all.map(|at| at / unit).collect();
        let stride = if self.phase.is_some() { "" } else { " * p.job.input.z" };
        let mut text = format!("let start = row + edge{stride};\n");
        for t in loaded {
            let place = format!("select(begin, start + {t}u{stride}, i{t})");
            put!(text, "let i{t} = there && edge + {t}u < p.job.space.z;");
            put!(text, "let {name}{t} = select(least(), lift(head_0({place})), i{t});");
        }
        let part = |at: u32| match self.phase {
            Some(_) => format!("v{}.{}", at / 4, lane(at)),
            None => format!("e{at}.x"),
        };
        for k in 0..self.taps {
            let parts = [0, 1, 2, 3].map(|n| part(self.at(n, k))).join(", ");
            match self.gather {
                Gather::Weighted => {
                    put!(text, "s += head_1(tap + {k}u * p.job.weight.z).x * vec4<Held>({parts});");
                }
                _ => put!(text, "s = merge(s, vec4<Held>({parts}));"),
            }
        }
        if self.gather == Gather::Weighted {
            let tap = "let tap = weights + i * p.job.weight.x + j * p.job.weight.y;\n";
            text.insert_str(0, tap);
        }
        text
    }

    fn store(&self) -> String {
        let kind = format!("vec4<{}>", self.fold().kind.name());
        let within = ("4u * x", "p.job.result.z");
        StoredQuad { quad: ("lower(s)", &kind), to: "to", within }.lines(self.whole)
    }
}

impl Writes for WindowsText {
    fn regions(&self) -> Vec<Region> {
        vec![
            Region::text("fold", self.arithmetic()).needing(Needs::of(self.fold().held())),
            Region::text("place", self.place()),
            Region::text("take", self.take()),
            Region::text("store", self.store()),
        ]
    }
}
