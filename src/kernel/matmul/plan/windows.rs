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

    #[test]
    fn a_window_is_what_a_segment_holds_of_a_pass() {
        let sides = [[10, 16], [16, 8]].map(|dims| Layout::dense(Shape::new(dims).expect("one")));
        let (caps, by) = (fixtures::lavapipe(), Chooser::Tables);
        let (dtypes, result) = ([DType::F32; 2], DType::F32);
        let on = Rig::on_paper(Target::Cpu64, &caps);
        let question = Question { on, sides, dtypes, result, by };
        let decision = question.decide().expect("a product");
        let panel = Panel { batch: 0..1, rows: 0..10, columns: 0..8, k: 0..16, pass: 0 };
        let all = |panel: &Panel, segment| {
            let each = decision.windows(panel, segment).into_iter();
            each.map(|w| (w.rows, w.index, w.first, w.held)).collect::<Vec<_>>()
        };
        assert_eq!(all(&panel, 1000), [(0..10, 0, 0, [0, 1000])]);
        // Rows that lie across the end of a segment are in two windows.
        assert_eq!(
            all(&panel, 36),
            [(0..5, 0, 0, [0, 36]), (4..9, 1, -36, [36, 36]), (9..10, 2, -72, [72, 36])]
        );
        // The second pass begins within the third segment.
        let second = Panel { pass: 1, ..panel };
        assert_eq!(
            all(&second, 36),
            [(0..4, 2, 8, [0, 28]), (3..8, 3, -28, [28, 36]), (8..10, 4, -64, [64, 36])]
        );
    }
}
