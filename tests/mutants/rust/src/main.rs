//! Tests of the tests: plants mistakes in wharf's Rust, runs the tests that come by each, and says
//! which nobody noticed. `scripts/mutants --rust` is the way to run it.
//!
//! All mistakes stand in one build, each behind a number that a process is told:
//!
//! ```text
//! a < b      becomes      if crate::planted::on(7) { a <= b } else { a < b }
//! ```
//!
//! ```text
//! plant TREE COPY [sample=N] [seed=N] [only=TEXT] [seconds=N] [keep=FILE]
//! ```
//!
//! `TREE` is the repository, `COPY` a folder for what is planted and built.

use std::path::PathBuf;
use std::process::ExitCode;

mod build;
#[path = "../../drawn.rs"]
mod drawn;
mod judge;
mod mistakes;
mod tests;
mod tree;

/// What is asked for.
#[derive(Debug)]
pub struct Wanted {
    tree: PathBuf,
    copy: PathBuf,
    sample: usize,
    seed: u64,
    only: String,
    seconds: u64,
    keep: Option<PathBuf>,
}

impl Wanted {
    fn read() -> Option<Self> {
        let mut words = std::env::args().skip(1);
        let (tree, copy) = (words.next()?.into(), words.next()?.into());
        let mut wanted = Self {
            tree,
            copy,
            sample: usize::MAX,
            seed: 1,
            only: String::new(),
            seconds: 20,
            keep: None,
        };
        for word in words {
            match word.split_once('=')? {
                ("sample", n) => wanted.sample = n.parse().ok()?,
                ("seed", n) => wanted.seed = n.parse().ok()?,
                ("seconds", n) => wanted.seconds = n.parse().ok()?,
                ("only", text) => wanted.only = text.into(),
                ("keep", path) => wanted.keep = Some(path.into()),
                _ => return None,
            }
        }
        Some(wanted)
    }
}

fn main() -> ExitCode {
    let Some(wanted) = Wanted::read() else {
        eprintln!("plant TREE COPY [sample=N] [seed=N] [only=TEXT] [seconds=N] [keep=FILE]");
        return ExitCode::from(2);
    };
    match run(&wanted) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("plant: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Whether every survivor has been judged.
fn run(wanted: &Wanted) -> Result<bool, Box<dyn std::error::Error>> {
    let files = tree::sources(&wanted.tree)?;
    let mut field = mistakes::Field::of(&files)?;
    tree::copy(&wanted.tree, &wanted.copy, &files)?;
    build::plant(&mut field, &files, &wanted.copy)?;
    let programs = build::tests(&wanted.copy)?;
    let tests = tests::seen(&programs, &wanted.copy, wanted.seconds)?;
    judge::all(wanted, &field, &tests)
}
