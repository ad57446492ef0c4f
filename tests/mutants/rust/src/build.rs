//! Writes the mistakes into the copy, leaves out those that the compiler refuses, and builds the
//! tests.

use std::collections::BTreeSet;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::mistakes::Field;
use crate::tree::{self, Source};

/// Which mistake a process has, and where it says which ones it came by.
pub const NUMBER: &str = "WHARF_PLANTED";
pub const SEEN: &str = "WHARF_PLANTED_SEEN";

/// What every mistake asks.
const PLANTED: &str = r#"//! Which mistake this process has.
#![allow(missing_docs, reason = "written by a tool")]

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LazyLock, Mutex};

static NUMBER: LazyLock<usize> = LazyLock::new(|| {
    std::env::var("WHARF_PLANTED").ok().and_then(|text| text.parse().ok()).unwrap_or(usize::MAX)
});
static SEEN: LazyLock<Option<Mutex<File>>> = LazyLock::new(|| {
    let path = std::env::var_os("WHARF_PLANTED_SEEN")?;
    OpenOptions::new().create(true).append(true).open(path).ok().map(Mutex::new)
});
static REACHED: [AtomicBool; COUNT] = [const { AtomicBool::new(false) }; COUNT];

pub fn on(number: usize) -> bool {
    if let Some(file) = &*SEEN
        && !REACHED[number].swap(true, Ordering::Relaxed)
        && let Ok(mut file) = file.lock()
    {
        let _ = writeln!(file, "{number}");
    }
    number == *NUMBER
}
"#;

/// What a mistake may be, in the line of whatever comes first.
const ALLOWED: &str = "#![allow(warnings, arithmetic_overflow, unconditional_panic)]";

/// The rounds in which only those are refused that an error names.
const PATIENCE: usize = 3;

/// Packages of one build, with what the tests want.
const FEATURES: &[&str] = &["--locked", "--features", "testing,ndarray,cli"];

/// Writes all mistakes, until the compiler takes them.
pub fn plant(field: &mut Field, files: &[Source], copy: &Path) -> Result<(), Box<dyn Error>> {
    let count = field.mistakes.len();
    let planted = PLANTED.replace("COUNT", &count.to_string());
    tree::write(&copy.join("src/planted.rs"), planted.as_bytes())?;
    let refused = copy.join("target-refused.txt");
    remember(field, &refused);
    for round in 1_usize.. {
        for (i, file) in files.iter().enumerate() {
            let mut text = field.planted(i, &file.text);
            if file.path == "src/lib.rs" {
                text = format!("{ALLOWED} {text}\n#[doc(hidden)]\npub mod planted;\n");
            }
            tree::write(&copy.join(&file.path), text.as_bytes())?;
        }
        let before = field.refused.len();
        let errors = errors(copy)?;
        if errors.is_empty() {
            println!("plant: {} of {count} mistakes compile, round {round}", count - before);
            break;
        }
        for (path, at) in errors {
            // The other places of an error may be in another crate.
            let Some(file) = files.iter().position(|file| file.path == path) else { continue };
            let text = fs::read_to_string(copy.join(&path))?;
            let blamed = blamed(&text, at);
            match blamed.is_empty() {
                true => field.refused.extend(field.numbers(file).collect::<BTreeSet<_>>()),
                // What is borrowed for too long was let go of somewhere else.
                false if round > PATIENCE => {
                    let functions = blamed.iter().map(|n| field.mistakes[*n].function);
                    let functions: BTreeSet<usize> = functions.collect();
                    let same = |n: &usize| functions.contains(&field.mistakes[*n].function);
                    field.refused.extend((0..count).filter(same));
                }
                false => field.refused.extend(blamed),
            }
        }
        println!("plant: round {round}: {} refused", field.refused.len() - before);
        if field.refused.len() == before {
            return Err("the compiler refuses what is not planted".into());
        }
    }
    let names = field.names();
    let lines: Vec<&str> = field.refused.iter().map(|number| &*names[*number]).collect();
    fs::write(refused, lines.join("\n"))?;
    Ok(())
}

/// What was refused before is not tried again.
fn remember(field: &mut Field, refused: &Path) {
    let known = fs::read_to_string(refused).unwrap_or_default();
    let known: BTreeSet<&str> = known.lines().collect();
    let again = field.names().into_iter().enumerate();
    field.refused = again.filter(|(_, name)| known.contains(&**name)).map(|(n, _)| n).collect();
}

/// The mistakes in the line of a place, or the last one before it.
fn blamed(text: &str, at: usize) -> Vec<usize> {
    let mark = "crate::planted::on(";
    let number = |after: &str| after.split(')').next().and_then(|number| number.parse().ok());
    let from = text[..at].rfind('\n').unwrap_or(0);
    let to = text[at..].find('\n').map_or(text.len(), |length| at + length);
    let all: Vec<usize> = text[from..to].split(mark).skip(1).filter_map(number).collect();
    match all.is_empty() {
        true => text[..at].rsplit(mark).next().and_then(number).into_iter().collect(),
        false => all,
    }
}

fn cargo(copy: &Path) -> Command {
    let mut cargo = Command::new("cargo");
    cargo.current_dir(copy).stdin(Stdio::null()).arg("--quiet");
    cargo
}

/// What the compiler says, as far as it is JSON.
fn said(mut cargo: Command) -> Result<Vec<Value>, Box<dyn Error>> {
    let output = cargo.output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    Ok(text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect())
}

/// The files and places of all errors of the library.
fn errors(copy: &Path) -> Result<Vec<(String, usize)>, Box<dyn Error>> {
    let mut cargo = cargo(copy);
    cargo.args(["check", "--lib", "--message-format=json"]).args(FEATURES);
    let mut errors = Vec::new();
    let mut is_done = false;
    for message in said(cargo)? {
        is_done |= message["success"] == true;
        let message = &message["message"];
        if message["level"] != "error" {
            continue;
        }
        // What is borrowed, and where it is borrowed again, too.
        for span in message["spans"].as_array().into_iter().flatten() {
            // What a macro writes is in the file where the macro is used.
            let mut span = span;
            while !span["expansion"].is_null() {
                span = &span["expansion"]["span"];
            }
            let path = span["file_name"].as_str().unwrap_or_default().to_owned();
            errors.push((path, span["byte_start"].as_u64().unwrap_or(0) as usize));
        }
    }
    match errors.is_empty() && !is_done {
        true => Err("cargo check fails, and names no place".into()),
        false => Ok(errors),
    }
}

/// Builds the tests; their programs.
pub fn tests(copy: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    println!("plant: building the tests");
    let mut cargo = cargo(copy);
    cargo.args(["test", "--no-run", "--message-format=json", "--lib", "--test", "noop"]);
    cargo.args(["--test", "paper"]).args(FEATURES);
    if std::env::var("WHARF_TEST_NO_GPU").is_ok_and(|value| value == "1") {
        println!("plant: WHARF_TEST_NO_GPU=1: the gpu tier is left out");
    } else {
        cargo.args(["--test", "gpu", "--test", "cli"]);
    }
    let made = |message: &Value| {
        let path = message["executable"].as_str()?;
        (message["profile"]["test"] == true).then(|| path.into())
    };
    let all: Vec<PathBuf> = said(cargo)?.iter().filter_map(made).collect();
    match all.len() < 3 {
        true => Err(format!("of the tests only {all:?} were built").into()),
        false => Ok(all),
    }
}
