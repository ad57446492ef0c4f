//! Places past the end of an array, which WGSL leaves to the driver: one gives zero there, one the
//! last element, one drops what is stored. Here they are other elements of the array, as a driver
//! may have it, so that a kernel whose results hang on them has other results on every driver.
//!
//! ```text
//! y[i] = x[i + 1]   ->   y[wharf_astray(u32(i), wharf_length_y(), 1u)] = ..
//! ```

use std::collections::{BTreeMap, BTreeSet};

use naga::valid::{FunctionInfo, ModuleInfo};
use naga::{ArraySize, Expression, Function, Handle, Module, TypeInner};

use super::additions::Additions;
use crate::wgsl::lines::put;

/// What becomes of a place; each place in the text has a number of its own, so that an element is
/// not both read and written astray by the same rule.
const ASTRAY: &str = "
fn wharf_astray(place: u32, length: u32, at: u32) -> u32 {
    let other = (place * 2654435769u + at * 40503u) >> 7u;
    return select(place, other % max(length, 1u), place >= length);
}
";

/// An array whose elements are reached by a place in brackets.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Length {
    Known(u32),
    /// Of the tensor that this binding is given.
    Of(String),
}

/// What has every place in brackets that is past the end be another one; nothing where there are
/// none.
pub(super) fn astray(plain: &str, module: &Module, info: &ModuleInfo) -> Additions {
    let mut reached = BTreeMap::new();
    let mut find = |function: &Function, info: &FunctionInfo| {
        for (handle, expression) in function.expressions.iter() {
            let (base, is_constant) = match *expression {
                Expression::Access { base, .. } => (base, false),
                Expression::AccessIndex { base, .. } => (base, true),
                _ => continue,
            };
            let length = length(module, function, info, base);
            // A constant is within an array of known length, or the text is not valid.
            let Some(length) = length.filter(|l| !is_constant || matches!(l, Length::Of(_))) else {
                continue;
            };
            let span = function.expressions.get_span(handle).to_range();
            reached.extend(span.and_then(|span| brackets(plain, span.end)).map(|at| (at, length)));
        }
    };
    for (handle, function) in module.functions.iter() {
        find(function, &info[handle]);
    }
    for (i, entry) in module.entry_points.iter().enumerate() {
        find(&entry.function, info.get_entry_point(i));
    }
    let mut added = Additions::default();
    let (mut behind, mut named) = (ASTRAY.to_owned(), BTreeSet::new());
    for ((open, close), length) in reached {
        let length = match length {
            Length::Known(count) => format!("{count}u"),
            Length::Of(name) => {
                let call = format!("wharf_length_{name}()");
                if named.insert(name.clone()) {
                    put!(behind, "\nfn {call} -> u32 {{\n    return arrayLength(&{name});\n}}");
                }
                call
            }
        };
        added.insert(open + 1, "wharf_astray(u32(");
        added.insert(close, format!("), {length}, {open}u)"));
    }
    if !added.is_empty() {
        added.append(&behind);
    }
    added
}

/// How many elements the array has that is reached into, if it is one.
fn length(
    module: &Module,
    function: &Function,
    info: &FunctionInfo,
    base: Handle<Expression>,
) -> Option<Length> {
    let pointer = info[base].ty.inner_with(&module.types);
    let TypeInner::Pointer { base: array, .. } = *pointer else { return None };
    match (&module.types[array].inner, &function.expressions[base]) {
        (TypeInner::Array { size: ArraySize::Constant(count), .. }, _) => {
            Some(Length::Known(count.get()))
        }
        (TypeInner::Array { .. }, Expression::GlobalVariable(global)) => {
            module.global_variables[*global].name.clone().map(Length::Of)
        }
        _ => None,
    }
}

/// Where the brackets open and close that end before a place.
fn brackets(plain: &str, end: usize) -> Option<(usize, usize)> {
    let close = plain.get(..end)?.strip_suffix(']')?.len();
    let mut depth = 0;
    let open = plain[..=close].bytes().rposition(|byte| {
        depth += i32::from(byte == b']') - i32::from(byte == b'[');
        depth == 0
    })?;
    Some((open, close))
}
