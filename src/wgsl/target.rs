//! What the adapter executes on.

/// What the adapter executes on: the same kernel walks memory differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// A software adapter: few lanes, and groups that each have a contiguous run of their own.
    Cpu,
    /// The same with `shader-int64`: whole quads are loaded as 64-bit integers, because llvmpipe
    /// pays by the load.
    Cpu64,
    /// A GPU: neighbouring lanes take neighbouring quads.
    Gpu,
}

impl Target {
    /// Invocations per workgroup of the streaming kernels.
    #[must_use]
    pub const fn workgroup(self) -> u32 {
        match self {
            // One SIMD vector of llvmpipe; more lanes are swept one vector after the other, trip by
            // trip.
            Self::Cpu | Self::Cpu64 => 8,
            Self::Gpu => 256,
        }
    }
}
