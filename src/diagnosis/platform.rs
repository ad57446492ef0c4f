//! Remedies in the words of this platform: packages, vendors, commands.

use super::machine::Os;

/// Something to install.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Package {
    VulkanLoader,
    MesaVulkan,
    Lavapipe,
    Amd,
    Intel,
    Nvidia,
    /// For NVIDIA's GPUs, beside the kernel driver nouveau.
    Nouveau,
    Egl,
}

/// Package x (what it is called where no package manager is known, Debian, Ubuntu, Fedora, Arch).
const PACKAGES: [(Package, [&str; 5]); 8] = {
    use Package::{Amd, Egl, Intel, Lavapipe, MesaVulkan, Nouveau, Nvidia, VulkanLoader};
    const MESA: &str = "mesa-vulkan-drivers";
    [
        (
            VulkanLoader,
            ["the Vulkan loader", "libvulkan1", "libvulkan1", "vulkan-loader", "vulkan-icd-loader"],
        ),
        (
            MesaVulkan,
            ["Mesa's Vulkan drivers", MESA, MESA, MESA, "vulkan-radeon vulkan-intel vulkan-swrast"],
        ),
        (Lavapipe, ["Mesa's lavapipe", MESA, MESA, MESA, "vulkan-swrast"]),
        (Amd, ["Mesa's radv", MESA, MESA, MESA, "vulkan-radeon"]),
        (Intel, ["Mesa's anv", MESA, MESA, MESA, "vulkan-intel"]),
        (
            Nvidia,
            [
                "NVIDIA's driver",
                "nvidia-driver nvidia-vulkan-icd, from non-free, which is off by default",
                "",
                "akmod-nvidia, from RPM Fusion, which is off by default",
                "nvidia-open nvidia-utils",
            ],
        ),
        (Nouveau, ["Mesa's nvk", MESA, MESA, MESA, "vulkan-nouveau"]),
        (
            Egl,
            [
                "libEGL and Mesa",
                "libegl1 libgl1-mesa-dri",
                "libegl1 libgl1-mesa-dri",
                "libglvnd-egl mesa-dri-drivers",
                "libglvnd mesa",
            ],
        ),
    ]
};

/// How to install a package here.
pub(crate) fn install(os: Os, package: Package) -> String {
    let names =
        PACKAGES.iter().find(|(known, _)| *known == package).map_or([""; 5], |(_, names)| *names);
    match os {
        Os::Ubuntu if package == Package::Nvidia => "sudo ubuntu-drivers install".to_owned(),
        Os::Debian => format!("sudo apt install {}", names[1]),
        Os::Ubuntu => format!("sudo apt install {}", names[2]),
        Os::Fedora => format!("sudo dnf install {}", names[3]),
        Os::Arch => format!("sudo pacman -S {}", names[4]),
        _ => format!("install {}", names[0]),
    }
}

/// How to install the driver that NVIDIA's loaded module, of this version, lacks.
pub(crate) fn beside_module(os: Os, version: Option<&str>) -> String {
    match (os, version.and_then(|version| version.split('.').next())) {
        (Os::Ubuntu, Some(major)) => format!("sudo apt install libnvidia-gl-{major}"),
        (Os::Arch, _) => "sudo pacman -S nvidia-utils".to_owned(),
        _ => install(os, Package::Nvidia),
    }
}

/// The driver for a vendor's GPU that this kernel driver is bound to. Debian's Mesa came without
/// nvk for long.
pub(crate) fn driver_for(os: Os, vendor: &Vendor, bound: Option<&str>) -> Package {
    match (vendor.package, bound, os) {
        (Package::Nvidia, Some("nouveau"), Os::Debian | Os::Ubuntu) => Package::Nvidia,
        (Package::Nvidia, Some("nouveau"), _) => Package::Nouveau,
        (package, ..) => package,
    }
}

/// A vendor whose GPUs have Vulkan drivers on Linux.
#[derive(Debug)]
pub(crate) struct Vendor {
    pub(crate) id: u16,
    pub(crate) name: &'static str,
    pub(crate) package: Package,
    /// What the manifests of its drivers are called.
    pub(crate) drivers: &'static [&'static str],
}

pub(crate) const NVIDIA: u16 = 0x10de;

const VENDORS: [Vendor; 3] = [
    Vendor {
        id: 0x1002,
        name: "AMD",
        package: Package::Amd,
        drivers: &["radeon", "amd", "amd_icd64", "amd_icd32", "amd_pro"],
    },
    Vendor {
        id: 0x8086,
        name: "Intel",
        package: Package::Intel,
        drivers: &["intel", "intel_hasvk"],
    },
    Vendor {
        id: NVIDIA,
        name: "NVIDIA",
        package: Package::Nvidia,
        drivers: &["nvidia", "nouveau"],
    },
];

/// The vendor of a PCI id, if its GPUs have Vulkan drivers.
pub(crate) fn vendor(id: u16) -> Option<&'static Vendor> {
    VENDORS.iter().find(|vendor| vendor.id == id)
}

/// The backend that matters most on a platform.
pub(crate) fn primary_backend(os: Os) -> &'static str {
    match os {
        Os::Mac => "metal",
        Os::Windows => "dx12",
        Os::Browser => "webgpu",
        _ => "vulkan",
    }
}

/// The cargo feature that compiles a backend in.
pub(super) fn feature_of(backend: &str) -> &str {
    if backend == "gl" { "gles" } else { backend }
}

/// What to do where wharf cannot look further: no adapter at all on a platform that is not Linux.
pub(crate) fn last_resort(os: Os) -> Option<(&'static str, &'static str)> {
    match os {
        Os::Mac => Some((
            "macOS offers no Metal device",
            "run on a Mac with a GPU, not in a virtual machine without one",
        )),
        Os::Windows => Some((
            "Windows offers no DirectX 12 or Vulkan device",
            "install the GPU maker's driver; WHARF_ALLOW_SOFTWARE=1 admits Windows' own WARP",
        )),
        Os::Browser => Some((
            "the browser offers no WebGPU adapter",
            "enable WebGPU, use https or localhost, and see chrome://gpu for what the browser \
             found",
        )),
        _ => None,
    }
}
