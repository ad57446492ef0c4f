//! Durations of crossings. In a browser they are zero: the only clock there is JavaScript's.

use std::time::Duration;

/// Whether there is one here.
pub(crate) const RUNS: bool = cfg!(not(target_arch = "wasm32"));

/// Started when it is made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stopwatch {
    #[cfg(not(target_arch = "wasm32"))]
    began: std::time::Instant,
}

impl Stopwatch {
    pub(crate) fn start() -> Self {
        Self {
            #[cfg(not(target_arch = "wasm32"))]
            began: std::time::Instant::now(),
        }
    }

    pub(crate) fn elapsed(self) -> Duration {
        #[cfg(not(target_arch = "wasm32"))]
        return self.began.elapsed();
        #[cfg(target_arch = "wasm32")]
        return Duration::ZERO;
    }
}
