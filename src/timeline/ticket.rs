//! A dispatch, as far as its time is concerned.

use core::panic::Location;

/// A dispatch, or equal ones in a row, as far as their time is concerned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ticket {
    /// How many.
    pub(crate) count: u64,
    pub(crate) kernel: &'static str,
    /// The line of the caller's that asked for it.
    pub(crate) line: &'static Location<'static>,
    /// What each binds.
    pub(crate) bytes: u64,
    /// Multiplications and additions of each; 0 where they are not known.
    pub(crate) flops: u64,
}

impl Ticket {
    /// Takes an equal dispatch that comes next.
    pub(super) fn takes(&mut self, next: &Self) -> bool {
        let equal = *self == Self { count: self.count, ..*next };
        self.count += if equal { next.count } else { 0 };
        equal
    }
}
