//! What is noted of a device while it is profiled: what the host spent its time on, what ran on the
//! device and when, and how much memory there was. Only data; `profile` makes tables of it.
//!
//! All times are since the device was opened. Where nobody profiles, a look at a flag is all that
//! is done.

use core::cell::Cell;
use core::panic::Location;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::clock::Stopwatch;
use crate::shared::{Watches, lock};

mod flight;
mod solos;
mod ticket;

pub(crate) use flight::{Count, Flight, Flown, NoTime, REASONS, Stamped, Whence};
pub(crate) use solos::Solos;
pub(crate) use ticket::Ticket;

/// What the host spends time on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Activity {
    /// Making commands of an operation.
    Record,
    /// Making a pipeline, but for the driver.
    Pipeline,
    /// The driver's compiler.
    Compiler,
    Submit,
    Wait,
    Up,
    Down,
}

/// How many activities there are.
const ACTIVITIES: usize = 7;

/// A stretch of a host thread's time.
#[derive(Clone, Debug)]
pub(crate) struct Episode {
    pub(crate) activity: Activity,
    pub(crate) name: &'static str,
    pub(crate) line: Option<&'static Location<'static>>,
    pub(crate) thread: u64,
    pub(crate) begin: Duration,
    pub(crate) time: Duration,
    pub(crate) bytes: u64,
}

/// How often something was done, and what it took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Spent {
    /// How often.
    pub count: u64,
    /// How long, without what else was done meanwhile by the same thread.
    pub time: Duration,
    /// How many bytes, where it is about bytes.
    pub bytes: u64,
}

/// Bytes of memory at a time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Level {
    pub(crate) at: Duration,
    pub(crate) live: u64,
    pub(crate) reserved: u64,
}

/// Events of a kind that are kept for a trace. What came before is in the sums only.
const KEPT_MAX: usize = 1 << 18;

/// What one profile has noted.
#[derive(Debug)]
pub(crate) struct Timeline {
    pub(crate) began: Duration,
    noted: Mutex<Events>,
}

/// All of it, as it is at the moment.
#[derive(Clone, Debug, Default)]
pub(crate) struct Events {
    tallies: [Spent; ACTIVITIES],
    pub(crate) allocated: Spent,
    pub(crate) live_peak: u64,
    pub(crate) spans: VecDeque<Episode>,
    pub(crate) levels: VecDeque<Level>,
    pub(crate) flights: VecDeque<Arc<Flight>>,
    /// Sums of the flights that are not kept any more.
    past: Flown,
    tickets: usize,
    /// Events that are not kept any more.
    pub(crate) left_out: u64,
}

impl Events {
    pub(crate) const fn of(&self, activity: Activity) -> Spent {
        self.tallies[activity as usize]
    }

    /// Sums of all that has run.
    pub(crate) fn flown(&self) -> Flown {
        let mut flown = self.past.clone();
        self.flights.iter().for_each(|flight| flown.add(flight));
        flown
    }

    /// Adds to a list that is bounded; counts what goes.
    fn keep<T>(list: &mut VecDeque<T>, left_out: &mut u64, event: T) {
        if list.len() == KEPT_MAX {
            list.pop_front();
            *left_out += 1;
        }
        list.push_back(event);
    }
}

impl Timeline {
    /// A copy of what there is.
    pub(crate) fn events(&self) -> Events {
        lock(&self.noted).clone()
    }

    fn span(&self, span: &Episode, own: Duration) {
        let noted = &mut *lock(&self.noted);
        let tally = &mut noted.tallies[span.activity as usize];
        tally.count += 1;
        tally.time += own;
        tally.bytes += span.bytes;
        Events::keep(&mut noted.spans, &mut noted.left_out, span.clone());
    }

    fn level(&self, allocated: Option<u64>, level: Level) {
        let noted = &mut *lock(&self.noted);
        noted.allocated.count += u64::from(allocated.is_some());
        noted.allocated.bytes += allocated.unwrap_or(0);
        noted.live_peak = noted.live_peak.max(level.live);
        Events::keep(&mut noted.levels, &mut noted.left_out, level);
    }

    fn flight(&self, flight: &Arc<Flight>) {
        let noted = &mut *lock(&self.noted);
        noted.tickets += flight.tickets.len();
        noted.flights.push_back(Arc::clone(flight));
        // What has its times is added up and forgotten.
        while noted.tickets > KEPT_MAX
            && noted.flights.front().is_some_and(|flight| flight.is_settled())
        {
            let Some(flight) = noted.flights.pop_front() else { break };
            noted.tickets -= flight.tickets.len();
            noted.left_out += flight.tickets.len() as u64;
            noted.past.add(&flight);
        }
    }
}

/// Everybody who profiles a device, and its clock.
#[derive(Debug)]
pub(crate) struct Timelines {
    opened: Stopwatch,
    watches: Watches<Timeline>,
    pub(crate) solos: Arc<Solos>,
}

impl Timelines {
    pub(crate) fn new(is_software: bool) -> Self {
        let (watches, solos) = (Watches::default(), Arc::new(Solos::new(is_software)));
        Self { opened: Stopwatch::start(), watches, solos }
    }

