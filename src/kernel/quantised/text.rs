//! The texts of products with quantised weights: what is written for a tile of so many rows.
//!
//! As in [`matmul`](crate::kernel::matmul) a tile is unrolled into names: `s2_1` is what row 2 and
//! column 1 of the tile have of a block, `t2` the quad of sums of row 2.

use crate::wgsl::lines::{lane, put};
use crate::wgsl::params::params;
use crate::wgsl::source::source;
use crate::wgsl::{Entry, Needs, Region, Writes};

/// Tiles in registers: what software drivers are content with.
pub const QUANTISED: Entry =
    Entry::core("quantised", source!("quantised.wgsl")).told(QuantisedJob::MEMBERS);

/// A few rows, by lanes along k.
pub const FEW: Entry = Entry::core("quantised_few", source!("quantised_few.wgsl"))
    .clearing()
    .told(QuantisedJob::MEMBERS);

/// Many rows, by tiles in workgroup memory.
pub const STAGED: Entry = Entry::core("quantised_staged", source!("quantised_staged.wgsl"))
    .clearing()
    .told(QuantisedJob::MEMBERS);

params! {
    struct QuantisedJob {
        size: [u32; 4],
        first: [u32; 4],
        result: [u32; 2],
    }
}

/// Words of 32 bits in sixteen weights, and sixteens in a block.
const WORDS: u32 = 4;
const SIXTEENS: u32 = 2;

/// Lanes that load X together where they do: the whole subgroup, and the quads of a block.
pub const SHARERS: u32 = SIXTEENS * WORDS;

/// Lanes of a workgroup of a software driver.
pub const REGISTERS_LANES: u32 = 8;

/// Lanes of a staged tile, down and across; columns of one of them.
pub const SIDE: u32 = 8;
pub const COLUMNS: u32 = 4;

/// A kernel for a tile of so many rows to a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum QuantisedTile {
    /// Each lane has all of k of its columns.
    Registers {
        /// Rows of X.
        rows: u32,
        /// Whether the workgroup is a subgroup whose lanes load X together.
        shared: bool,
    },
    /// So many lanes share the k of four columns.
    Few {
        /// Rows of X.
        rows: u32,
        /// Lanes of a workgroup, and those along k.
        lanes: [u32; 2],
    },
    /// A workgroup loads its rows and columns together.
    Staged {
        /// Rows of a lane, of which eight stand below each other.
        rows: u32,
    },
}

impl QuantisedTile {
    /// Invocations of a workgroup, where the text does not say it.
    #[must_use]
    pub const fn workgroup(self) -> Option<u32> {
        if let Self::Registers { .. } = self { Some(REGISTERS_LANES) } else { None }
    }

    /// The kernel that it is a text of.
    #[must_use]
    pub const fn entry(self) -> &'static Entry {
        match self {
            Self::Registers { .. } => &QUANTISED,
            Self::Few { .. } => &FEW,
            Self::Staged { .. } => &STAGED,
        }
    }
}

impl Writes for QuantisedTile {
    fn regions(&self) -> Vec<Region> {
        match *self {
            Self::Registers { rows, shared } => registers(rows, shared),
            Self::Few { rows, lanes } => few(rows, lanes),
            Self::Staged { rows } => staged(rows),
        }
    }
}

/// A line for each row.
fn each(rows: u32, line: impl Fn(u32) -> String) -> String {
    (0..rows).map(|r| line(r) + "\n").collect()
}

/// Where the rows of a lane begin, and sums for them.
fn begin(rows: u32) -> String {
    each(rows, |r| {
        format!(
            "let x{r} = min(row + {r}u, p.job.size.x - 1u) * p.job.size.w;\n\
             var t{r} = vec4<f32>();"
        )
    })
}

fn of_block(r: u32) -> String {
    format!("vec4<f32>(s{r}_0, s{r}_1, s{r}_2, s{r}_3)")
}

fn scaled(rows: u32) -> String {
    each(rows, |r| format!("t{r} += scales * {};", of_block(r)))
}

fn registers(rows: u32, shared: bool) -> Vec<Region> {
    let store = each(rows, |r| format!("blockwise_store(row + {r}u, column, t{r});"));
    let mut regions = vec![
        Region::text("types", format!("const rows = {rows}u;\n")),
        Region::text("begin", begin(rows)),
        Region::text("step", step(rows, SIXTEENS, shared)),
        Region::text("add", scaled(rows)),
        Region::text("store", store),
    ];
    if shared {
        let share = "@builtin(subgroup_invocation_id) share: u32,\n";
        regions.push(Region::text("share", share).needing(Needs::SUBGROUPS));
    }
    regions
}

