//! `PyTorch`'s answers, read from the files of `torch/generate.py`, and where wharf differs on
//! purpose; and those that `exact/generate.py` computed in 400 bits.

use wharf::DType;
use wharf::dtype::Class;
use wharf::op::Op;
use wharf::reference::{Exact, Number, stepwise};

/// Where an answer differs on purpose.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Difference {
    /// The operation.
    pub(crate) op: &'static str,
    /// For which operands.
    pub(crate) when: fn(&[Number]) -> bool,
    /// Why.
    #[expect(dead_code, reason = "it is there to be read")]
    pub(crate) reason: &'static str,
}

fn minus_infinity(values: &[Number]) -> bool {
    matches!(values, [Number::Float(x)] if *x == f64::NEG_INFINITY)
}

fn below_minus_3(values: &[Number]) -> bool {
    matches!(values, [Number::Float(x)] if (-4.0..-3.0).contains(x))
}

fn nan(values: &[Number]) -> bool {
    matches!(values, [Number::Float(x)] if x.is_nan())
}

const CANCELS: &str = "torch adds to one what is nearly minus one: off by 8e-17";
const LIMIT: &str = "torch multiplies infinity by zero: NaN; here it is the limit, 0";

/// Where both have an answer and differ on purpose. Where torch has no answer, there is no case:
///
/// | operation | here | torch |
/// |---|---|---|
/// | integer `div`, `rem` by 0 | 0, the dividend | an error |
/// | integer `div`, `rem` of the lowest by -1 | wraps, 0 | ends the process |
/// | shifts by the width and more | 0, or the sign | undefined |
/// | float to integer, out of range or NaN | saturates, 0 | undefined |
/// | integer to a narrower integer | saturates | wraps |
/// | `fract` | `x - floor(x)` | `x - trunc(x)`; the cases are of the former |
/// | `std` of f32 | squares in f32: infinite from 1.8e19 on | in f64 |
/// | sums of integers | i32 and u32, wrap | i64 |
/// | `one_hot`; places, counts | any dtype; u32 | i64 |
/// | negative indices | an error | count from the end, in `take` and slices |
/// | `gather`, `scatter` with a shorter index | an error: slice first | the leading part |
/// | `scatter` of several values to one element | the last one | any of them |
/// | `attention` with a score of NaN | NaN | NaN composed, 0 fused |
/// | causal `attention` of fewer queries | the last sees all, or as there | the first sees one |
/// | `max_pool_with_indices` of NaN, dtype of places | the first NaN, u32 | the last NaN, i64 |
/// | `grid_sample` by an infinity of no weight | it does not count | NaN |
/// | `cross_entropy` | a loss for each row, no class weights | also their mean, weights |
/// | `cross_entropy` of class -100 | an error: out of range | 0, and not in the mean |
/// | `sort`, `argsort`, `top_k`, the largest first | NaN last: it is not the largest | NaN first |
/// | `searchsorted` in a list with NaN | NaN stands after all numbers | any place |
/// | `median` of an even number | the mean of both in the middle, as `quantile` | the lower |
/// | `quantile` between infinities, or at one | the infinity; of both signs NaN | NaN |
/// | `scatter_nd` of several values to one place | the last one | any of them |
/// | `interpolate`, the nearest | `i * in / out`, whole | in steps of f32: at 26 to 22 one before |
/// | `interpolate` of infinity with a weight of 0 | does not count | NaN |
/// | `attention` by lengths, windows, caps | one call | masks, and a composed form |
pub(crate) const DIFFERENCES: &[Difference] = &[
    Difference { op: "sign", when: nan, reason: "torch says 0; what is no number stays none" },
    Difference { op: "gelu", when: minus_infinity, reason: LIMIT },
    Difference { op: "gelu_tanh", when: minus_infinity, reason: LIMIT },
    Difference { op: "gelu_tanh", when: below_minus_3, reason: CANCELS },
    Difference { op: "silu", when: minus_infinity, reason: LIMIT },
    Difference { op: "hard_swish", when: minus_infinity, reason: LIMIT },
    Difference { op: "mish", when: minus_infinity, reason: LIMIT },
];

