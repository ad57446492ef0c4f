//! How rows are shared among invocations: on a CPU a lane takes a row, on a GPU a group does,
//! unless rows are short. Rows that are not whole quads are reached element by element.

use super::choice::{LANES_MAX, RowsChoice, RowsSize};
use super::text::{self, NormJob, RowsKind, SoftmaxJob};
use crate::caps::breadth::Breadth;
use crate::count::{product, word};
use crate::error::Result;
use crate::layout::Layout;
use crate::shape::Shape;
use crate::wgsl::entry::CORE_TRIPS;
use crate::wgsl::rig::Rig;
use crate::wgsl::{Entry, Target};

/// An operation on rows of f32.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Rowwise {
    Softmax,
    LogSoftmax,
    LayerNorm { eps: f64 },
    RmsNorm { eps: f64 },
}

/// From so many elements on, a view whose rows lie across memory is better walked in the order of
/// memory: no cache can hold a line of every row at once.
const SCATTERED: usize = 1 << 18;
/// Rows that a CPU adapter takes at once, one to a lane. One core does so many in a third of the
/// time that the ten kernels of reductions take on two.
const ROWS_AT_ONCE: usize = Target::Cpu.workgroup() as usize;
/// Rows that keep a GPU of the usual breadth busy enough, a group to each: those of up to 2^14
/// units, of which a group has soon read each three times, and longer ones.
const ROWS_BUSY: [usize; 2] = [16, 128];
/// The most units of a row that a lane of a GPU takes by itself.
const SHORT: usize = 32;

/// Lanes that take a row: the fewer put their sums together, the faster.
const GROUPS: [u32; 3] = [64, 128, LANES_MAX];
/// The most units of a row that one lane takes when that is tuned.
const ALONE_MAX: usize = 256;
/// Units of a row that a lane has room for in its registers.
const HELD_MAX: u32 = 8;

impl Rowwise {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Softmax => "softmax",
            Self::LogSoftmax => "log_softmax",
            Self::LayerNorm { .. } => "layer_norm",
            Self::RmsNorm { .. } => "rms_norm",
        }
    }

    pub(crate) const fn is_norm(self) -> bool {
        matches!(self, Self::LayerNorm { .. } | Self::RmsNorm { .. })
    }

    /// What they are told.
    pub(super) fn job(self, rows: usize, units: usize, quads: bool) -> Result<Vec<u32>> {
        let (rows, units) = (word(rows)?, word(units)?);
        let norm = |about_zero, eps: f64| {
            NormJob { rows, units, quads, about_zero, eps: eps as f32 }.words()
        };
        Ok(match self {
            Self::Softmax | Self::LogSoftmax => SoftmaxJob { rows, units, quads }.words(),
            Self::LayerNorm { eps } => norm(false, eps),
            Self::RmsNorm { eps } => norm(true, eps),
        })
    }

    /// What the kernels are written for.
    pub(super) const fn kind(self) -> RowsKind {
        match self {
            Self::Softmax => RowsKind::Softmax,
            Self::LogSoftmax => RowsKind::LogSoftmax,
            Self::LayerNorm { .. } | Self::RmsNorm { .. } => RowsKind::Norm,
        }
    }

    const fn kernel(self, group: bool) -> &'static Entry {
        match (self.is_norm(), group) {
            (false, false) => &text::SOFTMAX_ROWS,
            (false, true) => &text::SOFTMAX_GROUP,
            (true, false) => &text::NORM_ROWS,
            (true, true) => &text::NORM_GROUP,
        }
    }
}

/// Whether the kernels are the best that can be done with the rows of a view along an axis, in f32
/// and segments of so many bytes. If not, reductions and elementwise operations are: they share a
/// row among all cores, and walk large tensors in the order of memory. Where it must not matter how
/// many rows there are, they are taken for few.
pub(crate) fn takes(
    view: &Layout,
    axis: usize,
    segment_bytes: u64,
    (target, breadth): (Target, Breadth),
    batch_invariant: bool,
) -> bool {
    let length = view.shape().dims()[axis];
    let rows = if batch_invariant { 1 } else { view.shape().elements() / length };
    let is_scattered = view.strides()[axis].unsigned_abs() != 1 && rows * length >= SCATTERED;
    let bytes = product([view.shape().elements(), size_of::<f32>()]);
    if is_scattered || bytes > segment_bytes {
        return false;
    }
    let [busy, busier] = ROWS_BUSY.map(|rows| breadth.share(rows));
    // The most units of a row, where there are so many rows.
    let steps: &[_] = match target {
        Target::Gpu => &[(4096, 1), (1 << 14, busy), (1 << 16, busier)],
        Target::Cpu | Target::Cpu64 | Target::CpuByLane => &[(256, 1), (8192, ROWS_AT_ONCE)],
    };
    steps.iter().any(|&(most, many)| units(length) <= most && rows >= many)
}

