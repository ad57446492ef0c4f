//! How a convolution is cut: tiles of rows and pixels, parts that a segment holds.

use core::ops::Range;

use super::text::{CHUNK, ConvJob, ConvTile};
use crate::count::{word, words, wrapped};
use crate::error::Result;
use crate::kernel::plan::taps::{Taps, covers, inner, terms};
use crate::layout::Layout;
use crate::op::Kind;
use crate::wgsl::Target;

/// Three lengths, and a fourth number.
const fn four([z, y, x]: [usize; 3], w: usize) -> [usize; 4] {
    [z, y, x, w]
}

impl ConvTile {
    /// The tile for these weights: few rows where a group has few.
    pub(super) fn of(taps: &Taps, weight: &Layout, kind: Kind, target: Target) -> Self {
        let rows = match weight.shape().dims()[0] / taps.groups {
            1 => 1,
            5.. if kind.dtype().width() < 8 => 8,
            // What is wider would not fit into workgroup memory.
            _ => 4,
        };
        let gpu = target == Target::Gpu;
        let lanes = if gpu { 64 } else { target.workgroup() };
        let whole = taps.result.iter().product::<usize>().is_multiple_of(4);
        let deep = terms(weight.shape()) > CHUNK;
        Self { rows, lanes, kind, staged: gpu && rows > 1, deep, whole }
    }

    /// How often an invocation loops, at most.
    pub(super) fn trips(&self, weight: &Layout) -> usize {
        let [planes, lines, width] = inner(weight.shape().dims());
        let channels = weight.shape().dims()[1];
        // Where a chunk ends, so does a stage.
        let stages = channels.div_ceil(self.depth() as usize);
        let taps = planes.saturating_mul(lines).saturating_mul(width);
        let terms = terms(weight.shape());
        let all = terms.saturating_add(taps.saturating_mul(1 + stages));
        let all = all.saturating_add(terms / CHUNK).saturating_add(2 * planes * lines);
        all.saturating_add(5 * self.rows as usize)
    }
}

/// What a kernel is told, and the workgroups that it takes, by tiles of so many rows and quads of
/// pixels.
pub(super) fn job(
    taps: &Taps,
    input: &Layout,
    weight: &Layout,
    [rows_each, quads_each]: [u32; 2],
) -> Result<(ConvJob, u32)> {
    let (x, w) = (input.shape().dims(), weight.shape().dims());
    let (rows, pixels) = (w[0] / taps.groups, taps.result.iter().product::<usize>());
    let tiles = rows.div_ceil(rows_each as usize);
    let quads = pixels.div_ceil(4);
    let all = x[0] * quads;
    let strides = |layout: &Layout| [2, 3, 4, 1].map(|axis| wrapped(layout.strides()[axis]));
    let [z, y, first] = taps.first.map(wrapped);
    let job = ConvJob {
        tiles: words([all, quads, taps.groups * tiles, tiles])?,
        size: words([rows, w[1], w[0], pixels])?,
        space: words(four(inner(x), 0))?,
        result: words(four(taps.result, 0))?,
        taps: words(four(inner(w), 0))?,
        step: words(four(taps.step, 0))?,
        reach: words(four(taps.reach, 0))?,
        first: [z, y, first, 0],
        input: strides(input),
        weight: strides(weight),
        outer: [wrapped(input.strides()[0]), wrapped(weight.strides()[0])],
        first_group: 0,
    };
    let groups = all.div_ceil(quads_each as usize) * taps.groups * tiles;
    Ok((job, word(groups)?))
}

/// How often an invocation of any tile loops over these weights, at most.
pub(super) fn trips(weight: &Layout) -> usize {
    let (rows, lanes, kind) = (8, 64, Kind::F32);
    ConvTile { rows, lanes, kind, staged: true, deep: true, whole: false }.trips(weight)
}

/// A convolution, or a part of one that is too large for a segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConvPart {
    pub(crate) taps: Taps,
    pub(crate) input: Layout,
    pub(crate) weight: Layout,
}

/// What is cut in two: axes of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Parting {
    Images,
    Along(usize),
    Groups,
    Rows,
}

impl ConvPart {
    /// The dimensions of its result.
    pub(crate) fn dims(&self) -> [usize; 5] {
        let [z, y, x] = self.taps.result;
        [self.input.shape().dims()[0], self.weight.shape().dims()[0], z, y, x]
    }

    /// The elements of its result, its input and its weights.
    fn sizes(&self) -> [usize; 3] {
        let results = self.dims().iter().fold(1usize, |n, &dim| n.saturating_mul(dim));
        [results, self.input.own(), self.weight.own()]
    }

    /// The most elements of something in it.
    pub(super) fn largest(&self) -> usize {
        self.sizes().into_iter().fold(0, usize::max)
    }

