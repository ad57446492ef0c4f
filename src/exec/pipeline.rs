//! Pipelines: made once per text, checked by naga first, and kept.
//!
//! wgpu's pipeline cache on disk was tried and rejected: giving it data is `unsafe`, and it saves
//! nothing on lavapipe. Mesa keeps kernels on disk by itself (`docs/measured/pipelines.md`).

use core::panic::Location;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
#[cfg(not(target_family = "wasm"))]
use std::thread;
use std::time::Duration;

use super::Bound;
use super::params::Params;
use crate::clock::Stopwatch;
use crate::error::{Result, mistake};
use crate::gpu::Gpu;
use crate::news::{Level, Topic};
use crate::shared::lock;
use crate::timeline::Activity;
use crate::wgsl::reflect::{Access, check};
use crate::wgsl::{Assembled, Needs};

/// A compute pipeline and what it binds.
#[derive(Debug)]
pub(crate) struct Pipeline {
    pub(crate) compute: wgpu::ComputePipeline,
    layout: wgpu::BindGroupLayout,
    /// How each storage binding is accessed, in order.
    accesses: Vec<Access>,
}

/// Every pipeline of a device, by the hash of its text.
#[derive(Debug, Default)]
pub(crate) struct Pipelines(Mutex<HashMap<u64, Vec<Known>>>);

#[derive(Debug)]
struct Known {
    wgsl: Arc<str>,
    /// Whether all of wgpu's checks are in it. A user's text may equal one of ours that has none.
    checked: bool,
    pipeline: Arc<Pipeline>,
}

impl Pipelines {
    /// How many there are.
    #[cfg(feature = "testing")]
    pub(crate) fn count(&self) -> usize {
        lock(&self.0).values().map(Vec::len).sum()
    }

    /// The pipeline of a kernel, made if there is none yet.
    pub(crate) fn get(
        &self,
        gpu: &Gpu,
        kernel: &Assembled,
        line: Option<&'static Location<'static>>,
    ) -> Result<Arc<Pipeline>> {
        if let Some(pipeline) = self.find(kernel) {
            return Ok(pipeline);
        }
        // Made outside the lock, because compilers are slow. Two threads may make one pipeline
        // twice; that does no harm.
        let clock = Stopwatch::start();
        let (pipeline, driver) = Pipeline::create(gpu, kernel)?;
        let pipeline = Arc::new(pipeline);
        let whole = clock.elapsed();
        Topic::Pipeline.tell_at(
            Level::Debug,
            kernel.name,
            format_args!("compiled in {whole:.1?}, {driver:.1?} of it the driver's"),
            line,
        );
        let checked = kernel.needs.contains(Needs::CHECKS);
        let known = Known { wgsl: kernel.wgsl.clone(), checked, pipeline: Arc::clone(&pipeline) };
        lock(&self.0).entry(kernel.hash).or_default().push(known);
        Ok(pipeline)
    }

    /// Makes the pipelines of these kernels that there are none of yet, side by side on all cores;
    /// returns how many.
    pub(crate) fn prewarm(&self, gpu: &Gpu, kernels: &[Assembled]) -> Result<usize> {
        let missing: Vec<_> = kernels.iter().filter(|kernel| self.find(kernel).is_none()).collect();
        let next = AtomicUsize::new(0);
        let work = || -> Result<()> {
            while let Some(kernel) = missing.get(next.fetch_add(1, Ordering::Relaxed)) {
                self.get(gpu, kernel, None)?;
            }
            Ok(())
        };
        side_by_side(missing.len(), &work).map_err(|error| error.on(|| gpu.name()))?;
        Ok(missing.len())
    }

    fn find(&self, kernel: &Assembled) -> Option<Arc<Pipeline>> {
        let all = lock(&self.0);
        let checked = kernel.needs.contains(Needs::CHECKS);
        let same = |known: &&Known| known.wgsl == kernel.wgsl && known.checked == checked;
        let known = all.get(&kernel.hash)?.iter().find(same)?;
        Some(Arc::clone(&known.pipeline))
    }
}

