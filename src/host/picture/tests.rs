//! Pictures, letter by letter.

use super::*;

/// What is shown of these values, without its first line.
fn drawn<T: Element>(values: &[T], dims: &[usize]) -> String {
    let shape = Shape::new(dims).unwrap();
    let picture = Picture::new(T::DTYPE, &shape, "paper", bytemuck::cast_slice(values)).to_string();
    let (first, values) = picture.split_once('\n').unwrap();
    assert_eq!(first, format!("{} {shape} on paper", T::DTYPE));
    values.to_owned()
}

fn counted<T: TryFrom<usize, Error: fmt::Debug>>(count: usize) -> Vec<T> {
    (0..count).map(|i| T::try_from(i).unwrap()).collect()
}

#[test]
fn every_dtype_is_shown_as_rust_would_write_it() {
    let rows = [
        (drawn(&[0.1f32, 0.25, -3.0], &[3]), "[ 0.10,  0.25, -3.00]"),
        (drawn(&[0.1, 0.25].map(f16::from_f32), &[2]), "[0.10, 0.25]"),
        (drawn(&[0.1, -256.0].map(bf16::from_f32), &[2]), "[ 1.00e-01, -2.56e+02]"),
        (drawn(&[0.1 + 0.2, 7.0f64], &[2]), "[0.3, 7.0]"),
        (drawn(&[i8::MIN, 5], &[2]), "[-128,    5]"),
        (drawn(&[u8::MAX, 5], &[2, 1]), "[[255],\n [  5]]"),
        (drawn(&[i16::MIN, 5], &[2]), "[-32768,      5]"),
        (drawn(&[u16::MAX, 5], &[1, 2]), "[[65535,     5]]"),
        (drawn(&[i32::MIN], &[1]), "[-2147483648]"),
        (drawn(&[u32::MAX], &[1]), "[4294967295]"),
        (drawn(&[i64::MIN, i64::MAX], &[2]), "[-9223372036854775808,  9223372036854775807]"),
        (drawn(&[u64::MAX], &[1, 1, 1]), "[[[18446744073709551615]]]"),
        (drawn(&[true, false], &[2]), "[ true, false]"),
    ];
    for (found, want) in rows {
        assert_eq!(found, want);
    }
}

#[test]
fn floats_have_as_many_decimals_as_one_needs_or_exponents() {
    let rows: [(&[f64], &str); 9] = [
        (&[1.0, 2.0], "[1.0, 2.0]"),
        (&[0.5, 500.0], "[  0.5, 500.0]"),
        (&[0.5, 501.0], "[5.00e-01, 5.01e+02]"),
        (&[1e8, 0.0], "[1.0e+08, 0.0e+00]"),
        (&[0.00012, 0.0001], "[0.00012, 0.00010]"),
        (&[0.00009], "[9.0e-05]"),
        (&[1e-5, 2.5e100, -3.0], "[ 1.0e-005,  2.5e+100, -3.0e+000]"),
        (&[1.0 / 3.0, 2.0], "[0.33333333, 2.00000000]"),
        (&[f64::NAN, f64::INFINITY, -0.0, 1.25], "[  NaN,   inf, -0.00,  1.25]"),
    ];
    for (values, want) in rows {
        assert_eq!(drawn(values, &[values.len()]), want);
    }
    assert_eq!(drawn(&[16777.216f32, 100.1], &[2]), "[16777.217,   100.100]");
    assert_eq!(drawn(&[f32::NEG_INFINITY, f32::NAN], &[2]), "[-inf,  NaN]");
    assert_eq!(drawn(&[f16::MAX, f16::MIN_POSITIVE], &[2]), "[6.550e+04, 6.104e-05]");
}

#[test]
fn axes_are_brackets_and_blank_lines() {
    assert_eq!(drawn(&[2.5f32], &[]), "2.5");
    assert_eq!(drawn::<f32>(&[], &[2, 0, 3]), "[]");
    let four = "\
[[[[ 0,  1],
   [ 2,  3],
   [ 4,  5]],

  [[ 6,  7],
   [ 8,  9],
   [10, 11]]],


 [[[12, 13],
   [14, 15],
   [16, 17]],

  [[18, 19],
   [20, 21],
   [22, 23]]]]";
    assert_eq!(drawn(&counted::<i32>(24), &[2, 2, 3, 2]), four);
}

#[test]
fn long_lines_break_after_column_75() {
    let thousands: Vec<i64> = (0..24).map(|i| i * 1000).collect();
    let rows = "\
[[    0,  1000,  2000,  3000,  4000,  5000,  6000,  7000,  8000,  9000,
  10000, 11000],
 [12000, 13000, 14000, 15000, 16000, 17000, 18000, 19000, 20000, 21000,
  22000, 23000]]";
    assert_eq!(drawn(&thousands, &[2, 12]), rows);
    // 75 columns fit, and one more does not.
    let fit = drawn(&[1_000_000_000_000u64, 5, 5, 5, 5], &[5]);
    assert_eq!((fit.lines().count(), fit.len()), (1, 75));
    assert_eq!(drawn(&[10u64; 19], &[19]).lines().next().map(str::len), Some(72));
}

#[test]
fn of_more_than_a_thousand_values_the_edges_are_shown() {
    let whole = drawn(&counted::<u16>(1000), &[1000]);
    assert!(!whole.contains(GAP) && whole.contains("997,"), "{whole}");
    assert_eq!(
        drawn(&[0u16, 1, 2, 998, 999, 1000], &[1001]),
        "[   0,    1,    2, ...,  998,  999, 1000]"
    );
    let narrow = "\
[[[ 0,  1],
  [ 2,  3]],

 [[ 4,  5],
  [ 6,  7]],

 [[ 8,  9],
  [10, 11]],

 ...,

 [[12, 13],
  [14, 15]],

 [[16, 17],
  [18, 19]],

 [[20, 21],
  [22, 23]]]";
    assert_eq!(drawn(&counted::<u16>(24), &[300, 2, 2]), narrow);
    let both = "\
[[ 0,  1,  2, ...,  3,  4,  5],
 [ 6,  7,  8, ...,  9, 10, 11],
 [12, 13, 14, ..., 15, 16, 17],
 ...,
 [18, 19, 20, ..., 21, 22, 23],
 [24, 25, 26, ..., 27, 28, 29],
 [30, 31, 32, ..., 33, 34, 35]]";
    assert_eq!(drawn(&counted::<u8>(36), &[40, 40]), both);
}
