//! The oracle against `PyTorch` where operations take whole tensors: what is computed here by it is
//! held to the nine digits of torch's answers, not to a contract.

use std::collections::BTreeSet;

use wharf::DType;
use wharf::op::{Exact, Op, Reduction};
use wharf::reference::{self, Convolution, Number, Strided, apply, places};

use crate::torch_operations::{Elements, Golden, operations};

/// A tensor of numbers.
struct Dense {
    dims: Vec<usize>,
    numbers: Vec<Number>,
}

impl Dense {
    fn new(dims: &[usize], at: impl FnMut(Vec<usize>) -> Number) -> Self {
        Self { dims: dims.to_vec(), numbers: places(dims).map(at).collect() }
    }

    fn of(x: &Elements, dtype: DType) -> Self {
        Self { dims: x.dims.clone(), numbers: x.numbers(dtype) }
    }

    fn flat(&self, place: &[usize]) -> usize {
        place.iter().zip(&self.dims).fold(0, |n, (i, dim)| n * dim + i)
    }

    fn at(&self, place: &[usize]) -> Number {
        self.numbers[self.flat(place)]
    }

    /// Each row along some axes, replaced by as many numbers.
    fn by_rows(&self, axes: &[usize], row: impl Fn(&[Number]) -> Vec<Exact>) -> Self {
        let mut numbers = self.numbers.clone();
        let among = |axis: usize| axes.contains(&axis);
        let inner: Vec<usize> = axes.iter().map(|&axis| self.dims[axis]).collect();
        let outer: Vec<usize> = (0..self.dims.len())
            .map(|axis| if among(axis) { 1 } else { self.dims[axis] })
            .collect();
        for place in places(&outer) {
            let at: Vec<usize> = places(&inner)
                .map(|inside| {
                    let mut place = place.clone();
                    axes.iter().zip(inside).for_each(|(&axis, i)| place[axis] = i);
                    self.flat(&place)
                })
                .collect();
            let values: Vec<Number> = at.iter().map(|&i| self.numbers[i]).collect();
            for (&i, exact) in at.iter().zip(row(&values)) {
                numbers[i] = exact.value;
            }
        }
        Self { dims: self.dims.clone(), numbers }
    }

    /// A number of a channel for each element, which is axis 1, or of the last axes.
    fn with(&self, op: Op, other: Option<&Self>, channels: bool) -> Self {
        let Some(other) = other else {
            return Self { dims: self.dims.clone(), numbers: self.numbers.clone() };
        };
        let skipped = self.dims.len() - other.dims.len();
        Self::new(&self.dims, |place| {
            let beside = if channels { &place[1..2] } else { &place[skipped..] };
            apply(op, DType::F64, &[self.at(&place), other.at(beside)]).value
        })
    }
}

fn float(number: Number) -> f64 {
    match number {
        Number::Float(x) => x,
        Number::Int(n) => n as f64,
        Number::Bool(b) => f64::from(u8::from(b)),
    }
}

fn floats(numbers: &[Number]) -> Vec<f64> {
    numbers.iter().copied().map(float).collect()
}

fn folded(reduction: Reduction, dtype: DType, values: &[Number]) -> Number {
    reference::reduce(reduction, dtype, values, 0).map_or(Number::Float(f64::NAN), |e| e.value)
}

