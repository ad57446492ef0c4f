//! Between wgpu's words and ours: one row per feature and per limit, used in both directions.

use super::processor;
use crate::caps::{
    Backend, Caps, CooperativeShape, DeviceType, Feature, Features, Identity, Limits,
};
use crate::dtype::DType;

/// Features that are a bit of wgpu's; [`Feature::Compute`] is a downlevel flag there.
const FEATURES: [(Feature, wgpu::Features); 7] = [
    (Feature::ShaderF16, wgpu::Features::SHADER_F16),
    (Feature::ShaderF64, wgpu::Features::SHADER_F64),
    (Feature::ShaderInt64, wgpu::Features::SHADER_INT64),
    (Feature::Subgroup, wgpu::Features::SUBGROUP),
    (Feature::TimestampQuery, wgpu::Features::TIMESTAMP_QUERY),
    (Feature::MappablePrimaryBuffers, wgpu::Features::MAPPABLE_PRIMARY_BUFFERS),
    (Feature::CooperativeMatrix, wgpu::Features::EXPERIMENTAL_COOPERATIVE_MATRIX),
];

fn features(has: wgpu::Features, flags: wgpu::DownlevelFlags) -> Features {
    let rows = FEATURES.iter().filter(|(_, bit)| has.contains(*bit));
    let set = rows.fold(Features::default(), |set, (feature, _)| set.with(*feature));
    let compute = flags.contains(wgpu::DownlevelFlags::COMPUTE_SHADERS);
    if compute { set.with(Feature::Compute) } else { set }
}

/// What to request so that a device has exactly these capabilities.
pub(crate) fn features_to_request(caps: &Caps, own: wgpu::Features) -> wgpu::Features {
    let rows = FEATURES.iter().filter(|(feature, _)| caps.has(*feature));
    let asked = rows.fold(wgpu::Features::empty(), |set, (_, bit)| set | *bit);
    // No capability: what is timed is the same, a little cheaper.
    let inside = own & wgpu::Features::TIMESTAMP_QUERY_INSIDE_PASSES;
    if caps.has(Feature::TimestampQuery) { asked | inside } else { asked }
}

/// A limit of wgpu's, whatever its width: read as u64, and written back.
macro_rules! limits_table {
    ($($ours:ident = $theirs:ident),* $(,)?) => {
        pub(crate) fn limits(l: &wgpu::Limits, info: &wgpu::AdapterInfo) -> Limits {
            let read = Limits {
                $($ours: u64::from(l.$theirs),)*
                subgroup_min: u64::from(info.subgroup_min_size),
                subgroup_max: u64::from(info.subgroup_max_size),
            };
            // Of all the buffers that Metal has, parameters take one.
            let all = u64::from(l.max_buffers_and_acceleration_structures_per_shader_stage);
            let storage_buffers_max = read.storage_buffers_max.min(all.saturating_sub(1));
            Limits { storage_buffers_max, ..read }
        }

        /// The adapter's own limits, lowered to those of the (possibly downgraded) capabilities.
        pub(crate) fn limits_to_request(caps: &Caps, own: wgpu::Limits) -> wgpu::Limits {
            let mut asked = own;
            // A value that does not fit was not read from there: keep the adapter's own.
            $(asked.$theirs = caps.limits.$ours.try_into().unwrap_or(asked.$theirs);)*
            asked
        }
    };
}

limits_table! {
    buffer_bytes_max = max_buffer_size,
    binding_bytes_max = max_storage_buffer_binding_size,
    uniform_bytes_max = max_uniform_buffer_binding_size,
    storage_buffers_max = max_storage_buffers_per_shader_stage,
    storage_align_bytes = min_storage_buffer_offset_alignment,
    uniform_align_bytes = min_uniform_buffer_offset_alignment,
    groups_max = max_compute_workgroups_per_dimension,
    invocations_max = max_compute_invocations_per_workgroup,
    group_x_max = max_compute_workgroup_size_x,
    group_y_max = max_compute_workgroup_size_y,
    group_z_max = max_compute_workgroup_size_z,
    group_storage_bytes_max = max_compute_workgroup_storage_size,
}

/// Programs on the CPU that act as GL's GPU, and are no programs to wgpu.
const PROGRAMS: [&str; 2] = ["softpipe", "Microsoft Basic Render Driver"];

fn identity(info: &wgpu::AdapterInfo) -> Identity {
    let gl = info.backend == wgpu::Backend::Gl;
    let program = gl && PROGRAMS.iter().any(|name| info.name.contains(name));
    Identity {
        // Browsers hide most names, lest pages tell their visitors apart by them.
        name: if info.name.is_empty() { "an unnamed adapter".into() } else { info.name.clone() },
        vendor: info.vendor,
        device: info.device,
        device_type: match info.device_type {
            _ if program => DeviceType::Cpu,
            wgpu::DeviceType::DiscreteGpu => DeviceType::Discrete,
            wgpu::DeviceType::IntegratedGpu => DeviceType::Integrated,
            wgpu::DeviceType::VirtualGpu => DeviceType::Virtual,
            wgpu::DeviceType::Cpu => DeviceType::Cpu,
            wgpu::DeviceType::Other => DeviceType::Other,
        },
        backend: match info.backend {
            wgpu::Backend::Vulkan => Backend::Vulkan,
            wgpu::Backend::Metal => Backend::Metal,
            wgpu::Backend::Dx12 => Backend::Dx12,
            wgpu::Backend::Gl => Backend::Gl,
            wgpu::Backend::BrowserWebGpu => Backend::Browser,
            wgpu::Backend::Noop => Backend::Noop,
        },
        driver: info.driver.clone(),
        driver_info: info.driver_info.clone(),
        // DX12's is that of the first card of its kind, whichever this is.
        pci_bus: match info.backend {
            wgpu::Backend::Dx12 => String::new(),
            _ => info.device_pci_bus_id.clone(),
        },
    }
}

