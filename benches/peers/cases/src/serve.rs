//! A measuring program: it does what it is told on its input, a line at a time.
//!
//! ```text
//! hello          -> @ hello ADAPTER
//! prepare NAME   -> @ ready SECONDS right | @ ready SECONDS wrong WHY | @ absent
//! time           -> @ took SECONDS
//! verify         -> @ right | @ wrong WHY
//!                   @ failed WHY, to any of them
//! ```
//!
//! `prepare` runs the case once, from cold, and checks the result. `time` runs it often enough for
//! a sample. Lines that do not begin with `@` come from the runtime itself.

use std::io::{BufRead, Write};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use crate::table::{Case, Scale, What, all};
use crate::{check, inputs};

/// How long one run took, without its preparations, and its result if that was asked for.
pub type Ran = Result<(Duration, Vec<f32>), String>;

/// Runs a case once; reads the result where the argument says so.
pub type Run<'a> = Box<dyn FnMut(bool) -> Ran + 'a>;

/// A runtime that can be measured.
pub trait Peer {
    /// What it runs on.
    fn hello(&self) -> String;

    /// Makes a case ready. `Ok(None)`: it has no such operation.
    ///
    /// # Errors
    ///
    /// The runtime's message.
    fn prepare<'a>(&'a self, what: &What, inputs: &[Vec<f32>]) -> Result<Option<Run<'a>>, String>;

    /// The largest of these sizes at which a tensor goes up, gets one added, and has the right last
    /// element.
    fn largest(&self, mebibytes: &[usize]) -> usize;
}

/// Sizes that `largest` tries.
const SIZES: &[usize] = &[64, 127, 128, 200, 256, 512, 1024, 2047, 2048, 3072, 4096];

/// A sample takes at least this long, but has a limited number of runs.
const SAMPLE: Duration = Duration::from_millis(5);
const RUNS_MAX: u32 = 64;

/// Runs a measuring program. Its arguments: `[--quick | --large] [first NAME | largest]`.
pub fn main<P: Peer>(open: impl FnOnce() -> Result<P, String>) -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let scale = args.iter().find_map(|arg| Scale::of(arg)).unwrap_or_default();
    let done = match args.iter().find(|arg| !arg.starts_with('-')).map(String::as_str) {
        Some("first") => open().and_then(|peer| first(&peer, args.last().map_or("", |a| a))),
        Some("largest") => open().map(|peer| say(&format!("took {}", peer.largest(SIZES)))),
        _ => open().map(|peer| serve(&peer, &all(scale))),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&format!("failed {error}"));
            ExitCode::FAILURE
        }
    }
}

fn say(text: &str) {
    let line = text.replace('\n', " ");
    println!("@ {line}");
    // If this fails nobody listens any more, so there is nobody to tell.
    let _ = std::io::stdout().flush();
}

/// One case in a fresh process; the caller takes the time until it says `ready`.
fn first(peer: &impl Peer, name: &str) -> Result<(), String> {
    let case = all(Scale::Usual).into_iter().find(|case| case.name == name);
    let case = case.ok_or_else(|| format!("no case {name}"))?;
    let inputs = inputs(&case.what);
    let Some(mut run) = peer.prepare(&case.what, &inputs)? else {
        say("absent");
        return Ok(());
    };
    let (took, result) = run(true)?;
    say(&format!("computed {}", took.as_secs_f64()));
    say(&verdict(&case, &inputs, &result));
    Ok(())
}

fn verdict(case: &Case, inputs: &[Vec<f32>], result: &[f32]) -> String {
    match check(&case.what, inputs, result) {
        Ok(()) => "right".into(),
        Err(why) => format!("wrong {why}"),
    }
}

fn serve(peer: &impl Peer, cases: &[Case]) {
    let mut now: Option<(&Case, Vec<Vec<f32>>, Run<'_>)> = None;
    for line in std::io::stdin().lock().lines() {
        let Ok(line) = line else { return };
        let (word, name) = line.split_once(' ').unwrap_or((&line, ""));
        let answer = match (word, &mut now) {
            ("hello", _) => Ok(format!("hello {}", peer.hello())),
            ("prepare", _) => {
                now = None; // what it held is free before the next is made
                match cases.iter().find(|case| case.name == name) {
                    Some(case) => prepare(peer, case).map(|(answer, ready)| {
                        now = ready.map(|(inputs, run)| (case, inputs, run));
                        answer
                    }),
                    None => Err(format!("no case {name}")),
                }
            }
            ("time", Some((_, _, run))) => sample(run).map(|seconds| format!("took {seconds}")),
            ("verify", Some((case, inputs, run))) => {
                run(true).map(|(_, result)| verdict(case, inputs, &result))
            }
            _ => Err(format!("not now: {line}")),
        };
        say(&answer.unwrap_or_else(|error| format!("failed {error}")));
    }
}

type Ready<'a> = Option<(Vec<Vec<f32>>, Run<'a>)>;

fn prepare<'a>(peer: &'a impl Peer, case: &Case) -> Result<(String, Ready<'a>), String> {
    let inputs = inputs(&case.what);
    let Some(mut run) = peer.prepare(&case.what, &inputs)? else {
        return Ok(("absent".into(), None));
    };
    let (took, result) = run(true)?;
    let verdict = verdict(case, &inputs, &result);
    Ok((format!("ready {} {verdict}", took.as_secs_f64()), Some((inputs, run))))
}

fn sample(run: &mut Run<'_>) -> Result<f64, String> {
    let begin = Instant::now();
    let (mut total, mut runs) = (run(false)?.0, 1);
    while begin.elapsed() < SAMPLE && runs < RUNS_MAX {
        total += run(false)?.0;
        runs += 1;
    }
    Ok(total.as_secs_f64() / f64::from(runs))
}
