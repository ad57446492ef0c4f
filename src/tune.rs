//! Tuning: candidates timed on the adapter at hand, each checked before it may win.
//!
//! ```text
//! for each problem: operands of small numbers, so that the oracle's result is known exactly
//!     for each candidate of the table: compute, compare, time; a wrong one is out
//!     the fastest of the rest, in turns with the built-in choice
//! ```
//!
//! Nothing tunes, reads or writes a file unless it is asked to: [`Device::tune`] measures,
//! [`Tuned::save`] and [`Tuned::load`] keep the results, [`Device::with_tuned`] uses them.

use core::fmt;
use core::future::Future;

use crate::clock::Stopwatch;
use crate::device::Device;
use crate::dtype::{Class, DType, Element};
use crate::error::Result;
use crate::gpu::Drive;
use crate::kernel::matmul::choice::processor::Processor;
use crate::kernel::matmul::choice::scheme::Choice;
use crate::kernel::matmul::choice::tuned::Measured;
pub use crate::kernel::matmul::choice::tuned::Problem;
use crate::kernel::matmul::choice::{self, Chooser};
use crate::ledger::CallSite;
use crate::news::{Level, Topic};
use crate::reference::{self, Exact, Number, Strided};
use crate::tensor::Tensor;

mod cause;
mod file;

use cause::TuneCause;
pub use file::Tuned;

/// What tuning has found about a candidate, or settled on.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Trial {
    /// The product.
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
    /// Its result is right; billions of operations a second.
    Right(f64),
    /// Its result differs from the oracle's: it cannot win. Where, and how.
    Wrong(String),
    /// It could not be computed here, and why.
    Failed(String),
    /// It is the fastest that is right; billions of operations a second.
    Won(f64),
}

impl fmt::Display for Trial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { problem, kernel, outcome, number, of } = self;
        write!(f, "{problem}: {number} of {of}: {kernel}: ")?;
        match outcome {
            Outcome::Right(rate) => write!(f, "{rate:.1} G/s"),
            Outcome::Wrong(how) => write!(f, "wrong: {how}"),
            Outcome::Failed(why) => write!(f, "failed: {why}"),
            Outcome::Won(rate) => write!(f, "the fastest, {rate:.1} G/s"),
        }
    }
}

/// Products of at most this many multiplications are compared as a whole, larger ones by a sample.
const WHOLE_MAX: usize = 1 << 22;
/// Elements of a sample.
const SAMPLE: usize = 96;
/// Times that a candidate is measured; the best counts.
const ROUNDS: usize = 5;
/// Candidates this many times slower than the best are not measured again.
const HOPELESS: f64 = 2.0;
/// A measurement repeats a product until it takes about as long.
const SECONDS: f64 = 2e-2;
/// And no more often than this.
const RUNS_MAX: f64 = 1024.0;
/// How often a first estimate is made again.
const GROWTH_MAX: usize = 4;

