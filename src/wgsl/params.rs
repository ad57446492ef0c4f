//! Parameters: the one uniform struct of each kernel, encoded as words in the order of its members,
//! and the grid.
//!
//! Every member is a `vec4<u32>` or an array of them, so the std140 rules never bite: words are
//! padded to fours and follow each other.

use super::space::Space;

/// The most dimensions of an index space, after collapsing.
pub const RANK_MAX: usize = 8;
/// The most quads an invocation takes.
pub const TRIPS_MAX: u32 = 128;
/// The most tiles a lane of a CPU adapter takes: a block of eight by eight.
const TILES_MAX: u32 = 64;
/// The most groups along one dimension of a dispatch that every adapter takes.
pub const GROUPS_MAX: u32 = 65_535;
/// The most bytes of a parameter struct.
pub const BYTES_MAX: usize = 1024;

/// What the adapter executes on: the same kernel walks memory differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// A software adapter: few lanes, and groups that each have a contiguous run of their own.
    Cpu,
    /// The same with `shader-int64`: whole quads are loaded as 64-bit integers, because llvmpipe
    /// pays by the load.
    Cpu64,
    /// A GPU: neighbouring lanes take neighbouring quads.
    Gpu,
}

impl Target {
    /// Invocations per workgroup of the streaming kernels.
    #[must_use]
    pub const fn workgroup(self) -> u32 {
        match self {
            // One SIMD vector of llvmpipe; more lanes are swept one vector after the other, trip by
            // trip.
            Self::Cpu | Self::Cpu64 => 8,
            Self::Gpu => 256,
        }
    }
}

/// How the quads of an index space are shared among invocations.
///
/// Lane `l` of group `g` takes the quads `g * lead + l + t * step` for `t` below `trips`, as far as
/// there are quads. Neighbouring lanes take neighbouring quads on a CPU adapter too: where each
/// lane walked a run of its own, its eight streams for every operand lay a power of two apart, so
/// that they fell on the same few sets of the first cache, and an addition took 1.5 times as long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    quads: u32,
    lead: u32,
    step: u32,
    trips: u32,
    groups: [u32; 3],
}

impl Grid {
    /// Shares `quads` quads (or tiles) among the invocations of a target. `quads` is below 2^30.
    #[must_use]
    pub const fn new(quads: u32, target: Target) -> Self {
        let workgroup = target.workgroup();
        match target {
            Target::Cpu | Target::Cpu64 => {
                // Runs of 128 quads are as fast as longer ones; small spaces still want every lane
                // of every core.
                let trips = at_least_one(at_most(quads / (8 * workgroup), TRIPS_MAX));
                let groups = fold(quads.div_ceil(trips).div_ceil(workgroup));
                let lead = workgroup * trips;
                Self { quads, lead, step: workgroup, trips, groups }
            }
            Target::Gpu => {
                // Four independent quads per lane hide latency once the machine is full.
                let trips = at_least_one(at_most(quads / (1024 * workgroup), 4));
                let groups = fold(quads.div_ceil(trips).div_ceil(workgroup));
                let step = groups[0] * groups[1] * groups[2] * workgroup;
                Self { quads, lead: workgroup, step, trips, groups }
            }
        }
    }

    /// The same for tiles of a transposition: on a CPU adapter each lane has a run of its own, a
    /// block of 64 tiles, which took 0.6 of the time that neighbouring tiles took. Lane `l` of
    /// group `g` begins at `(g * lanes + l) * lead`.
    #[must_use]
    pub const fn of_tiles(tiles: u32, target: Target) -> Self {
        let Self { quads, step, trips, groups, .. } = Self::new(tiles, target);
        match target {
            Target::Cpu | Target::Cpu64 => {
                let trips = at_most(trips, TILES_MAX);
                let groups = fold(tiles.div_ceil(trips).div_ceil(target.workgroup()));
                Self { quads, lead: trips, step: 1, trips, groups }
            }
            Target::Gpu => Self { quads, lead: 1, step, trips, groups },
        }
    }

    /// The quads for `count` elements.
    #[must_use]
    pub const fn of_elements(count: u32, target: Target) -> Self {
        Self::new(count.div_ceil(4), target)
    }

    /// A lane for each of few elements.
    #[must_use]
    pub const fn of_lanes(elements: u32, target: Target) -> Self {
        let groups = [elements.div_ceil(target.workgroup()), 1, 1];
        Self { groups, ..Self::of_elements(elements, target) }
    }

    /// The workgroup counts to dispatch.
    #[must_use]
    pub const fn groups(&self) -> [u32; 3] {
        self.groups
    }

    /// The `grid` member of every kernel's parameters.
    #[must_use]
    pub const fn words(&self) -> [u32; 4] {
        [self.quads, self.lead, self.step, self.trips]
    }
}

