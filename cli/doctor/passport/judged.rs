//! The gpu tier's core: every kind of operation on every dtype, judged by the oracle, within
//! seconds.
//!
//! The tier has the same cases among its own, and many more.

use wharf::op::{Joint, Op, Reduction};
use wharf::plan::How;
use wharf::reference::{Exact, Number, Strided, cast, keeps, matmul, matmul_dtype, matmul_keeps};
use wharf::reference::{reduce, scan};
use wharf::tensor::Order;
use wharf::{DType, Device, Tensor};

use super::probe::{Probe, of_dtype, specials};
use super::random::Random;
use super::show;

/// One case: what is done, with which dtype.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CoreCase {
    kind: Kind,
    pub(crate) dtype: DType,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Elementwise,
    Casts,
    Reductions,
    Scans,
    Products,
    Views,
    Places,
}

const KINDS: [(Kind, &str); 7] = [
    (Kind::Elementwise, "elementwise"),
    (Kind::Casts, "casts"),
    (Kind::Reductions, "reductions"),
    (Kind::Scans, "scans"),
    (Kind::Products, "products"),
    (Kind::Views, "views"),
    (Kind::Places, "places"),
];

/// Every kind, on each dtype that it takes.
pub(crate) fn all() -> impl Iterator<Item = CoreCase> {
    let takes = |kind: Kind, dtype: DType| match kind {
        Kind::Scans | Kind::Products => dtype != DType::Bool && dtype.computes(),
        Kind::Elementwise | Kind::Reductions => dtype.computes(),
        _ => true,
    };
    KINDS.into_iter().flat_map(move |(kind, _)| {
        let dtypes = DType::ALL.iter().copied().filter(move |&dtype| takes(kind, dtype));
        dtypes.map(move |dtype| CoreCase { kind, dtype })
    })
}

impl CoreCase {
    /// `elementwise f32`
    pub(crate) fn name(self) -> String {
        let name = KINDS.iter().find(|(kind, _)| *kind as usize == self.kind as usize);
        format!("{} {}", name.map_or("", |(_, name)| name), self.dtype)
    }

    /// How many results were compared, or the first that is wrong.
    pub(crate) async fn run(self, device: &Device) -> Result<usize, String> {
        let dtype = self.dtype;
        match self.kind {
            Kind::Elementwise => elementwise(device, dtype).await,
            Kind::Casts => casts(device, dtype).await,
            Kind::Reductions => reductions(device, dtype).await,
            Kind::Scans => scans(device, dtype).await,
            Kind::Products => products(device, dtype).await,
            Kind::Views => views(device, dtype).await,
            Kind::Places => places(device, dtype).await,
        }
    }
}

/// A tensor, and what must be in it.
struct Held {
    tensor: Tensor,
    values: Vec<Number>,
}

impl Held {
    async fn new(
        device: &Device,
        dtype: DType,
        bits: &[u64],
        dims: &[usize],
    ) -> Result<Self, String> {
        async fn up<T: Probe>(
            device: &Device,
            bits: &[u64],
            dims: &[usize],
        ) -> wharf::Result<Tensor> {
            let values: Vec<T> = bits.iter().map(|&bits| T::from_bits(bits)).collect();
            Ok(device.upload(&values, dims)?.0)
        }
        let tensor = of_dtype!(dtype, up(device, bits, dims)).map_err(show)?;
        let value = |bits: &u64| Number::decode(dtype, &bits.to_le_bytes()[..dtype.width()]);
        Ok(Self { tensor, values: bits.iter().map(value).collect() })
    }

    /// Small numbers that every dtype has, the same in every run.
    async fn small(
        device: &Device,
        dtype: DType,
        dims: &[usize],
        seed: u64,
    ) -> Result<Self, String> {
        let mut random = Random::new(seed);
        let bits: Vec<u64> =
            (0..dims.iter().product()).map(|_| small(&mut random, dtype)).collect();
        Self::new(device, dtype, &bits, dims).await
    }
}

fn bits_of(dtype: DType, value: Number) -> u64 {
    let mut word = [0; 8];
    word[..dtype.width()].copy_from_slice(&value.encode(dtype));
    u64::from_le_bytes(word)
}

/// A whole number or a quarter, which no dtype of its class has to round.
fn small(random: &mut Random, dtype: DType) -> u64 {
    let n = random.below(17) as i128 - 8;
    let value = match dtype {
        DType::Bool => Number::Bool(n % 2 == 0),
        _ if dtype.is_float() => Number::Float(n as f64 / 4.0),
        _ => Number::Int(n.abs()),
    };
    bits_of(dtype, value)
}

