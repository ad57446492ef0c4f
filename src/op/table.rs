//! The table of operations. Bounds hold for the float dtypes; integers and bools are exact.

use super::kind::Kinds;
use super::loose::{DIV, EXP};
use super::names::Op;
use super::spell::Spell::{Builtin, Infix, Itself, Own, Prefix, Select};
use super::spell::Yields::{Same, Truth, Wraps};
use super::spell::{Spell, Yields};
use super::terms::{Domain, Scale};
use super::tolerance::Tolerance;

/// Everything there is to know about an operation.
pub(super) struct OpRow {
    pub op: Op,
    pub name: &'static str,
    pub arity: usize,
    pub yields: Yields,
    /// How WGSL writes it, for each group of kinds; the operation does not exist for others.
    pub spell: &'static [(Kinds, Spell)],
    pub bound: Tolerance,
    /// What `bound` counts units of.
    pub scale: Scale,
    pub domain: Domain,
    /// Which builtins leave a driver room that the bound has to leave too: what they may be off by
    /// in WGSL.
    pub loose: &'static str,
    pub note: &'static str,
}

impl OpRow {
    const fn of(self, scale: Scale) -> Self {
        Self { scale, ..self }
    }

    const fn within(self, domain: Domain) -> Self {
        Self { domain, ..self }
    }

    const fn loose(self, loose: &'static str) -> Self {
        Self { loose, ..self }
    }
}

type Spelling = &'static [(Kinds, Spell)];

const fn row(
    op: Op,
    name: &'static str,
    arity: usize,
    yields: Yields,
    spell: Spelling,
    bound: Tolerance,
    note: &'static str,
) -> OpRow {
    let (scale, domain) = (Scale::Result, Domain::All);
    OpRow { op, name, arity, yields, spell, bound, scale, domain, loose: "", note }
}

const F32: Kinds = Kinds::F32;
const F64: Kinds = Kinds::F64;
const BOOL: Kinds = Kinds::BOOL;
const SIGNED: Kinds = Kinds::SIGNED;
const UNSIGNED: Kinds = Kinds::UNSIGNED;
const INT: Kinds = Kinds::INT;
const REAL: Kinds = Kinds::REAL;
const NUMBER: Kinds = Kinds::NUMBER;
const ANY: Kinds = Kinds::ANY;

const EXACT: Tolerance = Tolerance::EXACT;
const BITS: Tolerance = Tolerance::BITS;

const fn ulp(n: f64) -> Tolerance {
    Tolerance::ulp(n)
}

const fn or(ulp: f64, abs: f64) -> Tolerance {
    Tolerance { abs, ..Tolerance::ulp(ulp) }
}

const fn own(kinds: Kinds) -> (Kinds, Spell) {
    (kinds, Own)
}

const REALS: Spelling = &[own(REAL)];
const NUMBERS: Spelling = &[own(NUMBER)];
const INTS: Spelling = &[own(INT)];

const WRAP: &str = "integers wrap";

