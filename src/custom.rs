//! What is your own beside what wharf brings: elementwise operations that are fused like any
//! other, [`Formula`], and kernels in WGSL.

pub use crate::formula::{Formula, Operator};
