//! Choices by workgroups, on paper.

use super::super::plan::{CHUNK_LEAST, chunk_max};
use super::*;
use crate::caps::fixtures;
use crate::shape::Shape;

/// Room for the states of anything here.
const ROOM: usize = 1 << 28;

/// Dense queries, keys and values: batches, heads, shared heads, queries, keys, and lengths.
fn views([batch, heads, shared, queries, keys, d, e]: [usize; 7]) -> Vec<Layout> {
    let dims = [[heads, queries, d], [shared, keys, d], [shared, keys, e]];
    let dense = |[heads, rows, length]: [usize; 3]| {
        Layout::dense(Shape::new([batch, heads, rows, length]).expect("a shape"))
    };
    dims.map(dense).to_vec()
}

fn said(form: [usize; 7]) -> String {
    let (tile, splits) = staged(&views(form), None, ROOM, Breadth::USUAL, false, None);
    staged_remark(&tile, splits, false)
}

#[test]
fn rows_and_keys_say_how_workgroups_share_them() {
    for (form, want) in [
        // Many rows: as many together as lanes take, whatever the length of a value.
        ([4, 8, 8, 1024, 1024, 32, 32], "64 rows and 32 keys at once"),
        ([4, 8, 8, 1024, 1024, 64, 64], "64 rows and 32 keys at once"),
        ([4, 8, 8, 1024, 1024, 128, 128], "64 rows and 64 keys at once"),
        ([4, 8, 8, 1024, 1024, 256, 256], "32 rows and 64 keys at once"),
        // Fewer: more workgroups.
        ([1, 8, 8, 512, 512, 64, 64], "32 rows and 32 keys at once"),
        ([1, 4, 4, 256, 512, 64, 64], "16 rows and 64 keys at once, 2 states of each"),
        // Heads that share keys are rows of one workgroup.
        ([1, 32, 8, 1, 4096, 128, 128], "4 rows and 64 keys at once, 32 states of each"),
        ([1, 64, 8, 1, 4096, 128, 128], "8 rows and 64 keys at once, 16 states of each"),
        // A lone query.
        ([1, 32, 32, 1, 4096, 128, 128], "4 rows and 64 keys at once, 16 states of each"),
        ([1, 32, 32, 1, 4096, 64, 64], "4 rows and 64 keys at once, 32 states of each"),
        ([1, 32, 32, 1, 4096, 256, 256], "4 rows and 64 keys at once, 8 states of each"),
        ([300, 32, 32, 1, 4096, 256, 256], "4 rows and 64 keys at once"),
        // Few keys are not worth a second pass.
        ([1, 32, 32, 1, 255, 64, 64], "16 rows and 64 keys at once"),
        ([1, 1, 1, 3, 6, 8, 8], "32 rows and 32 keys at once"),
    ] {
        assert_eq!(said(form), format!("attention by workgroups of {want}"), "{form:?}");
    }
}

#[test]
fn states_stay_where_there_is_room() {
    let form = [1, 32, 32, 1, 4096, 64, 64];
    let states = |room| {
        let (tile, splits) = staged(&views(form), None, room, Breadth::USUAL, false, None);
        assert_eq!(tile.states, tile.parts * splits.count > 1, "{room}");
        tile.parts * splits.count
    };
    let row = 32 * 68;
    assert_eq!([row, 3 * row, 9 * row, 100 * row].map(states), [1, 3, 8, 32]);
}

/// Keys are shared as one alone shares them, which has all the room.
#[test]
fn the_states_of_a_batch_do_not_depend_on_how_many_there_are() {
    let of = |batch, room| {
        let views = views([batch, 8, 8, 1, 4096, 64, 64]);
        let (tile, splits) = staged(&views, None, room, Breadth::USUAL, true, None);
        (tile.states, tile.parts, splits)
    };
    let row = 8 * 68;
    for room in [row, 3 * row, 9 * row, 100 * row] {
        assert_eq!(of(5, room), of(1, room), "{room} elements");
    }
    assert_ne!(of(1, 3 * row), of(1, 100 * row), "room counts");
}

