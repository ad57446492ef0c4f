//! Weights in blocks that share a scale: their forms, what a block of each is made of, and what
//! quantizing did to weights.
//!
//! ```text
//!         weights   values          scales
//! q8         32     32 of i8        f16                             ggml's Q8_0
//! q4         32     16 of u8        f16                             ggml's Q4_0
//! q4_1       32     16 of u8        2 of f16                        ggml's Q4_1
//! q5         32     16 of u8        3 of u16, with the fifth bits   ggml's Q5_0
//! q5_1       32     16 of u8        2 words, with the fifth bits    ggml's Q5_1
//! q2_k      256     64 of u8        10 of u16, for 16 times 16      ggml's Q2_K
//! q3_k      256     96 of u8        7 of u16, for 16 times 16       ggml's Q3_K
//! q4_k      256    128 of u8        4 words, for 8 times 32         ggml's Q4_K
//! q5_k      256    160 of u8        4 words, for 8 times 32         ggml's Q5_K
//! q6_k      256    192 of u8        9 of u16, for 16 times 16       ggml's Q6_K
//! ```
//!
//! Kernels read sixteen bytes of values at once: four fifth bits to each would not let them.
//!
//! The contract of what is made here is that of [`Tensor::quantize`].
//!
//! [`Tensor::quantize`]: crate::Tensor::quantize

use core::fmt;
use core::str::FromStr;

use super::cause::CarriageCause;
use crate::dtype::DType;
use crate::error::{Error, Result};
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
    /// As [`Blocks::Q4`], with a minimum of f16 beside the scale: `value * scale + minimum`. ggml's
    /// `Q4_1`, which is read, not made; 5 bits a weight.
    Q4_1,
    /// As [`Blocks::Q4`], of 5 bits, of which the highest lie behind the scale:
    /// `(value - 16) * scale`. ggml's `Q5_0`, which is read, not made; 5.5 bits a weight.
    Q5,
    /// As [`Blocks::Q4_1`], of 5 bits, of which the highest lie behind the minimum. ggml's `Q5_1`;
    /// 6 bits a weight.
    Q5_1,
}

/// What quantizes the weights of a block.
pub(crate) type Maker = fn(&[f32; BLOCK]) -> WeightBlock;

/// What a block of a form is made of, and who makes it.
struct BlockSpec {
    form: Blocks,
    name: &'static str,
    weights: usize,
    /// The dtype of its values, where their bits lie - the lowest first -, and which of them is
    /// zero.
    values: DType,
    planes: &'static [BitPlane],
    zero: u32,
    scales: ScaleSpec,
    maker: Option<Maker>,
}

/// What weights of a block have in common.
#[derive(Clone, Copy)]
pub(crate) struct ScaleSpec {
    dtype: DType,
    /// Elements in front of the values, where ggml has both together, and behind them.
    pub(crate) around: [usize; 2],
    /// Scales of a block.
    pub(crate) parts: usize,
    /// Where factors of f16 lie, counted by these: one of scales, and if there are minima, one of
    /// those.
    pub(crate) factors: &'static [usize],
}

/// Where some bits of the weights of a block lie among its bytes. Of each `width` bytes in turn the
/// lowest `bits` are of the first `width` weights, the next ones of as many more, and so on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BitPlane {
    /// Among whose bytes, and from which on.
    pub(crate) of: Share,
    pub(crate) first: usize,
    pub(crate) width: usize,
    pub(crate) bits: usize,
}

impl BitPlane {
    const fn new(first: usize, width: usize, bits: usize) -> Self {
        Self { of: Share::Values, first, width, bits }
    }

    /// The fifth bits of 32 weights, behind so many bytes of what those have in common.
    const fn fifth(first: usize) -> Self {
        Self { of: Share::Scales, first, width: 1, bits: 1 }
    }

    /// Weights of which a byte has a part.
    pub(crate) const fn shifts(self) -> usize {
        8 / self.bits
    }

    /// Bytes of it in a block of so many weights.
    pub(crate) const fn bytes(self, weights: usize) -> usize {
        weights / self.shifts()
    }
}

/// Weights of a large block.
const SUPER: usize = 8 * BLOCK;

/// A scale, or a scale and a minimum.
const ONE: ScaleSpec = ScaleSpec { dtype: DType::F16, around: [1, 0], parts: 1, factors: &[0] };
const TWO: ScaleSpec = ScaleSpec { around: [2, 0], factors: &[0, 1], ..ONE };

/// Eight scales and minima of six bits.
const SIX_BITS: ScaleSpec =
    ScaleSpec { dtype: DType::U32, around: [4, 0], parts: 8, factors: &[0, 1] };

/// Scales of sixteen weights, as the forms of three and of six bits have them.
const SIXTEENTHS: ScaleSpec =
    ScaleSpec { dtype: DType::U16, around: [0, 9], parts: 16, factors: &[8] };

