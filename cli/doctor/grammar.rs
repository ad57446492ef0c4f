//! One grammar for all commands: each option once, its value after a `=` or as the next word.

use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

use super::table::{Page, quote};

/// The exit code for a command line that cannot be understood: `EX_USAGE` of BSD's sysexits.
pub(crate) const EXIT_USAGE: u8 = 64;

/// A command, and what may be written after it.
#[derive(Debug)]
pub(crate) struct Grammar {
    pub(crate) name: &'static str,
    /// The answer to `--help`. Its part that begins with `usage: ` follows each complaint.
    pub(crate) help: &'static str,
    /// Each option, and how many values it takes.
    pub(crate) options: &'static [(&'static str, usize)],
    /// Of the options in a row at most one is given.
    pub(crate) apart: &'static [&'static [&'static str]],
    /// How many words there may be that are no options.
    pub(crate) free: usize,
}

/// A command line, taken apart.
#[derive(Debug, Default)]
pub(crate) struct Words {
    options: Vec<(&'static str, Vec<String>)>,
    pub(crate) free: Vec<String>,
}

impl Words {
    /// The values of an option that is given.
    pub(crate) fn values(&self, option: &str) -> Option<&[String]> {
        self.options.iter().find(|(name, _)| *name == option).map(|(_, values)| &values[..])
    }

    pub(crate) fn has(&self, option: &str) -> bool {
        self.values(option).is_some()
    }

    /// The value of an option that takes one.
    pub(crate) fn value(&self, option: &str) -> Option<&str> {
        self.values(option)?.first().map(String::as_str)
    }
}

impl Grammar {
    /// The whole of a command: it reads the arguments and runs, or helps, or complains.
    pub(crate) fn answer<T>(
        &self,
        arguments: impl Iterator<Item = OsString>,
        understand: impl FnOnce(&Words) -> Result<T, String>,
        run: impl FnOnce(&mut Page, &T) -> u8,
    ) -> ExitCode {
        // Probing drivers makes them log complaints; what is printed says what matters.
        env_logger::Builder::from_env(env_logger::Env::default().default_filter_or("off")).init();
        let mut page = Page::stdout();
        let understood =
            self.read(arguments).and_then(|words| words.as_ref().map(understand).transpose());
        ExitCode::from(match understood {
            Ok(Some(options)) => run(&mut page, &options),
            Ok(None) => {
                page.text(self.help);
                0
            }
            Err(error) => self.complain(&error),
        })
    }

    /// Says what is wrong with a command line; the exit code.
    pub(crate) fn complain(&self, error: &str) -> u8 {
        let usage = self.help.split("\n\n").find(|part| part.starts_with("usage: "));
        let usage = usage.unwrap_or_default();
        // Unlike `eprintln!`, this does not mind a closed standard error.
        let _ = writeln!(std::io::stderr(), "{}: {error}\n\n{usage}", self.name);
        EXIT_USAGE
    }

    /// `None` where help is asked for, which goes with everything.
    fn read(&self, arguments: impl Iterator<Item = OsString>) -> Result<Option<Words>, String> {
        let mut arguments = arguments.map(|word| {
            word.into_string()
                .map_err(|word| format!("{} is not UTF-8", quote(&word.to_string_lossy())))
        });
        let mut words = Words::default();
        while let Some(word) = arguments.next() {
            let word = word?;
            let (name, attached) = match word.split_once('=') {
                Some((name, value)) if name.starts_with("--") => (name, Some(value.to_owned())),
                _ => (word.as_str(), None),
            };
            let known = self.options.iter().find(|(option, _)| *option == name);
            let Some(&(option, wanted)) = known else {
                match word.as_str() {
                    "--help" | "-h" => return Ok(None),
                    free if !free.starts_with('-') && words.free.len() < self.free => {
                        words.free.push(word);
                        continue;
                    }
                    free if !free.starts_with('-') && self.free > 0 => {
                        return Err(format!("one file, not {} too", quote(free)));
                    }
                    unknown => return Err(format!("unknown argument {}", quote(unknown))),
                }
            };
            if words.has(option) {
                return Err(format!("{option} is given twice"));
            }
            if wanted == 0 && attached.is_some() {
                return Err(format!("{option} takes no value"));
            }
            let mut values: Vec<String> = attached.into_iter().collect();
            while values.len() < wanted {
                let none = || Err(format!("{option} needs a value"));
                values.push(arguments.next().unwrap_or_else(none)?);
            }
            words.options.push((option, values));
        }
        for row in self.apart {
            let mut given = row.iter().filter(|option| words.has(option));
            if let (Some(one), Some(other)) = (given.next(), given.next()) {
                return Err(format!("{one} and {other} do not go together"));
            }
        }
        Ok(Some(words))
    }
}
