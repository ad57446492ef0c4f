//! Windows: a panel cut at the segments of the result, and to what one dispatch takes.

use core::ops::Range;

use super::panels::{Panel, blocks};
use crate::kernel::matmul::choice::Decision;
use crate::kernel::plan::in_tiles;
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
    /// The most batches and rows of a window.
    fn window_max(&self, panel: &Panel) -> [usize; 2] {
        let most = [GROUPS_MAX as usize, GROUPS_MAX as usize * self.choice.variant.rows as usize];
        // Nobody resets a processor.
        let Some(room) = self.processor.room() else { return most };
        let rows =
            room.breadth.computing(self.result).rows_at_once(panel.columns.len(), panel.k.len());
        [most[0].min((rows / panel.rows.len()).max(1)), most[1].min(in_tiles(rows))]
    }

    /// The windows of a panel in this pass of a value, for segments of so many elements.
    pub(crate) fn windows(&self, panel: &Panel, pass: usize, segment: usize) -> Vec<Window> {
        let [batch_max, rows_max] = self.window_max(panel);
        let (m, batch, n) = (self.size.m, self.size.batch, self.pitch());
        let origin = pass * batch * m * n;
        let window = |batch: &Range<usize>, rows: Range<usize>, index: usize| {
            let begin = (index * segment).saturating_sub(origin);
            let held = [begin, (index + 1) * segment - origin - begin];
            let first = origin as i64 - (index * segment) as i64;
            Window { batch: batch.clone(), rows, index, first, held }
        };
        let mut windows = Vec::new();
        let Range { start: mut next, end } = panel.batch;
        while next < end {
            // Batches that end in the segment, or one that does not.
            let first = origin + next * m * n;
            let last = ((first / segment + 1) * segment - origin) / (m * n);
            let batch = next..last.clamp(next + 1, end.min(next.saturating_add(batch_max)));
            next = batch.end;
            for rows in blocks(&panel.rows, rows_max) {
                if batch.start < last {
                    windows.push(window(&batch, rows, first / segment));
                    continue;
                }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::caps::fixtures;
    use crate::dtype::DType;
    use crate::kernel::matmul::choice::{Chooser, Question};
    use crate::layout::Layout;
    use crate::shape::Shape;
    use crate::wgsl::Target;
    use crate::wgsl::rig::Rig;

    fn decision(
        target: Target,
        caps: &crate::caps::Caps,
        dtype: DType,
        [batch, m, k, n]: [usize; 4],
    ) -> Decision {
        let sides = [[batch, m, k], [batch, k, n]]
            .map(|dims| Layout::dense(Shape::new(dims).expect("it has so many elements")));
        let (on, by) = (Rig::on_paper(target, caps), Chooser::Tables);
        Question { on, sides, dtypes: [dtype; 2], result: dtype, by }.decide().expect("a product")
    }

    const fn whole([batch, m, k, n]: [usize; 4]) -> Panel {
        Panel { batch: 0..batch, rows: 0..m, columns: 0..n, k: 0..k, pass: 0 }
    }

    #[test]
    fn no_dispatch_is_so_long_that_a_device_is_reset() {
        let caps = [fixtures::apple_m2(), fixtures::nvidia_vulkan()];
        let dims = [[1, 16_384, 16_384, 16_384], [700, 2048, 1024, 2048], [1, 10_000, 8000, 9000]];
        let all = caps.iter().flat_map(|caps| dims.map(|dims| (caps, DType::F32, dims)));
        // Of f64 a card for games computes a 16th, or less.
        let slow = (&caps[1], DType::F64, [1, 8192, 4096, 8192]);
        for (caps, dtype, dims) in all.chain([slow]) {
            let decision = decision(Target::Gpu, caps, dtype, dims);
            let [batch, m, k, n] = dims;
            let most = crate::caps::breadth::Breadth::of(caps).dispatch_work();
            let most = if dtype == DType::F64 { most / 16 } else { most };
            let mut rows = 0;
            let windows = decision.windows(&whole(dims), 0, usize::MAX / 2);
            for window in &windows {
                let work = [window.batch.len(), window.rows.len(), n, k];
                let work = work.iter().fold(2, |all, &n| all * n as u64);
                assert!(work <= most, "{work} of {most}: {dims:?}");
                let start = window.rows.start;
                assert!(start == 0 || in_tiles(start) == start, "{window:?}");
                rows += window.batch.len() * window.rows.len();
            }
            assert_eq!(rows, batch * m, "each row once: {dims:?}");
            let work = 2 * (batch * m) as u64 * (n * k) as u64;
            let fewest = work.div_ceil(most) as usize;
            assert!(
                (fewest..=2 * fewest).contains(&windows.len()),
                "{} for {fewest}",
                windows.len()
            );
        }
        let decision = decision(Target::Cpu64, &fixtures::lavapipe(), DType::F32, dims[0]);
        let windows = decision.windows(&whole(dims[0]), 0, usize::MAX / 2);
        assert_eq!(windows.len(), 1, "nobody resets a processor");
    }

    #[test]
    fn a_window_is_what_a_segment_holds_of_a_pass() {
        let dims = [1, 10, 16, 8];
        let decision = decision(Target::Cpu64, &fixtures::lavapipe(), DType::F32, dims);
        let panel = whole(dims);
        let all = |pass, segment| {
            let each = decision.windows(&panel, pass, segment).into_iter();
            each.map(|w| (w.rows, w.index, w.first, w.held)).collect::<Vec<_>>()
        };
        assert_eq!(all(0, 1000), [(0..10, 0, 0, [0, 1000])]);
        // Rows that lie across the end of a segment are in two windows.
        assert_eq!(
            all(0, 36),
            [(0..5, 0, 0, [0, 36]), (4..9, 1, -36, [36, 36]), (9..10, 2, -72, [72, 36])]
        );
        // The second pass begins within the third segment.
        assert_eq!(
            all(1, 36),
            [(0..4, 2, 8, [0, 28]), (3..8, 3, -28, [28, 36]), (8..10, 4, -64, [64, 36])]
        );
    }
}
