//! What a device makes. There are neither textures nor anything that draws.

use std::collections::HashMap;
use std::future::ready;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::{self, ThreadId};

use wgpu::custom::*;
use wgpu::naga;
use wharf::wgpu;

use super::commands::{Encoder, Group};
use super::lanes::Lanes;
use super::lock;
use super::memory::{Buffer, Memory};
use super::text::{self, Program};

type Later = Box<dyn FnOnce() + Send>;

/// What the device and its queue share.
pub(super) struct Inner {
    pub(super) lanes: Arc<Lanes>,
    features: wgpu::Features,
    limits: wgpu::Limits,
    /// What the next poll calls.
    later: Mutex<Vec<Later>>,
    /// What went wrong in each error scope of a thread.
    scopes: Mutex<HashMap<ThreadId, Vec<Option<wgpu::Error>>>>,
    handler: Mutex<Option<Arc<dyn wgpu::UncapturedErrorHandler>>>,
    lost: Mutex<Option<BoxDeviceLostCallback>>,
    turn: Mutex<()>,
}

impl std::fmt::Debug for Inner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Inner")
    }
}

impl Inner {
    pub(super) fn new(lanes: Arc<Lanes>, features: wgpu::Features, limits: wgpu::Limits) -> Self {
        let (later, scopes, handler, lost, turn) = Default::default();
        Self { lanes, features, limits, later, scopes, handler, lost, turn }
    }

    /// Held while commands run or a buffer is written: nothing of another thread's comes between.
    pub(super) fn turn(&self) -> MutexGuard<'_, ()> {
        lock(&self.turn)
    }

    pub(super) fn later(&self, call: Later) {
        lock(&self.later).push(call);
    }

    /// What is against the rules.
    pub(super) fn fails(&self, description: String) {
        let source = description.clone().into();
        self.tell(wgpu::Error::Validation { source, description });
    }

    /// Memory of so many bytes; without them it is empty, and an error tells.
    pub(super) fn memory(&self, bytes: u64) -> Memory {
        let most = self.limits.max_buffer_size;
        if bytes > most {
            self.fails(format!("a buffer of {bytes} bytes, of {most} at most"));
        } else if let Some(memory) = Memory::new(bytes) {
            return memory;
        } else {
            let source = format!("no memory of {bytes} bytes").into();
            self.tell(wgpu::Error::OutOfMemory { source });
        }
        Memory::default()
    }

    /// To the innermost error scope, or else to whoever listens.
    fn tell(&self, error: wgpu::Error) {
        let mut scopes = lock(&self.scopes);
        let innermost = scopes.get_mut(&thread::current().id()).and_then(|all| all.last_mut());
        if let Some(scope) = innermost {
            scope.get_or_insert(error);
            return;
        }
        drop(scopes);
        let handler = lock(&self.handler).clone();
        match handler {
            Some(handler) => handler(error),
            None => unreachable!("nobody listens to {error}"),
        }
    }
}

#[derive(Debug)]
pub(super) struct Device(pub(super) Arc<Inner>);

#[derive(Debug)]
pub(super) struct Module {
    pub(super) module: naga::Module,
    pub(super) checks: wgpu::ShaderRuntimeChecks,
}

impl ShaderModuleInterface for Module {
    fn get_compilation_info(&self) -> Pin<Box<dyn ShaderCompilationInfoFuture>> {
        Box::pin(ready(wgpu::CompilationInfo { messages: Vec::new() }))
    }
}

#[derive(Debug)]
struct Nothing;
impl BindGroupLayoutInterface for Nothing {}
impl PipelineLayoutInterface for Nothing {}

/// None, where clang refused it.
#[derive(Debug)]
pub(super) struct Pipeline(pub(super) Option<Arc<Program>>);

impl ComputePipelineInterface for Pipeline {
    fn get_bind_group_layout(&self, _: u32) -> DispatchBindGroupLayout {
        DispatchBindGroupLayout::custom(Nothing)
    }
}

#[expect(unsafe_code, reason = "the trait has methods that are")]
impl DeviceInterface for Device {
    fn features(&self) -> wgpu::Features {
        self.0.features
    }

    fn limits(&self) -> wgpu::Limits {
        self.0.limits.clone()
    }

    fn adapter_info(&self) -> wgpu::AdapterInfo {
        super::info()
    }

    fn create_shader_module(
        &self,
        desc: wgpu::ShaderModuleDescriptor<'_>,
        checks: wgpu::ShaderRuntimeChecks,
    ) -> DispatchShaderModule {
        let module = match desc.source {
            wgpu::ShaderSource::Naga(module) => module.into_owned(),
            wgpu::ShaderSource::Wgsl(text) => {
                naga::front::wgsl::parse_str(&text).unwrap_or_else(|error| {
                    self.0.fails(error.emit_to_string(&text));
                    naga::Module::default()
                })
            }
            _ => unreachable!("texts and modules"),
        };
        DispatchShaderModule::custom(Module { module, checks })
    }

    fn create_bind_group_layout(
        &self,
        _: &wgpu::BindGroupLayoutDescriptor<'_>,
    ) -> DispatchBindGroupLayout {
        DispatchBindGroupLayout::custom(Nothing)
    }

