//! The product once more: rows by rows of values in blocks, which have a scale each.

use crate::op::Number;
use crate::proof::{Cell, Claim, Estimate, OwnOracle};

/// It is told how long a block is.
pub(crate) const BLOCKWISE: OwnOracle = OwnOracle {
    name: "quantised product",
    fits,
    effort: |claim| claim.heads[0].shape.dims()[1] as u64,
    element,
};

fn fits(claim: &Claim, told: &[u32]) -> bool {
    let [x, values, scales] = &*claim.heads else { return false };
    let dims = [x, values, scales].map(|head| head.shape.dims());
    let ([&[m, k], &[n, all], &[rows, blocks]], &[block]) = (dims, told) else { return false };
    k == all
        && n == rows
        && n > 0
        && block > 0
        && blocks.checked_mul(block as usize) == Some(k)
        && m.checked_mul(n) == Some(claim.tail.shape.elements())
        && claim.tail.expr.inputs[0].is_float()
        && x.dtype.is_float()
        && scales.dtype.is_float()
}

fn element(cell: &Cell<'_>) -> Option<Estimate> {
    let Cell { claim, told, n, input } = *cell;
    let &[rows, k] = claim.heads[1].shape.dims() else { return None };
    let blocks = *claim.heads[2].shape.dims().last()?;
    let (row, column) = (n / rows, n % rows);
    let known = |i: usize, n: usize| match input(i, n) {
        Estimate::Known(number) => Some(number),
        _ => None,
    };
    let block = *told.first()? as usize;
    let weight = |i: usize| {
        let scale = known(2, column * blocks + i / block)?.float();
        Some(Number::Float(known(1, column * k + i)?.float() * scale))
    };
    let left: Option<Vec<Number>> = (0..k).map(|i| known(0, row * k + i)).collect();
    let right: Option<Vec<Number>> = (0..k).map(weight).collect();
    // A block takes eleven roundings to sum and one to scale, and blocks are added in turn.
    Estimate::summed(claim.tail.expr.inputs[0], blocks + 10, &left?, &right?)
}
