//! Growing a random graph whose every result is exact, with its values from the oracle.

use core::fmt::Write as _;

use wharf::dtype::Class;
use wharf::op::Op;
use wharf::reference::{Number, apply, cast};
use wharf::{DType, Device, Layout, Other, Scalar, Shape, Tensor};

use super::kinds::{Call, Kind};
use super::lists::Seen;
use super::numbers::most_exact;
use crate::cases::pair::{COMPUTED, Pair, bits, carries, value};
use crate::cases::probe::Random;
use crate::cases::views::Move;
use crate::ctx::show;

/// How far a graph grows.
pub(super) struct Scale {
    sides: &'static [usize],
    elements_max: usize,
    nodes_max: usize,
    /// Of four nodes, how many are of a kind of the table.
    kinds: usize,
    /// Of the graphs, how often all nodes of one are read.
    pub(super) every: u64,
}

pub(super) const SMALL: Scale = Scale {
    sides: &[1, 2, 3, 4, 5, 8, 9, 12],
    elements_max: 3000,
    nodes_max: 40,
    kinds: 0,
    every: 4,
};
/// Its cubes are large enough to be computed by pairs of quads.
pub(super) const LARGE: Scale =
    Scale { sides: &[41, 42, 44, 48], elements_max: 140_000, nodes_max: 16, kinds: 0, every: 4 };
/// Of every kind, among elementwise ones.
pub(super) const MIXED: Scale = Scale { nodes_max: 30, kinds: 3, every: 2, ..SMALL };
pub(super) const MIXED_LARGE: Scale = Scale { nodes_max: 12, kinds: 2, every: 2, ..LARGE };

/// How often a kind is tried before another is.
const TRIES: usize = 12;

/// Whole numbers in, whole numbers out.
const EXACT: &[Op] = &[
    Op::Neg,
    Op::Abs,
    Op::Sign,
    Op::Floor,
    Op::Ceil,
    Op::Round,
    Op::Trunc,
    Op::Square,
    Op::Relu,
    Op::Not,
    Op::BitNot,
    Op::IsNan,
    Op::IsFinite,
    Op::Add,
    Op::Sub,
    Op::Mul,
    Op::Add,
    Op::Sub,
    Op::Mul,
    Op::Min,
    Op::Max,
    Op::Eq,
    Op::Ne,
    Op::Lt,
    Op::Le,
    Op::Gt,
    Op::Ge,
    Op::And,
    Op::Or,
    Op::Xor,
    Op::BitAnd,
    Op::BitOr,
    Op::BitXor,
    Op::Shl,
    Op::Shr,
    Op::Where,
    Op::Where,
    Op::Clamp,
    Op::MulAdd,
];
/// Of integers only.
const WHOLE: &[Op] = &[Op::Div, Op::RemFloor, Op::RemTrunc];

#[derive(Clone, Debug)]
pub(super) enum Arg {
    View(usize, Vec<Move>),
    Number(Number),
}

#[derive(Clone, Debug)]
pub(super) enum What {
    Leaf,
    Apply(Op),
    Cast,
    Kind(&'static Kind, Call),
}

/// A node, what it is computed from, and what it must be.
#[derive(Clone, Debug)]
pub(super) struct Step {
    what: What,
    args: Vec<Arg>,
    pub(super) dtype: DType,
    pub(super) dims: Vec<usize>,
    pub(super) bits: Vec<u64>,
}

pub(super) struct Graph {
    scale: &'static Scale,
    /// How many elements can be sorted as one list.
    sorted_max: u64,
    pub(super) steps: Vec<Step>,
}

impl Graph {
    pub(super) fn grow(device: &Device, scale: &'static Scale, seed: u64) -> Result<Self, String> {
        let mut random = Random::new(seed + 1000);
        let dtypes: Vec<DType> = COMPUTED.iter().copied().filter(|&d| carries(device, d)).collect();
        // With only a few dtypes, nodes of one dtype meet more often.
        let dtypes: Vec<DType> = (0..3).map(|_| dtypes[random.below(dtypes.len())]).collect();
        let side = scale.sides[random.below(scale.sides.len())];
        // A list of 8 bytes for each lies in a segment, which is somewhat less than a binding.
        let sorted_max = device.caps().limits.binding_bytes_max.saturating_sub(1 << 17) / 8;
        let mut graph = Self { scale, sorted_max, steps: Vec::new() };
        for &dtype in dtypes.iter().chain(&[DType::Bool]) {
            for dims in [vec![side; 3], vec![side], vec![side, 1], vec![side + 2, side]] {
                graph.steps.push(leaf(&mut random, dtype, dims));
            }
        }
        let nodes = graph.steps.len() + 5 + random.below(scale.nodes_max - 5);
        for _ in 0..4000 {
            if graph.steps.len() >= nodes {
                break;
            }
            let of_kind = scale.kinds > 0 && random.below(4) < scale.kinds;
            let step = if of_kind {
                graph.of_some_kind(&mut random)
            } else {
                graph.candidate(&mut random, &dtypes)
            };
            if let Some(step) = step {
                graph.steps.push(step);
            }
        }
        Ok(graph)
    }