/// What the oracle makes of the operands of a line; `None` where it has nothing to say.
fn told(g: &Golden, dtype: DType, x: &[Dense]) -> Option<Dense> {
    let axis = g.count("axis");
    let along = |row: &dyn Fn(&[Number]) -> Vec<Exact>| Some(x[0].by_rows(&[axis], row));
    let eps = g.number("eps");
    let norm = |about_mean| move |row: &[Number]| reference::norm(&floats(row), eps, about_mean);
    match g.op {
        "softmax" => along(&|row| reference::softmax(&floats(row))),
        "log_softmax" => along(&|row| reference::log_softmax(&floats(row))),
        "cumsum_reverse" => along(&|row| {
            let turned: Vec<Number> = row.iter().rev().copied().collect();
            let mut sums = reference::scan(Reduction::Sum, dtype, &turned);
            sums.reverse();
            sums
        }),
        "cumsum_exclusive" => along(&|row| {
            let before = &row[..row.len().saturating_sub(1)];
            let none = reference::reduce(Reduction::Sum, dtype, &[], 0);
            none.into_iter().chain(reference::scan(Reduction::Sum, dtype, before)).collect()
        }),
        "layer_norm" | "rms_norm" => {
            let normed = x[0].by_rows(&g.list("axes"), norm(g.op == "layer_norm"));
            Some(normed.with(Op::Mul, x.get(1), false).with(Op::Add, x.get(2), false))
        }
        "group_norm" | "instance_norm" => {
            let [images, channels] = [x[0].dims[0], x[0].dims[1]];
            let groups = if g.op == "instance_norm" { channels } else { g.count("groups") };
            let rows = (images * groups).max(1);
            let flat = [rows, x[0].numbers.len() / rows];
            let flat = Dense { dims: flat.to_vec(), numbers: x[0].numbers.clone() };
            let normed = flat.by_rows(&[1], norm(true)).numbers;
            let normed = Dense { dims: x[0].dims.clone(), numbers: normed };
            Some(normed.with(Op::Mul, x.get(1), true).with(Op::Add, x.get(2), true))
        }
        "conv1d" | "conv2d" | "conv3d" => {
            let [stride, padding, dilation] = ["stride", "padding", "dilation"].map(|s| g.list(s));
            let how = Convolution {
                input: &x[0].dims,
                weight: &x[1].dims,
                stride: &stride,
                padding: &padding,
                dilation: &dilation,
                groups: g.count("groups"),
            };
            let sums = reference::conv(&how, dtype, &x[0].numbers, &x[1].numbers);
            let numbers = sums.into_iter().map(|exact| exact.value).collect();
            let sums = Dense { dims: how.result(), numbers };
            Some(match x.get(2) {
                Some(bias) => Dense::new(&sums.dims.clone(), |place| {
                    apply(Op::Add, dtype, &[sums.at(&place), bias.at(&place[1..2])]).value
                }),
                None => sums,
            })
        }
        "einsum" => products(g, dtype, x),
        "max_pool" | "avg_pool" => Some(pooled(g, dtype, &x[0])),
        "scatter_add" => Some(scattered(Reduction::Sum, axis, dtype, x)),
        "scatter_mul" => Some(scattered(Reduction::Prod, axis, dtype, x)),
        "scatter_max" => Some(scattered(Reduction::Max, axis, dtype, x)),
        "scatter_min" => Some(scattered(Reduction::Min, axis, dtype, x)),
        "attention" if x[0].dims.len() == 4 => Some(attended(g, x)),
        "cumsum" => along(&|row| reference::scan(Reduction::Sum, dtype, row)),
        "cumprod" => along(&|row| reference::scan(Reduction::Prod, dtype, row)),
        "cummax" => along(&|row| reference::scan(Reduction::Max, dtype, row)),
        "cummin" => along(&|row| reference::scan(Reduction::Min, dtype, row)),
        name => {
            let reduction = Reduction::ALL.iter().find(|reduction| reduction.name() == name)?;
            Some(reduced(g, *reduction, dtype, &x[0]))
        }
    }
}

/// Over some axes, which are gone or left with length 1.
fn reduced(g: &Golden, reduction: Reduction, dtype: DType, x: &Dense) -> Dense {
    let (axes, correction) = (g.list("axes"), g.count("correction"));
    let inner: Vec<usize> = axes.iter().map(|&axis| x.dims[axis]).collect();
    let mut dims = x.dims.clone();
    axes.iter().for_each(|&axis| dims[axis] = 1);
    let of = |place: Vec<usize>| {
        let inside = places(&inner).map(|inside| {
            let mut place = place.clone();
            axes.iter().zip(inside).for_each(|(&axis, i)| place[axis] = i);
            x.at(&place)
        });
        let exact = reference::reduce(reduction, dtype, &inside.collect::<Vec<_>>(), correction);
        exact.map_or(Number::Float(f64::NAN), |exact| exact.value)
    };
    let mut result = Dense::new(&dims, of);
    if g.count("kept") == 0 {
        result.dims = (0..x.dims.len()).filter(|i| !axes.contains(i)).map(|i| dims[i]).collect();
    }
    result
}

