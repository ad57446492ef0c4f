//! How rows are cut into chunks, each of which a lane or a workgroup scans: pure arithmetic.

use crate::caps::breadth::Breadth;
use crate::shape::Shape;
use crate::wgsl::Target;
use crate::wgsl::entry::CORE_TRIPS;

/// The most elements of a chunk that a lane scans: sums of more would be rounded too often.
const CHUNK_MAX: usize = 4096;
/// Elements of a group's tile - four of each of its lanes - and the most tiles of a chunk.
const TILE: usize = 1024;
const TILES_MAX: usize = 64;
/// Lanes of a group, the fewest and the most: rows shorter than a tile have as many as they fill.
const GROUP_LANES: [usize; 2] = [32, TILE / 4];
/// On a GPU, rows that leave more than half of the smallest group idle are done by lanes.
const GROUP_LEAST: usize = 64;
/// Lanes, and groups of lanes, that keep a GPU of the usual breadth busy.
const LANES_WANTED: usize = 16_384;
const GROUPS_WANTED: usize = 512;
/// Chunks of a row, where it must not matter how many rows there are.
const CHUNKS_OF_ANY: usize = 8;
/// So many trips to an element make no chunk shorter than another.
pub(super) const TRIPS_FREE: usize = CORE_TRIPS as usize / CHUNK_MAX - 2;

/// Chunks of equal length.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chunks {
    pub(super) rows: usize,
    pub(super) length: usize,
    /// Chunks of a row.
    pub(super) count: usize,
    /// Elements of a chunk.
    pub(super) each: usize,
    /// The lanes of a workgroup that takes a chunk, if it is not taken by one lane.
    pub(super) group: Option<usize>,
}

impl Chunks {
    /// Enough to keep a target busy, none longer than an invocation may loop where finding an
    /// element takes so many trips.
    pub(super) fn of(
        shape: &Shape,
        target: Target,
        breadth: Breadth,
        batch_invariant: bool,
        trips: usize,
    ) -> Self {
        let length = shape.dims().last().copied().unwrap_or(1);
        let rows = shape.elements() / length.max(1);
        let by_group = target == Target::Gpu && length >= GROUP_LEAST;
        let [fewest, all] = GROUP_LANES;
        let lanes = length.min(TILE).div_ceil(4).next_power_of_two().clamp(fewest, all);
        let trips_max = CORE_TRIPS as usize / (2 + trips);
        let (wanted, least, most) = match (target, by_group) {
            (Target::Gpu, true) => (GROUPS_WANTED, 4 * TILE, TILE * TILES_MAX.min(trips_max / 4)),
            (Target::Gpu, false) => (LANES_WANTED, 64, CHUNK_MAX.min(trips_max)),
            _ => (1024, 64, CHUNK_MAX.min(trips_max)),
        };
        let wanted = if target == Target::Gpu { breadth.share(wanted) } else { wanted };
        let wanted = if batch_invariant { CHUNKS_OF_ANY } else { wanted.div_ceil(rows.max(1)) };
        let count = wanted.min(length / least).max(length.div_ceil(most)).max(1);
        let each = length.div_ceil(count);
        let group = by_group.then_some(lanes);
        Self { rows, length, count: length.div_ceil(each), each, group }
    }

    /// Workgroups for them, if one of lanes has so many.
    pub(super) const fn groups(&self, lanes: usize) -> usize {
        let chunks = self.rows * self.count;
        if self.group.is_some() { chunks } else { chunks.div_ceil(lanes) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::text::SCAN_GROUP;
    use super::*;
    use crate::caps::fixtures;

    #[test]
    fn a_tile_has_four_elements_of_each_lane() {
        assert_eq!(TILE, 4 * SCAN_GROUP.source.number("lanes") as usize);
    }

    #[test]
    fn a_group_is_as_large_as_a_row_fills() {
        let group = |target, length| {
            let shape = Shape::new([5000, length]).expect("a shape");
            let Chunks { count, group, .. } = Chunks::of(&shape, target, Breadth::USUAL, false, 0);
            assert_eq!(count, 1, "{length}");
            group
        };
        for (length, lanes) in [
            (63, None),
            (64, Some(32)),
            (128, Some(32)),
            (129, Some(64)),
            (256, Some(64)),
            (257, Some(128)),
            (513, Some(256)),
            (4000, Some(256)),
        ] {
            assert_eq!(group(Target::Gpu, length), lanes, "{length}");
            assert_eq!(group(Target::Cpu, length), None, "{length} on a processor");
        }
    }

    #[test]
    fn a_gpu_of_few_cores_is_given_fewer_and_longer_chunks() {
        let few = Breadth::of(&fixtures::apple_m2());
        let count = |target, breadth, dims: [usize; 2]| {
            let shape = Shape::new(dims).expect("a shape");
            Chunks::of(&shape, target, breadth, false, 0).count
        };
        for (dims, want) in
            [([1, 1 << 22], [512, 64]), ([64, 1 << 16], [8, 1]), ([1, 1 << 16], [16; 2])]
        {
            let on = |target| [Breadth::USUAL, few].map(|breadth| count(target, breadth, dims));
            assert_eq!(on(Target::Gpu), want, "{dims:?}");
            let [usual, other] = on(Target::Cpu);
            assert_eq!(usual, other, "{dims:?}: a processor");
        }
    }

    #[test]
    fn chunks_of_a_row_are_the_same_among_any_number_of_rows() {
        let few = Breadth::of(&fixtures::apple_m2());
        for target in [Target::Cpu, Target::Cpu64, Target::Gpu] {
            for length in [1, 63, 255, 600, 5000, 100_000, 1 << 22] {
                let of = |rows, trips, any| {
                    let shape = Shape::new([rows, length]).expect("a shape");
                    [Breadth::USUAL, few].map(|breadth| {
                        let Chunks { count, each, group, .. } =
                            Chunks::of(&shape, target, breadth, any, trips);
                        (count, each, group)
                    })
                };
                let alone = of(1, 0, true);
                for (rows, trips) in [(1, TRIPS_FREE), (40, 0), (40, TRIPS_FREE), (5000, 3)] {
                    assert_eq!(of(rows, trips, true), alone, "{rows} of {length} on {target:?}");
                }
                assert!(length != 100_000 || of(1, 0, false) != of(40, 0, false), "{target:?}");
            }
        }
    }

    #[test]
    fn chunks_cover_rows_and_loop_seldom() {
        for target in [Target::Cpu, Target::Gpu] {
            for length in [1, 2, 63, 64, 65, 4096, 65_537, 1 << 24, 1 << 29] {
                for (rows, trips) in [(1, 0), (3, 7), (4096, 56)] {
                    let shape = Shape::new([rows, length]).expect("a shape");
                    let Chunks { count, each, group, .. } =
                        Chunks::of(&shape, target, Breadth::USUAL, false, trips);
                    assert!(count * each >= length && (count - 1) * each < length, "{length}");
                    let looped = match group {
                        Some(lanes) => each.div_ceil(4 * lanes) * (1 + 4 * trips + 8),
                        None => each + each / 64 + 2 + each * trips,
                    };
                    assert!(looped <= CORE_TRIPS as usize, "{length}: {looped} trips");
                }
            }
        }
    }
}
