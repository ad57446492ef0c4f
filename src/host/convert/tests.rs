//! Every conversion against an oracle that knows no bit tricks: it finds the two neighbours of a
//! value in the target by bisection and compares the value with their midpoint, which is exact in
//! f64 or i128.

use super::*;

/// A source value, exactly.
#[derive(Clone, Copy, Debug)]
enum Value {
    Float(f64),
    Integer(i128),
}
use Value::{Float, Integer};

fn value(dtype: DType, e: &[u8]) -> Value {
    fn bytes<const N: usize>(e: &[u8]) -> [u8; N] {
        e.try_into().unwrap()
    }
    match dtype {
        DType::F64 => Float(f64::from_ne_bytes(bytes(e))),
        DType::F32 => Float(f32::from_ne_bytes(bytes(e)).into()),
        DType::F16 => Float(f16::from_ne_bytes(bytes(e)).to_f64()),
        DType::Bf16 => Float(bf16::from_ne_bytes(bytes(e)).to_f64()),
        DType::F8E4M3 | DType::F8E5M2 => Float(special(dtype, e[0])),
        DType::I8 => Integer(i8::from_ne_bytes(bytes(e)).into()),
        DType::U8 | DType::Bool => Integer(e[0].into()),
        DType::I16 => Integer(i16::from_ne_bytes(bytes(e)).into()),
        DType::U16 => Integer(u16::from_ne_bytes(bytes(e)).into()),
        DType::I32 => Integer(i32::from_ne_bytes(bytes(e)).into()),
        DType::U32 => Integer(u32::from_ne_bytes(bytes(e)).into()),
        DType::I64 => Integer(i64::from_ne_bytes(bytes(e)).into()),
        DType::U64 => Integer(u64::from_ne_bytes(bytes(e)).into()),
    }
}

/// A float of 8 bits, which may be infinite or NaN.
fn special(dtype: DType, code: u8) -> f64 {
    let magnitude = u64::from(code & 0x7f);
    let sign = u64::from(code >> 7) << 63;
    let size = match magnitude {
        m if m < beyond(dtype) => decode(dtype, m).to_bits(),
        m if m == beyond(dtype) && dtype == DType::F8E5M2 => f64::INFINITY.to_bits(),
        m if dtype == DType::F8E5M2 => f64::INFINITY.to_bits() | (m & 3) << 50,
        _ => f64::NAN.to_bits(),
    };
    f64::from_bits(sign | size)
}

fn bits(e: &[u8]) -> u64 {
    let mut all = [0; 8];
    all[..e.len()].copy_from_slice(e);
    u64::from_le_bytes(all)
}

/// Significand bits that are stored, and exponent bits.
fn format(to: DType) -> (u32, u32) {
    match to {
        DType::F64 => (52, 11),
        DType::F32 => (23, 8),
        DType::F16 => (10, 5),
        DType::Bf16 => (7, 8),
        DType::F8E4M3 => (3, 4),
        DType::F8E5M2 => (2, 5),
        _ => unreachable!("{to} is no float"),
    }
}

/// The bits of what is beyond the range: infinity, or NaN where there is none.
fn beyond(to: DType) -> u64 {
    let (fraction, exponent) = format(to);
    if to == DType::F8E4M3 { 0x7f } else { ((1 << exponent) - 1) << fraction }
}

/// A power of two, of a normal f64. Rust promises no digits of `powi`.
fn two(n: i32) -> f64 {
    f64::from_bits(((1023 + n) as u64) << 52)
}

/// The value of a float's bits without a sign; those beyond the range count as the next number.
fn decode(to: DType, code: u64) -> f64 {
    let (fraction, exponent) = format(to);
    let bias = (1 << (exponent - 1)) - 1;
    let biased = (code >> fraction) as i32;
    let significand = (code & ((1 << fraction) - 1)) as f64;
    let implied = if biased == 0 { 0.0 } else { two(fraction as i32) };
    // In two factors: one alone may be too small for an f64.
    let power = biased.max(1) - bias - fraction as i32;
    (significand + implied) * two(power / 2) * two(power - power / 2)
}

