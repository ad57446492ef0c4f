//! Passes of the caller's own between operations, and buffers of the caller's own as tensors.

use wharf::tensor::BufferRange;
use wharf::{Adapter, DType, Device, Layout, Shape, Tensor, wgpu};

use super::probe::{Random, first_difference};
use crate::ctx::{
    Case, Ctx, DOWNGRADES, Downgrade, Outcome, case, ensure, ensure_eq, matters, show, stores,
};

#[cfg(not(target_family = "wasm"))]
mod load;

pub(crate) fn cases(adapter: &Adapter) -> Vec<Case> {
    let mut cases = vec![
        case!("lent::between_two_operations", |ctx| between(ctx)),
        case!("lent::what_was_made_before_keeps_its_values", |ctx| kept(ctx)),
        case!("lent::behind_an_encoder", |ctx| behind(ctx)),
    ];
    for downgrade in [DOWNGRADES[0], DOWNGRADES[4]] {
        if matters(adapter, downgrade) {
            let name = |what| format!("lent::{what}::{}", downgrade.name);
            cases.push(case!(name("wrapped_buffers"), |ctx| wrapped(ctx, downgrade)));
            cases.push(case!(name("copied_out"), |ctx| copied_out(ctx, downgrade)));
        }
    }
    #[cfg(not(target_family = "wasm"))]
    cases.extend(load::cases(adapter));
    cases
}

const USAGE: wgpu::BufferUsages = wgpu::BufferUsages::STORAGE
    .union(wgpu::BufferUsages::COPY_SRC)
    .union(wgpu::BufferUsages::COPY_DST);

/// A buffer of the caller's own with these bytes.
pub(crate) fn own(device: &Device, bytes: &[u8]) -> wgpu::Buffer {
    let (label, size, mapped_at_creation) = (Some("mine"), bytes.len() as u64, false);
    let descriptor = wgpu::BufferDescriptor { label, size, usage: USAGE, mapped_at_creation };
    let buffer = device.wgpu_device().create_buffer(&descriptor);
    device.wgpu_queue().write_buffer(&buffer, 0, bytes);
    buffer
}

/// A pipeline of the caller's own, of which wharf knows nothing.
struct Pass<'a> {
    device: &'a Device,
    pipeline: wgpu::ComputePipeline,
}

impl<'a> Pass<'a> {
    fn new(device: &'a Device) -> Self {
        let source = wgpu::ShaderSource::Wgsl(
            "@group(0) @binding(0) var<storage, read> given: array<f32>;
             @group(0) @binding(1) var<storage, read_write> made: array<f32>;
             @compute @workgroup_size(64)
             fn main(@builtin(global_invocation_id) at: vec3<u32>) {
                 if at.x < arrayLength(&made) {
                     made[at.x] = 2.0 * given[at.x] + 1.0;
                 }
             }"
            .into(),
        );
        let (gpu, label) = (device.wgpu_device(), Some("mine"));
        let module = gpu.create_shader_module(wgpu::ShaderModuleDescriptor { label, source });
        let pipeline = gpu.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label,
            layout: None,
            module: &module,
            entry_point: Some("main"),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            cache: None,
        });
        Self { device, pipeline }
    }

    /// Twice and one more.
    fn encode(&self, from: &BufferRange, to: &BufferRange) -> wgpu::CommandEncoder {
        let (gpu, label) = (self.device.wgpu_device(), Some("mine"));
        let entries = [(0, from), (1, to)];
        let entries = entries
            .map(|(binding, range)| wgpu::BindGroupEntry { binding, resource: range.binding() });
        let layout = &self.pipeline.get_bind_group_layout(0);
        let group = wgpu::BindGroupDescriptor { label, layout, entries: &entries };
        let group = gpu.create_bind_group(&group);
        let mut encoder = gpu.create_command_encoder(&wgpu::CommandEncoderDescriptor { label });
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &group, &[]);
        let groups = u32::try_from(to.bytes.div_ceil(256)).unwrap_or(0);
        pass.dispatch_workgroups(groups, 1, 1);
        drop(pass);
        encoder
    }

    fn submit(&self, from: &BufferRange, to: &BufferRange) {
        self.device.wgpu_queue().submit([self.encode(from, to).finish()]);
    }
}

