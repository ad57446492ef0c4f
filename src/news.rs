//! News: what is worth a line of the log, in one shape, under a target for each topic.
//!
//! ```text
//! subject: what happened (asked for at file:line:column)
//! ```
//!
//! Where nobody listens, nothing is put together: the most verbose level that anybody wants is one
//! number, which `log` looks at first.

use core::fmt;
use core::panic::Location;

pub(crate) use log::Level;

/// What a line is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Topic {
    Device,
    Pipeline,
    Copy,
    Memory,
    Fallback,
    Crossing,
    Tune,
    Profile,
    Shadow,
    Dump,
    Watchdog,
}

/// The targets, in the order of the topics. The README has what each says.
const TARGETS: [&str; 11] = [
    "wharf::device",
    "wharf::pipeline",
    "wharf::copy",
    "wharf::memory",
    "wharf::fallback",
    "wharf::crossing",
    "wharf::tune",
    "wharf::profile",
    "wharf::shadow",
    "wharf::dump",
    "wharf::watchdog",
];

impl Topic {
    const fn target(self) -> &'static str {
        TARGETS[self as usize]
    }

    /// Says what happened to a subject.
    pub(crate) fn tell(self, level: Level, subject: impl fmt::Display, what: impl fmt::Display) {
        log::log!(target: self.target(), level, "{subject}: {what}");
    }

    /// Like `tell`, and names the line of the caller's that asked for it, where that is known.
    pub(crate) fn tell_at(
        self,
        level: Level,
        subject: impl fmt::Display,
        what: impl fmt::Display,
        line: Option<&'static Location<'static>>,
    ) {
        match line {
            Some(line) => self.tell(level, subject, format_args!("{what} (asked for at {line})")),
            None => self.tell(level, subject, what),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Who must not be asked what it says.
    struct Costly;

    impl fmt::Display for Costly {
        fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
            panic!("put together, and nobody listens")
        }
    }

    /// No logger is installed here.
    #[test]
    fn where_nobody_listens_nothing_is_put_together() {
        Topic::Pipeline.tell(Level::Error, Costly, Costly);
        Topic::Copy.tell_at(Level::Error, "x", Costly, Some(Location::caller()));
    }

    /// Every topic has its row in the README, and there are no others.
    #[test]
    fn the_readme_has_every_target() {
        let rows = include_str!("../README.md").lines().filter_map(|row| {
            row.strip_prefix("| `wharf::")?.split_once('`').map(|(name, _)| name)
        });
        let known = TARGETS.iter().filter_map(|target| target.strip_prefix("wharf::"));
        assert!(rows.eq(known), "the table of targets is another");
        assert_eq!(Topic::Watchdog.target(), TARGETS[TARGETS.len() - 1], "in order");
        assert_eq!(Topic::Fallback.target(), "wharf::fallback", "in order");
    }
}
