//! Conversions on the way up, against `half`, against Rust's casts and against values worked out by
//! hand.

use half::{bf16, f16};
use wharf::host::Tally;
use wharf::{DType, Element};

use super::support::capable;

/// What values become in another dtype, and the tally.
fn convert<T: Element, U: Element>(values: &[T]) -> (Vec<U>, Tally) {
    let (tensor, receipt) = capable().upload_as(values, [values.len()], U::DTYPE).unwrap();
    assert_eq!(receipt.tally.values(), values.len() as u64, "every value has one category");
    (tensor.read_now().unwrap(), receipt.tally)
}

/// All patterns of 16 bits.
fn patterns() -> impl Iterator<Item = u16> {
    0..=u16::MAX
}

#[test]
fn every_f16_widens_as_half_says() {
    let values: Vec<f16> = patterns().map(f16::from_bits).collect();
    let (wide, tally) = convert::<f16, f32>(&values);
    for (from, to) in values.iter().zip(&wide) {
        if from.is_nan() {
            let payload = u32::from(from.to_bits() & 0x3ff) << 13;
            let sign = u32::from(from.to_bits() >> 15) << 31;
            assert_eq!(to.to_bits(), sign | 0x7fc0_0000 | payload, "quiet, with sign and payload");
        } else {
            assert_eq!(to.to_bits(), from.to_f32().to_bits(), "{from:?}");
        }
    }
    assert_eq!((tally.nan, tally.exact), (2046, 65_536 - 2046));
    assert!(tally.is_exact(), "no number changes");
}

#[test]
fn every_bf16_widens_as_half_says() {
    let values: Vec<bf16> = patterns().map(bf16::from_bits).collect();
    let (wide, tally) = convert::<bf16, f32>(&values);
    for (from, to) in values.iter().zip(&wide) {
        let quiet = if from.is_nan() { 0x0040_0000 } else { 0 };
        assert_eq!(to.to_bits(), u32::from(from.to_bits()) << 16 | quiet, "{from:?}");
    }
    assert_eq!((tally.nan, tally.exact), (254, 65_536 - 254));
}

/// Every f32 whose upper half is a given pattern, at the edges of rounding.
fn f32s() -> Vec<f32> {
    let lows = [0x0000, 0x0001, 0x0fff, 0x1000, 0x1001, 0x7fff, 0x8000, 0x8001, 0xffff];
    patterns()
        .flat_map(|high| lows.map(|low| f32::from_bits(u32::from(high) << 16 | low)))
        .collect()
}

/// The category of one value, by its definition.
fn category(from: f64, to: f64) -> &'static str {
    match (from, to) {
        _ if from.is_nan() => "nan",
        _ if from == to => "exact",
        _ if to.is_infinite() => "overflowed",
        _ if to == 0.0 => "flushed",
        _ => "rounded",
    }
}

/// Counts by definition: exact, rounded, overflowed, flushed, NaN.
fn counted(pairs: impl Iterator<Item = (f64, f64)>) -> [u64; 5] {
    let mut counts = [0; 5];
    for (from, to) in pairs {
        let names = ["exact", "rounded", "overflowed", "flushed", "nan"];
        counts[names.iter().position(|n| *n == category(from, to)).unwrap()] += 1;
    }
    counts
}

const fn counts(t: &Tally) -> [u64; 5] {
    [t.exact, t.rounded, t.overflowed, t.flushed, t.nan]
}

#[test]
fn f32_narrows_to_f16_as_half_says() {
    let values = f32s();
    let (narrow, tally) = convert::<f32, f16>(&values);
    for (from, to) in values.iter().zip(&narrow) {
        let want = f16::from_f32(*from);
        assert_eq!(from.is_nan(), to.is_nan(), "{from:?} ({:#x})", from.to_bits());
        assert!(
            from.is_nan() || to.to_bits() == want.to_bits(),
            "{from:?} becomes {to:?}, not {want:?}"
        );
    }
    let pairs = values.iter().zip(&narrow).map(|(a, b)| (f64::from(*a), f64::from(*b)));
    assert_eq!(counts(&tally), counted(pairs), "exact, rounded, overflowed, flushed, NaN");
}

