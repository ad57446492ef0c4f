//! Values as text, by numpy's conventions: nested brackets, aligned columns, lines that break, and
//! of many values those at the edges.
//!
//! A float is the shortest number that reads as the same value of its dtype, with as many decimals
//! as the one that needs most, and at most eight.

use core::fmt;

use half::{bf16, f16};

use crate::dtype::{Class, DType, Element, f8e4m3, f8e5m2};
use crate::shape::Shape;

/// Of more values than these only the edges are shown ..
const SHOWN_MAX: usize = 1000;
/// .. which are so many at either end of an axis.
pub(crate) const EDGE: usize = 3;

/// Columns of a line.
const COLUMNS: usize = 75;

/// Decimals of a float.
const DECIMALS_MAX: usize = 8;

/// What stands for what is not shown.
const GAP: &str = "...";

/// The values of a tensor as text: [`Tensor::picture`](crate::Tensor::picture).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture(String);

impl fmt::Display for Picture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Picture {
    /// Of a tensor somewhere, from the bytes of the elements that are shown of it.
    pub(crate) fn new(dtype: DType, shape: &Shape, place: &str, bytes: &[u8]) -> Self {
        let cells = cells(dtype, bytes);
        let width = cells.iter().map(|cell| cell.len()).max().unwrap_or(0);
        let cells: Vec<String> = cells.iter().map(|cell| format!("{cell:>width$}")).collect();
        let values = if shape.is_empty() { "[]".into() } else { text(shape, 0, &cells) };
        Self(format!("{dtype} {shape} on {place}\n{values}"))
    }
}

/// Whether only the edges of an axis are shown.
pub(crate) fn is_cut(shape: &Shape, axis: usize) -> bool {
    shape.elements() > SHOWN_MAX && shape.dims()[axis] > 2 * EDGE
}

/// A part of the values, which is one place of each axis before this one.
fn text(shape: &Shape, axis: usize, cells: &[String]) -> String {
    let Some(&dim) = shape.dims().get(axis) else { return cells.concat() };
    let cut = is_cut(shape, axis);
    let count = if cut { 2 * EDGE } else { dim };
    let parts = cells.chunks((cells.len() / count).max(1));
    let mut parts: Vec<String> = parts.map(|cells| text(shape, axis + 1, cells)).collect();
    if cut {
        parts.insert(EDGE, GAP.into());
    }
    let (indent, inner) = (" ".repeat(axis + 1), shape.rank() - axis - 1);
    let lines = match inner {
        0 => wrapped(&parts, &indent, COLUMNS - 1 - axis),
        // A blank line between matrices, and one more for each axis before them.
        _ => parts.join(&format!(",{}{indent}", "\n".repeat(inner))),
    };
    format!("[{lines}]")
}

/// Words with commas between them, in lines that are not longer than a limit.
fn wrapped(words: &[String], indent: &str, limit: usize) -> String {
    let (mut lines, mut line) = (String::new(), indent.to_owned());
    for (i, word) in words.iter().enumerate() {
        if line.len() > indent.len() && line.len() + word.len() > limit {
            lines += line.trim_end();
            lines.push('\n');
            indent.clone_into(&mut line);
        }
        line += word;
        line += if i + 1 < words.len() { ", " } else { "" };
    }
    lines += &line;
    lines[indent.len()..].to_owned()
}

/// Each value as text, all in one manner.
fn cells(dtype: DType, bytes: &[u8]) -> Vec<String> {
    let values = bytes.chunks_exact(dtype.width());
    match dtype.class() {
        Class::Float => floats(&values.map(|bytes| short(dtype, bytes)).collect::<Vec<_>>()),
        _ => values.map(|bytes| dtype.format(bytes)).collect(),
    }
}

/// A float as the shortest number that reads as it.
fn short(dtype: DType, bytes: &[u8]) -> f64 {
    let exact = float(dtype, bytes);
    let is_same = |value: &f64| match dtype {
        DType::F32 => f64::from(*value as f32) == exact,
        DType::F16 => f16::from_f64(*value).to_f64() == exact,
        DType::Bf16 => bf16::from_f64(*value).to_f64() == exact,
        DType::F8E4M3 => f8e4m3::from_f64(*value).to_f64() == exact,
        DType::F8E5M2 => f8e5m2::from_f64(*value).to_f64() == exact,
        _ => *value == exact,
    };
    let mut numbers = (0..17).map(|digits| format!("{exact:.digits$e}").parse().unwrap_or(exact));
    numbers.find(is_same).unwrap_or(exact)
}

fn float(dtype: DType, bytes: &[u8]) -> f64 {
    fn one<T: Element>(bytes: &[u8]) -> T {
        let mut value = [T::default()];
        T::copy_from_bytes(bytes, &mut value);
        let [value] = value;
        value
    }
    match dtype {
        DType::F32 => one::<f32>(bytes).into(),
        DType::F16 => one::<f16>(bytes).into(),
        DType::Bf16 => one::<bf16>(bytes).into(),
        DType::F8E4M3 => one::<f8e4m3>(bytes).into(),
        DType::F8E5M2 => one::<f8e5m2>(bytes).into(),
        _ => one(bytes),
    }
}

/// Numbers with a point, or with an exponent where that would hide digits.
fn floats(all: &[f64]) -> Vec<String> {
    let sizes = all.iter().map(|value| value.abs()).filter(|&size| size > 0.0 && size.is_finite());
    let [least, most] =
        sizes.fold([f64::INFINITY, 0.0], |[least, most]: [f64; 2], x| [least.min(x), most.max(x)]);
    let by_exponent = most > 0.0 && (most >= 1e8 || least < 1e-4 || most / least > 1000.0);
    let text = |value: &f64, decimals: usize| match value.is_finite() {
        false => format!("{value}"),
        true if by_exponent => format!("{value:.decimals$e}"),
        true => format!("{value:.decimals$}"),
    };
    let needed = all.iter().map(|value| decimals(&text(value, DECIMALS_MAX))).max();
    let decimals = needed.unwrap_or(0).max(1);
    let texts: Vec<String> = all.iter().map(|value| text(value, decimals)).collect();
    if by_exponent { with_equal_exponents(&texts) } else { texts }
}

/// How many decimals of a number are more than zeros at the end.
fn decimals(text: &str) -> usize {
    let digits = text.split('e').next().and_then(|number| number.split('.').nth(1));
    digits.map_or(0, |digits| digits.trim_end_matches('0').len())
}

/// Exponents with a sign, and as many digits as the longest of them, which are two at least.
fn with_equal_exponents(texts: &[String]) -> Vec<String> {
    let exponent =
        |text: &str| text.split_once('e').map_or("", |(_, exponent)| exponent).to_owned();
    let digits = |text: &String| exponent(text).trim_start_matches('-').len();
    let width = texts.iter().map(digits).max().unwrap_or(0).max(2) + 1;
    let equal = |text: &String| match (text.split_once('e'), exponent(text).parse::<i32>()) {
        (Some((digits, _)), Ok(exponent)) => format!("{digits}e{exponent:+0width$}"),
        _ => text.clone(),
    };
    texts.iter().map(equal).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is shown of these values, without its first line.
    fn drawn<T: Element>(values: &[T], dims: &[usize]) -> String {
        let shape = Shape::new(dims).unwrap();
        let picture =
            Picture::new(T::DTYPE, &shape, "paper", bytemuck::cast_slice(values)).to_string();
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
}
