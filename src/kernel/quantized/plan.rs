//! How a product with quantized weights is cut: tiles by the number of rows, ranges by segments.
//! Measured in `docs/measured/quantized.md`.

use core::fmt;
use core::ops::Range;

use super::choice::{WeightsChoice, WeightsSize};
use super::text::{COLUMNS, QuantizedText, QuantizedTile, REGISTERS_LANES, SIDE, loads};
use crate::caps::Caps;
use crate::dtype::DType;
use crate::host::blocks::{BLOCK, Blocks};
use crate::kernel::plan::fours;
use crate::layout::Layout;
use crate::wgsl::entry::CORE_TRIPS;
use crate::wgsl::grid::LANES_BUSY;
use crate::wgsl::rig::Rig;
use crate::wgsl::target::shares;
use crate::wgsl::{Target, grid};

/// The deepest k: a trip per block, far below what llvmpipe survives.
pub(crate) const K_MAX: usize = BLOCK * CORE_TRIPS as usize;

/// Groups along one dimension of a dispatch.
const GROUPS_MAX: usize = grid::GROUPS_MAX as usize;

/// Up to so many rows of X, a tile of so many, where lanes load X together.
const TILES: &[(usize, u32)] = &[(1, 1), (2, 2), (4, 4), (64, 8), (usize::MAX, 16)];

/// The most where each lane loads all of X.
const ROWS_ALONE: u32 = 4;

/// From so many rows of X on numbers are made of the weights first, in memory, and multiplied as
/// such: where lanes load X together, and where they do not.
const ROWS_BY_NUMBERS: [usize; 2] = [256, 64];
/// Numbers take no more memory than this, or than X and the result.
const NUMBERS_MOST: usize = 64 << 20;

/// On a GPU: up to so many rows of X, so many to a lane; more than `FEW_MAX` are staged.
const FEW: &[(usize, u32)] = &[(1, 1), (2, 2), (usize::MAX, 4)];
const FEW_MAX: usize = 4;
/// Up to so many, several workgroups of few rows each are faster than fewer than so many that
/// stage, on a GPU of the usual breadth. Each of them reads the weights.
const FEW_APART: usize = 16;
const STAGED_WANTED: usize = 256;

/// The most rows of a lane by whoever made the GPU, by weights of whole bytes and of parts of them:
/// on an Adreno 630 four by `q8` spill 33 registers, two by `q4` 46 and two by `q4_k` 15.
const ROWS_OF_VENDOR: &[(&str, [u32; 2])] = &[("Qualcomm", [2, 1])];

const STAGED: &[(usize, u32)] = &[(8, 1), (16, 2), (usize::MAX, 4)];

/// Lanes of a workgroup of few rows, at least and at most, of which a fourth has other columns. As
/// long as there are fewer than keep a GPU busy, more of them share a column.
const LANES: [u32; 2] = [64, 256];
const DOWN_MIN: u32 = LANES[0] / 4;

/// How a product is computed.
#[derive(Clone, Copy, Debug)]
pub(super) struct QuantizedPlan {
    pub(super) text: QuantizedText,
}

fn rows_of(table: &[(usize, u32)], m: usize) -> u32 {
    table.iter().find(|(most, _)| m <= *most).map_or(1, |(_, rows)| *rows)
}

/// The most rows of a lane of a GPU, and the most lanes of a workgroup.
fn few_rows_max(form: Blocks, caps: &Caps) -> u32 {
    let vendor = caps.identity.vendor_name();
    let own = ROWS_OF_VENDOR.iter().find(|(name, _)| Some(*name) == vendor);
    own.map_or(u32::MAX, |(_, [bytes, parts])| if form == Blocks::Q8 { *bytes } else { *parts })
}

fn lanes_max(caps: &Caps) -> u32 {
    caps.limits.invocations_max.min(caps.limits.group_x_max).min(LANES[1].into()) as u32
}

/// Whether each of so many lanes along k loads twice at least.
fn is_deep(form: Blocks, k: usize, down: u32) -> bool {
    k / BLOCK * loads(form) as usize >= 2 * down as usize
}

