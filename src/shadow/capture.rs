//! Copies of what an operation reads, before it runs, and of what it wrote.

use core::ops::Range;
use std::sync::{Arc, Mutex};

use crate::dtype::DType;
use crate::engine::docket::{Docket, EXHIBIT_BYTES, Excerpt, Exhibit, Extract, noting};
use crate::engine::{Engine, Site};
use crate::error::{ErrorKind, Result};
use crate::exec::Value;
use crate::gpu::odometer::COUNT_BYTES;
use crate::gpu::{Drive, Gpu, MapRequest, Mapped};
use crate::kernel::Operand;
use crate::kernel::cores::{Alone, Core, Head, Tail, Task};
use crate::proof::{Claim, Formed, Seen, mixed};
use crate::shape::Shape;
use crate::shared::lock;
use crate::wgsl::{Expr, Term};

/// An operation that is about to be recorded.
pub(crate) struct Deed<'a> {
    pub(crate) core: Option<(&'a dyn Core, &'a [Head])>,
    pub(crate) expr: &'a Expr,
    pub(crate) operands: &'a [Operand],
    pub(crate) scalars: &'a [u32],
    pub(crate) shape: Shape,
    pub(crate) dtype: DType,
}

/// Records it, under the eyes of all shadows.
pub(crate) fn observed(
    site: Site<'_>,
    work: &Deed<'_>,
    record: impl FnOnce() -> Result<Arc<Value>>,
) -> Result<Arc<Value>> {
    let record = || {
        record().map_err(|error| match error.kind() {
            // Of what a kernel that could not be made or run was made.
            ErrorKind::Internal | ErrorKind::Driver => error.during(format!("of {}", work.name())),
            _ => error,
        })
    };
    let engine = site.engine;
    let shadows = engine.shadows.all();
    if shadows.is_empty() || engine.sketch.is_some() || engine.gpu.is_on_paper() {
        return record();
    }
    let name = &*work.name();
    let (claim, values, refusal) = work.claim();
    let mut begun = Vec::new();
    for docket in shadows {
        let number = docket.number();
        let begin = || -> Result<Excerpt, &'static str> {
            if let Some(refusal) = refusal {
                return Err(refusal);
            }
            make_room(engine, &docket, number, (&claim, &values))?;
            Excerpt::of(engine, &values)
        };
        match begin() {
            Ok(inputs) => begun.push((docket, number, inputs)),
            Err(why) => docket.leave_out(name, why),
        }
    }
    drop(values);
    let (made, dispatches) = noting(record);
    let value = made?;
    for (docket, number, inputs) in begun {
        match Excerpt::of(engine, core::slice::from_ref(&value)) {
            Ok(result) => docket.push(Exhibit {
                number,
                name: name.to_owned(),
                line: site.line,
                claim: claim.clone(),
                inputs,
                result,
                dispatches: dispatches.clone(),
                judged: Mutex::default(),
            }),
            Err(why) => docket.leave_out(name, why),
        }
    }
    Ok(value)
}

