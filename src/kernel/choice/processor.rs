//! What multiplies: a GPU with its limits, or one of the software drivers that were measured.

use crate::caps::breadth::Breadth;
use crate::caps::{Caps, CooperativeShape, Feature};
use crate::dtype::DType;
use crate::wgsl::Target;
use crate::wgsl::rig::Rig;
use crate::wgsl::subgroups;
use crate::wgsl::target::{VECTOR, shares};

/// Lanes that load together where they can: the whole subgroup.
pub(crate) const SHARERS: u32 = VECTOR;

/// What tables of rates are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Processor {
    /// A GPU, and what there is room for.
    Gpu(Room),
    /// A software driver.
    Cpu,
    /// One whose subgroups are the lanes of a workgroup, which can load A together.
    CpuSharing,
    /// Mesa's from 24 on, where large tiles in place leave its registers.
    CpuLater,
    /// Like `CpuLater`, but its lanes can load A together.
    CpuLaterSharing,
    /// Like `CpuLaterSharing`, and it gathers.
    CpuLaterGathering,
    /// From Mesa 26 on, whose lanes can load A together, too: `fma` is one instruction, and large
    /// tiles in place are in registers again.
    CpuNewestSharing,
}

impl Processor {
    /// Where products are the dots of bytes, one instruction for four: sums of them take the
    /// registers that sums of floats do.
    pub(crate) const fn of_dots(self) -> Self {
        match self {
            Self::Gpu(room) if matches!(room.registers, Registers::Half) => {
                Self::Gpu(Room { registers: Registers::Few, ..room })
            }
            other => other,
        }
    }

    /// For products that are summed in the compute type of `dtype`.
    pub(crate) fn of(on: Rig<'_>, dtype: DType) -> Self {
        let Rig { target, caps, .. } = on;
        // 64-bit values cannot be passed from lane to lane everywhere.
        let sharing = shares(caps) && dtype.width() < 8;
        match (target, caps.identity.is_later_llvmpipe(), sharing) {
            (Target::Gpu, ..) => Self::Gpu(Room::of(on, dtype)),
            (_, true, true) if caps.identity.fuses() => Self::CpuNewestSharing,
            (_, true, true) if caps.has(Feature::Gather) => Self::CpuLaterGathering,
            (_, true, true) => Self::CpuLaterSharing,
            (_, true, false) => Self::CpuLater,
            (_, false, true) => Self::CpuSharing,
            (_, false, false) => Self::Cpu,
        }
    }

    /// Whether the lanes of a workgroup can load together.
    pub(crate) const fn is_sharing(&self) -> bool {
        !matches!(self, Self::Gpu(_) | Self::Cpu | Self::CpuLater)
    }

    /// The limits of a GPU. Software drivers run every rung of their tables.
    pub(in crate::kernel) const fn room(&self) -> Option<&Room> {
        if let Self::Gpu(room) = self { Some(room) } else { None }
    }

    /// The registers of a GPU.
    pub(crate) fn registers(&self) -> Option<Registers> {
        self.room().map(|room| room.registers)
    }
}

/// How many registers an invocation has on a GPU before it costs dearly: what a compiler was seen
/// to make of sums by the dozen (`scripts/isa`), where one could be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Registers {
    /// About 200: NVIDIA's, AMD's with subgroups of 32, and whoever could not be asked.
    Many,
    /// About 128, or half of all waves: AMD's with subgroups of 64 alone, Qualcomm's, Arm's.
    Some,
    /// 128, of which what a loop carries takes its part twice: Intel's.
    Few,
    /// Half of 128: where a product of integers is put together from parts, or a sum has 64 bits.
    Half,
}

impl Registers {
    /// For sums of a dtype.
    fn of(caps: &Caps, dtype: DType) -> Self {
        let wide = dtype.width() == 8;
        match (caps.identity.vendor_name(), caps.limits.subgroup_min) {
            (Some("Intel"), _) if wide || dtype.is_integer() => Self::Half,
            (Some("Intel"), _) => Self::Few,
            (Some("Qualcomm" | "ARM"), _) if wide => Self::Half,
            (Some("AMD"), 64) | (Some("Qualcomm" | "ARM"), _) => Self::Some,
            _ if wide => Self::Some,
            _ => Self::Many,
        }
    }
}

/// What a kernel may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Room {
    pub(in crate::kernel) lanes_max: u64,
    pub(in crate::kernel) bytes_max: u64,
    pub(in crate::kernel) subgroups: bool,
    pub(in crate::kernel) registers: Registers,
    /// How broad the GPU is.
    pub(in crate::kernel) breadth: Breadth,
    /// Bytes of a factor that is multiplied as it is stored, and of a sum.
    pub(in crate::kernel) factor: u32,
    pub(in crate::kernel) sum: u32,
    /// For factors of the result's dtype.
    pub(in crate::kernel) teams: Option<Teams>,
}

