//! The text of attention on GPUs: what a lane keeps in registers, unrolled into names - `s2_1` is
//! the score of row 2 against key 1, `a2_1` quad 1 of its weighted values - and which quads it
//! brings into workgroup memory.

use super::SIGHT;
use crate::wgsl::lines::{LANES, consts, put};
use crate::wgsl::params::params;
use crate::wgsl::source::source;
use crate::wgsl::{Entry, Form, Region, Source, Writes};

/// The kernel.
pub const STAGED: Entry = Entry::core("attention_staged", source!("attention_staged.wgsl"))
    .clearing()
    .with(&[STAGING, SIGHT, SCORES])
    .told(StagedJob::MEMBERS);
/// What joins the states that it leaves.
pub const JOIN: Entry =
    Entry::core("attention_join", source!("attention_join.wgsl")).clearing().told(JoinJob::MEMBERS);

const STAGING: Source = source!("attention/staging.wgsl");
const SCORES: Source = source!("attention/scores.wgsl");

params! {
    struct StagedJob {
        heads: u32,
        queries: u32,
        keys: u32,
        per_head: u32,
        per_batch: u32,
        sharing: u32,
        first: u32,
        span: u32,
        query: [u32; 4],
        key: [u32; 4],
        value: [u32; 4],
        mask: [u32; 4],
        scale: f32,
        splits: u32,
        chunk: u32,
        first_group: u32,
    }

    struct JoinJob {
        rows: u32,
        states: u32,
        width: u32,
    }
}

/// Rows of a row group.
pub(crate) const ROWS: usize = 4;
/// Quads of results that a workgroup joins, of eight invocations each.
pub(crate) const QUADS_JOINED: usize = 8;

/// A kernel of attention by workgroups. Its counts of lanes are powers of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Staged {
    /// Quads of a query and of a key.
    pub length: usize,
    /// Quads of a value.
    pub width: usize,
    /// Row groups of a workgroup, of four rows each.
    pub groups: usize,
    /// How many share the keys of a row, where it comes to values.
    pub parts: usize,
    /// Lanes along a value.
    pub columns: usize,
    /// Keys of a lane in a block.
    pub each: usize,
    /// Quads of a value of a lane.
    pub quads: usize,
    /// Quads of a stage of queries and keys.
    pub depth: usize,
    /// Keys of a stage of values, of each part.
    pub run: usize,
    /// How queries, keys and values are packed, if they come eight elements at a time.
    pub packed: Option<Form>,
    /// Whether something is added to the scores.
    pub masked: bool,
    /// Whether it leaves states, not results.
    pub states: bool,
}

impl Writes for Staged {
    fn regions(&self) -> Vec<Region> {
        let mut regions = vec![
            Region::text("tile", self.tile()),
            Region::file("staging", STAGING),
            Region::file("sight", SIGHT),
            Region::file("scores", SCORES),
            Region::text("query", self.query()),
            Region::text("clear", self.clear()),
            Region::text("stage", self.stage()),
            Region::text("multiply", self.multiply()),
            Region::text("weigh", self.weigh()),
            Region::text("hand", self.hand()),
            Region::text("fetch", self.fetch()),
            Region::text("add", self.add()),
            Region::text("write", self.write()),
        ];
        if !self.masked {
            regions.push(Region::text("masked", ""));
            let first = "let first_key = row / sharing + p.job.first;\n";
            regions.push(Region::text("kept", first));
        }
        regions
    }
}

impl Staged {
    /// Lanes that have keys of the same rows.
    #[must_use]
    pub const fn across(&self) -> usize {
        self.columns * self.parts
    }

    /// Invocations.
    #[must_use]
    pub const fn lanes(&self) -> usize {
        self.groups * self.across()
    }

    /// Keys of a block.
    #[must_use]
    pub const fn block(&self) -> usize {
        self.each * self.across()
    }

    /// Bytes of workgroup memory.
    #[cfg(test)]
    #[must_use]
    pub const fn memory(&self) -> usize {
        let scores = self.depth * (ROWS * self.groups + self.block());
        let values = self.run * self.parts * self.quads * self.columns;
        16 * (scores + values + self.lanes())
    }

    /// Trips of the loops for a block of keys.
    #[must_use]
    pub const fn trips(&self) -> usize {
        let scores = self.length / self.depth * (1 + self.depth);
        let values = self.block() / (self.run * self.parts) * (1 + self.run);
        1 + scores + self.columns + self.parts + values
    }

    /// Quads of a unit, which is what one load brings.
    pub(crate) const fn unit(&self) -> usize {
        if self.packed.is_some() { 2 } else { 1 }
    }

