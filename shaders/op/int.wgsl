// Integers of 32 bits. Sums, differences and products wrap. Division by zero yields 0 and leaves
// everything as the remainder, so that a = b q + r holds for every b; the lowest value by -1 wraps
// to itself. A shift by the width or more (a negative count is a huge one) leaves nothing but the
// sign.

fn abs_i32(x: vec4<i32>) -> vec4<i32> {
    return select(x, -x, x < vec4<i32>(0));
}

fn sign_i32(x: vec4<i32>) -> vec4<i32> {
    let up = select(vec4<i32>(0), vec4<i32>(1), x > vec4<i32>(0));
    return select(up, vec4<i32>(-1), x < vec4<i32>(0));
}

fn relu_i32(x: vec4<i32>) -> vec4<i32> {
    return select(x, vec4<i32>(0), x < vec4<i32>(0));
}

fn min_i32(a: vec4<i32>, b: vec4<i32>) -> vec4<i32> {
    return select(a, b, b < a);
}

fn max_i32(a: vec4<i32>, b: vec4<i32>) -> vec4<i32> {
    return select(a, b, b > a);
}

fn clamp_i32(x: vec4<i32>, low: vec4<i32>, high: vec4<i32>) -> vec4<i32> {
    return min_i32(max_i32(x, low), high);
}

fn square_i32(x: vec4<i32>) -> vec4<i32> {
    return x * x;
}

fn mul_add_i32(a: vec4<i32>, b: vec4<i32>, c: vec4<i32>) -> vec4<i32> {
    return a * b + c;
}

fn div_i32(a: vec4<i32>, b: vec4<i32>) -> vec4<i32> {
    let none = b == vec4<i32>(0);
    return select(a / select(b, vec4<i32>(1), none), vec4<i32>(0), none);
}

fn rem_trunc_i32(a: vec4<i32>, b: vec4<i32>) -> vec4<i32> {
    return a - b * div_i32(a, b);
}

fn rem_floor_i32(a: vec4<i32>, b: vec4<i32>) -> vec4<i32> {
    let r = rem_trunc_i32(a, b);
    let other = (r < vec4<i32>(0)) != (b < vec4<i32>(0));
    return select(r, r + b, other & (r != vec4<i32>(0)) & (b != vec4<i32>(0)));
}

fn shl_i32(x: vec4<i32>, n: vec4<i32>) -> vec4<i32> {
    let count = vec4<u32>(n);
    let y = x << min(count, vec4<u32>(31u));
    return select(vec4<i32>(0), y, count < vec4<u32>(32u));
}

fn shr_i32(x: vec4<i32>, n: vec4<i32>) -> vec4<i32> {
    return x >> min(vec4<u32>(n), vec4<u32>(31u));
}

fn sign_u32(x: vec4<u32>) -> vec4<u32> {
    return select(vec4<u32>(0u), vec4<u32>(1u), x != vec4<u32>(0u));
}

fn min_u32(a: vec4<u32>, b: vec4<u32>) -> vec4<u32> {
    return select(a, b, b < a);
}

fn max_u32(a: vec4<u32>, b: vec4<u32>) -> vec4<u32> {
    return select(a, b, b > a);
}

fn clamp_u32(x: vec4<u32>, low: vec4<u32>, high: vec4<u32>) -> vec4<u32> {
    return min_u32(max_u32(x, low), high);
}

fn square_u32(x: vec4<u32>) -> vec4<u32> {
    return x * x;
}

fn mul_add_u32(a: vec4<u32>, b: vec4<u32>, c: vec4<u32>) -> vec4<u32> {
    return a * b + c;
}

fn div_u32(a: vec4<u32>, b: vec4<u32>) -> vec4<u32> {
    let none = b == vec4<u32>(0u);
    return select(a / select(b, vec4<u32>(1u), none), vec4<u32>(0u), none);
}

fn rem_trunc_u32(a: vec4<u32>, b: vec4<u32>) -> vec4<u32> {
    return a - b * div_u32(a, b);
}

fn rem_floor_u32(a: vec4<u32>, b: vec4<u32>) -> vec4<u32> {
    return rem_trunc_u32(a, b);
}

fn shl_u32(x: vec4<u32>, n: vec4<u32>) -> vec4<u32> {
    let count = vec4<u32>(n);
    let y = x << min(count, vec4<u32>(31u));
    return select(vec4<u32>(0u), y, count < vec4<u32>(32u));
}

fn shr_u32(x: vec4<u32>, n: vec4<u32>) -> vec4<u32> {
    return select(vec4<u32>(0u), x >> min(vec4<u32>(n), vec4<u32>(31u)), n < vec4<u32>(32u));
}
