//! Shadows: what kernels compute, computed once more by the oracle on the very inputs that each of
//! them had, and held to the contract of the operation.
//!
//! ```text
//! Device::shadow -> Shadow      copies of inputs and result of each operation, while it lives
//! the next read, or report()    judges what waits, in order; the first wrong one is the error
//! Shadow::capsule -> Capsule    that operation as a file: anybody replays it, on any adapter
//! ```
//!
//! An operation is what was fused into it: an expression of many is held to what each step of it
//! is allowed. So the first that is named is wrong by itself, and not by what it was given.

use core::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::clock::Stopwatch;
use crate::engine::Engine;
use crate::engine::docket::{Conviction, Docket, Excerpt, Exhibit, Score};
use crate::error::{Error, ErrorKind, Result};
use crate::gpu::Drive;
use crate::op::Number;
use crate::proof::{Budget, Formed, Oracle, judge, shown};
use crate::shared::lock;

mod capsule;
mod capture;
mod carry;
mod cause;
mod checks;
#[cfg(not(target_arch = "wasm32"))]
mod program;
mod replay;
mod words;

pub use crate::engine::docket::ShadowPolicy;
pub use capsule::Capsule;
pub(crate) use capture::{Deed, observed, witnessed};
use cause::ShadowCause;
#[cfg(not(target_arch = "wasm32"))]
pub(crate) use program::Guarded;
pub use replay::Replay;
pub(crate) use replay::replay;
use words::at;

/// Computes once more what a device does - for every handle and thread - while it lives:
/// [`Device::shadow`](crate::Device::shadow).
#[derive(Debug)]
pub struct Shadow {
    engine: Arc<Engine>,
    docket: Arc<Docket>,
}

impl Shadow {
    pub(crate) fn begin(engine: &Arc<Engine>, policy: ShadowPolicy) -> Self {
        let docket = engine.shadows.begin(Docket::new(policy));
        Self { engine: Arc::clone(engine), docket }
    }

    /// Waits for what has been recorded, judges what waits, and adds up. A wrong result is no error
    /// of this call: it is in the report.
    pub async fn report(&self) -> Result<ShadowReport> {
        self.settled(Drive::Wake).await
    }

    /// [`Shadow::report`], blocking.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn report_now(&self) -> Result<ShadowReport> {
        pollster::block_on(self.settled(Drive::Block))
    }

    async fn settled(&self, drive: Drive) -> Result<ShadowReport> {
        self.engine.gpu.alive()?;
        settle(&self.engine, &self.docket, drive).await?;
        Ok(ShadowReport::of(self.docket.tally()))
    }

    /// The first wrong operation as a file, if one has been found and can be replayed.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// use wharf::DType;
    /// use wharf::shadow::ShadowPolicy;
    ///
    /// let shadow = device.shadow(ShadowPolicy::all());
    /// let root = device.ones([100], DType::F32)?.sqrt()?.read::<f32>().await;
    /// match shadow.capsule() {
    ///     Some(capsule) => capsule.save("wrong.capsule")?, // for whoever mends the driver
    ///     None => assert_eq!(root?, [1.0; 100]),
    /// }
    /// # Ok(()) });
    /// ```
    #[must_use]
    pub fn capsule(&self) -> Option<Capsule> {
        let file = self.docket.tally().wrong?.file?;
        Capsule::from_bytes(&file).ok()
    }
}

/// The error of the first wrong operation that somebody's shadow has found, once all that waits is
/// judged: asked before a read.
pub(crate) async fn verdict(engine: &Engine, drive: Drive) -> Result<()> {
    for docket in engine.shadows.all() {
        settle(engine, &docket, drive).await?;
        if let Some(wrong) = docket.tally().wrong {
            return Err(wrong.error);
        }
    }
    Ok(())
}

/// Judges what waits, until something does not come in time: what is behind it comes later still,
/// and goes on waiting.
pub(crate) async fn settle(engine: &Engine, docket: &Docket, drive: Drive) -> Result<()> {
    for exhibit in docket.waiting() {
        let mut arrived = exhibit.inputs.arrived(&engine.gpu, drive).await;
        if arrived.is_ok() {
            arrived = exhibit.result.arrived(&engine.gpu, drive).await;
        }
        if let Err(error) = &arrived
            && error.kind() == ErrorKind::TimedOut
        {
            return arrived;
        }
        // Whoever comes first judges; all others wait for that.
        let mut judged = lock(&exhibit.judged);
        if !*judged {
            hear(engine, docket, &exhibit, arrived);
            *judged = true;
            docket.close(exhibit.number);
        }
    }
    Ok(())
}

/// Judges one operation, or counts it as left out.
fn hear(engine: &Engine, docket: &Docket, exhibit: &Exhibit, arrived: Result<()>) {
    if docket.tally().wrong.is_some_and(|known| known.number < exhibit.number) {
        docket.leave_out(&exhibit.name, "after the first wrong one");
        return;
    }
    let read = |excerpt: &Excerpt| excerpt.read(engine);
    let both = arrived.and_then(|()| Ok((read(&exhibit.inputs)?, read(&exhibit.result)?)));
    let Ok((inputs, result)) = both else {
        docket.leave_out(&exhibit.name, "its copies could not be read");
        return;
    };
    let clock = Stopwatch::start();
    weigh(engine, docket, exhibit, (&inputs, &result));
    docket.count(|tally| {
        tally.time += clock.elapsed();
        tally.bytes += (inputs.len() + result.len()) as u64;
    });
}

