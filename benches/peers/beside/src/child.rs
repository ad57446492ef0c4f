//! A measuring program in a process of its own. Its answers are read line by line, with a time
//! limit; its end is an answer too.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child as Process, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// How long one answer may take: autotuning of one shape takes minutes on two cores.
const PATIENCE: Duration = Duration::from_secs(240);

/// What a program answered.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    Hello(String),
    /// Ready after so many seconds from cold, and whether the result is right.
    Ready(f64, Result<(), String>),
    Absent,
    Took(f64),
    Computed(f64),
    Right,
    Wrong(String),
    Failed(String),
}

impl Answer {
    /// Whether the program is gone.
    pub fn is_the_end(&self) -> bool {
        let ends = ["crashed", "no answer"];
        matches!(self, Self::Failed(why) if ends.iter().any(|end| why.starts_with(end)))
    }

    fn read(line: &str) -> Self {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let number = |text: &str| text.parse::<f64>().ok();
        match word {
            "hello" => Self::Hello(rest.into()),
            "absent" => Self::Absent,
            "right" => Self::Right,
            "wrong" => Self::Wrong(rest.into()),
            "took" => number(rest).map_or_else(|| Self::Failed(line.into()), Self::Took),
            "computed" => number(rest).map_or_else(|| Self::Failed(line.into()), Self::Computed),
            "ready" => {
                let (seconds, verdict) = rest.split_once(' ').unwrap_or((rest, ""));
                let right = match verdict.strip_prefix("wrong ") {
                    Some(why) => Err(why.to_owned()),
                    None => Ok(()),
                };
                number(seconds).map_or_else(|| Self::Failed(line.into()), |s| Self::Ready(s, right))
            }
            _ => Self::Failed(rest.into()),
        }
    }
}

/// A running program.
pub struct Child {
    process: Process,
    told: ChildStdin,
    lines: Receiver<(Instant, String)>,
}

impl Child {
    /// Starts it. All output but its answers goes to a log. Runtimes and drivers keep their caches
    /// in `home`, if one is given.
    pub fn start(
        program: &Path,
        args: &[&str],
        log: &Path,
        software: bool,
        home: Option<&Path>,
    ) -> Result<Self, String> {
        let failed = |error: std::io::Error| format!("{}: {error}", program.display());
        let homes = home.iter().flat_map(|home| [("HOME", *home), ("XDG_CACHE_HOME", *home)]);
        let mut process = Command::new(program)
            .args(args)
            .env("PEER_SOFTWARE", if software { "1" } else { "0" })
            .envs(homes)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(File::options().create(true).append(true).open(log).map_err(failed)?)
            .spawn()
            .map_err(failed)?;
        let told = process.stdin.take().ok_or("no input")?;
        let out = process.stdout.take().ok_or("no output")?;
        let (sender, lines) = channel();
        // Ends with the program's output.
        std::thread::spawn(move || {
            for line in BufReader::new(out).lines().map_while(Result::ok) {
                if let Some(answer) = line.strip_prefix("@ ") {
                    let _ = sender.send((Instant::now(), answer.to_owned()));
                }
            }
        });
        Ok(Self { process, told, lines })
    }

    /// Says a line and waits for the answer.
    pub fn ask(&mut self, line: &str) -> Answer {
        if writeln!(self.told, "{line}").and_then(|()| self.told.flush()).is_err() {
            return Answer::Failed(self.end());
        }
        self.next().1
    }

    /// The next answer, and when it came.
    pub fn next(&mut self) -> (Instant, Answer) {
        match self.lines.recv_timeout(PATIENCE) {
            Ok((when, line)) => (when, Answer::read(&line)),
            Err(RecvTimeoutError::Timeout) => {
                let _ = self.process.kill();
                (Instant::now(), Answer::Failed(format!("no answer in {} s", PATIENCE.as_secs())))
            }
            Err(RecvTimeoutError::Disconnected) => (Instant::now(), Answer::Failed(self.end())),
        }
    }

    fn end(&mut self) -> String {
        self.process.wait().map_or_else(|e| e.to_string(), |status| format!("crashed: {status}"))
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
