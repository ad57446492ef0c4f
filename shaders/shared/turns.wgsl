// Where the lanes of a vector load in turn: the place of each, for all of them. A place that is the
// same for all lanes is loaded once, by a plain load; places that differ are gathered, which takes
// some processors longer than as many loads. What a lane that is not there would load is not used.

fn turns(at: u32) -> array<u32, 8> {
    return array<u32, 8>(
        subgroupBroadcast(at, 0u),
        subgroupBroadcast(at, 1u),
        subgroupBroadcast(at, 2u),
        subgroupBroadcast(at, 3u),
        subgroupBroadcast(at, 4u),
        subgroupBroadcast(at, 5u),
        subgroupBroadcast(at, 6u),
        subgroupBroadcast(at, 7u),
    );
}