/// How twice the magnitude of `value` compares with the sum of two floats.
fn compare_twice(value: Value, a: f64, b: f64) -> std::cmp::Ordering {
    match value {
        Float(v) if a == b => v.abs().total_cmp(&a),
        Float(v) => v.abs().total_cmp(&(a / 2.0 + b / 2.0)),
        Integer(v) if a + b < two(53) => ((2 * v.abs()) as f64).total_cmp(&(a + b)),
        Integer(v) => (2 * v.abs()).cmp(&(a as i128).saturating_add(b as i128)),
    }
}

/// The nearest bits in a float type, ties to even.
fn nearest(value: Value, to: DType) -> u64 {
    let (fraction, exponent) = format(to);
    let infinity = beyond(to);
    let negative = match value {
        Float(v) => v.is_sign_negative(),
        Integer(v) => v < 0,
    };
    let sign = u64::from(negative) << (fraction + exponent);
    match value {
        Float(v) if v.is_nan() => {
            let payload = (v.to_bits() << 12) >> (64 - fraction);
            let payload = if to == DType::F8E4M3 { 0 } else { payload };
            return sign | infinity | 1 << (fraction - 1) | payload;
        }
        Float(v) if v.is_infinite() => return sign | infinity,
        _ => {}
    }
    // The largest code that is not above the value.
    let (mut low, mut high) = (0, infinity + 1);
    while high - low > 1 {
        let middle = u64::midpoint(low, high);
        let value_of = decode(to, middle);
        let at_most = compare_twice(value, value_of, value_of).is_ge();
        (low, high) = if at_most { (middle, high) } else { (low, middle) };
    }
    if low == infinity {
        return sign | infinity;
    }
    let (below, above) = (decode(to, low), decode(to, low + 1));
    if compare_twice(value, below, below).is_eq() {
        return sign | low;
    }
    let code = match compare_twice(value, below, above) {
        std::cmp::Ordering::Less => low,
        std::cmp::Ordering::Equal => low + low % 2,
        std::cmp::Ordering::Greater => low + 1,
    };
    sign | code
}

/// What the conversion to a float should do to one value.
fn expect_float(value: Value, index: u64, to: DType, tally: &mut Tally) -> u64 {
    let code = nearest(value, to);
    let (fraction, exponent) = format(to);
    let magnitude = code & ((1 << (fraction + exponent)) - 1);
    let infinite = magnitude == beyond(to);
    let back = decode(to, magnitude);
    let (error, of, finite) = match value {
        Float(v) if v.is_nan() => {
            tally.nan += 1;
            return code;
        }
        Float(v) => ((back - v.abs()).abs(), v.abs(), v.is_finite()),
        Integer(v) => ((back as i128).abs_diff(v.abs()) as f64, v.unsigned_abs() as f64, true),
    };
    let kept = !infinite || to != DType::F8E4M3;
    if infinite != finite && kept && (infinite || error == 0.0) {
        tally.exact += 1;
        return code;
    }
    tally.first_changed = tally.first_changed.or(Some(index));
    if infinite {
        tally.overflowed += 1;
        return code;
    }
    *(if magnitude == 0 { &mut tally.flushed } else { &mut tally.rounded }) += 1;
    let later = Tally {
        abs_error_max: Some(Worst { error, index }),
        rel_error_max: Some(Worst { error: error / of, index }),
        ..Tally::default()
    };
    tally.merge(&later);
    code
}

