//! Kernels that compute where an element comes from - `patch` and `gather` - and `runs`, which adds
//! up what came together: their texts for every way they are used.

use std::sync::Arc;

use super::assemble::{Assembled, Slot, Way, build, kernel};
use super::catalog::{self, Entry, Needs};
use super::form::Form;
use super::kept::kept;
use super::params::Target;
use crate::op::Kind;

/// What decides where an element comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// Its place along an axis.
    Place,
    /// An index.
    Index,
}

/// `patch` or `gather` of elements of this form; `whole` where quads come as a whole.
#[must_use]
pub fn pick(by: By, form: Form, whole: bool, rank: u32, target: Target) -> Arc<Assembled> {
    let from = Slot::read(form, if whole { Way::AtQuad } else { Way::At });
    let own = [Slot::read(form, Way::Own(0)), Slot::write(form)];
    let index = [Slot::read(Form::U32, Way::At)];
    let (entry, index) = match by {
        By::Place => (&catalog::PATCH, &index[..0]),
        By::Index => (&catalog::GATHER, &index[..]),
    };
    let slots = [&[from], index, &own].concat();
    kernel(entry, &slots, rank, target)
}

/// `runs` of sums in this kind of number.
#[must_use]
pub fn runs(kind: Kind, target: Target) -> Arc<Assembled> {
    let needs = match kind {
        Kind::F64 => Needs::F64,
        Kind::I64 | Kind::U64 => Needs::INT64,
        _ => Needs::NONE,
    };
    kept(catalog::RUNS.name, &[], kind.name(), (0, target), || {
        let sum = format!("alias Sum = {};\n", kind.name());
        build(&catalog::RUNS, &[], &[("sum", &sum)], needs, (0, target))
    })
}

/// A kernel of the catalog whose bindings are its own.
#[must_use]
pub fn plain(entry: &Entry, target: Target) -> Arc<Assembled> {
    let shape = (0, target);
    kept(entry.name, &[], "own bindings", shape, || build(entry, &[], &[], Needs::NONE, shape))
}
