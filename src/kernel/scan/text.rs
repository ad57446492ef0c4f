//! The kernel of scans.

use crate::wgsl::Entry;
use crate::wgsl::source::source;

/// A lane to a chunk of a row.
pub const SCAN_ROWS: Entry = Entry::core("scan_rows", source!("scan_rows.wgsl"));
