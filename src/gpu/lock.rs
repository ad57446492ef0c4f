//! The lock around GL, which bears only one thread.

use std::sync::{Mutex, MutexGuard};

use crate::caps::Backend;
use crate::shared::lock;

/// wgpu's GL backend panics on a second thread while a long dispatch runs, so one thread at a time
/// uses it.
static GL: Mutex<()> = Mutex::new(());

/// Held around wgpu calls where the backend bears only one thread.
pub(super) fn gl_lock(backend: Backend) -> Option<MutexGuard<'static, ()>> {
    (backend == Backend::Gl).then(|| lock(&GL))
}
