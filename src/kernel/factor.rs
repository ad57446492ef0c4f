//! Small blocks of matrices: what is left when products have done the rest.
//!
//! ```text
//! T           [matrices, n, n], a lower triangle of at most 32 rows, at any strides
//! B           [matrices, n, m], likewise
//! X           [matrices, n, m] with T X = B, dense; its tail is fused
//! L           [matrices, n, n] with L L^T = A, likewise
//! ```
//!
//! A block has one size on every adapter, and the sums of one column one order. No element of a
//! result has a bound of its own that does not know the whole matrix, so these are not judged in
//! the shadow; the products around them are.

use std::sync::Arc;

use super::cores::{Core, Head, Landing, Launch, Tail, in_pieces, reachable};
use super::{Operand, moves};
use crate::count::words;
use crate::engine::Site;
use crate::error::Result;
use crate::exec::{Bound, Job, Value};
use crate::wgsl::Entry;
use crate::wgsl::grid::fold;
use crate::wgsl::kept::plain;
pub(crate) use text::{BLOCK, PANEL, ROWS_MAX};
use text::{CHOLESKY, CholeskyJob, LU_PANEL, PanelJob, TRIANGLE, TriangleJob};

pub mod text;

/// A block, deferred. Its inputs and its result fit in a segment each.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FactorCore {
    /// A right side by a lower triangle, whose diagonal may count as ones.
    Triangle { unit: bool },
    /// The factor of a positive definite block.
    Cholesky,
}

impl Core for FactorCore {
    fn name(&self) -> &'static str {
        self.entry().name
    }

    fn record(&self, site: Site<'_>, inputs: &[Head], tail: &Tail) -> Result<Arc<Value>> {
        let (heads, layouts) = reachable(site, inputs)?;
        let (job, groups) = match (self, &*layouts) {
            (&Self::Triangle { unit }, [triangle, right]) => {
                let (job, groups) = TriangleJob::of([triangle, right], unit)?;
                (job.words(), groups)
            }
            (Self::Cholesky, [matrix]) => {
                let (job, groups) = CholeskyJob::of(matrix)?;
                (job.words(), groups)
            }
            _ => return Err(in_pieces(self.name())),
        };
        let reached = heads.iter().map(|head| head.raw(true));
        let landing = Landing::whole(self.name(), site, reached, tail, true)?;
        landing.by(Launch::of(self.entry(), &(), job, fold(groups)))
    }
}

impl FactorCore {
    const fn entry(&self) -> &'static Entry {
        match self {
            Self::Triangle { .. } => &TRIANGLE,
            Self::Cholesky => &CHOLESKY,
        }
    }
}

/// The factors of panels `[matrices, rows, columns + 1]`, whose last column has the number of each
/// row. Rows are swapped for their pivots, and their numbers with them: so the last column of the
/// result tells where each row came from.
pub(crate) fn panels(site: Site<'_>, from: &Operand) -> Result<Arc<Value>> {
    let &[matrices, rows, columns] = from.layout.shape().dims() else {
        return Err(in_pieces(LU_PANEL.name));
    };
    let panels = moves::copied(site, from, &[])?;
    panels.inherit([&*from.value]);
    let [matrices, rows, columns] = words([matrices, rows, columns - 1])?;
    let pinned = panels.pin()?;
    let [piece] = &*pinned.pieces() else { return Err(in_pieces(LU_PANEL.name)) };
    site.dispatch(Job {
        kernel: &plain(&LU_PANEL, site.target),
        bindings: vec![Bound::from(piece)],
        params: PanelJob { matrices, rows, columns }.words(),
        groups: fold(matrices),
        outputs: vec![Arc::downgrade(&panels)],
    })?;
    Ok(panels)
}
