//! Matmul: a problem, a tile chosen for it, panels cut, dispatches recorded.
//!
//! ```text
//! C[b, m, n] = sum over k of A[b, m, k] B[b, k, n]
//! choose a tile                      by adapter class and shape, from a table of measured rates
//! cut panels                         where an operand lies in several segments, and along k
//! one pass over k: the tail is fused; several: sums of the passes, added with the tail fused
//! ```
//!
//! Both sides are read in place at any strides: by quads where one of the two last axes is dense
//! and all else falls on whole quads, by element otherwise.
//!
//! Tried and rejected, on llvmpipe 22.3, where any load in a loop is a loop over the lanes, also of
//! what all of them read (rates in parts of the tile of 16 x 16):
//!
//! - A loaded by every lane for itself (0.6 to 0.7 of the same tile with A shared);
//! - B by octets, 32 bytes to a load (1.03; nothing for single rows), k unrolled by eight (0.93);
//! - sums of one k after the other instead of four terms at once (0.5);
//! - workgroup memory (0.3): the same loop over lanes, and a spilled coroutine at each barrier;
//! - one result per invocation (0.05);
//! - lanes along rows: every load of A becomes one per lane;
//! - `fma` for `a * b + c`: the driver splits it again;
//! - B or A packed into tiles first: no gain beyond the swapped order of workgroups;
//! - sums in an array that is indexed by a loop when they are stored: 20 s of compiling for a tile
//!   of 16 x 16, where 64 names take half of one; each sum stored by its own statement: the tail
//!   64 times, and twice the compiling of rows that are selected in a loop;
//! - results stored by element where rows are ragged: four copies of the tail for each quad, and
//!   three times the compiling; rows filled up to whole quads are copied out instead.

use std::sync::Arc;

use super::cores::{Core, Head, Launch, Sink, Tail};
use super::elementwise::Fused;
use super::{Held, Operand, fill, moves};
use crate::caps::Feature;
use crate::count::{self, word};
use crate::dtype::DType;
use crate::engine::{Engine, Site};
use crate::error::{Result, mistake};
use crate::exec::{Bound, Value};
use crate::kernel::matmul::text::packed::Packed;
use crate::kernel::matmul::text::{Along, Tile};
use crate::layout::Layout;
use crate::shape::Shape;
use crate::wgsl::form::Form;
use crate::wgsl::{Expr, Node, Target};

pub(crate) mod choice;
mod cooperative;
mod gpu;
mod groups;
mod panels;
pub mod text;
pub(crate) mod tuned;
mod view;

use choice::{Choice, Kernel, Machine, Size};
use panels::Panel;
use view::Matrix;

/// A product, deferred. Its inputs are views `[batch .., m, k]` and `[batch .., k, n]`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Matmul {
    /// A choice that counts instead of the table's.
    pub(crate) forced: Option<Choice>,
}

impl Core for Matmul {
    fn name(&self) -> &'static str {
        "matmul"
    }

    fn record(&self, site: Site<'_>, inputs: &[Head], tail: &Tail) -> Result<Arc<Value>> {
        let [a, b] = inputs else { return Err(unexpected("not two operands")) };
        let sides = [a.realise(site)?, b.realise(site)?];
        let sides = view::folded(sides)?;
        let size = Size::of(sides[0].layout.shape(), sides[1].layout.shape());
        if tail.shape.is_empty() {
            return Ok(Value::new(site.engine.allocate(0, &[])?));
        }
        let given = tail.given();
        if size.k == 0 {
            let zero = vec![0; given.width()];
            return tail.apply(site, fill::full(site, &tail.shape, given, &zero)?);
        }
        let machine = Machine::of(site.target, site.engine.gpu.caps(), given);
        let right = match machine {
            // There, walking along memory counts as much as reading quads.
            Machine::Gpu(_) if view::is_near_k(sides[1].layout, 1) => Along::K,
            Machine::Gpu(_) => Along::Outer,
            _ => view::along(&sides[1].layout, 1, 1),
        };
        let forced = self.forced.filter(|choice| choice.runs_on(machine));
        let choice = forced.unwrap_or_else(|| Choice::of(machine, size, right));
        site.engine.remark(|| format!("matmul by {choice}"));
        Product { site, machine, size, choice, given }.record(&sides, tail)
    }
}

/// A product under way.
struct Product<'a> {
    site: Site<'a>,
    machine: Machine,
    size: Size,
    choice: Choice,
    /// The dtype of the result, before the tail.
    given: DType,
}

/// A panel with its operands in one segment each.
struct Part {
    panel: Panel,
    sides: [Operand; 2],
}

