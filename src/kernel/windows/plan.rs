//! Which windows the kernel takes, how its input is loaded, and what it is told.

use super::text::{Gather, TapsDown, WindowsJob, WindowsText};
use crate::count::{word, words, wrapped};
use crate::dtype::DType;
use crate::error::Result;
use crate::kernel::plan::taps::{self, Taps};
use crate::layout::Layout;
use crate::wgsl::Target;

/// The most elements of a window: they are added one by one.
const ELEMENTS_MAX: usize = 256;
/// The most elements of a row from the first of a quad's windows to the last: the text has a name
/// for each.
const ROW_MAX: usize = 32;
/// The lines of the result that a lane takes on a CPU adapter: as many as a trip has room for.
const LINES: [usize; 2] = [8, 4];
/// The most quads, or elements, of the input that are loaded in a trip, and the most windows' taps:
/// what is beyond is left to trips.
const LOADS_MAX: u32 = 72;
const TAPS_MAX: u32 = 128;

/// Windows, and what they come to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Windows {
    pub(crate) gather: Gather,
    /// Taps along z, y and x.
    pub(crate) size: [usize; 3],
    pub(crate) taps: Taps,
}

/// Whether the kernel is for windows of this size. A row of one result would leave three quarters
/// of a lane idle.
pub(crate) fn takes(taps: &Taps, size: [usize; 3]) -> bool {
    let elements = size.iter().fold(1, |n: usize, &size| n.saturating_mul(size));
    let row = taps::covers(size[2], taps.reach[2]).saturating_add(taps.step[2].saturating_mul(3));
    elements <= ELEMENTS_MAX && row <= ROW_MAX && taps.result[2] > 1
}

/// Whether every channel is convolved by itself, in windows that the kernel takes.
pub(in crate::kernel) fn is_depthwise(taps: &Taps, input: &Layout, weight: &Layout) -> bool {
    let (channels, w) = (input.shape().dims()[1], weight.shape().dims());
    taps.groups == channels && w[0] == channels && takes(taps, taps::inner(w))
}

/// Whether all rows of a view of five axes are whole quads, if its first one is.
pub(super) fn rows_are_quads(view: &Layout) -> bool {
    let whole = |axis: usize| view.strides()[axis] % 4 == 0 || view.shape().dims()[axis] == 1;
    (0..4).all(whole) && view.strides()[4] == 1 && view.shape().dims()[4].is_multiple_of(4)
}

/// The lines that a lane takes of so many, and no more than these: as many of each, about.
fn lines(high: usize, most: usize, target: Target) -> usize {
    let blocks = if target == Target::Gpu { high } else { high.div_ceil(most) };
    high.div_ceil(blocks)
}

impl Windows {
    /// The kernel for an input whose rows are loaded as quads, or not.
    pub(super) fn text(
        &self,
        input: &Layout,
        dtype: DType,
        by_quads: bool,
        target: Target,
    ) -> Result<WindowsText> {
        let Self { gather, size, ref taps } = *self;
        let [few, step, reach] = words([size[2], taps.step[2], taps.reach[2]])?;
        let [size_down, step_down, reach_down] = words([size[1], taps.step[1], taps.reach[1]])?;
        let phase = if by_quads { taps.first[2].rem_euclid(4) as u32 } else { 0 };
        let (dims, strides) = (input.shape().dims(), input.strides());
        let follow = strides[0] == strides[1] * dims[1].cast_signed();
        let lone = dims[0] == 1 || follow && gather != Gather::Weighted;
        let down = TapsDown { taps: 1, step: step_down, reach: reach_down };
        let text = WindowsText {
            gather,
            dtype,
            taps: few,
            step,
            reach,
            down,
            lines: 1,
            phase: by_quads.then_some(phase),
            whole: taps.result[2].is_multiple_of(4),
            lone,
            flat: taps.result[0] == 1,
        };
        let down = TapsDown { taps: size_down, ..down };
        let [most, fewer] = LINES.map(|most| lines(taps.result[1], most, target));
        let together = words([most, fewer])?.into_iter().find_map(|lines| {
            let all = WindowsText { down, lines, ..text };
            // A longer text pays where lines share every other row.
            let [rows, apart] = all.rows_shared();
            let short = rows * all.loads() <= LOADS_MAX && apart * all.taps <= TAPS_MAX;
            (2 * rows <= apart && short).then_some(all)
        });
        Ok(together.unwrap_or(text))
    }

    /// What it is told, and how many lanes it takes.
    pub(super) fn job(
        &self,
        text: &WindowsText,
        input: &Layout,
        weight: Option<&Layout>,
        target: Target,
    ) -> Result<(WindowsJob, u32)> {
        let (taps, size, dims) = (&self.taps, self.size, input.shape().dims());
        let [_, high, wide] = taps.result;
        let lines = match text.lines {
            1 => lines(high, LINES[1], target),
            together => together as usize,
        };
        let blocks = high.div_ceil(lines);
        let quads = wide.div_ceil(4);
        let all = dims[0] * dims[1] * taps.result[0] * blocks * quads;
        let unit = if text.phase.is_some() { 4 } else { 1 };
        let stride = |axis: usize| wrapped(input.strides()[axis] / unit);
        let [z, y, x] = taps.first;
        let along = [x.div_euclid(unit), 4 * taps.step[2].cast_signed() / unit].map(wrapped);
        let weight = weight.map_or([0; 4], |w| [2, 3, 4, 0].map(|axis| wrapped(w.strides()[axis])));
        let job = WindowsJob {
            columns: words([all, blocks * quads, quads, lines])?,
            result: words([taps.result[0], high, wide, dims[1]])?,
            space: words([dims[2], dims[3], dims[4] / unit.unsigned_abs(), size[0]])?,
            step: words([taps.step[0], taps.step[1]])?,
            reach: words([taps.reach[0], taps.reach[1]])?,
            first: [wrapped(z), wrapped(y)],
            along,
            input: [stride(2), stride(3), stride(4), stride(1)],
            weight,
            outer: [stride(0), word(size[1])? / text.down.taps],
            first_group: 0,
        };
        Ok((job, word(all)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::Shape;

    #[test]
    fn rows_are_quads_where_each_begins_at_one() {
        let whole = |dims: [usize; 5], strides: [isize; 5]| {
            let shape = Shape::new(dims).expect("a shape");
            rows_are_quads(&Layout::strided(shape, &strides, 0).expect("a view"))
        };
        let dims = [2, 3, 1, 5, 8];
        assert!(whole(dims, [120, 40, 40, 8, 1]) && whole(dims, [120, 40, 3, 12, 1]));
        assert!(!whole(dims, [150, 50, 50, 10, 1]), "rows of ten");
        assert!(!whole(dims, [120, 42, 40, 8, 1]), "planes of 42");
        assert!(!whole([2, 3, 1, 5, 5], [120, 40, 40, 8, 1]), "a row of five");
        assert!(!whole(dims, [960, 320, 80, 16, 2]), "every other element");
    }
}
