//! The functions of f64 to twice its digits, rounded once: the oracle of f64, which the platform's
//! own functions are too coarse for, and unlike from platform to platform.
//!
//! A number is the sum of two f64, the second below half a unit of the first. Everything is made of
//! exact sums and products, series and a step of Newton's.

use core::ops::{Add, Div, Mul, Neg, Sub};

use crate::op::Op;

/// A sum of two.
#[derive(Clone, Copy, Debug)]
struct Twice(f64, f64);

/// Where a series ends: less than this of the sum is left.
const REST: f64 = 1e-34;

const LN_2: Twice = Twice(core::f64::consts::LN_2, 2.319_046_813_846_299_6e-17);
const LN_10: Twice = Twice(core::f64::consts::LN_10, -2.170_756_223_382_249_4e-16);
const HALF_PI: Twice = Twice(core::f64::consts::FRAC_PI_2, 6.123_233_995_736_766e-17);
/// What is missing of it there.
const HALF_PI_REST: f64 = -1.497_384_904_859_169_8e-33;
const ERF: Twice = Twice(core::f64::consts::FRAC_2_SQRT_PI, 1.533_545_961_316_588e-17);
const ROOT_2: Twice = Twice(core::f64::consts::SQRT_2, -9.667_293_313_452_913e-17);

impl Twice {
    /// A sum, exactly.
    fn sum(a: f64, b: f64) -> Self {
        let s = a + b;
        let t = s - a;
        Self(s, (a - (s - t)) + (b - t))
    }

    /// A product, exactly.
    fn product(a: f64, b: f64) -> Self {
        let p = a * b;
        if p.is_finite() { Self(p, a.mul_add(b, -p)) } else { Self(p, 0.0) }
    }

    /// Of two parts that may overlap.
    fn of(a: f64, b: f64) -> Self {
        if a.is_finite() { Self::sum(a, b) } else { Self(a, 0.0) }
    }

    fn value(self) -> f64 {
        self.0 + self.1
    }

    fn abs(self) -> Self {
        if self.0 < 0.0 { -self } else { self }
    }

    /// By a power of two.
    fn scaled(self, n: i32) -> Self {
        let half = 2f64.powi(n / 2);
        let rest = 2f64.powi(n - n / 2);
        // In two steps, so that only the result may leave the range.
        Self(self.0 * half * rest, self.1 * half * rest)
    }

    fn sqrt(self) -> Self {
        let y = self.0.sqrt();
        if y == 0.0 || !y.is_finite() {
            return Self(y, 0.0);
        }
        let rest = self - Self::product(y, y);
        Self::of(y, rest.0 / (2.0 * y))
    }

    /// e^x - 1 for |x| <= 1/2.
    fn expm1_near(self) -> Self {
        let (mut term, mut sum) = (self, self);
        let mut n = 2.0;
        while term.0.abs() > REST * sum.0.abs() {
            term = term * self / n;
            sum = sum + term;
            n += 1.0;
        }
        sum
    }

    fn exp(self) -> Self {
        if self.0.is_nan() || self.0 > 720.0 || self.0 < -800.0 {
            return Self(self.0.exp(), 0.0);
        }
        let n = (self.0 / LN_2.0).round();
        ((self - LN_2 * n).expm1_near() + 1.0).scaled(n as i32)
    }

    fn expm1(self) -> Self {
        if self.0.abs() < 0.5 { self.expm1_near() } else { self.exp() + -1.0 }
    }

    /// 2 atanh(t / (2 + t)), for |t| < 1/2.
    fn ln_1p_near(self) -> Self {
        let s = self / (self + 2.0);
        let (square, mut power, mut sum) = (s * s, s, s);
        let mut n = 3.0;
        while power.0.abs() > REST * sum.0.abs() {
            power = power * square;
            sum = sum + power / n;
            n += 2.0;
        }
        sum * 2.0
    }

