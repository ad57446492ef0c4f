//! What a decision comes to for one dispatch: the kernel, its text and its workgroups.

use crate::count::{word, words};
use crate::error::Result;
use crate::kernel::choice::processor::{Processor, SHARERS};
use crate::kernel::matmul::choice::Decision;
use crate::kernel::matmul::choice::scheme::{Scheme, Variant};
use crate::kernel::matmul::text::group::{GROUP, Group};
use crate::kernel::matmul::text::product::{Means, ProductText};
use crate::kernel::matmul::text::registers::REGISTERS;
use crate::kernel::matmul::text::squares::{COOPERATIVE, Squares};
use crate::kernel::matmul::text::tile::{Packed, Tile};
use crate::kernel::matmul::text::vector::{VECTOR, Vector};
use crate::wgsl::Entry;
use crate::wgsl::grid::fold;

/// A kernel as it is written for one dispatch.
#[derive(Debug)]
pub(crate) struct Written {
    pub(crate) entry: &'static Entry,
    pub(crate) wording: ProductText,
    /// Invocations of a workgroup, where the text does not say it itself.
    pub(crate) workgroup: Option<u32>,
    /// Quads of k that are summed before they are added to the sum of the chunks.
    pub(super) chunk: usize,
    /// Workgroups for one batch.
    pub(super) groups: [u32; 2],
}

/// Quads of k that one invocation sums in a chunk.
const CHUNK_QUADS: usize = 64;

impl Decision {
    /// The kernel for a product of this size (rows, columns, k). `tile` is what an invocation sums;
    /// `near_k` says of which operands neighbours lie along k.
    pub(super) fn written(
        &self,
        tile: Tile,
        near_k: [bool; 2],
        [m, n, k]: [usize; 3],
    ) -> Result<Written> {
        let Variant { scheme, lanes, .. } = self.choice.variant;
        let dtype = self.result;
        let [rows, columns] = self.choice.variant.tile();
        let (down, right) = (m.div_ceil(rows), n.div_ceil(columns));
        let [x, y, _] = fold(word(down * right)?);
        let own = |entry, by| {
            let wording = ProductText { by, dtype };
            let (workgroup, chunk, groups) = (None, CHUNK_QUADS, [x, y]);
            Written { entry, wording, workgroup, chunk, groups }
        };
        let staged = |depth: u32| Tile { ragged: !k.is_multiple_of(depth as usize), ..tile };
        Ok(match scheme {
            Scheme::Registers | Scheme::Strips | Scheme::Fused | Scheme::Sheets => {
                // A product at a time goes into a sum, or four that were added before: a chunk has
                // as many roundings as there are trips, or as many as products that are fused.
                let chunk = if tile.fused { CHUNK_QUADS } else { 4 * CHUNK_QUADS };
                let each = tile.trip() as usize;
                let written = own(&REGISTERS, Means::Registers(tile, k > each * chunk));
                Written { workgroup: Some(lanes), chunk, groups: words([down, right])?, ..written }
            }
            Scheme::Group { across, depth, lean } => {
                // Sums of integers wrap, whatever their order.
                let deep = k > 4 * CHUNK_QUADS && dtype.is_float();
                let tile = staged(depth);
                let group = Group { tile, lanes, across, depth, near_k, deep, lean };
                own(&GROUP, Means::Group(group))
            }
            Scheme::Cooperative { side, down, across, depth } => {
                let (tile, teams) = (staged(depth), [down, across]);
                let squares = Squares { tile, side, teams, lanes, depth, near_k };
                own(&COOPERATIVE, Means::Squares(squares))
            }
            Scheme::Vector { across, subgroups } => {
                let near_k = near_k[1];
                let alone = self.processor == Processor::CpuSharing && lanes == SHARERS;
                let at_once = tile.packed.map_or(1, Packed::quads);
                let chunk = CHUNK_QUADS * (lanes / across) as usize / at_once as usize;
                let deep = k > 4 * CHUNK_QUADS * (lanes / across) as usize;
                let vector = Vector { tile, lanes, across, near_k, subgroups, alone, deep };
                Written { chunk, ..own(&VECTOR, Means::Vector(vector)) }
            }
        })
    }
}
