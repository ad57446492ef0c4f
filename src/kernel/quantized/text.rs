//! The texts of products with quantized weights: what is written for a tile of so many rows.
//!
//! As in [`matmul`](crate::kernel::matmul) a tile is unrolled into names: `s2_1` is what row 2 and
//! column 1 of the tile have of a trip, `t2` the quad of sums of row 2.

use crate::host::blocks::{BLOCK, Blocks};
use crate::kernel::choice::processor::SHARERS;
use crate::wgsl::lines::{consts, lane, one_of, put};
use crate::wgsl::params::params;
use crate::wgsl::source::source;
use crate::wgsl::{Entry, Needs, Region, Writes};
pub(super) use forms::loads;
use forms::{Sixteen, before, column, common, is_scaled_late, numbers, scaled, weights};

mod forms;

/// Tiles in registers: what software drivers are content with.
pub const QUANTIZED: Entry =
    Entry::core("quantized", source!("quantized.wgsl")).told(QuantizedJob::MEMBERS);

/// A few rows, by lanes along k.
pub const FEW: Entry = Entry::core("quantized_few", source!("quantized_few.wgsl"))
    .clearing()
    .told(QuantizedJob::MEMBERS);

/// Many rows, by tiles in workgroup memory.
pub const STAGED: Entry = Entry::core("quantized_staged", source!("quantized_staged.wgsl"))
    .clearing()
    .told(QuantizedJob::MEMBERS);

params! {
    struct QuantizedJob {
        size: [u32; 4],
        first: [u32; 4],
        result: [u32; 2],
    }
}

/// Quads of a block.
const QUADS: u32 = BLOCK as u32 / 4;

// Where lanes load X together, each loads a quad of a block.
const _: () = assert!(QUADS == SHARERS, "a lane for each quad");

/// Lanes of a workgroup of a software driver.
pub const REGISTERS_LANES: u32 = 8;

/// Lanes of a staged tile, down and across; columns of one of them.
pub const SIDE: u32 = 8;
pub const COLUMNS: u32 = 4;

/// A kernel for weights in blocks of a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct QuantizedText {
    /// What the weights are.
    pub form: Blocks,
    /// What a workgroup computes of the product.
    pub tile: QuantizedTile,
}

/// A tile of so many rows to a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum QuantizedTile {
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

impl QuantizedTile {
    /// Invocations of a workgroup, where the text does not say it.
    #[must_use]
    pub const fn workgroup(self) -> Option<u32> {
        if let Self::Registers { .. } = self { Some(REGISTERS_LANES) } else { None }
    }

    /// The kernel that it is a text of.
    #[must_use]
    pub const fn entry(self) -> &'static Entry {
        match self {
            Self::Registers { .. } => &QUANTIZED,
            Self::Few { .. } => &FEW,
            Self::Staged { .. } => &STAGED,
        }
    }
}

impl Writes for QuantizedText {
    fn regions(&self) -> Vec<Region> {
        let form = self.form;
        match self.tile {
            QuantizedTile::Registers { rows, shared } => registers(form, rows, shared),
            QuantizedTile::Few { rows, lanes } => few(form, rows, lanes),
            QuantizedTile::Staged { rows } => staged(form, rows),
        }
    }
}

/// A line for each row.
fn each(rows: u32, line: impl Fn(u32) -> String) -> String {
    (0..rows).map(|r| line(r) + "\n").collect()
}

