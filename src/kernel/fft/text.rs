//! The text of a pass of Fourier transforms: what is loaded, how lines lie, what is stored.

use crate::dtype::DType;
use crate::wgsl::lines::{consts, put};
use crate::wgsl::params::params;
use crate::wgsl::source::source;
use crate::wgsl::{Entry, Region, Source, Target, Worded, Writes};

/// A workgroup to a tile of lines.
pub const FFT: Entry = Entry::core("fft", source!("fft.wgsl"))
    .with(&[RADIX_STEPS, ROOTS])
    .told(FftJob::MEMBERS)
    .worded(FftPass::wordings)
    .clearing();

params! {
    struct FftJob {
        source: [u32; 4],
        line: [u32; 4],
        run: [u32; 4],
        steps: [u32; 4],
        sevens: u32,
        beside: u32,
        size: u32,
        kept: u32,
        swapped: bool,
        swaps: bool,
        scale: f32,
    }
}

const RADIX_STEPS: Source = source!("fft/radices.wgsl");
const ROOTS: Source = source!("fft/roots.wgsl");

/// The most numbers of a line, and of a tile: the file says so too. Two halves of so many are the
/// 16 KiB that every adapter has.
pub(super) const TILE: usize = 1024;

/// The radices of steps, as they follow each other.
pub(super) const RADICES: [usize; 5] = [7, 5, 3, 4, 2];

/// What a pass begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum FftLoad {
    /// Both parts of a number, or two reals.
    Pairs,
    /// Reals.
    Reals,
    /// Half of a spectrum of reals, made the spectrum of the numbers that hold two reals each.
    Halved,
    /// Half of a spectrum of reals, made the whole one.
    Mirrored,
    /// The spectrum of numbers that hold two reals each, made half of that of the reals.
    Parted,
    /// Pairs, times those of a filter.
    Filtered,
    /// The filter: nothing is read.
    Chirps,
}

impl FftLoad {
    const ALL: [Self; 7] = [
        Self::Pairs,
        Self::Reals,
        Self::Halved,
        Self::Mirrored,
        Self::Parted,
        Self::Filtered,
        Self::Chirps,
    ];

    /// How many inputs it reads.
    const fn inputs(self) -> usize {
        match self {
            Self::Filtered => 2,
            Self::Chirps => 0,
            _ => 1,
        }
    }

    /// What says where a number comes from.
    const fn text(self) -> &'static str {
        match self {
            Self::Pairs => "return arrive_pair(row, at);\n",
            Self::Reals => "return arrive_real(row, at);\n",
            Self::Halved => "return arrive_halved(row, at);\n",
            Self::Mirrored => "return arrive_mirrored(row, at);\n",
            Self::Parted => "return arrive_parted(row, at);\n",
            Self::Filtered => "return arrive_filtered(row, at);\n",
            Self::Chirps => "return arrive_chirp(at);\n",
        }
    }
}

/// How the lines of a pass lie in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Spread {
    /// A line is a row.
    Whole,
    /// The first of several passes: numbers of a line lie apart.
    First,
    /// A later one: they lie apart too, and are turned as they arrive.
    Later,
}

const BY_LINE: &str = "let c = i & mask;\nlet j = i >> p.job.line.y;\n";
const APART: &str = "z = enter(row, before + t + j * p.job.line.z);\n";
const TURNED: &str = "z = enter(row, before + t + j * p.job.line.z);\n\
     z = product(z, root(i32(t * j), p.job.line.x * p.job.line.w));\n";

/// What is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum FftStore {
    /// Both parts of a number.
    Pairs,
    /// The first part.
    Reals,
    /// Half of the spectrum of reals that were taken two to a number: only where a line is a row.
    Halves,
}

const ENTER_CHIRPED: &str = "if at >= p.job.size {\n    return vec2<f32>(0.0);\n}\n\
     return product(swapped(arrive(row, at), p.job.swapped), chirp(at));\n";
const LEAVE_CHIRPED: &str =
    "return swapped(p.job.scale * product(z.yx, chirp(at)), p.job.swaps);\n";
