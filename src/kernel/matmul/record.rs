//! A product recorded as it was decided: panels cut, what crosses segments copied, one dispatch for
//! each window.

use core::ops::Range;
use std::collections::HashMap;
use std::sync::Arc;

use super::choice::Decision;
use super::choice::scheme::Scheme;
use super::plan::panels::{self, Lie, Panel};
use super::plan::view;
use super::plan::windows::Window;
use super::text::tile::Along;
use crate::count::product;
use crate::dtype::DType;
use crate::engine::Site;
use crate::error::{Error, Result, mistake};
use crate::exec::{Bound, Labour, Value};
use crate::kernel::cores::sums::Sums;
use crate::kernel::cores::{ELEMENTS_MAX, Head, Launch, Reach, Sink, Tail};
use crate::kernel::moves::strips;
use crate::kernel::{Held, Operand, moves};
use crate::layout::Layout;

/// A product under way.
pub(super) struct Recorder<'a> {
    pub(super) site: Site<'a>,
    pub(super) decision: &'a Decision,
}

/// A panel with its operands in one segment each.
struct Parcel {
    panel: Panel,
    sides: [Operand; 2],
}

/// Parcels, and what they are a part of.
type Portion<'a> = (Recorder<'a>, Vec<Parcel>);

impl Recorder<'_> {
    /// A single pass over k takes the tail on board. Of several, the sums are stored, and then
    /// added with the tail; on a GPU they are batches of one product, if each side is in one
    /// segment.
    pub(super) fn record(&self, operands: &[Operand; 2], tail: &Tail) -> Result<Arc<Value>> {
        let lies = [lie(&operands[0])?, lie(&operands[1])?];
        let whole = lies.iter().all(|lie| lie.whole);
        let at_once = self.decision.at_once(segment_of(&lies))?;
        if let Some((alike, rest)) = at_once.filter(|_| whole) {
            let alike_passes = alike.size.batch / self.decision.size.batch;
            let sums = self.sums(alike_passes + usize::from(rest.is_some()));
            if product([sums.passes, sums.rows, alike.pitch()]) <= ELEMENTS_MAX as u64 {
                let mut portions = vec![self.portion(&alike, 0, operands, &lies)?];
                if let Some(rest) = &rest {
                    portions.push(self.portion(rest, alike_passes, operands, &lies)?);
                }
                return sums.added(self.site, tail, |all, tail| passes(&portions, all, tail));
            }
        }
        let (parcels, all) = self.parcels(operands, &lies)?;
        let portions = [(Self { ..*self }, parcels)];
        self.sums(all).stored(self.site, 3, tail, |which, tail| passes(&portions, which, tail))
    }

    /// What a decision about some of k makes of it, all in this pass.
    fn portion<'b>(
        &'b self,
        decision: &'b Decision,
        pass: usize,
        operands: &[Operand; 2],
        lies: &[Lie; 2],
    ) -> Result<Portion<'b>> {
        let own = Recorder { decision, ..*self };
        let sides = [0, 1].map(|i| operands[i].under(decision.sides[i]));
        let (mut parcels, _) = own.parcels(&sides, lies)?;
        parcels.iter_mut().for_each(|parcel| parcel.panel.pass = pass);
        Ok((own, parcels))
    }

    /// What so many passes come to, in the compute type.
    fn sums(&self, passes: usize) -> Sums {
        let Decision { size, result, .. } = self.decision;
        let narrow = result.is_float() && result.width() < 4;
        let dtype = if narrow { DType::F32 } else { *result };
        Sums { passes, rows: size.batch * size.m, columns: size.n, dtype }
    }

    /// The parts of the product, and in how many passes along k.
    fn parcels(&self, operands: &[Operand; 2], lies: &[Lie; 2]) -> Result<(Vec<Parcel>, usize)> {
        let Decision { size, choice, .. } = self.decision;
        let (copied, segment) = (choice.variant.copied(), segment_of(lies));
        let panels = panels::cut(*size, lies, self.decision.ranges(segment));
        let panels = panels::narrowed(panels, choice.variant.columns_max());
        let panels = match copied {
            Some(units) => panels::fitted(panels, lies[0].batches(), units, segment),
            None => panels,
        };
        let passes = 1 + panels.iter().map(|panel| panel.pass).max().unwrap_or(0);
        // Copies first: the result must lie in none of their buffers.
        let mut kept = [HashMap::new(), HashMap::new()];
        let parcels = panels.into_iter().map(|panel| self.parcel(operands, panel, &mut kept));
        Ok((parcels.collect::<Result<_>>()?, passes))
    }

    /// A panel's operands, copied where they cross segments or are wanted as strips or sheets. What
    /// share is copied once.
    fn parcel(
        &self,
        operands: &[Operand; 2],
        panel: Panel,
        kept: &mut [HashMap<Layout, Operand>; 2],
    ) -> Result<Parcel> {
        let mut side = |i: usize| -> Result<Operand> {
            let layout = view::part(&operands[i].layout, &panel.batch, panel.ranges(i))?;
            if let Some(side) = kept[i].get(&layout) {
                return Ok(side.clone());
            }
            let side = self.side(i, operands[i].under(layout))?;
            kept[i].insert(layout, side.clone());
            Ok(side)
        };
        Ok(Parcel { sides: [side(0)?, side(1)?], panel })
    }

    /// The left or the right side of a panel, as the kernel reads it.
    fn side(&self, i: usize, part: Operand) -> Result<Operand> {
        let part = moves::in_one_segment(self.site, part)?;
        let variant = self.decision.choice.variant;
        match (variant.scheme, i) {
            (Scheme::Strips, 0) => strips::left(self.site, &part, variant.rows as usize),
            (Scheme::Strips, _) if view::along(&part.layout, 1, 1) != Along::Outer => {
                strips::right(self.site, &part)
            }
            (Scheme::Sheets, 1) => strips::sheets(self.site, &part, variant.tile()[1]),
            _ => Ok(part),
        }
    }

    fn launch(&self, parcel: &Parcel, window: &Window, tail: &Reach<'_>, to: &Sink) -> Result<()> {
        let layouts = parcel.sides.each_ref().map(|side| side.layout);
        let planned = self.decision.dispatch(&parcel.panel, window, &layouts)?;
        let head = |i: usize| {
            let (layout, side) = (planned.sides[i], parcel.sides[i].clone());
            let dtype = planned.read_as.unwrap_or(side.dtype);
            Head::view(Operand { layout, dtype, ..side })
        };
        let heads = [head(0), head(1)];
        let reach = |i: usize| -> Result<Reach<'_>> {
            let reach = heads[i].raw(planned.along[i] == Along::Neither)?;
            reach.ok_or_else(|| unexpected("an operand across segments"))
        };
        let launch = Launch {
            entry: planned.written.entry,
            wording: &planned.written.wording,
            workgroup: planned.written.workgroup,
            job: planned.job.words(),
            groups: planned.groups,
            work: Labour::of(planned.flops),
        };
        launch.record(self.site, &[&reach(0)?, &reach(1)?], tail, to)
    }
}

