//! How a resized axis is cut, and how its elements are loaded.

use super::text::{Lies, ResizeJob, ResizeText};
use crate::count::{word, words};
use crate::error::Result;
use crate::layout::Layout;
use crate::op::Kind;
use crate::reference::Resampling;
use crate::wgsl::Target;

/// The rows that a lane takes: places and weights are found once for them.
const ROWS: usize = 8;
/// On a GPU rows are shared out until there are so many lanes.
const LANES: usize = 1 << 16;
/// The most elements that a quad along the axis is given at once: as many loads as two taps take.
const ELEMENTS_MAX: u32 = 8;

/// An axis at another length, and where its elements lie.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Resizing {
    pub(crate) to: usize,
    pub(crate) at: Resampling,
}

impl Resizing {
    /// The kernel for a view `[rows, length, across]`, if it is loaded as quads where it can be.
    pub(super) fn text(&self, view: &Layout, kind: Kind) -> ResizeText {
        let Resampling { factor, parts, cubic, .. } = self.at;
        let (dims, strides) = (view.shape().dims(), view.strides());
        let whole = |axis: usize| strides[axis] % 4 == 0 || dims[axis] == 1;
        let line = if dims[2] == 1 { self.to } else { dims[2] };
        let quads = strides[2] == 1 && whole(0) && whole(1) && line.is_multiple_of(4);
        let taps = if cubic { 4 } else { 2 };
        let elements = (3 * u64::from(factor)).div_ceil(u64::from(parts)) + taps;
        let lies = match u32::try_from(elements) {
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
        ResizeText { lies, cubic, kind, whole: line.is_multiple_of(4) }
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
            Target::Gpu => (rows * lines * quads / LANES).clamp(1, ROWS),
            Target::Cpu | Target::Cpu64 => ROWS,
        };
        // Rows that are shared out evenly.
        let blocks = rows.div_ceil(most);
        let all = blocks * lines * quads;
        let unit = if text.lies == Lies::Across { 4 } else { 1 };
        // Two's complement wraps to the same address.
        let stride = |axis: usize| (view.strides()[axis] / unit) as u32;
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
