//! What the attention kernel keeps in registers: queries, their scores against a block of keys, and
//! their weighted values, all unrolled into names - `s2_1` are the scores of query 2 against quad 1
//! of the block - because not every compiler keeps an array in registers.

use core::fmt::Write as _;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

/// Names and texts.
pub type Regions = Vec<(&'static str, String)>;

/// A kernel of attention.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tile {
    /// Quads of a query and of a key.
    pub keys: usize,
    /// Quads of a value.
    pub values: usize,
    /// Queries of an invocation.
    pub queries: usize,
    /// Keys that are met at once: whole fours; where lanes share, as many as there are lanes.
    pub block: usize,
    /// How many of them one trip of the loops over a block takes: for scores, for values.
    pub unroll: [usize; 2],
    /// Whether every lane loads one key (and value) of the block and hands it to the others.
    pub shared: bool,
    /// Whether queries, keys and values come eight elements at a time, as four 64-bit integers.
    pub wide: bool,
    /// What is added to the scores.
    pub mask: Mask,
}

/// How what is added to the scores is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mask {
    /// There is nothing.
    None,
    /// Element by element.
    Each,
    /// By quads of keys.
    Quads,
}

const BY_QUADS: &str = "\
fn mask_at(at: u32, step: u32) -> vec4<f32> {
    return head_3(at >> 2u);
}
";

impl Tile {
    /// The regions of `attention.wgsl`, written once in the life of a process.
    #[must_use]
    pub fn regions(&self) -> Arc<Regions> {
        static KNOWN: LazyLock<Mutex<HashMap<Tile, Arc<Regions>>>> = LazyLock::new(Mutex::default);
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(known.entry(*self).or_insert_with(|| Arc::new(self.written())))
    }

    fn written(&self) -> Regions {
        let place = "@builtin(subgroup_invocation_id) place: u32,\n";
        let mut regions = vec![
            ("tile", format!("const count = {}u;\nconst block = {}u;\n", self.queries, self.block)),
            ("place", String::from(if self.shared { place } else { "" })),
            ("query", self.query()),
            ("score", self.score()),
            ("weigh", self.weigh()),
            ("value", self.value()),
            ("write", self.write()),
        ];
        match self.mask {
            Mask::None => regions.push(("masked", String::new())),
            Mask::Each => {}
            Mask::Quads => regions.push(("masked", BY_QUADS.into())),
        }
        regions
    }

    const fn quads(&self) -> usize {
        self.block / 4
    }

    /// `name0`, `name1`, .. for so many quads that lie from `at` on in an input.
    fn load(&self, name: &str, input: usize, at: &str, quads: usize) -> Text {
        let mut text = Text::default();
        if !self.wide {
            for d in 0..quads {
                text.line(format_args!("let {name}{d} = head_{input}({at} + {d}u);"));
            }
            return text;
        }
        for pair in 0..quads / 2 {
            text.line(format_args!("let {name}pair{pair} = head_{input}({at} + {pair}u);"));
            for (d, half) in [(2 * pair, "xy"), (2 * pair + 1, "zw")] {
                let words = format!("words4({name}pair{pair}.{half})");
                text.line(format_args!("let {name}{d} = bitcast<vec4<f32>>({words});"));
            }
        }
        text
    }

    fn query(&self) -> String {
        let mut text = Text::default();
        for i in 0..self.queries {
            text.line(format_args!("let row{i} = min(first + {i}u * workgroup, rows - 1u);"));
            text.line(format_args!("let part{i} = row{i} / queries;"));
            text.line(format_args!("let query{i} = row{i} - part{i} * queries;"));
            text.line(format_args!("let seen{i} = seen_by(query{i});"));
            if self.mask != Mask::None {
                let place = format!("part{i} * p.job.mask.y + query{i} * p.job.mask.z");
                text.line(format_args!("let mask{i} = mask_base + {place};"));
            }
            let place = format!("part{i} * p.job.query.y + query{i} * p.job.query.z");
            text.line(format_args!("let at{i} = query_base + {place};"));
            text.add(&self.load(&format!("l{i}_"), 0, &format!("at{i}"), self.keys));
            for d in 0..self.keys {
                text.line(format_args!("let q{i}_{d} = l{i}_{d} * scale;"));
            }
            for e in 0..self.values {
                text.line(format_args!("var a{i}_{e} = vec4<f32>(0.0);"));
            }
            text.line(format_args!("var most{i} = LOWEST;"));
            text.line(format_args!("var sum{i} = 0.0;"));
            text.line(format_args!("var bits{i} = vec4<u32>(0u);"));
        }
        text.0
    }

    /// A loop over the block with `c` as its first key, which loads (`name`, `head_input`, its
    /// first quad, its step) what it needs of each.
    fn each_key(
        &self,
        (name, input, base, step): (&str, usize, &str, &str),
        quads: usize,
        body: &Text,
    ) -> String {
        let (block, unroll) = (self.block, self.unroll[input - 1]);
        let is_straight = unroll == block;
        let mut text = Text::default();
        if self.shared {
            text.line(format_args!("let {name}_mine = {base} + key_mine * {step};"));
            let mine = self.load(&format!("mine_{name}"), input, &format!("{name}_mine"), quads);
            text.add(&mine);
        }
        match is_straight {
            true => text.line(format_args!("let {name}_c = 0u;")),
            false => text.line(format_args!(
                "for (var {name}_c = 0u; {name}_c < {block}u; {name}_c += {unroll}u) {{"
            )),
        }
        for n in 0..unroll {
            if self.shared {
                for d in 0..quads {
                    text.line(format_args!(
                        "let {name}{n}_{d} = subgroupShuffle(mine_{name}{d}, {name}_c + {n}u);"
                    ));
                }
            } else {
                let key = format!("min(j + {name}_c + {n}u, keys - 1u)");
                text.line(format_args!("let {name}_at{n} = {base} + {key} * {step};"));
                let one = self.load(&format!("{name}{n}_"), input, &format!("{name}_at{n}"), quads);
                text.add(&one);
            }
        }
        text.add(body);
        if !is_straight {
            text.line(format_args!("}}"));
        }
        text.0
    }

