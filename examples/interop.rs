//! A compute pass of your own between two operations on tensors: nothing is copied, and nothing
//! waits.
//!
//! `WHARF_ALLOW_SOFTWARE=1 cargo run --example interop` on a machine without a GPU.

use wharf::tensor::BufferRange;
use wharf::{DType, Device, Policy, wgpu};

/// What wharf knows nothing of: a step of Conway's game of life on a square of 8.
const LIFE: &str = "
@group(0) @binding(0) var<storage, read> before: array<u32>;
@group(0) @binding(1) var<storage, read_write> after: array<u32>;

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) at: vec3<u32>) {
    var alive = 0u;
    for (var i = 0u; i < 9u; i++) {
        alive += before[(at.y + i / 3u + 7u) % 8u * 8u + (at.x + i % 3u + 7u) % 8u];
    }
    let here = at.y * 8u + at.x;
    after[here] = u32(alive == 3u || (alive == 4u && before[here] == 1u));
}";

fn main() -> wharf::Result<()> {
    // What drivers say while they are probed is for those who ask: `RUST_LOG=error`.
    env_logger::init_from_env(env_logger::Env::default().default_filter_or("off"));
    let device = Device::best_now(&Policy::exact())?;
    let (glider, _) = device.upload(&[0u32, 1, 0, 0, 0, 1, 1, 1, 1], [3, 3])?;
    let mut old = device.zeros([8, 8], DType::U32)?;
    old.assign_at((..3, ..3), &glider)?; // an operation,
    let mut new = device.zeros([8, 8], DType::U32)?;
    let pipeline = pipeline(device.wgpu_device());
    for _ in 0..32 {
        {
            let (from, to) = (old.lend()?, new.lend_mut()?);
            submit(&device, &pipeline, [&from.ranges()[0], &to.ranges()[0]]); // your pass,
        }
        core::mem::swap(&mut old, &mut new);
    }
    let rows = old.sum(1)?.read_now::<u32>()?; // and an operation.
    println!("{rows:?}");
    // After four steps a glider is one place further, and after 32 it is all the way round.
    assert!(old.at((..3, ..3))?.equal_now(&glider)?, "it is not where it was");
    assert_eq!(rows, [1, 1, 3, 0, 0, 0, 0, 0], "something else is alive");
    Ok(())
}

fn pipeline(gpu: &wgpu::Device) -> wgpu::ComputePipeline {
    let (label, source) = (Some("life"), wgpu::ShaderSource::Wgsl(LIFE.into()));
    gpu.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label,
        layout: None,
        module: &gpu.create_shader_module(wgpu::ShaderModuleDescriptor { label, source }),
        entry_point: Some("main"),
        compilation_options: wgpu::PipelineCompilationOptions::default(),
        cache: None,
    })
}

fn submit(device: &Device, pipeline: &wgpu::ComputePipeline, bound: [&BufferRange; 2]) {
    let (gpu, label) = (device.wgpu_device(), Some("life"));
    let entry =
        |binding| wgpu::BindGroupEntry { binding, resource: bound[binding as usize].binding() };
    let layout = &pipeline.get_bind_group_layout(0);
    let entries = &[entry(0), entry(1)];
    let group = gpu.create_bind_group(&wgpu::BindGroupDescriptor { label, layout, entries });
    let mut encoder = gpu.create_command_encoder(&wgpu::CommandEncoderDescriptor { label });
    let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
    pass.set_pipeline(pipeline);
    pass.set_bind_group(0, &group, &[]);
    pass.dispatch_workgroups(1, 1, 1);
    drop(pass);
    device.wgpu_queue().submit([encoder.finish()]);
}
