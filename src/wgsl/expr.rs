//! Fused elementwise kernels: a small graph of operations becomes the body of `elementwise.wgsl`.
//!
//! A node becomes a line, `let v3 = gelu_f32(v2); // gelu`; inputs and outputs go through the
//! accessors of their slots; scalars are parameters. The text depends on structure alone -
//! operations, dtypes, ways - never on sizes or constants, so an [`Expr`] with its ways is the key
//! of a pipeline.

use super::access::is_double;
use super::assembled::Assembled;
use super::elementwise::{self, Body};
use super::form::Form;
use super::formula::{self, FormulaText, definitions};
use super::lines::{lane, put};
use super::slot::{Slot, Way};
use super::target::Target;
use std::sync::Arc;

use crate::dtype::{Class, DType, f8e4m3, f8e5m2};
use crate::op::{Kind, Op, Refusal, Spell};

/// The accessors of operands that may be reached by pairs of quads, and what they are given.
#[derive(Clone, Copy, Debug)]
struct Calls {
    load: &'static str,
    store: &'static str,
    at: &'static str,
}

const BY_QUAD: Calls = Calls { load: "load", store: "store", at: "q" };
const FIRST_OF_PAIR: Calls = Calls { load: "low", store: "keep", at: "pair" };
const SECOND_OF_PAIR: Calls = Calls { load: "high", store: "store", at: "pair" };

/// The most effort, in additions, of an expression that [goes by pairs](Expr::goes_by_pairs).
const PAIRS_EFFORT_MAX: u32 = 8;

/// A node, by its place in the list; operands stand before it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Term {
    /// The input of this number.
    Input(u16),
    /// The scalar of this number.
    Scalar(u16),
    /// An operation on one to three nodes; places beyond its arity are 0.
    Apply(Op, [u16; 3]),
    /// An operation of the user's own.
    Call(Arc<FormulaText>, [u16; 3]),
    /// A node as another dtype.
    Cast(u16, DType),
}

/// A graph of elementwise operations: the structure, without sizes, constants or layouts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Expr {
    /// The dtypes of the inputs.
    pub inputs: Vec<DType>,
    /// The dtypes of the scalars.
    pub scalars: Vec<DType>,
    /// The nodes, operands first.
    pub nodes: Vec<Term>,
    /// The nodes to store, one output each.
    pub outputs: Vec<u16>,
    /// A bool node: elements for which it is true are noted in a fault slot, two atomics of one
    /// more binding after the outputs. Three words follow the scalars: the slot, how many elements
    /// the window has, and the position of its first.
    pub fault: Option<u16>,
}

impl Expr {
    /// Nothing but its only input.
    #[must_use]
    pub fn itself(dtype: DType) -> Self {
        let (inputs, nodes, outputs) = (vec![dtype], vec![Term::Input(0)], vec![0]);
        Self { inputs, nodes, outputs, ..Self::default() }
    }

    /// Its only input as another dtype.
    #[must_use]
    pub fn cast(from: DType, to: DType) -> Self {
        let (inputs, outputs) = (vec![from], vec![1]);
        let nodes = vec![Term::Input(0), Term::Cast(0, to)];
        Self { inputs, nodes, outputs, ..Self::default() }
    }

    /// A scalar as the words of its parameter; `bytes` are those of the element.
    #[must_use]
    pub fn scalar_words(dtype: DType, bytes: &[u8]) -> Vec<u32> {
        use half::{bf16, f16};
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        let bits = u64::from_le_bytes(word);
        let word = match dtype {
            DType::F16 => f16::from_bits(bits as u16).to_f32().to_bits(),
            DType::Bf16 => bf16::from_bits(bits as u16).to_f32().to_bits(),
            DType::F8E4M3 => f8e4m3::from_bits(bits as u8).to_f32().to_bits(),
            DType::F8E5M2 => f8e5m2::from_bits(bits as u8).to_f32().to_bits(),
            DType::I8 => i32::from(bits as i8) as u32,
            DType::I16 => i32::from(bits as i16) as u32,
            DType::I64 | DType::U64 | DType::F64 => return vec![bits as u32, (bits >> 32) as u32],
            _ => bits as u32,
        };
        vec![word]
    }

