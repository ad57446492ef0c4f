//! Tuning: candidates timed on the adapter at hand, each checked before it may win.
//!
//! ```text
//! on a GPU: how long a workgroup takes alone, and among many, which says how many cores there are
//! for each problem: operands of small numbers, so that the oracle's result is known exactly
//!     for each candidate of the table: compute, compare, time; a wrong one is out
//!     the fastest of the rest, in turns with the built-in choice
//! ```
//!
//! Nothing tunes, reads or writes a file unless it is asked to: [`Device::tune`] measures,
//! [`Tuned::save`] and [`Tuned::load`] keep the results, [`Device::with_tuned`] uses them.

use core::fmt;
use core::future::Future;
use std::sync::Arc;

use crate::clock::{self, Stopwatch};
use crate::device::Device;
pub use crate::device::Problems;
use crate::error::Result;
use crate::gpu::Drive;
pub use crate::kernel::attention::choice::tuned::AttentionSize;
pub use crate::kernel::choice::Problem;
use crate::kernel::choice::{Chosen, Measured, Table};
pub use crate::kernel::matmul::choice::tuned::ProductSize;
pub use crate::kernel::quantized::choice::WeightsSize;
pub use crate::kernel::reduce::choice::SumSize;
pub use crate::kernel::rows::choice::RowsSize;
pub use crate::kernel::sort::choice::SortSize;
use crate::ledger::CallSite;
use crate::news::{Level, Topic};
use crate::tensor::Tensor;

mod bench;
mod breadth;
mod cause;
mod file;

use bench::Bench;
use cause::TuneCause;
pub use file::Tuned;

/// What tuning has found about a candidate, or settled on.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Trial {
    /// What is computed.
    pub problem: Problem,
    /// The kernel, in words.
    pub kernel: String,
    /// What came of it.
    pub outcome: Outcome,
    /// Which candidate it is, from 1.
    pub number: usize,
    /// How many there are.
    pub of: usize,
}

/// What came of a candidate.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Outcome {
    /// Its result is right; billions a second of multiplications and additions, where there are
    /// any to count, and of elements of rows, sums and sorts.
    Right(f64),
    /// Its result differs from the oracle's: it cannot win. Where, and how.
    Wrong(String),
    /// It could not be computed here, and why.
    Failed(String),
    /// It is the fastest that is right, or the built-in one and about as fast; billions a second.
    Won(f64),
}

impl fmt::Display for Trial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { problem, kernel, outcome, number, of } = self;
        write!(f, "{problem}: {number} of {of}: {kernel}: ")?;
        match outcome {
            Outcome::Right(rate) => write!(f, "{} G/s", Digits(*rate)),
            Outcome::Wrong(how) => write!(f, "wrong: {how}"),
            Outcome::Failed(why) => write!(f, "failed: {why}"),
            Outcome::Won(rate) => write!(f, "the fastest, {} G/s", Digits(*rate)),
        }
    }
}

/// A rate with three digits that count.
struct Digits(f64);

impl fmt::Display for Digits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(rate) = *self;
        let before = rate.abs().log10().floor();
        let after = if before.is_finite() { (2.0 - before).clamp(0.0, 9.0) as usize } else { 0 };
        write!(f, "{rate:.after$}")
    }
}

/// Times that a candidate is measured; the best counts.
const ROUNDS: usize = 5;
/// The built-in choice stays unless another is this many times as fast: less is the machine's mood.
const BETTER: f64 = 1.03;
/// Candidates this many times slower than the best are not measured again.
const HOPELESS: f64 = 2.0;
/// A measurement repeats a result no more often than this.
const RUNS_MAX: f64 = 1024.0;
/// How often a first estimate is made again.
const GROWTH_MAX: usize = 4;

