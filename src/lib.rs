#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![cfg_attr(
    target_arch = "wasm32",
    allow(
        dead_code,
        clippy::arc_with_non_send_sync,
        reason = "nothing waits in a browser, and its GPU objects stay on one thread"
    )
)]

mod adapter;
pub mod caps;
mod choice;
mod clock;
mod count;
mod device;
mod diagnosis;
mod dtype;
mod engine;
mod error;
mod exec;
mod fuse;
mod gpu;
mod host;
#[doc(hidden)]
pub mod kernel;
mod layout;
mod ledger;
pub mod op;
mod plan;
pub mod reference;
mod set;
mod shape;
mod store;
mod tensor;
#[cfg(all(feature = "testing", not(target_arch = "wasm32")))]
#[doc(hidden)]
pub mod testing;
mod transfer;
mod tune;
#[doc(hidden)]
pub mod wgsl;

pub use adapter::{Adapter, Listed, Listing};
pub use choice::Verdict;
pub use device::Device;
pub use diagnosis::{Finding, Obstacle};
pub use dtype::{Class, DType, Element};
pub use engine::sketch::{Explanation, Kernel};
pub use error::{Error, ErrorKind, Result};
pub use host::{HostView, HostViewMut, Tally, Worst};
pub use kernel::matmul::tuned::Problem;
pub use layout::Layout;
pub use ledger::{Crossing, CrossingGuard, Crossings, Direction, Ledger, Total};
pub use op::{Op, Reduction};
pub use plan::{Carriage, How, Permission, Plan, Policy, Reason, negotiate};
pub use set::{Progress, SetIter, SetReceipt, Shipment, TensorSet};
pub use shape::{Axes, IntoShape, RANK_MAX, Shape};
pub use store::{Fit, Memory};
pub use tensor::{Attention, Key, Other, Pad, Quantised, Rounding, Scalar, Tensor, Weight};
pub use transfer::Receipt;
pub use tune::{Outcome, Trial, Tuned};
pub use wgsl::Target;
pub use {half, wgpu};
