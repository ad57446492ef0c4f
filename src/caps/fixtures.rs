//! Capabilities of real adapters as literals, for tests and questions that need none of them.
//!
//! Each says where its numbers come from: read from the driver itself, or worked out from the
//! source code that reads the driver. Chips whose drivers could be read are in a table of their
//! own, `chips`; what has a function here could not be, or is a program.

use super::{Backend, Caps, CooperativeShape, DeviceType, Feature, Features, Identity, Limits};
use crate::dtype::DType;

mod chips;
mod usual;

use usual::{DESKTOP, USUAL, identity};

/// Every fixture with its name: the WebGPU baseline first, chips that were read last.
#[must_use]
pub fn all() -> Vec<(&'static str, Caps)> {
    let mut all = vec![
        ("webgpu_baseline", Caps::webgpu_baseline()),
        ("lavapipe", lavapipe()),
        ("swiftshader", swiftshader()),
        ("llvmpipe_gl", llvmpipe_gl()),
        ("browser", browser()),
        ("apple_m2", apple_m2()),
        ("nvidia_vulkan", nvidia_vulkan()),
        ("dx12_without_dxc", dx12_without_dxc()),
    ];
    all.extend(chips::CHIPS.iter().map(|chip| (chip.name(), chip.caps())));
    all
}

/// Mesa 22.3.6's Vulkan driver on the CPU.
///
/// Read on Debian 12 under wgpu 30.
#[must_use]
pub fn lavapipe() -> Caps {
    let name = "llvmpipe (LLVM 15.0.6, 256 bits)";
    let driver = ["llvmpipe", "Mesa 22.3.6 (LLVM 15.0.6)"];
    let identity = identity(name, [0x10005, 0], (DeviceType::Cpu, Backend::Vulkan), driver);
    let features = Features::of(&DESKTOP);
    Caps { identity, features, limits: USUAL, cooperative: Vec::new() }
}

/// Google's Vulkan driver on the CPU, as it comes with Debian's chromium.
///
/// Read on Debian 12 under wgpu 30.
#[must_use]
pub fn swiftshader() -> Caps {
    let (name, driver) = ("SwiftShader Device (Subzero)", ["SwiftShader driver", ""]);
    let identity = identity(name, [0x1ae0, 0xc0de], (DeviceType::Cpu, Backend::Vulkan), driver);
    let limits = Limits {
        buffer_bytes_max: 1_073_741_824,
        binding_bytes_max: 1_073_741_824,
        storage_buffers_max: 10,
        storage_align_bytes: 256,
        uniform_align_bytes: 256,
        invocations_max: 256,
        group_x_max: 256,
        group_y_max: 256,
        group_z_max: 64,
        subgroup_min: 4,
        subgroup_max: 4,
        ..USUAL
    };
    let features = Features::of(&[
        Feature::Compute,
        Feature::Subgroup,
        Feature::TimestampQuery,
        Feature::MappablePrimaryBuffers,
    ]);
    Caps { identity, features, limits, cooperative: Vec::new() }
}

/// Mesa 22.3.6's OpenGL on the CPU.
///
/// Read on Debian 12 under wgpu 30 (`WGPU_BACKEND=gl`).
#[must_use]
pub fn llvmpipe_gl() -> Caps {
    let name = "llvmpipe (LLVM 15.0.6, 256 bits)";
    let driver = ["", "4.5 (Core Profile) Mesa 22.3.6"];
    let identity = identity(name, [0x10005, 0], (DeviceType::Cpu, Backend::Gl), driver);
    let limits = Limits { storage_buffers_max: 16, subgroup_min: 4, subgroup_max: 128, ..USUAL };
    let features = Features::of(&[Feature::Compute, Feature::TimestampQuery]);
    Caps { identity, features, limits, cooperative: Vec::new() }
}

