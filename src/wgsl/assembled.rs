//! What assembly gives: a text, what its pipeline is made with, and where its lines came from.

use core::hash::{Hash, Hasher};
use std::hash::DefaultHasher;
use std::sync::Arc;

use super::needs::Needs;

/// A kernel's text and what its pipeline is made with.
#[derive(Clone, Debug)]
pub struct Assembled {
    /// The kernel's name.
    pub name: &'static str,
    /// Its entry point.
    pub entry: &'static str,
    /// The text.
    pub wgsl: Arc<str>,
    /// Capabilities beyond the baseline.
    pub needs: Needs,
    /// Whether it clears its workgroup memory itself.
    pub clears: bool,
    /// The hash of the text, by which its pipeline is found.
    pub hash: u64,
    pub(super) lines: Lines,
}

impl Assembled {
    /// A text that was not assembled: somebody else's.
    pub(super) fn own(name: &'static str, entry: &'static str, wgsl: String, needs: Needs) -> Self {
        let (hash, lines, needs) = (hash(&wgsl), Lines::default(), needs.union(Needs::CHECKS));
        Self { name, entry, wgsl: wgsl.into(), needs, clears: false, hash, lines }
    }

    /// A text that was assembled elsewhere, as it was.
    pub(crate) fn replayed(wgsl: String, needs: Needs, clears: bool) -> Self {
        Self { clears, ..Self::own("replay", "main", wgsl, needs) }
    }

    /// Where a line of the text (from 1) comes from: `shaders/transpose.wgsl:12`.
    #[must_use]
    pub fn origin(&self, line: u32) -> String {
        self.lines.origin(line)
    }
}

/// The number by which a text is found.
pub(super) fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// Which lines came from where.
#[derive(Clone, Debug, Default)]
pub(super) struct Lines(pub(super) Vec<Span>);

#[derive(Clone, Debug)]
pub(super) struct Span {
    /// The first line in the text, from 1.
    pub(super) first: u32,
    pub(super) path: &'static str,
    /// Its number in the file.
    pub(super) line: u32,
}

impl Lines {
    /// The parts that lie in files, of a text of `count` lines: path, first and last line there.
    #[cfg(feature = "testing")]
    pub(super) fn files(&self, count: u32) -> impl Iterator<Item = (&'static str, u32, u32)> {
        let ends = self.0.iter().skip(1).map(|next| next.first).chain([count + 1]);
        let parts = self.0.iter().zip(ends).filter(|(span, _)| !span.path.is_empty());
        parts.map(|(span, end)| (span.path, span.line, span.line + end - span.first - 1))
    }

    fn origin(&self, line: u32) -> String {
        match self.0.iter().rev().find(|span| span.first <= line) {
            Some(span) if !span.path.is_empty() => {
                format!("shaders/{}:{}", span.path, span.line + line - span.first)
            }
            _ => format!("generated:{line}"),
        }
    }
}
