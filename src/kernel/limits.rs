//! How far the arithmetic of kernels reaches: 32 bits, and as many axes as a shape has.

use crate::error::{Error, Result, mistake};
use crate::gpu::cause::DeviceCause;

/// The most of something that a kernel takes.
#[derive(Clone, Copy)]
pub(super) struct Ceiling {
    pub(super) what: &'static str,
    pub(super) limit: &'static str,
    pub(super) unit: &'static str,
    pub(super) available: u64,
}

/// Positions are words, with room for the last quad.
const INDEXED: Ceiling = Ceiling {
    what: "an indexed tensor",
    limit: "the reach of an index",
    unit: "elements",
    available: u32::MAX as u64 - 3,
};

impl Ceiling {
    /// Refuses more than that.
    pub(super) fn check(self, requested: u128) -> Result<()> {
        if requested <= u128::from(self.available) { Ok(()) } else { Err(self.passed(requested)) }
    }

    /// The error for so much.
    pub(super) fn passed(self, requested: u128) -> Error {
        let Self { what, limit, unit, available } = self;
        DeviceCause::TooLarge { what, requested, limit, available, unit }.into()
    }
}

/// Checks that positions in so many elements are words.
pub(crate) fn index_space(elements: usize) -> Result<()> {
    INDEXED.check(elements as u128)
}

/// A mistake: a shape has at most as many axes as an index space.
pub(super) fn too_deep() -> Error {
    mistake("an index space", "more axes than a shape has")
}