/// Every panel of these passes into a new value: one pass of the result after the other.
fn passes(portions: &[Portion<'_>], which: Range<usize>, tail: &Tail) -> Result<Arc<Value>> {
    let reach = tail.reached()?;
    let parcels = || {
        portions.iter().flat_map(|(own, parcels)| parcels.iter().map(move |parcel| (own, parcel)))
    };
    // In place until all is recorded, so that none of them moves to where the result lies.
    let sides = parcels().flat_map(|(_, parcel)| &parcel.sides).map(Operand::hold);
    let sides: Vec<Held> = sides.collect::<Result<_>>()?;
    let avoid: Vec<u64> = reach.ids().chain(sides.iter().flat_map(Held::ids)).collect();
    let (value, held) = Held::fresh(portions[0].0.site, &tail.shape, tail.dtype, &avoid)?;
    for (own, parcel) in parcels().filter(|(_, parcel)| which.contains(&parcel.panel.pass)) {
        let pass = parcel.panel.pass - which.start;
        for window in own.decision.windows(&parcel.panel, pass, held.segment) {
            let bound = Bound::from(&held.pieces[window.index]);
            let (first, written) = (window.first, Arc::downgrade(&value));
            let sink = Sink { bound, first, written, by_element: false };
            own.launch(parcel, &window, &reach, &sink)?;
        }
    }
    Ok(value)
}

/// How an operand lies in memory.
fn lie(operand: &Operand) -> Result<Lie> {
    let held = operand.hold()?;
    Ok(Lie { layout: held.layout, segment: held.segment, whole: held.is_in_one_segment() })
}

/// The elements that a segment of either side has at least.
fn segment_of(lies: &[Lie; 2]) -> usize {
    lies[0].segment.min(lies[1].segment)
}

pub(super) fn unexpected(message: &str) -> Error {
    mistake("matmul", message)
}