/// Of letters that spell a product of matrices.
fn products(g: &Golden, dtype: DType, x: &[Dense]) -> Option<Dense> {
    if !matches!(g.word("letters")?, "ij,jk" | "ij,jk->ik" | "bij,bjk->bik") {
        return None;
    }
    let (batch, k) = (&x[0].dims[..x[0].dims.len() - 2], *x[0].dims.last()?);
    if x[1].dims[batch.len()] != k {
        return None; // one of them broadcasts
    }
    let dims = [batch, &x[0].dims[batch.len()..][..1], &x[1].dims[batch.len() + 1..]].concat();
    let dense = |x: &Dense| -> (Vec<u8>, Vec<isize>) {
        let bytes = x.numbers.iter().flat_map(|number| number.encode(dtype)).collect();
        let stride = |axis: usize| x.dims[axis + 1..].iter().product::<usize>().cast_signed();
        (bytes, (0..x.dims.len()).map(stride).collect())
    };
    let both = [dense(&x[0]), dense(&x[1])];
    let [a, b] =
        both.each_ref().map(|(bytes, strides)| Strided { dtype, bytes, offset: 0, strides });
    let sums = reference::matmul(&dims, k, &a, &b);
    Some(Dense { dims, numbers: sums.into_iter().map(|exact| exact.value).collect() })
}

/// What is in each window: zeros of the padding count in a mean, where it is told so.
fn pooled(g: &Golden, dtype: DType, x: &Dense) -> Dense {
    let [size, stride, padding] = ["size", "stride", "padding"].map(|setting| g.list(setting));
    let (axes, first) = (size.len(), x.dims.len() - size.len());
    let dilation = match g.list("dilation") {
        list if list.is_empty() => vec![1; axes],
        list => list,
    };
    let mut dims = x.dims.clone();
    for i in 0..axes {
        let covers = dilation[i] * (size[i] - 1) + 1;
        dims[first + i] = (dims[first + i] + 2 * padding[i] - covers) / stride[i] + 1;
    }
    Dense::new(&dims, |place| {
        let mut inside = Vec::new();
        for tap in places(&size) {
            let mut from = place.clone();
            let is_there = (0..axes).all(|i| {
                let padded = place[first + i] * stride[i] + tap[i] * dilation[i];
                from[first + i] = padded.wrapping_sub(padding[i]);
                from[first + i] < x.dims[first + i]
            });
            if is_there {
                inside.push(x.at(&from));
            } else if g.count("counted") == 1 {
                inside.push(Number::Float(0.0));
            }
        }
        let reduction = if g.op == "max_pool" { Reduction::Max } else { Reduction::Mean };
        folded(reduction, dtype, &inside)
    })
}

/// What was there, and all that the index brings.
fn scattered(reduction: Reduction, axis: usize, dtype: DType, x: &[Dense]) -> Dense {
    let mut gathered: Vec<Vec<Number>> = x[0].numbers.iter().map(|&own| vec![own]).collect();
    for (from, mut place) in places(&x[2].dims).enumerate() {
        place[axis] = float(x[1].numbers[from]) as usize;
        gathered[x[0].flat(&place)].push(x[2].numbers[from]);
    }
    let fold = |values: &Vec<Number>| folded(reduction, dtype, values);
    Dense { dims: x[0].dims.clone(), numbers: gathered.iter().map(fold).collect() }
}

