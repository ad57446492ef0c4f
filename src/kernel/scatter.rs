//! Values to destinations that an index names.
//!
//! Where several values have one destination, the last one in row-major order stays, or all of them
//! are added up in that order: the same bits in every run. The first is settled by integer atomics
//! (the largest position wins, whoever comes first), the second by sorting destinations and adding
//! up runs of equal ones in blocks; no float is ever added atomically.

use std::sync::Arc;

use super::sort::{Kept, PAIR_BYTES, Plain};
use super::{Held, Operand, fill};
use crate::dtype::DType;
use crate::engine::{Engine, Site};
use crate::error::Result;
use crate::exec::{Bound, Job, Value};
use crate::layout::Layout;
use crate::op::Kind;
use crate::shape::Shape;
use crate::wgsl::grid::groups_for;
use crate::wgsl::params::Words;
use crate::wgsl::{Form, Grid, Slot, Way, assemble};
use text::runs;

pub mod text;

/// Pairs that one invocation walks, as the shader says.
const RUNS_BLOCK: u32 = 64;

/// For each of `destinations`, the last position in `keys` that names it, plus one; 0 where none
/// does. `keys` is a dense list of u32.
pub(crate) fn last(site: Site<'_>, keys: &Operand, destinations: usize) -> Result<Arc<Value>> {
    let from = Held::new(&keys.value, keys.layout, DType::U32)?;
    let avoid: Vec<u64> = from.ids().collect();
    let shape = Shape::new([destinations])?;
    let value = Value::new(site.engine.allocate(Engine::bytes_of(&shape, DType::U32)?, &avoid)?);
    fill::into(site, &value, [0; 2])?;
    value.inherit([&*keys.value]);
    let onto = Held::new(&value, Layout::dense(shape), DType::U32)?;
    let slots = [Slot::read(Form::U32, Way::Dense)];
    let kernel = assemble::kernel(&text::SCATTER, &slots, 0, site.target);
    let count = keys.layout.shape().elements();
    // All below 2^32: the index space was checked.
    for (from_piece, begin) in from.pieces.iter().zip((0..count).step_by(from.segment)) {
        let here = from.segment.min(count - begin) as u32;
        let grid = Grid::of_elements(here, site.target);
        for (piece, first) in onto.pieces.iter().zip((0..destinations).step_by(onto.segment)) {
            let keys = onto.segment.min(destinations - first) as u32;
            let part = [first as u32, keys, begin as u32, here];
            site.engine.dispatch(Job {
                kernel: &kernel,
                bindings: vec![Bound::from(from_piece), Bound::from(piece)],
                params: Words::default().vec4(grid.words()).vec4(part).array([0]).done(),
                groups: grid.groups(),
                output: Arc::downgrade(&value),
            })?;
        }
    }
    Ok(value)
}

/// A list of values with sorted keys: each `columns` wide, in one piece.
#[derive(Debug)]
pub(crate) struct Runs {
    pub(crate) pairs: Arc<Value>,
    pub(crate) values: Arc<Value>,
    pub(crate) count: u32,
    pub(crate) columns: u32,
    pub(crate) dtype: DType,
}

impl Runs {
    /// Adds every value to the total of its key; `totals` has `keys` times `columns` elements.
    pub(crate) fn add(&self, site: Site<'_>, totals: &Arc<Value>, keys: usize) -> Result<()> {
        let plainly = Plain { site };
        let kernel = runs(Kind::of(self.dtype), site.target);
        let columns = self.columns as usize;
        let shape = Shape::new([keys * columns])?;
        let onto = Held::new(totals, Layout::dense(shape), self.dtype)?;
        let step = onto.segment / columns;
        let mut list = (Kept::new(&self.pairs)?, Kept::new(&self.values)?, self.count);
        loop {
            let (pairs, values, count) = (&list.0.value, &list.1.value, list.2);
            let blocks = count.div_ceil(RUNS_BLOCK);
            let rest =
                plainly.memory(u64::from(2 * blocks) * PAIR_BYTES, &[pairs, values, totals])?;
            let width = columns as u64 * self.dtype.width() as u64;
            let apart = [pairs, values, totals, &rest.value];
            let parts = plainly.memory(u64::from(2 * blocks) * width, &apart)?;
            for (piece, first) in onto.pieces.iter().zip((0..keys).step_by(step)) {
                let bindings = vec![
                    plainly.bound(pairs)?,
                    plainly.bound(values)?,
                    Bound::from(piece),
                    plainly.bound(&rest.value)?,
                    plainly.bound(&parts.value)?,
                ];
                let here = step.min(keys - first) as u32;
                let words = Words::default().vec4([count, blocks, self.columns, 0]);
                site.engine.dispatch(Job {
                    kernel: &kernel,
                    bindings,
                    params: words.vec4([first as u32, here, 0, 0]).done(),
                    groups: groups_for(blocks * self.columns, site.target),
                    output: Arc::downgrade(totals),
                })?;
            }
            if blocks == 1 {
                return Ok(());
            }
            list = (rest, parts, 2 * blocks);
        }
    }
}
