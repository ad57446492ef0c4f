//! The cases.

use crate::model::Model;

/// The unit of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// GFLOP/s.
    Flops,
    /// GB/s, counting everything read and written once, or the bytes that cross.
    Bytes,
    /// Microseconds.
    Micros,
    /// Milliseconds.
    Millis,
    /// MiB.
    Mebibytes,
    /// Tokens a second.
    Tokens,
}

impl Unit {
    /// The unit as it is printed.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Flops => "GFLOP/s",
            Self::Bytes => "GB/s",
            Self::Micros => "us",
            Self::Millis => "ms",
            Self::Mebibytes => "MiB",
            Self::Tokens => "tokens/s",
        }
    }

    /// Whether less is better.
    #[must_use]
    pub const fn is_time(self) -> bool {
        matches!(self, Self::Micros | Self::Millis)
    }
}

/// Sections of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Matmul,
    Elementwise,
    Rows,
    Images,
    Model,
    Crossing,
    Latency,
    Process,
}

/// C = A B, of `batch` pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Matmul {
    pub batch: usize,
    pub m: usize,
    pub k: usize,
    pub n: usize,
    /// B is a transposed view of an n x k matrix.
    pub transposed: bool,
    /// Stored as f16.
    pub half: bool,
}

/// One elementwise kernel over matrices of 4096 x 4096.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Formula {
    Add,
    MulAdd,
    Exp,
    Neg,
    Gelu,
    GeluTanh,
    /// `a.t() + 1`, in whichever order the runtime likes.
    TransposedPlusOne,
}

/// Work along rows or columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rows {
    /// Of the last axis.
    Softmax,
    /// Of the last axis, without weights that change anything.
    LayerNorm,
    SumAll,
    SumColumns,
    SumRows,
}

/// Attention of as many queries as keys, without a mask, scaled as usual.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attention {
    pub heads: usize,
    pub tokens: usize,
    /// Length of a query, a key and a value.
    pub d: usize,
}

/// Work on an image of [`CHANNELS`] x [`SIDE`] x [`SIDE`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Image {
    /// 3 x 3 with a border of zeros, as many channels as before.
    Conv,
    /// 1 x 1, as many channels as before.
    Pointwise,
    /// 3 x 3 with a border of zeros, each channel by itself.
    Depthwise,
    /// The largest of 3 x 3, every other one, with a border.
    MaxPool,
    /// Twice as large, bilinear, by edges.
    Larger,
    /// [`GROUPS`] groups, without weights.
    GroupNorm,
}

/// A list in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// All of it, the smallest first.
    Sort,
    /// The [`TOP`] largest.
    TopK,
}

/// From host to device, named by what the host has and what the device is to store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Crossing {
    F32,
    F16,
    I32,
    U8,
    Bool,
    F64AsF32,
    F32AsF16,
    I64AsI32,
    /// Device to host, f32.
    Down,
}

/// What a case does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    Matmul(Matmul),
    Formula(Formula, usize),
    Rows(Rows, usize, usize),
    Attention(Attention),
    Image(Image),
    Order(Order, usize),
    /// A forward pass, until the device is done with the embeddings.
    Model(Model),
    Crossing(Crossing, usize),
    /// One addition of 1024 numbers, until the device is done.
    AddSync,
    /// One addition of 1024 numbers, until one number of the result is read.
    AddRead,
    /// A thousand additions one after the other, one number read.
    Chain,
    /// A hundred products of 32 x 32, one after the other, one number read.
    ChainMatmul,
    /// From the start of a process to the first product of 512 x 512, read.
    FirstMatmul,
    /// From the start of a process to the first sum of two tensors, read.
    FirstAdd,
    /// The largest f32 tensor that goes up, gets one added, and has the right last element.
    Largest,
}

/// Steps of the chains.
pub const CHAIN: usize = 1000;
pub const CHAIN_MATMUL: usize = 100;
/// Length of the tensors in chains and single operations.
pub const SMALL: usize = 1024;
/// Of images.
pub const CHANNELS: usize = 64;
pub const SIDE: usize = 56;
pub const GROUPS: usize = 8;
/// How many of the largest.
pub const TOP: usize = 100;

