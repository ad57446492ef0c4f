//! Recording and running: commands are plain data, and one place runs them.
//!
//! Everything that can fail for a reason of ours - pipeline, bind group, limits - is made and
//! checked before a command is recorded. A [`Ready`] command cannot fail any more, so several are
//! recorded together or not at all. A submission may still find no memory: then the batch stays,
//! and the next attempt submits it. After any other failure every result of the batch is poisoned,
//! because one bad dispatch drops its whole command buffer and all of them would read as zeros.

use core::panic::Location;
use std::sync::{Arc, OnceLock, Weak};

use crate::caps::breadth::SLOWER;
use crate::error::{Error, Result, mistake};
use crate::gpu::cause::DeviceCause;
use crate::gpu::odometer::Sent;
use crate::gpu::{Gpu, Whose};
use crate::timeline::{Activity, Ticket};
use crate::wgsl::params::BYTES_MAX;
use crate::wgsl::{Assembled, Needs};

mod bound;
mod dump;
mod fault;
mod params;
mod pipeline;
mod run;
mod stamps;
mod value;

pub(crate) use bound::Bound;
pub(crate) use dump::dump;
pub(crate) use fault::{Clearing, Fault, Faults, Hit, SLOT_BYTES, Seat};
use params::Params;
use pipeline::Pipeline;
pub(crate) use pipeline::Pipelines;
use run::{Batch, Dispatch};
use stamps::{Begun, Spare};
pub(crate) use value::Value;

/// A dispatch to be recorded.
#[derive(Debug)]
pub(crate) struct Job<'a> {
    pub(crate) kernel: &'a Assembled,
    /// Inputs first, in the order of the kernel's bindings.
    pub(crate) bindings: Vec<Bound>,
    pub(crate) params: Vec<u32>,
    pub(crate) groups: [u32; 3],
    /// What it writes.
    pub(crate) outputs: Vec<Weak<Value>>,
}

/// What is known of a dispatch's work.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Labour {
    /// Multiplications and additions; 0 where they are not known.
    pub(crate) flops: u64,
    /// As many as take so long at most, where that is more: an estimate of how long it runs.
    pub(crate) effort: u64,
}

impl Labour {
    pub(crate) fn of(flops: u64) -> Self {
        Self { flops, effort: 0 }
    }

    /// So many elements found in any views and loaded, whatever becomes of them.
    pub(crate) fn reading(elements: u64) -> Self {
        Self::lasting(elements.saturating_mul(READ_EFFORT))
    }

    /// What takes as long as so many additions, and is none.
    pub(crate) const fn lasting(effort: u64) -> Self {
        Self { flops: 0, effort }
    }

    /// How long it takes, in additions.
    pub(crate) fn effort(self) -> u64 {
        self.flops.max(self.effort)
    }

    /// Its part that takes so long.
    pub(crate) fn part(self, effort: u64) -> Self {
        Self { flops: self.flops.min(effort), effort }
    }
}

/// Additions that take as long as finding an element by its indices and loading it.
const READ_EFFORT: u64 = 16;

/// Who asks for a dispatch, and what is known of the work.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked {
    /// The line of the caller's.
    pub(crate) line: &'static Location<'static>,
    pub(crate) work: Labour,
}

/// A dispatch that only has to be recorded.
#[derive(Debug)]
pub(crate) struct Ready {
    pipeline: Arc<Pipeline>,
    bindings: wgpu::BindGroup,
    params: Vec<u32>,
    groups: [u32; 3],
    outputs: Vec<Weak<Value>>,
    ticket: Ticket,
    /// How long it runs: as many multiplications and additions as a GPU does of 32 bits meanwhile.
    effort: u64,
    whose: Whose,
}

impl Ready {
    /// Checks and binds a job whose pipeline has been made.
    pub(crate) fn new(
        gpu: &Gpu,
        pipeline: Arc<Pipeline>,
        job: Job<'_>,
        asked: Asked,
    ) -> Result<Self> {
        let Job { kernel, bindings, params, groups, outputs } = job;
        check_groups(gpu, groups)?;
        if params.len() * 4 > BYTES_MAX {
            let found = format!("{} words of parameters, {} fit", params.len(), BYTES_MAX / 4);
            return Err(mistake(kernel.name, found));
        }
        pipeline.check_aliasing(kernel.name, &bindings)?;
        let bytes = bindings.iter().map(|bound| bound.bytes).sum();
        let Asked { line, work } = asked;
        let ticket = Ticket { count: 1, kernel: kernel.name, line, bytes, flops: work.flops };
        let slower = if kernel.needs.contains(Needs::F64) { SLOWER } else { 1 };
        let effort = work.effort().saturating_mul(slower);
        let whose = Bound::whose(&bindings);
        let bindings = pipeline.bind(gpu, kernel.name, &bindings)?;
        Ok(Self { pipeline, bindings, params, groups, outputs, ticket, effort, whose })
    }
}

/// Commands since the last submission.
#[derive(Debug)]
pub(crate) struct Recording {
    commands: Vec<Dispatch>,
    /// Of what the batch writes, whoever has it now.
    fates: Vec<Weak<OnceLock<Error>>>,
    params: Params,
    /// Timestamps that no batch uses.
    spare: Arc<Spare>,
    /// Bytes that the batch touches: an estimate of how long it runs.
    bytes: u64,
    /// And how much it computes, as an estimate of the same.
    effort: u64,
    /// The most of that which comes together.
    effort_max: u64,
    /// `Theirs` if a command binds a buffer of the caller's.
    whose: Whose,
}

