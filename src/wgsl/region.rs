//! Regions: what is written into a kernel's file, and what that needs.

use super::needs::Needs;
use super::source::Source;

/// What replaces a region of a kernel file. Several of one name follow each other.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Region {
    pub(super) name: &'static str,
    pub(super) filling: Filling,
    pub(super) needs: Needs,
}

/// What a region is replaced by.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Filling {
    /// This text.
    Text(String),
    /// A file, less what it stands on when it is read alone.
    File(Source),
}

impl Region {
    /// Replaced by a text that baseline WebGPU can do.
    #[must_use]
    pub fn text(name: &'static str, text: impl Into<String>) -> Self {
        Self { name, filling: Filling::Text(text.into()), needs: Needs::NONE }
    }

    /// Replaced by a file, with its needs.
    #[must_use]
    pub const fn file(name: &'static str, source: Source) -> Self {
        Self { name, filling: Filling::File(source), needs: source.needs }
    }

    /// With these needs too.
    #[must_use]
    pub fn needing(self, needs: Needs) -> Self {
        Self { needs: self.needs.union(needs), ..self }
    }
}
