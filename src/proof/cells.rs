//! Cores, cell by cell: what the oracle makes of the part of the inputs that some elements of the
//! result are made of.

use core::cell::OnceCell;
use std::collections::BTreeMap;

use super::{Cell, Claim, Estimate, Formed, Oracle, Seen, Sweep};
use crate::dtype::DType;
use crate::layout::Layout;
use crate::op::{Exact, Joint, Number, Op, Reduction, computing, largest};
use crate::reference::{self, Sight};
use crate::wgsl::Term;

/// A claim with its inputs, ready to be computed once more.
pub(super) struct Desk<'a> {
    pub(super) claim: &'a Claim,
    pub(super) inputs: &'a [&'a [u8]],
    heads: Vec<Readied<'a>>,
    tail: Readied<'a>,
    /// Where a list of destinations names each of them, once somebody asks.
    pub(super) naming: OnceCell<BTreeMap<usize, Vec<usize>>>,
}

/// An expression with its scalars decoded, and the dtype of every node.
struct Readied<'a> {
    formed: &'a Formed,
    numbers: Vec<Number>,
    dtypes: Vec<DType>,
}

/// A view's element.
pub(super) fn element(inputs: &[&[u8]], seen: &Seen, place: usize) -> Number {
    let width = seen.dtype.width();
    let bytes =
        inputs.get(seen.input).and_then(|all| all.get(place.checked_mul(width)?..)?.get(..width));
    bytes.map_or(Number::Float(f64::NAN), |bytes| Number::decode(seen.dtype, bytes))
}

impl<'a> Readied<'a> {
    fn of(formed: &'a Formed) -> Option<Self> {
        let dtypes = formed.expr.dtypes().ok()?;
        Some(Self { formed, numbers: formed.numbers(), dtypes })
    }

    /// The value of the only output at an element; a core's result is the first input.
    fn value(&self, inputs: &[&[u8]], n: usize, core: Option<Estimate>) -> Estimate {
        let Formed { expr, views, .. } = self.formed;
        let mut values: Vec<Estimate> = Vec::with_capacity(expr.nodes.len());
        for node in &expr.nodes {
            let value = match *node {
                Term::Input(0) if core.is_some() => core.unwrap_or(Estimate::Open),
                Term::Input(i) => {
                    let seen = &views[usize::from(i) - usize::from(core.is_some())];
                    Estimate::Known(element(inputs, seen, seen.layout.place(n)))
                }
                Term::Scalar(j) => Estimate::Known(self.numbers[usize::from(j)]),
                Term::Apply(op, args) => {
                    let args = &args[..op.arity()];
                    let operands: Vec<_> = args.iter().map(|&a| values[usize::from(a)]).collect();
                    let dtype = self.dtypes[usize::from(args[args.len() - 1])];
                    Estimate::apply(op, dtype, &operands)
                }
                Term::Cast(a, to) => {
                    let from = self.dtypes[usize::from(a)];
                    values[usize::from(a)].cast(from, to)
                }
                Term::Call(..) => Estimate::Open,
            };
            values.push(value);
        }
        expr.outputs.first().map_or(Estimate::Open, |&root| values[usize::from(root)])
    }
}

/// Middles, and how far each may lie from it; `None` if one of them is open.
fn spread(all: &[Estimate]) -> Option<(Vec<Number>, Vec<f64>)> {
    let one = |estimate: &Estimate| {
        let vague = matches!(estimate, Estimate::Between { low, high, nan }
            if *nan && low <= high || low.is_infinite() || high.is_infinite());
        if vague && *estimate != Estimate::NAN {
            None
        } else {
            Some((estimate.middle()?, estimate.room()))
        }
    };
    Some(all.iter().map(one).collect::<Option<Vec<_>>>()?.into_iter().unzip())
}

