//! What random graphs find: by coordinates, by order, by value, and where extremes are.

use wharf::op::Reduction;
use wharf::reference::{Number, places};
use wharf::tensor::{Insert, Order};
use wharf::{Axes, DType, Result, Tensor};

use super::grow::scalar;
use super::kinds::{Call, Kind};
use super::lists::{Seen, flat, rows};
use super::numbers::{beats, compare, magnitude, one, whole, zero};

pub(super) const FINDING: &[Kind] = &[
    Kind::of("gather_nd", |c, t| t[0].gather_nd(&coordinates(c, &t[0], &t[1])?), parts_at)
        .index(|c, s| (vec![1 + c.nth(1, 6)], named(c, &s[0].dims))),
    Kind::of("scatter_nd", |c, t| t[0].scatter_nd(&coordinates(c, &t[0], &t[2])?, &t[1]), put_at)
        .beside(|c, a, b| b.len() == 1 + a.len() - axes(c, a) && b[1..] == a[axes(c, a)..])
        .index(|c, s| (vec![s[1].dims[0]], named(c, &s[0].dims))),
    Kind::of("searchsorted", search, before)
        .beside(|_, a, b| a.len() == 1 || a.len() == b.len() && same_lists(a, b))
        .sorts(),
    Kind::of("bincount", |c, t| t[0].rem_floor(bins(c))?.bincount(9), counted),
    Kind::of("histogram", |_, t| t[0].histogram(9, -4.5..=4.5), in_bins),
    Kind::of("argmax_last", |c, t| last(c, t, Tensor::argmax_last), |c, s| lasts(c, s, true)),
    Kind::of("argmin_last", |c, t| last(c, t, Tensor::argmin_last), |c, s| lasts(c, s, false)),
    Kind::of("max_with_index", extreme, |c, s| extremes(c, &s[0])),
    Kind::of("embedding", |_, t| t[0].embedding(&t[1]), looked_up)
        .index(|c, s| (vec![2, 1 + c.nth(0, 5)], s[0].dims[0])),
    Kind::of("one_hot", |c, t| t[1].one_hot(classes(c), t[0].dtype()), hot)
        .index(|c, _| (vec![3, 1 + c.nth(1, 5)], classes(c))),
    Kind::of(
        "choose_as",
        |c, t| t[1].choose_as(scalar(c.number), scalar(zero(t[0].dtype())), t[0].dtype()),
        chosen,
    )
    .beside(|_, _, _| true)
    .masked(),
    Kind::of("cast_saturating", saturate, saturated),
];

/// How many axes have coordinates.
fn axes(call: &Call, dims: &[usize]) -> usize {
    1 + call.nth(0, dims.len())
}

/// How many places there are to name.
fn named(call: &Call, dims: &[usize]) -> usize {
    dims[..axes(call, dims)].iter().product()
}

/// Places in row-major order as coordinates, computed on the device.
fn coordinates(call: &Call, x: &Tensor, index: &Tensor) -> Result<Tensor> {
    let dims = x.shape().dims();
    let (mut rest, mut all) = (index.clone(), Vec::new());
    for &dim in dims[..axes(call, dims)].iter().rev() {
        all.insert(0, rest.rem_floor(dim as u32)?);
        rest = (rest / dim as u32)?;
    }
    Tensor::stack(&all, -1)
}

/// Coordinates of a place in row-major order.
fn unflat(dims: &[usize], place: usize) -> Vec<usize> {
    places(dims).nth(place).unwrap_or_default()
}

fn parts_at(call: &Call, of: &[Seen]) -> Option<Seen> {
    let (x, axes) = (&of[0], axes(call, &of[0].dims));
    x.moved([&call.index_dims, &x.dims[axes..]].concat(), |place| {
        [&unflat(&x.dims[..axes], call.index[place[0]])[..], &place[1..]].concat()
    })
}

/// The last of several for one place stays.
fn put_at(call: &Call, of: &[Seen]) -> Option<Seen> {
    let (x, y, axes) = (&of[0], &of[1], axes(call, &of[0].dims));
    let mut values = x.values.clone();
    for (place, &y) in places(&y.dims).zip(&y.values) {
        let to = unflat(&x.dims[..axes], call.index[place[0]]);
        values[flat(&x.dims, &[&to[..], &place[1..]].concat())] = y;
    }
    Some(Seen { values, ..x.clone() })
}

fn same_lists(a: &[usize], b: &[usize]) -> bool {
    a[..a.len() - 1] == b[..b.len() - 1]
}

fn search(call: &Call, of: &[Tensor]) -> Result<Tensor> {
    let side = [Insert::Left, Insert::Right][call.nth(0, 2)];
    of[0].sort(-1, Order::Ascending)?.searchsorted(&of[1], side)
}

/// How many of a list are less, or not more.
fn before(call: &Call, of: &[Seen]) -> Option<Seen> {
    let (lists, y) = (&of[0], &of[1]);
    if y.dtype == DType::Bool {
        return None;
    }
    let (length, outer) = lists.dims.split_last()?;
    Seen::each(DType::U32, y.dims.clone(), |place| {
        let list = if outer.is_empty() { &[] } else { &place[..outer.len()] };
        let value = y.at(place);
        let stands = |i: &usize| {
            let way = compare(lists.at(&[list, &[*i]].concat()), value);
            if call.nth(0, 2) == 0 { way.is_lt() } else { way.is_le() }
        };
        Some(Number::Int((0..*length).filter(stands).count() as i128))
    })
}