/// Quads of a row, or elements where it is not whole quads.
const fn units(length: usize) -> usize {
    if length.is_multiple_of(4) { length / 4 } else { length }
}

/// One dispatch over all rows.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowsPlan {
    pub(super) kernel: &'static Entry,
    /// If a group takes a row: its lanes, and the units that each of them keeps in registers.
    pub(super) group: Option<[u32; 2]>,
    pub(super) rows: usize,
    /// Quads of a row, or elements.
    pub(super) units: usize,
    pub(super) groups: usize,
}

/// Whether rows of this shape are not whole quads.
pub(super) fn by_element(shape: &Shape) -> bool {
    !shape.dims().last().copied().unwrap_or(1).is_multiple_of(4)
}

impl RowsPlan {
    /// The plan for a shape where finding a quad takes so many trips, as it was tuned if that can
    /// be; `None` if an invocation would loop too often.
    pub(super) fn of(
        (what, by): (Rowwise, Option<RowsChoice>),
        shape: &Shape,
        target: Target,
        trips: usize,
    ) -> Option<Self> {
        let by = by.filter(|_| target == Target::Gpu);
        let tuned = by.and_then(|by| Self::by(what, Some(by), shape, target, trips));
        tuned.or_else(|| Self::by(what, None, shape, target, trips))
    }

    fn by(
        what: Rowwise,
        by: Option<RowsChoice>,
        shape: &Shape,
        target: Target,
        trips: usize,
    ) -> Option<Self> {
        let length = shape.dims().last().copied().unwrap_or(1);
        let (rows, units) = (shape.elements() / length.max(1), units(length));
        let group = match by {
            Some(RowsChoice { lanes: 1 }) => None,
            Some(RowsChoice { lanes }) => Some([lanes, held(units, lanes)]),
            None => (target == Target::Gpu && units > SHORT).then(|| group(units)),
        };
        let lanes = group.map_or(1, |[lanes, _]| lanes as usize);
        let looped = units.div_ceil(lanes) * (1 + 3 * trips);
        let groups =
            if group.is_some() { rows } else { rows.div_ceil(target.workgroup() as usize) };
        let kernel = what.kernel(group.is_some());
        (looped <= CORE_TRIPS as usize).then_some(Self { kernel, group, rows, units, groups })
    }
}

/// The lanes for a row of so many units, and how many of those each of them keeps.
fn group(units: usize) -> [u32; 2] {
    let few = GROUPS.into_iter().find(|&lanes| held(units, lanes) > 0);
    let lanes = few.unwrap_or(LANES_MAX);
    [lanes, held(units, lanes)]
}

/// Units of a row that each of so many lanes keeps: all of its own, or none.
fn held(units: usize, lanes: u32) -> u32 {
    let all = units.div_ceil(lanes as usize);
    if all <= HELD_MAX as usize { all as u32 } else { 0 }
}

impl RowsSize {
    /// What is worth timing.
    pub(crate) fn candidates(&self, on: Rig<'_>) -> Vec<RowsChoice> {
        let most = on.caps.limits.invocations_max.min(on.caps.limits.group_x_max);
        let (units, is_gpu) = (units(self.length), on.target == Target::Gpu);
        let alone = Some(1).filter(|_| units <= ALONE_MAX);
        let together = [32].into_iter().chain(GROUPS).filter(|&lanes| u64::from(lanes) <= most);
        let lanes = alone.into_iter().chain(together).filter(|_| is_gpu);
        lanes.map(|lanes| RowsChoice { lanes }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_long_rows_and_columns_of_large_matrices_are_not_walked() {
        let dense = |dims: [usize; 2]| Layout::dense(Shape::new(dims).expect("a shape"));
        for (dims, axis, target, any, taken) in [
            ([512, 511], 0, Target::Cpu, false, true),
            ([512, 512], 0, Target::Cpu, false, false),
            ([512, 512], 0, Target::Cpu64, true, true),
            ([512, 511], 0, Target::Gpu, false, true),
            ([512, 512], 0, Target::Gpu, false, false),
            ([512, 512], 1, Target::Cpu, false, true),
            ([8, 25088], 1, Target::Cpu, false, true),
            ([8, 25088], 1, Target::Cpu, true, false),
            ([7, 25088], 1, Target::Cpu64, false, false),
            ([15, 25088], 1, Target::Gpu, false, false),
            ([16, 25088], 1, Target::Gpu, false, true),
            ([16, 1 << 16], 1, Target::Gpu, false, true),
            ([127, (1 << 16) + 4], 1, Target::Gpu, false, false),
            ([128, (1 << 16) + 4], 1, Target::Gpu, false, true),
            ([128, 1 << 18], 1, Target::Gpu, false, true),
            ([128, (1 << 18) + 4], 1, Target::Gpu, false, false),
        ] {
            let got = takes(&dense(dims), axis, 1 << 30, (target, Breadth::USUAL), any);
            assert_eq!(got, taken, "{dims:?} along {axis} on {target:?}, of any: {any}");
        }
    }
}
