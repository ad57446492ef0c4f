//! What the kernel of attention by lanes keeps in registers: queries, their scores against a block
//! of keys, and their weighted values, all unrolled into names - `s2_1` are the scores of query 2
//! against quad 1 of the block - because not every compiler keeps an array in registers:
//! [`Block::listed`] is for one that does not, and is none the slower.

pub mod staged;

use core::ops::Range;

use crate::wgsl::lines::{consts, fused, lane, one_of, put};
use crate::wgsl::params::params;
use crate::wgsl::source::source;
use crate::wgsl::{Entry, Form, Needs, Region, Source, Writes};

/// The kernel.
pub const ATTENTION: Entry = Entry::core("attention", source!("attention.wgsl"))
    .with(&[MASK_QUADS, SIGHT])
    .told(AttentionJob::MEMBERS);

params! {
    struct AttentionJob {
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
    }
}

/// The input that has the values.
const VALUES: usize = 2;

const MASK_QUADS: Source = source!("attention/mask_quads.wgsl");
const SIGHT: Source = source!("attention/sight.wgsl");

/// A kernel of attention.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Block {
    /// Quads of a query and of a key.
    pub keys: usize,
    /// Quads of a value.
    pub values: usize,
    /// Queries of an invocation.
    pub queries: usize,
    /// Keys of a block, a multiple of four; where lanes share loads, as many as there are lanes.
    pub block: usize,
    /// How many of these one trip of a loop over a block takes: for scores, for values.
    pub unroll: [usize; 2],
    /// Whether every lane loads one key (and value) of the block and hands it to the others.
    pub shared: bool,
    /// Whether a product is added to its sum by `fma`, where that is one instruction.
    pub fused: bool,
    /// Whether queries and sums lie in arrays. Where a compiler keeps these in memory, it is what
    /// they come to anyway, and needs no choice among names; others take a minute to compile them.
    pub listed: bool,
    /// What one load brings of queries, keys and values.
    pub unit: Unit,
    /// What is added to the scores.
    pub mask: Mask,
}

/// What one load brings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unit {
    /// A quad of f32.
    Quad,
    /// Two quads, as four 64-bit integers.
    Wide,
    /// Two quads, packed into four words.
    Packed(Form),
}

impl Unit {
    pub(super) const fn quads(self) -> usize {
        if matches!(self, Self::Quad) { 1 } else { 2 }
    }

    /// One of two quads, of its half of a unit.
    fn quad(self, half: &str) -> String {
        match self {
            Self::Quad => half.into(),
            Self::Wide => format!("bitcast<vec4<f32>>(words4({half}))"),
            Self::Packed(form) => format!("decode_{}({half})", form.name()),
        }
    }
}

/// How the mask is read, which is added to the scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mask {
    /// There is no mask.
    None,
    /// Element by element.
    Each,
    /// By quads of keys.
    Quads,
}

impl Writes for Block {
    fn regions(&self) -> Vec<Region> {
        let place = "@builtin(subgroup_invocation_id) place: u32,\n";
        let tile = consts([("count", self.queries), ("block", self.block)]);
        let mut regions = vec![
            Region::text("tile", tile),
            Region::file("sight", SIGHT),
            Region::text("query", self.query()),
            Region::text("score", self.score()),
            Region::text("weigh", self.weigh()),
            Region::text("value", self.value()),
            Region::text("write", self.write()),
        ];
        if self.shared {
            regions.push(Region::text("place", place).needing(Needs::SUBGROUPS));
        }
        match self.mask {
            Mask::None => regions.push(Region::text("masked", "")),
            Mask::Each => {}
            Mask::Quads => regions.push(Region::file("masked", MASK_QUADS)),
        }
        regions
    }
}

/// The parts of a quad that have sums of their own, for each query: enough that few additions wait
/// for the one before, and so few that registers hold the sums of six queries. They are the same
/// for any number of queries, and so are the bits of a result.
const PARTS: [&str; 2] = ["xy", "zw"];
/// The type of a part.
const PART: &str = "vec2<f32>";

impl Block {
    const fn quads(&self) -> usize {
        self.block / 4
    }

    /// Quad `d` of so many that are kept for query `i`: its own, `q`, or those of its sums, `a`.
    fn kept(&self, (name, each): (char, usize), i: usize, d: usize) -> String {
        if self.listed { format!("{name}[{}]", i * each + d) } else { format!("{name}{i}_{d}") }
    }

    /// Those of so many quads that have names of their own.
    const fn named(&self, quads: usize) -> Range<usize> {
        if self.listed { 0..0 } else { 0..quads }
    }

