//! A value: the memory of a result, or the error it has instead.

use std::sync::{Arc, OnceLock};

use crate::error::{Error, Result};
use crate::store::{Pinned, Storage};

/// What tensors share: a storage that is written once, and the reason if that failed.
#[derive(Debug)]
pub(crate) struct Value {
    storage: Arc<Storage>,
    fault: OnceLock<Error>,
}

impl Value {
    pub(crate) fn new(storage: Arc<Storage>) -> Arc<Self> {
        Arc::new(Self { storage, fault: OnceLock::new() })
    }

    /// Its memory, kept in place while the guard lives; or the original error.
    pub(crate) fn pin(&self) -> Result<Pinned> {
        self.check()?;
        Ok(self.storage.pin())
    }

    /// The original error, if there is one.
    pub(crate) fn check(&self) -> Result<()> {
        self.fault.get().map_or(Ok(()), |error| Err(error.clone()))
    }

    /// Makes every later use answer with this error; the first one stays.
    pub(crate) fn poison(&self, error: Error) {
        let _ = self.fault.set(error);
    }
}
