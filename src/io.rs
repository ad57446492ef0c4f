//! Tensors in files: published weights on their way to a device, and back.
//!
//! Only the header of a file is read when it is opened, and all of it is checked before anything is
//! allocated for a tensor: a file that is cut short, that overlaps itself or that promises absurd
//! shapes is an error of kind [`File`](crate::ErrorKind::File), which names both numbers. What it
//! holds then goes to a device as a [`Shipment`](crate::Shipment): every tensor is negotiated and
//! has its memory before a byte moves, and all of it arrives or nothing does.
//!
//! A file is read by `std::fs::File`, half a MiB at a time, and is not mapped into memory: a map
//! needs `unsafe`, which this library forbids, and its pages would count as memory of the process.
//! So no more of a file is ever in the process than what is being staged. Where there are no files,
//! as in a browser, a program brings the bytes itself: [`Archive::from_bytes`].
//!
//! Each format is a feature of the crate: `safetensors`, `npy`, `npz` (deflated members are only
//! read), `gguf` (which is only read).
//!
//! ```
//! # wharf::testing::example(async |device| {
//! use wharf::io::Archive;
//! use wharf::{DType, TensorSet};
//!
//! let mut set = TensorSet::new();
//! set.insert("weight", device.ones([3, 2], DType::F32)?)?;
//! let path = std::env::temp_dir().join(format!("wharf-{}.safetensors", std::process::id()));
//! set.save(&path)?; // streamed down, and named so only when it is whole
//!
//! let archive = Archive::open(&path)?; // the header, checked
//! assert_eq!(archive.tensors()[0].shape().dims(), [3, 2]);
//! let half = archive.shipment_as(|tensor| tensor.dtype().map(|_| DType::F16))?;
//! let (set, receipt) = device.upload_set(&half)?; // converted while it is staged
//! assert!(receipt.is_exact() && set.get("weight").is_some(), "{receipt:#}");
//! # std::fs::remove_file(&path).unwrap();
//! # Ok(()) });
//! ```

mod archive;
mod cause;
mod entry;
mod file;
#[cfg(feature = "gguf")]
mod gguf;
#[cfg(feature = "npy")]
mod npy;
#[cfg(feature = "npz")]
mod npz;
mod remark;
#[cfg(feature = "safetensors")]
mod safetensors;
#[cfg(all(feature = "safetensors", not(target_family = "wasm")))]
mod save;
#[cfg(feature = "safetensors")]
mod shards;
#[cfg(all(any(feature = "safetensors", feature = "npy"), not(target_family = "wasm")))]
mod unfinished;

pub use archive::Archive;
pub use entry::FileTensor;
pub use remark::Remark;