    /// Loads quads of an input from `at` on, as `name0`, `name1`, ..
    fn load(
        &self,
        there: Option<&str>,
        name: &str,
        input: usize,
        at: &str,
        quads: usize,
    ) -> String {
        let mut text = String::new();
        let put = |text: &mut String, d: usize, quad: String| match there {
            Some(there) => put!(text, "let {name}{d} = select(vec4<f32>(), {quad}, {there});"),
            None => put!(text, "let {name}{d} = {quad};"),
        };
        if self.unit == Unit::Quad {
            for d in 0..quads {
                put(&mut text, d, format!("head_{input}({at} + {d}u)"));
            }
            return text;
        }
        for pair in 0..quads / 2 {
            put!(text, "let {name}pair{pair} = head_{input}({at} + {pair}u);");
            for (d, half) in [(2 * pair, "xy"), (2 * pair + 1, "zw")] {
                put(&mut text, d, self.unit.quad(&format!("{name}pair{pair}.{half}")));
            }
        }
        text
    }

    /// Declares what each query keeps: where it lies, how many keys it sees, its sums.
    fn query(&self) -> String {
        let mut text = String::new();
        for i in 0..self.queries {
            put!(text, "let row{i} = min(first + {i}u * workgroup, rows - 1u);");
            put!(text, "let part{i} = row{i} / queries;");
            put!(text, "let query{i} = row{i} - part{i} * queries;");
            put!(text, "let first{i} = query{i} + p.job.first;");
            if self.mask != Mask::None {
                let place = format!("part{i} * p.job.mask.y + query{i} * p.job.mask.z");
                put!(text, "let mask{i} = mask_base + {place};");
            }
            let place = format!("part{i} * p.job.query.y + query{i} * p.job.query.z");
            put!(text, "let at{i} = query_base + {place};");
            for d in self.named(self.keys) {
                put!(text, "var q{i}_{d} = vec4<f32>(0.0);");
            }
            for e in self.named(self.values) {
                put!(text, "var a{i}_{e} = vec4<f32>(0.0);");
            }
            put!(text, "var most{i} = lowest(p.job.queries);");
            put!(text, "var sum{i} = 0.0;");
            put!(text, "var bits{i} = vec4<u32>(0u);");
        }
        text += &self.query_loads();
        text
    }

    /// Loads all queries through a single load inside two loops: a load takes as long to compile as
    /// a hundred multiplications, and queries are loaded only once.
    fn query_loads(&self) -> String {
        let mut text = String::new();
        let each = self.unit.quads();
        if self.listed {
            put!(text, "var q: array<vec4<f32>, {}>;", self.queries * self.keys);
            put!(text, "var a: array<vec4<f32>, {}>;", self.queries * self.values);
        }
        put!(text, "for (var i = 0u; begin + i * workgroup < stop; i++) {{");
        put!(text, "let at = {};", self.of_query(|i| format!("at{i}")));
        for d in self.named(self.keys) {
            put!(text, "var l{d} = vec4<f32>(0.0);");
        }
        // Not a parameter alone: some drivers compile anew for each value of those.
        put!(text, "let beyond = at + p.job.query.w;");
        // A place may lie below zero until it is added to where its binding begins.
        put!(text, "for (var u = 0u; at + u != beyond; u++) {{");
        text += &self.load(None, "unit", 0, "at + u", each);
        for d in self.named(self.keys) {
            let (from, u) = (d % each, d / each);
            put!(text, "l{d} = select(l{d}, unit{from} * scale, u == {u}u);");
        }
        for d in (0..each).filter(|_| self.listed) {
            put!(text, "q[i * {}u + u * {each}u + {d}u] = unit{d} * scale;", self.keys);
        }
        put!(text, "}}");
        for i in 0..self.queries {
            for d in self.named(self.keys) {
                put!(text, "q{i}_{d} = select(q{i}_{d}, l{d}, i == {i}u);");
            }
        }
        put!(text, "}}");
        text
    }

    /// The variable of query `i`.
    fn of_query(&self, name: impl Fn(usize) -> String) -> String {
        one_of("i", (0..self.queries).map(name))
    }

    /// Loads the one key (or value) of a block that is this lane's, if lanes share their loads.
    fn mine(&self, stream: Stream<'_>, quads: usize) -> String {
        let Stream { name, input, base, step } = stream;
        let mut text = String::new();
        if self.shared {
            put!(text, "let {name}_mine = {base} + key_mine * {step};");
            let there = (input == VALUES).then_some("j + place < keys");
            let (mine, at) = (format!("mine_{name}"), format!("{name}_mine"));
            text += &self.load(there, &mine, input, &at, quads);
        }
        text
    }

