//! What is your own beside what wharf brings: elementwise operations that are fused like any
//! other, [`Formula`]; how they are held to what they promise, [`Formula::check`]; and kernels in
//! WGSL, [`Kernel`].

mod cause;
mod check;
mod kernel;
mod poses;
mod run;
mod values;

pub use crate::formula::{Formula, Operator};
pub use check::{Contract, Difference, Findings};
pub use kernel::Kernel;
pub use run::Run;
