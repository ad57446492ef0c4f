//! The text that brings a stage of both operands into workgroup memory: which lanes fetch which
//! blocks, and how.
//!
//! A block is four of k by four rows or columns. It is fetched as four quads along the axis on
//! which the operand is dense, or element by element, and kept as four quads of one k each.

use super::tile::Along;
use crate::wgsl::lines::{LANES, lane, put};
use crate::wgsl::source::source;
use crate::wgsl::{Region, Source};

/// How a block is read.
pub(super) const BLOCKS: Source = source!("matmul/blocks.wgsl");

/// A part of both operands, some of k deep.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stage {
    /// Blocks of A, and of both.
    pub(super) blocks: [u32; 2],
    /// Invocations that fetch them.
    pub(super) lanes: u32,
    /// How A and B are read.
    pub(super) along: [Along; 2],
    /// Whether neighbouring lanes walk along k of A and of B; otherwise along the other axis.
    pub(super) near_k: [bool; 2],
    /// Whether k ends inside a stage.
    pub(super) ragged: bool,
    /// Whether the next stage is fetched while this one is multiplied.
    pub(super) ahead: bool,
}

/// What differs between the operands: the names of the head, of the outer quads of a stage, of the
/// outer length, of the strides along the outer axis and along k.
const SIDES: [Side; 2] = [
    Side { head: "head_0", pitch: "row_quads", outer: "x", step: ["x", "y"] },
    Side { head: "head_1", pitch: "column_quads", outer: "y", step: ["w", "z"] },
];

struct Side {
    head: &'static str,
    pitch: &'static str,
    outer: &'static str,
    step: [&'static str; 2],
}

impl Stage {
    /// The regions of a kernel that multiplies by stages: how a block is read, and what brings the
    /// first stage, the next one, and either into workgroup memory.
    pub(super) fn regions(&self) -> Vec<Region> {
        let [fetch, next, put] = match self.ahead {
            true => {
                let next = format!("if k < end {{\n{}}}\n", self.fetch(""));
                [self.fetch("var "), next, self.put()]
            }
            false => [String::new(), String::new(), self.fetch("let ") + &self.put()],
        };
        let [left, right] = [0, 1].map(|i| self.block(&SIDES[i], self.along[i]));
        vec![
            Region::file("blocks", BLOCKS),
            Region::text("left_place", self.place(0)),
            Region::text("left", left),
            Region::text("right_place", self.place(1)),
            Region::text("right", right),
            Region::text("fetch", fetch),
            Region::text("next", next),
            Region::text("put", put),
        ]
    }

    /// A line for each of the blocks that a lane takes: its number, and the numbers of the first
    /// and the last lane's block.
    fn slots(&self, line: impl Fn(u32, [u32; 2]) -> String) -> String {
        let lanes = self.lanes;
        let count = self.blocks[1].div_ceil(lanes);
        (0..count).map(|i| line(i, [i * lanes, (i + 1) * lanes - 1])).collect()
    }

    /// Fetches the blocks of a stage. Where all lanes fetch from one operand the text names it,
    /// elsewhere each lane decides.
    fn fetch(&self, declare: &str) -> String {
        let [left, all] = self.blocks;
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

    /// Puts the blocks that were fetched into workgroup memory.
    fn put(&self) -> String {
        self.slots(|slot, _| format!("put(lane + {slot}u * lanes, block_{slot});\n"))
    }

    /// How lanes are given the blocks of an operand.
    fn place(&self, i: usize) -> String {
        let pitch = SIDES[i].pitch;
        match self.near_k[i] {
            true => "return vec2<u32>(block / k_quads, block % k_quads);".to_owned(),
            false => format!("return vec2<u32>(block % {pitch}, block / {pitch});"),
        }
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
        if self.ragged {
            put!(text, "let inside = {ks} < vec4<u32>(p.job.size.z);");
            ks = format!("min({ks}, vec4<u32>(p.job.size.z - 1u))");
        }
        let quad = if self.ragged { "min(place.y, (p.job.size.z - 1u) >> 2u)" } else { "place.y" };
        let kept = |value: String, inside: &str| match self.ragged {
            true => format!("select(Factors(), {value}, {inside})"),
            false => value,
        };
        let names = ["a", "b", "c", "d"];
        match along {
            Along::K => {
                let places = format!("at + {outers} * p.job.step.{outer_step} + {quad}");
                put!(text, "let e = {places};");
                for (i, name) in names.iter().enumerate() {
                    let value = kept(format!("{head}(e.{})", lane(i as u32)), "inside");
                    put!(text, "let {name} = {value};");
                }
                let turned = |i| names.map(|n| format!("{n}.{}", lane(i))).join(", ");
                let rows: Vec<_> = (0..4).map(|i| format!("Factors({})", turned(i))).collect();
                put!(text, "return Block({});", rows.join(", "));
            }
            Along::Outer | Along::Neither => {
                put!(text, "let e = ({ks}) * p.job.step.{k_step};");
                let value: Box<dyn Fn(char) -> String> = if along == Along::Outer {
                    let first = format!("at + min(place.x, ({last}) >> 2u)");
                    put!(text, "let o = {first};");
                    Box::new(|i| format!("{head}(o + e.{i})"))
                } else {
                    let first = format!("at + {outers} * p.job.step.{outer_step}");
                    put!(text, "let o = {first};");
                    let one = |i, c| format!("{head}(o.{c} + e.{i}).x");
                    Box::new(move |i| format!("Factors({})", LANES.map(|c| one(i, c)).join(", ")))
                };
                for (i, name) in names.iter().enumerate() {
                    let i = lane(i as u32);
                    let value = kept(value(i), &format!("inside.{i}"));
                    put!(text, "let {name} = {value};");
                }
                text.push_str("return Block(a, b, c, d);\n");
            }
        }
        text
    }
}
