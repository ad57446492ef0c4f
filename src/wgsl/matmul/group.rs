//! The text of a product by tiles in workgroup memory: how blocks of both operands are fetched, by
//! which lanes, and what an invocation multiplies.
//!
//! A block is four of k by four rows or columns. It is fetched as four quads along the axis on
//! which the operand is dense, or element by element, and kept as four quads of one k each.

use super::{Along, Text, Tile, lane, put};
use crate::dtype::DType;
use crate::op::Kind;

/// A kernel by tiles in workgroup memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Group {
    /// What one invocation sums: whole fours of rows. Ragged if k ends inside a stage.
    pub tile: Tile,
    /// Invocations.
    pub lanes: u32,
    /// Of them along the columns; eights there and along the rows.
    pub across: u32,
    /// Of k in a stage: 4, 8, 16 or 32.
    pub depth: u32,
    /// Whether neighbouring lanes walk along k of A and of B; otherwise along the other axis.
    pub near_k: [bool; 2],
    /// Whether k is longer than a chunk.
    pub deep: bool,
}

/// What differs between the operands: the names of the head, of the outer length, of the strides
/// along the outer axis and along k.
const SIDES: [Side; 2] = [
    Side { name: "left", head: "head_0", pitch: "row_quads", outer: "x", step: ["x", "y"] },
    Side { name: "right", head: "head_1", pitch: "column_quads", outer: "y", step: ["w", "z"] },
];

struct Side {
    name: &'static str,
    head: &'static str,
    pitch: &'static str,
    outer: &'static str,
    step: [&'static str; 2],
}

impl Group {
    /// The regions of `matmul_group.wgsl` that sum in the compute type of `dtype`.
    #[must_use]
    pub fn regions(&self, dtype: DType) -> Text {
        let Self { tile, lanes, across, depth, .. } = *self;
        let kind = Kind::of(dtype).name();
        let types = format!(
            "alias Quad = vec4<{kind}>;\nconst rows = {}u;\nconst quads = {}u;\n\
             const lanes = {lanes}u;\nconst across = {across}u;\nconst depth = {depth}u;\n",
            tile.rows, tile.quads
        );
        let total = if self.deep { 't' } else { 's' };
        let zero = |name: char| tile.each(|r, q| format!("var {name}{r}_{q} = Quad();"));
        // One chunk needs no second sum: its own is cleared before the loop.
        let (clear, add) = match self.deep {
            true => (zero('s'), tile.each(|r, q| format!("t{r}_{q} += s{r}_{q};"))),
            false => (String::new(), String::new()),
        };
        let store = (0..tile.quads).map(|q| {
            let (column, pick) = (4 * q, tile.pick(total, q));
            let row = "row + 4u * down * (r >> 2u) + (r & 3u)";
            format!("product_store(group.z, {row}, column + {column}u * across, {pick});\n")
        });
        vec![
            ("types", types),
            ("operands", self.operands()),
            ("fetch", self.fetch("var ")),
            ("next", self.fetch("")),
            ("put", self.slots(|slot, _| format!("put(lane + {slot}u * lanes, block_{slot});\n"))),
            ("sums", zero(total)),
            ("clear", clear),
            ("step", self.step()),
            ("add", add),
            ("store", store.collect()),
        ]
    }

    /// Blocks of A, and of both.
    const fn blocks(&self) -> [u32; 2] {
        let (k, down) = (self.depth / 4, self.lanes / self.across);
        let left = k * self.tile.rows / 4 * down;
        [left, left + k * self.tile.quads * self.across]
    }

    /// A line for each of the blocks that a lane takes: its number, and the numbers of the first
    /// and the last lane's block.
    fn slots(&self, line: impl Fn(u32, [u32; 2]) -> String) -> String {
        let lanes = self.lanes;
        let count = self.blocks()[1].div_ceil(lanes);
        (0..count).map(|i| line(i, [i * lanes, (i + 1) * lanes - 1])).collect()
    }

    /// Fetches the blocks of a stage. Which operand they are of is known but where lanes differ.
    fn fetch(&self, declare: &str) -> String {
        let [left, all] = self.blocks();
        self.slots(|slot, [first, last]| {
            let block = format!("lane + {first}u");
            let value = if last < left {
                format!("left(at.x, first.x, k, {block})")
            } else if first >= left && last < all {
                format!("right(at.y, first.y, k, {block} - left_blocks)")
            } else {
                format!("fetch(at, first, k, {block})")
            };
            format!("{declare}block_{slot} = {value};\n")
        })
    }

