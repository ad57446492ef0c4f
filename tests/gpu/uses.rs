//! Which lines of the shader files each case runs, and how long it takes: written by every whole
//! run where `WHARF_TEST_USES` names a file, read by those who plant mistakes.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use wharf::wgsl::mutant;

/// The file's name.
pub(crate) const FILE: &str = "WHARF_TEST_USES";

/// Writes down what cases use, if that is wanted.
#[derive(Default)]
pub(crate) struct Recorder(Option<Mutex<File>>);

impl Recorder {
    /// Appends to the file, because several processes write it.
    pub(crate) fn wanted() -> Self {
        let path = std::env::var_os(FILE).filter(|path| !path.is_empty());
        let open = |path| OpenOptions::new().create(true).append(true).open(path).ok();
        Self(path.and_then(open).map(Mutex::new))
    }

    /// Runs a case and writes down what it used.
    pub(crate) fn recorded<T>(&self, case: &str, run: impl FnOnce() -> T) -> T {
        let Some(file) = &self.0 else { return run() };
        drop(mutant::used());
        let since = Instant::now();
        let result = run();
        let lines = mutant::used();
        let lines = lines.iter().map(|(path, first, last)| format!("\t{path}:{first}-{last}"));
        let line =
            format!("{case}\t{}{}\n", since.elapsed().as_millis(), lines.collect::<String>());
        if let Ok(mut file) = file.lock() {
            // A line at once, so that processes do not write into each other's.
            drop(file.write_all(line.as_bytes()));
        }
        result
    }
}

/// What a case used.
#[derive(Debug)]
pub(crate) struct Use {
    pub(crate) case: String,
    pub(crate) time: Duration,
    lines: Vec<(String, u32, u32)>,
}

impl Use {
    /// All that were recorded.
    pub(crate) fn all() -> Option<Vec<Self>> {
        let text = std::fs::read_to_string(std::env::var_os(FILE)?).ok()?;
        text.lines().map(Self::read).collect()
    }

    fn read(line: &str) -> Option<Self> {
        let mut words = line.split('\t');
        let case = words.next()?.to_owned();
        let time = Duration::from_millis(words.next()?.parse().ok()?);
        let span = |word: &str| {
            let (path, lines) = word.rsplit_once(':')?;
            let (first, last) = lines.split_once('-')?;
            Some((path.to_owned(), first.parse().ok()?, last.parse().ok()?))
        };
        Some(Self { case, time, lines: words.map(span).collect::<Option<_>>()? })
    }

    pub(crate) fn holds(&self, path: &str, line: u32) -> bool {
        self.lines.iter().any(|(p, first, last)| p == path && (*first..=*last).contains(&line))
    }
}
