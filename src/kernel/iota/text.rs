//! What positions are told.

use crate::wgsl::grid::TRIPS_MAX;
use crate::wgsl::params::params;
use crate::wgsl::source::source;
use crate::wgsl::{Entry, Form, Grid};

/// The kernel.
pub const IOTA: Entry =
    Entry::new("iota", source!("iota.wgsl"), TRIPS_MAX).of(&[&[Form::U32]]).told(IotaJob::MEMBERS);

params! {
    struct IotaJob {
        grid: Grid,
        base: u32,
    }
}
