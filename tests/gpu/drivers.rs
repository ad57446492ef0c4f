//! The drivers that this tier is run on, and how to check that an adapter is the one claimed.

use wharf::caps::{Backend, Caps, Feature};

struct Driver {
    name: &'static str,
    backend: Backend,
    /// A part of the adapter's name.
    adapter: &'static str,
    /// The oldest major version of Mesa, or 0 for other drivers.
    mesa_min: u32,
    shader_f16: bool,
}

/// What the adapter of tests/metal is called.
pub(crate) const METAL_TEXTS: &str = "Metal's texts, by clang";

const DRIVERS: [Driver; 7] = [
    Driver {
        name: "lavapipe",
        backend: Backend::Vulkan,
        adapter: "llvmpipe",
        mesa_min: 1,
        shader_f16: true,
    },
    Driver {
        name: "lavapipe-new",
        backend: Backend::Vulkan,
        adapter: "llvmpipe",
        mesa_min: 24,
        shader_f16: true,
    },
    Driver {
        name: "lavapipe-newest",
        backend: Backend::Vulkan,
        adapter: "llvmpipe",
        mesa_min: 26,
        shader_f16: true,
    },
    Driver {
        name: "swiftshader",
        backend: Backend::Vulkan,
        adapter: "SwiftShader",
        mesa_min: 0,
        shader_f16: false,
    },
    Driver {
        name: "llvmpipe-gl",
        backend: Backend::Gl,
        adapter: "llvmpipe",
        mesa_min: 0,
        shader_f16: false,
    },
    // Its WebGPU runs on SwiftShader, and tells no adapter's name.
    Driver {
        name: "chromium",
        backend: Backend::Browser,
        adapter: "",
        mesa_min: 0,
        shader_f16: false,
    },
    // No driver: texts for Metal, as clang compiles them (tests/metal).
    Driver {
        name: "metal",
        backend: Backend::Metal,
        adapter: METAL_TEXTS,
        mesa_min: 0,
        shader_f16: true,
    },
];

/// The major version in `Mesa 22.3.6 (LLVM 15.0.6)`, 0 if there is none.
pub(crate) fn mesa_major(driver_info: &str) -> u32 {
    let version = driver_info.strip_prefix("Mesa ").and_then(|rest| rest.split('.').next());
    version.and_then(|major| major.parse().ok()).unwrap_or(0)
}

/// What the adapter is, or how it differs from the driver that it is claimed to be.
pub(crate) fn check_claim(caps: &Caps, claim: Option<&str>) -> Result<String, String> {
    let id = &caps.identity;
    let mut found = format!("{} ({})", id.name, id.backend.name());
    if !id.driver.is_empty() {
        found = format!("{found}, {} {}", id.driver, id.driver_info);
    }
    let Some(claim) = claim else {
        return Ok(format!("adapter: {found}"));
    };
    let known = DRIVERS.iter().find(|d| d.name == claim);
    let driver =
        known.ok_or_else(|| format!("WHARF_TEST_DRIVER={claim} is no driver of the matrix"))?;
    let is_it = id.backend == driver.backend
        && id.name.contains(driver.adapter)
        && mesa_major(&id.driver_info) >= driver.mesa_min
        && caps.has(Feature::ShaderF16) == driver.shader_f16;
    if !is_it {
        return Err(format!("claimed to be {claim}, but the adapter is {found}"));
    }
    Ok(format!("driver {claim}: {found}"))
}
