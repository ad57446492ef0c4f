//! Variables, loader, manifests, backends.

use super::*;
use crate::diagnosis::machine::matches_any;

#[test]
fn a_variable_that_names_nothing_is_first_and_names_what_it_hides() {
    let absent = Manifest { path: "/nonexistent".to_owned(), state: ManifestState::Absent };
    for name in ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"] {
        let machine =
            Machine { named: vec![absent.clone()], ..with(healthy(), &[(name, "/nonexistent")]) };
        let found = none_listed(&machine);
        let text = format!(
            "{name}=/nonexistent names no driver manifest that exists, and hides 2 installed \
             drivers:\n  \
             lvp, radeon\n  (unset {name})"
        );
        assert_eq!(found[0].to_string(), text);
        assert_eq!((found[0].cause, found[0].blocking), (Obstacle::DriverVariable, true));
        assert_eq!(found[0].remedy, format!("unset {name}"));
        let force = format!("{name}=/nonexistent is honoured: no Vulkan driver is loaded");
        assert_eq!(variables_in_force(&machine), [force]);
    }
}

#[test]
fn an_empty_variable_hides_everything_and_wins_over_the_older_name() {
    let machine = with(healthy(), &[("VK_DRIVER_FILES", ""), ("VK_ICD_FILENAMES", "/x.json")]);
    assert_first(
        &none_listed(&machine),
        Obstacle::DriverVariable,
        true,
        "VK_DRIVER_FILES is set and empty, which tells the Vulkan loader to load no driver, and \
         hides 2\n  \
         installed drivers: lvp, radeon\n  (unset VK_DRIVER_FILES)",
    );
}

#[test]
fn a_variable_that_leaves_out_hardware_drivers_blocks_and_one_that_does_not_is_a_note() {
    let machine = |name| Machine {
        named: vec![manifest(name, ManifestState::Loads)],
        ..with(healthy(), &[("VK_DRIVER_FILES", "/a.json")])
    };
    let text = "VK_DRIVER_FILES=/a.json hides 1 installed driver: radeon (unset VK_DRIVER_FILES)";
    assert_first(&diagnose(&machine("lvp"), &BOTH, 1, 0), Obstacle::DriverVariable, true, text);
    let text = "VK_DRIVER_FILES=/a.json hides 1 installed driver: lvp (unset VK_DRIVER_FILES)";
    assert_first(&diagnose(&machine("radeon"), &BOTH, 1, 1), Obstacle::DriverVariable, false, text);
}

#[test]
fn one_absent_name_among_others_is_told() {
    let absent = Manifest { path: "/b.json".to_owned(), state: ManifestState::Absent };
    let loads = |name| manifest(name, ManifestState::Loads);
    let machine = Machine {
        named: vec![absent, loads("lvp"), loads("radeon")],
        ..with(healthy(), &[("VK_DRIVER_FILES", "/b.json:/c")])
    };
    assert_first(
        &diagnose(&machine, &BOTH, 2, 1),
        Obstacle::DriverVariable,
        false,
        "VK_DRIVER_FILES=/b.json:/c names manifests that do not exist: /b.json (unset \
         VK_DRIVER_FILES)",
    );
}

#[test]
fn xdg_variables_that_leave_drivers_out() {
    let machine = Machine {
        installed: Some(Vec::new()),
        overlooked: vec![Overlooked {
            variable: "XDG_DATA_DIRS",
            manifest: manifest("radeon", ManifestState::Loads),
        }],
        ..with(healthy(), &[("XDG_DATA_DIRS", "/opt")])
    };
    assert_first(
        &none_listed(&machine),
        Obstacle::DriverVariable,
        true,
        "XDG_DATA_DIRS=/opt leaves out 1 installed driver: radeon\n  \
         (unset XDG_DATA_DIRS, or add /usr/share to it)",
    );
}

#[test]
fn filters_match_as_the_loader_does_and_selecting_wins() {
    let machine = with(healthy(), &[("VK_LOADER_DRIVERS_DISABLE", "*RADEON*, nouveau*")]);
    assert_first(
        &diagnose(&machine, &BOTH, 1, 0),
        Obstacle::DriverFilter,
        true,
        "VK_LOADER_DRIVERS_DISABLE=*RADEON*, nouveau* removes 1 installed driver: radeon\n  \
         (unset VK_LOADER_DRIVERS_DISABLE)",
    );
    let machine = with(
        healthy(),
        &[("VK_LOADER_DRIVERS_DISABLE", "~all~"), ("VK_LOADER_DRIVERS_SELECT", "radeon*")],
    );
    assert_first(
        &diagnose(&machine, &BOTH, 1, 1),
        Obstacle::DriverFilter,
        false,
        "VK_LOADER_DRIVERS_SELECT=radeon* removes 1 installed driver: lvp (unset \
         VK_LOADER_DRIVERS_SELECT)",
    );
    let cases =
        [("*", true), ("", false), ("lvp*json", false), ("*.json", true), ("a,LVP.json", true)];
    for (globs, expected) in cases {
        assert_eq!(matches_any(globs, "lvp.json"), expected, "{globs}");
    }
}