impl Product<'_> {
    fn record(&self, sides: &[Operand; 2], tail: &Tail) -> Result<Arc<Value>> {
        let matrices = [Matrix::of(&sides[0])?, Matrix::of(&sides[1])?];
        let panels = panels::cut(self.size, &matrices.map(|m| m.place), self.choice.passes);
        let panels = panels::narrowed(panels, self.choice.columns_max());
        let passes = 1 + panels.iter().map(|panel| panel.pass).max().unwrap_or(0);
        // Copies first: the result must lie in none of their buffers.
        let parts: Vec<Part> =
            panels.into_iter().map(|panel| self.part(sides, panel)).collect::<Result<_>>()?;
        let bound = 3 + tail.operands.len() as u64;
        let room = bound <= self.site.engine.gpu.caps().limits.storage_buffers_max;
        let direct = passes == 1 && self.size.n.is_multiple_of(4) && room;
        if direct && tail.reach(false)?.is_some() {
            return self.passes(&parts, tail, &tail.shape);
        }
        // In the compute type, pass by pass, rows filled up to whole quads; then they are added.
        let narrow = self.given.is_float() && self.given.width() < 4;
        let dtype = if narrow { DType::F32 } else { self.given };
        let Size { batch, m, .. } = self.size;
        let sums = Shape::new([passes, batch * m, self.pitch()])?;
        let value = self.passes(&parts, &Tail::identity(sums, dtype), &sums)?;
        self.add(&value, &sums, dtype, tail)
    }

    /// Elements from row to row of what the kernel stores.
    fn pitch(&self) -> usize {
        self.size.n.next_multiple_of(4)
    }

    /// A panel's operands, copied where they cross segments.
    fn part(&self, sides: &[Operand; 2], panel: Panel) -> Result<Part> {
        let side = |i: usize| -> Result<Operand> {
            let layout = view::part(&sides[i].layout, &panel.batch, panel.ranges(i))?;
            let operand = Operand { layout, ..sides[i].clone() };
            if Held::new(&operand.value, layout, operand.dtype)?.is_in_one_segment() {
                return Ok(operand);
            }
            let value = moves::contiguous(self.site, &operand)?;
            Ok(Operand { value, layout: Layout::dense(*layout.shape()), ..operand })
        };
        let sides = [side(0)?, side(1)?];
        Ok(Part { panel, sides })
    }

    /// Every panel into a value of this shape: all passes of the result, one after the other.
    fn passes(&self, parts: &[Part], tail: &Tail, shape: &Shape) -> Result<Arc<Value>> {
        let Some(reach) = tail.reach(false)? else { return Err(unexpected("no tail")) };
        let mut avoid: Vec<u64> = reach.ids().collect();
        for side in parts.iter().flat_map(|part| &part.sides) {
            avoid.extend(Held::new(&side.value, side.layout, side.dtype)?.ids());
        }
        let bytes = Engine::bytes_of(shape, tail.dtype)?;
        let value = Value::new(self.site.engine.allocate(bytes, &avoid)?);
        let output = Held::new(&value, Layout::dense(*shape), tail.dtype)?;
        for part in parts {
            for window in self.windows(&part.panel, output.segment) {
                self.launch(part, &window, tail, (&value, &output))?;
            }
        }
        Ok(value)
    }

    /// The panel cut at the segments of the result, and to what one dispatch takes.
    fn windows(&self, panel: &Panel, segment: usize) -> Vec<Window> {
        let (rows_max, batch_max) = (GROUPS_MAX * self.choice.rows as usize, GROUPS_MAX);
        let (Size { m, batch, .. }, n) = (self.size, self.pitch());
        let origin = panel.pass * batch * m * n;
        let mut windows = Vec::new();
        let whole = origin / segment == (origin + batch * m * n - 1) / segment;
        let batches = if whole { batch_max } else { 1 };
        for b in panel.batch.clone().step_by(batches) {
            let batch = b..(b + batches).min(panel.batch.end);
            for r in panel.rows.clone().step_by(rows_max) {
                let rows = r..(r + rows_max).min(panel.rows.end);
                if whole {
                    let index = origin / segment;
                    windows.push(Window { batch: batch.clone(), rows, index, origin });
                    continue;
                }
                let first = origin + b * m * n;
                let reach = first + rows.start * n..first + rows.end * n;
                for index in reach.start / segment..=(reach.end - 1) / segment {
                    let low = (index * segment).max(reach.start) - first;
                    let high = ((index + 1) * segment).min(reach.end) - first;
                    let rows = low / n..high.div_ceil(n);
                    windows.push(Window { batch: batch.clone(), rows, index, origin });
                }
            }
        }
        windows
    }

    fn launch(
        &self,
        part: &Part,
        window: &Window,
        tail: &Tail,
        (value, output): (&Arc<Value>, &Held),
    ) -> Result<()> {
        let panel = &part.panel;
        let rows = window.rows.start - panel.rows.start..window.rows.end - panel.rows.start;
        let a = &part.sides[0];
        let rank = a.layout.shape().rank();
        let a = Operand { layout: a.layout.slice(rank - 2, rows.clone(), 1)?, ..a.clone() };
        let sides = [a, part.sides[1].clone()];
        let mut size = [rows.len(), panel.columns.len(), panel.k.len()];
        let along = [0, 1].map(|i| view::along(&sides[i].layout, i, self.choice.rows));
        let packed = self.packed(&sides);
        let near_k = [0, 1].map(|i| view::is_near_k(sides[i].layout, i));
        let sides = match packed {
            Some(packed) => {
                size[2] /= packed.quads() as usize;
                let (dtype, [a, b]) = (packed.dtype(), &sides);
                [view::along_k_as(dtype, a, 0)?, view::along_k_as(dtype, b, 1)?]
            }
            None => sides,
        };
        let heads = sides.map(Head::view);
        let layouts = heads.each_ref().map(|head| &head.operands[0].layout);
        let batch_steps = view::batch_steps(layouts);
        let tile = self.tile(along, panel.k.len(), packed, batch_steps.is_some());
        let mut reached = Vec::new();
        for (head, along) in heads.iter().zip(along) {
            let reach = head.raw(along == Along::Neither)?;
            reached.push(reach.ok_or_else(|| unexpected("an operand across segments"))?);
        }
        let Some(tail) = tail.reach(false)? else { return Err(unexpected("no tail")) };
        // What lies in this segment, in quads from the first element of this pass.
        let begin = (window.index * output.segment).saturating_sub(window.origin);
        let end = (window.index + 1) * output.segment - window.origin;
        let first = window.origin as i64 - (window.index * output.segment) as i64;
        let written = self.choice.written(self.machine, tile, near_k, size, self.given)?;
        let job = Job {
            size,
            chunk: written.chunk,
            first: [window.batch.start, window.rows.start, panel.columns.start, self.size.m],
            columns: self.pitch(),
            window: [begin / 4, (end - begin) / 4],
            sides: layouts,
            along,
            batch_steps,
        };
        let regions = written.text.iter().map(|(name, text)| (*name, &**text));
        let regions: Vec<(&str, &str)> = regions.collect();
        let [x, y] = written.groups;
        let launch = Launch {
            entry: written.kernel,
            regions: &regions,
            workgroup: written.workgroup,
            job: job.words()?,
            groups: [x, y, word(window.batch.len())?],
        };
        let bound = Bound::from(&output.pieces[window.index]);
        let sink = Sink { bound, first, written: Arc::downgrade(value), by_element: false };
        launch.record(self.site, &reached.iter().collect::<Vec<_>>(), &tail, &sink)
    }

    /// What an invocation sums, of operands that are read so.
    fn tile(&self, along: [Along; 2], k: usize, packed: Option<Packed>, even: bool) -> Tile {
        let Choice { rows, quads, .. } = self.choice;
        let (ragged, shared) = (!k.is_multiple_of(4), self.machine.shares(&self.choice));
        Tile { rows, quads, along, ragged, shared, even, packed }
    }

    /// How both sides are read, if several quads can be loaded at a time along k: by lanes that
    /// stand there, and bytes by any but those that share tiles.
    fn packed(&self, sides: &[Operand; 2]) -> Option<Packed> {
        let caps = self.site.engine.gpu.caps();
        let dtype = sides[0].dtype;
        let form = Form::read(dtype, self.site.target, caps.has(Feature::ShaderF16));
        let packed = match (self.site.target, self.choice.kernel) {
            (Target::Gpu, Kernel::Registers | Kernel::Vector { .. }) if dtype.width() == 1 => {
                Packed::Bytes { signed: dtype == DType::I8 }
            }
            (Target::Cpu64, Kernel::Vector { across: 1, .. }) if form.width() <= 4 => {
                Packed::Wide(form)
            }
            _ => return None,
        };
        let unit = 4 * packed.quads() as usize;
        let whole = |i: usize| view::is_in_units(&sides[i].layout, i, unit);
        (whole(0) && whole(1)).then_some(packed)
    }

    /// The sum of all passes - a value of this shape - with the tail.
    fn add(
        &self,
        value: &Arc<Value>,
        sums: &Shape,
        dtype: DType,
        tail: &Tail,
    ) -> Result<Arc<Value>> {
        let (site, n) = (self.site, self.size.n);
        let (shape, passes) = (&tail.shape, sums.dims()[0]);
        let each = |pass: usize| -> Result<Operand> {
            let layout = Layout::dense(*sums).slice(0, pass..pass + 1, 1)?.slice(2, 0..n, 1)?;
            Ok(Operand { value: Arc::clone(value), layout: layout.reshape(shape)?, dtype })
        };
        let mut terms: Vec<Operand> = (0..passes).map(each).collect::<Result<_>>()?;
        let room = site.engine.gpu.caps().limits.storage_buffers_max.min(16) as usize - 1;
        let fused = |expr: &Expr, operands: &[Operand], scalars: &[u32], to| {
            Fused { expr, operands, scalars }.record(site, shape, to, &[])
        };
        // A few at a time, until the tail fits in too.
        while terms.len() + tail.operands.len() > room && terms.len() > 1 {
            let few: Vec<Operand> = terms.drain(..terms.len().min(room)).collect();
            let plain = Tail::identity(*shape, dtype);
            let expr = sum_then(&plain.expr, few.len(), dtype, dtype);
            let value = fused(&expr, &few, &[], dtype)?;
            terms.push(Operand { value, layout: Layout::dense(*shape), dtype });
        }
        let expr = sum_then(&tail.expr, terms.len(), dtype, self.given);
        fused(&expr, &[terms, tail.operands.clone()].concat(), &tail.scalars, tail.dtype)
    }
}

