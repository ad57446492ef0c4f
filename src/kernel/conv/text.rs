//! The text of a convolution: what is written for a tile of so many rows. It is unrolled into
//! names: `s2` are the sums of row 2 at the four pixels of a lane.

use crate::op::Kind;
use crate::wgsl::lines::{LANES, StoredQuad, consts, lane, one_of, put};
use crate::wgsl::params::params;
use crate::wgsl::source::source;
use crate::wgsl::{Entry, Region, Target, Worded, Writes};

/// The kernel.
pub const CONV: Entry = Entry::core("conv", source!("conv.wgsl"))
    .clearing()
    .told(ConvJob::MEMBERS)
    .worded(ConvTile::wordings);

/// Terms that are summed before their sum is added to the others.
pub(super) const CHUNK: usize = 256;

params! {
    struct ConvJob {
        tiles: [u32; 4],
        size: [u32; 4],
        space: [u32; 4],
        result: [u32; 4],
        taps: [u32; 4],
        step: [u32; 4],
        reach: [u32; 4],
        first: [u32; 4],
        input: [u32; 4],
        weight: [u32; 4],
        outer: [u32; 2],
        first_group: u32,
    }
}

/// The kernel for a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ConvTile {
    /// Rows of the weights: one, or whole fours.
    pub rows: u32,
    /// Invocations of a workgroup.
    pub lanes: u32,
    /// What is summed.
    pub kind: Kind,
    /// Whether weights are staged in workgroup memory.
    pub staged: bool,
    /// Whether there are more terms than a chunk has.
    pub deep: bool,
    /// Whether an image of the result is whole quads. Otherwise it is stored by elements.
    pub whole: bool,
}

impl ConvTile {
    /// Channels of a stage: each lane puts four rows of one of them.
    #[must_use]
    pub const fn depth(&self) -> u32 {
        if self.staged { self.lanes / (self.rows / 4) } else { 1 << 16 }
    }

    /// Few rows and many, staged or not, by quads and by elements.
    fn wordings() -> Vec<Worded> {
        let mut all = Vec::new();
        for kind in Kind::ALL.iter().copied().filter(|&kind| kind != Kind::Bool) {
            for bits in 0..8 {
                let [deep, whole, gpu] = [1, 2, 4].map(|b| bits & b > 0);
                let (target, lanes) = if gpu { (Target::Gpu, 64) } else { (Target::Cpu, 8) };
                let dtype = kind.dtype();
                all.extend([1, 4, 8].map(|rows| {
                    let tile = Self { rows, lanes, kind, staged: gpu && rows > 1, deep, whole };
                    let trial = Worded::of(tile, &[dtype; 2], dtype, target);
                    Worded { by_element: !whole, ..trial }
                }));
            }
        }
        all
    }

    fn each(&self, line: impl Fn(u32) -> String) -> String {
        (0..self.rows).map(|r| line(r) + "\n").collect()
    }

    fn types(&self) -> String {
        let Self { rows, lanes, kind, .. } = *self;
        let (depth, chunk) = (self.depth(), CHUNK as u32);
        let quad = format!("alias Quad = vec4<{}>;\n", kind.name());
        quad + &consts([("rows", rows), ("lanes", lanes), ("depth", depth), ("chunk", chunk)])
    }

    /// Where the rows of weights begin: all of them, or the four that a lane puts.
    fn places(&self) -> String {
        let place = |row: String| {
            format!("(part * p.job.size.x + min({row}, p.job.size.x - 1u)) * p.job.outer.y")
        };
        if !self.staged {
            return self.each(|r| format!("let w{r} = {};", place(format!("row + {r}u"))));
        }
        let mut text = String::from("let mine = row + lane % (rows / 4u) * 4u;\n");
        for r in 0..4 {
            put!(text, "let w{r} = {};", place(format!("mine + {r}u")));
        }
        text
    }

    /// All lanes put the weights of a stage, once nobody reads those of the one before.
    fn put(&self) -> String {
        let rows = LANES.iter().enumerate();
        let quad: Vec<String> = rows.map(|(r, _)| format!("head_1(w{r} + base).x")).collect();
        let mut text = String::from("workgroupBarrier();\n");
        put!(text, "let own = lane / (rows / 4u);");
        put!(text, "if own < stop - stage {{");
        put!(text, "let base = tap + (stage + own) * p.job.weight.w;");
        put!(text, "sh_weights[lane] = Quad({});", quad.join(", "));
        put!(text, "}}\nworkgroupBarrier();");
        text
    }

    fn step(&self) -> String {
        let mut text = String::new();
        for r in 0..self.rows {
            if self.staged && r.is_multiple_of(4) {
                let at = format!("(c - stage) * (rows / 4u) + {}u", r / 4);
                put!(text, "let b{} = sh_weights[{at}];", r / 4);
            }
            let weight = match self.staged {
                true => format!("b{}.{}", r / 4, lane(r)),
                false => format!("head_1(w{r} + w).x"),
            };
            put!(text, "s{r} += {weight} * a;");
        }
        text
    }

    /// The sums of the chunks so far. In registers they would leave no room for the loop, so that a
    /// GPU's lanes keep them in workgroup memory, each its own.
    fn total(&self, r: u32) -> String {
        if self.staged { format!("sh_totals[{r}u * lanes + lane]") } else { format!("t{r}") }
    }

    fn sums(&self) -> String {
        let total = |r| match self.staged {
            _ if !self.deep => String::new(),
            true => format!("\n{} = Quad();", self.total(r)),
            false => format!("\nvar t{r} = Quad();"),
        };
        self.each(|r| format!("var s{r} = Quad();{}", total(r)))
    }

    /// After a chunk its sums are added to the others.
    fn add(&self) -> String {
        if !self.deep {
            return String::new();
        }
        let flush = self.each(|r| format!("{} += s{r};\ns{r} = Quad();", self.total(r)));
        format!("left -= stop - stage;\nif left == 0u {{\n{flush}left = chunk;\n}}\n")
    }

    /// A row of the sums: in a loop, so that the tail is compiled once.
    fn store(&self) -> String {
        let pick = one_of("r", (0..self.rows).map(|r| format!("s{r}")));
        store(&pick).lines(self.whole)
    }
}

/// How a quad of pixels is stored.
pub(super) fn store(quad: &str) -> StoredQuad<'_> {
    StoredQuad { quad: (quad, "Quad"), to: "to", within: ("pixel", "p.job.size.w") }
}

impl Writes for ConvTile {
    fn regions(&self) -> Vec<Region> {
        let total = |r| format!("s{r} += {};", self.total(r));
        let total = if self.deep { self.each(total) } else { String::new() };
        let mut regions = vec![
            Region::text("types", self.types()),
            Region::text("places", self.places()),
            Region::text("sums", self.sums()),
            Region::text("step", self.step()),
            Region::text("add", self.add()),
            Region::text("total", total),
            Region::text("store", self.store()),
        ];
        if self.staged {
            let memory = "var<workgroup> sh_weights: array<Quad, depth * rows / 4u>;\n";
            regions.push(Region::text("memory", memory));
            let totals = "var<workgroup> sh_totals: array<Quad, rows * lanes>;\n";
            regions.extend(self.deep.then(|| Region::text("memory", totals)));
            regions.push(Region::text("put", self.put()));
        }
        regions
    }
}
