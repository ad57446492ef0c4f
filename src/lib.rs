#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]
// To see that wgpu's types are `Send` is a long way: Rust 1.101 warns of it, and is to refuse it.
#![recursion_limit = "256"]
#![cfg_attr(
    target_arch = "wasm32",
    allow(
        dead_code,
        clippy::arc_with_non_send_sync,
        reason = "nothing waits in a browser, and its GPU objects stay on one thread"
    )
)]

#[cfg(target_endian = "big")]
compile_error!("wharf carries values as they lie in memory, and devices are little-endian");

pub mod adapter;
pub mod caps;
mod choice;
mod clock;
mod count;
pub mod custom;
mod device;
pub mod diagnosis;
pub mod dtype;
mod engine;
mod error;
mod exec;
mod formula;
mod fuse;
mod gpu;
pub mod host;
#[cfg(feature = "io")]
pub mod io;
#[cfg(feature = "testing")]
#[doc(hidden)]
pub mod kernel;
#[cfg(not(feature = "testing"))]
#[expect(unreachable_pub, reason = "tests reach what users do not")]
mod kernel;
mod layout;
pub mod ledger;
mod news;
pub mod op;
pub mod plan;
pub mod profile;
mod proof;
pub mod reference;
pub mod set;
pub mod shadow;
pub mod shape;
mod shared;
mod store;
pub mod tensor;
#[cfg(feature = "testing")]
#[doc(hidden)]
pub mod testing;
mod timeline;
mod transfer;
pub mod tune;
#[cfg(feature = "testing")]
#[doc(hidden)]
pub mod wgsl;
#[cfg(not(feature = "testing"))]
#[expect(unreachable_pub, reason = "tests reach what users do not")]
mod wgsl;

/// What would run to compute a tensor: [`Tensor::explain`].
pub mod explain {
    pub use crate::engine::notes::{Explanation, KernelRun, Watch};
}

/// What is in memory, and what would fit: [`Device::memory`], [`Device::fit`].
pub mod memory {
    #[doc(hidden)] // the program asks for many at once
    pub use crate::store::fit_all;
    pub use crate::store::{DriverMemory, Fit, Memory};
}

pub use adapter::Adapter;
#[doc(hidden)] // the program tells them as the library does
pub use count::bytes;
pub use device::Device;
pub use dtype::{DType, Element};
pub use error::{Error, ErrorKind, Result};
pub use host::{HostArray, HostBytes, HostView, HostViewMut};
pub use layout::Layout;
#[cfg(feature = "ndarray")]
pub use ndarray;
pub use plan::{Plan, Policy};
pub use set::{Shipment, TensorSet};
pub use shape::{Axes, IntoShape, Shape};
pub use tensor::{Other, Scalar, Tensor};
pub use transfer::Receipt;
#[doc(hidden)] // tests and the passport choose a class of kernels
pub use wgsl::Target;
pub use {bytemuck, half, wgpu};
