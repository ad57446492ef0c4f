//! Products of random graphs beside that of matrices, and what they come to on lists.

use wharf::op::Reduction;
use wharf::reference::{Number, places};
use wharf::{DType, Result, Tensor};

use super::kinds::{Call, Kind};
use super::lists::{MOST_TERMS, Seen, spread, spreads, with};
use super::numbers::{EXACT_BELOW, dotted, magnitude, minus, plus, times, zero};

pub(super) const PRODUCTS: &[Kind] = &[
    Kind::of("linear", linear, layered)
        .beside(|_, a, b| b.len() == 2 && b[1] > 0 && a.last() == b.last()),
    Kind::of("dot", |_, t| t[0].dot(&t[1]), dots).beside(|_, a, b| a.len() == 1 && a == b),
    Kind::of("outer", |_, t| t[0].outer(&t[1]), each_by_each)
        .beside(|_, a, b| a.len() == 1 && b.len() == 1),
    Kind::of("cross", cross, crossed).beside(|c, a, b| cut_both(c, a, b, c.axis, 3).is_some()),
    Kind::of("complex_mul", complex_mul, complex_product)
        .beside(|c, a, b| cut_both(c, a, b, a.len() - 1, 2).is_some()),
    Kind::of("complex_conj", conjugate, conjugated),
    Kind::of("einsum", einsum, spelled).beside(|c, a, b| lengths(c, a, b).is_some()),
    Kind::of("einsum", einsum, spelled).beside(|c, a, b| lengths(c, a, b).is_some()),
    Kind::of("einsum", einsum, spelled).beside(|c, a, b| lengths(c, a, b).is_some()),
];

/// Each has two operands. None of their letters is summed by itself, so that nothing narrow is
/// rounded between.
const EQUATIONS: [[&str; 3]; 5] = [
    ["bij", "bjk", "ikb"],
    ["ijk", "jk", "i"],
    ["iij", "kj", "jik"],
    ["ij", "ij", "j"],
    ["ijk", "ijl", "lk"],
];

fn linear(call: &Call, of: &[Tensor]) -> Result<Tensor> {
    let bias = of[1].select(1, 0)?.cast(Reduction::Sum.yields(of[1].dtype()))?;
    let (has_bias, has_relu) = (call.nth(0, 3) > 0, call.nth(1, 2) == 0);
    let layer = of[0].linear(&of[1], has_bias.then_some(&bias))?;
    if has_relu { layer.relu() } else { Ok(layer) }
}

fn layered(call: &Call, of: &[Seen]) -> Option<Seen> {
    let (x, weight) = (&of[0], &of[1]);
    let dtype = Reduction::Sum.yields(x.dtype);
    let &[rows, columns] = &weight.dims[..] else { return None };
    if x.dtype == DType::Bool || x.values.len() * rows > MOST_TERMS {
        return None;
    }
    let dims = with(&x.dims, x.dims.len() - 1, rows);
    Seen::each(dtype, dims, |place| {
        let (row, lead) = place.split_last()?;
        let term = |i: usize| (x.at(&[lead, &[i]].concat()), weight.at(&[*row, i]));
        let mut sum = dotted(dtype, (0..columns).map(term))?;
        if call.nth(0, 3) > 0 {
            sum = plus(dtype, sum, weight.at(&[*row, 0]));
        }
        let is_below =
            matches!(sum, Number::Float(x) if x < 0.0) || matches!(sum, Number::Int(x) if x < 0);
        Some(if is_below && call.nth(1, 2) == 0 { zero(dtype) } else { sum })
    })
}

fn dots(_: &Call, of: &[Seen]) -> Option<Seen> {
    let (x, y) = (&of[0], &of[1]);
    let dtype = Reduction::Sum.yields(x.dtype);
    let pairs = x.values.iter().copied().zip(y.values.iter().copied());
    let sum = dotted(dtype, pairs).filter(|_| x.dtype != DType::Bool)?;
    Some(Seen { dtype, dims: vec![], values: vec![sum] })
}

fn each_by_each(_: &Call, of: &[Seen]) -> Option<Seen> {
    let (x, y) = (&of[0], &of[1]);
    if x.dtype == DType::Bool {
        return None;
    }
    let product = |place: &[usize]| times(x.dtype, x.values[place[0]], y.values[place[1]]);
    Seen::each(x.dtype, vec![x.dims[0], y.dims[0]], |place| Some(product(place)))
}

/// Where so many neighbours along an axis begin.
fn begin(call: &Call, n: usize, dim: usize, count: usize) -> Option<usize> {
    Some(call.nth(n, dim.checked_sub(count)? + 1))
}

/// The axis of the second that goes with one of the first, and where each is cut, if what is left
/// of the second spreads over that of the first.
fn cut_both(
    call: &Call,
    a: &[usize],
    b: &[usize],
    axis: usize,
    count: usize,
) -> Option<(usize, [usize; 2])> {
    let own = (axis + b.len()).checked_sub(a.len())?;
    let starts = [begin(call, 0, a[axis], count)?, begin(call, 1, b[own], count)?];
    let goes = spreads(&with(b, own, count), &with(a, axis, count));
    goes.then_some((own, starts))
}

/// Both as they are cut.
fn both(call: &Call, of: &[Tensor], axis: usize, count: usize) -> Result<[Tensor; 2]> {
    let [a, b] = [&of[0], &of[1]].map(|x| x.shape().dims());
    let Some((own, [x, y])) = cut_both(call, a, b, axis, count) else {
        return Ok([of[0].clone(), of[1].clone()]);
    };
    Ok([of[0].slice(axis, x..x + count)?, of[1].slice(own, y..y + count)?])
}

fn cross(call: &Call, of: &[Tensor]) -> Result<Tensor> {
    let [x, y] = both(call, of, call.axis, 3)?;
    x.cross(call.axis, &y)
}