/// The sum of `count` inputs, as the first input of `tail`.
pub(super) fn sum_then(tail: &Expr, count: usize, dtype: DType, given: DType) -> Expr {
    let count = count as u16; // no kernel reads more than 16
    let mut nodes = vec![Node::Input(0)];
    for i in 1..count {
        let so_far = nodes.len() as u16 - 1;
        nodes.push(Node::Input(i));
        nodes.push(Node::Apply(crate::op::Op::Add, [so_far, so_far + 1, 0]));
    }
    if dtype != given {
        nodes.push(Node::Cast(nodes.len() as u16 - 1, given));
    }
    let total = nodes.len() as u16 - 1;
    // Places of the tail's nodes in this expression: the result itself is the total.
    let mut places = Vec::with_capacity(tail.nodes.len());
    for node in &tail.nodes {
        let at = |n: u16| places[usize::from(n)];
        let node = match *node {
            Node::Input(0) => {
                places.push(total);
                continue;
            }
            Node::Input(i) => Node::Input(i - 1 + count),
            Node::Scalar(i) => Node::Scalar(i),
            Node::Apply(op, args) => {
                let mut moved = [0; 3];
                for (to, &from) in moved.iter_mut().zip(&args[..op.arity()]) {
                    *to = at(from);
                }
                Node::Apply(op, moved)
            }
            Node::Cast(a, to) => Node::Cast(at(a), to),
        };
        nodes.push(node);
        places.push(nodes.len() as u16 - 1);
    }
    let inputs = [vec![dtype; usize::from(count)], tail.inputs[1..].to_vec()].concat();
    let outputs = tail.outputs.iter().map(|&o| places[usize::from(o)]).collect();
    Expr { inputs, scalars: tail.scalars.clone(), nodes, outputs, fault: None }
}

