//! Transpositions: which copies can be done in whole tiles, and how they are cut.

use super::text::TransposeJob;
use crate::count::wrapped_i64;
use crate::shape::RANK_MAX;
use crate::wgsl::{Grid, Space, Target};

/// A transposition in whole tiles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Transpose {
    /// Tiles per dimension, innermost first: blocks of up to 8 x 8 tiles for the caches, then the
    /// blocks, then the dimensions that are not tiled.
    tiles: Vec<u32>,
    /// Strides of input and output from tile to tile, in quads.
    strides: [Vec<u32>; 2],
    /// From one row of a tile to the next, input and output, in quads.
    rows: [u32; 2],
    /// The input's first quad.
    offset: u32,
}

impl Transpose {
    /// The copy of a space's only view into a dense tensor, if it is a transposition in whole
    /// tiles.
    #[must_use]
    pub(super) fn of(space: &Space) -> Option<Self> {
        let [view] = &*space.views else { return None };
        let rank = space.shape.len();
        let last = rank.checked_sub(1)?;
        let dense = view.strides.iter().position(|&s| s == 1)?;
        if dense == last || view.strides[last] == 0 {
            return None;
        }
        let whole = |n: i64| n % 4 == 0;
        let fits = whole(space.shape[last].into()) && whole(space.shape[dense].into());
        let aligned = view.strides.iter().enumerate().all(|(d, &s)| d == dense || whole(s));
        if !(fits && aligned && whole(view.offset.into())) {
            return None;
        }
        let mut out = vec![1_i64; rank];
        for d in (0..last).rev() {
            out[d] = out[d + 1] * i64::from(space.shape[d + 1]);
        }
        let mut transpose = Self {
            tiles: Vec::new(),
            strides: [Vec::new(), Vec::new()],
            rows: [wrapped_i64(view.strides[last] / 4), wrapped_i64(out[dense] / 4)],
            offset: view.offset / 4,
        };
        // A tile is one quad along the dense dimension of either side and four of its rows along
        // the other.
        let tiled = [dense, last].map(|d| (space.shape[d] / 4, [view.strides[d], out[d]]));
        let blocks = tiled.map(|(n, _)| [8, 4, 2, 1].into_iter().find(|b| n % b == 0).unwrap_or(1));
        for ((_, strides), block) in tiled.iter().zip(blocks) {
            transpose.push(block, *strides);
        }
        for ((n, strides), block) in tiled.iter().zip(blocks) {
            transpose.push(n / block, strides.map(|s| s * i64::from(block)));
        }
        for d in (0..last).rev().filter(|&d| d != dense) {
            transpose.push(space.shape[d], [view.strides[d] / 4, out[d] / 4]);
        }
        (transpose.tiles.len() <= RANK_MAX).then_some(transpose)
    }

    /// Appends a dimension of the tile space, the next outer one; strides of input and output in
    /// quads.
    fn push(&mut self, n: u32, strides: [i64; 2]) {
        if n > 1 {
            self.tiles.push(n);
            for (mine, stride) in self.strides.iter_mut().zip(strides) {
                mine.push(wrapped_i64(stride));
            }
        }
    }

    /// The grid over all tiles.
    #[must_use]
    pub(super) fn grid(&self, target: Target) -> Grid {
        Grid::of_tiles(self.tiles.iter().product(), target)
    }

    /// The rank of the tile space.
    #[must_use]
    pub(super) fn rank(&self) -> u32 {
        self.tiles.len().max(1) as u32
    }

    /// What its kernel is told; the output starts where its bound range does.
    #[must_use]
    pub(super) fn job(&self, grid: Grid) -> TransposeJob {
        TransposeJob {
            grid,
            row: self.rows,
            offset: [self.offset, 0, 0, 0],
            shape: innermost(&self.tiles, 1),
            stride: [0, 1].map(|side: usize| innermost(&self.strides[side], 0)),
        }
    }
}

/// Dimensions that are listed innermost first, filled up to the most there can be.
fn innermost(dims: &[u32], fill: u32) -> [u32; RANK_MAX] {
    core::array::from_fn(|d| dims.get(d).copied().unwrap_or(fill))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wgsl::View;

    #[test]
    fn only_whole_tiles_are_transposed() {
        let of = |shape: &[usize], offset, strides: &[i64]| {
            let view = View { offset, strides: strides.to_vec() };
            Transpose::of(&Space::of(shape, &[view]).expect("few dimensions"))
        };
        let tiles = of(&[8, 12], 4, &[1, 8]).expect("a transposition");
        assert_eq!(
            tiles.tiles,
            [2, 3],
            "two tiles along the input's rows, three along the output's"
        );
        assert_eq!(tiles.rows, [2, 3]);
        assert!(of(&[8, 12], 2, &[1, 8]).is_none(), "not at a whole quad");
        assert!(of(&[6, 12], 0, &[1, 6]).is_none(), "rows of six");
        assert!(of(&[8, 12], 0, &[1, 0]).is_none(), "a broadcast is no transposition");
        assert!(of(&[8, 12], 0, &[12, 1]).is_none(), "dense");
    }
}
