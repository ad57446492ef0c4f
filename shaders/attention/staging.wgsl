// What attention_staged.wgsl keeps in workgroup memory, and how lanes agree there.

// region alone
const groups = 8u;
const parts = 1u;
const columns = 8u;
const each = 1u;
const quads = 1u;
const depth = 1u;
const run = 8u;
const across = columns * parts;
alias Quad = vec4<f32>;
// end alone

// The innermost index of each is a lane's own, and the outermost that of a trip: what a trip reads
// lies at constant places from one that is found, and checked, once. Each takes 4 KiB at most.
var<workgroup> sh_query: array<array<array<Quad, groups>, 4>, depth>;
var<workgroup> sh_key: array<array<array<Quad, across>, each>, depth>;
var<workgroup> sh_value: array<array<array<array<Quad, columns>, quads>, parts>, run>;
// A quad of four rows for each of the keys that lie across.
var<workgroup> sh_row: array<array<array<Quad, groups>, parts>, columns>;

fn put_query(d: u32, row: u32, x: Quad) {
    sh_query[d][row / groups][row % groups] = x;
}

fn put_key(d: u32, key: u32, x: Quad) {
    sh_key[d][key / across][key % across] = x;
}

fn put_value(key: u32, q: u32, x: Quad) {
    sh_value[key / parts][key % parts][q / columns][q % columns] = x;
}

fn put_row(key: u32, i: u32, x: Quad) {
    sh_row[key / parts][key % parts][i] = x;
}

// The highest, and the sum, of what all lanes of a row group have: of those of each part, and then
// of all parts.
fn highest(own: Quad, key: u32, i: u32) -> Quad {
    let part = key % parts;
    workgroupBarrier();
    put_row(key, i, own);
    workgroupBarrier();
    var all = own;
    for (var t = 0u; t < columns; t++) {
        all = max(all, sh_row[t][part][i]);
    }
    if parts > 1u {
        share(all, key, i);
        for (var n = 0u; n < parts; n++) {
            all = max(all, sh_row[0][n][i]);
        }
    }
    return all;
}

fn total(own: Quad, key: u32, i: u32) -> Quad {
    let part = key % parts;
    workgroupBarrier();
    put_row(key, i, own);
    workgroupBarrier();
    var all = Quad();
    for (var t = 0u; t < columns; t++) {
        all += sh_row[t][part][i];
    }
    if parts > 1u {
        share(all, key, i);
        all = Quad();
        for (var n = 0u; n < parts; n++) {
            all += sh_row[0][n][i];
        }
    }
    return all;
}

// Hands over what a part has.
fn share(all: Quad, key: u32, i: u32) {
    workgroupBarrier();
    if key < parts {
        put_row(key, i, all);
    }
    workgroupBarrier();
}
