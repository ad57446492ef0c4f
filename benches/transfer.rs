//! Crossings against a memcpy: up, down, converted, gathered; a file against a plain read of it;
//! small ones; and the host memory they take.
//!
//! ```text
//! cargo bench --bench transfer [-- [--quick] [--json FILE] [FILTER]]
//! ```

use std::process::ExitCode;
use std::time::Duration;

use common::{Bench, Case, Outcome, Peak, Row, Work, ceiling, noise, timed};
use wharf::io::Archive;
use wharf::{DType, Device, Element, HostView, Policy, TensorSet};

mod common;

const MIB: f64 = 1048576.0;

/// Calls that make one sample of a latency.
const CALLS: usize = 50;

fn main() -> ExitCode {
    common::main("transfer", |bench| {
        crossings(bench)?;
        files(bench)?;
        latencies(bench)?;
        host_memory(bench)
    })
}

/// What images are made of: one of 256 values.
fn pixel(i: usize) -> f64 {
    (i.wrapping_mul(0x9e37_79b1) >> 16 & 255) as f64 / 255.0
}

/// Carries once, until the device has all of it. The tensor's memory goes back to the pool.
fn up(device: &Device, carry: impl FnOnce() -> wharf::Result<wharf::Tensor>) -> Outcome<Duration> {
    let (tensor, elapsed) = timed(|| {
        let tensor = carry()?;
        device.synchronize_now().map(|()| tensor)
    });
    drop(tensor?);
    Ok(elapsed)
}

fn converting<'a, T: Element>(
    device: &'a Device,
    data: &'a [T],
    to: DType,
    name: String,
) -> Case<'a> {
    Case::new(name, Work::Bytes(size_of_val(data) as f64), move || {
        up(device, || device.upload_as(data, [data.len()], to).map(|(tensor, _)| tensor))
    })
}

fn viewed<'a>(device: &'a Device, name: &str, view: HostView<'a, f32>) -> Case<'a> {
    let bytes = view.shape().elements() * size_of::<f32>();
    Case::new(name, Work::Bytes(bytes as f64), move || {
        up(device, || device.upload_view(view).map(|(tensor, _)| tensor))
    })
}

/// Large crossings, all from or to the same number of host bytes.
fn crossings(bench: &mut Bench) -> Outcome {
    let device = &bench.device();
    let settings = &bench.settings;
    let side = settings.pick(512usize, 4096, 8192);
    let count = side * side; // of 4 bytes; of 8, half as many
    let bytes = count * size_of::<f32>();
    let noisy: Vec<f32> = noise(count).map(|v| v as f32).collect();
    let noisy_wide: Vec<f64> = noise(count / 2).collect();
    let pixels: Vec<f32> = (0..count).map(|i| pixel(i) as f32).collect();
    let pixels_wide: Vec<f64> = (0..count / 2).map(pixel).collect();
    let integers: Vec<i64> = noise(count / 2).map(|v| (v * f64::from(i32::MAX)) as i64).collect();
    let mut back = vec![0f32; count];
    let resident = device.upload(&noisy, [count])?.0;

    let size = bytes as f64 / MIB;
    let images = side / 512 * (side / 512); // of 3 x 256 x 256
    let (image, channels) = (3 * 256 * 256, [3 * 256 * 256, 1, 3 * 256, 3]);
    let shape = [images.min(count / image), 3, 256, 256];
    let cases = vec![
        viewed(device, &format!("upload f32, {size} MiB"), HostView::new(&noisy, [count])?),
        Case::new(format!("download f32, {size} MiB"), Work::Bytes(bytes as f64), || {
            let (read, elapsed) = timed(|| resident.read_into_now(&mut back));
            read?;
            Ok(elapsed)
        }),
        converting(device, &noisy_wide, DType::F32, "upload f64 -> f32".into()),
        converting(device, &pixels_wide, DType::F32, "upload f64 -> f32, pixels".into()),
        converting(device, &noisy, DType::F16, "upload f32 -> f16".into()),
        converting(device, &pixels, DType::F16, "upload f32 -> f16, pixels".into()),
        converting(device, &noisy, DType::Bf16, "upload f32 -> bf16".into()),
        converting(device, &integers, DType::I32, "upload i64 -> i32".into()),
        viewed(device, "upload column-major", HostView::column_major(&noisy, [side, side])?),
        viewed(device, "upload nhwc as nchw", HostView::strided(&noisy, shape, &channels, 0)?),
    ];
    bench.measure(9, vec![ceiling::memcpy(bytes)], cases)
}