    /// Two halves of it, whose results follow each other along an axis, such that what has more
    /// elements than a segment becomes smaller; `None` if nothing of it can be cut.
    pub(super) fn halves(&self, segment: usize) -> Result<Option<(usize, [Self; 2])>> {
        let sizes = self.sizes();
        let large = (0..3).filter(|&i| sizes[i] > segment).max_by_key(|&i| sizes[i]);
        let length = |cut: &Parting| match *cut {
            Parting::Images => self.input.shape().dims()[0],
            Parting::Along(axis) => self.taps.result[axis],
            Parting::Groups => self.taps.groups,
            Parting::Rows => self.weight.shape().dims()[0] / self.taps.groups,
        };
        let along = [0, 1, 2].map(Parting::Along);
        let cuts: &[Parting] = match large {
            Some(0) => {
                &[Parting::Images, along[0], along[1], along[2], Parting::Groups, Parting::Rows]
            }
            Some(1) => &[Parting::Images, Parting::Groups, along[0], along[1], along[2]],
            _ => &[Parting::Groups, Parting::Rows],
        };
        let cuts = cuts.iter().filter(|cut| length(cut) > 1);
        // Rows of several groups do not follow each other.
        let mut cuts = cuts.filter(|&&cut| cut != Parting::Rows || self.taps.groups == 1);
        let Some(&cut) = cuts.next() else { return Ok(None) };
        let n = length(&cut);
        let axis = match cut {
            Parting::Images => 0,
            Parting::Along(axis) => 2 + axis,
            Parting::Groups | Parting::Rows => 1,
        };
        Ok(Some((axis, [self.part(cut, 0..n / 2)?, self.part(cut, n / 2..n)?])))
    }

    fn part(&self, cut: Parting, range: Range<usize>) -> Result<Self> {
        let Self { mut taps, mut input, mut weight } = *self;
        match cut {
            Parting::Images => input = input.slice(0, range)?,
            Parting::Rows => weight = weight.slice(0, range)?,
            Parting::Groups => {
                let times = |n: usize| range.start * n..range.end * n;
                let rows = weight.shape().dims()[0] / taps.groups;
                input = input.slice(1, times(weight.shape().dims()[1]))?;
                weight = weight.slice(0, times(rows))?;
                taps.groups = range.len();
            }
            Parting::Along(axis) => {
                let (step, first) = (taps.step[axis].cast_signed(), taps.first[axis]);
                let covers = covers(weight.shape().dims()[2 + axis], taps.reach[axis]);
                let begin = first + range.start.cast_signed() * step;
                let end = first + (range.end.cast_signed() - 1) * step + covers.cast_signed();
                // What is read of the input; where all of that is padding, one element.
                let length = input.shape().dims()[2 + axis];
                let from = begin.clamp(0, length.cast_signed() - 1).cast_unsigned();
                let to = end.clamp(from.cast_signed() + 1, length.cast_signed()).cast_unsigned();
                input = input.slice(2 + axis, from..to)?;
                taps.first[axis] = begin - from.cast_signed();
                taps.result[axis] = range.len();
            }
        }
        Ok(Self { taps, input, weight })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::Shape;

    fn layout(dims: &[usize]) -> Layout {
        Layout::dense(Shape::new(dims).expect("small"))
    }

    /// What the halves of a result read of an axis of 10, padded by one at both ends.
    fn read(taps: usize, reach: usize, step: usize) -> [(usize, usize, isize); 2] {
        let result = (12 - reach * (taps - 1) - 1) / step + 1;
        let whole = ConvPart {
            taps: Taps {
                step: [1, 1, step],
                reach: [1, 1, reach],
                first: [0, 0, -1],
                groups: 1,
                result: [1, 1, result],
            },
            input: layout(&[1, 1, 1, 1, 10]),
            weight: layout(&[1, 1, 1, 1, taps]),
        };
        let (axis, halves) = whole.halves(4).expect("in bounds").expect("it is cut");
        assert_eq!(axis, 4, "along x");
        halves.map(|half| {
            let input = half.input;
            (input.offset(), input.shape().dims()[4], half.taps.first[2])
        })
    }

    #[test]
    fn a_part_reads_what_its_taps_cover() {
        // Three taps: the last result of five is at 3 to 5.
        assert_eq!(read(3, 1, 1), [(0, 6, -1), (4, 6, 0)]);
        // Two apart: the last of four covers 2 to 6.
        assert_eq!(read(3, 2, 1), [(0, 7, -1), (3, 7, 0)]);
        // Every second: the last of two is at 1 to 3.
        assert_eq!(read(3, 1, 2), [(0, 4, -1), (3, 7, 0)]);
        assert_eq!(read(1, 1, 1), [(0, 5, -1), (5, 5, 0)]);
    }
}
