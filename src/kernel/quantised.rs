//! Products with quantised weights: rows of X by rows of W, whose bytes become numbers in
//! registers.
//!
//! ```text
//! Y[m, n] = sum over blocks b of scale[n, b] (sum over the block of X[m, k] values[n, k])
//! X           [m, k], read by quads, or copied so that it can be
//! W           i8 [n, k] and f16 [n, k / 32], dense, cut at segments by whole columns of Y
//! ```
//!
//! Tried and rejected: making numbers of the weights first, in memory, and multiplying those: it is
//! slower at every number of rows than a tile whose lanes load X together.

use core::ops::Range;
use std::sync::Arc;

use super::cores::{Core, Head, Launch, Sink, Tail};
use super::elementwise::Fused;
use super::matmul::sum_then;
use super::{Held, Operand, fill, moves};
use crate::count::word;
use crate::dtype::DType;
use crate::engine::{Engine, Site};
use crate::error::{Error, Result, mistake};
use crate::exec::{Bound, Value};
use crate::layout::Layout;
use crate::shape::Shape;
use crate::wgsl::Target;
use crate::wgsl::entry::CORE_TRIPS;
use text::{BLOCK, SHARERS, regions};

pub mod text;

/// A product with quantised weights, deferred. Its inputs are a view `[.., k]`, values `[n, k]` and
/// scales `[n, k / 32]`, both dense; k is whole blocks.
#[derive(Debug)]
pub(crate) struct Quantised;

/// The deepest k: a trip per block, far below what llvmpipe survives.
pub(crate) const K_MAX: usize = BLOCK * CORE_TRIPS as usize;

/// Groups along one dimension of a dispatch.
const GROUPS_MAX: usize = crate::wgsl::grid::GROUPS_MAX as usize;

impl Core for Quantised {
    fn name(&self) -> &'static str {
        "quantised product"
    }

    fn record(&self, site: Site<'_>, inputs: &[Head], tail: &Tail) -> Result<Arc<Value>> {
        let [x, values, scales] = inputs else { return Err(astray("not three operands")) };
        let given = tail.given();
        if tail.shape.is_empty() {
            return Ok(Value::new(site.engine.allocate(0, &[])?));
        }
        let x = rows_of(x.realise(site)?)?;
        let [m, k] = *x.layout.shape().dims() else { return Err(astray("not rows")) };
        if k == 0 {
            let zero = vec![0; given.width()];
            let value = fill::full(site, &tail.shape, given, &zero)?;
            return tail.apply(site, value);
        }
        let (values, scales) = (values.realise(site)?, scales.realise(site)?);
        let n = values.layout.shape().dims()[0];
        // The lanes of a workgroup load X together where they are a subgroup.
        let lanes = site.engine.gpu.caps().subgroup_exact();
        let shared = site.target != Target::Gpu && lanes == Some(u64::from(SHARERS));
        let rows = rows(m, shared);
        site.engine.remark(|| {
            let x = if shared { "loaded by the lanes together" } else { "loaded by each lane" };
            format!("q8 weights by a tile of {rows} x 4, x {x}: {m} rows")
        });
        let product = Product { site, m, n, k, rows, shared };
        let bound = 4 + tail.operands.len() as u64;
        let room = bound <= site.engine.gpu.caps().limits.storage_buffers_max;
        let operands = [x, words_of(site, values)?, scales];
        if n.is_multiple_of(4) && room && tail.reach(false)?.is_some() {
            return product.record(&operands, tail, n);
        }
        // Rows filled up to whole quads, in f32; then the tail.
        let pitch = n.next_multiple_of(4);
        let filled = Shape::new([m, pitch])?;
        let value = product.record(&operands, &Tail::identity(filled, DType::F32), pitch)?;
        let layout = Layout::dense(filled).slice(1, 0..n, 1)?.reshape(tail.shape)?;
        let result = Operand { value, layout, dtype: DType::F32 };
        let expr = sum_then(&tail.expr, 1, DType::F32, given);
        let operands = [vec![result], tail.operands.clone()].concat();
        let fused = Fused { expr: &expr, operands: &operands, scalars: &tail.scalars };
        fused.record(site, &tail.shape, tail.dtype, &[])
    }
}

/// X as rows, in place where its strides allow it; else as it is, to be copied.
fn rows_of(x: Operand) -> Result<Operand> {
    let dims = x.layout.shape().dims();
    let k = dims.last().copied().unwrap_or(1);
    let shape = Shape::new([dims.iter().rev().skip(1).product::<usize>(), k])?;
    match x.layout.reshape(shape) {
        Ok(layout) => Ok(Operand { layout, ..x }),
        // A copy is dense, and so has this shape too.
        Err(_) => Err(astray("rows that are no view")),
    }
}

