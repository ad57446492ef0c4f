//! The verdict on the machine: one word, one line, one exit code.

use wharf::adapter::Listing;
use wharf::plan::How;
use wharf::{DType, Device, Result};

use super::passport::crossing::{Crossing, End};
use super::table::{Tone, clean, shorten};

/// What to do about data that came back wrong.
pub(crate) const REMEDY_BROKEN: &str = "update the driver, or try another adapter or backend \
     (--adapter, WGPU_BACKEND); please report it with this output";

/// The verdict on a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Each dtype crosses bit-exact.
    Healthy,
    /// Each dtype that the adapter can store crosses; the others are refused, as planned.
    Usable,
    /// There is no adapter, or none that may be used.
    NoAdapter,
    /// An adapter was chosen and did not open.
    Closed,
    /// Something did not cross that should.
    Failing,
    /// What was submitted is not done, however long one waits.
    Stuck,
    /// Something came back wrong.
    Broken,
}

impl Verdict {
    pub(crate) fn of(listing: &Listing, opened: &Result<Device>, crossings: &[Crossing]) -> Self {
        match opened {
            Err(_) if listing.chosen().is_none() => Self::NoAdapter,
            Err(_) => Self::Closed,
            Ok(_) if crossings.iter().any(|c| matches!(c.end, End::Wrong(_))) => Self::Broken,
            Ok(_) if crossings.iter().any(Crossing::is_stuck) => Self::Stuck,
            Ok(_) if !crossings.iter().all(Crossing::is_ok) => Self::Failing,
            Ok(device) if device.plan().carriages().iter().any(|c| c.how == How::Rejected) => {
                Self::Usable
            }
            Ok(_) => Self::Healthy,
        }
    }

    /// The word for machines.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Healthy => "healthy",
            Self::Usable => "usable",
            _ => "none",
        }
    }

    pub(crate) const fn exit_code(self) -> u8 {
        match self {
            Self::Healthy => 0,
            Self::Usable => 1,
            _ => 2,
        }
    }

    pub(crate) const fn tone(self) -> Tone {
        match self {
            Self::Healthy => Tone::Good,
            Self::Usable => Tone::Caution,
            _ => Tone::Bad,
        }
    }

    /// The line for people.
    pub(crate) fn line(self, opened: &Result<Device>, crossings: &[Crossing]) -> String {
        let place = opened.as_ref().map_or_else(
            |_| String::new(),
            |device| {
                let id = &device.caps().identity;
                format!("{} ({})", shorten(&clean(&id.name), 40), id.backend.name())
            },
        );
        let names = |keep: &dyn Fn(&Crossing) -> bool| {
            let mut names: Vec<String> = Vec::new();
            for crossing in crossings.iter().filter(|c| keep(c)) {
                let name = crossing.name();
                names.extend((!names.contains(&name)).then_some(name));
            }
            names
        };
        let refused = names(&|c| matches!(c.end, End::Refused(_)));
        let (all, stored) = (DType::ALL.len(), DType::ALL.len().saturating_sub(refused.len()));
        match self {
            Self::Healthy => format!("healthy: all {all} dtypes cross bit-exact on {place}"),
            Self::Usable => format!(
                "usable (with refusals): {stored} of {all} dtypes cross bit-exact; {} only if \
                 converted",
                refused.join(", ")
            ),
            Self::NoAdapter => "no usable adapter".into(),
            Self::Closed => "no usable adapter: the chosen one does not open".into(),
            Self::Failing => {
                let failed = names(&|c| !c.is_ok()).join(", ");
                format!("no usable adapter: {place} fails to carry {failed}")
            }
            Self::Stuck => format!("NO USABLE ADAPTER: {place} NEVER FINISHES what it is given"),
            Self::Broken => {
                let damaged = names(&|c| matches!(c.end, End::Wrong(_))).join(", ");
                format!("NO USABLE ADAPTER: {place} DAMAGES DATA: {damaged}")
            }
        }
    }
}