/// The only range of something that is not large.
fn only(ranges: &[BufferRange]) -> Result<&BufferRange, String> {
    match ranges {
        [range] => Ok(range),
        all => Err(format!("{} ranges", all.len())),
    }
}

/// Small tensors share a slab, which may not be read and written in one pass.
async fn between(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let pass = Pass::new(&device);
    for size in [1, 7, 64, 1000, 30_001] {
        let data: Vec<f32> = (0..size).map(|i| (i % 1000) as f32).collect();
        let (x, _) = device.upload(&data, [size]).map_err(show)?;
        let y = (&x + 1.0f32).map_err(show)?;
        // Both results avoid the buffer of x.
        let mut out = (&x * 0.0f32).map_err(show)?;
        let (from, to) = (y.lend().map_err(show)?, out.lend_mut().map_err(show)?);
        pass.submit(only(from.ranges())?, only(to.ranges())?);
        drop((from, to, y));
        let z = (&out * 0.5f32).map_err(show)?;
        let want: Vec<f32> = data.iter().map(|x| (2.0 * (x + 1.0) + 1.0) * 0.5).collect();
        for (what, want) in [(&z, &want), (&x, &data)] {
            let got = what.read::<f32>().await.map_err(show)?;
            ensure_eq!(first_difference(&got, want), None, "of {size}");
        }
    }
    Ok(())
}

/// What was computed from it before, computed or not, and clones and views of it.
async fn kept(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let pass = Pass::new(&device);
    const SIZE: usize = 90_000;
    let data: Vec<f32> = (0..SIZE).map(|i| (i % 777) as f32).collect();
    let (from, _) = device.upload(&data, [SIZE]).map_err(show)?;
    let mut x = device.full([SIZE], 5.0, DType::F32).map_err(show)?;
    for round in 0..3 {
        let old = x.read::<f32>().await.map_err(show)?;
        let deferred = (&x + 1.0f32).map_err(show)?;
        let computed = (&x - 1.0f32).map_err(show)?;
        computed.compute().map_err(show)?;
        let clone = if round == 1 { Some(x.clone()) } else { None };
        let view = if round == 2 { Some(x.slice(0, 10..).map_err(show)?) } else { None };
        let lent = from.lend().map_err(show)?;
        let to = x.lend_mut().map_err(show)?;
        pass.submit(only(lent.ranges())?, only(to.ranges())?);
        drop((lent, to));
        let after = (&x + 1.0f32).map_err(show)?;
        let read = async |x: &Tensor| x.read::<f32>().await.map_err(show);
        let want: Vec<f32> = data.iter().map(|x| 2.0 * x + 2.0).collect();
        ensure_eq!(first_difference(&read(&after).await?, &want), None, "after, {round}");
        for (what, by) in [(&deferred, 1.0), (&computed, -1.0)] {
            let want: Vec<f32> = old.iter().map(|x| x + by).collect();
            ensure_eq!(first_difference(&read(what).await?, &want), None, "before, {round}");
        }
        if let Some(clone) = clone {
            ensure_eq!(first_difference(&read(&clone).await?, &old), None, "a clone");
        }
        if let Some(view) = view {
            ensure_eq!(first_difference(&read(&view).await?, &old[10..]), None, "a view");
        }
        x = device.full([SIZE], 5.0, DType::F32).map_err(show)?;
    }
    Ok(())
}

