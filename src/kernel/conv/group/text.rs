//! The text of a convolution by tiles in workgroup memory. It is unrolled into names: `s5_1` are
//! the sums of the lane's second quad of rows at the sixth of its pixels.

use crate::kernel::conv::text::{ConvJob, store};
use crate::op::Kind;
use crate::wgsl::lines::{consts, lane, one_of, put};
use crate::wgsl::source::source;
use crate::wgsl::{Entry, Region, Target, Way, Worded, Writes};

/// The kernel.
pub const GROUP: Entry = Entry::core("conv_group", source!("conv_group.wgsl"))
    .clearing()
    .told(ConvJob::MEMBERS)
    .worded(ConvGroup::wordings);

/// Channels of a stage, and stages of a chunk.
pub(super) const DEPTH: usize = 16;
pub(super) const CHUNK: usize = 16;

/// Lanes of a workgroup along the rows, and along the pixels.
pub(super) const SIDE: u32 = 8;

/// Pixels that a lane sums.
const PIXELS: u32 = 8;

/// How a convolution by tiles is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ConvGroup {
    /// Quads of rows that a lane sums.
    pub quads: u32,
    /// What is summed.
    pub kind: Kind,
    /// Whether the channels of a group are no whole stages.
    pub ragged: bool,
    /// Whether there are more stages than a chunk has.
    pub deep: bool,
    /// Whether an image of the result is whole quads. Otherwise it is stored by elements.
    pub whole: bool,
}

impl ConvGroup {
    /// Every shape of it, in f32, and one for each other kind.
    fn wordings() -> Vec<Worded> {
        let of = |kind: Kind, bits: u32| {
            let [ragged, deep, whole, two] = [1, 2, 4, 8].map(|b| bits & b > 0);
            let text = Self { quads: 1 + u32::from(two), kind, ragged, deep, whole };
            let dtype = kind.dtype();
            let worded = Worded::of(text, &[dtype; 2], dtype, Target::Gpu);
            let inputs = vec![(dtype, Way::Each), (dtype, Way::Dense)];
            Worded { inputs, by_element: !whole, ..worded }
        };
        let all = (0..16).map(|bits| of(Kind::F32, bits));
        all.chain([of(Kind::I32, 6), of(Kind::U32, 10)]).collect()
    }

    fn each(&self, line: impl Fn(u32, u32) -> String) -> String {
        let sums = (0..PIXELS).flat_map(|x| (0..self.quads).map(move |q| (x, q)));
        sums.map(|(x, q)| line(x, q) + "\n").collect()
    }

    /// Quads of weights that a lane fetches for a stage.
    const fn loads(&self) -> u32 {
        DEPTH as u32 * self.quads / SIDE
    }

    /// What a lane fetches: four quads of channels of its pixel, and quads of rows. A channel past
    /// the last counts as zero on both sides, because what lies there may be NaN.
    fn fetch(&self, declare: &str) -> String {
        let mut text = String::new();
        let channel = |n: String| match self.ragged {
            true => format!("min({n}, last)"),
            false => n,
        };
        if self.ragged {
            put!(text, "let last = p.job.size.y - 1u - place.channel;");
        }
        for m in 0..4 {
            let one = |n: u32| {
                let at = channel(format!("{}u", 4 * m + n));
                format!("head_0(place.input + {at} * p.job.input.w).x")
            };
            let quad = format!("Quad({})", [0, 1, 2, 3].map(one).join(", "));
            let first = 4 * m;
            let here = match self.ragged {
                true => format!(
                    "vec4<bool>(place.inside) & \
                     (vec4<u32>({first}u, {}u, {}u, {}u) <= vec4<u32>(last))",
                    first + 1,
                    first + 2,
                    first + 3
                ),
                false => "place.inside".into(),
            };
            put!(text, "{declare}f{m} = select(Quad(), {quad}, {here});");
        }
        for m in 0..self.loads() {
            let c = format!("lane / row_quads + {m}u * at_once");
            let step = "p.job.weight.w";
            let quad = |c: &str| format!("head_1(place.weight + of_row + {c} * {step})");
            let value = match self.ragged {
                true => {
                    format!("select(Quad(), {}, {c} <= last)", quad(&format!("min({c}, last)")))
                }
                false => quad(&format!("({c})")),
            };
            put!(text, "{declare}g{m} = {value};");
        }
        text
    }

