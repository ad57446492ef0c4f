//! What one dispatch of a product reads, runs and stores: of a panel, the rows that touch one
//! segment of the result.

use core::ops::Range;

use super::choice::Decision;
use super::choice::scheme::{Choice, Scheme, Size};
use super::text::job::MatmulJob;
use super::text::tile::{Along, Packed, Tile};
use crate::count::{word, words};
use crate::dtype::DType;
use crate::error::Result;
use crate::kernel::choice::processor::Processor;
use crate::layout::Layout;
use crate::op::Kind;
use crate::shape::RANK_MAX;

pub(super) mod panels;
pub(super) mod view;
pub(super) mod windows;
mod written;

use panels::{Panel, blocks};
use windows::Window;
use written::Written;

/// One dispatch.
#[derive(Debug)]
pub(super) struct Dispatched {
    pub(super) written: Written,
    /// Both sides, and the dtype that the kernel reads both as, if not as what they are.
    pub(super) sides: [Layout; 2],
    pub(super) read_as: Option<DType>,
    pub(super) along: [Along; 2],
    pub(super) job: MatmulJob,
    pub(super) groups: [u32; 3],
    /// Multiplications and additions.
    pub(super) flops: u64,
}

impl Decision {
    /// Elements from row to row of what the kernels store.
    pub(super) const fn pitch(&self) -> usize {
        self.size.n.next_multiple_of(4)
    }

    /// The longest k of one pass, where segments have so many elements: one of them holds the copy
    /// of a row, a strip or a sheet.
    fn k_max(&self, segment: usize) -> usize {
        let variant = &self.choice.variant;
        let each = variant.copied().map_or(1, |[rows, columns]| rows.max(columns));
        variant.k_max().min((segment / each / 4 * 4).max(4))
    }

    /// How several quads of these sides are loaded at a time, if they lie in whole loads along k.
    fn packed_in(&self, sides: &[Layout; 2]) -> Option<Packed> {
        self.packed.filter(|by| view::are_in_units(sides, by.unit()))
    }

    /// In how many parts k is cut, and how long those are that are alike, in whole quads, if there
    /// are several: on a GPU, but of what is copied.
    fn parts(&self, segment: usize) -> (usize, Option<usize>) {
        let (k, k_max) = (self.size.k, self.k_max(segment));
        let parts = self.choice.passes.max(k.div_ceil(k_max)).max(1);
        let gpu = matches!(self.processor, Processor::Gpu(_));
        let may = parts > 1 && gpu && self.choice.variant.copied().is_none();
        // Whole loads, and what they leave of k is one pass.
        let unit = self.packed_in(&self.sides).map_or(4, Packed::unit);
        let alike = |&each: &usize| may && each > 0 && k - parts * each <= k_max;
        (parts, Some(k / parts / unit * unit).filter(alike))
    }

    /// The ranges of k of all passes, whole quads but for the last. Those that are alike lie the
    /// same whether they are [taken at once](Decision::at_once) or not: what else is in a batch
    /// decides about that, and about no bit.
    pub(super) fn ranges(&self, segment: usize) -> Vec<Range<usize>> {
        let k = self.size.k;
        let (parts, alike) = self.parts(segment);
        match alike {
            None => blocks(&(0..k), k.div_ceil(parts).next_multiple_of(4)).collect(),
            Some(each) => {
                let rest = parts * each..k;
                blocks(&(0..rest.start), each).chain(Some(rest).filter(|r| !r.is_empty())).collect()
            }
        }
    }

    /// On a GPU, the passes along k as batches of one product: dispatches that write one buffer
    /// wait for each other, workgroups of one dispatch fill its cores. And what they leave of k, as
    /// one more. `None` where there is one pass, or where they follow each other: an axis more may
    /// be too many.
    pub(super) fn at_once(&self, segment: usize) -> Result<Option<(Self, Option<Self>)>> {
        let Size { batch, k, .. } = self.size;
        let (parts, alike) = self.parts(segment);
        let alike = alike.filter(|_| self.sides[0].shape().rank() < RANK_MAX);
        let Some(each) = alike else { return Ok(None) };
        let of = |ks: Range<usize>| -> Result<Self> {
            let k = ks.len();
            let side = |i: usize| {
                let layout = self.sides[i];
                layout.slice(layout.shape().rank() - 1 - i, ks.clone())
            };
            let choice = Choice { passes: 1, ..self.choice };
            let (sides, size) = ([side(0)?, side(1)?], Size { k, ..self.size });
            Ok(Self { sides, size, choice, ..self.clone() })
        };
        let alike = of(0..parts * each)?;
        let [a, b] = alike.sides;
        let alike = Self {
            sides: [view::parted(&a, 0, parts)?, view::parted(&b, 1, parts)?],
            size: Size { batch: parts * batch, k: each, ..self.size },
            ..alike
        };
        let rest = (parts * each < k).then(|| of(parts * each..k)).transpose()?;
        Ok(Some((alike, rest)))
    }

