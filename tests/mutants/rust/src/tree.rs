//! The repository, and the copy of it in which mistakes are planted.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A file of the library: its path below the repository, and its text.
#[derive(Debug)]
pub struct Source {
    pub path: String,
    pub text: String,
}

/// What git knows of, or would take.
fn known(tree: &Path) -> io::Result<Vec<PathBuf>> {
    let listed = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(tree)
        .output()?;
    let names = String::from_utf8_lossy(&listed.stdout).into_owned();
    let names = names.split('\0').filter(|name| !name.is_empty());
    Ok(names.map(PathBuf::from).filter(|name| tree.join(name).is_file()).collect())
}

/// The library's own files, without its tests.
pub fn sources(tree: &Path) -> io::Result<Vec<Source>> {
    let mut all = Vec::new();
    for path in known(tree)? {
        let name = path.to_string_lossy().replace('\\', "/");
        let own = name.starts_with("src/") && name.ends_with(".rs");
        // What only tests use is no part of what they test.
        let of_tests = name.ends_with("/tests.rs") || name.contains("/tests/");
        if own
            && !of_tests
            && !name.starts_with("src/testing")
            && !name.starts_with("src/reference")
        {
            all.push(Source { text: fs::read_to_string(tree.join(&path))?, path: name });
        }
    }
    Ok(all)
}

/// Copies all but the files that are planted: those are written once, with their mistakes.
pub fn copy(tree: &Path, copy: &Path, planted: &[Source]) -> io::Result<()> {
    let planted: BTreeSet<&Path> = planted.iter().map(|source| Path::new(&source.path)).collect();
    for path in known(tree)?.into_iter().filter(|path| !planted.contains(&**path)) {
        write(&copy.join(&path), &fs::read(tree.join(&path))?)?;
    }
    Ok(())
}

/// Writes a file if it differs, so that what was built stays built.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if fs::read(path).is_ok_and(|there| there == bytes) {
        return Ok(());
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, bytes)
}
