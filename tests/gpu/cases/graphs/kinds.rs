//! What a graph grows beside elementwise operations: a table of operations, and what each comes to
//! on lists.

use core::fmt;
use core::ops::Range;
use core::pin::Pin;

use wharf::op::Op;
use wharf::op::Reduction::{self, Max, Min, Prod, Sum};
use wharf::reference::Number;
use wharf::shape::Cut;
use wharf::tensor::{Order, Pad, Pooling};
use wharf::{Axes, DType, Device, Other, Result, Tensor};

use super::convolved::CONVOLVED;
use super::finding::FINDING;
use super::grow::scalar;
use super::images::IMAGES;
use super::lists::{
    Seen, assigned, assigned_at, banded, changed, chunked, diagonal, drawn_out, filled, gathered,
    joined, leaked, meshed, met, normed, padded, pooled, product, reduced, repeated, rolled,
    scanned, selected, sorted, spreads, stacked, taken, top, traced, turned, with,
};
use super::normed::NORMED;
use super::parts::PARTS;
use super::products::PRODUCTS;
use crate::cases::probe::Random;

/// What was drawn for an operation: each takes of it what it needs.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) axis: usize,
    pub(super) axes: Vec<usize>,
    a: usize,
    b: usize,
    pub(super) number: Number,
    pub(super) index: Vec<usize>,
    pub(super) index_dims: Vec<usize>,
}

impl Call {
    pub(super) fn draw(random: &mut Random, number: Number, rank: usize) -> Self {
        let axis = random.below(rank);
        let axes = (0..rank).filter(|&i| i == axis || random.below(3) == 0).collect();
        let [a, b] = [(); 2].map(|()| random.below(1 << 10));
        Self { axis, axes, a, b, number, index: vec![], index_dims: vec![] }
    }

    /// The indices that a kind takes, each below a bound; whether there are such.
    pub(super) fn point(
        &mut self,
        random: &mut Random,
        (dims, bound): (Vec<usize>, usize),
    ) -> bool {
        let count: usize = dims.iter().product();
        if bound == 0 && count > 0 {
            return false;
        }
        self.index = (0..count).map(|_| random.below(bound)).collect();
        self.index_dims = dims;
        true
    }

    /// The index as what is computed from another list, of any dtype that an index has.
    pub(super) fn upload(&self, device: &Device) -> Result<Tensor> {
        let far: Vec<u32> = self.index.iter().rev().map(|&i| i as u32 + 5).collect();
        let index = device.upload(&far, [far.len()])?.0.flip(0)?.contiguous()?;
        let index = (index.reshape(&self.index_dims[..])? - 5)?;
        if self.a.is_multiple_of(2) { index.cast(DType::I32) } else { Ok(index) }
    }

    pub(super) fn order(&self) -> Order {
        if self.a.is_multiple_of(2) { Order::Ascending } else { Order::Descending }
    }

    /// A range along the axis.
    pub(super) fn range(&self, dims: &[usize]) -> Range<usize> {
        let start = self.a % (dims[self.axis] + 1);
        start..start + self.b % (dims[self.axis] - start + 1)
    }

    /// What is cut of every axis, at most three: a place, or a range.
    pub(super) fn cuts(&self, dims: &[usize]) -> Vec<(Range<usize>, bool)> {
        let one = |(i, &dim): (usize, &usize)| {
            let (a, b) = (self.a >> (2 * i), self.b >> (2 * i));
            let start = a % (dim + 1);
            let placed = b % 5 == 0 && start < dim;
            (start..start + if placed { 1 } else { b % (dim - start + 1) }, placed)
        };
        dims.iter().enumerate().take(3).map(one).collect()
    }

    /// The shape of what is cut.
    pub(super) fn part(&self, dims: &[usize]) -> Vec<usize> {
        let cuts = self.cuts(dims);
        let cut = cuts.iter().filter(|(_, placed)| !placed).map(|(range, _)| range.len());
        cut.chain(dims[cuts.len()..].iter().copied()).collect()
    }

