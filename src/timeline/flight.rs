//! A batch of dispatches on the device, and the timestamps between them.

use core::panic::Location;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use super::{Solos, Ticket};

/// So many small ones in a row are timed together at most.
const TOGETHER_MAX: usize = 64;

/// What stands between two timestamps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lap {
    tickets: usize,
    dispatches: usize,
    /// Whether there is room for another small one.
    open: bool,
}

/// Why a dispatch has no time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoTime {
    /// The device has no timestamps, or there was no memory for them.
    Lacking,
    /// They have not come yet.
    Pending,
    /// They could not be read.
    Lost,
    /// The driver wrote nothing.
    Zero,
    /// The second is before the first.
    Backwards,
    /// The batch would have run longer than the host saw it run.
    Absurd,
}

/// The reasons, and what is said of so many dispatches.
pub(crate) const REASONS: [(NoTime, &str); 6] = [
    (NoTime::Lacking, "the device has no timestamps"),
    (NoTime::Pending, "their timestamps have not come yet"),
    (NoTime::Lost, "their timestamps could not be read"),
    (NoTime::Zero, "the driver wrote no timestamps"),
    (NoTime::Backwards, "their timestamps go backwards"),
    (NoTime::Absurd, "their timestamps say longer than the host's clock"),
];

/// The timestamps of a batch: before its first lap and behind each.
#[derive(Debug)]
pub(crate) struct Stamped {
    pub(crate) ticks: Vec<u64>,
    /// Nanoseconds of a tick.
    pub(crate) period: f64,
    /// When the host had them.
    pub(crate) arrived: Duration,
}

/// A batch on the device.
#[derive(Debug)]
pub(crate) struct Flight {
    pub(crate) tickets: Vec<Ticket>,
    laps: Vec<Lap>,
    /// When the host began to submit it.
    pub(crate) submitted: Duration,
    stamped: OnceLock<Result<Stamped, NoTime>>,
    solos: Arc<Solos>,
}

/// The tick at which a ticket began, and how many nanoseconds it took.
pub(crate) type Timed = (u64, f64);

impl Flight {
    /// Dispatches that are about to be submitted. Small ones whose like had a time of its own
    /// before are timed with their neighbours.
    pub(crate) fn new(dispatches: &[Ticket], submitted: Duration, solos: &Arc<Solos>) -> Self {
        let (mut tickets, mut laps) = (Vec::<Ticket>::new(), Vec::<Lap>::new());
        for next in dispatches {
            let small = solos.knows(next);
            let joins = small && laps.last().is_some_and(|lap| lap.open);
            let mut lap = if joins { laps.pop().unwrap_or_default() } else { Lap::default() };
            lap.dispatches += 1;
            lap.open = small && lap.dispatches < TOGETHER_MAX;
            if !(joins && tickets.last_mut().is_some_and(|last| last.takes(next))) {
                lap.tickets += 1;
                tickets.push(*next);
            }
            laps.push(lap);
        }
        Self { tickets, laps, submitted, stamped: OnceLock::new(), solos: Arc::clone(solos) }
    }

    /// How many dispatches stand before each timestamp but the first.
    pub(crate) fn strides(&self) -> impl ExactSizeIterator<Item = usize> {
        self.laps.iter().map(|lap| lap.dispatches)
    }

    /// That it will have no times.
    pub(crate) fn forgo(&self, why: NoTime) {
        let _ = self.stamped.set(Err(why));
    }

    /// Its timestamps. What was timed by itself is kept, for others of its kind.
    pub(crate) fn stamp(&self, stamped: Stamped) {
        let _ = self.stamped.set(Ok(stamped));
        let mut tickets = self.tickets.iter();
        for (lap, time) in self.laps.iter().zip(self.laps_timed()) {
            let first = tickets.next();
            if let (Some(ticket), Ok((_, time)), 1) = (first, time, lap.dispatches) {
                self.solos.note(ticket, time);
            }
            tickets.by_ref().take(lap.tickets - 1).for_each(drop);
        }
    }

