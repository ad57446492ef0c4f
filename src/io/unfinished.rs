//! A file that has its name only once it is whole.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use super::cause::ArchiveCause;
use crate::error::Result;

/// A file that is being written; it goes when this does.
struct Unfinished(PathBuf);

impl Unfinished {
    fn beside(path: &Path) -> Self {
        let mut name = path.file_name().unwrap_or_default().to_os_string();
        name.push(format!(".{}.part", std::process::id()));
        Self(path.with_file_name(name))
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        // After a rename there is nothing to remove.
        let _ = std::fs::remove_file(&self.0);
    }
}

pub(super) fn unwritten(error: &std::io::Error) -> ArchiveCause {
    ArchiveCause::Unwritten { why: error.to_string() }
}

/// Writes a file: what was there before stays until all of it is written, and where that fails.
pub(super) fn whole<T>(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<T>,
) -> Result<T> {
    let part = Unfinished::beside(path);
    let written = || -> Result<T> {
        let file = File::create(&part.0).map_err(|error| unwritten(&error))?;
        let mut file = BufWriter::with_capacity(1 << 20, file);
        let written = write(&mut file)?;
        file.flush().map_err(|error| unwritten(&error))?;
        drop(file);
        std::fs::rename(&part.0, path).map_err(|error| unwritten(&error))?;
        Ok(written)
    };
    written().map_err(|error| error.during(path.to_string_lossy()))
}