impl Device {
    /// Times the matmul kernels that can compute these products on this adapter, and returns the
    /// fastest. `on` is called for every trial.
    ///
    /// A candidate wins only if its result keeps the contract of [`Tensor::matmul`]: the whole
    /// result up to 2^22 multiplications, a sample of 96 elements - edges and corners among them -
    /// beyond. Operands and results cross, and are in the ledger as this call's; nothing is kept,
    /// and nothing changes until [`Device::with_tuned`].
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// use wharf::DType;
    /// use wharf::tune::Problem;
    ///
    /// let problems = [Problem::new(16, 16, 16, DType::F32)];
    /// let mut trials = 0;
    /// let tuned = device.tune(&problems, |_| trials += 1).await?;
    /// assert!(trials > 1 && tuned.iter().len() == 1, "{tuned}");
    /// let device = device.with_tuned(&tuned); // products of this size use what was fastest
    /// # let _ = device;
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn tune<'a, F: FnMut(&Trial)>(
        &'a self,
        problems: &'a [Problem],
        on: F,
    ) -> impl Future<Output = Result<Tuned>> + use<'a, F> {
        self.tuned_but(CallSite::of("tune"), problems, |_| false, on)
    }

    pub(crate) async fn tuned_but(
        &self,
        site: CallSite,
        problems: &[Problem],
        spoil: impl Fn(&str) -> bool,
        mut on: impl FnMut(&Trial),
    ) -> Result<Tuned> {
        self.engine.gpu.present("tuning")?;
        let mut entries = Vec::new();
        for problem in problems {
            let bench = Bench::new(self, site, *problem, &spoil)?;
            let entry = bench.run(&mut on).await;
            entries.push(entry.map_err(|error| error.during(format!("tuning {problem}")))?);
        }
        Ok(Tuned::of(self, entries))
    }

    /// [`Device::tune`], blocking.
    #[cfg(not(target_arch = "wasm32"))]
    #[track_caller]
    pub fn tune_now(&self, problems: &[Problem], on: impl FnMut(&Trial)) -> Result<Tuned> {
        pollster::block_on(self.tuned_but(CallSite::of("tune_now"), problems, |_| false, on))
    }

    /// A handle on the *same* device whose products use what was tuned, where it applies: for
    /// problems of the same dtype and lie, whose dimensions round up to the same powers of two.
    /// `explain()` says so. Results tuned elsewhere - on another adapter, driver, version of wharf
    /// or class of kernels - are not used, and a warning is logged.
    #[must_use]
    pub fn with_tuned(&self, tuned: &Tuned) -> Self {
        if let Some(because) = tuned.foreign_to(self) {
            Topic::Tune.tell(Level::Warn, "tuned choices", format_args!("not used: {because}"));
            return self.clone();
        }
        self.with_choices(tuned.table())
    }
}

/// A candidate: a choice, or the built-in one.
type Candidate = Option<Choice>;

/// A problem with its operands.
struct Bench<'a> {
    device: &'a Device,
    /// Who asked for it: all that crosses is theirs.
    site: CallSite,
    problem: Problem,
    sides: [Tensor; 2],
    /// The operands' elements, of `oracle` dtype.
    bytes: [Vec<u8>; 2],
    oracle: DType,
    /// The built-in choice in words.
    built_in: String,
    spoil: &'a dyn Fn(&str) -> bool,
}

impl<'a> Bench<'a> {
    fn new(
        device: &'a Device,
        site: CallSite,
        problem: Problem,
        spoil: &'a dyn Fn(&str) -> bool,
    ) -> Result<Self> {
        let Problem { batch, m, n, k, dtype, transposed } = problem;
        let right = if transposed { [batch, n, k] } else { [batch, k, n] };
        let dims = [[batch, m, k], right];
        let signed = dtype.class() != Class::Unsigned;
        let oracle = if dtype.is_float() { DType::F32 } else { DType::I32 };
        let side = |side: usize| -> Result<(Tensor, Vec<u8>)> {
            let numbers = numbers(side, dims[side].iter().product(), signed);
            let (tensor, bytes) = if dtype.is_float() {
                let values: Vec<f32> = numbers.map(|x| x as f32 / 8.0).collect();
                (
                    device.upload_at(site, &values, dims[side])?.0,
                    bytemuck::cast_slice(&values).to_vec(),
                )
            } else {
                let values: Vec<i32> = numbers.collect();
                (
                    device.upload_at(site, &values, dims[side])?.0,
                    bytemuck::cast_slice(&values).to_vec(),
                )
            };
            Ok((tensor.cast(dtype)?, bytes))
        };
        let ((a, left), (b, right)) = (side(0)?, side(1)?);
        a.compute()?;
        b.compute()?;
        let b = if transposed { b.t()? } else { b };
        let sides = if batch == 1 { [a.squeeze(0)?, b.squeeze(0)?] } else { [a, b] };
        let built_in = sides[0].product(&sides[1], Chooser::Tables(None))?.explain();
        let remark = built_in.kernels.iter().find_map(|kernel| kernel.remarks.first());
        let built_in = remark.map_or("one kernel", |remark| remark);
        let built_in = format!("built-in, {built_in}");
        let bytes = [left, right];
        Ok(Self { device, site, problem, sides, bytes, oracle, built_in, spoil })
    }

