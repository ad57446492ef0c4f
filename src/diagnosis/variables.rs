//! Environment variables: which are honoured, which hide something, which do nothing here.

use super::drivers::count;
use super::machine::{Library, Manifest, UNPROVEN};
use super::platform::{NVIDIA, feature_of, primary_backend};
use super::scene::{backend_words, backends_asked};
use super::{Finding, Machine, Obstacle, Scene};
use crate::shared::is_switched_on;

/// Every variable that a judgement may depend on; others are not read into a [`Machine`].
pub(crate) const KNOWN: [&str; 26] = [
    "WGPU_BACKEND",
    UNPROVEN,
    "WGPU_ADAPTER_NAME",
    "WGPU_POWER_PREF",
    "WGPU_DX12_COMPILER",
    "WHARF_ADAPTER",
    "WHARF_ALLOW_SOFTWARE",
    "VK_DRIVER_FILES",
    "VK_ICD_FILENAMES",
    "VK_ADD_DRIVER_FILES",
    "VK_LOADER_DRIVERS_SELECT",
    "VK_LOADER_DRIVERS_DISABLE",
    "XDG_DATA_DIRS",
    "XDG_CONFIG_DIRS",
    "XDG_DATA_HOME",
    "XDG_CONFIG_HOME",
    "LIBGL_ALWAYS_SOFTWARE",
    "MESA_LOADER_DRIVER_OVERRIDE",
    "GALLIUM_DRIVER",
    "MESA_VK_DEVICE_SELECT",
    "DRI_PRIME",
    "__EGL_VENDOR_LIBRARY_FILENAMES",
    "CUDA_VISIBLE_DEVICES",
    "NVIDIA_VISIBLE_DEVICES",
    "NVIDIA_DRIVER_CAPABILITIES",
    "USER",
];

/// The backend this platform's GPUs are reached by was left out of the build; or GL was, where no
/// other would do.
pub(super) fn backend_compiled_out(scene: &Scene<'_>, findings: &mut Vec<Finding>) {
    let (machine, primary) = (scene.machine, primary_backend(scene.machine.os));
    let lacks = |backend: &str| scene.without_hardware() && !scene.compiled.contains(&backend);
    let drivers: Vec<&Manifest> =
        machine.effective().into_iter().filter(|driver| driver.loads()).collect();
    let only = match scene.compiled {
        [] => "nor any other".to_owned(),
        some => format!("only {}", some.join(", ")),
    };
    let finding = |backend: &str, waiting: String| {
        Finding::blocking(
            Obstacle::BackendCompiledOut,
            format!("the {backend} backend is not compiled in, {only}{waiting}"),
            format!("build wharf with its cargo feature `{}`", feature_of(backend)),
        )
    };
    if lacks(primary) {
        let waiting = match (primary, drivers.len()) {
            ("vulkan", 1..) => format!("; it would load {}", count(&drivers)),
            _ => String::new(),
        };
        findings.push(finding(primary, waiting));
    } else if lacks("gl")
        && machine.os.is_linux()
        && machine.egl == Library::Found
        && drivers.iter().all(|driver| driver.is_software())
    {
        let waiting = "; libEGL.so.1, by which it is reached, is there".to_owned();
        findings.push(finding("gl", waiting).blocking_if(false));
    }
}

/// `WGPU_BACKEND` leaves nothing, leaves backends out, or has a word that means nothing.
pub(super) fn backend_variable(scene: &Scene<'_>, findings: &mut Vec<Finding>) {
    let (Some(words), Some(value)) =
        (backend_words(scene.machine), scene.machine.variable("WGPU_BACKEND"))
    else {
        return;
    };
    if scene.compiled.is_empty() {
        return; // nothing is left to choose from, with or without it
    }
    let asked: Vec<&str> = words.iter().filter_map(|(_, backend)| *backend).collect();
    let unknown: Vec<String> =
        words.iter().filter(|(_, b)| b.is_none()).map(|(word, _)| format!("`{word}`")).collect();
    let kept = scene.compiled.iter().any(|backend| asked.contains(backend));
    let mut out = scene.compiled.to_vec();
    out.retain(|backend| !asked.contains(backend));
    let excluded = if out.is_empty() { "no backend".to_owned() } else { out.join(", ") };
    let found = if !unknown.is_empty() {
        let unknown = unknown.join(", ");
        format!("WGPU_BACKEND={value} is honoured, {unknown} is no backend; it excludes {excluded}")
    } else if !kept {
        format!(
            "WGPU_BACKEND={value} is honoured, and asks for none of {}",
            scene.compiled.join(", ")
        )
    } else if !out.is_empty() {
        format!("WGPU_BACKEND={value} is honoured, and excludes {excluded}")
    } else {
        return;
    };
    let primary_out = out.contains(&primary_backend(scene.machine.os));
    findings.push(
        Finding::note(
            Obstacle::BackendVariable,
            found,
            format!("unset WGPU_BACKEND, or choose from {}", scene.compiled.join(",")),
        )
        .blocking_if(scene.without_hardware() && (!kept || primary_out)),
    );
}

/// A variable x what it does to GL x what to do.
const GL_NOTES: [(&str, &str, &str); 4] = [
    ("LIBGL_ALWAYS_SOFTWARE", "makes Mesa's GL compute on the CPU", "unset LIBGL_ALWAYS_SOFTWARE"),
    (
        "MESA_LOADER_DRIVER_OVERRIDE",
        "names the one GL driver that Mesa loads",
        "unset MESA_LOADER_DRIVER_OVERRIDE",
    ),
    ("GALLIUM_DRIVER", "names the one GL driver that Mesa loads", "unset GALLIUM_DRIVER"),
    (
        "__EGL_VENDOR_LIBRARY_FILENAMES",
        "names the only EGL drivers that are loaded",
        "unset __EGL_VENDOR_LIBRARY_FILENAMES",
    ),
];

