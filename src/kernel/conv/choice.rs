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
mod tests;