impl What {
    /// The lengths of the inputs.
    pub(crate) fn lengths(&self) -> Vec<usize> {
        match *self {
            Self::Matmul(Matmul { batch, m, k, n, .. }) => vec![batch * m * k, batch * k * n],
            Self::Formula(formula, side) => vec![side * side; formula.inputs()],
            Self::Rows(_, rows, columns) => vec![rows * columns],
            Self::Attention(Attention { heads, tokens, d }) => vec![heads * tokens * d; 3],
            Self::Image(image) => vec![CHANNELS * SIDE * SIDE, image.weights()],
            Self::Order(_, n) | Self::Crossing(_, n) => vec![n],
            // It draws its own.
            Self::Model(_) => vec![],
            Self::AddSync | Self::AddRead | Self::Chain => vec![SMALL; 2],
            Self::ChainMatmul => vec![32 * 32; 2],
            Self::FirstMatmul => vec![512 * 512; 2],
            Self::FirstAdd => vec![SMALL; 2],
            Self::Largest => vec![],
        }
    }
}

impl Formula {
    pub const fn inputs(self) -> usize {
        match self {
            Self::Add => 2,
            Self::MulAdd | Self::Gelu | Self::GeluTanh => 3,
            Self::Exp | Self::Neg | Self::TransposedPlusOne => 1,
        }
    }
}

impl Image {
    /// How many weights there are.
    const fn weights(self) -> usize {
        match self {
            Self::Conv => CHANNELS * CHANNELS * 9,
            Self::Pointwise => CHANNELS * CHANNELS,
            Self::Depthwise => CHANNELS * 9,
            Self::MaxPool | Self::Larger | Self::GroupNorm => 0,
        }
    }

    /// Elements of the result.
    pub(crate) const fn results(self) -> usize {
        let image = CHANNELS * SIDE * SIDE;
        match self {
            Self::MaxPool => image / 4,
            Self::Larger => image * 4,
            _ => image,
        }
    }
}

/// One line of the table.
#[derive(Clone, Debug)]
pub struct Case {
    pub name: String,
    pub kind: Kind,
    pub what: What,
    pub unit: Unit,
    /// How much one run does: a rate is this divided by seconds.
    pub amount: f64,
    /// For the roofline, where it makes sense: operations, and bytes read and written once.
    pub flops: f64,
    pub bytes: f64,
}

impl Case {
    fn new(kind: Kind, name: impl Into<String>, what: What, unit: Unit, amount: f64) -> Self {
        Self { name: name.into(), kind, what, unit, amount, flops: 0.0, bytes: 0.0 }
    }

    fn roofline(self, flops: f64, bytes: f64) -> Self {
        Self { flops, bytes, ..self }
    }

    /// The value of a run that took this long.
    #[must_use]
    pub fn value(&self, seconds: f64) -> f64 {
        match self.unit {
            Unit::Flops | Unit::Bytes => self.amount / seconds / 1e9,
            Unit::Micros => seconds * 1e6 / self.amount,
            Unit::Millis => seconds * 1e3 / self.amount,
            Unit::Mebibytes => seconds,
            Unit::Tokens => self.amount / seconds,
        }
    }

    /// Whether autotuning may choose differently each time, so that the best of several processes
    /// counts.
    #[must_use]
    pub const fn is_luck(&self) -> bool {
        matches!(self.what, What::Rows(Rows::Softmax | Rows::LayerNorm, ..))
    }

    /// The ratio of two values, above 1 where the first is better.
    #[must_use]
    pub fn ratio(&self, ours: f64, theirs: f64) -> f64 {
        if self.unit.is_time() { theirs / ours } else { ours / theirs }
    }
}

/// How large the cases are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// To see that it works.
    Quick,
    /// What a software driver does in time.
    #[default]
    Usual,
    /// With what only a GPU does in time.
    Large,
}

impl Scale {
    /// How the programs are told.
    pub const FLAGS: [(&str, Self); 2] = [("--quick", Self::Quick), ("--large", Self::Large)];

    /// What a flag asks for.
    #[must_use]
    pub fn of(flag: &str) -> Option<Self> {
        Self::FLAGS.iter().find(|(name, _)| *name == flag).map(|(_, scale)| *scale)
    }

    fn pick<T>(self, quick: T, usual: T, large: T) -> T {
        match self {
            Self::Quick => quick,
            Self::Usual => usual,
            Self::Large => large,
        }
    }
}

