//! What a GPU loader would see on this machine: plain data, so that judging it needs no machine.
//!
//! `None` and `Unknown` mean "could not be read", never "is not there".

/// The variable that lists Vulkan adapters whose drivers pass no conformance test, which wgpu hides
/// otherwise.
pub(super) const UNPROVEN: &str = "WGPU_ALLOW_UNDERLYING_NONCOMPLIANT_ADAPTER";

/// What this machine looks like to a GPU loader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Machine {
    pub(crate) os: Os,
    /// Those of the variables in `variables::KNOWN` that are set.
    pub(crate) variables: Vec<(String, String)>,
    /// The Vulkan loader library.
    pub(crate) vulkan: Library,
    /// The EGL library, through which GL is reached without a window.
    pub(crate) egl: Library,
    /// Driver manifests on the loader's own search path; `None` where that is not a path of files
    /// (Windows).
    pub(crate) installed: Option<Vec<Manifest>>,
    /// Manifests in the usual directories that XDG variables have taken off the search path.
    pub(crate) overlooked: Vec<Overlooked>,
    /// Manifests that `VK_DRIVER_FILES` or `VK_ICD_FILENAMES` names instead of the installed ones.
    pub(crate) named: Vec<Manifest>,
    /// Manifests that `VK_ADD_DRIVER_FILES` names beside the installed ones.
    pub(crate) added: Vec<Manifest>,
    pub(crate) nodes: Vec<RenderNode>,
    /// Display controllers on the PCI bus; `None` where the bus cannot be listed.
    pub(crate) gpus: Option<Vec<PciGpu>>,
    pub(crate) nvidia: Nvidia,
    pub(crate) container: bool,
    /// Whether `/dev/dxg`, the GPU of WSL2, is there.
    pub(crate) wsl: bool,
}

/// The platform, as far as remedies differ by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Os {
    Debian,
    Ubuntu,
    Fedora,
    Arch,
    /// A Linux (or another Unix) whose package manager is not known here.
    Linux,
    Mac,
    Windows,
    Browser,
}

impl Os {
    pub(crate) fn is_linux(self) -> bool {
        !matches!(self, Self::Mac | Self::Windows | Self::Browser)
    }
}

/// A shared library that is searched for by file name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Library {
    Found,
    /// It is in none of this many directories.
    Missing(usize),
    Unknown,
}

/// A manifest where the loader would look if this variable were not set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Overlooked {
    pub(crate) variable: &'static str,
    pub(crate) manifest: Manifest,
}

/// A Vulkan driver manifest: one JSON file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Manifest {
    pub(crate) path: String,
    pub(crate) state: ManifestState,
}

/// What becomes of a manifest when the loader meets it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ManifestState {
    /// Its library is there; whether the driver then finds a GPU is another question.
    Loads,
    /// Its library is for another pointer width: passed over by design.
    OtherWidth,
    Absent,
    /// It exists and cannot be read, for this reason.
    Unreadable(String),
    NotJson,
    NoLibraryPath,
    /// It names a library that is not there.
    LibraryMissing(String),
}

/// Drivers that compute on the CPU, by what their manifests are called.
const SOFTWARE: [&str; 3] = ["lvp", "lavapipe", "swiftshader"];

impl Manifest {
    /// The file name, which is what filters match.
    pub(crate) fn file(&self) -> &str {
        self.path.rsplit(['/', '\\']).next().unwrap_or(&self.path)
    }

    /// The driver's short name: `radeon` of `/usr/share/vulkan/icd.d/radeon_icd.x86_64.json`.
    pub(crate) fn name(&self) -> &str {
        let stem = self.file().strip_suffix(".json").unwrap_or(self.file());
        let stem = stem.split('.').next().unwrap_or(stem);
        stem.strip_suffix("_icd").unwrap_or(stem)
    }

    pub(crate) fn loads(&self) -> bool {
        self.state == ManifestState::Loads
    }

    pub(crate) fn is_software(&self) -> bool {
        SOFTWARE.iter().any(|word| self.name().contains(word))
    }
}

