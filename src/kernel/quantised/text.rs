//! The text of a product with quantised weights: what is written for a tile of so many rows.
//!
//! As in [`matmul`](crate::kernel::matmul) a tile is unrolled into names: `s2_1` is what row 2 and
//! column 1 of the tile have of a block, `t2` the quad of sums of row 2.

use crate::wgsl::lines::{lane, put};
use crate::wgsl::params::params;
use crate::wgsl::source::source;
use crate::wgsl::{Entry, Needs, Region, Writes};

/// The kernel.
pub const QUANTISED: Entry =
    Entry::core("quantised", source!("quantised.wgsl")).told(QuantisedJob::MEMBERS);

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

/// A kernel for a tile of so many rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct QuantisedTile {
    /// Rows of X.
    pub rows: u32,
    /// Whether the workgroup is a subgroup whose lanes load X together.
    pub shared: bool,
}

impl Writes for QuantisedTile {
    fn regions(&self) -> Vec<Region> {
        let Self { rows, shared } = *self;
        let each =
            |line: &dyn Fn(u32) -> String| (0..rows).map(|r| line(r) + "\n").collect::<String>();
        let begin = each(&|r| {
            format!(
                "let x{r} = min(row + {r}u, p.job.size.x - 1u) * p.job.size.w;\n\
                 var t{r} = vec4<f32>();"
            )
        });
        let add = each(&|r| format!("t{r} += scales * vec4<f32>(s{r}_0, s{r}_1, s{r}_2, s{r}_3);"));
        let mut regions = vec![
            Region::text("types", format!("const rows = {rows}u;\n")),
            Region::text("begin", begin),
            Region::text("step", step(rows, shared)),
            Region::text("add", add),
            Region::text("store", each(&|r| format!("store(row + {r}u, column, t{r});"))),
        ];
        if shared {
            let share = "@builtin(subgroup_invocation_id) share: u32,\n";
            regions.push(Region::text("share", share).needing(Needs::SUBGROUPS));
        }
        regions
    }
}

/// Everything for a block.
fn step(rows: u32, shared: bool) -> String {
    let mut text = String::new();
    for (r, c) in (0..rows).flat_map(|r| (0..4).map(move |c| (r, c))) {
        put!(text, "var s{r}_{c} = 0.0;");
    }
    for r in (0..rows).filter(|_| shared) {
        put!(text, "let d{r} = head_0(x{r} + {SHARERS}u * b + share);");
    }
    for sixteen in 0..SIXTEENS {
        for c in 0..4 {
            let at = lane(c);
            let load = format!("head_1(weight.{at} + {SIXTEENS}u * b + {sixteen}u)");
            put!(text, "let w{sixteen}_{c} = {load};");
        }
        for word in 0..WORDS {
            let quad = sixteen * WORDS + word;
            for c in 0..4 {
                let part = lane(word);
                put!(text, "let v{quad}_{c} = vec4<f32>(decode_i8(w{sixteen}_{c}.{part}));");
            }
            for r in 0..rows {
                let a = match shared {
                    true => format!("subgroupBroadcast(d{r}, {quad}u)"),
                    false => format!("head_0(x{r} + {SHARERS}u * b + {quad}u)"),
                };
                put!(text, "let a{quad}_{r} = {a};");
                for c in 0..4 {
                    put!(text, "s{r}_{c} += quad_sum(a{quad}_{r}, v{quad}_{c});");
                }
            }
        }
    }
    text
}
