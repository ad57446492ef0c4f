//! What is no result: it goes to standard error, whether or not somebody reads it.

use std::io::Write;
use std::time::Instant;

pub(crate) fn say(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}

/// How long something has taken, and what it comes to.
pub(crate) fn pace(done: usize, all: usize, since: Instant) -> String {
    let seconds = since.elapsed().as_secs_f64().max(1e-9);
    let left = (all - done) as f64 * seconds / done.max(1) as f64;
    format!("\rembedding {done} of {all}, {:.0} a second, {left:.0} s left ", done as f64 / seconds)
}
