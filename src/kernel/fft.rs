//! Fourier transforms of rows.
//!
//! ```text
//! X           [rows, numbers, 2] or [rows, reals], read where it lies, at any strides
//! Y           [rows, numbers, 2] or [rows, reals], dense; its tail is fused
//! ```
//!
//! A row of up to 1024 numbers, or twice as many reals, stays in workgroup memory. A longer one
//! takes a pass for every factor of up to 256: each reads and stores all of it once. What was
//! measured is in `docs/measured/signals.md`.

use std::sync::Arc;

use super::cores::{Berth, Core, Head, Landing, Launch, Reach, Tail, in_pieces, reachable};
use crate::dtype::DType;
use crate::engine::Site;
use crate::error::Result;
use crate::exec::Value;
use crate::proof::Oracle;
use crate::shape::Shape;
use crate::wgsl::grid::fold;
pub(crate) use oracle::LENGTH_MAX;
use plan::{FftPlan, FftStage, Shelf};
pub(crate) use plan::{Fourier, floats};
use text::FftPass;

pub(super) mod oracle;
mod plan;
pub mod text;

/// A transform of rows, deferred. Its input, its result and what lies between passes fit in a
/// segment each.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FftCore {
    pub(crate) of: Fourier,
    /// Numbers of a row that are transformed: what is not given of them is 0.
    pub(crate) size: usize,
}

impl Core for FftCore {
    fn name(&self) -> &'static str {
        "fft"
    }

    fn bindings_between(&self) -> usize {
        1 // what a spectrum is multiplied by, at lengths with large factors
    }

    fn is_long(&self) -> bool {
        true
    }

    fn oracle(&self) -> Option<Oracle> {
        let told = vec![self.of as u32, u32::try_from(self.size).ok()?];
        Some(Oracle::Own { by: &oracle::FFT, told })
    }

    fn record(&self, site: Site<'_>, inputs: &[Head], tail: &Tail) -> Result<Arc<Value>> {
        let (heads, layouts) = reachable(site, inputs)?;
        let ([input], [layout]) = (&*heads, &*layouts) else { return Err(in_pieces("fft")) };
        let strides = layout.strides();
        let part = strides.get(2).copied().unwrap_or(0);
        let dims = layout.shape().dims();
        let (strides, rows) = ([strides[0], strides[1], part], [dims[0], self.size]);
        let lanes = FftPass::lanes(site.target);
        let plan = FftPlan::of(self.of, rows, (strides, dims[1]), lanes)?;
        let landing = Landing::whole(self.name(), site, [input.raw(true)], tail, true)?;
        Stages { site, plan: &plan, landing: &landing }.record()?;
        landing.finish()
    }
}

/// The dispatches of a transform, and where they read and store.
struct Stages<'a> {
    site: Site<'a>,
    plan: &'a FftPlan,
    landing: &'a Landing<'a>,
}

impl Stages<'_> {
    fn record(&self) -> Result<()> {
        let FftPlan { stages, between } = self.plan;
        let ends = self.landing.heads[0].ids().chain(self.landing.tail.ids());
        let mut apart: Vec<u64> = ends.chain([self.landing.sink().bound.buffer_id]).collect();
        let mut berths: Vec<Option<Berth>> = between.iter().map(|_| None).collect();
        for (i, stage) in stages.iter().enumerate() {
            if let Shelf::Between(to) = stage.writes {
                let shape = Shape::new([between[to]])?;
                let berth = Berth::new(self.site, shape, DType::F32, true, &apart)?;
                let berth = berth.ok_or_else(|| in_pieces("fft"))?;
                apart.push(berth.sink.bound.buffer_id);
                berths[to] = Some(berth);
            }
            self.stage(stage, &berths)?;
            // The next stage may write into memory that no later one reads.
            for (n, berth) in berths.iter_mut().enumerate() {
                let later = stages[i + 1..].iter().flat_map(|stage| &stage.reads);
                if !later.into_iter().any(|shelf| *shelf == Shelf::Between(n))
                    && let Some(done) = berth.take()
                {
                    apart.retain(|&id| id != done.sink.bound.buffer_id);
                }
            }
        }
        Ok(())
    }

    fn stage(&self, stage: &FftStage, berths: &[Option<Berth>]) -> Result<()> {
        let berth = |n: usize| berths[n].as_ref().ok_or_else(|| in_pieces("fft"));
        let mut read = Vec::new();
        for shelf in &stage.reads {
            if let Shelf::Between(from) = *shelf {
                read.push(berth(from)?.head.raw(true)?.ok_or_else(|| in_pieces("fft"))?);
            }
        }
        let input = stage.reads.contains(&Shelf::Input).then_some(&self.landing.heads[0]);
        let heads: Vec<&Reach<'_>> = input.into_iter().chain(&read).collect();
        let keep = Reach::identity(DType::F32);
        let (tail, sink) = match stage.writes {
            Shelf::Between(to) => (&keep, &berth(to)?.sink),
            Shelf::Input | Shelf::Result => (&self.landing.tail, self.landing.sink()),
        };
        let launch = Launch::of(&text::FFT, &stage.pass, stage.job.words(), fold(stage.groups));
        launch.record(self.site, &heads, tail, sink)
    }
}