    fn create_bind_group(&self, desc: &wgpu::BindGroupDescriptor<'_>) -> DispatchBindGroup {
        let bound = |entry: &wgpu::BindGroupEntry<'_>| {
            let wgpu::BindingResource::Buffer(ref part) = entry.resource else {
                unreachable!("only buffers are bound")
            };
            let buffer: &Buffer = part.buffer.as_custom()?;
            let memory = buffer.memory.clone();
            let bytes = part.size.map_or(memory.len() - part.offset, |size| size.get());
            Some((entry.binding, (memory, part.offset..part.offset + bytes)))
        };
        let all: HashMap<_, _> = desc.entries.iter().filter_map(bound).collect();
        DispatchBindGroup::custom(Group(Arc::new(all)))
    }

    fn create_pipeline_layout(
        &self,
        _: &wgpu::PipelineLayoutDescriptor<'_>,
    ) -> DispatchPipelineLayout {
        DispatchPipelineLayout::custom(Nothing)
    }

    fn create_compute_pipeline(
        &self,
        desc: &wgpu::ComputePipelineDescriptor<'_>,
    ) -> DispatchComputePipeline {
        let module: Option<&Module> = desc.module.as_custom();
        let program = module.map(|module| {
            let zero = desc.compilation_options.zero_initialize_workgroup_memory;
            text::program(module, zero, &self.0.lanes)
        });
        let program = program.and_then(|program| match program {
            Ok(program) => Some(Arc::new(program)),
            Err(message) => {
                self.0.fails(message);
                None
            }
        });
        DispatchComputePipeline::custom(Pipeline(program))
    }

    fn create_buffer(&self, desc: &wgpu::BufferDescriptor<'_>) -> DispatchBuffer {
        DispatchBuffer::custom(Buffer::new(self.0.clone(), self.0.memory(desc.size)))
    }

    fn create_command_encoder(
        &self,
        _: &wgpu::CommandEncoderDescriptor<'_>,
    ) -> DispatchCommandEncoder {
        DispatchCommandEncoder::custom(Encoder::default())
    }

    fn set_device_lost_callback(&self, callback: BoxDeviceLostCallback) {
        *lock(&self.0.lost) = Some(callback);
    }

    fn on_uncaptured_error(&self, handler: Arc<dyn wgpu::UncapturedErrorHandler>) {
        *lock(&self.0.handler) = Some(handler);
    }

    fn push_error_scope(&self, _: wgpu::ErrorFilter) -> u32 {
        let mut scopes = lock(&self.0.scopes);
        let all = scopes.entry(thread::current().id()).or_default();
        all.push(None);
        all.len() as u32 - 1
    }

    fn pop_error_scope(&self, index: u32) -> Pin<Box<dyn PopErrorScopeFuture>> {
        let mut scopes = lock(&self.0.scopes);
        let all = scopes.entry(thread::current().id()).or_default();
        Box::pin(ready(all.drain(index as usize..).next().flatten()))
    }

    fn poll(&self, _: wgpu::wgt::PollType<u64>) -> Result<wgpu::PollStatus, wgpu::PollError> {
        let all = std::mem::take(&mut *lock(&self.0.later));
        all.into_iter().for_each(|call| call());
        Ok(wgpu::PollStatus::QueueEmpty)
    }

    fn get_internal_counters(&self) -> wgpu::InternalCounters {
        wgpu::InternalCounters::default()
    }

    fn generate_allocator_report(&self) -> Option<wgpu::AllocatorReport> {
        None
    }

    fn destroy(&self) {
        let lost = lock(&self.0.lost).take();
        if let Some(lost) = lost {
            lost(wgpu::DeviceLostReason::Destroyed, "destroyed".into());
        }
    }

    // What nobody here asks for.

    unsafe fn create_shader_module_passthrough(
        &self,
        _: &wgpu::ShaderModuleDescriptorPassthrough<'_>,
    ) -> DispatchShaderModule {
        unreachable!()
    }
    fn create_render_pipeline(
        &self,
        _: &wgpu::RenderPipelineDescriptor<'_>,
    ) -> DispatchRenderPipeline {
        unreachable!()
    }
    fn create_mesh_pipeline(&self, _: &wgpu::MeshPipelineDescriptor<'_>) -> DispatchRenderPipeline {
        unreachable!()
    }
    unsafe fn create_pipeline_cache(
        &self,
        _: &wgpu::PipelineCacheDescriptor<'_>,
    ) -> DispatchPipelineCache {
        unreachable!()
    }
    fn create_texture(&self, _: &wgpu::TextureDescriptor<'_>) -> DispatchTexture {
        unreachable!()
    }
    fn create_external_texture(
        &self,
        _: &wgpu::ExternalTextureDescriptor<'_>,
        _: &[&wgpu::TextureView],
    ) -> DispatchExternalTexture {
        unreachable!()
    }
    fn create_blas(
        &self,
        _: &wgpu::CreateBlasDescriptor<'_>,
        _: wgpu::BlasGeometrySizeDescriptors,
    ) -> (Option<u64>, DispatchBlas) {
        unreachable!()
    }
    fn create_tlas(&self, _: &wgpu::CreateTlasDescriptor<'_>) -> DispatchTlas {
        unreachable!()
    }
    fn create_sampler(&self, _: &wgpu::SamplerDescriptor<'_>) -> DispatchSampler {
        unreachable!()
    }
    fn create_query_set(&self, _: &wgpu::QuerySetDescriptor<'_>) -> DispatchQuerySet {
        unreachable!()
    }
    fn create_render_bundle_encoder(
        &self,
        _: &wgpu::RenderBundleEncoderDescriptor<'_>,
    ) -> DispatchRenderBundleEncoder {
        unreachable!()
    }
    unsafe fn start_graphics_debugger_capture(&self) {}
    unsafe fn stop_graphics_debugger_capture(&self) {}
}
