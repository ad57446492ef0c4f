//! The tables: for each processor its rungs, with what they were measured or expected to reach.
//!
//! How the figures were found, and what was tried and rejected, stands in
//! `docs/measured/matmul.md`. Of GPUs one was measured, NVIDIA's H100, whose table serves all with
//! as many registers; the rates of tables for fewer are what counts of loads, sums and registers
//! lead to expect, and only have to put the rungs in the right order. Cooperative matrices are in
//! no ladder: some drivers only pretend to have them, so they are candidates of
//! [`Device::tune`](crate::Device::tune), which times and checks them.

use super::scheme::{Scheme, Variant};
use crate::kernel::choice::processor::{Processor, Registers, Room, SHARERS};

/// A kernel with its rates, in parts of the fastest one's, where the shape fills it: for B dense
/// along its columns (or at any strides), and along k.
#[derive(Debug)]
pub(super) struct Rung {
    /// For cooperative matrices it counts one lane to a subgroup.
    pub(super) variant: Variant,
    pub(super) rates: [f64; 2],
    /// Multiplications below which compiling it costs more than it saves.
    pub(super) work_min: f64,
    /// With fewer rows reading B takes all of the time, and other kernels read it faster.
    pub(super) rows_min: usize,
    /// How many times the usual number of workgroups keep every core busy: a lane of few sums waits
    /// for most of its loads.
    pub(super) waits: f64,
}

/// The rungs of a processor, and when they keep it busy.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ladder {
    /// Those that only such a processor has.
    own: &'static [Rung],
    /// Those after them; the last one is for any product.
    rungs: &'static [Rung],
    /// Invocations of a usual workgroup, and how many of these keep every core busy to the end: in
    /// the tables of GPUs, those of one of the usual breadth.
    pub(super) lanes: f64,
    pub(super) groups_wanted: usize,
    /// The shortest k that is worth a pass of its own.
    pub(super) pass_k_min: usize,
    /// More passes than this cost more to add than they gain.
    pub(super) passes_max: usize,
    /// What several passes take beside the product, in multiplications of the fastest rung.
    pub(super) passes_cost: usize,
    /// Whether passes run side by side, and lanes without work are lost.
    pub(super) is_gpu: bool,
    /// Elements of B that stay in a core's cache until the next rows want them.
    pub(super) panel_max: usize,
    /// Whether a single row that walks down B touches so many pages that shorter passes are worth
    /// it.
    pub(super) counts_pages: bool,
}

impl Processor {
    pub(super) const fn ladder(&self) -> Ladder {
        match self {
            Self::Gpu(room) => room.ladder(),
            Self::Cpu => CPU,
            Self::CpuSharing => CPU_SHARING,
            Self::CpuLater => CPU_LATER,
            Self::CpuLaterSharing => CPU_LATER_SHARING,
            Self::CpuLaterGathering => CPU_LATER_GATHERING,
            Self::CpuNewestSharing => CPU_NEWEST_SHARING,
        }
    }

    /// Whether a kernel can run here; not whether it is fast. A choice that was tuned may come from
    /// a device that was allowed more.
    pub(super) fn runs(&self, variant: &Variant) -> bool {
        match variant.scheme {
            Scheme::Vector { subgroups: true, .. } => {
                self.room().map_or(self.is_sharing(), |room| room.subgroups)
            }
            Scheme::Cooperative { side, down, across, .. } => {
                let room = self.room().filter(|room| room.takes(variant));
                room.and_then(|room| room.teams).is_some_and(|teams| {
                    variant.lanes == teams.size * down * across && teams.multiply(side)
                })
            }
            _ => true,
        }
    }

    /// Whether there is room for a kernel, however long k is.
    pub(super) fn has_room(&self, variant: &Variant) -> bool {
        self.room().is_none_or(|room| room.takes(variant))
    }

