//! How the four kernels of products are written.

use super::group::Group;
use super::squares::Squares;
use super::tile::Tile;
use super::vector::Vector;
use crate::dtype::DType;
use crate::wgsl::{Region, Writes};

/// One of these kernels, for operands that are summed as this dtype is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ProductText {
    /// How it multiplies.
    pub by: Means,
    /// The dtype.
    pub dtype: DType,
}

/// How a kernel multiplies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Means {
    /// Register tiles; deep if k is longer than a chunk.
    Registers(Tile, bool),
    /// Tiles in workgroup memory.
    Group(Group),
    /// Cooperative matrices.
    Squares(Squares),
    /// A few rows.
    Vector(Vector),
}

impl Writes for ProductText {
    fn regions(&self) -> Vec<Region> {
        match self.by {
            Means::Registers(tile, deep) => tile.regions(self.dtype, deep),
            Means::Group(group) => group.regions(self.dtype),
            Means::Squares(squares) => squares.regions(self.dtype),
            Means::Vector(vector) => vector.regions(self.dtype),
        }
    }
}