/// A file of weights on its way to the device, as it is and converted.
fn files(bench: &mut Bench) -> Outcome {
    let device = &bench.device();
    let (tensors, side) = (bench.settings.pick(2, 16, 64), bench.settings.pick(256, 1024, 1024));
    let bytes = tensors * side * side * size_of::<f32>();
    let names = [format!("load f32, {} MiB", bytes as f64 / MIB), "load f32 -> f16".into()];
    if !names.iter().any(|name| bench.settings.wants(name)) {
        return Ok(());
    }
    let name = format!("wharf-bench-{}.safetensors", std::process::id());
    let path = &std::env::temp_dir().join(name);
    let mut set = TensorSet::new();
    for i in 0..tensors {
        let values: Vec<f32> = noise(side * side).map(|v| v as f32).collect();
        set.insert(format!("layer.{i}.weight"), device.upload(&values, [side, side])?.0)?;
    }
    let _exact = set.save(path)?;
    drop(set);
    let loaded = |name: String, to: DType| {
        Case::new(name, Work::Bytes(bytes as f64), move || {
            let (set, elapsed) = timed(|| {
                let archive = Archive::open(path)?;
                let (set, _) = device.upload_set(&archive.shipment_as(|_| Some(to))?)?;
                device.synchronize_now().map(|()| set)
            });
            drop(set?);
            Ok(elapsed)
        })
    };
    let [as_it_is, as_halves] = names;
    let cases = vec![loaded(as_it_is, DType::F32), loaded(as_halves, DType::F16)];
    let measured = bench.measure(9, vec![ceiling::read(path, bytes)], cases);
    std::fs::remove_file(path)?;
    measured
}

/// Crossings of one number.
fn latencies(bench: &mut Bench) -> Outcome {
    let device = bench.device();
    let calls = bench.settings.pick(1, CALLS, CALLS);
    let tensor = device.upload(&[1.0f32], [1])?.0;
    let work = Work::Calls(calls as f64);
    let up = || device.upload(&[1.0f32], [1]).map(|(tensor, _)| tensor);
    let repeat = |call: &dyn Fn() -> wharf::Result<()>| {
        let (done, elapsed) = timed(|| (0..calls).try_for_each(|_| call()));
        done?;
        Ok(elapsed)
    };
    let cases = vec![
        Case::new("upload 4 B", work, || repeat(&|| up().map(drop))),
        Case::new("read 4 B", work, || repeat(&|| tensor.read_scalar_now::<f32>().map(drop))),
        Case::new("upload and read 4 B", work, || {
            repeat(&|| up()?.read_scalar_now::<f32>().map(drop))
        }),
    ];
    bench.measure(15, Vec::new(), cases)
}

/// Host memory beyond data and tensor, by the process's own high-water mark: the larger of a
/// device's first upload and of a second one into the same buffers.
fn host_memory(bench: &mut Bench) -> Outcome {
    let count = bench.settings.pick(1usize << 16, 1 << 26, 1 << 28);
    let mib = (count * size_of::<f32>()) as f64 / MIB;
    let case = format!("extra host memory, {mib} MiB up");
    if !bench.settings.wants(&case) {
        return Ok(());
    }
    let adapter = &bench.adapter;
    bench.device().trim()?;
    let device = pollster::block_on(adapter.open(adapter.negotiate(&Policy::exact())))?;
    let data: Vec<f32> = (0..count).map(|i| i as f32).collect();
    let mut beyond = 0;
    for first in [true, false] {
        let Some(peak) = Peak::watch() else {
            println!("host memory: not counted on this system");
            return Ok(());
        };
        let (tensor, receipt) = device.upload(&data, [count])?;
        device.synchronize_now()?;
        drop(tensor);
        // A software adapter's device memory is the process's, too.
        let own = first && adapter.caps().identity.is_software();
        let own = if own { receipt.bytes_device } else { 0 };
        beyond = peak.bytes_beyond().unwrap_or(0).saturating_sub(own).max(beyond);
    }
    let (value, unit) = (beyond as f64 / MIB, "MiB".to_owned());
    bench.push(Row { case, value, unit, spread: None, by_device: None, ceiling: None });
    Ok(())
}
