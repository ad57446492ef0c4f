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
pub(crate) mod choice;
pub mod conv;
pub(crate) mod cores;
pub mod elementwise;
pub mod factor;
pub mod fft;
pub mod fill;
pub mod iota;
mod limits;
mod made;
pub mod matmul;
pub mod moves;
mod operand;
pub(crate) mod own;
pub mod pick;
pub(crate) mod plan;
pub mod quantized;
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
use operand::Held;
pub(crate) use operand::Operand;

use crate::proof::OwnOracle;
#[cfg(feature = "testing")]
use crate::wgsl::Entry;

/// The catalog: every kernel there is.
#[cfg(feature = "testing")]
pub const CATALOG: &[&Entry] = &[
    &elementwise::text::ELEMENTWISE,
    &elementwise::text::FEW,
    &moves::text::TRANSPOSE,
    &matmul::text::registers::REGISTERS,
    &matmul::text::group::GROUP,
    &matmul::text::squares::COOPERATIVE,
    &matmul::text::vector::VECTOR,
    &fill::text::FILL,
    &quantized::text::QUANTIZED,
    &quantized::text::FEW,
    &quantized::text::STAGED,
    &attention::text::ATTENTION,
    &attention::text::staged::STAGED,
    &attention::text::staged::JOIN,
    &conv::text::CONV,
    &conv::group::text::GROUP,
    &conv::flat::text::FLAT,
    &windows::text::WINDOWS,
    &resize::text::RESIZE,
    &resize::text::ENLARGE,
    &resize::text::COVER,
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
    &scan::text::SCAN_GROUP,
    &pick::text::PATCH,
    &pick::text::GATHER,
    &iota::text::IOTA,
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
    &scatter::text::TALLY,
    &scatter::text::TALLY_GROUP,
];

/// What computes cores once more that define it themselves.
pub(crate) const ORACLES: &[&OwnOracle] =
    &[&quantized::oracle::BLOCKWISE, &sample::oracle::GRID_SAMPLE, &fft::oracle::FFT];

/// The kernel of this name, for whoever has only that: rooms name their entries themselves.
#[cfg(feature = "testing")]
#[must_use]
pub fn find(name: &str) -> Option<&'static Entry> {
    CATALOG.iter().copied().find(|entry| entry.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dtype::DType::{self, F16, F32, F64, I8, I32};
    use crate::proof::{Claim, Formed};
    use crate::shape::Shape;
    use crate::wgsl::{Expr, Term};

    type Part<'a> = (&'a [usize], DType);

    fn part((dims, dtype): Part<'_>) -> Formed {
        let (inputs, nodes) = (vec![dtype], vec![Term::Input(0)]);
        let expr = Expr { inputs, nodes, outputs: vec![0], ..Expr::default() };
        let shape = Shape::new(dims).expect("a shape");
        Formed { expr, views: Vec::new(), scalars: Vec::new(), shape, dtype }
    }

    /// Whether a claim of these inputs and this result is the oracle's.
    fn fits(by: &OwnOracle, told: &[u32], heads: &[Part<'_>], result: Part<'_>) -> bool {
        let heads = heads.iter().copied().map(part).collect();
        (by.fits)(&Claim { core: None, heads, tail: part(result) }, told)
    }

    /// What a capsule tells an oracle somebody may have written.
    #[test]
    fn an_oracle_takes_a_claim_of_its_own_kind_only() {
        let far = (1 << 22) + 1;
        let grid = |told: &[u32], x: Part<'_>, grid: Part<'_>, result: Part<'_>| {
            fits(&sample::oracle::GRID_SAMPLE, told, &[x, grid], result)
        };
        let (told, x, to) = ([1, 3, 1, 0], (&[2, 3, 4, 5][..], F16), (&[2, 6, 7, 2][..], F32));
        let result = (&[2, 3, 6, 7][..], F32);
        assert!(grid(&told, x, to, result));
        for (why, told, x, to, result) in [
            ("neither nearest nor blended", [2, 3, 1, 0], x, to, result),
            ("nothing lies around", [1, 4, 1, 0], x, to, result),
            ("corners neither way", [1, 3, 2, 0], x, to, result),
            ("a grid for each of three", told, x, (&[3, 6, 7, 2], F32), result),
            ("places of three axes", told, x, (&[2, 6, 7, 3], F32), result),
            ("no lines", told, (&[2, 3, 0, 5], F16), to, result),
            ("too long", told, (&[0, 3, 4, far], F16), (&[0, 6, 7, 2], F32), (&[0, 3, 6, 7], F32)),
            ("integers", told, (x.0, I32), to, result),
            ("places in f64", told, x, (to.0, F64), result),
            ("summed in f16", told, x, to, (result.0, F16)),
            ("other channels", told, x, to, (&[2, 4, 6, 7], F32)),
        ] {
            assert!(!grid(&told, x, to, result), "{why}");
        }

        let reals = |told: &[u32], x: Part<'_>, result: Part<'_>| {
            fits(&fft::oracle::FFT, told, &[x], result)
        };
        let (told, x, result) = ([2, 8], (&[3, 8][..], F16), (&[3, 5, 2][..], F32));
        assert!(reals(&told, x, result) && reals(&told, (&[3, 6], F32), result));
        for (why, told, x, result) in [
            ("no transform", [4, 8], x, result),
            ("of nothing", [2, 0], x, (&[3, 1, 2], F32)),
            ("too long", [2, (1 << 24) + 1], (&[0, 1], F32), (&[0, 1, 2], F32)),
            ("nothing given", told, (&[3, 0], F32), result),
            ("of pairs", told, (&[3, 8, 2], F16), result),
            ("other rows", told, x, (&[2, 5, 2], F32)),
            ("integers", told, (x.0, I32), result),
            ("in f64", told, (x.0, F64), result),
            ("summed in f16", told, x, (result.0, F16)),
        ] {
            assert!(!reals(&told, x, result), "{why}");
        }

        let blocks = |told: &[u32], heads: [Part<'_>; 3], result: Part<'_>| {
            fits(&quantized::oracle::BLOCKWISE, told, &heads, result)
        };
        let (x, values, scales) = ((&[2, 64][..], F16), (&[5, 64][..], I8), (&[5, 2][..], F16));
        let result = (&[2, 5][..], F32);
        assert!(blocks(&[0], [x, values, scales], result));
        for (why, told, heads, result) in [
            ("other blocks", 1, [x, values, scales], result),
            ("no blocks", 9, [x, values, scales], result),
            ("a value too few", 0, [x, (&[5, 63], I8), scales], result),
            ("a scale too many", 0, [x, values, (&[5, 3], F16)], result),
            ("a row of scales too few", 0, [x, values, (&[4, 2], F16)], result),
            ("no rows", 0, [x, (&[0, 64], I8), (&[0, 2], F16)], (&[2, 0], F32)),
            ("another result", 0, [x, values, scales], (&[2, 6], F32)),
            ("scales of f32", 0, [x, values, (scales.0, F32)], result),
            ("rows of integers", 0, [(x.0, I32), values, scales], result),
            ("summed in integers", 0, [x, values, scales], (result.0, I32)),
        ] {
            assert!(!blocks(&[told], heads, result), "{why}");
        }
    }
}