    /// A cast that counts the elements it changed - those that do not come back as they were - and
    /// the words of its scalars, to which the fault slot and the count are to be added.
    #[must_use]
    pub fn checked_cast(from: DType, to: DType) -> (Self, Vec<u32>) {
        if !from.computes() {
            return Self::checked_cast_of_stored(from, to);
        }
        let mut expr = Self { inputs: vec![from], outputs: vec![1], ..Self::default() };
        expr.nodes = vec![
            Term::Input(0),
            Term::Cast(0, to),
            Term::Cast(1, from),
            Term::Apply(Op::Ne, [0, 2, 0]),
        ];
        let mut words = Vec::new();
        if from.is_float() && to.is_float() {
            // NaN differs from itself, but is not lost.
            expr.nodes.push(Term::Apply(Op::Eq, [0, 0, 0]));
            expr.nodes.push(Term::Apply(Op::And, [3, 4, 0]));
        } else {
            // There and back again does not find everything. The highest integer rounds up to a
            // power of two as a float, and saturates on the way back; that power saturates as an
            // integer, and rounds up on the way back. No float equals the highest integer, so an
            // element that is it on the integer's side was changed.
            let saturates = match (from.is_integer(), to.is_integer()) {
                (true, false) if !from.fits_in(to) => Some((from, 0)),
                (false, true) if from.is_float() && !to.fits_in(from) => Some((to, 1)),
                _ => None,
            };
            if let Some((dtype, node)) = saturates {
                let sign = u64::from(dtype.class() == Class::Signed);
                let highest = (u64::MAX >> (64 - 8 * dtype.width())) >> sign;
                words = Self::scalar_words(dtype, &highest.to_le_bytes()[..dtype.width()]);
                expr.scalars = vec![dtype];
                expr.nodes.push(Term::Scalar(0));
                expr.nodes.push(Term::Apply(Op::Eq, [node, 4, 0]));
                expr.nodes.push(Term::Apply(Op::Or, [3, 5, 0]));
            }
            if (from == DType::F16 && to.is_integer()) || (from.is_integer() && to == DType::F16) {
                // Nor does it find that the lowest integer is minus infinity as an f16, and the
                // other way round.
                let worst = expr.nodes.len() as u16 - 1;
                expr.nodes.push(Term::Apply(Op::IsInf, [u16::from(to == DType::F16), 0, 0]));
                expr.nodes.push(Term::Apply(Op::Or, [worst, worst + 1, 0]));
            }
            if from.is_integer() && !to.computes() {
                // Nor does it find what became infinite in a dtype that is not computed with.
                let worst = expr.nodes.len() as u16 - 1;
                expr.nodes.push(Term::Cast(1, DType::F32));
                expr.nodes.push(Term::Apply(Op::IsInf, [worst + 1, 0, 0]));
                expr.nodes.push(Term::Apply(Op::Or, [worst, worst + 2, 0]));
            }
        }
        expr.fault = Some(expr.nodes.len() as u16 - 1);
        (expr, words)
    }

    /// [`Expr::checked_cast`] from a dtype that is not computed with: values before and after are
    /// compared as f32, which has all that the dtype has.
    fn checked_cast_of_stored(from: DType, to: DType) -> (Self, Vec<u32>) {
        let mut expr = Self { inputs: vec![from], outputs: vec![1], ..Self::default() };
        expr.nodes = vec![
            Term::Input(0),
            Term::Cast(0, to),
            Term::Cast(0, DType::F32),
            Term::Cast(1, DType::F32),
            Term::Apply(Op::Ne, [2, 3, 0]),
        ];
        if to.is_float() {
            // NaN differs from itself, but is not lost.
            expr.nodes.push(Term::Apply(Op::Eq, [2, 2, 0]));
            expr.nodes.push(Term::Apply(Op::And, [4, 5, 0]));
        }
        expr.fault = Some(expr.nodes.len() as u16 - 1);
        (expr, Vec::new())
    }

