//! What naga finds wrong with a text, in the words of whoever wrote it: names instead of numbers of
//! expressions, for the mistakes that are made most.

use naga::valid::{EntryPointError, ExpressionError, FunctionError, ValidationError};
use naga::{AddressSpace, BinaryOperator, Expression, Function, Handle, Module};
use naga::{ScalarKind, SourceLocation, StorageAccess, TypeInner};

use super::scan::tokens;

/// A validation error as it is told, and the byte that it means, where known.
pub(super) fn verdict(
    text: &str,
    module: &Module,
    error: &naga::WithSpan<ValidationError>,
) -> (Option<usize>, String) {
    let told = match error.as_inner() {
        ValidationError::EntryPoint { name, source, .. } => match source {
            EntryPointError::Function(inner) => {
                let entry = module.entry_points.iter().find(|entry| entry.name == *name);
                entry.and_then(|entry| told(module, &entry.function, inner))
            }
            EntryPointError::BindingCollision(global) => {
                let name = module.global_variables[*global].name.as_deref();
                name.map(|name| format!("{name} has the group and the binding of another"))
            }
            _ => None,
        },
        ValidationError::Function { handle, source, .. } => {
            let function = module.functions.try_get(*handle).ok();
            function.and_then(|function| told(module, function, source))
        }
        _ => None,
    };
    // Of a function the first place is all of it, where there are more.
    let all = usize::from(matches!(error.as_inner(), ValidationError::Function { .. }));
    let place = error.spans().nth(all).or_else(|| error.spans().next());
    let place = place.map(|(span, _)| span.location(text));
    let at = place.and_then(placed).or_else(|| match error.as_inner() {
        ValidationError::EntryPoint { name, .. } => declared(text, name),
        _ => None,
    });
    // Where a place is shown, what lies around it needs no words.
    let whole = if at.is_some() { innermost } else { chain };
    (at, told.unwrap_or_else(|| whole(error.as_inner())))
}

/// The byte of a place; naga has the first byte of a text for one that it does not know.
pub(super) fn placed(at: SourceLocation) -> Option<usize> {
    (at.length > 0).then_some(at.offset as usize)
}

/// An error with all its causes: naga's outermost message only names the function.
pub(super) fn chain(error: &dyn core::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        next = cause.source();
    }
    text
}

fn innermost(error: &dyn core::error::Error) -> String {
    error.source().map_or_else(|| error.to_string(), innermost)
}

/// Where a function is declared.
fn declared(text: &str, name: &str) -> Option<usize> {
    let all: Vec<_> = tokens(text).map(|at| (at.start, &text[at])).collect();
    let pair = all.windows(2).find(|pair| pair[0].1 == "fn" && pair[1].1 == name);
    pair.map(|pair| pair[1].0)
}

fn told(module: &Module, function: &Function, error: &FunctionError) -> Option<String> {
    Some(match error {
        FunctionError::Expression { source, .. } => match source {
            ExpressionError::InvalidBinaryOperandTypes { op, lhs_type, rhs_type, .. } => {
                let [left, right] = [named(lhs_type)?, named(rhs_type)?];
                let op = symbol(*op);
                format!("`{op}` does not take {left} and {right}: WGSL converts neither by itself")
            }
            ExpressionError::InvalidPointerType(pointer) => {
                let (name, _) = global(module, function, *pointer)?;
                format!("{name} is an array: `{name}[i]` is an element, `&{name}` all of it")
            }
            ExpressionError::InvalidIndexType(_) => "a place is an i32 or a u32".to_owned(),
            _ => return None,
        },
        FunctionError::InvalidStorePointer(pointer) => match global(module, function, *pointer)? {
            (name, AddressSpace::Storage { access }) if !access.contains(StorageAccess::STORE) => {
                format!("{name} is only read: `var<storage, read_write>` is written too")
            }
            (name, AddressSpace::Uniform) => format!("{name} is a uniform, which is only read"),
            _ => return None,
        },
        FunctionError::InvalidIfType(_) => "a condition is a bool, and this is none".to_owned(),
        FunctionError::InvalidReturnType { expression, expected_ty } => {
            match (expression, expected_ty) {
                (None, _) => "a path through this ends without the value that it returns",
                (_, None) => "this is returned, and the function names no type: `-> f32`",
                _ => "this has another type than what the function returns",
            }
            .to_owned()
        }
        FunctionError::InvalidStoreTypes { .. } => {
            "this has another type than what is stored in it".to_owned()
        }
        _ => return None,
    })
}

/// The global that a pointer leads into.
fn global<'m>(
    module: &'m Module,
    function: &Function,
    mut pointer: Handle<Expression>,
) -> Option<(&'m str, AddressSpace)> {
    loop {
        pointer = match function.expressions[pointer] {
            Expression::Access { base, .. } | Expression::AccessIndex { base, .. } => base,
            Expression::Load { pointer } => pointer,
            Expression::GlobalVariable(global) => {
                let global = &module.global_variables[global];
                return Some((global.name.as_deref()?, global.space));
            }
            _ => return None,
        };
    }
}

/// A type as WGSL writes it, if it is a number or a vector.
fn named(ty: &TypeInner) -> Option<String> {
    let scalar = |scalar: naga::Scalar| match scalar.kind {
        ScalarKind::Float => Some(format!("f{}", 8 * scalar.width)),
        ScalarKind::Sint => Some(format!("i{}", 8 * scalar.width)),
        ScalarKind::Uint => Some(format!("u{}", 8 * scalar.width)),
        ScalarKind::Bool => Some("bool".to_owned()),
        ScalarKind::AbstractInt | ScalarKind::AbstractFloat => Some("a literal".to_owned()),
    };
    match *ty {
        TypeInner::Scalar(of) => scalar(of),
        TypeInner::Vector { size, scalar: of } => {
            Some(format!("vec{}<{}>", size as u8, scalar(of)?))
        }
        _ => None,
    }
}

const fn symbol(op: BinaryOperator) -> &'static str {
    match op {
        BinaryOperator::Add => "+",
        BinaryOperator::Subtract => "-",
        BinaryOperator::Multiply => "*",
        BinaryOperator::Divide => "/",
        BinaryOperator::Modulo => "%",
        BinaryOperator::Equal => "==",
        BinaryOperator::NotEqual => "!=",
        BinaryOperator::Less => "<",
        BinaryOperator::LessEqual => "<=",
        BinaryOperator::Greater => ">",
        BinaryOperator::GreaterEqual => ">=",
        BinaryOperator::And => "&",
        BinaryOperator::ExclusiveOr => "^",
        BinaryOperator::InclusiveOr => "|",
        BinaryOperator::LogicalAnd => "&&",
        BinaryOperator::LogicalOr => "||",
        BinaryOperator::ShiftLeft => "<<",
        BinaryOperator::ShiftRight => ">>",
    }
}