    fn name(&self, candidate: &Candidate) -> String {
        candidate.map_or_else(|| self.built_in.clone(), |choice| choice.text())
    }

    fn product(&self, candidate: &Candidate) -> Result<Tensor> {
        let [a, b] = &self.sides;
        let by = candidate.map_or(Chooser::Tables(None), Chooser::Asker);
        let product = a.product(b, by)?;
        if (self.spoil)(&self.name(candidate)) {
            return self.device.zeros(*product.shape(), product.dtype());
        }
        Ok(product)
    }

    async fn run(&self, on: &mut impl FnMut(&Trial)) -> Result<Measured> {
        let problem = self.problem;
        let size = problem.size();
        let mut candidates = vec![None];
        let processor = Processor::of(self.device.target(), self.device.caps(), problem.dtype);
        let choices = choice::candidates(processor, size, problem.transposed);
        candidates.extend(choices.into_iter().map(Some));
        let of = candidates.len();
        let trial = |index: usize, candidate: &Candidate, outcome| Trial {
            problem,
            kernel: self.name(candidate),
            outcome,
            number: index + 1,
            of,
        };
        let work = [problem.batch, problem.m, problem.n, problem.k].map(|d| d as f64);
        let work = 2.0 * work.iter().product::<f64>();
        let rate = |seconds: f64| work / seconds / 1e9;
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
        for _ in 1..ROUNDS {
            for (i, candidate) in candidates.iter().enumerate() {
                // What is wrong has no time.
                if times[i] <= best * HOPELESS {
                    times[i] = times[i].min(self.seconds(candidate, times[i]).await?);
                    best = best.min(times[i]);
                }
            }
        }
        let fastest = (0..of).min_by(|&a, &b| times[a].total_cmp(&times[b])).unwrap_or(0);
        let (candidate, rate) = (candidates[fastest], rate(times[fastest]));
        on(&trial(fastest, &candidate, Outcome::Won(rate)));
        let choice = candidate.map(Choice::tuned);
        Ok(Measured { problem, choice, rate: if rate.is_finite() { rate } else { 0.0 } })
    }

    /// Computes a candidate once and compares the result; returns seconds, or what is wrong.
    async fn first(&self, candidate: &Candidate) -> Result<core::result::Result<f64, String>> {
        if let Some(wrong) = self.wrong(&self.product(candidate)?).await? {
            return Ok(Err(wrong));
        }
        // Of few runs most is the way to the device and back: they grow until it counts for little.
        let mut about = self.seconds(candidate, SECONDS).await?;
        for _ in 0..GROWTH_MAX {
            let before = about;
            about = self.seconds(candidate, before).await?;
            if about > before / 2.0 {
                break;
            }
        }
        Ok(Ok(about))
    }

    /// Measures the seconds of one product, which takes `about` that long.
    async fn seconds(&self, candidate: &Candidate, about: f64) -> Result<f64> {
        let times = (SECONDS / about.max(1e-9)).clamp(1.0, RUNS_MAX) as usize;
        let clock = Stopwatch::start();
        let mut last = self.product(candidate)?;
        last.compute()?;
        for _ in 1..times {
            last = self.product(candidate)?;
            last.compute()?;
        }
        // In a browser only a read waits.
        let rank = last.shape().rank();
        let one = (0..rank).try_fold(last, |t, axis| t.slice(axis, 0..1))?;
        drop(bytes_of(&one, self.site).await?);
        Ok(clock.elapsed().as_secs_f64() / times as f64)
    }

