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
mod tests;
