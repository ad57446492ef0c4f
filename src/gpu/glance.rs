//! What a wait does before it sleeps: where the last one was short, it looks for a moment whether
//! everything is done. To be woken takes as long as a small operation, or longer.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::clock::Stopwatch;
use crate::host::cores;

/// How long a wait looks, and how long one is short.
const SHORT: Duration = Duration::from_micros(200);

/// Whether the last wait was short.
#[derive(Debug, Default)]
pub(super) struct Glance(AtomicBool);

impl Glance {
    /// Waits, after a look where it is worth one.
    pub(super) fn before<T>(&self, is_done: impl Fn() -> bool, wait: impl FnOnce() -> T) -> T {
        // A browser has neither a clock nor waits.
        if cfg!(target_arch = "wasm32") {
            return wait();
        }
        let clock = Stopwatch::start();
        if self.is_worth_it() {
            while !is_done() && clock.elapsed() < SHORT {
                core::hint::spin_loop();
            }
        }
        let waited = wait();
        self.note(clock.elapsed());
        waited
    }

    fn is_worth_it(&self) -> bool {
        // On a single core it would keep from running what it waits for.
        self.0.load(Ordering::Relaxed) && !cores::is_one()
    }

    fn note(&self, took: Duration) {
        self.0.store(took < SHORT, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_looks_where_the_last_one_was_short() {
        let glance = Glance::default();
        assert!(!glance.is_worth_it(), "nobody has waited");
        for (micros, want) in [(100, true), (199, true), (200, false), (5000, false), (1, true)] {
            glance.note(Duration::from_micros(micros));
            assert_eq!(glance.is_worth_it(), want && !cores::is_one(), "after {micros} us");
        }
    }

    #[test]
    fn it_looks_until_all_is_done_and_then_waits() {
        let looks_after = |took| {
            let (glance, looks) = (Glance::default(), std::cell::Cell::new(0));
            glance.note(took);
            let is_done = || {
                looks.set(looks.get() + 1);
                looks.get() == 3
            };
            assert_eq!(glance.before(is_done, || looks.get()), looks.get(), "the wait comes last");
            looks.get()
        };
        assert_eq!(looks_after(SHORT), 0, "the last one was long");
        // Where this test is held up, a look ends before.
        assert!(cores::is_one() || (0..1000).any(|_| looks_after(Duration::ZERO) == 3));
    }
}
