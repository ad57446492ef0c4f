//! Products with quantized weights: rows of X by rows of W, whose bytes become numbers in
//! registers.
//!
//! ```text
//! Y[m, n] = sum over blocks b of scale[n, b] (sum over the block of X[m, k] values[n, k])
//! X           [m, k], read by quads, or copied so that it can be
//! W           values and scales of n rows, dense, cut at segments by whole columns of Y
//! ```
//!
//! Software drivers sum a tile in registers. On a GPU the lanes of a workgroup share the k of a few
//! rows, as fast as the weights are read; of many rows they stage both sides in workgroup memory.
//!
//! Many rows of f32 do not come here on software drivers: numbers are made of the weights in memory
//! and multiplied as such (`docs/measured/quantized.md`).

use core::ops::Range;
use std::sync::Arc;

use super::cores::sums::{self, Sums};
use super::cores::{Core, Head, Launch, Sink, Tail};
use super::{Held, Operand, moves};
use crate::count::{word, words, wrapped};
use crate::dtype::DType;
use crate::engine::Site;
use crate::error::{Error, Result, mistake};
use crate::exec::{Bound, Labour, Value};
use crate::host::blocks::{BLOCK, Blocks};
use crate::kernel::plan::in_tiles;
use crate::layout::Layout;
use crate::proof::Oracle;
use crate::shape::Shape;
pub(crate) use plan::{K_MAX, WeightsWay};
use plan::{QuantizedPlan, ResultRows, cut};
use text::{QuantizedJob, QuantizedTile};

pub(crate) mod choice;
pub(crate) mod oracle;
mod plan;
pub mod text;

/// A product with quantized weights, deferred. Its inputs are a view `[m, k]`, and values and
/// scales of n rows of k, both dense; k is whole blocks.
#[derive(Debug)]
pub(crate) struct QuantizedProduct {
    /// What it is called.
    pub(crate) name: &'static str,
    pub(crate) form: Blocks,
    /// What was tuned.
    pub(crate) by: Option<QuantizedTile>,
}

impl Core for QuantizedProduct {
    fn name(&self) -> &'static str {
        self.name
    }

    fn is_long(&self) -> bool {
        true
    }

    fn oracle(&self) -> Option<Oracle> {
        Some(Oracle::Own { by: &oracle::BLOCKWISE, told: vec![self.form as u32] })
    }

    fn record(&self, site: Site<'_>, inputs: &[Head], tail: &Tail) -> Result<Arc<Value>> {
        let [x, values, scales] = inputs else { return Err(wrong("not three operands")) };
        if tail.shape.is_empty() {
            return Ok(Value::new(site.engine.allocate(0, &[])?));
        }
        let x = x.realise(site)?;
        let [m, k] = *x.layout.shape().dims() else { return Err(wrong("not rows")) };
        if k == 0 {
            return sums::of_nothing(site, tail);
        }
        let (values, scales) = (values.realise(site)?, scales.realise(site)?);
        let n = values.layout.shape().dims()[0];
        let size = [m, n, k];
        let plan = QuantizedPlan::by(self.by, self.form, size, site.batch_invariant, site.rig());
        let why = if self.by.is_some() { ", tuned" } else { "" };
        site.engine.remark(|| format!("{} weights by {plan}: {m} rows{why}", self.form.name()));
        let product = Blockwise { site, m, n, k, plan };
        let operands = [x, words_of(site, values)?, by_quads(site, scales)?];
        let sums = Sums { passes: 1, rows: m, columns: n, dtype: DType::F32 };
        sums.stored(site, 4, tail, |_, tail| product.record(&operands, tail))
    }
}

fn copy_of(site: Site<'_>, from: &Operand) -> Result<Operand> {
    Ok(Operand::dense(moves::copied(site, from, &[])?, *from.layout.shape(), from.dtype))
}

/// Values of 8 bits as words of four.
fn words_of(site: Site<'_>, values: Operand) -> Result<Operand> {
    let whole = values.layout.is_dense() && values.layout.offset().is_multiple_of(16);
    let values = if whole { values } else { copy_of(site, &values)? };
    let [n, bytes] = *values.layout.shape().dims() else { return Err(wrong("not a matrix")) };
    let (words, offset) = (bytes / 4, values.layout.offset() / 4);
    let layout = Layout::strided(Shape::new([n, words])?, &[words.cast_signed(), 1], offset)?;
    Ok(Operand { layout, dtype: DType::U32, ..values })
}

/// Scales that are read by quads, if they are words.
fn by_quads(site: Site<'_>, scales: Operand) -> Result<Operand> {
    let whole = scales.layout.is_dense() && scales.layout.offset().is_multiple_of(4);
    if whole || scales.dtype != DType::U32 { Ok(scales) } else { copy_of(site, &scales) }
}

/// A product under way.
struct Blockwise<'a> {
    site: Site<'a>,
    m: usize,
    n: usize,
    k: usize,
    plan: QuantizedPlan,
}

