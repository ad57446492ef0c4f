//! Metal without a Mac: an adapter of wgpu's own kind whose kernels are the texts that naga writes
//! for Metal, compiled by clang as Metal's compiler is told to - with `-ffast-math` -, and run on
//! this processor, lane by lane.
//!
//! What lanes do is done in an order that no GPU has: up to the next barrier all of one lane, then
//! all of the next, or of the one before. A barrier that is missing is seen so, and one that not
//! all lanes meet is an error. Not seen are a barrier for the wrong kind of memory, and what two
//! lanes do at once that is not atomic. Buffers are those of Metal but for their bounds: what wgpu
//! checks, other drivers have it check.

mod commands;
mod device;
mod lanes;
mod memory;
mod text;

use std::future::ready;
use std::path::Path;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use wgpu::custom::{
    AdapterInterface, DispatchDevice, DispatchQueue, DispatchSurface, RequestDeviceFuture,
};
use wharf::wgpu;

use lanes::Lanes;

/// The adapter, whose kernels lie in a folder.
pub(crate) fn adapter(folder: &Path) -> Result<wharf::Adapter, String> {
    let lanes = Lanes::new(folder)?;
    Ok(wgpu::Adapter::from_custom(Mac { lanes: Arc::new(lanes) }).into())
}

/// What a panic elsewhere has left is as good as before.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[derive(Debug)]
struct Mac {
    lanes: Arc<Lanes>,
}

impl AdapterInterface for Mac {
    fn request_device(
        &self,
        asked: &wgpu::DeviceDescriptor<'_>,
    ) -> Pin<Box<dyn RequestDeviceFuture>> {
        let all = device::Inner::new(
            self.lanes.clone(),
            asked.required_features,
            asked.required_limits.clone(),
        );
        let all = Arc::new(all);
        let pair = (
            DispatchDevice::custom(device::Device(all.clone())),
            DispatchQueue::custom(commands::Queue(all)),
        );
        Box::pin(ready(Ok(pair)))
    }

    fn is_surface_supported(&self, _: &DispatchSurface) -> bool {
        false
    }

    fn features(&self) -> wgpu::Features {
        use wgpu::Features as F;
        F::SHADER_F16
            | F::SHADER_INT64
            | F::SUBGROUP
            | F::MAPPABLE_PRIMARY_BUFFERS
            | F::EXPERIMENTAL_COOPERATIVE_MATRIX
    }

    fn limits(&self) -> wgpu::Limits {
        wgpu::Limits {
            max_buffer_size: u64::from(u32::MAX),
            max_storage_buffer_binding_size: u64::from(u32::MAX),
            max_uniform_buffer_binding_size: u64::from(u32::MAX),
            max_storage_buffers_per_shader_stage: 28,
            max_buffers_and_acceleration_structures_per_shader_stage: 29,
            min_storage_buffer_offset_alignment: 32,
            min_uniform_buffer_offset_alignment: 256,
            max_compute_invocations_per_workgroup: 1024,
            max_compute_workgroup_size_x: 1024,
            max_compute_workgroup_size_y: 1024,
            max_compute_workgroup_size_z: 1024,
            max_compute_workgroup_storage_size: 32 << 10,
            ..wgpu::Limits::default()
        }
    }

    fn downlevel_capabilities(&self) -> wgpu::DownlevelCapabilities {
        wgpu::DownlevelCapabilities::default()
    }

    fn get_info(&self) -> wgpu::AdapterInfo {
        info()
    }

    fn get_texture_format_features(&self, _: wgpu::TextureFormat) -> wgpu::TextureFormatFeatures {
        unreachable!("there are no textures")
    }

    fn get_presentation_timestamp(&self) -> wgpu::PresentationTimestamp {
        wgpu::PresentationTimestamp::INVALID_TIMESTAMP
    }

    fn cooperative_matrix_properties(&self) -> Vec<wgpu::CooperativeMatrixProperties> {
        use wgpu::CooperativeScalarType::{F16, F32};
        let of = |ab_type, cr_type| wgpu::CooperativeMatrixProperties {
            m_size: 8,
            n_size: 8,
            k_size: 8,
            ab_type,
            cr_type,
            saturating_accumulation: false,
        };
        vec![of(F32, F32), of(F16, F16), of(F16, F32)]
    }
}

fn info() -> wgpu::AdapterInfo {
    let kind = wgpu::DeviceType::IntegratedGpu;
    wgpu::AdapterInfo {
        name: crate::drivers::METAL_TEXTS.into(),
        subgroup_min_size: 4,
        subgroup_max_size: 64,
        ..wgpu::AdapterInfo::new(kind, wgpu::Backend::Metal)
    }
}
