//! Reading directory trees, malformed ones among them.

use std::fs;
use std::path::{Path, PathBuf};

use super::*;
use crate::diagnosis::manifest::library_path;
use crate::diagnosis::read::{Roots, distribution};

/// A directory tree that goes when the test does.
struct Tree(PathBuf);

impl Tree {
    fn new(name: &str) -> Self {
        let path =
            std::env::temp_dir().join(format!("wharf-diagnosis-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("a directory for the test");
        Self(path)
    }

    fn file(self, path: &str, bytes: impl AsRef<[u8]>) -> Self {
        let path = self.0.join(path.trim_start_matches('/'));
        fs::create_dir_all(path.parent().unwrap_or(Path::new("/"))).expect("a folder");
        fs::write(path, bytes).expect("a file");
        self
    }

    fn read(&self, variables: &[(&str, &str)]) -> Machine {
        let variable = |name: &str| {
            let set = variables.iter().find(|(known, _)| *known == name)?;
            Some(set.1.to_owned())
        };
        Roots { root: &self.0, variable: &variable }.read()
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn states(manifests: &[Manifest]) -> Vec<(&str, &ManifestState)> {
    manifests.iter().map(|manifest| (manifest.path.as_str(), &manifest.state)).collect()
}

const LVP: &str = r#"{"ICD": {"library_path": "libvulkan_lvp.so", "api_version": "1.1"}}"#;

#[test]
#[cfg(target_os = "linux")]
fn an_empty_root_is_a_machine_without_anything() {
    let machine = Tree::new("empty").read(&[]);
    assert_eq!(machine.os, Os::Linux);
    assert_eq!((machine.vulkan, machine.egl), (Library::Missing(0), Library::Missing(0)));
    assert_eq!((machine.installed, machine.gpus), (Some(Vec::new()), None));
    assert_eq!(machine.nvidia, Nvidia::default());
}

#[test]
#[cfg(target_os = "linux")]
fn manifests_good_and_bad() {
    let mut foreign = *b"\x7fELF\x02";
    foreign[4] = if cfg!(target_pointer_width = "64") { 1 } else { 2 };
    let tree = Tree::new("manifests")
        .file("/etc/ld.so.conf", "# all\ninclude /etc/ld.so.conf.d/*.conf\n")
        .file("/etc/ld.so.conf.d/a.conf", "/opt/lib # here\n")
        .file("/opt/lib/libvulkan_lvp.so", "")
        .file("/opt/lib/libvulkan.so.1", "")
        .file("/opt/lib32/libforeign.so", foreign)
        .file("/usr/share/vulkan/icd.d/a.json", LVP)
        .file("/usr/share/vulkan/icd.d/b.json", r#"{"ICD": {"library_path": "../lib/libb.so"}}"#)
        .file("/usr/share/vulkan/lib/libb.so", "")
        .file("/usr/share/vulkan/icd.d/c.json", r#"{"ICD": {"library_path": "/no/libc.so"}}"#)
        .file("/usr/share/vulkan/icd.d/d.json", b"\xff\xfe not json")
        .file("/usr/share/vulkan/icd.d/e.json", "{}")
        .file(
            "/usr/share/vulkan/icd.d/f.json/in",
            "a directory, which no process can read as a file",
        )
        .file(
            "/usr/share/vulkan/icd.d/g.json",
            r#"{"ICD":{"library_path":"/opt/lib32/libforeign.so"}}"#,
        )
        .file("/usr/share/vulkan/icd.d/h.txt", LVP);
    let machine = tree.read(&[]);
    let folder = "/usr/share/vulkan/icd.d";
    let expected = [
        ("a", ManifestState::Loads),
        ("b", ManifestState::Loads),
        ("c", ManifestState::LibraryMissing("/no/libc.so".to_owned())),
        ("d", ManifestState::NotJson),
        ("e", ManifestState::NoLibraryPath),
        ("f", ManifestState::Unreadable("is a directory".to_owned())),
        ("g", ManifestState::OtherWidth),
    ];
    let expected =
        expected.map(|(name, state)| Manifest { path: format!("{folder}/{name}.json"), state });
    assert_eq!(machine.installed.as_deref(), Some(&expected[..]));
    assert_eq!((machine.vulkan, machine.egl), (Library::Found, Library::Missing(1)));
}

#[test]
#[cfg(target_os = "linux")]
fn variables_lead_the_search() {
    let tree = Tree::new("variables")
        .file("/usr/share/vulkan/icd.d/lvp.json", LVP)
        .file("/home/.local/share/vulkan/icd.d/mine.json", LVP)
        .file("/lib/libvulkan_lvp.so", "")
        .file("/more/x.json", LVP);
    let paths =
        |manifests: &[Manifest]| manifests.iter().map(|m| m.path.clone()).collect::<Vec<_>>();

    let machine = tree.read(&[("HOME", "/home"), ("VK_ADD_DRIVER_FILES", "/more/x.json:/no.json")]);
    let home = "/home/.local/share/vulkan/icd.d/mine.json";
    let usual = "/usr/share/vulkan/icd.d/lvp.json";
    assert_eq!(paths(machine.installed.as_deref().unwrap_or_default()), [home, usual]);
    assert_eq!(
        states(&machine.added),
        [("/more/x.json", &ManifestState::Loads), ("/no.json", &ManifestState::Absent)]
    );

    let machine = tree.read(&[("XDG_DATA_DIRS", "/opt/share:")]);
    assert_eq!(machine.installed, Some(Vec::new()));
    let [lost] = machine.overlooked.as_slice() else { panic!("{:?}", machine.overlooked) };
    assert_eq!((lost.variable, lost.manifest.path.as_str()), ("XDG_DATA_DIRS", usual));

    let machine = tree.read(&[("HOME", "/home"), ("XDG_DATA_HOME", "/opt")]);
    let [lost] = machine.overlooked.as_slice() else { panic!("{:?}", machine.overlooked) };
    assert_eq!((lost.variable, lost.manifest.path.as_str()), ("XDG_DATA_HOME", home));

    // A directory stands for the manifests in it, and the newer name silences the older.
    let machine = tree.read(&[("VK_DRIVER_FILES", "/more"), ("VK_ICD_FILENAMES", "/no.json")]);
    assert_eq!(states(&machine.named), [("/more/x.json", &ManifestState::Loads)]);
    let machine = tree.read(&[("VK_DRIVER_FILES", ""), ("UNRELATED", "1")]);
    assert_eq!((machine.named.len(), machine.variables.len()), (0, 1));
}

#[test]
#[cfg(target_os = "linux")]
fn devices_and_distribution() {
    let tree = Tree::new("devices")
        .file("/etc/os-release", "ID=linuxmint\nID_LIKE=\"ubuntu debian\"\n")
        .file("/dev/dri/card0", "")
        .file("/dev/dri/renderD128", "")
        .file("/dev/nvidiactl", "")
        .file(
            "/proc/driver/nvidia/version",
            "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.86.15\n",
        )
        .file("/usr/lib/libGLX_nvidia.so.0", "")
        .file("/usr/lib/libGLX_nvidia.so.570.86.16", "")
        .file("/sys/bus/pci/devices/0000:01:00.0/class", "0x030200\n")
        .file("/sys/bus/pci/devices/0000:01:00.0/vendor", "0x10de\n")
        .file("/sys/bus/pci/devices/0000:02:00.0/class", "0x020000\n")
        .file("/sys/bus/pci/devices/0000:02:00.0/vendor", "0x8086\n")
        .file("/sys/bus/pci/devices/0000:03:00.0/class", "nonsense")
        .file("/.dockerenv", "");
    let machine = tree.read(&[]);
    assert_eq!(machine.os, Os::Ubuntu);
    assert_eq!(machine.nodes.len(), 1);
    assert_eq!(machine.nodes[0].access, NodeAccess::Open);
    assert!(machine.nodes[0].group.as_deref().is_some_and(|group| group.parse::<u32>().is_ok()));
    let gpu = PciGpu { address: "0000:01:00.0".to_owned(), vendor: 0x10de, driver: None };
    assert_eq!(machine.gpus, Some(vec![gpu]));
    let (kernel, user) = (Some("570.86.15".to_owned()), Some("570.86.16".to_owned()));
    assert_eq!(machine.nvidia, Nvidia { kernel, user, device: true });
    assert!(machine.container && !machine.wsl);
}

#[test]
fn distributions_by_their_release_file() {
    let rows = [
        ("ID=debian", Os::Debian),
        ("NAME=x\nID=\"fedora\"", Os::Fedora),
        ("ID=endeavouros\nID_LIKE=arch", Os::Arch),
        ("ID=nixos", Os::Linux),
        ("", Os::Linux),
    ];
    for (text, os) in rows {
        assert_eq!(distribution(text), os, "{text}");
    }
}

#[test]
fn the_scanner_is_tolerant_and_never_lost() {
    let path = |text: &str| library_path(text).map_err(|fault| fault == ManifestState::NotJson);
    let rows = [
        ("\u{feff} {\"ICD\":{\"library_path\" : \"a.so\"}}\n", Ok("a.so")),
        (r#"{"x": "library_path", "ICD": {"library_path": "C:\\a\u002edll",}}"#, Ok(r"C:\a.dll")),
        (r#"{"a": ["library_path", "no"], "b": {"library_path": "yes"}}"#, Ok("yes")),
        (r#"{"library_path": ""}"#, Err(false)),
        (r#"{"library_path": 7, "x": "y"}"#, Err(false)),
        ("{}", Err(false)),
        ("", Err(true)),
        ("[]", Err(true)),
        ("{", Err(true)),
        (r#"{"library_path": "a"#, Err(true)),
        (r#"{"library_path": "a\u00zz"}"#, Err(true)),
        (r#"{"library_path": "a"]"#, Err(true)),
        (r#"{"library_path": "a"} x"#, Err(true)),
    ];
    for (text, expected) in rows {
        assert_eq!(path(text), expected.map(str::to_owned), "{text}");
    }
    // Every prefix of a manifest is judged without a panic.
    for end in (0..LVP.len()).filter(|end| LVP.is_char_boundary(*end)) {
        assert!(library_path(&LVP[..end]).is_err());
    }
}

#[test]
fn this_machine_can_be_read() {
    let machine = Machine::read();
    let _ = diagnose(&machine, &BOTH, 0, 0);
    let _ = variables_in_force(&machine);
}
