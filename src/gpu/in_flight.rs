//! Uploads that are submitted and not known to be done.

use std::collections::VecDeque;

/// Uploads that may be submitted and not yet known to be done: bounds the host memory of staging.
const UPLOADS_MAX: usize = 8;

/// They have running numbers: while somebody waits for those that there were, others are waited for
/// and forgotten, and new ones come.
#[derive(Debug)]
pub(super) struct InFlight<T> {
    newest: u64,
    uploads: VecDeque<(u64, T)>,
}

impl<T> Default for InFlight<T> {
    fn default() -> Self {
        Self { newest: 0, uploads: VecDeque::new() }
    }
}

impl<T> InFlight<T> {
    /// One more, and the oldest, which has to be waited for, if that is one too many.
    pub(super) fn push(&mut self, upload: T) -> Option<(u64, T)> {
        self.newest += 1;
        self.uploads.push_back((self.newest, upload));
        if self.uploads.len() > UPLOADS_MAX { self.uploads.pop_front() } else { None }
    }

    /// What was waited for in vain is in flight still.
    pub(super) fn put_back(&mut self, oldest: (u64, T)) {
        self.uploads.push_front(oldest);
    }

    /// The number of the newest, where there are so many that a few more would block.
    pub(super) fn crowd(&self) -> Option<u64> {
        (self.uploads.len() >= UPLOADS_MAX / 2).then_some(self.newest)
    }

    /// All up to this one are done.
    pub(super) fn arrived(&mut self, newest: u64) {
        self.uploads.retain(|(number, _)| *number > newest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers of those that are in flight.
    fn numbers(uploads: &InFlight<char>) -> Vec<u64> {
        uploads.uploads.iter().map(|(number, _)| *number).collect()
    }

    #[test]
    fn what_came_while_others_were_waited_for_is_in_flight() {
        let mut uploads = InFlight::default();
        for name in ['a', 'b', 'c'] {
            assert_eq!(uploads.push(name), None);
        }
        assert_eq!(uploads.crowd(), None, "a few more would not block");
        assert_eq!(uploads.push('d'), None);
        let crowd = uploads.crowd().expect("a few more would block");
        // Meanwhile another thread waits for the two oldest, and sends six.
        let waited: Vec<_> = "efghij".chars().filter_map(|name| uploads.push(name)).collect();
        assert_eq!(waited, [(1, 'a'), (2, 'b')], "the oldest first");
        uploads.arrived(crowd);
        assert_eq!(numbers(&uploads), [5, 6, 7, 8, 9, 10], "those that came meanwhile");
    }

    #[test]
    fn what_was_waited_for_in_vain_is_in_flight_still() {
        let mut uploads = InFlight::default();
        let full: Vec<_> = "abcdefghij".chars().filter_map(|name| uploads.push(name)).collect();
        let crowd = uploads.crowd().expect("there are as many as can be");
        for oldest in full {
            uploads.put_back(oldest);
        }
        assert_eq!(uploads.push('k').map(|oldest| oldest.1), Some('b'), "the last that came back");
        uploads.arrived(crowd);
        assert_eq!(numbers(&uploads), [11], "whatever the order in which they came back");
    }
}