    /// x = 2^e (1 + t).
    fn parts(self) -> (f64, Self) {
        let up = if self.0 < f64::MIN_POSITIVE { 64 } else { 0 };
        let bits = (self.0 * 2f64.powi(up)).to_bits() >> 52;
        let e = bits as i32 - 1022 - up;
        let m = self.scaled(up).scaled(-e - up);
        let (m, e) =
            if m.0 < core::f64::consts::FRAC_1_SQRT_2 { (m.scaled(1), e - 1) } else { (m, e) };
        (e.into(), m + -1.0)
    }

    fn ln(self) -> Self {
        if self.0 <= 0.0 || !self.0.is_finite() {
            return Self(self.0.ln(), 0.0);
        }
        let (e, t) = self.parts();
        t.ln_1p_near() + LN_2 * e
    }

    fn ln_1p(self) -> Self {
        if self.0.abs() < 0.4 { self.ln_1p_near() } else { (self + 1.0).ln() }
    }

    /// The sine, the cosine, and of which quarter turn they are.
    fn turned(self) -> (Self, Self, i64) {
        let n = (self.0 / HALF_PI.0).round();
        let part = Self::product(n, HALF_PI.0);
        let near = (self - part) - Self::product(n, HALF_PI.1);
        let r = near - Self(n * HALF_PI_REST, 0.0);
        let square = r * r;
        let series = |first: Self, from: f64| {
            let (mut term, mut sum, mut n) = (first, first, from);
            while term.0.abs() > REST * sum.0.abs() {
                term = -(term * square / (n * (n + 1.0)));
                sum = sum + term;
                n += 2.0;
            }
            sum
        };
        (series(r, 2.0), series(Self(1.0, 0.0), 1.0), n as i64)
    }

    /// n quarter turns on.
    fn sin(self, on: i64) -> Self {
        if !self.0.is_finite() {
            return Self(f64::NAN, 0.0);
        }
        let (sin, cos, n) = self.turned();
        match (n + on).rem_euclid(4) {
            0 => sin,
            1 => cos,
            2 => -sin,
            _ => -cos,
        }
    }

    /// A step of Newton's from what the platform has.
    fn atan(self) -> Self {
        if self.0.abs() > 1e40 {
            let turn = if self.0 < 0.0 { -HALF_PI } else { HALF_PI };
            return turn - Self(1.0, 0.0) / self;
        }
        let y = Self(self.0.atan(), 0.0);
        let (sin, cos) = (y.sin(0), y.sin(1));
        y + (self * cos - sin) / (cos + self * sin)
    }

    /// All terms of one sign.
    fn erf_near(self) -> Self {
        let (square, mut term, mut sum) = (self * self, self, self);
        let mut n = 1.0;
        while term.0.abs() > REST * sum.0.abs() {
            term = term * square * 2.0 / (2.0 * n + 1.0);
            sum = sum + term;
            n += 1.0;
        }
        ERF * (-square).exp() * sum
    }

    /// By the series, or Legendre's continued fraction from its far end.
    fn erfc(self) -> Self {
        if self.0.is_nan() || self.0 < -7.0 || self.0 > 28.0 {
            return Self(if self.0 < 0.0 { 2.0 } else { 0.0 * self.0 }, 0.0);
        }
        if self.0 < 4.0 {
            return -self.erf_near() + 1.0;
        }
        let one = Self(1.0, 0.0);
        let q = one / (self * self * 2.0);
        let tail = (1..=300).rev().fold(one, |f, k| q * f64::from(k) / f + 1.0);
        ERF * (-(self * self)).exp() / (self * 2.0) / tail
    }

    fn erf(self) -> Self {
        if self.0.abs() < 4.0 {
            return self.erf_near();
        }
        let near = -self.abs().erfc() + 1.0;
        if self.0 < 0.0 { -near } else { near }
    }
}

impl Neg for Twice {
    type Output = Self;
    fn neg(self) -> Self {
        Self(-self.0, -self.1)
    }
}

