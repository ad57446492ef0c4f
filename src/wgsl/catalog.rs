//! The catalog: every shader file, every kernel, its legal variants, what each needs, and how often
//! it may loop.

use core::fmt;
use core::ops::BitOr;

use super::form::Form;

/// A shader file: where it lies, and its text, compiled in.
#[derive(Clone, Copy, Debug)]
pub struct Source {
    /// The path below `shaders/`.
    pub path: &'static str,
    /// The file as it lies on disk.
    pub text: &'static str,
}

macro_rules! source {
    ($path:expr) => {
        $crate::wgsl::catalog::Source {
            path: $path,
            text: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/shaders/", $path)),
        }
    };
}
pub(crate) use source;

/// Capabilities beyond baseline WebGPU that a module uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Needs(u8);

impl Needs {
    /// Baseline WebGPU is enough.
    pub const NONE: Self = Self(0);
    /// `shader-f16`.
    pub const F16: Self = Self(1);
    /// `shader-f64`.
    pub const F64: Self = Self(2);
    /// `shader-int64`.
    pub const INT64: Self = Self(4);
    /// `subgroups`.
    pub const SUBGROUPS: Self = Self(8);
    /// `wgpu-cooperative-matrix`.
    pub const COOPERATIVE: Self = Self(16);

    const NAMES: [(Self, &'static str); 5] = [
        (Self::F16, "shader-f16"),
        (Self::F64, "shader-f64"),
        (Self::INT64, "shader-int64"),
        (Self::SUBGROUPS, "subgroups"),
        (Self::COOPERATIVE, "wgpu-cooperative-matrix"),
    ];

    /// Whether everything in `other` is in `self`.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Everything in either.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// `self` less what is in `other`.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

impl BitOr for Needs {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        self.union(other)
    }
}

impl fmt::Display for Needs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = Self::NAMES.iter().filter(|(need, _)| self.contains(*need));
        let list = names.map(|(_, name)| *name).collect::<Vec<_>>().join(" ");
        f.write_str(if list.is_empty() { "-" } else { &list })
    }
}

/// A kernel: one file with one entry point `main`.
#[derive(Debug)]
pub struct Entry {
    /// The kernel's name, the file's without its ending.
    pub name: &'static str,
    /// Its file.
    pub source: Source,
    /// The forms of its bindings, inputs first, for every legal variant. Empty where an
    /// [`expr`](super::expr) decides.
    pub variants: &'static [&'static [Form]],
    /// How many of the bindings, the last ones, are written.
    pub outputs: usize,
    /// The most loop trips of one invocation, nested loops multiplied. llvmpipe ends all loops of
    /// an invocation after 65 535 without a word.
    pub trips_max: u32,
}

/// Fragments beside the element files.
const FRAGMENTS: &[Source] = &[
    source!("shared/fault.wgsl"),
    source!("shared/philox.wgsl"),
    source!("shared/part.wgsl"),
    source!("shared/product.wgsl"),
    source!("shared/spread.wgsl"),
    source!("shared/square.wgsl"),
    source!("shared/strided.wgsl"),
    source!("shared/tree.wgsl"),
    source!("shared/wide.wgsl"),
    source!("shared/words.wgsl"),
    source!("op/activation.wgsl"),
    source!("op/bits.wgsl"),
    source!("op/cast.wgsl"),
    source!("op/cast64.wgsl"),
    source!("op/cast_f64.wgsl"),
    source!("op/cast_wide.wgsl"),
    source!("op/exp.wgsl"),
    source!("op/f64.wgsl"),
    source!("op/int.wgsl"),
    source!("op/int64.wgsl"),
    source!("op/log.wgsl"),
    source!("op/order.wgsl"),
    source!("op/order64.wgsl"),
    source!("op/pow.wgsl"),
    source!("op/round.wgsl"),
    source!("op/softmax.wgsl"),
    source!("op/trig.wgsl"),
];