    fn put(&self) -> String {
        let mut text = String::new();
        for m in 0..4 {
            let at = format!("{}u + lane / 4u % side", SIDE * (m / 2));
            put!(text, "sh_x[{}][lane / 32u][lane % 4u][{at}] = f{m};", m % 2);
        }
        for m in 0..self.loads() {
            put!(text, "let c{m} = lane / row_quads + {m}u * at_once;");
            let at = format!("c{m} / side * side + fetched % side");
            put!(text, "sh_w[c{m} % side][fetched / side][{at}] = g{m};");
        }
        text
    }

    /// Eight channels of all that the lane sums.
    fn step(&self) -> String {
        let mut text = String::new();
        for half in 0..2 {
            for c in 0..4 {
                for q in 0..self.quads {
                    let channel = 4 * half + c;
                    put!(text, "let w{channel}_{q} = sh_w[{channel}][{q}][a];");
                }
            }
            for x in 0..PIXELS {
                put!(text, "let x{half}_{x} = sh_x[{half}][{}][{}][b];", x / 4, x % 4);
                for c in 0..4 {
                    for q in 0..self.quads {
                        let w = format!("w{}_{q}", 4 * half + c);
                        put!(text, "s{x}_{q} = s{x}_{q} + {w} * x{half}_{x}.{};", lane(c));
                    }
                }
            }
        }
        text
    }

    /// A row of the sums: in a loop, so that the tail is compiled once for each quad of pixels.
    fn store(&self) -> String {
        let name = if self.deep { 't' } else { 's' };
        let mut text = String::new();
        for half in 0..2 {
            let row = |r: u32| {
                let one = |i: u32| format!("{name}{}_{}.{}", 4 * half + i, r / 4, lane(r));
                format!("Quad({})", [0, 1, 2, 3].map(one).join(", "))
            };
            let row = one_of("r", (0..4 * self.quads).map(row));
            put!(text, "store(first_quad + own.y + {}u, part, of_group, {row});", SIDE * half);
        }
        text
    }
}

impl Writes for ConvGroup {
    fn regions(&self) -> Vec<Region> {
        let zero = |name: char| self.each(|x, q| format!("var {name}{x}_{q} = Quad();"));
        let sizes = [
            ("quads", self.quads),
            ("side", SIDE),
            ("depth", DEPTH as u32),
            ("chunk", CHUNK as u32),
        ];
        let types = format!("alias Quad = vec4<{}>;\n", self.kind.name()) + &consts(sizes);
        // A single chunk needs no totals: its own sums are cleared before the loop.
        let (sums, clear, add) = match self.deep {
            false => (zero('s'), String::new(), String::new()),
            true => (zero('t'), zero('s'), self.each(|x, q| format!("t{x}_{q} += s{x}_{q};"))),
        };
        let finish = store("v").lines(self.whole);
        let again = format!(
            "if stage < end {{\nplace = place_of(stage, at, begin);\n{}}}\n",
            self.fetch("")
        );
        vec![
            Region::text("types", types),
            Region::text(
                "fetch",
                String::from("var place = place_of(0u, at, begin);\n") + &self.fetch("var "),
            ),
            Region::text("sums", sums),
            Region::text("clear", clear),
            Region::text("put", self.put()),
            Region::text("next", again),
            Region::text("step", self.step()),
            Region::text("add", add),
            Region::text("store", self.store()),
            Region::text("finish", finish),
        ]
    }
}
