//! The kernels that make a row of each row.

use crate::wgsl::Entry;
use crate::wgsl::params::params;
use crate::wgsl::source::source;

/// Softmax, a lane to a row.
pub const SOFTMAX_ROWS: Entry =
    Entry::core("softmax_rows", source!("softmax_rows.wgsl")).told(SoftmaxJob::MEMBERS);
/// Softmax, a group to a row.
pub const SOFTMAX_GROUP: Entry = Entry::core("softmax_group", source!("softmax_group.wgsl"))
    .clearing()
    .told(SoftmaxJob::MEMBERS);
/// Norms, a lane to a row.
pub const NORM_ROWS: Entry =
    Entry::core("norm_rows", source!("norm_rows.wgsl")).told(NormJob::MEMBERS);
/// Norms, a group to a row.
pub const NORM_GROUP: Entry =
    Entry::core("norm_group", source!("norm_group.wgsl")).clearing().told(NormJob::MEMBERS);

params! {
    struct SoftmaxJob {
        rows: u32,
        units: u32,
        quads: bool,
    }
}

params! {
    struct NormJob {
        rows: u32,
        units: u32,
        quads: bool,
        about_zero: bool,
        eps: f32,
    }
}
