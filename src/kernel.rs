//! Kernels: what an operation becomes - a variant chosen, windows cut, dispatches recorded.
//!
//! A tensor may lie in several segments, and an index space may be larger than 32 bits reach. So an
//! operation runs as a list of dispatches, each over a *window* of the output that touches one
//! segment of every operand:
//!
//! ```text
//! split the index space by its outermost axis until 32 bits reach all of it
//! cut the output at its segments, and at those of every dense input
//! an input whose view spans segments otherwise is first copied to dense, one pass per segment
//! ```

pub mod attention;
pub(crate) mod cause;
pub mod conv;
pub(crate) mod cores;
pub mod elementwise;
pub mod factor;
pub mod fft;
pub mod fill;
pub mod iota;
mod limits;
pub mod matmul;
pub mod moves;
mod operand;
pub(crate) mod own;
pub mod pick;
pub mod quantised;
pub mod random;
pub mod reduce;
pub mod resize;
pub mod rows;
pub mod sample;
pub mod scan;
pub mod scatter;
pub mod sort;
pub mod windows;

pub(crate) use limits::index_space;
use limits::too_deep;
use matmul::text as products;
use operand::Held;
pub(crate) use operand::Operand;

use crate::proof::OwnOracle;
use crate::wgsl::Entry;
use crate::wgsl::elementwise::{ELEMENTWISE, ELEMENTWISE_FEW};

/// The catalog: every kernel there is.
pub const CATALOG: &[&Entry] = &[
    &ELEMENTWISE,
    &ELEMENTWISE_FEW,
    &moves::text::TRANSPOSE,
    &products::registers::REGISTERS,
    &products::group::GROUP,
    &products::squares::COOPERATIVE,
    &products::vector::VECTOR,
    &fill::FILL,
    &quantised::text::QUANTISED,
    &quantised::text::FEW,
    &quantised::text::STAGED,
    &attention::text::ATTENTION,
    &attention::text::staged::STAGED,
    &attention::text::staged::JOIN,
    &conv::text::CONV,
    &windows::text::WINDOWS,
    &resize::text::RESIZE,
    &reduce::text::REDUCE_ROWS,
    &reduce::text::REDUCE_GROUP,
    &reduce::text::REDUCE_COLUMNS,
    &rows::text::SOFTMAX_ROWS,
    &rows::text::SOFTMAX_GROUP,
    &rows::text::NORM_ROWS,
    &rows::text::NORM_GROUP,
    &sample::text::GRID_SAMPLE,
    &factor::text::TRIANGLE,
    &factor::text::CHOLESKY,
    &factor::text::LU_PANEL,
    &fft::text::FFT,
    &scan::text::SCAN_ROWS,
    &pick::text::PATCH,
    &pick::text::GATHER,
    &iota::IOTA,
    &scatter::text::SCATTER,
    &random::text::RANDOM,
    &sort::text::RANK,
    &sort::text::DIGITS,
    &sort::text::PLACE,
    &sort::text::DIGITS_GROUP,
    &sort::text::PLACE_GROUP,
    &sort::text::SUMS,
    &sort::text::RUNNING,
    &sort::text::SUMS_GROUP,
    &sort::text::RUNNING_GROUP,
    &sort::text::SELECT,
    &scatter::text::RUNS,
];

/// What computes cores once more that define it themselves.
pub(crate) const ORACLES: &[&OwnOracle] =
    &[&quantised::oracle::BLOCKWISE, &sample::oracle::GRID_SAMPLE, &fft::oracle::FFT];

/// The kernel of this name, for whoever has only that: rooms name their entries themselves.
#[must_use]
pub fn find(name: &str) -> Option<&'static Entry> {
    CATALOG.iter().copied().find(|entry| entry.name == name)
}