fn few(rows: u32, [lanes, down]: [u32; 2]) -> Vec<Region> {
    let types = format!("const rows = {rows}u;\nconst lanes = {lanes}u;\nconst down = {down}u;\n");
    let join = |r| format!("sh_sums[lane][{r}] += sh_sums[lane + reach][{r}];");
    let store = |r| format!("blockwise_store(row + {r}u, column, sh_sums[lane][{r}]);");
    vec![
        Region::text("types", types),
        Region::text("begin", begin(rows)),
        Region::text("step", step(rows, 1, false)),
        Region::text("add", scaled(rows)),
        Region::text("together", each(rows, |r| format!("sh_sums[lane][{r}] = t{r};"))),
        Region::text("join", each(rows, join)),
        Region::text("store", each(rows, store)),
    ]
}

fn staged(rows: u32) -> Vec<Region> {
    let begin = |r| {
        let row = SIDE * r;
        format!(
            "let x{r} = min(row + down + {row}u, last.x) * p.job.size.w + across;\n\
             var t{r} = vec4<f32>();"
        )
    };
    let stage = |r| format!("sh_x[down + {}u][across] = f{r};", SIDE * r);
    let store = |r| {
        let row = SIDE * r;
        format!("blockwise_store(row + down + {row}u, column + {COLUMNS}u * across, t{r});")
    };
    vec![
        Region::text("types", format!("const rows = {rows}u;\n")),
        Region::text("begin", each(rows, begin)),
        Region::text("fetch", each(rows, |r| format!("let f{r} = head_0(x{r} + side * b);"))),
        Region::text("stage", each(rows, stage)),
        Region::text("step", staged_step(rows)),
        Region::text("add", each(rows, |r| format!("t{r} += {};", of_block(r)))),
        Region::text("store", each(rows, store)),
    ]
}

fn sums(text: &mut String, rows: u32) {
    for (r, c) in (0..rows).flat_map(|r| (0..COLUMNS).map(move |c| (r, c))) {
        put!(text, "var s{r}_{c} = 0.0;");
    }
}

/// Everything for a block, of a workgroup's rows and columns.
fn staged_step(rows: u32) -> String {
    let mut text = String::new();
    sums(&mut text, rows);
    for quad in 0..SIXTEENS * WORDS {
        for c in 0..COLUMNS {
            put!(text, "let v{quad}_{c} = sh_w[across + {}u][{quad}];", SIDE * c);
        }
        for r in 0..rows {
            put!(text, "let a{quad}_{r} = sh_x[down + {}u][{quad}];", SIDE * r);
            for c in 0..COLUMNS {
                put!(text, "s{r}_{c} += quad_sum(a{quad}_{r}, v{quad}_{c});");
            }
        }
    }
    text
}

/// Everything for so many sixteens, of which `b` counts.
fn step(rows: u32, sixteens: u32, shared: bool) -> String {
    let mut text = String::new();
    let quads = sixteens * WORDS;
    sums(&mut text, rows);
    for r in (0..rows).filter(|_| shared) {
        put!(text, "let d{r} = head_0(x{r} + {quads}u * b + share);");
    }
    for sixteen in 0..sixteens {
        for c in 0..COLUMNS {
            let at = lane(c);
            let load = format!("head_1(weight.{at} + {sixteens}u * b + {sixteen}u)");
            put!(text, "let w{sixteen}_{c} = {load};");
        }
        for word in 0..WORDS {
            let quad = sixteen * WORDS + word;
            for c in 0..COLUMNS {
                let part = lane(word);
                put!(text, "let v{quad}_{c} = vec4<f32>(decode_i8(w{sixteen}_{c}.{part}));");
            }
            for r in 0..rows {
                let a = match shared {
                    true => format!("subgroupBroadcast(d{r}, {quad}u)"),
                    false => format!("head_0(x{r} + {quads}u * b + {quad}u)"),
                };
                put!(text, "let a{quad}_{r} = {a};");
                for c in 0..COLUMNS {
                    put!(text, "s{r}_{c} += quad_sum(a{quad}_{r}, v{quad}_{c});");
                }
            }
        }
    }
    text
}
