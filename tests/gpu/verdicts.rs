//! What became of planted mistakes, and a file that keeps it: a run that was stopped goes on where
//! it was.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::Mutex;

use wharf::wgsl::mutant::Mutant;

/// What became of one mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Killed(String),
    Survived,
    Stillborn,
    /// Its cases never came to it, or it could not be judged.
    Missed(String),
}

impl Verdict {
    /// As a process with a mistake says it, and as it is kept.
    pub(crate) fn read(text: &str) -> Option<Self> {
        Some(match text.split_once(' ').unwrap_or((text, "")) {
            ("killed", case) => Self::Killed(case.into()),
            ("survived", _) => Self::Survived,
            ("stillborn", _) => Self::Stillborn,
            ("missed", why) => Self::Missed(why.into()),
            _ => return None,
        })
    }

    fn text(&self) -> String {
        match self {
            Self::Killed(case) => format!("killed {case}"),
            Self::Survived => "survived".into(),
            Self::Stillborn => "stillborn".into(),
            Self::Missed(why) => format!("missed {}", why.replace(['\n', '\t'], " ")),
        }
    }
}

/// Verdicts in a file, if one is wanted.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    /// Of earlier runs. Who survived or was missed may meet other tests now.
    known: HashMap<String, Verdict>,
    file: Option<Mutex<File>>,
}

impl Kept {
    pub(crate) fn open(path: Option<&Path>) -> std::io::Result<Self> {
        let Some(path) = path else { return Ok(Self::default()) };
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        let text = std::fs::read_to_string(path)?;
        let known = text.lines().filter_map(|line| {
            let (verdict, mutant) = line.split_once('\t')?;
            Some((mutant.to_owned(), Verdict::read(verdict)?))
        });
        Ok(Self { known: known.collect(), file: Some(Mutex::new(file)) })
    }

    /// What an earlier run has settled.
    pub(crate) fn settled(&self, mutant: &Mutant) -> Option<Verdict> {
        let verdict = self.known.get(&name(mutant))?;
        matches!(verdict, Verdict::Killed(_) | Verdict::Stillborn).then(|| verdict.clone())
    }

    pub(crate) fn keep(&self, mutant: &Mutant, verdict: &Verdict) {
        let Some(Ok(mut file)) = self.file.as_ref().map(Mutex::lock) else { return };
        // One that cannot be kept is tried once more.
        drop(writeln!(file, "{}\t{}", verdict.text(), name(mutant)));
    }
}

fn name(Mutant { path, line, was, now }: &Mutant) -> String {
    format!("{path}:{line}\t{was}\t{now}")
}