/// Whether a tile runs here, and is worth compiling.
fn runs(tile: QuantizedTile, form: Blocks, target: Target, caps: &Caps) -> bool {
    let is_gpu = target == Target::Gpu;
    match tile {
        QuantizedTile::Registers { rows, shared } => {
            !is_gpu && shared == shares(caps) && (shared || rows <= ROWS_ALONE)
        }
        QuantizedTile::Few { rows, lanes } => {
            is_gpu && rows <= few_rows_max(form, caps) && lanes[0] <= lanes_max(caps)
        }
        QuantizedTile::Staged { .. } => is_gpu,
    }
}

impl WeightsSize {
    /// What is worth timing.
    pub(crate) fn candidates(&self, on: Rig<'_>) -> Vec<WeightsChoice> {
        let Self { rows, depth, form, .. } = *self;
        let registers =
            [1, 2, 4, 8, 16].map(|rows| QuantizedTile::Registers { rows, shared: shares(on.caps) });
        let few = [1, 2, 4].into_iter().flat_map(|rows| {
            // All lanes of a workgroup, and how many columns they have by fours.
            let lanes =
                [64, 128, 256].into_iter().flat_map(|all| [1, 2, 4, 8].map(|n| [all, all / n]));
            lanes.map(move |lanes| QuantizedTile::Few { rows, lanes })
        });
        let staged = [1, 2, 4].map(|rows| QuantizedTile::Staged { rows });
        let worth = |tile: &QuantizedTile| match *tile {
            QuantizedTile::Registers { rows: each, .. } => each as usize <= 2 * rows,
            QuantizedTile::Few { rows: each, lanes: [_, down] } => {
                rows <= ROWS_FEW && each as usize <= rows && is_deep(form, depth, down)
            }
            QuantizedTile::Staged { .. } => rows > 1,
        };
        let tiles = registers.into_iter().chain(few).chain(staged).filter(worth);
        let tiles = tiles.filter(|tile| runs(*tile, form, on.target, on.caps));
        let numbers =
            (rows >= ROWS_NUMBERS && self.fits_numbers()).then_some(WeightsChoice::Numbers);
        tiles.map(WeightsChoice::Tile).chain(numbers).collect()
    }
}

/// How a product with weights in blocks is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WeightsWay {
    /// By numbers that are made of all weights first.
    Numbers,
    /// By blocks, in a tile that was tuned, or the built-in one.
    Blocks(Option<QuantizedTile>),
}

impl WeightsSize {
    /// The way for rows of this dtype, and what was tuned. Numbers are of f32, and of none where
    /// bits must not depend on how many rows there are.
    pub(crate) fn way(
        &self,
        rows: DType,
        tuned: Option<WeightsChoice>,
        batch_invariant: bool,
        target: Target,
        caps: &Caps,
    ) -> WeightsWay {
        let may = rows == DType::F32 && !batch_invariant;
        match tuned {
            Some(WeightsChoice::Tile(tile)) => WeightsWay::Blocks(Some(tile)),
            Some(WeightsChoice::Numbers) if may => WeightsWay::Numbers,
            None if may && self.is_by_numbers(target, caps) => WeightsWay::Numbers,
            _ => WeightsWay::Blocks(None),
        }
    }

    /// Whether a product of f32 is faster by numbers that are made of all weights first. A GPU
    /// makes them in workgroup memory.
    fn is_by_numbers(&self, target: Target, caps: &Caps) -> bool {
        let [together, alone] = ROWS_BY_NUMBERS;
        target != Target::Gpu
            && self.rows >= if shares(caps) { together } else { alone }
            && self.fits_numbers()
    }

    /// Whether numbers take no more memory than they may.
    fn fits_numbers(&self) -> bool {
        let Self { rows: m, columns: n, depth: k, .. } = *self;
        let bytes = |rows: usize, columns: usize| rows.saturating_mul(columns).saturating_mul(4);
        bytes(n, k) <= NUMBERS_MOST.max(bytes(m, n.saturating_add(k)))
    }
}

/// The most rows that are tried by lanes along k, and the fewest that are tried by numbers.
const ROWS_FEW: usize = 16;
const ROWS_NUMBERS: usize = 16;

