//! What opens devices. An adapter of a browser's opens one; for the next the browser is asked for
//! an adapter again, and that has to be the same one.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Weak};

use super::cause::AdapterCause;
use super::translate;
use crate::caps::{Backend, Caps, Feature};
use crate::error::{Error, Result};
use crate::shared::lock;

/// What a browser is asked for, the best first: it shows one adapter at a time, and by itself often
/// the one that saves power.
pub(super) const POWERS: [wgpu::PowerPreference; 2] =
    [wgpu::PowerPreference::HighPerformance, wgpu::PowerPreference::LowPower];

/// wgpu's adapter.
#[derive(Clone)]
pub(super) struct Opener {
    adapter: wgpu::Adapter,
    /// Whether it has opened a device.
    used: Arc<AtomicBool>,
    /// Devices that were adopted.
    adopted: Arc<Mutex<Vec<Weak<wgpu::Device>>>>,
}

impl From<wgpu::Adapter> for Opener {
    fn from(adapter: wgpu::Adapter) -> Self {
        Self { adapter, used: Arc::default(), adopted: Arc::default() }
    }
}

impl Opener {
    /// A device that can do what is `asked`, of an adapter that can do what is its `own`.
    pub(super) async fn open(
        &self,
        (own, asked): (&Caps, &Caps),
        token: wgpu::ExperimentalFeatures,
    ) -> Result<(wgpu::Device, wgpu::Queue)> {
        let refused = |error: wgpu::RequestDeviceError| refused(own, error.to_string());
        let once = self.adapter.get_info().backend == wgpu::Backend::BrowserWebGpu;
        let used = self.used.swap(true, Ordering::Relaxed);
        if !(once && used) {
            match request(&self.adapter, asked, token).await {
                // Somebody else may have used it.
                Err(_) if once => {}
                opened => return opened.map_err(refused),
            }
        }
        request(&again(own).await?, asked, token).await.map_err(refused)
    }

    /// Has a device adopted as long as what is returned lives; `None` where it is already.
    pub(super) fn adopts(&self, device: &wgpu::Device) -> Option<Arc<wgpu::Device>> {
        let mut adopted = lock(&self.adopted);
        adopted.retain(|known| known.strong_count() > 0);
        if adopted.iter().filter_map(Weak::upgrade).any(|known| *known == *device) {
            return None;
        }
        let claim = Arc::new(device.clone());
        adopted.push(Arc::downgrade(&claim));
        Some(claim)
    }

    /// What a device that somebody made of it can do.
    pub(super) fn has_opened(&self, device: &wgpu::Device) -> Caps {
        self.used.store(true, Ordering::Relaxed);
        translate::device_caps(device, &self.adapter)
    }
}

async fn request(
    adapter: &wgpu::Adapter,
    caps: &Caps,
    token: wgpu::ExperimentalFeatures,
) -> Result<(wgpu::Device, wgpu::Queue), wgpu::RequestDeviceError> {
    let asked = adapter.request_device(&wgpu::DeviceDescriptor {
        label: Some("wharf"),
        required_features: translate::features_to_request(caps, adapter.features()),
        required_limits: translate::limits_to_request(caps, adapter.limits()),
        experimental_features: token,
        ..wgpu::DeviceDescriptor::default()
    });
    asked.await
}

/// What is said of a device that an adapter did not make.
pub(super) fn refused(own: &Caps, message: String) -> Error {
    let (adapter, backend) = (own.identity.named(), own.identity.backend);
    AdapterCause::Refused { adapter, message, backend }.into()
}

/// The browser's adapter that is the same as one before.
async fn again(own: &Caps) -> Result<wgpu::Adapter> {
    let mut there = Vec::new();
    for power in POWERS {
        let offer = offered(wgpu::Backends::BROWSER_WEBGPU, power).await;
        let Some(adapter) = offer else { continue };
        let caps = translate::caps(&adapter);
        if is_same(own, &caps) {
            return Ok(adapter);
        }
        there.push(caps.identity.named());
    }
    there.dedup();
    Err(AdapterCause::Gone { adapter: own.identity.named(), there }.into())
}