/// A variable of wgpu's programs that wharf does not use x what to name instead, if not its value.
const OF_WGPU: [(&str, Option<&str>); 2] =
    [("WGPU_ADAPTER_NAME", None), ("WGPU_POWER_PREF", Some("integrated, or =discrete"))];

/// What changes GL, and what is set in the belief that it does something.
pub(super) fn notes(scene: &Scene<'_>, findings: &mut Vec<Finding>) {
    let machine = scene.machine;
    if scene.without_hardware() && scene.active("gl") && machine.os.is_linux() {
        for (name, effect, remedy) in GL_NOTES {
            if let Some(value) = machine.variable(name).filter(|value| is_on(name, value)) {
                findings.push(Finding::note(
                    Obstacle::GlVariable,
                    format!("{name}={value} {effect}"),
                    remedy,
                ));
            }
        }
    }
    for (name, instead) in OF_WGPU {
        if let Some(value) = machine.variable(name) {
            findings.push(Finding::note(
                Obstacle::VariableIgnored,
                format!("{name}={value} is set, and not used by wharf"),
                format!("use WHARF_ADAPTER={}", instead.unwrap_or(value)),
            ));
        }
    }
    let nvidia = machine.gpus.iter().flatten().any(|gpu| gpu.vendor == NVIDIA)
        || machine.nvidia.kernel.is_some()
        || machine.nvidia.device;
    if let Some(value) = machine.variable("CUDA_VISIBLE_DEVICES")
        && nvidia
        && scene.without_hardware()
    {
        findings.push(Finding::note(
            Obstacle::VariableIgnored,
            format!("CUDA_VISIBLE_DEVICES={value} is set, and neither shows nor hides a GPU here"),
            "choose an adapter with WHARF_ADAPTER",
        ));
    }
}

/// Whether a variable is on: switches know words for off, all others are on when they are not
/// empty.
fn is_on(name: &str, value: &str) -> bool {
    match name {
        "LIBGL_ALWAYS_SOFTWARE" | "WHARF_ALLOW_SOFTWARE" => is_switched_on(value),
        UNPROVEN => value != "0",
        _ => !value.is_empty(),
    }
}

/// A variable that is honoured x the backend it concerns (any, if empty) x what that changes.
const HONOURED: [(&str, &str, &str); 14] = [
    (UNPROVEN, "vulkan", "Vulkan adapters that pass no conformance test are listed too"),
    ("VK_ADD_DRIVER_FILES", "vulkan", "the Vulkan loader also loads the drivers it names"),
    ("VK_LOADER_DRIVERS_SELECT", "vulkan", "only Vulkan drivers that match it are loaded"),
    ("VK_LOADER_DRIVERS_DISABLE", "vulkan", "Vulkan drivers that match it are not loaded"),
    ("MESA_VK_DEVICE_SELECT", "vulkan", "Mesa puts the Vulkan device it names first"),
    ("DRI_PRIME", "", "Mesa puts the GPU it names first"),
    ("LIBGL_ALWAYS_SOFTWARE", "gl", "Mesa's gl adapter is a software one"),
    ("MESA_LOADER_DRIVER_OVERRIDE", "gl", "Mesa's gl adapter is that driver's"),
    ("GALLIUM_DRIVER", "gl", "Mesa's gl adapter is that driver's"),
    ("__EGL_VENDOR_LIBRARY_FILENAMES", "gl", "only the EGL drivers it names are loaded"),
    ("WGPU_DX12_COMPILER", "dx12", "DX12's shaders go to that compiler, where the build has it"),
    ("WHARF_ADAPTER", "", "only an adapter that matches it is chosen"),
    ("WHARF_ALLOW_SOFTWARE", "", "software adapters may be chosen"),
    ("NVIDIA_VISIBLE_DEVICES", "", "the container shows only these NVIDIA GPUs"),
];

/// The variables that are honoured and change what is listed or chosen, a line each.
pub(crate) fn variables_in_force(machine: &Machine) -> Vec<String> {
    let mut lines = Vec::new();
    let asked = backends_asked(machine);
    if let (Some(asked), Some(value)) = (&asked, machine.variable("WGPU_BACKEND")) {
        let effect = match asked.as_slice() {
            [] => "no adapter is listed".to_owned(),
            some => format!("only {} adapters are listed", some.join(" and ")),
        };
        lines.push(format!("WGPU_BACKEND={value} is honoured: {effect}"));
    }
    let reached = |backend: &str| {
        backend.is_empty() || asked.as_ref().is_none_or(|asked| asked.contains(&backend))
    };
    let replacement = machine.replacement().filter(|_| reached("vulkan"));
    if let Some((name, value)) = replacement {
        let loads = machine.named.iter().any(Manifest::loads);
        let effect = if loads {
            "only the Vulkan drivers it names are loaded"
        } else {
            "no Vulkan driver is loaded"
        };
        lines.push(format!("{name}={value} is honoured: {effect}"));
    }
    for (name, backend, effect) in HONOURED {
        let overruled = name == "VK_ADD_DRIVER_FILES" && replacement.is_some();
        if let Some(value) = machine.variable(name).filter(|value| is_on(name, value))
            && reached(backend)
            && !overruled
        {
            lines.push(format!("{name}={value} is honoured: {effect}"));
        }
    }
    lines
}
