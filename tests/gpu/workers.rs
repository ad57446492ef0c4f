//! The table in several processes, because the software drivers compile shaders one after the other
//! within a process. The first process keeps the table and cargo's manners, and hands out one case
//! at a time: whoever is free takes the next, so that nobody waits for another at the end.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write, stdin};
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Child, ChildStdin, Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use crate::cases::pair::{SUMMARY, compared, summary};
use crate::ctx::{Case, Ctx, Outcome};
use crate::uses::Recorder;

/// How many processes are wanted.
const PROCESSES: &str = "WHARF_TEST_PROCESSES";

/// Tells a process that it is a worker.
const WORKER: &str = "WHARF_TEST_WORKER";

/// Cases at a time in one process: more than one, on devices that they share.
pub(crate) const LANES: usize = 2;

/// Cases that one process runs. A driver keeps what it has compiled as long as its process lives:
/// two that ran all cases on lavapipe took 22 GB.
const CASES_MAX: usize = 200;

/// Opens the line that answers for a case: its name follows, then what was wrong.
const ANSWER: &str = "\u{1}";

/// Stands in an answer for the end of a line.
const LINE_END: &str = "\u{b}";

/// How many processes are wanted, other than this one: of a software driver one for each core.
pub(crate) fn wanted(software: bool) -> Option<usize> {
    let asked = std::env::var(PROCESSES).ok().and_then(|n| n.parse().ok());
    let cores = || thread::available_parallelism().map_or(1, usize::from);
    let n = asked.unwrap_or_else(|| if software { cores() } else { 1 });
    (n > 1).then_some(n)
}

/// Whether this process is a worker.
pub(crate) fn is_worker() -> bool {
    std::env::var_os(WORKER).is_some()
}

/// A worker's part: runs what it is told, until nobody tells it anything.
pub(crate) fn serve(ctx: &Ctx, cases: &[Case]) -> ExitCode {
    let cases: HashMap<&str, &Case> = cases.iter().map(|case| (&*case.name, case)).collect();
    let recorder = Recorder::wanted();
    let next = || stdin().lines().next().and_then(Result::ok);
    thread::scope(|scope| {
        let lane = || {
            while let Some(name) = next() {
                let outcome = cases.get(&*name).map_or_else(
                    || Err("a process has no such case".into()),
                    |case| {
                        recorder.recorded(&name, || guarded(|| pollster::block_on((case.run)(ctx))))
                    },
                );
                let wrong = outcome.err().unwrap_or_default().replace('\n', LINE_END);
                println!("{ANSWER}{name}{ANSWER}{wrong}");
            }
        };
        (0..LANES).for_each(|_| drop(scope.spawn(lane)));
    });
    println!("{}", summary(compared()));
    ExitCode::SUCCESS
}

pub(crate) fn guarded(run: impl FnOnce() -> Outcome) -> Outcome {
    // The message has been written by then.
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| Err("a panic, shown above".into()))
}

/// The processes, started as they are needed.
#[derive(Default)]
pub(crate) struct Workers {
    /// Who is free; each as often as it has lanes.
    free: Mutex<Vec<Arc<Worker>>>,
    followers: Mutex<Vec<Follower>>,
}

/// Ends with its process, and says how many were compared and what went wrong.
type Follower = JoinHandle<(usize, Option<String>)>;

/// What is to be told of the cases that a process is running.
type Waiting = Arc<Mutex<HashMap<String, Sender<Outcome>>>>;

struct Worker {
    input: Mutex<ChildStdin>,
    waiting: Waiting,
    /// Cases that it has run.
    ran: AtomicUsize,
}

impl Workers {
    /// Has a case run by a process that is free. One that ended, or has run its share, is not asked
    /// again: it ends with its last lane.
    pub(crate) fn run(&self, case: &str) -> Outcome {
        let worker = self.take().map_err(|error| format!("no process starts: {error}"))?;
        let outcome = worker.run(case).ok_or("the process that ran it has ended")?;
        if worker.ran.fetch_add(1, Ordering::Relaxed) + LANES < CASES_MAX {
            lock(&self.free).push(worker);
        }
        outcome
    }

    fn take(&self) -> std::io::Result<Arc<Worker>> {
        let mut free = lock(&self.free);
        if let Some(worker) = free.pop() {
            return Ok(worker);
        }
        let (worker, follower) = Worker::start()?;
        lock(&self.followers).push(follower);
        let worker = Arc::new(worker);
        free.extend((1..LANES).map(|_| Arc::clone(&worker)));
        Ok(worker)
    }

    /// Lets all processes end: how many they compared, and whatever was wrong with them.
    pub(crate) fn close(&self) -> (usize, Vec<String>) {
        // Nobody tells them anything more.
        lock(&self.free).clear();
        let followers = mem::take(&mut *lock(&self.followers));
        let ended = followers.into_iter().map(|follower| {
            follower.join().unwrap_or_else(|_| (0, Some("a panic beside a process".into())))
        });
        let (compared, wrong): (Vec<_>, Vec<_>) = ended.unzip();
        (compared.iter().sum(), wrong.into_iter().flatten().collect())
    }
}

impl Worker {
    fn start() -> std::io::Result<(Self, Follower)> {
        let mut child = Command::new(std::env::current_exe()?)
            .env(WORKER, "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let input = child.stdin.take().ok_or(std::io::ErrorKind::BrokenPipe)?;
        let waiting = Waiting::default();
        let follower = thread::spawn({
            let waiting = Arc::clone(&waiting);
            move || follow(child, &waiting)
        });
        Ok((Self { input: Mutex::new(input), waiting, ran: AtomicUsize::new(0) }, follower))
    }

    /// What a case came to, unless the process ended.
    fn run(&self, case: &str) -> Option<Outcome> {
        let (sender, receiver) = channel();
        lock(&self.waiting).insert(case.into(), sender);
        writeln!(lock(&self.input), "{case}").ok()?;
        receiver.recv().ok()
    }
}

/// Passes on what a process says until it ends, its answers to those who wait for them.
fn follow(mut child: Child, waiting: &Waiting) -> (usize, Option<String>) {
    let mut compared = None;
    let lines = child.stdout.take().into_iter().flat_map(|out| BufReader::new(out).lines());
    for line in lines.map_while(Result::ok) {
        if let Some((case, outcome)) = answer(&line) {
            let sender = lock(waiting).remove(case);
            // Whoever asked is still there.
            sender.into_iter().for_each(|sender| drop(sender.send(outcome.clone())));
        } else if let Some(count) = summed(&line) {
            compared = Some(count);
        } else {
            println!("{line}");
        }
    }
    // Those who still wait are told by this that nothing comes.
    lock(waiting).clear();
    let wrong = match child.wait() {
        Ok(status) if status.success() && compared.is_some() => None,
        Ok(status) => Some(format!("a process ended with {status}")),
        Err(error) => Some(format!("a process: {error}")),
    };
    (compared.unwrap_or(0), wrong)
}

/// What a line says that answers for a case.
fn answer(line: &str) -> Option<(&str, Outcome)> {
    let (case, wrong) = line.strip_prefix(ANSWER)?.split_once(ANSWER)?;
    let outcome = if wrong.is_empty() { Ok(()) } else { Err(wrong.replace(LINE_END, "\n")) };
    Some((case, outcome))
}

/// What a closing line says.
fn summed(line: &str) -> Option<usize> {
    let [before, after] = SUMMARY;
    line.strip_prefix(before)?.strip_suffix(after)?.parse().ok()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