    /// A window of a panel, whose sides lie in one segment each.
    pub(super) fn dispatch(
        &self,
        panel: &Panel,
        window: &Window,
        sides: &[Layout; 2],
    ) -> Result<Dispatched> {
        let rows = window.rows.start - panel.rows.start..window.rows.end - panel.rows.start;
        let mut size = [rows.len(), panel.columns.len(), panel.k.len()];
        let flops = size.iter().fold(2 * window.batch.len() as u64, |n, &d| n * d as u64);
        // Rows, or strips of them: a window begins with a whole one.
        let each = self.choice.variant.strip().unwrap_or(1);
        let rows = rows.start / each..rows.end.div_ceil(each);
        let a = sides[0].slice(sides[0].shape().rank() - 2, rows)?;
        let mut sides = [a, sides[1]];
        let variant = &self.choice.variant;
        let near_k = [0, 1].map(|i| view::is_near_k(&sides[i], i));
        let own = [0, 1].map(|i| view::along(&sides[i], i, variant.rows));
        let along = match variant.scheme {
            Scheme::Strips => [Along::Outer; 2],
            Scheme::Sheets => [own[0], Along::Outer],
            _ => own,
        };
        let packed = self.packed_in(&sides);
        if let Some(packed) = packed {
            let per = packed.quads() as usize;
            size[2] /= per;
            sides = [view::widened(&sides[0], 0, per)?, view::widened(&sides[1], 1, per)?];
        }
        let read_as = packed.map(Packed::dtype);
        let steps = view::batch_steps(&sides);
        let (strips, shared) = (variant.strip().is_some(), self.processor.shares(variant));
        let tile = Tile {
            rows: variant.rows,
            quads: variant.quads,
            along,
            ragged: false,
            shared,
            strips,
            sheets: variant.scheme == Scheme::Sheets,
            fused: variant.scheme.fuses() && Kind::of(self.result) == Kind::F32,
            even: steps.is_some(),
            packed,
        };
        let ragged = !panel.k.len().is_multiple_of(tile.trip() as usize);
        let tile = Tile { ragged, ..tile };
        let written = self.written(tile, near_k, size)?;
        let [m, n, k] = words(size)?;
        // A panel has its own batches only.
        let before = panel.batch.start;
        let row = before * self.size.m + window.rows.start;
        let origin = [window.batch.start - before, row, panel.columns.start, self.size.m];
        let [x, y] = written.groups;
        let [left, right] = [0, 1].map(|i| view::steps(&sides[i], along[i]));
        let job = MatmulJob {
            size: [m, n, k, word(written.chunk)?],
            first: words(origin)?,
            result: words([self.pitch(), window.held[0] / 4, window.held[1] / 4, 0])?,
            step: [left[0], left[1], right[0], right[1]],
            batch: batch(&sides, along, steps)?,
        };
        let groups = [x, y, word(window.batch.len())?];
        Ok(Dispatched { written, sides, read_as, along, job, groups, flops })
    }
}

/// The batch's dimensions, innermost first: lengths, and strides of both sides.
fn batch(
    sides: &[Layout; 2],
    along: [Along; 2],
    steps: Option<[isize; 2]>,
) -> Result<[[u32; 8]; 3]> {
    let mut batch = [[u32::MAX; 8], [0; 8], [0; 8]];
    for i in 0..2 {
        let unit = |stride| view::unit(stride, along[i]);
        if let Some(steps) = steps {
            batch[1 + i][0] = unit(steps[i]);
            continue;
        }
        let outer = sides[i].shape().rank() - 2;
        for (d, axis) in (0..outer).rev().enumerate() {
            batch[0][d] = word(sides[i].shape().dims()[axis])?;
            batch[1 + i][d] = unit(sides[i].strides()[axis]);
        }
    }
    Ok(batch)
}