    pub(crate) fn begin(&self) -> Arc<Timeline> {
        let (began, noted) = (self.now(), Mutex::default());
        self.watches.begin(Timeline { began, noted })
    }

    /// Whether somebody may profile.
    pub(crate) fn any(&self) -> bool {
        self.watches.any()
    }

    pub(crate) fn now(&self) -> Duration {
        self.opened.elapsed()
    }

    /// An activity of this thread, until the result is dropped.
    pub(crate) fn during(
        &self,
        activity: Activity,
        name: &'static str,
        line: Option<&'static Location<'static>>,
    ) -> During<'_> {
        let open = self.any().then(|| {
            let outer = INSIDE.replace(Duration::ZERO);
            OpenEpisode { activity, name, line, begin: self.now(), outer }
        });
        During { timelines: self, open }
    }

    /// A crossing that has just come to its end. It may have gone from thread to thread.
    pub(crate) fn crossed(&self, span: impl FnOnce() -> Episode) {
        if self.any() {
            let span = span();
            self.watches.tell(|timeline| timeline.span(&span, span.time));
        }
    }

    /// Memory as it is now, after so many bytes were allocated, if any were.
    pub(crate) fn level(&self, allocated: Option<u64>, bytes: impl FnOnce() -> [u64; 2]) {
        if self.any() {
            let [live, reserved] = bytes();
            let level = Level { at: self.now(), live, reserved };
            self.watches.tell(|timeline| timeline.level(allocated, level));
        }
    }

    /// A batch that is about to be submitted.
    pub(crate) fn flight(&self, flight: &Arc<Flight>) {
        self.watches.tell(|timeline| timeline.flight(flight));
    }
}

thread_local! {
    /// What the activities inside the present one took.
    static INSIDE: Cell<Duration> = const { Cell::new(Duration::ZERO) };
    static NUMBER: Cell<u64> = const { Cell::new(0) };
}

/// The number of this thread.
pub(crate) fn thread() -> u64 {
    static THREADS: AtomicU64 = AtomicU64::new(1);
    if NUMBER.get() == 0 {
        NUMBER.set(THREADS.fetch_add(1, Ordering::Relaxed));
    }
    NUMBER.get()
}

#[derive(Debug)]
struct OpenEpisode {
    activity: Activity,
    name: &'static str,
    line: Option<&'static Location<'static>>,
    begin: Duration,
    outer: Duration,
}

/// An activity under way.
#[derive(Debug)]
pub(crate) struct During<'a> {
    timelines: &'a Timelines,
    open: Option<OpenEpisode>,
}

impl Drop for During<'_> {
    fn drop(&mut self) {
        let Some(OpenEpisode { activity, name, line, begin, outer }) = self.open.take() else {
            return;
        };
        let time = self.timelines.now().saturating_sub(begin);
        let own = time.saturating_sub(INSIDE.get());
        INSIDE.set(outer + time);
        let span = Episode { activity, name, line, thread: thread(), begin, time, bytes: 0 };
        self.timelines.watches.tell(|timeline| timeline.span(&span, own));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_too_many_events_the_latest_are_kept_and_the_others_counted() {
        let (mut list, mut left_out) = (VecDeque::new(), 0);
        (0..KEPT_MAX + 3).for_each(|event| Events::keep(&mut list, &mut left_out, event));
        assert_eq!((list.len(), left_out), (KEPT_MAX, 3));
        assert_eq!((list.front(), list.back()), (Some(&3), Some(&(KEPT_MAX + 2))));
    }

    #[test]
    fn of_flights_that_are_not_kept_the_sums_are() {
        const EACH: usize = KEPT_MAX / 2;
        let timeline = Timeline { began: Duration::ZERO, noted: Mutex::default() };
        let line = Location::caller();
        let ticket = Ticket { count: 1, kernel: "k", line, bytes: 1 << 20, flops: 3 };
        let flight = || {
            let flight = Flight::new(&vec![ticket; EACH], Duration::ZERO, &Arc::default());
            flight.forgo(NoTime::Lost);
            Arc::new(flight)
        };
        (0..3).for_each(|_| timeline.flight(&flight()));
        let events = timeline.events();
        assert_eq!((events.flights.len(), events.left_out), (2, EACH as u64), "the first is gone");
        let flown = events.flown();
        let all: Vec<_> = flown.origins.values().map(|n| [n.calls, n.bytes, n.flops]).collect();
        let calls = 3 * EACH as u64;
        assert_eq!(all, [[calls, calls << 20, 3 * calls]]);
        assert_eq!(flown.untimed[NoTime::Lost as usize], calls, "without a time");
    }

    #[test]
    fn a_thread_keeps_its_number_and_has_it_alone() {
        let here = [thread(), thread()];
        let there = std::thread::spawn(|| [thread(), thread()]).join().expect("it ends");
        assert!(here[0] == here[1] && there[0] == there[1], "{here:?} {there:?}");
        assert_ne!(here[0], there[0]);
    }
}
