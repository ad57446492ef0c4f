//! The two ends of a core: what its inputs are, and what becomes of its result.

use std::sync::Arc;

use super::reach::{COUNTED, Reach};
use crate::dtype::DType;
use crate::engine::Site;
use crate::error::{Result, mistake};
use crate::exec::Value;
use crate::kernel::Operand;
use crate::kernel::elementwise::Fused;
use crate::kernel::moves;
use crate::layout::Layout;
use crate::shape::Shape;
use crate::wgsl::Expr;

/// An expression over operands that are all views of one shape.
#[derive(Clone, Debug)]
pub(crate) struct Head {
    pub(crate) expr: Expr,
    pub(crate) operands: Vec<Operand>,
    pub(crate) scalars: Vec<u32>,
    pub(crate) shape: Shape,
    pub(crate) dtype: DType,
}

/// What becomes of every element of a core's result before it is stored: an expression whose first
/// input is that element, and whose others are `operands`, views of the result's shape.
#[derive(Clone, Debug)]
pub(crate) struct Tail {
    pub(crate) expr: Expr,
    pub(crate) operands: Vec<Operand>,
    pub(crate) scalars: Vec<u32>,
    pub(crate) shape: Shape,
    /// What is stored.
    pub(crate) dtype: DType,
}

/// The inputs of a core that reads them at any strides: each in one segment, and how it lies.
pub(crate) fn reachable(site: Site<'_>, inputs: &[Head]) -> Result<(Vec<Head>, Vec<Layout>)> {
    let whole = |head: &Head| {
        let operand = moves::reachable(site, head.realise(site)?, |_| true)?;
        let layout = operand.layout;
        Ok((Head::view(operand), layout))
    };
    inputs.iter().map(whole).collect()
}

impl Head {
    /// One view.
    pub(crate) fn view(operand: Operand) -> Self {
        let (shape, dtype) = (*operand.layout.shape(), operand.dtype);
        let (operands, scalars) = (vec![operand], Vec::new());
        Self { expr: Expr::itself(dtype), operands, scalars, shape, dtype }
    }

    /// The view, if it is just one.
    pub(crate) fn plain(&self) -> Option<&Operand> {
        match &*self.operands {
            [operand] if self.expr.is_itself() => Some(operand),
            _ => None,
        }
    }

    /// The view; or, of an expression, a view of its value, which is computed now.
    pub(crate) fn realise(&self, site: Site<'_>) -> Result<Operand> {
        if let Some(operand) = self.plain() {
            return Ok(operand.clone());
        }
        let Self { expr, operands, scalars, shape, dtype } = self;
        let value = Fused { expr, operands, scalars }.record(site, shape, *dtype, &[])?;
        Ok(Operand::dense(value, *shape, *dtype))
    }

    /// The head with another view of each operand; all of them must have one shape.
    pub(crate) fn map(&self, view: impl Fn(&Layout) -> Result<Layout>) -> Result<Self> {
        let shape = *view(&Layout::dense(self.shape))?.shape();
        let operands = self.operands.iter().map(|o| Ok(o.under(view(&o.layout)?)));
        let operands = operands.collect::<Result<_>>()?;
        Ok(Self { operands, shape, ..self.clone() })
    }

    /// How a kernel reaches its operands, by quads or by elements of its shape; `None` if one of
    /// them does not lie in one segment, or there are more elements than 32 bits count.
    pub(crate) fn reach(&self, by_element: bool) -> Result<Option<Reach<'_>>> {
        Reach::over(&self.expr, &self.operands, &self.scalars, &self.shape, by_element)
    }

    /// How a kernel that does its own arithmetic reaches the only view: quad (or element) `q`
    /// counts from the view's first element. `None` if the view lies in several segments or, by
    /// quads, does not begin at a whole one.
    pub(crate) fn raw(&self, by_element: bool) -> Result<Option<Reach<'_>>> {
        let Some(operand) = self.plain() else { return Ok(None) };
        Reach::raw(&self.expr, operand, by_element)
    }
}

impl Tail {
    /// The tail that leaves the result as it is.
    pub(crate) fn identity(shape: Shape, dtype: DType) -> Self {
        let (operands, scalars) = (Vec::new(), Vec::new());
        Self { expr: Expr::itself(dtype), operands, scalars, shape, dtype }
    }

    /// Whether it leaves the result as it is.
    pub(crate) fn is_identity(&self) -> bool {
        self.expr.is_itself()
    }

    /// The dtype of the core's result.
    pub(crate) fn given(&self) -> DType {
        self.expr.inputs[0]
    }

    /// Runs it as a kernel of its own on a result that has been stored, dense.
    pub(crate) fn apply(&self, site: Site<'_>, value: Arc<Value>) -> Result<Arc<Value>> {
        if self.is_identity() {
            return Ok(value);
        }
        let Self { expr, scalars, shape, dtype, .. } = self;
        let mut operands = vec![Operand::dense(value, *shape, self.given())];
        operands.extend_from_slice(&self.operands);
        // Nobody else reads the stored result, so the new one may take its memory.
        let fused = Fused { expr, operands: &operands, scalars };
        fused.record(site, shape, *dtype, &[0])
    }

    /// How a kernel reaches its operands, by quads or by elements of the dense result; `None` as
    /// for [`Head::reach`].
    pub(crate) fn reach(&self, by_element: bool) -> Result<Option<Reach<'_>>> {
        Reach::over(&self.expr, &self.operands, &self.scalars, &self.shape, by_element)
    }

    /// How a kernel reaches operands that lie in one segment each, by quads of its shape: refused
    /// where there are more elements than 32 bits count.
    pub(crate) fn reached(&self) -> Result<Reach<'_>> {
        COUNTED.check(self.shape.elements() as u128)?;
        self.reach(false)?.ok_or_else(|| mistake("a tail", "out of reach"))
    }
}
