//! Where work is recorded: a device, and the class of kernels that it runs.

use super::Engine;
use crate::wgsl::Target;

/// A device and what its kernels are written for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Site<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) target: Target,
}