/// A batch is submitted when it has this many commands ...
const COMMANDS_MAX: usize = 256;
/// ... or touches this much memory: less than half a second on the slowest adapters. A watchdog
/// ends what runs for two.
const BATCH_BYTES_MAX: u64 = 1 << 30;
/// ... or computes this much, for the same reason; on a small GPU what one dispatch may compute.
const BATCH_EFFORT_MAX: u64 = 200_000_000_000;

impl Recording {
    pub(crate) fn new(gpu: &Gpu) -> Self {
        let (commands, fates) = (Vec::new(), Vec::new());
        let (params, spare, whose) = (Params::new(gpu), Arc::default(), Whose::Ours);
        let effort_max = BATCH_EFFORT_MAX.min(gpu.breadth.dispatch_work());
        Self { commands, fates, params, spare, bytes: 0, effort: 0, effort_max, whose }
    }

    /// Whether it has to go, or would run too long with the next dispatch behind it.
    pub(crate) fn is_full(&self, next: Option<&Ready>) -> bool {
        let effort = self.effort.saturating_add(next.map_or(1, |ready| ready.effort));
        self.commands.len() >= COMMANDS_MAX
            || self.bytes >= BATCH_BYTES_MAX
            || effort > self.effort_max
            || self.params.is_full()
    }

    /// Records a dispatch.
    pub(crate) fn push(&mut self, ready: Ready) -> Result<()> {
        let Ready { pipeline, bindings, params, groups, outputs, ticket, effort, whose } = ready;
        let params = self.params.push(&params)?;
        self.bytes += ticket.bytes;
        self.effort = self.effort.saturating_add(effort);
        self.whose = if whose == Whose::Theirs { whose } else { self.whose };
        let written = outputs.iter().filter_map(Weak::upgrade);
        self.fates.extend(written.map(|value| value.fate()));
        self.commands.push(Dispatch { pipeline, bindings, params, groups, ticket });
        Ok(())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.commands.is_empty()
    }

    /// Submits everything recorded and then the commands given, if any, in one submission. Returns
    /// it and the bytes of parameters that crossed. A failure poisons the results as well, except
    /// a lack of memory: then everything stays recorded.
    pub(crate) fn submit(
        &mut self,
        gpu: &Gpu,
        after: Option<wgpu::CommandBuffer>,
    ) -> Result<(Sent, u64)> {
        let Some(last) = self.commands.last().map(|command| command.ticket.kernel) else {
            return gpu.submit("read", after).map(|index| (index, 0));
        };
        let _submitting = gpu.timelines.during(Activity::Submit, last, None);
        let Self { commands, params, spare, whose, .. } = self;
        let (name, whose, behind) = (last, *whose, None);
        let begun = spare.begin(gpu, commands.iter().map(|command| command.ticket));
        let batch = Batch { commands, name, behind, whose, stampings: &begun.stampings };
        let done = batch.encode(gpu, params).and_then(|(batch, bytes)| {
            let all = [batch].into_iter().chain(after);
            gpu.submit_as(whose, last, all).map(|index| (index, bytes))
        });
        if let Err(error) = &done
            && error.is_out_of_memory()
        {
            return Err(error.clone());
        }
        if done.is_ok() {
            gpu.watch(commands.iter().map(|command| command.ticket));
            begun.submitted(gpu, spare);
        }
        if let Err(error) = &done {
            // An earlier error stays.
            let fates = self.fates.iter().filter_map(Weak::upgrade);
            fates.for_each(|fate| drop(fate.set(error.clone())));
        }
        self.clear();
        done
    }

    /// Encodes everything recorded into an encoder of the caller's, behind what it has, and submits
    /// that. If anything is wrong nothing was submitted, and everything stays recorded.
    pub(crate) fn append(
        &mut self,
        gpu: &Gpu,
        encoder: wgpu::CommandEncoder,
    ) -> Result<(Sent, u64)> {
        let (name, whose) = ("submit", Whose::Theirs);
        let _submitting = gpu.timelines.during(Activity::Submit, name, None);
        let mut begun = Begun::default();
        let (batch, bytes) = if self.is_empty() {
            (gpu.checked_as(whose, name, || gpu.finish(encoder))?, 0)
        } else {
            let Self { commands, params, spare, .. } = self;
            begun = spare.begin(gpu, commands.iter().map(|command| command.ticket));
            let behind = Some(encoder);
            let stampings = &begun.stampings;
            Batch { commands, name, behind, whose, stampings }.encode(gpu, params)?
        };
        let index = gpu.submit_as(whose, name, [batch])?;
        gpu.watch(self.commands.iter().map(|command| command.ticket));
        begun.submitted(gpu, &self.spare);
        self.clear();
        Ok((index, bytes))
    }

    /// Timestamps that were made and are not in use.
    #[cfg(test)]
    pub(crate) fn stamps(&self) -> usize {
        self.spare.count()
    }

    fn clear(&mut self) {
        self.commands.clear();
        self.fates.clear();
        self.params.clear();
        (self.bytes, self.effort) = (0, 0);
        self.whose = Whose::Ours;
    }
}

fn check_groups(gpu: &Gpu, groups: [u32; 3]) -> Result<()> {
    let available = gpu.caps().limits.groups_max;
    let [x, y, z] = groups;
    let requested = u128::from(x.max(y).max(z));
    if requested <= u128::from(available) {
        return Ok(());
    }
    let (what, limit, unit) = ("a dispatch", "groups_max", "workgroups");
    Err(DeviceCause::TooLarge { what, requested, limit, available, unit }.into())
}
