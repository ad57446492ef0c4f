//! Reading libraries and driver manifests, in the places and the order in which the loaders look.

use std::fs::{self, File};
use std::io::{ErrorKind, Read as _};
use std::path::Path;

use super::super::machine::{Library, Manifest, ManifestState};
use super::super::manifest::library_path;
use super::Roots;

impl Roots<'_> {
    /// The directories the Vulkan loader searches, in its order, and those that a variable keeps it
    /// from searching.
    pub(super) fn manifest_folders(&self) -> (Vec<String>, Vec<(&'static str, String)>) {
        let home = (self.variable)("HOME").unwrap_or_default();
        let below_home = |folder: &str| match home.as_str() {
            "" => String::new(),
            home => format!("{home}/{folder}"),
        };
        let table: [(&'static str, String); 6] = [
            ("XDG_CONFIG_HOME", below_home(".config")),
            ("XDG_CONFIG_DIRS", "/etc/xdg".to_owned()),
            ("", "/etc".to_owned()),
            ("XDG_DATA_HOME", below_home(".local/share")),
            ("XDG_DATA_DIRS", "/usr/local/share:/usr/share".to_owned()),
            ("", "/run/opengl-driver/share".to_owned()), // NixOS
        ];
        let folders = |list: &str| -> Vec<String> {
            let folders = list.split(':').filter(|folder| !folder.is_empty());
            folders.map(|at| format!("{}/vulkan/icd.d", at.trim_end_matches('/'))).collect()
        };
        let (mut searched, mut usually) = (Vec::new(), Vec::new());
        for (name, usual) in table {
            let value = Some(name).filter(|name| !name.is_empty()).and_then(self.variable);
            let value = value.filter(|value| !value.is_empty());
            for folder in folders(value.as_ref().unwrap_or(&usual)) {
                if !searched.contains(&folder) {
                    searched.push(folder);
                }
            }
            usually.extend(folders(&usual).into_iter().map(|folder| (name, folder)));
        }
        usually.retain(|(_, folder)| !searched.contains(folder));
        (searched, usually)
    }

    /// What a path in a variable stands for: one manifest, or a directory of them.
    pub(super) fn manifests_at(&self, path: &str, libraries: &[String]) -> Vec<Manifest> {
        if self.at(path).is_dir() {
            self.manifests_in(path, libraries)
        } else {
            vec![self.manifest(path.to_owned(), libraries)]
        }
    }

    pub(super) fn manifests_in(&self, folder: &str, libraries: &[String]) -> Vec<Manifest> {
        let names = self.list(folder).unwrap_or_default().into_iter();
        let folder = folder.trim_end_matches('/');
        let paths = names
            .filter(|name| Path::new(name).extension().is_some_and(|end| end == "json"))
            .map(|name| format!("{folder}/{name}"));
        paths.map(|path| self.manifest(path, libraries)).collect()
    }

    fn manifest(&self, path: String, libraries: &[String]) -> Manifest {
        let state = match self.text(&path) {
            Err(ErrorKind::NotFound) => ManifestState::Absent,
            Err(ErrorKind::InvalidInput) => {
                ManifestState::Unreadable("not a regular file".to_owned())
            }
            Err(kind) => ManifestState::Unreadable(kind.to_string()),
            Ok(text) => match library_path(&text) {
                Err(fault) => fault,
                Ok(library) => self.driver_library(&path, library, libraries),
            },
        };
        Manifest { path, state }
    }

    /// A bare name is searched for, another relative path starts at the manifest.
    fn driver_library(&self, manifest: &str, library: String, folders: &[String]) -> ManifestState {
        let candidates: Vec<String> = if Path::new(&library).is_absolute() {
            vec![library.clone()]
        } else if library.contains(['/', '\\']) {
            let folder = Path::new(manifest).parent().unwrap_or(Path::new("/"));
            vec![folder.join(&library).to_string_lossy().into_owned()]
        } else if folders.is_empty() {
            return ManifestState::Loads; // where the system would look is not known here
        } else {
            folders.iter().map(|folder| format!("{folder}/{library}")).collect()
        };
        let widths: Vec<bool> = candidates.iter().filter_map(|path| self.fits(path)).collect();
        match widths.as_slice() {
            [] => ManifestState::LibraryMissing(library),
            some if some.contains(&true) => ManifestState::Loads,
            _ => ManifestState::OtherWidth,
        }
    }

    pub(super) fn find_library(&self, file: &str, folders: &[String]) -> Library {
        let found =
            folders.iter().any(|folder| self.fits(&format!("{folder}/{file}")) == Some(true));
        if found { Library::Found } else { Library::Missing(folders.len()) }
    }

    /// Whether a library that exists is of this process's pointer width; `None` if it does not
    /// exist.
    fn fits(&self, path: &str) -> Option<bool> {
        let path = self.at(path);
        if !fs::metadata(&path).ok()?.is_file() {
            return None;
        }
        let mut head = [0; 5];
        let read = File::open(&path).and_then(|mut file| file.read_exact(&mut head));
        let elf = read.is_ok() && head.starts_with(b"\x7fELF");
        let class = if cfg!(target_pointer_width = "64") { 2 } else { 1 };
        Some(!elf || head[4] == class)
    }

    /// Where the dynamic loader looks: `LD_LIBRARY_PATH`, `ld.so.conf`, and what is built into it.
    pub(super) fn library_folders(&self) -> Vec<String> {
        let variable = (self.variable)("LD_LIBRARY_PATH").unwrap_or_default();
        let mut folders: Vec<String> = variable.split(':').map(str::to_owned).collect();
        self.library_conf("/etc/ld.so.conf", 0, &mut folders);
        let multiarch = format!("{}-linux-gnu", std::env::consts::ARCH);
        let built_in = ["/lib", "/usr/lib", "/lib64", "/usr/lib64", "/usr/local/lib"];
        folders.extend(built_in.map(str::to_owned));
        folders.extend(["/lib", "/usr/lib"].map(|folder| format!("{folder}/{multiarch}")));
        folders.push("/run/opengl-driver/lib".to_owned()); // NixOS
        let mut known = Vec::new();
        folders.retain(|folder| {
            let new = !folder.is_empty() && !known.contains(folder) && self.exists(folder);
            known.push(folder.clone());
            new
        });
        folders
    }

    /// The directories in one configuration file, and in those it includes (two deep; `*` in file
    /// names only).
    fn library_conf(&self, path: &str, depth: usize, folders: &mut Vec<String>) {
        let Ok(text) = self.text(path) else { return };
        for line in text.lines().map(|line| line.split('#').next().unwrap_or_default().trim()) {
            let Some(pattern) = line.strip_prefix("include").map(str::trim) else {
                folders.extend(line.split([' ', '\t', ',', ':']).map(str::to_owned));
                continue;
            };
            let (folder, file) = pattern.rsplit_once('/').unwrap_or(("/etc", pattern));
            let folder =
                if folder.starts_with('/') { folder.to_owned() } else { format!("/etc/{folder}") };
            let (start, end) = file.split_once('*').unwrap_or((file, ""));
            for name in self.list(&folder).unwrap_or_default() {
                let long_enough = name.len() >= start.len() + end.len();
                if depth < 2 && long_enough && name.starts_with(start) && name.ends_with(end) {
                    self.library_conf(&format!("{folder}/{name}"), depth + 1, folders);
                }
            }
        }
    }
}