/// `/dev/dri/renderD*`: the door to a GPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RenderNode {
    pub(crate) path: String,
    /// The owning group, by name where it has one.
    pub(crate) group: Option<String>,
    pub(crate) access: NodeAccess,
}

/// Whether this process can open a node for reading and writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NodeAccess {
    Open,
    /// Refused by the file's permissions.
    Denied,
    /// Refused in spite of them, as a container's device rules do.
    Forbidden,
    Unknown,
}

/// A display controller on the PCI bus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PciGpu {
    pub(crate) address: String,
    pub(crate) vendor: u16,
    /// The kernel driver bound to it.
    pub(crate) driver: Option<String>,
}

/// What there is of NVIDIA's driver beside its manifest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Nvidia {
    /// The version of the kernel module, which a container sees too.
    pub(crate) kernel: Option<String>,
    /// The version of the user library.
    pub(crate) user: Option<String>,
    /// Whether `/dev/nvidiactl` is there.
    pub(crate) device: bool,
}

impl Machine {
    /// A machine of which nothing is known.
    pub(crate) fn unknown(os: Os) -> Self {
        Self {
            os,
            variables: Vec::new(),
            vulkan: Library::Unknown,
            egl: Library::Unknown,
            installed: None,
            overlooked: Vec::new(),
            named: Vec::new(),
            added: Vec::new(),
            nodes: Vec::new(),
            gpus: None,
            nvidia: Nvidia::default(),
            container: false,
            wsl: false,
        }
    }

    /// The value of a variable, if it is set.
    pub(crate) fn variable(&self, name: &str) -> Option<&str> {
        self.variables.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The variable that replaces the loader's search, with its value. The first one that is set
    /// wins, even when it is empty: the loader then looks nowhere (seen with loader 1.3.239).
    pub(crate) fn replacement(&self) -> Option<(&'static str, &str)> {
        ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"]
            .into_iter()
            .find_map(|name| self.variable(name).map(|value| (name, value)))
    }

    /// Whether a driver could find a GPU here at all: false only where nothing leads to one.
    pub(crate) fn may_reach_a_gpu(&self) -> bool {
        !self.nodes.is_empty() || self.nvidia.device || self.wsl || self.gpus.is_none()
    }

    /// Manifests that would be found if no variable replaced the search.
    pub(crate) fn discovered(&self) -> impl Iterator<Item = &Manifest> {
        self.installed.iter().flatten()
    }

    /// Manifests the loader will open, filters applied.
    pub(crate) fn effective(&self) -> Vec<&Manifest> {
        let sources: Vec<&Manifest> = match self.replacement() {
            Some(_) => self.named.iter().collect(),
            None => self.discovered().chain(&self.added).collect(),
        };
        sources.into_iter().filter(|manifest| !self.filtered(manifest)).collect()
    }

    /// Whether a filter variable removes this driver. A selected driver stays even if it is also
    /// disabled (seen with loader 1.3.239).
    pub(crate) fn filtered(&self, manifest: &Manifest) -> bool {
        let select = self.variable("VK_LOADER_DRIVERS_SELECT").filter(|globs| !globs.is_empty());
        let disable = self.variable("VK_LOADER_DRIVERS_DISABLE").unwrap_or_default();
        match select {
            Some(globs) => !matches_any(globs, manifest.file()),
            None => matches_any(disable, manifest.file()),
        }
    }
}

/// Whether a comma-separated list of the loader's globs (`*` at either end, no case, `~all~`) has a
/// match.
pub(crate) fn matches_any(globs: &str, file: &str) -> bool {
    let file = file.to_ascii_lowercase();
    globs.split(',').map(|glob| glob.trim().to_ascii_lowercase()).any(|glob| {
        let core = glob.trim_matches('*');
        match (glob.starts_with('*'), glob.ends_with('*')) {
            _ if glob.is_empty() => false,
            _ if glob == "~all~" => true,
            (true, true) => file.contains(core),
            (true, false) => file.ends_with(core),
            (false, true) => file.starts_with(core),
            (false, false) => file == core,
        }
    })
}
