//! The choice of a tile: what was measured, and what a shape makes of it.
//!
//! A tile is worth its measured rate times the part of its lanes, rows and columns that the shape
//! fills, times the part of the cores that its workgroups keep busy. The best one is taken.

use core::fmt;

use super::cooperative;
use super::gpu::{self, Room};
use super::text::{Along, SHARERS};
use crate::caps::{Caps, Feature};
use crate::dtype::DType;
use crate::shape::Shape;
use crate::wgsl::Target;
use crate::wgsl::grid::GROUPS_MAX;

/// What a table of tiles is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Machine {
    /// A GPU, and what there is room for.
    Gpu(Room),
    /// A software driver.
    Cpu,
    /// One whose subgroups are the lanes of a workgroup, which can load A together.
    CpuSharing,
    /// Mesa's from 24 on: it loads once what all lanes read, but large tiles leave its registers.
    CpuLater,
}

impl Machine {
    /// For products in the compute type of `dtype`.
    pub(crate) fn of(target: Target, caps: &Caps, dtype: DType) -> Self {
        let (info, limits) = (&caps.identity.driver_info, &caps.limits);
        let version = info.split("Mesa ").nth(1).and_then(|v| v.split('.').next());
        let later = version.and_then(|v| v.parse().ok()).is_some_and(|v: u32| v >= 24);
        let eight = [limits.subgroup_min, limits.subgroup_max] == [u64::from(SHARERS); 2];
        match target {
            Target::Gpu => Self::Gpu(Room::of(caps, dtype)),
            _ if later => Self::CpuLater,
            // 64-bit values cannot be passed from lane to lane everywhere.
            _ if eight && caps.has(Feature::Subgroup) && dtype.width() < 8 => Self::CpuSharing,
            _ => Self::Cpu,
        }
    }

    const fn table(self) -> &'static [Rung] {
        match self {
            Self::Gpu(_) | Self::Cpu => CPU,
            Self::CpuSharing => CPU_SHARING,
            Self::CpuLater => CPU_LATER,
        }
    }

    /// Whether the lanes of such a tile load A together.
    pub(crate) const fn shares(self, choice: &Choice) -> bool {
        let registers = matches!(choice.kernel, Kernel::Registers);
        let vector = choice.rows > 1 && choice.lanes == SHARERS;
        matches!(self, Self::CpuSharing) && registers && vector
    }
}

/// A product: batches, rows, columns, and what is summed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) batch: usize,
    pub(crate) m: usize,
    pub(crate) n: usize,
    pub(crate) k: usize,
}

impl Size {
    /// Of operands `[batch .., m, k]` and `[batch .., k, n]`.
    pub(crate) fn of(a: &Shape, b: &Shape) -> Self {
        let (a, b) = (a.dims(), b.dims());
        let rank = a.len();
        let batch = a[..rank - 2].iter().product();
        Self { batch, m: a[rank - 2], n: b[rank - 1], k: a[rank - 1] }
    }

    /// Multiplications.
    fn work(&self) -> f64 {
        [self.batch, self.m, self.n, self.k].iter().map(|&d| d as f64).product()
    }
}

/// How a workgroup shares a product among its invocations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kernel {
    /// Registers only: all lanes along the columns.
    Registers,
    /// Tiles of both operands in workgroup memory, `depth` of k at a time; `across` lanes along the
    /// columns, the others along the rows.
    Group { across: u32, depth: u32 },
    /// A few rows: `across` lanes along the columns, the others along k, put together by subgroups
    /// or in workgroup memory.
    Vector { across: u32, subgroups: bool },
    /// Squares of `side` in workgroup memory, which subgroups multiply as one; `down` by `across`
    /// subgroups, whose rows and quads are the choice's.
    Cooperative { side: u32, down: u32, across: u32, depth: u32 },
}