    /// Whether the lanes of such a tile load A together. Of strips they load all that a trip takes
    /// in one go, so it takes a whole number of k.
    pub(crate) const fn shares(&self, variant: &Variant) -> bool {
        let alone = variant.rows > 1 && variant.lanes == SHARERS;
        match (self, variant.scheme) {
            (Self::CpuLaterSharing | Self::CpuLaterGathering, Scheme::Strips) => {
                alone && (4 * SHARERS).is_multiple_of(variant.rows)
            }
            (_, Scheme::Strips) => false,
            (_, scheme) => self.is_sharing() && scheme.is_registers() && alone,
        }
    }
}

impl Room {
    /// The table for its registers, with the workgroups that are wanted for its cores.
    const fn ladder(&self) -> Ladder {
        let ladder = match self.registers {
            Registers::Many => GPU,
            Registers::Some => GPU_SOME,
            Registers::Few => GPU_FEW,
            Registers::Half => GPU_HALF,
        };
        Ladder {
            groups_wanted: self.breadth.share(ladder.groups_wanted),
            passes_cost: self.breadth.share(ladder.passes_cost),
            ..ladder
        }
    }

    pub(super) fn takes(&self, variant: &Variant) -> bool {
        let bytes = u64::from(variant.bytes_shared([self.factor, self.sum]));
        u64::from(variant.lanes) <= self.lanes_max && bytes <= self.bytes_max
    }
}

impl Variant {
    /// Whether it is a kernel of the tables, of a scheme that is no registers: a file may name
    /// anything.
    pub(super) fn is_known(&self) -> bool {
        let lanes = match self.scheme {
            // The table counts one lane to a subgroup.
            Scheme::Cooperative { down, across, .. }
                if self.lanes.is_multiple_of(down * across) =>
            {
                down * across
            }
            _ => self.lanes,
        };
        // Tables of GPUs leave open whether subgroups put the sums together.
        let scheme = match self.scheme {
            Scheme::Vector { across: 1, .. } => Scheme::Vector { across: 1, subgroups: false },
            scheme => scheme,
        };
        let alike = [Self { lanes, ..*self }, Self { scheme, ..*self }];
        let ladders = [&GPU, &GPU_SOME, &GPU_FEW, &GPU_HALF, &CPU_SHARING];
        let mut known = ladders.into_iter().flat_map(|ladder| ladder.rungs()).chain(COOPERATIVE);
        known.any(|rung| alike.contains(&rung.variant))
    }
}

impl Ladder {
    pub(super) fn rungs(&self) -> impl Iterator<Item = &'static Rung> + use<> {
        self.own.iter().chain(self.rungs)
    }

    /// The one for any product.
    pub(super) const fn last(&self) -> &'static Rung {
        &self.rungs[self.rungs.len() - 1]
    }
}

/// Kernels by cooperative matrices that there is room for.
pub(super) fn cooperative(room: &Room) -> impl Iterator<Item = Variant> {
    let each = room.teams.into_iter().flat_map(|teams| {
        COOPERATIVE.iter().map(move |rung| {
            let lanes = rung.variant.lanes * teams.size;
            Variant { lanes, ..rung.variant }
        })
    });
    each.filter(|variant| Processor::Gpu(*room).runs(variant))
}

const fn rung(scheme: Scheme, sums: [u32; 2], lanes: u32, rates: [f64; 2]) -> Rung {
    let [rows, quads] = sums;
    let variant = Variant { scheme, rows, quads, lanes };
    Rung { variant, rates, work_min: 0.0, rows_min: 0, waits: 1.0 }
}

const fn tile(rows: u32, quads: u32, rate: f64) -> Rung {
    rung(Scheme::Registers, [rows, quads], 8, [rate; 2])
}

const fn fused(rows: u32, quads: u32, rate: f64) -> Rung {
    rung(Scheme::Fused, [rows, quads], 8, [rate; 2])
}

const fn sheets(rows: u32, quads: u32, rate: f64) -> Rung {
    Rung { rows_min: 512, ..rung(Scheme::Sheets, [rows, quads], 8, [rate; 2]) }
}

