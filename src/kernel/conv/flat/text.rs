//! The text of a flat convolution. It is unrolled into names: `s2_1` is the sum of row 2 at the
//! second quad of pixels, `a1_0` the first four rows' weights of the second tap along x.

use crate::dtype::DType;
use crate::kernel::choice::processor::SHARERS;
use crate::wgsl::lines::{LANES, StoredQuad, consts, lane, one_of, put};
use crate::wgsl::params::params;
use crate::wgsl::source::source;
use crate::wgsl::{Entry, Needs, Region, Target, Worded, Writes};

/// The kernel.
pub const FLAT: Entry = Entry::core("conv_flat", source!("conv_flat.wgsl"))
    .told(FlatJob::MEMBERS)
    .worded(FlatTile::wordings);

/// Quads of pixels of a tile.
pub(super) const QUADS: usize = 4;
/// Invocations of a workgroup: as many as may load weights together.
pub(super) const LANES_EACH: usize = SHARERS as usize;

params! {
    struct FlatJob {
        tiles: [u32; 4],
        size: [u32; 4],
        input: [u32; 4],
        result: [u32; 4],
    }
}

/// How a flat convolution is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FlatTile {
    /// Taps along x, and the elements from one to the next.
    pub(super) taps: u32,
    /// Rows of a strip.
    pub(super) rows: u32,
    pub(super) reach: u32,
    /// Whether the lanes of a subgroup load weights together.
    pub(super) shared: bool,
    /// Whether there is more than one chunk of channels.
    pub(super) deep: bool,
    /// Whether lines of the result are whole quads. Otherwise it is stored by elements.
    pub(super) whole: bool,
}

impl FlatTile {
    /// Quads of the input that the taps of a tile lie in.
    pub(super) const fn quads(&self) -> u32 {
        QUADS as u32 + (self.reach * (self.taps - 1)).div_ceil(4)
    }

    fn wordings() -> Vec<Worded> {
        let each = |n: u32| {
            let [shared, deep, whole] = [1, 2, 4].map(|bit| n & bit > 0);
            let (taps, reach) = [(3, 1), (5, 2), (1, 1)][n as usize % 3];
            let text = Self { rows: 8 << (n / 4), taps, reach, shared, deep, whole };
            let worded = Worded::of(text, &[DType::F32; 2], DType::F32, Target::Cpu);
            Worded { by_element: !whole, ..worded }
        };
        (0..8).map(each).collect()
    }

    fn each(&self, line: impl Fn(u32, u32) -> String) -> String {
        let places = (0..self.rows).flat_map(|r| (0..QUADS as u32).map(move |q| (r, q)));
        places.map(|(r, q)| line(r, q) + "\n").collect()
    }

    /// What a tap sees at a quad of pixels: four elements that follow each other.
    fn seen(&self, tap: u32, q: u32) -> String {
        let away = tap * self.reach;
        let (first, part) = (q + away / 4, away as usize % 4);
        if part == 0 {
            return format!("x{first}");
        }
        let parts = (0..4).map(|i| {
            let at = part + i;
            format!("x{}.{}", first + at as u32 / 4, LANES[at % 4])
        });
        format!("Quad({})", parts.collect::<Vec<_>>().join(", "))
    }

    fn step(&self) -> String {
        let (mut text, of_tap) = (String::new(), self.rows / 4);
        for q in 0..self.quads() {
            put!(text, "let x{q} = head_0(line + {q}u);");
        }
        let (weights, lanes) = (self.taps * of_tap, LANES_EACH as u32);
        if self.shared {
            for j in 0..weights.div_ceil(lanes) {
                let (begin, last) = (j * lanes, weights - 1);
                put!(text, "let d{j} = head_1(w + min({begin}u + share, {last}u));");
            }
        }
        for tap in 0..self.taps {
            for i in 0..of_tap {
                let n = tap * of_tap + i;
                let weight = match self.shared {
                    true => format!("subgroupBroadcast(d{}, {}u)", n / lanes, n % lanes),
                    false => format!("head_1(w + {n}u)"),
                };
                put!(text, "let a{tap}_{i} = {weight};");
            }
            for q in 0..QUADS as u32 {
                put!(text, "let y{tap}_{q} = {};", self.seen(tap, q));
            }
        }
        // The taps of a line are added up first: a sum is loaded and stored once for all of them.
        text += &self.each(|r, q| {
            let term = |tap| format!("a{tap}_{}.{} * y{tap}_{q}", r / 4, lane(r));
            let terms: Vec<String> = (0..self.taps).map(term).collect();
            format!("s{r}_{q} += {};", terms.join(" + "))
        });
        text
    }

    /// A quad of the sums: in loops, so that the tail is compiled once.
    fn store(&self) -> String {
        let of_row = |r| one_of("q", (0..QUADS).map(|q| format!("s{r}_{q}")));
        let pick = one_of("r", (0..self.rows).map(of_row));
        let (to, within) = ("((above + y) * pixels + x)", ("x", "pixels"));
        StoredQuad { quad: (&pick, "Quad"), to, within }.lines(self.whole)
    }
}

impl Writes for FlatTile {
    fn regions(&self) -> Vec<Region> {
        let sizes = [("rows", self.rows), ("quads", QUADS as u32), ("taps", self.taps)];
        let types = String::from("alias Quad = vec4<f32>;\n") + &consts(sizes);
        let total = |line: fn(u32, u32) -> String| {
            if self.deep { self.each(line) } else { String::new() }
        };
        let totals = total(|r, q| format!("var t{r}_{q} = Quad();"));
        let add = total(|r, q| format!("t{r}_{q} += s{r}_{q};\ns{r}_{q} = Quad();"));
        let zero = self.each(|r, q| format!("var s{r}_{q} = Quad();"));
        let share = "@builtin(subgroup_invocation_id) share: u32,\n";
        let share = Region::text("share", share).needing(Needs::SUBGROUPS);
        let regions = [
            Region::text("types", types),
            Region::text("sums", zero + &totals),
            Region::text("step", self.step()),
            Region::text("add", add),
            Region::text("total", total(|r, q| format!("s{r}_{q} += t{r}_{q};"))),
            Region::text("store", self.store()),
        ];
        regions.into_iter().chain(self.shared.then_some(share)).collect()
    }
}