fn expect_integer(
    value: Value,
    index: u64,
    to: DType,
    tally: &mut Tally,
) -> Result<u64, OutOfRange> {
    let Integer(v) = value else { unreachable!("no float becomes an integer") };
    let bits = 8 * to.width() as u32;
    let range = match to.class() {
        Class::Signed => -(1i128 << (bits - 1))..1 << (bits - 1),
        _ => 0..1 << bits,
    };
    tally.exact += 1;
    let code = (v & ((1 << bits) - 1)) as u64;
    if range.contains(&v) { Ok(code) } else { Err(OutOfRange { index }) }
}

/// Converts and compares every bit and the whole tally with the oracle. Returns the bits and the
/// tally.
#[track_caller]
fn check<S: Pod>(from: DType, to: DType, source: &[S]) -> Result<(Vec<u64>, Tally), OutOfRange> {
    const FIRST: u64 = 1 << 40;
    let src: &[u8] = bytemuck::cast_slice(source);
    let count = src.len() / from.width();
    let mut buffer = vec![0u64; count];
    let dst = &mut bytemuck::cast_slice_mut::<u64, u8>(&mut buffer)[..count * to.width()];
    let mut tally = Tally::default();
    let result = converter(from, to).unwrap()(src, FIRST, dst, &mut tally);

    let mut oracle = Tally::default();
    let mut codes = Vec::new();
    for (index, element) in (FIRST..).zip(src.chunks(from.width())) {
        let value = value(from, element);
        let code = if to.is_float() {
            expect_float(value, index, to, &mut oracle)
        } else {
            match expect_integer(value, index, to, &mut oracle) {
                Ok(code) => code,
                Err(outside) => {
                    assert_eq!(result, Err(outside), "{from} -> {to}: {value:?}");
                    return Err(outside);
                }
            }
        };
        codes.push(code);
    }
    assert_eq!(result, Ok(()), "{from} -> {to}");
    for (i, (element, &code)) in dst.chunks(to.width()).zip(&codes).enumerate() {
        let value = value(from, &src[i * from.width()..][..from.width()]);
        assert_eq!(bits(element), code, "{from} -> {to}: {value:?} at {i}: {:x}", bits(element));
    }
    assert_eq!(tally, oracle, "{from} -> {to}");
    assert_eq!(tally.values(), count as u64);
    Ok((codes, tally))
}

/// A small generator: the same numbers every time.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }
}

/// Values of every kind a source can hold: whole range, small, near the limits of each target and
/// of rounding.
fn samples(from: DType, count: usize, seed: u64) -> Vec<u64> {
    let mut random = Random(seed | 1);
    let mut bytes = Vec::new();
    for _ in 0..count {
        let (r, kind) = (random.next(), random.next());
        let float = {
            let (low, span) = [(1, 2046), (1023 - 28, 48), (1023 - 152, 290)][(kind % 3) as usize];
            let exponent = low + (kind >> 8) % span;
            // Often only a few significant bits, or many zeros or ones after the first few: close
            // to halves.
            let tail = 52 - (kind >> 40) % 52;
            let fraction = match (kind >> 32) % 4 {
                0 => r,
                1 => r >> tail << tail,
                2 => (r >> tail << tail) + 1,
                _ => (r >> tail << tail).wrapping_sub(1),
            };
            f64::from_bits(r & 1 << 63 | exponent << 52 | fraction & ((1 << 52) - 1))
        };
        let integer = match kind % 4 {
            0 => r,
            1 => r >> ((kind >> 8) % 64),
            2 => ((r >> ((kind >> 8) % 64)) as i64).wrapping_neg() as u64,
            _ => (1u64 << ((kind >> 8) % 64)).wrapping_add(r % 5).wrapping_sub(2),
        };
        match from {
            DType::F64 => bytes.extend(float.to_ne_bytes()),
            DType::F32 => bytes.extend((float as f32).to_ne_bytes()),
            DType::Bool => bytes.push((r & 1) as u8),
            _ => bytes.extend(&integer.to_le_bytes()[..from.width()]),
        }
    }
    bytes.resize(count * from.width(), 0);
    let mut aligned = vec![0u64; bytes.len().div_ceil(8)];
    bytemuck::cast_slice_mut::<u64, u8>(&mut aligned)[..bytes.len()].copy_from_slice(&bytes);
    aligned
}

