//! The choice of a kernel for a product: asked once, at the call, and obeyed by whoever records it.
//!
//! ```text
//! asked for, or tuned for this class of problems       that
//! otherwise, of the processor's rungs                  the one that is worth most:
//!     its rate  x  the part of its rows and columns that the shape fills
//!               x  the part of the cores that its workgroups keep busy
//!     less what passes along k cost, where that is known
//! ```
//!
//! The transposed product may be worth so much more that it is computed instead, and its result
//! lies in columns.

use super::plan::view;
use super::text::tile::{Along, Packed};
use crate::caps::Feature;
use crate::count::product;
use crate::dtype::DType;
use crate::error::Result;
use crate::kernel::choice::processor::Processor;
use crate::layout::Layout;
use crate::shape::RANK_MAX;
use crate::wgsl::Target;
use crate::wgsl::form::Form;
use crate::wgsl::rig::Rig;
use crate::wgsl::subgroups;

mod rungs;
pub(crate) mod scheme;
pub(crate) mod tuned;

use rungs::{Ladder, Rung};
use scheme::{Because, Choice, Scheme, Size, Variant};

/// What is asked of a product, and who chooses.
#[derive(Debug)]
pub(crate) struct Question<'a> {
    pub(crate) on: Rig<'a>,
    /// `[batch .., m, k]` and `[batch .., k, n]`.
    pub(crate) sides: [Layout; 2],
    /// The dtypes of both sides, which are summed alike, and that of the result.
    pub(crate) dtypes: [DType; 2],
    pub(crate) result: DType,
    pub(crate) by: Chooser,
}

/// Who chooses the kernel of a product.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Chooser {
    /// The built-in table.
    Tables,
    /// The built-in table, so that the bits of a row do not depend on how many rows there are.
    AnyBatch,
    /// The asker, who names what was tuned, or is forced.
    Asker(Choice),
}

/// How a product is computed.
#[derive(Clone, Debug)]
pub(crate) struct Decision {
    /// What the kernels run on.
    pub(super) target: Target,
    pub(super) processor: Processor,
    /// Whether the transposed product is computed: `(A B)^T = B^T A^T`.
    pub(crate) is_swapped: bool,
    /// The sides as they are read: those of the transposed product if that is computed, and with
    /// batches that share one B as more rows of A.
    pub(super) sides: [Layout; 2],
    /// The dtype of the result, before anything is fused to it.
    pub(super) result: DType,
    pub(super) size: Size,
    pub(super) choice: Choice,
    /// What needs no memory beside the result's, where the choice wants copies of the sides, or
    /// sums of several passes, that there may be no room for.
    pub(super) sparing: Option<Choice>,
    /// How several quads are loaded at a time, where both sides lie in whole loads along k.
    pub(super) packed: Option<Packed>,
}

