//! Expressions that note elements at fault while they compute: checked casts, checked indices.

use std::sync::Arc;

use super::Destination;
use super::operation::Work;
use crate::engine::Site;
use crate::error::{Error, Result};
use crate::exec::{Hit, Seat, Value};
use crate::kernel::{Operand, elementwise, index_space};
use crate::wgsl::Expr;

/// An expression of one input that has a fault, and the words of its scalars.
pub(crate) type Checked = (Expr, Vec<u32>);

/// Records it over the shape of its input; the result is dense. A hit is an error at the first
/// read of anything that is computed from the result.
pub(crate) fn record(
    site: Site<'_>,
    input: &Operand,
    (expr, scalars): &Checked,
    explain: impl Fn(Hit) -> Error + Send + Sync + 'static,
) -> Result<Arc<Value>> {
    let shape = input.layout.shape();
    index_space(shape.elements())?;
    let make = elementwise::text_of(site.engine, expr);
    let output = expr.dtypes()?[usize::from(expr.outputs[0])];
    let fault = site.engine.fault(Seat::Shared, explain)?;
    let inputs = core::slice::from_ref(input);
    let work = Work { make: &make, paces: &[], scalars, single: false, fault: Some(&fault) };
    let to = Destination::New;
    let value = elementwise::record(site, shape, inputs, to, output, &work)?;
    value.inherit([&*input.value]);
    value.carry(fault);
    Ok(value)
}
