//! Tuning results as text: a few lines that say where they were measured, one line for each
//! problem, and one that says how many there are.
//!
//! ```text
//! wharf tuned 3
//! version 0.1.0
//! adapter llvmpipe (LLVM 15.0.6, 256 bits)
//! backend vulkan
//! driver llvmpipe, Mesa 22.3.6 (LLVM 15.0.6)
//! kernels Cpu64
//! product f32 [k,n] 1 512 512 512 = tile sums 8x16 lanes 8 passes 1 @ 28.1000
//! end 1
//! ```
//!
//! Before the problems, of a GPU, stands `cores 40`: as many as it was timed to have.

use core::fmt;
use std::sync::Arc;

use crate::caps::breadth::Breadth;
use crate::device::Device;
use crate::error::{Result, causes};
use crate::kernel::choice::{Measured, Problem, Table};
use crate::wgsl::Target;

/// The first line of a table; its number is the version of the format.
const FIRST: &str = "wharf tuned 3";

/// Where something was measured, and the only place where it applies.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Origin {
    target: Target,
    /// Name and value of each line.
    lines: Vec<(&'static str, String)>,
}

impl Origin {
    fn of(device: &Device) -> Self {
        let identity = &device.caps().identity;
        let target = device.target();
        let lines = vec![
            ("version", env!("CARGO_PKG_VERSION").to_owned()),
            ("adapter", identity.name.clone()),
            ("backend", format!("{:?}", identity.backend).to_lowercase()),
            ("driver", format!("{}, {}", identity.driver, identity.driver_info)),
            ("kernels", format!("{target:?}")),
        ];
        let flat = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let lines = lines.into_iter().map(|(name, text)| (name, flat(text))).collect();
        Self { target, lines }
    }
}

/// What [`Device::tune`] found: the fastest kernel for each problem, on one adapter with one
/// driver, by one version of wharf. `{}` is the text of its file.
#[derive(Clone, Debug)]
pub struct Tuned {
    origin: Origin,
    breadth: Option<Breadth>,
    entries: Vec<Measured>,
}

impl Tuned {
    pub(super) fn of(device: &Device, breadth: Option<Breadth>, entries: Vec<Measured>) -> Self {
        Self { origin: Origin::of(device), breadth, entries }
    }

    /// The problems that were tuned, and the kernel for each in words.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (Problem, String)> {
        self.entries.iter().map(|entry| {
            let kernel = entry.choice.map_or_else(|| "built-in".into(), |choice| choice.text());
            (entry.problem, kernel)
        })
    }

    /// How many cores the GPU was timed to have, where a workgroup of 256 keeps one busy; nothing
    /// on a software driver, and where nothing could be timed.
    #[must_use]
    pub fn cores(&self) -> Option<u32> {
        self.breadth.map(Breadth::cores)
    }

    /// These entries with those of another table, which win. If that one was tuned
    /// elsewhere, it is left out.
    #[must_use]
    pub fn merged(mut self, newer: &Self) -> Self {
        if self.origin == newer.origin {
            let is_new =
                |entry: &Measured| newer.entries.iter().any(|n| n.problem == entry.problem);
            self.entries.retain(|entry| !is_new(entry));
            self.entries.extend_from_slice(&newer.entries);
            self.breadth = newer.breadth.or(self.breadth);
        }
        self
    }

    /// A table without choices, for this device: what others are merged into.
    #[must_use]
    pub fn new(device: &Device) -> Self {
        Self::of(device, None, Vec::new())
    }

    /// Reads a text, for this device.
    ///
    /// # Errors
    /// Of kind [`Mismatch`](crate::ErrorKind::Mismatch) where it was tuned elsewhere: on another
    /// adapter, driver, version of wharf or class of kernels; of kind
    /// [`File`](crate::ErrorKind::File) where it is no such text, or not all of it.
    pub fn from_text(text: &str, device: &Device) -> Result<Self> {
        let no_table = |why: String| FileCause::NoTable { why };
        let origin = Origin::of(device);
        let mut lines = text.lines();
        if lines.next() != Some(FIRST) {
            return Err(no_table(format!("it does not begin with {FIRST:?}")).into());
        }
        for (name, here) in &origin.lines {
            let line = lines.next().unwrap_or("");
            let there = line.strip_prefix(name).and_then(|rest| rest.strip_prefix(' '));
            let there =
                there.ok_or_else(|| no_table(format!("{line:?} where {name} was expected")))?;
            if there != here {
                let (there, here) = (there.to_owned(), here.clone());
                return Err(FileCause::Elsewhere { name, there, here }.into());
            }
        }
        let (mut breadth, mut entries) = (None, Vec::new());
        for line in lines {
            if let Some(count) = line.strip_prefix("end ") {
                return match count.parse::<usize>() {
                    Ok(count) if entries.len() == count => Ok(Self { origin, breadth, entries }),
                    _ => {
                        let why = format!("{count} entries promised, {} found", entries.len());
                        Err(no_table(why).into())
                    }
                };
            }
            let no_entry = || no_table(format!("{line:?} is no entry"));
            match line.strip_prefix("cores ") {
                Some(cores) if breadth.is_none() && entries.is_empty() => {
                    breadth = Some(Breadth::parse(cores).ok_or_else(no_entry)?);
                }
                _ => entries.push(Measured::parse(line).ok_or_else(no_entry)?),
            }
        }
        Err(no_table(format!("it breaks off after {} entries", entries.len())).into())
    }

    /// Why it is not for this device, if it is not.
    pub(super) fn foreign_to(&self, device: &Device) -> Option<String> {
        let here = Origin::of(device);
        let both = self.origin.lines.iter().zip(&here.lines);
        let differs = both.into_iter().find(|(own, here)| own != here);
        differs.map(|((name, own), (_, here))| format!("{name} {own:?}, here {here:?}"))
    }

    pub(super) fn table(&self) -> Arc<Table> {
        let Self { origin: Origin { target, .. }, breadth, ref entries } = *self;
        Arc::new(Table { target, breadth, entries: entries.clone() })
    }
}