    /// A loop over the keys (or values) of a block; `name_c` is the first of a trip. The body takes
    /// quad after quad, and is told how a part of it is spelled for each key of a trip: handed over
    /// where it is used, so that few are needed at once.
    fn each_key(
        &self,
        stream: Stream<'_>,
        quads: usize,
        (before, after): (&str, &str),
        body: impl Fn(&mut String, usize, &dyn Fn(usize, &str) -> String),
    ) -> String {
        let Stream { name, input, base, step } = stream;
        let (block, unroll) = (self.block, self.unroll[input - 1]);
        let is_straight = unroll == block;
        let mut text = self.mine(stream, quads);
        if is_straight {
            put!(text, "let {name}_c = 0u;");
        } else {
            put!(text, "for (var {name}_c = 0u; {name}_c < {block}u; {name}_c += {unroll}u) {{");
        }
        text += before;
        if !self.shared {
            for n in 0..unroll {
                let key = format!("min(j + {name}_c + {n}u, keys - 1u)");
                put!(text, "let {name}_at{n} = {base} + {key} * {step};");
                let there = format!("j + {name}_c + {n}u < keys");
                let there = (input == VALUES).then_some(&*there);
                let (each, at) = (format!("{name}{n}_"), format!("{name}_at{n}"));
                text += &self.load(there, &each, input, &at, quads);
            }
        }
        for d in 0..quads {
            body(&mut text, d, &|n, part| match (self.shared, is_straight) {
                (false, _) => format!("{name}{n}_{d}.{part}"),
                (true, true) => format!("subgroupBroadcast(mine_{name}{d}.{part}, {n}u)"),
                (true, false) => format!("subgroupShuffle(mine_{name}{d}.{part}, {name}_c + {n}u)"),
            });
        }
        text += after;
        if !is_straight {
            put!(text, "}}");
        }
        text
    }

    fn score(&self) -> String {
        let unroll = self.unroll[0];
        let (mut before, mut after) = (String::new(), String::new());
        for n in 0..unroll {
            for b in 0..self.quads() {
                put!(before, "let here{n}_{b} = FOUR + {}u == vec4(k_c + {n}u);", 4 * b);
            }
            for i in 0..self.queries {
                put!(before, "var t{i}_{n} = {PART}(0.0);");
                for b in 0..self.quads() {
                    let s = format!("s{i}_{b}");
                    let t = format!("vec4(t{i}_{n}.x + t{i}_{n}.y)");
                    put!(after, "{s} = select({s}, {t}, here{n}_{b});");
                }
            }
        }
        let scores = self.each(|i, b| format!("var s{i}_{b} = vec4<f32>(0.0);"));
        let key = if self.shared { "let key_mine = min(j + place, keys - 1u);\n" } else { "" };
        let rows = Stream { name: "k", input: 1, base: "key_base", step: "key_step" };
        let body = self.each_key(rows, self.keys, (&before, &after), |text, d, passed| {
            for part in PARTS {
                for n in 0..unroll {
                    put!(text, "let key{n}_{d}{part} = {};", passed(n, part));
                    for i in 0..self.queries {
                        let (t, q) = (format!("t{i}_{n}"), self.kept(('q', self.keys), i, d));
                        let product = (format!("{q}.{part}"), format!("key{n}_{d}{part}"));
                        put!(text, "{t} = {};", self.sum(&t, product));
                    }
                }
            }
        });
        scores + key + &body
    }

    fn each(&self, line: impl Fn(usize, usize) -> String) -> String {
        let places = (0..self.queries).flat_map(|i| (0..self.quads()).map(move |b| (i, b)));
        places.map(|(i, b)| line(i, b) + "\n").collect()
    }

