//! A batch of dispatches on the device, and the timestamps between them.

use core::panic::Location;
use std::collections::HashMap;
use std::sync::OnceLock;
use std::time::Duration;

/// A dispatch, or equal ones in a row, as far as their time is concerned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ticket {
    /// How many.
    pub(crate) count: u64,
    pub(crate) kernel: &'static str,
    /// The line of the caller's that asked for it.
    pub(crate) line: &'static Location<'static>,
    /// What each binds.
    pub(crate) bytes: u64,
    /// Multiplications and additions of each; 0 where they are not known.
    pub(crate) flops: u64,
}

/// A dispatch that binds no more takes about as long as its timestamp, or less.
const SMALL_BYTES: u64 = 128 << 10;
/// So many small ones in a row are timed together.
const TOGETHER_MAX: u64 = 32;

impl Ticket {
    /// Takes an equal dispatch that comes next, if both are small.
    pub(crate) fn takes(&mut self, next: &Self) -> bool {
        let equal = *self == Self { count: self.count, ..*next };
        let taken = equal && self.bytes <= SMALL_BYTES && self.count < TOGETHER_MAX;
        self.count += if taken { next.count } else { 0 };
        taken
    }
}

/// Why a dispatch has no time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Untimed {
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
pub(crate) const REASONS: [(Untimed, &str); 6] = [
    (Untimed::Lacking, "the device has no timestamps"),
    (Untimed::Pending, "their timestamps have not come yet"),
    (Untimed::Lost, "their timestamps could not be read"),
    (Untimed::Zero, "the driver wrote no timestamps"),
    (Untimed::Backwards, "their timestamps go backwards"),
    (Untimed::Absurd, "their timestamps say longer than the host's clock"),
];

/// The timestamps of a batch: before its first dispatch and behind each.
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
    /// When the host began to submit it.
    pub(crate) submitted: Duration,
    stamped: OnceLock<Result<Stamped, Untimed>>,
}

/// The tick at which a ticket began, and how many nanoseconds it took.
pub(crate) type Timed = (u64, f64);

impl Flight {
    pub(crate) const fn new(tickets: Vec<Ticket>, submitted: Duration) -> Self {
        Self { tickets, submitted, stamped: OnceLock::new() }
    }

    /// That it will have no times.
    pub(crate) fn forgo(&self, why: Untimed) {
        let _ = self.stamped.set(Err(why));
    }

    /// Its timestamps.
    pub(crate) fn stamp(&self, stamped: Stamped) {
        let _ = self.stamped.set(Ok(stamped));
    }

    /// Nanoseconds of a tick, once its timestamps are there.
    pub(crate) fn period(&self) -> Option<f64> {
        self.stamped.get()?.as_ref().ok().map(|stamped| stamped.period)
    }

    pub(crate) fn is_settled(&self) -> bool {
        self.stamped.get().is_some()
    }

