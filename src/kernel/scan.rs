//! Scans: running sums, products and extremes along the last axis.
//!
//! ```text
//! rows of one chunk              one pass: a lane to a chunk, or a workgroup on a GPU
//! long rows                      totals of chunks -> their scan -> every chunk with what is before
//! of several segments            slab by slab, each with what the slab before it ended in
//! ```

use std::sync::Arc;

use super::cores::{Core, Head, Tail};
use crate::engine::Site;
use crate::error::Result;
use crate::exec::Value;
use crate::kernel::reduce::text::Reduce;
use crate::proof::Oracle;
use record::Scanning;

mod plan;
mod record;
mod slabs;
pub mod text;

/// A scan along the last axis of its input.
#[derive(Debug)]
pub(crate) struct ScanCore {
    pub(crate) name: &'static str,
    pub(crate) how: Reduce,
}

impl Core for ScanCore {
    fn name(&self) -> &'static str {
        self.name
    }

    fn takes_heads(&self) -> bool {
        true
    }

    fn bindings_between(&self) -> usize {
        1 // what is before each chunk
    }

    fn oracle(&self) -> Option<Oracle> {
        Some(Oracle::Scanned(self.how.reduction()))
    }

    fn record(&self, site: Site<'_>, inputs: &[Head], tail: &Tail) -> Result<Arc<Value>> {
        let scanning = Scanning { site, how: self.how };
        if let Some(value) = scanning.at_once(&inputs[0], tail, &[])? {
            return Ok(value);
        }
        tail.apply(site, scanning.in_slabs(&inputs[0])?)
    }
}
