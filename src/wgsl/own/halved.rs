//! Arrays of f16 whose tensors end in the middle of a word. A binding is whole words, so WGSL
//! counts an element more than there is.
//!
//! ```text
//! arrayLength(&x)   ->   (arrayLength(&x) - 1u)
//! ```

use naga::{Expression, Module};

use super::additions::Additions;
use crate::wgsl::scan::closing;

/// What has these arrays be as long as their tensors.
pub(super) fn halved(plain: &str, module: &Module, arrays: &[String]) -> Additions {
    let mut added = Additions::default();
    let functions = module.functions.iter().map(|(_, function)| function);
    for function in functions.chain(module.entry_points.iter().map(|entry| &entry.function)) {
        let all = &function.expressions;
        for (handle, expression) in all.iter() {
            let Expression::ArrayLength(array) = *expression else { continue };
            let Expression::GlobalVariable(array) = all[array] else { continue };
            let name = module.global_variables[array].name.as_ref();
            if name.is_some_and(|name| arrays.contains(name))
                && let Some(span) = all.get_span(handle).to_range()
                && let Some(end) = call_end(plain, span.start)
            {
                added.insert(span.start, "(");
                added.insert(end, " - 1u)");
            }
        }
    }
    added
}

/// Where the call ends that begins at a place.
fn call_end(plain: &str, begin: usize) -> Option<usize> {
    let open = begin + plain[begin..].find('(')?;
    Some(closing(plain, open)? + 1)
}
