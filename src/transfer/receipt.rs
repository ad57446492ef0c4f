//! The receipt: what happened to your numbers on the way.

use core::fmt;
use std::time::Duration;

use crate::count::bytes;
use crate::dtype::DType;
use crate::host::{Tally, Worst};
use crate::layout::Layout;
use crate::plan::How;

/// What happened to a tensor's numbers on the way to a device, from it, or from one to another.
///
/// `{}` prints one line, `{:#}` prints everything.
///
/// ```
/// # wharf::testing::example(async |device| {
/// let (_, receipt) = device.upload_as(&[0.5f32, 0.1, 1e6], [3], wharf::DType::F16)?;
/// let tally = receipt.tally; // 0.5 is an f16, 0.1 is not, 1e6 is too large for one
/// assert_eq!((tally.exact, tally.rounded, tally.overflowed), (1, 1, 1));
/// assert_eq!(tally.first_changed, Some(1));
/// assert!(!receipt.is_exact(), "{receipt}");
/// # Ok(()) });
/// ```
#[derive(Clone, Debug, PartialEq)]
#[must_use = "a conversion may have changed values: look, or write `let (tensor, _) = ..`"]
#[non_exhaustive]
pub struct Receipt {
    /// The dtype that they had: on the host for an upload, on the device for a read.
    pub from: DType,
    /// The dtype that they have now.
    pub to: DType,
    /// How it was carried.
    pub how: How,
    /// The layout that they had.
    pub layout_from: Layout,
    /// The layout that they have now.
    pub layout_to: Layout,
    /// What became of each value.
    pub tally: Tally,
    /// Bytes of the values on the host.
    pub bytes_host: u64,
    /// Bytes that were staged for the device, or by it for the host.
    pub bytes_staged: u64,
    /// Bytes that the tensor occupies on the device, padding included.
    pub bytes_device: u64,
    /// Segments on the device.
    pub segments: u64,
    /// How long the call took; zero in a browser, which has no clock for wharf.
    pub elapsed: Duration,
}

impl Receipt {
    /// Whether every value arrived as it was. A NaN counts as arrived.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.tally.is_exact()
    }
}

fn worst(f: &mut fmt::Formatter<'_>, name: &str, worst: Option<Worst>) -> fmt::Result {
    match worst {
        Some(Worst { error, index }) => write!(f, "{name} {error:.2e} at index {index}"),
        None => write!(f, "{name} 0"),
    }
}

/// Appends to a line about values what became of them.
pub(crate) fn write_changes(f: &mut fmt::Formatter<'_>, t: &Tally) -> fmt::Result {
    if t.is_exact() && t.nan == 0 {
        return f.write_str(", all exact");
    }
    let rows = [
        (t.rounded, "rounded"),
        (t.overflowed, "overflowed"),
        (t.flushed, "flushed"),
        (t.nan, "NaN"),
    ];
    for (count, name) in rows.into_iter().filter(|(count, _)| *count > 0) {
        write!(f, ", {count} {name}")?;
    }
    if let Some(Worst { error, .. }) = t.abs_error_max {
        write!(f, ", max error {error:.1e}")?;
    }
    Ok(())
}

impl fmt::Display for Receipt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (t, values) = (&self.tally, self.tally.values());
        match self.how {
            How::Converted { .. } => write!(f, "{} -> {}: {values} values", self.from, self.to)?,
            how => write!(f, "{} {}: {values} values", self.from, how.name())?,
        }
        write_changes(f, t)?;
        write!(f, "; staged {}", bytes(self.bytes_staged))?;
        if !f.alternate() {
            return Ok(());
        }
        write!(f, "\n  layout   {} -> {}", self.layout_from, self.layout_to)?;
        write!(
            f,
            "\n  values   {} exact, {} rounded, {} overflowed, {} flushed, {} NaN",
            t.exact, t.rounded, t.overflowed, t.flushed, t.nan
        )?;
        f.write_str("\n  errors   ")?;
        worst(f, "absolute", t.abs_error_max)?;
        worst(f, ", relative", t.rel_error_max)?;
        write!(
            f,
            "\n  bytes    {} on the host, {} staged, {} on the device in {} segment{}",
            self.bytes_host,
            self.bytes_staged,
            self.bytes_device,
            self.segments,
            if self.segments == 1 { "" } else { "s" }
        )?;
        write!(f, "\n  time     {:.3} ms", self.elapsed.as_secs_f64() * 1e3)
    }
}
