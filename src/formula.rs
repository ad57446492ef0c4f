//! Formulas: elementwise operations of the user's own, checked before anything runs.

use std::sync::Arc;

use crate::dtype::DType;
use crate::error::{Error, Result, causes};
use crate::kernel::elementwise::text::{Pace, TextShape, fused};
use crate::op::{Kind, Op, Refusal};
use crate::wgsl::formula::{Definition, FormulaText};
use crate::wgsl::scan::{Spot, tokens, without_comments};
use crate::wgsl::{Assembled, Expr, Target, Term, Way, reflect};

/// The most operands of a formula: with its result, what every adapter can bind.
const OPERANDS_MAX: usize = 3;

/// An elementwise operation of your own: a signature, and WGSL that computes it.
///
/// [`Tensor::apply`](crate::Tensor::apply) takes it like any operation: it is deferred, reads every
/// view and stored form, broadcasts, and becomes one kernel with what stands around it.
///
/// ```
/// # wharf::testing::example(async |device| {
/// use wharf::custom::Formula;
///
/// let swish2 = Formula::new("swish2(x, b)", "x * sigmoid(b * x)")?;
/// let (x, _) = device.upload(&[-1.0f32, 0.0, 2.0], [3])?;
/// let y = x.apply(&swish2, &[1.5.into()])?;
/// assert_eq!((&y * 2.0)?.explain().dispatches(), 1); // one kernel with what follows
/// assert!((y.read_now::<f32>()?[2] - 2.0 / (1.0 + f32::exp(-3.0))).abs() < 1e-6);
/// # Ok(()) });
/// ```
///
/// The operands are quads, four elements at a time: `V` is their type, and `V(1.0)` four ones. The
/// body is an expression, or statements that `return` one; `select(no, yes, condition)` chooses. A
/// name that is an [operation's](crate::op), such as `exp`, is that operation, with its contract.
/// A signature that ends in `-> bool` yields bools. One text serves all dtypes for which it is
/// valid WGSL: [`Formula::takes`].
///
/// `+`, `-` and `*` of a body are the driver's to put in another order, as WGSL permits. Of
/// `a * m + (V(1.0) - m) * -1e10` Metal's may make `(a + 1e10) * m - 1e10`, in which nothing is
/// left of `a`, and of `x / x` 1, whatever `x` is. Choose instead, `select(V(-1e10), a, m ==
/// V(1.0))`, or make such a number an operand, of which no compiler knows what it is.
///
/// One with a loop is a kernel of its own. llvmpipe makes 65 535 trips of all loops of an
/// invocation, and leaves the rest out: what may make more is a [`Kernel`], whose trips are
/// counted.
///
/// [`Kernel`]: crate::custom::Kernel
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Formula {
    pub(crate) text: Arc<FormulaText>,
    kinds: Vec<Kind>,
}

/// What [`Tensor::apply`](crate::Tensor::apply) applies: an operation of wharf's, or of your own.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Operator {
    /// One of wharf's.
    Op(Op),
    /// One of your own.
    Formula(Formula),
}

impl From<Op> for Operator {
    fn from(op: Op) -> Self {
        Self::Op(op)
    }
}

impl From<&Formula> for Operator {
    fn from(formula: &Formula) -> Self {
        Self::Formula(formula.clone())
    }
}

causes! {
    enum FormulaCause;

    Signature { signature: String }, Shader:
        ("{signature:?} is no signature of one to {OPERANDS_MAX} operands")
        help ("write `name(x)`, `name(x, y)` or `name(x, y, z)`, with `-> bool` behind it if it \
               yields bools");
    Body { name: String, spot: Spot, why: String }, Shader:
        ("formula {name} at line {}, column {}: {why}{}", spot.line, spot.column, spot.picture())
        help ("operands are quads: `V` is their type and `V(0.0)` four zeros, \
               `select(no, yes, condition)` chooses; see `wharf::custom::Formula`");
    Arity { name: String, given: usize, takes: usize }, Argument:
        ("{name}: operands given: {given}, taken: {takes}")
        help ("`x.apply(&f, &[..])` gives those beside x");
    Takes { name: String, given: DType, takes: String }, DType:
        ("{name} does not exist for {given}")
        help ("{name} takes {takes}: cast to one of them");
}

impl Formula {
    /// From a signature and a body.
    ///
    /// # Errors
    /// A signature that is none; a body that is wrong for every kind of number, with the place and
    /// what WGSL's rules say of it for f32.
    pub fn new(signature: &str, body: &str) -> Result<Self> {
        let Some(text) = signed(signature, body) else {
            return Err(FormulaCause::Signature { signature: signature.to_owned() }.into());
        };
        let text = Arc::new(text);
        let (mut kinds, mut first) = (Vec::new(), None);
        for kind in Kind::ALL.iter().copied() {
            match judge(&text, kind) {
                Ok(()) => kinds.push(kind),
                Err(error) => first = first.or(Some(error)),
            }
        }
        match first.filter(|_| kinds.is_empty()) {
            Some(error) => Err(error),
            None => Ok(Self { text, kinds }),
        }
    }

