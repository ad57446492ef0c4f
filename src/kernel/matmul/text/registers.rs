//! The text of a matmul by register tiles: what is written for a tile, and for the ways in which
//! its operands lie.

use super::job::MatmulJob;
use super::tile::{Along, Factors, K_MAX, Tile, four};
use crate::dtype::DType;
use crate::op::Kind;
use crate::wgsl::lines::{LANES, consts, lane, one_of, put};
use crate::wgsl::source::source;
use crate::wgsl::{Entry, Needs, Region};

/// The kernel by register tiles. Its trips: quads of k in one pass, chunks of them; batch
/// dimensions; a tile's elements.
pub const REGISTERS: Entry =
    Entry::new("matmul", source!("matmul.wgsl"), K_MAX / 4 + K_MAX / 256 + 8 + 5 * 64)
        .told(MatmulJob::MEMBERS);

impl Tile {
    /// The regions of `matmul.wgsl` that sum in the compute type of `dtype`. A `deep` k is longer
    /// than a chunk.
    ///
    /// Sums are kept number by number: of a vector llvmpipe loads all four parts wherever one of
    /// them is read, which takes a third longer to compile. By strips it takes a third less.
    #[must_use]
    pub fn regions(&self, dtype: DType, deep: bool) -> Vec<Region> {
        let (kind, strips) = (Kind::of(dtype).name(), self.strips);
        let sums = match strips {
            true => "alias Sum = Quad;".into(),
            false => format!("struct Sum {{ x: {kind}, y: {kind}, z: {kind}, w: {kind} }}"),
        };
        let types = format!("{}{sums}\n", self.types(dtype));
        let share = "@builtin(subgroup_invocation_id) share: u32,\n";
        let zero = |name: char| self.each(|r, q| format!("var {name}{r}_{q} = Sum();"));
        let add = |to: &str, from: &str, r: u32, q: u32| match strips {
            true => format!("{to}{r}_{q} += {from}{r}_{q};"),
            false => each_part(to, from, r, q),
        };
        // A single chunk needs no second sum: its own is cleared before the loop.
        let (total, clear, add_chunk) = match deep {
            true => ('t', zero('s'), self.each(|r, q| add("t", "s", r, q))),
            false => ('s', String::new(), String::new()),
        };
        let sum = |r, q, terms: &[Factors]| match self.fused {
            true => {
                let sum = format!("s{r}_{q}");
                let part = |x| format!("{sum}.{x} = {};", Factors::fused(terms, &sum, x));
                LANES.map(part).join("\n")
            }
            false => format!("let n{r}_{q} = {};\n{}", Factors::total(terms), add("s", "n", r, q)),
        };
        let mut regions = vec![
            Region::text("types", types),
            Region::text("batch", self.batch()),
            Region::text("places", self.places()),
            Region::text("sums", zero(total)),
            Region::text("trips", self.trips()),
            Region::text("clear", clear),
            Region::text("step", self.step(sum)).needing(self.checks()),
            Region::text("add", add_chunk),
            Region::text("store", self.store(total)),
        ];
        let share = Region::text("share", share).needing(Needs::SUBGROUPS);
        regions.extend(self.shared.then_some(share));
        regions
    }

    pub(super) fn types(&self, dtype: DType) -> String {
        let (kind, Self { rows, quads, .. }) = (Kind::of(dtype).name(), self);
        format!("alias Quad = vec4<{kind}>;\n") + &consts([("rows", rows), ("quads", quads)])
    }

    pub(super) fn batch(&self) -> String {
        let way = if self.even { "_even" } else { "" };
        format!("let at = product_batch{way}(group.z);\n")
    }

    pub(super) fn each(&self, line: impl Fn(u32, u32) -> String) -> String {
        let places = (0..self.rows).flat_map(|r| (0..self.quads).map(move |q| (r, q)));
        places.map(|(r, q)| line(r, q) + "\n").collect()
    }

    /// How often the loop over k goes.
    fn trips(&self) -> String {
        match self.trip() {
            1 => "let trips = p.job.size.z;\n".into(),
            of_k => {
                let (more, by) = (of_k - 1, of_k.ilog2());
                format!("let trips = (p.job.size.z + {more}u) >> {by}u;\n")
            }
        }
    }

    /// Where every load begins: parameters are loaded here, not in the loop.
    pub(super) fn places(&self) -> String {
        let mut text = String::from("let step = p.job.step;\nlet size = p.job.size;\n");
        let outer = self.along[0] == Along::Outer;
        let (each, more) = match (self.shared, outer) {
            (true, true) => (8, " + (share & 4u)"),
            (true, false) => (8, " + share"),
            (false, true) => (4, ""),
            (false, false) => (1, ""),
        };
        if self.strips {
            let more = if self.shared { " + share" } else { "" };
            put!(text, "let pa0 = at.x + row / rows * step.x{more};");
            return text + &self.places_right();
        }
        for i in 0..self.rows.div_ceil(each) {
            let row = format!("min(row + {}u{more}, size.x - 1u)", each * i);
            let place = match (self.shared, outer) {
                (true, true) => format!("({row} >> 2u) + (share & 3u) * step.y"),
                (false, true) => format!("({row} >> 2u)"),
                _ => format!("{row} * step.x"),
            };
            put!(text, "let pa{i} = at.x + {place};");
        }
        text + &self.places_right()
    }

