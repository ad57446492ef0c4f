//! What a choice comes to for one dispatch: the kernel's name, its text and its workgroups.

use super::choice::{Choice, Kernel, Machine};
use super::text::cooperative::{COOPERATIVE, Cooperative};
use super::text::group::{GROUP, Group};
use super::text::packed::Packed;
use super::text::vector::{VECTOR, Vector};
use super::text::{REGISTERS, SHARERS, Text, Tile};
use crate::count::{word, words};
use crate::dtype::DType;
use crate::error::Result;
use crate::wgsl::Entry;
use crate::wgsl::grid::fold;

/// A kernel as it is written for one dispatch.
pub(super) struct Written {
    pub(super) kernel: &'static Entry,
    pub(super) text: Text,
    /// Invocations of a workgroup, where the text does not say it itself.
    pub(super) workgroup: Option<u32>,
    /// Quads of k that are summed before they are added to the sum of the chunks.
    pub(super) chunk: usize,
    /// Workgroups for one batch.
    pub(super) groups: [u32; 2],
}

/// Quads of k that one invocation sums in a chunk.
const CHUNK_QUADS: usize = 64;

impl Choice {
    /// The kernel for a product of this size (rows, columns, k). `tile` is what an invocation sums;
    /// `near_k` says of which operands neighbours lie along k.
    pub(super) fn written(
        &self,
        machine: Machine,
        tile: Tile,
        near_k: [bool; 2],
        [m, n, k]: [usize; 3],
        given: DType,
    ) -> Result<Written> {
        let lanes = self.lanes;
        let [rows, columns] = self.tile();
        let (down, right) = (m.div_ceil(rows), n.div_ceil(columns));
        let [x, y, _] = fold(word(down * right)?);
        let [down, right] = words([down, right])?;
        Ok(match self.kernel {
            Kernel::Registers => {
                // Added up by quads, a chunk has as many roundings as four by elements.
                let chunk = 4 * CHUNK_QUADS;
                let (kernel, text) = (&REGISTERS, tile.regions(given, k > 4 * chunk));
                Written { kernel, text, workgroup: Some(lanes), chunk, groups: [down, right] }
            }
            Kernel::Group { across, depth } => {
                let tile = Tile { ragged: !k.is_multiple_of(depth as usize), ..tile };
                let deep = k > 4 * CHUNK_QUADS;
                let text = Group { tile, lanes, across, depth, near_k, deep }.regions(given);
                let kernel = &GROUP;
                Written { kernel, text, workgroup: None, chunk: CHUNK_QUADS, groups: [x, y] }
            }
            Kernel::Cooperative { side, down, across, depth } => {
                let tile = Tile { ragged: !k.is_multiple_of(depth as usize), ..tile };
                let teams = [down, across];
                let text = Cooperative { tile, side, teams, lanes, depth, near_k }.regions(given);
                let kernel = &COOPERATIVE;
                Written { kernel, text, workgroup: None, chunk: CHUNK_QUADS, groups: [x, y] }
            }
            Kernel::Vector { across, subgroups } => {
                let near_k = near_k[1];
                let alone = machine == Machine::CpuSharing && lanes == SHARERS;
                let vector = Vector { tile, lanes, across, near_k, subgroups, alone };
                let (text, at_once) = (vector.regions(given), tile.packed.map_or(1, Packed::quads));
                let chunk = CHUNK_QUADS * (lanes / across) as usize / at_once as usize;
                let kernel = &VECTOR;
                Written { kernel, text, workgroup: None, chunk, groups: [x, y] }
            }
        })
    }
}