    fn operands(&self) -> String {
        let one = |i: usize| {
            let Side { name, pitch, .. } = SIDES[i];
            let place = match self.near_k[i] {
                true => "block / k_quads, block % k_quads".to_owned(),
                false => format!("block % {pitch}, block / {pitch}"),
            };
            format!(
                "fn {name}_place(block: u32) -> vec2<u32> {{\n    return vec2<u32>({place});\n}}\n\
                 \nfn {name}(at: u32, first: u32, k: u32, block: u32) -> Block {{\n    \
                 let place = vec2<u32>(first >> 2u, k) + {name}_place(block);\n{}}}\n",
                self.block(&SIDES[i], self.tile.along[i])
            )
        };
        one(0) + "\n" + &one(1)
    }

    /// The body that fetches the block at `place`: quads of the outer axis, of k. Rows and columns
    /// past the edge repeat the last one; k past its end counts as zero on both sides, because
    /// what lies there may be NaN.
    fn block(&self, side: &Side, along: Along) -> String {
        let Side { head, outer, step: [outer_step, k_step], .. } = side;
        let four = "vec4<u32>(0u, 1u, 2u, 3u)";
        let last = format!("p.job.size.{outer} - 1u");
        let mut text = String::new();
        let outers = format!("min(4u * place.x + {four}, vec4<u32>({last}))");
        let mut ks = format!("4u * place.y + {four}");
        if self.tile.ragged {
            put(&mut text, format_args!("    let inside = {ks} < vec4<u32>(p.job.size.z);"));
            ks = format!("min({ks}, vec4<u32>(p.job.size.z - 1u))");
        }
        let quad =
            if self.tile.ragged { "min(place.y, (p.job.size.z - 1u) >> 2u)" } else { "place.y" };
        let kept = |value: String, inside: &str| match self.tile.ragged {
            true => format!("select(Quad(), {value}, {inside})"),
            false => value,
        };
        let names = ["a", "b", "c", "d"];
        match along {
            Along::K => {
                let places = format!("at + {outers} * p.job.step.{outer_step} + {quad}");
                put(&mut text, format_args!("    let e = {places};"));
                for (i, name) in names.iter().enumerate() {
                    let value = kept(format!("{head}(e.{})", lane(i as u32)), "inside");
                    put(&mut text, format_args!("    let {name} = {value};"));
                }
                let turned = |i| names.map(|n| format!("{n}.{}", lane(i))).join(", ");
                let rows: Vec<_> = (0..4).map(|i| format!("Quad({})", turned(i))).collect();
                put(&mut text, format_args!("    return Block({});", rows.join(", ")));
            }
            Along::Outer | Along::Neither => {
                put(&mut text, format_args!("    let e = ({ks}) * p.job.step.{k_step};"));
                let value: Box<dyn Fn(char) -> String> = if along == Along::Outer {
                    let first = format!("at + min(place.x, ({last}) >> 2u)");
                    put(&mut text, format_args!("    let o = {first};"));
                    Box::new(|i| format!("{head}(o + e.{i})"))
                } else {
                    let first = format!("at + {outers} * p.job.step.{outer_step}");
                    put(&mut text, format_args!("    let o = {first};"));
                    let one = |i, c| format!("{head}(o.{c} + e.{i}).x");
                    Box::new(move |i| {
                        format!("Quad({})", ['x', 'y', 'z', 'w'].map(|c| one(i, c)).join(", "))
                    })
                };
                for (i, name) in names.iter().enumerate() {
                    let i = lane(i as u32);
                    let value = kept(value(i), &format!("inside.{i}"));
                    put(&mut text, format_args!("    let {name} = {value};"));
                }
                text.push_str("    return Block(a, b, c, d);\n");
            }
        }
        text
    }

    /// Everything for four of k.
    fn step(&self) -> String {
        let Tile { rows, quads, .. } = self.tile;
        let mut text = String::new();
        for k in 0..4 {
            for i in 0..rows / 4 {
                let at = format!("a + {k}u * row_quads + {i}u * down");
                put(&mut text, format_args!("let a{k}_{i} = sh_quads[{at}];"));
            }
            for q in 0..quads {
                let at = format!("b + {k}u * column_quads + {q}u * across");
                put(&mut text, format_args!("let b{k}_{q} = sh_quads[{at}];"));
            }
            text.push_str(&self.tile.each(|r, q| {
                format!("s{r}_{q} = s{r}_{q} + a{k}_{}.{} * b{k}_{q};", r / 4, lane(r))
            }));
        }
        text
    }
}
