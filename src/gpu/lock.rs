//! Locks: for our own state, and around GL, which bears only one thread.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::caps::Backend;

/// Locks even after a panic on another thread: state is only changed in steps that cannot panic
/// halfway.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// wgpu's GL backend panics on a second thread while a long dispatch runs, so one thread at a time
/// uses it.
static GL: Mutex<()> = Mutex::new(());

/// Held around wgpu calls where the backend bears only one thread.
pub(super) fn gl_lock(backend: Backend) -> Option<MutexGuard<'static, ()>> {
    (backend == Backend::Gl).then(|| lock(&GL))
}
