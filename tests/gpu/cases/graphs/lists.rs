//! What operations come to, on lists, as naively as it can be said. `None` is what is not exact,
//! what is too large, and what has no result.

use core::cmp::Ordering;

use wharf::op::{Op, Reduction};
use wharf::reference::{Number, apply, places};
use wharf::tensor::Order;
use wharf::{DType, Shape};

use super::kinds::{ASSIGNING, Call, FOLDS};
use super::numbers::{
    EXACT_BELOW, Meet, compare, is_exact, is_zero, least, magnitude, most, one, plus, times, zero,
};

/// An operand as its consumer sees it, row-major.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    pub(super) dtype: DType,
    pub(super) dims: Vec<usize>,
    pub(super) values: Vec<Number>,
}

impl Seen {
    pub(super) fn at(&self, place: &[usize]) -> Number {
        self.values[flat(&self.dims, place)]
    }

    /// Of some shape, each element by its place.
    pub(super) fn each(
        dtype: DType,
        dims: Vec<usize>,
        mut of: impl FnMut(&[usize]) -> Option<Number>,
    ) -> Option<Self> {
        let count = dims.iter().try_fold(1usize, |n, &dim| n.checked_mul(dim))?;
        if count > MOST_ELEMENTS {
            return None;
        }
        let values = places(&dims).map(|place| of(&place)).collect::<Option<_>>()?;
        Some(Self { dtype, dims, values })
    }

    /// The elements of another, moved.
    pub(super) fn moved(
        &self,
        dims: Vec<usize>,
        from: impl Fn(&[usize]) -> Vec<usize>,
    ) -> Option<Self> {
        Self::each(self.dtype, dims, |place| Some(self.at(&from(place))))
    }

    /// The first elements along all axes.
    pub(super) fn first(&self, dims: &[usize]) -> Option<Self> {
        self.moved(dims.to_vec(), <[usize]>::to_vec)
    }

    /// Every line along an axis by another.
    pub(super) fn lines(
        &self,
        axis: usize,
        into: DType,
        of: impl Fn(&[Number]) -> Option<Vec<Number>>,
    ) -> Option<Self> {
        let line = |place: &[usize]| {
            let row: Vec<Number> =
                (0..self.dims[axis]).map(|i| self.at(&with(place, axis, i))).collect();
            of(&row)
        };
        let rows = with(&self.dims, axis, 1);
        let made: Vec<Vec<Number>> = places(&rows).map(|p| line(&p)).collect::<Option<_>>()?;
        // Where there are no rows, as long as one of zeros.
        let length = of(&vec![zero(self.dtype); self.dims[axis]])?.len();
        let dims = with(&self.dims, axis, length);
        Self::each(into, dims, |place| Some(made[flat(&rows, &with(place, axis, 0))][place[axis]]))
    }
}

const MOST_ELEMENTS: usize = 200_000;
pub(super) const MOST_TERMS: usize = 600_000;

/// Where coordinates lie in row-major order.
pub(super) fn flat(dims: &[usize], place: &[usize]) -> usize {
    place.iter().zip(dims).fold(0, |n, (i, dim)| n * dim + i)
}

/// Dimensions, or a place, with another number at an axis.
pub(super) fn with(dims: &[usize], axis: usize, n: usize) -> Vec<usize> {
    let mut dims = dims.to_vec();
    dims[axis] = n;
    dims
}

/// Whether one shape broadcasts to another.
pub(super) fn spreads(from: &[usize], to: &[usize]) -> bool {
    from.len() <= to.len() && from.iter().rev().zip(to.iter().rev()).all(|(a, b)| a == b || *a == 1)
}

/// Where an element of a broadcast shape is in what was broadcast.
pub(super) fn spread(from: &[usize], place: &[usize]) -> Vec<usize> {
    let inner = &place[place.len() - from.len()..];
    inner.iter().zip(from).map(|(&i, &dim)| if dim == 1 { 0 } else { i }).collect()
}