    /// What is wrong with a result, if anything is.
    async fn wrong(&self, got: &Tensor) -> Result<Option<String>> {
        let Problem { batch, m, n, k, dtype, transposed } = self.problem;
        let all = batch * m * n;
        let places: Vec<usize> =
            if all * k <= WHOLE_MAX { (0..all).collect() } else { sample(batch, m, n) };
        let picked = if places.len() == all {
            got.clone()
        } else {
            let index: Vec<u32> = places.iter().map(|&place| place as u32).collect();
            got.take(&self.device.upload_at(self.site, &index, [index.len()])?.0)?
        };
        let (wide, bytes) = bytes_of(&picked, self.site).await?;
        for (i, &place) in places.iter().enumerate() {
            let (b, row, column) = (place / (m * n), place / n % m, place % n);
            let operand = |side: usize, offset: usize, strides| {
                let bytes = &self.bytes[side];
                Strided { dtype: self.oracle, bytes, offset, strides }
            };
            let right = if transposed { (column * k, [1, 0]) } else { (column, [n as isize, 0]) };
            let a = operand(0, (b * m + row) * k, &[0, 1]);
            let b = operand(1, b * k * n + right.0, &right.1);
            let want = reference::matmul(&[1, 1], k, &a, &b);
            let width = wide.width();
            let value = Number::decode(wide, &bytes[i * width..(i + 1) * width]);
            let want = want.first().copied().unwrap_or(Exact::from(Number::Int(0)));
            let keeps = |dtype| reference::matmul_keeps(dtype, k, want, value);
            if !keeps(if dtype.is_float() { dtype } else { DType::I64 }) {
                let (got, want) = (number(value), number(want.value));
                return Ok(Some(format!("index {place} of {all} is {got}, not {want}")));
            }
        }
        Ok(None)
    }
}

const fn number(value: Number) -> f64 {
    match value {
        Number::Float(x) => x,
        Number::Int(x) => x as f64,
        Number::Bool(x) => x as u8 as f64,
    }
}

/// Small whole numbers that look random: `-8..=8`, or `0..=8`. Sums of their products are exact.
fn numbers(seed: usize, count: usize, signed: bool) -> impl Iterator<Item = i32> {
    let (low, range) = if signed { (-8, 17) } else { (0, 9) };
    let mut state = 0x9e37_79b9_7f4a_7c15u64.wrapping_mul(seed as u64 + 1) | 1;
    (0..count).map(move |_| {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        low + ((state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 40) % range) as i32
    })
}

/// Positions of a result: its corners, some of its last row and column, and some of all others.
fn sample(batch: usize, m: usize, n: usize) -> Vec<usize> {
    let mut places = vec![0, n - 1, (m - 1) * n, batch * m * n - 1];
    let parts = SAMPLE / 3;
    for i in 0..parts {
        let b = i % batch;
        places.push((b * m + m - 1) * n + i * n / parts);
        places.push((b * m + i * m / parts) * n + n - 1);
        // The golden ratio spreads them over everything.
        let spread = (i as f64 * 0.618_033_988_75).fract();
        places.push((spread * (batch * m * n) as f64) as usize);
    }
    places
}

/// The elements of a tensor as they lie in memory, of a dtype that holds all of its values.
async fn bytes_of(tensor: &Tensor, site: CallSite) -> Result<(DType, Vec<u8>)> {
    async fn read<T: Element>(tensor: &Tensor, site: CallSite) -> Result<(DType, Vec<u8>)> {
        let values = tensor.read_all::<T>(Drive::Wake, site).await?;
        Ok((T::DTYPE, bytemuck::cast_slice(&values).to_vec()))
    }
    match tensor.dtype() {
        DType::F64 => read::<f64>(tensor, site).await,
        dtype if dtype.is_float() => read::<f32>(&tensor.cast(DType::F32)?, site).await,
        _ => read::<i32>(&tensor.cast(DType::I32)?, site).await,
    }
}
