// Integers of 64 bits. Sums, differences and products wrap. Division by zero yields 0 and leaves
// everything as the remainder, so that a = b q + r holds for every b; the lowest value by -1 wraps
// to itself. A shift by the width or more (a negative count is a huge one) leaves nothing but the
// sign. Elements are shifted one by one: of vectors Metal's compiler wants both sides equally wide.

fn abs_i64(x: vec4<i64>) -> vec4<i64> {
    return select(x, -x, x < vec4<i64>(0li));
}

fn sign_i64(x: vec4<i64>) -> vec4<i64> {
    let up = select(vec4<i64>(0li), vec4<i64>(1li), x > vec4<i64>(0li));
    return select(up, vec4<i64>(-1li), x < vec4<i64>(0li));
}

fn relu_i64(x: vec4<i64>) -> vec4<i64> {
    return select(x, vec4<i64>(0li), x < vec4<i64>(0li));
}

fn min_i64(a: vec4<i64>, b: vec4<i64>) -> vec4<i64> {
    return select(a, b, b < a);
}

fn max_i64(a: vec4<i64>, b: vec4<i64>) -> vec4<i64> {
    return select(a, b, b > a);
}

fn clamp_i64(x: vec4<i64>, low: vec4<i64>, high: vec4<i64>) -> vec4<i64> {
    return min_i64(max_i64(x, low), high);
}

fn square_i64(x: vec4<i64>) -> vec4<i64> {
    return x * x;
}

fn mul_add_i64(a: vec4<i64>, b: vec4<i64>, c: vec4<i64>) -> vec4<i64> {
    return a * b + c;
}

fn div_i64(a: vec4<i64>, b: vec4<i64>) -> vec4<i64> {
    let none = b == vec4<i64>(0li);
    return select(a / select(b, vec4<i64>(1li), none), vec4<i64>(0li), none);
}

fn rem_trunc_i64(a: vec4<i64>, b: vec4<i64>) -> vec4<i64> {
    return a - b * div_i64(a, b);
}

fn rem_floor_i64(a: vec4<i64>, b: vec4<i64>) -> vec4<i64> {
    let r = rem_trunc_i64(a, b);
    let other = (r < vec4<i64>(0li)) != (b < vec4<i64>(0li));
    return select(r, r + b, other & (r != vec4<i64>(0li)) & (b != vec4<i64>(0li)));
}

fn shl_i64(x: vec4<i64>, n: vec4<i64>) -> vec4<i64> {
    return vec4<i64>(shl_u64(vec4<u64>(x), vec4<u64>(n)));
}

fn shr_i64(x: vec4<i64>, n: vec4<i64>) -> vec4<i64> {
    let by = shift_by(vec4<u64>(n));
    return vec4<i64>(x.x >> by.x, x.y >> by.y, x.z >> by.z, x.w >> by.w);
}

fn shift_by(n: vec4<u64>) -> vec4<u32> {
    return vec4<u32>(min_u64(n, vec4<u64>(63lu)));
}

fn sign_u64(x: vec4<u64>) -> vec4<u64> {
    return select(vec4<u64>(0lu), vec4<u64>(1lu), x != vec4<u64>(0lu));
}

fn min_u64(a: vec4<u64>, b: vec4<u64>) -> vec4<u64> {
    return select(a, b, b < a);
}

fn max_u64(a: vec4<u64>, b: vec4<u64>) -> vec4<u64> {
    return select(a, b, b > a);
}

fn clamp_u64(x: vec4<u64>, low: vec4<u64>, high: vec4<u64>) -> vec4<u64> {
    return min_u64(max_u64(x, low), high);
}

fn square_u64(x: vec4<u64>) -> vec4<u64> {
    return x * x;
}

fn mul_add_u64(a: vec4<u64>, b: vec4<u64>, c: vec4<u64>) -> vec4<u64> {
    return a * b + c;
}

fn div_u64(a: vec4<u64>, b: vec4<u64>) -> vec4<u64> {
    let none = b == vec4<u64>(0lu);
    return select(a / select(b, vec4<u64>(1lu), none), vec4<u64>(0lu), none);
}

fn rem_trunc_u64(a: vec4<u64>, b: vec4<u64>) -> vec4<u64> {
    return a - b * div_u64(a, b);
}

fn rem_floor_u64(a: vec4<u64>, b: vec4<u64>) -> vec4<u64> {
    return rem_trunc_u64(a, b);
}

fn shl_u64(x: vec4<u64>, n: vec4<u64>) -> vec4<u64> {
    let by = shift_by(n);
    let y = vec4<u64>(x.x << by.x, x.y << by.y, x.z << by.z, x.w << by.w);
    return select(vec4<u64>(0lu), y, n < vec4<u64>(64lu));
}

fn shr_u64(x: vec4<u64>, n: vec4<u64>) -> vec4<u64> {
    let by = shift_by(n);
    let y = vec4<u64>(x.x >> by.x, x.y >> by.y, x.z >> by.z, x.w >> by.w);
    return select(vec4<u64>(0lu), y, n < vec4<u64>(64lu));
}
