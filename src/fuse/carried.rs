//! The core that a kernel takes on board: what is computed from its result is the kernel's tail.

use std::sync::Arc;

use crate::engine::site::Choosing;
use crate::kernel::cores::{Core, Head};
use crate::wgsl::expr::{Expr, Term};

/// A core whose result an expression goes on from.
#[derive(Debug)]
pub(super) struct Carried {
    pub(super) core: Arc<dyn Core>,
    pub(super) choosing: Choosing,
    pub(super) heads: Vec<Head>,
    /// Which input of the expression its result is.
    pub(super) input: u16,
}

impl Carried {
    /// Views that it reads.
    pub(super) fn leaves(&self) -> usize {
        let heads = self.heads.iter().map(|head| head.operands.len());
        self.core.bindings_between() + heads.sum::<usize>()
    }

    /// Makes its result the first input, as it is that of a tail.
    pub(super) fn comes_first(&self, expr: &mut Expr) {
        expr.inputs[..=usize::from(self.input)].rotate_right(1);
        for node in &mut expr.nodes {
            if let Term::Input(i) = node
                && *i <= self.input
            {
                *i = if *i == self.input { 0 } else { *i + 1 };
            }
        }
    }
}
