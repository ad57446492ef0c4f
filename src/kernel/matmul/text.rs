//! The texts of products, four kernels in all: by register tiles, by tiles in workgroup memory, by
//! cooperative matrices, and of a few rows.
//!
//! A tile is unrolled into names - `s2_1` is row 2, quad 1 - because not every compiler keeps an
//! array of sums in registers.

pub mod group;
pub(crate) mod job;
mod packed;
pub mod product;
pub mod registers;
pub mod squares;
mod stage;
pub mod tile;
pub mod vector;
