//! What a shadow has noted and not judged yet: dispatches as they were recorded, copies of what
//! they read and wrote, and the tally of those that were judged.

use core::cell::RefCell;
use core::ops::Range;
use core::panic::Location;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::error::Error;
use crate::exec::Job;
use crate::gpu::odometer::Sent;
use crate::gpu::{MapRequest, Reservation};
use crate::proof::Claim;
use crate::shared::lock;
use crate::wgsl::Assembled;

/// A range of a buffer, by the buffer's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extract {
    pub(crate) buffer_id: u64,
    pub(crate) offset: u64,
    pub(crate) bytes: u64,
}

/// A dispatch as it was recorded.
#[derive(Clone, Debug)]
pub(crate) struct JobNote {
    pub(crate) kernel: Assembled,
    pub(crate) bindings: Vec<Extract>,
    pub(crate) params: Vec<u32>,
    pub(crate) groups: [u32; 3],
}

/// Values on their way to the host, one behind the other in a buffer.
#[derive(Debug)]
pub(crate) struct Excerpt {
    pub(crate) buffer: Option<(Reservation, Sent)>,
    /// Asked for by whoever reads it first.
    pub(crate) mapping: Mutex<Option<MapRequest>>,
    pub(crate) bytes: u64,
    /// Of each value, its bytes there.
    pub(crate) values: Vec<Range<u64>>,
    /// Where they lay: of each piece its place, and where its bytes are.
    pub(crate) pieces: Vec<(Extract, u64)>,
}

/// An operation that waits to be judged.
#[derive(Debug)]
pub(crate) struct Exhibit {
    /// Counted from 1.
    pub(crate) number: u64,
    pub(crate) name: String,
    pub(crate) line: &'static Location<'static>,
    pub(crate) claim: Claim,
    pub(crate) inputs: Excerpt,
    pub(crate) result: Excerpt,
    pub(crate) dispatches: Vec<JobNote>,
    /// Whether somebody has judged it. Held meanwhile.
    pub(crate) judged: Mutex<bool>,
}

impl Exhibit {
    fn takes(&self) -> u64 {
        EXHIBIT_BYTES + self.inputs.bytes + self.result.bytes
    }
}

/// An operation that is wrong.
#[derive(Clone, Debug)]
pub(crate) struct Conviction {
    pub(crate) number: u64,
    pub(crate) error: Error,
    /// The file that replays it.
    pub(crate) file: Option<Arc<Vec<u8>>>,
}

/// What has been judged, and what has not.
#[derive(Clone, Debug, Default)]
pub(crate) struct Score {
    pub(crate) seen: u64,
    pub(crate) operations: u64,
    pub(crate) elements: u64,
    pub(crate) judged: u64,
    pub(crate) open: u64,
    pub(crate) bytes: u64,
    pub(crate) time: Duration,
    /// How many were not judged, by name and reason.
    pub(crate) left_out: BTreeMap<(String, &'static str), u64>,
    /// Where NaN or infinity began, and how.
    pub(crate) began: Option<(u64, String)>,
    /// The first wrong operation.
    pub(crate) wrong: Option<Conviction>,
}

/// Everything that one shadow has.
#[derive(Debug)]
pub(crate) struct Docket {
    pub(crate) policy: ShadowPolicy,
    state: Mutex<(Waiting, Score)>,
}

/// What waits, in order, and the bytes that it takes.
#[derive(Debug, Default)]
struct Waiting(VecDeque<Arc<Exhibit>>, u64);

/// What an exhibit takes beside its excerpts: its claim, its dispatches and two buffers of wgpu's.
pub(crate) const EXHIBIT_BYTES: u64 = 4 << 10;

/// What a shadow computes once more, and what it may take.
///
/// ```
/// use wharf::shadow::ShadowPolicy;
///
/// let some = ShadowPolicy::all().one_in(8).seeded(42).memory(64 << 20);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShadowPolicy {
    pub(crate) one_in: u64,
    pub(crate) seed: u64,
    pub(crate) steps: u64,
    pub(crate) memory: u64,
    pub(crate) time: Option<Duration>,
    pub(crate) folder: Option<std::path::PathBuf>,
}

impl Default for ShadowPolicy {
    fn default() -> Self {
        Self::all()
    }
}

impl ShadowPolicy {
    /// Every operation: all of its elements where that takes up to four million steps, otherwise a
    /// sample; in 256 MiB of staging memory.
    #[must_use]
    pub const fn all() -> Self {
        let (steps, memory) = (1 << 22, 256 << 20);
        Self { one_in: 1, seed: 0, steps, memory, time: None, folder: None }
    }

