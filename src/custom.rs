//! What is your own beside what wharf brings: elementwise operations that are fused like any
//! other, [`Formula`], and how they are held to what they promise, [`Formula::check`].

mod check;
mod lies;
mod values;

pub use crate::formula::{Formula, Operator};
pub use check::{Contract, Difference, Verdict};