    /// When each ticket began, and how long it took; or why that is not known.
    pub(crate) fn times(&self) -> Vec<Result<Timed, Untimed>> {
        let none = |why| vec![Err(why); self.tickets.len()];
        let Stamped { ticks, period, arrived } = match self.stamped.get() {
            None => return none(Untimed::Pending),
            Some(Err(why)) => return none(*why),
            Some(Ok(stamped)) => stamped,
        };
        let timed = |pair: &[u64]| match (pair[0], pair[1]) {
            (0, _) | (_, 0) => Err(Untimed::Zero),
            (begin, end) if end < begin => Err(Untimed::Backwards),
            (begin, end) => Ok((begin, (end - begin) as f64 * period)),
        };
        let times: Vec<_> = ticks.windows(2).map(timed).collect();
        // It ran between two looks at the host's clock, which goes as fast as the device's but for
        // a little. In a browser that clock stands still.
        let seen = arrived.saturating_sub(self.submitted).as_nanos() as f64;
        let sum: f64 = times.iter().flatten().map(|(_, time)| time).sum();
        let absurd = *arrived > Duration::ZERO && sum > 1.1 * seen + 1e6;
        if absurd { none(Untimed::Absurd) } else { times }
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
mod tests {
    use super::*;

    fn ticket(bytes: u64) -> Ticket {
        let line = Location::caller();
        Ticket { count: 1, kernel: "k", line, bytes, flops: 0 }
    }

    /// What comes of two dispatches with these timestamps, which the host saw for so long.
    fn times(ticks: [u64; 3], milliseconds: u64) -> Vec<Result<f64, Untimed>> {
        let flight = Flight::new(vec![ticket(1 << 20); 2], Duration::from_secs(1));
        assert_eq!(flight.times(), [Err(Untimed::Pending); 2], "nothing has come");
        let arrived = Duration::from_secs(1) + Duration::from_millis(milliseconds);
        flight.stamp(Stamped { ticks: ticks.to_vec(), period: 10.0, arrived });
        flight.times().into_iter().map(|time| time.map(|(_, time)| time)).collect()
    }

    #[test]
    fn timestamps_that_make_no_sense_are_no_times() {
        use Untimed::{Absurd, Backwards, Zero};
        for (ticks, milliseconds, want) in [
            ([1000, 1100, 1150], 10, [Ok(1000.0), Ok(500.0)]),
            ([1000, 1000, 1000], 10, [Ok(0.0); 2]),
            ([0, 0, 0], 10, [Err(Zero); 2]),
            ([0, 1100, 1150], 10, [Err(Zero), Ok(500.0)]),
            ([1000, 1100, 0], 10, [Ok(1000.0), Err(Zero)]),
            ([1000, 900, 1150], 10, [Err(Backwards), Ok(2500.0)]),
            ([1000, 1100, 2_000_000], 10, [Err(Absurd); 2]),
            ([1000, 1100, 2_000_000], 20, [Ok(1000.0), Ok(19_989_000.0)]),
        ] {
            assert_eq!(times(ticks, milliseconds), want, "{ticks:?} in {milliseconds} ms");
        }
    }

    #[test]
    fn a_flight_that_was_lost_stays_so() {
        let flight = Flight::new(vec![ticket(1)], Duration::ZERO);
        flight.forgo(Untimed::Lost);
        flight.stamp(Stamped { ticks: vec![1, 2], period: 1.0, arrived: Duration::ZERO });
        assert_eq!(flight.times(), [Err(Untimed::Lost)], "the first word counts");
    }

    #[test]
    fn only_small_equal_dispatches_are_timed_together() {
        let small = ticket(1024);
        let mut first = small;
        assert!((1..TOGETHER_MAX).all(|_| first.takes(&small)), "as many as there may be");
        assert!(!first.takes(&small), "and no more");
        let elsewhere = Ticket { line: Location::caller(), ..small };
        for other in [ticket(2048), Ticket { flops: 2, ..small }, elsewhere] {
            assert!(!small.clone().takes(&other), "{other:?} is another");
        }
        let large = ticket(SMALL_BYTES + 1);
        assert!(!large.clone().takes(&large), "a large one has a time of its own");
    }

    #[test]
    fn counts_are_of_every_dispatch() {
        let mut three = ticket(1024);
        assert!(three.takes(&ticket(1024)), "equal");
        let flight = Flight::new(vec![three, ticket(1 << 20)], Duration::ZERO);
        flight.stamp(Stamped { ticks: vec![5, 25, 0], period: 1.0, arrived: Duration::ZERO });
        let mut flown = Flown::default();
        flown.add(&flight);
        let count = flown.origins.values().next().expect("one line");
        assert_eq!((count.calls, count.timed, count.nanoseconds), (3, 2, 20.0));
        assert_eq!((count.bytes, count.timed_bytes), (2048 + (1 << 20), 2048));
        assert_eq!(flown.untimed[Untimed::Zero as usize], 1);
        let places = REASONS.iter().enumerate();
        assert!(places.into_iter().all(|(place, (why, _))| *why as usize == place), "in order");
    }
}
