//! Weights in blocks that share a scale: their forms, what a block of each is made of, and what
//! quantising did to weights.
//!
//! ```text
//!         weights   values          scales
//! q8         32     32 of i8        f16                        ggml's Q8_0
//! q4         32     16 of u8        f16                        ggml's Q4_0
//! q2_k      256     64 of u8        10 of u16, for 16 times 16 ggml's Q2_K
//! q3_k      256     96 of u8        7 of u16, for 16 times 16  ggml's Q3_K
//! q4_k      256    128 of u8        4 words, for 8 times 32    ggml's Q4_K
//! q5_k      256    160 of u8        4 words, for 8 times 32    ggml's Q5_K
//! q6_k      256    192 of u8        9 of u16, for 16 times 16  ggml's Q6_K
//! ```
//!
//! The contract of what is made here is that of [`Tensor::quantise`].
//!
//! [`Tensor::quantise`]: crate::Tensor::quantise

use super::cause::CarriageCause;
use crate::dtype::DType;
use crate::error::Result;
use crate::shape::Shape;

mod made;

pub(crate) use made::{BLOCK, Losses, ROUNDED_UP, SMALLEST, WeightBlock};

/// A form of weights in blocks. Each is one of ggml's, bit for bit, but for its scales, which lie
/// apart from its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Blocks {
    /// 32 values of 8 bits with a scale of f16: `value * scale`. ggml's `Q8_0`; 8.5 bits a weight.
    Q8,
    /// 32 values of 4 bits with a scale of f16: `(value - 8) * scale`. Of sixteen bytes, the low
    /// halves are the first sixteen weights. ggml's `Q4_0`; 4.5 bits a weight.
    Q4,
    /// 256 values of 4 bits, 32 of which have a scale and a minimum of 6 bits, and these a scale of
    /// f16 each: `value * scale - minimum`. ggml's `Q4_K`, which is read, not made; 4.5 bits a
    /// weight.
    Q4K,
    /// As [`Blocks::Q4K`], of 5 bits: their highest first, eight to a byte. ggml's `Q5_K`; 5.5 bits
    /// a weight.
    Q5K,
    /// 256 values of 6 bits, sixteen of which have a scale of 8 bits, and these one of f16:
    /// `(value - 32) * scale`. Their low halves, then their high bits. ggml's `Q6_K`, which is
    /// read, not made; 6.6 bits a weight.
    Q6K,
    /// As [`Blocks::Q6K`], of 3 bits, of which the highest come first, and scales of 6 bits:
    /// `(value - 4) * scale`. ggml's `Q3_K`; 3.4 bits a weight.
    Q3K,
    /// 256 values of 2 bits, sixteen of which have a scale and a minimum of 4 bits, and these a
    /// scale of f16 each: `value * scale - minimum`. ggml's `Q2_K`; 2.6 bits a weight.
    Q2K,
}

/// What quantises the weights of a block.
pub(crate) type Maker = fn(&[f32; BLOCK]) -> WeightBlock;

/// What a block of a form is made of: how many weights, how many elements of its two parts; and who
/// makes it.
struct BlockSpec {
    form: Blocks,
    name: &'static str,
    weights: usize,
    values: (DType, usize),
    scales: (DType, usize),
    maker: Option<Maker>,
    /// Of 256 weights: their low bits and their high ones.
    planes: &'static [BitPlane],
}

/// Where some bits of 256 weights lie among the bytes of their values. In each of `groups` runs of
/// `width` bytes the lowest `bits` of each byte are of the first `width` weights, the next ones of
/// as many more, and so on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BitPlane {
    /// Its first byte.
    pub(crate) first: usize,
    pub(crate) groups: usize,
    pub(crate) width: usize,
    pub(crate) bits: usize,
}

impl BitPlane {
    const fn of(first: usize, groups: usize, width: usize, bits: usize) -> Self {
        Self { first, groups, width, bits }
    }

    /// Weights of which a byte has a part.
    pub(crate) const fn shifts(self) -> usize {
        SUPER / (self.groups * self.width)
    }

    pub(crate) const fn bytes(self) -> usize {
        self.groups * self.width
    }
}

/// Weights of a large block.
pub(crate) const SUPER: usize = 8 * BLOCK;

/// A form of 256 weights, which are read.
const fn of_super(
    form: Blocks,
    name: &'static str,
    scales: (DType, usize),
    planes: &'static [BitPlane],
) -> BlockSpec {
    let (mut bytes, mut plane) = (0, 0);
    while plane < planes.len() {
        bytes += planes[plane].bytes();
        plane += 1;
    }
    BlockSpec {
        form,
        name,
        weights: SUPER,
        values: (DType::U8, bytes),
        scales,
        maker: None,
        planes,
    }
}