fn complex_mul(call: &Call, of: &[Tensor]) -> Result<Tensor> {
    let [x, y] = both(call, of, of[0].shape().rank() - 1, 2)?;
    x.complex_mul(&y)
}

/// For every place of the first as it is cut, by the numbers along the axis of both.
fn by_lines(
    call: &Call,
    of: &[Seen],
    axis: usize,
    count: usize,
    made: impl Fn(&[Number], &[Number], usize) -> Option<Number>,
) -> Option<Seen> {
    let (x, y) = (&of[0], &of[1]);
    let (own, starts) = cut_both(call, &x.dims, &y.dims, axis, count)?;
    Seen::each(x.dtype, with(&x.dims, axis, count), |place| {
        let line = |x: &Seen, axis: usize, start: usize| -> Vec<Number> {
            let place = spread(&with(&x.dims, axis, count), place);
            (0..count).map(|n| x.at(&with(&place, axis, start + n))).collect()
        };
        made(&line(x, axis, starts[0]), &line(y, own, starts[1]), place[axis])
    })
}

/// The difference of two products, if it is exact.
fn difference(dtype: DType, a: [Number; 2], b: [Number; 2]) -> Option<Number> {
    let [a, b] = [a, b].map(|[x, y]| times(dtype, x, y));
    (magnitude(a) + magnitude(b) < EXACT_BELOW).then(|| minus(dtype, a, b))
}

fn crossed(call: &Call, of: &[Seen]) -> Option<Seen> {
    let dtype = of[0].dtype;
    if dtype == DType::Bool {
        return None;
    }
    by_lines(call, of, call.axis, 3, |x, y, n| {
        let (next, last) = ((n + 1) % 3, (n + 2) % 3);
        difference(dtype, [x[next], y[last]], [x[last], y[next]])
    })
}

fn complex_product(call: &Call, of: &[Seen]) -> Option<Seen> {
    let dtype = of[0].dtype;
    if !dtype.is_float() {
        return None;
    }
    by_lines(call, of, of[0].dims.len() - 1, 2, |x, y, n| match n {
        0 => difference(dtype, [x[0], y[0]], [x[1], y[1]]),
        _ => difference(dtype, [x[0], y[1]], [x[1], minus(dtype, zero(dtype), y[0])]),
    })
}

fn conjugate(call: &Call, of: &[Tensor]) -> Result<Tensor> {
    let x = &of[0];
    let axis = x.shape().rank() - 1;
    let start = begin(call, 0, x.shape().dims()[axis], 2).unwrap_or(0);
    x.slice(axis, start..start + 2)?.complex_conj()
}

fn conjugated(call: &Call, of: &[Seen]) -> Option<Seen> {
    let (x, axis) = (&of[0], of[0].dims.len() - 1);
    let start = begin(call, 0, x.dims[axis], 2).filter(|_| x.dtype.is_float())?;
    Seen::each(x.dtype, with(&x.dims, axis, 2), |place| {
        let part = x.at(&with(place, axis, start + place[axis]));
        Some(if place[axis] == 1 { minus(x.dtype, zero(x.dtype), part) } else { part })
    })
}

/// How long the axis of each letter is, if the equation that was drawn goes with both shapes.
fn lengths(call: &Call, a: &[usize], b: &[usize]) -> Option<Vec<(u8, usize)>> {
    let [left, right, _] = EQUATIONS[call.nth(0, EQUATIONS.len())];
    let mut known: Vec<(u8, usize)> = Vec::new();
    for (word, dims) in [(left, a), (right, b)] {
        if word.len() != dims.len() {
            return None;
        }
        for (letter, &dim) in word.bytes().zip(dims) {
            match known.iter().find(|(other, _)| *other == letter) {
                Some(&(_, length)) if length != dim => return None,
                Some(_) => {}
                None => known.push((letter, dim)),
            }
        }
    }
    Some(known)
}

fn einsum(call: &Call, of: &[Tensor]) -> Result<Tensor> {
    let [left, right, result] = EQUATIONS[call.nth(0, EQUATIONS.len())];
    Tensor::einsum(&format!("{left},{right}->{result}"), of)
}

/// For all places of all letters a term.
fn spelled(call: &Call, of: &[Seen]) -> Option<Seen> {
    let (x, y) = (&of[0], &of[1]);
    let lengths = lengths(call, &x.dims, &y.dims)?;
    let [left, right, result] = EQUATIONS[call.nth(0, EQUATIONS.len())].map(str::as_bytes);
    let (kept, gone): (Vec<_>, Vec<_>) =
        lengths.iter().copied().partition(|(letter, _)| result.contains(letter));
    let kept = result.iter().filter_map(|l| kept.iter().find(|(letter, _)| letter == l));
    let dims: Vec<usize> = kept.map(|(_, length)| *length).collect();
    let inner: Vec<usize> = gone.iter().map(|(_, length)| *length).collect();
    let dtype = Reduction::Sum.yields(x.dtype);
    let terms: usize = dims.iter().chain(&inner).product();
    if x.dtype == DType::Bool || terms > MOST_TERMS {
        return None;
    }
    let letters: Vec<u8> = result.iter().copied().chain(gone.iter().map(|(l, _)| *l)).collect();
    Seen::each(dtype, dims, |place| {
        let term = |summed: Vec<usize>| {
            let all = [place, &summed].concat();
            let of_word = |word: &[u8]| -> Vec<usize> {
                let at = |letter: &u8| letters.iter().position(|l| l == letter).map(|n| all[n]);
                word.iter().filter_map(at).collect()
            };
            (x.at(&of_word(left)), y.at(&of_word(right)))
        };
        dotted(dtype, places(&inner).map(term))
    })
}