/// A kernel, what an invocation sums, and how it is run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Choice {
    pub(crate) kernel: Kernel,
    pub(crate) rows: u32,
    /// Quads of columns.
    pub(crate) quads: u32,
    /// Invocations of a workgroup.
    pub(crate) lanes: u32,
    /// Passes along k, whose sums are added.
    pub(crate) passes: usize,
    pub(crate) because: Because,
}

/// Why a choice was made, with its numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Because {
    /// It was asked for.
    Forced,
    /// It was measured here, for problems of this class.
    Tuned,
    /// Its rate, and which part of it the shape uses.
    Best { rate: f64, used: f64 },
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kernel, lanes, passes, because, .. } = self;
        let [rows, columns] = self.tile();
        match kernel {
            Kernel::Registers => write!(f, "a tile of {rows} x {}", 4 * self.quads)?,
            Kernel::Group { depth, .. } => {
                write!(f, "workgroup tiles of {rows} x {columns} by {depth}")?;
            }
            Kernel::Vector { across, subgroups } => {
                let by = if *subgroups { ", by subgroups" } else { "" };
                write!(f, "{rows} x {columns} in {} parts{by}", lanes / across)?;
            }
            Kernel::Cooperative { side, depth, .. } => {
                write!(f, "cooperative matrices of {side} x {side}, ")?;
                write!(f, "tiles of {rows} x {columns} by {depth}")?;
            }
        }
        write!(f, ", {lanes} lanes, {passes} along k: ")?;
        match because {
            Because::Forced => f.write_str("forced"),
            Because::Tuned => f.write_str("tuned"),
            Because::Best { rate, used } => {
                write!(f, "rate {rate:.2} of the largest tile's, {:.0} % used", used * 100.0)
            }
        }
    }
}

/// A tile with its rates, in parts of the fastest one's, where the shape fills it: for B dense
/// along its columns (or at any strides), and along k.
struct Rung {
    kernel: Kernel,
    rows: u32,
    quads: u32,
    rates: [f64; 2],
    /// Multiplications below which compiling it costs more than it saves.
    work_min: f64,
}

const fn rung(rows: u32, quads: u32, rate: f64) -> Rung {
    Rung { kernel: Kernel::Registers, rows, quads, rates: [rate; 2], work_min: 0.0 }
}

/// Few rows, all lanes along k: for a B that is dense there.
const fn rows(rows: u32, quads: u32, rate: f64) -> Rung {
    let kernel = Kernel::Vector { across: 1, subgroups: true };
    Rung { kernel, rows, quads, rates: [0.01, rate], work_min: 0.0 }
}

/// Measured on llvmpipe (Mesa 22.3) at 512^3 with loads of 64 bits, the single rows at 4096^2. The
/// largest tile takes three times as long to compile as the next. A single row is bound by memory:
/// along k by its cache lines, of which narrow tiles touch fewer at a time; along the columns by
/// pages, of which shorter passes touch fewer.
const CPU: &[Rung] = &[
    Rung { work_min: 2e8, ..rung(16, 4, 1.0) },
    rung(8, 4, 0.83),
    rung(8, 2, 0.72),
    rung(4, 4, 0.77),
    rung(4, 2, 0.67),
    rung(4, 1, 0.42),
    rung(2, 4, 0.45),
    Rung { rates: [0.32, 0.25], ..rung(1, 4, 0.32) },
    Rung { rates: [0.19, 0.36], ..rung(1, 1, 0.19) },
];