fn folded(reduction: Reduction, dtype: DType, row: &[Number]) -> Option<Number> {
    let wide = reduction.yields(dtype);
    let fold = |meet: Meet, start| row.iter().fold(start, |a, &b| meet(wide, a, b));
    let best = |order: Ordering| {
        let better = |best: usize, i: usize| compare(row[i], row[best]) == order;
        let place = (1..row.len()).fold(0, |best, i| if better(best, i) { i } else { best });
        row.get(place).map(|&x| (place, x))
    };
    let nonzero = row.iter().filter(|&&x| !is_zero(x)).count();
    if !is_exact(reduction, row) {
        return None;
    }
    Some(match reduction {
        Reduction::Sum => fold(plus, zero(wide)),
        Reduction::Prod => fold(times, one(wide)),
        Reduction::Max => best(Ordering::Greater)?.1,
        Reduction::Min => best(Ordering::Less)?.1,
        Reduction::ArgMax => Number::Int(best(Ordering::Greater)?.0 as i128),
        Reduction::ArgMin => Number::Int(best(Ordering::Less)?.0 as i128),
        Reduction::Any => Number::Bool(nonzero > 0),
        Reduction::All => Number::Bool(nonzero == row.len()),
        _ => Number::Int(nonzero as i128),
    })
}

/// All that differs only along the axes of a call as one element, or what keeps them.
pub(super) fn rows(
    call: &Call,
    x: &Seen,
    into: DType,
    of: impl Fn(&[Number]) -> Option<Number>,
) -> Option<Seen> {
    let kept = call.axes.iter().fold(x.dims.clone(), |dims, &axis| with(&dims, axis, 1));
    let mut rows = vec![vec![]; kept.iter().product()];
    for (place, &x) in places(&x.dims).zip(&x.values) {
        rows[flat(&kept, &spread(&kept, &place))].push(x);
    }
    let values: Option<_> = rows.iter().map(|row| of(row)).collect();
    let left = (0..kept.len()).filter(|axis| !call.axes.contains(axis)).map(|axis| kept[axis]);
    let dims = if call.keeps() { kept.clone() } else { left.collect() };
    Some(Seen { dtype: into, dims, values: values? })
}

pub(super) fn reduced(call: &Call, of: &[Seen]) -> Option<Seen> {
    let (x, reduction) = (&of[0], FOLDS[call.way(9)]);
    if !reduction.takes(x.dtype) {
        return None;
    }
    rows(call, x, reduction.yields(x.dtype), |row| folded(reduction, x.dtype, row))
}

pub(super) fn scanned(call: &Call, of: &[Seen]) -> Option<Seen> {
    let (x, way) = (&of[0], call.way(6));
    let (reduction, meet): (_, Meet) = match way {
        1 => (Reduction::Prod, times),
        2 => (Reduction::Max, most),
        3 => (Reduction::Min, least),
        _ => (Reduction::Sum, plus),
    };
    if !reduction.takes(x.dtype) || x.dtype == DType::Bool && reduction != Reduction::Sum {
        return None;
    }
    let wide = reduction.yields(x.dtype);
    x.lines(call.axis, wide, |row| {
        let mut row = row.to_vec();
        if way == 4 {
            row.reverse();
        }
        if way == 5 && !row.is_empty() {
            row.rotate_right(1);
            row[0] = zero(x.dtype);
        }
        let mut far = if reduction == Reduction::Prod { one(wide) } else { zero(wide) };
        let mut sums = Vec::new();
        for (i, &x) in row.iter().enumerate() {
            let first = i == 0 && matches!(reduction, Reduction::Max | Reduction::Min);
            far = if first { x } else { meet(wide, far, x) };
            sums.push(far);
        }
        if way == 4 {
            sums.reverse();
        }
        is_exact(reduction, &row).then_some(sums)
    })
}