impl Pipeline {
    /// The pipeline, and what the driver's compiler took.
    fn create(gpu: &Gpu, kernel: &Assembled) -> Result<(Self, Duration)> {
        let _making = gpu.timelines.during(Activity::Pipeline, kernel.name, None);
        let (module, bindings) =
            check(kernel).map_err(|why| mistake(kernel.name, why.to_string()))?;
        let source = source(kernel, module);
        let storage: Vec<_> = bindings.iter().filter(|b| b.group == 0).collect();
        let accesses: Vec<Access> = storage.iter().map(|b| b.access).collect();
        let entry = |b: &&crate::wgsl::reflect::Binding| wgpu::BindGroupLayoutEntry {
            binding: b.binding,
            visibility: wgpu::ShaderStages::COMPUTE,
            ty: wgpu::BindingType::Buffer {
                ty: wgpu::BufferBindingType::Storage { read_only: b.access == Access::Read },
                has_dynamic_offset: false,
                min_binding_size: None,
            },
            count: None,
        };
        let entries: Vec<wgpu::BindGroupLayoutEntry> = storage.iter().map(entry).collect();
        gpu.checked(kernel.name, || {
            let _compiling = gpu.timelines.during(Activity::Compiler, kernel.name, None);
            let clock = Stopwatch::start();
            let (label, device) = (Some(kernel.name), &gpu.device);
            let needs_checks = kernel.needs.contains(Needs::CHECKS);
            let module = gpu.module(wgpu::ShaderModuleDescriptor { label, source }, needs_checks);
            let descriptor = wgpu::BindGroupLayoutDescriptor { label, entries: &entries };
            let layout = device.create_bind_group_layout(&descriptor);
            let pipeline_layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
                label,
                bind_group_layouts: &[Some(&layout), Some(&Params::layout(gpu))],
                immediate_size: 0,
            });
            let compute = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label,
                layout: Some(&pipeline_layout),
                module: &module,
                entry_point: Some(kernel.entry),
                compilation_options: wgpu::PipelineCompilationOptions {
                    zero_initialize_workgroup_memory: !kernel.clears,
                    ..Default::default()
                },
                cache: None,
            });
            (Self { compute, layout, accesses }, clock.elapsed())
        })
    }

    /// Checks that every written binding has a buffer to itself in the dispatch: wgpu tracks usage
    /// per buffer, and browsers refuse overlapping writable ranges.
    pub(crate) fn check_aliasing(&self, kernel: &str, bindings: &[Bound]) -> Result<()> {
        let written = bindings.iter().zip(&self.accesses).filter(|(_, a)| **a == Access::ReadWrite);
        let uses = |id: u64| bindings.iter().filter(|b| b.buffer_id == id).count();
        let alone = written.into_iter().all(|(b, _)| uses(b.buffer_id) == 1);
        if alone { Ok(()) } else { Err(mistake(kernel, "it would read and write one buffer")) }
    }

    /// The bind group of a dispatch.
    pub(crate) fn bind(
        &self,
        gpu: &Gpu,
        kernel: &str,
        bindings: &[Bound],
    ) -> Result<wgpu::BindGroup> {
        let entries: Vec<wgpu::BindGroupEntry<'_>> = (0..)
            .zip(bindings)
            .map(|(binding, bound)| wgpu::BindGroupEntry {
                binding,
                resource: wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                    buffer: &bound.buffer,
                    offset: bound.offset,
                    size: wgpu::BufferSize::new(bound.bytes),
                }),
            })
            .collect();
        gpu.bind(
            Bound::whose(bindings),
            kernel,
            &wgpu::BindGroupDescriptor { label: None, layout: &self.layout, entries: &entries },
        )
    }
}

/// Runs it on as many threads as there are cores, and no more than there are pieces of work. The
/// first error counts.
#[cfg(not(target_family = "wasm"))]
fn side_by_side(pieces: usize, work: &(impl Fn() -> Result<()> + Sync)) -> Result<()> {
    let threads = thread::available_parallelism().map_or(1, usize::from).min(pieces);
    thread::scope(|scope| {
        // Where no thread can be started, there are fewer.
        let more = |_| thread::Builder::new().spawn_scoped(scope, work).ok();
        let others: Vec<_> = (1..threads).filter_map(more).collect();
        let own = work();
        let panicked = |_| Err(mistake("prewarming", "a thread panicked"));
        let others = others.into_iter().map(|thread| thread.join().unwrap_or_else(panicked));
        others.fold(own, Result::and)
    })
}

/// Browsers compile elsewhere, several at a time.
#[cfg(target_family = "wasm")]
fn side_by_side(_: usize, work: &impl Fn() -> Result<()>) -> Result<()> {
    work()
}

/// wgpu takes the module that naga has parsed.
#[cfg(not(target_family = "wasm"))]
fn source(_: &Assembled, module: naga::Module) -> wgpu::ShaderSource<'static> {
    wgpu::ShaderSource::Naga(std::borrow::Cow::Owned(module))
}

/// Browsers parse the text themselves. They require an `enable` line for subgroups, which naga
/// refuses.
#[cfg(target_family = "wasm")]
fn source(kernel: &Assembled, _: naga::Module) -> wgpu::ShaderSource<'_> {
    let subgroups = kernel.needs.contains(Needs::SUBGROUPS);
    let enable = if subgroups { "enable subgroups;\n" } else { "" };
    wgpu::ShaderSource::Wgsl(format!("{enable}{}", kernel.wgsl).into())
}
