//! Floats of eight bits, as the Open Compute Project has them: elements of a tensor on the host.
//!
//! One rule for what is out of range: it becomes what an overflow is in the format, infinity in
//! [`f8e5m2`] and NaN in [`f8e4m3`], which has no infinity. So do PyTorch and `ml_dtypes`. Whoever
//! wants the largest number instead says so: `from_f32_saturating`, `Tensor::cast_saturating`.

use core::cmp::Ordering;
use core::fmt;

/// What tells one format from the other.
struct Eight {
    /// Bits of the fraction.
    fraction: u32,
    /// What is added to an exponent.
    bias: i32,
    /// The code of the largest number.
    largest: u8,
    /// The code of what is beyond it.
    beyond: u8,
    /// A quiet NaN without payload.
    nan: u8,
}

const E4M3: Eight = Eight { fraction: 3, bias: 7, largest: 0x7e, beyond: 0x7f, nan: 0x7f };
const E5M2: Eight = Eight { fraction: 2, bias: 15, largest: 0x7b, beyond: 0x7c, nan: 0x7e };

impl Eight {
    /// The code of the nearest number, ties to even.
    fn encode(&self, x: f64) -> u8 {
        let sign = ((x.to_bits() >> 56) & 0x80) as u8;
        if x.is_nan() {
            // The highest bits of the payload, as a cast on the device has it.
            let payload = (x.to_bits() << 12 >> (64 - self.fraction)) as u8;
            return sign | self.nan | payload;
        }
        if x.is_infinite() {
            return sign | self.beyond;
        }
        let lowest = 1 - self.bias;
        let exponent = (((x.to_bits() >> 52) & 0x7ff) as i32 - 1023).max(lowest);
        // Scaling by a power of two is exact, and so is the number of units.
        let units = (x.abs() * power(self.fraction as i32 - exponent)).round_ties_even();
        let code = (((exponent - lowest) as u32) << self.fraction) + units as u32;
        sign | code.min(self.beyond.into()) as u8
    }

    /// Like `encode`, but numbers beyond the range, infinities too, become the largest.
    fn saturated(&self, x: f64) -> u8 {
        let code = self.encode(x);
        if !x.is_nan() && code & 0x7f >= self.beyond { code & 0x80 | self.largest } else { code }
    }

    const fn decode(&self, code: u8) -> f32 {
        let sign = (code as u32 & 0x80) << 24;
        let magnitude = code as u32 & 0x7f;
        let moved = magnitude << (23 - self.fraction);
        let bits = if magnitude > self.largest as u32 {
            // Infinity has no fraction, and NaN the payload that it came with.
            let special = (magnitude << (23 - self.fraction)) & 0x7f_ffff;
            0x7f80_0000 | if self.beyond == self.nan { 0x40_0000 } else { special }
        } else if magnitude >> self.fraction == 0 {
            let step = 127 - (self.bias - 1) as u32 - self.fraction;
            (magnitude as f32 * f32::from_bits(step << 23)).to_bits()
        } else {
            moved + ((127 - self.bias as u32) << 23)
        };
        f32::from_bits(sign | bits)
    }
}

/// 2^n, for the exponents of normal numbers.
fn power(n: i32) -> f64 {
    f64::from_bits(((n.clamp(-1022, 1023) + 1023) as u64) << 52)
}

macro_rules! eights {
    ($(
        $(#[$doc:meta])*
        $name:ident $format:ident, one $one:literal $(, infinity $infinity:literal)?;
    )*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Default, bytemuck::Zeroable, bytemuck::Pod)]
        #[repr(transparent)]
        #[expect(non_camel_case_types, reason = "spelled as f16 and f32 are")]
        pub struct $name(u8);

        impl $name {
            /// 1.
            pub const ONE: Self = Self($one);
            /// The largest number.
            pub const MAX: Self = Self($format.largest);
            /// The smallest number above zero.
            pub const MIN_POSITIVE_SUBNORMAL: Self = Self(1);
            /// Not a number, quiet.
            pub const NAN: Self = Self($format.nan);
            $(
                /// Infinity.
                pub const INFINITY: Self = Self($infinity);
            )?

            /// The element with these bits.
            #[must_use]
            pub const fn from_bits(bits: u8) -> Self {
                Self(bits)
            }

            /// Its bits.
            #[must_use]
            pub const fn to_bits(self) -> u8 {
                self.0
            }

            /// The nearest element, ties to even; beyond the range as a cast on the device.
            #[must_use]
            pub fn from_f32(x: f32) -> Self {
                Self($format.encode(x.into()))
            }

            /// The nearest element, ties to even; beyond the range as a cast on the device.
            #[must_use]
            pub fn from_f64(x: f64) -> Self {
                Self($format.encode(x))
            }

            /// The nearest element, ties to even; numbers beyond the range, infinities too, become
            /// the largest, and NaN stays NaN.
            #[must_use]
            pub fn from_f32_saturating(x: f32) -> Self {
                Self($format.saturated(x.into()))
            }

            /// Its value: every one is an f32.
            #[must_use]
            pub const fn to_f32(self) -> f32 {
                $format.decode(self.0)
            }

            /// Its value.
            #[must_use]
            pub const fn to_f64(self) -> f64 {
                self.to_f32() as f64
            }

            /// Whether it is not a number.
            #[must_use]
            pub const fn is_nan(self) -> bool {
                self.to_f32().is_nan()
            }

            /// Whether it is a number, and not infinite.
            #[must_use]
            pub const fn is_finite(self) -> bool {
                self.to_f32().is_finite()
            }
        }

        impl PartialEq for $name {
            fn eq(&self, other: &Self) -> bool {
                self.to_f32() == other.to_f32()
            }
        }

        impl PartialOrd for $name {
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                self.to_f32().partial_cmp(&other.to_f32())
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.to_f32(), f)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.to_f32(), f)
            }
        }

        impl From<$name> for f32 {
            fn from(x: $name) -> Self {
                x.to_f32()
            }
        }

        impl From<$name> for f64 {
            fn from(x: $name) -> Self {
                x.to_f64()
            }
        }
    )*};
}

eights! {
    /// An element of [`DType::F8E4M3`](crate::DType::F8E4M3): OCP's E4M3, PyTorch's
    /// `float8_e4m3fn`. Numbers up to 448; no infinity; NaN is all ones.
    ///
    /// ```
    /// use wharf::dtype::f8e4m3;
    ///
    /// assert_eq!(f8e4m3::from_f32(0.3).to_f32(), 0.3125);
    /// assert!(f8e4m3::from_f32(1000.0).is_nan());
    /// assert_eq!(f8e4m3::from_f32_saturating(1000.0), f8e4m3::MAX);
    /// ```
    f8e4m3 E4M3, one 0x38;
    /// An element of [`DType::F8E5M2`](crate::DType::F8E5M2): OCP's E5M2, PyTorch's `float8_e5m2`,
    /// the upper half of an f16. Numbers up to 57344, infinities and NaN.
    ///
    /// ```
    /// use wharf::dtype::f8e5m2;
    ///
    /// assert_eq!(f8e5m2::from_f32(0.3).to_f32(), 0.3125);
    /// assert_eq!(f8e5m2::from_f32(1e6), f8e5m2::INFINITY);
    /// assert_eq!(f8e5m2::from_f32_saturating(1e6), f8e5m2::MAX);
    /// ```
    f8e5m2 E5M2, one 0x3c, infinity 0x7c;
}