    fn places_right(&self) -> String {
        let mut text = String::new();
        if self.sheets {
            let place = format!("at.y + group.y * step.w + lane * {}u", self.quads);
            for q in 0..self.quads {
                put!(text, "let pb{q} = {place} + {q}u;");
            }
            return text;
        }
        let each = if self.along[1] == Along::K { 1 } else { 4 };
        for i in 0..4 * self.quads / each {
            let column = format!("min(column + {}u, size.y - 1u)", each * i);
            let place = match self.along[1] {
                Along::K => format!("{column} * step.w"),
                Along::Outer => format!("({column} >> 2u)"),
                // Beyond the last column there may be no fours: what is read there is not stored.
                Along::Neither => format!("(column + {}u) * step.w", each * i),
            };
            put!(text, "let pb{i} = at.y + {place};");
        }
        text
    }

    /// Stores row `r` of the sums, in a loop over the rows: so the tail is compiled once for each
    /// quad, not for each sum.
    fn store(&self, total: char) -> String {
        let mut text = String::new();
        for q in 0..self.quads {
            let pick = self.pick(|r| {
                let of = |part: char| format!("{total}{r}_{q}.{part}");
                format!("Quad({})", LANES.map(of).join(", "))
            });
            let place = format!("row + r, column + {}u", 4 * q);
            put!(text, "product_store(group.z, {place}, {pick});");
        }
        text
    }

    /// The quad of row `r`.
    pub(super) fn pick(&self, quad: impl Fn(u32) -> String) -> String {
        one_of("r", (0..self.rows).map(quad))
    }

    /// Past the last of k, and past the last column of single ones, a trip reads what it does not
    /// use: somewhere else, if wgpu's checks are left out.
    pub(super) fn checks(&self) -> Needs {
        let astray = self.ragged || self.along.contains(&Along::Neither);
        if astray { Needs::CHECKS } else { Needs::NONE }
    }

    /// Everything for four of k. Their products are added up first, so that a sum is rounded once
    /// for each quad. `sum` writes the addition to a sum.
    pub(super) fn step(&self, sum: impl Fn(u32, u32, &[Factors]) -> String) -> String {
        if let Some(packed) = self.packed {
            return self.step_packed(packed);
        }
        if self.strips {
            return self.step_strips(sum);
        }
        let mut text = String::new();
        if self.ragged {
            text.push_str("let ks = vec4<u32>(4u * k) + vec4<u32>(0u, 1u, 2u, 3u);\n");
            text.push_str("let inside = ks < vec4<u32>(size.z);\n");
        }
        for q in 0..self.quads {
            self.step_right(&mut text, q);
        }
        for r in 0..self.rows {
            self.step_left(&mut text, r);
            let a = |k| match self.along[0] {
                Along::Outer => format!("a{k}_{}.{}", r / 4, lane(r)),
                _ => format!("a{r}.{}", lane(k)),
            };
            for q in 0..self.quads {
                let terms = [0, 1, 2, 3].map(|k| Factors { a: a(k), b: format!("b{k}_{q}") });
                put!(text, "{}", sum(r, q, &terms));
            }
        }
        text
    }

    /// Everything for a trip by strips: the rows of one k lie side by side there.
    fn step_strips(&self, sum: impl Fn(u32, u32, &[Factors]) -> String) -> String {
        let (mut text, of_k, fours) = (String::new(), self.trip(), self.rows / 4);
        if self.shared {
            let value = format!("head_0(pa0 + {of_k}u * k * step.y)");
            let inside = format!("{of_k}u * k + share / {fours}u < size.z");
            let kept = format!("select(Quad(), {value}, {inside})");
            put!(text, "let d = {};", if self.ragged { kept } else { value });
        }
        for (j, q) in (0..of_k).flat_map(|j| (0..self.quads).map(move |q| (j, q))) {
            let value = format!("head_1(pb{q} + ({of_k}u * k + {j}u) * step.z)");
            let inside = format!("{of_k}u * k + {j}u < size.z");
            let kept = format!("select(Quad(), {value}, {inside})");
            put!(text, "let b{j}_{q} = {};", if self.ragged && j > 0 { kept } else { value });
        }
        for r in 0..self.rows {
            for (j, i) in (0..of_k).map(|j| (j, r / 4)).filter(|_| r.is_multiple_of(4)) {
                let value = match self.shared {
                    true => format!("subgroupBroadcast(d, {}u)", fours * j + i),
                    false => format!("head_0(pa0 + k * step.y + {i}u)"),
                };
                put!(text, "let a{j}_{i} = {value};");
            }
            for q in 0..self.quads {
                let a = |j| format!("a{j}_{}.{}", r / 4, lane(r));
                let term = |j| Factors { a: a(j), b: format!("b{j}_{q}") };
                put!(text, "{}", sum(r, q, &(0..of_k).map(term).collect::<Vec<_>>()));
            }
        }
        text
    }

