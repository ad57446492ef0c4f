//! Scans of what lies in several segments: slab by slab, each with what the slab before it on the
//! same rows ended in.

use std::sync::Arc;

use super::record::Scanning;
use crate::error::Result;
use crate::exec::Value;
use crate::kernel::cores::{Head, Tail, in_pieces};
use crate::kernel::moves::assign::Assignment;
use crate::kernel::reduce::text::Fold;
use crate::kernel::{Held, Operand, moves};
use crate::layout::Layout;
use crate::op::Op;
use crate::shape::Shape;
use crate::wgsl::{Expr, Term};

impl Scanning<'_> {
    /// The scan of a head, without a tail.
    pub(super) fn in_slabs(&self, head: &Head) -> Result<Arc<Value>> {
        let mut input = head.realise(self.site)?;
        if !(input.layout.is_dense() && input.layout.offset() == 0) {
            input = moves::gather(self.site, &input, &[])?;
        }
        let length = head.shape.dims().last().copied().unwrap_or(1);
        let rows = head.shape.elements() / length.max(1);
        let shape = Shape::new([rows, length])?;
        input.layout = Layout::dense(shape);
        let dtype = self.how.result().dtype();
        let held = input.hold()?;
        let apart: Vec<u64> = held.ids().collect();
        let (result, output) = Held::fresh(self.site, &shape, dtype, &apart)?;
        let apart: Vec<u64> = output.ids().collect();
        let most = (held.segment / 2).min(1 << 28);
        let step = (most / length).clamp(1, rows);
        for row in (0..rows).step_by(step) {
            let mut ended: Option<Operand> = None;
            for at in (0..length).step_by(most) {
                let ranges = [row..(row + step).min(rows), at..(at + most).min(length)];
                let slab = input.under(input.layout.part(&ranges)?);
                let slab = moves::gather(self.site, &slab, &apart)?;
                let layout = slab.layout;
                let tail = self.after(ended, *layout.shape())?;
                let value = self
                    .at_once(&Head::view(slab), &tail, &apart)?
                    .ok_or_else(|| in_pieces("a scan"))?;
                let from = Operand { value, layout, dtype };
                Assignment { value: &result, shape: &shape, ranges: &ranges }
                    .assign(self.site, &from)?;
                let last = ranges[1].len();
                ended = Some(from.slice(1, last - 1..last)?);
            }
        }
        Ok(result)
    }

    /// What a slab's own scan is merged with: what the slab before it ended in.
    fn after(&self, ended: Option<Operand>, shape: Shape) -> Result<Tail> {
        let dtype = self.how.result().dtype();
        let mut tail = Tail::identity(shape, dtype);
        if let Some(ended) = ended {
            let op = match self.how.fold {
                Fold::Sum => Op::Add,
                Fold::Prod => Op::Mul,
                Fold::Max => Op::Max,
                Fold::Min => Op::Min,
            };
            let nodes = vec![Term::Input(0), Term::Input(1), Term::Apply(op, [1, 0, 0])];
            tail.expr = Expr { inputs: vec![dtype; 2], nodes, outputs: vec![2], ..Expr::default() };
            tail.operands = vec![ended.under(ended.layout.broadcast_to(shape)?)];
        }
        Ok(tail)
    }
}
