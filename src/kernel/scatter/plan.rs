//! How much is added up at once.

/// At least so many rows fit into a segment, if they are added as a whole.
const ROWS_MIN: u64 = 256;

/// Whether values are added as rows of so many bytes. A row has to be small, and no segment may cut
/// one: a segment holds a whole number of them, or all totals lie in one.
pub(crate) fn fits(segment: u64, row: u64, totals: u64) -> bool {
    let whole = row > 0 && segment.is_multiple_of(row);
    row > 0 && row <= segment / ROWS_MIN && (whole || totals <= segment)
}