const fn at_most(a: u32, b: u32) -> u32 {
    if a < b { a } else { b }
}

const fn at_least_one(a: u32) -> u32 {
    if a == 0 { 1 } else { a }
}

/// The workgroup counts for so many invocations that each do their own part.
#[must_use]
pub const fn groups_for(invocations: u32, target: Target) -> [u32; 3] {
    fold(invocations.div_ceil(target.workgroup()))
}

/// Folds a group count over two dimensions, wasting less than one row.
#[must_use]
pub const fn fold(groups: u32) -> [u32; 3] {
    let rows = at_least_one(groups.div_ceil(GROUPS_MAX));
    [groups.div_ceil(rows), rows, 1]
}

/// Words of a parameter struct under construction.
#[derive(Debug, Default)]
pub struct Words(Vec<u32>);

impl Words {
    /// One `vec4<u32>`.
    #[must_use]
    pub fn vec4(mut self, v: [u32; 4]) -> Self {
        self.0.extend(v);
        self
    }

    /// An `array<vec4<u32>, N>` that just holds all of `words`.
    #[must_use]
    pub fn array(mut self, words: impl IntoIterator<Item = u32>) -> Self {
        self.0.extend(words);
        self.0.resize(self.0.len().next_multiple_of(4), 0);
        self
    }

    /// Eight words from outermost first to innermost first: a shape (filled up with 1) or strides
    /// (with 0).
    #[must_use]
    pub fn dims(self, dims: &[u32], fill: u32) -> Self {
        self.innermost_first(&dims.iter().rev().copied().collect::<Vec<_>>(), fill)
    }

    fn innermost_first(mut self, dims: &[u32], fill: u32) -> Self {
        let end = self.0.len() + RANK_MAX;
        self.0.extend(dims.iter().take(RANK_MAX));
        self.0.resize(end, fill);
        self
    }

    /// The words.
    #[must_use]
    pub fn done(self) -> Vec<u32> {
        debug_assert!(
            self.0.len() * 4 <= BYTES_MAX,
            "a parameter struct of {} words",
            self.0.len()
        );
        self.0
    }
}

/// Parameters of the elementwise kernel and of `reindex`, in the order of the kernel's operands.
#[derive(Clone, Debug)]
pub struct Elementwise<'a> {
    /// The share of each invocation, in quads of the output window.
    pub grid: Grid,
    /// The index space and the inputs' views and ways.
    pub space: &'a Space,
    /// The first element of the window of the index space that this dispatch computes, a multiple
    /// of four. Dense operands are bound from their own window on; strided ones index the whole
    /// space.
    pub base: u32,
    /// The first element of each output in its bound range, multiples of four.
    pub outputs: &'a [u32],
    /// Scalars, as words.
    pub scalars: &'a [u32],
}

impl Elementwise<'_> {
    /// The struct as words.
    #[must_use]
    pub fn words(&self) -> Vec<u32> {
        let strided = self.space.strided().collect::<Vec<_>>();
        let mut words = Words::default().vec4(self.grid.words());
        if !strided.is_empty() {
            let last = self.space.count() - 1;
            words = words.vec4([self.base, last, 0, 0]).dims(&self.space.shape, 1);
        }
        let outputs = self.outputs.iter().map(|&element| element / 4);
        words = words.array(self.space.offsets().chain(outputs));
        for view in strided {
            words = words.dims(&view.stride_words(), 0);
        }
        words.array(self.scalars.iter().copied()).done()
    }
}

/// Parameters of a core's kernel, in the order of its operands.
#[derive(Clone, Debug, Default)]
pub struct Core<'a> {
    /// The kernel's own struct `Job`, in whole fours.
    pub job: &'a [u32],
    /// The index space of strided operands: its shape, outermost first.
    pub space: Option<&'a [u32]>,
    /// The first element (or quad, of dense operands) of each operand and of the output, in its
    /// bound range.
    pub offsets: &'a [u32],
    /// The strides of each strided operand, outermost first.
    pub strides: &'a [Vec<u32>],
    /// Scalars, as words.
    pub scalars: &'a [u32],
}

impl Core<'_> {
    /// The struct as words.
    #[must_use]
    pub fn words(&self) -> Vec<u32> {
        let mut words = Words::default().array(self.job.iter().copied());
        if let Some(shape) = self.space {
            let last = shape.iter().product::<u32>() - 1;
            words = words.vec4([0, last, 0, 0]).dims(shape, 1);
        }
        words = words.array(self.offsets.iter().copied());
        for strides in self.strides {
            words = words.dims(strides, 0);
        }
        words.array(self.scalars.iter().copied()).done()
    }
}

