//! The grid: how an index space is shared among invocations, and the workgroup counts to dispatch.

use super::target::Target;

/// The most quads an invocation takes.
pub const TRIPS_MAX: u32 = 512;
/// The most tiles a lane of a CPU adapter takes: a block of eight by eight.
const TILES_MAX: u32 = 64;
/// The most groups along one dimension of a dispatch that every adapter takes.
pub const GROUPS_MAX: u32 = 65_535;
/// The lanes that keep a GPU of the usual breadth busy: as long as there are fewer, work is shared
/// out further.
pub(crate) const LANES_BUSY: usize = 1 << 16;

/// How the quads of an index space are shared among invocations.
///
/// Lane `l` of group `g` takes the quads `g * lead + l + t * step` for `t` below `trips`, as far as
/// there are quads. Neighbouring lanes take neighbouring quads on a CPU adapter too. If each lane
/// walks a run of its own, the eight streams of an operand lie a power of two apart and share a few
/// sets of the first cache: an addition took 1.5 times as long.
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
            Target::Cpu | Target::Cpu64 | Target::CpuByLane => {
                // Small spaces want every lane of every core.
                let trips = at_least_one(at_most(quads / (8 * workgroup), run_max(target)));
                let groups = fold(quads.div_ceil(trips).div_ceil(workgroup));
                let lead = workgroup * trips;
                Self { quads, lead, step: workgroup, trips, groups }
            }
            Target::Gpu => {
                // Four independent quads per lane hide latency once the machine is full.
                let trips = at_least_one(at_most(quads / (1024 * workgroup), 4));
                let groups = fold(quads.div_ceil(trips).div_ceil(workgroup));
                let step = groups[0] * groups[1] * workgroup;
                Self { quads, lead: workgroup, step, trips, groups }
            }
        }
    }

    /// Shares the tiles of a transposition. On a CPU adapter each lane takes a block of 64 tiles,
    /// which is done in 0.6 of the time that neighbouring tiles take. Lane `l` of group `g` begins
    /// at `(g * lanes + l) * lead`.
    #[must_use]
    pub const fn of_tiles(tiles: u32, target: Target) -> Self {
        let Self { quads, step, trips, groups, .. } = Self::new(tiles, target);
        match target {
            Target::Cpu | Target::Cpu64 | Target::CpuByLane => {
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

    /// A lane for each quad.
    #[must_use]
    pub const fn of_single(quads: u32, target: Target) -> Self {
        let (lanes, trips) = (target.workgroup(), 1);
        Self { quads, lead: lanes, step: lanes, trips, groups: fold(quads.div_ceil(lanes)) }
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

/// The longest run of quads. Later lavapipes stream better the longer it is; the one before slows
/// down: `docs/measured/elementwise.md`.
const fn run_max(target: Target) -> u32 {
    match target {
        Target::Cpu => TRIPS_MAX,
        Target::Cpu64 | Target::CpuByLane | Target::Gpu => 128,
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

/// The length of a row of groups. One dimension of a dispatch takes more, but so a grid of usual
/// size is folded like the largest, and no kernel meets its second row first at a user's.
const ROW: u32 = 64;

/// Folds a group count over two dimensions, wasting less than one column.
#[must_use]
pub const fn fold(groups: u32) -> [u32; 3] {
    let rows = at_least_one(at_most(groups.div_ceil(ROW), GROUPS_MAX));
    [groups.div_ceil(rows), rows, 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_quad_is_taken_exactly_once() {
        for target in [Target::Cpu, Target::Cpu64, Target::CpuByLane, Target::Gpu] {
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
        for target in [Target::Cpu, Target::Cpu64, Target::CpuByLane, Target::Gpu] {
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
}