#[test]
fn the_loader_is_missing() {
    let text = |remedy| {
        format!(
            "the Vulkan loader libvulkan.so.1 is in none of the 7 directories searched for \
             libraries\n  ({remedy})"
        )
    };
    let rows = [
        (Os::Debian, "sudo apt install libvulkan1"),
        (Os::Fedora, "sudo dnf install vulkan-loader"),
        (Os::Arch, "sudo pacman -S vulkan-icd-loader"),
        (Os::Linux, "install the Vulkan loader"),
    ];
    for (os, remedy) in rows {
        let machine = Machine { os, vulkan: Library::Missing(7), ..healthy() };
        assert_first(&none_listed(&machine), Obstacle::LoaderMissing, true, &text(remedy));
    }
}

#[test]
fn windows_reaches_its_gpu_without_the_vulkan_loader() {
    let machine = Machine { vulkan: Library::Missing(1), ..Machine::unknown(Os::Windows) };
    let found = diagnose(&machine, &["vulkan", "dx12"], 0, 0);
    assert_first(
        &found,
        Obstacle::NothingListed,
        true,
        "Windows offers no DirectX 12 or Vulkan device\n  \
         (install the GPU maker's driver; WHARF_ALLOW_SOFTWARE=1 admits Windows' own WARP)",
    );
    assert_has(
        &found,
        Obstacle::LoaderMissing,
        false,
        "the Vulkan loader vulkan-1.dll is in none of the 1 directories searched for libraries\n  \
         (install the GPU maker's driver, which brings it)",
    );
}

#[test]
fn mac_and_browser_have_a_last_word() {
    assert_first(
        &diagnose(&Machine::unknown(Os::Mac), &["metal"], 0, 0),
        Obstacle::NothingListed,
        true,
        "macOS offers no Metal device \
         (run on a Mac with a GPU, not in a virtual machine without one)",
    );
    assert_first(
        &diagnose(&Machine::unknown(Os::Browser), &["webgpu"], 0, 0),
        Obstacle::NothingListed,
        true,
        "the browser offers no WebGPU adapter\n  (enable WebGPU, use https or localhost, and see \
         chrome://gpu for what the browser found)",
    );
}

#[test]
fn manifests_that_fail_to_load() {
    let path = "/usr/share/vulkan/icd.d/radeon_icd.x86_64.json";
    let reinstall = format!("(reinstall the package that owns it, or remove {path})");
    let rows = [
        (ManifestState::NotJson, "is not JSON".to_owned(), reinstall.clone()),
        (ManifestState::NoLibraryPath, "has no library_path".to_owned(), reinstall.clone()),
        (
            ManifestState::Unreadable("permission denied".to_owned()),
            "cannot be read: permission denied".to_owned(),
            format!("(sudo chmod a+r {path})"),
        ),
        (
            ManifestState::LibraryMissing("libr.so".to_owned()),
            "names the library libr.so, which\n  is not there".to_owned(),
            reinstall.clone(),
        ),
    ];
    for (state, fault, remedy) in rows {
        let installed =
            Some(vec![manifest("lvp", ManifestState::Loads), manifest("radeon", state)]);
        let found = diagnose(&Machine { installed, ..healthy() }, &BOTH, 1, 0);
        let text = format!("the driver manifest {path} {fault}\n  {remedy}");
        assert_first(&found, Obstacle::ManifestBroken, true, &text);
    }
    // Where another driver of a GPU's loads, the broken one need not be what keeps the GPU away.
    let installed = Some(vec![
        manifest("nouveau", ManifestState::Loads),
        manifest("radeon", ManifestState::NotJson),
    ]);
    assert_has(
        &diagnose(&Machine { installed, ..healthy() }, &BOTH, 1, 0),
        Obstacle::ManifestBroken,
        false,
        &format!("the driver manifest {path} is not JSON\n  {reinstall}"),
    );
    let added = Manifest { path: "/x.json".to_owned(), state: ManifestState::Absent };
    assert_first(
        &diagnose(&Machine { added: vec![added], ..healthy() }, &BOTH, 2, 1),
        Obstacle::ManifestBroken,
        false,
        "the driver manifest /x.json does not exist (take it out of VK_ADD_DRIVER_FILES)",
    );
}

