// Runs: sums, or products, of values whose keys are equal, in the order of a sorted list of pairs
// (key, position of the value).
//
// Each invocation folds one column of one block of the list. A run that begins and ends in the
// block is folded into the total of its key. What is left of a run that goes on into a
// neighbouring block becomes a pair of a shorter list, two to a block, for the next round. So every
// total is written once a round, and always in the same order. A key of all ones is nobody's.
override workgroup: u32 = 64u;

struct Params {
    count: u32, // pairs
    blocks: u32,
    columns: u32,
    first: u32, // key of the bound segment
    keys: u32,  // keys there
}
@group(1) @binding(0) var<uniform> p: Params;

// region fold
const BLOCK = 64u;
alias Fold = f32;
const NOTHING = Fold(0);
// end fold

fn folded(a: Fold, b: Fold) -> Fold {
    // region folded
    return a + b;
    // end folded
}

@group(0) @binding(0) var<storage, read> pairs: array<vec2<u32>>;
@group(0) @binding(1) var<storage, read> values: array<Fold>;
@group(0) @binding(2) var<storage, read_write> totals: array<Fold>;
@group(0) @binding(3) var<storage, read_write> rest: array<vec2<u32>>;
@group(0) @binding(4) var<storage, read_write> parts: array<Fold>;

fn total(key: u32, column: u32, run: Fold) {
    let at = key - p.first;
    if at < p.keys && key != 0xffffffffu {
        let to = at * p.columns + column;
        totals[to] = folded(totals[to], run);
    }
}

fn leave(place: u32, key: u32, column: u32, run: Fold) {
    if column == 0u {
        rest[place] = vec2<u32>(key, place);
    }
    parts[place * p.columns + column] = run;
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
    var run = values[pairs[begin].y * columns + column];
    // Whether the run in hand began before the block.
    var late = false;
    if begin > 0u {
        late = pairs[begin - 1u].x == key;
    }
    leave(2u * block, 0xffffffffu, column, NOTHING);
    leave(2u * block + 1u, 0xffffffffu, column, NOTHING);
    for (var i = begin + 1u; i < end; i++) {
        let pair = pairs[i];
        let value = values[pair.y * columns + column];
        if pair.x == key {
            run = folded(run, value);
            continue;
        }
        if late {
            leave(2u * block, key, column, run);
        } else {
            total(key, column, run);
        }
        key = pair.x;
        run = value;
        late = false;
    }
    var open = false;
    if end < p.count {
        open = pairs[end].x == key;
    }
    if late {
        leave(2u * block, key, column, run);
        if open {
            // The run goes through the block: without both pairs it would seem to end here.
            leave(2u * block + 1u, key, column, NOTHING);
        }
    } else if open {
        leave(2u * block + 1u, key, column, run);
    } else {
        total(key, column, run);
    }
}
