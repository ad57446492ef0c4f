//! The receipt of a set: that of each tensor, and their totals.

use core::fmt;
#[cfg(any(feature = "safetensors", feature = "npz"))]
use std::sync::Arc;
use std::time::Duration;

use super::named::Named;
#[cfg(any(feature = "safetensors", feature = "npz"))]
use crate::clock::Stopwatch;
use crate::count::bytes;
#[cfg(any(feature = "safetensors", feature = "npz"))]
use crate::error::Result;
use crate::host::{Tally, Worst};
use crate::plan::How;
use crate::tensor::Rounding;
use crate::transfer::{Receipt, write_changes};

/// What happened to the numbers of a set of tensors on their way.
///
/// `{}` prints one line, `{:#}` a table with a row per tensor.
#[derive(Clone, Debug)]
#[must_use = "a conversion may have changed values: look, or write `let (set, _) = ..`"]
pub struct SetReceipt {
    pub(super) receipts: Named<Receipt>,
    pub(super) roundings: Named<Rounding>,
    pub(super) elapsed: Duration,
}

impl SetReceipt {
    #[cfg(any(feature = "safetensors", feature = "npz"))]
    pub(crate) fn of(members: Vec<(Arc<str>, Receipt)>, clock: Stopwatch) -> Result<Self> {
        let mut receipts = Named::default();
        members.into_iter().try_for_each(|(name, receipt)| receipts.insert(name, receipt))?;
        let roundings = Named::default();
        Ok(Self { receipts, roundings, elapsed: clock.elapsed() })
    }

    /// Whether every value of every tensor arrived as it was.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.iter().all(|(_, receipt)| receipt.is_exact())
    }

    /// The receipt of one tensor.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Receipt> {
        self.receipts.get(name)
    }

    /// What becoming [blocks](super::Arrival::Blocks) did to the weights of this name.
    #[must_use]
    pub fn rounding(&self, name: &str) -> Option<&Rounding> {
        self.roundings.get(name)
    }

    /// Names and receipts, in the order of the set.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Receipt)> {
        self.receipts.iter()
    }

    /// How many values there are.
    #[must_use]
    pub fn values(&self) -> u64 {
        self.sum(|receipt| receipt.tally.values())
    }

    /// How many values are not what they were: rounded, overflowed or flushed.
    #[must_use]
    pub fn changed(&self) -> u64 {
        self.sum(changed)
    }

    /// Bytes of all values on the host.
    #[must_use]
    pub fn bytes_host(&self) -> u64 {
        self.sum(|receipt| receipt.bytes_host)
    }

    /// Bytes that were staged for the device.
    #[must_use]
    pub fn bytes_staged(&self) -> u64 {
        self.sum(|receipt| receipt.bytes_staged)
    }

    /// Bytes that the tensors occupy on the device, padding included.
    #[must_use]
    pub fn bytes_device(&self) -> u64 {
        self.sum(|receipt| receipt.bytes_device)
    }

    /// How long the set took, from the call to its last byte; zero in a browser, which has no clock
    /// for wharf.
    #[must_use]
    pub const fn elapsed(&self) -> Duration {
        self.elapsed
    }

    fn sum(&self, each: impl Fn(&Receipt) -> u64) -> u64 {
        self.iter().map(|(_, receipt)| each(receipt)).sum()
    }

    /// The tensor with the largest error.
    fn worst(&self) -> Option<&str> {
        let error = |receipt: &Receipt| receipt.tally.abs_error_max.map(|worst| worst.error);
        let errors = self.iter().filter_map(|(name, receipt)| Some((name, error(receipt)?)));
        errors.max_by(|(_, a), (_, b)| a.total_cmp(b)).map(|(name, _)| name)
    }
}

fn changed(receipt: &Receipt) -> u64 {
    let Tally { rounded, overflowed, flushed, .. } = receipt.tally;
    rounded + overflowed + flushed
}

const TITLES: [&str; 9] =
    ["tensor", "shape", "from", "to", "how", "values", "changed", "max error", "staged"];

/// Columns of text; those after them are numbers.
const TEXTS: usize = 5;

fn row(name: &str, receipt: &Receipt) -> [String; 9] {
    let error = receipt.tally.abs_error_max;
    [
        name.into(),
        receipt.layout_to.shape().to_string(),
        receipt.from.to_string(),
        receipt.to.to_string(),
        receipt.how.name().into(),
        receipt.tally.values().to_string(),
        changed(receipt).to_string(),
        error.map_or_else(|| "0".into(), |Worst { error, .. }| format!("{error:.1e}")),
        bytes(receipt.bytes_staged),
    ]
}

impl fmt::Display for SetReceipt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tensors = self.iter().len();
        let is_converted = |receipt: &Receipt| matches!(receipt.how, How::Converted { .. });
        let converted = self.iter().filter(|(_, receipt)| is_converted(receipt)).count();
        let mut total = Tally::default();
        self.iter().for_each(|(_, receipt)| total.merge(&receipt.tally));
        write!(f, "{tensors} tensor{}", if tensors == 1 { "" } else { "s" })?;
        if converted > 0 {
            write!(f, " ({converted} converted)")?;
        }
        write!(f, ": {} values", total.values())?;
        write_changes(f, &total)?;
        if let Some(name) = self.worst() {
            write!(f, " in {name:?}")?;
        }
        write!(f, "; staged {}", bytes(self.bytes_staged()))?;
        if !f.alternate() {
            return Ok(());
        }
        let mut rows = vec![TITLES.map(String::from)];
        rows.extend(self.iter().map(|(name, receipt)| row(name, receipt)));
        let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
        for row in &rows {
            let mut line = String::new();
            for (column, cell) in row.iter().enumerate() {
                let width = width(column).unwrap_or(0);
                line += &match column < TEXTS {
                    true => format!("  {cell:<width$}"),
                    false => format!("  {cell:>width$}"),
                };
            }
            write!(f, "\n{line}")?;
        }
        let (host, device) = (self.bytes_host(), self.bytes_device());
        write!(f, "\n  {host} bytes on the host, {device} on the device")?;
        write!(f, " in {:.3} ms", self.elapsed.as_secs_f64() * 1e3)
    }
}