/// What one dispatch computes: of a panel, the rows that touch one segment of the result.
struct Window {
    batch: core::ops::Range<usize>,
    rows: core::ops::Range<usize>,
    /// The segment.
    index: usize,
    /// Where the pass begins.
    origin: usize,
}

/// Groups along one dimension of a dispatch.
const GROUPS_MAX: usize = crate::wgsl::grid::GROUPS_MAX as usize;

/// The kernel's own parameters.
struct Job<'a> {
    size: [usize; 3],
    chunk: usize,
    first: [usize; 4],
    columns: usize,
    window: [usize; 2],
    sides: [&'a Layout; 2],
    along: [Along; 2],
    /// From batch to batch, if that is always the same.
    batch_steps: Option<[isize; 2]>,
}

impl Job<'_> {
    fn words(&self) -> Result<Vec<u32>> {
        let ([m, n, k], [begin, count]) = (self.size, self.window);
        let mut words = count::words([m, n, k, self.chunk])?.to_vec();
        words.extend(count::words(self.first)?);
        words.extend(count::words([self.columns, begin, count, 0])?);
        let step = |i: usize| view::steps(self.sides[i], self.along[i]);
        words.extend(step(0));
        words.extend(step(1));
        let mut lengths = [u32::MAX; 8];
        let mut strides = [[0; 8]; 2];
        let unit = |i: usize, stride| view::unit(stride, self.along[i]);
        if let Some(steps) = self.batch_steps {
            (0..2).for_each(|i| strides[i][0] = unit(i, steps[i]));
        } else {
            let rank = self.sides[0].shape().rank() - 2;
            for d in 0..rank {
                lengths[d] = word(self.sides[0].shape().dims()[rank - 1 - d])?;
                for (i, side) in self.sides.iter().enumerate() {
                    strides[i][d] = unit(i, side.strides()[rank - 1 - d]);
                }
            }
        }
        words.extend(lengths);
        words.extend(strides[0]);
        words.extend(strides[1]);
        Ok(words)
    }
}

fn unexpected(message: &str) -> crate::error::Error {
    mistake("matmul", message)
}
