//! How a resized axis is cut, and how its elements are loaded.

use super::text::{Lies, ResizeJob, ResizeText};
use crate::count::{word, words, wrapped};
use crate::error::Result;
use crate::layout::Layout;
use crate::op::Kind;
use crate::reference::Resampling;
use crate::wgsl::Target;
use crate::wgsl::grid::LANES_BUSY;

/// The rows that a lane takes: places and weights are found once for them.
const ROWS: usize = 8;
/// The most elements that a quad along the axis is given at once: as many loads as two taps take.
const ELEMENTS_MAX: u32 = 8;

/// An axis at another length, and where its elements lie.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Resizing {
    pub(crate) to: usize,
    pub(crate) at: Resampling,
}

/// The elements of the source from the first that a quad along an axis needs to the last.
pub(super) fn elements(at: Resampling) -> u64 {
    let taps = if at.cubic { 4 } else { 2 };
    (3 * u64::from(at.factor)).div_ceil(u64::from(at.parts)) + taps
}

impl Resizing {
    /// The kernel for a view `[rows, length, across]`, if it is loaded as quads where it can be.
    pub(super) fn text(&self, view: &Layout, kind: Kind) -> ResizeText {
        let (dims, strides) = (view.shape().dims(), view.strides());
        let whole = |axis: usize| strides[axis] % 4 == 0 || dims[axis] == 1;
        let line = if dims[2] == 1 { self.to } else { dims[2] };
        let quads = strides[2] == 1 && whole(0) && whole(1) && line.is_multiple_of(4);
        let lies = match u32::try_from(elements(self.at)) {
            _ if dims[2] > 1 => {
                if quads {
                    Lies::Across
                } else {
                    Lies::AcrossEach
                }
            }
            Ok(elements) if elements <= ELEMENTS_MAX => Lies::Along(elements),
            _ => Lies::Apart,
        };
        ResizeText { lies, cubic: self.at.cubic, kind, whole: line.is_multiple_of(4) }
    }

    /// What it is told, and how many lanes it takes.
    pub(super) fn job(
        &self,
        text: &ResizeText,
        view: &Layout,
        target: Target,
    ) -> Result<(ResizeJob, u32)> {
        let dims = view.shape().dims();
        let (rows, across) = (dims[0], dims[2]);
        let (line, lines) = if across == 1 { (self.to, 1) } else { (across, self.to) };
        let quads = line.div_ceil(4);
        let most = match target {
            Target::Gpu => (rows * lines * quads / LANES_BUSY).clamp(1, ROWS),
            Target::Cpu | Target::Cpu64 => ROWS,
        };
        // Rows that are shared out evenly.
        let blocks = rows.div_ceil(most);
        let all = blocks * lines * quads;
        let unit = if text.lies == Lies::Across { 4 } else { 1 };
        let stride = |axis: usize| wrapped(view.strides()[axis] / unit);
        let Resampling { factor, term, parts, .. } = self.at;
        let job = ResizeJob {
            columns: words([all, quads, lines, rows.div_ceil(blocks)])?,
            size: words([rows, line, self.to, self.to * across])?,
            place: [factor, term as u32, parts, word(dims[1] - 1)?],
            stride: [stride(0), stride(1), stride(2), 0],
        };
        Ok((job, word(all)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::Shape;

    #[test]
    fn lines_are_loaded_as_quads_where_each_begins_at_one() {
        let at = Resampling { factor: 1, term: 0, parts: 2, cubic: false };
        let lies = |dims: [usize; 3], strides: [isize; 3]| {
            let shape = Shape::new(dims).expect("a shape");
            let view = Layout::strided(shape, &strides, 0).expect("a view");
            Resizing { to: 6, at }.text(&view, Kind::F32).lies
        };
        assert_eq!(lies([2, 3, 8], [24, 8, 1]), Lies::Across);
        assert_eq!(lies([1, 3, 8], [7, 12, 1]), Lies::Across, "one row is at no step");
        for (why, dims, strides) in [
            ("rows of 30", [2, 3, 8], [30, 8, 1]),
            ("lines of ten", [2, 3, 8], [40, 10, 1]),
            ("every other element", [2, 3, 8], [48, 16, 2]),
            ("a line of six", [2, 3, 6], [24, 8, 1]),
        ] {
            assert_eq!(lies(dims, strides), Lies::AcrossEach, "{why}");
        }
    }
}