/// Where lanes load A together, tall tiles win: a row costs an eighth of a load. Measured like the
/// table above, whose largest tile comes to 0.72 here. Compiling takes 0.16 s for 32 x 4, 0.2 s for
/// 16 x 8 and twice that for the largest.
///
/// A first product of 512^3 from the start of a process, nothing cached: 65 to 90 ms until there is
/// an adapter, most of it the loader and LLVM; 10 for the device; 17 for the text on its way to the
/// driver; 130 to 160 for its compiler; 8 to run. Of the compiler's time two fifths go by what it
/// is given - two copies of it among others - and the rest by what is left of it: a quad loaded
/// along the columns is 7 ms, one along k 2, what hands A around 15, each row of quads about 3.
/// What it came from: sums as `vec4`s, of which every use of a part loads all four, took 60 ms
/// more; a sum of chunks where there is but one, 40; the loop over the batch's dimensions, 20.
/// Tried: other ways to store (every row by a name that moves up, one store of everything, no test
/// of edges), loads as four floats, all loads first, A not handed around: all within 10 %; sums
/// added part by part with their four products written out: as long, and twice the text; 16 x 8: 30
/// ms more, also with loads of 32 bytes. The driver compiles a kernel anew at every dispatch where
/// a loop ends at what it reads from the parameters alone: bounds go through another variable.
///
/// A row or two by weights stored as `[out, in]` are read as the stream that those are: 32 bytes
/// to a load, neighbouring lanes next to each other. With 4096 x 4096 weights that is 1.4 times
/// the rate of lanes along the columns, whose 32 rows of 16 KiB each meet in one set of the
/// nearest cache, and twice where other programs want the caches too; for two rows 1.3 times.
/// Columns at a time - 4, 8 or 16 - differ by a few in a hundred; k in two passes is worth 0.87;
/// 16 bytes to a load 0.85; every lane with rows of its own and x handed around from lane to lane
/// is as fast; x loaded by all 0.3.
const CPU_SHARING: &[Rung] = &[
    Rung { work_min: 1e9, ..rung(32, 2, 1.0) },
    Rung { work_min: 2e8, ..rung(24, 2, 0.97) },
    Rung { work_min: 1e8, ..rung(32, 1, 0.94) },
    rung(16, 2, 0.93),
    rung(16, 1, 0.8),
    rung(8, 2, 0.69),
    rung(8, 1, 0.61),
    rung(4, 4, 0.46),
    rung(4, 2, 0.45),
    rung(4, 1, 0.39),
    rung(2, 4, 0.32),
    Rung { rates: [0.23, 0.18], ..rung(1, 4, 0.23) },
    rows(2, 2, 0.36),
    rows(1, 2, 0.28),
    rung(1, 1, 0.14),
];

/// Measured on lavapipe 25.0 for the first five; the others are guesses between those and the first
/// table.
const CPU_LATER: &[Rung] = &[
    rung(8, 1, 1.0),
    rung(4, 2, 0.97),
    rung(4, 1, 0.86),
    rung(16, 2, 0.7),
    rung(8, 2, 0.53),
    rung(2, 4, 0.5),
    Rung { rates: [0.4, 0.3], ..rung(1, 4, 0.4) },
    Rung { rates: [0.25, 0.45], ..rung(1, 1, 0.25) },
];

/// Workgroups that keep every core busy to the end.
const GROUPS_WANTED: f64 = 8.0;

/// Invocations of a workgroup: one vector of llvmpipe.
const LANES: u32 = 8;

/// The shortest k that is worth a pass of its own.
const PASS_K_MIN: usize = 512;
/// More passes than this cost more to add than they gain.
const PASSES_MAX: usize = 8;

impl Choice {
    /// Whether a machine has what it takes; not whether it is any good there.
    pub(super) fn runs_on(&self, machine: Machine) -> bool {
        let room = if let Machine::Gpu(room) = machine { Some(room) } else { None };
        cooperative::runs_on(room.as_ref(), self)
    }

    /// Rows and columns of a workgroup.
    pub(super) const fn tile(&self) -> [usize; 2] {
        let (down, across) = match self.kernel {
            Kernel::Registers => (1, self.lanes),
            Kernel::Group { across, .. } => (self.lanes / across, across),
            Kernel::Vector { across, .. } => (1, across),
            Kernel::Cooperative { down, across, .. } => (down, across),
        };
        [(self.rows * down) as usize, (4 * self.quads * across) as usize]
    }

