//! Work that does not come back: where there is a patience, a wait ends after it, and says which
//! submission the device is busy with.

use core::fmt;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::lock::gl_lock;
use super::poll::{Unpolled, poll};
use crate::caps::Backend;
use crate::clock::Stopwatch;
use crate::news::{Level, Topic};
use crate::shared::lock;
use crate::timeline::Ticket;

/// What a program that was not changed sets in seconds.
const VARIABLE: &str = "WHARF_WATCHDOG";

/// How long a wait keeps others from a backend that bears only one thread.
const SLICE: Duration = Duration::from_millis(5);
/// How long it lets them go first.
const PAUSE: Duration = Duration::from_micros(100);

/// Dispatches that a message names.
const NAMED_MAX: usize = 8;

/// The submissions of a device that are not known to be done, as long as there is a patience.
#[derive(Debug)]
pub(crate) struct Watchdog {
    patience: Mutex<Option<Duration>>,
    pending: Arc<Mutex<Pending>>,
}

#[derive(Debug, Default)]
struct Pending {
    /// How many there have been.
    count: u64,
    /// When the last one was done.
    done: Option<Stopwatch>,
    submissions: VecDeque<Submission>,
}

/// What was submitted together.
#[derive(Clone, Debug)]
pub(crate) struct Submission {
    /// From 1.
    number: u64,
    /// Equal ones in a row are one. `None` of all that was submitted while nobody took note.
    dispatches: Option<Vec<Ticket>>,
}

impl Watchdog {
    pub(super) fn new() -> Self {
        let seconds = std::env::var(VARIABLE).ok().filter(|text| !text.is_empty());
        let patience = seconds.and_then(|text| {
            let read = patience(&text);
            if read.is_none() {
                Topic::Watchdog.tell(
                    Level::Warn,
                    VARIABLE,
                    format_args!("not heeded, {text:?} is no number of seconds above 0"),
                );
            }
            read
        });
        Self { patience: Mutex::new(patience), pending: Arc::default() }
    }

    /// Returns whether there was none before, and so nobody who took note.
    pub(super) fn set_patience(&self, patience: Option<Duration>) -> bool {
        let before = core::mem::replace(&mut *lock(&self.patience), patience);
        before.is_none() && patience.is_some()
    }

    pub(crate) fn patience(&self) -> Option<Duration> {
        *lock(&self.patience)
    }

    /// Notes what has just been submitted, until it is done.
    pub(super) fn submitted(&self, queue: &wgpu::Queue, tickets: impl Iterator<Item = Ticket>) {
        if self.patience().is_none() {
            return;
        }
        let mut dispatches: Vec<Ticket> = Vec::new();
        for ticket in tickets {
            match dispatches.last_mut() {
                Some(last) if (last.kernel, last.line) == (ticket.kernel, ticket.line) => {
                    last.count += ticket.count;
                }
                _ => dispatches.push(ticket),
            }
        }
        self.note(queue, Some(dispatches));
    }

    /// Notes that something was submitted while nobody took note.
    pub(super) fn submitted_before(&self, queue: &wgpu::Queue) {
        self.note(queue, None);
    }

    fn note(&self, queue: &wgpu::Queue, dispatches: Option<Vec<Ticket>>) {
        let mut pending = lock(&self.pending);
        pending.count += u64::from(dispatches.is_some());
        let number = pending.count;
        pending.submissions.push_back(Submission { number, dispatches });
        let all = Arc::clone(&self.pending);
        drop(pending);
        queue.on_submitted_work_done(move || {
            let mut all = lock(&all);
            all.done = Some(Stopwatch::start());
            all.submissions.retain(|submission| submission.number > number);
        });
    }

    /// Waits for a submission, or for everything, as long as something is done meanwhile; whoever
    /// wants it has waited since then.
    pub(super) fn wait(
        &self,
        device: &wgpu::Device,
        backend: Backend,
        submission_index: Option<wgpu::SubmissionIndex>,
        since: Stopwatch,
    ) -> Result<wgpu::PollStatus, Unpolled> {
        let shares = backend == Backend::Gl;
        self.wait_by(
            |left| {
                let timeout = if shares { Some(left.unwrap_or(SLICE).min(SLICE)) } else { left };
                let submission_index = submission_index.clone();
                let polled = {
                    let _gl = gl_lock(backend);
                    poll(device, wgpu::PollType::Wait { submission_index, timeout })
                };
                if shares && polled == Err(Unpolled::Late) {
                    std::thread::sleep(PAUSE);
                }
                polled
            },
            // Whatever is done meanwhile begins it anew.
            || {
                let done = lock(&self.pending).done.unwrap_or(since);
                done.elapsed().min(since.elapsed())
            },
        )
    }