    /// What is padded, before and after an axis.
    pub(super) fn pad(&self, axis: usize) -> (usize, usize) {
        ((self.a >> axis) % 3, (self.b >> axis) % 4)
    }

    /// A choice of so many.
    pub(super) fn way(&self, ways: usize) -> usize {
        self.a / 7 % ways
    }

    /// The nth of so many that are drawn beside each other, each of a number of ways.
    pub(super) fn nth(&self, n: usize, ways: usize) -> usize {
        // Mixed, so that no two of them go together.
        let drawn = (self.a << 10 | self.b) as u64 + 1;
        let mixed = drawn.wrapping_mul(0x9e37_79b9_7f4a_7c15 ^ (n as u64) << 17);
        ((mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 34) as usize % ways
    }

    pub(super) fn counts(&self, rank: usize) -> Vec<usize> {
        let more = usize::from(rank < 4 && self.b.is_multiple_of(4));
        (0..rank + more).map(|i| [1, 2, 1, 3][(self.a >> (2 * i)) % 4]).collect()
    }

    /// How many of the largest.
    pub(super) fn few(&self) -> usize {
        1 + self.b % 5
    }

    /// A window and its step.
    pub(super) fn window(&self) -> (usize, usize) {
        (1 + self.a % 3, 1 + self.b % 2)
    }

    pub(super) fn diagonal(&self) -> isize {
        self.b as isize % 7 - 3
    }

    pub(super) fn shift(&self) -> isize {
        self.a as isize - 512
    }

    fn other(&self) -> Other {
        Other::Scalar(scalar(self.number))
    }

    pub(super) fn keeps(&self) -> bool {
        self.b.is_multiple_of(2)
    }
}

type Fits = fn(&Call, &[usize], &[usize]) -> bool;
type Make = fn(&Call, &[Tensor]) -> Result<Tensor>;
type Find = for<'a> fn(&'a Call, &'a [Tensor]) -> Finding<'a>;
type Finding<'a> = Pin<Box<dyn Future<Output = Result<Tensor>> + 'a>>;
type Want = fn(&Call, &[Seen]) -> Option<Seen>;
type Points = fn(&Call, &[Seen]) -> (Vec<usize>, usize);

/// How an operation is run.
enum Run {
    Deferred(Make),
    /// How many there are is read and waited for.
    Found(Find),
}

/// An operation: how it is run, and what it comes to.
pub(super) struct Kind {
    name: &'static str,
    run: Run,
    want: Want,
    /// Whether shapes go together, where it takes a second tensor.
    pub(super) beside: Option<Fits>,
    /// Whether the second is a mask.
    pub(super) masked: bool,
    /// The shape of its index, and what each is below.
    pub(super) index: Option<Points>,
    /// Whether it sorts what it takes as one list, which has to lie in one segment.
    pub(super) sorts: bool,
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl Kind {
    const fn by(name: &'static str, run: Run, want: Want) -> Self {
        Self { name, run, want, beside: None, masked: false, index: None, sorts: false }
    }

    pub(super) const fn of(name: &'static str, make: Make, want: Want) -> Self {
        Self::by(name, Run::Deferred(make), want)
    }

    pub(super) const fn found(name: &'static str, find: Find, want: Want) -> Self {
        Self::by(name, Run::Found(find), want)
    }

    /// A random one of all tables.
    pub(super) fn random(random: &mut Random) -> &'static Self {
        let tables = [KINDS, CONVOLVED, IMAGES, NORMED, PRODUCTS, FINDING, PARTS];
        let mut place = random.below(tables.iter().map(|table| table.len()).sum());
        for table in tables {
            match table.get(place) {
                Some(kind) => return kind,
                None => place -= table.len(),
            }
        }
        &KINDS[0]
    }

