//! The process's own memory, as Linux counts it.

/// A line such as `VmRSS:     1234 kB` of the process's status, in bytes.
fn status(name: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

/// Bytes in memory now.
fn bytes_resident() -> Option<u64> {
    status("VmRSS")
}

/// Watches the high-water mark of memory from now on.
#[derive(Debug)]
pub(crate) struct Peak {
    before: u64,
}

impl Peak {
    /// `None` where the system does not count, or the count cannot be reset.
    pub(crate) fn watch() -> Option<Self> {
        std::fs::write("/proc/self/clear_refs", "5").ok()?;
        bytes_resident().map(|before| Self { before })
    }

    /// How far memory rose above its level at the start.
    pub(crate) fn bytes_beyond(&self) -> Option<u64> {
        status("VmHWM").map(|peak| peak.saturating_sub(self.before))
    }
}