/// In the order of the forms.
const SPECS: [BlockSpec; Blocks::ALL.len()] = [
    BlockSpec {
        form: Blocks::Q8,
        name: "q8",
        weights: BLOCK,
        values: (DType::I8, BLOCK),
        scales: (DType::F16, 1),
        maker: Some(WeightBlock::of_eight_bits),
        planes: &[],
    },
    BlockSpec {
        form: Blocks::Q4,
        name: "q4",
        weights: BLOCK,
        values: (DType::U8, BLOCK / 2),
        scales: (DType::F16, 1),
        maker: Some(WeightBlock::of_four_bits),
        planes: &[],
    },
    of_super(Blocks::Q4K, "q4_k", (DType::U32, 4), &[BitPlane::of(0, 4, 32, 4)]),
    of_super(
        Blocks::Q5K,
        "q5_k",
        (DType::U32, 4),
        &[BitPlane::of(32, 4, 32, 4), BitPlane::of(0, 1, 32, 1)],
    ),
    of_super(
        Blocks::Q6K,
        "q6_k",
        (DType::U16, 9),
        &[BitPlane::of(0, 2, 64, 4), BitPlane::of(128, 2, 32, 2)],
    ),
    of_super(
        Blocks::Q3K,
        "q3_k",
        (DType::U16, 7),
        &[BitPlane::of(32, 2, 32, 2), BitPlane::of(0, 1, 32, 1)],
    ),
    of_super(Blocks::Q2K, "q2_k", (DType::U16, 10), &[BitPlane::of(0, 2, 32, 2)]),
];

impl Blocks {
    /// Every form.
    pub const ALL: [Self; 7] =
        [Self::Q8, Self::Q4, Self::Q4K, Self::Q5K, Self::Q6K, Self::Q3K, Self::Q2K];

    const fn spec(self) -> &'static BlockSpec {
        &SPECS[self as usize]
    }

    /// Its name: `q8`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.spec().name
    }

    /// The form of a name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|form| form.name() == name)
    }

    /// Weights of a block.
    #[must_use]
    pub const fn weights(self) -> usize {
        self.spec().weights
    }

    /// Bytes of a block, with its scale.
    #[must_use]
    pub const fn bytes(self) -> usize {
        Share::Values.bytes(self) + Share::Scales.bytes(self)
    }

    /// Whether weights can be quantised to it.
    #[must_use]
    pub const fn is_made(self) -> bool {
        self.spec().maker.is_some()
    }

    /// What quantises weights to it, on the host; an error where nothing does.
    pub(crate) fn maker(self) -> Result<Maker> {
        let BlockSpec { name, maker, .. } = *self.spec();
        maker.ok_or_else(|| CarriageCause::NoMaker { name }.into())
    }

    /// The form whose parts have these dtypes and so many elements, or at least these dtypes.
    pub(crate) fn of(values: (DType, usize), scales: (DType, usize)) -> Option<Self> {
        let has = |spec: &&BlockSpec| (spec.values.0, spec.scales.0) == (values.0, scales.0);
        let fits = |spec: &&BlockSpec| {
            has(spec)
                && values.1.is_multiple_of(spec.values.1)
                && values.1 / spec.values.1 * spec.scales.1 == scales.1
        };
        let spec = SPECS.iter().find(fits).or_else(|| SPECS.iter().find(has));
        spec.map(|spec| spec.form)
    }

    /// Where the bits of 256 weights lie, of a form that has so many to a block.
    pub(crate) const fn planes(self) -> &'static [BitPlane] {
        self.spec().planes
    }
}

/// Weights in blocks are two tensors; this is which of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Share {
    /// What differs from weight to weight.
    Values,
    /// What a block has in common.
    Scales,
}

impl Share {
    pub(crate) const BOTH: [Self; 2] = [Self::Values, Self::Scales];

    /// The name of this part of a tensor.
    pub(crate) fn of(self, name: &str) -> String {
        format!("{name}.{}", if matches!(self, Self::Values) { "values" } else { "scales" })
    }

    const fn spec(self, form: Blocks) -> (DType, usize) {
        match self {
            Self::Values => form.spec().values,
            Self::Scales => form.spec().scales,
        }
    }

    pub(crate) const fn dtype(self, form: Blocks) -> DType {
        self.spec(form).0
    }

    /// Elements of it in a block.
    pub(crate) const fn each(self, form: Blocks) -> usize {
        self.spec(form).1
    }

    /// Bytes of it in a block.
    pub(crate) const fn bytes(self, form: Blocks) -> usize {
        self.each(form) * self.dtype(form).width()
    }

    /// Its shape for that of the weights, whose rows are whole blocks.
    pub(crate) fn shape(self, form: Blocks, weights: &Shape) -> Result<Shape> {
        let mut dims = weights.dims().to_vec();
        if let Some(last) = dims.last_mut() {
            *last = *last / form.weights() * self.each(form);
        }
        Shape::new(dims)
    }
}

/// Whether weights of a dtype and a shape can become blocks while they are staged, and who makes
/// them.
pub(crate) fn check(form: Blocks, dtype: DType, shape: &Shape) -> Result<Maker> {
    if !matches!(dtype, DType::F32 | DType::F16 | DType::Bf16) {
        return Err(CarriageCause::NoBlocks { dtype }.into());
    }
    match *shape.dims() {
        [_, k] if k % BLOCK == 0 => form.maker(),
        _ => Err(CarriageCause::NoRows { shape: *shape }.into()),
    }
}
