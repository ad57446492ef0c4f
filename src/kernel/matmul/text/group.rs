//! The text of a product by tiles in workgroup memory: what an invocation multiplies and stores.

use super::job::MatmulJob;
use super::packed::dot;
use super::stage::{BLOCKS, Stage};
use super::tile::{K_MAX, Packed, Tile};
use crate::dtype::DType;
use crate::wgsl::lines::{LANES, consts, lane, put};
use crate::wgsl::source::source;
use crate::wgsl::{Entry, Region};

/// The kernel. Its trips: turns of at least 4, stages of at least 8, chunks of 256; batch
/// dimensions; the totals of 32 sums, and rows.
pub const GROUP: Entry = Entry::new(
    "matmul_group",
    source!("matmul_group.wgsl"),
    K_MAX / 4 + K_MAX / 8 + K_MAX / 256 + 8 + 32 + 32,
)
.clearing()
.with(&[BLOCKS])
.told(MatmulJob::MEMBERS);

/// A kernel by tiles in workgroup memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Group {
    /// What one invocation sums: whole fours of rows. Ragged if k ends inside a stage.
    pub tile: Tile,
    /// Invocations.
    pub lanes: u32,
    /// Invocations along the columns.
    pub across: u32,
    /// How much of k a stage has: 8, 16 or 32; so many words of four bytes where those are factors.
    pub depth: u32,
    /// Whether neighbouring lanes walk along k of A and of B; otherwise along the other axis.
    pub near_k: [bool; 2],
    /// Whether k is longer than a chunk.
    pub deep: bool,
    /// Whether registers hold no more than one chunk's sums: the totals of several lie in workgroup
    /// memory, and nothing is under way while a stage is multiplied.
    pub lean: bool,
}

/// How much of k a trip of the innermost loop multiplies: two turns or more are a stage, because
/// compilers unroll a loop of one.
pub(crate) const fn turn(depth: u32) -> u32 {
    if depth > 16 { 8 } else { depth / 2 }
}

impl Group {
    /// The regions of `matmul_group.wgsl` that sum in the compute type of `dtype`.
    #[must_use]
    pub fn regions(&self, dtype: DType) -> Vec<Region> {
        let Self { tile, deep, lean, .. } = *self;
        let zero = |name: char| tile.each(|r, q| format!("var {name}{r}_{q} = Quad();"));
        let each = |line: &dyn Fn(u32, u32, u32) -> String| {
            tile.each(|r, q| line(r * tile.quads + q, r, q))
        };
        // A single chunk needs no totals: its own sums are cleared before the loop.
        let (sums, clear, add) = match (deep, lean) {
            (false, _) => (zero('s'), String::new(), String::new()),
            (true, false) => {
                (zero('t'), zero('s'), each(&|_, r, q| format!("t{r}_{q} += s{r}_{q};")))
            }
            (true, true) => {
                let add = each(&|i, r, q| format!("sh_totals[{i}][lane] += s{r}_{q};"));
                (CLEAR_TOTALS.to_owned(), zero('s'), add)
            }
        };
        let store = (0..tile.quads).map(|q| {
            let pick = match (deep, lean) {
                (true, true) => format!("sh_totals[r * quads + {q}u][lane]"),
                (true, false) => tile.pick(|r| format!("t{r}_{q}")),
                (false, _) => tile.pick(|r| format!("s{r}_{q}")),
            };
            let (row, column) = ("row + 4u * down * (r >> 2u) + (r & 3u)", 4 * q);
            format!("product_store(group.z, {row}, column + {column}u * across, {pick});\n")
        });
        let own = [
            Region::text("types", self.types(dtype)),
            Region::text("sums", sums),
            Region::text("clear", clear),
            Region::text("step", self.step()),
            Region::text("add", add),
            Region::text("store", store.collect::<String>()),
        ];
        self.stage().regions().into_iter().chain(own).collect()
    }

    fn types(&self, dtype: DType) -> String {
        let Self { tile, lanes, across, depth, .. } = *self;
        let turn = ("turn", turn(depth));
        let mut text = tile.types(dtype);
        // One name for one type: FXC is given the zeros of each, which are called alike.
        let factors = if self.signed() == Some(true) { "vec4<u32>" } else { "Quad" };
        put!(text, "alias Factors = {factors};");
        text += &consts([("lanes", lanes), ("across", across), ("depth", depth), turn]);
        if self.deep && self.lean {
            put!(text, "var<workgroup> sh_totals: array<array<Quad, lanes>, rows * quads>;");
        }
        text
    }

    const fn stage(&self) -> Stage {
        let Self { tile, lanes, across, depth, near_k, lean, .. } = *self;
        let (k, down) = (depth / 4, lanes / across);
        let left = k * tile.rows / 4 * down;
        let blocks = [left, left + k * tile.quads * across];
        let (along, ragged) = (tile.along, tile.ragged);
        Stage { blocks, lanes, along, near_k, ragged, ahead: !lean }
    }

    /// Whether the factors are words of four bytes, and if so, whether of signed ones.
    const fn signed(&self) -> Option<bool> {
        match self.tile.packed {
            Some(Packed::Bytes { signed }) => Some(signed),
            _ => None,
        }
    }

    /// A factor of A by a quad of B.
    fn product(&self, a: &str, b: &str) -> String {
        let Some(signed) = self.signed() else { return format!("{a} * {b}") };
        format!("Quad({})", LANES.map(|x| dot(signed, a, &format!("{b}.{x}"))).join(", "))
    }

    /// Everything for a turn.
    fn step(&self) -> String {
        let Tile { rows, quads, .. } = self.tile;
        let mut text = String::new();
        for k in 0..turn(self.depth) {
            for i in 0..rows / 4 {
                put!(text, "let a{k}_{i} = sh_left[{i}][{k}][a];");
            }
            for q in 0..quads {
                put!(text, "let b{k}_{q} = sh_right[{q}][{k}][b];");
            }
            text.push_str(&self.tile.each(|r, q| {
                let (a, b) = (format!("a{k}_{}.{}", r / 4, lane(r)), format!("b{k}_{q}"));
                format!("s{r}_{q} = s{r}_{q} + {};", self.product(&a, &b))
            }));
        }
        text
    }
}

/// An invocation's own totals: no barrier is needed before it adds to them.
const CLEAR_TOTALS: &str = "\
for (var i = 0u; i < rows * quads; i++) {
    sh_totals[i][lane] = Quad();
}
";