/// Records what is not deferred, under the eyes of all shadows: a kernel of its own on these views,
/// whose result is dense.
pub(crate) fn witnessed<F>(
    site: Site<'_>,
    named: Task,
    inputs: &[Operand],
    (shape, dtype): (Shape, DType),
    record: F,
) -> Result<Arc<Value>>
where
    F: Fn(Site<'_>, &[Operand]) -> Result<Arc<Value>> + Send + Sync,
{
    if !site.engine.shadows.any() {
        return record(site, inputs);
    }
    let core = Alone { named, record };
    let heads: Vec<Head> = inputs.iter().cloned().map(Head::view).collect();
    let Tail { expr, operands, scalars, .. } = Tail::identity(shape, dtype);
    let of = Some((&core as &dyn Core, &*heads));
    let (expr, operands, scalars) = (&expr, &*operands, &*scalars);
    let work = Deed { core: of, expr, operands, scalars, shape, dtype };
    observed(site, &work, || (core.record)(site, inputs))
}

/// Whether it is drawn, and its copies fit; what waits is judged first where they do not.
fn make_room(
    engine: &Engine,
    docket: &Docket,
    number: u64,
    (claim, values): (&Claim, &[Arc<Value>]),
) -> Result<(), &'static str> {
    let policy = &docket.policy;
    if !mixed(policy.seed ^ mixed(number)).is_multiple_of(policy.one_in) {
        return Err("left out by the sample");
    }
    let tally = docket.tally();
    if tally.wrong.is_some() {
        return Err("after the first wrong one");
    }
    if policy.time.is_some_and(|time| tally.time >= time) {
        return Err("the budget of time is spent");
    }
    let result = Engine::bytes_of(&claim.tail.shape, claim.tail.dtype).unwrap_or(u64::MAX);
    let need = values.iter().fold(result, |sum, value| sum.saturating_add(value.bytes()));
    if need > policy.memory {
        return Err("more than the budget of memory");
    }
    let held = docket.held();
    if held == 0 || held + EXHIBIT_BYTES + need <= policy.memory {
        return Ok(());
    }
    #[cfg(not(target_arch = "wasm32"))]
    {
        let settled = pollster::block_on(super::settle(engine, docket, Drive::Block));
        settled.map_err(|_| "the budget of memory is taken by what is not done")
    }
    #[cfg(target_arch = "wasm32")]
    {
        let _ = engine;
        Err("the budget of memory is taken until somebody reads")
    }
}

/// The most operations that are named.
const NAMES_MAX: usize = 8;

impl Deed<'_> {
    /// All operations in it, in order.
    fn name(&self) -> String {
        let steps = |expr: &Expr| -> Vec<&'static str> {
            let dtypes = expr.dtypes().unwrap_or_default();
            let name = |node: &Term| match node {
                Term::Apply(op, _) => Some(op.method()),
                // What is stored of halves, for who looks: nobody asked for that.
                Term::Cast(a, to) if dtypes.get(usize::from(*a)) == Some(to) => None,
                Term::Cast(..) => Some("cast"),
                Term::Call(..) => Some("formula"),
                Term::Input(_) | Term::Scalar(_) => None,
            };
            expr.nodes.iter().filter_map(name).collect()
        };
        let heads = self.core.iter().flat_map(|(_, heads)| heads.iter());
        let mut all: Vec<&str> = heads.flat_map(|head| steps(&head.expr)).collect();
        all.extend(self.core.iter().map(|(core, _)| core.name()));
        all.extend(steps(self.expr));
        let (more, last) = (all.len() > NAMES_MAX, all.len().saturating_sub(NAMES_MAX));
        format!("{}{}", if more { ".. " } else { "" }, all[last..].join(", "))
    }

    /// It as plain data, the values that it reads, and why there is no oracle for it.
    pub(crate) fn claim(&self) -> (Claim, Vec<Arc<Value>>, Option<&'static str>) {
        let mut values: Vec<Arc<Value>> = Vec::new();
        let mut seen = |operand: &Operand| {
            let known = values.iter().position(|value| Arc::ptr_eq(value, &operand.value));
            let input = known.unwrap_or_else(|| {
                values.push(Arc::clone(&operand.value));
                values.len() - 1
            });
            Seen { input, layout: operand.layout, dtype: operand.dtype }
        };
        let mut formed = |expr: &Expr, operands: &[Operand], scalars: &[u32], shape, dtype| {
            let (expr, scalars) = (expr.clone(), scalars.to_vec());
            let views = operands.iter().map(&mut seen).collect();
            Formed { expr, views, scalars, shape, dtype }
        };
        let heads = self.core.iter().flat_map(|(_, heads)| *heads);
        let mut heads: Vec<Formed> = heads
            .map(|head| formed(&head.expr, &head.operands, &head.scalars, head.shape, head.dtype))
            .collect();
        let mut tail = formed(self.expr, self.operands, self.scalars, self.shape, self.dtype);
        if tail.expr.outputs.is_empty() {
            // A tail stores its last node.
            tail.expr.outputs = vec![tail.expr.nodes.len().saturating_sub(1) as u16];
        }
        if let Some((expr, words)) = self.core.and_then(|(core, _)| core.checked())
            && let [head] = &mut *heads
        {
            (head.expr, head.scalars) = (expr.clone(), words.clone());
            head.dtype = tail.expr.inputs[0];
        }
        let core = self.core.and_then(|(core, _)| core.oracle());
        let lacks = self.core.is_some() && core.is_none();
        let claim = Claim { core, heads, tail };
        let refusal = if lacks { Some("without an oracle") } else { claim.refusal() };
        (claim, values, refusal)
    }
}

