//! Replaying: the dispatches of a capsule on the device at hand, judged again.

use core::fmt;
use std::sync::Arc;

use super::capsule::{Act, Area, Capsule, Tract};
use super::cause::ShadowCause;
use super::words::at;
use crate::dtype::DType;
use crate::engine::Engine;
use crate::engine::docket::Excerpt;
use crate::error::{Error, Result};
use crate::exec::{Asked, Bound, Job, Labour, Value};
use crate::gpu::Drive;
use crate::ledger::{CallSite, Direction};
use crate::proof::{Judgement, judge};
use crate::wgsl::reflect::check;
use crate::wgsl::{Assembled, Needs};

/// What came of a replay: [`Device::replay`](crate::Device::replay). Printing it gives two lines.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Replay {
    /// Whether the result is wrong here as well.
    pub is_wrong: bool,
    /// Whether it is the recorded one, bit by bit.
    pub is_same: bool,
    /// What was wrong where it was recorded.
    pub recorded: String,
    /// What is wrong here, or how much is right.
    pub here: String,
}

impl fmt::Display for Replay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bits = if self.is_same { "the same bits" } else { "other bits" };
        write!(f, "recorded: {}\nhere:     {}; {bits}", self.recorded, self.here)
    }
}

/// Memory for a region, in one piece.
fn ground(engine: &Engine, region: &Area) -> Result<Arc<Value>> {
    if region.bytes > engine.segment_bytes() {
        let (bytes, most) = (region.bytes, engine.segment_bytes());
        return Err(lacks(engine, format!("{bytes} bytes in one piece, {most} fit")));
    }
    let bytes = region.bytes.max(16).next_multiple_of(16);
    let value = Value::new(engine.allocate_alone(bytes)?);
    if value.pin()?.pieces().len() != 1 {
        return Err(lacks(engine, format!("{bytes} bytes in one piece")));
    }
    Ok(value)
}

/// Writes what lay in a region at first, and how many bytes that took.
fn fill(engine: &Engine, capsule: &Capsule, region: &Area, value: &Value) -> Result<u64> {
    let pinned = value.pin()?;
    let pieces = pinned.pieces();
    let piece = &pieces[0];
    let mut first = vec![0; usize::try_from(piece.bytes).unwrap_or_default()];
    for laid in &region.first {
        let range =
            |at: u64| Some(usize::try_from(at).ok()?..usize::try_from(at + laid.bytes).ok()?);
        let to = range(laid.at).and_then(|range| first.get_mut(range));
        let from = capsule.inputs.get(laid.input).zip(range(laid.from));
        if let Some((to, from)) = to.zip(from.and_then(|(input, range)| input.0.get(range))) {
            to.copy_from_slice(from);
        }
    }
    engine.gpu.write("replay", &piece.buffer, piece.offset, &first)?;
    Ok(piece.bytes)
}

fn lacks(engine: &Engine, what: String) -> Error {
    ShadowCause::Lacks { what, adapter: engine.gpu.name() }.into()
}

/// The kernel of a dispatch, if it is one, and this device can run it.
fn kernel(engine: &Engine, act: &Act) -> Result<Assembled> {
    let needs = Needs::named(&act.needs);
    let needs = needs.ok_or_else(|| lacks(engine, format!("a need for {}", act.needs)))?;
    if let Some(need) = needs.without(engine.offers).each().next() {
        return Err(lacks(engine, format!("it has no {need}")));
    }
    let kernel = Assembled::replayed(act.wgsl.clone(), needs, act.clears);
    let (_, bindings) = check(&kernel).map_err(|why| ShadowCause::Text { why: why.to_string() })?;
    let storage = bindings.iter().filter(|binding| binding.group == 0).count();
    if storage != act.bindings.len() {
        let why = format!("{storage} bindings, where the dispatch has {}", act.bindings.len());
        return Err(ShadowCause::Text { why }.into());
    }
    Ok(kernel)
}

/// Runs it.
pub(crate) async fn replay(engine: &Engine, capsule: &Capsule, site: CallSite) -> Result<Replay> {
    engine.books.admit(Direction::Up, site)?;
    engine.books.admit(Direction::Down, site)?;
    engine.gpu.present("replaying")?;
    let memory = capsule.regions.iter().map(|region| ground(engine, region));
    let memory: Vec<Arc<Value>> = memory.collect::<Result<_>>()?;
    // Commands recorded so far may still use the memory that a region takes over.
    engine.flush()?;
    let entry = engine.books.open(Direction::Up, DType::U8, site);
    for (region, value) in capsule.regions.iter().zip(&memory) {
        entry.add(fill(engine, capsule, region, value)?);
    }
    drop(entry);
    let align = engine.gpu.caps().limits.storage_align_bytes;
    for act in &capsule.dispatches {
        let kernel = kernel(engine, act)?;
        let bound = |part: &Tract| {
            let pinned = memory[part.region].pin()?;
            let pieces = pinned.pieces();
            let bound = Bound::from(&pieces[0]);
            if !part.at.is_multiple_of(align) {
                let what = format!("a binding at {}, where {align} bytes align them", part.at);
                return Err(lacks(engine, what));
            }
            let bytes = part.bytes.min(bound.bytes.saturating_sub(part.at));
            Ok(Bound { offset: bound.offset + part.at, bytes, ..bound })
        };
        let bindings = act.bindings.iter().map(bound).collect::<Result<_>>()?;
        let (params, groups) = (act.params.clone(), act.groups);
        let outputs = memory.iter().map(Arc::downgrade).collect();
        let job = Job { kernel: &kernel, bindings, params, groups, outputs };
        let asked = Asked { line: site.location, work: Labour::default() };
        engine.record(engine.prepare(job, asked)?)?;
    }
    let entry = engine.books.open(Direction::Down, DType::U8, site);
    let copied = Excerpt::of(engine, &memory).map_err(|why| lacks(engine, why.into()))?;
    copied.arrived(&engine.gpu, Drive::Wake).await?;
    let bytes = copied.read(engine)?;
    entry.add(bytes.len() as u64);
    drop(entry);
    let all = copied.split(&bytes);
    let part = |part: &Tract| {
        let end = part.at.checked_add(part.bytes)?;
        let range = usize::try_from(part.at).ok()?..usize::try_from(end).ok()?;
        all.get(part.region)?.get(range)
    };
    let parts: Option<Vec<&[u8]>> = capsule.outcome.iter().map(part).collect();
    let mut result =
        parts.ok_or_else(|| super::carry::absurd("a result that is nowhere"))?.concat();
    result.truncate(capsule.result.0.len());
    let inputs: Vec<&[u8]> = capsule.inputs.iter().map(|input| &*input.0).collect();
    let judgement = judge(&capsule.claim, &inputs, &result, capsule.budget());
    let judgement = judgement.ok_or_else(|| super::carry::absurd("more than can be judged"))?;
    Ok(Replay {
        is_wrong: judgement.wrong > 0,
        is_same: result == capsule.result.0,
        recorded: capsule.finding().to_owned(),
        here: here(capsule, &judgement),
    })
}

/// What is wrong here, or how much is right.
fn here(capsule: &Capsule, judgement: &Judgement) -> String {
    match &judgement.worst {
        Some(worst) => {
            format!("{} is {}", at(&capsule.claim.tail, worst.element), worst.words())
        }
        None => format!("all {} judged elements keep the contract", judgement.judged),
    }
}