/// Recorded work runs behind the caller's commands, in their own encoder; and each batch by its own
/// parameters.
async fn behind(ctx: &Ctx) -> Outcome {
    let device = ctx.fresh(DOWNGRADES[0]).await?;
    let pass = Pass::new(&device);
    const SIZE: usize = 800;
    let full = |value: f32| device.upload(&[value; SIZE], [SIZE]).map(|(x, _)| x);
    let sources = [full(1.0).map_err(show)?, full(8.0).map_err(show)?];
    let lent = [sources[0].lend().map_err(show)?, sources[1].lend().map_err(show)?];
    let mine = own(&device, &[0; 4 * SIZE]);
    let layout = Layout::dense(Shape::new([SIZE]).map_err(show)?);
    let wrapped = device.wrap_buffer(&mine, layout, DType::F32).map_err(show)?;
    let to = wrapped.lend().map_err(show)?;
    let mut results = Vec::new();
    for round in 0..4u8 {
        let (by, from) = (f32::from(round), &lent[usize::from(round % 2)]);
        let y = (&wrapped + by).map_err(show)?;
        y.compute().map_err(show)?;
        let encoder = pass.encode(only(from.ranges())?, only(to.ranges())?);
        device.submit(encoder).map_err(show)?;
        results.push((y, by + if round % 2 == 0 { 3.0 } else { 17.0 }));
    }
    for (y, want) in &results {
        let got = y.read::<f32>().await.map_err(show)?;
        ensure_eq!(first_difference(&got, &vec![*want; SIZE]), None, "{want}");
    }
    Ok(())
}

/// Views of a buffer of this many elements.
fn layouts(count: usize) -> wharf::Result<Vec<Layout>> {
    let each = |dims: &[usize], strides: &[isize], offset| {
        Layout::strided(Shape::new(dims)?, strides, offset)
    };
    let row = (count / 20).cast_signed();
    let all = Layout::dense(Shape::new([count])?);
    Ok(vec![
        all,
        each(&[count - 1], &[1], 1)?,
        each(&[count - 9], &[1], 8)?,
        each(&[20, 30], &[row, 3], 5)?,
        each(&[30, 20], &[1, row], 7)?,
        each(&[4, 50], &[0, row / 3], 1)?,
        all.slice_step(0, .., -7)?,
        each(&[], &[], count - 1)?,
        each(&[0, 3], &[1, 1], 3)?,
    ])
}

/// The bytes of a view of these, in row-major order.
fn viewed(bytes: &[u8], layout: &Layout, width: usize) -> Vec<u8> {
    let mut starts = vec![layout.offset().cast_signed()];
    for (&dim, &stride) in layout.shape().dims().iter().zip(layout.strides()) {
        let steps = |start: isize| (0..dim.cast_signed()).map(move |i| start + i * stride);
        starts = starts.into_iter().flat_map(steps).collect();
    }
    let element = |at: isize| &bytes[at.cast_unsigned() * width..(at.cast_unsigned() + 1) * width];
    starts.into_iter().flat_map(element).copied().collect()
}

