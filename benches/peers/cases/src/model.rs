//! all-MiniLM-L6-v2 with weights from a seed: the tensors of its file, and what it comes to on the
//! host.
//!
//! ```text
//! x = norm(word + position + kind)
//! six times:  x = norm(x + output(attention(query(x), key(x), value(x))))
//!             x = norm(x + down(gelu(up(x))))
//! embedding = mean of x over the tokens, scaled to length 1
//! ```
//!
//! The weights are of the model's own shapes and of a size at which no layer fades or grows; how
//! fast they are multiplied does not depend on what they are.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use crate::check::{LOOKS, Within, compare, erf};
use crate::values;

/// So many sequences of so many tokens, none of them padding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Model {
    pub batch: usize,
    pub tokens: usize,
}

/// Numbers of a token.
pub const WIDTH: usize = 384;
/// Numbers between the two products of a layer's second half.
pub const WIDE: usize = 1536;
pub const LAYERS: usize = 6;
pub const HEADS: usize = 12;
/// Added to the variance of a norm.
pub const EPSILON: f64 = 1e-12;
/// How many words, places, and kinds of token have an embedding.
pub const TABLES: [usize; 3] = [30_522, 512, 2];

/// Sequences that differ: the others of a batch repeat them, so that all of it can be checked.
/// Odd, so that whoever takes a neighbour's, or that of a power of two away, is found out.
const DIFFERENT: usize = 3;

/// Components of a vector of length 1, of which a usual one is 0.05.
const CLOSE: Within = Within { part: 0.0, distance: 1e-5 };

/// The tensors of the model, by the names of its file: names and shapes.
#[must_use]
pub fn weights() -> Vec<(String, Vec<usize>)> {
    let mut all = Vec::new();
    let both = |all: &mut Vec<_>, name: String, shape: Vec<usize>| {
        all.push((format!("{name}.bias"), vec![shape[0]]));
        all.push((format!("{name}.weight"), shape));
    };
    for (name, rows) in ["word", "position", "token_type"].into_iter().zip(TABLES) {
        all.push((format!("embeddings.{name}_embeddings.weight"), vec![rows, WIDTH]));
    }
    both(&mut all, "embeddings.LayerNorm".into(), vec![WIDTH]);
    for n in 0..LAYERS {
        for (part, shape) in [
            ("attention.self.query", vec![WIDTH, WIDTH]),
            ("attention.self.key", vec![WIDTH, WIDTH]),
            ("attention.self.value", vec![WIDTH, WIDTH]),
            ("attention.output.dense", vec![WIDTH, WIDTH]),
            ("attention.output.LayerNorm", vec![WIDTH]),
            ("intermediate.dense", vec![WIDE, WIDTH]),
            ("output.dense", vec![WIDTH, WIDE]),
            ("output.LayerNorm", vec![WIDTH]),
        ] {
            both(&mut all, format!("encoder.layer.{n}.{part}"), shape);
        }
    }
    all
}

impl Model {
    /// The tokens `[batch, tokens]`, as numbers, and then the weights in their order.
    pub(crate) fn inputs(self) -> Vec<Vec<f32>> {
        let different: Vec<Vec<f32>> = (0..DIFFERENT as u64).map(|s| self.sequence(s)).collect();
        let tokens = (0..self.batch).flat_map(|row| different[row % DIFFERENT].iter().copied());
        let mut inputs = vec![tokens.collect()];
        for ((name, shape), seed) in weights().into_iter().zip(100..) {
            // A norm's weights are around 1; sums of 384 and of 1536 products stay around 1.
            let (middle, size) = match (shape.len(), name.ends_with(".weight")) {
                (1, true) => (1.0, 0.125),
                (1, false) => (0.0, 0.125),
                _ if name.starts_with("embeddings.") => (0.0, 1.0),
                _ => (0.0, 0.0625),
            };
            let all = values(seed, shape.iter().product());
            inputs.push(all.into_iter().map(|x| middle + size * x).collect());
        }
        inputs
    }

    /// Tokens of one sequence: each of 512 values stands for 59 words.
    fn sequence(self, seed: u64) -> Vec<f32> {
        let whole = |x: f32| (x + 1.0) * 256.0;
        let draws = values(40 + seed, 2 * self.tokens);
        draws.chunks(2).map(|x| whole(x[0]) * 59.0 + whole(x[1]) % 59.0).collect()
    }

    /// Compares embeddings `[batch, width]` with the host's.
    pub(crate) fn check(self, inputs: &[Vec<f32>], result: &[f32]) -> Result<(), String> {
        let exact = self.embeddings(inputs);
        compare(result, self.batch * WIDTH, LOOKS, CLOSE, |i| exact[i % exact.len()])
    }