impl QuantizedPlan {
    /// By a tile that was tuned, if it runs here, or else the built-in one.
    pub(super) fn by(
        tile: Option<QuantizedTile>,
        form: Blocks,
        size: [usize; 3],
        batch_invariant: bool,
        on: Rig<'_>,
    ) -> Self {
        let tile = tile.filter(|tile| runs(*tile, form, on.target, on.caps));
        tile.map_or_else(
            || Self::of(form, size, batch_invariant, on),
            |tile| Self { text: QuantizedText { form, tile } },
        )
    }

    /// For weights of a form: for so many rows of X, columns, and what is summed over. On a
    /// software driver no tile sums in another order than the others; on a GPU they share k in ways
    /// of their own, so where it must not matter how many rows there are, all stage.
    fn of(form: Blocks, size: [usize; 3], batch_invariant: bool, on: Rig<'_>) -> Self {
        let Rig { target, caps, breadth, .. } = on;
        let [m, n, _] = size;
        let staged =
            |rows| Self { text: QuantizedText { form, tile: QuantizedTile::Staged { rows } } };
        let many = staged(rows_of(STAGED, m));
        let tile = match target {
            Target::Cpu | Target::Cpu64 | Target::CpuByLane => Self::of_software(m, shares(caps)),
            Target::Gpu if batch_invariant => return staged(1),
            Target::Gpu if m > FEW_MAX && !many.is_for_few(m, n, on) => return many,
            Target::Gpu => Self::of_few(form, size, caps, breadth.share(LANES_BUSY)),
        };
        Self { text: QuantizedText { form, tile } }
    }

    /// Whether so many rows are too few to stage: a lane has as many as it may by another tile.
    fn is_for_few(self, m: usize, n: usize, on: Rig<'_>) -> bool {
        let groups: usize = self.groups(m, n).iter().product();
        m <= FEW_APART
            && groups < on.breadth.share(STAGED_WANTED)
            && few_rows_max(self.text.form, on.caps) as usize >= FEW_MAX
    }

    fn of_software(m: usize, shared: bool) -> QuantizedTile {
        let rows = rows_of(TILES, m).min(if shared { u32::MAX } else { ROWS_ALONE });
        QuantizedTile::Registers { rows, shared }
    }

    fn of_few(form: Blocks, [m, n, k]: [usize; 3], caps: &Caps, enough: usize) -> QuantizedTile {
        let rows = rows_of(FEW, m).min(few_rows_max(form, caps));
        let [least, most] = [LANES[0], lanes_max(caps)];
        let tile = |lanes| QuantizedTile::Few { rows, lanes };
        let busy = |lanes: [u32; 2]| {
            let groups = Self { text: QuantizedText { form, tile: tile(lanes) } }.groups(m, n);
            lanes[0] == most && groups.iter().product::<usize>() * most as usize >= enough
        };
        let mut lanes = [least, DOWN_MIN];
        loop {
            let more = [(2 * lanes[0]).min(most), 2 * lanes[1]];
            if busy(lanes) || !is_deep(form, k, more[1]) || more[1] > more[0] {
                return tile(lanes);
            }
            lanes = more;
        }
    }

    /// Rows and columns of a workgroup.
    const fn reach(self) -> [usize; 2] {
        let [rows, columns] = match self.text.tile {
            QuantizedTile::Registers { rows, .. } => [rows, COLUMNS * REGISTERS_LANES],
            QuantizedTile::Few { rows, lanes: [all, down] } => [rows, COLUMNS * (all / down)],
            QuantizedTile::Staged { rows } => [SIDE * rows, SIDE * COLUMNS],
        };
        [rows as usize, columns as usize]
    }

    /// Groups for so many rows and columns.
    pub(super) const fn groups(self, rows: usize, columns: usize) -> [usize; 3] {
        let reach = self.reach();
        [rows.div_ceil(reach[0]), columns.div_ceil(reach[1]), 1]
    }

    /// The most rows and columns of one dispatch.
    pub(super) const fn most(self) -> [usize; 2] {
        let reach = self.reach();
        [GROUPS_MAX * reach[0], GROUPS_MAX * reach[1]]
    }
}

