//! The text of a product by tiles in workgroup memory: what an invocation multiplies and stores.

use super::job::MatmulJob;
use super::stage::Stage;
use super::tile::{K_MAX, Tile};
use crate::dtype::DType;
use crate::op::Kind;
use crate::wgsl::lines::{lane, put};
use crate::wgsl::source::source;
use crate::wgsl::{Entry, Region};

/// The kernel. Its trips: quads of k, stages of at least 8, chunks of 256; batch dimensions.
pub const GROUP: Entry = Entry::new(
    "matmul_group",
    source!("matmul_group.wgsl"),
    K_MAX / 4 + K_MAX / 8 + K_MAX / 256 + 8,
)
.clearing()
.told(MatmulJob::MEMBERS);

/// A kernel by tiles in workgroup memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Group {
    /// What one invocation sums: whole fours of rows. Ragged if k ends inside a stage.
    pub tile: Tile,
    /// Invocations.
    pub lanes: u32,
    /// Invocations along the columns: a multiple of eight, as are those along the rows.
    pub across: u32,
    /// How much of k a stage has: 4, 8, 16 or 32.
    pub depth: u32,
    /// Whether neighbouring lanes walk along k of A and of B; otherwise along the other axis.
    pub near_k: [bool; 2],
    /// Whether k is longer than a chunk.
    pub deep: bool,
}

impl Group {
    /// The regions of `matmul_group.wgsl` that sum in the compute type of `dtype`.
    #[must_use]
    pub fn regions(&self, dtype: DType) -> Vec<Region> {
        let Self { tile, lanes, across, depth, .. } = *self;
        let kind = Kind::of(dtype).name();
        let types = format!(
            "alias Quad = vec4<{kind}>;\nconst rows = {}u;\nconst quads = {}u;\n\
             const lanes = {lanes}u;\nconst across = {across}u;\nconst depth = {depth}u;\n",
            tile.rows, tile.quads
        );
        let total = if self.deep { 't' } else { 's' };
        let zero = |name: char| tile.each(|r, q| format!("var {name}{r}_{q} = Quad();"));
        // A single chunk needs no second sum: its own is cleared before the loop.
        let (clear, add) = match self.deep {
            true => (zero('s'), tile.each(|r, q| format!("t{r}_{q} += s{r}_{q};"))),
            false => (String::new(), String::new()),
        };
        let store = (0..tile.quads).map(|q| {
            let (column, pick) = (4 * q, tile.pick(|r| format!("{total}{r}_{q}")));
            let row = "row + 4u * down * (r >> 2u) + (r & 3u)";
            format!("product_store(group.z, {row}, column + {column}u * across, {pick});\n")
        });
        let own = [
            Region::text("types", types),
            Region::text("sums", zero(total)),
            Region::text("clear", clear),
            Region::text("step", self.step()),
            Region::text("add", add),
            Region::text("store", store.collect::<String>()),
        ];
        self.stage().regions().into_iter().chain(own).collect()
    }

    const fn stage(&self) -> Stage {
        let Self { tile, lanes, across, depth, near_k, .. } = *self;
        let (k, down) = (depth / 4, lanes / across);
        let left = k * tile.rows / 4 * down;
        let blocks = [left, left + k * tile.quads * across];
        Stage { blocks, lanes, along: tile.along, near_k, ragged: tile.ragged }
    }

    /// Everything for four of k.
    fn step(&self) -> String {
        let Tile { rows, quads, .. } = self.tile;
        let mut text = String::new();
        for k in 0..4 {
            for i in 0..rows / 4 {
                let at = format!("a + {k}u * row_quads + {i}u * down");
                put!(text, "let a{k}_{i} = sh_quads[{at}];");
            }
            for q in 0..quads {
                let at = format!("b + {k}u * column_quads + {q}u * across");
                put!(text, "let b{k}_{q} = sh_quads[{at}];");
            }
            text.push_str(&self.tile.each(|r, q| {
                format!("s{r}_{q} = s{r}_{q} + a{k}_{}.{} * b{k}_{q};", r / 4, lane(r))
            }));
        }
        text
    }
}