    /// A random node, unless it would not fit, or not be exact.
    fn candidate(&self, random: &mut Random, dtypes: &[DType]) -> Option<Step> {
        let dtype = dtypes[random.below(dtypes.len())];
        if random.below(8) == 0 {
            let (arg, from) = self.view(random, None)?;
            let values = from.values.iter().map(|&v| cast(v, dtype)).collect();
            return finished(What::Cast, vec![arg], dtype, from.dims, values);
        }
        let whole = dtype.is_integer() && random.below(6) == 0;
        let list = if whole { WHOLE } else { EXACT };
        let op = list[random.below(list.len())];
        let dtype =
            if matches!(op, Op::Not | Op::And | Op::Or | Op::Xor) { DType::Bool } else { dtype };
        if !op.takes(dtype) {
            return None;
        }
        let mut args = Vec::new();
        let mut operands = Vec::new();
        for i in 0..op.arity() {
            let wants = if op == Op::Where && i == 0 { DType::Bool } else { dtype };
            if i > 0 && random.below(4) == 0 {
                let number = number(random, wants);
                operands.push(Seen { dtype: wants, dims: vec![], values: vec![number] });
                args.push(Arg::Number(number));
            } else {
                let (arg, seen) = self.view(random, Some(wants))?;
                args.push(arg);
                operands.push(seen);
            }
        }
        if op == Op::Where && args[1..].iter().all(|a| matches!(a, Arg::Number(_))) {
            return None;
        }
        let shapes = operands.iter().map(|o| Shape::new(&o.dims));
        let shape = shapes.reduce(|a, b| a?.broadcast(&b?))?.ok()?;
        if shape.elements() > self.scale.elements_max {
            return None;
        }
        let places = operands.iter().map(|o| {
            let layout = Layout::dense(Shape::new(&o.dims).ok()?).broadcast_to(shape).ok()?;
            Some(layout.places().map(|p| o.values[p]).collect::<Vec<_>>())
        });
        let columns: Vec<Vec<Number>> = places.collect::<Option<_>>()?;
        let row = |k: usize| columns.iter().map(|c| c[k]).collect::<Vec<_>>();
        let values = (0..shape.elements()).map(|k| apply(op, dtype, &row(k)).value).collect();
        let dtype = if op.yields_bool() { DType::Bool } else { dtype };
        finished(What::Apply(op), args, dtype, shape.dims().to_vec(), values)
    }

    /// A random node of a kind of the tables, under the same conditions. What takes little of what
    /// is drawn is tried as often as it needs, within reason.
    fn of_some_kind(&self, random: &mut Random) -> Option<Step> {
        let kind = Kind::random(random);
        (0..TRIES).find_map(|_| self.of_kind(random, kind))
    }

    fn of_kind(&self, random: &mut Random, kind: &'static Kind) -> Option<Step> {
        let (arg, x) = self.view(random, None)?;
        if x.dims.is_empty() {
            return None;
        }
        let number = number(random, x.dtype);
        let mut call = Call::draw(random, number, x.dims.len());
        let wants = if kind.masked { DType::Bool } else { x.dtype };
        let (mut args, mut seen) = (vec![arg], vec![x]);
        if let Some(fits) = kind.beside {
            let draws = (0..20).find_map(|_| {
                let drawn = self.view(random, Some(wants))?;
                fits(&call, &seen[0].dims, &drawn.1.dims).then_some(drawn)
            });
            let (arg, y) = draws?;
            args.push(arg);
            seen.push(y);
        }
        if let Some(index) = kind.index
            && !call.point(random, index(&call, &seen))
        {
            return None;
        }
        if kind.sorts && seen.iter().any(|x| x.values.len() as u64 > self.sorted_max) {
            return None;
        }
        let Seen { dtype, dims, values } = kind.want(&call, &seen)?;
        if values.len() > self.scale.elements_max {
            return None;
        }
        finished(What::Kind(kind, call), args, dtype, dims, values)
    }

