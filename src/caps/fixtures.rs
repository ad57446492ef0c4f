//! Capabilities of real adapters as literals, for tests that need none of them.
//!
//! Each says where its numbers come from: read from the driver itself, or worked out from the
//! source code that reads the driver.

use super::{Backend, Caps, CooperativeShape, DeviceType, Feature, Features, Identity, Limits};
use crate::dtype::DType;

/// Every fixture with its name, the WebGPU baseline first.
#[must_use]
pub fn all() -> Vec<(&'static str, Caps)> {
    vec![
        ("webgpu_baseline", Caps::webgpu_baseline()),
        ("lavapipe", lavapipe()),
        ("swiftshader", swiftshader()),
        ("llvmpipe_gl", llvmpipe_gl()),
        ("browser", browser()),
        ("apple_m2", apple_m2()),
        ("nvidia_vulkan", nvidia_vulkan()),
        ("amd_vulkan", amd_vulkan()),
        ("dx12_without_dxc", dx12_without_dxc()),
    ]
}

/// Mesa 22.3.6's Vulkan driver on the CPU.
///
/// Read on Debian 12 under wgpu 30.
#[must_use]
pub fn lavapipe() -> Caps {
    let identity = Identity {
        name: "llvmpipe (LLVM 15.0.6, 256 bits)".into(),
        vendor: 0x10005,
        device: 0,
        device_type: DeviceType::Cpu,
        backend: Backend::Vulkan,
        driver: "llvmpipe".into(),
        driver_info: "Mesa 22.3.6 (LLVM 15.0.6)".into(),
        pci_bus: String::new(),
    };
    let limits = Limits {
        buffer_bytes_max: 2_147_483_647,
        binding_bytes_max: 134_217_728,
        uniform_bytes_max: 65_536,
        storage_buffers_max: 32,
        storage_align_bytes: 32,
        uniform_align_bytes: 32,
        groups_max: 65_535,
        invocations_max: 1024,
        group_x_max: 1024,
        group_y_max: 1024,
        group_z_max: 1024,
        group_storage_bytes_max: 32_768,
        subgroup_min: 8,
        subgroup_max: 8,
    };
    let features = Features::of(&[
        Feature::Compute,
        Feature::ShaderF16,
        Feature::ShaderF64,
        Feature::ShaderInt64,
        Feature::Subgroup,
        Feature::TimestampQuery,
        Feature::PipelineCache,
        Feature::MappablePrimaryBuffers,
    ]);
    Caps { identity, features, limits, cooperative: Vec::new() }
}

/// Google's Vulkan driver on the CPU, as it comes with Debian's chromium.
///
/// Read on Debian 12 under wgpu 30.
#[must_use]
pub fn swiftshader() -> Caps {
    let identity = Identity {
        name: "SwiftShader Device (Subzero)".into(),
        vendor: 0x1ae0,
        device: 0xc0de,
        device_type: DeviceType::Cpu,
        backend: Backend::Vulkan,
        driver: "SwiftShader driver".into(),
        driver_info: String::new(),
        pci_bus: String::new(),
    };
    let limits = Limits {
        buffer_bytes_max: 1_073_741_824,
        binding_bytes_max: 1_073_741_824,
        uniform_bytes_max: 65_536,
        storage_buffers_max: 10,
        storage_align_bytes: 256,
        uniform_align_bytes: 256,
        groups_max: 65_535,
        invocations_max: 256,
        group_x_max: 256,
        group_y_max: 256,
        group_z_max: 64,
        group_storage_bytes_max: 32_768,
        subgroup_min: 4,
        subgroup_max: 4,
    };
    let features = Features::of(&[
        Feature::Compute,
        Feature::Subgroup,
        Feature::TimestampQuery,
        Feature::PipelineCache,
        Feature::MappablePrimaryBuffers,
    ]);
    Caps { identity, features, limits, cooperative: Vec::new() }
}