/// i8 values as words of four.
fn words_of(site: Site<'_>, values: Operand) -> Result<Operand> {
    let whole = values.layout.is_dense() && values.layout.offset().is_multiple_of(16);
    let values = if whole {
        values
    } else {
        let value = moves::copied(site, &values, &[])?;
        Operand { value, layout: Layout::dense(*values.layout.shape()), ..values }
    };
    let [n, k] = *values.layout.shape().dims() else { return Err(astray("not a matrix")) };
    let strides = [(k / 4).cast_signed(), 1];
    let layout = Layout::strided(Shape::new([n, k / 4])?, &strides, values.layout.offset() / 4)?;
    Ok(Operand { layout, dtype: DType::U32, ..values })
}

/// Up to so many rows of X, a tile of so many, where lanes load X together.
///
/// Milliseconds by weights of 2048 x 2048 on llvmpipe 22.3, on a busy machine, for 4, 16, 64 and
/// 128 rows, beside the same with weights in f32, and with such made of these first:
///
/// ```text
/// 4 rows, each lane loads X    7.8  24  64  135
/// 4 rows                       3.3   8  28   61
/// 8 rows                            8  24   43
/// 16 rows                          13  24   42     0.3 s more of compiling than 8
/// f32                          9.5   9  25   43
/// numbers first                 20  20  32   57
/// ```
const TILES: &[(usize, u32)] = &[(1, 1), (2, 2), (4, 4), (64, 8), (usize::MAX, 16)];

/// The most where each lane loads all of X.
const ROWS_ALONE: u32 = 4;

/// Rows of a tile, for so many rows.
fn rows(m: usize, shared: bool) -> u32 {
    let tile = TILES.iter().find(|(most, _)| m <= *most).map_or(1, |(_, rows)| *rows);
    if shared { tile } else { tile.min(ROWS_ALONE) }
}

/// A product under way.
struct Product<'a> {
    site: Site<'a>,
    m: usize,
    n: usize,
    k: usize,
    rows: u32,
    shared: bool,
}

/// Columns of the result with their weights, which lie in one segment each.
struct Panel {
    columns: Range<usize>,
    values: Operand,
    scales: Operand,
}