impl Device {
    /// Times the ways in which these problems can be computed on this adapter, and returns the
    /// fastest of each. `on` is called for every trial.
    ///
    /// A way wins only if its result keeps the contract of its operation: held to the oracle are
    /// all elements where that takes up to four million steps, otherwise both ends and a sample.
    /// Operands and results cross, and are in the ledger as this call's; nothing is kept, and
    /// nothing changes until [`Device::with_tuned`].
    ///
    /// On a GPU it is timed first how many cores there are, and every choice follows that, of what
    /// was not tuned as well. As where another kernel wins, sums may be parted otherwise by then,
    /// and so rounded otherwise, than where only the kind of chip is known.
    ///
    /// In a browser wharf has no clock, and this is an error: what was tuned elsewhere on the same
    /// adapter is not used there either, because a browser calls it otherwise.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// use wharf::DType;
    /// use wharf::tune::{ProductSize, SumSize};
    ///
    /// let product = ProductSize::new(16, 16, 16, DType::F32);
    /// let problems = [product.into(), SumSize::rows(4, 1000).into()];
    /// let mut trials = 0;
    /// let tuned = device.tune(&problems, |_| trials += 1).await?;
    /// assert!(trials > 2 && tuned.iter().len() == 2, "{tuned}");
    /// let device = device.with_tuned(&tuned); // what is of these sizes uses what was fastest
    /// # let _ = device;
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn tune<'a, F: FnMut(&Trial)>(
        &'a self,
        problems: &'a [Problem],
        on: F,
    ) -> impl Future<Output = Result<Tuned>> + use<'a, F> {
        self.tuned_by(CallSite::of("tune"), problems, Manner::PATIENT, on)
    }

    pub(crate) async fn tuned_by(
        &self,
        site: CallSite,
        problems: &[Problem],
        manner: Manner<'_>,
        mut on: impl FnMut(&Trial),
    ) -> Result<Tuned> {
        self.engine.gpu.present("tuning")?;
        manner.check(clock::RUNS, || self.adapter().describe())?;
        let breadth = breadth::timed_on(self, site, manner.seconds).await?;
        let (target, mut entries) = (self.target(), Vec::new());
        let table = Arc::new(Table { target, breadth, entries: Vec::new() });
        let device = &self.with_choices(table).without_batch_invariance();
        for problem in problems {
            let bench = Bench::new(device, site, *problem)?;
            let entry = async { Contest::new(device, site, bench, &manner)?.run(&mut on).await };
            let entry = entry.await;
            entries.push(entry.map_err(|error| error.during(format!("tuning {problem}")))?);
        }
        Ok(Tuned::of(self, breadth, entries))
    }

    /// [`Device::tune`], blocking.
    #[cfg(not(target_arch = "wasm32"))]
    #[track_caller]
    pub fn tune_now(&self, problems: &[Problem], on: impl FnMut(&Trial)) -> Result<Tuned> {
        pollster::block_on(self.tuned_by(CallSite::of("tune_now"), problems, Manner::PATIENT, on))
    }

    /// A handle on the *same* device whose operations use what was tuned, where it applies: for
    /// problems of the same kind, whose numbers round up to the same powers of two. What is
    /// computed asks the handle of its first operand, and `explain()` says so. All other choices
    /// follow the cores that a GPU was timed to have. Results tuned elsewhere - on another adapter,
    /// driver, version of wharf or class of kernels - are not used, and a warning is logged.
    #[must_use]
    pub fn with_tuned(&self, tuned: &Tuned) -> Self {
        if let Some(because) = tuned.foreign_to(self) {
            Topic::Tune.tell(Level::Warn, "tuned choices", format_args!("not used: {because}"));
            return self.clone();
        }
        self.with_choices(tuned.table())
    }
}

/// How candidates are measured.
pub(crate) struct Manner<'a> {
    /// A measurement repeats a result until it takes about as long.
    pub(crate) seconds: f64,
    /// Names of candidates that yield zeros, for tests.
    pub(crate) spoil: &'a dyn Fn(&str) -> bool,
}

impl Manner<'_> {
    const PATIENT: Self = Self { seconds: 2e-2, spoil: &|_| false };

    /// Checks that there is a clock where something is to take a while.
    fn check(&self, has_clock: bool, adapter: impl Fn() -> String) -> Result<()> {
        match self.seconds > 0.0 && !has_clock {
            true => Err(TuneCause::NoClock { adapter: adapter() }.into()),
            false => Ok(()),
        }
    }
}

/// A candidate: a choice, or the built-in one.
type Candidate = Option<Chosen>;

/// The contest of a problem's candidates.
struct Contest<'a> {
    device: &'a Device,
    /// Who asked for it: all that crosses is theirs.
    site: CallSite,
    bench: Bench,
    /// The built-in choice in words.
    built_in: String,
    manner: &'a Manner<'a>,
}

impl<'a> Contest<'a> {
    fn new(
        device: &'a Device,
        site: CallSite,
        bench: Bench,
        manner: &'a Manner<'a>,
    ) -> Result<Self> {
        let built_in = bench.result(&handle(device, &bench.problem, None))?.explain();
        let remark = built_in.kernels.iter().find_map(|kernel| kernel.remarks.first());
        let built_in = remark.map_or("one kernel", |remark| remark);
        let built_in = format!("built-in, {built_in}");
        Ok(Self { device, site, bench, built_in, manner })
    }

    fn name(&self, candidate: &Candidate) -> String {
        candidate.map_or_else(|| self.built_in.clone(), |choice| choice.text())
    }

    /// The result by a candidate: as a table with nothing else in it would have it computed.
    fn result(&self, candidate: &Candidate) -> Result<Tensor> {
        let handle = handle(self.device, &self.bench.problem, *candidate);
        let result = self.bench.result(&handle)?;
        if (self.manner.spoil)(&self.name(candidate)) {
            return self.device.zeros(*result.shape(), result.dtype());
        }
        Ok(result)
    }