/// Whether these are of one adapter. Most browsers hide the name: it is known by what it can do.
pub(super) fn is_same(own: &Caps, other: &Caps) -> bool {
    other.clone().with_experimental(own.has(Feature::CooperativeMatrix)) == *own
}

/// What a browser offers, asked for like this.
pub(super) async fn offered(
    backends: wgpu::Backends,
    power_preference: wgpu::PowerPreference,
) -> Option<wgpu::Adapter> {
    let options = wgpu::RequestAdapterOptions { power_preference, ..Default::default() };
    instance(backends).await?.request_adapter(&options).await.ok()
}

/// wgpu's own device, for one on paper.
pub(super) async fn on_paper() -> Result<(wgpu::Device, wgpu::Queue)> {
    let opened = stand_in().await?.request_device(&wgpu::DeviceDescriptor::default()).await;
    opened.map_err(|error| {
        let (adapter, message) = ("a device on paper".into(), error.to_string());
        AdapterCause::Refused { adapter, message, backend: Backend::Noop }.into()
    })
}

/// wgpu with some backends, as far as `WGPU_BACKEND` and this build have them.
pub(super) async fn instance(backends: wgpu::Backends) -> Option<wgpu::Instance> {
    let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle_from_env();
    descriptor.flags = flags();
    descriptor.backends &= backends & wgpu::Instance::enabled_backend_features();
    if descriptor.backends.is_empty() {
        return None;
    }
    // Where there is neither a page nor a worker, wgpu panics when it looks for WebGPU.
    let browser = descriptor.backends.contains(wgpu::Backends::BROWSER_WEBGPU);
    if browser && !wgpu::util::is_browser_webgpu_supported().await {
        return None;
    }
    let compiler = &mut descriptor.backend_options.dx12.shader_compiler;
    *compiler = compiler_of(core::mem::take(compiler));
    descriptor.memory_budget_thresholds.for_resource_creation = threshold(descriptor.backends);
    Some(wgpu::Instance::new(descriptor))
}

/// The percent of its memory budget near which creating a resource returns an error, instead of
/// losing the device later.
///
/// None for Vulkan, whose drivers refuse what they have no room for. wgpu looks there at one heap
/// only: for what is staged that is the window through which a processor sees a card's memory, 256
/// MiB on many and shared by all programs. Where it is full the allocator takes memory of the
/// host's, and a refusal before would lose the device.
pub(super) fn threshold(backends: wgpu::Backends) -> Option<u8> {
    (!backends.contains(wgpu::Backends::VULKAN)).then_some(95)
}

/// What compiles for DX12, where `WGPU_DX12_COMPILER` asks for this. A build without the one that
/// is linked in panics if it is asked for; by itself wgpu takes it where it is there.
pub(super) fn compiler_of(asked: wgpu::Dx12Compiler) -> wgpu::Dx12Compiler {
    match asked {
        wgpu::Dx12Compiler::StaticDxc => wgpu::Dx12Compiler::Auto,
        other => other,
    }
}

/// What wgpu does beside its work, in every build alike: only what somebody asks for
/// (`WGPU_DEBUG=1`, `WGPU_VALIDATION=1`). In a debug build it would name every object through the
/// Vulkan loader, which looks at all devices meanwhile, also at one that another thread is opening
/// or has just dropped: there the process crashes (wgpu's issue 10234).
fn flags() -> wgpu::InstanceFlags {
    wgpu::InstanceFlags::VALIDATION_INDIRECT_CALL.with_env()
}

/// wgpu's own adapter, which needs no driver: it stores, and computes nothing.
pub(super) async fn stand_in() -> Result<wgpu::Adapter> {
    let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
    descriptor.backends = wgpu::Backends::NOOP;
    descriptor.backend_options.noop = wgpu::NoopBackendOptions::enabled();
    let instance = wgpu::Instance::new(descriptor);
    let found = instance.enumerate_adapters(wgpu::Backends::NOOP).await.into_iter().next();
    found.ok_or_else(|| AdapterCause::None { findings: Vec::new() }.into())
}
