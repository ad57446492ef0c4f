//! Judging the way from the driver to the GPU: device nodes, kernel drivers, containers.

use super::machine::{NodeAccess, Nvidia, RenderNode, UNPROVEN};
use super::platform::{NVIDIA, Package, beside_module, driver_for, install, last_resort, vendor};
use super::{Finding, Machine, Obstacle, Scene};
use crate::shared::is_switched_on;

/// Whether a driver of these names is among those installed, whatever its state and whatever hides
/// it.
fn has_driver(machine: &Machine, names: &[&str]) -> bool {
    let overlooked = machine.overlooked.iter().map(|overlooked| &overlooked.manifest);
    let everywhere = machine.discovered().chain(overlooked).chain(&machine.named);
    everywhere.chain(&machine.added).any(|manifest| names.contains(&manifest.name()))
}

/// NVIDIA's kernel driver without its Vulkan driver: most often a container without the graphics
/// capability.
pub(super) fn nvidia_graphics(scene: &Scene<'_>, findings: &mut Vec<Finding>) {
    let machine = scene.machine;
    let Nvidia { kernel, device, .. } = &machine.nvidia;
    let module = match kernel {
        Some(version) => format!("NVIDIA's kernel module {version}"),
        None => "NVIDIA's kernel module".to_owned(),
    };
    let visible = kernel.is_some() || *device;
    if !visible || machine.wsl || !scene.without_hardware() || !scene.needs_vulkan() {
        return;
    }
    let run = "docker run --gpus all -e NVIDIA_DRIVER_CAPABILITIES=all";
    let mut push =
        |found, remedy| findings.push(Finding::blocking(Obstacle::NvidiaGraphics, found, remedy));
    if !device {
        let remedy = if machine.container { run } else { "sudo nvidia-modprobe" };
        push(format!("{module} is loaded, /dev/nvidiactl does not exist"), remedy.to_owned());
        return;
    }
    if has_driver(machine, &["nvidia", "nouveau"]) {
        return;
    }
    let given = machine.variable("NVIDIA_DRIVER_CAPABILITIES");
    let in_container = machine.container || given.is_some();
    let graphics =
        given.unwrap_or_default().split(',').any(|word| ["graphics", "all"].contains(&word.trim()));
    match given.filter(|value| !value.is_empty()) {
        _ if !in_container => push(
            format!("{module} is loaded, no Vulkan driver of NVIDIA is installed"),
            beside_module(machine.os, kernel.as_deref()),
        ),
        Some(value) if graphics => push(
            format!(
                "{module} is loaded, NVIDIA_DRIVER_CAPABILITIES={value} brought no Vulkan driver"
            ),
            "update nvidia-container-toolkit on the host, or mount its nvidia_icd.json".to_owned(),
        ),
        Some(value) => push(
            format!("{module} is loaded, NVIDIA_DRIVER_CAPABILITIES={value} lacks graphics"),
            run.to_owned(),
        ),
        None => push(
            format!(
                "{module} is loaded, NVIDIA_DRIVER_CAPABILITIES is not set and so lacks graphics"
            ),
            run.to_owned(),
        ),
    }
}

/// The user library must have exactly the version of the kernel module.
pub(super) fn nvidia_versions(scene: &Scene<'_>, findings: &mut Vec<Finding>) {
    let Nvidia { kernel: Some(kernel), user: Some(user), .. } = &scene.machine.nvidia else {
        return;
    };
    if kernel == user || !scene.without_hardware() {
        return;
    }
    let remedy = if scene.machine.container {
        "start the container anew, without NVIDIA libraries of its own"
    } else {
        "reboot, which loads the module that was installed with the library"
    };
    findings.push(Finding::blocking(
        Obstacle::NvidiaVersions,
        format!("NVIDIA's kernel module is {kernel}, its user library {user}"),
        remedy,
    ));
}

/// Render nodes that exist and cannot be opened.
pub(super) fn node_permission(scene: &Scene<'_>, findings: &mut Vec<Finding>) {
    let machine = scene.machine;
    for node in machine.nodes.iter().filter(|_| machine.os.is_linux()) {
        let (found, remedy) = match node.access {
            NodeAccess::Open | NodeAccess::Unknown => continue,
            NodeAccess::Denied => denied(machine, node),
            NodeAccess::Forbidden => (
                format!("{} exists, device rules forbid this process to open it", node.path),
                "start the container with --device /dev/dri".to_owned(),
            ),
        };
        findings.push(
            Finding::note(Obstacle::NodePermission, found, remedy)
                .blocking_if(scene.without_hardware()),
        );
    }
}

/// A node whose group this process is not in.
fn denied(machine: &Machine, node: &RenderNode) -> (String, String) {
    let path = &node.path;
    let group = node.group.as_deref().unwrap_or("unknown");
    let found = format!("{path} exists, this process may not read and write it (group {group})");
    let user = machine.variable("USER").unwrap_or("$USER");
    let numeric = group.chars().all(|c| c.is_ascii_digit());
    let remedy = match node.group.as_deref() {
        Some(group) if machine.container || numeric => {
            format!("start the container with --group-add {group}")
        }
        None | Some("root") => format!("sudo chgrp render {path} && sudo chmod g+rw {path}"),
        Some(group) => format!("sudo usermod -aG {group} {user}, then log in again"),
    };
    (found, remedy)
}

