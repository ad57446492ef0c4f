//! Positions: 0, 1, 2 .. as u32, what everything that depends on a place is computed from.

use std::sync::Arc;

use super::{Held, index_space};
use crate::dtype::DType;
use crate::engine::Site;
use crate::error::Result;
use crate::exec::{Bound, Job, Value};
use crate::shape::Shape;
use crate::wgsl::grid::TRIPS_MAX;
use crate::wgsl::params::{Operands, params};
use crate::wgsl::source::source;
use crate::wgsl::{Entry, Form, Grid, Slot, kept};

/// The kernel.
pub const IOTA: Entry =
    Entry::new("iota", source!("iota.wgsl"), TRIPS_MAX).of(&[&[Form::U32]]).told(IotaJob::MEMBERS);

params! {
    struct IotaJob {
        grid: Grid,
        base: u32,
    }
}

/// The positions of a list.
pub(crate) fn iota(site: Site<'_>, count: usize) -> Result<Arc<Value>> {
    index_space(count)?;
    let shape = Shape::new([count])?;
    let (value, held) = Held::fresh(site, &shape, DType::U32, &[])?;
    let kernel = kept::kernel(&IOTA, &[Slot::write(Form::U32)], 0, site.target);
    for (piece, first) in held.pieces.iter().zip((0..count).step_by(held.segment)) {
        let here = held.segment.min(count - first);
        // Both below 2^32: the whole list is.
        let (here, first) = (here as u32, first as u32);
        let grid = Grid::of_elements(here, site.target);
        let job = IotaJob { grid, base: first };
        site.dispatch(Job {
            kernel: &kernel,
            bindings: vec![Bound::from(piece)],
            params: Operands { offsets: &[0], ..Operands::default() }.after(job.words()),
            groups: grid.groups(),
            outputs: vec![Arc::downgrade(&value)],
        })?;
    }
    Ok(value)
}