/// All cases of a scale.
#[must_use]
pub fn all(scale: Scale) -> Vec<Case> {
    let side = scale.pick(1024, 4096, 8192);
    let mut cases = matmuls(scale);
    cases.push(attention(scale.pick(128, 512, 4096)));
    cases.extend(formulas(side));
    cases.extend(rows(side));
    cases.extend(images());
    cases.extend(orders(scale.pick(10_000, 1_000_000, 10_000_000)));
    cases.extend(models(scale.pick(8, 128, 128)));
    cases.extend(crossings(scale.pick(1 << 20, 1 << 25, 1 << 25)));
    let latency = |name, what, steps| Case::new(Kind::Latency, name, what, Unit::Micros, steps);
    let process = |name, what, unit| Case::new(Kind::Process, name, what, unit, 1.0);
    cases.extend([
        latency("add, done", What::AddSync, 1.0),
        latency("add, one number read", What::AddRead, 1.0),
        latency("1000 chained adds, each", What::Chain, CHAIN as f64),
        latency("100 chained matmuls 32x32, each", What::ChainMatmul, CHAIN_MATMUL as f64),
        process("process to first matmul 512", What::FirstMatmul, Unit::Millis),
        process("process to first add", What::FirstAdd, Unit::Millis),
        process("largest tensor held", What::Largest, Unit::Mebibytes),
    ]);
    cases
}

fn matmuls(scale: Scale) -> Vec<Case> {
    let plain = |m, k, n| Matmul { batch: 1, m, k, n, transposed: false, half: false };
    let square = |n| plain(n, n, n);
    let mut list = vec![
        ("matmul 256".to_owned(), square(256)),
        ("matmul 512".to_owned(), square(512)),
        ("matmul 127x513x333".to_owned(), plain(127, 513, 333)),
        ("matmul 1x4096x4096".to_owned(), plain(1, 4096, 4096)),
        (
            "matmul 1x4096x4096, B transposed".to_owned(),
            Matmul { transposed: true, ..plain(1, 4096, 4096) },
        ),
        ("matmul 64x1024x1024".to_owned(), plain(64, 1024, 1024)),
        ("matmul 16 of 128".to_owned(), Matmul { batch: 16, ..square(128) }),
        ("matmul 512, f16".to_owned(), Matmul { half: true, ..square(512) }),
    ];
    if scale == Scale::Large {
        list.extend([
            ("matmul 4096".to_owned(), square(4096)),
            ("matmul 4096, f16".to_owned(), Matmul { half: true, ..square(4096) }),
        ]);
    }
    if scale != Scale::Quick {
        list.extend([
            ("matmul 1000".to_owned(), square(1000)),
            ("matmul 1024".to_owned(), square(1024)),
            ("matmul 1024, B transposed".to_owned(), Matmul { transposed: true, ..square(1024) }),
        ]);
    }
    let case = |(name, mm): (String, Matmul)| {
        let Matmul { batch, m, k, n, half, .. } = mm;
        let flops = 2.0 * (batch * m * k * n) as f64;
        let bytes = (batch * (m * k + k * n + m * n) * if half { 2 } else { 4 }) as f64;
        Case::new(Kind::Matmul, name, What::Matmul(mm), Unit::Flops, flops).roofline(flops, bytes)
    };
    list.into_iter().map(case).collect()
}

fn attention(tokens: usize) -> Case {
    let of = Attention { heads: 8, tokens, d: 64 };
    let Attention { heads, d, .. } = of;
    let name = format!("attention, {heads} heads of {tokens}x{d}");
    // Two products of these sizes; the result is as large as each input.
    let flops = 4.0 * (heads * tokens * tokens * d) as f64;
    let bytes = 4.0 * (4 * heads * tokens * d) as f64;
    Case::new(Kind::Matmul, name, What::Attention(of), Unit::Flops, flops).roofline(flops, bytes)
}

