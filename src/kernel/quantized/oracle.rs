//! The product once more: rows by rows of values in blocks, which have a scale each.

use half::f16;

use crate::host::blocks::{Blocks, Share};
use crate::op::Number;
use crate::proof::{Cell, Claim, Estimate, OwnOracle};

/// It is told the number of the form.
pub(crate) const BLOCKWISE: OwnOracle = OwnOracle {
    name: "quantized product",
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
        && Blocks::of((values.dtype, some), (scales.dtype, others)) == Some(form)
}

fn form(told: &[u32]) -> Option<Blocks> {
    let &[form] = told else { return None };
    Blocks::ALL.get(form as usize).copied()
}

/// The scale and the minimum of one of the eight parts of a block, by its sixteen bytes.
fn six_bits(byte: impl Fn(usize) -> Option<u32>, part: usize) -> Option<[f64; 2]> {
    let bits = |i: usize| byte(4 + i);
    let (scale, least) = if part < 4 {
        (bits(part)? & 63, bits(part + 4)? & 63)
    } else {
        let low = bits(part + 4)?;
        ((low & 15) | ((bits(part - 4)? >> 6) << 4), (low >> 4) | ((bits(part)? >> 6) << 4))
    };
    Some([half(&byte, 0)? * f64::from(scale), half(&byte, 2)? * f64::from(least)])
}

/// The f16 whose first byte this is.
fn half(byte: impl Fn(usize) -> Option<u32>, at: usize) -> Option<f64> {
    Some(f16::from_bits((byte(at)? | (byte(at + 1)? << 8)) as u16).to_f64())
}

/// Weight `at` of 32 of five bits: half a byte of its values, and a bit behind so many factors.
fn of_five_bits(
    at: usize,
    value: impl Fn(usize) -> Option<f64>,
    (byte, factors): (impl Fn(usize) -> Option<u32>, usize),
) -> Option<f64> {
    let low = (value(at % 16)? as u32 >> (at / 16 * 4)) & 15;
    let fifth = (byte(2 * factors + at / 8)? >> (at % 8)) & 1;
    let number = f64::from(low + 16 * fifth);
    Some(match factors {
        1 => half(&byte, 0)? * (number - 16.0),
        _ => half(&byte, 0)? * number + half(&byte, 2)?,
    })
}

/// Weight `at` of 256, by the bytes of the block's two parts.
fn of_super(
    form: Blocks,
    at: usize,
    value: impl Fn(usize) -> Option<f64>,
    byte: impl Fn(usize) -> Option<u32>,
) -> Option<f64> {
    let bits = |at: usize, shift: usize, mask: u32| Some((value(at)? as u32 >> shift) & mask);
    // Of each 128 weights: which 32, and which of those.
    let (second, turn, l) = (at / 128, at % 128 / 32, at % 32);
    let two = |first: usize| bits(first + 32 * second + l, 2 * turn, 3);
    let top = |at: usize| bits(at % 32, at / 32, 1);
    let sixteenth = at / 16;
    let [scale, least, number] = match form {
        Blocks::Q8 | Blocks::Q4 | Blocks::Q4_1 | Blocks::Q5 | Blocks::Q5_1 => return None,
        Blocks::Q4K | Blocks::Q5K => {
            let first = if form == Blocks::Q5K { 32 } else { 0 };
            let low = bits(first + at / 64 * 32 + l, at / 32 % 2 * 4, 15)?;
            let high = if form == Blocks::Q5K { top(at)? } else { 0 };
            let [scale, least] = six_bits(byte, at / 32)?;
            [scale, least, f64::from(low | (high << 4))]
        }
        Blocks::Q6K => {
            let low = bits(64 * second + 32 * (turn % 2) + l, turn / 2 * 4, 15)?;
            let number = f64::from(low | (two(128)? << 4)) - 32.0;
            [half(&byte, 16)? * f64::from(byte(sixteenth)? as u8 as i8), 0.0, number]
        }
        Blocks::Q3K => {
            let four =
                if sixteenth < 8 { byte(sixteenth)? & 15 } else { byte(sixteenth - 8)? >> 4 };
            let above = (byte(8 + sixteenth % 4)? >> (sixteenth / 4 * 2)) & 3;
            let scale = f64::from(four | (above << 4)) - 32.0;
            let number = f64::from(two(32)?) - if top(at)? == 1 { 0.0 } else { 4.0 };
            [half(&byte, 12)? * scale, 0.0, number]
        }
        Blocks::Q2K => {
            let both = byte(sixteenth)?;
            let [scale, least] = [both & 15, both >> 4].map(f64::from);
            [half(&byte, 16)? * scale, half(&byte, 18)? * least, f64::from(two(0)?)]
        }
    };
    Some(scale * number - least)
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
        let [each, beside] = Share::BOTH.map(|share| share.each(form));
        let width = Share::Scales.dtype(form).width();
        let byte = |i: usize| {
            let element = scale(beside * block + i / width)? as u32;
            Some((element >> (i % width * 8)) & 255)
        };
        let nibble = || {
            let byte = value(16 * block + at % 16)? as u32;
            Some(f64::from((byte >> (at / 16 * 4)) & 15))
        };
        let own = |i: usize| value(each * block + i);
        Some(Number::Float(match form {
            Blocks::Q8 => value(i)? * scale(block)?,
            Blocks::Q4 => (nibble()? - 8.0) * scale(block)?,
            Blocks::Q4_1 => nibble()? * scale(2 * block)? + scale(2 * block + 1)?,
            Blocks::Q5 => of_five_bits(at, own, (byte, 1))?,
            Blocks::Q5_1 => of_five_bits(at, own, (byte, 2))?,
            _ => of_super(form, at, own, byte)?,
        }))
    };
    let right: Option<Vec<Number>> = (0..k).map(weight).collect();
    // 32 terms take eleven roundings to sum and one to scale, and such sums are added in turn.
    Estimate::summed(claim.tail.expr.inputs[0], k / 32 + 10, &left?, &right?)
}
