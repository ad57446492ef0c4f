//! What can be wrong with a set as a whole.

use core::fmt;
use std::sync::Arc;

use crate::error::{Cause, Error, ErrorKind};

#[derive(Debug)]
pub(super) enum SetCause {
    Duplicate {
        name: Arc<str>,
    },
    /// Of so many names the nearest.
    Missing {
        name: String,
        of: usize,
        near: Vec<Arc<str>>,
    },
    /// Several of `of` tensors are refused: each reason with the tensors that it applies to.
    Refused {
        of: usize,
        reasons: Vec<(Error, Vec<Arc<str>>)>,
    },
}

/// The context of an error of one tensor of a set.
pub(super) fn of(name: &str) -> String {
    format!("tensor {name:?}")
}

/// The error of a set of `of` tensors, some of which are refused. One refusal stays as it is.
pub(super) fn refused(of: usize, refusals: Vec<(Arc<str>, Error)>) -> Error {
    let mut reasons: Vec<(Error, Vec<Arc<str>>)> = Vec::new();
    for (name, error) in refusals {
        let text = error.to_string();
        match reasons.iter_mut().find(|(known, _)| known.to_string() == text) {
            Some((_, names)) => names.push(name),
            None => reasons.push((error, vec![name])),
        }
    }
    match &reasons[..] {
        [(error, names)] if names.len() == 1 => error.clone().during(self::of(&names[0])),
        _ => SetCause::Refused { of, reasons }.into(),
    }
}

impl fmt::Display for SetCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Duplicate { name } => write!(f, "the name {name:?} is taken in this set"),
            Self::Missing { name, .. } => write!(f, "there is no tensor {name:?}"),
            Self::Refused { of, reasons } => {
                let refused: usize = reasons.iter().map(|(_, names)| names.len()).sum();
                write!(f, "{refused} of {of} tensors are refused: ")?;
                for (i, (error, names)) in reasons.iter().enumerate() {
                    let mut named: Vec<String> =
                        names.iter().take(3).map(|name| format!("{name:?}")).collect();
                    let more = names.len().saturating_sub(3);
                    named.extend((more > 0).then(|| format!("{more} more")));
                    let between = if i == 0 { "" } else { "; " };
                    write!(f, "{between}{} ({error})", named.join(", "))?;
                }
                Ok(())
            }
        }
    }
}

impl Cause for SetCause {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Duplicate { .. } => ErrorKind::Mismatch,
            Self::Missing { .. } => ErrorKind::Missing,
            Self::Refused { reasons, .. } => {
                reasons.first().map_or(ErrorKind::Mismatch, |(error, _)| error.kind())
            }
        }
    }

    fn help(&self) -> Option<String> {
        match self {
            Self::Duplicate { .. } => Some("give each tensor of a set a name of its own".into()),
            Self::Missing { of: 0, .. } => Some("the set is empty".into()),
            Self::Missing { of, near, .. } => {
                let near: Vec<String> = near.iter().map(|name| format!("{name:?}")).collect();
                Some(format!("of {of} names these are nearest: {}", near.join(", ")))
            }
            Self::Refused { reasons, .. } => {
                let mut helps: Vec<String> = Vec::new();
                for help in reasons.iter().filter_map(|(error, _)| error.help()) {
                    if !helps.contains(&help) {
                        helps.push(help);
                    }
                }
                (!helps.is_empty()).then(|| helps.join("\n"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::mistake;

    /// Each reason once, and the kind is that of the first.
    #[test]
    fn a_set_is_refused_for_its_first_reason() {
        let own = || mistake("a test", "on purpose");
        let refusals = [("a", Error::missing("x")), ("b", own()), ("c", Error::missing("x"))];
        let [first, last] = [&refusals[0].1, &refusals[1].1].map(Error::kind);
        assert_ne!(first, last, "kinds that differ");
        let error = refused(4, refusals.map(|(name, error)| (name.into(), error)).into());
        let text = error.to_string();
        assert_eq!(error.kind(), first, "{text}");
        assert_eq!(text.matches("\"x\"").count(), 1, "{text}");
    }
}