const STORE_REALS: &str = "if at < p.job.kept {\n    \
     finish(row * p.job.kept + at, vec4<f32>(z.x));\n}\n";

/// How a pass is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FftPass {
    pub(crate) arrival: FftLoad,
    /// Whether numbers are turned by chirps as they arrive, and beyond those of a row are 0.
    pub(crate) chirped: bool,
    pub(crate) spread: Spread,
    /// Whether there are steps of a radix, of [`RADICES`].
    pub(crate) radices: [bool; 5],
    /// Whether both parts are swapped and turned by chirps as they leave.
    pub(crate) leaves: bool,
    pub(crate) departure: FftStore,
    /// Invocations of a workgroup.
    pub(crate) lanes: u32,
}

impl Writes for FftPass {
    fn regions(&self) -> Vec<Region> {
        let Self { arrival, chirped, spread, radices, leaves, departure, lanes } = *self;
        let mut steps = String::new();
        for (radix, _) in RADICES.into_iter().zip(radices).filter(|(_, is_there)| *is_there) {
            let count = match radix {
                4 => "steps.x",
                2 => "steps.y",
                3 => "steps.z",
                5 => "steps.w",
                _ => "sevens",
            };
            put!(steps, "for (var n = 0u; n < p.job.{count}; n++) {{");
            put!(steps, "    for (var b = lane; b < tile / {radix}u; b += lanes) {{");
            put!(steps, "        step_{radix}(taken(b, {radix}u, side, width));");
            put!(steps, "    }}\n    workgroupBarrier();\n    side = HALF - side;");
            put!(steps, "    width *= {radix}u;\n}}");
        }
        let mut regions =
            vec![Region::text("arrive", arrival.text()), Region::text("steps", steps)];
        regions.push(Region::file("radices", RADIX_STEPS));
        regions.push(Region::file("roots", ROOTS));
        regions.push(Region::text("lanes", consts([("lanes", lanes), ("HALF", TILE as u32)])));
        let mut write = |name, text| regions.push(Region::text(name, text));
        if chirped {
            write("enter", ENTER_CHIRPED);
        }
        if leaves {
            write("leave", LEAVE_CHIRPED);
        }
        if departure == FftStore::Reals {
            write("store", STORE_REALS);
        }
        match (spread, departure) {
            (Spread::Whole, FftStore::Halves) => {
                write("scatter", "scatter_halves(lane, side, begin);\n");
            }
            (Spread::Whole, _) => {}
            (Spread::First, _) => {
                write("gather", BY_LINE);
                write("load", APART);
                write("scatter", "scatter_lines(lane, side, row, before, begin);\n");
            }
            (Spread::Later, _) => {
                write("gather", BY_LINE);
                write("load", TURNED);
                write("scatter", "scatter_across(lane, side, row, before, begin);\n");
            }
        }
        regions
    }
}

impl FftPass {
    fn wordings() -> Vec<Worded> {
        use FftStore::{Halves, Pairs, Reals};
        let mut all = Vec::new();
        for arrival in FftLoad::ALL {
            for (spread, departure) in [
                (Spread::Whole, Halves),
                (Spread::Whole, Pairs),
                (Spread::First, Pairs),
                (Spread::Later, Reals),
            ] {
                for target in [Target::Cpu, Target::Gpu] {
                    let radices = match spread {
                        Spread::Whole => [true; 5],
                        Spread::First => [false; 5],
                        Spread::Later => [false, false, true, true, false],
                    };
                    let (chirped, leaves) = (spread == Spread::First, departure == Reals);
                    let lanes = Self::lanes(target);
                    let text = Self { arrival, chirped, spread, radices, leaves, departure, lanes };
                    let heads = &[DType::F32; 2][..arrival.inputs()];
                    let worded = Worded::of(text, heads, DType::F32, target);
                    all.push(Worded { by_element: true, ..worded });
                }
            }
        }
        all
    }

    /// Invocations of a workgroup.
    pub(super) const fn lanes(target: Target) -> u32 {
        if matches!(target, Target::Gpu) { 128 } else { target.workgroup() }
    }
}
