//! Which way a convolution is taken.
//!
//! ```text
//! a single tap                      a product of the weights with the pixels
//! several rows, on a processor      along lines of a copy with borders, where that is faster; or a
//!                                   product of the weights with a copy of all windows
//! few results of many terms,        such a product: its sums can be cut into passes
//!     on a GPU
//! otherwise                         by a kernel that reads the input where it lies
//! ```

use super::flat::plan::Flat;
use super::group::text::ConvGroup;
use super::plan::{ConvPart, trips};
use crate::dtype::DType;
use crate::error::Result;
use crate::kernel::plan::taps::{inner, terms};
use crate::kernel::windows::plan::{Windows, is_depthwise};
use crate::kernel::windows::text::Gather;
use crate::wgsl::Target;
use crate::wgsl::entry::CORE_TRIPS;
use crate::wgsl::rig::Rig;

/// The most elements of windows that are copied at a time, if they can be parted.
const WINDOWS_MAX: usize = 1 << 24;
/// On a GPU, a lane has walked fewer terms by the time that windows are copied, and for fewer rows
/// a product has no tiles.
const TERMS_MIN: usize = 512;
const PRODUCT_ROWS_MIN: usize = 16;

/// How a convolution is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConvWay {
    /// A product of the weights with the pixels.
    Pointwise,
    /// Along lines of a copy with borders.
    Lines(Flat),
    /// A product of the weights with a copy of all windows.
    Windows,
    /// By a kernel that reads the input where it lies.
    InPlace,
    /// Such a kernel would loop more often than one may.
    TooDeep { terms: usize, trips: usize },
}

/// What becomes of a convolution, or a part of one, whose input is read where it lies.
#[derive(Debug)]
pub(crate) enum ConvStep {
    /// Channels by themselves: weighted windows.
    Depthwise(Windows),
    /// The kernel for all others.
    General,
    /// One half after the other, along this axis of the result.
    Halves(usize, Box<[ConvPart; 2]>),
    /// So many elements are more than a segment, and nothing can be cut.
    TooLarge(usize),
}