fn order_of(order: Order, row: &[Number]) -> Vec<usize> {
    let mut places: Vec<usize> = (0..row.len()).collect();
    places.sort_by(|&a, &b| {
        let way = compare(row[a], row[b]);
        if order == Order::Descending { way.reverse() } else { way }
    });
    places
}

fn ordered(x: &Seen, axis: usize, (order, few): (Order, usize), asks: bool) -> Option<Seen> {
    x.lines(axis, if asks { DType::U32 } else { x.dtype }, |row| {
        let places = order_of(order, row).into_iter().take(few);
        Some(places.map(|i| if asks { Number::Int(i as i128) } else { row[i] }).collect())
    })
}

/// Sorted, or the places by which it is.
pub(super) fn sorted(call: &Call, x: &Seen, asks: bool) -> Option<Seen> {
    ordered(x, call.axis, (call.order(), usize::MAX), asks)
}

pub(super) fn top(call: &Call, x: &Seen, asks: bool) -> Option<Seen> {
    ordered(x, call.axis, (Order::Descending, call.few()), asks)
}

pub(super) fn pooled(call: &Call, of: &[Seen]) -> Option<Seen> {
    let (x, (size, step)) = (&of[0], call.window());
    let axis = x.dims.len() - 1;
    if axis == 0 || x.dims[axis] < size || x.dtype == DType::Bool || x.values.is_empty() {
        return None;
    }
    x.lines(axis, x.dtype, |row| {
        let most = |window: &[Number]| window.iter().copied().reduce(|a, b| most(x.dtype, a, b));
        row.windows(size).step_by(step).map(most).collect()
    })
}

pub(super) fn padded(call: &Call, of: &[Seen]) -> Option<Seen> {
    let (x, way) = (&of[0], call.way(4));
    let axes = 0..x.dims.len();
    let fits = |axis: usize| {
        let (dim, (before, after)) = (x.dims[axis], call.pad(axis));
        let pad = before.max(after);
        pad == 0 || pad < [usize::MAX, dim, if dim > 0 { usize::MAX } else { 0 }, dim + 1][way]
    };
    if !axes.clone().all(fits) {
        return None;
    }
    let dims = axes.map(|axis| call.pad(axis).0 + x.dims[axis] + call.pad(axis).1).collect();
    Seen::each(x.dtype, dims, |place| {
        let mut from = Vec::new();
        for (axis, &at) in place.iter().enumerate() {
            let (at, dim) = (at as isize - call.pad(axis).0 as isize, x.dims[axis] as isize);
            let outside = at < 0 || at >= dim;
            from.push(match way {
                0 if outside => return Some(call.number),
                1 if at < 0 => -at,
                1 if outside => 2 * (dim - 1) - at,
                2 => at.clamp(0, dim - 1),
                3 => at.rem_euclid(dim),
                _ => at,
            } as usize);
        }
        Some(x.at(&from))
    })
}

pub(super) fn rolled(call: &Call, of: &[Seen]) -> Option<Seen> {
    let (x, axis) = (&of[0], call.axis);
    x.moved(x.dims.clone(), |place| {
        let from = place[axis] as isize - call.shift();
        with(place, axis, from.rem_euclid(x.dims[axis] as isize) as usize)
    })
}

pub(super) fn repeated(call: &Call, of: &[Seen]) -> Option<Seen> {
    let x = &of[0];
    let counts = call.counts(x.dims.len());
    let more = counts.len() - x.dims.len();
    let dims = [&vec![1; more], &x.dims[..]].concat();
    let dims = dims.iter().zip(counts).map(|(dim, count)| dim * count).collect();
    x.moved(dims, |place| place[more..].iter().zip(&x.dims).map(|(i, dim)| i % dim).collect())
}

