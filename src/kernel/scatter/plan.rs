//! How much is added up at once.

/// At least so many rows fit into a segment, if they are added as a whole.
const ROWS_MIN: u64 = 256;

/// Whether values are added as rows of so many bytes. A row has to be small, and no segment may cut
/// one: each holds a `whole` number of them, or all totals lie in one.
pub(crate) fn fits(segment: u64, whole: bool, [row, totals]: [u64; 2]) -> bool {
    row > 0 && row <= segment / ROWS_MIN && (whole || totals <= segment)
}
