//! How one value becomes a float of another format: in one correctly rounded step, without a
//! branch.
//!
//! A source is widened, exactly, to f32 or f64 (its *wide* form) and from there rounded once, ties
//! to even. The rounding yields the target's bits and the value they stand for, in the wide form
//! again, so that a tally only compares that value with the source.
//!
//! Every function here is inlined into a loop that is compiled for several instruction sets. Hence
//! there are no calls and no early returns, and both sides of a choice are computed.

use core::ops::AddAssign;

use bytemuck::Pod;
use half::{bf16, f16};

use crate::dtype::{Element, f8e4m3, f8e5m2};

/// The bits every quiet f64 NaN has in common.
const QUIET_NAN: u64 = 0x7ff8 << 48;

/// A format that sources are widened to and errors are computed in.
pub(super) trait Wide: Copy + Default + PartialOrd {
    const INFINITY: Self;
    /// A bound that relative errors are compared with.
    type Bound: Copy;
    /// An integer as wide as the float.
    type Count: Copy + Default + AddAssign + From<bool> + Into<u64>;
    /// The largest value that is not above a bound that is not negative.
    fn below(bound: f64) -> Self;
    fn abs(self) -> Self;
    fn minus(self, other: Self) -> Self;
    fn to_f64(self) -> f64;
    /// Sign and payload of a NaN as those of an f64, quiet.
    fn nan(self) -> u64;
    /// Whether `error / |self|`, rounded to f64, is larger than `bound`.
    fn exceeds(self, error: Self, bound: f64) -> bool;
    fn bound(bound: f64) -> Self::Bound;
    /// Like `exceeds`, in lanes of this width: never misses, but may take a tie for larger. `fma`
    /// says whether there is an instruction for it.
    fn may_exceed(self, error: Self, bound: Self::Bound, fma: bool) -> bool;
    /// The nearest value of a format of 16 or 8 bits: its bits, and itself.
    fn round<T: Narrow>(self) -> (u16, Self);
}

/// A type to convert from.
pub(super) trait FromNumber: Element + Pod {
    type Wide: Wide;
    /// For sources that `Wide` cannot always hold: the value itself.
    const INTEGER: Option<fn(Self) -> i128> = None;
    /// Exact where `is_wide`.
    fn wide(self) -> Self::Wide;
    fn is_wide(self) -> bool;
}

/// A float to convert to.
pub(super) trait ToNumber<W>: Element + Pod {
    /// Whether it has infinities. Without them NaN is what an overflow yields.
    const INFINITIES: bool = true;
    /// The nearest value, and that value in the wide form. A NaN yields any value that is not zero.
    fn nearest(wide: W) -> (Self, W);
    /// The nearest value, and that value as f64.
    fn nearest_integer(value: i128) -> (Self, f64);
    /// The quiet NaN with sign and payload of this f64.
    fn nan(bits: u64) -> Self;
}

/// What tells one float of 16 or 8 bits from another.
pub(super) trait Narrow {
    const BITS: u32;
    const FRACTION: u32;
    const BIAS: u32;
    /// Whether the highest exponent is that of infinity and NaN. Without infinities it is one of
    /// numbers, and all ones is NaN.
    const INFINITIES: bool;
}

