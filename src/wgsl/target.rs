//! What the adapter executes on.

/// What the adapter executes on: the same kernel walks memory differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// A software adapter: few lanes, and each group walks a run of its own.
    Cpu,
    /// A software adapter with `shader-int64`: whole quads are loaded as 64-bit integers, because
    /// llvmpipe takes as long for a narrow load as for a wide one.
    Cpu64,
    /// A GPU: neighbouring lanes take neighbouring quads.
    Gpu,
}

impl Target {
    /// Invocations per workgroup of the streaming kernels.
    #[must_use]
    pub const fn workgroup(self) -> u32 {
        match self {
            // One SIMD vector of llvmpipe. More lanes would be several vectors, one after the other
            // in every trip of a loop.
            Self::Cpu | Self::Cpu64 => 8,
            Self::Gpu => 256,
        }
    }
}
