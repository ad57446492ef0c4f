//! Values to destinations that an index names.
//!
//! Where several values have one destination, the last one in row-major order stays, or all of them
//! are added up - or multiplied - in that order: the same bits in every run. The first is settled
//! by integer atomics (the largest position wins, whoever comes first), the second by sorting
//! destinations and adding up runs of equal ones in blocks; no float is ever added atomically.
//! Sums of integers wrap, which no order changes: they are.

use std::sync::Arc;

use super::pick::{self, Course, Onto, Which};
use super::sort::{self, Kept, PAIR_BYTES, Plain};
use super::{Held, Operand, fill};
use crate::count::{index, word, words};
use crate::dtype::DType;
use crate::engine::Site;
use crate::error::{Result, mistake};
use crate::exec::{Bound, Job, Value};
use crate::layout::Layout;
use crate::op::Kind;
use crate::shape::Shape;
use crate::wgsl::grid::{fold, groups_for};
use crate::wgsl::params::Operands;
use crate::wgsl::{Form, Grid, Slot, Target, Way, kept};
pub(crate) use text::Merging;
use text::{RUNS_BLOCK, RunsJob, ScatterJob, TOTALS, TallyGroupJob, TallyJob, runs};

pub(crate) use plan::fits;

mod plan;
pub mod text;

/// The workgroups with totals of their own that keep a GPU of the usual breadth busy.
const GROUPS_BUSY: usize = 512;

/// For each of `destinations`, the last position in `keys` that names it, plus one; 0 where none
/// does. `keys` is a dense list of u32.
pub(crate) fn last(site: Site<'_>, keys: &Operand, destinations: usize) -> Result<Arc<Value>> {
    let from = keys.hold()?;
    let avoid: Vec<u64> = from.ids().collect();
    let shape = Shape::new([destinations])?;
    let (value, onto) = Held::fresh(site, &shape, DType::U32, &avoid)?;
    fill::into(site, &value, [0; 2])?;
    value.inherit([&*keys.value]);
    let slots = [Slot::read(Form::U32, Way::Dense)];
    let kernel = kept::kernel(&text::SCATTER, &slots, 0, site.target);
    let count = keys.layout.shape().elements();
    for (from_piece, begin) in from.pieces.iter().zip((0..count).step_by(from.segment)) {
        let here = word(from.segment.min(count - begin))?;
        let grid = Grid::of_elements(here, site.target);
        for (piece, first) in onto.pieces.iter().zip((0..destinations).step_by(onto.segment)) {
            let keys = onto.segment.min(destinations - first);
            let [keys, first, begin] = words([keys, first, begin])?;
            let job = ScatterJob { grid, first, keys, begin, count: here };
            site.dispatch(Job {
                kernel: &kernel,
                bindings: vec![Bound::from(from_piece), Bound::from(piece)],
                params: Operands { offsets: &[0], ..Operands::default() }.after(job.words()),
                groups: grid.groups(),
                outputs: vec![Arc::downgrade(&value)],
            })?;
        }
    }
    Ok(value)
}

/// A copy of `own` with elements of `from` in it. `winners` has, for every element of `own`, the
/// position in `from` of what replaces it, or a number beyond all positions where it stays.
pub(crate) fn replaced(
    site: Site<'_>,
    own: &Operand,
    from: &Operand,
    winners: &Operand,
) -> Result<Arc<Value>> {
    let list = *winners.layout.shape();
    let onto = Onto::new(site, list, own.dtype, [&own.value, &from.value, &winners.value])?;
    // What stays is moved by the shape it has, and the rest by its position.
    let whole = Onto { shape: *own.layout.shape(), ..onto };
    whole.take_all(own)?;
    let onto = Onto { shape: list, ..whole };
    let bound = from.layout.shape().elements();
    let which = Which::Index { index: winners, stride: 1, bound };
    let course = Course { offset: from.layout.offset() as i64, strides: vec![0] };
    onto.take(from, &course, &which, 0..list.elements())?;
    Ok(onto.value)
}

/// Folds every row of `rows` into the total that its key names, as many at once as one sort takes.
/// Keys that are nobody's have all bits set.
pub(crate) fn merged(
    site: Site<'_>,
    how: Merging,
    keys: &Operand,
    rows: &Operand,
    totals: &Operand,
) -> Result<()> {
    totals.value.inherit([&*keys.value, &*rows.value]);
    let shape = *rows.layout.shape();
    let &[count, columns] = shape.dims() else { return Err(mistake("scatter", "no rows")) };
    let destinations = totals.layout.shape().elements() / columns.max(1);
    if count == 0 || columns == 0 || destinations == 0 {
        return Ok(());
    }
    let segment = index(site.engine.segment_bytes())?;
    let at_once = sort::pairs_max(site.engine)?.min(segment / (columns * rows.dtype.width()));
    // Keys that are nobody's are sorted last by the highest of these bits.
    let bits = (usize::BITS - destinations.leading_zeros()).min(32);
    let adds = how == Merging::Sum && matches!(rows.dtype, DType::I32 | DType::U32);
    let (columns, dtype) = (word(columns)?, rows.dtype);
    for first in (0..count).step_by(at_once.min(count)) {
        let range = first..count.min(first + at_once);
        let here = word(range.len())?;
        let names = keys.slice(0, range.clone())?;
        let names = match adds {
            true => pick::apart(site, names, &totals.value)?,
            false => sort::pairs(site, (&names, bits), &totals.value)?,
        };
        let values = pick::apart(site, rows.slice(0, range)?, &totals.value)?;
        totals.value.inherit([&*values]);
        match adds {
            true => Keyed { keys: names, values, count: here * columns, columns }.add(
                site,
                &totals.value,
                destinations,
            )?,
            false => Runs { how, pairs: names, values, count: here, columns, dtype }.fold(
                site,
                &totals.value,
                destinations,
            )?,
        }
    }
    Ok(())
}