    /// A cast to a float that counts the finite elements that it made infinite, or NaN where that
    /// is what it makes of them.
    #[must_use]
    pub fn bounded_cast(from: DType, to: DType) -> (Self, Vec<u32>) {
        let mut expr = Self { inputs: vec![from], outputs: vec![1], ..Self::default() };
        expr.nodes = vec![Term::Input(0), Term::Cast(0, to), Term::Apply(Op::IsInf, [1, 0, 0])];
        if !to.computes() {
            expr.nodes.truncate(2);
            expr.nodes.push(Term::Cast(1, DType::F32));
            expr.nodes.push(Term::Apply(Op::IsFinite, [2, 0, 0]));
            expr.nodes.push(Term::Apply(Op::Not, [3, 0, 0]));
        }
        if from.is_float() {
            let lost = expr.nodes.len() as u16 - 1;
            // An infinity stays one, or is lost where there is none.
            let stays = if to.has_infinity() {
                Term::Apply(Op::IsFinite, [0, 0, 0])
            } else {
                Term::Apply(Op::Eq, [0, 0, 0])
            };
            expr.nodes.push(stays);
            expr.nodes.push(Term::Apply(Op::And, [lost, lost + 1, 0]));
        }
        expr.fault = Some(expr.nodes.len() as u16 - 1);
        (expr, Vec::new())
    }

    /// Indices as u32, those that are not below `bound` as `u32::MAX` and noted as faults; and the
    /// words of its scalars.
    #[must_use]
    pub fn checked_index(from: DType, bound: usize) -> (Self, Vec<u32>) {
        let sign = u64::from(from.class() == Class::Signed);
        let highest = (u64::MAX >> (64 - 8 * from.width())) >> sign;
        // Compared with the last index, because the bound itself may be beyond the dtype.
        let (beyond, limit) = match bound.checked_sub(1) {
            Some(last) => (Op::Gt, (last as u64).min(highest)),
            None => (Op::Ge, 0),
        };
        let mut words = Vec::new();
        for number in [limit, 0] {
            words.extend(Self::scalar_words(from, &number.to_le_bytes()[..from.width()]));
        }
        words.extend(Self::scalar_words(DType::U32, &u32::MAX.to_le_bytes()));
        let expr = Self {
            inputs: vec![from],
            scalars: vec![from, from, DType::U32],
            nodes: vec![
                Term::Input(0),
                Term::Scalar(0),
                Term::Scalar(1),
                Term::Scalar(2),
                Term::Apply(beyond, [0, 1, 0]),
                Term::Apply(Op::Lt, [0, 2, 0]),
                Term::Apply(Op::Or, [4, 5, 0]),
                Term::Cast(0, DType::U32),
                Term::Apply(Op::Where, [6, 3, 7]),
            ],
            outputs: vec![8],
            fault: Some(6),
        };
        (expr, words)
    }

