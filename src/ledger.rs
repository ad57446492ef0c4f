//! The ledger: every crossing between host and device since the device was opened, and the guard
//! that forbids them.

use core::fmt;
use core::panic::Location;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::clock::Stopwatch;
use crate::count::bytes;
use crate::dtype::DType;
use crate::error::{Result, causes};
use crate::news::{Level, Topic};
use crate::shared::lock;
use crate::timeline::{Activity, Episode, Timelines, thread};

/// Which way a crossing goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// From host to device.
    Up,
    /// From device to host.
    Down,
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Up => "up",
            Self::Down => "down",
        })
    }
}

/// What a [guard](crate::Device::guard) does with crossings while it lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Crossings {
    /// They happen, and are counted: the default.
    Allow,
    /// They happen, are counted, and each is logged as a warning with the line that caused it.
    Log,
    /// They are errors that name the line that asked.
    Deny,
}

/// One crossing.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Crossing {
    /// Which way.
    pub direction: Direction,
    /// Bytes that crossed.
    pub bytes: u64,
    /// The dtype on the device.
    pub dtype: DType,
    /// The call that caused it: `upload`, `read`, ...
    pub call: &'static str,
    /// The line in the caller's code.
    pub line: &'static Location<'static>,
    /// From the call to its last byte; zero in a browser, which has no clock for wharf.
    pub elapsed: Duration,
}

/// How often and how much.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Total {
    /// Crossings.
    pub count: u64,
    /// Bytes.
    pub bytes: u64,
}

/// What crossed since the device was opened. Printing it gives totals and the largest crossings.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Ledger {
    /// Host to device.
    pub up: Total,
    /// Device to host.
    pub down: Total,
    /// The runtime's own traffic: parameters of kernels and fault slots.
    pub control: Total,
    /// The largest crossings, largest first.
    pub largest: Vec<Crossing>,
}

/// How many of the largest crossings are kept.
const LARGEST_KEPT: usize = 8;

impl fmt::Display for Ledger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = [("up", self.up), ("down", self.down), ("control", self.control)];
        for (name, total) in rows {
            writeln!(f, "{name:<8}{:>8} x  {}", total.count, bytes(total.bytes))?;
        }
        for c in &self.largest {
            let (size, ms) = (bytes(c.bytes), c.elapsed.as_secs_f64() * 1e3);
            let (direction, at) = (c.direction, c.line);
            writeln!(
                f,
                "  {direction:<6}{size:>9} {:<5}{ms:>9.3} ms  {} at {at}",
                c.dtype, c.call
            )?;
        }
        Ok(())
    }
}

/// The call that asks for a crossing, and the caller's line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallSite {
    pub(crate) call: &'static str,
    pub(crate) location: &'static Location<'static>,
}

impl CallSite {
    /// The line that called the caller of this.
    #[track_caller]
    pub(crate) fn of(call: &'static str) -> Self {
        Self { call, location: Location::caller() }
    }
}

/// A crossing under way. However it ends - done, failed, cancelled - dropping this notes the bytes
/// that crossed. If there were none, there was no crossing.
#[derive(Debug)]
pub(crate) struct OpenCrossing<'a> {
    books: &'a Books,
    crossing: Crossing,
    clock: Stopwatch,
    bytes: AtomicU64,
}

impl OpenCrossing<'_> {
    /// Counts bytes that crossed.
    pub(crate) fn add(&self, bytes: u64) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }
}

impl Drop for OpenCrossing<'_> {
    fn drop(&mut self) {
        let bytes = *self.bytes.get_mut();
        if bytes > 0 {
            let time = self.clock.elapsed();
            let Crossing { direction, call, line, .. } = self.crossing;
            let activity = match direction {
                Direction::Up => Activity::Up,
                Direction::Down => Activity::Down,
            };
            let timelines = &self.books.timelines;
            timelines.crossed(|| {
                let (line, begin) = (Some(line), timelines.now().saturating_sub(time));
                Episode { activity, name: call, line, thread: thread(), begin, time, bytes }
            });
            self.books.note(Crossing { bytes, elapsed: time, ..self.crossing.clone() });
        }
    }
}

/// The ledger and the guards of one device.
#[derive(Debug)]
pub(crate) struct Books {
    timelines: Arc<Timelines>,
    ledger: Mutex<Ledger>,
    /// Guards alive, the innermost last.
    guards: Mutex<Vec<(u64, Crossings)>>,
}

impl Books {
    pub(crate) fn new(timelines: Arc<Timelines>) -> Self {
        Self { timelines, ledger: Mutex::default(), guards: Mutex::default() }
    }

    /// Checks the guards for a crossing, before a byte moves.
    pub(crate) fn admit(&self, direction: Direction, site: CallSite) -> Result<()> {
        let CallSite { call, location } = site;
        match lock(&self.guards).last() {
            Some((_, Crossings::Deny)) => {
                Err(CrossingCause::Denied { direction, call, at: location }.into())
            }
            Some((_, Crossings::Log)) => {
                Topic::Crossing.tell_at(
                    Level::Warn,
                    call,
                    format_args!("crosses {direction}"),
                    Some(location),
                );
                Ok(())
            }
            Some((_, Crossings::Allow)) | None => Ok(()),
        }
    }

    /// Opens the entry of a crossing that has been admitted.
    pub(crate) fn open(
        &self,
        direction: Direction,
        dtype: DType,
        site: CallSite,
    ) -> OpenCrossing<'_> {
        let CallSite { call, location: line } = site;
        let elapsed = Duration::ZERO;
        let crossing = Crossing { direction, bytes: 0, dtype, call, line, elapsed };
        OpenCrossing { books: self, crossing, clock: Stopwatch::start(), bytes: AtomicU64::new(0) }
    }

    /// Notes a crossing that happened.
    fn note(&self, crossing: Crossing) {
        let mut ledger = lock(&self.ledger);
        let total = match crossing.direction {
            Direction::Up => &mut ledger.up,
            Direction::Down => &mut ledger.down,
        };
        total.count += 1;
        total.bytes += crossing.bytes;
        let place = ledger.largest.partition_point(|c| c.bytes >= crossing.bytes);
        ledger.largest.insert(place, crossing);
        ledger.largest.truncate(LARGEST_KEPT);
    }

    /// Notes the runtime's own traffic.
    pub(crate) fn note_control(&self, bytes: u64) {
        let mut ledger = lock(&self.ledger);
        ledger.control.count += 1;
        ledger.control.bytes += bytes;
    }

    pub(crate) fn ledger(&self) -> Ledger {
        lock(&self.ledger).clone()
    }

    pub(crate) fn guard(self: &Arc<Self>, crossings: Crossings) -> CrossingGuard {
        let mut guards = lock(&self.guards);
        let id = guards.last().map_or(0, |(id, _)| id + 1);
        guards.push((id, crossings));
        CrossingGuard { books: Arc::clone(self), id }
    }
}

/// Keeps a rule for crossings in force, for every handle and thread of the device, until it is
/// dropped.
#[derive(Debug)]
#[must_use = "a guard that is dropped at once guards nothing"]
pub struct CrossingGuard {
    books: Arc<Books>,
    id: u64,
}

impl Drop for CrossingGuard {
    fn drop(&mut self) {
        lock(&self.books.guards).retain(|(id, _)| *id != self.id);
    }
}

causes! {
    enum CrossingCause;

    /// A crossing that a guard forbids.
    Denied { direction: Direction, call: &'static str, at: &'static Location<'static> }, Denied:
        ("crossing {direction} denied: {call} at {at}")
        help ("move it out of the guarded region, or guard with `Crossings::Log` to see them all");
}
