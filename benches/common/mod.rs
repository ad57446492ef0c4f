//! What all benches share: cases measured in turn, medians with their spread, a table, and JSON.
//!
//! Machines are noisy and differ, so a figure is worth little alone. Each case runs right after its
//! ceiling - what the machine itself can do, such as a memcpy - in every round, and what counts is
//! the median of those ratios.
#![allow(dead_code, reason = "each bench uses its part")]

use std::error::Error;
use std::time::{Duration, Instant};

mod memory;
mod report;
mod settings;

pub(crate) use memory::Peak;
pub(crate) use report::{Report, Row};
pub(crate) use settings::Settings;

pub(crate) type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// What one run of a case does, from which its value follows.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Work {
    /// Bytes moved: GB/s.
    Bytes(f64),
    /// Floating point operations: GFLOP/s.
    Flops(f64),
    /// Repetitions of one thing: microseconds each.
    Calls(f64),
}

impl Work {
    const fn unit(self) -> &'static str {
        match self {
            Self::Bytes(_) => "GB/s",
            Self::Flops(_) => "GFLOP/s",
            Self::Calls(_) => "us",
        }
    }

    fn value(self, seconds: f64) -> f64 {
        match self {
            Self::Bytes(amount) | Self::Flops(amount) => amount / seconds / 1e9,
            Self::Calls(count) => seconds * 1e6 / count,
        }
    }
}

/// One thing to measure. `run` does it once and says how long that took, without its preparations.
pub(crate) struct Case<'a> {
    name: String,
    work: Work,
    run: Box<dyn FnMut() -> Outcome<Duration> + 'a>,
}

/// Times one call.
pub(crate) fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let out = work();
    (out, start.elapsed())
}

impl<'a> Case<'a> {
    pub(crate) fn new(
        name: impl Into<String>,
        work: Work,
        run: impl FnMut() -> Outcome<Duration> + 'a,
    ) -> Self {
        Self { name: name.into(), work, run: Box::new(run) }
    }

    fn seconds(&mut self) -> Outcome<f64> {
        (self.run)().map(|d| d.as_secs_f64().max(1e-9))
    }
}

/// The middle of some numbers, and half the distance of their quartiles in parts of it.
pub(crate) fn median(samples: &[f64]) -> (f64, f64) {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    // Between neighbours, linearly.
    let at = |part: f64| {
        let place = part * sorted.len().saturating_sub(1) as f64;
        let [low, high] =
            [place.floor(), place.ceil()].map(|i| sorted.get(i as usize).copied().unwrap_or(0.0));
        low + (high - low) * place.fract()
    };
    let middle = at(0.5);
    (middle, if middle == 0.0 { 0.0 } else { (at(0.75) - at(0.25)) / 2.0 / middle })
}

/// Runs every case in every round, each right after its ceiling if there is one, and reports
/// medians.
///
/// The first round of each is the warm-up and does not count.
pub(crate) fn measure(
    settings: &Settings,
    report: &mut Report,
    rounds: usize,
    mut ceiling: Option<Case<'_>>,
    mut cases: Vec<Case<'_>>,
) -> Outcome {
    cases.retain(|case| settings.wants(&case.name));
    let mut of_ceiling = Vec::new();
    let mut times: Vec<Vec<f64>> = vec![Vec::new(); cases.len()];
    let mut ratios = times.clone();
    for round in 0..=rounds {
        for (i, case) in cases.iter_mut().enumerate() {
            let above = ceiling.as_mut().map(|c| Ok((c.work, c.seconds()?)));
            let above: Option<(Work, f64)> = above.transpose().map_err(|e: Box<dyn Error>| e)?;
            let seconds = case.seconds()?;
            if round == 0 {
                continue;
            }
            times[i].push(seconds);
            if let Some((work, above)) = above {
                of_ceiling.push(above);
                ratios[i].push(case.work.value(seconds) / work.value(above));
            }
        }
    }
    if let Some(ceiling) = ceiling.as_ref().filter(|_| !cases.is_empty()) {
        report.push(row(ceiling, &of_ceiling, None));
    }
    for ((case, times), ratios) in cases.iter().zip(&times).zip(&ratios) {
        let above = ceiling.as_ref().map(|c| (c.name.clone(), median(ratios).0));
        report.push(row(case, times, above));
    }
    Ok(())
}

fn row(case: &Case<'_>, times: &[f64], ceiling: Option<(String, f64)>) -> Row {
    let (seconds, spread) = median(times);
    let (case, value, unit) =
        (case.name.clone(), case.work.value(seconds), case.work.unit().to_owned());
    Row { case, value, unit, spread: Some(spread), ceiling }
}
