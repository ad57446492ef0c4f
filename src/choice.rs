//! Which adapter is taken, and why each of the others is not: a pure function of what there is.
//!
//! An adapter is never taken silently. Software ones are taken only when somebody asked for
//! software, and a name that matches nothing is an error that lists what there is - never another
//! adapter.

use core::fmt;

use crate::caps::{Backend, Caps, DeviceType};
use crate::plan::{Reason, unfit};

/// What is being looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// The best hardware; software too if `software`.
    Best { software: bool },
    /// The one this text names: index, part of the name, vendor or backend.
    Named { text: String, from_env: bool },
}

/// Whether an adapter was taken, or why not.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// This is the one.
    Chosen,
    /// It cannot run wharf's kernels.
    Unfit(Reason),
    /// It is a program on the CPU, and nobody asked for one.
    Software,
    /// It does not match what was asked for.
    NotNamed {
        /// What was asked for.
        text: String,
    },
    /// Another one is preferred.
    After {
        /// The name of that one.
        name: String,
        /// Why that one.
        because: &'static str,
    },
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Chosen => f.write_str("chosen"),
            Self::Unfit(reason) => write!(f, "unfit: {reason}"),
            Self::Software => f.write_str("software, and none was asked for"),
            Self::NotNamed { text } => write!(f, "does not match {text:?}"),
            Self::After { name, because } => write!(f, "after {name}: {because}"),
        }
    }
}

/// Whether a text names an adapter: by its index, or by a part of its name, vendor, driver,
/// backend, kind or place on the bus. Words are matched one by one, so that `"vulkan llvmpipe"`
/// narrows down; a number that is no index of `count` adapters is a whole word of a name, such as
/// `"4090"`.
fn names(text: &str, (index, count): (usize, usize), caps: &Caps) -> bool {
    let id = &caps.identity;
    let haystack = format!(
        "{} {} {} {} {} {} {}",
        id.name,
        id.vendor_name().unwrap_or(""),
        id.driver,
        id.driver_info,
        id.backend.name(),
        id.device_type.name(),
        id.pci_bus
    )
    .to_lowercase();
    let text = text.trim().to_lowercase();
    if let Ok(number) = text.parse::<usize>() {
        let mut words = id.name.split(|c: char| c != '.' && !c.is_alphanumeric());
        return number == index || number >= count && words.any(|word| word == text);
    }
    !text.is_empty() && text.split_whitespace().all(|word| haystack.contains(word))
}

/// Lower is better: hardware with memory of its own first, then the most capable way to it.
const fn rank(caps: &Caps) -> (usize, usize) {
    (caps.identity.device_type as usize, caps.identity.backend as usize)
}

/// Whether the choice is made before GL is asked: nothing of GL comes before a discrete adapter of
/// another backend.
pub(crate) fn is_settled<'a>(
    mut adapters: impl Iterator<Item = &'a Caps>,
    wanted: &Wanted,
) -> bool {
    let first = |caps: &Caps| {
        let id = &caps.identity;
        id.device_type == DeviceType::Discrete && id.backend != Backend::Gl && unfit(caps).is_none()
    };
    matches!(wanted, Wanted::Best { .. }) && adapters.any(first)
}

/// One verdict per adapter, at most one of them [`Verdict::Chosen`].
pub(crate) fn choose(adapters: &[Caps], wanted: &Wanted) -> Vec<Verdict> {
    let mut verdicts: Vec<Option<Verdict>> = (adapters.iter().enumerate())
        .map(|(index, caps)| match wanted {
            Wanted::Named { text, .. } if !names(text, (index, adapters.len()), caps) => {
                Some(Verdict::NotNamed { text: text.clone() })
            }
            _ => unfit(caps).map(Verdict::Unfit),
        })
        .collect();
    if let Wanted::Best { software: false } = wanted {
        for (verdict, caps) in verdicts.iter_mut().zip(adapters) {
            let software = verdict.is_none() && caps.identity.is_software();
            *verdict = if software { Some(Verdict::Software) } else { verdict.take() };
        }
    }
    let open = (0..adapters.len()).filter(|&i| verdicts[i].is_none());
    let chosen = open.min_by_key(|&i| rank(&adapters[i]));
    let after = |index: usize| {
        let (this, best) = (rank(&adapters[index]), chosen.map(|c| rank(&adapters[c])));
        let because = match best {
            Some(best) if best.0 < this.0 => "its kind comes first",
            Some(best) if best.1 < this.1 => "its backend comes first",
            _ => "it is listed first",
        };
        let name = chosen.map_or_else(String::new, |c| {
            let id = &adapters[c].identity;
            format!("{} ({})", id.name, id.backend.name())
        });
        Verdict::After { name, because }
    };
    (verdicts.into_iter().enumerate())
        .map(|(i, verdict)| match verdict {
            _ if Some(i) == chosen => Verdict::Chosen,
            Some(verdict) => verdict,
            None => after(i),
        })
        .collect()
}

#[cfg(test)]
mod tests;
