//! The numbers that the store publishes about itself.

use core::fmt;

use crate::count::bytes;

/// `1 tensor`, `2 tensors`.
fn counted(n: u64, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}

/// What the driver's allocator has of a device, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DriverMemory {
    /// In use, by wgpu's count.
    pub allocated: u64,
    /// Asked of the system.
    pub reserved: u64,
}

/// The memory of a device, counted by wharf. Printing it gives a table.
///
/// Buffers of your own in which tensors lie ([`Device::wrap_buffer`](crate::Device::wrap_buffer))
/// are not wharf's: they are in none of these numbers, and the cap does not know them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Memory {
    /// Bytes of live tensors.
    pub bytes_live: u64,
    /// Bytes reserved and free: what the next tensors can use, and `trim` gives back.
    pub bytes_pooled: u64,
    /// Bytes lost to alignment and rounding inside what live tensors occupy.
    pub bytes_padding: u64,
    /// Everything reserved from the driver: live, padding and pooled.
    pub bytes_reserved: u64,
    /// The most that was ever live.
    pub bytes_live_peak: u64,
    /// The most that was ever reserved.
    pub bytes_reserved_peak: u64,
    /// The largest free range.
    pub bytes_largest_free: u64,
    /// The cap, if there is one.
    pub bytes_cap: Option<u64>,
    /// Live tensor values.
    pub tensors: u64,
    /// Buffers reserved from the driver.
    pub buffers: u64,
    /// What the driver's allocator says, where wgpu can ask it.
    pub driver: Option<DriverMemory>,
}

impl Memory {
    /// How much of the free memory is *not* in its largest range, in percent: 0 when all of it is
    /// one range.
    #[must_use]
    pub fn fragmentation_percent(&self) -> u64 {
        let scattered = self.bytes_pooled.saturating_sub(self.bytes_largest_free);
        (scattered * 100).checked_div(self.bytes_pooled).unwrap_or(0)
    }
}

impl fmt::Display for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let b = |n: u64| bytes(n);
        let (tensors, peak) = (counted(self.tensors, "tensor"), b(self.bytes_live_peak));
        writeln!(f, "live      {} in {tensors}, peak {peak}", b(self.bytes_live))?;
        writeln!(
            f,
            "pooled    {}, largest free {}, fragmentation {} %",
            b(self.bytes_pooled),
            b(self.bytes_largest_free),
            self.fragmentation_percent()
        )?;
        writeln!(f, "padding   {}", b(self.bytes_padding))?;
        write!(
            f,
            "reserved  {} in {}, peak {}, cap {}",
            b(self.bytes_reserved),
            counted(self.buffers, "buffer"),
            b(self.bytes_reserved_peak),
            self.bytes_cap.map_or_else(|| "none".into(), b)
        )?;
        match self.driver {
            Some(DriverMemory { allocated, reserved }) => {
                write!(f, "\ndriver    {} allocated of {} reserved", b(allocated), b(reserved))
            }
            None => Ok(()),
        }
    }
}

/// Whether a tensor would fit, answered before anything is allocated.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fit {
    /// Bytes of the tensor.
    pub bytes: u64,
    /// How many segments it would be cut into.
    pub segments: u64,
    /// Bytes that rounding would add.
    pub bytes_padding: u64,
    /// Bytes that would have to be reserved from the driver.
    pub bytes_reserve: u64,
    /// Bytes that the pool would have to give back to stay under the cap.
    pub bytes_give_back: u64,
    /// Host memory that an upload needs beyond the data itself, at most. In a browser it may be as
    /// much as the data: nothing waits there until what is on its way has arrived.
    pub bytes_staging: u64,
    /// The cap, if there is one: only software adapters have one that nobody set.
    pub bytes_cap: Option<u64>,
    /// Whether it fits under the cap; without one, whether there can be such a tensor at all.
    /// Whether the driver has the room is known only by trying.
    pub fits: bool,
}

impl Fit {
    /// Of tensors that no memory of the adapter can hold.
    pub(crate) const fn refused(bytes: u64) -> Self {
        Self {
            bytes,
            segments: 0,
            bytes_padding: 0,
            bytes_reserve: 0,
            bytes_give_back: 0,
            bytes_staging: 0,
            bytes_cap: None,
            fits: false,
        }
    }
}

impl fmt::Display for Fit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} in {} (+{} padding), staging {}",
            bytes(self.bytes),
            counted(self.segments, "segment"),
            bytes(self.bytes_padding),
            bytes(self.bytes_staging),
        )?;
        match (self.fits, self.bytes_give_back) {
            (true, _) if self.bytes_cap.is_none() => {
                f.write_str(": no cap is set, and whether there is room is not known")
            }
            (true, 0) => f.write_str(": fits"),
            (true, n) => write!(f, ": fits after the pool gives back {}", bytes(n)),
            (false, 0) => f.write_str(": there can be no such tensor"),
            (false, _) => f.write_str(": exceeds the cap"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fragmentation_is_what_lies_beside_the_largest_range() {
        let of = |bytes_pooled, bytes_largest_free| {
            let memory = Memory {
                bytes_live: 0,
                bytes_padding: 0,
                bytes_live_peak: 0,
                bytes_pooled,
                bytes_reserved: bytes_pooled,
                bytes_reserved_peak: bytes_pooled,
                bytes_largest_free,
                bytes_cap: None,
                tensors: 0,
                buffers: 1,
                driver: None,
            };
            memory.fragmentation_percent()
        };
        assert_eq!([of(0, 0), of(80, 80), of(80, 60), of(300, 1)], [0, 0, 25, 99]);
    }
}
