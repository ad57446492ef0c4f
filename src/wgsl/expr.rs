//! Expressions: small graphs of elementwise operations. What is written for one depends on its
//! structure alone - operations, dtypes - and on the ways to its operands, never on sizes or
//! constants, so that both are the key of a pipeline.

use std::sync::Arc;

use super::formula::FormulaText;
use crate::dtype::{Class, DType, f8e4m3, f8e5m2};
use crate::op::{Kind, Op, Refusal};

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
    /// Whether a formula in it has a loop.
    pub(crate) fn loops(&self) -> bool {
        self.nodes.iter().any(|node| matches!(node, Term::Call(formula, _) if formula.loops))
    }

    /// Nothing but its only input.
    #[must_use]
    pub fn itself(dtype: DType) -> Self {
        let (inputs, nodes, outputs) = (vec![dtype], vec![Term::Input(0)], vec![0]);
        Self { inputs, nodes, outputs, ..Self::default() }
    }

    /// Whether it is nothing but its first input.
    #[must_use]
    pub fn is_itself(&self) -> bool {
        matches!(&*self.nodes, [Term::Input(0)])
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
}