    /// A random node, mostly a late one, and a random view of it.
    fn view(&self, random: &mut Random, dtype: Option<DType>) -> Option<(Arg, Seen)> {
        let fits = |&i: &usize| dtype.is_none_or(|d| self.steps[i].dtype == d);
        let mut nodes: Vec<usize> = (0..self.steps.len()).filter(fits).collect();
        if random.below(3) > 0 {
            nodes.drain(..nodes.len().saturating_sub(4));
        }
        let node = nodes[random.below(nodes.len())];
        let step = &self.steps[node];
        let mut layout = Layout::dense(Shape::new(&step.dims).ok()?);
        let mut moves = Vec::new();
        for _ in 0..random.below(6).saturating_sub(3) {
            let next = Move::random(random, &layout, self.scale.elements_max);
            layout = next.of_layout(&layout).ok()?;
            moves.push(next);
        }
        let values = layout.places().map(|p| value(step.dtype, step.bits[p])).collect();
        let (dtype, dims) = (step.dtype, layout.shape().dims().to_vec());
        Some((Arg::View(node, moves), Seen { dtype, dims, values }))
    }

    /// A node and what it is computed from, one line each.
    pub(super) fn print(&self, node: usize) -> String {
        let mut needed = vec![false; self.steps.len()];
        needed[node] = true;
        for i in (0..=node).rev().filter(|&i| needed[i]).collect::<Vec<_>>() {
            self.need(i, &mut needed);
        }
        let mut text = String::new();
        for (i, step) in self.steps.iter().enumerate().filter(|&(i, _)| needed[i]) {
            let Step { what, args, dtype, dims, .. } = step;
            let _ = writeln!(text, "  n{i} = {what:?} {args:?} -> {dtype} {dims:?}");
        }
        text
    }

    fn need(&self, node: usize, needed: &mut [bool]) {
        needed[node] = true;
        for arg in &self.steps[node].args {
            if let Arg::View(i, _) = arg {
                self.need(*i, needed);
            }
        }
    }
}

/// The node, if its floats are whole numbers that every way of computing gives exactly.
fn finished(
    what: What,
    args: Vec<Arg>,
    dtype: DType,
    dims: Vec<usize>,
    values: Vec<Number>,
) -> Option<Step> {
    let most = most_exact(dtype);
    let fits = |v: &Number| !matches!(v, Number::Float(x) if x.fract() != 0.0 || x.abs() > most);
    let bits = values.iter().map(|&v| bits(dtype, v)).collect();
    values.iter().all(fits).then_some(Step { what, args, dtype, dims, bits })
}

fn number(random: &mut Random, dtype: DType) -> Number {
    let n = random.below(9) as i128;
    match dtype.class() {
        Class::Bool => Number::Bool(n > 4),
        Class::Unsigned => Number::Int(n),
        Class::Signed => Number::Int(n - 4),
        _ => Number::Float((n - 4) as f64),
    }
}

fn leaf(random: &mut Random, dtype: DType, dims: Vec<usize>) -> Step {
    let n: usize = dims.iter().product();
    let any = |random: &mut Random| match dtype.class() {
        Class::Float => number(random, dtype),
        Class::Bool => Number::Bool(random.below(2) == 0),
        _ => value(dtype, random.bits() >> random.below(64)),
    };
    let bits = (0..n).map(|_| bits(dtype, any(random))).collect();
    Step { what: What::Leaf, args: vec![], dtype, dims, bits }
}

impl Step {
    /// The tensor of this node.
    pub(super) async fn build(&self, device: &Device, before: &[Tensor]) -> Result<Tensor, String> {
        if matches!(self.what, What::Leaf) {
            let pair = Pair::new(device, self.dtype, self.bits.clone(), &self.dims).await?;
            return Ok(pair.tensor);
        }
        let mut others = Vec::new();
        for arg in &self.args {
            others.push(match arg {
                Arg::Number(number) => Other::Scalar(scalar(*number)),
                Arg::View(node, moves) => {
                    let mut tensor = before[*node].clone();
                    for step in moves {
                        tensor = match step.of_tensor(&tensor) {
                            Ok(view) => view,
                            // A reshape may need a copy first.
                            Err(_) => {
                                step.of_tensor(&tensor.contiguous().map_err(show)?).map_err(show)?
                            }
                        };
                    }
                    Other::Tensor(tensor)
                }
            });
        }
        if let What::Kind(kind, call) = &self.what {
            let tensors = others.into_iter().filter_map(|other| match other {
                Other::Tensor(tensor) => Some(tensor),
                Other::Scalar(_) => None,
            });
            let mut tensors: Vec<Tensor> = tensors.collect();
            if kind.index.is_some() {
                tensors.push(call.upload(device).map_err(show)?);
            }
            return kind.run(call, &tensors).await.map_err(show);
        }
        let Other::Tensor(first) = others.remove(0) else {
            return Err("a tensor comes first".into());
        };
        match self.what {
            What::Apply(op) => first.apply(op, &others),
            _ => first.cast(self.dtype),
        }
        .map_err(show)
    }
}

pub(super) fn scalar(number: Number) -> Scalar {
    match number {
        Number::Float(x) => x.into(),
        Number::Int(n) => (n as i64).into(),
        Number::Bool(b) => b.into(),
    }
}
