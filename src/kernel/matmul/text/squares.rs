//! The text of a product by cooperative matrices: squares that a subgroup multiplies as one.
//!
//! A stage of both operands comes into workgroup memory as in [`group`](super::group); squares are
//! loaded from there. Their sums are names - `s3` - since a matrix cannot lie in an array.

use super::job::MatmulJob;
use super::stage::{BLOCKS, Stage};
use super::tile::{K_MAX, Tile};
use crate::dtype::DType;
use crate::op::Kind;
use crate::wgsl::lines::{one_of, put};
use crate::wgsl::source::source;
use crate::wgsl::{Entry, Needs, Region};

/// The kernel. Its trips: stages of k of at least 8, squares of k, chunks of 256; batch dimensions;
/// zeros; squares.
pub const COOPERATIVE: Entry = Entry::new(
    "matmul_cooperative",
    source!("matmul_cooperative.wgsl", Needs::SUBGROUPS),
    2 * (K_MAX / 8) + K_MAX / 256 + 8 + 256 + 64,
)
.clearing()
.with(&[BLOCKS])
.told(MatmulJob::MEMBERS);

/// A kernel by cooperative matrices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Squares {
    /// What one subgroup sums: whole squares of rows and of columns. Ragged if k ends inside a
    /// stage.
    pub tile: Tile,
    /// Rows, columns and k of a square: 8 or 16.
    pub side: u32,
    /// Subgroups along the rows and along the columns.
    pub teams: [u32; 2],
    /// Invocations: enough for so many subgroups of the largest size.
    pub lanes: u32,
    /// How much of k a stage has: whole squares.
    pub depth: u32,
    /// Whether neighbouring lanes walk along k of A and of B; otherwise along the other axis.
    pub near_k: [bool; 2],
}

/// From one row of a square to the next, in elements of so many bytes: 16 bytes divide it. Rows
/// of 16 bytes lie side by side; longer ones lie 16 more apart, for neighbours in other banks.
pub(crate) const fn pitch(side: u32, width: u32) -> u32 {
    let sixteen_bytes = 16 / width;
    if side > sixteen_bytes { side + sixteen_bytes } else { side }
}

impl Squares {
    /// The regions of `matmul_cooperative.wgsl` for operands of this dtype, f16 or f32.
    #[must_use]
    pub fn regions(&self, dtype: DType) -> Vec<Region> {
        let Self { tile, side, teams: [down, across], lanes, depth, .. } = *self;
        let (part, needs) = match dtype {
            DType::F16 => ("f16", Needs::COOPERATIVE.union(Needs::F16)),
            _ => (Kind::F32.name(), Needs::COOPERATIVE),
        };
        let pitch = pitch(side, dtype.width() as u32);
        let (rows, columns) = (tile.rows, 4 * tile.quads);
        let of = |part, role| format!("coop_mat{side}x{side}<{part}, {role}>");
        let types = format!(
            "alias Part = {part};\nalias Left = {};\nalias Right = {};\nalias Sum = {};\n\
             const side = {side}u;\nconst rows = {rows}u;\nconst columns = {columns}u;\n\
             const down = {down}u; // subgroups\nconst across = {across}u;\n\
             const lanes = {lanes}u;\nconst depth = {depth}u;\n\
             const pitch = {pitch}u;\n",
            of(part, 'A'),
            of(part, 'B'),
            of("f32", 'C'),
        );
        let clear = "coopLoadT<Sum>(&sh_sums[shared_sums], side)";
        let (squares, quads) = (self.squares(), self.quads());
        let each = |line: &dyn Fn(u32, u32) -> String| -> String {
            (0..squares).flat_map(|s| (0..quads).map(move |i| line(s, i))).collect()
        };
        let store = (0..quads).map(|i| {
            let pick = one_of("s", (0..squares).map(|s| format!("t{s}_{i}")));
            format!("square_store(group.z, first, s, lane + {i}u * lanes, {pick});\n")
        });
        let own = [
            Region::text("types", types).needing(needs),
            Region::text("totals", each(&|s, i| format!("var t{s}_{i} = Quad();\n"))),
            Region::text(
                "clear",
                (0..squares).map(|s| format!("var s{s} = {clear};\n")).collect::<String>(),
            ),
            Region::text("step", self.step()),
            Region::text("add", self.add()),
            Region::text("store", store.collect::<String>()),
        ];
        self.stage().regions().into_iter().chain(own).collect()
    }

    const fn stage(&self) -> Stage {
        let Self { tile, teams: [down, across], lanes, depth, near_k, .. } = *self;
        let k = depth / 4;
        let left = k * down * tile.rows / 4;
        let blocks = [left, left + k * across * tile.quads];
        let (along, ragged) = (tile.along, tile.ragged);
        Stage { blocks, lanes, along, near_k, ragged, ahead: true }
    }

    /// Squares of a subgroup.
    const fn squares(&self) -> u32 {
        self.tile.rows * self.tile.quads * 4 / (self.side * self.side)
    }

    /// Quads of one square of each subgroup, for each lane.
    const fn quads(&self) -> u32 {
        let [down, across] = self.teams;
        (down * across * self.side * self.side / 4).div_ceil(self.lanes)
    }

    /// Everything for one square of k.
    fn step(&self) -> String {
        let (side, mut text) = (self.side, String::new());
        let [down, across] = [self.tile.rows / side, 4 * self.tile.quads / side];
        for i in 0..down {
            let load = format!("coopLoadT<Left>(&sh_parts[a + {i}u * k_squares][0], pitch)");
            put!(text, "let a{i} = {load};");
        }
        for j in 0..across {
            let load = format!("coopLoad<Right>(&sh_parts[b + {j}u * k_squares][0], pitch)");
            put!(text, "let b{j} = {load};");
            for i in 0..down {
                let s = format!("s{}", i * across + j);
                put!(text, "{s} = coopMultiplyAdd(a{i}, b{j}, {s});");
            }
        }
        text
    }

    /// Hands the sums of a chunk to the lanes, square by square.
    fn add(&self) -> String {
        let mut text = String::new();
        for s in 0..self.squares() {
            let store = format!("coopStoreT(s{s}, &sh_sums[to], side);");
            put!(text, "if team < down * across {{\n    {store}\n}}");
            put!(text, "workgroupBarrier();");
            for i in 0..self.quads() {
                put!(text, "t{s}_{i} += square_quad(lane + {i}u * lanes);");
            }
            put!(text, "workgroupBarrier();");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::pitch;

    #[test]
    fn rows_of_a_square_are_apart_by_whole_16_bytes() {
        let of = |side| [2, 4].map(|width| pitch(side, width));
        assert_eq!([of(8), of(16)], [[8, 12], [24, 20]]);
    }
}
