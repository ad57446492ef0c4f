//! Locks: of our own state, and around a backend that bears one thread only.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::caps::Backend;

/// A lock that a panic elsewhere does not take away: state is only changed in steps that cannot
/// panic halfway.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Inside wgpu's GL backend a second thread that meets a long dispatch panics: one thread at a
/// time.
static GL: Mutex<()> = Mutex::new(());

/// Held around wgpu calls where the backend bears only one thread.
pub(super) fn gl_lock(backend: Backend) -> Option<MutexGuard<'static, ()>> {
    (backend == Backend::Gl).then(|| lock(&GL))
}
