// LU panel: a few columns of a matrix become L below the diagonal and U above it, rows swapped so
// that every pivot is the largest that its column has left; the first of equals.
//
// A workgroup takes the panel of one matrix, in place. The last column of a row says which row it
// was, as a number, and is swapped with it. Where nothing but zeros are left, a column stays.
// Trips: the rows of an invocation by half the square of the columns.
override lanes: u32 = 64u;

struct Params {
    matrices: u32,
    rows: u32,
    columns: u32, // without the last
}
@group(1) @binding(0) var<uniform> p: Params;

@group(0) @binding(0) var<storage, read_write> panel: array<f32>;

var<workgroup> sh_largest: array<f32, lanes>;
var<workgroup> sh_places: array<u32, lanes>;

// region alone
fn div_f32(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> { return a / b; }
// end alone

@compute @workgroup_size(lanes)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let matrix = group.x + groups.x * group.y;
    if matrix >= p.matrices {
        return;
    }
    // Once, before all loops: FXC takes a parameter that a loop reads which depends on the lane for
    // one that does as well, and allows no barrier where it is asked again.
    let rows = p.rows;
    let columns = p.columns;
    let across = columns + 1u;
    let base = matrix * rows * across;
    for (var j = 0u; j < columns; j++) {
        var best = -1.0;
        var place = j;
        for (var i = j + lane; i < rows; i += lanes) {
            let x = abs(panel[base + i * across + j]);
            if x > best {
                best = x;
                place = i;
            }
        }
        sh_largest[lane] = best;
        sh_places[lane] = place;
        workgroupBarrier();
        // Everybody looks for the largest, so that nobody has to be told. Lanes past the last row
        // have none.
        let others = min(lanes, rows - j);
        for (var other = 0u; other < others; other++) {
            let x = sh_largest[other];
            let at = sh_places[other];
            if x > best || (x == best && at < place) {
                best = x;
                place = at;
            }
        }
        if place != j {
            for (var c = lane; c < across; c += lanes) {
                let here = base + j * across + c;
                let there = base + place * across + c;
                let x = panel[here];
                panel[here] = panel[there];
                panel[there] = x;
            }
        }
        storageBarrier();
        workgroupBarrier();
        let row = base + j * across;
        let pivot = panel[row + j];
        for (var i = j + 1u + lane; i < rows; i += lanes) {
            let own = base + i * across;
            let x = panel[own + j];
            let times = select(div_f32(vec4<f32>(x), vec4<f32>(pivot)).x, 0.0, x == 0.0);
            panel[own + j] = times;
            for (var c = j + 1u; c < columns; c++) {
                panel[own + c] -= times * panel[row + c];
            }
        }
        storageBarrier();
        workgroupBarrier();
    }
}