#[test]
fn f32_narrows_to_bf16_as_half_says() {
    let values = f32s();
    let (narrow, tally) = convert::<f32, bf16>(&values);
    for (from, to) in values.iter().zip(&narrow) {
        let want = bf16::from_f32(*from);
        assert_eq!(from.is_nan(), to.is_nan(), "{from:?} ({:#x})", from.to_bits());
        assert!(
            from.is_nan() || to.to_bits() == want.to_bits(),
            "{from:?} becomes {to:?}, not {want:?}"
        );
    }
    let pairs = values.iter().zip(&narrow).map(|(a, b)| (f64::from(*a), f64::from(*b)));
    assert_eq!(counts(&tally), counted(pairs), "exact, rounded, overflowed, flushed, NaN");
}

#[test]
fn f16_and_bf16_become_each_other_with_one_rounding() {
    let f16s: Vec<f16> = patterns().map(f16::from_bits).collect();
    let (to, _) = convert::<f16, bf16>(&f16s);
    for (from, to) in f16s.iter().zip(&to).filter(|(from, _)| !from.is_nan()) {
        assert_eq!(to.to_bits(), bf16::from_f32(from.to_f32()).to_bits(), "{from:?}");
    }
    let bf16s: Vec<bf16> = patterns().map(bf16::from_bits).collect();
    let (to, _) = convert::<bf16, f16>(&bf16s);
    for (from, to) in bf16s.iter().zip(&to).filter(|(from, _)| !from.is_nan()) {
        assert_eq!(to.to_bits(), f16::from_f32(from.to_f32()).to_bits(), "{from:?}");
    }
}

/// Integers that f64 does not hold, at ties and beside them.
#[test]
fn long_integers_are_rounded_once() {
    let (one, half) = (1i64 << 60, 1i64 << 52);
    let cases = [
        (one + half, 1.0f32),
        (one + half + 1, 1.0 + 2f32.powi(-7)),
        (one + half - 1, 1.0),
        (one + 3 * half, 1.0 + 2f32.powi(-6)),
        (one + 3 * half - 1, 1.0 + 2f32.powi(-7)),
        (-(one + half), -1.0),
        (-(one + half + 1), -1.0 - 2f32.powi(-7)),
    ];
    let (to, tally) = convert::<i64, bf16>(&cases.map(|(from, _)| from));
    for ((from, want), got) in cases.iter().zip(&to) {
        assert_eq!(got.to_f32(), want * 2f32.powi(60), "{from}");
    }
    assert_eq!(tally.rounded, cases.len() as u64, "{tally:?}");
}

#[test]
fn f64_narrows_to_f32_as_rust_casts() {
    let mut random = super::support::Random::new(0xf64);
    let mut values: Vec<f64> = random.values(20_000);
    values.extend(f32s().into_iter().step_by(7).map(f64::from));
    values.extend(
        (0..20_000).map(|_| f64::from(f32::from_bits(random.next() as u32)) * 1.000_000_05),
    );
    let (narrow, tally) = convert::<f64, f32>(&values);
    for (from, to) in values.iter().zip(&narrow).filter(|(from, _)| !from.is_nan()) {
        assert_eq!(to.to_bits(), (*from as f32).to_bits(), "{from:e}");
    }
    let pairs = values.iter().zip(&narrow).map(|(a, b)| (*a, f64::from(*b)));
    assert_eq!(counts(&tally), counted(pairs), "exact, rounded, overflowed, flushed, NaN");
}

#[test]
fn halves_are_rounded_to_even_and_once() {
    // f64 -> f16 must not go through f32, where 1 + 2^-11 + 2^-40 becomes a tie.
    let step = |e: i32| 2f64.powi(e);
    let rows = [
        (1.0 + step(-11), 0x3c00, "half way, to even"),
        (1.0 + step(-11) + step(-40), 0x3c01, "just above half way"),
        (1.0 + 3.0 * step(-11), 0x3c02, "half way, to even again"),
        (65_504.0, 0x7bff, "the largest"),
        (65_519.999, 0x7bff, "rounds down to the largest"),
        (65_520.0, 0x7c00, "half way to what is not there: infinite"),
        (step(-24), 0x0001, "the smallest subnormal"),
        (step(-25), 0x0000, "half of it, to even: zero"),
        (step(-25) * 1.000_000_001, 0x0001, "just above"),
        (-step(-26), 0x8000, "zero keeps its sign"),
        (1023.0 * step(-24), 0x03ff, "the largest subnormal"),
    ];
    for (value, want, why) in rows {
        let (to, _) = convert::<f64, f16>(&[value]);
        assert_eq!(to[0].to_bits(), want, "{value:e}: {why}");
    }
}

