//! Positions: 0, 1, 2 .. as u32, what everything that depends on a place is computed from.

use std::sync::Arc;

use super::index_space;
use super::made::made;
use crate::count::word;
use crate::dtype::DType;
use crate::engine::Site;
use crate::error::Result;
use crate::exec::Value;
use crate::shape::Shape;
use crate::wgsl::{Form, Slot, kept};
use text::{IOTA, IotaJob};

pub mod text;

/// The positions of a list.
pub(crate) fn iota(site: Site<'_>, count: usize) -> Result<Arc<Value>> {
    index_space(count)?;
    let kernel = kept::kernel(&IOTA, &[Slot::write(Form::U32)], 0, site.target);
    let words = |grid, first| Ok(IotaJob { grid, base: word(first)? }.words());
    made(site, &kernel, (&Shape::new([count])?, DType::U32), words)
}
