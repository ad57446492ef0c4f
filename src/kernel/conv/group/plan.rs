//! Which convolutions are worth tiles in workgroup memory, and of which size.

use super::text::{CHUNK, ConvGroup, DEPTH, SIDE};
use crate::caps::breadth::Breadth;
use crate::kernel::choice::processor::{Processor, Registers};
use crate::kernel::plan::taps::{Taps, terms};
use crate::layout::Layout;
use crate::op::Kind;
use crate::wgsl::Target;
use crate::wgsl::rig::Rig;

/// Fewer channels leave most of a stage empty, and fewer rows most of a tile.
const CHANNELS_MIN: usize = 8;
const ROWS_MIN: usize = 16;
/// Quads of rows to a lane, the fewest workgroups that are not too few for a GPU of the usual
/// breadth, and who has the registers: on Intel's chips one quad spilled 106 to 121 of them.
const QUADS: [(u32, usize, &[Registers]); 2] = [(2, 128, &[Registers::Many]), SMALL];
/// The smallest tile.
const SMALL: (u32, usize, &[Registers]) = (1, 64, &[Registers::Many, Registers::Some]);

impl ConvGroup {
    /// The tile of a convolution; `None` where there is too little to share.
    pub(in crate::kernel::conv) fn of(
        taps: &Taps,
        [input, weight]: [&Layout; 2],
        kind: Kind,
        batch_invariant: bool,
        on: Rig<'_>,
    ) -> Option<Self> {
        let (all, channels) = (weight.shape().dims()[0], weight.shape().dims()[1]);
        let rows = all / taps.groups;
        let shares = rows >= ROWS_MIN && rows.is_multiple_of(4) && channels >= CHANNELS_MIN;
        // A copy would have what is broadcast as often as it is read.
        let mut axes = weight.strides().iter().zip(weight.shape().dims());
        let broadcast = axes.any(|(&stride, &dim)| stride == 0 && dim > 1);
        if on.target != Target::Gpu || kind.dtype().width() != 4 || !shares || broadcast {
            return None;
        }
        let pixels = taps.result.iter().product::<usize>();
        // Where it must not matter how many images there are, there is one.
        let images = if batch_invariant { 1 } else { input.shape().dims()[0] };
        let of = |quads: u32| Self {
            quads,
            kind,
            ragged: !channels.is_multiple_of(DEPTH),
            deep: terms(weight.shape()) / channels * channels.div_ceil(DEPTH) > CHUNK,
            whole: pixels.is_multiple_of(4),
        };
        let groups = |tile: &Self| workgroups(tile.reach(), taps, images, rows);
        // Rows of a tile that there are none for, where there is a tile of half the rows.
        let fills = |tile: &Self| rows.next_multiple_of(tile.reach()[0] as usize) - rows < 32;
        let registers = Processor::of(on, kind.dtype()).registers();
        let fits =
            QUADS.iter().filter(|(_, _, enough)| registers.is_some_and(|r| enough.contains(&r)));
        let mut tiles = fits.map(|&(quads, least, _)| (of(quads), least));
        tiles
            .find(|(tile, least)| fills(tile) && groups(tile) >= on.breadth.share(*least))
            .map(|(tile, _)| tile)
    }

    /// Whether even the smallest tiles are too few workgroups for a GPU, whether it has the
    /// registers for them or not: other kernels have no more.
    pub(in crate::kernel::conv) fn are_few(
        taps: &Taps,
        images: usize,
        rows: usize,
        breadth: Breadth,
    ) -> bool {
        let (quads, least, _) = SMALL;
        workgroups(reach(quads), taps, images, rows) < breadth.share(least)
    }

    /// Rows of a tile, and quads of pixels.
    pub(in crate::kernel::conv) const fn reach(&self) -> [u32; 2] {
        reach(self.quads)
    }

    /// Why it is computed as it is.
    pub(in crate::kernel::conv) fn remark(&self) -> String {
        let [rows, quads] = self.reach();
        format!("convolution by workgroup tiles of {rows} channels x {} pixels", 4 * quads)
    }
}

/// Rows of a tile with so many quads of rows to a lane, and quads of pixels.
const fn reach(quads: u32) -> [u32; 2] {
    [4 * SIDE * quads, 2 * SIDE]
}

/// Workgroups of tiles of such a reach, where a group of channels has so many rows.
fn workgroups(reach: [u32; 2], taps: &Taps, images: usize, rows: usize) -> usize {
    let [rows_each, quads_each] = reach.map(|n| n as usize);
    let quads = taps.result.iter().product::<usize>().div_ceil(4);
    (images * quads).div_ceil(quads_each) * taps.groups * rows.div_ceil(rows_each)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::caps::{Caps, fixtures};
    use crate::shape::Shape;

    /// The rows of a tile, for images of so many channels under kernels of 3 x 3, all together.
    fn rows(of: [usize; 3], side: usize, target: Target, caps: &Caps) -> Option<u32> {
        let [images, channels, rows] = of;
        let mut taps = Taps::single(1);
        for axis in 1..3 {
            taps.along(axis, [side, 3], [1, 1], 1);
        }
        let dense = |dims: [usize; 5]| Layout::dense(Shape::new(dims).expect("a shape"));
        let input = dense([images, channels, 1, side, side]);
        let weight = dense([rows, channels, 1, 3, 3]);
        let (both, on) = ([&input, &weight], Rig::on_paper(target, caps));
        ConvGroup::of(&taps, both, Kind::F32, false, on).map(|tile| tile.reach()[0])
    }

    #[test]
    fn tiles_are_as_large_as_keep_a_gpu_busy_and_as_its_registers_hold() {
        let baseline = Caps::webgpu_baseline();
        let of = |of, side| rows(of, side, Target::Gpu, &baseline);
        assert_eq!(of([8, 64, 128], 56), Some(64));
        assert_eq!(of([1, 64, 128], 56), Some(32), "too few workgroups");
        assert_eq!(of([1, 64, 64], 8), None, "even of the small ones");
        assert_eq!(of([8, 64, 80], 56), Some(32), "rows of a tile that there are none for");
        assert_eq!(of([8, 7, 128], 56), None, "few channels");
        assert_eq!(of([8, 64, 12], 56), None, "few rows");
        assert_eq!(of([8, 64, 130], 56), None, "no quads of rows");
        assert_eq!(rows([8, 64, 128], 56, Target::Cpu, &baseline), None, "not on a processor");
        let chip = |vendor: &str| {
            let mut all = fixtures::all().into_iter().map(|(_, caps)| caps);
            all.find(|caps| caps.identity.vendor_name() == Some(vendor)).expect(vendor)
        };
        let on = |vendor| rows([8, 64, 128], 56, Target::Gpu, &chip(vendor));
        assert_eq!(["NVIDIA", "Qualcomm", "Intel"].map(on), [Some(64), Some(32), None]);
    }
}