#[test]
fn nans_stay_quiet_nans_with_sign_and_payload() {
    let values = [
        0x7ff8_0000_0000_0000u64,
        0xfff8_0000_0000_0000,
        0x7ff0_0000_0000_0001,
        0xfff4_0000_0000_0000,
    ];
    let (to, tally) = convert::<f64, f32>(&values.map(f64::from_bits));
    let to: Vec<u32> = to.into_iter().map(f32::to_bits).collect();
    assert_eq!(to, [0x7fc0_0000, 0xffc0_0000, 0x7fc0_0000, 0xffe0_0000]);
    assert_eq!(counts(&tally), [0, 0, 0, 0, 4]);
}

#[test]
fn categories_partition_the_values_and_the_worst_has_an_index() {
    let values = [1.0, 0.1, 1e300, 1e-300, f64::NAN, f64::NEG_INFINITY, -0.0, 16_777_217.0];
    let (to, tally) = convert::<f64, f32>(&values);
    assert_eq!(counts(&tally), [3, 2, 1, 1, 1]);
    assert_eq!(tally.first_changed, Some(1), "0.1");
    let (abs, rel) = (tally.abs_error_max.unwrap(), tally.rel_error_max.unwrap());
    assert_eq!((abs.error.to_bits(), abs.index), (1.0f64.to_bits(), 7), "2^24 + 1 is off by one");
    assert_eq!(
        (rel.error.to_bits(), rel.index),
        (1.0f64.to_bits(), 3),
        "what is flushed loses all"
    );
    assert_eq!(to[2].to_bits(), f32::INFINITY.to_bits());
    assert_eq!(to[3].to_bits(), 0);
    assert_eq!(to[6].to_bits(), 1 << 31, "a zero keeps its sign");
}

#[test]
fn integers_become_floats_with_one_rounding() {
    let values = [0i64, 1, -1, (1 << 24) + 1, -(1 << 53) - 1, i64::MAX, i64::MIN, (1 << 60) + 1];
    let (to, tally) = convert::<i64, f32>(&values);
    let want: Vec<f32> = values.iter().map(|&v| v as f32).collect();
    assert_eq!(to, want);
    assert_eq!(counts(&tally), [4, 4, 0, 0, 0]);
    let values = [u64::MAX, 1 << 63, 65_519, 65_520, 2049];
    let (to, tally) = convert::<u64, f16>(&values);
    let to: Vec<u16> = to.into_iter().map(f16::to_bits).collect();
    assert_eq!(to, [0x7c00, 0x7c00, 0x7bff, 0x7c00, 0x6800]);
    assert_eq!(counts(&tally), [0, 2, 3, 0, 0]);
    let (to, _) = convert::<bool, f32>(&[true, false]);
    assert_eq!(to, [1.0, 0.0]);
}

#[test]
fn integers_narrow_only_where_they_fit() {
    let device = capable();
    let all: Vec<i16> = (i16::MIN..=i16::MAX).collect();
    let fits: Vec<i16> = (-128..128).collect();
    let (to, _) = convert::<i16, i8>(&fits);
    assert!(to.into_iter().map(i16::from).eq(fits), "-128 to 127");
    let text = device.upload_as(&all, [65_536], DType::I8).err().unwrap().to_string();
    assert_eq!(text, "i16 -> i8: value -32768 at index 0 is out of range");
    let text = device.upload_as(&all[32_768..], [32_768], DType::U8).err().unwrap().to_string();
    assert_eq!(text, "i16 -> u8: value 256 at index 256 is out of range");
    let (to, _) = convert::<u8, i64>(&[0, 127, 128, 255]);
    assert_eq!(to, [0, 127, 128, 255]);
    let text = device.upload_as(&[u64::MAX], [1], DType::I64).err().unwrap().to_string();
    assert_eq!(text, "u64 -> i64: value 18446744073709551615 at index 0 is out of range");
}
