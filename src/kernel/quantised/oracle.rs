//! The product once more: rows by rows of values in blocks, which have a scale each.

use half::f16;

use crate::host::blocks::{Blocks, Share};
use crate::op::Number;
use crate::proof::{Cell, Claim, Estimate, OwnOracle};

/// It is told the number of the form.
pub(crate) const BLOCKWISE: OwnOracle = OwnOracle {
    name: "quantised product",
    fits,
    effort: |claim| claim.heads[0].shape.dims()[1] as u64,
    element,
};

fn fits(claim: &Claim, told: &[u32]) -> bool {
    let [x, values, scales] = &*claim.heads else { return false };
    let dims = [x, values, scales].map(|head| head.shape.dims());
    let ([&[m, k], &[n, some], &[rows, others]], Some(form)) = (dims, form(told)) else {
        return false;
    };
    let whole = |elements: usize, share: Share| {
        elements.checked_mul(form.weights()) == k.checked_mul(share.each(form))
    };
    whole(some, Share::Values)
        && whole(others, Share::Scales)
        && n == rows
        && n > 0
        && m.checked_mul(n) == Some(claim.tail.shape.elements())
        && claim.tail.expr.inputs[0].is_float()
        && x.dtype.is_float()
        && Blocks::of(values.dtype, scales.dtype) == Some(form)
}

fn form(told: &[u32]) -> Option<Blocks> {
    let &[form] = told else { return None };
    Blocks::ALL.get(form as usize).copied()
}

/// The scale and the minimum of one of the eight parts of a block, as its four words have them.
fn six_bits(word: impl Fn(usize) -> Option<u32>, part: usize) -> Option<[f64; 2]> {
    let bytes: Option<Vec<u8>> = (0..16).map(|i| Some(word(i / 4)?.to_le_bytes()[i % 4])).collect();
    let (halves, bytes) = bytes.as_deref()?.split_at_checked(4)?;
    let half = |i: usize| f16::from_le_bytes([halves[2 * i], halves[2 * i + 1]]).to_f64();
    let (scale, least) = if part < 4 {
        (bytes[part] & 63, bytes[part + 4] & 63)
    } else {
        let low = bytes[part + 4];
        ((low & 15) | ((bytes[part - 4] >> 6) << 4), (low >> 4) | ((bytes[part] >> 6) << 4))
    };
    Some([half(0) * f64::from(scale), half(1) * f64::from(least)])
}

fn element(cell: &Cell<'_>) -> Option<Estimate> {
    let Cell { claim, told, n, input } = *cell;
    let form = form(told)?;
    let (&[_, k], &[rows, width]) = (claim.heads[0].shape.dims(), claim.heads[1].shape.dims())
    else {
        return None;
    };
    let beside = *claim.heads[2].shape.dims().last()?;
    let (row, column) = (n / rows, n % rows);
    let known = |i: usize, n: usize| match input(i, n) {
        Estimate::Known(number) => Some(number),
        _ => None,
    };
    let value = |at: usize| Some(known(1, column * width + at)?.float());
    let scale = |at: usize| Some(known(2, column * beside + at)?.float());
    let left: Option<Vec<Number>> = (0..k).map(|i| known(0, row * k + i)).collect();
    let weight = |i: usize| {
        let (block, at) = (i / form.weights(), i % form.weights());
        Some(Number::Float(match form {
            Blocks::Q8 => value(i)? * scale(block)?,
            Blocks::Q4 => {
                let byte = value(16 * block + at % 16)? as u32;
                (f64::from((byte >> (at / 16 * 4)) & 15) - 8.0) * scale(block)?
            }
            Blocks::Q4K => {
                let byte = value(128 * block + at / 64 * 32 + at % 32)? as u32;
                let [d, m] = six_bits(|word| Some(scale(4 * block + word)? as u32), at / 32)?;
                d * f64::from((byte >> (at / 32 % 2 * 4)) & 15) - m
            }
        }))
    };
    let right: Option<Vec<Number>> = (0..k).map(weight).collect();
    // 32 terms take eleven roundings to sum and one to scale, and such sums are added in turn.
    Estimate::summed(claim.tail.expr.inputs[0], k / 32 + 10, &left?, &right?)
}
