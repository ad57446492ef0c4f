//! How long cases took, and which took longest.

use std::collections::HashMap;
use std::mem;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How many are named.
const NAMED: usize = 6;

/// The name of each case that ran and its time, waiting included.
#[derive(Default)]
pub(crate) struct Times(Mutex<Vec<(String, Duration)>>);

impl Times {
    /// Runs a case and notes how long it took.
    pub(crate) fn measured<T>(&self, case: &str, run: impl FnOnce() -> T) -> T {
        let since = Instant::now();
        let result = run();
        self.lock().push((case.into(), since.elapsed()));
        result
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(String, Duration)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The longest groups, as parts of the whole, and the longest cases.
    pub(crate) fn longest(&self) -> String {
        let cases = mem::take(&mut *self.lock());
        let total: Duration = cases.iter().map(|(_, time)| *time).sum();
        let mut groups = HashMap::<String, Duration>::new();
        for (name, time) in &cases {
            let group = name.split("::").next().unwrap_or_default();
            *groups.entry(group.into()).or_default() += *time;
        }
        let part = |time: Duration| 100.0 * time.as_secs_f64() / total.as_secs_f64().max(1e-9);
        let groups = named(groups.into_iter().collect(), |time| format!("{:.0} %", part(time)));
        let cases = named(cases, |time| format!("{:.1} s", time.as_secs_f64()));
        format!("gpu tier: longest groups: {groups}\ngpu tier: longest cases: {cases}")
    }
}

fn named(mut all: Vec<(String, Duration)>, show: impl Fn(Duration) -> String) -> String {
    all.sort_by_key(|(_, time)| std::cmp::Reverse(*time));
    let some = all.iter().take(NAMED).map(|(name, time)| format!("{name} {}", show(*time)));
    some.collect::<Vec<_>>().join(", ")
}
