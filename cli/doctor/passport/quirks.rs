//! What this adapter's driver does in its own way, measured by kernels of raw WGSL. None of it
//! affects wharf's results. It explains why other kernels may differ from one machine to the next.

use wharf::Target;
use wharf::{DType, Device, Layout, Shape, wgpu};

use super::clock::seconds;
use super::show;

/// Answers before the lists, and the numbers of a list; as in `quirks.wgsl`.
const SINGLE: usize = 8;
const LIST: usize = 64;

/// More trips than llvmpipe lets a loop make.
const TRIPS: f32 = 70_000.0;

/// Nanoseconds of a load that are too many: on a processor by itself it is a fraction of one.
const SLOW_LOAD: f64 = 1.5;
const NEWER: &str = "; Mesa from 24 on is faster: Debian 13 and Ubuntu 24.04 have it, \
    Debian 12 in its backports";

/// One thing that drivers differ in.
pub(crate) struct Quirk {
    pub(crate) what: &'static str,
    pub(crate) seen: String,
    /// Whether a kernel that expects the textbook would be wrong here.
    pub(crate) surprising: bool,
}

/// Asks the device; an error is its own words.
pub(crate) async fn probe(device: &Device) -> Result<Vec<Quirk>, String> {
    let mut numbers = vec![TRIPS, 1e-40, 1.0, 1.0 + 2f32.powi(-12), -(1.0 + 2f32.powi(-11))];
    numbers.extend([f32::NAN, 0.0, 1000.5]);
    numbers.extend((0..LIST).map(|i| i as f32 * 1.3 - 40.7));
    let seen = run(device, "main", &numbers).await?;
    Ok(quirks(&numbers, &seen))
}

/// What a load in a loop takes on a processor: drivers there take lanes one by one. Apart, because
/// it is another time every time. Two lengths of the loop are compared, so that all else is left
/// out.
pub(crate) async fn loads(device: &Device) -> Result<Option<Quirk>, String> {
    if device.target() == Target::Gpu {
        return Ok(None);
    }
    const SHORT: f32 = 10_000.0;
    const LONG: f32 = 50_000.0;
    let mut took = [Vec::new(), Vec::new()];
    for _ in 0..5 {
        for (took, trips) in took.iter_mut().zip([SHORT, LONG]) {
            let mut numbers = vec![1.0; SINGLE + LIST];
            numbers[0] = trips;
            run(device, "loads", &numbers).await?; // compiled, and awake
            let begin = seconds();
            run(device, "loads", &numbers).await?;
            took.push(seconds() - begin);
        }
    }
    let [short, long] = took.map(|took| took.into_iter().fold(f64::INFINITY, f64::min));
    let nanos = (long - short).max(0.0) * 1e9 / f64::from(8.0 * (LONG - SHORT));
    let surprising = nanos > SLOW_LOAD;
    let mut seen = format!("takes {nanos:.1} ns a lane");
    if surprising && device.target() == Target::Cpu64 {
        seen += NEWER;
    }
    Ok(Some(Quirk { what: "a load in a loop", seen, surprising }))
}

