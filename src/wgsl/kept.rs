//! Texts of little kernels, kept for the process: writing one takes longer than all else that its
//! dispatch costs the host. They depend on nothing of a device. Expressions and cores, whose
//! structure is large, are kept by `exec::texts`.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use super::assembled::Assembled;
use super::slot::Slot;
use super::target::Target;

/// All that decides such a text.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Key {
    kernel: &'static str,
    slots: Vec<Slot>,
    /// What else of the kernel is chosen.
    choice: &'static str,
    shape: (u32, Target),
}

static TEXTS: LazyLock<Mutex<HashMap<Key, Arc<Assembled>>>> = LazyLock::new(Mutex::default);

/// The text for these operands, this choice and this shape, written if there is none yet.
pub(crate) fn kept(
    kernel: &'static str,
    slots: &[Slot],
    choice: &'static str,
    shape: (u32, Target),
    write: impl FnOnce() -> Assembled,
) -> Arc<Assembled> {
    let key = Key { kernel, slots: slots.to_vec(), choice, shape };
    let texts = || TEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    let known = texts().get(&key).map(Arc::clone);
    known.unwrap_or_else(|| {
        let text = Arc::new(write());
        texts().insert(key, Arc::clone(&text));
        text
    })
}