impl Add for Twice {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        let (high, low) = (Self::sum(self.0, other.0), Self::sum(self.1, other.1));
        let near = Self::of(high.0, high.1 + low.0);
        Self::of(near.0, near.1 + low.1)
    }
}

impl Add<f64> for Twice {
    type Output = Self;
    fn add(self, other: f64) -> Self {
        self + Self(other, 0.0)
    }
}

impl Sub for Twice {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Mul for Twice {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        let p = Self::product(self.0, other.0);
        Self::of(p.0, p.1 + (self.0 * other.1 + self.1 * other.0))
    }
}

impl Mul<f64> for Twice {
    type Output = Self;
    fn mul(self, other: f64) -> Self {
        self * Self(other, 0.0)
    }
}

impl Div for Twice {
    type Output = Self;
    fn div(self, other: Self) -> Self {
        let first = self.0 / other.0;
        if !first.is_finite() || other.0.is_infinite() || first == 0.0 {
            return Self(first, 0.0);
        }
        let rest = self - other * first;
        let second = rest.0 / other.0;
        let rest = rest - other * second;
        Self::of(first, second) + rest.0 / other.0
    }
}

impl Div<f64> for Twice {
    type Output = Self;
    fn div(self, other: f64) -> Self {
        self / Self(other, 0.0)
    }
}

/// A function of one number; `None` where f64 has it exactly, or nearly so.
pub(super) fn unary(op: Op, x: f64) -> Option<f64> {
    if !x.is_finite() || x == 0.0 {
        return None;
    }
    let (one, two) = (Twice(1.0, 0.0), Twice(x, 0.0));
    let a = two.abs();
    // e^-|x| and e^x, neither of which overflows where it counts.
    let falling = || (-a).exp();
    let sigmoid = |x: Twice| {
        let e = (-x.abs()).exp();
        if x.0 < 0.0 { e / (e + 1.0) } else { one / (e + 1.0) }
    };
    let y = match op {
        // On the way it would be subnormal.
        _ if x.abs() < 1e-100 && is_itself(op) => two,
        Op::Cbrt => {
            // By a cube that stays in range.
            let near = x.cbrt();
            let square = Twice::product(near, near);
            Twice::of(near, ((two / square - Twice(near, 0.0)) / 3.0).0)
        }
        Op::Rsqrt => one / two.sqrt(),
        Op::Exp => two.exp(),
        Op::Exp2 if x.abs() < 1022.0 => (LN_2 * (x - x.round())).exp().scaled(x.round() as i32),
        Op::Expm1 => two.expm1(),
        Op::Ln => two.ln(),
        Op::Log2 if x > 0.0 => {
            let (e, t) = two.parts();
            t.ln_1p_near() / LN_2 + e
        }
        Op::Log10 => two.ln() / LN_10,
        Op::Log1p => two.ln_1p(),
        Op::Sin if x.abs() < 1e8 => two.sin(0),
        Op::Cos if x.abs() < 1e8 => two.sin(1),
        Op::Tan if x.abs() < 1e8 => two.sin(0) / two.sin(1),
        Op::Asin if x.abs() < 1.0 => (two / ((one - two) * (one + two)).sqrt()).atan(),
        Op::Acos if x.abs() < 1.0 => ((one - two) / (one + two)).sqrt().atan() * 2.0,
        Op::Atan => two.atan(),
        Op::Sinh | Op::Cosh | Op::Tanh | Op::Asinh | Op::Acosh | Op::Atanh => hyperbolic(op, two)?,
        Op::Erf => two.erf(),
        Op::Sigmoid => sigmoid(two),
        Op::Gelu => two * 0.5 * (-two / ROOT_2).erfc(),
        Op::GeluTanh if x.abs() < 100.0 => {
            let cubic = two * two * two * 0.044_715 + two;
            two * sigmoid(cubic * 2.0 * ERF / ROOT_2)
        }
        Op::Silu => two * sigmoid(two),
        Op::Softplus if x > 0.0 => falling().ln_1p() + x,
        Op::Softplus => falling().ln_1p(),
        Op::HardSwish if x.abs() < 3.0 => two * (two + 3.0) / 6.0,
        Op::HardSwish if x > 0.0 => two,
        Op::Mish if x < 100.0 => {
            let w = two.exp();
            let v = w * (w + 2.0);
            two * (v / (v + 2.0))
        }
        _ => return None,
    };
    Some(y.value())
}

