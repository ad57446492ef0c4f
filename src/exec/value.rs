//! A value: the memory of a result, or the error it has instead.

use std::sync::{Arc, Mutex, OnceLock, Weak};

use super::Fault;
use crate::error::{Error, Result};
use crate::gpu::Whose;
use crate::shared::lock;
use crate::store::{Loan, Pinned, Storage};

/// What tensors share: a storage that is written once, or the error if that failed.
#[derive(Debug)]
pub(crate) struct Value {
    storage: Arc<Storage>,
    /// Shared with what replaces it: work that was recorded to write here may fail after that.
    error: Arc<OnceLock<Error>>,
    /// The fault slots of everything it was computed from, each once, the first taken first. A
    /// read brings their words.
    faults: Mutex<Vec<Arc<Fault>>>,
}

impl Value {
    pub(crate) fn new(storage: Arc<Storage>) -> Arc<Self> {
        Self::of(storage, Arc::default())
    }

    fn of(storage: Arc<Storage>, error: Arc<OnceLock<Error>>) -> Arc<Self> {
        Arc::new(Self { storage, error, faults: Mutex::default() })
    }

    /// Its memory, kept in place while the guard lives; or the original error.
    pub(crate) fn pin(&self) -> Result<Pinned> {
        self.check()?;
        Ok(self.storage.pin())
    }

    /// How many bytes it has.
    pub(crate) fn bytes(&self) -> u64 {
        self.storage.bytes
    }

    /// Another value in the same memory, which this one gives up.
    pub(crate) fn replaced(&self) -> Arc<Self> {
        Self::of(Arc::clone(&self.storage), Arc::clone(&self.error))
    }

    /// Its memory, for somebody else's commands; or the original error.
    pub(crate) fn lend(&self) -> Result<Loan> {
        self.check()?;
        Ok(self.storage.lend())
    }

    /// Whether nobody else holds its memory. A buffer of the caller's own is held by the caller.
    pub(crate) fn is_sole_owner(&self) -> bool {
        Arc::strong_count(&self.storage) == 1 && self.storage.whose() == Whose::Ours
    }

    /// The buffers that it lies in.
    pub(crate) fn buffer_ids(&self) -> Vec<u64> {
        self.storage.pieces().iter().map(|piece| piece.buffer_id).collect()
    }

    /// Whether some buffer holds parts of both values.
    pub(crate) fn shares_buffers(&self, other: &Self) -> bool {
        let others = other.buffer_ids();
        self.buffer_ids().iter().any(|id| others.contains(id))
    }

    /// The original error, if there is one.
    pub(crate) fn check(&self) -> Result<()> {
        if let Some(error) = self.error.get() {
            return Err(error.clone());
        }
        match lock(&self.faults).iter().find_map(|fault| fault.error()) {
            Some(error) => Err(error.clone()),
            None => Ok(()),
        }
    }

    /// Makes every later use return this error; an earlier error stays.
    fn poison(&self, error: Error) {
        let _ = self.error.set(error);
    }

    /// Where the error of recorded work goes that writes it.
    pub(super) fn fate(&self) -> Weak<OnceLock<Error>> {
        Arc::downgrade(&self.error)
    }

    /// Makes it carry the slot of a kernel that writes it.
    pub(crate) fn carry(&self, fault: Arc<Fault>) {
        self.add([fault]);
    }

    fn add(&self, more: impl IntoIterator<Item = Arc<Fault>>) {
        let mut faults = lock(&self.faults);
        faults.extend(more);
        faults.retain(|fault| fault.is_of_interest());
        faults.sort_by_key(|fault| fault.order);
        faults.dedup_by(|a, b| Arc::ptr_eq(a, b));
    }

    /// How many slots it carries.
    pub(crate) fn carried(&self) -> usize {
        lock(&self.faults).len()
    }

    /// Makes it carry the slots of the values that it is computed from, and what befell these while
    /// it was recorded.
    pub(crate) fn inherit<'a>(&self, from: impl IntoIterator<Item = &'a Self>) {
        for value in from {
            if let Some(error) = value.error.get() {
                self.poison(error.clone());
            }
            let theirs = lock(&value.faults).clone();
            if !theirs.is_empty() {
                self.add(theirs);
            }
        }
    }

    /// The slots it carries that nobody has read yet.
    pub(crate) fn unsettled(&self) -> Vec<Arc<Fault>> {
        let faults = lock(&self.faults);
        faults.iter().filter(|fault| !fault.is_settled()).cloned().collect()
    }
}
