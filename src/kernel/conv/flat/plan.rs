//! Which convolutions are flat, how their input is padded for it, and how the work is shared.

use super::text::{FlatJob, FlatTile, LANES_EACH, QUADS};
use crate::count::{product, word, words};
use crate::dtype::DType;
use crate::error::Result;
use crate::kernel::choice::processor::Processor;
use crate::kernel::conv::text::CHUNK;
use crate::kernel::plan::taps::{Taps, terms};
use crate::shape::Shape;
use crate::wgsl::entry::CORE_TRIPS;
use crate::wgsl::rig::Rig;

/// A flat convolution: what lies around its input, and the taps over all that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Flat {
    /// Elements before and behind, along y and along x.
    pub(crate) pads: [(usize, usize); 2],
    pub(crate) taps: Taps,
}

/// The most elements between the first and the last tap along x: they are written out.
const AWAY_MAX: usize = 8;
/// What a term takes by a product of the weights with a copy of all windows, in the time of one by
/// the flat kernel, and what copying an element of the windows takes: measured on llvmpipe.
const PRODUCT: f64 = 1.2;
const COPY: f64 = 15.0;

/// Rows of a strip: the more, the fewer loads of the input, as long as none are added for it.
const fn strip(rows: usize) -> usize {
    if rows.next_multiple_of(16) == rows.next_multiple_of(8) { 16 } else { 8 }
}

impl Flat {
    /// That of these taps over an input `[images, channels, z, y, x]` with a weight of five axes,
    /// where a processor is faster by it than by a product, and each side and the result have no
    /// more elements than a segment.
    pub(crate) fn of(taps: &Taps, input: &Shape, weight: &Shape, segment: usize) -> Option<Self> {
        let (&[images, channels, depth, height, width], &[all, _, planes, down, across]) =
            (input.dims(), weight.dims())
        else {
            return None;
        };
        let [_, lines, pixels] = taps.result;
        let away = taps.reach[2].saturating_mul(across - 1);
        let one_plane = depth == 1 && planes == 1 && taps.first[0] == 0;
        let pad = |axis: usize| taps.first[axis].unsigned_abs();
        // What is larger than a segment may be too large to be counted with.
        let all_of = |dims: &[usize]| dims.iter().fold(1, |n: usize, &dim| n.saturating_mul(dim));
        let results = all_of(&[images, all, lines, pixels]);
        if !one_plane || taps.step != [1; 3] || away > AWAY_MAX || results > segment {
            return None;
        }
        let line = (width + 2 * pad(2)).next_multiple_of(4);
        // The last tile of the last plane reads on behind it.
        let behind = (QUADS + away.div_ceil(4)).div_ceil(line / 4);
        let pads = [(pad(1), pad(1) + behind), (pad(2), line - width - pad(2))];
        let plane =
            all_of(&[height.saturating_add(pad(1).saturating_mul(2)).saturating_add(behind), line]);
        let (rows, tiles) = (all / taps.groups, tiles(lines * line / 4));
        let strips = rows.next_multiple_of(strip(rows));
        let weights = all_of(&[taps.groups, strips, weight.elements() / all]);
        let fits = all_of(&[images, channels, plane]).max(weights) <= segment;
        let summed = product([tiles.next_multiple_of(LANES_EACH), 4 * QUADS, strips]);
        let part = (lines * pixels * rows) as f64 / summed as f64;
        let pays = part * (PRODUCT + COPY / rows as f64) > 1.0;
        let trips = all_of(&[channels / taps.groups, down + 2]);
        let trips = trips.saturating_add(strip(rows) * (QUADS + 1) * 5);
        let taps = Taps { first: [0; 3], ..*taps };
        (fits && pays && trips <= CORE_TRIPS as usize).then_some(Self { pads, taps })
    }
}

/// Tiles of so many quads of pixels.
const fn tiles(quads: usize) -> usize {
    quads.div_ceil(QUADS)
}

impl FlatTile {
    /// The kernel for taps over an input with its borders.
    pub(super) fn of(taps: &Taps, weight: &Shape, on: Rig<'_>) -> Result<Self> {
        Ok(Self {
            taps: word(weight.dims()[4])?,
            reach: word(taps.reach[2])?,
            rows: word(strip(weight.dims()[0] / taps.groups))?,
            shared: Processor::of(on, DType::F32).is_sharing(),
            deep: terms(weight) > CHUNK,
            whole: taps.result[2].is_multiple_of(4),
        })
    }