impl ConvPart {
    /// The way for all of it, summed in this dtype, where segments have so many elements.
    pub(crate) fn way(
        &self,
        summed: DType,
        segment: usize,
        (on, batch_invariant): (Rig<'_>, bool),
    ) -> ConvWay {
        let (taps, weight, target) = (&self.taps, self.weight.shape(), on.target);
        if taps.first == [0; 3] && inner(weight.dims()) == [1; 3] {
            return ConvWay::Pointwise;
        }
        // On a processor each lane would load its pixels one by one, for all rows of a group.
        if target != Target::Gpu && weight.dims()[0] / taps.groups > 1 {
            let flat = || Flat::of(taps, self.input.shape(), weight, segment);
            let flat = if summed == DType::F32 { flat() } else { None };
            return flat.map_or(ConvWay::Windows, ConvWay::Lines);
        }
        // Where it must not matter how many images there are, there is one.
        let images = if batch_invariant { 1 } else { self.input.shape().dims()[0] };
        if target == Target::Gpu && self.is_deep(images, on) {
            return ConvWay::Windows;
        }
        match trips(&self.weight) {
            trips if trips > CORE_TRIPS as usize => {
                ConvWay::TooDeep { terms: terms(weight), trips }
            }
            _ => ConvWay::InPlace,
        }
    }

    /// Whether a GPU's workgroups would be few, each lane with many terms to walk, and the windows
    /// of so many images can be copied at once.
    fn is_deep(&self, images: usize, on: Rig<'_>) -> bool {
        let (taps, weight) = (&self.taps, self.weight.shape());
        let (rows, terms) = (weight.dims()[0] / taps.groups, terms(weight));
        let windows = [images, taps.groups, terms, taps.result.iter().product()];
        rows >= PRODUCT_ROWS_MIN
            && terms >= TERMS_MIN
            && ConvGroup::are_few(taps, images, rows, on.breadth)
            && !are_parted(&windows)
    }

    /// What becomes of it in place: halves of it, if something in it is more than a segment.
    pub(crate) fn step(&self, segment: usize) -> Result<ConvStep> {
        let largest = self.largest();
        if largest > segment {
            let halves = self.halves(segment)?;
            let cut = |(axis, halves)| ConvStep::Halves(axis, Box::new(halves));
            return Ok(halves.map_or(ConvStep::TooLarge(largest), cut));
        }
        let Self { taps, input, weight } = self;
        let size = inner(weight.shape().dims());
        Ok(match is_depthwise(taps, input, weight) {
            true => ConvStep::Depthwise(Windows { gather: Gather::Weighted, size, taps: *taps }),
            false => ConvStep::General,
        })
    }
}

/// Whether windows, so many along each axis, are copied one half after the other.
pub(crate) fn are_parted(windows: &[usize]) -> bool {
    windows.iter().fold(1, |all: usize, &n| all.saturating_mul(n)) > WINDOWS_MAX
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::caps::{Caps, fixtures};
    use crate::kernel::plan::taps::Taps;
    use crate::layout::Layout;
    use crate::shape::Shape;

    const SEGMENT: usize = 1 << 25;

    /// Images of a size under square kernels, one element apart.
    fn part(
        [images, channels, side]: [usize; 3],
        [rows, of_group, count]: [usize; 3],
        padding: usize,
    ) -> ConvPart {
        let mut taps = Taps::single(channels / of_group);
        for axis in 1..3 {
            taps.along(axis, [side, count], [1, 1], padding);
        }
        let dense = |dims: [usize; 5]| Layout::dense(Shape::new(dims).expect("a shape"));
        let input = dense([images, channels, 1, side, side]);
        ConvPart { taps, input, weight: dense([rows, of_group, 1, count, count]) }
    }

    fn way(part: ConvPart, dtype: DType, target: Target) -> ConvWay {
        part.way(dtype, SEGMENT, (Rig::on_paper(target, &Caps::webgpu_baseline()), false))
    }

    #[test]
    fn every_way_has_its_convolutions() {
        let [gpu, cpu] = [Target::Gpu, Target::Cpu];
        for (why, part, on_gpu, on_cpu) in [
            ("a tap", part([2, 8, 9], [4, 8, 1], 0), "Pointwise", "Pointwise"),
            ("a tap with a border", part([2, 8, 9], [4, 8, 1], 1), "InPlace", "Lines"),
            ("long lines", part([1, 64, 56], [64, 64, 3], 1), "InPlace", "Lines"),
            ("short lines", part([1, 512, 7], [512, 512, 3], 1), "Windows", "Windows"),
            ("of many images", part([8, 512, 7], [512, 512, 3], 1), "InPlace", "Windows"),
            ("few terms", part([1, 56, 7], [512, 56, 3], 1), "InPlace", "Windows"),
            ("few rows", part([1, 512, 7], [15, 512, 3], 1), "InPlace", "Windows"),
            ("large windows", part([1, 4096, 28], [16, 4096, 3], 1), "InPlace", "Lines"),
            ("a row", part([2, 8, 9], [1, 8, 3], 1), "InPlace", "InPlace"),
            ("a row to a group", part([2, 8, 9], [8, 1, 3], 1), "InPlace", "InPlace"),
            ("two to a group", part([2, 8, 9], [16, 1, 3], 1), "InPlace", "Lines"),
            ("many terms", part([1, 9000, 3], [1, 9000, 3], 1), "TooDeep", "TooDeep"),
        ] {
            for (want, target) in [(on_gpu, gpu), (on_cpu, cpu)] {
                let got = format!("{:?}", way(part, DType::F32, target));
                assert!(got.starts_with(want), "{why} on {target:?}: {got}, not {want}");
            }
        }
        let long = part([1, 64, 56], [64, 64, 3], 1);
        assert_eq!(way(long, DType::F64, cpu), ConvWay::Windows, "lines are of f32");
        let deep = way(part([1, 9000, 3], [1, 9000, 3], 1), DType::F32, gpu);
        let ConvWay::TooDeep { terms, trips } = deep else { panic!("{deep:?}") };
        assert!(terms == 81_000 && trips > terms, "{trips}");
    }

    /// What is few workgroups for one GPU is enough for another, and among others an image is taken
    /// as it is alone, where that matters.
    #[test]
    fn windows_are_copied_for_gpus_that_would_be_idle() {
        let of = |images, caps: &Caps, any| {
            let part = part([images, 512, 7], [512, 512, 3], 1);
            part.way(DType::F32, SEGMENT, (Rig::on_paper(Target::Gpu, caps), any))
        };
        let (broad, few) = (Caps::webgpu_baseline(), fixtures::apple_m2());
        assert_eq!(of(1, &broad, false), ConvWay::Windows);
        assert_eq!(of(1, &few, false), ConvWay::InPlace);
        for images in [1, 8, 1000] {
            assert_eq!(of(images, &broad, true), ConvWay::Windows, "{images} images");
        }
    }

    #[test]
    fn every_step_has_its_parts() {
        let step = |part: ConvPart, segment| part.step(segment).expect("in bounds");
        let channels = part([2, 8, 9], [8, 1, 3], 1);
        let ConvStep::Depthwise(windows) = step(channels, SEGMENT) else { panic!("by themselves") };
        assert_eq!((windows.size, windows.taps), ([1, 3, 3], channels.taps));
        let all = part([2, 8, 9], [8, 8, 3], 1);
        assert!(matches!(step(all, SEGMENT), ConvStep::General), "all together");
        assert!(matches!(step(all, 2 * 8 * 81), ConvStep::General), "just a segment");
        let ConvStep::Halves(0, halves) = step(all, 2 * 8 * 81 - 1) else { panic!("two images") };
        assert_eq!(halves.map(|half| half.dims()), [[1, 8, 1, 9, 9]; 2]);
        let one = part([1, 100, 3], [1, 100, 3], 0);
        assert!(matches!(step(one, 899), ConvStep::TooLarge(900)), "{:?}", step(one, 899));
    }

    #[test]
    fn windows_are_parted_above_what_is_copied_at_a_time() {
        assert!(!are_parted(&[1 << 12, 1 << 12]) && are_parted(&[1 << 12, (1 << 12) + 1]));
        assert!(are_parted(&[usize::MAX, 2]), "more than can be counted");
    }
}
