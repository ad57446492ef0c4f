//! A file that has its name only once it is whole, and whole on the disk: after a crash at any time
//! there is the old one or the new one.
//!
//! ```text
//! write beside it, sync the file      a crash leaves the old one, and a part that nobody reads
//! rename, sync the folder             the name is one of the two; after the sync it is the new one
//! ```
//!
//! Where a file system has no way to sync, as some that are shared have none, that is left out.

use std::fs::{File, Metadata};
use std::io::{BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::cause::ArchiveCause;
use crate::error::{Cause as _, Error, Result};

/// A file that is being written; it goes when this does.
struct Unfinished(PathBuf);

impl Unfinished {
    /// A file that nobody else writes, whoever saves to the same path meanwhile.
    fn beside(path: &Path) -> std::io::Result<(Self, File)> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        loop {
            let (process, count) = (std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
            // Of a name as long as systems allow only the beginning leaves room for more.
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let begin: String = name.chars().take(50).collect();
            let part = path.with_file_name(format!("{begin}.{process}.{count}.part"));
            match File::create_new(&part) {
                // Of a process of this number that crashed, or runs on another machine.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                made => return made.map(|file| (Self(part), file)),
            }
        }
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        // After a rename there is nothing to remove.
        let _ = std::fs::remove_file(&self.0);
    }
}

pub(super) fn unwritten(error: std::io::Error) -> Error {
    ArchiveCause::Unwritten { why: error.to_string() }.by(error)
}

/// What is asked to be on the disk before anything else is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Synced {
    File,
    Folder,
}

/// `ENOTSUP`, which is not the same everywhere.
const UNSUPPORTED: i32 =
    if cfg!(any(target_os = "linux", target_os = "android")) { 95 } else { 45 };

/// What a system says of a file or a folder that can never be synced: this, `EINVAL` and `ENOTTY`.
const NEVER_SYNCED: [i32; 3] = [UNSUPPORTED, 22, 25];

/// What came of a sync, where that it cannot be done is no failure.
fn tolerant(done: std::io::Result<()>) -> std::io::Result<()> {
    let never = |error: &std::io::Error| {
        cfg!(unix) && error.raw_os_error().is_some_and(|code| NEVER_SYNCED.contains(&code))
    };
    if done.as_ref().is_err_and(never) { Ok(()) } else { done }
}

/// Lets those read and write a new file who could do so with the old one, and nobody else.
#[cfg(unix)]
fn permit(file: &File, old: &Metadata) -> std::io::Result<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};

    let mut permissions = old.permissions();
    let own = file.metadata()?.gid();
    // First, because it may take bits away.
    if own != old.gid() && fchown(file, None, Some(old.gid())).is_err() {
        permissions.set_mode(without_group(permissions.mode()));
    }
    file.set_permissions(permissions)
}

#[cfg(not(unix))]
fn permit(file: &File, old: &Metadata) -> std::io::Result<()> {
    file.set_permissions(old.permissions())
}

/// The mode of a file that has another group now: what both the old one and all others might do.
#[cfg(unix)]
const fn without_group(mode: u32) -> u32 {
    let both = mode >> 3 & mode & 0o7;
    mode & !0o77 | both << 3 | both
}

/// Writes a file: what was there before stays until all of it is on the disk, and where that fails.
pub(super) fn whole<T>(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<T>,
) -> Result<T> {
    whole_by(path, write, |_, file| file.sync_all())
}

/// [`whole`], by what syncs.
fn whole_by<T>(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<T>,
    sync: impl Fn(Synced, &File) -> std::io::Result<()>,
) -> Result<T> {
    let written = || -> Result<T> {
        let old = match std::fs::metadata(path) {
            Ok(old) if !old.is_file() => Err(std::io::Error::other("it is no file")),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            old => old.map(Some),
        };
        let old = old.map_err(unwritten)?;
        // A link stays one, and the file that it leads to changes, or is made.
        let mut path = path.to_owned();
        while let Ok(next) = std::fs::read_link(&path) {
            path.pop();
            path.push(next);
        }
        let (part, file) = Unfinished::beside(&path).map_err(unwritten)?;
        if let Some(old) = old {
            permit(&file, &old).map_err(unwritten)?;
        }
        let mut file = BufWriter::with_capacity(1 << 20, file);
        let written = write(&mut file)?;
        let done = file.flush().and_then(|()| tolerant(sync(Synced::File, file.get_ref())));
        done.map_err(unwritten)?;
        drop(file);
        std::fs::rename(&part.0, &path).map_err(unwritten)?;
        folder(&path, sync)
            .map_err(|error| ArchiveCause::Unsettled { why: error.to_string() }.by(error))?;
        Ok(written)
    };
    written().map_err(|error| error.during(path.to_string_lossy()))
}

/// Syncs the folder of a file, where its name is. Elsewhere than on Unix none can be opened.
fn folder(path: &Path, sync: impl Fn(Synced, &File) -> std::io::Result<()>) -> std::io::Result<()> {
    if cfg!(not(unix)) {
        return Ok(());
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    tolerant(sync(Synced::Folder, &File::open(folder.unwrap_or(Path::new(".")))?))
}

#[cfg(test)]
mod tests;