/// Few rows of many columns: reading B takes all of the time, and long pieces of its rows are read
/// faster than short ones. Where neighbours in B lie along k there is nothing to gain.
const fn wide(scheme: Scheme, rows: u32, quads: u32, rate: f64) -> Rung {
    Rung { work_min: 1e7, ..rung(scheme, [rows, quads], 8, [rate, 0.01]) }
}

const fn strips(rows: u32, quads: u32, rate: f64) -> Rung {
    Rung { rows_min: 32, ..rung(Scheme::Strips, [rows, quads], 8, [rate; 2]) }
}

/// Few rows, all lanes along k: for a B that is dense there.
const fn rows(rows: u32, quads: u32, rate: f64) -> Rung {
    rung(Scheme::Vector { across: 1, subgroups: true }, [rows, quads], 8, [0.01, rate])
}

const fn group(sums: [u32; 2], lanes: u32, across: u32, depth: u32, rate: f64) -> Rung {
    rung(Scheme::Group { across, depth, lean: false }, sums, lanes, [rate; 2])
}

const fn lean(sums: [u32; 2], lanes: u32, across: u32, rate: f64) -> Rung {
    rung(Scheme::Group { across, depth: 16, lean: true }, sums, lanes, [rate; 2])
}

const fn vector(rows: u32, lanes: u32, across: u32, rates: [f64; 2]) -> Rung {
    rung(Scheme::Vector { across, subgroups: false }, [rows, 1], lanes, rates)
}

/// A rung of so many times the usual workgroups.
const fn waiting(waits: f64, rung: Rung) -> Rung {
    Rung { waits, ..rung }
}

const fn registers(rows: u32, rates: [f64; 2]) -> Rung {
    rung(Scheme::Registers, [rows, 1], 64, rates)
}

/// What it takes: side of a square; squares of a subgroup, down and across; subgroups, down and
/// across; k of a stage. Rates were not measured.
const fn squares(side: u32, [i, j]: [u32; 2], [down, across]: [u32; 2], depth: u32) -> Rung {
    let scheme = Scheme::Cooperative { side, down, across, depth };
    rung(scheme, [i * side, j * side / 4], down * across, [0.0; 2])
}

/// Measured on llvmpipe (Mesa 22.3) at 512^3, single rows at 4096^2.
const CPU: Ladder = Ladder {
    own: &[],
    rungs: &[
        Rung { work_min: 2e8, ..tile(16, 4, 1.0) },
        tile(8, 4, 0.83),
        tile(8, 2, 0.72),
        tile(4, 4, 0.77),
        tile(4, 2, 0.67),
        tile(4, 1, 0.42),
        tile(2, 4, 0.45),
        Rung { rates: [0.32, 0.25], ..tile(1, 4, 0.32) },
        Rung { rates: [0.19, 0.36], ..tile(1, 1, 0.19) },
    ],
    lanes: 8.0,
    groups_wanted: 8,
    pass_k_min: 512,
    passes_max: 8,
    passes_cost: 0,
    is_gpu: false,
    panel_max: usize::MAX,
    counts_pages: true,
};

/// For drivers whose lanes load A together: tall tiles win, because a row costs an eighth of a
/// load. The largest tile of `CPU` comes to 0.72 here.
const CPU_SHARING: Ladder = Ladder {
    rungs: &[
        Rung { work_min: 1e9, ..tile(32, 2, 1.0) },
        Rung { work_min: 2e8, ..tile(24, 2, 0.97) },
        Rung { work_min: 1e8, ..tile(32, 1, 0.94) },
        tile(16, 2, 0.93),
        tile(16, 1, 0.8),
        tile(8, 2, 0.69),
        tile(8, 1, 0.61),
        tile(4, 4, 0.46),
        tile(4, 2, 0.45),
        tile(4, 1, 0.39),
        tile(2, 4, 0.32),
        Rung { rates: [0.23, 0.18], ..tile(1, 4, 0.23) },
        rows(2, 2, 0.36),
        rows(1, 2, 0.28),
        tile(1, 1, 0.14),
    ],
    ..CPU
};