impl Excerpt {
    /// Copies of values, submitted behind what was recorded.
    pub(super) fn of(engine: &Engine, values: &[Arc<Value>]) -> Result<Self, &'static str> {
        const GONE: &str = "its values could not be copied";
        let pinned = values.iter().map(|value| value.pin()).collect::<Result<Vec<_>>>();
        let pinned = pinned.map_err(|_| "computed from what had failed")?;
        let (mut at, mut ranges, mut pieces) = (0u64, Vec::new(), Vec::new());
        let mut copies = Vec::new();
        for storage in &pinned {
            let first = at;
            for (i, piece) in (0..).zip(storage.pieces()) {
                let left = storage.bytes.saturating_sub(i * storage.segment_bytes);
                let bytes = left.min(storage.segment_bytes).next_multiple_of(4).min(piece.bytes);
                let (buffer_id, offset) = (piece.buffer_id, piece.offset);
                pieces.push((Extract { buffer_id, offset, bytes }, at));
                copies.push((piece.buffer, offset, at, bytes));
                at += bytes;
            }
            ranges.push(first..first + storage.bytes);
        }
        let mapping = Mutex::default();
        if at == 0 {
            return Ok(Self { buffer: None, mapping, bytes: 0, values: ranges, pieces });
        }
        let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        let buffer = engine.gpu.reserve("wharf.shadow", at + COUNT_BYTES, usage);
        let buffer = buffer.map_err(|_| "no memory for copies")?;
        let copied = engine.copy(true, |encoder| {
            for (from, offset, to, bytes) in copies.iter().filter(|copy| copy.3 > 0) {
                encoder.copy_buffer_to_buffer(from, *offset, &buffer, *to, *bytes);
            }
            engine.gpu.copy_count(encoder, &buffer, at);
        });
        let sent = copied.map_err(|_| GONE)?;
        Ok(Self { buffer: Some((buffer, sent)), mapping, bytes: at, values: ranges, pieces })
    }

    /// Waits until its bytes are there, with all others who do.
    pub(super) async fn arrived(&self, gpu: &Gpu, drive: Drive) -> Result<()> {
        let Some((buffer, sent)) = &self.buffer else { return Ok(()) };
        let mapping = {
            let known = &mut *lock(&self.mapping);
            match known {
                Some(mapping) => mapping.clone(),
                None => {
                    known.insert(MapRequest::ask(gpu, buffer, self.bytes + COUNT_BYTES)?).clone()
                }
            }
        };
        Mapped::new(gpu, drive, sent.index.clone(), mapping).await
    }

    /// Its bytes, which are there.
    pub(super) fn read(&self, engine: &Engine) -> Result<Vec<u8>> {
        let gpu = &engine.gpu;
        let Some((buffer, sent)) = &self.buffer else { return Ok(Vec::new()) };
        let mapped = ..self.bytes + COUNT_BYTES;
        let view = gpu.checked("shadow", || buffer.slice(mapped).get_mapped_range())?;
        let mut bytes = view.map_err(|error| gpu.blame("shadow", &error))?.to_vec();
        let count = bytes.split_off(bytes.len() - COUNT_BYTES as usize);
        gpu.check_count(&count, sent, || engine.memory().bytes_reserved)?;
        Ok(bytes)
    }

    /// Those of each value.
    pub(super) fn split<'a>(&self, bytes: &'a [u8]) -> Vec<&'a [u8]> {
        let part = |range: &Range<u64>| {
            let range = usize::try_from(range.start).ok()?..usize::try_from(range.end).ok()?;
            bytes.get(range)
        };
        self.values.iter().map(|range| part(range).unwrap_or_default()).collect()
    }
}