pub(super) fn banded(call: &Call, of: &[Seen]) -> Option<Seen> {
    let (x, rank) = (&of[0], of[0].dims.len());
    if rank < 2 {
        return None;
    }
    Seen::each(x.dtype, x.dims.clone(), |place| {
        let beside = place[rank - 1] as isize - place[rank - 2] as isize;
        let lower = call.way(2) == 0;
        let stays = if lower { beside <= call.diagonal() } else { beside >= call.diagonal() };
        Some(if stays { x.at(place) } else { zero(x.dtype) })
    })
}

/// With its last two axes exchanged.
pub(super) fn turned(x: &Seen) -> Seen {
    let rank = x.dims.len();
    let exchange = |dims: &[usize]| {
        let mut dims = dims.to_vec();
        dims.swap(rank - 1, rank - 2);
        dims
    };
    let dims = exchange(&x.dims);
    let values = places(&dims).map(|place| x.at(&exchange(&place))).collect();
    Seen { dtype: x.dtype, dims, values }
}

pub(super) fn product(a: &Seen, b: &Seen) -> Option<Seen> {
    let (row, column) = (a.dims.len() == 1, b.dims.len() == 1);
    let left = if row { vec![1, a.dims[0]] } else { a.dims.clone() };
    let right = if column { vec![b.dims[0], 1] } else { b.dims.clone() };
    let [m, k, n] = [left[left.len() - 2], left[left.len() - 1], right[right.len() - 1]];
    let [of_a, of_b] = [&left, &right].map(|dims| &dims[..dims.len() - 2]);
    let batch = Shape::new(of_a).ok()?.broadcast(&Shape::new(of_b).ok()?).ok()?;
    let all = [batch.dims(), &[m, n]].concat();
    if a.dtype == DType::Bool || all.iter().product::<usize>() * k > MOST_TERMS {
        return None;
    }
    let dtype = Reduction::Sum.yields(a.dtype);
    let made = Seen::each(dtype, all, |place| {
        let (outer, inner) = place.split_at(place.len() - 2);
        let (a_row, b_row) = (spread(of_a, outer), spread(of_b, outer));
        let (mut sum, mut size) = (zero(dtype), 0.0);
        for i in 0..k {
            let x = a.values[flat(&left, &[&a_row[..], &[inner[0], i]].concat())];
            let y = b.values[flat(&right, &[&b_row[..], &[i, inner[1]]].concat())];
            let term = times(dtype, x, y);
            (sum, size) = (plus(dtype, sum, term), size + magnitude(term));
        }
        (size < EXACT_BELOW).then_some(sum)
    })?;
    let kept = [batch.dims(), &[m][usize::from(row)..], &[n][usize::from(column)..]].concat();
    Some(Seen { dims: kept, ..made })
}

pub(super) fn joined(call: &Call, of: &[Seen]) -> Option<Seen> {
    let axis = call.axis;
    let total = of.iter().map(|x| x.dims[axis]).sum();
    Seen::each(of[0].dtype, with(&of[0].dims, axis, total), |place| {
        let mut at = place[axis];
        let part = of.iter().find(|x| {
            let here = at < x.dims[axis];
            at -= if here { 0 } else { x.dims[axis] };
            here
        });
        Some(part?.at(&with(place, axis, at)))
    })
}

pub(super) fn stacked(call: &Call, of: &[Seen]) -> Option<Seen> {
    let mut dims = of[0].dims.clone();
    dims.insert(call.axis, of.len());
    Seen::each(of[0].dtype, dims, |place| {
        let mut from = place.to_vec();
        let part = from.remove(call.axis);
        Some(of[part].at(&from))
    })
}

pub(super) fn filled(call: &Call, of: &[Seen]) -> Option<Seen> {
    let (x, mask) = (&of[0], &of[1]);
    Seen::each(x.dtype, x.dims.clone(), |place| {
        let holds = !is_zero(mask.at(&spread(&mask.dims, place)));
        Some(if holds { call.number } else { x.at(place) })
    })
}

