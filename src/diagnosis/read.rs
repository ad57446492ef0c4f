//! Reading the machine. Thin: nothing here judges, and nothing here fails, hangs or starts a
//! process.
//!
//! Only known places are looked at, one directory deep, with bounds on entries and bytes; only
//! regular files are read, so a pipe cannot block. A root directory and the variables are injected,
//! so that a test can bring its own.

use std::fs::{self, File};
use std::io::{ErrorKind, Read as _};
use std::path::{Component, Path, PathBuf};

use super::machine::{Library, Machine, Manifest, Os, Overlooked};
use super::variables::KNOWN;

mod devices;
mod drivers;

/// No directory that matters here has more entries, and no file more bytes.
const ENTRIES_MAX: usize = 1 << 16;
const BYTES_MAX: u64 = 1 << 20;

/// Where reading starts: the root directory and the environment.
pub(super) struct Roots<'a> {
    pub(super) root: &'a Path,
    pub(super) variable: &'a dyn Fn(&str) -> Option<String>,
}

impl Machine {
    /// Reads this machine. What cannot be read stays unknown.
    pub(crate) fn read() -> Self {
        let variable =
            |name: &str| std::env::var_os(name).map(|value| value.to_string_lossy().into_owned());
        Roots { root: Path::new("/"), variable: &variable }.read()
    }
}

impl Roots<'_> {
    /// Reads what there is below this root.
    pub(super) fn read(&self) -> Machine {
        let os = self.os();
        let set = |name: &&str| Some(((*name).to_owned(), (self.variable)(name)?));
        let machine =
            Machine { variables: KNOWN.iter().filter_map(set).collect(), ..Machine::unknown(os) };
        match os {
            Os::Browser | Os::Mac => machine,
            Os::Windows => self.windows(machine),
            _ => self.linux(machine),
        }
    }

    fn os(&self) -> Os {
        if cfg!(target_arch = "wasm32") {
            return Os::Browser;
        } else if cfg!(target_vendor = "apple") {
            return Os::Mac;
        } else if cfg!(windows) {
            return Os::Windows;
        }
        let release = ["/etc/os-release", "/usr/lib/os-release"];
        let text = release.into_iter().find_map(|path| self.text(path).ok()).unwrap_or_default();
        distribution(&text)
    }

    fn windows(&self, machine: Machine) -> Machine {
        let system = (self.variable)("SystemRoot").unwrap_or_else(|| r"C:\Windows".to_owned());
        let vulkan = match Path::new(&system).join(r"System32\vulkan-1.dll").try_exists() {
            Ok(true) => Library::Found,
            Ok(false) => Library::Missing(1),
            Err(_) => Library::Unknown,
        };
        self.with_named(Machine { vulkan, ..machine }, &[], ';')
    }

    fn linux(&self, machine: Machine) -> Machine {
        let libraries = self.library_folders();
        let (searched, passed_by) = self.manifest_folders();
        let read = |folder: String| self.manifests_in(&folder, &libraries);
        let overlooked = passed_by.into_iter().flat_map(|(variable, folder)| {
            read(folder).into_iter().map(move |manifest| Overlooked { variable, manifest })
        });
        let container =
            ["/.dockerenv", "/run/.containerenv"].into_iter().any(|path| self.exists(path))
                || ["container", "KUBERNETES_SERVICE_HOST"]
                    .into_iter()
                    .any(|name| (self.variable)(name).is_some());
        let machine = Machine {
            vulkan: self.find_library("libvulkan.so.1", &libraries),
            egl: self.find_library("libEGL.so.1", &libraries),
            overlooked: overlooked.collect(),
            installed: Some(searched.into_iter().flat_map(read).collect()),
            nodes: self.render_nodes(),
            gpus: self.pci_gpus(),
            nvidia: self.nvidia(&libraries),
            container,
            wsl: self.exists("/dev/dxg"),
            ..machine
        };
        self.with_named(machine, &libraries, ':')
    }

    /// Adds the manifests that variables name.
    fn with_named(&self, machine: Machine, libraries: &[String], separator: char) -> Machine {
        let list = |value: Option<&str>| -> Vec<Manifest> {
            let paths = value.unwrap_or_default().split(separator).filter(|path| !path.is_empty());
            paths.flat_map(|path| self.manifests_at(path, libraries)).collect()
        };
        let named = list(machine.replacement().map(|(_, value)| value));
        let added = list(machine.variable("VK_ADD_DRIVER_FILES"));
        Machine { named, added, ..machine }
    }

    /// The path below this root. `..` stays inside it.
    fn at(&self, path: &str) -> PathBuf {
        if self.root == Path::new("/") {
            return PathBuf::from(path);
        }
        let mut real = self.root.to_path_buf();
        let mut depth = 0_usize;
        for component in Path::new(path).components() {
            match component {
                Component::Normal(name) => {
                    real.push(name);
                    depth += 1;
                }
                Component::ParentDir if depth > 0 => {
                    real.pop();
                    depth -= 1;
                }
                _ => {}
            }
        }
        real
    }

    fn exists(&self, path: &str) -> bool {
        self.at(path).exists()
    }

    /// The text of a regular file, within bounds.
    fn text(&self, path: &str) -> Result<String, ErrorKind> {
        let path = self.at(path);
        let metadata = fs::metadata(&path).map_err(|error| error.kind())?;
        if metadata.is_dir() {
            return Err(ErrorKind::IsADirectory);
        } else if !metadata.is_file() {
            return Err(ErrorKind::InvalidInput);
        }
        let mut bytes = Vec::new();
        let file = File::open(&path).map_err(|error| error.kind())?;
        file.take(BYTES_MAX).read_to_end(&mut bytes).map_err(|error| error.kind())?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The names in a directory, sorted; `None` if it cannot be listed.
    fn list(&self, folder: &str) -> Option<Vec<String>> {
        let entries = fs::read_dir(self.at(folder)).ok()?.take(ENTRIES_MAX).flatten();
        let mut names: Vec<String> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort_unstable();
        Some(names)
    }
}

/// The family of package managers that an os-release file names, by `ID` first and `ID_LIKE` after.
pub(super) fn distribution(release: &str) -> Os {
    const FAMILIES: [(&str, Os); 9] = [
        ("ubuntu", Os::Ubuntu),
        ("pop", Os::Ubuntu),
        ("debian", Os::Debian),
        ("raspbian", Os::Debian),
        ("fedora", Os::Fedora),
        ("rhel", Os::Fedora),
        ("centos", Os::Fedora),
        ("arch", Os::Arch),
        ("manjaro", Os::Arch),
    ];
    let field = |key: &str| {
        let value = release.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='));
        value.unwrap_or_default().trim().trim_matches(['"', '\'']).to_lowercase()
    };
    let words = format!("{} {}", field("ID"), field("ID_LIKE"));
    let family = |word: &str| FAMILIES.iter().find(|(name, _)| *name == word).map(|(_, os)| *os);
    words.split_whitespace().find_map(family).unwrap_or(Os::Linux)
}