/// One operation on every combination of operands.
#[derive(Clone, Debug)]
pub(crate) struct Elementwise {
    pub(crate) op: Op,
    pub(crate) dtype: DType,
    /// The bits of every operand, one list as long as the results for each.
    pub(crate) operands: Vec<Vec<u64>>,
    pub(crate) results: Vec<Number>,
}

impl Elementwise {
    /// The values of the operands of result `i`.
    pub(crate) fn values(&self, i: usize) -> Vec<Number> {
        self.operands.iter().map(|list| value(self.dtype, list[i])).collect()
    }

    /// The dtype of a result of wharf's.
    pub(crate) fn yields(&self) -> DType {
        if self.op.yields_bool() { DType::Bool } else { self.dtype }
    }

    /// Whether `got` is torch's result `i`, within the contract, or what the contract allows where
    /// a step leaves the range.
    pub(crate) fn agrees(&self, i: usize, got: Number) -> bool {
        let values = self.values(i);
        let scale = self.op.scale(&values);
        let ends = [Some(self.results[i]), stepwise(self.op, self.dtype, &values)];
        let within =
            |value| self.op.bound(self.dtype).within(self.yields(), Exact { value, scale }, got);
        ends.into_iter().flatten().any(within)
    }

    /// Which of the differences covers result `i`, if any.
    pub(crate) fn differs(&self, i: usize) -> Option<usize> {
        let values = self.values(i);
        DIFFERENCES.iter().position(|d| d.op == self.op.name() && (d.when)(&values))
    }
}

/// The value of an element.
pub(crate) fn value(dtype: DType, bits: u64) -> Number {
    Number::decode(dtype, &bits.to_le_bytes()[..dtype.width()])
}

fn hex(text: &str) -> Vec<u64> {
    let words = text.split([' ', ',']).filter(|word| !word.is_empty());
    words.map(|word| u64::from_str_radix(word, 16).unwrap_or_default()).collect()
}

fn dtype(name: &str) -> DType {
    name.parse().unwrap_or(DType::F32)
}

/// Every elementwise case.
pub(crate) fn elementwise() -> Vec<Elementwise> {
    include_str!("torch/elementwise.txt").lines().map(crossed).collect()
}

/// Those in many digits.
pub(crate) fn exact() -> Vec<Elementwise> {
    include_str!("exact/elementwise.txt").lines().map(crossed).collect()
}

fn crossed(line: &str) -> Elementwise {
    let fields: Vec<&str> = line.split(" | ").collect();
    let (head, lists) = (fields[0], &fields[1..fields.len() - 1]);
    let (op, name) = head.split_once(' ').unwrap_or_default();
    let op = *Op::ALL.iter().find(|o| o.name() == op).unwrap_or(&Op::Neg);
    let dtype = dtype(name);
    let lists: Vec<Vec<u64>> = lists.iter().map(|list| hex(list)).collect();
    let count: usize = lists.iter().map(Vec::len).product();
    let mut after = count;
    let operands = lists.iter().map(|list| {
        after /= list.len();
        (0..count).map(|i| list[i / after % list.len()]).collect()
    });
    let operands = operands.collect();
    let stored = match dtype.class() {
        _ if op.yields_bool() => DType::Bool,
        Class::Float => DType::F64,
        _ => dtype,
    };
    let results = hex(fields[fields.len() - 1]).into_iter().map(|b| value(stored, b)).collect();
    Elementwise { op, dtype, operands, results }
}

/// From, to, operands and results.
pub(crate) fn casts() -> Vec<(DType, DType, Vec<u64>, Vec<u64>)> {
    let text = include_str!("torch/casts.txt");
    let case = |line: &str| {
        let mut fields = line.split('|').map(str::trim);
        let mut next = || fields.next().unwrap_or_default();
        let (from, to) = next().split_once(' ').unwrap_or_default();
        (dtype(from), dtype(to), hex(next()), hex(next()))
    };
    text.lines().map(case).collect()
}
