//! What can go wrong on a device: memory, limits, loss, and failures that only the driver can
//! explain.

use core::fmt;

use crate::error::{Cause, ErrorKind};

/// Bytes in the largest binary unit that keeps the number readable: `1.5 GiB`.
pub(crate) fn bytes(n: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut unit = 0;
    let mut value = n as f64;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    let text = if value < 100.0 { format!("{value:.1}") } else { format!("{value:.0}") };
    format!("{} {}", text.strip_suffix(".0").unwrap_or(&text), UNITS[unit])
}

/// What the store held when memory ran out.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shortage {
    pub(crate) requested: u64,
    pub(crate) live: u64,
    pub(crate) pooled: u64,
    pub(crate) largest_free: u64,
    pub(crate) cap: Option<u64>,
}

#[derive(Debug)]
pub(crate) enum DeviceCause {
    OutOfMemory {
        shortage: Shortage,
        capped: bool,
    },
    TooLarge {
        what: &'static str,
        requested: u128,
        limit: &'static str,
        available: u64,
        unit: &'static str,
    },
    Lost {
        reason: &'static str,
        message: String,
        last: String,
    },
    Driver {
        doing: String,
        message: String,
    },
    /// Raised after the call that caused it had returned.
    Late {
        message: String,
        memory: bool,
    },
    Devices {
        left: String,
        right: String,
    },
}

impl fmt::Display for DeviceCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutOfMemory { shortage: s, capped } => {
                let (requested, live) = (bytes(s.requested), bytes(s.live));
                let (pooled, largest) = (bytes(s.pooled), bytes(s.largest_free));
                let cap = s.cap.map_or_else(|| "none".into(), bytes);
                let who = if *capped { "the cap" } else { "the driver" };
                write!(
                    f,
                    "out of memory: {who} refuses {requested}; live {live}, pooled {pooled}, \
                     largest free {largest}, cap {cap}"
                )
            }
            Self::TooLarge { what, requested, limit, available, unit } => {
                write!(f, "{what} needs {requested} {unit}, {limit} is {available}")
            }
            Self::Lost { reason, message, last } => {
                let separator = if message.is_empty() { "" } else { ": " };
                write!(f, "device lost ({reason}){separator}{message}")?;
                let last = if last.is_empty() { "nothing" } else { last };
                write!(f, "; last submitted: {last}")
            }
            Self::Driver { doing, message } => write!(f, "{doing} failed in the driver: {message}"),
            Self::Late { message, .. } => write!(f, "an earlier call failed: {message}"),
            Self::Devices { left, right } => {
                write!(f, "tensors are on two devices: left {left}, right {right}")
            }
        }
    }
}

impl Cause for DeviceCause {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::OutOfMemory { .. } | Self::Late { memory: true, .. } => ErrorKind::OutOfMemory,
            Self::TooLarge { .. } => ErrorKind::Limit,
            Self::Lost { .. } => ErrorKind::DeviceLost,
            Self::Driver { .. } | Self::Late { .. } => ErrorKind::Driver,
            Self::Devices { .. } => ErrorKind::Mismatch,
        }
    }

    fn help(&self) -> Option<String> {
        Some(match self {
            Self::OutOfMemory { capped: true, .. } => {
                "drop tensors, raise the cap (`device.set_cap`), or split the tensor; unused \
                 memory has already been given back"
                    .into()
            }
            Self::OutOfMemory { capped: false, .. } => {
                "drop tensors or split the tensor; unused memory has already been given back. \
                 `device.memory()` shows what is held, `device.fit(shape, dtype)` asks beforehand"
                    .into()
            }
            Self::TooLarge { .. } => "split the tensor".into(),
            Self::Lost { .. } => {
                "open a fresh device (`device.reopen()`) and upload again; long kernels can be \
                 cut by a driver's watchdog"
                    .into()
            }
            Self::Driver { .. } => {
                "update the driver, or try another backend (WGPU_BACKEND=...); please report it \
                 with the output of the doctor"
                    .into()
            }
            Self::Late { .. } => {
                "what this device computed meanwhile is not to be trusted, and it answers nothing \
                 else from now on: open a fresh one (`device.reopen()`) and upload again"
                    .into()
            }
            Self::Devices { .. } => "move one of them: `tensor.to(&device)`".into(),
        })
    }
}
