//! Judging the software on the way to a GPU: loader, driver manifests, and the variables that hide
//! them.

use super::finding::some_of;
use super::machine::{Library, Manifest, ManifestState, NodeAccess, UNPROVEN};
use super::platform::{Package, install};
use super::{Finding, Machine, Obstacle, Scene};

/// Installed drivers that would load and that the list in a variable leaves out.
fn left_out(machine: &Machine) -> Vec<&Manifest> {
    let named = |path: &str| machine.named.iter().any(|manifest| manifest.path == path);
    machine.discovered().filter(|manifest| manifest.loads() && !named(&manifest.path)).collect()
}

/// `4 installed drivers: a, b, c, d`.
pub(super) fn count(drivers: &[&Manifest]) -> String {
    let names = some_of(drivers.iter().map(|driver| driver.name()));
    match drivers.len() {
        1 => format!("1 installed driver: {names}"),
        many => format!("{many} installed drivers: {names}"),
    }
}

/// Whether hiding these drivers can be why no hardware is listed.
fn matters(scene: &Scene<'_>, hidden: &[&Manifest]) -> bool {
    let machine = scene.machine;
    let nothing_left = !machine.effective().iter().any(|manifest| manifest.loads());
    let hardware = machine.may_reach_a_gpu() && hidden.iter().any(|driver| !driver.is_software());
    scene.without_hardware() && (nothing_left || hardware)
}

/// `VK_DRIVER_FILES` or `VK_ICD_FILENAMES` puts its own list in place of the installed drivers.
pub(super) fn replaced(scene: &Scene<'_>, findings: &mut Vec<Finding>) {
    let machine = scene.machine;
    let Some((name, value)) = machine.replacement().filter(|_| scene.active("vulkan")) else {
        return;
    };
    let exists = |manifest: &&Manifest| manifest.state != ManifestState::Absent;
    let absent: Vec<&Manifest> =
        machine.named.iter().filter(|manifest| !exists(manifest)).collect();
    let hidden = left_out(machine);
    let hides = match hidden.len() {
        0 => String::new(),
        _ => format!("hides {}", count(&hidden)),
    };
    let names_nothing = !machine.named.iter().any(|manifest| exists(&manifest));
    let found = if value.is_empty() {
        format!("{name} is set and empty, which tells the Vulkan loader to load no driver")
    } else if names_nothing {
        format!("{name}={value} names no driver manifest that exists")
    } else if !absent.is_empty() {
        let absent = some_of(absent.iter().map(|manifest| manifest.path.as_str()));
        format!("{name}={value} names manifests that do not exist: {absent}")
    } else if hidden.is_empty() {
        return;
    } else {
        format!("{name}={value} {hides}")
    };
    let complete = found.ends_with(&hides);
    let found = if complete { found } else { format!("{found}, and {hides}") };
    findings.push(
        Finding::note(Obstacle::DriverVariable, found, format!("unset {name}"))
            .blocking_if(matters(scene, &hidden)),
    );
}

/// The variables that lead the loader's search x what to do if one leaves drivers out.
const LEADING: [(&str, &str); 4] = [
    ("XDG_DATA_DIRS", "unset XDG_DATA_DIRS, or add /usr/share to it"),
    ("XDG_CONFIG_DIRS", "unset XDG_CONFIG_DIRS, or add /etc/xdg to it"),
    ("XDG_DATA_HOME", "unset XDG_DATA_HOME"),
    ("XDG_CONFIG_HOME", "unset XDG_CONFIG_HOME"),
];

/// XDG variables take the directories where drivers are installed off the loader's path.
pub(super) fn overlooked(scene: &Scene<'_>, findings: &mut Vec<Finding>) {
    let machine = scene.machine;
    if machine.replacement().is_some() || !scene.active("vulkan") {
        return;
    }
    for (name, remedy) in LEADING {
        let theirs = machine.overlooked.iter().filter(|overlooked| overlooked.variable == name);
        let drivers = theirs.map(|overlooked| &overlooked.manifest);
        let lost: Vec<&Manifest> = drivers.filter(|manifest| manifest.loads()).collect();
        if let Some(value) = machine.variable(name).filter(|_| !lost.is_empty()) {
            let found = format!("{name}={value} leaves out {}", count(&lost));
            findings.push(
                Finding::note(Obstacle::DriverVariable, found, remedy)
                    .blocking_if(matters(scene, &lost)),
            );
        }
    }
}

/// A loader filter removes installed drivers.
pub(super) fn filtered(scene: &Scene<'_>, findings: &mut Vec<Finding>) {
    let machine = scene.machine;
    let sources = if machine.replacement().is_some() {
        Some(&machine.named)
    } else {
        machine.installed.as_ref()
    };
    let removed: Vec<&Manifest> = sources
        .into_iter()
        .flatten()
        .filter(|manifest| manifest.loads() && machine.filtered(manifest))
        .collect();
    // Selecting overrules disabling, so that one is to blame where both are set.
    let blamed = ["VK_LOADER_DRIVERS_SELECT", "VK_LOADER_DRIVERS_DISABLE"]
        .into_iter()
        .find_map(|name| Some((name, machine.variable(name).filter(|value| !value.is_empty())?)));
    let Some((name, value)) = blamed.filter(|_| !removed.is_empty() && scene.active("vulkan"))
    else {
        return;
    };
    let found = format!("{name}={value} removes {}", count(&removed));
    findings.push(
        Finding::note(Obstacle::DriverFilter, found, format!("unset {name}"))
            .blocking_if(matters(scene, &removed)),
    );
}