pub(super) fn assigned(call: &Call, of: &[Seen]) -> Option<Seen> {
    let (x, range) = (&of[0], call.range(&of[0].dims));
    Seen::each(x.dtype, x.dims.clone(), |place| {
        let at = place[call.axis];
        if !range.contains(&at) {
            return Some(x.at(place));
        }
        let from = with(place, call.axis, at - range.start);
        Some(of.get(1).map_or(call.number, |y| y.at(&spread(&y.dims, &from))))
    })
}

pub(super) fn assigned_at(call: &Call, of: &[Seen]) -> Option<Seen> {
    let (x, cuts) = (&of[0], call.cuts(&of[0].dims));
    Seen::each(x.dtype, x.dims.clone(), |place| {
        if !place.iter().zip(&cuts).all(|(at, (range, _))| range.contains(at)) {
            return Some(x.at(place));
        }
        let kept = place.iter().zip(&cuts).filter(|(_, (_, placed))| !placed);
        let from = kept.map(|(at, (range, _))| at - range.start);
        let from: Vec<usize> = from.chain(place[cuts.len()..].iter().copied()).collect();
        Some(of.get(1).map_or(call.number, |y| y.at(&spread(&y.dims, &from))))
    })
}

/// By an operator that assigns; a quotient of floats is no whole number.
pub(super) fn changed(call: &Call, of: &[Seen]) -> Option<Seen> {
    let (x, (of_bools, of_others, _)) = (&of[0], ASSIGNING[call.nth(0, ASSIGNING.len())]);
    let op = if x.dtype == DType::Bool { of_bools } else { of_others };
    let parts = x.dtype.is_float() && matches!(op, Op::Div | Op::RemTrunc);
    if parts || !op.takes(x.dtype) {
        return None;
    }
    Seen::each(x.dtype, x.dims.clone(), |place| {
        let other = of.get(1).map_or(call.number, |y| y.at(&spread(&y.dims, place)));
        Some(apply(op, x.dtype, &[x.at(place), other]).value)
    })
}

pub(super) fn drawn_out(call: &Call, of: &[Seen]) -> Option<Seen> {
    let (x, axis, count) = (&of[0], call.axis, call.few());
    let dims = with(&x.dims, axis, x.dims[axis] * count);
    x.moved(dims, |place| with(place, axis, place[axis] / count))
}

/// Parts of which all but the last are as long, the last first.
pub(super) fn chunked(call: &Call, of: &[Seen]) -> Option<Seen> {
    let x = &of[0];
    let length = x.dims[call.axis].div_ceil(call.few()).max(1);
    x.lines(call.axis, x.dtype, |row| Some(row.chunks(length).rev().flatten().copied().collect()))
}

/// Of a matrix its diagonal, of a list the matrix that has it.
pub(super) fn diagonal(call: &Call, of: &[Seen]) -> Option<Seen> {
    let (x, k) = (&of[0], call.diagonal());
    let (down, right) = ((-k).max(0) as usize, k.max(0) as usize);
    match x.dims[..] {
        [n] => Seen::each(x.dtype, vec![n + down + right; 2], |place| {
            let at = (place[0].checked_sub(down), place[1].checked_sub(right));
            let (Some(i), Some(j)) = at else { return Some(zero(x.dtype)) };
            Some(if i == j && i < n { x.values[i] } else { zero(x.dtype) })
        }),
        [rows, columns] => {
            let length = rows.saturating_sub(down).min(columns.saturating_sub(right));
            x.moved(vec![length], |place| vec![place[0] + down, place[0] + right])
        }
        _ => None,
    }
}

pub(super) fn traced(_: &Call, of: &[Seen]) -> Option<Seen> {
    let x = &of[0];
    let &[rows, columns] = &x.dims[..] else { return None };
    let row: Vec<Number> = (0..rows.min(columns)).map(|i| x.at(&[i, i])).collect();
    let dtype = Reduction::Sum.yields(x.dtype);
    let sum = folded(Reduction::Sum, x.dtype, &row)?;
    Some(Seen { dtype, dims: vec![], values: vec![sum] })
}

