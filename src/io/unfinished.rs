//! A file that has its name only once it is whole, and whole on the disk: after a crash at any time
//! there is the old one or the new one.
//!
//! ```text
//! write beside it, sync the file      a crash leaves the old one, and a part that nobody reads
//! rename, sync the folder             the name is one of the two; after the sync it is the new one
//! ```

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

/// What is asked to be on the disk before anything else is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Synced {
    File,
    Folder,
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
    let part = Unfinished::beside(path);
    let written = || -> Result<T> {
        let file = File::create(&part.0).map_err(|error| unwritten(&error))?;
        let mut file = BufWriter::with_capacity(1 << 20, file);
        let written = write(&mut file)?;
        let done = file.flush().and_then(|()| sync(Synced::File, file.get_ref()));
        done.map_err(|error| unwritten(&error))?;
        drop(file);
        std::fs::rename(&part.0, path).map_err(|error| unwritten(&error))?;
        folder(path, sync).map_err(|error| ArchiveCause::Unsettled { why: error.to_string() })?;
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
    sync(Synced::Folder, &File::open(folder.unwrap_or(Path::new(".")))?)
}

#[cfg(test)]
mod tests {
    use std::io::Error;

    use super::*;

    fn text(path: &Path) -> String {
        std::fs::read_to_string(path).unwrap()
    }

    /// Writes `new` over `old`, where one sync fails; returns what was synced, what the file said
    /// then, the error, and what it says in the end.
    fn save(fails: Option<Synced>) -> (Vec<(Synced, String)>, Option<String>, String) {
        let path = std::env::temp_dir().join(format!("wharf-{fails:?}-{}", std::process::id()));
        std::fs::write(&path, "old").unwrap();
        let seen = core::cell::RefCell::new(Vec::new());
        let write = |file: &mut BufWriter<File>| {
            Ok(file.write_all(b"new").map_err(|error| unwritten(&error))?)
        };
        let saved = whole_by(&path, write, |what, file| {
            seen.borrow_mut().push((what, text(&path)));
            assert_eq!(file.metadata()?.is_dir(), what == Synced::Folder, "{what:?}");
            if what == Synced::File {
                assert_eq!(file.metadata()?.len(), 3, "all of it is synced");
            }
            if fails == Some(what) { Err(Error::other("no space")) } else { Ok(()) }
        });
        let end = text(&path);
        let part = Unfinished::beside(&path).0.clone();
        assert!(!part.exists(), "nothing is left beside it");
        std::fs::remove_file(&path).unwrap();
        (seen.into_inner(), saved.err().map(|error| error.to_string()), end)
    }

    #[cfg(unix)]
    #[test]
    fn a_file_is_on_the_disk_before_it_has_its_name_and_its_name_before_it_is_told() {
        let (seen, error, end) = save(None);
        assert_eq!(seen, [(Synced::File, "old".into()), (Synced::Folder, "new".into())]);
        assert_eq!((error, &*end), (None, "new"));
    }

    #[cfg(unix)]
    #[test]
    fn a_sync_that_fails_is_told_with_what_is_there() {
        let (_, error, end) = save(Some(Synced::File));
        assert_eq!(end, "old");
        assert!(error.is_some_and(|e| e.ends_with("the file cannot be written: no space")));
        let (_, error, end) = save(Some(Synced::Folder));
        assert_eq!(end, "new");
        let text = "the file is written, and may be the old one after a crash: no space";
        assert!(error.as_ref().is_some_and(|e| e.ends_with(text)), "{error:?}");
    }
}