    /// The embeddings of the sequences that differ. They take seconds, and are asked for again.
    fn embeddings(self, inputs: &[Vec<f32>]) -> Arc<Vec<f64>> {
        type Known = Option<(Model, Arc<Vec<f64>>)>;
        static KNOWN: Mutex<Known> = Mutex::new(None);
        let mut known = KNOWN.lock().unwrap_or_else(|broken| broken.into_inner());
        if let Some((model, exact)) = &*known
            && *model == self
        {
            return Arc::clone(exact);
        }
        let names = weights().into_iter().map(|(name, _)| name);
        let host = Host { weights: names.zip(inputs[1..].iter().map(Vec::as_slice)).collect() };
        let sequences = inputs[0].chunks(self.tokens).take(DIFFERENT);
        let exact: Arc<Vec<f64>> = Arc::new(sequences.flat_map(|ids| host.embed(ids)).collect());
        *known = Some((self, Arc::clone(&exact)));
        exact
    }
}

/// The model on the host, in f64.
struct Host<'a> {
    weights: HashMap<String, &'a [f32]>,
}

impl Host<'_> {
    fn row(&self, table: &str, row: usize) -> &[f32] {
        &self.weights[&format!("embeddings.{table}_embeddings.weight")][row * WIDTH..][..WIDTH]
    }

    fn embed(&self, ids: &[f32]) -> Vec<f64> {
        let mut x = Vec::new();
        for (place, &id) in ids.iter().enumerate() {
            let tables = [("word", id as usize), ("position", place), ("token_type", 0)];
            let rows = tables.map(|(table, row)| self.row(table, row));
            x.extend((0..WIDTH).map(|i| rows.iter().map(|row| f64::from(row[i])).sum::<f64>()));
        }
        x = self.norm("embeddings", &x);
        for n in 0..LAYERS {
            let layer = format!("encoder.layer.{n}");
            let part = |name: &str| self.linear(&format!("{layer}.attention.self.{name}"), &x);
            let seen = attention(&part("query"), &part("key"), &part("value"));
            let seen = self.linear(&format!("{layer}.attention.output.dense"), &seen);
            x = self.norm(&format!("{layer}.attention.output"), &plus(&seen, &x));
            let mut wide = self.linear(&format!("{layer}.intermediate.dense"), &x);
            for x in &mut wide {
                *x *= 0.5 * (1.0 + erf(*x * core::f64::consts::FRAC_1_SQRT_2));
            }
            let down = self.linear(&format!("{layer}.output.dense"), &wide);
            x = self.norm(&format!("{layer}.output"), &plus(&down, &x));
        }
        let mean = |i: usize| x.iter().skip(i).step_by(WIDTH).sum::<f64>() / ids.len() as f64;
        let mean: Vec<f64> = (0..WIDTH).map(mean).collect();
        let length = dot(&mean, &mean).sqrt();
        mean.into_iter().map(|x| x / length).collect()
    }

    fn linear(&self, name: &str, x: &[f64]) -> Vec<f64> {
        let bias = self.weights[&format!("{name}.bias")];
        let wide = |x: &f32| f64::from(*x);
        let weight: Vec<f64> = self.weights[&format!("{name}.weight")].iter().map(wide).collect();
        let k = weight.len() / bias.len();
        let row = |row| bias.iter().zip(weight.chunks(k)).map(move |(b, w)| wide(b) + dot(row, w));
        x.chunks(k).flat_map(row).collect()
    }

    fn norm(&self, name: &str, x: &[f64]) -> Vec<f64> {
        let of = |what: &str| self.weights[&format!("{name}.LayerNorm.{what}")];
        let (weight, bias) = (of("weight"), of("bias"));
        let mut out = Vec::with_capacity(x.len());
        for row in x.chunks(WIDTH) {
            let mean = row.iter().sum::<f64>() / WIDTH as f64;
            let variance = row.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / WIDTH as f64;
            let scale = 1.0 / (variance + EPSILON).sqrt();
            let each = row.iter().zip(weight.iter().zip(bias));
            out.extend(each.map(|(x, (w, b))| (x - mean) * scale * f64::from(*w) + f64::from(*b)));
        }
        out
    }
}

fn plus(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a + b).collect()
}

/// In eight sums, which a processor adds to at once.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    for (a, b) in a.chunks(8).zip(b.chunks(8)) {
        for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
            *sum += a * b;
        }
    }
    sums.iter().sum()
}

/// Of every head, of all its queries to all its keys.
fn attention(query: &[f64], key: &[f64], value: &[f64]) -> Vec<f64> {
    const D: usize = WIDTH / HEADS;
    let mut out = vec![0.0; query.len()];
    for head in (0..WIDTH).step_by(D) {
        for (query, out) in query.chunks(WIDTH).zip(out.chunks_mut(WIDTH)) {
            let keys = key.chunks(WIDTH).map(|key| &key[head..head + D]);
            let scores = keys.map(|key| dot(&query[head..head + D], key) / (D as f64).sqrt());
            let weights: Vec<f64> = scores.map(f64::exp).collect();
            let total: f64 = weights.iter().sum();
            for (value, weight) in value.chunks(WIDTH).zip(&weights) {
                for (out, value) in out[head..head + D].iter_mut().zip(&value[head..]) {
                    *out += weight / total * value;
                }
            }
        }
    }
    out
}
