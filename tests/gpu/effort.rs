//! Whether a process comes to an end, by its own time: a machine that is busy with others, or that
//! stops it for a while, says nothing about it.

use std::time::{Duration, Instant};

/// How often somebody looks.
pub(crate) const GLANCE: Duration = Duration::from_millis(20);

/// Glances without any work, after which a process waits for something that never comes: they are
/// counted, because who looks may be stopped with it.
const STILL_MAX: u32 = 15_000;

/// Watches a process that may not end.
#[derive(Debug)]
pub(crate) struct Watch {
    process: u32,
    limit: Duration,
    since: Instant,
    spent: Duration,
    still: u32,
}

impl Watch {
    /// It has just started, and may work for so long.
    pub(crate) fn new(process: u32, limit: Duration) -> Self {
        Self { process, limit, since: Instant::now(), spent: Duration::ZERO, still: 0 }
    }

    /// Whether it will not end: to be asked once a glance.
    pub(crate) fn is_over(&mut self) -> bool {
        let spent = worked(self.process).unwrap_or_else(|| self.since.elapsed());
        self.still = if spent > self.spent { 0 } else { self.still + 1 };
        self.spent = spent;
        spent > self.limit || self.still > STILL_MAX
    }
}

/// The processor time of a process, where the system tells it: on Linux, in hundredths of seconds.
fn worked(process: u32) -> Option<Duration> {
    let told = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // Its name may have blanks in it.
    let (_, fields) = told.rsplit_once(") ")?;
    let ticks = |field: &str| field.parse::<u64>().ok();
    let user_and_system = fields.split(' ').skip(11).take(2);
    let ticks = user_and_system.map(ticks).sum::<Option<u64>>()?;
    Some(Duration::from_millis(ticks * 10))
}
