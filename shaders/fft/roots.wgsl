// Roots of unity, from whole numbers: quarters of a turn are taken off where nothing is rounded.

// e^(-2 pi i k / whole), of |k| below 2^27. Polynomials from cephes, of quarters of a turn.
fn root(k: i32, whole: u32) -> vec2<f32> {
    let near = i32(round(f32(k) * (4.0 / f32(whole))));
    let x = f32(4 * k - near * i32(whole)) / f32(whole);
    let z = x * x;
    var s = fma(-4.60483719e-3, z, 7.96814139e-2);
    s = fma(s, z, -6.45963630e-1);
    // What pi / 2 has beyond f32.
    s = fma(s * z, x, -4.37113900e-8 * x);
    s = fma(1.57079637, x, s);
    var c = fma(9.05604567e-4, z, -2.08611184e-2);
    c = fma(c, z, 2.53669380e-1);
    c = fma(-1.23370055, z, c * z * z) + 1.0;
    let odd = (near & 1) != 0;
    let right = select(c, s, odd);
    let up = select(s, c, odd);
    return vec2<f32>(
        select(right, -right, ((near + 1) & 2) != 0),
        select(-up, up, (near & 2) != 0),
    );
}
