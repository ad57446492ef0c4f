//! Kernels that compute where an element comes from: their texts for every way they are used.

use std::sync::Arc;

use crate::wgsl::kept::kernel;
use crate::wgsl::params::params;
use crate::wgsl::source::source;
use crate::wgsl::{Assembled, Entry, Form, Grid, Slot, Target, Way};

params! {
    struct PatchJob {
        grid: Grid,
        first: u32,
        count: u32,
        start: u32,
        there: u32,
    }

    struct GatherJob {
        grid: Grid,
        step: u32,
        bound: u32,
        start: u32,
        there: u32,
        index_start: u32,
        indices: u32,
    }
}

/// The elements of an output that one source has.
pub const PATCH: Entry = Entry::walking("patch", source!("patch.wgsl"), 2).told(PatchJob::MEMBERS);
/// The elements of an output that an index names.
pub const GATHER: Entry =
    Entry::walking("gather", source!("gather.wgsl"), 2).told(GatherJob::MEMBERS);

/// What decides where an element comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lookup {
    /// Its place along an axis.
    Place,
    /// An index.
    Index,
}

/// `patch` or `gather` of elements of this form; `whole` where quads come as a whole.
#[must_use]
pub fn pick(lookup: Lookup, form: Form, whole: bool, rank: u32, target: Target) -> Arc<Assembled> {
    let from = Slot::read(form, if whole { Way::AtQuad } else { Way::At });
    let own = [Slot::read(form, Way::Own(0)), Slot::write(form)];
    let index = [Slot::read(Form::U32, Way::At)];
    let (entry, index) = match lookup {
        Lookup::Place => (&PATCH, &index[..0]),
        Lookup::Index => (&GATHER, &index[..]),
    };
    let slots = [&[from], index, &own].concat();
    kernel(entry, &slots, rank, target)
}