/// Implements `Wide` for f32 and f64: one text for two widths of bits.
macro_rules! wide {
    (
        $float:ident, $bits:ident, exceeds: $exceeds:expr,
        $bound_type:ty: $bound:expr, may_exceed: $may_exceed:expr
    ) => {
        impl Wide for $float {
            const INFINITY: Self = $float::INFINITY;
            type Bound = $bound_type;
            type Count = $bits;

            fn below(bound: f64) -> Self {
                let near = bound as Self;
                if f64::from(near) > bound { near.next_down() } else { near }
            }

            #[inline(always)]
            fn abs(self) -> Self {
                $float::abs(self)
            }

            #[inline(always)]
            fn minus(self, other: Self) -> Self {
                self - other
            }

            #[inline(always)]
            fn to_f64(self) -> f64 {
                self.into()
            }

            fn bound(bound: f64) -> $bound_type {
                let split: fn(f64) -> $bound_type = $bound;
                split(bound)
            }

            #[inline(always)]
            fn may_exceed(self, error: Self, bound: $bound_type, fma: bool) -> bool {
                let test: fn(Self, Self, $bound_type, bool) -> bool = $may_exceed;
                test(error, self.abs(), bound, fma)
            }

            #[inline(always)]
            fn exceeds(self, error: Self, bound: f64) -> bool {
                let test: fn(f64, f64, f64) -> bool = $exceeds;
                test(error.into(), self.abs().into(), bound)
            }

            #[inline(always)]
            fn nan(self) -> u64 {
                let bits = u64::from(self.to_bits());
                let sign = bits >> ($bits::BITS - 1) << 63;
                let payload = bits << (65 - $float::MANTISSA_DIGITS) >> 12;
                sign | QUIET_NAN | payload
            }

            #[inline(always)]
            fn round<T: Narrow>(self) -> (u16, Self) {
                const FRACTION: u32 = $float::MANTISSA_DIGITS - 1;
                const BIAS: $bits = $float::MAX_EXP as $bits - 1;
                const SIGN: $bits = 1 << ($bits::BITS - 1);
                let bias = T::BIAS as $bits;
                let shift = FRACTION - T::FRACTION;
                let sign = self.to_bits() & SIGN;
                let magnitude = self.to_bits() & !SIGN;

                let (code, back) = if BIAS == bias {
                    // Add just under half a unit of the last kept place, a whole half if that
                    // place is odd. The carry runs into the exponent, as it should, and may make
                    // an infinity.
                    let half_ulp: $bits = 1 << (shift - 1);
                    let odd = (magnitude >> shift) & 1;
                    let sum = magnitude + (half_ulp - 1) + odd;
                    // A NaN would carry into the sign.
                    let nan = magnitude > <$float>::INFINITY.to_bits();
                    let sum = if nan { <$float>::INFINITY.to_bits() } else { sum };
                    (sum >> shift, sum & !(2 * half_ulp - 1))
                } else {
                    // Adding a number whose last place is the last kept one makes the hardware
                    // round to that place. The least exponent is that of subnormal results. From
                    // the power of two above the largest value on all becomes infinity, NaNs too;
                    // where there is none, NaN is in place of the largest number below that power.
                    let more: $bits = if T::INFINITIES { 0 } else { 1 };
                    let least = <$float>::from_bits((BIAS - bias + 1) << FRACTION);
                    let over = <$float>::from_bits((BIAS + bias + 1 + more) << FRACTION);
                    let last = over - over * ((2 << T::FRACTION) as $float).recip();
                    let (end, beyond) = match T::INFINITIES {
                        true => (over, <$float>::INFINITY),
                        false => (last, <$float>::NAN),
                    };
                    let value = <$float>::from_bits(magnitude);
                    let value = if value < over { value } else { over };
                    let power = <$float>::from_bits(value.to_bits() >> FRACTION << FRACTION);
                    let power = if power > least { power } else { least }.to_bits();
                    let anchor = power + ((shift as $bits) << FRACTION);
                    let sum = value + <$float>::from_bits(anchor);
                    let back = sum - <$float>::from_bits(anchor);
                    let back = if back < end { back } else { beyond };
                    // Units of the last kept place, the implied one included.
                    let units = sum.to_bits() - anchor;
                    let exponent = (power - least.to_bits()) >> shift;
                    let code = exponent + units;
                    let ones = (1 << (T::BITS - 1)) - 1;
                    let code = if T::INFINITIES || code < ones { code } else { ones };
                    (code, back.to_bits())
                };

                let code = code as u16 | (sign >> ($bits::BITS - T::BITS)) as u16;
                (code, <$float>::from_bits(back | sign))
            }
        }
    };
}

/// A bound for errors of f32 as a sum of parts. For values below `tiny` the sum is not exact.
#[derive(Clone, Copy, Debug)]
pub(super) struct Split {
    high: f32,
    low: f32,
    /// What is left of the bound, and half of the distance to the next larger quotient.
    rest: f32,
    tiny: f32,
}

impl Split {
    fn new(bound: f64) -> Self {
        // No relative error is above 1, because zero is a value of every target. Answering here
        // avoids ties at 1 where values are flushed.
        if bound >= 1.0 {
            return Self { high: f32::INFINITY, low: 0.0, rest: 0.0, tiny: 0.0 };
        }
        let high = bound as f32;
        let low = (bound - f64::from(high)) as f32;
        let rest = bound - f64::from(high) - f64::from(low) + bound * HALF_APART;
        Self { high, low, rest: rest as f32, tiny: f32::from_bits((127 - 60) << 23) }
    }
}

