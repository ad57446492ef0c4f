//! The kernel of scans.

use crate::wgsl::Entry;
use crate::wgsl::params::params;
use crate::wgsl::source::source;

/// A lane to a chunk of a row.
pub const SCAN_ROWS: Entry =
    Entry::core("scan_rows", source!("scan_rows.wgsl")).told(ScanJob::MEMBERS);

params! {
    struct ScanJob {
        rows: u32,
        length: u32,
        chunks: u32,
        each: u32,
    }
}
