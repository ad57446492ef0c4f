// Where the lanes of a vector load in turn: the place of each, for all of them. A place that is the
// same for all lanes is loaded once, by a plain load; places that differ are gathered, which takes
// some processors longer than as many loads. What a lane that is not there would load is not used.

// Which lane of its vector this one is. By their number lanes are told apart where texts are
// compiled; by their places, LLVM 21 made something else of it.
var<private> own_lane: u32;

fn places_of_all(at: u32) -> array<u32, 8> {
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