fn bins(call: &Call) -> u32 {
    1 + call.nth(0, 9) as u32
}

fn counted(call: &Call, of: &[Seen]) -> Option<Seen> {
    let x = of.first().filter(|x| x.dtype.is_integer())?;
    let mut counts = vec![0; 9];
    for &x in &x.values {
        counts[whole(x).rem_euclid(i128::from(bins(call))) as usize] += 1;
    }
    Some(list(&counts))
}

/// What is below -4, or above 4, is in none of the nine.
fn in_bins(_: &Call, of: &[Seen]) -> Option<Seen> {
    let x = of.first().filter(|x| x.dtype.is_float())?;
    let mut counts = vec![0; 9];
    for &x in x.values.iter().filter(|&&x| magnitude(x) < 4.5) {
        counts[(whole(x) + 4) as usize] += 1;
    }
    Some(list(&counts))
}

fn list(counts: &[i128]) -> Seen {
    let values = counts.iter().map(|&n| Number::Int(n)).collect();
    Seen { dtype: DType::U32, dims: vec![counts.len()], values }
}

fn last(call: &Call, of: &[Tensor], by: fn(&Tensor, Axes) -> Result<Tensor>) -> Result<Tensor> {
    let axes = Axes::from(&call.axes);
    by(&of[0], if call.keeps() { Axes::keep(axes) } else { axes })
}

/// The last of the largest, or of the smallest.
fn lasts(call: &Call, of: &[Seen], is_largest: bool) -> Option<Seen> {
    let x = of.first().filter(|x| Reduction::ArgMax.takes(x.dtype))?;
    rows(call, x, DType::U32, |row| {
        let no_worse = |a: Number, b: Number| if is_largest { !beats(b, a) } else { !beats(a, b) };
        let place =
            (0..row.len()).reduce(|best, i| if no_worse(row[i], row[best]) { i } else { best });
        Some(Number::Int(place? as i128))
    })
}

/// Either the value of an extreme or its place.
fn extreme(call: &Call, of: &[Tensor]) -> Result<Tensor> {
    let (value, place) = match call.nth(0, 2) {
        0 => of[0].max_with_index(call.axis)?,
        _ => of[0].min_with_index(call.axis)?,
    };
    Ok(if call.nth(1, 2) == 0 { value } else { place })
}

fn extremes(call: &Call, x: &Seen) -> Option<Seen> {
    let (is_largest, asks) = (call.nth(0, 2) == 0, call.nth(1, 2) == 1);
    if !Reduction::ArgMax.takes(x.dtype) {
        return None;
    }
    let made = x.lines(call.axis, if asks { DType::U32 } else { x.dtype }, |row| {
        let better = |a: Number, b: Number| if is_largest { beats(a, b) } else { beats(b, a) };
        let place =
            (0..row.len()).reduce(|best, i| if better(row[i], row[best]) { i } else { best })?;
        Some(vec![if asks { Number::Int(place as i128) } else { row[place] }])
    })?;
    let mut dims = made.dims.clone();
    dims.remove(call.axis);
    Some(Seen { dims, ..made })
}

fn looked_up(call: &Call, of: &[Seen]) -> Option<Seen> {
    let x = &of[0];
    x.moved([&call.index_dims, &x.dims[1..]].concat(), |place| {
        let row = call.index[flat(&call.index_dims, &place[..2])];
        [&[row], &place[2..]].concat()
    })
}

fn classes(call: &Call) -> usize {
    1 + call.nth(2, 6)
}

fn hot(call: &Call, of: &[Seen]) -> Option<Seen> {
    let dtype = of[0].dtype;
    let yes = if dtype == DType::Bool { Number::Bool(true) } else { one(dtype) };
    let dims = [&call.index_dims[..], &[classes(call)]].concat();
    Seen::each(dtype, dims, |place| {
        let here = call.index[flat(&call.index_dims, &place[..2])] == place[2];
        Some(if here { yes } else { zero(dtype) })
    })
}

fn chosen(call: &Call, of: &[Seen]) -> Option<Seen> {
    let (dtype, mask) = (of[0].dtype, &of[1]);
    Seen::each(dtype, mask.dims.clone(), |place| {
        let holds = mask.at(place) == Number::Bool(true);
        Some(if holds { call.number } else { zero(dtype) })
    })
}

/// 512 is more than the largest f8e4m3, which is 448: seven times 64.
fn saturate(_: &Call, of: &[Tensor]) -> Result<Tensor> {
    let steps = (of[0].clamp(-8, 8)? * 64)?;
    steps.cast_saturating(DType::F8E4M3)?.cast(DType::F32)
}

fn saturated(_: &Call, of: &[Seen]) -> Option<Seen> {
    let x = of.first().filter(|x| x.dtype.is_float())?;
    Seen::each(DType::F32, x.dims.clone(), |place| {
        let steps = whole(x.at(place)).clamp(-7, 7);
        Some(Number::Float(64.0 * steps as f64))
    })
}
