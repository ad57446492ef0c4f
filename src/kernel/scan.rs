//! Scans: running sums, products and extremes along the last axis.
//!
//! ```text
//! rows that one lane does        one pass
//! long rows                      totals of chunks -> their scan -> every chunk with what is before
//! of several segments            slab by slab, each with what the slab before it ended in
//! ```

use std::sync::{Arc, Weak};

use super::core::{Core, Head, Launch, Reach, Tail};
use super::moves::assign::Assignment;
use super::reduce::dtype_of;
use super::{Held, Operand, moves};
use crate::count::{word, words};
use crate::engine::{Engine, Site};
use crate::error::{Error, Result, mistake};
use crate::exec::{Bound, Value};
use crate::kernel::reduce::text::{Fold, Reduce};
use crate::layout::Layout;
use crate::op::Op;
use crate::shape::Shape;
use crate::store::Pinned;
use crate::wgsl::entry::CORE_TRIPS;
use crate::wgsl::grid::fold;
use crate::wgsl::{Expr, Node, Target};

pub mod text;

/// Elements of a chunk at most, for the roundings.
const CHUNK_MAX: usize = 4096;

/// A scan along the last axis of its input.
#[derive(Debug)]
pub(crate) struct Scan {
    pub(crate) name: &'static str,
    pub(crate) how: Reduce,
}

/// How rows are cut: chunks per row, and elements of each.
fn chunks(rows: usize, length: usize, target: Target, trips: u32) -> (usize, usize) {
    let lanes = if target == Target::Gpu { 16_384 } else { 1024_usize };
    let most = (CORE_TRIPS as usize / (2 + trips as usize)).min(CHUNK_MAX);
    let wanted = lanes.div_ceil(rows.max(1)).min(length / 64).max(length.div_ceil(most)).max(1);
    let each = length.div_ceil(wanted);
    (length.div_ceil(each), each)
}

impl Core for Scan {
    fn name(&self) -> &'static str {
        self.name
    }

    fn takes_heads(&self) -> bool {
        true
    }

    fn record(&self, site: Site<'_>, inputs: &[Head], tail: &Tail) -> Result<Arc<Value>> {
        let run = Run { site, how: self.how };
        if let Some(value) = run.at_once(&inputs[0], tail, &[])? {
            return Ok(value);
        }
        let value = run.in_slabs(&inputs[0])?;
        tail.apply(site, value)
    }
}

#[derive(Clone, Copy)]
struct Run<'a> {
    site: Site<'a>,
    how: Reduce,
}

/// Where a pass writes.
type To = (Bound, Weak<Value>);

/// What chunks come to, one state for each.
struct Totals {
    head: Head,
    _pinned: Pinned,
}