/// Where the sixteen bytes of a lane's four columns begin.
fn weight(form: Blocks) -> String {
    format!("let weight = {};\n", column(form, "scale"))
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

/// Adds the sums of a trip, by the scales of its block.
fn add(form: Blocks, rows: u32, block: &str) -> String {
    let [scales, by] = scaled(form, block);
    scales + &each(rows, |r| format!("t{r} += {by}{};", of_block(r)))
}

fn registers(form: Blocks, rows: u32, shared: bool) -> Vec<Region> {
    let of_row = one_of("r", (0..rows).map(|r| format!("t{r}")));
    let store = format!("blockwise_store(row + r, column, {of_row});");
    let step = sums(rows) + &step(form, rows, &Sixteen::of_block(form), shared, of_trip);
    let mut regions = vec![
        Region::text("types", format!("const rows = {rows}u;\n")),
        Region::text("begin", weight(form) + &begin(rows)),
        Region::text("step", before(form, false) + &step),
        Region::text("add", add(form, rows, "b")),
        Region::text("store", store),
    ];
    if shared {
        let share = "@builtin(subgroup_invocation_id) share: u32,\n";
        regions.push(Region::text("share", share).needing(Needs::SUBGROUPS));
    }
    regions
}

fn few(form: Blocks, rows: u32, [lanes, down]: [u32; 2]) -> Vec<Region> {
    let loads = loads(form);
    let types = consts([("rows", rows), ("lanes", lanes), ("down", down), ("loads", loads)]);
    let join = |r| format!("sh_sums[along][own][{r}] += sh_sums[along + reach][own][{r}];");
    let store = |r| format!("blockwise_store(row + {r}u, column, sh_sums[0][own][{r}]);");
    let block = if loads == 1 { "b" } else { "(b >> 1u)" };
    // Weights that no scale is still to multiply are added to a lane's totals, of which each has
    // few: sums of a trip beside those spill on Intel's.
    let (zeros, sum, add): (_, Name, _) = if is_scaled_late(form) {
        (sums(rows), of_trip, add(form, rows, block))
    } else {
        (String::new(), of_all, String::new())
    };
    let step = zeros + &step(form, rows, &Sixteen::alone(form), false, sum);
    vec![
        Region::text("types", types),
        Region::text("begin", weight(form) + &begin(rows)),
        Region::text("step", before(form, true) + &step),
        Region::text("add", add),
        Region::text("together", each(rows, |r| format!("sh_sums[along][own][{r}] = t{r};"))),
        Region::text("join", each(rows, join)),
        Region::text("store", each(rows, store)),
    ]
}

fn staged(form: Blocks, rows: u32) -> Vec<Region> {
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
    let (column, half) = (column(form, "scale"), Sixteen::of_half(form));
    let load = |var: &str| each(rows, |r| format!("{var}f{r} = head_0(x{r} + side * b);"));
    // X is near. Beside minima, or bits that lie apart, it has no room while the last block is
    // multiplied: one register spilled on Intel's chips.
    let ahead = is_scaled_late(form) && half.above.is_none();
    let fetch = |var: &str| {
        let rows = if ahead { load(var) } else { String::new() };
        let above = half.above.iter().map(|above| above.load(form, [&column, "scale"]));
        let above: String = above.map(|load| format!("{var}g = {load};\n")).collect();
        let common = common(form, "scale", "b");
        format!("{rows}{var}w = head_1({column} + {});\n{above}{var}s = {common};\n", half.place)
    };
    let mut number = each(rows, stage);
    for (i, quad) in half.quads.iter().enumerate() {
        let at = format!("sh_w[slot][4u * half_block + {i}u]");
        put!(number, "{at} = {};", weights(form, quad));
    }
    vec![
        Region::text("types", format!("const rows = {rows}u;\n")),
        Region::text("begin", each(rows, begin)),
        Region::text("fetch", fetch("var ")),
        Region::text("load", if ahead { String::new() } else { load("let ") }),
        Region::text("stage", number),
        Region::text("next", fetch("")),
        Region::text("step", staged_step(rows)),
        Region::text("add", each(rows, |r| format!("t{r} += {};", of_block(r)))),
        Region::text("store", each(rows, store)),
    ]
}

/// How a sum of a row and a column of the tile is called.
type Name = fn(u32, u32) -> String;

fn of_trip(r: u32, c: u32) -> String {
    format!("s{r}_{c}")
}

fn of_all(r: u32, c: u32) -> String {
    format!("t{r}.{}", lane(c))
}

/// The sums of a trip, of nothing yet.
fn sums(rows: u32) -> String {
    let each = (0..rows).flat_map(|r| (0..COLUMNS).map(move |c| (r, c)));
    each.map(|(r, c)| format!("var {} = 0.0;\n", of_trip(r, c))).collect()
}

/// Everything for a block, of a workgroup's rows and columns.
fn staged_step(rows: u32) -> String {
    let mut text = sums(rows);
    for quad in 0..QUADS {
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

/// Everything for a trip, which loads these and adds to the sums of that name.
fn step(form: Blocks, rows: u32, sixteens: &[Sixteen], shared: bool, sum: Name) -> String {
    let mut text = String::new();
    for r in (0..rows).filter(|_| shared) {
        put!(text, "let d{r} = head_0(x{r} + {QUADS}u * b + share);");
    }
    let mut n = 0;
    for (load, sixteen) in sixteens.iter().enumerate() {
        for c in 0..COLUMNS {
            let at = lane(c);
            put!(text, "let w{load}_{c} = head_1(weight.{at} + {});", sixteen.place);
            if let Some(above) = &sixteen.above {
                let [weight, scale] = ["weight", "scale"].map(|of| format!("{of}.{at}"));
                put!(text, "let g{load}_{c} = {};", above.load(form, [&weight, &scale]));
            }
        }
        for quad in &sixteen.quads {
            for c in 0..COLUMNS {
                put!(text, "let v{n}_{c} = {};", numbers(form, (load, c), quad));
            }
            for r in 0..rows {
                let a = match shared {
                    true => format!("subgroupBroadcast(d{r}, {}u)", quad.of_block),
                    false => format!("head_0(x{r} + {})", quad.x),
                };
                put!(text, "let a{n}_{r} = {a};");
                for c in 0..COLUMNS {
                    put!(text, "{} += quad_sum(a{n}_{r}, v{n}_{c});", sum(r, c));
                }
            }
            n += 1;
        }
    }
    text
}
