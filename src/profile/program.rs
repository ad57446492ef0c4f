//! `WHARF_PROFILE=file.json`: a program that nobody changed, profiled from a device's opening until
//! its last handle is gone.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::Profile;
use crate::engine::Engine;
use crate::news::{Level, Topic};
use crate::wgsl::Target;

/// A profile that is written when it is dropped.
#[derive(Debug)]
pub(crate) struct Program {
    profile: Profile,
    path: PathBuf,
}

impl Program {
    /// What the environment asks for. The second device of a process writes `file.2.json`.
    pub(crate) fn of(engine: &Arc<Engine>, target: Target) -> Option<Self> {
        static DEVICES: AtomicUsize = AtomicUsize::new(0);
        let asked = std::env::var_os("WHARF_PROFILE").filter(|path| !path.is_empty())?;
        let number = DEVICES.fetch_add(1, Ordering::Relaxed) + 1;
        let path = numbered(asked.into(), number);
        Some(Self { profile: Profile::begin(engine, target), path })
    }
}

fn numbered(path: PathBuf, number: usize) -> PathBuf {
    let extension = path.extension().map(|text| text.to_string_lossy().into_owned());
    match (number, extension) {
        (1, _) => path,
        (_, Some(extension)) => path.with_extension(format!("{number}.{extension}")),
        (_, None) => path.with_extension(number.to_string()),
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        match self.profile.save_trace(&self.path) {
            Ok(()) => Topic::Profile.tell(Level::Info, self.path.display(), "written"),
            Err(error) => Topic::Profile.tell(Level::Error, "no profile", error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_device_has_a_file() {
        let name = |path: &str, number| numbered(path.into(), number).display().to_string();
        assert_eq!(name("a/b.json", 1), "a/b.json", "the first is what was asked for");
        assert_eq!(name("a/b.json", 2), "a/b.2.json", "before its ending");
        assert_eq!(name("a/b", 12), "a/b.12", "without one");
    }
}
