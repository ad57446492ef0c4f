//! Cores: kernels that are not elementwise, with elementwise work fused on both sides.
//!
//! ```text
//! heads -> core -> tail          sum((a - b)^2) * 0.5      head: (a - b)^2   tail: x * 0.5
//! ```
//!
//! A core is deferred like an elementwise operation and recorded when somebody needs it. Then each
//! input arrives as a [`Head`], an expression over views - often just one view - and what is to
//! become of every element of its result as a [`Tail`]. A [`Landing`] takes the tail on board if it
//! can, and otherwise applies it to the stored result.

use core::fmt;
use std::sync::Arc;

use crate::engine::Site;
use crate::error::Result;
use crate::exec::Value;
use crate::kernel::elementwise::checked::Checked;
use crate::proof::Oracle;

mod alone;
mod ends;
mod landing;
mod launch;
mod reach;
mod stint;
pub(super) mod sums;

pub(crate) use alone::{Alone, Task};
pub(crate) use ends::{Head, Tail, reachable};
pub(crate) use landing::{Berth, Landing, in_pieces};
pub(crate) use launch::{Launch, Sink};
pub(crate) use reach::{ELEMENTS_MAX, Reach};
pub(crate) use stint::Stint;

/// An operation that is a kernel of its own.
pub(crate) trait Core: fmt::Debug + Send + Sync {
    /// Its name in errors and plans.
    fn name(&self) -> &'static str;

    /// Whether inputs may be expressions that are computed on the way in. If not, each is computed
    /// first, and arrives as a view of a value.
    fn takes_heads(&self) -> bool {
        false
    }

    /// Whether computing it takes longer than storing it and reading it again.
    fn is_long(&self) -> bool {
        false
    }

    /// Whether nothing can be fused with it, before or after.
    fn stands_alone(&self) -> bool {
        false
    }

    /// Values between its passes that one of them binds beside its inputs, what the tail reads and
    /// the result.
    fn bindings_between(&self) -> usize {
        0
    }

    /// What computes it once more, if anything does.
    fn oracle(&self) -> Option<Oracle> {
        None
    }

    /// For a checked cast or index: the expression that it computes of its only input, which is
    /// what the oracle checks.
    fn checked(&self) -> Option<&Checked> {
        None
    }

    /// Records it.
    fn record(&self, site: Site<'_>, inputs: &[Head], tail: &Tail) -> Result<Arc<Value>>;
}