    /// `idle` says how long nothing has come of it. A poll may end sooner than it was told: on GL
    /// after seconds.
    fn wait_by<T>(
        &self,
        poll: impl Fn(Option<Duration>) -> Result<T, Unpolled>,
        idle: impl Fn() -> Duration,
    ) -> Result<T, Unpolled> {
        let left = || self.patience().map(|patience| patience.saturating_sub(idle()));
        loop {
            let polled = poll(left());
            if !matches!(polled, Err(Unpolled::Late)) || left() == Some(Duration::ZERO) {
                return polled;
            }
        }
    }

    /// What the device is busy with, and how many submissions are behind that.
    pub(super) fn busy(&self) -> (Option<Submission>, usize) {
        let submissions = &lock(&self.pending).submissions;
        (submissions.front().cloned(), submissions.len().saturating_sub(1))
    }
}

fn patience(text: &str) -> Option<Duration> {
    let seconds = text.trim().parse().ok().filter(|seconds: &f64| *seconds > 0.0)?;
    Duration::try_from_secs_f64(seconds).ok()
}

impl fmt::Display for Submission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { number, dispatches: Some(dispatches) } = self else {
            return f.write_str("what was submitted before there was a patience");
        };
        write!(f, "submission {number}")?;
        for (i, Ticket { kernel, line, count, .. }) in dispatches.iter().enumerate() {
            match i {
                NAMED_MAX => {
                    return write!(f, ", and {} more", dispatches.len() - NAMED_MAX);
                }
                0 => f.write_str(": ")?,
                _ => f.write_str(", ")?,
            }
            let times = if *count == 1 { String::new() } else { format!(", {count} times") };
            write!(f, "{kernel} (asked for at {line}{times})")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_long_as_something_is_done_a_wait_goes_on() {
        let watchdog = Watchdog::new();
        watchdog.set_patience(Some(Duration::from_secs(3)));
        let submission = |number| Submission { number, dispatches: Some(Vec::new()) };
        lock(&watchdog.pending).submissions.extend((1..=4).map(submission));
        let polls = std::cell::Cell::new(0u64);
        let [time, last] = [Duration::ZERO; 2].map(std::cell::Cell::new);
        let until = |done: u64| {
            let poll = |timeout: Option<Duration>| {
                // Some polls take less time than they are given.
                let whole = polls.get().is_multiple_of(2);
                let took = timeout.map(|timeout| if whole { timeout } else { timeout / 3 });
                time.set(time.get() + took.expect("there is a patience"));
                polls.set(polls.get() + 1);
                let submissions = &mut lock(&watchdog.pending).submissions;
                submissions.retain(|one| one.number > polls.get().min(done));
                if polls.get() <= done {
                    last.set(time.get());
                }
                if submissions.is_empty() { Ok(()) } else { Err(Unpolled::Late) }
            };
            last.set(time.get());
            watchdog.wait_by(poll, || time.get() - last.get())
        };
        assert_eq!(until(2), Err(Unpolled::Late));
        // All of it, a third, all of it again.
        assert_eq!((polls.get(), time.get()), (3, Duration::from_secs(7)), "each has all of it");
        let (busy, behind) = watchdog.busy();
        let busy = busy.map(|busy| busy.to_string());
        assert_eq!((busy.as_deref(), behind), (Some("submission 3"), 1));
        assert!(until(4).is_ok() && polls.get() == 4, "{}", polls.get());
        watchdog.set_patience(None);
        let ends = std::cell::Cell::new(3);
        let poll = |timeout| {
            assert_eq!(timeout, None, "for ever");
            ends.set(ends.get() - 1);
            if ends.get() == 0 { Ok(()) } else { Err(Unpolled::Late) }
        };
        assert_eq!(watchdog.wait_by(poll, || Duration::from_secs(99)), Ok(()), "GL gives up early");
        assert!(watchdog.busy().0.is_none(), "all are done");
    }

    #[test]
    fn seconds_are_numbers_above_zero() {
        let read = ["2", " 0.5 ", "0", "-1", "nan", "inf", "1e400", "", "soon"].map(patience);
        let [two, half, others @ ..] = read;
        assert_eq!((two, half), (Some(Duration::from_secs(2)), Some(Duration::from_millis(500))));
        assert_eq!(others, [None; 7]);
    }
}
