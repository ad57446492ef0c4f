//! A file that has its name only once it is whole, and whole on the disk: after a crash at any time
//! there is the old one or the new one.
//!
//! ```text
//! write beside it, sync the file      a crash leaves the old one, and a part that nobody reads
//! rename, sync the folder             the name is one of the two; after the sync it is the new one
//! ```

use std::fs::File;
use std::io::{BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::cause::ArchiveCause;
use crate::error::Result;

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
    let written = || -> Result<T> {
        let old = match std::fs::metadata(path) {
            Ok(old) if !old.is_file() => Err(std::io::Error::other("it is no file")),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            old => old.map(Some),
        };
        let old = old.map_err(|error| unwritten(&error))?;
        // A link stays one, and the file that it leads to changes, or is made.
        let mut path = path.to_owned();
        while let Ok(next) = std::fs::read_link(&path) {
            path.pop();
            path.push(next);
        }
        let (part, file) = Unfinished::beside(&path).map_err(|error| unwritten(&error))?;
        if let Some(old) = old {
            // Whoever could not read the old file cannot read the new one.
            file.set_permissions(old.permissions()).map_err(|error| unwritten(&error))?;
        }
        let mut file = BufWriter::with_capacity(1 << 20, file);
        let written = write(&mut file)?;
        let done = file.flush().and_then(|()| sync(Synced::File, file.get_ref()));
        done.map_err(|error| unwritten(&error))?;
        drop(file);
        std::fs::rename(&part.0, &path).map_err(|error| unwritten(&error))?;
        folder(&path, sync).map_err(|error| ArchiveCause::Unsettled { why: error.to_string() })?;
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

    /// The files that lie beside this one and begin with its name.
    fn parts(path: &Path) -> usize {
        let name = path.file_name().unwrap().to_str().unwrap();
        let all = std::fs::read_dir(path.parent().unwrap()).unwrap().map(|entry| {
            entry.unwrap().file_name().to_string_lossy().strip_prefix(name).map(str::len)
        });
        all.filter(|rest| rest.is_some_and(|rest| rest > 0)).count()
    }

    #[test]
    fn two_who_save_to_one_path_do_not_write_into_each_others_file() {
        let path = std::env::temp_dir().join(format!("wharf-two-{}", std::process::id()));
        let put = |file: &mut BufWriter<File>, text: &str| {
            Ok::<_, crate::Error>(file.write_all(text.as_bytes()).map_err(|e| unwritten(&e))?)
        };
        let first = whole(&path, |file| {
            put(file, "first, ")?;
            whole(&path, |file| put(file, "second"))?;
            assert_eq!((text(&path), parts(&path)), ("second".into(), 1));
            put(file, "and last")
        });
        assert!(first.is_ok(), "{first:?}");
        assert_eq!((text(&path), parts(&path)), ("first, and last".into(), 0));
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn a_name_as_long_as_systems_allow_can_be_saved_to() {
        let path = std::env::temp_dir().join("n".repeat(255));
        whole(&path, |file| Ok(file.write_all(b"all").map_err(|e| unwritten(&e))?)).unwrap();
        assert_eq!(text(&path), "all");
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn what_another_process_of_this_number_left_is_not_touched() {
        let path = std::env::temp_dir().join(format!("wharf-left-{}", std::process::id()));
        let (part, file) = Unfinished::beside(&path).unwrap();
        let count: u64 = part.0.to_str().unwrap().rsplit('.').nth(1).unwrap().parse().unwrap();
        drop((part, file));
        let process = std::process::id();
        // As many as other tests may take meanwhile, and some.
        let left: Vec<PathBuf> = (count + 1..count + 50)
            .map(|n| std::env::temp_dir().join(format!("wharf-left-{process}.{process}.{n}.part")))
            .collect();
        left.iter().for_each(|path| std::fs::write(path, "theirs").unwrap());
        whole(&path, |file| Ok(file.write_all(b"ours").map_err(|e| unwritten(&e))?)).unwrap();
        assert_eq!((text(&path), parts(&path)), ("ours".into(), left.len()));
        for path in left.iter().chain([&path]) {
            assert_eq!(text(path) == "ours", !path.to_string_lossy().ends_with(".part"));
            std::fs::remove_file(path).unwrap();
        }
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
        assert_eq!(parts(&path), 0, "nothing is left beside it");
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
