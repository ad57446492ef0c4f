//! Loops that nothing ends: a driver's watchdog would, and the device with them.

use naga::{Block, Expression, Function, Handle, Literal, Statement};

/// The place of a loop that has neither a break nor a return, if there is one.
pub(super) fn endless(function: &Function) -> Option<usize> {
    find(function, &function.body)
}

fn find(function: &Function, block: &Block) -> Option<usize> {
    block.span_iter().find_map(|(statement, span)| match statement {
        Statement::Loop { body, continuing, break_if } => {
            if break_if.is_none() && !leaves(function, body, true) {
                return Some(span.to_range().map_or(0, |range| range.start));
            }
            find(function, body).or_else(|| find(function, continuing))
        }
        statement => blocks(statement).into_iter().find_map(|block| find(function, block)),
    })
}

/// The blocks of a statement.
pub(super) fn blocks(statement: &Statement) -> Vec<&Block> {
    match statement {
        Statement::Block(block) => vec![block],
        Statement::If { accept, reject, .. } => vec![accept, reject],
        Statement::Switch { cases, .. } => cases.iter().map(|case| &case.body).collect(),
        Statement::Loop { body, continuing, .. } => vec![body, continuing],
        _ => Vec::new(),
    }
}

/// Whether something in a block may leave the loop: by `break`, if that is the loop's, or by
/// `return`.
fn leaves(function: &Function, block: &Block, breaks: bool) -> bool {
    block.iter().any(|statement| match statement {
        Statement::Break => breaks,
        Statement::Return { .. } | Statement::Kill => true,
        Statement::Loop { body, .. } => leaves(function, body, false),
        Statement::Switch { cases, .. } => {
            cases.iter().any(|case| leaves(function, &case.body, false))
        }
        // `while true` breaks where it is false.
        Statement::If { condition, accept, reject } => {
            let known = known(function, *condition);
            (known != Some(false) && leaves(function, accept, breaks))
                || (known != Some(true) && leaves(function, reject, breaks))
        }
        statement => blocks(statement).into_iter().any(|block| leaves(function, block, breaks)),
    })
}

/// A condition that is written as `true` or `false`.
fn known(function: &Function, condition: Handle<Expression>) -> Option<bool> {
    match function.expressions[condition] {
        Expression::Literal(Literal::Bool(value)) => Some(value),
        _ => None,
    }
}