/// Scores are scaled, capped and masked here, the rest is the oracle's.
fn attended(g: &Golden, x: &[Dense]) -> Dense {
    let [q, k, v] = [&x[0], &x[1], &x[2]];
    let (keys, d, e) = (k.dims[2], k.dims[3], v.dims[3]);
    let shared = q.dims[1] / k.dims[1];
    let lengths = (g.count("lengths") == 1).then(|| &x[3]);
    let mask = x.get(if lengths.is_some() { 4 } else { 3 });
    let window = g.word("window").map(|_| g.each::<2>("window"));
    let score = |at: &[usize], key: usize| {
        let dot =
            |c| float(q.at(&[at, &[c]].concat())) * float(k.at(&[at[0], at[1] / shared, key, c]));
        let score = (0..d).map(dot).sum::<f64>() * g.number("scaled");
        let score = match g.number("softcap") {
            0.0 => score,
            cap => cap * (score / cap).tanh(),
        };
        let apart = (key + q.dims[2]).cast_signed() - (at[2] + keys).cast_signed();
        let seen = lengths.is_none_or(|lengths| (key as f64) < float(lengths.at(&at[..1])))
            && window.is_none_or(|[before, after]| {
                -before.cast_signed() <= apart && apart <= after.cast_signed()
            })
            && (g.count("causal") == 0 || apart <= 0);
        let added = mask.map_or(0.0, |mask| {
            let place = [at, &[key]].concat();
            let place = place[4 - mask.dims.len()..].iter().zip(&mask.dims);
            let place: Vec<usize> = place.map(|(&i, &dim)| i.min(dim - 1)).collect();
            match mask.at(&place) {
                Number::Bool(seen) => {
                    if seen {
                        0.0
                    } else {
                        f64::NEG_INFINITY
                    }
                }
                number => float(number),
            }
        });
        if seen { score + added } else { f64::NEG_INFINITY }
    };
    let mut numbers = Vec::new();
    for at in places(&q.dims[..3]) {
        let scores: Vec<f64> = (0..keys).map(|key| score(&at, key)).collect();
        let row = |key| (0..e).map(|c| float(v.at(&[at[0], at[1] / shared, key, c]))).collect();
        let values: Vec<Vec<f64>> = (0..keys).map(row).collect();
        let values: Vec<&[f64]> = values.iter().map(Vec::as_slice).collect();
        numbers.extend(reference::attention(&scores, &values).into_iter().map(|e| e.value));
    }
    Dense { dims: [&q.dims[..3], &[e]].concat(), numbers }
}

/// To nine digits, of the magnitude that a contract counts in where terms cancel.
fn near(got: f64, want: f64, scale: f64) -> bool {
    got == want
        || got.is_nan() && want.is_nan()
        || (got - want).abs() <= 1e-8 * want.abs().max(scale) && want.is_finite()
}

/// What the oracle has a function for.
const ORACLES: &str = "all amax amin any argmax argmin attention avg_pool conv1d conv2d conv3d \
    count_nonzero cummax cummin cumprod cumsum cumsum_exclusive cumsum_reverse einsum group_norm \
    instance_norm layer_norm log_softmax logsumexp max_pool mean norm prod rms_norm scatter_add \
    scatter_max scatter_min scatter_mul softmax std sum var";

#[test]
fn the_oracle_agrees_with_torch_on_whole_tensors() {
    let (mut wrong, mut judged, mut compared) = (Vec::new(), BTreeSet::new(), 0);
    for golden in operations() {
        for &dtype in &golden.dtypes {
            let operands: Vec<Dense> =
                golden.operands.iter().map(|x| Dense::of(x, dtype)).collect();
            let Some(got) = told(&golden, dtype, &operands) else { continue };
            let want = Dense::of(&golden.results[0], dtype);
            assert_eq!(got.dims, want.dims, "{}", golden.line);
            judged.insert(golden.op);
            compared += want.numbers.len();
            let scale = golden.number("scale");
            let both = got.numbers.iter().zip(&want.numbers);
            let far = both.clone().position(|(a, b)| !near(float(*a), float(*b), scale));
            if let Some(i) = far {
                let (a, b) = (got.numbers[i], want.numbers[i]);
                wrong.push(format!("{dtype}, {i} is {a:?}, not {b:?}: {}", golden.line));
            }
        }
    }
    assert!(wrong.is_empty(), "{} lines:\n{}", wrong.len(), wrong.join("\n"));
    assert!(compared > 10_000, "only {compared} numbers were compared");
    let oracles: BTreeSet<&str> = ORACLES.split_whitespace().collect();
    assert_eq!(judged, oracles, "what has an oracle");
}
