//! Device nodes, vendors, containers.

use super::*;

#[test]
fn a_render_node_of_a_foreign_group() {
    let rows = [
        (false, Some("render"), "render", "sudo usermod -aG render ada, then log in again"),
        (true, Some("109"), "109", "start the container with --group-add 109"),
        (
            false,
            Some("root"),
            "root",
            "sudo chgrp render /dev/dri/renderD128 && sudo chmod g+rw /dev/dri/renderD128",
        ),
    ];
    for (container, group, shown, remedy) in rows {
        let nodes = vec![node(group, NodeAccess::Denied)];
        let machine = Machine { nodes, container, ..with(healthy(), &[("USER", "ada")]) };
        let text = format!(
            "/dev/dri/renderD128 exists, this process may not read and write it (group \
             {shown})\n  ({remedy})"
        );
        assert_first(&diagnose(&machine, &BOTH, 1, 0), Obstacle::NodePermission, true, &text);
    }
    let nodes = vec![node(Some("render"), NodeAccess::Forbidden)];
    assert_first(
        &none_listed(&Machine { nodes, ..healthy() }),
        Obstacle::NodePermission,
        true,
        "/dev/dri/renderD128 exists, device rules forbid this process to open it\n  \
         (start the container with --device /dev/dri)",
    );
}

#[test]
fn a_gpu_without_a_node() {
    let rows = [
        (true, Some("amdgpu"), "start the container with --device /dev/dri"),
        (
            false,
            Some("amdgpu"),
            "see `sudo dmesg` for why the kernel driver made no node: often missing firmware",
        ),
        (
            false,
            Some("vfio-pci"),
            "it is set aside for a virtual machine: run there, or unbind vfio-pci",
        ),
        (false, None, "load the GPU's kernel driver; `sudo dmesg` says why it did not load"),
    ];
    for (container, driver, remedy) in rows {
        let gpus = Some(vec![gpu(0x1002, driver)]);
        let machine = Machine { nodes: Vec::new(), gpus, container, ..healthy() };
        let text = format!(
            "a GPU of AMD is at 0000:03:00.0 (kernel driver {}), no /dev/dri/renderD* \
             exists\n  ({remedy})",
            driver.unwrap_or("none"),
        );
        assert_first(&none_listed(&machine), Obstacle::NodeMissing, true, &text);
    }
}

#[test]
fn a_machine_without_a_gpu_says_so() {
    let bare = |container| Machine {
        nodes: Vec::new(),
        gpus: Some(vec![gpu(0x1a03, None)]), // a server's display controller
        container,
        ..healthy()
    };
    let found = diagnose(&bare(false), &BOTH, 2, 0);
    assert_first(
        &found,
        Obstacle::NoGpu,
        false,
        "this machine shows no GPU: none on the PCI bus, no /dev/dri/renderD*\n  \
         (software adapters need none: WHARF_ALLOW_SOFTWARE=1)",
    );
    assert_has(
        &found,
        Obstacle::SoftwareOnly,
        false,
        "2 adapters are listed, and all are software ones\n  \
         (software is used only when asked for: WHARF_ALLOW_SOFTWARE=1)",
    );
    assert_has(
        &none_listed(&bare(true)),
        Obstacle::NoGpu,
        false,
        "this machine shows no GPU: none on the PCI bus, no /dev/dri/renderD*\n  \
         (if the host has one, start the container with --device /dev/dri)",
    );
}

const DEBIAN: &str = "sudo apt install nvidia-driver nvidia-vulkan-icd, from non-free, which is \
                      off by default";

#[test]
fn a_vendor_without_a_driver() {
    let rows = [
        (Os::Debian, 0x1002, "AMD", "amdgpu", "sudo apt install mesa-vulkan-drivers"),
        (Os::Fedora, 0x8086, "Intel", "i915", "sudo dnf install mesa-vulkan-drivers"),
        (Os::Arch, 0x8086, "Intel", "xe", "sudo pacman -S vulkan-intel"),
        (Os::Debian, 0x10de, "NVIDIA", "nouveau", DEBIAN),
        (Os::Ubuntu, 0x10de, "NVIDIA", "nouveau", "sudo ubuntu-drivers install"),
        (Os::Arch, 0x10de, "NVIDIA", "nouveau", "sudo pacman -S vulkan-nouveau"),
        (Os::Arch, 0x10de, "NVIDIA", "vfio-pci", "sudo pacman -S nvidia-open nvidia-utils"),
        (Os::Fedora, 0x10de, "NVIDIA", "nouveau", "sudo dnf install mesa-vulkan-drivers"),
        (
            Os::Fedora,
            0x10de,
            "NVIDIA",
            "vfio-pci",
            "sudo dnf install akmod-nvidia, from RPM Fusion, which is off by default",
        ),
    ];
    for (os, id, vendor, driver, remedy) in rows {
        let machine = Machine {
            os,
            installed: Some(vec![manifest("lvp", ManifestState::Loads)]),
            gpus: Some(vec![gpu(id, Some(driver))]),
            ..healthy()
        };
        let found = diagnose(&machine, &BOTH, 1, 0);
        let text = format!(
            "a GPU of {vendor} is at 0000:03:00.0 (kernel driver {driver}), no Vulkan driver for \
             it is installed"
        );
        assert_eq!((found[0].cause, found[0].blocking), (Obstacle::VendorDriver, true));
        assert_eq!((&found[0].found, found[0].remedy.as_str()), (&text, remedy));
    }
}

