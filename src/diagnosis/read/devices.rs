//! Reading device nodes, the PCI bus, and what there is of NVIDIA's driver.

use std::fs::{self, OpenOptions};
use std::io::ErrorKind;
use std::path::Path;

use super::super::machine::{NodeAccess, Nvidia, PciGpu, RenderNode};
use super::Roots;

impl Roots<'_> {
    pub(super) fn render_nodes(&self) -> Vec<RenderNode> {
        let names = self.list("/dev/dri").unwrap_or_default().into_iter();
        let paths =
            names.filter(|name| name.starts_with("renderD")).map(|name| format!("/dev/dri/{name}"));
        paths
            .map(|path| {
                let real = self.at(&path);
                let (group, access) = (self.group(&real), access(&real));
                RenderNode { path, group, access }
            })
            .collect()
    }

    /// The owning group's name, or its number where it has no name here.
    fn group(&self, path: &Path) -> Option<String> {
        let id = owning_group(path)?.to_string();
        let groups = self.text("/etc/group").unwrap_or_default();
        let name = groups.lines().find_map(|line| {
            let mut fields = line.split(':');
            let name = fields.next()?;
            (fields.nth(1)? == id).then(|| name.to_owned())
        });
        Some(name.unwrap_or(id))
    }

    pub(super) fn pci_gpus(&self) -> Option<Vec<PciGpu>> {
        let folder = "/sys/bus/pci/devices";
        let gpu = |address: String| {
            let hex = |file: &str| {
                let text = self.text(&format!("{folder}/{address}/{file}")).ok()?;
                u32::from_str_radix(text.trim().trim_start_matches("0x"), 16).ok()
            };
            let display = hex("class")? >> 16 == 0x03;
            let vendor = hex("vendor").and_then(|id| u16::try_from(id).ok())?;
            let driver = fs::read_link(self.at(&format!("{folder}/{address}/driver"))).ok();
            let driver =
                driver.and_then(|link| Some(link.file_name()?.to_string_lossy().into_owned()));
            display.then_some(PciGpu { address, vendor, driver })
        };
        Some(self.list(folder)?.into_iter().filter_map(gpu).collect())
    }

    pub(super) fn nvidia(&self, libraries: &[String]) -> Nvidia {
        let version = self.text("/proc/driver/nvidia/version").unwrap_or_default();
        let module = version.lines().find(|line| line.contains("Module")).unwrap_or_default();
        let kernel = module.split_whitespace().find(|word| is_version(word)).map(str::to_owned);
        let user = libraries.iter().filter(|_| kernel.is_some()).find_map(|folder| {
            let mut names = self.list(folder)?.into_iter();
            names.find_map(|name| {
                let version = name.strip_prefix("libGLX_nvidia.so.")?;
                is_version(version).then(|| version.to_owned())
            })
        });
        Nvidia { kernel, user, device: self.exists("/dev/nvidiactl") }
    }
}

#[cfg(unix)]
fn owning_group(path: &Path) -> Option<u32> {
    use std::os::unix::fs::MetadataExt as _;
    Some(fs::metadata(path).ok()?.gid())
}

#[cfg(not(unix))]
fn owning_group(_path: &Path) -> Option<u32> {
    None
}

/// Digits and dots, at least one of each: `535.183.01`.
fn is_version(word: &str) -> bool {
    word.contains('.')
        && word.starts_with(|c: char| c.is_ascii_digit())
        && word.chars().all(|c| c.is_ascii_digit() || c == '.')
}

/// Whether a node can be opened for reading and writing, found by doing so.
fn access(path: &Path) -> NodeAccess {
    const EPERM: i32 = 1; // permissions allow it, and something else forbids it
    match OpenOptions::new().read(true).write(true).open(path) {
        Ok(_) => NodeAccess::Open,
        Err(error) if error.raw_os_error() == Some(EPERM) => NodeAccess::Forbidden,
        Err(error) if error.kind() == ErrorKind::PermissionDenied => NodeAccess::Denied,
        Err(_) => NodeAccess::Unknown,
    }
}