/// The tile in words.
impl fmt::Display for QuantizedPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [rows, columns] = self.reach();
        match self.text.tile {
            QuantizedTile::Registers { rows, shared } => {
                let who = if shared { "the lanes together" } else { "each lane" };
                write!(f, "a tile of {rows} x {COLUMNS}, x loaded by {who}")
            }
            QuantizedTile::Few { lanes: [_, down], .. } => {
                write!(f, "a tile of {rows} x {columns} in {down} parts")
            }
            QuantizedTile::Staged { .. } => write!(f, "a tile of {rows} x {columns}, staged"),
        }
    }
}

/// Rows of the result in one of its segments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ResultRows {
    pub(super) rows: Range<usize>,
    /// Elements of a row.
    pub(super) pitch: usize,
    /// The segment.
    pub(super) index: usize,
}

impl ResultRows {
    /// These rows of the result, by its segments.
    pub(super) fn by_segment(
        rows: &Range<usize>,
        pitch: usize,
        segment: usize,
    ) -> impl Iterator<Item = Self> {
        let (begin, end) = (rows.start * pitch, rows.end * pitch);
        (begin / segment..=(end - 1) / segment).map(move |index| {
            let low = (index * segment).max(begin) / pitch;
            let high = ((index + 1) * segment).min(end).div_ceil(pitch);
            Self { rows: low..high, pitch, index }
        })
    }
}