/// Trips of the strided index loop: ranks up to 8, the outermost dimension free.
const INDEX_TRIPS: u32 = super::params::RANK_MAX as u32 - 1;
/// The longest k of one pass of a product.
pub const MATMUL_K_MAX: u32 = 1 << 17;
const TRIPS: u32 = super::params::TRIPS_MAX;
/// What the plans of reducing kernels keep below, by the size of what one invocation takes.
pub const CORE_TRIPS: u32 = 60_000;

/// Every fused expression and `reindex` are this kernel: [`expr`](super::expr) and
/// [`moves::reindex`](super::moves::reindex) write its regions.
pub const ELEMENTWISE: Entry = Entry {
    name: "elementwise",
    source: source!("elementwise.wgsl"),
    variants: &[],
    outputs: 1,
    // Every strided binding walks the dimensions once; 16 bindings at most.
    trips_max: TRIPS * (1 + 16 * INDEX_TRIPS),
};

/// The same for few elements.
pub(crate) const ELEMENTWISE_FEW: Entry = Entry {
    name: "elementwise_few",
    source: source!("elementwise_few.wgsl"),
    variants: &[],
    outputs: 1,
    trips_max: 16 * INDEX_TRIPS,
};

/// The elements of an output that one source has.
pub(crate) const PATCH: Entry = Entry {
    name: "patch",
    source: source!("patch.wgsl"),
    variants: &[],
    outputs: 1,
    trips_max: TRIPS * (1 + 2 * INDEX_TRIPS),
};

/// The elements of an output that an index names.
pub(crate) const GATHER: Entry = Entry {
    name: "gather",
    source: source!("gather.wgsl"),
    variants: &[],
    outputs: 1,
    trips_max: TRIPS * (1 + 2 * INDEX_TRIPS),
};

/// Positions.
pub(crate) const IOTA: Entry = Entry {
    name: "iota",
    source: source!("iota.wgsl"),
    variants: &[&[Form::U32]],
    outputs: 1,
    trips_max: TRIPS,
};

/// Who comes last at each destination.
pub(crate) const SCATTER: Entry = Entry {
    name: "scatter",
    source: source!("scatter.wgsl"),
    variants: &[&[Form::U32]],
    outputs: 0,
    trips_max: TRIPS,
};

/// Random numbers; [`random`](super::random) says how they are drawn.
pub(crate) const RANDOM: Entry = Entry {
    name: "random",
    source: source!("random.wgsl"),
    variants: &[],
    outputs: 1,
    // Two blocks at most, of ten rounds.
    trips_max: TRIPS * (1 + 2 * 10),
};

/// As many pairs as are ranked sooner than they go through rounds, which are thirty dispatches:
/// permutations of 64, 256, 1024, 2048 and 4096 take lavapipe 0.9, 1.0, 1.6, 2.9 and 8.5 ms, and
/// 5.5 each in rounds.
pub(crate) const RANKED_MAX: u32 = 2048;
/// The whole sorting of a short list.
pub(crate) const RANK: Entry = own("rank", source!("sort/rank.wgsl"), RANKED_MAX);
/// First step of a round of sorting.
pub(crate) const DIGITS: Entry = own("digits", source!("sort/digits.wgsl"), 256 + 16);
/// Last step of a round of sorting.
pub(crate) const PLACE: Entry = own("place", source!("sort/place.wgsl"), 16 + 256);
/// First step of running sums.
pub(crate) const SUMS: Entry = own("sums", source!("sort/sums.wgsl"), 256);
/// Last step of running sums.
pub(crate) const RUNNING: Entry = own("running", source!("sort/running.wgsl"), 256);
/// Sums of runs of equal keys.
pub(crate) const RUNS: Entry = own("runs", source!("runs.wgsl"), 64);

