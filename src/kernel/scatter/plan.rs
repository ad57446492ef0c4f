//! How much is added up at once.

/// The largest row, as a part of a segment, that is added as a whole.
const ROWS_MIN: u64 = 256;

/// Whether values are added as rows of so many bytes, which are never cut: small ones, of which a
/// segment holds a whole number or the only segment of the totals all.
pub(crate) fn fits(segment: u64, row: u64, totals: u64) -> bool {
    let whole = row > 0 && segment.is_multiple_of(row);
    row > 0 && row <= segment / ROWS_MIN && (whole || totals <= segment)
}
