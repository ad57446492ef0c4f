//! What a profile comes to.

use core::panic::Location;
use std::time::Duration;

use super::Ceilings;
use crate::timeline::{Activity, Count, Events, REASONS, Spent, Whence};

/// What a profile has noted, added up. Printing it gives a table.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Report {
    /// From the beginning of the profile to this report. In a browser it is zero, and so is all
    /// time of the host.
    pub wall: Duration,
    /// All dispatches that have a time, together.
    pub device: Duration,
    /// Dispatches that were submitted.
    pub dispatches: u64,
    /// Those of them that have no time, by reason.
    pub untimed: Vec<Untimed>,
    /// The dispatches by kernel and by the line that asked, the longest first.
    pub rows: Vec<Row>,
    /// Making commands of deferred operations.
    pub recording: Spent,
    /// Making pipelines, without the driver.
    pub pipelines: Spent,
    /// The driver's compiler, in making them.
    pub compiler: Spent,
    /// Submissions of what was recorded.
    pub submissions: Spent,
    /// Waiting for the device.
    pub waits: Spent,
    /// Crossings from host to device, waits included.
    pub up: Spent,
    /// Crossings from device to host, waits included.
    pub down: Spent,
    /// Tensors and intermediates that were given memory.
    pub allocations: Spent,
    /// The most bytes that were live after an allocation.
    pub bytes_live_peak: u64,
    /// The cap, if there is one.
    pub bytes_cap: Option<u64>,
    /// The most that the adapter was seen to do, where that could be measured.
    pub ceilings: Option<Ceilings>,
}

/// Dispatches without a time.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Untimed {
    /// How many.
    pub count: u64,
    /// Why they have none.
    pub why: &'static str,
}

/// Dispatches of one kernel that one line asked for.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Row {
    pub(super) kernel: &'static str,
    /// The line of yours that made the tensor, or of the last operation where several are in one
    /// kernel.
    pub line: &'static Location<'static>,
    /// How many.
    pub calls: u64,
    /// How many of them have a time.
    pub timed: u64,
    /// Those times together.
    pub time: Duration,
    /// Bytes that are bound, each binding once: what a kernel that reads and writes all of it once
    /// moves.
    pub bytes: u64,
    /// Multiplications and additions of products, which are known; of other kernels 0.
    pub flops: u64,
    rates: [Option<f64>; 2],
    share: Option<f64>,
}

impl Row {
    /// The kernel.
    #[must_use]
    pub const fn kernel(&self) -> &str {
        self.kernel
    }

    fn of((kernel, line): Whence, count: &Count, ceilings: Option<Ceilings>) -> Self {
        let Count { calls, bytes, flops, timed, nanoseconds, .. } = *count;
        let rate = |n: u64| (n > 0 && nanoseconds > 0.0).then(|| n as f64 / nanoseconds * 1e9);
        let rates = [rate(count.timed_bytes), rate(count.timed_flops)];
        let time = Duration::from_nanos(nanoseconds as u64);
        let share = ceilings.map(|most| {
            let [moved, computed] = rates.map(Option::unwrap_or_default);
            (moved / most.bytes_per_second).max(computed / most.flops_per_second)
        });
        let share = share.filter(|share| *share > 0.0);
        Self { kernel, line, calls, timed, time, bytes, flops, rates, share }
    }

    /// Bound bytes a second, of the dispatches that have a time.
    #[must_use]
    pub const fn bytes_per_second(&self) -> Option<f64> {
        self.rates[0]
    }

    /// Multiplications and additions a second, where they are known.
    #[must_use]
    pub const fn flops_per_second(&self) -> Option<f64> {
        self.rates[1]
    }

    /// How much of the adapter's ceiling that is: of bytes, or of multiplications and additions of
    /// f32, whichever it is nearer to. More than 1 where caches help, or f16 is computed faster.
    #[must_use]
    pub const fn ceiling_share(&self) -> Option<f64> {
        self.share
    }
}

impl Report {
    pub(super) fn of(
        events: &Events,
        wall: Duration,
        cap: Option<u64>,
        ceilings: Option<Ceilings>,
    ) -> Self {
        let ran = events.flown();
        let rows = ran.origins.iter().map(|(origin, count)| Row::of(*origin, count, ceilings));
        let mut rows: Vec<Row> = rows.collect();
        // Without times, by what is bound.
        rows.sort_by_key(|row| {
            let place = (row.line.file(), row.line.line(), row.kernel);
            (core::cmp::Reverse((row.time, row.bytes)), place)
        });
        let untimed = ran.untimed.iter().zip(REASONS).filter(|(n, _)| **n > 0);
        Self {
            wall,
            device: rows.iter().map(|row| row.time).sum(),
            dispatches: rows.iter().map(|row| row.calls).sum(),
            untimed: untimed.map(|(&count, (_, why))| Untimed { count, why }).collect(),
            rows,
            recording: events.of(Activity::Record),
            pipelines: events.of(Activity::Pipeline),
            compiler: events.of(Activity::Compiler),
            submissions: events.of(Activity::Submit),
            waits: events.of(Activity::Wait),
            up: events.of(Activity::Up),
            down: events.of(Activity::Down),
            allocations: events.allocated,
            bytes_live_peak: events.live_peak,
            bytes_cap: cap,
            ceilings,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_of_the_nearer_ceiling() {
        let whence = ("k", Location::caller());
        let most = Some(Ceilings { bytes_per_second: 100e9, flops_per_second: 1000e9 });
        let count = |timed_bytes, timed_flops, nanoseconds| Count {
            calls: 1,
            timed: 1,
            nanoseconds,
            timed_bytes,
            timed_flops,
            ..Count::default()
        };
        for (count, ceilings, want) in [
            (count(50, 0, 1.0), most, Some(0.5)),
            (count(50, 800, 1.0), most, Some(0.8)),
            (count(200, 100, 1.0), most, Some(2.0)),
            (count(50, 800, 0.0), most, None),
            (count(50, 800, 1.0), None, None),
        ] {
            let share = Row::of(whence, &count, ceilings).ceiling_share();
            assert_eq!(share, want, "{count:?}");
        }
    }
}
