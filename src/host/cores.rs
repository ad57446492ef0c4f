//! How many cores the host has: a second thread is worth it where there are two.

use std::sync::LazyLock;

/// Whether there is a single one. Asked once: the question takes longer than a small copy.
pub(crate) fn is_one() -> bool {
    static CORES: LazyLock<usize> =
        LazyLock::new(|| std::thread::available_parallelism().map_or(1, usize::from));
    *CORES < 2
}