#[test]
fn the_legality_table() {
    let legal = |from: DType| {
        let all = DType::ALL.iter().copied().filter(|&to| convertible(from, to));
        all.map(DType::name).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(legal(DType::F64), "f32 f16 bf16 f8e4m3 f8e5m2");
    assert_eq!(legal(DType::Bf16), "f32 f16 f64 f8e4m3 f8e5m2");
    assert_eq!(legal(DType::I64), "f32 f16 bf16 f64 i8 u8 i16 u16 i32 u32 u64 f8e4m3 f8e5m2");
    assert_eq!(legal(DType::Bool), "f32 f16 bf16 f64 i8 u8 i16 u16 i32 u32 i64 u64 f8e4m3 f8e5m2");
    for from in DType::ALL.iter().copied() {
        for to in DType::ALL.iter().copied() {
            assert_eq!(converter(from, to).is_some(), convertible(from, to), "{from} -> {to}");
        }
    }
}

#[test]
fn every_legal_pair_agrees_with_the_oracle() {
    for from in DType::ALL.iter().copied() {
        for to in DType::ALL.iter().copied().filter(|&to| convertible(from, to)) {
            let source = samples(from, 8 * 2_500, 0x5eed + from as u64 * 13 + to as u64);
            if to.is_float() {
                check(from, to, &source).unwrap();
                continue;
            }
            // Of an integer's samples, the many that fit, and then the first that does not.
            let fits: Vec<u8> = bytemuck::cast_slice::<u64, u8>(&source)
                .chunks(from.width())
                .filter(|e| expect_integer(value(from, e), 0, to, &mut Tally::default()).is_ok())
                .flatten()
                .copied()
                .collect();
            let whole = fits.len() / 8;
            let mut aligned = vec![0u64; whole];
            bytemuck::cast_slice_mut::<u64, u8>(&mut aligned).copy_from_slice(&fits[..8 * whole]);
            check(from, to, &aligned).unwrap();
            assert_eq!(check(from, to, &source).is_err(), fits.len() < 8 * source.len());
        }
    }
}

#[test]
fn all_patterns_of_sixteen_bits_widen_as_half_does_and_come_back() {
    let all: Vec<u16> = (0..=u16::MAX).collect();
    for (from, other) in [(DType::F16, DType::Bf16), (DType::Bf16, DType::F16)] {
        check(from, other, &all).unwrap();
        let (f32s, _) = check(from, DType::F32, &all).unwrap();
        let (f64s, _) = check(from, DType::F64, &all).unwrap();
        for (&pattern, (&single, &double)) in all.iter().zip(f32s.iter().zip(&f64s)) {
            let (s, d, quiet) = match from {
                DType::F16 => {
                    let v = f16::from_bits(pattern);
                    (v.to_f32(), v.to_f64(), u16::from(v.is_nan()) << 9)
                }
                _ => {
                    let v = bf16::from_bits(pattern);
                    (v.to_f32(), v.to_f64(), u16::from(v.is_nan()) << 6)
                }
            };
            assert!(s.is_nan() && quiet > 0 || u64::from(s.to_bits()) == single, "{pattern:x}");
            assert!(d.is_nan() && quiet > 0 || d.to_bits() == double, "{pattern:x}");
            let narrow = [f32::from_bits(single as u32)];
            assert_eq!(check(DType::F32, from, &narrow).unwrap().0, [u64::from(pattern | quiet)]);
            let narrow = [f64::from_bits(double)];
            assert_eq!(check(DType::F64, from, &narrow).unwrap().0, [u64::from(pattern | quiet)]);
        }
    }
}

#[test]
fn edges_worked_out_by_hand() {
    let half = |v: f64| check(DType::F64, DType::F16, &[v]).unwrap().0[0];
    let brain = |v: f64| check(DType::F64, DType::Bf16, &[v]).unwrap().0[0];
    let single = |v: f64| check(DType::F64, DType::F32, &[v]).unwrap().0[0];

    assert_eq!(half(1.0 + two(-11)), 0x3c00, "a tie goes to even, down");
    assert_eq!(half(1.0 + 3.0 * two(-11)), 0x3c02, "a tie goes to even, up");
    assert_eq!(half(1.0 + two(-11) + two(-40)), 0x3c01, "f32 would make this a tie");
    assert_eq!(brain(1.0 + two(-8) + two(-40)), 0x3f81, "f32 would make this a tie");
    assert_eq!(half(65519.999), 0x7bff);
    assert_eq!(half(65520.0), 0x7c00);
    assert_eq!(half(-65520.0), 0xfc00);
    assert_eq!(half(two(-14) - two(-26)), 0x0400, "the largest subnormal's upper half is normal");
    assert_eq!(half(two(-24)), 1);
    assert_eq!(half(two(-25)), 0, "half the smallest value is a tie to zero");
    assert_eq!(half(two(-25) + two(-70)), 1);
    assert_eq!(half(-two(-30)), 0x8000);
    assert_eq!(single(f64::from(f32::MAX) + two(102)), 0x7f7f_ffff);
    assert_eq!(single(f64::from(f32::MAX) + two(103)), 0x7f80_0000);
    assert_eq!(single(two(-150)), 0);
    assert_eq!(single(two(-150) * 1.000_001), 1);
    assert_eq!(brain(two(-133)), 1);
    assert_eq!(brain(two(-134)), 0);
    assert_eq!(brain(two(-134) + two(-180)), 1);
    assert_eq!(brain(two(-126) - two(-135)), 0x80);
    assert_eq!(brain(5e-324), 0);

    let eight = |v: f64, to| check(DType::F64, to, &[v]).unwrap().0[0];
    let (e4m3, e5m2) = (|v| eight(v, DType::F8E4M3), |v| eight(v, DType::F8E5M2));
    assert_eq!([1.0, 1.0625, 1.1875, 448.0, 464.0].map(e4m3), [0x38, 0x38, 0x3a, 0x7e, 0x7e]);
    assert_eq!([464.0 + two(-40), -465.0, f64::INFINITY].map(e4m3), [0x7f, 0xff, 0x7f]);
    assert_eq!([two(-9), two(-10), two(-10) + two(-60), -5e-324].map(e4m3), [1, 0, 1, 0x80]);
    assert_eq!([two(-6) - two(-10), 1e308].map(e4m3), [8, 0x7f], "carried to a normal number");
    assert_eq!([1.0, 1.125, 1.375, 57_344.0].map(e5m2), [0x3c, 0x3c, 0x3e, 0x7b]);
    assert_eq!([61_439.9, 61_440.0, -1e308].map(e5m2), [0x7b, 0x7c, 0xfc]);
    assert_eq!([two(-16), two(-17), -two(-17) * 1.01, 1e-300].map(e5m2), [1, 0, 0x81, 0]);

    let large = |v: i64, to| check(DType::I64, to, &[v]).unwrap().0[0];
    assert_eq!(large((1 << 53) + 1, DType::F64), two(53).to_bits());
    assert_eq!(large((1 << 60) + (1 << 36) + 1, DType::F32), 0x5d80_0001, "f64 would make a tie");
    assert_eq!(large((1 << 62) + (1 << 54) + 1, DType::Bf16), 0x5e81, "f64 would make a tie");
    assert_eq!(large(i64::MIN, DType::F32), 0xdf00_0000);
    assert_eq!(large(65_519, DType::F16), 0x7bff);
    assert_eq!(large(-65_520, DType::F16), 0xfc00);
    let largest = check(DType::U64, DType::F64, &[u64::MAX]).unwrap();
    assert_eq!(largest.0, [two(64).to_bits()]);
    assert_eq!(largest.1.abs_error_max, Some(Worst { error: 1.0, index: 1 << 40 }));
}

#[test]
fn a_tally_names_the_first_change_and_the_first_of_the_worst() {
    let nan = f32::from_bits(0xff81_2345);
    let source = [0.0, -0.0, nan, f32::INFINITY, 1.0, 2049.0, 1e9, 1e-9, 3e-9, 2051.0, 0.1];
    let (codes, tally) = check(DType::F32, DType::F16, &source).unwrap();
    assert_eq!(codes[..5], [0, 0x8000, 0xfe09, 0x7c00, 0x3c00]);
    let first = tally.first_changed.unwrap();
    assert_eq!(first, (1 << 40) + 5);
    let (exact, rounded, overflowed, flushed, nan) = (4, 3, 1, 2, 1);
    let counted = Tally { exact, rounded, overflowed, flushed, nan, ..tally };
    assert_eq!(tally, counted);
    assert_eq!(tally.abs_error_max, Some(Worst { error: 1.0, index: first }));
    assert_eq!(tally.rel_error_max, Some(Worst { error: 1.0, index: first + 2 }));
}

#[test]
fn blocks_of_any_length_add_up_to_the_whole() {
    for (from, to) in [
        (DType::F64, DType::F32),
        (DType::F64, DType::F16),
        (DType::F32, DType::Bf16),
        (DType::F32, DType::F16),
        (DType::F16, DType::Bf16),
        (DType::Bf16, DType::F64),
        (DType::F32, DType::F8E4M3),
        (DType::F8E5M2, DType::F8E4M3),
        (DType::I64, DType::F32),
        (DType::I16, DType::F16),
        (DType::U16, DType::I64),
    ] {
        let source = samples(from, 3_000, 77);
        let src = &bytemuck::cast_slice::<u64, u8>(&source)[..3_000 * from.width()];
        let convert = converter(from, to).unwrap();
        let run = |block: usize| {
            // Lengths that are no multiple of the block leave what follows misaligned for neither
            // side.
            let (mut dst, mut tally) = (vec![0u64; 3_000], Tally::default());
            let bytes = &mut bytemuck::cast_slice_mut::<u64, u8>(&mut dst)[..3_000 * to.width()];
            let blocks = src.chunks(block * from.width()).zip(bytes.chunks_mut(block * to.width()));
            for (i, (src, dst)) in blocks.enumerate() {
                convert(src, (i * block) as u64, dst, &mut tally).unwrap();
            }
            (dst, tally)
        };
        let whole = run(3_000);
        for block in [1, 3, 7, 16, 31, 33, 1023, 1024, 1025, 2999] {
            assert!(run(block) == whole, "{from} -> {to} in blocks of {block}");
        }
    }
}

#[test]
fn bytes_that_are_not_aligned_convert_all_the_same() {
    let source = samples(DType::F64, 2_000, 5);
    let src: &[u8] = bytemuck::cast_slice(&source);
    let shifted: Vec<u8> = std::iter::once(0).chain(src.iter().copied()).collect();
    let convert = converter(DType::F64, DType::F32).unwrap();
    let run = |src: &[u8], skip: usize| {
        let (mut dst, mut tally) = (vec![0u8; 2_001 * 4], Tally::default());
        convert(src, 9, &mut dst[skip..][..2_000 * 4], &mut tally).unwrap();
        (dst[skip..][..2_000 * 4].to_vec(), tally)
    };
    assert!(run(src, 0) == run(&shifted[1..], 1));
}

#[test]
fn nothing_converts_to_nothing() {
    for from in DType::ALL.iter().copied() {
        for to in DType::ALL.iter().copied().filter(|&to| convertible(from, to)) {
            let tally = check::<u8>(from, to, &[]).unwrap().1;
            assert_eq!(tally, Tally::default());
        }
    }
}