    async fn run(&self, on: &mut impl FnMut(&Trial)) -> Result<Measured> {
        let problem = self.bench.problem;
        let mut candidates = vec![None];
        candidates.extend(problem.candidates(self.device.rig()).into_iter().map(Some));
        let of = candidates.len();
        let trial = |index: usize, candidate: &Candidate, outcome| Trial {
            problem,
            kernel: self.name(candidate),
            outcome,
            number: index + 1,
            of,
        };
        let rate = |seconds: f64| self.bench.work / seconds / 1e9;
        let mut times = vec![f64::INFINITY; of];
        let mut best = f64::INFINITY;
        let mut first = None;
        for (i, candidate) in candidates.iter().enumerate() {
            let outcome = match self.first(candidate).await {
                Ok(Ok(seconds)) => {
                    times[i] = seconds;
                    best = best.min(seconds);
                    Outcome::Right(rate(seconds))
                }
                Ok(Err(how)) => {
                    first.get_or_insert_with(|| how.clone());
                    Outcome::Wrong(how)
                }
                // An error of the built-in choice is no candidate's fault.
                Err(error) if candidate.is_none() || error.is_device_lost() => return Err(error),
                Err(error) => Outcome::Failed(error.to_string()),
            };
            on(&trial(i, candidate, outcome));
        }
        // Where none is right there is nothing to choose, and no kernel to blame.
        if best.is_infinite() {
            let adapter = self.device.adapter().describe();
            return Err(
                TuneCause::NoneRight { adapter, first: first.unwrap_or_default(), of }.into()
            );
        }
        // Of one there is nothing to choose either.
        for _ in 1..if of > 1 { ROUNDS } else { 1 } {
            for (i, candidate) in candidates.iter().enumerate() {
                // What is wrong has no time.
                if times[i] <= best * HOPELESS {
                    times[i] = times[i].min(self.seconds(candidate, times[i]).await?);
                    best = best.min(times[i]);
                }
            }
        }
        times[0] /= BETTER;
        let fastest = (0..of).min_by(|&a, &b| times[a].total_cmp(&times[b])).unwrap_or(0);
        times[0] *= BETTER;
        let (choice, rate) = (candidates[fastest], rate(times[fastest]));
        on(&trial(fastest, &choice, Outcome::Won(rate)));
        Ok(Measured { problem, choice, rate: if rate.is_finite() { rate } else { 0.0 } })
    }

    /// Computes a candidate once and compares the result; returns seconds, or what is wrong.
    async fn first(&self, candidate: &Candidate) -> Result<core::result::Result<f64, String>> {
        let result = self.result(candidate)?.take_down(Drive::Wake, self.site).await?;
        if let Some(wrong) = self.bench.wrong(&result) {
            return Ok(Err(wrong));
        }
        // Of few runs most is the way to the device and back: they grow until it counts for little.
        let mut about = self.seconds(candidate, self.manner.seconds).await?;
        for _ in 0..GROWTH_MAX {
            let before = about;
            about = self.seconds(candidate, before).await?;
            if about > before / 2.0 {
                break;
            }
        }
        Ok(Ok(about))
    }

    /// Measures the seconds of one result, which takes `about` that long.
    async fn seconds(&self, candidate: &Candidate, about: f64) -> Result<f64> {
        let times = (self.manner.seconds / about.max(1e-9)).clamp(1.0, RUNS_MAX) as usize;
        let clock = Stopwatch::start();
        let mut last = self.result(candidate)?;
        last.compute()?;
        for _ in 1..times {
            last = self.result(candidate)?;
            last.compute()?;
        }
        // In a browser only a read waits.
        let rank = last.shape().rank();
        let one = (0..rank).try_fold(last, |t, axis| t.slice(axis, 0..1))?;
        drop(one.take_down(Drive::Wake, self.site).await?);
        Ok(clock.elapsed().as_secs_f64() / times as f64)
    }
}

/// A handle whose table has nothing but this choice.
fn handle(device: &Device, problem: &Problem, choice: Candidate) -> Device {
    let entries = vec![Measured { problem: *problem, choice, rate: 0.0 }];
    let (target, breadth) = (device.target(), Some(device.breadth()));
    device.with_choices(Arc::new(Table { target, breadth, entries }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_to_take_a_while_is_refused_where_nobody_can_tell_how_long_it_took() {
        let at_once = Manner { seconds: 0.0, ..Manner::PATIENT };
        let refused =
            |manner: &Manner<'_>, has_clock| manner.check(has_clock, || "one".into()).err();
        assert!(refused(&at_once, false).is_none() && refused(&Manner::PATIENT, true).is_none());
        let error = refused(&Manner::PATIENT, false).expect("there is no clock");
        assert_eq!(
            error.to_string(),
            "tuning on one takes a clock, and wharf has none in a browser"
        );
        assert!(
            error.help().is_some_and(|help| help.contains("the built-in choices")),
            "{error:?}"
        );
    }
}
