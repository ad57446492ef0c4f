//! The kernels that make a row of each row.

use crate::wgsl::params::params;
use crate::wgsl::source::source;
use crate::wgsl::{Entry, Needs, Region, Source, Writes, subgroups};

/// Softmax, a lane to a row.
pub const SOFTMAX_ROWS: Entry = Entry::core("softmax_rows", source!("softmax_rows.wgsl"))
    .with(&[LOG_SOFTMAX])
    .told(SoftmaxJob::MEMBERS);
/// Softmax, a group to a row.
pub const SOFTMAX_GROUP: Entry = Entry::core("softmax_group", source!("softmax_group.wgsl"))
    .clearing()
    .with(&[LOG_SOFTMAX, JOINED_SOFTMAX])
    .told(SoftmaxJob::MEMBERS);
/// Norms, a lane to a row.
pub const NORM_ROWS: Entry =
    Entry::core("norm_rows", source!("norm_rows.wgsl")).told(NormJob::MEMBERS);
/// Norms, a group to a row.
pub const NORM_GROUP: Entry = Entry::core("norm_group", source!("norm_group.wgsl"))
    .clearing()
    .with(subgroups::PARTS)
    .told(NormJob::MEMBERS);

const LOG_SOFTMAX: Source = source!("rows/log_softmax.wgsl");
const JOINED_SOFTMAX: Source = source!("rows/joined_softmax.wgsl", Needs::SUBGROUPS);

/// What a kernel makes of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RowsKind {
    /// Its softmax.
    Softmax,
    /// The logarithm of that.
    LogSoftmax,
    /// A norm.
    Norm,
}

/// One of these kernels, as it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RowsText {
    /// What it makes.
    pub kind: RowsKind,
    /// Whether the lanes of a group are put together by subgroups.
    pub subgroups: bool,
}

impl Writes for RowsText {
    fn regions(&self) -> Vec<Region> {
        let log = (self.kind == RowsKind::LogSoftmax).then_some(LOG_SOFTMAX);
        let joined = if self.kind == RowsKind::Norm { subgroups::SUM } else { JOINED_SOFTMAX };
        let joined = self.subgroups.then(|| subgroups::regions(joined));
        let written = log.map(|log| Region::file("write", log));
        written.into_iter().chain(joined.into_iter().flatten()).collect()
    }
}

params! {
    struct SoftmaxJob {
        rows: u32,
        units: u32,
        quads: bool,
    }

    struct NormJob {
        rows: u32,
        units: u32,
        quads: bool,
        about_zero: bool,
        eps: f32,
    }
}