/// The values of a tensor.
async fn numbers(tensor: &Tensor) -> Result<Vec<Number>, String> {
    let bytes = tensor.read_bytes().await.map_err(show)?;
    let dtype = tensor.dtype();
    Ok(bytes.chunks(dtype.width()).map(|bytes| Number::decode(dtype, bytes)).collect())
}

/// Compares all of a result, place by place.
async fn compared(
    what: &str,
    got: &Tensor,
    count: usize,
    right: impl Fn(usize, Number) -> Result<(), String>,
) -> Result<usize, String> {
    let got = numbers(got).await?;
    if got.len() != count {
        return Err(format!("{what}: {} results, not {count}", got.len()));
    }
    for (i, &number) in got.iter().enumerate() {
        right(i, number).map_err(|text| format!("{what} at {i}: {number:?}, {text}"))?;
    }
    Ok(count)
}

fn same(got: Number, want: Number) -> Result<(), String> {
    let nan = |number| matches!(number, Number::Float(x) if x.is_nan());
    if got == want || nan(got) && nan(want) { Ok(()) } else { Err(format!("not {want:?}")) }
}

/// Operations that are tried on narrow dtypes: the others compute as on the wide ones.
const FEW: [Op; 5] = [Op::Neg, Op::Abs, Op::Add, Op::Lt, Op::Where];

/// Values of an operand: more than there are special ones.
const LENGTH: usize = 307;

/// Special values, then others of every magnitude that an operation is used with.
fn operand(dtype: DType, seed: u64) -> Vec<u64> {
    let (mut random, special) = (Random::new(seed), specials(dtype));
    let mut value = |_| {
        let part = random.below(1 << 24) as f64 / f64::from(1 << 23) - 1.0;
        match random.below(4) {
            0 => special[random.below(special.len())],
            1 => small(&mut random, dtype),
            2 if dtype.is_float() => bits_of(dtype, Number::Float(100.0 * part)),
            _ if dtype.is_float() => bits_of(dtype, Number::Float(part)),
            _ if dtype == DType::Bool => random.bits() & 1,
            _ => random.bits() >> random.below(64),
        }
    };
    (0..LENGTH).map(&mut value).collect()
}

async fn elementwise(device: &Device, dtype: DType) -> Result<usize, String> {
    let narrow = dtype.width() < 4 && dtype != DType::Bool;
    let mut all = 0;
    let ops = Op::ALL.iter().filter(|op| op.takes(dtype) && (!narrow || FEW.contains(op)));
    for &op in ops {
        let mut held = Vec::new();
        for i in 0..op.arity() {
            let dtype = if op == Op::Where && i == 0 { DType::Bool } else { dtype };
            let bits = operand(dtype, 97 * i as u64 + op as u64);
            held.push(Held::new(device, dtype, &bits, &[LENGTH]).await?);
        }
        let others: Vec<_> = held[1..].iter().map(|held| (&held.tensor).into()).collect();
        let result = held[0].tensor.apply(op, &others).map_err(show)?;
        let right = |i: usize, got| {
            let values: Vec<Number> = held.iter().map(|held| held.values[i]).collect();
            if !op.covers(&values) || keeps(op, dtype, &values, got) {
                return Ok(());
            }
            Err(format!("of {values:?}"))
        };
        all += compared(op.name(), &result, LENGTH, right).await?;
    }
    Ok(all)
}

async fn casts(device: &Device, dtype: DType) -> Result<usize, String> {
    let x = Held::small(device, dtype, &[LENGTH], 3).await?;
    let carried = |to: &DType| matches!(device.plan().carriage(*to).how, How::Native | How::Packed);
    let mut all = 0;
    for to in DType::ALL.iter().copied().filter(carried) {
        let result = x.tensor.cast(to).map_err(show)?;
        let right = |i: usize, got| same(got, cast(x.values[i], to));
        all += compared(to.name(), &result, LENGTH, right).await?;
    }
    Ok(all)
}

/// Rows that are reduced, and how long they are.
const ROWS: [usize; 2] = [7, 143];

fn within(
    exact: Option<Exact>,
    dtype: DType,
    bound: wharf::op::Tolerance,
    got: Number,
) -> Result<(), String> {
    let exact = exact.ok_or("nothing is expected")?;
    if bound.within(dtype, exact, got) { Ok(()) } else { Err(format!("not {exact:?}")) }
}

