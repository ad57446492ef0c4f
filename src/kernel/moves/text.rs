//! Moves: elements from one place to another, as bits. They are the elementwise kernel with nothing
//! between load and store.

use core::convert::Infallible;
use std::sync::Arc;

use crate::kernel::elementwise::text::{Body, Pace, TextShape, assembled};
use crate::shape::RANK_MAX;
use crate::wgsl::access::offset;
use crate::wgsl::kept::{Details, Recipe};
use crate::wgsl::params::params;
use crate::wgsl::source::source;
use crate::wgsl::{Assembled, Entry, Form, Grid, Slot, Target, Way};

/// Transpositions in whole tiles.
pub const TRANSPOSE: Entry = Entry::walking("transpose", source!("transpose.wgsl"), 2)
    .of(&[
        &[Form::W8, Form::W8],
        &[Form::W16, Form::W16],
        &[Form::W32, Form::W32],
        &[Form::W64, Form::W64],
    ])
    .told(TransposeJob::MEMBERS);

params! {
    struct TransposeJob {
        grid: Grid,
        row: [u32; 2],
        offset: [u32; 4],
        shape: [u32; RANK_MAX],
        stride: [[u32; RANK_MAX]; 2],
    }
}

fn moved(
    name: &'static str,
    slots: &[Slot],
    body: &str,
    scalars: usize,
    (rank, target): (u32, Target),
) -> Arc<Assembled> {
    let details = Details::plain(rank, target);
    let recipe = Recipe { kernel: name, edges: &[], slots, wording: &(), details };
    let Ok(text) = recipe.kept(|| {
        let shape = TextShape { rank, target, pace: Pace::Quads };
        let mut kernel = assembled(slots, Body::of(body, scalars), shape);
        kernel.name = name;
        Ok::<_, Infallible>(kernel)
    });
    text
}

fn copy(from: Way) -> String {
    let argument = if from == Way::One { "" } else { "q" };
    format!("store_0(q, load_0({argument}));")
}

/// A copy of any view into a dense tensor, as bits.
#[must_use]
pub fn reindex(form: Form, way: Way, rank: u32, target: Target) -> Arc<Assembled> {
    let slots = [Slot::read(form, way), Slot::write(form)];
    let body = copy(way);
    moved("reindex", &slots, &body, 0, (rank, target))
}

/// One pass of a copy of a view that spans several segments: of each quad, the elements that lie in
/// the bound segment, of whose elements the view names `scalar[1]` from `scalar[0]` on; the others
/// stay as they are. The input's way is [`Way::Any`], and its offset counts from the segment's
/// first element: it wraps, as indices do.
#[must_use]
pub fn gather_part(form: Form, rank: u32, target: Target) -> Arc<Assembled> {
    let slots = [Slot::read(form, Way::Any), Slot::read(form, Way::Own(0)), Slot::write(form)];
    let body = format!(
        "let at = index4(elements(q), 0u) + {};\n\
         let here = at - vec4<u32>(p.scalar[0].x) < vec4<u32>(p.scalar[0].y);\n\
         if any(here) {{\n    store_0(q, merge(load_1(q), load_0(q), here));\n}}",
        offset(0)
    );
    moved("gather_part", &slots, &body, 2, (rank, target))
}

/// A copy into a part of a dense tensor whose rows are whole quads; `into` is [`Way::Row`], or
/// [`Way::Dense`] where the part is one run. Or into a part of any rows, an element in the place of
/// a quad, where `into` is [`Way::EachStrided`].
#[must_use]
pub fn assign_rows(form: Form, from: Way, into: Way, rank: u32, target: Target) -> Arc<Assembled> {
    let slots = [Slot::read(form, from), Slot { form, way: into, written: true }];
    let name = if into == Way::EachStrided { "assign_each" } else { "assign_rows" };
    moved(name, &slots, &copy(from), 0, (rank, target))
}

/// Words of the scalars of [`assign_part`]: per dimension, innermost first, where the part begins,
/// then how long it is.
pub const PART_WORDS: usize = 2 * RANK_MAX;

/// A copy into any part of a dense tensor: of each of its quads, the elements that lie in the part;
/// the others stay as they are. The index space is the tensor's; the input's way is [`Way::Any`],
/// and its offset counts from where the tensor's first element would be: it wraps, as indices do.
#[must_use]
pub fn assign_part(form: Form, rank: u32, target: Target) -> Arc<Assembled> {
    let slots = [Slot::read(form, Way::Any), Slot::read(form, Way::Own(0)), Slot::write(form)];
    let body = "let here = lies_in_part(elements(q));\n\
        if any(here) {\n    store_0(q, merge(load_1(q), load_0(q), here));\n}";
    moved("assign_part", &slots, body, PART_WORDS, (rank, target))
}