/// The cooperative matrices that kernels are written for: squares, and where naga can write them.
fn cooperative(adapter: &wgpu::Adapter, backend: wgpu::Backend) -> Vec<CooperativeShape> {
    let written = matches!(backend, wgpu::Backend::Vulkan | wgpu::Backend::Metal);
    let has = adapter.features().contains(wgpu::Features::EXPERIMENTAL_COOPERATIVE_MATRIX);
    let dtype = |scalar| match scalar {
        wgpu::CooperativeScalarType::F16 => Some(DType::F16),
        wgpu::CooperativeScalarType::F32 => Some(DType::F32),
        _ => None,
    };
    let mut all = Vec::new();
    for p in adapter.cooperative_matrix_properties() {
        let square = p.m_size == p.n_size && p.m_size == p.k_size && [8, 16].contains(&p.m_size);
        let (factors, sums) = (dtype(p.ab_type), dtype(p.cr_type));
        if let (Some(factors), Some(DType::F32), true) = (factors, sums, square && written && has) {
            let one = CooperativeShape { side: p.m_size, factors, sums: DType::F32 };
            all.extend((!all.contains(&one)).then_some(one));
        }
    }
    all
}

/// With what this processor has of [`Feature::Gather`], where the driver's compiler trusts it.
fn gathering(features: Features, identity: &Identity) -> Features {
    let gathers = match identity.is_later_llvmpipe() {
        true => processor::gathers(identity.fuses()),
        false => &[],
    };
    gathers.iter().fold(features, |features, &one| features.with(one))
}

/// An adapter's capabilities: those that it may use unasked.
pub(crate) fn caps(adapter: &wgpu::Adapter) -> Caps {
    let info = adapter.get_info();
    let flags = adapter.get_downlevel_capabilities().flags;
    let (features, identity) = (features(adapter.features(), flags), identity(&info));
    Caps {
        features: gathering(features.without(Feature::CooperativeMatrix), &identity),
        cooperative: cooperative(adapter, info.backend),
        limits: limits(&adapter.limits(), &info),
        identity,
    }
}

/// The capabilities of a device that somebody else made of this adapter: no more than it was
/// created with. Whose they are the adapter says: not every browser's device can.
pub(super) fn device_caps(device: &wgpu::Device, adapter: &wgpu::Adapter) -> Caps {
    let info = adapter.get_info();
    // A device without compute shaders cannot be told from here; its first pipeline would say so.
    let flags = wgpu::DownlevelFlags::COMPUTE_SHADERS;
    let (features, identity) = (features(device.features(), flags), identity(&info));
    Caps {
        features: gathering(features, &identity),
        // A device does not tell: its adapter does.
        cooperative: Vec::new(),
        limits: limits(&device.limits(), &info),
        identity,
    }
}

/// The backends compiled into this build, by name.
pub(crate) fn compiled_backends() -> Vec<&'static str> {
    let has = wgpu::Instance::enabled_backend_features();
    let rows = [
        (wgpu::Backends::VULKAN, "vulkan"),
        (wgpu::Backends::METAL, "metal"),
        (wgpu::Backends::DX12, "dx12"),
        (wgpu::Backends::BROWSER_WEBGPU, "webgpu"),
        (wgpu::Backends::GL, "gl"),
    ];
    rows.into_iter().filter(|(bit, _)| has.contains(*bit)).map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_a_card_sits_is_told_only_where_it_is_its_own() {
        let bus = |backend| {
            let info = wgpu::AdapterInfo::new(wgpu::DeviceType::DiscreteGpu, backend);
            identity(&wgpu::AdapterInfo { device_pci_bus_id: "0000:01:00.0".into(), ..info })
                .pci_bus
        };
        assert_eq!(bus(wgpu::Backend::Vulkan), "0000:01:00.0");
        assert_eq!(bus(wgpu::Backend::Dx12), "", "two of a kind would share it");
    }

    #[test]
    fn programs_behind_gl_are_no_hardware() {
        let kind = |backend, name: &str| {
            let info = wgpu::AdapterInfo::new(wgpu::DeviceType::Other, backend);
            identity(&wgpu::AdapterInfo { name: name.into(), ..info }).device_type
        };
        let gl = wgpu::Backend::Gl;
        assert_eq!(kind(gl, "softpipe"), DeviceType::Cpu);
        assert_eq!(kind(gl, "D3D12 (Microsoft Basic Render Driver)"), DeviceType::Cpu);
        assert_eq!(kind(gl, "D3D12 (NVIDIA GeForce RTX 4090)"), DeviceType::Other);
        assert_eq!(kind(wgpu::Backend::Vulkan, "softpipe"), DeviceType::Other, "its driver says");
    }
}
