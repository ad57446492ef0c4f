//! The same model of burn's own modules: its encoder, and what is looked up before it.

use std::collections::HashMap;

use burn::module::Param;
use burn::nn::transformer::{
    TransformerEncoder, TransformerEncoderConfig, TransformerEncoderInput,
};
use burn::nn::{Embedding, EmbeddingConfig, LayerNorm, LayerNormConfig, Linear};
use burn::tensor::{Bool, Device, Int, Tensor, TensorData};
use peer_cases::{EPSILON, HEADS, LAYERS, Model, TABLES, WIDE, WIDTH, weights};

/// The model on a device, and what it is given.
pub(crate) struct MiniLm {
    tables: [Embedding; 3],
    norm: LayerNorm,
    encoder: TransformerEncoder,
    /// Word, place and kind of each token.
    ids: [Tensor<2, Int>; 3],
    padding: Tensor<2, Bool>,
}

/// Weights by name, on their way to a device.
struct Weights<'a> {
    values: HashMap<String, &'a [f32]>,
    device: &'a Device,
}

impl Weights<'_> {
    fn put<const D: usize>(&self, to: &mut Param<Tensor<D>>, name: &str, shape: [usize; D]) {
        let data = TensorData::new(self.values[name].to_vec(), shape);
        *to = Param::from_tensor(Tensor::from_data(data, self.device));
    }

    /// A bias, if there is one to take it.
    fn bias(&self, to: Option<&mut Param<Tensor<1>>>, name: &str) {
        let name = format!("{name}.bias");
        to.map(|to| self.put(to, &name, [self.values[&name].len()]));
    }

    /// burn keeps weights as `[in, out]`.
    fn linear(&self, to: &mut Linear, name: &str) {
        self.bias(to.bias.as_mut(), name);
        let name = format!("{name}.weight");
        let [k, n] = to.weight.val().dims();
        self.put(&mut to.weight, &name, [n, k]);
        let dense = to.weight.val().into_data().try_to_vec::<f32>().unwrap_or_default();
        let turned: Vec<f32> =
            (0..k).flat_map(|i| dense.iter().skip(i).step_by(k).copied()).collect();
        let data = TensorData::new(turned, [k, n]);
        to.weight = Param::from_tensor(Tensor::from_data(data, self.device));
    }

    fn norm(&self, to: &mut LayerNorm, name: &str) {
        let name = format!("{name}.LayerNorm");
        self.bias(to.beta.as_mut(), &name);
        self.put(&mut to.gamma, &format!("{name}.weight"), [WIDTH]);
    }
}

impl MiniLm {
    pub(crate) fn new(of: Model, inputs: &[Vec<f32>], device: &Device) -> Self {
        let Model { batch, tokens } = of;
        let names = weights().into_iter().map(|(name, _)| name);
        let values = names.zip(inputs[1..].iter().map(Vec::as_slice)).collect();
        let weights = Weights { values, device };
        let mut tables = TABLES.map(|rows| EmbeddingConfig::new(rows, WIDTH).init(device));
        for ((table, rows), name) in
            tables.iter_mut().zip(TABLES).zip(["word", "position", "token_type"])
        {
            let name = format!("embeddings.{name}_embeddings.weight");
            weights.put(&mut table.weight, &name, [rows, WIDTH]);
        }
        let mut norm = LayerNormConfig::new(WIDTH).with_epsilon(EPSILON).init(device);
        weights.norm(&mut norm, "embeddings");
        let mut encoder = TransformerEncoderConfig::new(WIDTH, WIDE, HEADS, LAYERS)
            .with_dropout(0.0)
            .with_layer_norm_eps(EPSILON)
            .init(device);
        for (n, layer) in encoder.layers.iter_mut().enumerate() {
            let name = |part: &str| format!("encoder.layer.{n}.{part}");
            weights.linear(&mut layer.mha.query, &name("attention.self.query"));
            weights.linear(&mut layer.mha.key, &name("attention.self.key"));
            weights.linear(&mut layer.mha.value, &name("attention.self.value"));
            weights.linear(&mut layer.mha.output, &name("attention.output.dense"));
            weights.norm(&mut layer.norm_1, &name("attention.output"));
            weights.linear(&mut layer.pwff.linear_inner, &name("intermediate.dense"));
            weights.linear(&mut layer.pwff.linear_outer, &name("output.dense"));
            weights.norm(&mut layer.norm_2, &name("output"));
        }
        let words: Vec<i32> = inputs[0].iter().map(|&id| id as i32).collect();
        let words = Tensor::from_data(TensorData::new(words, [batch, tokens]), device);
        let places = Tensor::<1, Int>::arange(0..tokens as i64, device).reshape([1, tokens]);
        let kinds = Tensor::zeros([1, tokens], device);
        let padding = TensorData::new(vec![false; batch * tokens], [batch, tokens]);
        let padding = Tensor::from_data(padding, device);
        Self { tables, norm, encoder, ids: [words, places, kinds], padding }
    }

    pub(crate) fn forward(&self) -> Tensor<2> {
        let [words, places, kinds] =
            [0, 1, 2].map(|i: usize| self.tables[i].forward(self.ids[i].clone()));
        let x = self.norm.forward(words + places + kinds);
        let input = TransformerEncoderInput::new(x).mask_pad(self.padding.clone());
        let x = self.encoder.forward(input);
        let there = self.padding.clone().bool_not().float().unsqueeze_dim::<3>(2);
        let mean = (x * there.clone()).sum_dim(1) / there.sum_dim(1);
        let length = (mean.clone() * mean.clone()).sum_dim(2).sqrt();
        (mean / length).squeeze_dim::<2>(1)
    }
}
