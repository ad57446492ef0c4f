//! `PyTorch`'s answers to operations on whole tensors, read from the file of `torch/operations.py`.

use half::{bf16, f16};
use wharf::DType;
use wharf::dtype::Class;
use wharf::reference::Number;

/// An operation on operands, and its results. Where wharf differs on purpose
/// ([`DIFFERENCES`](crate::torch_goldens::DIFFERENCES)) they are its own, or there is no line.
#[derive(Clone, Debug)]
pub(crate) struct Golden {
    /// The line.
    pub(crate) line: &'static str,
    pub(crate) op: &'static str,
    settings: Vec<(&'static str, &'static str)>,
    /// Those that have this very answer.
    pub(crate) dtypes: Vec<DType>,
    pub(crate) operands: Vec<Elements>,
    pub(crate) results: Vec<Elements>,
}

/// A tensor of a dtype, or of each that a line is of.
#[derive(Clone, Debug)]
pub(crate) struct Elements {
    dtype: Option<DType>,
    pub(crate) dims: Vec<usize>,
    numbers: Vec<Element>,
}

#[derive(Clone, Copy, Debug)]
enum Element {
    Number(f64),
    /// The lowest of its dtype, or the highest.
    End(bool),
}

/// Every line of the file.
pub(crate) fn operations() -> Vec<Golden> {
    include_str!("torch/operations.txt").lines().map(golden).collect()
}

fn golden(line: &'static str) -> Golden {
    let (left, right) = line.split_once(" -> ").unwrap_or_default();
    let mut fields = left.split(" | ");
    let mut next = || fields.next().unwrap_or_default();
    let (head, dtypes) = (next(), next());
    let mut words = head.split(' ');
    let op = words.next().unwrap_or_default();
    let settings = words.filter_map(|word| word.split_once('=')).collect();
    let dtypes = dtypes.split(' ').filter_map(|name| name.parse().ok()).collect();
    let operands = fields.map(Elements::parse).collect();
    let results = right.split(" | ").map(Elements::parse).collect();
    Golden { line, op, settings, dtypes, operands, results }
}

/// A word for each position: the generator of both sides.
fn mixed(seed: u32, i: u32) -> u32 {
    let x = i.wrapping_mul(0x9E37_79B1).wrapping_add(seed.wrapping_mul(0x85EB_CA77));
    let x = (x ^ x >> 15).wrapping_mul(0x2C1B_3C6D);
    (x ^ x >> 12) >> 8
}

impl Elements {
    fn parse(text: &str) -> Self {
        let (name, rest) = text.split_once('[').unwrap_or_default();
        let (dims, source) = rest.split_once(']').unwrap_or_default();
        let dims: Vec<usize> = dims.split(',').filter_map(|dim| dim.parse().ok()).collect();
        let drawn = source.strip_prefix('~').map(|how| {
            let how: Vec<i32> = how.split(',').filter_map(|n| n.parse().ok()).collect();
            let &[seed, low, count, parts] = &how[..] else { return Vec::new() };
            let word = |i: usize| mixed(seed.cast_unsigned(), i as u32) % count.cast_unsigned();
            let number = |i| (f64::from(low) + f64::from(word(i))) / f64::from(parts);
            (0..dims.iter().product()).map(|i| Element::Number(number(i))).collect()
        });
        let numbers = drawn.unwrap_or_else(|| {
            let words = source.trim_start_matches('=').split(',').filter(|word| !word.is_empty());
            let one = |word: &str| match word {
                "min" | "max" => Element::End(word == "max"),
                word => Element::Number(word.parse().unwrap_or(f64::NAN)),
            };
            words.map(one).collect()
        });
        Self { dtype: name.parse().ok(), dims, numbers }
    }

    /// Its dtype, in a run of this one.
    pub(crate) fn dtype(&self, run: DType) -> DType {
        self.dtype.unwrap_or(run)
    }

    /// Its elements, in a run of this dtype.
    pub(crate) fn numbers(&self, run: DType) -> Vec<Number> {
        let dtype = self.dtype(run);
        let one = |element: &Element| match (*element, dtype.class()) {
            (Element::End(highest), _) => end(dtype, highest),
            (Element::Number(x), Class::Float) => Number::Float(x),
            (Element::Number(x), Class::Bool) => Number::Bool(x != 0.0),
            (Element::Number(x), _) => Number::Int(x as i128),
        };
        self.numbers.iter().map(one).collect()
    }
}

/// The lowest or the highest finite number of a dtype.
fn end(dtype: DType, highest: bool) -> Number {
    let bits = 8 * dtype.width() as u32;
    let float = |x: f64| Number::Float(if highest { x } else { -x });
    match (dtype, dtype.class()) {
        (DType::F16, _) => float(f16::MAX.to_f64()),
        (DType::Bf16, _) => float(bf16::MAX.to_f64()),
        (DType::F64, _) => float(f64::MAX),
        (_, Class::Float) => float(f32::MAX.into()),
        (_, Class::Signed) if highest => Number::Int((1 << (bits - 1)) - 1),
        (_, Class::Signed) => Number::Int(-(1 << (bits - 1))),
        (_, Class::Unsigned) => Number::Int(if highest { (1 << bits) - 1 } else { 0 }),
        _ => Number::Bool(highest),
    }
}

impl Golden {
    /// A setting as it is written.
    pub(crate) fn word(&self, name: &str) -> Option<&'static str> {
        self.settings.iter().find(|(known, _)| *known == name).map(|(_, word)| *word)
    }

    /// A setting that is a number, or 0.
    pub(crate) fn number(&self, name: &str) -> f64 {
        self.word(name).and_then(|word| word.parse().ok()).unwrap_or(0.0)
    }

    /// A setting that is a place or a count, or 0.
    pub(crate) fn count(&self, name: &str) -> usize {
        self.number(name) as usize
    }

    /// A setting that is a list.
    pub(crate) fn list(&self, name: &str) -> Vec<usize> {
        let words = self.word(name).unwrap_or_default().split(',');
        words.filter_map(|n| n.parse().ok()).collect()
    }

    /// A list with a number for each of so many axes.
    pub(crate) fn each<const D: usize>(&self, name: &str) -> [usize; D] {
        let list = self.list(name);
        core::array::from_fn(|i| list.get(i).copied().unwrap_or_default())
    }
}