/// The kernels.
pub const CATALOG: &[Entry] = &[
    ELEMENTWISE,
    ELEMENTWISE_FEW,
    Entry {
        name: "transpose",
        source: source!("transpose.wgsl"),
        variants: &[
            &[Form::W8, Form::W8],
            &[Form::W16, Form::W16],
            &[Form::W32, Form::W32],
            &[Form::W64, Form::W64],
        ],
        outputs: 1,
        trips_max: TRIPS * (1 + 2 * INDEX_TRIPS),
    },
    Entry {
        name: "matmul",
        source: source!("matmul.wgsl"),
        variants: &[],
        outputs: 1,
        // Quads of k in one pass, chunks of them; batch dimensions; a tile's elements.
        trips_max: MATMUL_K_MAX / 4 + MATMUL_K_MAX / 256 + 8 + 5 * 64,
    },
    Entry {
        name: "matmul_group",
        source: source!("matmul_group.wgsl"),
        variants: &[],
        outputs: 1,
        // Quads of k, stages of at least 8, chunks of 256; batch dimensions.
        trips_max: MATMUL_K_MAX / 4 + MATMUL_K_MAX / 8 + MATMUL_K_MAX / 256 + 8,
    },
    Entry {
        name: "matmul_cooperative",
        source: source!("matmul_cooperative.wgsl"),
        variants: &[],
        outputs: 1,
        // Stages of k of at least 8, squares of k, chunks of 256; batch dimensions; zeros; squares.
        trips_max: 2 * (MATMUL_K_MAX / 8) + MATMUL_K_MAX / 256 + 8 + 256 + 64,
    },
    Entry {
        name: "matmul_vector",
        source: source!("matmul_vector.wgsl"),
        variants: &[],
        outputs: 1,
        // Quads of k and chunks of 256, by at least two lanes; batch dimensions; lanes together.
        trips_max: MATMUL_K_MAX / 8 + MATMUL_K_MAX / 256 + 8 + 256,
    },
    Entry {
        name: "fill",
        source: source!("fill.wgsl"),
        variants: &[&[Form::W32]],
        outputs: 1,
        trips_max: TRIPS,
    },
    core("quantised", source!("quantised.wgsl")),
    core("attention", source!("attention.wgsl")),
    core("reduce_rows", source!("reduce_rows.wgsl")),
    core("reduce_group", source!("reduce_group.wgsl")),
    core("reduce_columns", source!("reduce_columns.wgsl")),
    core("softmax_rows", source!("softmax_rows.wgsl")),
    core("softmax_group", source!("softmax_group.wgsl")),
    core("norm_rows", source!("norm_rows.wgsl")),
    core("norm_group", source!("norm_group.wgsl")),
    core("scan_rows", source!("scan_rows.wgsl")),
    // [`pick`](super::pick) says how these reach what they move.
    PATCH,
    GATHER,
    IOTA,
    // What follows declares atomics, pairs or numbers of its own.
    SCATTER,
    RANDOM,
    RANK,
    DIGITS,
    PLACE,
    SUMS,
    RUNNING,
    RUNS,
];

/// A kernel of a core: heads and tails decide its bindings, its plan how often it loops.
const fn core(name: &'static str, source: Source) -> Entry {
    Entry { name, source, variants: &[], outputs: 1, trips_max: CORE_TRIPS }
}

/// A kernel whose bindings are its own.
const fn own(name: &'static str, source: Source, trips_max: u32) -> Entry {
    Entry { name, source, variants: &[&[]], outputs: 0, trips_max }
}

/// The kernels that write all of their workgroup memory before they read any of it, so that nobody
/// needs to clear it first: naga does that from one invocation, word by word.
const CLEAR: &[&str] = &[
    "matmul_group",
    "matmul_cooperative",
    "matmul_vector",
    "reduce_group",
    "softmax_group",
    "norm_group",
];

/// Whether a kernel finds workgroup memory as it was left, and does not mind.
#[must_use]
pub fn clears_for_itself(name: &str) -> bool {
    CLEAR.contains(&name)
}

/// Every fragment: files without an entry point.
pub fn fragments() -> impl Iterator<Item = &'static Source> {
    Form::all().map(Form::part).chain(FRAGMENTS)
}

/// The fragments whose names are known everywhere: all but the move forms, which answer to the same
/// names.
pub(crate) fn library() -> impl Iterator<Item = &'static Source> {
    let elements = Form::all().filter(|form| !form.is_move()).map(Form::part);
    elements.chain(FRAGMENTS)
}

/// The kernel of this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Entry> {
    CATALOG.iter().find(|entry| entry.name == name)
}
