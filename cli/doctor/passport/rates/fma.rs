//! The most multiplications and additions: numbers that stay in registers, in a kernel of raw WGSL.

use wharf::caps::Feature;
use wharf::custom::Kernel;
use wharf::half::f16;
use wharf::{DType, Result};

use super::cases::Scene;
use super::measure::{Measured, Work};

/// In both types: what is added up comes to 2 after some rounds, and stays there.
const TEXT: &str = "
override ROUNDS = 1u;
@group(0) @binding(0) var<storage> half_and_one: array<vec4<T>>;
@group(0) @binding(1) var<storage, read_write> sums: array<vec4<T>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) at: vec3<u32>) {
    let h = half_and_one[0];
    let one = half_and_one[1];
    var a = h; var b = one; var c = h * h; var d = one + h;
    // No two of them alike, or a compiler computes one for both.
    var e = h * h * h; var f = one + h * h; var g = one - h * h; var i = one + h * h * h;
    for (var k = 0u; k < ROUNDS; k++) {
        a = fma(a, h, one); b = fma(b, h, one); c = fma(c, h, one); d = fma(d, h, one);
        e = fma(e, h, one); f = fma(f, h, one); g = fma(g, h, one); i = fma(i, h, one);
    }
    sums[at.x] = max(max(max(a, b), max(c, d)), max(max(e, f), max(g, i)));
}
";

/// Vectors of four that an invocation adds up.
const VECTORS: usize = 8;
const ROUNDS: usize = 512;

pub(super) async fn fused(scene: &Scene<'_>, dtype: DType) -> Result<Option<Measured>> {
    let caps = scene.device.caps();
    let (name, head) = match dtype {
        DType::F16 => ("f16", "enable f16;"),
        _ => ("f32", ""),
    };
    if dtype == DType::F16 && !caps.has(Feature::ShaderF16) {
        return Ok(None);
    }
    let text = format!("{head}{}", TEXT.replace("<T>", &format!("<{name}>")));
    let kernel = Kernel::from_wgsl("fma", &text)?.with("ROUNDS", ROUNDS)?;
    // A GPU needs some milliseconds of work, and a processor has them soon.
    let threads = match (scene.quick, caps.identity.is_software()) {
        (true, _) => 1 << 8,
        (false, true) => 1 << 14,
        (false, false) => 1 << 20,
    };
    let operands = [0.5f32, 0.5, 0.5, 0.5, 1.0, 1.0, 1.0, 1.0];
    let x = match dtype {
        DType::F16 => scene.device.upload(&operands.map(f16::from_f32), [8])?.0,
        _ => scene.device.upload(&operands, [8])?.0,
    };
    let mut last = x.clone();
    let seconds = scene.time(async || {
        let run = scene.device.run(&kernel).read("half_and_one", &x);
        let run = run.create("sums", [4 * threads], dtype);
        let [sums] = run.threads([threads, 1, 1]).record()?;
        sums.compute()?;
        last = sums;
        scene.done().await
    });
    let seconds = seconds.await?;
    let got = last.cast(DType::F32)?.read::<f32>().await?;
    // Where f16 is cut instead of rounded, the last step is not made.
    let right = |sum: &f32| (sum - 2.0).abs() <= 1.0 / 256.0;
    let wrong = got.iter().position(|sum| !right(sum));
    let wrong = wrong.map(|at| format!("WRONG at {at}: {}, not 2", got[at]));
    let work = Work::Flops((threads * ROUNDS * VECTORS * 4 * 2) as f64);
    Ok(Some(Measured { size: format!("{threads} threads"), work, seconds, wrong }))
}
