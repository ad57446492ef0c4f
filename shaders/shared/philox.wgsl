// Philox 4x32-10 (Salmon, Moraes, Dror, Shaw 2011): a counter and a key in, four random words out.

// The high and the low word of a product.
fn mul_wide(a: u32, b: u32) -> vec2<u32> {
    let al = a & 0xffffu;
    let ah = a >> 16u;
    let bl = b & 0xffffu;
    let bh = b >> 16u;
    let low = al * bl;
    let middle = ah * bl + (low >> 16u);
    let cross = al * bh + (middle & 0xffffu);
    return vec2<u32>(ah * bh + (middle >> 16u) + (cross >> 16u), (cross << 16u) | (low & 0xffffu));
}

// Trips: ten rounds.
fn philox(counter: vec4<u32>, key: vec2<u32>) -> vec4<u32> {
    var c = counter;
    var k = key;
    for (var round = 0u; round < 10u; round++) {
        let a = mul_wide(0xd2511f53u, c.x);
        let b = mul_wide(0xcd9e8d57u, c.z);
        c = vec4<u32>(b.x ^ c.y ^ k.x, b.y, a.x ^ c.w ^ k.y, a.y);
        k += vec2<u32>(0x9e3779b9u, 0xbb67ae85u);
    }
    return c;
}

// `a` and `b` as the high and the low word of a fraction: which of `count` equal parts it lies in.
// 0 stands for 2^32.
fn part_of(a: u32, b: u32, count: u32) -> u32 {
    let high = mul_wide(a, count);
    let carry = select(0u, 1u, high.y + mul_wide(b, count).x < high.y);
    return select(high.x + carry, a, count == 0u);
}