/// A GPU on the bus whose vendor has no Vulkan driver installed.
pub(super) fn vendor_driver(scene: &Scene<'_>, findings: &mut Vec<Finding>) {
    let machine = scene.machine;
    if !scene.without_hardware() || !scene.needs_vulkan() || machine.installed.is_none() {
        return;
    }
    let mut told = Vec::new();
    for gpu in machine.gpus.iter().flatten() {
        let Some(vendor) = vendor(gpu.vendor) else { continue };
        let known_nvidia =
            vendor.id == NVIDIA && (machine.nvidia.device || machine.nvidia.kernel.is_some());
        if has_driver(machine, vendor.drivers) || known_nvidia || told.contains(&vendor.id) {
            continue;
        }
        told.push(vendor.id);
        let bound = match &gpu.driver {
            Some(driver) => format!("kernel driver {driver}"),
            None => "no kernel driver".to_owned(),
        };
        findings.push(Finding::blocking(
            Obstacle::VendorDriver,
            format!(
                "a GPU of {} is at {} ({bound}), no Vulkan driver for it is installed",
                vendor.name, gpu.address
            ),
            install(machine.os, driver_for(machine.os, vendor, gpu.driver.as_deref())),
        ));
    }
}

/// There is a GPU, and no node to reach it by.
pub(super) fn node_missing(scene: &Scene<'_>, findings: &mut Vec<Finding>) {
    let machine = scene.machine;
    if machine.may_reach_a_gpu() || !scene.without_hardware() || !machine.os.is_linux() {
        return;
    }
    let gpu = machine.gpus.iter().flatten().find_map(|gpu| Some((gpu, vendor(gpu.vendor)?)));
    match gpu {
        // `nvidia_graphics` already reports a module that is loaded without a device.
        Some((gpu, _)) if gpu.vendor == NVIDIA && machine.nvidia.kernel.is_some() => {}
        Some((gpu, vendor)) => {
            let bound = gpu.driver.as_deref().unwrap_or("none");
            let remedy = match gpu.driver.as_deref() {
                _ if machine.container => "start the container with --device /dev/dri",
                Some("vfio-pci") => {
                    "it is set aside for a virtual machine: run there, or unbind vfio-pci"
                }
                Some(_) => {
                    "see `sudo dmesg` for why the kernel driver made no node: often missing \
                     firmware"
                }
                None => "load the GPU's kernel driver; `sudo dmesg` says why it did not load",
            };
            findings.push(Finding::blocking(
                Obstacle::NodeMissing,
                format!(
                    "a GPU of {} is at {} (kernel driver {bound}), no /dev/dri/renderD* exists",
                    vendor.name, gpu.address
                ),
                remedy,
            ));
        }
        None => {
            let remedy = if machine.container {
                "if the host has one, start the container with --device /dev/dri"
            } else {
                "software adapters need none: WHARF_ALLOW_SOFTWARE=1"
            };
            let found = "this machine shows no GPU: none on the PCI bus, no /dev/dri/renderD*";
            findings.push(Finding::note(Obstacle::NoGpu, found, remedy));
        }
    }
}

/// WSL2 has Windows' GPU behind `/dev/dxg`, and no conformant Vulkan driver for it.
pub(super) fn wsl(scene: &Scene<'_>, findings: &mut Vec<Finding>) {
    if scene.machine.wsl && scene.without_hardware() {
        findings.push(Finding::note(
            Obstacle::Wsl,
            "this is WSL2: the GPU is behind /dev/dxg, which only Mesa's d3d12 drivers reach",
            format!(
                "run the Windows build, or use GL through Mesa's d3d12: GALLIUM_DRIVER=d3d12 \
                 WGPU_BACKEND=gl; Vulkan through its dzn is listed with {UNPROVEN}=1"
            ),
        ));
    }
}

/// The last word when nothing, or nothing but software, is listed.
pub(super) fn nothing_listed(scene: &Scene<'_>, findings: &mut Vec<Finding>) {
    let machine = scene.machine;
    let allow = "WHARF_ALLOW_SOFTWARE=1";
    if scene.hardware > 0 {
        return;
    }
    if scene.listed > 0 {
        let found = match scene.listed {
            1 => "1 adapter is listed, and it is a software one".to_owned(),
            many => format!("{many} adapters are listed, and all are software ones"),
        };
        let remedy = if machine.variable("WHARF_ALLOW_SOFTWARE").is_some_and(is_switched_on) {
            "WHARF_ALLOW_SOFTWARE is set, so software may be chosen".to_owned()
        } else {
            format!("software is used only when asked for: {allow}")
        };
        findings.push(Finding::note(Obstacle::SoftwareOnly, found, remedy));
        return;
    }
    if let Some((found, remedy)) = last_resort(machine.os) {
        let alone = findings.iter().all(|finding| !finding.blocking);
        findings.push(Finding::note(Obstacle::NothingListed, found, remedy).blocking_if(alone));
        return;
    }
    let software =
        machine.effective().iter().any(|manifest| manifest.is_software() && manifest.loads());
    let overlooked = machine.overlooked.iter().map(|overlooked| &overlooked.manifest);
    let mut hidden = machine.discovered().chain(overlooked);
    let installed = hidden.any(|manifest| manifest.is_software() && manifest.loads());
    let (found, remedy) = if software && scene.active("vulkan") {
        (
            "no adapter is listed, though a software driver is installed",
            "VK_LOADER_DEBUG=error,driver shows what the Vulkan loader makes of it".to_owned(),
        )
    } else if installed {
        (
            "no adapter is listed, not even the software one that is installed",
            format!("undo what hides it; then it is used when asked for: {allow}"),
        )
    } else {
        let lavapipe = install(machine.os, Package::Lavapipe);
        (
            "no adapter is listed, not even a software one",
            format!("for a software one, {lavapipe}; it is used only with {allow}"),
        )
    };
    findings.push(Finding::note(Obstacle::NothingListed, found, remedy));
}