/// Quotients of f32 that differ do so by more than `2^-48` of themselves.
const HALF_APART: f64 = 1.0 / (1u64 << 50) as f64;

// Rounding is monotonic: an error above the bound never falls below the rounded product, and in f64
// no tie is taken for larger.
wide!(f32, u32,
exceeds: |error, of, bound| error > bound * (1.0 + HALF_APART) * of,
Split: Split::new,
may_exceed: |error, of, bound, fma| if fma {
    // Near a tie both differences are exact: 24 bits hold what is left of the 48 of a product.
    let above = bound.low.mul_add(-of, bound.high.mul_add(-of, error));
    (above > bound.rest * of) | ((of < bound.tiny) & (error > 0.0))
} else {
    error >= bound.high * (1.0 - f32::EPSILON) * of
});
// In f64 the division costs no time beside the other work of its loop, and it is exact about ties.
wide!(f64, u64,
    exceeds: |error, of, bound| error / of > bound,
    f64: |bound| if bound < 1.0 { bound } else { Self::INFINITY },
    may_exceed: |error, of, bound, _| error / of > bound);

/// The wide form of each source, and how it is made.
macro_rules! sources {
    ($($ty:ident => $wide:ident by $widen:expr $(, unless $integer:expr, $is_wide:expr)?;)*) => {$(
        impl FromNumber for $ty {
            type Wide = $wide;
            $(const INTEGER: Option<fn(Self) -> i128> = Some($integer);)?

            #[inline(always)]
            fn wide(self) -> $wide {
                let widen: fn(Self) -> $wide = $widen;
                widen(self)
            }

            #[inline(always)]
            fn is_wide(self) -> bool {
                $(let is_wide: fn(Self) -> bool = $is_wide; if !is_wide(self) { return false; })?
                true
            }
        }
    )*};
}

/// Every integer up to this magnitude is an f64.
const WIDE_MAX: u64 = 1 << f64::MANTISSA_DIGITS;

sources! {
    f64 => f64 by |v| v;
    f32 => f32 by |v| v;
    f16 => f32 by widen_f16;
    bf16 => f32 by |v| f32::from_bits(u32::from(v.to_bits()) << 16);
    f8e4m3 => f32 by |v| widen_eight::<f8e4m3>(v.to_bits());
    f8e5m2 => f32 by |v| widen_eight::<f8e5m2>(v.to_bits());
    i8 => f32 by f32::from;
    u8 => f32 by f32::from;
    i16 => f32 by f32::from;
    u16 => f32 by f32::from;
    i32 => f64 by f64::from;
    u32 => f64 by f64::from;
    i64 => f64 by |v| v as f64, unless i128::from, |v| v.unsigned_abs() <= WIDE_MAX;
    u64 => f64 by |v| v as f64, unless i128::from, |v| v <= WIDE_MAX;
}

/// Does what `f16::to_f32` does, but in lanes and without a call. Signalling NaNs stay signalling.
#[inline(always)]
fn widen_f16(v: f16) -> f32 {
    let bits = u32::from(v.to_bits());
    let magnitude = (bits & 0x7fff) << 13;
    // The exponent is too small by the difference of the biases, 112. Multiplying corrects
    // subnormals as well.
    let finite = (f32::from_bits(magnitude) * f32::from_bits((127 + 112) << 23)).to_bits();
    let special = if magnitude >= 0x7c00 << 13 { 0x7f80_0000 } else { 0 };
    f32::from_bits(finite | special | (bits & 0x8000) << 16)
}

/// Like `widen_f16`, but of a float of 8 bits.
#[inline(always)]
fn widen_eight<T: Narrow>(code: u8) -> f32 {
    let bits = u32::from(code);
    let magnitude = (bits & 0x7f) << (23 - T::FRACTION);
    let scale = f32::from_bits((254 - T::BIAS) << 23);
    let finite = (f32::from_bits(magnitude) * scale).to_bits();
    let special = match T::INFINITIES {
        true if bits & 0x7f >= 0x7f >> T::FRACTION << T::FRACTION => 0x7f80_0000,
        false if bits & 0x7f == 0x7f => 0x7fc0_0000,
        _ => 0,
    };
    // All ones have no payload where they are the only NaN.
    let finite = if T::INFINITIES || special == 0 { finite } else { 0 };
    f32::from_bits(finite | special | (bits & 0x80) << 24)
}

