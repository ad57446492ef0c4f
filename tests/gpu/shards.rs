//! The table in several processes, because the software drivers compile shaders one after the other
//! within a process. Each process takes its share of the cases.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, ExitCode, ExitStatus, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::share::{SUMMARY, Share, summary};

/// The variable that says how many processes are wanted.
const PROCESSES: &str = "WHARF_TEST_PROCESSES";

/// The variable that tells a process which one it is: `2/4`.
const SHARD: &str = "WHARF_TEST_SHARD";

/// Cases at a time in one process: more than one, to test sharing devices between threads.
pub(crate) const THREADS: usize = 2;

/// How many processes this one must start; `None` if it is one of them.
pub(crate) fn wanted() -> Option<usize> {
    let n = std::env::var(PROCESSES).ok()?.parse().ok()?;
    (n > 1 && own().is_none()).then_some(n)
}

/// The share of this process, if it is one of several.
pub(crate) fn own() -> Option<Share> {
    Share::parse(&std::env::var(SHARD).ok()?)
}

/// Runs the table in `n` processes and prints their lines as they come. Fails unless all succeed.
pub(crate) fn run(n: usize) -> ExitCode {
    let compared = AtomicUsize::new(0);
    let failed: Vec<String> = thread::scope(|scope| {
        let run = |number: usize| {
            let ended = start(number, n).map(|child| follow(child, &compared));
            match ended.and_then(|ended| ended) {
                Ok(status) if status.success() => None,
                Ok(status) => Some(format!("process {number} of {n} ended with {status}")),
                Err(error) => Some(format!("process {number} of {n}: {error}")),
            }
        };
        let all: Vec<_> = (1..=n).map(|number| scope.spawn(move || run(number))).collect();
        all.into_iter()
            .filter_map(|one| one.join().unwrap_or_else(|_| Some("a panic".into())))
            .collect()
    });
    println!("{}", summary(compared.into_inner()));
    failed.iter().for_each(|message| eprintln!("gpu tier: {message}"));
    if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn start(number: usize, of: usize) -> std::io::Result<Child> {
    Command::new(std::env::current_exe()?)
        .args(std::env::args_os().skip(1))
        .env(SHARD, format!("{number}/{of}"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
}

/// Passes on the output of a process until it ends, and adds up what it compared.
fn follow(mut child: Child, compared: &AtomicUsize) -> std::io::Result<ExitStatus> {
    for line in child.stdout.take().into_iter().flat_map(|out| BufReader::new(out).lines()) {
        let line = line?;
        match summed(&line) {
            Some(count) => drop(compared.fetch_add(count, Ordering::Relaxed)),
            None => println!("{line}"),
        }
    }
    child.wait()
}

/// The number in a closing line.
fn summed(line: &str) -> Option<usize> {
    let [before, after] = SUMMARY;
    line.strip_prefix(before)?.strip_suffix(after)?.parse().ok()
}