#[test]
fn no_manifest_at_all() {
    let other = manifest("i686", ManifestState::OtherWidth);
    let machine = Machine {
        installed: Some(vec![other]),
        nodes: Vec::new(),
        gpus: Some(Vec::new()),
        ..healthy()
    };
    let found = none_listed(&machine);
    assert_first(
        &found,
        Obstacle::ManifestMissing,
        true,
        "no Vulkan driver is installed: no manifest in any vulkan/icd.d the loader searches\n  \
         (sudo apt install mesa-vulkan-drivers)",
    );
    assert_has(
        &found,
        Obstacle::NothingListed,
        false,
        "no adapter is listed, not even a software one\n  (for a software one, sudo apt install \
         mesa-vulkan-drivers; it is used only with\n    WHARF_ALLOW_SOFTWARE=1)",
    );
}

#[test]
fn egl_is_missing() {
    let machine = Machine { egl: Library::Missing(7), ..healthy() };
    let text = "libEGL.so.1, by which GL is reached, is in none of the 7 directories searched\n  \
                (sudo apt install libegl1 libgl1-mesa-dri)";
    assert_has(&none_listed(&machine), Obstacle::GlMissing, false, text);
    let gl_only = with(machine, &[("WGPU_BACKEND", "gl")]);
    assert_has(&none_listed(&gl_only), Obstacle::GlMissing, true, text);
}