/// The floats of 16 and 8 bits, by their bits of fraction, the bias of their exponent, and whether
/// they have infinities.
macro_rules! narrow {
    ($($narrow:ident of $bits:ident: $fraction:expr, $bias:expr, $infinities:expr;)*) => {$(
        impl Narrow for $narrow {
            const BITS: u32 = $bits::BITS;
            const FRACTION: u32 = $fraction;
            const BIAS: u32 = $bias;
            const INFINITIES: bool = $infinities;
        }

        impl<W: Wide> ToNumber<W> for $narrow {
            const INFINITIES: bool = $infinities;

            #[inline(always)]
            fn nearest(wide: W) -> (Self, W) {
                let (bits, back) = wide.round::<Self>();
                (Self::from_bits(bits as $bits), back)
            }

            fn nearest_integer(value: i128) -> (Self, f64) {
                Self::nearest(sticky(value))
            }

            fn nan(bits: u64) -> Self {
                Self::from_bits(narrow_nan::<Self>(bits) as $bits)
            }
        }
    )*};
}

narrow! {
    f16 of u16: 10, 15, true;
    bf16 of u16: 7, 127, true;
    f8e4m3 of u8: 3, 7, false;
    f8e5m2 of u8: 2, 15, true;
}

impl ToNumber<f64> for f32 {
    #[inline(always)]
    fn nearest(wide: f64) -> (Self, f64) {
        let value = wide as Self;
        (value, value.into())
    }

    fn nearest_integer(value: i128) -> (Self, f64) {
        (value as Self, (value as Self).into())
    }

    fn nan(bits: u64) -> Self {
        f32_nan(bits)
    }
}

impl ToNumber<Self> for f32 {
    #[inline(always)]
    fn nearest(wide: Self) -> (Self, Self) {
        (wide, wide)
    }

    fn nearest_integer(value: i128) -> (Self, f64) {
        <Self as ToNumber<f64>>::nearest_integer(value)
    }

    fn nan(bits: u64) -> Self {
        f32_nan(bits)
    }
}

impl<W: Wide> ToNumber<W> for f64 {
    #[inline(always)]
    fn nearest(wide: W) -> (Self, W) {
        (wide.to_f64(), wide)
    }

    fn nearest_integer(value: i128) -> (Self, f64) {
        (value as Self, value as Self)
    }

    fn nan(bits: u64) -> Self {
        Self::from_bits(bits)
    }
}

/// An f64 that rounds to a float of 16 or 8 bits as the integer would. Bits that do not fit set the
/// last place (a sticky bit), far below the last place of any target.
fn sticky(value: i128) -> f64 {
    let magnitude = value.unsigned_abs();
    let dropped = (u128::BITS - magnitude.leading_zeros()).saturating_sub(f64::MANTISSA_DIGITS);
    let kept = magnitude >> dropped;
    let trace = u128::from(kept << dropped != magnitude);
    let magnitude = ((kept | trace) << dropped) as f64;
    if value < 0 { -magnitude } else { magnitude }
}

fn f32_nan(bits: u64) -> f32 {
    f32::from_bits((bits >> 63 << 31 | 0x7f80_0000 | bits << 12 >> 41) as u32)
}

fn narrow_nan<T: Narrow>(bits: u64) -> u16 {
    let payload = bits << 12 >> (64 - T::FRACTION);
    let ones = (1 << (T::BITS - 1)) - 1;
    let magnitude = u64::from(2 * T::BIAS + 1) << T::FRACTION | payload;
    let magnitude = if T::INFINITIES { magnitude } else { ones };
    (bits >> 63 << (T::BITS - 1) | magnitude) as u16
}

#[inline(always)]
#[expect(clippy::eq_op, reason = "only a NaN differs from itself")]
pub(super) fn is_nan<W: Wide>(wide: W) -> bool {
    wide != wide
}