/// Any layout of any dtype, bit by bit, beyond a binding too; and kernels that read it.
async fn wrapped(ctx: &Ctx, downgrade: Downgrade) -> Outcome {
    let device = ctx.device(downgrade).await?;
    let mut random = Random::new(31);
    // Whole quads, and no multiple of anything else: two segments of small bindings.
    let bytes: Vec<u8> = (0..60_000 * 5 + 32).map(|_| random.below(2) as u8).collect();
    let mine = own(&device, &bytes);
    for dtype in DType::ALL.iter().copied().filter(|&dtype| stores(device.plan(), dtype)) {
        let width = dtype.width();
        for layout in layouts(bytes.len() / width).map_err(show)? {
            let x = device.wrap_buffer(&mine, layout, dtype).map_err(show)?;
            let got = x.read_bytes().await.map_err(show)?;
            ensure!(got == viewed(&bytes, &layout, width), "{dtype} {layout}");
            let copy = x.flip(0).and_then(|x| x.contiguous()?.flip(0));
            let Ok(copy) = copy else { continue };
            let got = copy.read_bytes().await.map_err(show)?;
            ensure!(got == viewed(&bytes, &layout, width), "{dtype} {layout}, twice");
        }
    }
    let numbers: Vec<f32> = (0..64 * 64).map(|i| (i % 61) as f32).collect();
    let mine = own(&device, bytemuck::cast_slice(&numbers));
    let square = Layout::dense(Shape::new([64, 64]).map_err(show)?);
    let x = device.wrap_buffer(&mine, square, DType::F32).map_err(show)?;
    let (y, _) = device.upload(&numbers, [64, 64]).map_err(show)?;
    type Compute = fn(&Tensor) -> wharf::Result<Tensor>;
    let all: [Compute; 5] = [
        |x| x.matmul(&x.t()?),
        |x| ((x * 2.0f32)? + 1.0f32)?.sum(0),
        |x| x.t()?.softmax(1),
        |x| x.clone() - 3.0f32,
        |x| {
            let mut x = x.clone();
            x.assign_slice(0, 3..5, 9.0f32)?;
            Ok(x)
        },
    ];
    for (i, compute) in all.into_iter().enumerate() {
        let got = compute(&x).map_err(show)?.read_bytes().await.map_err(show)?;
        let want = compute(&y).map_err(show)?.read_bytes().await.map_err(show)?;
        ensure!(got == want, "computation {i}");
    }
    // A chain takes the memory of what it reads, but not the caller's.
    let chain = ((x + 1.0f32).map_err(show)? * 2.0f32).map_err(show)?;
    chain.compute().map_err(show)?;
    drop(chain);
    let again = device.wrap_buffer(&mine, square, DType::F32).map_err(show)?;
    let again = again.read::<f32>().await.map_err(show)?;
    ensure_eq!(first_difference(&again, &numbers), None, "the caller's buffer was written");
    Ok(())
}

/// Any view into a buffer of the caller's, which is read by being wrapped.
async fn copied_out(ctx: &Ctx, downgrade: Downgrade) -> Outcome {
    let device = ctx.device(downgrade).await?;
    let mut random = Random::new(32);
    let bytes: Vec<u8> = (0..200_000).map(|_| random.below(256) as u8).collect();
    let (x, _) = device.upload(&bytes, [400, 500]).map_err(show)?;
    let mine = own(&device, &[0; 400_000]);
    let flat = |first, length| Layout::strided(Shape::new([length])?, &[1], first);
    let views: [fn(&Tensor) -> wharf::Result<Tensor>; 5] = [
        |x| Ok(x.clone()),
        |x| x.t(),
        |x| x.reshape(-1)?.slice(0, 3..199_999),
        |x| x.slice(0, 7..9),
        |x| x.slice(1, ..)?.flip(0),
    ];
    for (i, view) in views.into_iter().enumerate() {
        let part = view(&x).map_err(show)?;
        let want = part.read::<u8>().await.map_err(show)?;
        part.copy_to_buffer(&mine, 100_000).map_err(show)?;
        let there = flat(100_000, want.len()).map_err(show)?;
        let there = device.wrap_buffer(&mine, there, DType::U8).map_err(show)?;
        let got = there.read::<u8>().await.map_err(show)?;
        ensure_eq!(first_difference(&got, &want), None, "view {i}");
    }
    // Within one buffer, and one range over the other.
    let there = device.wrap_buffer(&mine, flat(100_000, 1000).map_err(show)?, DType::U8);
    let there = there.map_err(show)?;
    let want = there.read::<u8>().await.map_err(show)?;
    there.copy_to_buffer(&mine, 100_100).map_err(show)?;
    let moved = device.wrap_buffer(&mine, flat(100_100, 1000).map_err(show)?, DType::U8);
    let got = moved.map_err(show)?.read::<u8>().await.map_err(show)?;
    ensure_eq!(first_difference(&got, &want), None, "within one buffer");
    Ok(())
}
