//! Work that takes nothing on board: kernels of its own, deferred like any other.

use core::fmt;
use std::sync::Arc;

use super::{Core, Head, Tail};
use crate::engine::Site;
use crate::error::Result;
use crate::exec::Value;
use crate::kernel::Operand;
use crate::kernel::elementwise::checked::Checked;
use crate::proof::Oracle;

/// What some work is a part of, and what computes it once more, if anything does.
#[derive(Debug)]
pub(crate) struct Task {
    pub(crate) name: &'static str,
    pub(crate) oracle: Option<Oracle>,
    pub(crate) checked: Option<Checked>,
}

impl From<&'static str> for Task {
    fn from(name: &'static str) -> Self {
        Self { name, oracle: None, checked: None }
    }
}

impl Task {
    pub(crate) const fn by(name: &'static str, oracle: Oracle) -> Self {
        Self { name, oracle: Some(oracle), checked: None }
    }

    /// An expression that notes faults.
    pub(crate) const fn of(name: &'static str, expr: Checked) -> Self {
        Self { name, oracle: Some(Oracle::Copied), checked: Some(expr) }
    }
}

/// A function that records some work on views, under the name of what it is a part of.
pub(crate) struct Alone<F> {
    pub(crate) named: Task,
    pub(crate) record: F,
}

impl<F> fmt::Debug for Alone<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Alone").field(&self.named).finish()
    }
}

impl<F> Core for Alone<F>
where
    F: Fn(Site<'_>, &[Operand]) -> Result<Arc<Value>> + Send + Sync,
{
    fn name(&self) -> &'static str {
        self.named.name
    }

    fn oracle(&self) -> Option<Oracle> {
        self.named.oracle.clone()
    }

    fn checked(&self) -> Option<&Checked> {
        self.named.checked.as_ref()
    }

    fn stands_alone(&self) -> bool {
        true
    }

    fn record(&self, site: Site<'_>, inputs: &[Head], tail: &Tail) -> Result<Arc<Value>> {
        let inputs = inputs.iter().map(|head| head.realise(site)).collect::<Result<Vec<_>>>()?;
        tail.apply(site, (self.record)(site, &inputs)?)
    }
}
