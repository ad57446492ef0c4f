//! Dense operands, of f32 and f64: of every magnitude, and around every number at which a function
//! may change its way.

use core::f64::consts::FRAC_PI_2;

use wharf::DType;

use super::super::random::Random;

/// Zeros, ends of ranges and domains, and where polynomials take over from each other.
const ANCHORS: [f32; 46] = [
    1.175_494_4e-38,
    1e-30,
    1e-20,
    1e-10,
    1e-8,
    1e-6,
    1e-4,
    2.441_406_3e-4,
    1e-2,
    0.1,
    0.125,
    0.29,
    0.346_573_6,
    0.414_213_57,
    0.5,
    core::f32::consts::LN_2,
    0.707_106_77,
    0.927_734_4,
    1.0,
    core::f32::consts::SQRT_2,
    1.5,
    2.0,
    2.414_213_7,
    core::f32::consts::E,
    3.0,
    4.0,
    6.0,
    8.0,
    10.0,
    14.0,
    20.0,
    30.0,
    64.0,
    86.6,
    87.33,
    87.34,
    88.0,
    88.722_83,
    89.416,
    103.97,
    110.0,
    127.0,
    8191.5,
    1e4,
    1.844_674_4e19,
    f32::MAX,
];

/// Those of f64, and where its polynomials take over.
const ANCHORS_F64: [f64; 20] = [
    2.225_073_858_507_201_4e-308,
    1e-160,
    1e-17,
    1e-16,
    0.41,
    0.414_213_562_373_095_03,
    core::f64::consts::FRAC_1_SQRT_2,
    0.9277,
    6.0,
    21.0,
    27.0,
    40.0,
    708.396_418_532_264_1,
    709.782_712_893_384,
    745.133_219_101_941_1,
    1021.99,
    1023.999,
    1e9,
    1.340_780_792_994_259_7e154,
    f64::MAX,
];

/// The multiples of a quarter turn below 8192.
const QUARTERS: u32 = 5215;

/// Numbers next to an anchor, in units in its last place.
const NEAR: u32 = 24;

/// Operands of an operation, as each dtype has them: a list for each.
pub(super) fn operands(arity: usize, dtype: DType, n: usize, seed: u64) -> [Vec<f64>; 3] {
    let narrow = match arity {
        1 => [single(n, seed), vec![], vec![]],
        _ => several(n, seed),
    };
    let mut random = Random::new(seed);
    let mut all = narrow.map(|list| {
        let wide = list.into_iter().map(f64::from);
        let wide = wide.enumerate();
        wide.map(|(i, x)| if dtype == DType::F64 { widened(&mut random, i, x) } else { x })
            .collect::<Vec<f64>>()
    });
    if arity == 1 && dtype == DType::F64 {
        all[0].extend(doubles(n));
    }
    all
}

/// A number of f32 as it is, with further digits, or far beyond its range.
fn widened(random: &mut Random, i: usize, x: f64) -> f64 {
    let finite = |y: f64| if y.is_finite() { y } else { x };
    match i % 4 {
        0 => x,
        1 if i % 32 == 1 => finite(x * 2f64.powi(random.below(1800) as i32 - 900)),
        _ => finite(x * (1.0 + random.below(1 << 29) as f64 * 0.5f64.powi(53))),
    }
}

/// Beside anchors and quarter turns of f64, fewer of the latter among few samples.
fn doubles(n: usize) -> Vec<f64> {
    let step = (1 << 17) / n.clamp(1, 1 << 17);
    let mut all = Vec::new();
    for anchor in ANCHORS_F64 {
        let bits = anchor.to_bits();
        let near = bits - u64::from(NEAR)..=bits + u64::from(NEAR);
        all.extend(near.map(f64::from_bits).filter(|x| x.is_finite()));
    }
    for quarter in (1..=QUARTERS).step_by(step) {
        let bits = (f64::from(quarter) * FRAC_PI_2).to_bits();
        all.extend([bits - 1, bits, bits + 1].map(f64::from_bits));
    }
    all.into_iter().flat_map(|x| [x, -x]).collect()
}

/// Operands of an operation that takes one.
fn single(n: usize, seed: u64) -> Vec<f32> {
    let mut all = Vec::with_capacity(n);
    for anchor in ANCHORS {
        let bits = anchor.to_bits();
        all.extend((bits - NEAR..=bits + NEAR).map(f32::from_bits));
        all.extend((1..24).map(|k| anchor * (1.0 + 0.5f32.powi(k))));
        all.extend((1..24).map(|k| anchor * (1.0 - 0.5f32.powi(k))));
    }
    for quarter in 1..=QUARTERS {
        let bits = ((f64::from(quarter) * FRAC_PI_2) as f32).to_bits();
        all.extend([bits - 1, bits, bits + 1].map(f32::from_bits));
    }
    let signed: Vec<f32> =
        all.into_iter().filter(|x| x.is_finite()).flat_map(|x| [x, -x]).collect();
    let mut random = Random::new(seed);
    let rest = n.saturating_sub(signed.len());
    signed.into_iter().chain((0..rest).map(|_| any(&mut random))).collect()
}

/// Between -1 and 1.
fn unit(random: &mut Random) -> f32 {
    random.below(1 << 25) as f32 / 16_777_216.0 - 1.0
}

fn any(random: &mut Random) -> f32 {
    let part = unit(random);
    match random.below(8) {
        0 | 1 => part,
        2 => 10.0 * part,
        3 => 120.0 * part,
        4 => 8192.0 * part,
        5 => part.signum() * (20.0 * unit(random)).exp2(),
        _ => wide(random),
    }
}

/// Any finite number, by its bits.
fn wide(random: &mut Random) -> f32 {
    let x = f32::from_bits(random.bits() as u32);
    if x.is_finite() { x } else { 1.0 }
}

/// Operands of an operation that takes several: of like magnitudes and unlike ones, such that
/// cancel, and bases with exponents.
fn several(n: usize, seed: u64) -> [Vec<f32>; 3] {
    let mut random = Random::new(seed);
    let mut all = [const { Vec::new() }; 3];
    for _ in 0..n {
        let random = &mut random;
        let (a, b, c) = (any(random), any(random), any(random));
        let near = 1.0 + unit(random) * 0.5f32.powi(random.below(24) as i32);
        let [x, y, z] = match random.below(8) {
            0 => [a, a * near, c],
            1 => [a, -a * near, unit(random)],
            2 => [a, b, -a * b * near],
            3 => [a.abs(), 30.0 * unit(random), 0.5],
            4 => [near, (20.0 * unit(random)).exp2(), c],
            5 => [wide(random), wide(random), wide(random)],
            6 => [10.0 * unit(random), 10.0 * unit(random), unit(random)],
            _ => [a, b, c],
        };
        let finite = |x: f32| if x.is_finite() { x } else { 1.0 };
        for (list, x) in all.iter_mut().zip([x, y, z]) {
            list.push(finite(x));
        }
    }
    all
}