/// The Vulkan loader library is nowhere the system looks for libraries.
pub(super) fn loader_missing(scene: &Scene<'_>, findings: &mut Vec<Finding>) {
    let Library::Missing(places) = scene.machine.vulkan else { return };
    if !scene.without_hardware() || !scene.active("vulkan") {
        return;
    }
    let windows = !scene.machine.os.is_linux();
    let (file, remedy) = if windows {
        ("vulkan-1.dll", "install the GPU maker's driver, which brings it".to_owned())
    } else {
        ("libvulkan.so.1", install(scene.machine.os, Package::VulkanLoader))
    };
    let found = format!(
        "the Vulkan loader {file} is in none of the {places} directories searched for libraries"
    );
    findings.push(
        Finding::note(Obstacle::LoaderMissing, found, remedy)
            .blocking_if(!(windows && scene.active("dx12"))),
    );
}

/// Manifests that the loader opens and cannot use.
pub(super) fn broken(scene: &Scene<'_>, findings: &mut Vec<Finding>) {
    if !scene.active("vulkan") {
        return;
    }
    let effective = scene.machine.effective();
    let none_loads = !effective.iter().any(|manifest| manifest.loads() && !manifest.is_software());
    for manifest in effective {
        let path = &manifest.path;
        let fault = match &manifest.state {
            ManifestState::Loads | ManifestState::OtherWidth => continue,
            // `replaced` already reports the variable that names it.
            ManifestState::Absent if scene.machine.replacement().is_some() => continue,
            ManifestState::Absent => "does not exist".to_owned(),
            ManifestState::Unreadable(why) => format!("cannot be read: {why}"),
            ManifestState::NotJson => "is not JSON".to_owned(),
            ManifestState::NoLibraryPath => "has no library_path".to_owned(),
            ManifestState::LibraryMissing(library) => {
                format!("names the library {library}, which is not there")
            }
        };
        let remedy = match &manifest.state {
            ManifestState::Absent => "take it out of VK_ADD_DRIVER_FILES".to_owned(),
            ManifestState::Unreadable(why) if why == "permission denied" => {
                format!("sudo chmod a+r {path}")
            }
            _ => format!("reinstall the package that owns it, or remove {path}"),
        };
        findings.push(
            Finding::note(
                Obstacle::ManifestBroken,
                format!("the driver manifest {path} {fault}"),
                remedy,
            )
            .blocking_if(scene.without_hardware() && none_loads && !manifest.is_software()),
        );
    }
}

/// The loader's search path holds no manifest at all.
pub(super) fn none_installed(scene: &Scene<'_>, findings: &mut Vec<Finding>) {
    let machine = scene.machine;
    let empty = machine.installed.as_ref().is_some_and(|installed| {
        !installed
            .iter()
            .chain(&machine.added)
            .any(|manifest| manifest.state != ManifestState::OtherWidth)
    });
    let told = [Obstacle::VendorDriver, Obstacle::NvidiaGraphics];
    if findings.iter().any(|finding| told.contains(&finding.cause)) {
        return;
    }
    let hidden_elsewhere = machine.replacement().is_some() || !machine.overlooked.is_empty();
    if empty && !hidden_elsewhere && scene.without_hardware() && scene.needs_vulkan() {
        findings.push(Finding::blocking(
            Obstacle::ManifestMissing,
            "no Vulkan driver is installed: no manifest in any vulkan/icd.d the loader searches",
            install(machine.os, Package::MesaVulkan),
        ));
    }
}

/// Drivers load, a node is open to them, nothing stands in their way, and they list no adapter.
pub(super) fn unproven(scene: &Scene<'_>, findings: &mut Vec<Finding>) {
    let machine = scene.machine;
    let reached = machine.nodes.iter().any(|node| node.access == NodeAccess::Open);
    let explained = findings.iter().any(|finding| finding.blocking);
    if !reached || explained || !scene.without_hardware() || !scene.needs_vulkan() {
        return;
    }
    let loaded = machine.effective().into_iter();
    let drivers: Vec<&Manifest> =
        loaded.filter(|manifest| manifest.loads() && !manifest.is_software()).collect();
    if !drivers.is_empty() && machine.variable(UNPROVEN).is_none() {
        findings.push(Finding::note(
            Obstacle::DriverUnproven,
            format!("no hardware adapter comes of {}", count(&drivers)),
            format!("wgpu hides drivers that pass no conformance test: {UNPROVEN}=1 lists them"),
        ));
    }
}

/// GL is compiled in and there is no EGL to reach it by.
pub(super) fn gl_missing(scene: &Scene<'_>, findings: &mut Vec<Finding>) {
    let Library::Missing(places) = scene.machine.egl else { return };
    if !scene.without_hardware() || !scene.active("gl") || !scene.machine.os.is_linux() {
        return;
    }
    findings.push(
        Finding::note(
            Obstacle::GlMissing,
            format!(
                "libEGL.so.1, by which GL is reached, is in none of the {places} directories \
             searched"
            ),
            install(scene.machine.os, Package::Egl),
        )
        .blocking_if(!scene.active("vulkan")),
    );
}