/// Of each what is compiled in, whether that blocks, the feature that would mend it, and what is
/// said of it; nothing, where the build is not to blame.
#[test]
fn backends_left_out_of_the_build() {
    let bare = Machine { installed: Some(Vec::new()), ..healthy() };
    let lvp = || vec![manifest("lvp", ManifestState::Loads)];
    let software = Machine { installed: Some(lvp()), ..healthy() };
    let no_egl = Machine { egl: Library::Missing(7), ..software.clone() };
    let [windows, mac, browser] = [Os::Windows, Os::Mac, Os::Browser].map(Machine::unknown);
    let rows: [(&Machine, &[&'static str], bool, &str, &str); 10] = [
        (&healthy(), &["gl"], true, "vulkan", "gl; it would load 2 installed drivers: lvp, radeon"),
        (&healthy(), &[], true, "vulkan", "; it would load 2 installed drivers: lvp, radeon"),
        (&software, &["gl"], true, "vulkan", "gl; it would load 1 installed driver: lvp"),
        (&bare, &["gl"], true, "vulkan", "gl"),
        (&windows, &["vulkan", "gl"], true, "dx12", "vulkan, gl"),
        (&mac, &[], true, "metal", ""),
        (&browser, &["gl"], true, "webgpu", "gl"),
        (
            &software,
            &["vulkan"],
            false,
            "gles",
            "vulkan; libEGL.so.1, by which it is reached, is there",
        ),
        (&no_egl, &["vulkan"], false, "", ""),
        (&healthy(), &["vulkan"], false, "", ""),
    ];
    for (machine, compiled, blocking, feature, rest) in rows {
        let found = diagnose(machine, compiled, 0, 0);
        let found = found.into_iter().find(|found| found.cause == Obstacle::BackendCompiledOut);
        let (backend, only) = (
            if feature == "gles" { "gl" } else { feature },
            if compiled.is_empty() { "nor any other" } else { "only " },
        );
        let want = Finding::blocking(
            Obstacle::BackendCompiledOut,
            format!("the {backend} backend is not compiled in, {only}{rest}"),
            format!("build wharf with its cargo feature `{feature}`"),
        );
        let want = (!feature.is_empty()).then(|| want.blocking_if(blocking));
        assert_eq!(found, want, "{compiled:?} on {:?}", machine.os);
        assert_eq!(diagnose(machine, compiled, 1, 1), [], "with a GPU");
    }
    let chosen = with(healthy(), &[("WGPU_BACKEND", "gl")]);
    let causes: Vec<_> =
        diagnose(&chosen, &[], 0, 0).into_iter().map(|found| found.cause).collect();
    assert_eq!(causes, [Obstacle::BackendCompiledOut, Obstacle::NothingListed], "not the variable");
}

#[test]
fn backends_left_out_by_the_variable() {
    let rows = [
        ("gl", 1, true, "WGPU_BACKEND=gl is honoured, and excludes vulkan"),
        ("vk", 0, false, "WGPU_BACKEND=vk is honoured, and excludes gl"),
        ("metal", 0, true, "WGPU_BACKEND=metal is honoured, and asks for none of vulkan, gl"),
    ];
    for (value, listed, blocking, text) in rows {
        let machine = with(healthy(), &[("WGPU_BACKEND", value)]);
        let text = format!("{text} (unset WGPU_BACKEND, or choose from vulkan,gl)");
        let finding = &diagnose(&machine, &BOTH, listed, 0)[0];
        let text = if text.len() > 100 { text.replacen(" (", "\n  (", 1) } else { text };
        assert_eq!((finding.to_string(), finding.blocking), (text, blocking));
    }
    let machine = with(healthy(), &[("WGPU_BACKEND", "Vulkan, cuda")]);
    assert_first(
        &diagnose(&machine, &BOTH, 1, 1),
        Obstacle::BackendVariable,
        false,
        "WGPU_BACKEND=Vulkan, cuda is honoured, `cuda` is no backend; it excludes gl\n  \
         (unset WGPU_BACKEND, or choose from vulkan,gl)",
    );
    let all = with(healthy(), &[("WGPU_BACKEND", "gl,vulkan")]);
    assert_eq!(diagnose(&all, &BOTH, 2, 1), []);
}

#[test]
fn variables_of_gl_and_variables_without_effect() {
    let machine = with(
        healthy(),
        &[
            ("LIBGL_ALWAYS_SOFTWARE", "1"),
            ("MESA_LOADER_DRIVER_OVERRIDE", "zink"),
            ("WGPU_ADAPTER_NAME", "radeon"),
            ("WGPU_POWER_PREF", "low"),
            ("CUDA_VISIBLE_DEVICES", "0"),
        ],
    );
    let texts = |machine: &Machine| {
        let found = diagnose(machine, &BOTH, 1, 0);
        found.iter().filter(|f| !f.blocking).map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(
        texts(&machine)[..4],
        [
            "LIBGL_ALWAYS_SOFTWARE=1 makes Mesa's GL compute on the CPU (unset \
             LIBGL_ALWAYS_SOFTWARE)",
            "MESA_LOADER_DRIVER_OVERRIDE=zink names the one GL driver that Mesa loads\n  \
             (unset MESA_LOADER_DRIVER_OVERRIDE)",
            "WGPU_ADAPTER_NAME=radeon is set, and not used by wharf (use WHARF_ADAPTER=radeon)",
            "WGPU_POWER_PREF=low is set, and not used by wharf (use \
             WHARF_ADAPTER=integrated, or =discrete)",
        ]
    );
    let nvidia = Machine { nvidia: Nvidia { device: true, ..Nvidia::default() }, ..machine };
    let cuda = "CUDA_VISIBLE_DEVICES=0 is set, and neither shows nor hides a GPU here\n  \
                (choose an adapter with WHARF_ADAPTER)";
    assert!(texts(&nvidia).iter().any(|text| text == cuda));
    let off = with(healthy(), &[("LIBGL_ALWAYS_SOFTWARE", "false")]);
    assert!(texts(&off).iter().all(|text| !text.contains("LIBGL_ALWAYS_SOFTWARE")), "it is off");
}

#[test]
fn variables_in_force_name_what_they_change() {
    let rows: [(&str, &str, &str); 4] = [
        ("WGPU_BACKEND", "gl", "only gl adapters are listed"),
        ("WGPU_BACKEND", "gl,vk", "only gl and vulkan adapters are listed"),
        ("WGPU_BACKEND", "cuda", "no adapter is listed"),
        ("WHARF_ALLOW_SOFTWARE", "1", "software adapters may be chosen"),
    ];
    for (name, value, effect) in rows {
        let machine = with(healthy(), &[(name, value)]);
        assert_eq!(variables_in_force(&machine), [format!("{name}={value} is honoured: {effect}")]);
    }
    // The Vulkan loader is not asked at all where only GL is.
    let gl = with(
        healthy(),
        &[("WGPU_BACKEND", "gl"), ("VK_DRIVER_FILES", "/x"), ("WHARF_ADAPTER", "")],
    );
    assert_eq!(
        variables_in_force(&gl),
        ["WGPU_BACKEND=gl is honoured: only gl adapters are listed"]
    );
}
