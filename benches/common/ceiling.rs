//! What the machine itself can do, measured in the same run.

use core::hint::black_box;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::time::Duration;

use wharf::{Device, wgpu};

use super::raw::{Raw, buffer};
use super::{Case, Outcome, Settings, Work, timed};

/// Copies in host memory, counting the bytes that arrive: a ceiling for crossings.
pub(crate) const MEMCPY: &str = "memcpy";

/// Copies in host memory, counting the bytes read and written: a ceiling for kernels.
pub(crate) const MEMCPY_BOTH: &str = "memcpy r+w";

/// A plain read of a file: a ceiling for loading it.
pub(crate) const READ: &str = "plain read";

/// A copy between two buffers by the device, counting the bytes read and written.
pub(crate) const DEVICE_COPY: &str = "device copy";

/// Multiplications and additions of f32 in registers.
pub(crate) const FMA: &str = "fma";

/// A copy of host memory into memory that has been used before.
pub(crate) fn memcpy<'a>(bytes: usize) -> Case<'a> {
    host_copy(MEMCPY, bytes, bytes as f64)
}

/// `memcpy`, counting the bytes read and written.
pub(crate) fn memcpy_both<'a>(bytes: usize) -> Case<'a> {
    host_copy(MEMCPY_BOTH, bytes, 2.0 * bytes as f64)
}

/// A file that was read lately, into memory that has been used before.
pub(crate) fn read(path: &Path, bytes: usize) -> Case<'_> {
    let mut to = Vec::with_capacity(bytes);
    Case::new(READ, Work::Bytes(bytes as f64), move || {
        to.clear();
        let (read, elapsed) = timed(|| File::open(path)?.read_to_end(&mut to));
        black_box(read?);
        Ok(elapsed)
    })
}

fn host_copy<'a>(name: &str, bytes: usize, counted: f64) -> Case<'a> {
    let (from, mut to) = (vec![1u8; bytes], vec![2u8; bytes]);
    Case::new(name, Work::Bytes(counted), move || {
        let ((), elapsed) = timed(|| to.copy_from_slice(&from));
        black_box(&mut to);
        Ok(elapsed)
    })
}

/// Copies in a row, where waiting for one would count.
const COPIES: u32 = 16;

/// A copy by a kernel.
const COPY: &str = "
@group(0) @binding(0) var<storage, read> input: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> output: array<vec4<f32>>;
@compute @workgroup_size(256)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let i = (group.x + groups.x * group.y) * 256u + lane;
    if i < arrayLength(&output) {
        output[i] = input[i];
    }
}
";

/// A copy of this many bytes by the device, from one buffer to another: by its command, or by a
/// kernel where that is faster.
pub(crate) fn device_copy<'a>(device: &Device, bytes: u64) -> Outcome<Case<'a>> {
    let (from, to) = (buffer(device, bytes, &[]), buffer(device, bytes, &[]));
    let software = device.caps().identity.is_software();
    let times = if software { 1 } else { COPIES };
    // A software driver's command is the processor's own copy.
    let kernel = (!software && bytes <= device.caps().limits.binding_bytes_max)
        .then(|| Raw::new(device, COPY, &[], &[&from, &to], (bytes / 16).div_ceil(256) as u32));
    let (device, queue) = (device.wgpu_device().clone(), device.wgpu_queue().clone());
    let command = move || {
        let (done, elapsed) = timed(|| {
            let mut encoder = device.create_command_encoder(&Default::default());
            for _ in 0..times {
                encoder.copy_buffer_to_buffer(&from, 0, &to, 0, bytes);
            }
            queue.submit([encoder.finish()]);
            device.poll(wgpu::PollType::wait_indefinitely())
        });
        done?;
        Ok(elapsed)
    };
    let work = Work::Bytes(2.0 * bytes as f64 * f64::from(times));
    let best = |run: &dyn Fn() -> Outcome<Duration>| {
        (0..3).try_fold(Duration::MAX, |best, _| {
            Ok::<_, Box<dyn std::error::Error>>(run()?.min(best))
        })
    };
    match kernel {
        Some(kernel) if best(&|| kernel.run_often(times))? < best(&command)? => {
            Ok(Case::new(DEVICE_COPY, work, move || kernel.run_often(times)))
        }
        _ => Ok(Case::new(DEVICE_COPY, work, command)),
    }
}

const FMA_TRIPS: u32 = 2048;
const FMA_UNROLL: u32 = 4;
const FMA_LANES: u32 = 64;

/// `width` quads of independent multiply-adds, so that neither memory nor the latency of one
/// operation limits the rate.
fn fma_text(width: u32) -> String {
    let each = |line: &dyn Fn(u32) -> String| (0..width).map(line).collect::<String>();
    let begin = each(&|i| format!("    var x{i} = a * f32(id + {i}u);\n"));
    let step = each(&|i| format!("        x{i} = fma(x{i}, a, b);\n"));
    let sum = each(&|i| format!(" + x{i}"));
    let steps = step.repeat(FMA_UNROLL as usize);
    format!(
        "@group(0) @binding(0) var<storage, read> factors: array<vec4<f32>, 2>;
@group(0) @binding(1) var<storage, read_write> out: array<vec4<f32>>;
@compute @workgroup_size({FMA_LANES})
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {{
    let id = (group.x + groups.x * group.y) * {FMA_LANES}u + lane;
    let a = factors[0];
    let b = factors[1];
{begin}    for (var trip = 0u; trip < {FMA_TRIPS}u; trip++) {{
{steps}    }}
    out[id] = a{sum};
}}
"
    )
}

/// Multiply-adds in registers. A trial picks the best of several widths.
pub(crate) fn fma<'a>(settings: &Settings, device: &Device) -> Outcome<Case<'a>> {
    let software = device.caps().identity.is_software();
    let groups = settings.pick(1, 256, 256) * if software { 1 } else { 64 };
    let lanes = groups * FMA_LANES;
    let mut best: Option<(f64, f64, Raw)> = None;
    for width in [2u32, 3, 4, 6, 8] {
        let out = buffer(device, u64::from(lanes) * 16, &[]);
        let factors = buffer(device, 32, &[0.999; 8]);
        let kernel = Raw::new(device, &fma_text(width), &[], &[&factors, &out], groups);
        let each = FMA_TRIPS * FMA_UNROLL * width * 4 * 2;
        let flops = f64::from(lanes) * f64::from(each);
        kernel.run()?;
        let took = kernel.run()?.min(kernel.run()?).as_secs_f64().max(1e-9);
        if best.as_ref().is_none_or(|(rate, ..)| flops / took > *rate) {
            best = Some((flops / took, flops, kernel));
        }
    }
    let (_, flops, kernel) = best.ok_or("no width was tried")?;
    Ok(Case::new(FMA, Work::Flops(flops), move || kernel.run()))
}