    pub(super) const fn beside(self, fits: Fits) -> Self {
        Self { beside: Some(fits), ..self }
    }

    pub(super) const fn masked(self) -> Self {
        Self { masked: true, ..self }
    }

    pub(super) const fn sorts(self) -> Self {
        Self { sorts: true, ..self }
    }

    pub(super) const fn index(self, index: Points) -> Self {
        Self { index: Some(index), ..self }
    }

    pub(super) async fn run(&self, call: &Call, of: &[Tensor]) -> Result<Tensor> {
        match self.run {
            Run::Deferred(run) => run(call, of),
            Run::Found(find) => find(call, of).await,
        }
    }

    pub(super) fn want(&self, call: &Call, of: &[Seen]) -> Option<Seen> {
        (self.want)(call, of)
    }
}

/// Some stand twice, because few of what is drawn is taken.
const KINDS: &[Kind] = &[
    Kind::of("reduce", reduce, reduced),
    Kind::of("reduce", reduce, reduced),
    Kind::of("scan", scan, scanned),
    Kind::of("sort", |c, t| t[0].sort(c.axis, c.order()), |c, s| sorted(c, &s[0], false)).sorts(),
    Kind::of("argsort", |c, t| t[0].argsort(c.axis, c.order()), |c, s| sorted(c, &s[0], true))
        .sorts(),
    Kind::of("top_k", |c, t| Ok(t[0].top_k(c.axis, c.few())?.0), |c, s| top(c, &s[0], false))
        .sorts(),
    Kind::of("top_k of", |c, t| Ok(t[0].top_k(c.axis, c.few())?.1), |c, s| top(c, &s[0], true))
        .sorts(),
    Kind::of("max_pool", pool, pooled),
    Kind::of("pad", pad, padded),
    Kind::of("roll", |c, t| t[0].roll(c.axis, c.shift()), rolled),
    Kind::of("repeat", |c, t| t[0].repeat(c.counts(t[0].shape().rank())), repeated),
    Kind::of("triangle", triangle, banded),
    Kind::of("matmul", |_, t| t[0].matmul(&t[1]), |_, s| product(&s[0], &s[1])).beside(rows_meet),
    Kind::of("matmul", |_, t| t[0].matmul(&t[1]), |_, s| product(&s[0], &s[1])).beside(rows_meet),
    Kind::of(
        "matmul by rows",
        |_, t| t[0].matmul(&t[1].t()?),
        |_, s| product(&s[0], &turned(&s[1])),
    )
    .beside(|_, a, b| b.len() > 1 && a.last() == b.last()),
    Kind::of("concat", |c, t| Tensor::concat(&t[..2], c.axis), joined).beside(along),
    Kind::of(
        "concat thrice",
        |c, t| Tensor::concat(&[&t[0], &t[1], &t[0]], c.axis),
        |c, s| joined(c, &[s[0].clone(), s[1].clone(), s[0].clone()]),
    )
    .beside(along),
    Kind::of("stack", |c, t| Tensor::stack(&t[..2], c.axis), stacked).beside(|_, a, b| a == b),
    Kind::of("masked_fill", |c, t| t[0].masked_fill(&t[1], c.other()), filled)
        .beside(|_, a, b| spreads(b, a))
        .masked(),
    Kind::of("assign number", |c, t| assign(c, &t[0], c.other()), assigned),
    Kind::of("assign", |c, t| assign(c, &t[0], (&t[1]).into()), assigned)
        .beside(|c, a, b| spreads(b, &with(a, c.axis, c.range(a).len()))),
    Kind::of("assign_at number", |c, t| put(c, &t[0], c.other()), assigned_at),
    Kind::of("assign_at", |c, t| put(c, &t[0], (&t[1]).into()), assigned_at)
        .beside(|c, a, b| spreads(b, &c.part(a))),
    Kind::of("assigning number", |c, t| change(c, &t[0], c.other()), changed),
    Kind::of("assigning", |c, t| change(c, &t[0], (&t[1]).into()), changed)
        .beside(|_, a, b| spreads(b, a)),
    Kind::of("repeat_interleave", |c, t| t[0].repeat_interleave(c.axis, c.few()), drawn_out),
    Kind::of("chunk", chunk, chunked),
    Kind::of("diag", |c, t| t[0].diag(c.diagonal()), diagonal),
    Kind::of("trace", |_, t| t[0].trace(), traced),
    Kind::of("meshgrid", |c, t| Ok(Tensor::meshgrid(t)?.swap_remove(c.way(2))), meshed)
        .beside(|_, a, b| a.len() == 1 && b.len() == 1),
    Kind::of("l1_norm", |c, t| t[0].l1_norm(c.axis), normed),
    Kind::of("prelu", |_, t| t[0].prelu(&t[1]), leaked).beside(|_, a, b| {
        let channels = a[usize::from(a.len() > 1)];
        b.iter().product::<usize>() == 1 || b == [channels]
    }),
    Kind::of("index_select", |c, t| t[0].index_select(c.axis, &t[1]), selected)
        .index(|c, s| (vec![1 + c.b % 7], s[0].dims[c.axis])),
    Kind::of("gather", |c, t| t[0].gather(c.axis, &t[1]), gathered)
        .index(|c, s| (with(&s[0].dims, c.axis, 1 + c.b % 6), s[0].dims[c.axis])),
    Kind::of("take", |_, t| t[0].take(&t[1]), taken)
        .index(|c, s| (vec![2, 1 + c.b % 9], s[0].values.len())),
    Kind::of("scatter", |c, t| t[0].scatter(c.axis, &t[2], &t[1]), |c, s| met(c, s, None))
        .beside(along)
        .index(to_each),
    Kind::of(
        "scatter_add",
        |c, t| t[0].scatter_add(c.axis, &t[2], &t[1]),
        |c, s| met(c, s, Some(Sum)),
    )
    .beside(along)
    .index(to_each),
    Kind::of(
        "scatter_mul",
        |c, t| t[0].scatter_mul(c.axis, &t[2], &t[1]),
        |c, s| met(c, s, Some(Prod)),
    )
    .beside(along)
    .index(to_each),
    Kind::of(
        "scatter_max",
        |c, t| t[0].scatter_max(c.axis, &t[2], &t[1]),
        |c, s| met(c, s, Some(Max)),
    )
    .beside(along)
    .index(to_each)
    .sorts(),
    Kind::of(
        "scatter_min",
        |c, t| t[0].scatter_min(c.axis, &t[2], &t[1]),
        |c, s| met(c, s, Some(Min)),
    )
    .beside(along)
    .index(to_each)
    .sorts(),
    Kind::of("index_add", |c, t| t[0].index_add(c.axis, &t[2], &t[1]), |c, s| met(c, s, Some(Sum)))
        .beside(along)
        .index(|c, s| (vec![s[1].dims[c.axis]], s[0].dims[c.axis])),
];

/// Reductions, of whatever dtype they take.
pub(super) const FOLDS: [Reduction; 9] = [
    Sum,
    Max,
    Min,
    Prod,
    Reduction::ArgMax,
    Reduction::ArgMin,
    Reduction::Any,
    Reduction::All,
    Reduction::CountNonzero,
];

type Change = fn(&mut Tensor, Other);

/// Operators that assign, and what each applies: to bools, and to others.
pub(super) const ASSIGNING: [(Op, Op, Change); 10] = [
    (Op::Add, Op::Add, |x, y| *x += y),
    (Op::Sub, Op::Sub, |x, y| *x -= y),
    (Op::Mul, Op::Mul, |x, y| *x *= y),
    (Op::Div, Op::Div, |x, y| *x /= y),
    (Op::RemTrunc, Op::RemTrunc, |x, y| *x %= y),
    (Op::And, Op::BitAnd, |x, y| *x &= y),
    (Op::Or, Op::BitOr, |x, y| *x |= y),
    (Op::Xor, Op::BitXor, |x, y| *x ^= y),
    (Op::Shl, Op::Shl, |x, y| *x <<= y),
    (Op::Shr, Op::Shr, |x, y| *x >>= y),
];

/// An index for every element of the source.
fn to_each(call: &Call, of: &[Seen]) -> (Vec<usize>, usize) {
    (of[1].dims.clone(), of[0].dims[call.axis])
}

/// Equal but for the axis.
fn along(call: &Call, a: &[usize], b: &[usize]) -> bool {
    a.len() == b.len() && with(a, call.axis, 0) == with(b, call.axis, 0)
}

/// Whether there is a product.
fn rows_meet(_: &Call, a: &[usize], b: &[usize]) -> bool {
    let columns = b.len().saturating_sub(2);
    b.get(columns) == a.last()
}

fn reduce(call: &Call, of: &[Tensor]) -> Result<Tensor> {
    let axes = Axes::from(&call.axes);
    of[0].reduce(FOLDS[call.way(9)], if call.keeps() { Axes::keep(axes) } else { axes })
}

fn scan(call: &Call, of: &[Tensor]) -> Result<Tensor> {
    let (x, axis) = (&of[0], call.axis);
    match call.way(6) {
        0 => x.cumsum(axis),
        1 => x.cumprod(axis),
        2 => x.cummax(axis),
        3 => x.cummin(axis),
        4 => x.cumsum_reverse(axis),
        _ => x.cumsum_exclusive(axis),
    }
}

fn pool(call: &Call, of: &[Tensor]) -> Result<Tensor> {
    let (size, step) = call.window();
    of[0].max_pool(&Pooling::new([size]).stride([step]))
}

fn pad(call: &Call, of: &[Tensor]) -> Result<Tensor> {
    let pads: Vec<_> = (0..of[0].shape().rank()).map(|axis| call.pad(axis)).collect();
    let number = Pad::Constant(scalar(call.number));
    of[0].pad(&pads, [number, Pad::Reflect, Pad::Replicate, Pad::Wrap][call.way(4)])
}

fn triangle(call: &Call, of: &[Tensor]) -> Result<Tensor> {
    match call.way(2) {
        0 => of[0].tril(call.diagonal()),
        _ => of[0].triu(call.diagonal()),
    }
}

fn chunk(call: &Call, of: &[Tensor]) -> Result<Tensor> {
    let mut parts = of[0].chunk(call.axis, call.few())?;
    parts.reverse();
    Tensor::concat(&parts, call.axis)
}

/// A handle of it, while the original is held, or what nobody else holds.
fn own(call: &Call, x: &Tensor) -> Result<Tensor> {
    if call.way(2) == 0 { Ok(x.clone()) } else { Tensor::concat(&[x], 0) }
}

fn put(call: &Call, x: &Tensor, other: Other) -> Result<Tensor> {
    let mut copy = own(call, x)?;
    let cut = |(range, placed): (Range<usize>, bool)| {
        if placed { Cut::from(range.start) } else { Cut::from(range) }
    };
    let cuts: Vec<Cut> = call.cuts(x.shape().dims()).into_iter().map(cut).collect();
    copy.assign_at(cuts, other)?;
    Ok(copy)
}

fn assign(call: &Call, x: &Tensor, other: Other) -> Result<Tensor> {
    let mut copy = own(call, x)?;
    copy.assign_slice(call.axis, call.range(x.shape().dims()), other)?;
    Ok(copy)
}

fn change(call: &Call, x: &Tensor, other: Other) -> Result<Tensor> {
    let mut copy = own(call, x)?;
    ASSIGNING[call.nth(0, ASSIGNING.len())].2(&mut copy, other);
    Ok(copy)
}
