//! The text of a grid sample, and how its pixels and channels are shared among invocations.

use crate::caps::breadth::Breadth;
use crate::count::{word, words, wrapped};
use crate::dtype::DType;
use crate::error::Result;
use crate::layout::Layout;
use crate::wgsl::entry::CORE_TRIPS;
use crate::wgsl::grid::LANES_BUSY;
use crate::wgsl::lines::StoredQuad;
use crate::wgsl::params::params;
use crate::wgsl::source::source;
use crate::wgsl::{Entry, Region, Target, Worded, Writes};

/// The kernel.
pub const GRID_SAMPLE: Entry = Entry::core("grid_sample", source!("grid_sample.wgsl"))
    .told(SampleJob::MEMBERS)
    .worded(Sampling::wordings);

params! {
    struct SampleJob {
        tiles: [u32; 4],
        channels: [u32; 4],
        input: [u32; 4],
        grid: [u32; 4],
        columns: u32,
        lines: u32,
        reach_x: f32,
        reach_y: f32,
        around: f32,
    }
}

/// What lies beside an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Around {
    Number,
    Ends,
    Mirrors,
    Copies,
}

impl Around {
    pub(crate) const ALL: [Self; 4] = [Self::Number, Self::Ends, Self::Mirrors, Self::Copies];

    /// What depends on it, by the regions that it is written into.
    fn lines(self) -> [(&'static str, &'static str); 4] {
        let by_place = match self {
            Self::Number => "return place_by_number(g, reach, size);",
            Self::Ends => "return place_by_ends(g, reach, size);",
            Self::Mirrors => "return place_by_mirrors(g, reach, size);",
            Self::Copies => "return place_by_copies(g, reach, size);",
        };
        let by_tap = match self {
            Self::Number => "return tap_by_number(i, size);",
            Self::Ends | Self::Mirrors => "return tap_by_ends(i, size);",
            Self::Copies => "return tap_by_copies(i, size);",
        };
        let beside = match self {
            Self::Number => "return select(vec4<f32>(p.job.around), x, inside);",
            _ => "return x;",
        };
        let lost = match self {
            Self::Number | Self::Ends => "return is_nan_f32(g);",
            Self::Mirrors | Self::Copies => "return !is_finite_f32(g);",
        };
        [("place", by_place), ("tap", by_tap), ("beside", beside), ("lost", lost)]
    }
}

const NEAREST: &str = "let a = taps(tap(vec4<i32>(round(y)), p.job.lines), \
     tap(vec4<i32>(round(x)), p.job.columns));\n";

/// How an image is sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Sampling {
    /// The element that is nearest, instead of the four around a place.
    pub(crate) nearest: bool,
    pub(crate) around: Around,
    /// Whether an image of the result is whole quads. Otherwise it is stored by elements.
    pub(crate) whole: bool,
}

impl Writes for Sampling {
    fn regions(&self) -> Vec<Region> {
        let Self { nearest, around, whole } = *self;
        let lines = around.lines().into_iter();
        let mut regions: Vec<_> = lines.map(|(name, text)| Region::text(name, text)).collect();
        if nearest {
            regions.push(Region::text("taps", NEAREST));
            regions.push(Region::text("blend", "var v = elements(a, begin);\n"));
        }
        let store =
            StoredQuad { quad: ("v", "vec4<f32>"), to: "to", within: ("pixel", "p.job.tiles.z") };
        regions.extend((!whole).then(|| Region::text("store", store.lines(whole))));
        regions
    }
}

impl Sampling {
    fn wordings() -> Vec<Worded> {
        let each = |n: usize| {
            let [nearest, whole] = [1, 2].map(|bit| n & bit > 0);
            let text = Self { nearest, around: Around::ALL[n / 4 % 4], whole };
            let target = [Target::Cpu, Target::Cpu64, Target::Gpu][n / 16];
            let worded = Worded::of(text, &[DType::F32; 2], DType::F32, target);
            Worded { by_element: !whole, ..worded }
        };
        (0..48).map(each).collect()
    }

    /// Invocations of a workgroup.
    pub(super) const fn lanes(target: Target) -> u32 {
        if matches!(target, Target::Gpu) { 64 } else { target.workgroup() }
    }

    /// What it is told of an image `[n, c, h, w]` and a grid `[n, y, x, 2]`, and the workgroups
    /// that it takes. On a GPU channels are shared until there are lanes enough.
    pub(super) fn job(
        &self,
        [input, grid]: [&Layout; 2],
        (corners, around): (bool, f32),
        (target, breadth): (Target, Breadth),
    ) -> Result<(SampleJob, u32)> {
        let (from, to) = (input.shape().dims(), grid.shape().dims());
        let pixels = to[1] * to[2];
        let quads = pixels.div_ceil(4);
        let all = quads * to[0];
        let busy = breadth.share(LANES_BUSY);
        let wanted = if target == Target::Gpu { busy.div_ceil(all) } else { 1 };
        let most = from[1].div_ceil(CORE_TRIPS as usize / 8);
        let each = from[1].div_ceil(wanted.max(most).min(from[1]));
        let shares = from[1].div_ceil(each);
        let strides = |layout: &Layout| [0, 1, 2, 3].map(|axis| wrapped(layout.strides()[axis]));
        let reach = |size: usize| (size - usize::from(corners)) as f32 / 2.0;
        let job = SampleJob {
            tiles: words([all, quads, pixels, to[2]])?,
            channels: words([from[1], each, shares, 0])?,
            input: strides(input),
            grid: strides(grid),
            columns: word(from[3])?,
            lines: word(from[2])?,
            reach_x: reach(from[3]),
            reach_y: reach(from[2]),
            around,
        };
        Ok((job, word(all.div_ceil(Self::lanes(target) as usize) * shares)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::Shape;

    #[test]
    fn no_lane_takes_more_channels_than_a_loop_has_trips() {
        let sampling = Sampling { nearest: false, around: Around::Number, whole: true };
        let most = CORE_TRIPS / 8;
        for (channels, target, shares) in [
            (1, Target::Cpu, 1),
            (most, Target::Cpu64, 1),
            (most + 1, Target::Cpu, 2),
            (5 * most, Target::Cpu64, 5),
            // Lanes enough come before that on a GPU; then there are more again.
            (64, Target::Gpu, 64),
            (most, Target::Gpu, most),
        ] {
            let layout = |dims: [usize; 4]| Layout::dense(Shape::new(dims).expect("a shape"));
            let views = [layout([1, channels as usize, 2, 2]), layout([1, 1, 4, 2])];
            let job = sampling.job(views.each_ref(), (false, 0.0), (target, Breadth::USUAL));
            let (SampleJob { channels: [all, each, parts, _], .. }, _) = job.expect("small");
            assert_eq!((all, parts), (channels, shares), "{channels} on {target:?}");
            assert!(each <= most && each * parts >= all, "{each} of {channels} on {target:?}");
        }
    }
}
