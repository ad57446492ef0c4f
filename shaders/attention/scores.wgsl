// Which scores count in attention_staged.wgsl.

// region alone
alias Quad = vec4<f32>;
fn seen(key: vec4<u32>, first: vec4<u32>) -> vec4<bool> { return key >= first; }
// end alone

// A score as it counts: minus infinity where a row does not see the key, infinity where it is NaN.
// WGSL has no literal of them, and no constant.
fn counted(s: Quad, key: u32, first: vec4<u32>) -> Quad {
    let bits = bitcast<vec4<u32>>(s);
    let nan = (bits & vec4<u32>(0x7fffffffu)) > vec4<u32>(0x7f800000u);
    let clear = select(bits, vec4<u32>(0x7f800000u), nan);
    return bitcast<Quad>(select(vec4<u32>(0xff800000u), clear, seen(vec4(key), first)));
}
