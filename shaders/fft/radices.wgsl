// Steps of a transform: terms of one half of the memory, each turned by a root, into as many
// results in the other.

fn term(s: Step, n: u32) -> vec2<f32> {
    return product(sh_tile[s.first + n * s.apart], root(i32(n) * s.k, s.whole));
}

fn step_2(s: Step) {
    let a = sh_tile[s.first];
    let b = term(s, 1u);
    sh_tile[s.to] = a + b;
    sh_tile[s.to + s.on] = a - b;
}

fn step_3(s: Step) {
    let a = sh_tile[s.first];
    let b = term(s, 1u);
    let c = term(s, 2u);
    let m = a - 0.5 * (b + c);
    let n = back(0.866025404 * (b - c));
    sh_tile[s.to] = a + (b + c);
    sh_tile[s.to + s.on] = m + n;
    sh_tile[s.to + 2u * s.on] = m - n;
}

fn step_4(s: Step) {
    let a = sh_tile[s.first];
    let b = term(s, 1u);
    let c = term(s, 2u);
    let d = term(s, 3u);
    let n = back(b - d);
    sh_tile[s.to] = (a + c) + (b + d);
    sh_tile[s.to + s.on] = (a - c) + n;
    sh_tile[s.to + 2u * s.on] = (a + c) - (b + d);
    sh_tile[s.to + 3u * s.on] = (a - c) - n;
}

fn step_5(s: Step) {
    let a = sh_tile[s.first];
    let b = term(s, 1u);
    let c = term(s, 2u);
    let d = term(s, 3u);
    let e = term(s, 4u);
    let m1 = a + 0.309016994 * (b + e) - 0.809016994 * (c + d);
    let m2 = a - 0.809016994 * (b + e) + 0.309016994 * (c + d);
    let n1 = back(0.951056516 * (b - e) + 0.587785252 * (c - d));
    let n2 = back(0.587785252 * (b - e) - 0.951056516 * (c - d));
    sh_tile[s.to] = a + (b + e) + (c + d);
    sh_tile[s.to + s.on] = m1 + n1;
    sh_tile[s.to + 2u * s.on] = m2 + n2;
    sh_tile[s.to + 3u * s.on] = m2 - n2;
    sh_tile[s.to + 4u * s.on] = m1 - n1;
}

fn step_7(s: Step) {
    let a = sh_tile[s.first];
    let b = term(s, 1u);
    let c = term(s, 2u);
    let d = term(s, 3u);
    let e = term(s, 4u);
    let f = term(s, 5u);
    let g = term(s, 6u);
    let t = vec3<f32>(0.623489802, -0.222520934, -0.900968868);
    let u = vec3<f32>(0.781831482, 0.974927912, 0.433883739);
    let m1 = a + t.x * (b + g) + t.y * (c + f) + t.z * (d + e);
    let m2 = a + t.y * (b + g) + t.z * (c + f) + t.x * (d + e);
    let m3 = a + t.z * (b + g) + t.x * (c + f) + t.y * (d + e);
    let n1 = back(u.x * (b - g) + u.y * (c - f) + u.z * (d - e));
    let n2 = back(u.y * (b - g) - u.z * (c - f) - u.x * (d - e));
    let n3 = back(u.z * (b - g) - u.x * (c - f) + u.y * (d - e));
    sh_tile[s.to] = a + (b + g) + (c + f) + (d + e);
    sh_tile[s.to + s.on] = m1 + n1;
    sh_tile[s.to + 2u * s.on] = m2 + n2;
    sh_tile[s.to + 3u * s.on] = m3 + n3;
    sh_tile[s.to + 4u * s.on] = m3 - n3;
    sh_tile[s.to + 5u * s.on] = m2 - n2;
    sh_tile[s.to + 6u * s.on] = m1 - n1;
}

// region alone
struct Step { first: u32, apart: u32, to: u32, on: u32, k: i32, whole: u32 }
var<workgroup> sh_tile: array<vec2<f32>, 2048>;
fn back(a: vec2<f32>) -> vec2<f32> { return a; }
fn product(a: vec2<f32>, b: vec2<f32>) -> vec2<f32> { return a * b; }
fn root(k: i32, whole: u32) -> vec2<f32> { return vec2<f32>(0.0); }
// end alone