    fn score(&self) -> String {
        let mut body = Text::default();
        for n in 0..self.unroll[0] {
            for b in 0..self.quads() {
                body.line(format_args!("let here{n}_{b} = FOUR + {}u == vec4(k_c + {n}u);", 4 * b));
            }
            for i in 0..self.queries {
                let dots = (0..self.keys).map(|d| format!("dot(q{i}_{d}, k{n}_{d})"));
                body.line(format_args!("var t{i}_{n} = {};", dots.collect::<Vec<_>>().join(" + ")));
                for b in 0..self.quads() {
                    let s = format!("s{i}_{b}");
                    let t = format!("vec4(t{i}_{n})");
                    body.line(format_args!("{s} = select({s}, {t}, here{n}_{b});"));
                }
            }
        }
        let scores = self.each(|i, b| format!("var s{i}_{b} = vec4<f32>(0.0);"));
        let key = if self.shared { "let key_mine = min(j + place, keys - 1u);\n" } else { "" };
        scores + key + &self.each_key(("k", 1, "key_base", "key_step"), self.keys, &body)
    }

    fn each(&self, line: impl Fn(usize, usize) -> String) -> String {
        let places = (0..self.queries).flat_map(|i| (0..self.quads()).map(move |b| (i, b)));
        places.map(|(i, b)| line(i, b) + "\n").collect()
    }

    fn weigh(&self) -> String {
        let mut text = Text::default();
        for b in 0..self.quads() {
            text.line(format_args!("let near{b} = vec4<u32>(j + {}u) + FOUR;", 4 * b));
        }
        for i in 0..self.queries {
            for b in 0..self.quads() {
                let s = format!("s{i}_{b}");
                if self.mask != Mask::None {
                    let at = format!("mask{i} + (j + {}u) * mask_step", 4 * b);
                    text.line(format_args!("{s} += mask_at({at}, mask_step);"));
                }
                text.line(format_args!("{s} = hidden({s}, near{b}, seen{i});"));
                let bits = format!("bits{i}");
                text.line(format_args!("{bits} = max({bits}, bitcast<vec4<u32>>({s}) & ABS);"));
            }
            let quads = 1..self.quads();
            let high = quads.clone().fold(format!("s{i}_0"), |a, b| format!("max({a}, s{i}_{b})"));
            text.line(format_args!("let top{i} = max(most{i}, highest({high}));"));
            text.line(format_args!("let fall{i} = exp_below(vec4<f32>(most{i} - top{i})).x;"));
            for b in 0..self.quads() {
                text.line(format_args!("let w{i}_{b} = exp_below(s{i}_{b} - top{i});"));
            }
            let all = quads.fold(format!("w{i}_0"), |a, b| format!("{a} + w{i}_{b}"));
            text.line(format_args!("sum{i} = sum{i} * fall{i} + total({all});"));
            text.line(format_args!("most{i} = top{i};"));
        }
        text.0
    }

    fn value(&self) -> String {
        let unroll = self.unroll[1];
        let mut body = Text::default();
        for i in 0..self.queries {
            for n in 0..unroll {
                // The weight of key `c + n`, by comparison: registers have no index.
                let weight = |trip: usize| {
                    let key = trip * unroll + n;
                    format!("w{i}_{}.{}", key / 4, ["x", "y", "z", "w"][key % 4])
                };
                let pick = (1..self.block / unroll).fold(weight(0), |all, trip| {
                    format!("select({all}, {}, v_c == {}u)", weight(trip), trip * unroll)
                });
                body.line(format_args!("let x{i}_{n} = {pick};"));
            }
            body.line(format_args!("let f{i} = select(1.0, fall{i}, v_c == 0u);"));
        }
        for e in 0..self.values {
            for i in 0..self.queries {
                let terms = (0..unroll).map(|n| format!("x{i}_{n} * v{n}_{e}"));
                let sum = terms.collect::<Vec<_>>().join(" + ");
                body.line(format_args!("a{i}_{e} = a{i}_{e} * f{i} + ({sum});"));
            }
        }
        self.each_key(("v", 2, "value_base", "value_step"), self.values, &body)
    }

    fn write(&self) -> String {
        let mut text = Text::default();
        let values = self.values;
        for i in 0..self.queries {
            text.line(format_args!("if first + {i}u * workgroup < rows {{"));
            text.line(format_args!("    let end{i} = ends(most{i}, sum{i}, bits{i});"));
            text.line(format_args!("    let put{i} = (all * rows + row{i}) * {values}u;"));
            for e in 0..values {
                let result = format!("nan_where(a{i}_{e} * end{i}.part, end{i}.fault)");
                text.line(format_args!("    finish(put{i} + {e}u, {result});"));
            }
            text.line(format_args!("}}"));
        }
        text.0
    }
}

#[derive(Default)]
struct Text(String);

impl Text {
    fn line(&mut self, line: core::fmt::Arguments<'_>) {
        // Writing to a String cannot fail.
        let _ = self.0.write_fmt(line);
        self.0.push('\n');
    }

    fn add(&mut self, other: &Self) {
        self.0.push_str(&other.0);
    }
}
