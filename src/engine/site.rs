//! Where work is recorded, and for whom: a device, the class of kernels that it runs, and the line
//! of the caller's that asks.

use core::cell::Cell;
use core::fmt;
use core::panic::Location;

use super::Engine;
use crate::caps::breadth::Breadth;
use crate::dtype::DType;
use crate::error::Result;
use crate::exec::{Asked, Job, Labour, Ready};
use crate::news::{Level, Topic};
use crate::wgsl::Target;
use crate::wgsl::rig::Rig;
use crate::wgsl::subgroups;

thread_local! {
    /// The line that asks for all that is made on this thread, where it is not the next one up.
    static LINE: Cell<Option<&'static Location<'static>>> = const { Cell::new(None) };
}

/// Puts the line back.
struct Before(Option<&'static Location<'static>>);

impl Drop for Before {
    fn drop(&mut self) {
        LINE.set(self.0);
    }
}

/// Runs `make`. Every operation that it makes is attributed to the line that called `asked`,
/// because a closure does not know its caller.
#[track_caller]
pub(crate) fn asked<T>(make: impl FnOnce() -> T) -> T {
    asked_at(line(), make)
}

/// Like `asked`, but every operation is attributed to `line`.
pub(crate) fn asked_at<T>(line: &'static Location<'static>, make: impl FnOnce() -> T) -> T {
    let before = Before(LINE.replace(Some(line)));
    let made = make();
    drop(before);
    made
}

/// The line that asks.
#[track_caller]
pub(crate) fn line() -> &'static Location<'static> {
    LINE.get().unwrap_or(Location::caller())
}

/// How the kernels of a handle are chosen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Choosing {
    target: Target,
    breadth: Breadth,
    pub(crate) batch_invariant: bool,
}

/// A device, what its kernels are written for, and who asks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Site<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) target: Target,
    /// How broad a GPU it is.
    pub(crate) breadth: Breadth,
    /// Whether no choice may depend on how large a batch is.
    pub(crate) batch_invariant: bool,
    pub(crate) line: &'static Location<'static>,
}

impl<'a> Site<'a> {
    pub(crate) fn choosing(&self) -> Choosing {
        let Self { target, breadth, batch_invariant, .. } = *self;
        Choosing { target, breadth, batch_invariant }
    }

    pub(crate) fn choosing_as(self, choosing: Choosing) -> Self {
        let Choosing { target, breadth, batch_invariant } = choosing;
        Self { target, breadth, batch_invariant, ..self }
    }

    /// What its kernels are chosen for.
    pub(crate) fn rig(&self) -> Rig<'a> {
        let Self { engine, target, breadth, .. } = *self;
        Rig { target, caps: engine.gpu.caps(), breadth, segment: engine.segment_bytes() }
    }

    /// Whether kernels put sums together by subgroups.
    pub(crate) fn has_subgroups(&self) -> bool {
        subgroups::run_in(self.engine.gpu.caps(), self.batch_invariant)
    }

    /// How broad a GPU it is, whose system watches how long a dispatch takes.
    pub(crate) fn watched(&self, computing: DType) -> Option<Breadth> {
        (self.target == Target::Gpu).then(|| self.breadth.computing(computing))
    }

    /// For a kernel as [`Target::of_streams`] has it.
    pub(crate) fn streaming(self) -> Self {
        Self { target: self.target.of_streams(self.engine.gpu.caps()), ..self }
    }

    /// For a kernel as [`Target::of_walks`] has it.
    pub(crate) fn walking(self) -> Self {
        Self { target: self.target.of_walks(self.engine.gpu.caps()), ..self }
    }

    /// [`Engine::prepare`], for the line that asks.
    pub(crate) fn prepare(&self, job: Job<'_>) -> Result<Option<Ready>> {
        self.engine.prepare(job, Asked { line: self.line, work: Labour::default() })
    }

    /// Says what happens to what is recorded. A sketch says nothing: nothing happens.
    pub(crate) fn tell(&self, topic: Topic, subject: impl fmt::Display, what: impl fmt::Display) {
        if self.engine.sketch.is_none() {
            topic.tell_at(Level::Debug, subject, what, Some(self.line));
        }
    }

    /// Records one dispatch.
    pub(crate) fn dispatch(&self, job: Job<'_>) -> Result<()> {
        self.engine.record(self.prepare(job)?)
    }

    /// Records one dispatch of so much work.
    pub(crate) fn dispatch_of(&self, work: Labour, job: Job<'_>) -> Result<()> {
        self.engine.record(self.engine.prepare(job, Asked { line: self.line, work })?)
    }
}
