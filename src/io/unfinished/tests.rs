//! Files that are written whole, or not at all, whatever fails.

use std::io::Error;

use super::*;

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

/// The files that lie beside this one and begin with its name.
fn parts(path: &Path) -> usize {
    let name = path.file_name().unwrap().to_str().unwrap();
    let all = std::fs::read_dir(path.parent().unwrap())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().strip_prefix(name).map(str::len));
    all.filter(|rest| rest.is_some_and(|rest| rest > 0)).count()
}

#[test]
fn two_who_save_to_one_path_do_not_write_into_each_others_file() {
    let path = std::env::temp_dir().join(format!("wharf-two-{}", std::process::id()));
    let put =
        |file: &mut BufWriter<File>, text: &str| file.write_all(text.as_bytes()).map_err(unwritten);
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
    whole(&path, |file| file.write_all(b"all").map_err(unwritten)).unwrap();
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
    whole(&path, |file| file.write_all(b"ours").map_err(unwritten)).unwrap();
    assert_eq!((text(&path), parts(&path)), ("ours".into(), left.len()));
    for path in left.iter().chain([&path]) {
        assert_eq!(text(path) == "ours", !path.to_string_lossy().ends_with(".part"));
        std::fs::remove_file(path).unwrap();
    }
}

/// Writes `new` over `old`, where one sync fails; returns what was synced, what the file said
/// then, the error, and what it says in the end.
fn save(fails: Option<(Synced, i32)>) -> (Vec<(Synced, String)>, Option<String>, String) {
    let name = format!("wharf-{:?}", std::thread::current().id());
    let path = std::env::temp_dir().join(format!("{name}-{}", std::process::id()));
    std::fs::write(&path, "old").unwrap();
    let seen = core::cell::RefCell::new(Vec::new());
    let write = |file: &mut BufWriter<File>| file.write_all(b"new").map_err(unwritten);
    let saved = whole_by(&path, write, |what, file| {
        seen.borrow_mut().push((what, text(&path)));
        assert_eq!(file.metadata()?.is_dir(), what == Synced::Folder, "{what:?}");
        if what == Synced::File {
            assert_eq!(file.metadata()?.len(), 3, "all of it is synced");
        }
        let code = fails.filter(|(which, _)| *which == what);
        code.map_or(Ok(()), |(_, code)| Err(Error::from_raw_os_error(code)))
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
    let full = 28;
    let why = Error::from_raw_os_error(full);
    let (_, error, end) = save(Some((Synced::File, full)));
    assert_eq!(end, "old");
    let text = format!("the file cannot be written: {why}");
    assert!(error.as_ref().is_some_and(|e| e.ends_with(&text)), "{error:?}");
    let (_, error, end) = save(Some((Synced::Folder, full)));
    assert_eq!(end, "new");
    let text = format!("the file is written, and may be the old one after a crash: {why}");
    assert!(error.as_ref().is_some_and(|e| e.ends_with(&text)), "{error:?}");
}

/// Shared folders of virtual machines, and volumes of SMB on a Mac.
#[cfg(unix)]
#[test]
fn what_a_file_system_cannot_sync_is_saved_without() {
    for code in NEVER_SYNCED {
        for what in [Synced::File, Synced::Folder] {
            let (seen, error, end) = save(Some((what, code)));
            assert_eq!((seen.len(), error, &*end), (2, None, "new"), "{what:?}: {code}");
        }
    }
}

/// Only who may give files away can try it.
#[cfg(unix)]
#[test]
fn a_file_that_is_saved_again_keeps_its_group() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};

    let path = std::env::temp_dir().join(format!("wharf-group-{}", std::process::id()));
    std::fs::write(&path, "old").unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
    let own = std::fs::metadata(&path).unwrap().gid();
    let given = chown(&path, None, Some(own + 1)).is_ok();
    whole(&path, |file| file.write_all(b"new").map_err(unwritten)).unwrap();
    let new = std::fs::metadata(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert_eq!((new.gid(), new.mode() & 0o777), (own + u32::from(given), 0o640));
}

#[cfg(unix)]
#[test]
fn another_group_may_do_no_more_than_the_old_one_and_all_others() {
    for (old, new) in [(0o640, 0o600), (0o644, 0o644), (0o604, 0o600), (0o664, 0o644)] {
        assert_eq!(without_group(0o100_000 | old), 0o100_000 | new, "{old:o}");
    }
}