#[rustfmt::skip]
pub(super) const TABLE: &[OpRow] = &[
    row(Op::Neg, "neg", 1, Wraps, &[(F32, Own), (F64.or(SIGNED), Prefix("-"))], BITS,
        "flips the sign bit; the lowest integer is its own"),
    row(Op::Abs, "abs", 1, Wraps,
        &[(F32.or(SIGNED), Own), (F64, Builtin("abs")), (UNSIGNED, Itself)], BITS,
        "clears the sign bit; the lowest integer is its own"),
    row(Op::Sign, "sign", 1, Same, NUMBERS, BITS, "-1, 0, 1; zeros and NaN are their own"),
    row(Op::Floor, "floor", 1, Same, &[(REAL, Builtin("floor"))], EXACT,
        "zeros may lose their sign"),
    row(Op::Ceil, "ceil", 1, Same, &[(REAL, Builtin("ceil"))], EXACT, "zeros may lose their sign"),
    row(Op::Round, "round", 1, Same, &[(F32, Builtin("round")), (F64, Own)], EXACT,
        "ties to even; zeros may lose their sign"),
    row(Op::Trunc, "trunc", 1, Same, &[(F32, Builtin("trunc")), (F64, Own)], EXACT,
        "zeros may lose their sign"),
    row(Op::Fract, "fract", 1, Same, REALS, ulp(1.0), "x - floor(x), from 0 to 1 inclusive"),
    row(Op::Sqrt, "sqrt", 1, Same, &[(F32, Own), (F64, Builtin("sqrt"))], ulp(1.5),
        "NaN below zero"),
    row(Op::Cbrt, "cbrt", 1, Same, REALS, ulp(1.75), "of negative numbers too"),
    row(Op::Rsqrt, "rsqrt", 1, Same, REALS, ulp(2.5),
        "infinity at zero, NaN below"),
    row(Op::Recip, "recip", 1, Same, REALS, ulp(2.5), "infinity at zero").loose(DIV),
    row(Op::Square, "square", 1, Wraps, NUMBERS, ulp(1.0), WRAP),
    row(Op::Exp, "exp", 1, Same, REALS, ulp(1.75), ""),
    row(Op::Exp2, "exp2", 1, Same, REALS, ulp(2.0), ""),
    row(Op::Expm1, "expm1", 1, Same, REALS, ulp(2.75), "near zero too"),
    row(Op::Ln, "ln", 1, Same, REALS, ulp(1.5), "minus infinity at zero, NaN below"),
    row(Op::Log2, "log2", 1, Same, REALS, ulp(3.0), "minus infinity at zero, NaN below"),
    row(Op::Log10, "log10", 1, Same, REALS, ulp(3.5), "minus infinity at zero, NaN below"),
    row(Op::Log1p, "log1p", 1, Same, REALS, ulp(4.0), "minus infinity at -1, NaN below"),
    row(Op::Sin, "sin", 1, Same, REALS, ulp(2.0), "NaN at infinity").within(Domain::Angle),
    row(Op::Cos, "cos", 1, Same, REALS, ulp(2.0), "NaN at infinity").within(Domain::Angle),
    row(Op::Tan, "tan", 1, Same, REALS, ulp(5.0), "NaN at infinity")
        .loose(DIV).within(Domain::Angle),
    row(Op::Asin, "asin", 1, Same, REALS, ulp(5.0), "NaN outside -1 to 1"),
    row(Op::Acos, "acos", 1, Same, REALS, ulp(2.75), "NaN outside -1 to 1"),
    row(Op::Atan, "atan", 1, Same, REALS, ulp(5.0), "").loose(DIV),
    row(Op::Sinh, "sinh", 1, Same, REALS, ulp(4.0), "").loose(DIV),
    row(Op::Cosh, "cosh", 1, Same, REALS, ulp(2.75), ""),
    row(Op::Tanh, "tanh", 1, Same, REALS, ulp(6.0), "1 at infinity").loose(DIV),
    row(Op::Asinh, "asinh", 1, Same, REALS, ulp(6.0), "").loose(DIV),
    row(Op::Acosh, "acosh", 1, Same, REALS, ulp(5.0), "NaN below 1"),
    row(Op::Atanh, "atanh", 1, Same, REALS, ulp(6.0), "infinity at 1, NaN beyond").loose(DIV),
    row(Op::Erf, "erf", 1, Same, REALS, ulp(1.75), "1 at infinity"),
    row(Op::Sigmoid, "sigmoid", 1, Same, REALS, ulp(5.0), "near 0 and 1 at the infinities")
        .loose(DIV),
    row(Op::Relu, "relu", 1, Same, &[own(REAL.or(SIGNED)), (UNSIGNED, Itself)], BITS,
        "keeps NaN and the sign of zero"),
    row(Op::Gelu, "gelu", 1, Same, REALS, or(2.0, 1.2e-7), "exact form; 0 at minus infinity")
        .loose(EXP),
    row(Op::GeluTanh, "gelu_tanh", 1, Same, REALS, or(6.0, 3e-8), "near 0 at minus infinity")
        .loose(DIV),
    row(Op::Silu, "silu", 1, Same, REALS, or(5.0, 1.3e-36), "near 0 at minus infinity").loose(DIV),
    row(Op::Softplus, "softplus", 1, Same, REALS, ulp(4.5), "0 at minus infinity"),
    row(Op::HardSwish, "hard_swish", 1, Same, REALS, ulp(4.0), "0 at minus infinity").loose(DIV),
    row(Op::Mish, "mish", 1, Same, REALS, or(7.0, 2e-36), "0 at minus infinity").loose(DIV),
    row(Op::Not, "not", 1, Same, &[(BOOL, Prefix("!"))], BITS, ""),
    row(Op::BitNot, "bit_not", 1, Wraps, &[(INT, Prefix("~"))], BITS, ""),
    row(Op::IsNan, "is_nan", 1, Truth, REALS, BITS, ""),
    row(Op::IsInf, "is_inf", 1, Truth, REALS, BITS, ""),
    row(Op::IsFinite, "is_finite", 1, Truth, REALS, BITS, ""),

    row(Op::Add, "add", 2, Wraps, &[(NUMBER, Infix("+"))], ulp(1.0), WRAP),
    row(Op::Sub, "sub", 2, Wraps, &[(NUMBER, Infix("-"))], ulp(1.0), WRAP),
    row(Op::Mul, "mul", 2, Wraps, &[(NUMBER, Infix("*"))], ulp(1.0), WRAP),
    row(Op::Div, "div", 2, Wraps, &[(F32, Own), (F64, Infix("/")), (INT, Own)], ulp(2.5),
        "integers towards zero; x / 0 = 0; MIN / -1 = MIN").loose(DIV),
    row(Op::RemFloor, "rem_floor", 2, Same, NUMBERS, ulp(1.0),
        "the sign of the divisor, zeros too; by zero NaN, of integers the dividend")
        .of(Scale::Larger).within(Domain::Quotient),
    row(Op::RemTrunc, "rem_trunc", 2, Same, NUMBERS, ulp(1.0),
        "the sign of the dividend, zeros too; by zero NaN, of integers the dividend")
        .of(Scale::Dividend).within(Domain::Quotient),
    row(Op::Pow, "pow", 2, Same, REALS, Tolerance { grow: 3.0, ..ulp(6.0) },
        "negative bases with whole exponents; C's ends"),
    row(Op::Min, "min", 2, Same, NUMBERS, BITS, "NaN wins; zeros are equal"),
    row(Op::Max, "max", 2, Same, NUMBERS, BITS, "NaN wins; zeros are equal"),
    row(Op::Atan2, "atan2", 2, Same, REALS, ulp(5.0), "C's ends").loose(DIV),
    row(Op::Hypot, "hypot", 2, Same, REALS, ulp(5.0), "infinity before NaN").loose(DIV),
    row(Op::LeakyRelu, "leaky_relu", 2, Same, REALS, ulp(1.0),
        "x, or x times the slope below zero"),
    row(Op::Elu, "elu", 2, Same, REALS, ulp(2.75), "x, or alpha times expm1(x) below zero"),
    row(Op::Eq, "eq", 2, Truth, &[(F32, Own), (ANY, Infix("=="))], BITS,
        "false with NaN; zeros are equal, subnormals differ"),
    row(Op::Ne, "ne", 2, Truth, &[(REAL, Own), (ANY, Infix("!="))], BITS, "true with NaN"),
    row(Op::Lt, "lt", 2, Truth, &[(F32, Own), (NUMBER, Infix("<"))], BITS, "false with NaN"),
    row(Op::Le, "le", 2, Truth, &[(F32, Own), (NUMBER, Infix("<="))], BITS, "false with NaN"),
    row(Op::Gt, "gt", 2, Truth, &[(F32, Own), (NUMBER, Infix(">"))], BITS, "false with NaN"),
    row(Op::Ge, "ge", 2, Truth, &[(F32, Own), (NUMBER, Infix(">="))], BITS, "false with NaN"),
    row(Op::And, "and", 2, Same, &[(BOOL, Infix("&"))], BITS, ""),
    row(Op::Or, "or", 2, Same, &[(BOOL, Infix("|"))], BITS, ""),
    row(Op::Xor, "xor", 2, Same, &[(BOOL, Infix("!="))], BITS, ""),
    row(Op::BitAnd, "bit_and", 2, Same, &[(INT, Infix("&"))], BITS, ""),
    row(Op::BitOr, "bit_or", 2, Same, &[(INT, Infix("|"))], BITS, ""),
    row(Op::BitXor, "bit_xor", 2, Same, &[(INT, Infix("^"))], BITS, ""),
    row(Op::Shl, "shl", 2, Wraps, INTS, BITS,
        "0 from the width on; a negative count is a huge one"),
    row(Op::Shr, "shr", 2, Same, INTS, BITS, "keeps the sign; nothing else from the width on"),

    row(Op::Where, "where", 3, Same, &[(ANY, Select)], BITS,
        "the second where the first is true, else the third; bits untouched"),
    row(Op::Clamp, "clamp", 3, Same, NUMBERS, BITS, "max first, then min; NaN wins"),
    row(Op::MulAdd, "mul_add", 3, Wraps, NUMBERS, ulp(1.5),
        "may be rounded once or twice; where a b leaves the range, it may count as infinity; \
         integers wrap").of(Scale::Product),
    row(Op::Lerp, "lerp", 3, Same, REALS, ulp(3.0),
        "a + t (b - a); where b - a or its product with t leaves the range, it may count as \
         infinity, or as zero where it is subnormal")
        .of(Scale::Step),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_the_enum() {
        for (i, row) in TABLE.iter().enumerate() {
            assert_eq!(row.op as usize, i, "{} is out of order", row.name);
        }
        assert_eq!(TABLE.len(), Op::ALL.len(), "an operation has no row");
    }
}