/// Measured on lavapipe 25.0 at 512^3, those of one to four rows at 4096^2.
const CPU_LATER: Ladder = Ladder {
    rungs: &[
        Rung { work_min: 1.2e7, ..strips(8, 4, 1.0) },
        Rung { work_min: 4e6, ..strips(8, 2, 0.83) },
        Rung { rates: [0.67, 0.71], ..tile(8, 1, 0.67) },
        Rung { work_min: 4e6, rates: [0.68, 0.64], ..tile(4, 4, 0.68) },
        tile(4, 2, 0.63),
        tile(4, 1, 0.54),
        tile(16, 2, 0.5),
        Rung { rates: [0.48, 0.4], ..tile(2, 4, 0.48) },
        Rung { rates: [0.4, 0.3], ..tile(1, 4, 0.4) },
        Rung { rates: [0.25, 0.45], ..tile(1, 1, 0.25) },
    ],
    panel_max: 1 << 17,
    ..CPU
};

/// Like `CPU_LATER`, but where lanes load A together, as on most machines of that driver. Measured
/// at 512^3, those of one to four rows at 4096^2.
const CPU_LATER_SHARING: Ladder = Ladder {
    rungs: &[
        Rung { work_min: 2e8, rows_min: 16, ..strips(16, 2, 1.0) },
        Rung { work_min: 4e6, rows_min: 16, ..strips(16, 1, 0.93) },
        Rung { rates: [0.9, 0.84], ..tile(16, 1, 0.9) },
        Rung { rates: [0.72, 0.65], ..tile(8, 1, 0.72) },
        Rung { rates: [0.5, 0.35], ..tile(4, 2, 0.5) },
        Rung { rates: [0.45, 0.4], ..tile(4, 1, 0.45) },
        Rung { rates: [0.28, 0.2], ..tile(2, 2, 0.28) },
        Rung { rates: [0.24, 0.24], ..tile(2, 1, 0.24) },
        Rung { rates: [0.08, 0.11], ..tile(1, 1, 0.08) },
    ],
    ..CPU_LATER
};

/// Where LLVM gathers, wide tiles of few rows are twice as fast as narrow ones; on a Zen 4, which
/// does not, they are slower.
const CPU_LATER_GATHERING: Ladder = Ladder {
    own: &[
        wide(Scheme::Registers, 8, 4, 0.85),
        wide(Scheme::Registers, 4, 4, 0.6),
        wide(Scheme::Registers, 2, 4, 0.45),
        wide(Scheme::Registers, 1, 4, 0.3),
    ],
    counts_pages: false,
    ..CPU_LATER_SHARING
};

/// Measured on lavapipe 26.2 (LLVM 22) at 1024^3 and 512^3, single rows at 4096^2.
const CPU_NEWEST_SHARING: Ladder = Ladder {
    rungs: &[
        Rung { work_min: 8e8, ..sheets(32, 2, 1.0) },
        Rung { work_min: 1e7, ..fused(32, 2, 0.92) },
        Rung { work_min: 4e6, ..fused(16, 2, 0.82) },
        fused(32, 1, 0.74),
        fused(16, 1, 0.69),
        wide(Scheme::Fused, 8, 4, 0.61),
        wide(Scheme::Fused, 4, 8, 0.58),
        wide(Scheme::Fused, 2, 8, 0.35),
        wide(Scheme::Fused, 1, 8, 0.2),
        wide(Scheme::Fused, 1, 4, 0.18),
        Rung { rates: [0.55, 0.65], ..fused(8, 2, 0.65) },
        fused(8, 1, 0.5),
        fused(4, 2, 0.41),
        fused(4, 1, 0.33),
        fused(2, 2, 0.24),
        fused(2, 1, 0.21),
        fused(1, 1, 0.14),
    ],
    counts_pages: false,
    ..CPU_LATER
};

