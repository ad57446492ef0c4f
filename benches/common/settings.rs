//! What the command line asks for.

use std::path::PathBuf;

use super::Outcome;

/// How much to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effort {
    /// One tiny iteration, to see that it runs: under `cargo test`.
    Test,
    /// Smaller data, fewer rounds: to see roughly where things stand.
    Quick,
    /// For figures that are quoted.
    Full,
}

#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) effort: Effort,
    /// Where the JSON goes.
    pub(crate) json: Option<PathBuf>,
    /// Only cases whose name contains this.
    pub(crate) filter: Option<String>,
}

impl Settings {
    /// `[--quick] [--json FILE] [FILTER]`; cargo adds `--bench` when it is `cargo bench` that runs
    /// this.
    pub(crate) fn from_args() -> Outcome<Self> {
        let (mut bench, mut test, mut quick) = (false, false, false);
        let (mut json, mut filter) = (None, None);
        let mut args = std::env::args_os().skip(1);
        while let Some(arg) = args.next() {
            match arg.to_str().unwrap_or_default() {
                "--bench" => bench = true,
                "--test" => test = true,
                "--quick" => quick = true,
                "--json" => json = Some(args.next().ok_or("--json needs a file")?.into()),
                // An argument for libtest: meant for the test binaries of the same cargo command.
                other if other.starts_with('-') && bench && !test => {
                    return Err(format!("unknown option: {other}").into());
                }
                other if other.starts_with('-') => {}
                other => filter = Some(other.to_owned()),
            }
        }
        let effort = match (bench && !test, quick) {
            (false, _) => Effort::Test,
            (true, true) => Effort::Quick,
            (true, false) => Effort::Full,
        };
        Ok(Self { effort, json, filter })
    }

    /// Whether a case was asked for; all are, unless there is a filter.
    pub(crate) fn wants(&self, case: &str) -> bool {
        self.filter.as_ref().is_none_or(|filter| case.contains(filter))
    }

    /// One of three values, by effort.
    pub(crate) fn pick<T>(&self, test: T, quick: T, full: T) -> T {
        match self.effort {
            Effort::Test => test,
            Effort::Quick => quick,
            Effort::Full => full,
        }
    }
}