/// Judges one operation.
fn weigh(engine: &Engine, docket: &Docket, exhibit: &Exhibit, (all, result): (&[u8], &[u8])) {
    let Exhibit { number, name, line, claim, .. } = exhibit;
    let inputs = exhibit.inputs.split(all);
    let result = exhibit.result.split(result).first().copied().unwrap_or_default();
    // Its memory may be longer: what is sorted lies in fours.
    let bytes = claim.tail.shape.elements() * claim.tail.dtype.width();
    let result = result.get(..bytes).unwrap_or(result);
    let budget = Budget { steps: docket.policy.steps, seed: docket.policy.seed ^ number };
    let Some(judgement) = judge(claim, &inputs, result, budget) else {
        docket.leave_out(name, "more than the oracle can do");
        return;
    };
    let began = beginning(exhibit, &inputs, result);
    docket.count(|tally| {
        tally.operations += 1;
        tally.elements += judgement.elements;
        tally.judged += judgement.judged;
        tally.open += judgement.open;
        if let Some(began) = began
            && tally.began.as_ref().is_none_or(|(known, _)| number < known)
        {
            tally.began = Some((*number, began));
        }
    });
    let Some(worst) = &judgement.worst else { return };
    let capsule = Capsule::of(engine, exhibit, (&inputs, result), budget);
    let file = capsule.as_ref().map(|capsule| Arc::new(capsule.to_bytes()));
    let path = docket.policy.folder.as_ref().zip(capsule.as_ref());
    let told = path.map(|(folder, capsule)| capsule.told_in(folder));
    let wrong = (judgement.wrong, judgement.judged);
    let error = ShadowCause::wrong(exhibit, worst, wrong, (engine.gpu.name(), told));
    let error: Error = Error::from(error).during(format!("{name} at {line}"));
    docket.count(|tally| {
        if tally.wrong.as_ref().is_none_or(|known| *number < known.number) {
            tally.wrong = Some(Conviction { number: *number, error, file });
        }
    });
}

/// NaN or infinity that no input and no number of the operation has, if a result has one: in words.
fn beginning(exhibit: &Exhibit, inputs: &[&[u8]], result: &[u8]) -> Option<String> {
    let tail = &exhibit.claim.tail;
    // What is filled with is a number of the operation.
    if !tail.dtype.is_float() || matches!(exhibit.claim.core, Some(Oracle::Filled { .. })) {
        return None;
    }
    let odd = |x: &Number| matches!(x, Number::Float(x) if !x.is_finite());
    let width = tail.dtype.width();
    let decoded = |bytes: &[u8]| Number::decode(tail.dtype, bytes);
    let (place, value) =
        result.chunks_exact(width).map(decoded).enumerate().find(|(_, x)| odd(x))?;
    let formed = || exhibit.claim.heads.iter().chain([tail]);
    let from = |formed: &Formed| {
        let scalars = formed.numbers().iter().any(odd);
        scalars
            || formed.views.iter().filter(|seen| seen.dtype.is_float()).any(|seen| {
                let all = inputs.get(seen.input).copied().unwrap_or_default();
                let one = |bytes: &[u8]| odd(&Number::decode(seen.dtype, bytes));
                all.chunks_exact(seen.dtype.width()).any(one)
            })
    };
    if formed().any(from) {
        return None;
    }
    let (name, line) = (&exhibit.name, exhibit.line);
    Some(format!("{name} at {line}: {} at {}", shown(value), at(tail, place)))
}

/// Operations that a shadow has not judged.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LeftOut {
    /// How many.
    pub count: u64,
    /// What they are called.
    pub operation: String,
    /// Why.
    pub why: &'static str,
}

/// What a shadow has found. Printing it gives a few lines.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ShadowReport {
    /// Operations that were judged.
    pub operations: u64,
    /// Elements of their results.
    pub elements: u64,
    /// How many of those were held to their contract.
    pub judged: u64,
    /// How many were looked at, and the contract says nothing of them.
    pub open: u64,
    /// Operations that were not judged, by name and reason.
    pub left_out: Vec<LeftOut>,
    /// Bytes of inputs and results that were copied to the host. The ledger does not have them.
    pub bytes: u64,
    /// The time of the oracle; zero in a browser.
    pub time: Duration,
    /// Where NaN or infinity began that no input had: the operation, the line, the element. That
    /// may be as its contract says.
    pub began: Option<String>,
    /// The first operation that is outside its contract.
    pub wrong: Option<Error>,
}

impl ShadowReport {
    fn of(tally: Score) -> Self {
        let Score {
            operations, elements, judged, open, bytes, time, left_out, began, wrong, ..
        } = tally;
        let left_out = left_out.into_iter();
        let left_out = left_out.map(|((operation, why), count)| LeftOut { count, operation, why });
        let left_out = left_out.collect();
        let (began, wrong) = (began.map(|(_, text)| text), wrong.map(|wrong| wrong.error));
        Self { operations, elements, judged, open, left_out, bytes, time, began, wrong }
    }
}

impl fmt::Display for ShadowReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { operations, elements, judged, open, bytes, time, .. } = self;
        write!(
            f,
            "{operations} operations judged, {judged} of {elements} elements, {open} open; "
        )?;
        write!(f, "{bytes} bytes read, {time:.1?} of the oracle")?;
        for LeftOut { count: n, operation: name, why } in &self.left_out {
            write!(f, "\nnot judged: {n} of {name}: {why}")?;
        }
        if let Some(began) = &self.began {
            write!(f, "\nNaN or infinity began with {began}")?;
        }
        match &self.wrong {
            Some(error) => write!(f, "\nwrong: {error}"),
            None => Ok(()),
        }
    }
}