/// Mesa 22.3.6's OpenGL on the CPU.
///
/// Read on Debian 12 under wgpu 30 (`WGPU_BACKEND=gl`).
#[must_use]
pub fn llvmpipe_gl() -> Caps {
    let identity = Identity {
        name: "llvmpipe (LLVM 15.0.6, 256 bits)".into(),
        vendor: 0x10005,
        device: 0,
        device_type: DeviceType::Cpu,
        backend: Backend::Gl,
        driver: String::new(),
        driver_info: "4.5 (Core Profile) Mesa 22.3.6".into(),
        pci_bus: String::new(),
    };
    let limits = Limits {
        buffer_bytes_max: 2_147_483_647,
        binding_bytes_max: 134_217_728,
        uniform_bytes_max: 65_536,
        storage_buffers_max: 16,
        storage_align_bytes: 32,
        uniform_align_bytes: 32,
        groups_max: 65_535,
        invocations_max: 1024,
        group_x_max: 1024,
        group_y_max: 1024,
        group_z_max: 1024,
        group_storage_bytes_max: 32_768,
        subgroup_min: 4,
        subgroup_max: 128,
    };
    let features = Features::of(&[Feature::Compute, Feature::TimestampQuery]);
    Caps { identity, features, limits, cooperative: Vec::new() }
}

/// Chromium on a desktop GPU: the baseline and the two features that most have.
///
/// From the WebGPU specification's default limits, which is what a page gets that asks
/// for no others; features as Chromium offers them (it has no 64-bit types).
#[must_use]
pub fn browser() -> Caps {
    let baseline = Caps::webgpu_baseline();
    let identity = Identity { name: "Chromium".into(), ..baseline.identity };
    Caps {
        identity,
        features: Features::of(&[Feature::Compute, Feature::ShaderF16, Feature::Subgroup]),
        limits: Limits::BASELINE,
        cooperative: Vec::new(),
    }
}

/// An Apple M2 through Metal.
///
/// From wgpu-hal 30.0.1 `metal/adapter.rs`: 31 buffers less two of its own, alignment 32,
/// buffers cut to 2^32 - 1 while indirect calls are validated, subgroups of 4 to 64.
#[must_use]
pub fn apple_m2() -> Caps {
    let identity = Identity {
        name: "Apple M2".into(),
        vendor: 0,
        device: 0,
        device_type: DeviceType::Integrated,
        backend: Backend::Metal,
        driver: String::new(),
        driver_info: String::new(),
        pci_bus: String::new(),
    };
    let limits = Limits {
        buffer_bytes_max: 4_294_967_295,
        binding_bytes_max: 4_294_967_295,
        uniform_bytes_max: 4_294_967_295,
        storage_buffers_max: 29,
        storage_align_bytes: 32,
        uniform_align_bytes: 32,
        groups_max: 65_535,
        invocations_max: 1024,
        group_x_max: 1024,
        group_y_max: 1024,
        group_z_max: 1024,
        group_storage_bytes_max: 32_768,
        subgroup_min: 4,
        subgroup_max: 64,
    };
    let features = Features::of(&[
        Feature::Compute,
        Feature::ShaderF16,
        Feature::ShaderInt64,
        Feature::Subgroup,
        Feature::TimestampQuery,
        Feature::MappablePrimaryBuffers,
    ]);
    Caps { identity, features, limits, cooperative: Vec::new() }
}