/// A form that is read.
const fn read(
    form: Blocks,
    name: &'static str,
    (planes, zero): (&'static [BitPlane], u32),
    scales: ScaleSpec,
) -> BlockSpec {
    let weights = if scales.parts == 1 { BLOCK } else { SUPER };
    BlockSpec { form, name, weights, values: DType::U8, planes, zero, scales, maker: None }
}

const NIBBLES: BitPlane = BitPlane::new(0, 16, 4);

/// In the order of the forms, so that a form is the place of its own.
const SPECS: [BlockSpec; Blocks::ALL.len()] = [
    BlockSpec {
        values: DType::I8,
        maker: Some(WeightBlock::of_eight_bits),
        ..read(Blocks::Q8, "q8", (&[BitPlane::new(0, 32, 8)], 0), ONE)
    },
    BlockSpec {
        maker: Some(WeightBlock::of_four_bits),
        ..read(Blocks::Q4, "q4", (&[NIBBLES], 8), ONE)
    },
    read(Blocks::Q4K, "q4_k", (&[BitPlane::new(0, 32, 4)], 0), SIX_BITS),
    read(Blocks::Q5K, "q5_k", (&[BitPlane::new(32, 32, 4), BitPlane::new(0, 32, 1)], 0), SIX_BITS),
    read(
        Blocks::Q6K,
        "q6_k",
        (&[BitPlane::new(0, 64, 4), BitPlane::new(128, 32, 2)], 32),
        SIXTEENTHS,
    ),
    read(
        Blocks::Q3K,
        "q3_k",
        (&[BitPlane::new(32, 32, 2), BitPlane::new(0, 32, 1)], 4),
        ScaleSpec { around: [0, 7], factors: &[6], ..SIXTEENTHS },
    ),
    read(
        Blocks::Q2K,
        "q2_k",
        (&[BitPlane::new(0, 32, 2)], 0),
        ScaleSpec { around: [8, 2], factors: &[8, 9], ..SIXTEENTHS },
    ),
    read(Blocks::Q4_1, "q4_1", (&[NIBBLES], 0), TWO),
    read(
        Blocks::Q5,
        "q5",
        (&[NIBBLES, BitPlane::fifth(2)], 16),
        ScaleSpec { dtype: DType::U16, around: [3, 0], ..ONE },
    ),
    read(
        Blocks::Q5_1,
        "q5_1",
        (&[NIBBLES, BitPlane::fifth(4)], 0),
        ScaleSpec { dtype: DType::U32, ..TWO },
    ),
];

const _: () = {
    let mut place = 0;
    while place != SPECS.len() {
        assert!(SPECS[place].form as usize == place, "another form's place");
        place += 1;
    }
};

impl fmt::Display for Blocks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// By its name, as [`Blocks::name`] has it; else the error has all names.
impl FromStr for Blocks {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let unknown = || Error::unknown("form of blocks", name, Self::ALL.iter().map(|b| b.name()));
        Self::named(name).ok_or_else(unknown)
    }
}

impl Blocks {
    /// Every form.
    pub const ALL: &[Self] = &[
        Self::Q8,
        Self::Q4,
        Self::Q4K,
        Self::Q5K,
        Self::Q6K,
        Self::Q3K,
        Self::Q2K,
        Self::Q4_1,
        Self::Q5,
        Self::Q5_1,
    ];

    const fn spec(self) -> &'static BlockSpec {
        &SPECS[self as usize]
    }

    /// Its name: `q8`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.spec().name
    }

    /// The form of a name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|form| form.name() == name)
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

    /// Whether weights can be quantized to it.
    #[must_use]
    pub const fn is_made(self) -> bool {
        self.spec().maker.is_some()
    }

    /// What quantizes weights to it, on the host; an error where nothing does.
    pub(crate) fn maker(self) -> Result<Maker> {
        let BlockSpec { name, maker, .. } = *self.spec();
        maker.ok_or_else(|| CarriageCause::NoMaker { name }.into())
    }

    /// The form whose parts have these dtypes and so many elements, or at least these dtypes.
    pub(crate) fn of(values: (DType, usize), scales: (DType, usize)) -> Option<Self> {
        let has = |form: &Self| Share::BOTH.map(|share| share.dtype(*form)) == [values.0, scales.0];
        let fits = |form: &Self| {
            let [own, beside] = Share::BOTH.map(|share| share.each(*form));
            has(form) && values.1.is_multiple_of(own) && values.1 / own * beside == scales.1
        };
        Self::ALL.iter().copied().find(fits).or_else(|| Self::ALL.iter().copied().find(has))
    }

    /// Where the bits of its values lie, the lowest first.
    pub(crate) const fn planes(self) -> &'static [BitPlane] {
        self.spec().planes
    }

    /// The value that is zero.
    pub(crate) const fn zero(self) -> u32 {
        self.spec().zero
    }

    /// What weights of a block have in common.
    pub(crate) const fn common(self) -> ScaleSpec {
        self.spec().scales
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

    pub(crate) const fn dtype(self, form: Blocks) -> DType {
        match self {
            Self::Values => form.spec().values,
            Self::Scales => form.common().dtype,
        }
    }

    /// Elements of it in a block.
    pub(crate) const fn each(self, form: Blocks) -> usize {
        match self {
            Self::Values => {
                let (mut bytes, mut plane) = (0, 0);
                while plane < form.planes().len() {
                    let own = form.planes()[plane];
                    if matches!(own.of, Self::Values) {
                        bytes += own.bytes(form.weights());
                    }
                    plane += 1;
                }
                bytes
            }
            Self::Scales => form.common().around[0] + form.common().around[1],
        }
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
