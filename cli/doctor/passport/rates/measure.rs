//! Runs that are timed: a few, within a time.

use wharf::Result;

use super::super::clock::seconds;

/// What a run gets done.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Work {
    Bytes(f64),
    Flops(f64),
    /// Something whose time is what counts.
    Once,
}

/// Something that was measured.
#[derive(Debug)]
pub(crate) struct Measured {
    pub(crate) size: String,
    pub(crate) work: Work,
    /// Of every run that counts.
    pub(crate) seconds: Vec<f64>,
    /// What is wrong with the result.
    pub(crate) wrong: Option<String>,
}

/// How long runs may take together, and how many there are at least and at most.
const SECONDS: f64 = 0.5;
const RUNS: [usize; 2] = [3, 50];
/// A first run of more than this is the only one.
const SLOW: f64 = 1.5;

/// Times runs, after one that only warms up.
pub(super) async fn time(
    quick: bool,
    mut run: impl AsyncFnMut() -> Result<()>,
) -> Result<Vec<f64>> {
    let mut timed = async || -> Result<f64> {
        let began = seconds();
        run().await?;
        Ok(seconds() - began)
    };
    let first = timed().await?;
    if first > SLOW {
        return Ok(vec![first]);
    }
    let (mut all, [least, most]) = (Vec::new(), RUNS);
    while all.len() < if quick { 1 } else { most } {
        all.push(timed().await?);
        if all.len() >= least && all.iter().sum::<f64>() > SECONDS {
            break;
        }
    }
    Ok(all)
}

impl Measured {
    pub(crate) fn median(&self) -> f64 {
        let mut sorted = self.seconds.clone();
        sorted.sort_by(f64::total_cmp);
        sorted.get(sorted.len() / 2).copied().unwrap_or(0.0)
    }

    pub(crate) fn best(&self) -> f64 {
        self.seconds.iter().copied().fold(f64::INFINITY, f64::min)
    }

    /// Billions a second, and of what.
    pub(crate) fn rate(&self) -> Option<(f64, &'static str)> {
        match self.work {
            Work::Bytes(bytes) => Some((bytes / self.median() / 1e9, "GB/s")),
            Work::Flops(flops) => Some((flops / self.median() / 1e9, "GFLOP/s")),
            Work::Once => None,
        }
    }
}