    fn weigh(&self) -> String {
        let mut text = String::new();
        for b in 0..self.quads() {
            put!(text, "let near{b} = vec4<u32>(j + {}u) + FOUR;", 4 * b);
            if self.mask != Mask::None {
                // What is past the last key is hidden, and not there to be loaded.
                put!(text, "let far{b} = min(near{b}, vec4<u32>(keys - 1u)) * mask_step;");
            }
        }
        for i in 0..self.queries {
            for b in 0..self.quads() {
                let s = format!("s{i}_{b}");
                if self.mask != Mask::None {
                    put!(text, "{s} += mask_at(mask{i}, far{b});");
                }
                put!(text, "{s} = hidden({s}, near{b}, first{i});");
                let bits = format!("bits{i}");
                put!(text, "{bits} = max({bits}, bitcast<vec4<u32>>({s}) & ABS);");
            }
            let quads = 1..self.quads();
            let high = quads.clone().fold(format!("s{i}_0"), |a, b| format!("max({a}, s{i}_{b})"));
            put!(text, "let top{i} = max(most{i}, highest({high}));");
            put!(text, "let fall{i} = exp_below(vec4<f32>(most{i} - top{i})).x;");
            for b in 0..self.quads() {
                put!(text, "let w{i}_{b} = exp_below(s{i}_{b} - top{i});");
            }
            let all = quads.fold(format!("w{i}_0"), |a, b| format!("{a} + w{i}_{b}"));
            put!(text, "sum{i} = sum{i} * fall{i} + total({all});");
            put!(text, "most{i} = top{i};");
        }
        text
    }

    fn value(&self) -> String {
        let unroll = self.unroll[1];
        let mut before = String::new();
        for i in 0..self.queries {
            for n in 0..unroll {
                // The weight of key `c + n`.
                let weight = |trip: usize| {
                    let key = trip * unroll + n;
                    format!("w{i}_{}.{}", key / 4, lane(key as u32))
                };
                let pick = (1..self.block / unroll).fold(weight(0), |all, trip| {
                    format!("select({all}, {}, v_c == {}u)", weight(trip), trip * unroll)
                });
                put!(before, "let x{i}_{n} = {pick};");
            }
            put!(before, "let f{i} = select(1.0, fall{i}, v_c == 0u);");
        }
        let rows = Stream { name: "v", input: VALUES, base: "value_base", step: "value_step" };
        let sums = ('a', self.values);
        self.each_key(rows, self.values, (&before, ""), |text, e, passed| {
            for part in PARTS {
                for i in 0..self.queries {
                    let sum = self.kept(sums, i, e);
                    put!(text, "var b{i}_{e}{part} = {sum}.{part} * f{i};");
                }
                for n in 0..unroll {
                    put!(text, "let value{n}_{e}{part} = {};", passed(n, part));
                    for i in 0..self.queries {
                        let weight = format!("{PART}(x{i}_{n})");
                        let (b, product) =
                            (format!("b{i}_{e}{part}"), (weight, format!("value{n}_{e}{part}")));
                        put!(text, "{b} = {};", self.sum(&b, product));
                    }
                }
            }
            for i in 0..self.queries {
                let parts = PARTS.map(|part| format!("b{i}_{e}{part}"));
                let sum = self.kept(sums, i, e);
                put!(text, "{sum} = vec4<f32>({});", parts.join(", "));
            }
        })
    }

    /// A sum, and what is added to it: a product.
    fn sum(&self, sum: &str, (a, b): (String, String)) -> String {
        if self.fused { fused(sum.into(), [(a, b)]) } else { format!("{sum} + {a} * {b}") }
    }

    fn write(&self) -> String {
        let mut text = String::new();
        let of = |name: &str| self.of_query(|i| format!("{name}{i}"));
        put!(text, "for (var i = 0u; begin + i * workgroup < stop; i++) {{");
        let ends = format!("ends({}, {}, {})", of("most"), of("sum"), of("bits"));
        put!(text, "let ending = {ends};");
        let place = format!("(batch * queries + {}) * heads + head + {}", of("query"), of("part"));
        put!(text, "let put = ({place}) * {}u;", self.values);
        for e in self.named(self.values) {
            put!(text, "let r{e} = {};", self.of_query(|i| format!("a{i}_{e}")));
        }
        let sum = match self.listed {
            true => format!("a[i * {}u + e]", self.values),
            false => one_of("e", (0..self.values).map(|e| format!("r{e}"))),
        };
        put!(text, "if first + i * workgroup < rows {{");
        put!(text, "let beyond = put + {}u * p.job.value.w;", self.unit.quads());
        put!(text, "for (var e = 0u; put + e < beyond; e++) {{");
        put!(text, "finish(put + e, nan_where({sum} * ending.part, ending.fault));\n}}\n}}\n}}");
        text
    }
}

/// Where keys or values come from.
#[derive(Clone, Copy)]
struct Stream<'a> {
    /// What the variables of their quads begin with.
    name: &'a str,
    input: usize,
    /// The first quad, and the step from one key to the next.
    base: &'a str,
    step: &'a str,
}