fn quirks(numbers: &[f32], seen: &[u32]) -> Vec<Quirk> {
    let float = |i: usize| f32::from_bits(seen[i]);
    let list = &numbers[SINGLE..];
    let quotients = list.iter().map(|&x| f64::from(1.0 / x));
    let division = worst(quotients, &seen[SINGLE..SINGLE + LIST]);
    let powers = list.iter().map(|&x| f64::from(x).exp());
    let exp = worst(powers, &seen[SINGLE + LIST..]);
    let sine = off(float(6), f64::from(numbers[7]).sin());
    let quirk = |what, surprising, seen: String| Quirk { what, seen, surprising };
    let whole = seen[0] == TRIPS as u32;
    vec![
        quirk(
            "a loop of 70000 trips",
            !whole,
            match whole {
                true => "runs to its end".into(),
                false => format!("stops after {} without a word", seen[0]),
            },
        ),
        quirk(
            "subnormal numbers",
            seen[1] == 0,
            match seen[1] {
                0 => "count as zero".into(),
                _ => "are kept".into(),
            },
        ),
        quirk(
            "a * b + c",
            seen[2] != 0,
            match seen[2] {
                0 => "is rounded twice".into(),
                _ => "is rounded once: contracted".into(),
            },
        ),
        quirk("max(NaN, 1)", !float(3).is_nan(), format!("is {}", float(3))),
        quirk("NaN != NaN", seen[4] == 0, format!("is {}", seen[4] != 0)),
        quirk("7 / 0 of integers", seen[5] != 7, format!("is {}", seen[5].cast_signed())),
        quirk("1 / x", division > 0.5, format!("is within {division:.1} ulp")),
        quirk("exp(x), |x| < 43", exp > 4.0, format!("is within {exp:.1} ulp")),
        quirk("sin(1000.5)", sine > 1e-5, format!("is off by {sine:.0e}")),
    ]
}

/// The largest distance in units of the last place.
fn worst(exact: impl Iterator<Item = f64>, seen: &[u32]) -> f64 {
    let distance = |(exact, bits): (f64, &u32)| {
        let near = exact as f32;
        let unit = f64::from(f32::from_bits(near.abs().to_bits() + 1)) - f64::from(near.abs());
        off(f32::from_bits(*bits), exact) / unit
    };
    exact.zip(seen).map(distance).fold(0.0, f64::max)
}

/// How far a number is off: what is none, without end.
fn off(got: f32, exact: f64) -> f64 {
    let off = (f64::from(got) - exact).abs();
    if off.is_nan() { f64::INFINITY } else { off }
}

/// Runs the kernel through wgpu alone, because wharf would hide what the driver does.
async fn run(device: &Device, kernel: &str, numbers: &[f32]) -> Result<Vec<u32>, String> {
    let (gpu, queue) = (device.wgpu_device(), device.wgpu_queue());
    let scope = gpu.push_error_scope(wgpu::ErrorFilter::Validation);
    let bytes = 4 * (SINGLE + 2 * LIST) as u64;
    let buffer = |usage, size| {
        let label = Some("doctor.quirks");
        gpu.create_buffer(&wgpu::BufferDescriptor { label, size, usage, mapped_at_creation: false })
    };
    let storage = wgpu::BufferUsages::STORAGE;
    let input = buffer(storage | wgpu::BufferUsages::COPY_DST, 4 * numbers.len() as u64);
    let copied = wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
    let output = buffer(storage | copied, bytes);
    queue.write_buffer(&input, 0, bytemuck::cast_slice(numbers));
    let module = gpu.create_shader_module(wgpu::include_wgsl!("quirks.wgsl"));
    let pipeline = gpu.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: Some("doctor.quirks"),
        layout: None,
        module: &module,
        entry_point: Some(kernel),
        compilation_options: wgpu::PipelineCompilationOptions::default(),
        cache: None,
    });
    let group = gpu.create_bind_group(&wgpu::BindGroupDescriptor {
        label: Some("doctor.quirks"),
        layout: &pipeline.get_bind_group_layout(0),
        entries: &[
            wgpu::BindGroupEntry { binding: 0, resource: input.as_entire_binding() },
            wgpu::BindGroupEntry { binding: 1, resource: output.as_entire_binding() },
        ],
    });
    let mut encoder = gpu.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
    pass.set_pipeline(&pipeline);
    pass.set_bind_group(0, &group, &[]);
    pass.dispatch_workgroups(2, 1, 1);
    drop(pass);
    queue.submit([encoder.finish()]);
    if let Some(error) = scope.pop().await {
        return Err(format!("could not be probed: {error}"));
    }
    let layout = Layout::dense(Shape::new([SINGLE + 2 * LIST]).map_err(show)?);
    let seen = device.wrap_buffer(&output, layout, DType::U32).map_err(show)?;
    seen.read::<u32>().await.map_err(show)
}

#[cfg(test)]
mod tests;