    /// What it is told, and the workgroups that it takes.
    pub(super) fn job(&self, taps: &Taps, input: &Shape, weight: &Shape) -> Result<(FlatJob, u32)> {
        let (x, w) = (input.dims(), weight.dims());
        let [_, lines, pixels] = taps.result;
        let (rows, line) = (w[0] / taps.groups, x[4] / 4);
        let strips = rows.div_ceil(self.rows as usize);
        let tiles = tiles(lines * line);
        let across = tiles.div_ceil(LANES_EACH);
        let chunk = (CHUNK / (w[3] * w[4])).max(1);
        let job = FlatJob {
            tiles: words([tiles, across, strips, taps.groups * strips])?,
            size: words([rows, w[1], w[3], chunk])?,
            input: words([x[3] * line, line, taps.reach[1] * line, x[0]])?,
            result: words([lines, pixels, w[0], terms(weight) * self.rows as usize / 4])?,
        };
        Ok((job, word(x[0] * across * taps.groups * strips)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::Layout;
    use crate::wgsl::Target;

    /// Step 1, so many elements around, as many channels as rows where `groups` is 1.
    fn taps(input: [usize; 2], kernel: [usize; 2], pad: usize, reach: usize) -> Taps {
        let mut taps = Taps::single(1);
        for i in 0..2 {
            taps.along(1 + i, [input[i], kernel[i]], [reach, 1], pad);
        }
        taps
    }

    fn flat(of: [usize; 4], kernel: [usize; 2], pad: usize, reach: usize) -> Option<Flat> {
        let [rows, channels, height, width] = of;
        let shape = |dims: [usize; 5]| Shape::new(dims).expect("a shape");
        let input = shape([1, channels, 1, height, width]);
        let weight = shape([rows, channels, 1, kernel[0], kernel[1]]);
        Flat::of(&taps([height, width], kernel, pad, reach), &input, &weight, 1 << 25)
    }

    #[test]
    fn a_processor_sums_along_lines_where_few_sums_are_for_nothing() {
        assert!(flat([64, 64, 56, 56], [3, 3], 1, 1).is_some());
        assert!(flat([8, 2, 20, 18], [5, 5], 4, 2).is_some(), "eight elements apart");
        assert!(flat([8, 2, 20, 18], [5, 5], 6, 3).is_none(), "twelve");
        assert!(flat([512, 512, 7, 7], [3, 3], 1, 1).is_none(), "lines of 9 in 12");
        assert!(flat([256, 256, 14, 14], [3, 3], 1, 1).is_none(), "as fast by a product");
        assert!(flat([2, 2200, 64, 64], [30, 3], 1, 1).is_none(), "a loop as long as that");
        assert!(flat([64, 64, 800, 800], [3, 3], 1, 1).is_none(), "more than a segment");
        assert!(flat([2, 1, 1, 1], [1, 1], 1 << 59, 1).is_none(), "more than can be counted");
        assert!(flat([2, 1, 1, 1], [2, 1], 1 << 59, 1 << 60).is_none(), "nor lines to pad");
        let single = flat([16, 2, 16, 64], [1, 1], 0, 1 << 60).expect("one tap");
        assert_eq!(single.taps.reach, [1; 3], "no way to the next tap");
    }

    #[test]
    fn no_lane_reads_behind_the_borders() {
        for width in 1..40 {
            for (height, kernel, pad, reach) in
                [(9, [3, 3], 1, 1), (1, [1, 9], 4, 1), (12, [5, 3], 4, 4), (3, [2, 1], 0, 1)]
            {
                if width + 2 * pad <= reach * (kernel[1] - 1) {
                    continue;
                }
                let Some(flat) = flat([1, 1, height, width], kernel, pad, reach) else { continue };
                let padded = |i: usize, dim: usize| dim + flat.pads[i].0 + flat.pads[i].1;
                let dims = [1, 1, 1, padded(0, height), padded(1, width)];
                let input = Shape::new(dims).expect("a shape");
                let weight = Shape::new([1, 1, 1, kernel[0], kernel[1]]).expect("a shape");
                let caps = crate::caps::fixtures::lavapipe();
                let tile = FlatTile::of(&flat.taps, &weight, Rig::on_paper(Target::Cpu, &caps))
                    .expect("small");
                let (job, _) = tile.job(&flat.taps, &input, &weight).expect("small");
                let last = (job.tiles[0] - 1) * QUADS as u32
                    + (job.size[2] - 1) * job.input[2]
                    + tile.quads();
                let all = Layout::dense(input).shape().elements() / 4;
                assert!(last as usize <= all, "{width}: {last} of {all}, {flat:?}");
            }
        }
    }
}