    /// The most columns of one dispatch.
    pub(super) const fn columns_max(&self) -> usize {
        match self.kernel {
            Kernel::Registers => GROUPS_MAX as usize * self.tile()[1],
            // Their grids fold.
            _ => usize::MAX,
        }
    }

    /// Quads of workgroup memory.
    pub(super) const fn quads_shared(&self) -> u32 {
        let [rows, columns] = self.tile();
        match self.kernel {
            Kernel::Registers => 0,
            Kernel::Group { depth, .. } => depth * (rows + columns) as u32 / 4,
            Kernel::Vector { .. } => self.rows * self.quads * self.lanes,
            // As if their parts were of 4 bytes; with what keeps rows of them apart.
            Kernel::Cooperative { side, down, across, depth } => {
                (depth * (rows + columns + 16) as u32 + (down * across + 1) * side * side) / 4
            }
        }
    }

    /// Which part of a tile's work counts, and how many workgroups there are.
    pub(super) fn use_of(&self, size: Size) -> (f64, f64) {
        let [rows, columns] = self.tile();
        let (down, across) = (size.m.div_ceil(rows), size.n.div_ceil(columns));
        let part = |n: usize, tiles: usize| n as f64 / tiles as f64;
        let used = part(size.m, down * rows) * part(size.n, across * columns);
        (used, (down * across * size.batch) as f64)
    }

    /// The best tile for a product.
    pub(crate) fn of(machine: Machine, size: Size, right: Along) -> Self {
        Self::best(machine, size, right).0
    }

    /// What is worth timing for a product, whose right side may be stored as `[n, k]`: every kernel
    /// of the table, with the passes that it would have and with one.
    pub(crate) fn candidates(machine: Machine, size: Size, transposed: bool) -> Vec<Self> {
        let right = if transposed { Along::K } else { Along::Outer };
        let wanted: Vec<Self> = match machine {
            Machine::Gpu(room) => gpu::candidates(&room, size),
            _ => (machine.table().iter())
                .filter(|rung| size.work() >= rung.work_min)
                .map(|rung| {
                    let choice = Self::by(rung);
                    let passes = passes(size, rung, right, choice.use_of(size).1);
                    Self { passes, ..choice }
                })
                .collect(),
        };
        let each = wanted.into_iter().map(|choice| Self { because: Because::Tuned, ..choice });
        let once = |choice: Self| (choice.passes > 1).then_some(Self { passes: 1, ..choice });
        each.flat_map(|choice| [Some(choice), once(choice)]).flatten().collect()
    }

    const fn by(rung: &Rung) -> Self {
        let Rung { kernel, rows, quads, .. } = *rung;
        Self { kernel, rows, quads, lanes: LANES, passes: 1, because: Because::Forced }
    }

    /// Whether it is a kernel of a table other than registers, however many passes it makes.
    pub(super) fn is_known(&self) -> bool {
        let alike =
            |rung: &Rung| Self { passes: self.passes, ..Self::by(rung) }.text() == self.text();
        gpu::has(self) || CPU_SHARING.iter().any(alike)
    }

    /// Whether the transposed product, of transposed operands in the other order, is so much faster
    /// that its result may lie in columns.
    pub(crate) fn prefers_swapped(machine: Machine, size: Size) -> bool {
        let swapped = Size { m: size.n, n: size.m, ..size };
        let alike = if size.m == 1 || size.n == 1 { 1.0 } else { 2.0 };
        let worth = |size| Self::best(machine, size, Along::Outer).1;
        worth(swapped) > alike * worth(size)
    }

