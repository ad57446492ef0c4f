// Tally: integers added to the totals that their keys name. Sums of them wrap, so that the bits
// are the same in whatever order they come.
override workgroup: u32 = 64u;

struct Params {
    grid: vec4<u32>, // quads of values, lead, step, trips
    count: u32,      // values
    columns: u32,    // of a key
    first: u32,      // key of the bound segment
    keys: u32,       // keys there
}
@group(1) @binding(0) var<uniform> p: Params;

@group(0) @binding(0) var<storage, read> keys: array<u32>;
@group(0) @binding(1) var<storage, read> values: array<u32>;
@group(0) @binding(2) var<storage, read_write> totals: array<atomic<u32>>;

fn tally(position: u32) {
    let row = position / p.columns;
    if position < p.count {
        let at = keys[row] - p.first;
        if at < p.keys {
            atomicAdd(&totals[at * p.columns + position - row * p.columns], values[position]);
        }
    }
}

@compute @workgroup_size(workgroup)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let linear = group.x + groups.x * group.y;
    let first = linear * p.grid.y + lane;
    for (var trip = 0u; trip < p.grid.w; trip++) {
        let q = first + trip * p.grid.z;
        if q >= p.grid.x {
            break;
        }
        tally(4u * q);
        tally(4u * q + 1u);
        tally(4u * q + 2u);
        tally(4u * q + 3u);
    }
}
