//! Notes of what runs: in a sketch of a device, or on a device that is watched.

use core::fmt;
use std::sync::{Arc, Mutex};

use crate::error::Error;
use crate::exec::Job;
use crate::shared::lock;

/// What has run, or would.
#[derive(Debug, Default)]
pub(crate) struct Notes(Mutex<Noted>);

#[derive(Debug, Default)]
struct Noted {
    kernels: Vec<KernelRun>,
    /// Why the next kernel is chosen.
    remarks: Vec<String>,
    bytes_allocated: u64,
}

/// A kernel that a plan of work runs.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct KernelRun {
    pub(crate) name: &'static str,
    /// Its text.
    pub wgsl: Arc<str>,
    /// The workgroup counts of each of its dispatches.
    pub dispatches: Vec<[u32; 3]>,
    /// Bytes of memory that its dispatches bind.
    pub bytes: u64,
    /// Why it was chosen, where there was a choice.
    pub remarks: Vec<String>,
}

impl KernelRun {
    /// Its name.
    #[must_use]
    pub const fn name(&self) -> &str {
        self.name
    }
}

/// What would run to compute a tensor: printed by `{}`, with the text of every kernel.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Explanation {
    /// The kernels, in order.
    pub kernels: Vec<KernelRun>,
    /// Memory that results and intermediates take.
    pub bytes_allocated: u64,
    /// Why it cannot be computed.
    pub error: Option<Error>,
}

impl Notes {
    pub(super) fn allocated(&self, bytes: u64) {
        lock(&self.0).bytes_allocated += bytes;
    }

    pub(super) fn dispatch(&self, job: &Job<'_>) {
        let notes = &mut *lock(&self.0);
        let bytes: u64 = job.bindings.iter().map(|bound| bound.bytes).sum();
        let remarks = core::mem::take(&mut notes.remarks);
        let (name, wgsl) = (job.kernel.name, &job.kernel.wgsl);
        match notes.kernels.last_mut() {
            Some(last) if last.wgsl == *wgsl => {
                last.dispatches.push(job.groups);
                last.bytes += bytes;
                last.remarks.extend(remarks);
            }
            _ => notes.kernels.push(KernelRun {
                name,
                wgsl: wgsl.clone(),
                dispatches: vec![job.groups],
                bytes,
                remarks,
            }),
        }
    }

    pub(super) fn remark(&self, text: String) {
        lock(&self.0).remarks.push(text);
    }

    /// What was noted.
    pub(crate) fn explanation(&self, error: Option<Error>) -> Explanation {
        let notes = lock(&self.0);
        let (kernels, bytes_allocated) = (notes.kernels.clone(), notes.bytes_allocated);
        Explanation { kernels, bytes_allocated, error }
    }
}

/// Lists what runs on a device - for every handle and thread - while it lives:
/// [`Device::watch`](crate::Device::watch).
#[derive(Debug)]
pub struct Watch(pub(super) Arc<Notes>);

impl Watch {
    /// Every dispatch since it was made, in order.
    #[must_use]
    pub fn explanation(&self) -> Explanation {
        self.0.explanation(None)
    }
}

impl Explanation {
    /// How many dispatches there are.
    #[must_use]
    pub fn dispatches(&self) -> usize {
        self.kernels.iter().map(|kernel| kernel.dispatches.len()).sum()
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(error) = &self.error {
            return write!(f, "cannot be computed: {error}");
        }
        if self.kernels.is_empty() {
            return f
                .write_str("nothing to run: the value exists (`Device::watch` lists what ran)");
        }
        let (kernels, dispatches) = (self.kernels.len(), self.dispatches());
        let plural = |n: usize| if n == 1 { "" } else { "s" };
        writeln!(
            f,
            "{kernels} kernel{}, {dispatches} dispatch{}, {} bytes allocated",
            plural(kernels),
            if dispatches == 1 { "" } else { "es" },
            self.bytes_allocated
        )?;
        let first = |kernel: &KernelRun| self.kernels.iter().position(|k| k.wgsl == kernel.wgsl);
        for (i, kernel) in self.kernels.iter().enumerate() {
            let [x, y, z] = kernel.dispatches[0];
            let n = kernel.dispatches.len();
            let times = if n == 1 { String::new() } else { format!("{n} dispatches, the first ") };
            let (name, bytes) = (kernel.name, kernel.bytes);
            write!(f, "{}. {name}: {times}{x} x {y} x {z} groups, {bytes} bytes bound", i + 1)?;
            match first(kernel) {
                Some(before) if before < i => writeln!(f, ", the text of {}", before + 1)?,
                _ => writeln!(f)?,
            }
            for remark in &kernel.remarks {
                writeln!(f, "   {remark}")?;
            }
        }
        for (i, kernel) in self.kernels.iter().enumerate().filter(|(i, k)| first(k) == Some(*i)) {
            write!(f, "\n// {}. {}\n{}", i + 1, kernel.name, kernel.wgsl)?;
        }
        Ok(())
    }
}