impl Run<'_> {
    /// In one segment, in none of these buffers; `None` if it is not.
    fn at_once(&self, head: &Head, tail: &Tail, apart: &[u64]) -> Result<Option<Arc<Value>>> {
        let Some(source) = over(head)? else { return Ok(None) };
        let plain = Tail::identity(tail.shape, tail.given());
        let mut carried = tail;
        let mut reach = tail.reach(true)?;
        let fits = |reach: &Reach<'_>| {
            tail.dtype.width() >= 4 && !(source.is_strided() && reach.is_strided())
        };
        if !reach.as_ref().is_some_and(fits) {
            carried = &plain;
            reach = plain.reach(true)?;
        }
        let Some(reach) = reach else { return Ok(None) };
        let read = source.ids().chain(reach.ids());
        let avoid: Vec<u64> = read.chain(apart.iter().copied()).collect();
        let bytes = Engine::bytes_of(&tail.shape, carried.dtype)?;
        let value = Value::new(self.site.engine.allocate(bytes, &avoid)?);
        let held = Held::new(&value, Layout::dense(tail.shape), carried.dtype)?;
        let [piece] = &*held.pieces else { return Ok(None) };
        let into = (Bound::from(piece), Arc::downgrade(&value));
        if !self.scan(head, source, reach, into, false)? {
            return Ok(None);
        }
        if core::ptr::eq(carried, tail) {
            return Ok(Some(value));
        }
        tail.apply(self.site, value).map(Some)
    }

    /// Scans a source, which is `head`'s; `parts` says that these are totals of chunks.
    fn scan(
        &self,
        head: &Head,
        source: Reach<'_>,
        tail: Reach<'_>,
        (bound, written): To,
        parts: bool,
    ) -> Result<bool> {
        let length = head.shape.dims().last().copied().unwrap_or(1);
        let rows = head.shape.elements() / length.max(1);
        let (count, each) = chunks(rows, length, self.site.target, source.trips());
        let job = words([rows, length, count, each])?.to_vec();
        let state = |totals| self.how.scan(totals, count > 1 && !totals, parts);
        let launch = |heads, tail, (bound, written), state: &str| {
            let launch = Launch {
                entry: &text::SCAN_ROWS,
                heads,
                tail,
                output: (bound, 0),
                written,
                by_element: true,
                regions: &[("state", state)],
                workgroup: None,
                job: job.clone(),
                groups: fold(word((rows * count).div_ceil(self.site.target.workgroup() as usize))?),
            };
            launch.record(self.site)
        };
        if count == 1 {
            launch(vec![source], tail, (bound, written), &state(false))?;
            return Ok(true);
        }
        let avoid = || source.ids().chain(tail.ids()).chain([bound.buffer_id]);
        let Some((totals, to)) = self.totals(rows, count, avoid().collect())? else {
            return Ok(false);
        };
        let plain = Tail::identity(totals.head.shape, totals.head.dtype);
        let again = over(head)?.ok_or_else(astray)?;
        let keep = plain.reach(true)?.ok_or_else(astray)?;
        launch(vec![again], keep, to.clone(), &state(true))?;
        let ids = avoid().chain([to.0.buffer_id]).collect();
        let Some((sums, into)) = self.totals(rows, count, ids)? else { return Ok(false) };
        let parts = over(&totals.head)?.ok_or_else(astray)?;
        let keep = plain.reach(true)?.ok_or_else(astray)?;
        self.scan(&totals.head, parts, keep, into, true)?;
        let before = over(&sums.head)?.ok_or_else(astray)?;
        launch(vec![source, before], tail, (bound, written), &state(false))?;
        Ok(true)
    }

    /// Room for a state per chunk, and where it is; `None` if that is more than a segment.
    fn totals(&self, rows: usize, count: usize, avoid: Vec<u64>) -> Result<Option<(Totals, To)>> {
        let shape = Shape::new([rows, count])?;
        let dtype = dtype_of(self.how.held());
        let bytes = Engine::bytes_of(&shape, dtype)?;
        let value = Value::new(self.site.engine.allocate(bytes, &avoid)?);
        let layout = Layout::dense(shape);
        let held = Held::new(&value, layout, dtype)?;
        let [piece] = &*held.pieces else { return Ok(None) };
        let to = (Bound::from(piece), Arc::downgrade(&value));
        let head = Head::view(Operand { value, layout, dtype });
        Ok(Some((Totals { head, _pinned: held.pinned }, to)))
    }

    /// What lies in several segments, without a tail.
    fn in_slabs(&self, head: &Head) -> Result<Arc<Value>> {
        let operand = head.realise(self.site)?;
        let length = head.shape.dims().last().copied().unwrap_or(1);
        let rows = head.shape.elements() / length.max(1);
        let shape = Shape::new([rows, length])?;
        let value = match operand.layout.is_dense() && operand.layout.offset() == 0 {
            true => operand.value,
            false => moves::gather(self.site, &operand)?,
        };
        let input = Operand { value, layout: Layout::dense(shape), dtype: operand.dtype };
        let dtype = dtype_of(self.how.result());
        let bytes = Engine::bytes_of(&shape, dtype)?;
        let held = Held::new(&input.value, input.layout, input.dtype)?;
        let result = Value::new(self.site.engine.allocate(bytes, &held.ids().collect::<Vec<_>>())?);
        let ids: Vec<u64> = Held::new(&result, Layout::dense(shape), dtype)?.ids().collect();
        let most = (held.segment / 2).min(1 << 28);
        let step = (most / length).clamp(1, rows);
        let mut ended: Option<Operand> = None;
        for row in (0..rows).step_by(step) {
            for at in (0..length).step_by(most) {
                let ranges = [row..(row + step).min(rows), at..(at + most).min(length)];
                let part = input.layout.slice(0, ranges[0].clone(), 1)?;
                let part =
                    Operand { layout: part.slice(1, ranges[1].clone(), 1)?, ..input.clone() };
                let shape = *part.layout.shape();
                let value = moves::gather_apart(self.site, &part, &ids)?;
                let layout = Layout::dense(shape);
                let copy = Head::view(Operand { value, layout, dtype: part.dtype });
                let tail = self.after(ended.filter(|_| at > 0), shape)?;
                let done = self.at_once(&copy, &tail, &ids)?.ok_or_else(astray)?;
                let from = Operand { value: done, layout, dtype };
                let to =
                    Assignment { value: &result, shape: input.layout.shape(), ranges: &ranges };
                to.assign(self.site, &from)?;
                let last = layout.shape().dims()[1];
                ended = Some(Operand { layout: layout.slice(1, last - 1..last, 1)?, ..from });
            }
        }
        Ok(result)
    }

    /// What a slab's own scan is merged with: what the slab before it ended in.
    fn after(&self, ended: Option<Operand>, shape: Shape) -> Result<Tail> {
        let dtype = dtype_of(self.how.result());
        let mut tail = Tail::identity(shape, dtype);
        if let Some(ended) = ended {
            let op = match self.how.fold {
                Fold::Sum => Op::Add,
                Fold::Prod => Op::Mul,
                Fold::Max => Op::Max,
                Fold::Min => Op::Min,
            };
            let nodes = vec![Node::Input(0), Node::Input(1), Node::Apply(op, [1, 0, 0])];
            tail.expr = Expr { inputs: vec![dtype; 2], nodes, outputs: vec![2], ..Expr::default() };
            tail.operands = vec![Operand { layout: ended.layout.broadcast_to(shape)?, ..ended }];
        }
        Ok(tail)
    }
}

/// A head's elements, one by one.
fn over(head: &Head) -> Result<Option<Reach<'_>>> {
    Reach::over(&head.expr, &head.operands, &head.scalars, &head.shape, true)
}

/// Memory came in smaller segments than the adapter's limits say.
fn astray() -> Error {
    mistake("a scan", "a part came in several segments")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_cover_rows_and_loop_seldom() {
        for target in [Target::Cpu, Target::Gpu] {
            for length in [1, 2, 63, 64, 65, 4096, 65_537, 1 << 24, 1 << 29] {
                for (rows, trips) in [(1, 0), (3, 7), (4096, 56)] {
                    let (count, each) = chunks(rows, length, target, trips);
                    assert!(count * each >= length && (count - 1) * each < length, "{length}");
                    let looped = each + each / 64 + 2 + each * trips as usize;
                    assert!(looped <= CORE_TRIPS as usize, "{length}: {looped} trips");
                }
            }
        }
    }
}