#[cfg(not(target_arch = "wasm32"))]
mod disk {
    use std::path::{Path, PathBuf};
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::{env, fs};

    use super::{Device, FileCause, Origin, Tuned};
    use crate::error::{Cause as _, Error, Result};

    impl Tuned {
        /// Writes the text to a file, whole or not at all. Missing folders are created.
        ///
        /// ```
        /// # wharf::testing::example(async |device| {
        /// use wharf::tune::{SumSize, Tuned};
        ///
        /// # let path = std::env::temp_dir().join(format!("tuned-{}.txt", std::process::id()));
        /// let tuned = device.tune(&[SumSize::rows(4, 1000).into()], |_| ()).await?;
        /// tuned.save(&path)?;
        /// let again = Tuned::load(&path, &device)?; // when the program starts once more
        /// assert_eq!(again.to_string(), tuned.to_string());
        /// # std::fs::remove_file(&path).expect("it is there");
        /// # Ok(()) });
        /// ```
        pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
            static COUNT: AtomicU64 = AtomicU64::new(0);
            let path = path.as_ref();
            let mut beside = path.as_os_str().to_owned();
            // A file that nobody else writes, whoever saves to the same path meanwhile.
            let (process, count) = (std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
            beside.push(format!(".{process}.{count}"));
            let write = || {
                if let Some(folder) = path.parent() {
                    fs::create_dir_all(folder)?;
                }
                fs::write(&beside, self.to_string())?;
                fs::rename(&beside, path)
            };
            write().map_err(|error| {
                let _ = fs::remove_file(&beside);
                let (path, message) = (path.display().to_string(), error.to_string());
                FileCause::NotSaved { path, message }.by(error)
            })
        }

        /// Reads a file, for this device.
        ///
        /// ```
        /// # wharf::testing::example(async |device| {
        /// use std::error::Error as _;
        /// use std::io;
        /// use wharf::tune::Tuned;
        ///
        /// let device = match Tuned::load("there/is/none.txt", &device) {
        ///     Ok(tuned) => device.with_tuned(&tuned),
        ///     Err(error) => {
        ///         let said = error.source().and_then(|said| said.downcast_ref::<io::Error>());
        ///         assert_eq!(said.map(io::Error::kind), Some(io::ErrorKind::NotFound));
        ///         device // as it was: nothing has been tuned yet
        ///     }
        /// };
        /// # let _ = device;
        /// # Ok(()) });
        /// ```
        ///
        /// # Errors
        /// As [`Tuned::from_text`], and where it cannot be read.
        pub fn load(path: impl AsRef<Path>, device: &Device) -> Result<Self> {
            let path = path.as_ref();
            let read = || {
                let bytes = fs::read(path)
                    .map_err(|error| FileCause::Unread { why: error.to_string() }.by(error))?;
                let text = String::from_utf8(bytes)
                    .map_err(|_| FileCause::NoTable { why: "it is no text".into() })?;
                Self::from_text(&text, device)
            };
            read().map_err(|error: Error| error.during(path.to_string_lossy()))
        }

        /// Where a file for this device would lie among the user's caches, if there is such a
        /// place: `$XDG_CACHE_HOME/wharf` or the platform's equivalent. Nothing is created.
        #[must_use]
        pub fn cache_path(device: &Device) -> Option<PathBuf> {
            let var = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
            let home = |below: &str| var("HOME").map(|home| home.join(below));
            let folder = if cfg!(target_os = "windows") {
                var("LOCALAPPDATA")
            } else if cfg!(target_vendor = "apple") {
                home("Library/Caches")
            } else {
                var("XDG_CACHE_HOME").or_else(|| home(".cache"))
            };
            // FNV-1a, because the standard hasher may change between versions of Rust.
            let key = Origin::of(device).lines.into_iter().map(|(_, text)| text + "\n");
            let hash =
                key.collect::<String>().bytes().fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| {
                    (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
                });
            folder.map(|folder| folder.join("wharf").join(format!("tuned-{hash:016x}.txt")))
        }
    }
}

impl fmt::Display for Tuned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{FIRST}")?;
        for (name, text) in &self.origin.lines {
            writeln!(f, "{name} {text}")?;
        }
        if let Some(cores) = self.cores() {
            writeln!(f, "cores {cores}")?;
        }
        for entry in &self.entries {
            writeln!(f, "{}", entry.text())?;
        }
        writeln!(f, "end {}", self.entries.len())
    }
}

causes! {
    enum FileCause;

    /// A file could not be written.
    NotSaved { path: String, message: String }, File:
        ("writing {path}: {message}")
        help ("name a file in a folder that can be written");
    /// It cannot be read, or is not there yet.
    Unread { why: String }, File:
        ("tuned choices cannot be read: {why}")
        help ("where none have been saved yet, tune: `device.tune`, and `Tuned::save`");
    NoTable { why: String }, File:
        ("no table of tuned choices: {why}")
        help ("tune again, and save what comes of it");
    Elsewhere { name: &'static str, there: String, here: String }, Mismatch:
        ("tuned elsewhere: {name} {there:?}, here {here:?}")
        help ("what is fastest there need not be so here: tune again");
}