/// Parameters of `transpose`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transpose {
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
    pub fn of(space: &Space) -> Option<Self> {
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
            rows: [(view.strides[last] / 4) as u32, (out[dense] / 4) as u32],
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
                mine.push(stride as u32);
            }
        }
    }

    /// The grid over all tiles.
    #[must_use]
    pub fn grid(&self, target: Target) -> Grid {
        Grid::of_tiles(self.tiles.iter().product(), target)
    }

    /// The rank of the tile space.
    #[must_use]
    pub fn rank(&self) -> u32 {
        self.tiles.len().max(1) as u32
    }

    /// The struct as words; the output starts at quad `offset` of its bound range.
    #[must_use]
    pub fn words(&self, grid: &Grid, offset: u32) -> Vec<u32> {
        let [from, to] = &self.strides;
        Words::default()
            .vec4(grid.words())
            .vec4([self.rows[0], self.rows[1], 0, 0])
            .vec4([self.offset, offset, 0, 0])
            .innermost_first(&self.tiles, 1)
            .innermost_first(from, 0)
            .innermost_first(to, 0)
            .done()
    }
}

/// Parameters of `fill`: `quads` of four words from quad `offset` on; `bits` is the element
/// repeated to eight bytes.
#[derive(Clone, Copy, Debug)]
pub struct Fill {
    /// The share of each invocation, in quads of words.
    pub grid: Grid,
    /// The first quad of words.
    pub offset: u32,
    /// The pattern.
    pub bits: [u32; 2],
}

impl Fill {
    /// The struct as words.
    #[must_use]
    pub fn words(&self) -> Vec<u32> {
        let [a, b] = self.bits;
        Words::default()
            .vec4(self.grid.words())
            .vec4([a, b, a, b])
            .vec4([self.offset, 0, 0, 0])
            .done()
    }
}

/// Repeats an element's little-endian bytes (1, 2, 4 or 8 of them) to the eight that [`Fill::bits`]
/// wants.
#[must_use]
pub fn fill_bits(element: &[u8]) -> [u32; 2] {
    let byte = |i: usize| u32::from(element[i % element.len()]) << (8 * (i % 4));
    [(0..4).map(byte).sum(), (4..8).map(byte).sum()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wgsl::View;

    #[test]
    fn every_quad_is_taken_exactly_once() {
        for target in [Target::Cpu, Target::Cpu64, Target::Gpu] {
            for quads in [1, 2, 7, 8, 9, 63, 64, 65, 4097, 70_001] {
                let grid = Grid::new(quads, target);
                let groups = grid.groups();
                let lanes = target.workgroup();
                let mut taken = vec![0; quads as usize];
                for i in 0..groups.iter().product::<u32>() * lanes {
                    let first = i / lanes * grid.lead + i % lanes;
                    let places = (0..grid.trips).map(|t| first + t * grid.step);
                    for q in places.take_while(|&q| q < quads) {
                        taken[q as usize] += 1;
                    }
                }
                assert!(taken.iter().all(|&n| n == 1), "{quads} quads on {target:?}");
                let grid = Grid::of_tiles(quads, target);
                let all = grid.groups().iter().product::<u32>() * lanes;
                let mut tiles = vec![0; quads as usize];
                for i in 0..all {
                    let places = (0..grid.trips).map(|t| i * grid.lead + t * grid.step);
                    for tile in places.take_while(|&tile| tile < quads) {
                        tiles[tile as usize] += 1;
                    }
                }
                assert!(tiles.iter().all(|&n| n == 1), "{quads} tiles on {target:?}");
            }
        }
    }

    #[test]
    fn large_grids_fold_and_stay_within_their_trips() {
        for target in [Target::Cpu, Target::Cpu64, Target::Gpu] {
            for quads in [1 << 20, 1 << 29, (1 << 30) - 1] {
                let grid = Grid::new(quads, target);
                assert!(grid.trips <= TRIPS_MAX, "{grid:?}");
                assert!(grid.groups().iter().all(|&n| n <= GROUPS_MAX), "{grid:?}");
                let lanes = grid.groups().map(u64::from).iter().product::<u64>();
                let reach = lanes * u64::from(target.workgroup() * grid.trips);
                assert!(
                    (u64::from(quads)..1 << 31).contains(&reach),
                    "{grid:?} wraps or ends early"
                );
            }
        }
    }

    #[test]
    fn a_fill_repeats_its_element() {
        assert_eq!(fill_bits(&[7]), [0x0707_0707; 2]);
        assert_eq!(fill_bits(&[1, 2]), [0x0201_0201; 2]);
        assert_eq!(fill_bits(&[1, 2, 3, 4, 5, 6, 7, 8]), [0x0403_0201, 0x0807_0605]);
    }

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
