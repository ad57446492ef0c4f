// Squares in workgroup memory: parts that go there, the sums that subgroups leave there, one square
// each, and where the quads of these go. See matmul_cooperative.wgsl.

// region alone
alias Part = f32;
alias Quad = vec4<f32>;
const side = 8u;
const rows = 8u;
const columns = 8u;
const down = 1u;
const across = 1u;
const square = side * side;
const shared_sums = down * across * square;

var<workgroup> sh_parts: array<array<Part, square>, 2>;
var<workgroup> sh_sums: array<f32, shared_sums>;

fn product_store(b: u32, row: u32, column: u32, x: Quad) {
    sh_sums[row * side + column] = x.x + f32(b);
}
// end alone

fn square_put(into: u32, at: u32, x: vec4<Part>) {
    sh_parts[into][at] = x.x;
    sh_parts[into][at + 1u] = x.y;
    sh_parts[into][at + 2u] = x.z;
    sh_parts[into][at + 3u] = x.w;
}

fn square_quad(i: u32) -> Quad {
    let at = min(4u * i, shared_sums - 4u);
    return Quad(sh_sums[at], sh_sums[at + 1u], sh_sums[at + 2u], sh_sums[at + 3u]);
}

// Quad i of square s of every subgroup. There may be fewer quads than lanes.
fn square_store(b: u32, first: vec2<u32>, s: u32, i: u32, x: Quad) {
    let team = 4u * i / square;
    let cell = vec2(4u * i % square / side, 4u * i % side);
    let of_team = vec2(team / across * rows, team % across * columns);
    let of_square = side * vec2(s / (columns / side), s % (columns / side));
    let place = first + of_team + of_square + cell;
    if team < down * across {
        product_store(b, place.x, place.y, x);
    }
}