/// Whether a function of tiny numbers is the number, to the last place.
const fn is_itself(op: Op) -> bool {
    matches!(op, Op::Sin | Op::Tan | Op::Asin | Op::Atan)
        || matches!(op, Op::Sinh | Op::Tanh | Op::Asinh | Op::Atanh | Op::Expm1 | Op::Log1p)
}

fn hyperbolic(op: Op, two: Twice) -> Option<Twice> {
    let (x, one, a) = (two.0, Twice(1.0, 0.0), two.abs());
    let odd = |y: Twice| if x < 0.0 { -y } else { y };
    Some(match op {
        Op::Sinh if x.abs() < 1.0 => {
            let m = two.expm1();
            (m + m / (m + 1.0)) * 0.5
        }
        Op::Sinh => odd((a - LN_2).exp() - (-a - LN_2).exp()),
        Op::Cosh => (a - LN_2).exp() + (-a - LN_2).exp(),
        Op::Tanh if x.abs() < 100.0 => {
            let m = (two * 2.0).expm1();
            m / (m + 2.0)
        }
        Op::Asinh if x.abs() < 1e10 => {
            let square = two * two;
            odd((a + square / ((square + 1.0).sqrt() + 1.0)).ln_1p())
        }
        Op::Asinh => odd(a.ln() + LN_2),
        Op::Acosh if (1.0..1e20).contains(&x) => {
            let t = two - one;
            (t + (t * (t + 2.0)).sqrt()).ln_1p()
        }
        Op::Acosh if x > 1.0 => two.ln() + LN_2,
        Op::Atanh if x.abs() < 1.0 => odd((a * 2.0 / (one - a)).ln_1p() * 0.5),
        _ => return None,
    })
}

/// A function of two.
pub(super) fn binary(op: Op, x: f64, y: f64) -> Option<f64> {
    if !x.is_finite() || !y.is_finite() || x == 0.0 || y == 0.0 {
        return None;
    }
    let (a, b) = (Twice(x, 0.0), Twice(y, 0.0));
    let z = match op {
        Op::Pow => {
            let size = (a.abs().ln() * b).exp();
            let odd = y.trunc() == y && (0.5 * y).trunc() != 0.5 * y;
            match x < 0.0 {
                true if y.trunc() != y => return None,
                true if odd => -size,
                _ => size,
            }
        }
        // Of a quotient in range; y is the second here.
        Op::Atan2 if (1e-250..1e250).contains(&(x / y).abs()) => {
            let angle = (a.abs() / b.abs()).atan();
            let angle = if y < 0.0 { HALF_PI * 2.0 - angle } else { angle };
            if x < 0.0 { -angle } else { angle }
        }
        Op::Hypot if (1e-140..1e140).contains(&x.abs()) && (1e-140..1e140).contains(&y.abs()) => {
            (a * a + b * b).sqrt()
        }
        Op::Elu if x < 0.0 => b * a.expm1(),
        _ => return None,
    };
    Some(z.value())
}

/// A function of three, whose steps stay in range.
pub(super) fn ternary(op: Op, a: f64, b: f64, c: f64) -> Option<f64> {
    let near = |x: f64| x.abs() < 1e150;
    if op != Op::Lerp || !near(a) || !near(b) || !near(c) {
        return None;
    }
    let (a, b) = (Twice(a, 0.0), Twice(b, 0.0));
    Some((a + (b - a) * c).value())
}
