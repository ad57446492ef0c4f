//! Weights in blocks that share a scale: their forms, what a block of each is made of, and what
//! quantising did to weights.
//!
//! ```text
//!         weights   values          scales
//! q8         32     32 of i8        f16                        ggml's Q8_0
//! q4         32     16 of u8        f16                        ggml's Q4_0
//! q4_k      256    128 of u8        4 words, for 8 times 32    ggml's Q4_K
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
    },
    BlockSpec {
        form: Blocks::Q4,
        name: "q4",
        weights: BLOCK,
        values: (DType::U8, BLOCK / 2),
        scales: (DType::F16, 1),
        maker: Some(WeightBlock::of_four_bits),
    },
    BlockSpec {
        form: Blocks::Q4K,
        name: "q4_k",
        weights: 8 * BLOCK,
        values: (DType::U8, 4 * BLOCK),
        scales: (DType::U32, 4),
        maker: None,
    },
];

impl Blocks {
    /// Every form.
    pub const ALL: [Self; 3] = [Self::Q8, Self::Q4, Self::Q4K];

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

    /// The form whose parts have these dtypes.
    pub(crate) fn of(values: DType, scales: DType) -> Option<Self> {
        let has = |spec: &&BlockSpec| (spec.values.0, spec.scales.0) == (values, scales);
        SPECS.iter().find(has).map(|spec| spec.form)
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