    /// Nanoseconds of a tick, once its timestamps are there.
    pub(crate) fn period(&self) -> Option<f64> {
        self.stamped.get()?.as_ref().ok().map(|stamped| stamped.period)
    }

    pub(crate) fn is_settled(&self) -> bool {
        self.stamped.get().is_some()
    }

    /// When each ticket began, and how long it took; or why that is not known. Those of one lap
    /// share its time.
    pub(crate) fn times(&self) -> Vec<Result<Timed, NoTime>> {
        let (mut times, period) = (Vec::new(), self.period().unwrap_or(1.0));
        for (lap, time) in self.laps.iter().zip(self.laps_timed()) {
            let tickets = &self.tickets[times.len()..times.len() + lap.tickets];
            let mut begun = 0.0;
            times.extend(self.solos.shares(tickets).into_iter().map(|share| {
                time.map(|(tick, all)| {
                    let timed = (tick + (begun / period) as u64, all * share);
                    begun += all * share;
                    timed
                })
            }));
        }
        times
    }

    fn laps_timed(&self) -> Vec<Result<Timed, NoTime>> {
        let none = |why| vec![Err(why); self.laps.len()];
        let Stamped { ticks, period, arrived } = match self.stamped.get() {
            None => return none(NoTime::Pending),
            Some(Err(why)) => return none(*why),
            Some(Ok(stamped)) => stamped,
        };
        let timed = |pair: &[u64]| match (pair[0], pair[1]) {
            (0, _) | (_, 0) => Err(NoTime::Zero),
            (begin, end) if end < begin => Err(NoTime::Backwards),
            (begin, end) => Ok((begin, (end - begin) as f64 * period)),
        };
        let times: Vec<_> = ticks.windows(2).map(timed).collect();
        // It ran between two looks at the host's clock, which goes as fast as the device's but for
        // a little. In a browser that clock stands still.
        let seen = arrived.saturating_sub(self.submitted).as_nanos() as f64;
        let sum: f64 = times.iter().flatten().map(|(_, time)| time).sum();
        let absurd = *arrived > Duration::ZERO && sum > 1.1 * seen + 1e6;
        if absurd { none(NoTime::Absurd) } else { times }
    }
}

/// Which dispatches are counted together: a kernel, and the line that asked for it.
pub(crate) type Whence = (&'static str, &'static Location<'static>);

/// Dispatches of one source.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Count {
    pub(crate) calls: u64,
    pub(crate) bytes: u64,
    pub(crate) flops: u64,
    /// How many have a time, with all of it in nanoseconds, and their bytes and operations.
    pub(crate) timed: u64,
    pub(crate) nanoseconds: f64,
    pub(crate) timed_bytes: u64,
    pub(crate) timed_flops: u64,
}

/// What has run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flown {
    pub(crate) origins: HashMap<Whence, Count>,
    /// Dispatches without a time, by the place of the reason in [`REASONS`].
    pub(crate) untimed: [u64; REASONS.len()],
}

impl Flown {
    pub(crate) fn add(&mut self, flight: &Flight) {
        for (ticket, time) in flight.tickets.iter().zip(flight.times()) {
            let Ticket { count: calls, kernel, line, bytes, flops } = *ticket;
            let count = self.origins.entry((kernel, line)).or_default();
            let (bytes, flops) = (bytes * calls, flops * calls);
            count.calls += calls;
            count.bytes += bytes;
            count.flops += flops;
            match time {
                Ok((_, time)) => {
                    count.timed += calls;
                    count.nanoseconds += time;
                    count.timed_bytes += bytes;
                    count.timed_flops += flops;
                }
                Err(why) => self.untimed[why as usize] += calls,
            }
        }
    }
}

#[cfg(test)]
mod tests;
