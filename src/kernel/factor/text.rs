//! The kernels of small blocks: what they are told.

use crate::count::{word, words, wrapped};
use crate::dtype::DType;
use crate::error::Result;
use crate::layout::Layout;
use crate::wgsl::entry::CORE_TRIPS;
use crate::wgsl::params::params;
use crate::wgsl::source::source;
use crate::wgsl::{Entry, Target, Worded};

/// A lane to a column of the right side.
pub const TRIANGLE: Entry = Entry::core("triangle", source!("triangle.wgsl"))
    .told(TriangleJob::MEMBERS)
    .worded(|| elements(2))
    .clearing();
/// A workgroup to a matrix.
pub const CHOLESKY: Entry = Entry::core("cholesky", source!("cholesky.wgsl"))
    .told(CholeskyJob::MEMBERS)
    .worded(|| elements(1))
    .clearing();

/// A workgroup to the panel of a matrix, in place.
pub const LU_PANEL: Entry =
    Entry::own("lu_panel", source!("lu_panel.wgsl"), CORE_TRIPS).told(PanelJob::MEMBERS).clearing();

/// The most columns of a panel.
pub(crate) const PANEL: usize = 8;
/// The most rows of a panel, which the invocations of one workgroup walk.
pub(crate) const ROWS_MAX: usize = 65_536;

/// The most rows of a block, and the invocations of a workgroup.
pub(crate) const BLOCK: usize = 32;

params! {
    struct TriangleJob {
        shape: [u32; 4],
        triangle: [u32; 4],
        right: [u32; 4],
    }

    struct CholeskyJob {
        matrices: u32,
        size: u32,
        step: u32,
        down: u32,
        along: u32,
    }

    struct PanelJob {
        matrices: u32,
        rows: u32,
        columns: u32,
    }
}

/// So many inputs of f32, and a result by elements.
fn elements(inputs: usize) -> Vec<Worded> {
    let dtypes = &[DType::F32; 2][..inputs];
    let worded = |target| Worded::of((), dtypes, DType::F32, target);
    let all = [Target::Cpu, Target::Cpu64, Target::Gpu].map(worded);
    all.into_iter().map(|worded| Worded { by_element: true, ..worded }).collect()
}

/// From matrix to matrix, row to row, and along a row.
fn strides(view: &Layout) -> [u32; 3] {
    [0, 1, 2].map(|axis| wrapped(view.strides()[axis]))
}

impl TriangleJob {
    /// What it is told of `[matrices, n, n]` and `[matrices, n, m]`, and the workgroups.
    pub(super) fn of([triangle, right]: [&Layout; 2], unit: bool) -> Result<(Self, u32)> {
        let dims = right.shape().dims();
        let columns = dims[0] * dims[2];
        let four = |[a, b, c]: [u32; 3]| [a, b, c, 0];
        let job = Self {
            shape: words([columns, dims[2], dims[1], usize::from(unit)])?,
            triangle: four(strides(triangle)),
            right: four(strides(right)),
        };
        Ok((job, word(columns.div_ceil(BLOCK))?))
    }
}

impl CholeskyJob {
    /// What it is told of `[matrices, n, n]`, and the workgroups.
    pub(super) fn of(view: &Layout) -> Result<(Self, u32)> {
        let dims = view.shape().dims();
        let ([matrices, size], [step, down, along]) = (words([dims[0], dims[1]])?, strides(view));
        Ok((Self { matrices, size, step, down, along }, matrices))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_as_large_as_the_shaders_say() {
        let said = |entry: &Entry, names: [&str; 2]| names.map(|name| entry.source.number(name));
        let rows = BLOCK as u32;
        assert_eq!(said(&TRIANGLE, ["lanes", "ROWS"]), [rows; 2]);
        assert_eq!(said(&CHOLESKY, ["lanes", "ACROSS"]), [rows, rows + 1]);
    }
}
