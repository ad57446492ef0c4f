//! An expression as WGSL: a line for each node, `let v3 = gelu_f32(v2); // gelu`. Inputs and
//! outputs go through the accessors of their slots; scalars are parameters.

use super::expr::{Expr, Term};
use super::form::Form;
use super::lines::{lane, put};
use super::slot::Way;
use crate::dtype::{Class, DType};
use crate::op::{Kind, Op, Refusal, Spell};

/// The lines of an expression.
#[derive(Debug, Default)]
pub(crate) struct Statements {
    /// What is the same for every quad.
    pub(crate) once: String,
    /// For each quad.
    pub(crate) each: String,
    /// Words of scalars, those before its own included.
    pub(crate) words: usize,
}

impl Statements {
    /// A line for each scalar, as a quad; their parameters begin at this word.
    pub(crate) fn of_scalars(scalars: &[DType], word: usize) -> Self {
        let (mut once, mut words) = (String::new(), word);
        for (j, &dtype) in scalars.iter().enumerate() {
            words = words.next_multiple_of(scalar_width(dtype));
            put!(once, "let s{j} = {}; // a scalar, {dtype}", scalar(dtype, words));
            words += scalar_width(dtype);
        }
        Self { once, words, ..Self::default() }
    }

    /// A line for each operation; the names of all nodes.
    pub(crate) fn compute(&mut self, expr: &Expr, dtypes: &[DType]) -> Vec<String> {
        let mut names: Vec<String> = Vec::with_capacity(expr.nodes.len());
        let parts = parts(expr);
        for (n, node) in expr.nodes.iter().enumerate() {
            let named = |args: &[u16]| -> Vec<&str> {
                args.iter().map(|&a| &*names[usize::from(a)]).collect()
            };
            let (value, what) = match *node {
                Term::Input(i) => {
                    names.push(format!("x{i}"));
                    continue;
                }
                Term::Scalar(j) => {
                    names.push(format!("s{j}"));
                    continue;
                }
                Term::Cast(a, to) => {
                    let from = dtypes[usize::from(a)];
                    (cast(named(&[a])[0], from, to), format!("{from} to {to}"))
                }
                Term::Apply(op, args) => {
                    let args = &args[..op.arity()];
                    let operand = dtypes[usize::from(args[args.len() - 1])];
                    let mut named = named(args);
                    let held = shares(op, args, &parts)
                        .then(|| held(Kind::of(operand), named[named.len() - 1]))
                        .flatten();
                    if let (Some(held), Some(last)) = (&held, named.last_mut()) {
                        *last = held;
                    }
                    (applied(op, operand, &named), op.to_string())
                }
                Term::Call(ref formula, args) => {
                    let given = named(&args[..formula.operands.len()]).join(", ");
                    let value = formula.call(Kind::of(dtypes[usize::from(args[0])]), &given);
                    (narrowed(dtypes[n], value), "your own".to_owned())
                }
            };
            put!(self.each, "let v{n} = {value}; // {what}");
            names.push(format!("v{n}"));
        }
        names
    }
}

/// What each node is made of by sums and products alone.
fn parts(expr: &Expr) -> Vec<Vec<u16>> {
    let mut parts: Vec<Vec<u16>> = Vec::with_capacity(expr.nodes.len());
    for (n, node) in expr.nodes.iter().enumerate() {
        parts.push(match node {
            Term::Apply(op, args) if is_algebra(*op) => {
                let args = args[..op.arity()].iter();
                let mut all: Vec<u16> =
                    args.flat_map(|&a| parts[usize::from(a)].iter().copied()).collect();
                // Each once, or a sum of sums with themselves would have 2^n of them.
                all.sort_unstable();
                all.dedup();
                all
            }
            // An input may have several nodes.
            node => {
                let first = expr.nodes[..n].iter().position(|other| other == node);
                vec![first.unwrap_or(n) as u16]
            }
        });
    }
    parts
}

/// What a compiler may take apart and put together in other ways.
const fn is_algebra(op: Op) -> bool {
    matches!(
        op,
        Op::Add | Op::Sub | Op::Mul | Op::MulAdd | Op::Neg | Op::Square | Op::Fract | Op::Lerp
    )
}

/// Whether the last operand of a sum and the others have a part in common. WGSL lets a compiler
/// think that nothing is infinite or NaN and nothing overflows, so that `x - x` is zero to it, and
/// `x * w + y * w` is `(x + y) * w`.
fn shares(op: Op, args: &[u16], parts: &[Vec<u16>]) -> bool {
    let [others @ .., last] = args else { return false };
    matches!(op, Op::Add | Op::Sub | Op::MulAdd)
        && others.iter().any(|&other| {
            let other = &parts[usize::from(other)];
            parts[usize::from(*last)].iter().any(|part| other.contains(part))
        })
}

/// A value that is a term of its own to every compiler. Integers wrap: whatever is made of sums of
/// them comes to the same.
fn held(kind: Kind, value: &str) -> Option<String> {
    let is_float = matches!(kind, Kind::F32 | Kind::F64);
    is_float.then(|| format!("held_{}({value})", kind.name()))
}

/// A graph as a function.
pub(crate) struct Function {
    pub(crate) text: String,
    /// Words of scalars, those before its own included.
    pub(crate) words: usize,
    /// Of what it returns or stores.
    pub(crate) dtype: DType,
}

