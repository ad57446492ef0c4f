//! all-MiniLM-L6-v2: a BERT encoder of six layers, whose mean over the tokens is the embedding.
//!
//! ```text
//! x = norm(word + position + kind)
//! six times:  x = norm(x + output(attention(query(x), key(x), value(x))))
//!             x = norm(x + down(gelu(up(x))))
//! embedding = mean of x over the tokens, scaled to length 1
//! ```
//!
//! Weights may be narrower than f32. What is computed is f32 in any case: a weight is widened where
//! it is multiplied by, so that memory holds the narrow one.

use wharf::tensor::{Attention, Quantized};
use wharf::{Axes, DType, Result, Tensor, TensorSet};

const LAYERS: usize = 6;
const HEADS: usize = 12;
const EPSILON: f32 = 1e-12;

/// Numbers of an embedding.
pub(crate) const WIDTH: usize = 384;

/// The longest sequence that there are positions for.
pub(crate) const TOKENS_MAX: usize = 512;

/// A matrix of weights: numbers, or in blocks.
enum Matrix {
    Numbers(Tensor),
    Blocks(Box<Quantized>),
}

struct Linear {
    weight: Matrix,
    bias: Tensor,
}

impl Linear {
    fn of(&self, x: &Tensor) -> Result<Tensor> {
        let bias = Some(&self.bias);
        match &self.weight {
            Matrix::Numbers(weight) => x.linear(weight, bias),
            Matrix::Blocks(weight) => x.linear(&**weight, bias),
        }
    }
}

struct Norm {
    weight: Tensor,
    bias: Tensor,
}

impl Norm {
    fn of(&self, x: &Tensor) -> Result<Tensor> {
        x.layer_norm(2, Some(&self.weight), Some(&self.bias), EPSILON)
    }
}

struct Layer {
    query: Linear,
    key: Linear,
    value: Linear,
    output: Linear,
    attention_norm: Norm,
    up: Linear,
    down: Linear,
    norm: Norm,
}

/// `[batch, tokens, width]` as `[batch, heads, tokens, width of a head]`, and back.
fn by_heads(x: &Tensor) -> Result<Tensor> {
    let &[batch, tokens, width] = x.shape().dims() else { return Ok(x.clone()) };
    x.reshape([batch, tokens, HEADS, width / HEADS])?.permute([0, 2, 1, 3])
}

fn together(x: &Tensor) -> Result<Tensor> {
    let &[batch, heads, tokens, width] = x.shape().dims() else { return Ok(x.clone()) };
    x.permute([0, 2, 1, 3])?.contiguous()?.reshape([batch, tokens, heads * width])
}

impl Layer {
    fn of(&self, x: &Tensor, how: &Attention) -> Result<Tensor> {
        let part = |linear: &Linear| linear.of(x).and_then(|x| by_heads(&x));
        let (query, key, value) = (part(&self.query)?, part(&self.key)?, part(&self.value)?);
        let seen = together(&query.attention(&key, &value, how)?)?;
        let x = self.attention_norm.of(&(self.output.of(&seen)? + x)?)?;
        let wide = self.up.of(&x)?.gelu()?;
        self.norm.of(&(self.down.of(&wide)? + &x)?)
    }
}

/// The model on a device.
pub(crate) struct Model {
    words: Matrix,
    positions: Tensor,
    kind: Tensor,
    norm: Norm,
    layers: Vec<Layer>,
}

/// Whether something is multiplied by this, or looked up in it by token: what takes the memory.
pub(crate) fn is_matrix(name: &str) -> bool {
    name.ends_with(".weight") && !["Norm", "position", "type"].iter().any(|w| name.contains(w))
}

/// Takes the parts of the model out of a set, by the names of its file.
struct Parts<'a> {
    set: &'a TensorSet,
}

impl Parts<'_> {
    fn tensor(&self, name: &str) -> Result<Tensor> {
        self.set.tensor(name).cloned()
    }

    fn matrix(&self, name: &str) -> Result<Matrix> {
        // Blocks have names of their own.
        match self.set.get(name) {
            Some(weight) => Ok(Matrix::Numbers(weight.clone())),
            None => Ok(Matrix::Blocks(Box::new(self.set.quantized(name)?))),
        }
    }

    fn linear(&self, name: &str) -> Result<Linear> {
        let weight = self.matrix(&format!("{name}.weight"))?;
        Ok(Linear { weight, bias: self.tensor(&format!("{name}.bias"))? })
    }

    fn norm(&self, name: &str) -> Result<Norm> {
        let weight = self.tensor(&format!("{name}.LayerNorm.weight"))?;
        Ok(Norm { weight, bias: self.tensor(&format!("{name}.LayerNorm.bias"))? })
    }

    fn layer(&self, n: usize) -> Result<Layer> {
        let linear = |part: &str| self.linear(&format!("encoder.layer.{n}.{part}"));
        Ok(Layer {
            query: linear("attention.self.query")?,
            key: linear("attention.self.key")?,
            value: linear("attention.self.value")?,
            output: linear("attention.output.dense")?,
            attention_norm: self.norm(&format!("encoder.layer.{n}.attention.output"))?,
            up: linear("intermediate.dense")?,
            down: linear("output.dense")?,
            norm: self.norm(&format!("encoder.layer.{n}.output"))?,
        })
    }
}

impl Model {
    /// The model of a set of its weights, of which matrices may be in blocks.
    pub(crate) fn of(set: &TensorSet) -> Result<Self> {
        let parts = Parts { set };
        Ok(Self {
            words: parts.matrix("embeddings.word_embeddings.weight")?,
            positions: parts.tensor("embeddings.position_embeddings.weight")?,
            kind: parts.tensor("embeddings.token_type_embeddings.weight")?.slice(0, 0..1)?,
            norm: parts.norm("embeddings")?,
            layers: (0..LAYERS).map(|n| parts.layer(n)).collect::<Result<_>>()?,
        })
    }

    /// The embeddings, `[batch, width]`, of tokens `[batch, tokens]`, of which `there` (bool) says
    /// which are no padding. Nothing crosses.
    pub(crate) fn embed(&self, tokens: &Tensor, there: &Tensor) -> Result<Tensor> {
        let words = match &self.words {
            Matrix::Numbers(table) => table.embedding(tokens)?.cast(DType::F32)?,
            Matrix::Blocks(table) => table.embedding(tokens)?,
        };
        let positions = self.positions.slice(0, 0..tokens.shape().dims()[1])?;
        let places = (positions.cast(DType::F32)? + self.kind.cast(DType::F32)?)?;
        let mut x = self.norm.of(&(words + places)?)?;
        let how = Attention::new().masked(&there.unsqueeze(1)?.unsqueeze(1)?);
        for layer in &self.layers {
            x = layer.of(&x, &how)?;
        }
        let there = there.unsqueeze(2)?.cast(DType::F32)?;
        let mean = ((x * &there)?.sum(1)? / there.sum(1)?)?;
        &mean / mean.norm(Axes::keep(1))?
    }
}
