//! What Metal's compiler refuses of what naga makes of a valid text.

use naga::valid::{FunctionInfo, ModuleInfo};
use naga::{BinaryOperator, Expression, Function, Module, ScalarKind, TypeInner};

/// The place of a division of single integers of 64 bits, if there is one. naga 30 guards it by
/// `metal::select(y, 1u, y == 0u)`, whose overloads fit a `ulong` and a `uint` equally well. For
/// vectors only one does.
pub(super) fn wide_division(module: &Module, info: &ModuleInfo) -> Option<usize> {
    let functions = module.functions.iter().map(|(handle, function)| (function, &info[handle]));
    let entries = module.entry_points.iter().enumerate();
    let entries = entries.map(|(i, entry)| (&entry.function, info.get_entry_point(i)));
    functions.chain(entries).find_map(|(function, info)| find(module, function, info))
}

fn find(module: &Module, function: &Function, info: &FunctionInfo) -> Option<usize> {
    let all = &function.expressions;
    let (at, _) = all.iter().find(|(_, expression)| {
        let Expression::Binary { op, left, .. } = **expression else { return false };
        let TypeInner::Scalar(scalar) = *info[left].ty.inner_with(&module.types) else {
            return false;
        };
        matches!(op, BinaryOperator::Divide | BinaryOperator::Modulo)
            && matches!(scalar.kind, ScalarKind::Sint | ScalarKind::Uint)
            && scalar.width == 8
    })?;
    all.get_span(at).to_range().map(|range| range.start)
}