impl Function {
    /// The graph as a function of a kernel that is not elementwise itself: of quad (or element)
    /// `q`, and of the first `given` inputs. The others are slots from `first` on, scalars begin at
    /// `word`. The function `finish` stores its value, all others return it.
    pub(crate) fn of(
        expr: &Expr,
        name: &str,
        first: usize,
        word: usize,
        ways: &[Way],
        given: usize,
    ) -> Result<Self, Refusal> {
        let dtypes = expr.dtypes()?;
        let mut text = Statements::of_scalars(&expr.scalars, word.next_multiple_of(2));
        for (i, way) in ways.iter().enumerate() {
            let argument = if *way == Way::One { "" } else { "q" };
            let (x, slot) = (given + i, first + i);
            put!(text.each, "let x{x} = load_{slot}({argument});");
        }
        let names = text.compute(expr, &dtypes);
        let output = usize::from(expr.outputs[0]);
        let (value, dtype) = (&names[output], dtypes[output]);
        let of = |dtype| Form::of(dtype, false).value();
        let inputs = expr.inputs[..given].iter().enumerate();
        let inputs: String = inputs.map(|(i, &dtype)| format!(", x{i}: {}", of(dtype))).collect();
        let (result, last) = match name {
            "finish" => (String::new(), format!("store_0(q, {value});")),
            _ => (format!(" -> {}", of(dtype)), format!("return {value};")),
        };
        let lines = format!("{}{}{last}\n", text.once, text.each);
        let lines: String = lines.lines().map(|line| format!("    {line}\n")).collect();
        let text_of = format!("fn {name}(q: u32{inputs}){result} {{\n{lines}}}\n\n");
        Ok(Self { text: text_of, words: text.words, dtype })
    }
}

/// Words of a scalar parameter.
const fn scalar_width(dtype: DType) -> usize {
    if dtype.width() == 8 { 2 } else { 1 }
}

/// A word among the scalars.
pub(crate) fn word_at(word: usize) -> String {
    format!("p.scalar[{}].{}", word / 4, lane(word as u32))
}

/// A scalar parameter as a quad.
fn scalar(dtype: DType, word: usize) -> String {
    let w = word_at(word);
    match Kind::of(dtype) {
        Kind::Bool => format!("vec4<bool>({w} != 0u)"),
        Kind::U32 => format!("vec4<u32>({w})"),
        kind @ (Kind::F32 | Kind::I32) => format!("vec4<{0}>(bitcast<{0}>({w}))", kind.name()),
        kind => format!("{}_of({w}, {})", kind.name(), word_at(word + 1)),
    }
}

/// An operation on named values; `dtype` is the operands'.
fn applied(op: Op, dtype: DType, args: &[&str]) -> String {
    let kind = Kind::of(dtype);
    let list = args.join(", ");
    let value = match op.spell(kind) {
        Some(Spell::Infix(sign)) => format!("{} {sign} {}", args[0], args[1]),
        Some(Spell::Prefix(sign)) => format!("{sign}{}", args[0]),
        Some(Spell::Builtin(name)) => format!("{name}({list})"),
        Some(Spell::Itself) => args[0].to_owned(),
        Some(Spell::Select) => format!("select({}, {}, {})", args[2], args[1], args[0]),
        Some(Spell::Own) | None => format!("{}_{}({list})", op.name(), kind.name()),
    };
    if op.wraps() { narrowed(dtype, value) } else { value }
}

/// A result that may have left the 8 or 16 bits of its dtype.
fn narrowed(dtype: DType, value: String) -> String {
    let narrow = dtype.is_integer() && dtype.width() < 4;
    if narrow { format!("wrap_{dtype}({value})") } else { value }
}

/// A value as another dtype.
fn cast(value: &str, from: DType, to: DType) -> String {
    let (a, b) = (Kind::of(from), Kind::of(to));
    let narrow = to.is_float() && to.width() < 4;
    let small = to.is_integer() && to.width() < 4;
    // Nobody asks for the dtype that it has, but for a value that stays apart.
    let apart = (from == to && !narrow).then(|| held(a, value)).flatten();
    let value = if let Some(apart) = apart {
        apart
    } else if a == b {
        value.to_owned()
    } else if narrow && !from.fits_in(DType::F32) {
        // One rounding, not two.
        format!("{}_to_odd({value})", a.name())
    } else {
        format!("{}_to_{}({value})", a.name(), b.name())
    };
    // A narrow float as its own dtype: computed in 32 bits, it is more than what that holds.
    let held = from.fits_in(to) && !(narrow && from == to);
    match to.class() {
        Class::Float if narrow && !held => format!("round_{to}({value})"),
        Class::Signed | Class::Unsigned if small && !held => format!("clamp_to_{to}({value})"),
        _ => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_doubled_often_has_one_part() {
        let mut expr = Expr::itself(DType::F32);
        for n in 0..100 {
            expr.nodes.push(Term::Apply(Op::Add, [n, n, 0]));
        }
        let parts = parts(&expr);
        assert_eq!(parts.last().map(Vec::as_slice), Some(&[0][..]));
        assert!(shares(Op::Sub, &[100, 0], &parts) && !shares(Op::Mul, &[100, 0], &parts));
    }
}
