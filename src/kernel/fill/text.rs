//! What a fill is told.

use crate::wgsl::grid::TRIPS_MAX;
use crate::wgsl::params::params;
use crate::wgsl::source::source;
use crate::wgsl::{Entry, Form, Grid};

/// The kernel.
pub const FILL: Entry =
    Entry::new("fill", source!("fill.wgsl"), TRIPS_MAX).of(&[&[Form::W32]]).told(FillJob::MEMBERS);

params! {
    struct FillJob {
        grid: Grid,
        bits: [u32; 4],
    }
}