impl Product<'_> {
    /// The whole product, with rows of `pitch` elements.
    fn record(&self, operands: &[Operand; 3], tail: &Tail, pitch: usize) -> Result<Arc<Value>> {
        let Some(reach) = tail.reach(false)? else { return Err(astray("no tail")) };
        let [x, values, scales] = operands;
        // Copies first: the result must lie in none of their buffers.
        let panels = self.panels(values, scales)?;
        let parts = self.parts(x)?;
        let mut avoid: Vec<u64> = reach.ids().collect();
        let sides = panels.iter().flat_map(|p| [&p.values, &p.scales]);
        for side in sides.chain(parts.iter().map(|(_, x)| x)) {
            avoid.extend(Held::new(&side.value, side.layout, side.dtype)?.ids());
        }
        let bytes = Engine::bytes_of(&tail.shape, tail.dtype)?;
        let value = Value::new(self.site.engine.allocate(bytes, &avoid)?);
        let output = Held::new(&value, Layout::dense(tail.shape), tail.dtype)?;
        for panel in &panels {
            for (rows, x) in &parts {
                // The segments of the result that these rows touch.
                let reach = rows.start * pitch..rows.end * pitch;
                for index in reach.start / output.segment..=(reach.end - 1) / output.segment {
                    let low = (index * output.segment).max(reach.start) / pitch;
                    let high = ((index + 1) * output.segment).min(reach.end).div_ceil(pitch);
                    let part = Part { rows: low..high, pitch, index };
                    let layout = x.layout.slice(0, low - rows.start..high - rows.start, 1)?;
                    let x = Operand { layout, ..x.clone() };
                    self.launch(panel, x, &part, tail, (&value, &output))?;
                }
            }
        }
        Ok(value)
    }

    /// The weights cut where values or scales cross into another segment.
    fn panels(&self, values: &Operand, scales: &Operand) -> Result<Vec<Panel>> {
        let held = [values, scales].map(|o| Held::new(&o.value, o.layout, o.dtype));
        let [values_held, scales_held] = held;
        let segments = [values_held?.segment, scales_held?.segment];
        let one = |operand: &Operand, columns: &Range<usize>| -> Result<Operand> {
            let layout = operand.layout.slice(0, columns.clone(), 1)?;
            self.in_one_segment(Operand { layout, ..operand.clone() })
        };
        let columns_max = GROUPS_MAX * 4 * self.lanes() as usize;
        let sides = [(&values.layout, segments[0]), (&scales.layout, segments[1])];
        let cuts = cut(self.n, &sides, columns_max);
        let panel = |columns: Range<usize>| {
            let (values, scales) = (one(values, &columns)?, one(scales, &columns)?);
            Ok(Panel { columns, values, scales })
        };
        cuts.into_iter().map(panel).collect()
    }

    /// The rows of X, by quads and in one segment each.
    fn parts(&self, x: &Operand) -> Result<Vec<(Range<usize>, Operand)>> {
        let held = Held::new(&x.value, x.layout, x.dtype)?;
        let strides = x.layout.strides();
        let quads = strides[1] == 1 && (self.m == 1 || strides[0] % 4 == 0);
        let x = if quads && x.layout.offset().is_multiple_of(4) {
            x.clone()
        } else {
            let value = moves::copied(self.site, x, &[])?;
            Operand { value, layout: Layout::dense(*x.layout.shape()), ..x.clone() }
        };
        let rows_max = GROUPS_MAX * self.rows as usize;
        let part = |rows: Range<usize>| {
            let layout = x.layout.slice(0, rows.clone(), 1)?;
            Ok((rows, self.in_one_segment(Operand { layout, ..x.clone() })?))
        };
        let cuts = cut(self.m, &[(&x.layout, held.segment)], rows_max);
        cuts.into_iter().map(part).collect()
    }

    fn in_one_segment(&self, operand: Operand) -> Result<Operand> {
        if Held::new(&operand.value, operand.layout, operand.dtype)?.is_in_one_segment() {
            return Ok(operand);
        }
        let value = moves::copied(self.site, &operand, &[])?;
        Ok(Operand { value, layout: Layout::dense(*operand.layout.shape()), ..operand })
    }

    const fn lanes(&self) -> u32 {
        match self.site.target {
            Target::Cpu | Target::Cpu64 => 8,
            Target::Gpu => 64,
        }
    }

    fn launch(
        &self,
        panel: &Panel,
        x: Operand,
        part: &Part,
        tail: &Tail,
        (value, output): (&Arc<Value>, &Held),
    ) -> Result<()> {
        let (rows, columns) = (part.rows.len(), panel.columns.len());
        let step = if rows > 1 { x.layout.strides()[0].unsigned_abs() / 4 } else { 0 };
        let heads = [x, panel.values.clone(), panel.scales.clone()].map(Head::view);
        let mut reached = Vec::new();
        for (i, head) in heads.iter().enumerate() {
            let reach = head.raw(i == 2)?;
            reached.push(reach.ok_or_else(|| astray("an operand across segments"))?);
        }
        let Some(tail) = tail.reach(false)? else { return Err(astray("no tail")) };
        let begin = part.index * output.segment;
        let job = [
            [rows, columns, self.k / BLOCK, step],
            [part.rows.start, panel.columns.start, part.pitch, 0],
            [begin / 4, output.segment / 4, 0, 0],
        ];
        let text = regions(self.rows, self.shared);
        let regions: Vec<(&str, &str)> = text.iter().map(|(name, t)| (*name, &**t)).collect();
        let lanes = self.lanes();
        let launch = Launch {
            entry: &text::QUANTISED,
            regions: &regions,
            workgroup: Some(lanes),
            job: job.concat().into_iter().map(word).collect::<Result<_>>()?,
            groups: [
                word(rows.div_ceil(self.rows as usize))?,
                word(columns.div_ceil(4 * lanes as usize))?,
                1,
            ],
        };
        let bound = Bound::from(&output.pieces[part.index]);
        let first = -begin.cast_signed() as i64;
        let sink = Sink { bound, first, written: Arc::downgrade(value), by_element: false };
        launch.record(self.site, &reached.iter().collect::<Vec<_>>(), &tail, &sink)
    }
}

/// Rows of the result in one of its segments.
struct Part {
    rows: Range<usize>,
    pitch: usize,
    index: usize,
}

/// The longest ranges of the first axis - whole fours but for the last, and no more than `most` -
/// that lie in one segment of each side, and fours that do not.
fn cut(dim: usize, sides: &[(&Layout, usize)], most: usize) -> Vec<Range<usize>> {
    let held = |begin: usize, end: usize| -> Option<Vec<usize>> {
        let segment = |(layout, segment): &(&Layout, usize)| {
            let span = layout.slice(0, begin..end, 1).ok()?.span();
            let ends = [span.start, span.end.saturating_sub(1).max(span.start)];
            let [low, high] = ends.map(|end| end / segment);
            (low == high).then_some(low)
        };
        sides.iter().map(segment).collect()
    };
    if dim <= most && held(0, dim).is_some() {
        return core::iter::once(0..dim).collect();
    }
    let mut cuts: Vec<Range<usize>> = Vec::new();
    let mut last = None;
    for begin in (0..dim).step_by(4) {
        let (end, now) = ((begin + 4).min(dim), held(begin, (begin + 4).min(dim)));
        match cuts.last_mut() {
            Some(cut) if now.is_some() && now == last && end - cut.start <= most => cut.end = end,
            _ => cuts.push(begin..end),
        }
        last = now;
    }
    cuts
}

fn astray(message: &str) -> Error {
    mistake("a quantised product", message)
}
