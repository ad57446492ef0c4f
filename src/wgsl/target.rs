//! What the adapter executes on.

use crate::caps::{Caps, Feature};

/// What the adapter executes on: the same kernel walks memory differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// A software adapter: few lanes, and each group walks a run of its own.
    Cpu,
    /// A software adapter with `shader-int64`: whole quads are loaded as 64-bit integers, because a
    /// narrow load takes as long as a wide one, in llvmpipe before Mesa 24 and without a gather.
    Cpu64,
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
        let mut newest = gathers.clone();
        newest.identity.driver_info = "Mesa 26.2.6 (LLVM 22.1.8)".into();
        let each = |caps: &Caps| {
            let target = Target::of(caps);
            [target, target.of_products(caps), target.of_tiles(caps)]
        };
        for (caps, want) in [
            (fixtures::lavapipe(), [Target::Cpu64; 3]),
            (later, [Target::Cpu64; 3]),
            (gathers, [Target::Cpu, Target::Cpu64, Target::Cpu64]),
            (newest, [Target::Cpu, Target::Cpu64, Target::Cpu]),
            (without, [Target::Cpu; 3]),
            (fixtures::swiftshader(), [Target::Cpu; 3]),
            (Caps::webgpu_baseline(), [Target::Gpu; 3]),
        ] {
            assert_eq!(each(&caps), want, "{:?}", caps.identity);
        }
    }
}