/// Columns of the result with their weights, which lie in one segment each.
struct WeightColumns {
    columns: Range<usize>,
    values: Operand,
    scales: Operand,
}

impl Blockwise<'_> {
    /// The whole product, with rows of whole quads.
    fn record(&self, operands: &[Operand; 3], tail: &Tail) -> Result<Arc<Value>> {
        let pitch = self.n.next_multiple_of(4);
        let reach = tail.reached()?;
        let [x, values, scales] = operands;
        // Copies first: the result must lie in none of their buffers.
        let panels = self.panels(values, scales)?;
        let parts = self.parts(x)?;
        let sides = panels.iter().flat_map(|p| [&p.values, &p.scales]);
        let sides = sides.chain(parts.iter().map(|(_, x)| x)).map(Operand::hold);
        // In place until all is recorded, so that none of them moves to where the result lies.
        let sides: Vec<Held> = sides.collect::<Result<_>>()?;
        let avoid: Vec<u64> = reach.ids().chain(sides.iter().flat_map(Held::ids)).collect();
        let (value, output) = Held::fresh(self.site, &tail.shape, tail.dtype, &avoid)?;
        for panel in &panels {
            for (rows, x) in &parts {
                for part in ResultRows::by_segment(rows, pitch, output.segment) {
                    let own = part.rows.start - rows.start..part.rows.end - rows.start;
                    self.launch(panel, x.slice(0, own)?, &part, tail, (&value, &output))?;
                }
            }
        }
        Ok(value)
    }

    /// The weights cut where values or scales cross into another segment.
    fn panels(&self, values: &Operand, scales: &Operand) -> Result<Vec<WeightColumns>> {
        let sides =
            [(&values.layout, values.hold()?.segment), (&scales.layout, scales.hold()?.segment)];
        let [_, columns_max] = self.plan.most();
        let cuts = cut(self.n, &sides, columns_max);
        let panel = |columns: Range<usize>| {
            let one =
                |side: &Operand| moves::in_one_segment(self.site, side.slice(0, columns.clone())?);
            let (values, scales) = (one(values)?, one(scales)?);
            Ok(WeightColumns { values, scales, columns })
        };
        cuts.into_iter().map(panel).collect()
    }

    /// The rows of X, by quads and in one segment each.
    fn parts(&self, x: &Operand) -> Result<Vec<(Range<usize>, Operand)>> {
        let strides = x.layout.strides();
        let quads = strides[1] == 1 && (self.m == 1 || strides[0] % 4 == 0);
        let x = if quads && x.layout.offset().is_multiple_of(4) {
            x.clone()
        } else {
            copy_of(self.site, x)?
        };
        let [mut rows_max, _] = self.plan.most();
        if let Some(breadth) = self.site.watched(DType::F32) {
            rows_max = rows_max.min(in_tiles(breadth.rows_at_once(self.n, self.k)));
        }
        let part = |rows: Range<usize>| {
            Ok((rows.clone(), moves::in_one_segment(self.site, x.slice(0, rows)?)?))
        };
        let cuts = cut(self.m, &[(&x.layout, x.hold()?.segment)], rows_max);
        cuts.into_iter().map(part).collect()
    }

    fn launch(
        &self,
        panel: &WeightColumns,
        x: Operand,
        part: &ResultRows,
        tail: &Tail,
        (value, output): (&Arc<Value>, &Held),
    ) -> Result<()> {
        let (rows, columns) = (part.rows.len(), panel.columns.len());
        let step = if rows > 1 { wrapped(x.layout.strides()[0] / 4) } else { 0 };
        let heads = [x, panel.values.clone(), panel.scales.clone()].map(Head::view);
        let mut reached = Vec::new();
        for (i, head) in heads.iter().enumerate() {
            let reach = head.raw(i == 2 && head.dtype != DType::U32)?;
            reached.push(reach.ok_or_else(|| wrong("an operand across segments"))?);
        }
        let tail = tail.reached()?;
        let begin = part.index * output.segment;
        let job = QuantizedJob {
            size: [word(rows)?, word(columns)?, word(self.k / BLOCK)?, step],
            first: words([part.rows.start, panel.columns.start, part.pitch, 0])?,
            result: words([begin / 4, output.segment / 4])?,
        };
        let launch = Launch {
            entry: self.plan.text.tile.entry(),
            wording: &self.plan.text,
            workgroup: self.plan.text.tile.workgroup(),
            job: job.words(),
            groups: words(self.plan.groups(rows, columns))?,
            work: Labour::of([rows, columns, self.k].iter().fold(2, |n, &d| n * d as u64)),
        };
        let bound = Bound::from(&output.pieces[part.index]);
        let first = -begin.cast_signed() as i64;
        let sink = Sink { bound, first, written: Arc::downgrade(value), by_element: false };
        launch.record(self.site, &reached.iter().collect::<Vec<_>>(), &tail, &sink)
    }
}

fn wrong(message: &str) -> Error {
    mistake("a quantized product", message)
}
