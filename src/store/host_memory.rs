//! How much memory the host has to spare, for adapters that live in it.
//!
//! A software adapter overcommits: it grants any allocation until the process is killed. So it is
//! capped.

/// The cap, in percent of free memory.
const CAP_PERCENT: u64 = 80;

/// The default cap of a software adapter; `None` where the system does not tell.
pub(super) fn cap_default() -> Option<u64> {
    available().map(|bytes| bytes / 100 * CAP_PERCENT)
}

/// Bytes that can be had without swapping, as Linux estimates them.
fn available() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kib * 1024)
}
