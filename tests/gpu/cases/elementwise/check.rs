//! Results against the contract of their operation.

use std::collections::HashMap;

use wharf::DType;
use wharf::reference::{Number, apply, keeps};

use super::operand_dtype;
use super::values::{self, Source};
use crate::cases::pair::value;
use crate::ctx::Outcome;

/// Checks every result against the contract. Equal results of equal operands are judged once.
pub(super) fn check(source: &Source, operands: &[Vec<u64>], got: &[u64]) -> Outcome {
    let n = operands.iter().map(Vec::len).max().unwrap_or(0);
    if got.len() != n {
        return Err(format!("{} results, not {n}", got.len()));
    }
    let mut judged = HashMap::new();
    let mut wrong = Vec::new();
    for (i, &got) in got.iter().enumerate() {
        let mut key = [got; 4];
        for (to, from) in key[1..].iter_mut().zip(operands) {
            *to = from[i];
        }
        if !*judged.entry(key).or_insert_with(|| judge(source, key)) {
            wrong.push((i, key));
        }
    }
    if wrong.is_empty() {
        return Ok(());
    }
    let some = wrong.iter().step_by(wrong.len() / 5 + 1).map(|&(i, key)| {
        let (values, got) = decoded(source, key);
        let exact = apply(source.op, source.dtype, &values);
        format!("index {i}: {}{values:?} = {got:?}, not {exact:?}", source.op)
    });
    let some: Vec<String> = some.collect();
    Err(format!("{} of {n}: {}", wrong.len(), some.join("; ")))
}

/// The operands and the result from their bits.
fn decoded(source: &Source, [got, operands @ ..]: [u64; 4]) -> (Vec<Number>, Number) {
    let (op, dtype) = (source.op, source.dtype);
    let values = operands.iter().enumerate().take(op.arity());
    let values = values.map(|(i, &b)| value(operand_dtype(op, dtype, i), b)).collect();
    (values, value(if op.yields_bool() { DType::Bool } else { dtype }, got))
}

fn judge(source: &Source, key: [u64; 4]) -> bool {
    let (values, got) = decoded(source, key);
    let op = source.op;
    !op.covers(&values)
        || keeps(op, source.dtype, &values, got) && values::keeps_bits(op, &values, got)
}
