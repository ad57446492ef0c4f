//! How fast an adapter is: a few things, each measured within a second and judged once.

mod cases;
mod fma;
mod measure;

pub(crate) use cases::{CASES, Scene};
pub(crate) use measure::Measured;