    fn tile(&self) -> String {
        let Self { length, width, groups, parts, columns, each, quads, depth, run, .. } = *self;
        consts([
            ("groups", groups),
            ("parts", parts),
            ("columns", columns),
            ("each", each),
            ("quads", quads),
            ("length", length),
            ("width", width),
            ("depth", depth),
            ("run", run),
        ])
    }

    /// A line for each of the quads that a lane sums, by row and by quad.
    fn sums(&self, line: impl Fn(usize, usize) -> String) -> String {
        let places = (0..ROWS).flat_map(|r| (0..self.quads).map(move |m| (r, m)));
        places.map(|(r, m)| line(r, m) + "\n").collect()
    }

    /// Lines for each unit that a lane takes of so many: which one of the lane's it is, and which
    /// of all. If `stores`, lanes for which none is left do nothing; otherwise any will do.
    fn units(&self, all: usize, stores: bool, lines: impl Fn(usize, &str) -> String) -> String {
        let lanes = self.lanes();
        let unit = |u: usize| {
            let own = if u == 0 { "lane".into() } else { format!("(lane + {}u)", u * lanes) };
            let (text, left) = (lines(u, &own), all - u * lanes);
            if stores && left < lanes { format!("if lane < {left}u {{\n{text}}}\n") } else { text }
        };
        (0..all.div_ceil(lanes)).map(unit).collect()
    }

    /// Stores the quads of a unit by a function whose arguments depend on the quad: `per` units
    /// make a row.
    fn put(
        &self,
        unit: &str,
        own: &str,
        per: usize,
        line: impl Fn(&str, &str) -> String,
    ) -> String {
        match self.packed {
            None => line(&format!("{own} % {per}u"), unit),
            Some(form) => ["xy", "zw"]
                .into_iter()
                .enumerate()
                .map(|(half, words)| {
                    let quad = format!("decode_{}({unit}.{words})", form.name());
                    line(&format!("2u * ({own} % {per}u) + {half}u"), &quad)
                })
                .collect(),
        }
    }

    /// Units of a stage of queries, and of keys.
    const fn stages(&self) -> [usize; 2] {
        let depth = self.depth / self.unit();
        [ROWS * self.groups * depth, self.block() * depth]
    }

    /// Declares where the queries lie that a lane brings, and what it sums.
    fn query(&self) -> String {
        let depth = self.depth / self.unit();
        let places = self.units(self.stages()[0], false, |u, own| {
            format!(
                "let near_{u} = min(begin + {own} / {depth}u, rows - 1u);\n\
                 let query_{u} = query_base + near_{u} % sharing * p.job.query.y\n    \
                 + near_{u} / sharing * p.job.query.z + {own} % {depth}u;\n"
            )
        });
        places + &self.sums(|r, m| format!("var a{r}_{m} = Quad();"))
    }

    fn clear(&self) -> String {
        let places = (0..ROWS).flat_map(|r| (0..self.each).map(move |n| (r, n)));
        places.map(|(r, n)| format!("var s{r}_{n} = 0.0;\n")).collect()
    }

    /// Brings a stage of queries and keys. All loads come before the first store.
    fn stage(&self) -> String {
        let (unit, [queries, keys]) = (self.unit(), self.stages());
        let depth = self.depth / unit;
        let d = if unit == 1 { "d".into() } else { format!("d / {unit}u") };
        let load_query = |u, _: &str| format!("let q{u} = head_0(query_{u} + {d});\n");
        let load_key = |u, own: &str| {
            let key = format!("min(b + {own} / {depth}u, keys - 1u)");
            format!("let k{u} = head_1(key_base + {key} * key_step + {d} + {own} % {depth}u);\n")
        };
        let store = |name: char, to: &'static str, scale: &'static str| {
            move |u: usize, own: &str| {
                self.put(&format!("{name}{u}"), own, depth, |d, quad| {
                    format!("put_{to}({d}, {own} / {depth}u, {quad}{scale});\n")
                })
            }
        };
        self.units(queries, false, load_query)
            + &self.units(keys, false, load_key)
            + &self.units(queries, true, store('q', "query", " * scale"))
            + &self.units(keys, true, store('k', "key", ""))
    }

    fn multiply(&self) -> String {
        let mut text = String::new();
        for n in 0..self.each {
            put!(text, "let k{n} = sh_key[t][{n}][j];");
        }
        for r in 0..ROWS {
            put!(text, "let q{r} = sh_query[t][{r}][i];");
            for n in 0..self.each {
                for x in LANES {
                    put!(text, "s{r}_{n} = s{r}_{n} + q{r}.{x} * k{n}.{x};");
                }
            }
        }
        text
    }