/// Chromium on a desktop GPU: the baseline, and f16, which most have.
///
/// From the WebGPU specification's default limits, which is what a page gets that asks
/// for no others; of what Chromium offers, what wgpu 30 asks for: subgroups it does not.
#[must_use]
pub fn browser() -> Caps {
    let baseline = Caps::webgpu_baseline();
    let identity = Identity { name: "Chromium".into(), ..baseline.identity };
    let features = Features::of(&[Feature::Compute, Feature::ShaderF16]);
    Caps { identity, features, ..baseline }
}

/// An Apple M2 through Metal.
///
/// Not read from one: nothing pretends to be an Apple GPU. From wgpu-hal 30.0.1
/// `metal/adapter.rs`: 31 buffers less two of its own, alignment 32, buffers cut to 2^32 - 1 while
/// indirect calls are validated, subgroups of 4 to 64.
#[must_use]
pub fn apple_m2() -> Caps {
    let kind = (DeviceType::Integrated, Backend::Metal);
    let identity = identity("Apple M2", [0, 0], kind, ["", ""]);
    let limits = Limits {
        buffer_bytes_max: 4_294_967_295,
        binding_bytes_max: 4_294_967_295,
        uniform_bytes_max: 4_294_967_295,
        storage_buffers_max: 28,
        subgroup_min: 4,
        subgroup_max: 64,
        ..USUAL
    };
    let features = Features::of(&DESKTOP);
    let features = features.without(Feature::ShaderF64);
    Caps { identity, features, limits, cooperative: Vec::new() }
}

/// NVIDIA's own Vulkan driver on an H100.
///
/// Read on Linux under wgpu 30; the bus is not the card's.
#[must_use]
pub fn nvidia_vulkan() -> Caps {
    let (name, driver) = ("NVIDIA H100 80GB HBM3", ["NVIDIA", "580.159.04"]);
    let kind = (DeviceType::Discrete, Backend::Vulkan);
    let identity = identity(name, [0x10de, 0x2330], kind, driver);
    let limits = Limits {
        buffer_bytes_max: 4_292_870_144,
        binding_bytes_max: 2_147_483_644,
        storage_buffers_max: 524_288,
        uniform_align_bytes: 64,
        group_z_max: 64,
        group_storage_bytes_max: 49_152,
        subgroup_min: 32,
        subgroup_max: 32,
        ..USUAL
    };
    Caps {
        identity: Identity { pci_bus: "0000:01:00.0".into(), ..identity },
        features: Features::of(&DESKTOP),
        limits,
        cooperative: vec![CooperativeShape { side: 16, factors: DType::F16, sums: DType::F32 }],
    }
}

/// The AMD card of the tests: a row of the table.
#[must_use]
pub fn navi21() -> Caps {
    chips::NAVI21.caps()
}

/// A card through Direct3D 12 without the DXC compiler: FXC has neither f16 nor int64.
///
/// From wgpu-hal 30.0.1 `dx12/adapter.rs` for resource binding tier 3 and shader model 5.1.
#[must_use]
pub fn dx12_without_dxc() -> Caps {
    let (name, driver) = ("NVIDIA GeForce GTX 1060 6GB", ["31.0.15.3623", ""]);
    let kind = (DeviceType::Discrete, Backend::Dx12);
    let identity = identity(name, [0x10de, 0x1c03], kind, driver);
    let limits = Limits {
        binding_bytes_max: 2_147_483_644,
        storage_buffers_max: 250_000,
        storage_align_bytes: 16,
        uniform_align_bytes: 256,
        group_z_max: 64,
        subgroup_min: 32,
        subgroup_max: 32,
        ..USUAL
    };
    Caps {
        identity: Identity { pci_bus: "0000:01:00.0".into(), ..identity },
        features: Features::of(&[
            Feature::Compute,
            Feature::TimestampQuery,
            Feature::MappablePrimaryBuffers,
        ]),
        limits,
        cooperative: Vec::new(),
    }
}