    /// What it is called.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.text.name
    }

    /// How many operands it takes: 1, 2 or 3.
    #[must_use]
    pub fn arity(&self) -> usize {
        self.text.operands.len()
    }

    /// Whether it exists for operands of this dtype. Small integers are computed in 32 bits and
    /// wrapped, narrow floats in f32.
    #[must_use]
    pub fn takes(&self, dtype: DType) -> bool {
        dtype.computes() && self.kinds.contains(&Kind::of(dtype))
    }

    /// The dtype of the result.
    ///
    /// # Errors
    /// Why there is none: dtypes that differ, or a formula that does not exist for them.
    pub fn result(&self, operands: &[DType]) -> Result<DType> {
        let name = self.name().to_owned();
        let (given, takes) = (operands.len(), self.arity());
        let Some(&first) = operands.first().filter(|_| given == takes) else {
            return Err(FormulaCause::Arity { name, given, takes }.into());
        };
        if let Some(&right) = operands.iter().find(|&&dtype| dtype != first) {
            let mixed = Refusal::Mixed { doing: "apply", left: first, right };
            return Err(Error::from(mixed).during(name));
        }
        if !self.takes(first) {
            let takes = DType::ALL.iter().copied().filter(|&dtype| self.takes(dtype));
            let takes = takes.map(DType::name).collect::<Vec<_>>().join(", ");
            return Err(FormulaCause::Takes { name, given: first, takes }.into());
        }
        Ok(if self.text.truth { DType::Bool } else { first })
    }
}

/// A formula of a signature, if it is one.
fn signed(signature: &str, body: &str) -> Option<FormulaText> {
    let (name, rest) = signature.split_once('(')?;
    let (operands, yields) = rest.split_once(')')?;
    let truth = match yields.trim().strip_prefix("->").map(str::trim) {
        Some("bool") => true,
        None if yields.trim().is_empty() => false,
        _ => return None,
    };
    let operands: Vec<String> = operands.split(',').map(|name| name.trim().to_owned()).collect();
    let unlike = |(i, name): (usize, &String)| is_name(name) && !operands[..i].contains(name);
    let distinct = operands.iter().enumerate().all(unlike);
    let fits = (1..=OPERANDS_MAX).contains(&operands.len()) && distinct && is_name(name.trim());
    fits.then(|| FormulaText::new(name.trim(), operands, truth, body))
}

/// Whether it can be a name in WGSL, and is none of ours.
pub(crate) fn is_name(name: &str) -> bool {
    let of_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(of_name)
        && !["V", "E"].contains(&name)
}

/// Whether a formula is valid for a kind.
fn judge(text: &Arc<FormulaText>, kind: Kind) -> Result<()> {
    let wrong = |at, why| {
        let spot = Spot::of(&text.body, at);
        Error::from(FormulaCause::Body { name: text.name.clone(), spot, why })
    };
    if tokens(&without_comments(&text.body)).next().is_none() {
        return Err(wrong(0, "there is nothing to compute".to_owned()));
    }
    let definition = text.define(kind).map_err(|(at, why)| wrong(at, why))?;
    let kernel = alone(text, kind)?;
    let Err(flaw) = reflect::check(&kernel) else { return Ok(()) };
    Err(wrong(place(&kernel, &definition, flaw.at), flaw.message))
}

/// The kernel that computes nothing else.
fn alone(text: &Arc<FormulaText>, kind: Kind) -> Result<Assembled> {
    let count = text.operands.len();
    let mut nodes: Vec<Term> = (0..count as u16).map(Term::Input).collect();
    nodes.push(Term::Call(Arc::clone(text), [0, 1, 2]));
    let (inputs, outputs) = (vec![kind.dtype(); count], vec![count as u16]);
    let expr = Expr { inputs, nodes, outputs, ..Expr::default() };
    let shape = TextShape { rank: 0, target: Target::Gpu, pace: Pace::Quads };
    Ok(fused(&expr, &vec![Way::Dense; count], false, shape)?)
}

/// Where in the body a byte of its kernel comes from.
fn place(kernel: &Assembled, definition: &Definition, at: Option<usize>) -> usize {
    let begin = kernel.wgsl.find(&definition.wgsl).unwrap_or(0);
    at.and_then(|at| at.checked_sub(begin)).map_or(0, |at| definition.origin(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_formula_takes_the_dtypes_for_which_it_is_valid() {
        let takes = |body| {
            let formula = Formula::new("f(x, y)", body).expect("a formula");
            DType::ALL.iter().copied().filter(|&dtype| formula.takes(dtype)).collect::<Vec<_>>()
        };
        let floats = [DType::F32, DType::F16, DType::Bf16, DType::F64];
        assert_eq!(takes("x * sigmoid(y)"), floats, "sigmoid is one of wharf's");
        assert_eq!(takes("x * 0.5 + y"), floats);
        assert_eq!(takes("x & y").len(), 9, "integers and bool");
        assert_eq!(takes("sin(x) + y"), floats, "drivers compute sin of f64 wrongly");
    }

    #[test]
    fn a_wrong_body_is_pointed_at() {
        let error = Formula::new("f(x)", "let y = exp(x);\nreturn y * sigmod(x);").unwrap_err();
        assert_eq!(
            error.to_string(),
            "formula f at line 2, column 12: no definition in scope for identifier: `sigmod`\n  \
             2 | return y * sigmod(x);\n    |            ^"
        );
    }

    #[test]
    fn a_body_of_another_type_is_pointed_at() {
        for (body, place, why) in [
            ("V(1.0) + (x > V(0.0))", 1, "`+` does not take vec4<f32> and vec4<bool>"),
            ("  x > V(0.0)", 3, "this has another type than what the function returns"),
            ("if x > 0.0 { return x; }\nreturn -x;", 4, "`>` does not take vec4<f32> and f32"),
        ] {
            let error = Formula::new("f(x)", body).unwrap_err().to_string();
            let begin = format!("formula f at line 1, column {place}: {why}");
            assert!(error.starts_with(&begin), "{error}");
        }
    }

    #[test]
    fn signatures_are_names() {
        for wrong in ["", "f", "f()", "f(x, x)", "f(a, b, c, d)", "f(x) -> f32", "f(V)", "1(x)"] {
            let error = Formula::new(wrong, "x").unwrap_err();
            assert!(error.to_string().contains("is no signature"), "{wrong}: {error}");
        }
    }
}