/// Rates measured on an H100 (driver 580.159) at 4096^3 and 2048^3; those of few rows at 8 and 16
/// rows of 8192, and those of registers lower than at that size, as shapes with few tiles want
/// them. Workgroups of two subgroups win at every size. It is also the table of whoever has as many
/// registers, or could not be asked.
const GPU: Ladder = Ladder {
    own: &[
        // Sums, lanes, lanes across, k of a stage.
        group([8, 2], 64, 8, 16, 1.0),    // 64 x 64
        group([8, 2], 128, 8, 16, 0.96),  // 128 x 64
        group([8, 2], 256, 16, 16, 0.81), // 128 x 128
        group([8, 2], 64, 8, 8, 0.70),    // 64 x 64, of 8 bytes each
    ],
    rungs: &[
        group([4, 1], 64, 8, 16, 0.72), // 32 x 32
        group([4, 1], 64, 8, 8, 0.51),
        group([4, 1], 64, 16, 16, 0.30), // 16 x 64
        lean([4, 1], 64, 32, 0.26),      // 8 x 128
        // Rows, lanes, lanes across.
        vector(4, 64, 1, [0.18, 0.37]),
        vector(2, 64, 1, [0.06, 0.19]),
        vector(1, 64, 1, [0.03, 0.10]),
        waiting(16.0, vector(4, 128, 16, [0.38, 0.30])),
        waiting(2.0, vector(2, 256, 16, [0.36, 0.10])),
        waiting(2.0, vector(1, 256, 16, [0.30, 0.03])),
        registers(8, [0.28, 0.05]),
        registers(4, [0.30, 0.05]),
        registers(1, [0.20, 0.02]),
    ],
    lanes: 256.0,
    groups_wanted: 64,
    pass_k_min: 256,
    passes_max: 16,
    passes_cost: 100_000_000,
    is_gpu: true,
    panel_max: usize::MAX,
    counts_pages: false,
};

/// What comes after the tiles of GPUs with fewer registers, of which none has been measured.
const GPU_UNMEASURED: Ladder = Ladder {
    own: &[],
    rungs: &[
        group([4, 1], 64, 8, 16, 0.45),
        group([4, 1], 64, 8, 8, 0.42),
        group([4, 1], 64, 16, 16, 0.36),
        lean([4, 1], 64, 32, 0.20),
        vector(4, 64, 1, [0.010, 0.110]),
        vector(2, 64, 1, [0.006, 0.060]),
        vector(1, 64, 1, [0.003, 0.032]),
        vector(4, 128, 16, [0.110, 0.020]),
        vector(2, 256, 16, [0.060, 0.010]),
        vector(1, 256, 16, [0.032, 0.005]),
        registers(8, [0.100; 2]),
        registers(4, [0.060; 2]),
        registers(1, [0.008; 2]),
    ],
    groups_wanted: 128,
    passes_cost: 10_000_000,
    ..GPU
};

/// Half the sums to an invocation, so that several workgroups run on a core.
const GPU_SOME: Ladder = Ladder {
    own: &[
        group([8, 1], 256, 16, 16, 1.0), // 128 x 64
        group([8, 1], 128, 16, 16, 0.9), // 64 x 64
        group([8, 1], 64, 8, 8, 0.75),   // 64 x 32, of 8 bytes each
    ],
    ..GPU_UNMEASURED
};

const GPU_FEW: Ladder = Ladder {
    own: &[
        lean([8, 1], 256, 16, 1.0), // 128 x 64
        lean([8, 1], 128, 16, 0.9), // 64 x 64
        lean([8, 1], 64, 8, 0.75),  // 64 x 32
    ],
    ..GPU_UNMEASURED
};

/// A product of integers is three instructions at Intel: loads of a smaller tile weigh less.
const GPU_HALF: Ladder = Ladder {
    own: &[
        lean([4, 1], 256, 16, 1.0), // 64 x 64
        lean([4, 1], 128, 16, 0.9), // 32 x 64
    ],
    ..GPU_UNMEASURED
};