    /// The dtype of every node.
    ///
    /// # Errors
    /// The first node that has none.
    pub fn dtypes(&self) -> Result<Vec<DType>, Refusal> {
        let mut dtypes: Vec<DType> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let dtype = match *node {
                Term::Input(i) => self.inputs[usize::from(i)],
                Term::Scalar(j) => self.scalars[usize::from(j)],
                Term::Cast(_, to) => to,
                Term::Call(ref formula, _) if formula.truth => DType::Bool,
                Term::Call(_, args) => dtypes[usize::from(args[0])],
                Term::Apply(op, args) => {
                    let operands = args[..op.arity()].iter().map(|&a| dtypes[usize::from(a)]);
                    op.result(&operands.collect::<Vec<_>>())?
                }
            };
            dtypes.push(dtype);
        }
        Ok(dtypes)
    }

    /// The kernel of this graph with inputs reached in these ways; f16 native or packed.
    ///
    /// # Errors
    /// The first node that has no dtype.
    pub fn assemble(
        &self,
        ways: &[Way],
        f16_native: bool,
        rank: u32,
        target: Target,
    ) -> Result<Assembled, Refusal> {
        let dtypes = self.dtypes()?;
        let slots = self.slots(&dtypes, ways, f16_native, target);
        let text = self.text(&dtypes, &slots, BY_QUAD);
        let bound = slots.iter().filter(|slot| !matches!(slot.way, Way::Own(_))).count();
        let formulas = self.formulas(&dtypes);
        let mut bindings = definitions(&formulas);
        if self.fault.is_some() {
            put!(
                bindings,
                "\n@group(0) @binding({bound}) \
                 var<storage, read_write> faults: array<atomic<u32>>;"
            );
        }
        let body = Body {
            bindings: &bindings,
            needs: formula::needs(&formulas),
            once: &text.once,
            each: &text.body,
            second: None,
            after: &text.after,
        };
        Ok(elementwise::elementwise(&slots, body, text.words, (rank, target)))
    }

    /// The kernel by pairs of quads, for adapters whose time goes into loads and stores.
    ///
    /// # Errors
    /// The first node that has no dtype.
    pub fn assemble_pairs(
        &self,
        ways: &[Way],
        f16_native: bool,
        rank: u32,
    ) -> Result<Assembled, Refusal> {
        let dtypes = self.dtypes()?;
        let slots = self.slots(&dtypes, ways, f16_native, Target::Cpu64);
        let first = self.text(&dtypes, &slots, FIRST_OF_PAIR);
        let second = self.text(&dtypes, &slots, SECOND_OF_PAIR);
        let formulas = self.formulas(&dtypes);
        let body = Body {
            bindings: &definitions(&formulas),
            needs: formula::needs(&formulas),
            once: &first.once,
            each: &first.body,
            second: Some(&second.body),
            after: "",
        };
        Ok(elementwise::elementwise(&slots, body, first.words, (rank, Target::Cpu64)))
    }

    /// The kernel for few elements, one to a lane. The ways are [`Way::Lane`], [`Way::One`],
    /// [`Way::EachStrided`] or [`Way::Own`].
    ///
    /// # Errors
    /// The first node that has no dtype.
    pub fn assemble_few(
        &self,
        ways: &[Way],
        f16_native: bool,
        rank: u32,
        target: Target,
    ) -> Result<Assembled, Refusal> {
        let dtypes = self.dtypes()?;
        let mut slots = self.slots(&dtypes, ways, f16_native, target);
        slots.iter_mut().filter(|slot| slot.written).for_each(|slot| slot.way = Way::Lane);
        let text = self.text(&dtypes, &slots, BY_QUAD);
        let formulas = self.formulas(&dtypes);
        let body = Body {
            bindings: &definitions(&formulas),
            needs: formula::needs(&formulas),
            once: &text.once,
            each: &text.body,
            ..Body::default()
        };
        Ok(elementwise::elementwise_few(&slots, body, text.words, (rank, target)))
    }

    /// Whether [`Expr::assemble_few`] can be used: no two lanes may store to one word, and what the
    /// last eight store beyond the end has to be padding.
    #[must_use]
    pub fn goes_by_lanes(&self, dtypes: &[DType]) -> bool {
        let words = |&output: &u16| dtypes[usize::from(output)].width() == 4;
        self.fault.is_none() && self.outputs.iter().all(words)
    }

    /// Whether [`Expr::assemble_pairs`] can and should be used: where loads and stores are most of
    /// the work, because the text is twice as long.
    #[must_use]
    pub fn goes_by_pairs(&self, dtypes: &[DType]) -> bool {
        let effort = |node: &Term| match node {
            Term::Apply(op, _) => op.effort(),
            Term::Call(formula, _) => formula.effort,
            _ => 0,
        };
        let narrow = |&output: &u16| dtypes[usize::from(output)].width() <= 4;
        self.fault.is_none()
            && !self.inputs.is_empty()
            && self.outputs.iter().all(narrow)
            && self.nodes.iter().map(effort).sum::<u32>() <= PAIRS_EFFORT_MAX
    }

    /// The operations of the user's own, and of which kinds their operands are.
    pub(crate) fn formulas(&self, dtypes: &[DType]) -> Vec<(Arc<FormulaText>, Kind)> {
        let used = self.nodes.iter().filter_map(|node| match node {
            Term::Call(formula, args) => {
                Some((Arc::clone(formula), Kind::of(dtypes[usize::from(args[0])])))
            }
            _ => None,
        });
        used.collect()
    }

    fn slots(&self, dtypes: &[DType], ways: &[Way], f16_native: bool, target: Target) -> Vec<Slot> {
        let read = |(&dtype, &way)| Slot::read(Form::read(dtype, target, f16_native), way);
        let written = |&output: &u16| {
            Slot::write(Form::written(dtypes[usize::from(output)], target, f16_native))
        };
        let inputs = self.inputs.iter().zip(ways).map(read);
        inputs.chain(self.outputs.iter().map(written)).collect()
    }

    /// The graph as a function of a kernel that is not elementwise itself: of quad (or element)
    /// `q`, and of the first `given` inputs. The others are slots from `first` on, scalars begin at
    /// `word`. The function `finish` stores its value, all others return it.
    pub(crate) fn function(
        &self,
        name: &str,
        first: usize,
        word: usize,
        ways: &[Way],
        given: usize,
    ) -> Result<Function, Refusal> {
        let dtypes = self.dtypes()?;
        let mut text = Statements { words: word.next_multiple_of(2), ..Statements::default() };
        self.declare_scalars(&mut text);
        for (i, way) in ways.iter().enumerate() {
            let argument = if *way == Way::One { "" } else { "q" };
            let (x, slot) = (given + i, first + i);
            put!(text.body, "let x{x} = load_{slot}({argument});");
        }
        let names = self.compute(&dtypes, &mut text.body);
        let output = usize::from(self.outputs[0]);
        let (value, dtype) = (&names[output], dtypes[output]);
        let of = |dtype| Form::of(dtype, false).value();
        let inputs = self.inputs[..given].iter().enumerate();
        let inputs: String = inputs.map(|(i, &dtype)| format!(", x{i}: {}", of(dtype))).collect();
        let (result, last) = match name {
            "finish" => (String::new(), format!("store_0(q, {value});")),
            _ => (format!(" -> {}", of(dtype)), format!("return {value};")),
        };
        let lines = format!("{}{}{last}\n", text.once, text.body);
        let lines: String = lines.lines().map(|line| format!("    {line}\n")).collect();
        let text_of = format!("fn {name}(q: u32{inputs}){result} {{\n{lines}}}\n\n");
        Ok(Function { text: text_of, words: text.words, dtype })
    }

    /// What stands before the loop and inside it.
    fn text(&self, dtypes: &[DType], slots: &[Slot], calls: Calls) -> Statements {
        let mut text = Statements::default();
        self.declare_scalars(&mut text);
        for (i, slot) in slots[..self.inputs.len()].iter().enumerate() {
            let Calls { load, at, .. } = if is_double(slot) { calls } else { BY_QUAD };
            match slot.way {
                Way::One => put!(text.once, "let x{i} = load_{i}();"),
                _ => put!(text.body, "let x{i} = {load}_{i}({at});"),
            }
        }
        let names = self.compute(dtypes, &mut text.body);
        let Calls { store, at, .. } = calls;
        for (j, &output) in self.outputs.iter().enumerate() {
            put!(text.body, "{store}_{j}({at}, {});", names[usize::from(output)]);
        }
        if let Some(fault) = self.fault {
            let [slot, count, base] = [0, 1, 2].map(|i| word_at(text.words + i));
            let bad = &names[usize::from(fault)];
            text.once.push_str("var bad = 0u;\nvar worst = 0u;\n");
            put!(text.body, "bad += count_faults({bad}, q, {count});");
            put!(text.body, "worst = max(worst, first_fault({bad}, q, {count}, {base}));");
            text.after = format!(
                "if bad > 0u {{\n    atomicAdd(&faults[2u * {slot}], bad);\n    \
                 atomicMax(&faults[2u * {slot} + 1u], worst);\n}}"
            );
            text.words += 3;
        }
        text
    }

    /// A line for each scalar, as a quad.
    fn declare_scalars(&self, text: &mut Statements) {
        let word = &mut text.words;
        for (j, &dtype) in self.scalars.iter().enumerate() {
            if scalar_width(dtype) == 2 {
                *word = word.next_multiple_of(2);
            }
            let value = scalar(dtype, *word);
            put!(text.once, "let s{j} = {value}; // a scalar, {dtype}");
            *word += scalar_width(dtype);
        }
    }

    /// A line for each operation; the names of all nodes.
    fn compute(&self, dtypes: &[DType], body: &mut String) -> Vec<String> {
        let mut names: Vec<String> = Vec::with_capacity(self.nodes.len());
        for (n, node) in self.nodes.iter().enumerate() {
            let name = match *node {
                Term::Input(i) => format!("x{i}"),
                Term::Scalar(j) => format!("s{j}"),
                Term::Cast(a, to) => {
                    let from = dtypes[usize::from(a)];
                    let value = cast(&names[usize::from(a)], from, to);
                    put!(body, "let v{n} = {value}; // {from} to {to}");
                    format!("v{n}")
                }
                Term::Apply(op, args) => {
                    let args = args[..op.arity()].iter().map(|&a| &*names[usize::from(a)]);
                    let args = args.collect::<Vec<_>>();
                    let operand = match *node {
                        Term::Apply(op, a) => dtypes[usize::from(a[op.arity() - 1])],
                        _ => dtypes[n],
                    };
                    let value = applied(op, operand, &args);
                    put!(body, "let v{n} = {value}; // {op}");
                    format!("v{n}")
                }
                Term::Call(ref formula, args) => {
                    let given = args[..formula.operands.len()].iter();
                    let given: Vec<_> = given.map(|&a| &*names[usize::from(a)]).collect();
                    let dtype = dtypes[usize::from(args[0])];
                    let value = formula.call(Kind::of(dtype), &given.join(", "));
                    put!(body, "let v{n} = {}; // your own", narrowed(dtypes[n], value));
                    format!("v{n}")
                }
            };
            names.push(name);
        }
        names
    }
}

/// A graph as a function.
pub(crate) struct Function {
    pub(crate) text: String,
    /// Words of scalars, its own included.
    pub(crate) words: usize,
    /// Of what it returns or stores.
    pub(crate) dtype: DType,
}

#[derive(Default)]
struct Statements {
    once: String,
    body: String,
    after: String,
    /// Words of scalars.
    words: usize,
}

/// Words of a scalar parameter.
pub(crate) const fn scalar_width(dtype: DType) -> usize {
    if dtype.width() == 8 { 2 } else { 1 }
}

/// A word among the scalars.
fn word_at(word: usize) -> String {
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
    let value = if a == b {
        value.to_owned()
    } else if narrow && !from.fits_in(DType::F32) {
        // One rounding, not two.
        format!("{}_to_odd({value})", a.name())
    } else {
        format!("{}_to_{}({value})", a.name(), b.name())
    };
    let held = from.fits_in(to);
    match to.class() {
        Class::Float if narrow && !held => format!("round_{to}({value})"),
        Class::Signed | Class::Unsigned if small && !held => format!("clamp_to_{to}({value})"),
        _ => value,
    }
}
