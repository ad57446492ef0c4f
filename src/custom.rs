//! What is your own beside what wharf brings: elementwise operations that are fused like any
//! other, [`Formula`]; kernels in WGSL, [`Kernel`]; and how both are held to what they promise,
//! [`Formula::check`] and [`Kernel::check`].

mod cause;
mod check;
mod kernel;
mod poses;
mod run;
mod trial;
mod values;

pub use crate::formula::{Formula, Operator};
pub use check::{CheckReport, Contract, Difference};
pub use kernel::Kernel;
pub use run::Run;
