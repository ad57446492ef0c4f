// Blocks of both operands as lanes fetch them: which one a lane takes, and how it is read. The
// regions are what depends on how the operands lie; as it lies here both lie along their rows and
// columns.

// region alone
alias Factors = vec4<f32>;
alias Block = array<Factors, 4>;
const k_quads = 4u;
const row_quads = 8u;
const column_quads = 8u;
const left_blocks = k_quads * row_quads;
const blocks = left_blocks + k_quads * column_quads;
struct Job { size: vec4<u32>, step: vec4<u32> }
struct Params { job: Job }
@group(1) @binding(0) var<uniform> p: Params;
fn head_0(q: u32) -> vec4<f32> { return vec4<f32>(f32(q)); }
fn head_1(q: u32) -> vec4<f32> { return vec4<f32>(f32(q)); }
// end alone

fn left_place(block: u32) -> vec2<u32> {
    // region left_place
    return vec2<u32>(block % row_quads, block / row_quads);
    // end left_place
}

fn left(at: u32, first: u32, k: u32, block: u32) -> Block {
    let place = vec2<u32>(first >> 2u, k) + left_place(block);
    // region left
    let e = at + place.x + (4u * place.y + vec4<u32>(0u, 1u, 2u, 3u)) * p.job.step.y;
    return Block(head_0(e.x), head_0(e.y), head_0(e.z), head_0(e.w));
    // end left
}

fn right_place(block: u32) -> vec2<u32> {
    // region right_place
    return vec2<u32>(block % column_quads, block / column_quads);
    // end right_place
}

fn right(at: u32, first: u32, k: u32, block: u32) -> Block {
    let place = vec2<u32>(first >> 2u, k) + right_place(block);
    // region right
    let e = at + place.x + (4u * place.y + vec4<u32>(0u, 1u, 2u, 3u)) * p.job.step.z;
    return Block(head_1(e.x), head_1(e.y), head_1(e.z), head_1(e.w));
    // end right
}

fn fetch(at: vec2<u32>, first: vec2<u32>, k: u32, block: u32) -> Block {
    if block < left_blocks {
        return left(at.x, first.x, k, block);
    }
    return right(at.y, first.y, k, min(block, blocks - 1u) - left_blocks);
}
