//! Sums on their way into a result: stored as they are, with what follows; or in rows filled up to
//! whole quads, then added.

use core::ops::Range;
use std::sync::Arc;

use super::ends::Tail;
use super::reach::{COUNTED, ELEMENTS_MAX};
use crate::dtype::DType;
use crate::engine::Site;
use crate::error::Result;
use crate::exec::Value;
use crate::kernel::elementwise::Fused;
use crate::kernel::{Operand, fill};
use crate::op::Op;
use crate::shape::Shape;
use crate::wgsl::{Expr, Term};

/// What the passes of a product come to, so many rows and columns each.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sums {
    pub(crate) passes: usize,
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    /// What they are of, where the tail is not on board.
    pub(crate) dtype: DType,
}

impl Sums {
    /// Stores passes by this function, which does to them what a tail says. A single pass takes the
    /// tail on board, where columns are whole quads, and a kernel that binds so many buffers has
    /// room for what the tail reads.
    pub(crate) fn stored(
        self,
        site: Site<'_>,
        bound: u64,
        tail: &Tail,
        store: impl Fn(Range<usize>, &Tail) -> Result<Arc<Value>>,
    ) -> Result<Arc<Value>> {
        let bound = bound + tail.operands.len() as u64;
        let room = bound <= site.engine.gpu.caps().limits.storage_buffers_max;
        let direct = self.passes == 1 && self.columns.is_multiple_of(4) && room;
        if direct && tail.reach(false)?.is_some() {
            return store(0..1, tail);
        }
        self.added(site, tail, store)
    }

    /// Stores them in rows filled up to whole quads, as many passes in one value as are counted,
    /// and adds them with the tail.
    pub(crate) fn added(
        self,
        site: Site<'_>,
        tail: &Tail,
        store: impl Fn(Range<usize>, &Tail) -> Result<Arc<Value>>,
    ) -> Result<Arc<Value>> {
        let Self { passes, rows, columns, dtype } = self;
        let pitch = columns.next_multiple_of(4);
        let mut terms = Vec::with_capacity(passes);
        COUNTED.check(rows as u128 * pitch as u128)?;
        let most = (ELEMENTS_MAX / (rows * pitch)).max(1);
        for first in (0..passes).step_by(most) {
            let count = most.min(passes - first);
            let filled = Shape::new([count, rows, pitch])?;
            let value = store(first..first + count, &Tail::identity(filled, dtype))?;
            let sums = Operand::dense(value, filled, dtype).slice(2, 0..columns)?;
            for pass in 0..count {
                let layout = sums.slice(0, pass..pass + 1)?.layout.reshape(tail.shape)?;
                terms.push(sums.under(layout));
            }
        }
        added(site, terms, dtype, tail)
    }
}

/// The result of a product of no terms.
pub(crate) fn of_nothing(site: Site<'_>, tail: &Tail) -> Result<Arc<Value>> {
    let zero = vec![0; tail.given().width()];
    tail.apply(site, fill::full(site, &tail.shape, tail.given(), &zero)?)
}

/// The sum of all passes, with the tail.
fn added(site: Site<'_>, mut terms: Vec<Operand>, dtype: DType, tail: &Tail) -> Result<Arc<Value>> {
    let shape = &tail.shape;
    let room = site.engine.gpu.caps().limits.storage_buffers_max.min(16) as usize - 1;
    let fused = |expr: &Expr, operands: &[Operand], scalars: &[u32], to| {
        Fused { expr, operands, scalars }.record(site, shape, to, &[])
    };
    // A few at a time, until the tail fits in too.
    while terms.len() + tail.operands.len() > room && terms.len() > 1 {
        let few: Vec<Operand> = terms.drain(..terms.len().min(room)).collect();
        let plain = Tail::identity(*shape, dtype);
        let expr = sum_then(&plain.expr, few.len(), dtype, dtype);
        terms.push(Operand::dense(fused(&expr, &few, &[], dtype)?, *shape, dtype));
    }
    let expr = sum_then(&tail.expr, terms.len(), dtype, tail.given());
    fused(&expr, &[terms, tail.operands.clone()].concat(), &tail.scalars, tail.dtype)
}

/// The sum of `count` inputs, as the first input of `tail`.
fn sum_then(tail: &Expr, count: usize, dtype: DType, given: DType) -> Expr {
    let count = count as u16; // no kernel reads more than 16
    let mut nodes = vec![Term::Input(0)];
    for i in 1..count {
        let so_far = nodes.len() as u16 - 1;
        nodes.push(Term::Input(i));
        nodes.push(Term::Apply(Op::Add, [so_far, so_far + 1, 0]));
    }
    if dtype != given {
        nodes.push(Term::Cast(nodes.len() as u16 - 1, given));
    }
    let total = nodes.len() as u16 - 1;
    // Places of the tail's nodes in this expression: the result itself is the total.
    let mut places = Vec::with_capacity(tail.nodes.len());
    for node in &tail.nodes {
        let at = |n: u16| places.get(usize::from(n)).copied().unwrap_or(0); // beyond the arity
        let node = match *node {
            Term::Input(0) => {
                places.push(total);
                continue;
            }
            Term::Input(i) => Term::Input(i - 1 + count),
            Term::Scalar(i) => Term::Scalar(i),
            Term::Apply(op, args) => Term::Apply(op, args.map(at)),
            Term::Call(ref formula, args) => Term::Call(Arc::clone(formula), args.map(at)),
            Term::Cast(a, to) => Term::Cast(at(a), to),
        };
        nodes.push(node);
        places.push(nodes.len() as u16 - 1);
    }
    let inputs = [vec![dtype; usize::from(count)], tail.inputs[1..].to_vec()].concat();
    let outputs = tail.outputs.iter().map(|&o| places[usize::from(o)]).collect();
    Expr { inputs, scalars: tail.scalars.clone(), nodes, outputs, fault: None }
}