#[test]
fn every_tile_keeps_the_limits_that_all_adapters_have() {
    for groups in [1, 2, 4, 8, 16] {
        for (length, width) in (1..128).flat_map(|n| [(n, 128 - n), (n, n), (n, 16)]) {
            let tile = shape(groups, length, width);
            if tile.lanes() > LANES[1] {
                continue;
            }
            let Staged { columns, quads, parts, depth, run, each, .. } = tile;
            let place = format!("{tile:?}");
            assert!(tile.lanes() >= LANES[0] && tile.memory() <= 16 << 10, "{place}");
            assert!([groups, columns, parts, each, depth, run].iter().all(|n| n.is_power_of_two()));
            assert!(columns * quads >= width && run <= columns && quads * columns % 2 == 0);
            assert!(length % depth == 0 && (length % 2 == 1 || depth % 2 == 0), "{place}");
            assert!(chunk_max(&tile) >= CHUNK_LEAST, "{place}");
            assert!(chunk_max(&tile).is_multiple_of(tile.block()), "{place}");
        }
    }
}

#[test]
fn splits_are_whole_blocks_and_cover_all_keys() {
    for keys in [1, 31, 32, 33, 255, 256, 257, 1000, 4096, 30_000, 240_000] {
        for queries in [1, 5, 100, 20_000] {
            for e in [4, 64, 256] {
                let form = [1, 4, 2, queries, keys, e, e];
                let (tile, Splits { count, chunk }) =
                    staged(&views(form), None, ROOM, Breadth::USUAL, false, None);
                let place = format!("{form:?}: {tile:?} in {count} of {chunk}");
                assert!(chunk % tile.block() == 0 && chunk <= chunk_max(&tile), "{place}");
                assert!(count * chunk >= keys && (count - 1) * chunk < keys, "{place}");
                assert!(keys >= KEYS_SHARED || !tile.states, "{place}");
            }
        }
    }
}

#[test]
fn a_lane_has_as_many_queries_as_its_driver_compiles_well() {
    let mut caps = fixtures::lavapipe();
    let large = views([1, 8, 8, 512, 512, 64, 64]);
    for (info, queries, listed) in [
        ("Mesa 22.3.6 (LLVM 15.0.6)", 6, false),
        ("Mesa 25.0.7 (LLVM 15.0.6)", 6, true),
        ("Mesa 26.1.6 (LLVM 21.1.8)", 4, false),
    ] {
        caps.identity.driver_info = info.into();
        let block = tile(Target::Cpu64, &caps, &large, None, None);
        assert_eq!((block.queries, block.listed), (queries, listed), "{info}");
    }
}

#[test]
fn few_lanes_have_rows_past_the_last() {
    let caps = fixtures::lavapipe();
    for (rows, length, queries) in
        [(128, 32, 4), (144, 32, 6), (72, 64, 5), (512, 64, 6), (512, 128, 3)]
    {
        let many = views([64, 64, 64, rows, 512, length, length]);
        let block = tile(Target::Cpu64, &caps, &many, None, None);
        assert_eq!(block.queries, queries, "{rows} rows of {length}");
    }
}

#[test]
fn lanes_load_together_where_that_is_faster() {
    let of = |caps: &Caps, size: u64| {
        let mut caps = caps.clone();
        (caps.limits.subgroup_min, caps.limits.subgroup_max) = (size, size);
        sharers(&caps)
    };
    let (lavapipe, swiftshader) = (fixtures::lavapipe(), fixtures::swiftshader());
    assert_eq!([4, 8, 16].map(|size| of(&lavapipe, size)), [None, Some(8), None]);
    assert_eq!([4, 8, 16].map(|size| of(&swiftshader, size)), [Some(4), Some(8), None]);
}