impl<'a> Desk<'a> {
    pub(super) fn of(claim: &'a Claim, inputs: &'a [&'a [u8]]) -> Option<Self> {
        let heads = claim.heads.iter().map(Readied::of).collect::<Option<_>>()?;
        let tail = Readied::of(&claim.tail)?;
        Some(Self { claim, inputs, heads, tail, naming: OnceCell::new() })
    }

    /// How many elements, one after the other, are computed together.
    pub(super) fn group(&self) -> usize {
        let last = |i: usize| self.claim.heads[i].shape.dims().last().copied().unwrap_or(1);
        match &self.claim.core {
            Some(Oracle::Row { .. } | Oracle::Scanned(_)) => last(0),
            Some(Oracle::Attention { .. }) => last(2),
            Some(Oracle::Ordered { length, .. } | Oracle::Sorted { length, .. }) => *length,
            Some(Oracle::Foremost { count, .. }) => *count,
            Some(Oracle::Shuffled { .. }) => self.claim.tail.shape.elements(),
            _ => 1,
        }
    }

    /// Steps of one group.
    pub(super) fn effort(&self) -> u64 {
        let nodes = |formed: &Formed| formed.expr.nodes.len() as u64;
        let dims = |i: usize, axis: usize| {
            self.claim.heads[i].shape.dims().get(axis).map_or(1, |&dim| dim as u64)
        };
        let length = match &self.claim.core {
            Some(Oracle::Ordered { .. } | Oracle::Sorted { .. } | Oracle::Shuffled { .. }) => {
                let group = self.group() as u64;
                group.saturating_mul(u64::from(group.checked_ilog2().unwrap_or(0)) + 1)
            }
            Some(Oracle::Foremost { length, .. }) => {
                let length = *length as u64;
                length.saturating_mul(u64::from(length.checked_ilog2().unwrap_or(0)) + 1)
            }
            Some(Oracle::Last | Oracle::Folded(_)) => {
                // As many as there are for one destination of all.
                let all = self.claim.tail.shape.elements().max(1);
                let named = self.claim.heads.get(1).unwrap_or(&self.claim.heads[0]);
                1 + (named.shape.elements() / all) as u64
            }
            Some(Oracle::Own { by, .. }) => (by.effort)(self.claim),
            Some(Oracle::Row { .. } | Oracle::Scanned(_)) => self.group() as u64,
            Some(Oracle::Reduced { axes, .. }) => {
                let dims = self.claim.heads[0].shape.dims().iter().zip(axes);
                let dims = dims.filter(|(_, reduced)| **reduced).map(|(&dim, _)| dim as u64);
                dims.fold(1, u64::saturating_mul)
            }
            Some(Oracle::Product { sides }) => {
                sides[0].shape().dims().last().map_or(1, |&k| k as u64)
            }
            Some(Oracle::Convolved { .. }) => {
                let dims = self.claim.heads[1].shape.dims().iter().skip(1);
                dims.fold(1u64, |terms, &dim| terms.saturating_mul(dim as u64))
            }
            Some(Oracle::Pooled { size, .. }) => {
                size.iter().fold(1u64, |all, &n| all.saturating_mul(n as u64))
            }
            Some(Oracle::Covered { to, filter }) => {
                filter.end(dims(0, 1), *to as u64) / (*to as u64).max(1) + 2
            }
            Some(Oracle::Attention { .. }) => {
                dims(1, 2).saturating_mul(dims(1, 3).saturating_add(dims(2, 3)))
            }
            _ => 1,
        };
        let heads = self.claim.heads.first().map_or(1, nodes);
        let tail = nodes(&self.claim.tail).saturating_mul(self.group() as u64);
        length.saturating_mul(heads).saturating_add(tail)
    }

    /// The elements of a group.
    pub(super) fn estimate(&self, group: usize) -> Vec<Estimate> {
        let size = self.group();
        let first = group * size;
        if self.claim.core.is_none() {
            return vec![self.tail.value(self.inputs, first, None)];
        }
        let given = self.claim.tail.expr.inputs[0];
        let plain = self.claim.tail.expr.is_itself();
        let cells = self.cells(group).unwrap_or_else(|| vec![Estimate::Open; size]);
        let stored = |cell: Estimate| {
            // What is stored before the tail is rounded, and what is not is not; nor is what is
            // only moved.
            let narrow = given.is_float() && given.width() < 4 && given.computes() && !plain;
            let unit = 2f64.powi(-given.digits().cast_signed());
            let size = cell.middle().map_or(0.0, Estimate::size) + cell.room();
            if narrow { cell.widened(given, size * unit + 2f64.powi(-25)) } else { cell }
        };
        let all = cells.into_iter().zip(first..);
        all.map(|(cell, n)| self.tail.value(self.inputs, n, Some(stored(cell)))).collect()
    }

    /// What the core makes of a group; `None` where nothing can be said.
    fn cells(&self, group: usize) -> Option<Vec<Estimate>> {
        let given = self.claim.tail.expr.inputs[0];
        match self.claim.core.as_ref()? {
            Oracle::Copied => Some(vec![self.head(0, group)]),
            Oracle::Reduced { reduction, axes } => {
                Some(vec![self.reduced(*reduction, axes, group)?])
            }
            Oracle::Scanned(reduction) => self.scanned(*reduction, group),
            Oracle::Row { joint, eps } => self.row(*joint, *eps, group),
            Oracle::Product { sides } => {
                let k = *sides[0].shape().dims().last()?;
                Some(vec![self.product(given, sides, k, group)?])
            }
            Oracle::Attention { scale, sight } => self.attention(*scale, *sight, group),
            Oracle::Picked { offset, strides, step, bound } => {
                let from = self.claim.heads[0].plain()?;
                let index = match self.head(1, group) {
                    Estimate::Known(Number::Int(i)) => usize::try_from(i).ok()?,
                    _ => return None,
                };
                // One that is out of range is an error of its own.
                if index >= *bound {
                    return None;
                }
                let mut rest = group;
                let steps = i64::try_from(index).ok()?.checked_mul(*step)?;
                let mut place = offset.checked_add(steps)?;
                let dims = self.claim.heads[1].shape.dims();
                for (&dim, &stride) in dims.iter().zip(strides).rev() {
                    let at = i64::try_from(rest % dim.max(1)).ok()?;
                    place = place.checked_add(at.checked_mul(stride)?)?;
                    rest /= dim.max(1);
                }
                let place = usize::try_from(place).ok()?;
                Some(vec![Estimate::Known(element(self.inputs, from, place))])
            }
            Oracle::Joined { axis } => {
                let dims = |i: usize| self.claim.heads[i].shape.dims();
                let inner: usize = dims(0)[axis + 1..].iter().product();
                let whole: usize = (0..self.heads.len()).map(|i| dims(i)[*axis]).sum();
                let (outer, mut at) = (group / (whole * inner), group / inner % whole);
                let i = (0..self.heads.len()).find(|&i| {
                    let here = at < dims(i)[*axis];
                    at -= if here { 0 } else { dims(i)[*axis] };
                    here
                })?;
                let n = (outer * dims(i)[*axis] + at) * inner + group % inner;
                Some(vec![self.head(i, n)])
            }
            Oracle::Convolved { step, reach, first, groups } => {
                Some(vec![self.convolved(given, Sweep { step, reach, first }, *groups, group)?])
            }
            Oracle::Own { by, told } => {
                let input = |i: usize, n: usize| self.head(i, n);
                let cell = Cell { claim: self.claim, told, n: group, input: &input };
                Some(vec![(by.element)(&cell)?])
            }
            Oracle::Pooled { reduction, size, step, reach, first, result } => {
                let (lengths, sweep) = ((*size, *result), Sweep { step, reach, first });
                Some(vec![self.pooled(given, *reduction, lengths, sweep, group)?])
            }
            Oracle::Resized { to, at } => Some(vec![self.resized(given, *to, *at, group)?]),
            Oracle::Covered { to, filter } => Some(vec![self.covered(given, *to, *filter, group)?]),
            Oracle::Enlarged { to, at } => Some(vec![self.enlarged(given, *to, *at, group)?]),
            _ => self.moved(given, group),
        }
    }

    pub(super) fn head(&self, i: usize, n: usize) -> Estimate {
        match self.claim.heads[i].plain() {
            Some(seen) => Estimate::Known(element(self.inputs, seen, seen.layout.place(n))),
            None => self.heads[i].value(self.inputs, n, None),
        }
    }

    fn reduced(&self, reduction: Reduction, axes: &[bool], n: usize) -> Option<Estimate> {
        let head = &self.claim.heads[0];
        let dims = head.shape.dims();
        let mut steps = vec![1; dims.len()];
        for axis in (1..dims.len()).rev() {
            steps[axis - 1] = steps[axis] * dims[axis];
        }
        let walk = |mut rest: usize, reduced: bool| {
            let mine = (0..dims.len()).rev().filter(|&axis| axes[axis] == reduced);
            mine.fold(0, |place, axis| {
                let at = rest % dims[axis].max(1);
                rest /= dims[axis].max(1);
                place + at * steps[axis]
            })
        };
        let first = walk(n, false);
        let along = dims.iter().zip(axes).filter(|(_, reduced)| **reduced);
        let count: usize = along.map(|(&dim, _)| dim).product();
        let terms: Vec<_> = (0..count).map(|i| self.head(0, first + walk(i, true))).collect();
        let (middles, rooms) = spread(&terms)?;
        let dtype = head.dtype;
        let exact = reference::reduce(reduction, dtype, &middles, 0)?;
        let estimate = Estimate::of(reduction.bound(dtype), dtype, exact);
        if rooms.iter().all(|&room| room == 0.0) {
            return Some(estimate);
        }
        let magnitude = |more: &dyn Fn(f64) -> f64| -> f64 {
            middles.iter().zip(&rooms).map(|(x, room)| x.float().abs() + more(*room)).product()
        };
        let more = match reduction {
            Reduction::Sum => rooms.iter().sum(),
            Reduction::Max | Reduction::Min => rooms.iter().copied().fold(0.0, f64::max),
            Reduction::Prod => magnitude(&|room| room) - magnitude(&|_| 0.0),
            _ => return None,
        };
        Some(estimate.widened(dtype, more))
    }

    /// The row of the first head that a group is made of.
    fn along(&self, group: usize) -> Vec<Estimate> {
        let length = self.group();
        (0..length).map(|i| self.head(0, group * length + i)).collect()
    }

    fn scanned(&self, reduction: Reduction, group: usize) -> Option<Vec<Estimate>> {
        let dtype = self.claim.heads[0].dtype;
        let (row, rooms) = spread(&self.along(group))?;
        let joint = match reduction {
            Reduction::Sum => Some(Joint::CumSum),
            Reduction::Prod => Some(Joint::CumProd),
            _ => None,
        };
        let vague = rooms.iter().any(|&room| room > 0.0);
        let bound = match joint {
            Some(joint) if dtype.is_float() => joint.bound(),
            _ => reduction.bound(dtype),
        };
        let mut so_far = 0.0;
        let one = |(exact, room): (Exact, &f64)| {
            let estimate = Estimate::of(bound, dtype, exact);
            so_far = if reduction == Reduction::Sum { so_far + room } else { room.max(so_far) };
            estimate.widened(dtype, so_far)
        };
        if vague && reduction == Reduction::Prod {
            return None;
        }
        Some(reference::scan(reduction, dtype, &row).into_iter().zip(&rooms).map(one).collect())
    }

    fn row(&self, joint: Joint, eps: f64, group: usize) -> Option<Vec<Estimate>> {
        let dtype = self.claim.heads[0].dtype;
        let (row, rooms) = spread(&self.along(group))?;
        let row: Vec<f64> = row.iter().map(|x| x.float()).collect();
        let most = rooms.iter().copied().fold(0.0, f64::max);
        let n = row.len() as f64;
        let (exact, more): (Vec<Exact>, Vec<f64>) = match joint {
            Joint::Softmax => {
                let all = reference::softmax(&row);
                let grow = (2.0 * most).exp() - 1.0;
                let more = all.iter().map(|x| x.value.float().abs() * grow).collect();
                (all, more)
            }
            Joint::LogSoftmax => (reference::log_softmax(&row), vec![2.0 * most; row.len()]),
            Joint::LayerNorm | Joint::RmsNorm => {
                let about_mean = joint == Joint::LayerNorm;
                let all = reference::norm(&row, eps, about_mean);
                let mean = if about_mean { row.iter().sum::<f64>() / n } else { 0.0 };
                let shift = if about_mean { rooms.iter().sum::<f64>() / n } else { 0.0 };
                let parts = || row.iter().zip(&rooms).map(|(x, room)| (x - mean, room + shift));
                let var = parts().map(|(x, _)| x * x).sum::<f64>() / n + eps;
                let sizes: f64 = row.iter().map(|x| x.abs()).sum();
                if sizes.is_finite() && sizes.max(n * var) > largest(computing(dtype)) {
                    return Some(vec![Estimate::Open; row.len()]);
                }
                let off = parts().map(|(x, d)| 2.0 * x.abs() * d + d * d).sum::<f64>() / n;
                let low = 1.0 / (var + off).sqrt();
                let high = 1.0 / (var - off).max(eps).max(f64::MIN_POSITIVE).sqrt();
                let stray = |(x, d): (f64, f64)| (x.abs() + d) * high - x.abs() * low;
                let more =
                    if most > 0.0 { parts().map(stray).collect() } else { vec![0.0; row.len()] };
                (all, more)
            }
            _ => return None,
        };
        let one = |(exact, more): (Exact, f64)| {
            Estimate::of(joint.bound(), dtype, exact).widened(dtype, more)
        };
        Some(exact.into_iter().zip(more).map(one).collect())
    }

    fn product(&self, given: DType, sides: &[Layout; 2], k: usize, n: usize) -> Option<Estimate> {
        let rank = sides[0].shape().rank();
        let (mut rest, mut first) = (n, [sides[0].offset(), sides[1].offset()]);
        for axis in (0..rank).rev() {
            // The last axis of the result is the right side's, the one before it the left side's.
            let side = |i: usize| axis < rank - 2 || axis == rank - 2 + i;
            let owner = usize::from(axis == rank - 1);
            let dim = sides[owner].shape().dims()[axis].max(1);
            let at = (rest % dim).cast_signed();
            for i in (0..2).filter(|&i| side(i)) {
                first[i] = first[i].wrapping_add_signed(at * sides[i].strides()[axis]);
            }
            rest /= dim;
        }
        let run = |i: usize| -> Option<Vec<Number>> {
            let seen = self.claim.heads[i].plain()?;
            let step = sides[i].strides()[rank - 1 - i];
            let place = |j: usize| first[i].wrapping_add_signed(j.cast_signed() * step);
            Some((0..k).map(|j| element(self.inputs, seen, place(j))).collect())
        };
        Estimate::summed(given, k, &run(0)?, &run(1)?)
    }

    fn attention(&self, scale: f32, sight: Sight, group: usize) -> Option<Vec<Estimate>> {
        let plain = |i: usize| self.claim.heads[i].plain();
        let dims = |i: usize| self.claim.heads[i].shape.dims();
        let (&[_, heads, queries, d], &[_, shared, keys, _]) = (dims(0), dims(1)) else {
            return None;
        };
        let length = *dims(2).last()?;
        // Results lie query by query, what is read lies head by head.
        let (head, i, batch) = (group % heads, group / heads % queries, group / heads / queries);
        let row = (batch * heads + head) * queries + i;
        let own = head / (heads / shared.max(1)).max(1);
        let read = |input: usize, row: usize, width: usize| -> Option<Vec<f64>> {
            let seen = plain(input)?;
            let float = |j| element(self.inputs, seen, seen.layout.place(row * width + j)).float();
            Some((0..width).map(float).collect())
        };
        let query = read(0, row, d)?;
        let (mut scores, mut values) = (Vec::new(), Vec::new());
        let place = |j: usize| (batch * shared + own) * keys + j;
        let seen = sight.of(i, keys);
        // What is multiplied by nothing may make NaN of it.
        let mut odd = vec![false; length];
        for j in (0..keys).filter(|j| !seen.contains(j)) {
            let hidden = read(2, place(j), length)?;
            odd.iter_mut().zip(hidden).for_each(|(odd, x)| *odd |= !x.is_finite());
        }
        let masks = if self.claim.heads.len() == 3 { Vec::new() } else { read(3, row, keys)? };
        for j in seen {
            let at = place(j);
            let key = read(1, at, d)?;
            let dot: f64 = query.iter().zip(&key).map(|(a, b)| a * b).sum();
            scores.push(dot * f64::from(scale) + masks.get(j).copied().unwrap_or(0.0));
            values.push(read(2, at, length)?);
        }
        let values: Vec<&[f64]> = values.iter().map(|value| &**value).collect();
        if values.is_empty() {
            return Some(vec![Estimate::Known(Number::Float(0.0)); length]);
        }
        let (bound, dtype) = (Joint::Attention.bound(), self.claim.tail.expr.inputs[0]);
        let one = |exact: Exact| match exact.value {
            Number::Float(x) if x.is_finite() => Estimate::of(bound, dtype, exact),
            _ => Estimate::Open,
        };
        let known = reference::attention(&scores, &values).into_iter().zip(odd);
        Some(known.map(|(exact, odd)| if odd { Estimate::Open } else { one(exact) }).collect())
    }

    /// The only operation that there is, with its operands at an element: its contract judges it.
    pub(super) fn lone(&self, n: usize) -> Option<(Op, DType, Vec<Number>)> {
        if self.claim.core.is_some() {
            return None;
        }
        let Formed { expr, views, .. } = &self.claim.tail;
        let root = usize::from(*expr.outputs.first()?);
        let Term::Apply(op, args) = expr.nodes.get(root)? else { return None };
        let args = &args[..op.arity()];
        let value = |&a: &u16| match expr.nodes[usize::from(a)] {
            Term::Input(i) => {
                let seen = &views[usize::from(i)];
                Some(element(self.inputs, seen, seen.layout.place(n)))
            }
            Term::Scalar(j) => Some(self.tail.numbers[usize::from(j)]),
            _ => None,
        };
        let dtype = self.tail.dtypes[usize::from(args[args.len() - 1])];
        Some((*op, dtype, args.iter().map(value).collect::<Option<_>>()?))
    }

    /// What an element is computed from, in words: the views of the tail, and rows of the heads.
    pub(super) fn words(&self, n: usize) -> String {
        let seen = &self.claim.tail.views;
        let values = seen.iter().map(|seen| element(self.inputs, seen, seen.layout.place(n)));
        let mut words: Vec<String> = values.map(shown).collect();
        for head in &self.claim.heads {
            words.extend(head.views.iter().map(|seen| format!("{} {}", seen.dtype, seen.layout)));
        }
        words.join(", ")
    }
}

impl Estimate {
    fn size(number: Number) -> f64 {
        let size = number.float().abs();
        if size.is_finite() { size } else { 0.0 }
    }
}

/// A number as Rust writes it.
pub(crate) fn shown(number: Number) -> String {
    match number {
        Number::Float(x) => format!("{x:?}"),
        Number::Int(x) => x.to_string(),
        Number::Bool(x) => x.to_string(),
    }
}