pub(super) fn meshed(call: &Call, of: &[Seen]) -> Option<Seen> {
    let which = call.way(2);
    let dims = vec![of[0].dims[0], of[1].dims[0]];
    of[which].moved(dims, |place| vec![place[which]])
}

pub(super) fn normed(call: &Call, of: &[Seen]) -> Option<Seen> {
    let x = &of[0];
    if x.dtype == DType::Bool {
        return None;
    }
    let sum = x.lines(call.axis, Reduction::Sum.yields(x.dtype), |row| {
        let size = |&x: &Number| apply(Op::Abs, of[0].dtype, &[x]).value;
        let sizes: Vec<Number> = row.iter().map(size).collect();
        folded(Reduction::Sum, of[0].dtype, &sizes).map(|sum| vec![sum])
    })?;
    let mut dims = sum.dims.clone();
    dims.remove(call.axis);
    Some(Seen { dims, ..sum })
}

/// Negative ones times the weight of their channel.
pub(super) fn leaked(_: &Call, of: &[Seen]) -> Option<Seen> {
    let (x, weight) = (&of[0], &of[1]);
    let channels = usize::from(x.dims.len() > 1);
    if !x.dtype.is_float() {
        return None;
    }
    Seen::each(x.dtype, x.dims.clone(), |place| {
        let one = weight.values.len() == 1;
        let slope = *weight.values.get(if one { 0 } else { place[channels] })?;
        let here = x.at(place);
        let leaks = compare(here, zero(x.dtype)) == Ordering::Less;
        Some(if leaks { times(x.dtype, here, slope) } else { here })
    })
}

pub(super) fn selected(call: &Call, of: &[Seen]) -> Option<Seen> {
    let (x, axis) = (&of[0], call.axis);
    let dims = with(&x.dims, axis, call.index.len());
    x.moved(dims, |place| with(place, axis, call.index[place[axis]]))
}

pub(super) fn gathered(call: &Call, of: &[Seen]) -> Option<Seen> {
    let dims = &call.index_dims;
    of[0].moved(dims.clone(), |place| with(place, call.axis, call.index[flat(dims, place)]))
}

pub(super) fn taken(call: &Call, of: &[Seen]) -> Option<Seen> {
    let x = &of[0];
    let values = call.index.iter().map(|&i| x.values[i]).collect();
    Some(Seen { dtype: x.dtype, dims: call.index_dims.clone(), values })
}

/// Values that meet at the place that an index names: folded, or the last of them.
pub(super) fn met(call: &Call, of: &[Seen], how: Option<Reduction>) -> Option<Seen> {
    let (x, y) = (&of[0], &of[1]);
    let meet: Meet = match how {
        Some(Reduction::Sum) => plus,
        Some(Reduction::Prod) => times,
        Some(Reduction::Min) => least,
        Some(_) => most,
        None => |_, _, last| last,
    };
    if x.dtype == DType::Bool && how.is_some() {
        return None;
    }
    let mut all: Vec<Vec<Number>> = x.values.iter().map(|&x| vec![x]).collect();
    for (i, place) in places(&y.dims).enumerate() {
        let named = if call.index.len() == y.values.len() { i } else { place[call.axis] };
        all[flat(&x.dims, &with(&place, call.axis, call.index[named]))].push(y.values[i]);
    }
    let value = |all: &Vec<Number>| {
        let exact = how.is_none_or(|how| is_exact(how, all));
        all.iter().copied().reduce(|a, b| meet(x.dtype, a, b)).filter(|_| exact)
    };
    let values = all.iter().map(value).collect::<Option<_>>()?;
    Some(Seen { dtype: x.dtype, dims: x.dims.clone(), values })
}
