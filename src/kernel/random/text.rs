//! What is made of random bits: the draws of `random.wgsl`.

use std::sync::Arc;

use crate::wgsl::grid::TRIPS_MAX;
use crate::wgsl::params::params;
use crate::wgsl::source::source;
use crate::wgsl::{Assembled, Entry, Form, Grid, Region, Slot, Target, Writes, kept};

/// The kernel. Its trips: for each quad two blocks at most, of ten rounds.
pub const RANDOM: Entry =
    Entry::new("random", source!("random.wgsl"), TRIPS_MAX * (1 + 2 * 10)).told(RandomJob::MEMBERS);

params! {
    struct RandomJob {
        grid: Grid,
        key: [u32; 4],
        draw: [u32; 2],
    }
}

/// How a quad is drawn: `random/draw.wgsl` says what the words of `draw` in the parameters mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Draw {
    /// The bits of a stream.
    Bits,
    /// A fraction of one.
    Uniform,
    /// A fraction of one in f64, of 53 bits.
    Uniform64,
    /// A normal number.
    Normal,
    /// One of as many integers.
    Below,
    /// Whether the bits are below a threshold.
    Chance,
}

impl Draw {
    /// Every draw.
    #[cfg(feature = "testing")]
    pub const ALL: [Self; 6] =
        [Self::Bits, Self::Uniform, Self::Uniform64, Self::Normal, Self::Below, Self::Chance];

    /// The kernel that stores it in a form.
    #[must_use]
    pub fn assemble(self, form: Form, target: Target) -> Arc<Assembled> {
        kept::worded(&RANDOM, &self, &[Slot::write(form)], 0, target)
    }
}

impl Writes for Draw {
    fn regions(&self) -> Vec<Region> {
        let name = match self {
            Self::Bits => "bits",
            Self::Uniform => "uniform",
            Self::Uniform64 => "uniform64",
            Self::Normal => "normal",
            Self::Below => "below",
            Self::Chance => "chance",
        };
        vec![Region::text("draw", format!("let v = draw_{name}(q);"))]
    }
}
