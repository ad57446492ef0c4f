//! Windows: a panel cut at the segments of the result, and to what one dispatch takes.

use core::ops::Range;

use super::panels::{Panel, blocks};
use crate::kernel::matmul::choice::Decision;
use crate::wgsl::grid::GROUPS_MAX;

/// What one dispatch computes: of a panel, the rows that touch one segment of the result.
#[derive(Debug)]
pub(crate) struct Window {
    pub(super) batch: Range<usize>,
    pub(super) rows: Range<usize>,
    /// The segment.
    pub(crate) index: usize,
    /// Where the pass begins, counted from the segment.
    pub(crate) first: i64,
    /// What lies in the segment: where it begins, counted from the pass, and how much it is.
    pub(super) held: [usize; 2],
}

impl Decision {
    /// The windows of a panel, for segments of so many elements.
    pub(crate) fn windows(&self, panel: &Panel, segment: usize) -> Vec<Window> {
        let groups_max = GROUPS_MAX as usize;
        let (m, batch, n) = (self.size.m, self.size.batch, self.pitch());
        let origin = panel.pass * batch * m * n;
        let window = |batch: &Range<usize>, rows: Range<usize>, index: usize| {
            let begin = (index * segment).saturating_sub(origin);
            let held = [begin, (index + 1) * segment - origin - begin];
            let first = origin as i64 - (index * segment) as i64;
            Window { batch: batch.clone(), rows, index, first, held }
        };
        let mut windows = Vec::new();
        let whole = origin / segment == (origin + batch * m * n - 1) / segment;
        for batch in blocks(&panel.batch, if whole { groups_max } else { 1 }) {
            for rows in blocks(&panel.rows, groups_max * self.choice.variant.rows as usize) {
                if whole {
                    windows.push(window(&batch, rows, origin / segment));
                    continue;
                }
                let first = origin + batch.start * m * n;
                let reach = first + rows.start * n..first + rows.end * n;
                windows.extend((reach.start / segment..=(reach.end - 1) / segment).map(|index| {
                    let low = (index * segment).max(reach.start) - first;
                    let high = ((index + 1) * segment).min(reach.end) - first;
                    // A strip is read from its first row on.
                    let strip = self.choice.variant.strip().unwrap_or(1);
                    let before = low / n - panel.rows.start;
                    window(&batch, low / n - before % strip..high.div_ceil(n), index)
                }));
            }
        }
        windows
    }
}