    /// The best tile, and what it is worth.
    fn best(machine: Machine, size: Size, right: Along) -> (Self, f64) {
        if let Machine::Gpu(room) = machine {
            return gpu::best(&room, size, right);
        }
        let mut best = Self::by(&rung(1, 1, 1.0));
        let mut most = 0.0;
        for rung in machine.table().iter().filter(|rung| size.work() >= rung.work_min) {
            let mut choice = Self::by(rung);
            let (used, groups) = choice.use_of(size);
            choice.passes = passes(size, rung, right, groups);
            let rate = rung.rates[usize::from(right == Along::K)];
            let busy = (groups * choice.passes as f64 / GROUPS_WANTED).min(1.0);
            let value = rate * used * busy;
            if value > most {
                most = value;
                choice.because = Because::Best { rate, used: used * busy };
                best = choice;
            }
        }
        (best, most)
    }
}

/// Passes along a deep k, where there are too few workgroups for the cores, or a single row walks
/// down too many pages.
fn passes(size: Size, rung: &Rung, right: Along, groups: f64) -> usize {
    let missing = (GROUPS_WANTED / groups.max(1.0)).floor().max(1.0) as usize;
    let down = rung.rows == 1 && right != Along::K;
    let wanted = if down { PASSES_MAX } else { missing };
    wanted.min(size.k / PASS_K_MIN).clamp(1, PASSES_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::caps::fixtures;

    fn choice(machine: Machine, [batch, m, n, k]: [usize; 4]) -> String {
        Choice::of(machine, Size { batch, m, n, k }, Along::Outer).to_string()
    }

    #[test]
    fn the_table_says_what_it_chose_and_why() {
        let cpu = |size| choice(Machine::Cpu, size);
        assert_eq!(
            cpu([1, 1024, 1024, 1024]),
            "a tile of 16 x 16, 8 lanes, 1 along k: rate 1.00 of the largest tile's, 100 % used"
        );
        assert!(cpu([1, 512, 512, 512]).starts_with("a tile of 8 x 16, 8 lanes, 1 along k"));
        assert!(cpu([1, 1, 4096, 4096]).starts_with("a tile of 1 x 16, 8 lanes, 8 along k"));
        let size = Size { batch: 1, m: 1, n: 4096, k: 4096 };
        let along_k = |machine| Choice::of(machine, size, Along::K).to_string();
        let (plain, sharing) = (along_k(Machine::Cpu), along_k(Machine::CpuSharing));
        assert!(plain.starts_with("a tile of 1 x 4, 8 lanes, 1 along k"), "{plain}");
        assert!(sharing.starts_with("1 x 8 in 8 parts, by subgroups, 8 lanes, 1"), "{sharing}");
        assert!(cpu([1, 8, 64, 1 << 20]).contains("8 along k"), "deep k is split");
        let sharing = |size| choice(Machine::CpuSharing, size);
        assert!(sharing([1, 1024, 1024, 1024]).starts_with("a tile of 32 x 8"), "worth compiling");
        assert!(sharing([1, 512, 512, 512]).starts_with("a tile of 32 x 4"), "compiled sooner");
        assert!(sharing([1, 64, 1024, 1024]).starts_with("a tile of 16 x 8"), "few rows");
    }

    #[test]
    fn what_a_driver_can_do_decides_the_table() {
        let lavapipe = fixtures::lavapipe();
        let of = |target, caps: &Caps, dtype| Machine::of(target, caps, dtype);
        assert_eq!(of(Target::Cpu64, &lavapipe, DType::F32), Machine::CpuSharing);
        assert_eq!(of(Target::Cpu64, &lavapipe, DType::F64), Machine::Cpu);
        assert!(matches!(of(Target::Gpu, &lavapipe, DType::F32), Machine::Gpu(_)), "by the target");
        assert_eq!(of(Target::Cpu, &fixtures::swiftshader(), DType::F32), Machine::Cpu);
        let mut later = lavapipe;
        later.identity.driver_info = "Mesa 25.0.7 (LLVM 19.1.7)".into();
        assert_eq!(of(Target::Cpu64, &later, DType::F32), Machine::CpuLater);
    }
}
