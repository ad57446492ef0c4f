// f16 in words, like f16p, where `shader-f16` is: halves are widened by the driver, which is one
// instruction of most processors. For reading only: how a driver rounds is its own choice.
enable f16;

fn decode_f16w(w: vec2<u32>) -> vec4<f32> {
    return vec4<f32>(unpack2x16float(w.x), unpack2x16float(w.y));
}