async fn reductions(device: &Device, dtype: DType) -> Result<usize, String> {
    let x = Held::small(device, dtype, &ROWS, 4).await?;
    let mut all = 0;
    for reduction in Reduction::ALL.iter().copied().filter(|reduction| reduction.takes(dtype)) {
        let result = x.tensor.reduce(reduction, 1).map_err(show)?;
        let bound = reduction.bound(dtype);
        let right = |i: usize, got| {
            let row = &x.values[i * ROWS[1]..(i + 1) * ROWS[1]];
            within(reduce(reduction, dtype, row, 0), reduction.yields(dtype), bound, got)
        };
        all += compared(reduction.name(), &result, ROWS[0], right).await?;
    }
    Ok(all)
}

async fn scans(device: &Device, dtype: DType) -> Result<usize, String> {
    let x = Held::small(device, dtype, &ROWS, 5).await?;
    let (sums, most) = (x.tensor.cumsum(1), x.tensor.cummax(1));
    let mut all = 0;
    for (reduction, result) in [(Reduction::Sum, sums), (Reduction::Max, most)] {
        let result = result.map_err(show)?;
        let wide = reduction.yields(dtype);
        let exact: Vec<Exact> =
            x.values.chunks(ROWS[1]).flat_map(|row| scan(reduction, dtype, row)).collect();
        let right = |i: usize, got| within(Some(exact[i]), wide, Joint::CumSum.bound(), got);
        all += compared(reduction.name(), &result, exact.len(), right).await?;
    }
    Ok(all)
}

/// Rows, what is summed over, columns.
const PRODUCT: [usize; 3] = [17, 35, 19];

async fn products(device: &Device, dtype: DType) -> Result<usize, String> {
    let [m, k, n] = PRODUCT;
    let a = Held::small(device, dtype, &[m, k], 6).await?;
    let b = Held::small(device, dtype, &[k, n], 7).await?;
    let result = a.tensor.matmul(&b.tensor).map_err(show)?;
    let bytes = [&a, &b]
        .map(|side| side.values.iter().flat_map(|value| value.encode(dtype)).collect::<Vec<u8>>());
    let side = |bytes, strides| Strided { dtype, bytes, offset: 0, strides };
    let (down, across) = ([k as isize, 1], [n as isize, 1]);
    let exact = matmul(&[m, n], k, &side(&bytes[0], &down), &side(&bytes[1], &across));
    let right = |i: usize, got| {
        let keeps = matmul_keeps(matmul_dtype(dtype), k, exact[i], got);
        if keeps { Ok(()) } else { Err(format!("not {:?}", exact[i])) }
    };
    compared("matmul", &result, m * n, right).await
}

/// A transposed view, backwards, and every third of another, joined.
async fn views(device: &Device, dtype: DType) -> Result<usize, String> {
    let [rows, columns] = [13, 23];
    let x = Held::small(device, dtype, &[rows, columns], 8).await?;
    let flipped = x.tensor.t().and_then(|t| t.flip(1)).map_err(show)?;
    let third = x.tensor.t().and_then(|t| t.slice_step(0, 1..columns, 3)).map_err(show)?;
    let result = Tensor::concat(&[&flipped, &third], 0).map_err(show)?;
    let count = result.shape().dims().iter().product();
    let right = |i: usize, got| {
        let (line, place) = (i / rows, i % rows);
        let (row, column) = match line.checked_sub(columns) {
            None => (rows - 1 - place, line),
            Some(line) => (place, 1 + 3 * line),
        };
        same(got, x.values[row * columns + column])
    };
    compared("views", &result, count, right).await
}

/// Sorted, and taken by their places.
async fn places(device: &Device, dtype: DType) -> Result<usize, String> {
    let x = Held::small(device, dtype, &[LENGTH], 9).await?;
    let key = |number: &Number| match *number {
        Number::Float(x) => x,
        Number::Int(x) => x as f64,
        Number::Bool(x) => f64::from(u8::from(x)),
    };
    let mut want = x.values.clone();
    want.sort_by(|a, b| key(a).total_cmp(&key(b)));
    let sorted = x.tensor.sort(0, Order::Ascending).map_err(show)?;
    let all = compared("sort", &sorted, LENGTH, |i, got| same(got, want[i])).await?;
    let index: Vec<u32> = (0..LENGTH as u32).map(|i| i * 7 % LENGTH as u32).collect();
    let (at, _) = device.upload(&index, LENGTH).map_err(show)?;
    let taken = x.tensor.take(&at).map_err(show)?;
    let right = |i: usize, got| same(got, x.values[index[i] as usize]);
    Ok(all + compared("take", &taken, LENGTH, right).await?)
}