/// A machine with NVIDIA's kernel driver and only lavapipe for Vulkan.
fn nvidia(device: bool, container: bool, capabilities: Option<&str>) -> Machine {
    let machine = Machine {
        installed: Some(vec![manifest("lvp", ManifestState::Loads)]),
        nodes: Vec::new(),
        gpus: Some(vec![gpu(0x10de, Some("nvidia"))]),
        nvidia: Nvidia { kernel: Some("550.54.14".to_owned()), user: None, device },
        container,
        ..healthy()
    };
    let set = capabilities.map(|value| ("NVIDIA_DRIVER_CAPABILITIES", value));
    with(machine, set.as_slice())
}

#[test]
fn nvidia_in_a_container_without_the_graphics_capability() {
    let run = "docker run --gpus all -e NVIDIA_DRIVER_CAPABILITIES=all";
    let rows = [
        (
            nvidia(true, true, Some("compute,utility")),
            "NVIDIA_DRIVER_CAPABILITIES=compute,utility lacks graphics",
            run,
        ),
        (
            nvidia(true, true, None),
            "NVIDIA_DRIVER_CAPABILITIES is not set and so lacks graphics",
            run,
        ),
        (
            nvidia(true, true, Some("all")),
            "NVIDIA_DRIVER_CAPABILITIES=all brought no Vulkan driver",
            "update nvidia-container-toolkit on the host, or mount its nvidia_icd.json",
        ),
        (nvidia(false, true, None), "/dev/nvidiactl does not exist", run),
        (nvidia(false, false, None), "/dev/nvidiactl does not exist", "sudo nvidia-modprobe"),
        (nvidia(true, false, None), "no Vulkan driver of NVIDIA is installed", DEBIAN),
        (
            Machine { os: Os::Ubuntu, ..nvidia(true, false, None) },
            "no Vulkan driver of NVIDIA is installed",
            "sudo apt install libnvidia-gl-550",
        ),
        (
            Machine { os: Os::Arch, ..nvidia(true, false, None) },
            "no Vulkan driver of NVIDIA is installed",
            "sudo pacman -S nvidia-utils",
        ),
    ];
    for (machine, side, remedy) in rows {
        let found = diagnose(&machine, &BOTH, 1, 0);
        assert_eq!(
            (found[0].cause, found[0].blocking),
            (Obstacle::NvidiaGraphics, true),
            "{found:#?}"
        );
        assert_eq!(found[0].found, format!("NVIDIA's kernel module 550.54.14 is loaded, {side}"));
        assert_eq!(found[0].remedy, remedy);
        let blocking = found.iter().filter(|finding| finding.blocking).count();
        assert_eq!(blocking, 1, "one cause, told once: {found:#?}");
    }
}

#[test]
fn nvidia_module_and_library_of_different_versions() {
    let mut machine = nvidia(true, false, None);
    machine.nvidia.user = Some("550.90.07".to_owned());
    machine.installed = Some(vec![manifest("nvidia", ManifestState::Loads)]);
    assert_first(
        &diagnose(&machine, &BOTH, 0, 0),
        Obstacle::NvidiaVersions,
        true,
        "NVIDIA's kernel module is 550.54.14, its user library 550.90.07\n  \
         (reboot, which loads the module that was installed with the library)",
    );
}

#[test]
fn wsl_is_named() {
    let machine = Machine { wsl: true, nodes: Vec::new(), gpus: Some(Vec::new()), ..healthy() };
    assert_first(
        &diagnose(&machine, &BOTH, 1, 0),
        Obstacle::Wsl,
        false,
        "this is WSL2: the GPU is behind /dev/dxg, which only Mesa's d3d12 drivers \
         reach\n  (run the \
         Windows build, or use GL through Mesa's d3d12: GALLIUM_DRIVER=d3d12 WGPU_BACKEND=gl;\n    \
         Vulkan through its dzn is listed with WGPU_ALLOW_UNDERLYING_NONCOMPLIANT_ADAPTER=1)",
    );
}

/// As on boards with a Mali: nothing is on a bus.
#[test]
fn drivers_that_load_may_be_hidden() {
    let installed = ["lvp", "panfrost"].map(|name| manifest(name, ManifestState::Loads));
    let board = Machine { installed: Some(installed.into()), gpus: Some(Vec::new()), ..healthy() };
    let text = "no hardware adapter comes of 1 installed driver: panfrost\n  (wgpu hides drivers \
                that pass no conformance test: WGPU_ALLOW_UNDERLYING_NONCOMPLIANT_ADAPTER=1\n    \
                lists them)";
    assert_has(&diagnose(&board, &BOTH, 1, 0), Obstacle::DriverUnproven, false, text);
    let tells = |machine: &Machine, hardware| {
        let found = diagnose(machine, &BOTH, 1, hardware);
        found.iter().any(|finding| finding.cause == Obstacle::DriverUnproven)
    };
    let name = "WGPU_ALLOW_UNDERLYING_NONCOMPLIANT_ADAPTER";
    assert!(!tells(&board, 1), "one is listed");
    assert!(!tells(&with(board.clone(), &[(name, "1")]), 0), "none is hidden");
    let denied = vec![node(Some("render"), NodeAccess::Denied)];
    assert!(!tells(&Machine { nodes: denied, ..board.clone() }, 0), "the node is why");
    let note = format!("{name}=1 is honoured: Vulkan adapters that pass no conformance test are");
    let [line] = &*variables_in_force(&with(board.clone(), &[(name, "1")])) else { panic!() };
    assert!(line.starts_with(&note), "{line}");
    assert_eq!(variables_in_force(&with(board, &[(name, "0")])), [""; 0], "it is off");
}