/// An NVIDIA card through Vulkan: buffers far beyond 2 GiB, bindings not.
///
/// Not read from a card: buffer and binding limits as wgpu-hal 30.0.1 makes them
/// (`vulkan/adapter.rs`), the rest plausible figures for such a card, for tests only.
#[must_use]
pub fn nvidia_vulkan() -> Caps {
    let identity = Identity {
        name: "NVIDIA GeForce RTX 3060".into(),
        vendor: 0x10de,
        device: 0x2503,
        device_type: DeviceType::Discrete,
        backend: Backend::Vulkan,
        driver: "NVIDIA".into(),
        driver_info: "535.183.01".into(),
        pci_bus: "0000:01:00.0".into(),
    };
    let limits = Limits {
        buffer_bytes_max: 1 << 52,
        binding_bytes_max: 2_147_483_644,
        uniform_bytes_max: 65_536,
        storage_buffers_max: 1_048_576,
        storage_align_bytes: 32,
        uniform_align_bytes: 64,
        groups_max: 65_535,
        invocations_max: 1024,
        group_x_max: 1024,
        group_y_max: 1024,
        group_z_max: 64,
        group_storage_bytes_max: 49_152,
        subgroup_min: 32,
        subgroup_max: 32,
    };
    let features = Features::of(&[
        Feature::Compute,
        Feature::ShaderF16,
        Feature::ShaderF64,
        Feature::ShaderInt64,
        Feature::Subgroup,
        Feature::TimestampQuery,
        Feature::PipelineCache,
        Feature::MappablePrimaryBuffers,
    ]);
    let cooperative = vec![CooperativeShape { side: 16, factors: DType::F16, sums: DType::F32 }];
    Caps { identity, features, limits, cooperative }
}

/// An AMD card through Mesa's RADV.
///
/// Read from Mesa 22.3.6's null hardware (`RADV_FORCE_FAMILY=navi21`) under wgpu 30: the
/// limits are the real driver's, there is no PCI address.
#[must_use]
pub fn amd_vulkan() -> Caps {
    let identity = Identity {
        name: "Null hardware (RADV NAVI21)".into(),
        vendor: 0x1002,
        device: 0x73a0,
        device_type: DeviceType::Discrete,
        backend: Backend::Vulkan,
        driver: "radv".into(),
        driver_info: "Mesa 22.3.6".into(),
        pci_bus: String::new(),
    };
    let limits = Limits {
        buffer_bytes_max: 2_147_483_647,
        binding_bytes_max: 2_147_483_644,
        uniform_bytes_max: 2_147_483_647,
        storage_buffers_max: 1_864_135,
        storage_align_bytes: 32,
        uniform_align_bytes: 32,
        groups_max: 65_535,
        invocations_max: 1024,
        group_x_max: 1024,
        group_y_max: 1024,
        group_z_max: 1024,
        group_storage_bytes_max: 65_536,
        subgroup_min: 32,
        subgroup_max: 64,
    };
    let features = Features::of(&[
        Feature::Compute,
        Feature::ShaderF16,
        Feature::ShaderF64,
        Feature::ShaderInt64,
        Feature::Subgroup,
        Feature::TimestampQuery,
        Feature::PipelineCache,
        Feature::MappablePrimaryBuffers,
    ]);
    Caps { identity, features, limits, cooperative: Vec::new() }
}

/// A card through Direct3D 12 without the DXC compiler: FXC has neither f16 nor int64.
///
/// From wgpu-hal 30.0.1 `dx12/adapter.rs` for resource binding tier 3 and shader model 5.1.
#[must_use]
pub fn dx12_without_dxc() -> Caps {
    let identity = Identity {
        name: "NVIDIA GeForce GTX 1060 6GB".into(),
        vendor: 0x10de,
        device: 0x1c03,
        device_type: DeviceType::Discrete,
        backend: Backend::Dx12,
        driver: "31.0.15.3623".into(),
        driver_info: String::new(),
        pci_bus: "0000:01:00.0".into(),
    };
    let limits = Limits {
        buffer_bytes_max: 2_147_483_647,
        binding_bytes_max: 2_147_483_644,
        uniform_bytes_max: 65_536,
        storage_buffers_max: 250_000,
        storage_align_bytes: 16,
        uniform_align_bytes: 256,
        groups_max: 65_535,
        invocations_max: 1024,
        group_x_max: 1024,
        group_y_max: 1024,
        group_z_max: 64,
        group_storage_bytes_max: 32_768,
        subgroup_min: 32,
        subgroup_max: 32,
    };
    let features =
        Features::of(&[Feature::Compute, Feature::TimestampQuery, Feature::MappablePrimaryBuffers]);
    Caps { identity, features, limits, cooperative: Vec::new() }
}
