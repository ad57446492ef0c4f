//! The table of cases.

mod carriage;
mod crossing;
mod probe;

use wharf::Adapter;

use crate::ctx::Case;

/// Every case that makes sense on this adapter.
pub(crate) fn all(adapter: &Adapter) -> Vec<Case> {
    let mut cases = Vec::new();
    cases.extend(crossing::cases(adapter));
    cases.extend(carriage::cases());
    cases
}