const COOPERATIVE: &[Rung] = &[
    squares(16, [4, 2], [2, 4], 16), // 128 x 128
    squares(16, [2, 2], [2, 2], 32), // 64 x 64
    squares(16, [2, 2], [1, 1], 16), // 32 x 32
    squares(8, [4, 4], [2, 2], 16),  // 64 x 64
    squares(8, [2, 2], [2, 2], 16),  // 32 x 32
    squares(8, [2, 2], [1, 1], 16),  // 16 x 16
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::caps::{Caps, Feature, fixtures};
    use crate::dtype::DType;
    use crate::wgsl::Target;
    use crate::wgsl::rig::Rig;

    fn names(caps: &Caps, dtype: DType) -> Vec<String> {
        cooperative(&Room::of(Rig::on_paper(Target::Gpu, caps), dtype))
            .map(|variant| variant.text())
            .collect()
    }

    #[test]
    fn only_who_may_gets_cooperative_matrices() {
        let plain = fixtures::nvidia_vulkan();
        assert_eq!(names(&plain, DType::F16), Vec::<String>::new(), "nobody has allowed it");
        let mut caps = plain;
        caps.features = caps.features.with(Feature::CooperativeMatrix);
        assert_eq!(
            names(&caps, DType::F16),
            [
                "cooperative 16 2x4 deep 16 sums 64x32 lanes 256",
                "cooperative 16 2x2 deep 32 sums 32x32 lanes 128",
                "cooperative 16 1x1 deep 16 sums 32x32 lanes 32",
            ]
        );
        for dtype in [DType::F32, DType::Bf16, DType::I8] {
            assert_eq!(names(&caps, dtype), Vec::<String>::new(), "{dtype}");
        }
        let without = caps.clone().without(Feature::CooperativeMatrix);
        assert_eq!(names(&without, DType::F16), Vec::<String>::new(), "a downgrade");
        let room = Room::of(Rig::on_paper(Target::Gpu, &caps), DType::F16);
        let variant = cooperative(&room).next().expect("there are three");
        assert!(Processor::Gpu(room).runs(&variant), "where it was tuned");
        let elsewhere = Processor::of(Rig::on_paper(Target::Gpu, &without), DType::F16);
        assert!(!elsewhere.runs(&variant) && !Processor::Cpu.runs(&variant), "elsewhere");
    }

    /// The swizzle of workgroup memory, the shader's way to number lanes; whole squares in a stage,
    /// rows of it and the tiles at 16 bytes.
    #[test]
    fn every_rung_is_one_that_the_shaders_take() {
        // What every adapter has.
        let room = Room::of(Rig::on_paper(Target::Gpu, &Caps::webgpu_baseline()), DType::F32);
        let ladders = [&GPU, &GPU_SOME, &GPU_FEW, &GPU_HALF];
        for rung in ladders.iter().flat_map(|ladder| ladder.rungs()).chain(COOPERATIVE) {
            let Variant { scheme, rows, quads, lanes } = rung.variant;
            match scheme {
                Scheme::Registers => {}
                Scheme::Strips | Scheme::Fused | Scheme::Sheets => panic!("{rung:?}"),
                Scheme::Group { across, depth, .. } => {
                    let whole = lanes.is_multiple_of(across) && rows.is_multiple_of(4);
                    assert!(whole && quads > 0 && [8, 16, 32].contains(&depth), "{rung:?}");
                    // Where there is less room than on GPUs of that kind, the next rung is taken.
                    let desktop = Room { bytes_max: 49_152, ..room };
                    assert!(desktop.takes(&rung.variant), "{rung:?}");
                    continue;
                }
                Scheme::Vector { across, .. } => {
                    assert!((lanes / across).is_power_of_two(), "{rung:?}");
                }
                Scheme::Cooperative { side, depth, .. } => {
                    let [rows, columns] = rung.variant.tile();
                    assert!(depth.is_multiple_of(side) && 64 % (depth / 4) == 0, "{rung:?}");
                    assert!(rows.is_multiple_of(8) && columns.is_multiple_of(8), "{rung:?}");
                    let eights = Variant { lanes: 8 * lanes, ..rung.variant };
                    assert!(eights.is_known(), "whatever the size of a subgroup");
                    continue;
                }
            }
            assert!(room.takes(&rung.variant), "{rung:?}");
        }
    }
}
