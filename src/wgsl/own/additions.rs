//! What is put into a text of the user's own without moving a line of it.

/// Parts by the places of the text before which they go, and what goes behind it.
#[derive(Debug, Default)]
pub(super) struct Additions {
    parts: Vec<(usize, String)>,
    behind: String,
}

impl Additions {
    pub(super) fn insert(&mut self, at: usize, part: impl Into<String>) {
        self.parts.push((at, part.into()));
    }

    pub(super) fn append(&mut self, text: &str) {
        self.behind.push_str(text);
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Both of the same text.
    pub(super) fn and(mut self, other: Self) -> Self {
        self.parts.extend(other.parts);
        self.behind.push_str(&other.behind);
        self
    }

    /// The text with all of it.
    pub(super) fn applied(mut self, text: &str) -> String {
        let mut whole = text.to_owned();
        // The last first, so that the places of the others stay.
        self.parts.sort_by_key(|(at, _)| core::cmp::Reverse(*at));
        self.parts.iter().for_each(|(at, part)| whole.insert_str(*at, part));
        whole + &self.behind
    }
}
