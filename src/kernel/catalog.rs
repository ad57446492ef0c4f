//! The catalog: every kernel there is.

use super::matmul::text as matmul;
use super::{
    attention, conv, fill, iota, moves, pick, quantised, random, reduce, rows, scan, scatter, sort,
};
use crate::wgsl::Entry;
use crate::wgsl::elementwise::{ELEMENTWISE, ELEMENTWISE_FEW};

/// The kernels.
pub const CATALOG: &[&Entry] = &[
    &ELEMENTWISE,
    &ELEMENTWISE_FEW,
    &moves::text::TRANSPOSE,
    &matmul::registers::REGISTERS,
    &matmul::group::GROUP,
    &matmul::squares::COOPERATIVE,
    &matmul::vector::VECTOR,
    &fill::FILL,
    &quantised::text::QUANTISED,
    &quantised::text::FEW,
    &quantised::text::STAGED,
    &attention::text::ATTENTION,
    &attention::text::staged::STAGED,
    &attention::text::staged::JOIN,
    &conv::text::CONV,
    &reduce::text::REDUCE_ROWS,
    &reduce::text::REDUCE_GROUP,
    &reduce::text::REDUCE_COLUMNS,
    &rows::text::SOFTMAX_ROWS,
    &rows::text::SOFTMAX_GROUP,
    &rows::text::NORM_ROWS,
    &rows::text::NORM_GROUP,
    &scan::text::SCAN_ROWS,
    &pick::text::PATCH,
    &pick::text::GATHER,
    &iota::IOTA,
    &scatter::text::SCATTER,
    &random::text::RANDOM,
    &sort::text::RANK,
    &sort::text::DIGITS,
    &sort::text::PLACE,
    &sort::text::SUMS,
    &sort::text::RUNNING,
    &scatter::text::RUNS,
];

/// The kernel of this name, for whoever has only that: rooms name their entries themselves.
#[must_use]
pub fn find(name: &str) -> Option<&'static Entry> {
    CATALOG.iter().copied().find(|entry| entry.name == name)
}