impl Question<'_> {
    /// The answer.
    pub(crate) fn decide(&self) -> Result<Decision> {
        let Self { on, sides: [a, b], result, by, .. } = *self;
        let mut processor = Processor::of(on, result);
        let size = Size::of(a.shape(), b.shape());
        let given = if let Chooser::Asker(choice) = by { Some(choice) } else { None };
        let invariant = matches!(by, Chooser::AnyBatch);
        if let Processor::Gpu(room) = &mut processor {
            room.subgroups &= subgroups::run_in(on.caps, invariant);
        }
        let judged = if invariant { size.of_any_batch() } else { size };
        let is_swapped = given.is_none() && prefers_swapped(processor, judged);
        let sides = if is_swapped { [b.t()?, a.t()?] } else { self.sides };
        let sides = view::folded(sides)?;
        let dots = Packed::of_bytes(self.dtypes);
        if dots.is_some_and(|bytes| view::are_in_units(&sides, bytes.unit())) {
            processor = processor.of_dots();
        }
        let size = Size::of(sides[0].shape(), sides[1].shape());
        let near_k = match processor {
            // The side is what a batch is, which lies as it happens to.
            _ if invariant && is_swapped => true,
            // On a GPU it is enough that neighbours lie along k, even if they cannot be read by
            // quads.
            Processor::Gpu(_) => view::is_near_k(&sides[1], 1),
            // So it is where one row may not be told from many, whose quads lie otherwise.
            _ if invariant => view::is_near_k(&sides[1], 1),
            _ => view::along(&sides[1], 1, 1) == Along::K,
        };
        // Who forces a kernel knows whether there is room for it with this k.
        let has_room = |choice: &Choice| {
            choice.because != Because::Tuned || processor.has_room(&choice.variant)
        };
        let given = given.filter(|by| processor.runs(&by.variant) && has_room(by));
        // A strip's copy has an axis more.
        let full = sides[0].shape().rank() == RANK_MAX;
        let judged = if is_swapped { judged.swapped() } else { judged };
        let choice = given.unwrap_or_else(|| match invariant {
            true => best_of_any(processor, [judged, size], near_k),
            false => best(processor, size, near_k),
        });
        let copies = choice.variant.copied().is_some();
        let in_place = if copies { best_in_place(processor, size, near_k) } else { choice };
        let choice = if full { in_place } else { choice };
        let sparing = (copies || choice.passes > 1).then_some(Choice { passes: 1, ..in_place });
        let sparing = sparing.filter(|_| !invariant);
        let packed = self.packed(choice.variant.scheme);
        // A load of B serves the rows of a tile.
        let often = choice.variant.rows >= OFTEN && choice.variant.scheme.fuses();
        let decision = Decision {
            target: if often {
                on.target.of_tiles(on.caps)
            } else {
                on.target.of_products(on.caps)
            },
            processor,
            is_swapped,
            sides,
            result,
            size,
            choice,
            sparing,
            packed,
        };
        Ok(decision)
    }

    /// A CPU has wide loads for lanes that stand along k; a GPU has loads of bytes for every scheme
    /// of numbers.
    fn packed(&self, scheme: Scheme) -> Option<Packed> {
        let [dtype, other] = self.dtypes;
        if dtype != other {
            return None;
        }
        let target = self.on.target.of_products(self.on.caps);
        let form = Form::read(dtype, target, self.on.caps.has(Feature::ShaderF16));
        match (target, scheme) {
            (Target::Gpu, Scheme::Registers | Scheme::Vector { .. } | Scheme::Group { .. }) => {
                Packed::of_bytes(self.dtypes)
            }
            (Target::Cpu64, Scheme::Vector { across: 1, .. }) if form.width() <= 4 => {
                Some(Packed::Wide(form))
            }
            _ => None,
        }
    }
}

/// What is worth timing for a product: every rung that there is room for, with the passes that it
/// would have and with one. `near_k` says whether the right side is stored as `[n, k]`.
pub(crate) fn candidates(processor: Processor, size: Size, near_k: bool) -> Vec<Choice> {
    let rungs = possible(processor, size).flat_map(|rung| {
        let both = [Some(rung.variant), by_subgroups(processor, rung.variant)];
        both.into_iter().flatten().map(|variant| (variant, rung.waits))
    });
    let teams = processor.room().into_iter().flat_map(rungs::cooperative);
    let each = rungs.chain(teams.map(|variant| (variant, 1.0))).flat_map(|(variant, waits)| {
        let passes = processor.ladder().passes(&variant, waits, size, near_k);
        let once = (passes > 1).then_some(1);
        let because = Because::Tuned;
        let choice = move |passes| Choice { variant, passes, because };
        [Some(passes), once].into_iter().flatten().map(choice)
    });
    each.collect()
}

/// From so many rows on narrow loads are faster than wide ones where `fma` is one instruction.
const OFTEN: u32 = 8;

/// Multiplications by strips in the time that it takes to copy an element: measured on llvmpipe.
const COPY: f64 = 10.0;

/// The best rung for a product; `near_k` says whether neighbours in B lie along k. If none fits,
/// the last one.
fn best(processor: Processor, size: Size, near_k: bool) -> Choice {
    best_of(possible(processor, size), processor, size, near_k)
}

/// The best of those that need no copies.
fn best_in_place(processor: Processor, size: Size, near_k: bool) -> Choice {
    let rungs = possible(processor, size).filter(|rung| rung.variant.copied().is_none());
    best_of(rungs, processor, size, near_k)
}

/// The best of those whose sums are the same for any number of rows and batches, for which `judged`
/// stands. On a software driver tiles in place are: four of k at a time, then chunks of those. On a
/// GPU one kernel is for all.
fn best_of_any(processor: Processor, [judged, size]: [Size; 2], near_k: bool) -> Choice {
    if let Processor::Gpu(_) = processor {
        return best(processor, judged, near_k);
    }
    let of = |size| {
        let alike = |rung: &&Rung| matches!(rung.variant.scheme, Scheme::Registers | Scheme::Fused);
        best_of(possible(processor, size).filter(alike), processor, size, near_k)
    };
    Choice { passes: of(judged).passes, ..of(size) }
}

fn best_of(
    rungs: impl Iterator<Item = &'static Rung>,
    processor: Processor,
    size: Size,
    near_k: bool,
) -> Choice {
    let ladder = processor.ladder();
    let each = rungs.map(|rung| ladder.weigh(rung, size, near_k));
    let better = |a: Choice, b: Choice| if b.worth() > a.worth() { b } else { a };
    let last = || ladder.weigh(ladder.last(), size, near_k);
    let best = each.reduce(better).unwrap_or_else(last);
    Choice { variant: by_subgroups(processor, best.variant).unwrap_or(best.variant), ..best }
}

