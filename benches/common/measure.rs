//! Rounds of cases, each right after its ceiling. Medians are reported.

use super::report::Row;
use super::settings::Effort;
use super::{Bench, Case, Outcome, Settings};

/// A sample takes at least this many seconds, so that the clock and one late wake-up weigh little,
/// but has a limited number of runs.
const SAMPLE: f64 = 3e-3;
const RUNS_MAX: usize = 64;

/// The median of some numbers, and half the distance of their quartiles relative to it.
pub(crate) fn median(samples: &[f64]) -> (f64, f64) {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    // Interpolates linearly between neighbours.
    let at = |part: f64| {
        let place = part * sorted.len().saturating_sub(1) as f64;
        let [low, high] =
            [place.floor(), place.ceil()].map(|i| sorted.get(i as usize).copied().unwrap_or(0.0));
        low + (high - low) * place.fract()
    };
    let middle = at(0.5);
    (middle, if middle == 0.0 { 0.0 } else { (at(0.75) - at(0.25)) / 2.0 / middle })
}

/// The samples of one case.
#[derive(Debug, Default)]
struct Samples {
    seconds: Vec<f64>,
    device: Vec<f64>,
    of_ceiling: Vec<f64>,
}

impl Bench {
    /// Runs every case in every round, each right after its ceiling if there is one, and reports
    /// medians. Ceilings that no case is held against are measured once a round.
    ///
    /// The first round of each is the warm-up and does not count.
    pub(crate) fn measure(
        &mut self,
        rounds: usize,
        mut ceilings: Vec<Case<'_>>,
        mut cases: Vec<Case<'_>>,
    ) -> Outcome {
        cases.retain(|case| self.settings.wants(&case.name));
        if cases.is_empty() {
            return Ok(());
        }
        let rounds = self.settings.pick(1, rounds.min(3), rounds);
        let mut above: Vec<Samples> = ceilings.iter().map(|_| Samples::default()).collect();
        let mut samples: Vec<Samples> = cases.iter().map(|_| Samples::default()).collect();
        let held: Vec<usize> = cases.iter().map(|case| place(case, &ceilings)).collect();
        for round in 0..=rounds {
            let counts = round > 0;
            for (i, ceiling) in ceilings.iter_mut().enumerate().filter(|(i, _)| !held.contains(i)) {
                let seconds = sample(&self.settings, ceiling)?;
                above[i].seconds.extend(counts.then_some(seconds));
            }
            for ((case, own), &held) in cases.iter_mut().zip(&mut samples).zip(&held) {
                let top = match ceilings.get_mut(held) {
                    Some(c) => Some((sample(&self.settings, c)?, c.work)),
                    None => None,
                };
                let seconds = sample(&self.settings, case)?;
                let device = case.device_seconds()?;
                if !counts {
                    continue;
                }
                own.seconds.push(seconds);
                own.device.extend(device);
                if let Some((top, work)) = top {
                    above[held].seconds.push(top);
                    own.of_ceiling.push(case.work.rate(seconds) / work.rate(top));
                }
            }
        }
        for (ceiling, samples) in ceilings.iter().zip(&above) {
            self.push(row(ceiling, samples, None));
        }
        for ((case, samples), &held) in cases.iter().zip(&samples).zip(&held) {
            self.push(row(case, samples, ceilings.get(held)));
        }
        Ok(())
    }
}

/// Which ceiling a case is held against.
fn place(case: &Case<'_>, ceilings: &[Case<'_>]) -> usize {
    let named = |name| ceilings.iter().position(|ceiling| ceiling.name == name);
    case.ceiling.and_then(named).unwrap_or(0)
}

/// Seconds of one run: the mean over a sample.
fn sample(settings: &Settings, case: &mut Case<'_>) -> Outcome<f64> {
    let (mut total, mut runs) = (case.seconds()?, 1);
    while settings.effort != Effort::Test && total < SAMPLE && runs < RUNS_MAX {
        total += case.seconds()?;
        runs += 1;
    }
    Ok(total / runs as f64)
}

fn row(case: &Case<'_>, samples: &Samples, ceiling: Option<&Case<'_>>) -> Row {
    let (seconds, spread) = median(&samples.seconds);
    let device = (!samples.device.is_empty()).then(|| median(&samples.device).0);
    Row {
        case: case.name.clone(),
        value: case.work.value(seconds),
        unit: case.work.unit().to_owned(),
        spread: Some(spread),
        by_device: device.map(|seconds| case.work.value(seconds)),
        ceiling: ceiling.map(|c| (c.name.clone(), median(&samples.of_ceiling).0)),
    }
}