/// The totals of so many keys, each so many columns wide, and how many keys have theirs in a piece.
fn by_rows(
    totals: &Arc<Value>,
    dtype: DType,
    [keys, columns]: [usize; 2],
) -> Result<(Held, usize)> {
    let onto = Held::new(totals, Layout::dense(Shape::new([keys * columns])?), dtype)?;
    if onto.pieces.len() > 1 && !onto.segment.is_multiple_of(columns) {
        return Err(mistake("scatter", "a segment cuts a row of totals"));
    }
    let step = onto.segment / columns;
    Ok((onto, step))
}

/// A list of integers, `columns` for each key, each list in one piece.
#[derive(Debug)]
struct Keyed {
    keys: Arc<Value>,
    values: Arc<Value>,
    count: u32,
    columns: u32,
}

impl Keyed {
    /// Adds every value to the total of its key; `totals` has `keys` times `columns` elements.
    fn add(&self, site: Site<'_>, totals: &Arc<Value>, keys: usize) -> Result<()> {
        let plainly = Plain { site };
        let columns = self.columns as usize;
        let (onto, step) = by_rows(totals, DType::U32, [keys, columns])?;
        for (piece, first) in onto.pieces.iter().zip((0..keys).step_by(step)) {
            let bindings =
                vec![plainly.bound(&self.keys)?, plainly.bound(&self.values)?, Bound::from(piece)];
            let [keys, first] = words([step.min(keys - first), first])?;
            let (kernel, params, groups) = match self.by_groups(site, keys, first) {
                Some((job, groups)) => (text::tally_group(site.target), job.words(), groups),
                None => {
                    let Self { count, columns, .. } = *self;
                    let grid = Grid::of_elements(count, site.target);
                    let job = TallyJob { grid, count, columns, first, keys };
                    (kept::plain(&text::TALLY, site.target), job.words(), grid.groups())
                }
            };
            let outputs = vec![Arc::downgrade(totals)];
            site.dispatch(Job { kernel: &kernel, bindings, params, groups, outputs })?;
        }
        Ok(())
    }

    /// Parts of the list for workgroups that add up totals of their own, where these are few, and
    /// values many.
    fn by_groups(
        &self,
        site: Site<'_>,
        keys: u32,
        first: u32,
    ) -> Option<(TallyGroupJob, [u32; 3])> {
        let Self { count, columns, .. } = *self;
        let totals = keys.checked_mul(columns).filter(|&totals| totals <= TOTALS && first == 0)?;
        // A workgroup writes its totals once for so many values of each.
        let most = count / (16 * TOTALS);
        let wished = site.engine.gpu.breadth.share(GROUPS_BUSY);
        let groups = most.min(u32::try_from(wished).unwrap_or(u32::MAX));
        let each = count.checked_div(groups)?.checked_add(1)?;
        let job = TallyGroupJob { count, columns, totals, each };
        (site.target == Target::Gpu).then(|| (job, fold(groups)))
    }
}

/// A list of values with sorted keys: each `columns` wide, in one piece.
#[derive(Debug)]
struct Runs {
    how: Merging,
    pairs: Arc<Value>,
    values: Arc<Value>,
    count: u32,
    columns: u32,
    dtype: DType,
}

impl Runs {
    /// Folds every value into the total of its key; `totals` has `keys` times `columns` elements.
    fn fold(&self, site: Site<'_>, totals: &Arc<Value>, keys: usize) -> Result<()> {
        let plainly = Plain { site };
        let kernel = runs(self.how, Kind::of(self.dtype), site.target);
        let columns = self.columns as usize;
        let (onto, step) = by_rows(totals, self.dtype, [keys, columns])?;
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
                let [keys, first] = words([step.min(keys - first), first])?;
                let columns = self.columns;
                let job = RunsJob { count, blocks, columns, first, keys };
                site.dispatch(Job {
                    kernel: &kernel,
                    bindings,
                    params: job.words(),
                    groups: groups_for(blocks * self.columns, site.target),
                    outputs: vec![Arc::downgrade(totals)],
                })?;
            }
            if blocks == 1 {
                return Ok(());
            }
            list = (rest, parts, 2 * blocks);
        }
    }
}
