//! How work is cut, where several rooms cut it alike.

use core::ops::Range;

pub(crate) mod taps;

/// Rows that no dispatch need divide: whole tiles of every kernel.
const ROWS: usize = 128;

/// So many rows or fewer, in whole tiles; one of them at least.
pub(super) const fn in_tiles(rows: usize) -> usize {
    if rows < ROWS { ROWS } else { rows / ROWS * ROWS }
}

/// The longest ranges of an axis - whole fours but for the last, and no more than `most` - that
/// lie in one place each, and fours that lie in none. `held` says where four indices lie.
pub(super) fn fours<P: PartialEq>(
    dim: usize,
    most: usize,
    held: impl Fn(Range<usize>) -> Option<P>,
) -> Vec<Range<usize>> {
    let mut cuts: Vec<Range<usize>> = Vec::new();
    let mut last = None;
    for begin in (0..dim).step_by(4) {
        let end = (begin + 4).min(dim);
        let now = held(begin..end);
        match cuts.last_mut() {
            Some(cut) if now.is_some() && now == last && end - cut.start <= most => cut.end = end,
            _ => cuts.push(begin..end),
        }
        last = now;
    }
    cuts
}
