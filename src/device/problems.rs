//! What somebody may want to tune.

use std::sync::{Arc, Mutex};

use crate::kernel::choice::Problem;
use crate::shared::lock;

/// What operations by a handle were computed for: [`Device::noting`](crate::Device::noting).
#[derive(Clone, Debug, Default)]
pub struct Problems(Arc<Mutex<Vec<Problem>>>);

impl Problems {
    /// The problems so far, each once, in the order in which they came.
    #[must_use]
    pub fn list(&self) -> Vec<Problem> {
        lock(&self.0).clone()
    }

    pub(super) fn note(&self, problem: Problem) {
        let mut all = lock(&self.0);
        if !all.contains(&problem) {
            all.push(problem);
        }
    }
}
