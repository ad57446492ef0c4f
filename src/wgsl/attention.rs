//! What the attention kernel keeps in registers, by the quads of a key and of a value.

use core::fmt::Write as _;

/// The regions of `attention.wgsl` for queries and keys of `keys` quads and values of `values`.
#[must_use]
pub fn regions(keys: usize, values: usize, masked: bool) -> Vec<(&'static str, String)> {
    let (mut query, mut score) = (String::new(), String::new());
    let (mut weigh, mut write) = (String::new(), String::new());
    // Writing to a String cannot fail.
    for d in 0..keys {
        let _ = writeln!(query, "let q{d} = head_0(at + {d}u) * scale;");
        let dot = |part| format!("dot(q{d}, head_1(k.{part} + {d}u))");
        let [x, y, z, w] = ["x", "y", "z", "w"].map(dot);
        let _ = writeln!(score, "s += vec4<f32>({x}, {y}, {z}, {w});");
    }
    for e in 0..values {
        let _ = writeln!(query, "var a{e} = vec4<f32>(0.0);");
        let one = |part| format!("w.{part} * head_2(v.{part} + {e}u)");
        let [x, y, z, w] = ["x", "y", "z", "w"].map(one);
        let _ = writeln!(weigh, "a{e} = a{e} * fall + (({x} + {y}) + ({z} + {w}));");
        let at = format!("(all * queries + row) * {values}u + {e}u");
        let _ = writeln!(write, "finish({at}, nan_where(a{e} * part, fault));");
    }
    let mut regions = vec![("query", query), ("score", score), ("weigh", weigh), ("write", write)];
    if !masked {
        regions.extend([("masked", String::new()), ("mask", String::new())]);
    }
    regions
}
