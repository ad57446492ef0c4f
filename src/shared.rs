//! What threads share: state behind a lock, and lists of those who watch.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// Locks even after a panic on another thread: state is only changed in steps that cannot panic
/// halfway.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether a switch in the environment is on: there are words for off, and nothing is off.
pub(crate) fn is_switched_on(value: &str) -> bool {
    !["", "0", "n", "no", "f", "false", "off"].contains(&value.to_lowercase().as_str())
}

/// A text as part of a file's name, in which nothing is a folder.
pub(crate) fn in_file_name(text: &str) -> String {
    text.replace(|c: char| !(c.is_alphanumeric() || "_.".contains(c)), "-")
}

/// Those who watch a device, as long as they live.
#[derive(Debug)]
pub(crate) struct Watches<T> {
    /// Whether there may be one: nothing is locked where nobody watches.
    any: AtomicBool,
    all: Mutex<Vec<Weak<T>>>,
}

impl<T> Default for Watches<T> {
    fn default() -> Self {
        Self { any: AtomicBool::new(false), all: Mutex::default() }
    }
}

impl<T> Watches<T> {
    pub(crate) fn begin(&self, watch: T) -> Arc<T> {
        let watch = Arc::new(watch);
        let mut all = lock(&self.all);
        all.push(Arc::downgrade(&watch));
        self.any.store(true, Ordering::Relaxed);
        watch
    }

    /// Whether somebody may watch.
    pub(crate) fn any(&self) -> bool {
        self.any.load(Ordering::Relaxed)
    }

    /// All who watch.
    pub(crate) fn all(&self) -> Vec<Arc<T>> {
        if !self.any() {
            return Vec::new();
        }
        lock(&self.all).iter().filter_map(Weak::upgrade).collect()
    }

    /// Tells all who watch.
    pub(crate) fn tell(&self, note: impl Fn(&T)) {
        if !self.any() {
            return;
        }
        let mut all = lock(&self.all);
        all.retain(|watch| {
            watch.upgrade().is_some_and(|watch| {
                note(&watch);
                true
            })
        });
        self.any.store(!all.is_empty(), Ordering::Relaxed);
    }
}