    fn weigh(&self) -> String {
        let mut text = String::new();
        for n in 0..self.each {
            let key = format!("b + {n}u * across + j");
            put!(text, "var w{n} = Quad(s0_{n}, s1_{n}, s2_{n}, s3_{n});");
            if self.masked {
                let masks = LANES.map(|r| format!("head_3(e{n}.{r}).x")).join(", ");
                put!(text, "let e{n} = mask_at + min({key}, keys - 1u) * p.job.mask.w;");
                put!(text, "w{n} += Quad({masks});");
            }
            put!(text, "w{n} = counted(w{n}, {key}, first_key);");
        }
        let high = (0..self.each).fold("most".into(), |all, n| format!("max({all}, w{n})"));
        put!(text, "let top = highest({high}, j, i);");
        put!(text, "let fall = exp_below(most - top);");
        put!(text, "sum *= fall;");
        for n in 0..self.each {
            put!(text, "w{n} = exp_below(w{n} - top);");
            put!(text, "sum += w{n};");
        }
        text + &self.sums(|r, m| format!("a{r}_{m} *= fall.{};", LANES[r]))
    }

    /// Hands over the weights of the keys whose turn it is.
    fn hand(&self) -> String {
        let turns = self.columns / self.run;
        let weight = (1..self.each)
            .fold("w0".into(), |all, n| format!("select({all}, w{n}, turn >= {}u)", n * turns));
        format!("put_row(j, i, {weight});\n")
    }

    /// Brings a stage of values; of keys past the last, zeros: infinity times their weight is NaN.
    fn fetch(&self) -> String {
        let unit = self.unit();
        let per = self.quads * self.columns / unit;
        let (all, last) = (self.run * self.parts * per, self.width / unit - 1);
        let load = |u, own: &str| {
            let at = format!("min(key_{u}, keys - 1u) * value_step + min({own} % {per}u, {last}u)");
            format!(
                "let key_{u} = from_key + {own} / {per}u;\nlet v{u} = head_2(value_base + {at});\n"
            )
        };
        let store = |u: usize, own: &str| {
            self.put(&format!("v{u}"), own, per, |q, quad| {
                let kept = format!("select(Quad(), {quad}, key_{u} < keys)");
                format!("put_value({own} / {per}u, {q}, {kept});\n")
            })
        };
        self.units(all, false, load) + &self.units(all, true, store)
    }

    fn add(&self) -> String {
        let mut text = String::from("let x = sh_row[place + t][g][i];\n");
        for m in 0..self.quads {
            put!(text, "let v{m} = sh_value[t][g][{m}][c];");
        }
        text + &self.sums(|r, m| format!("a{r}_{m} = a{r}_{m} + x.{} * v{m};", LANES[r]))
    }

    /// Stores row `r`: its result, or the state of each part. The sum of weights is all parts', so
    /// only the first has it.
    fn write(&self) -> String {
        let mut text = String::new();
        let to = match self.states {
            true => "((split * parts + g) * p.job.heads * rows + result) * (width + 1u)",
            false => "result * width",
        };
        // Chosen, not indexed: FXC multiplies by ones and zeros then, and infinity makes that NaN.
        let of_row = |rows: [String; 4]| {
            let [a, b, c, d] = rows;
            format!("select(select({a}, {b}, r == 1u), select({c}, {d}, r == 3u), r > 1u)")
        };
        put!(text, "let to = {to};");
        for name in ["most", "sum"] {
            put!(text, "let {name}_r = {};", of_row(LANES.map(|lane| format!("{name}.{lane}"))));
        }
        for m in 0..self.quads {
            put!(text, "let r{m} = {};", of_row([0, 1, 2, 3].map(|r| format!("a{r}_{m}"))));
            let value = match self.states {
                true => format!("r{m}"),
                false => format!("attended(r{m}, most_r, sum_r)"),
            };
            let column = format!("{}u + c", m * self.columns);
            put!(text, "if {column} < width {{\n    finish(to + {column}, {value});\n}}");
        }
        if self.states {
            let state = "Quad(most_r, select(0.0, sum_r, g == 0u), 0.0, 0.0)";
            put!(text, "if c == 0u {{\n    finish(to + width, {state});\n}}");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_workgroup_joins_a_quad_by_its_sharers() {
        let said = |name| JOIN.source.number(name) as usize;
        assert_eq!(said("lanes") / said("sharers"), QUADS_JOINED);
    }
}