    /// Four quads of B, one for each k.
    fn step_right(&self, text: &mut String, q: u32) {
        if self.along[1] == Along::K {
            for c in 0..4 {
                let value = self.whole(&format!("head_1(pb{} + k)", 4 * q + c));
                put!(text, "let c{c}_{q} = {value};");
            }
        }
        for k in 0..4 {
            let at = format!("pb{q} + (4u * k + {k}u) * step.z");
            let value = match self.along[1] {
                Along::K => {
                    let x = lane(k);
                    let of = |c| format!("c{c}_{q}.{x}");
                    format!("Quad({}, {}, {}, {})", of(0), of(1), of(2), of(3))
                }
                Along::Outer => self.part(&format!("head_1({at})"), k),
                Along::Neither => self.part(&four("head_1", &at, "step.w"), k),
            };
            put!(text, "let b{k}_{q} = {value};");
        }
    }

    /// A quad of A along k, or for every fourth row four quads along the rows.
    fn step_left(&self, text: &mut String, r: u32) {
        if self.shared {
            return self.step_shared(text, r);
        }
        if self.along[0] == Along::Outer {
            if r.is_multiple_of(4) {
                for k in 0..4 {
                    let at = format!("head_0(pa{} + (4u * k + {k}u) * step.y)", r / 4);
                    let value = self.part(&at, k);
                    put!(text, "let a{k}_{} = {value};", r / 4);
                }
            }
            return;
        }
        put!(text, "let a{r} = {};", self.along_k(r));
    }

    /// What is loaded of A along k from place `g`.
    fn along_k(&self, g: u32) -> String {
        self.whole(&match self.along[0] {
            Along::Neither => four("head_0", &format!("pa{g} + 4u * k * step.y"), "step.y"),
            _ => format!("head_0(pa{g} + k)"),
        })
    }

    /// [`Tile::step_left`] where the lanes load A together and broadcast it: each loads one row of
    /// eight, or a quad of rows at one of four k.
    fn step_shared(&self, text: &mut String, r: u32) {
        let outer = self.along[0] == Along::Outer;
        let g = r / 8;
        if r.is_multiple_of(8) {
            let value = if outer {
                let value = format!("head_0(pa{g} + 4u * k * step.y)");
                let inside = "4u * k + (share & 3u) < size.z";
                let zero = format!("select(Quad(), {value}, {inside})");
                if self.ragged { zero } else { value }
            } else {
                self.along_k(g)
            };
            put!(text, "let d{g} = {value};");
        }
        if !outer {
            put!(text, "let a{r} = subgroupBroadcast(d{g}, {}u);", r % 8);
        } else if r.is_multiple_of(4) {
            for k in 0..4 {
                let from = format!("d{g}, {}u", r % 8 + k);
                put!(text, "let a{k}_{} = subgroupBroadcast({from});", r / 4);
            }
        }
    }

    /// A quad along k, zero past its end: what lies there may be NaN.
    fn whole(&self, value: &str) -> String {
        if self.ragged { format!("select(Quad(), {value}, inside)") } else { value.into() }
    }

    /// A quad of one k, zero past the end of k.
    fn part(&self, value: &str, k: u32) -> String {
        if self.ragged {
            format!("select(Quad(), {value}, inside.{})", lane(k))
        } else {
            value.into()
        }
    }
}

/// What is added to a sum, number by number.
fn each_part(to: &str, from: &str, r: u32, q: u32) -> String {
    LANES.map(|x| format!("{to}{r}_{q}.{x} += {from}{r}_{q}.{x};")).join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without them a trip past the end would read whatever lies there.
    #[test]
    fn what_reads_past_an_end_keeps_the_checks() {
        let (rows, quads, along) = (4, 1, [Along::K, Along::Outer]);
        let (ragged, shared, strips, sheets, fused) = (false, false, false, false, false);
        let (even, packed) = (true, None);
        let whole =
            Tile { rows, quads, along, ragged, shared, strips, sheets, fused, even, packed };
        assert_eq!(whole.checks(), Needs::NONE);
        assert_eq!(Tile { ragged: true, ..whole }.checks(), Needs::CHECKS);
        let single = [Along::K, Along::Neither];
        assert_eq!(Tile { along: single, ..whole }.checks(), Needs::CHECKS);
    }
}