fn formulas(side: usize) -> Vec<Case> {
    let list = [
        ("a + b", Formula::Add, 1.0),
        ("a * b + c", Formula::MulAdd, 2.0),
        ("exp(a)", Formula::Exp, 0.0),
        ("-a", Formula::Neg, 1.0),
        ("gelu(a * b + c)", Formula::Gelu, 0.0),
        ("gelu_tanh(a * b + c)", Formula::GeluTanh, 0.0),
        ("a.t() + 1", Formula::TransposedPlusOne, 1.0),
    ];
    let case = |(name, formula, flops): (&str, Formula, f64)| {
        let elements = (side * side) as f64;
        let bytes = 4.0 * elements * (formula.inputs() + 1) as f64;
        let what = What::Formula(formula, side);
        Case::new(Kind::Elementwise, name, what, Unit::Bytes, bytes)
            .roofline(flops * elements, bytes)
    };
    list.into_iter().map(case).collect()
}

fn rows(side: usize) -> Vec<Case> {
    let list = [
        (format!("softmax {side}x{side}"), Rows::Softmax, side, side, 2.0),
        (format!("layer norm {side}x1024"), Rows::LayerNorm, side, 1024, 2.0),
        (format!("sum of {side}x{side}"), Rows::SumAll, side, side, 1.0),
        (format!("sum over columns {side}x{side}"), Rows::SumColumns, side, side, 1.0),
        (format!("sum over rows {side}x{side}"), Rows::SumRows, side, side, 1.0),
    ];
    let case = |(name, op, rows, columns, times): (String, Rows, usize, usize, f64)| {
        let elements = (rows * columns) as f64;
        let bytes = 4.0 * elements * times;
        let flops = if times == 1.0 { elements } else { 0.0 };
        Case::new(Kind::Rows, name, What::Rows(op, rows, columns), Unit::Bytes, bytes)
            .roofline(flops, bytes)
    };
    list.into_iter().map(case).collect()
}

fn images() -> Vec<Case> {
    let list = [
        ("conv 3x3", Image::Conv),
        ("conv 1x1", Image::Pointwise),
        ("conv 3x3, depthwise", Image::Depthwise),
        ("max pool 3x3, stride 2", Image::MaxPool),
        ("interpolate to twice, bilinear", Image::Larger),
        ("group norm of 8", Image::GroupNorm),
    ];
    let case = |(name, image): (&str, Image)| {
        // Each weight of a convolution is used once for every place.
        let flops = 2.0 * (image.weights() * SIDE * SIDE) as f64;
        let bytes = 4.0 * (CHANNELS * SIDE * SIDE + image.weights() + image.results()) as f64;
        let (unit, amount) = if flops > 0.0 { (Unit::Flops, flops) } else { (Unit::Bytes, bytes) };
        Case::new(Kind::Images, name, What::Image(image), unit, amount).roofline(flops, bytes)
    };
    list.into_iter().map(case).collect()
}

fn orders(n: usize) -> Vec<Case> {
    let list = [("sort", Order::Sort, n), ("largest 100", Order::TopK, TOP)];
    let case = |(name, order, results): (&str, Order, usize)| {
        let name = format!("{name} of {n}");
        let bytes = 4.0 * (n + results) as f64;
        Case::new(Kind::Images, name, What::Order(order, n), Unit::Bytes, bytes)
    };
    list.into_iter().map(case).collect()
}

fn models(tokens: usize) -> Vec<Case> {
    let case = |batch| {
        let name = format!("MiniLM, batch {batch} x {tokens} tokens");
        let what = What::Model(Model { batch, tokens });
        Case::new(Kind::Model, name, what, Unit::Tokens, (batch * tokens) as f64)
    };
    [1, 32].map(case).into()
}

fn crossings(n: usize) -> Vec<Case> {
    // Bytes of the host's data.
    let list = [
        ("up, f32", Crossing::F32, 4),
        ("up, f16", Crossing::F16, 2),
        ("up, i32", Crossing::I32, 4),
        ("up, u8", Crossing::U8, 1),
        ("up, bool", Crossing::Bool, 1),
        ("up, f64 -> f32", Crossing::F64AsF32, 8),
        ("up, f32 -> f16", Crossing::F32AsF16, 4),
        ("up, i64 -> i32", Crossing::I64AsI32, 8),
        ("down, f32", Crossing::Down, 4),
    ];
    let case = |(name, crossing, width): (&str, Crossing, usize)| {
        // It fits into one binding of the baseline, because not every runtime goes beyond that.
        let n = n / 4 * 3;
        let what = What::Crossing(crossing, n);
        Case::new(Kind::Crossing, name, what, Unit::Bytes, (n * width) as f64)
    };
    list.into_iter().map(case).collect()
}
