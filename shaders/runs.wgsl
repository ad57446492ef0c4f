// Runs: sums of values whose keys are equal, in the order of a sorted list of pairs (key, position
// of the value).
//
// Each invocation adds up one column of one block of the list. A run that begins and ends in the
// block is its sum, added to the total of its key. What is left of a run that goes on into a
// neighbouring block becomes a pair of a shorter list, two to a block, for the next round. So every
// total is written once a round, and always in the same order. A key of all ones is nobody's.
override workgroup: u32 = 64u;
const BLOCK: u32 = 64u;

struct Params {
    count: u32, // pairs
    blocks: u32,
    columns: u32,
    first: u32, // key of the bound segment
    keys: u32,  // keys there
}
@group(1) @binding(0) var<uniform> p: Params;

// region sum
alias Sum = f32;
// end sum

@group(0) @binding(0) var<storage, read> pairs: array<vec2<u32>>;
@group(0) @binding(1) var<storage, read> values: array<Sum>;
@group(0) @binding(2) var<storage, read_write> totals: array<Sum>;
@group(0) @binding(3) var<storage, read_write> rest: array<vec2<u32>>;
@group(0) @binding(4) var<storage, read_write> parts: array<Sum>;

fn total(key: u32, column: u32, sum: Sum) {
    let at = key - p.first;
    if at < p.keys && key != 0xffffffffu {
        totals[at * p.columns + column] += sum;
    }
}

fn leave(place: u32, key: u32, column: u32, sum: Sum) {
    if column == 0u {
        rest[place] = vec2<u32>(key, place);
    }
    parts[place * p.columns + column] = sum;
}

@compute @workgroup_size(workgroup)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let linear = group.x + groups.x * group.y;
    let invocation = linear * workgroup + lane;
    let columns = p.columns;
    let block = invocation / columns;
    if block >= p.blocks {
        return;
    }
    let column = invocation - block * columns;
    let begin = block * BLOCK;
    let end = min(begin + BLOCK, p.count);
    var key = pairs[begin].x;
    var sum = values[pairs[begin].y * columns + column];
    // Whether the run in hand began before the block.
    var late = false;
    if begin > 0u {
        late = pairs[begin - 1u].x == key;
    }
    leave(2u * block, 0xffffffffu, column, Sum(0));
    leave(2u * block + 1u, 0xffffffffu, column, Sum(0));
    for (var i = begin + 1u; i < end; i++) {
        let pair = pairs[i];
        let value = values[pair.y * columns + column];
        if pair.x == key {
            sum += value;
            continue;
        }
        if late {
            leave(2u * block, key, column, sum);
        } else {
            total(key, column, sum);
        }
        key = pair.x;
        sum = value;
        late = false;
    }
    var open = false;
    if end < p.count {
        open = pairs[end].x == key;
    }
    if late {
        leave(2u * block, key, column, sum);
        if open {
            // The run goes through the block: without both pairs it would seem to end here.
            leave(2u * block + 1u, key, column, Sum(0));
        }
    } else if open {
        leave(2u * block + 1u, key, column, sum);
    } else {
        total(key, column, sum);
    }
}