/// Whether the transposed product - of transposed operands in the other order - is so much faster
/// that it is computed instead, although its result lies in columns.
fn prefers_swapped(processor: Processor, size: Size) -> bool {
    let alike = if size.m == 1 || size.n == 1 { 1.0 } else { 2.0 };
    let worth = |size| best(processor, size, false).worth();
    worth(size.swapped()) > alike * worth(size)
}

/// The rungs that there is room for, and that are worth compiling.
fn possible(processor: Processor, size: Size) -> impl Iterator<Item = &'static Rung> {
    let fits = move |rung: &&Rung| processor.has_room(&rung.variant);
    let pays = move |rung: &&Rung| size.work() >= rung.work_min && size.m >= rung.rows_min;
    processor.ladder().rungs().filter(fits).filter(pays)
}

/// The variant whose sums are put together by subgroups, where a rung leaves that open and a GPU
/// has them.
fn by_subgroups(processor: Processor, variant: Variant) -> Option<Variant> {
    let open = matches!(variant.scheme, Scheme::Vector { across: 1, subgroups: false });
    let has = processor.room().is_some_and(|room| room.subgroups);
    let scheme = Scheme::Vector { across: 1, subgroups: true };
    (open && has).then_some(Variant { scheme, ..variant })
}

impl Ladder {
    /// A rung with the passes that there would be, or in one if another costs more than it gains.
    fn weigh(&self, rung: &Rung, size: Size, near_k: bool) -> Choice {
        let once = self.weigh_in(1, rung, size, near_k);
        match self.passes(&rung.variant, rung.waits, size, near_k) {
            1 => once,
            more => {
                let often = self.weigh_in(more, rung, size, near_k);
                if often.worth() < once.worth() { once } else { often }
            }
        }
    }

    fn weigh_in(&self, passes: usize, rung: &Rung, size: Size, near_k: bool) -> Choice {
        let (variant, rate) = (rung.variant, rung.rates[usize::from(near_k)]);
        let (used, groups) = self.use_of(&variant, size);
        let wanted = self.groups_wanted as f64 * rung.waits;
        let used = used * (groups * passes as f64 / wanted).min(1.0);
        // In the time that a copied element takes, the kernel would multiply so many.
        let used = used / (1.0 + COPY * variant.copies(size, near_k));
        let cost = if passes > 1 { self.passes_cost as f64 } else { 0.0 };
        let used = used / (1.0 + cost * rate * used / size.work().max(1.0));
        Choice { variant, passes, because: Because::Best { rate, used } }
    }

    /// Passes along k: several if it is deep and there are too few workgroups for the cores, if a
    /// single row walks down too many pages, or if the next rows would find less of B in the cache.
    fn passes(&self, variant: &Variant, waits: f64, size: Size, near_k: bool) -> usize {
        let wanted = self.groups_wanted as f64 * waits;
        let missing = (wanted / self.use_of(variant, size).1).floor().max(1.0) as usize;
        let down = self.counts_pages && variant.rows == 1 && !near_k;
        let along_columns = !near_k || variant.copied().is_some();
        let again = along_columns && size.m > variant.rows as usize;
        let panel = product([size.k, variant.tile()[1]]);
        let panels = if again { panel.div_ceil(self.panel_max as u64) } else { 1 };
        // Sums of the passes take no more memory than both sides.
        let most = size.k / size.m.max(1) + size.k / size.n.max(1);
        let panels = usize::try_from(panels).map_or(most, |panels| panels.min(most));
        let wanted = if down { self.passes_max } else { missing.max(panels) };
        let passes = wanted.min(size.k / self.pass_k_min).clamp(1, self.passes_max);
        if !self.is_gpu {
            return passes;
        }
        // Passes that are alike run side by side, and what they leave of k is one more.
        let alike = |&n: &usize| size.k.is_multiple_of(4 * n);
        (passes / 2 + 1..=passes).rev().find(alike).unwrap_or(passes)
    }

    /// Which part of a tile's work counts, and how many workgroups of the usual size there are.
    fn use_of(&self, variant: &Variant, size: Size) -> (f64, f64) {
        let (used, groups) = variant.use_of(size);
        let busy = if self.is_gpu { variant.busy_along_k(size.k) } else { 1.0 };
        (used * busy, groups * f64::from(variant.lanes) / self.lanes)
    }
}

#[cfg(test)]
mod tests;
