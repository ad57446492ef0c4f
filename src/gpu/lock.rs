//! The lock around GL, which bears only one thread.

use std::sync::{Mutex, MutexGuard, TryLockError};

use crate::caps::Backend;
use crate::shared::lock;

/// wgpu's GL backend panics on a second thread while a long dispatch runs, so one thread at a time
/// uses it.
static GL: Mutex<()> = Mutex::new(());

/// Held around wgpu calls where the backend bears only one thread.
pub(super) fn gl_lock(backend: Backend) -> Option<MutexGuard<'static, ()>> {
    (backend == Backend::Gl).then(|| lock(&GL))
}

/// Whether another thread holds it.
pub(super) fn is_gl_locked(backend: Backend) -> bool {
    backend == Backend::Gl && matches!(GL.try_lock(), Err(TryLockError::WouldBlock))
}