impl Room {
    /// The room on an adapter for sums in the compute type of `dtype`.
    pub(in crate::kernel) fn of(on: Rig<'_>, dtype: DType) -> Self {
        let Rig { caps, breadth, .. } = on;
        let limits = &caps.limits;
        let factor = dtype.width() as u32;
        let sum = factor.max(4);
        Self {
            lanes_max: limits.invocations_max.min(limits.group_x_max),
            bytes_max: limits.group_storage_bytes_max,
            // Subgroups of other widths would be a capability of their own.
            subgroups: subgroups::run_on(caps) && sum == 4,
            registers: Registers::of(caps, dtype),
            breadth,
            factor,
            sum,
            teams: Teams::of(caps, dtype),
        }
    }
}

/// Subgroups that multiply squares as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Teams {
    /// Whether there are squares of 8 and of 16.
    sides: [bool; 2],
    /// The largest subgroup.
    pub(in crate::kernel) size: u32,
}

impl Teams {
    /// For products of this dtype.
    fn of(caps: &Caps, dtype: DType) -> Option<Self> {
        let features = [Feature::CooperativeMatrix, Feature::Subgroup, Feature::ShaderF16];
        // Factors are multiplied as they are stored, and the kernel's text mentions f16 whatever
        // they are.
        let possible = features.iter().all(|&feature| caps.has(feature));
        let has = |side| {
            let found = |c: &&CooperativeShape| c.side == side && c.factors == dtype;
            caps.cooperative.iter().any(|c| found(&c) && c.sums == DType::F32)
        };
        let sides = [8, 16].map(has);
        let size = u32::try_from(caps.limits.subgroup_max).ok()?;
        (possible && sides.contains(&true)).then_some(Self { sides, size })
    }

    pub(in crate::kernel) const fn multiply(&self, side: u32) -> bool {
        self.sides[if side == 16 { 1 } else { 0 }]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::caps::fixtures;

    #[test]
    fn what_a_driver_can_do_decides_the_table() {
        let lavapipe = fixtures::lavapipe();
        let of = |target, caps: &Caps, dtype| Processor::of(Rig::on_paper(target, caps), dtype);
        assert_eq!(of(Target::Cpu64, &lavapipe, DType::F32), Processor::CpuSharing);
        assert_eq!(of(Target::Cpu64, &lavapipe, DType::F64), Processor::Cpu);
        let gpu = of(Target::Gpu, &lavapipe, DType::F32);
        assert!(matches!(gpu, Processor::Gpu(_)), "by the target");
        assert_eq!(of(Target::Cpu, &fixtures::swiftshader(), DType::F32), Processor::Cpu);
        let mut later = lavapipe;
        later.identity.driver_info = "Mesa 25.0.7 (LLVM 19.1.7)".into();
        assert_eq!(of(Target::Cpu64, &later, DType::F32), Processor::CpuLaterSharing);
        assert_eq!(of(Target::Cpu64, &later, DType::I64), Processor::CpuLater);
        let mut gathers = later.clone();
        gathers.features = gathers.features.with(Feature::Gather);
        assert_eq!(of(Target::Cpu, &gathers, DType::F32), Processor::CpuLaterGathering);
        let alone = later.without(Feature::Subgroup);
        assert_eq!(of(Target::Cpu, &alone, DType::F32), Processor::CpuLater);
    }

    /// Among what a driver reports, one that is summed in f32 is enough.
    #[test]
    fn squares_are_taken_as_they_are_reported() {
        let chips = fixtures::all();
        let has = |(_, caps): &&(&str, Caps)| !caps.cooperative.is_empty();
        let (_, caps) = chips.iter().find(has).expect("a chip that has them");
        let mut caps = caps.clone().with_experimental(true);
        let square = |side, factors, sums| CooperativeShape { side, factors, sums };
        caps.cooperative = vec![
            square(8, DType::F32, DType::F32),
            square(16, DType::F16, DType::F16),
            square(16, DType::F16, DType::F32),
        ];
        let teams = Teams::of(&caps, DType::F16).expect("one of 16");
        assert!(teams.multiply(16) && !teams.multiply(8), "{teams:?}");
        let teams = Teams::of(&caps, DType::F32).expect("one of 8");
        assert!(teams.multiply(8) && !teams.multiply(16), "{teams:?}");
        caps.cooperative.pop();
        assert!(Teams::of(&caps, DType::F16).is_none(), "summed in f16");
    }
}
