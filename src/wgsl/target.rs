//! What the adapter executes on.

use crate::caps::{Caps, Feature};

/// Lanes of a vector of llvmpipe.
pub(crate) const VECTOR: u32 = 8;

/// Whether a subgroup is exactly a vector: then its lanes can load together.
pub(crate) fn shares(caps: &Caps) -> bool {
    caps.subgroup_exact() == Some(VECTOR.into())
}

/// What the adapter executes on: the same kernel walks memory differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// A software adapter: few lanes, and each group walks a run of its own.
    Cpu,
    /// A software adapter with `shader-int64`: whole quads are loaded as 64-bit integers, because a
    /// narrow load takes as long as a wide one, in llvmpipe before Mesa 24 and without a gather.
    Cpu64,
    /// Like [`Target::Cpu64`], but lanes load in turn, each a load that all lanes make: of one
    /// place for all, which is a plain load where a driver would gather.
    CpuByLane,
    /// A GPU: neighbouring lanes take neighbouring quads.
    Gpu,
}

impl Target {
    /// What an adapter executes on.
    pub(crate) fn of(caps: &Caps) -> Self {
        let software = caps.identity.is_software();
        let gathers = caps.identity.is_later_llvmpipe() && caps.has(Feature::Gather);
        match software && caps.has(Feature::ShaderInt64) && !gathers {
            true => Self::Cpu64,
            false if software => Self::Cpu,
            false => Self::Gpu,
        }
    }

    /// It, or the nearest that the adapter has what it takes for.
    pub(crate) fn within(self, caps: &Caps) -> Self {
        let wide = caps.has(Feature::ShaderInt64);
        match self {
            Self::CpuByLane if wide && shares(caps) => self,
            Self::CpuByLane | Self::Cpu64 if wide => Self::Cpu64,
            Self::CpuByLane | Self::Cpu64 => Self::Cpu,
            _ => self,
        }
    }

    /// Whether quads are loaded as 64-bit integers.
    pub(crate) const fn is_wide(self) -> bool {
        matches!(self, Self::Cpu64 | Self::CpuByLane)
    }

    /// Of kernels that load little, each of it once and all of it in a row. Where words are
    /// gathered as fast as halves of them, they are.
    #[doc(hidden)]
    #[must_use]
    pub fn of_streams(self, caps: &Caps) -> Self {
        match self {
            Self::Cpu if caps.has(Feature::GatherWide) => Self::Cpu64.within(caps),
            _ => self.of_walks(caps),
        }
    }

    /// Of kernels that load little, but walk it several times or by columns. What loads much would
    /// fill the registers in turn, and LLVM before 22 may then take a wrong one:
    /// `docs/measured/drivers.md`.
    pub(crate) fn of_walks(self, caps: &Caps) -> Self {
        match self {
            Self::Cpu64 if caps.identity.fuses() && !caps.has(Feature::Gather) => {
                Self::CpuByLane.within(caps)
            }
            _ => self,
        }
    }

    /// Of products, which load the same for many lanes: there, wide loads pay on every llvmpipe.
    pub(crate) fn of_products(self, caps: &Caps) -> Self {
        match self {
            Self::Cpu if caps.has(Feature::ShaderInt64) && caps.identity.is_later_llvmpipe() => {
                Self::Cpu64
            }
            _ => self,
        }
    }

    /// Of products whose loads each serve many rows. Where `fma` is one instruction, half of a wide
    /// gather lies in a register of 512 bits, which costs one of the two units that multiply.
    pub(crate) fn of_tiles(self, caps: &Caps) -> Self {
        if caps.identity.fuses() { self } else { self.of_products(caps) }
    }

    /// Invocations per workgroup of the streaming kernels.
    #[doc(hidden)]
    #[must_use]
    pub const fn workgroup(self) -> u32 {
        match self {
            // One SIMD vector of llvmpipe. More lanes would be several vectors, one after the other
            // in every trip of a loop.
            Self::Cpu | Self::Cpu64 | Self::CpuByLane => VECTOR,
            Self::Gpu => 256,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::caps::fixtures;

    #[test]
    fn quads_are_loaded_as_the_driver_likes_it() {
        let mut later = fixtures::lavapipe();
        later.identity.driver_info = "Mesa 25.0.7 (LLVM 19.1.7)".into();
        let without = later.clone().without(Feature::ShaderInt64);
        let mut gathers = later.clone();
        gathers.features = gathers.features.with(Feature::Gather);
        let newest_of = |caps: &Caps| {
            let mut caps = caps.clone();
            caps.identity.driver_info = "Mesa 26.2.6 (LLVM 22.1.8)".into();
            caps
        };
        let mut wide_too = gathers.clone();
        wide_too.features = wide_too.features.with(Feature::GatherWide);
        let (newest, newest_gathers) = (newest_of(&later), newest_of(&wide_too));
        let mut of_four = newest.clone();
        (of_four.limits.subgroup_min, of_four.limits.subgroup_max) = (4, 4);
        let narrow = newest.clone().without(Feature::ShaderInt64);
        let each = |caps: &Caps| {
            let target = Target::of(caps);
            let streams = target.of_streams(caps);
            assert_eq!(streams.of_streams(caps), streams, "asked twice");
            [
                target,
                streams,
                target.of_walks(caps),
                target.of_products(caps),
                target.of_tiles(caps),
            ]
        };
        let (plain, wide, by_lane) = (Target::Cpu, Target::Cpu64, Target::CpuByLane);
        for (caps, want) in [
            (fixtures::lavapipe(), [wide; 5]),
            (later, [wide; 5]),
            (gathers, [plain, plain, plain, wide, wide]),
            (newest, [wide, by_lane, by_lane, wide, wide]),
            (of_four, [wide; 5]),
            (narrow, [plain; 5]),
            (wide_too, [plain, wide, plain, wide, wide]),
            (newest_gathers, [plain, wide, plain, wide, plain]),
            (without, [plain; 5]),
            (fixtures::swiftshader(), [plain; 5]),
            (Caps::webgpu_baseline(), [Target::Gpu; 5]),
        ] {
            assert_eq!(each(&caps), want, "{:?}", caps.identity);
        }
    }
}