/// The longest ranges of the first axis - whole fours but for the last, and no more than `most` -
/// that lie in one segment of each side, and fours that do not.
pub(super) fn cut(dim: usize, sides: &[(&Layout, usize)], most: usize) -> Vec<Range<usize>> {
    let held = |range: Range<usize>| -> Option<Vec<usize>> {
        let segment = |(layout, segment): &(&Layout, usize)| {
            let span = layout.slice(0, range.clone()).ok()?.span();
            let ends = [span.start, span.end.saturating_sub(1).max(span.start)];
            let [low, high] = ends.map(|end| end / segment);
            (low == high).then_some(low)
        };
        sides.iter().map(segment).collect()
    };
    if dim <= most && held(0..dim).is_some() {
        return core::iter::once(0..dim).collect();
    }
    fours(dim, most, held)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::Shape;

    #[test]
    fn tiles_grow_with_the_rows_and_stay_small_where_lanes_load_alone() {
        let rows = |m, shared| match QuantizedPlan::of_software(m, shared) {
            QuantizedTile::Registers { rows, .. } => rows,
            other => panic!("{other:?}"),
        };
        assert_eq!([1, 2, 3, 64, 65].map(|m| rows(m, true)), [1, 2, 4, 8, 16]);
        assert_eq!([1, 64, 65].map(|m| rows(m, false)), [1, 4, 4]);
    }

    #[test]
    fn numbers_are_made_of_weights_for_many_rows_where_there_is_room() {
        use crate::caps::fixtures::{lavapipe, swiftshader};
        let least = |n, k, caps: &Caps| {
            let of = |m| WeightsSize::new(m, n, k, Blocks::Q8);
            (1..10_000).find(|&m| of(m).is_by_numbers(Target::Cpu, caps))
        };
        let of = |[n, k]: [usize; 2]| [lavapipe(), swiftshader()].map(|caps| least(n, k, &caps));
        assert_eq!(of([384, 1536]), [Some(256), Some(64)]);
        assert_eq!(of([4096, 4096]), [Some(256), Some(64)], "64 MiB");
        assert_eq!(of([4096, 8192]), [Some(2731); 2], "more than 64 MiB: as x and the result");
        let many = WeightsSize::new(5000, 64, 64, Blocks::Q8);
        assert!(!many.is_by_numbers(Target::Gpu, &lavapipe()), "it stages them");
    }

    #[test]
    fn numbers_are_of_f32_where_rows_may_count_and_tiles_as_they_were_tuned() {
        let size = WeightsSize::new(5000, 64, 64, Blocks::Q8);
        let caps = crate::caps::fixtures::lavapipe();
        let way = |tuned, dtype, any, target| size.way(dtype, tuned, any, target, &caps);
        let tile = QuantizedTile::Registers { rows: 2, shared: true };
        let [numbers, tuned] = [WeightsChoice::Numbers, WeightsChoice::Tile(tile)].map(Some);
        let [cpu, gpu] = [Target::Cpu, Target::Gpu];
        for (by, dtype, any, target, want) in [
            (None, DType::F32, false, cpu, WeightsWay::Numbers),
            (None, DType::F32, false, gpu, WeightsWay::Blocks(None)),
            (numbers, DType::F32, false, gpu, WeightsWay::Numbers),
            (None, DType::F16, false, cpu, WeightsWay::Blocks(None)),
            (None, DType::F32, true, cpu, WeightsWay::Blocks(None)),
            (numbers, DType::F16, false, cpu, WeightsWay::Blocks(None)),
            (tuned, DType::F32, false, cpu, WeightsWay::Blocks(Some(tile))),
            (tuned, DType::F16, true, cpu, WeightsWay::Blocks(Some(tile))),
        ] {
            assert_eq!(way(by, dtype, any, target), want, "{by:?}, {dtype}, {any}, {target:?}");
        }
    }

    #[test]
    fn on_a_gpu_lanes_share_k_or_stage() {
        let by = |form, size, caps: &Caps| {
            QuantizedPlan::by(None, form, size, false, Rig::on_paper(Target::Gpu, caps)).to_string()
        };
        let words = |size| by(Blocks::Q8, size, &Caps::webgpu_baseline());
        assert_eq!(words([1, 4096, 4096]), "a tile of 1 x 16 in 64 parts");
        assert_eq!(words([1, 1024, 4096]), "a tile of 1 x 8 in 128 parts", "few columns");
        assert_eq!(words([2, 64, 65536]), "a tile of 2 x 4 in 256 parts");
        assert_eq!(words([2, 64, 384]), "a tile of 2 x 16 in 16 parts", "there is little of k");
        assert_eq!(words([5, 64, 384]), "a tile of 4 x 16 in 16 parts", "few columns to stage");
        assert_eq!(words([16, 1024, 4096]), "a tile of 4 x 16 in 64 parts");
        assert_eq!(words([17, 1024, 4096]), "a tile of 32 x 32, staged", "too many rows");
        assert_eq!(words([8, 1 << 20, 384]), "a tile of 8 x 32, staged", "many columns");
        assert_eq!(words([500, 64, 384]), "a tile of 32 x 32, staged");
        let narrow = Caps::webgpu_baseline().with_limit(crate::caps::Limit::Invocations, 64);
        let got = by(Blocks::Q8, [1, 4, 65536], &narrow);
        assert_eq!(got, "a tile of 1 x 4 in 64 parts", "no more lanes than there may be");
        assert_eq!(words([2, 64, 8192]), "a tile of 2 x 4 in 256 parts");
        let got = by(Blocks::Q4, [2, 64, 8192], &Caps::webgpu_baseline());
        assert_eq!(got, "a tile of 2 x 8 in 128 parts", "half the bytes, half the lanes");
    }

    #[test]
    fn where_rows_must_not_matter_all_stage_on_a_gpu() {
        let caps = Caps::webgpu_baseline();
        let on = Rig::on_paper(Target::Gpu, &caps);
        for m in [1, 4, 5, 16, 17, 5000] {
            let plan = QuantizedPlan::by(None, Blocks::Q4, [m, 64, 4096], true, on);
            assert_eq!(plan.to_string(), "a tile of 8 x 32, staged", "{m} rows");
        }
    }

    #[test]
    fn ranges_are_cut_at_segments() {
        let layout = Layout::dense(Shape::new([12, 10]).expect("a shape"));
        let ends = |segment, most| {
            let cuts = cut(12, &[(&layout, segment)], most).into_iter();
            cuts.map(|range| range.end).collect::<Vec<_>>()
        };
        assert_eq!(ends(120, 100), [12]);
        assert_eq!(ends(80, 100), [8, 12]);
        assert_eq!(ends(60, 100), [4, 8, 12], "one four lies in both");
        assert_eq!(ends(120, 8), [8, 12]);
    }

    #[test]
    fn rows_across_a_segment_belong_to_both() {
        let parts: Vec<_> = ResultRows::by_segment(&(1..4), 4, 10).map(|r| r.rows).collect();
        assert_eq!(parts, [1..3, 2..4]);
    }
}
