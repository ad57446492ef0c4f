//! The kernels that make a row of each row.

use crate::wgsl::Entry;
use crate::wgsl::source::source;

/// Softmax, a lane to a row.
pub const SOFTMAX_ROWS: Entry = Entry::core("softmax_rows", source!("softmax_rows.wgsl"));
/// Softmax, a group to a row.
pub const SOFTMAX_GROUP: Entry =
    Entry::core("softmax_group", source!("softmax_group.wgsl")).clearing();
/// Norms, a lane to a row.
pub const NORM_ROWS: Entry = Entry::core("norm_rows", source!("norm_rows.wgsl"));
/// Norms, a group to a row.
pub const NORM_GROUP: Entry = Entry::core("norm_group", source!("norm_group.wgsl")).clearing();
