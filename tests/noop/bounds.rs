//! Integers on their way into another dtype, at the bounds of both: what fits arrives and is
//! counted, what does not is refused with its place. The expected is worked out in `i128`.

use wharf::host::{Tally, Worst};
use wharf::{DType, Device, Element, ErrorKind};

use super::capable;

/// More than a piece of a conversion, and ragged.
const COUNT: usize = 2051;
/// Where a value lies that does not fit: first, inside a vector, around the end of a piece, last.
const PLACES: [usize; 5] = [0, 3, 1023, 1024, COUNT - 1];

trait Integer: Element + TryFrom<i128> {
    const RANGE: [i128; 2];
}

macro_rules! integers {
    ($($ty:ident)*) => {$(
        impl Integer for $ty {
            const RANGE: [i128; 2] = [$ty::MIN as i128, $ty::MAX as i128];
        }
    )*};
}
integers! { i8 u8 i16 u16 i32 u32 i64 u64 }

/// Calls a function of one type, or of this and each other, with the device.
macro_rules! each {
    ($run:ident($device:expr)) => { each!($run($device): i8 u8 i16 u16 i32 u32 i64 u64) };
    ($run:ident::<$from:ident>($device:expr)) => {
        each!($run::<$from>($device): i8 u8 i16 u16 i32 u32 i64 u64)
    };
    ($run:ident($device:expr): $($ty:ident)*) => {$($run::<$ty>($device);)*};
    ($run:ident::<$from:ident>($device:expr): $($to:ident)*) => {$($run::<$from, $to>($device);)*};
}

/// Those of the numbers that a type has.
fn those<T: Integer>(numbers: &[i128]) -> Vec<T> {
    numbers.iter().filter_map(|&n| T::try_from(n).ok()).collect()
}

/// So many values, in turns.
fn repeated<T: Copy>(values: &[T]) -> Vec<T> {
    values.iter().copied().cycle().take(COUNT).collect()
}

fn narrow<S: Integer, T: Integer>(device: &Device) {
    let ([low, high], [least, most]) = (T::RANGE, S::RANGE);
    let numbers: Vec<i128> = [low - 1, low, 0, high, high + 1, least, most]
        .into_iter()
        .filter(|n| (least..=most).contains(n))
        .collect();
    let (inside, outside): (Vec<i128>, Vec<i128>) =
        numbers.into_iter().partition(|n| (low..=high).contains(n));
    let pair = format!("{} -> {}", S::DTYPE, T::DTYPE);
    assert_eq!(outside.is_empty(), S::DTYPE.fits_in(T::DTYPE), "{pair}");
    let (values, want) = (repeated(&those::<S>(&inside)), repeated(&those::<T>(&inside)));
    let mut exact = Tally::default();
    exact.exact = COUNT as u64;
    let (up, receipt) = device.upload_as(&values, COUNT, T::DTYPE).expect(&pair);
    assert_eq!((up.read_now::<T>().expect(&pair), receipt.tally), (want.clone(), exact), "{pair}");
    let (stored, _) = device.upload(&values, COUNT).expect(&pair);
    let (down, receipt) = stored.read_as_now::<T>().expect(&pair);
    assert_eq!((down, receipt.tally), (want, exact), "{pair}, on the way down");
    for (n, place) in outside.into_iter().flat_map(|n| PLACES.map(|place| (n, place))) {
        let mut values = repeated(&those::<S>(&[1]));
        values[place] = those(&[n])[0];
        let (stored, _) = device.upload(&values, COUNT).expect(&pair);
        let up = device.upload_as(&values, COUNT, T::DTYPE).expect_err(&pair);
        let down = stored.read_as_now::<T>().expect_err(&pair);
        for error in [up, down] {
            let text = format!("{pair}: value {n} at index {place} is out of range");
            assert_eq!((error.kind(), error.to_string()), (ErrorKind::Conversion, text));
        }
    }
}

fn narrow_from<S: Integer>(device: &Device) {
    each!(narrow::<S>(device));
}

#[test]
fn every_integer_becomes_every_other_up_to_its_bounds() {
    each!(narrow_from(&capable()));
}

/// What an integer becomes with so many digits: to the nearest, of two the even one. From a power
/// of two on it is infinite.
fn nearest(n: i128, digits: u32, beyond: u32) -> Option<i128> {
    let size = n.unsigned_abs();
    let unit = 1u128 << (u128::BITS - size.leading_zeros()).saturating_sub(digits);
    let (below, rest) = (size / unit, size % unit);
    let up = 2 * rest > unit || (2 * rest == unit && below % 2 == 1);
    let near = (below + u128::from(up)) * unit;
    (beyond >= 127 || near < 1 << beyond).then(|| near as i128 * n.signum())
}

/// Floats, the bits of their significands, and the first power of two beyond them.
const FLOATS: [(DType, u32, u32); 4] =
    [(DType::F16, 11, 16), (DType::Bf16, 8, 128), (DType::F32, 24, 128), (DType::F64, 53, 1024)];

fn float_from<S: Integer>(device: &Device) {
    for (to, digits, beyond) in FLOATS {
        let whole = 1i128 << digits;
        let sizes = [whole - 1, whole, whole + 1, whole + 3, 2 * whole + 2, 65_519, 65_520];
        let mut numbers: Vec<i128> = sizes.into_iter().flat_map(|n| [n, -n]).collect();
        numbers.extend([0, S::RANGE[0], S::RANGE[1], S::RANGE[1] - 1]);
        numbers.retain(|n| (S::RANGE[0]..=S::RANGE[1]).contains(n));
        let numbers = repeated(&numbers);
        let (mut tally, mut want) = (Tally::default(), Vec::new());
        for (&n, index) in numbers.iter().zip(0..) {
            let near = nearest(n, digits, beyond);
            want.push(near.map_or(f64::INFINITY.copysign(n as f64), |near| near as f64));
            let error = near.map_or(0, |near| near.abs_diff(n)) as f64;
            match near {
                None => tally.overflowed += 1,
                Some(near) if near == n => tally.exact += 1,
                Some(_) => tally.rounded += 1,
            }
            if near != Some(n) {
                tally.first_changed = tally.first_changed.or(Some(index));
            }
            let parts = error / (n.unsigned_abs().max(1) as f64);
            for (worst, error) in
                [(&mut tally.abs_error_max, error), (&mut tally.rel_error_max, parts)]
            {
                if error > worst.map_or(0.0, |worst| worst.error) {
                    *worst = Some(Worst { error, index });
                }
            }
        }
        let pair = format!("{} -> {to}", S::DTYPE);
        let (tensor, receipt) = device.upload_as(&those::<S>(&numbers), COUNT, to).expect(&pair);
        assert_eq!(receipt.tally, tally, "{pair}");
        let changes = tally.rounded + tally.overflowed;
        assert_eq!(changes == 0, S::DTYPE.fits_in(to), "{pair}");
        assert_eq!(tensor.read_as_now::<f64>().expect(&pair).0, want, "{pair}");
    }
}

#[test]
fn every_integer_becomes_every_float_with_one_rounding_that_is_counted() {
    each!(float_from(&capable()));
}