    /// One operation of so many, drawn by the seed.
    #[must_use]
    pub fn one_in(self, operations: u64) -> Self {
        Self { one_in: operations.max(1), ..self }
    }

    /// The seed of all samples.
    #[must_use]
    pub fn seeded(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// Steps of the oracle for one operation, of which a multiplication is one: of a result that
    /// takes more, both ends and a sample are judged.
    #[must_use]
    pub fn steps(self, steps: u64) -> Self {
        Self { steps, ..self }
    }

    /// Bytes of inputs and results, and 4 KiB of each operation, that may wait at once. Where more
    /// would have to, what waits is judged first; in a browser, which cannot wait, the operation is
    /// left out.
    #[must_use]
    pub fn memory(self, bytes: u64) -> Self {
        Self { memory: bytes, ..self }
    }

    /// The time that the oracle may take in all; what comes after is left out. A browser's clock
    /// stands still meanwhile.
    #[must_use]
    pub fn time(self, time: Duration) -> Self {
        Self { time: Some(time), ..self }
    }

    /// The folder that a capsule of the first wrong operation is written to.
    #[must_use]
    pub fn capsules_in(self, folder: impl Into<std::path::PathBuf>) -> Self {
        Self { folder: Some(folder.into()), ..self }
    }
}

thread_local! {
    /// The dispatches of the operation that this thread records.
    static NOTED: RefCell<Option<Vec<JobNote>>> = const { RefCell::new(None) };
}

/// Notes the dispatches that are recorded meanwhile.
pub(crate) fn noting<T>(record: impl FnOnce() -> T) -> (T, Vec<JobNote>) {
    let outer = NOTED.replace(Some(Vec::new()));
    let made = record();
    (made, NOTED.replace(outer).unwrap_or_default())
}

/// Notes a dispatch, if somebody does; says whether.
pub(super) fn note(job: &Job<'_>) -> bool {
    NOTED.with_borrow_mut(|noted| {
        let Some(noted) = noted else { return false };
        let extract = |bound: &crate::exec::Bound| {
            let (buffer_id, offset, bytes) = (bound.buffer_id, bound.offset, bound.bytes);
            Extract { buffer_id, offset, bytes }
        };
        noted.push(JobNote {
            kernel: job.kernel.clone(),
            bindings: job.bindings.iter().map(extract).collect(),
            params: job.params.clone(),
            groups: job.groups,
        });
        true
    })
}

impl Docket {
    pub(crate) fn new(policy: ShadowPolicy) -> Self {
        Self { policy, state: Mutex::default() }
    }

    /// The number of an operation that is about to be recorded.
    pub(crate) fn number(&self) -> u64 {
        let tally = &mut lock(&self.state).1;
        tally.seen += 1;
        tally.seen
    }

    /// Counts an operation that is not judged.
    pub(crate) fn leave_out(&self, name: &str, why: &'static str) {
        *lock(&self.state).1.left_out.entry((name.to_owned(), why)).or_default() += 1;
    }

    /// Counts a dispatch that belongs to no operation that was deferred.
    pub(super) fn outside(&self, kernel: &'static str) {
        self.leave_out(kernel, "recorded at once, without an oracle");
    }

    /// Bytes that wait.
    pub(crate) fn held(&self) -> u64 {
        lock(&self.state).0.1
    }

    pub(crate) fn push(&self, exhibit: Exhibit) {
        let Waiting(all, held) = &mut lock(&self.state).0;
        *held += exhibit.takes();
        all.push_back(Arc::new(exhibit));
    }

    /// All that wait, in order. They go on waiting until they are judged, whoever else looks at
    /// them, and however often somebody gives up.
    pub(crate) fn waiting(&self) -> Vec<Arc<Exhibit>> {
        lock(&self.state).0.0.iter().cloned().collect()
    }

    /// One waits no longer.
    pub(crate) fn close(&self, number: u64) {
        let Waiting(all, held) = &mut lock(&self.state).0;
        let place = all.iter().position(|one| one.number == number);
        if let Some(closed) = place.and_then(|place| all.remove(place)) {
            *held -= closed.takes();
        }
    }

    pub(crate) fn tally(&self) -> Score {
        lock(&self.state).1.clone()
    }

    pub(crate) fn count(&self, add: impl FnOnce(&mut Score)) {
        add(&mut lock(&self.state).1);
    }
}

#[cfg(test)]
mod tests;
