//! What is found: a cause, the values it was found with, and the remedy.

use core::fmt;

use crate::caps::named;

named! {
    /// What kind of thing keeps an adapter away.
    Obstacle,
    /// The cause as one word, for machine-readable output.
    name:
    /// The program was built without the backend this platform needs.
    BackendCompiledOut "backend-compiled-out";
    /// `WGPU_BACKEND` excludes backends or names an unknown one.
    BackendVariable "backend-variable";
    /// `VK_DRIVER_FILES`, `VK_ICD_FILENAMES` or an XDG variable hides installed drivers.
    DriverVariable "driver-variable";
    /// `VK_LOADER_DRIVERS_SELECT` or `VK_LOADER_DRIVERS_DISABLE` removes drivers.
    DriverFilter "driver-filter";
    /// The Vulkan loader library is not there.
    LoaderMissing "loader-missing";
    /// NVIDIA's kernel driver is there and its Vulkan driver is not.
    NvidiaGraphics "nvidia-graphics";
    /// NVIDIA's kernel module and user library differ in version.
    NvidiaVersions "nvidia-versions";
    /// A render node exists and this process may not open it.
    NodePermission "node-permission";
    /// There is a GPU and no device node for it.
    NodeMissing "node-missing";
    /// A GPU is on the bus and no Vulkan driver of its vendor is installed.
    VendorDriver "vendor-driver";
    /// A driver manifest fails to load.
    ManifestBroken "manifest-broken";
    /// There is no Vulkan driver manifest at all.
    ManifestMissing "manifest-missing";
    /// Drivers that load list no adapter: wgpu hides those that pass no conformance test.
    DriverUnproven "driver-unproven";
    /// The EGL library is not there, so GL lists nothing.
    GlMissing "gl-missing";
    /// WSL2, whose GPU is reached through Windows.
    Wsl "wsl";
    /// A variable makes a GL driver a software one, or another one.
    GlVariable "gl-variable";
    /// A variable is set that has no effect here.
    VariableIgnored "variable-ignored";
    /// This machine shows no GPU.
    NoGpu "no-gpu";
    /// Adapters are listed, all of them software.
    SoftwareOnly "software-only";
    /// Not even a software adapter is listed.
    NothingListed "nothing-listed";
}

/// One thing found that explains, or may explain, a missing adapter.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// What kind of thing it is.
    pub cause: Obstacle,
    /// What was found, with the values it was found with; no advice.
    pub found: String,
    /// What to do about it on this platform.
    pub remedy: String,
    /// Whether this by itself keeps adapters away; otherwise it is a note.
    pub blocking: bool,
}

impl Finding {
    pub(super) fn blocking(
        cause: Obstacle,
        found: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self { cause, found: found.into(), remedy: remedy.into(), blocking: true }
    }

    pub(super) fn note(
        cause: Obstacle,
        found: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self { blocking: false, ..Self::blocking(cause, found, remedy) }
    }

    /// This finding, blocking only if `condition` holds.
    pub(super) fn blocking_if(mut self, condition: bool) -> Self {
        self.blocking = condition;
        self
    }
}

const WIDTH: usize = 100;

impl fmt::Display for Finding {
    /// `found (remedy)`, on one line where it fits into 100 columns, else the remedy on lines of
    /// its own.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A variable may hold control characters, which must not reach a terminal.
        let clean = |text: &str| text.replace(|c: char| c.is_control(), "?");
        let (found, remedy) = (clean(&self.found), format!("({})", clean(&self.remedy)));
        if found.chars().count() + 1 + remedy.chars().count() <= WIDTH {
            return write!(f, "{found} {remedy}");
        }
        write!(f, "{}\n  {}", wrap(&found, WIDTH), wrap(&remedy, WIDTH - 2).replace('\n', "\n  "))
    }
}

/// Breaks text between words; continuation lines are indented by two. A longer word stays whole.
fn wrap(text: &str, width: usize) -> String {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let Some(line) = lines.last_mut() else { break };
        if line.trim().is_empty() || line.chars().count() + 1 + word.chars().count() <= width {
            let space = if line.trim().is_empty() { "" } else { " " };
            *line = format!("{line}{space}{word}");
        } else {
            lines.push(format!("  {word}"));
        }
    }
    lines.join("\n")
}

/// `a, b, c and 2 more`: at most four names.
pub(super) fn some_of<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.into_iter().collect();
    match names.len() {
        0..=4 => names.join(", "),
        many => format!("{} and {} more", names[..3].join(", "), many - 3),
    }
}
