//! Convolutions by tiles in workgroup memory, for GPUs: what a stage has of the input is loaded
//! once for all rows of a tile, and weights by quads of rows, which lie side by side for that.
//!
//! What was measured is in `docs/measured/images.md`.

use super::plan::Taps;
use super::terms;
use crate::engine::Site;
use crate::error::Result;
use crate::kernel::cores::Head;
use crate::kernel::matmul::choice::processor::{Processor, Registers};
use crate::kernel::{Operand, moves};
use crate::layout::Layout;
use crate::op::Kind;
use crate::wgsl::Target;
use text::{CHUNK, ConvGroup, DEPTH, SIDE};

pub mod text;

/// Fewer channels leave most of a stage empty, and fewer rows most of a tile.
const CHANNELS_MIN: usize = 8;
const ROWS_MIN: usize = 16;
/// Quads of rows to a lane, the fewest workgroups that are not too few for a GPU, and who has the
/// registers: on Intel's chips one quad spilled 106 to 121 of them.
const QUADS: [(u32, usize, &[Registers]); 2] =
    [(2, 128, &[Registers::Many]), (1, 64, &[Registers::Many, Registers::Some])];

impl ConvGroup {
    /// The tile of a convolution; `None` where there is too little to share.
    pub(super) fn of(
        taps: &Taps,
        [input, weight]: [&Layout; 2],
        kind: Kind,
        site: Site<'_>,
    ) -> Option<Self> {
        let (all, channels) = (weight.shape().dims()[0], weight.shape().dims()[1]);
        let rows = all / taps.groups;
        let shares = rows >= ROWS_MIN && rows.is_multiple_of(4) && channels >= CHANNELS_MIN;
        // A copy would have what is broadcast as often as it is read.
        let mut axes = weight.strides().iter().zip(weight.shape().dims());
        let broadcast = axes.any(|(&stride, &dim)| stride == 0 && dim > 1);
        if site.target != Target::Gpu || kind.dtype().width() != 4 || !shares || broadcast {
            return None;
        }
        let pixels = taps.result.iter().product::<usize>();
        // Where it must not matter how many images there are, there is one.
        let images = if site.batch_invariant { 1 } else { input.shape().dims()[0] };
        let of = |quads: u32| Self {
            quads,
            kind,
            ragged: !channels.is_multiple_of(DEPTH),
            deep: terms(weight.shape()) / channels * channels.div_ceil(DEPTH) > CHUNK,
            whole: pixels.is_multiple_of(4),
        };
        let groups = |tile: &Self| {
            let [rows_each, quads_each] = tile.reach().map(|n| n as usize);
            (images * pixels.div_ceil(4)).div_ceil(quads_each)
                * taps.groups
                * rows.div_ceil(rows_each)
        };
        // Rows of a tile that there are none for, where there is a tile of half the rows.
        let fills = |tile: &Self| rows.next_multiple_of(tile.reach()[0] as usize) - rows < 32;
        let caps = site.engine.gpu.caps();
        let registers = Processor::of(site.target, caps, kind.dtype()).registers();
        let fits =
            QUADS.iter().filter(|(_, _, enough)| registers.is_some_and(|r| enough.contains(&r)));
        let mut tiles = fits.map(|&(quads, least, _)| (of(quads), least));
        tiles.find(|(tile, least)| fills(tile) && groups(tile) >= *least).map(|(tile, _)| tile)
    }

    /// Rows of a tile, and quads of pixels.
    pub(super) const fn reach(&self) -> [u32; 2] {
        [4 * SIDE * self.quads, 2 * SIDE]
    }

    /// Why it is computed as it is.
    pub(super) fn remark(&self) -> String {
        let [rows, quads] = self.reach();
        format!("convolution by workgroup tiles of {rows} channels x {} pixels", 4 * quads)
    }
}

/// The weights as a view whose rows lie side by side, by quads: of a copy, unless they do.
pub(super) fn in_rows(site: Site<'_>, weight: &Head) -> Result<Head> {
    let weight = weight.realise(site)?;
    let fours = |layout: &Layout| {
        // An axis of one has no next.
        let axes = layout.strides().iter().zip(layout.shape().dims()).skip(1);
        let others = axes.filter(|(_, dim)| **dim > 1).all(|(stride, _)| stride % 4 == 0);
        layout.strides()[0] == 1 && others && layout.offset().is_multiple_of(4)
    };
    if fours(&weight.layout) {
        return Ok(Head::view(weight));
    }
    // Taps, channels, rows.
    let ordered = weight.under(weight.layout.permute([2_usize, 3, 4, 1, 0])?);
    let copy = moves::contiguous(site, &ordered)?;
    let copy = Operand::dense(copy, *ordered.layout.shape(), weight.dtype);
    Ok(Head::view(copy.under(copy.layout.permute([4_usize, 3, 0, 1, 2])?)))
}
