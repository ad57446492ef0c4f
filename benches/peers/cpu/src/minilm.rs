//! candle's own BERT, with the weights of the comparison.

use std::collections::HashMap;

use candle_core::{D, DType, Device, Result, Tensor};
use candle_nn::VarBuilder;
use candle_transformers::models::bert::{BertModel, Config, HiddenAct};
use peer_cases::{EPSILON, HEADS, LAYERS, Model, TABLES, WIDE, WIDTH, weights};

/// A forward pass.
pub(crate) fn forward(
    Model { batch, tokens }: Model,
    inputs: &[Vec<f32>],
) -> Result<impl Fn() -> Result<Tensor> + use<>> {
    let cpu = Device::Cpu;
    let [words, places, kinds] = TABLES;
    let config = Config {
        vocab_size: words,
        max_position_embeddings: places,
        type_vocab_size: kinds,
        hidden_size: WIDTH,
        intermediate_size: WIDE,
        num_hidden_layers: LAYERS,
        num_attention_heads: HEADS,
        hidden_act: HiddenAct::Gelu,
        layer_norm_eps: EPSILON,
        ..Config::default()
    };
    let each = weights().into_iter().zip(&inputs[1..]);
    let tensors =
        each.map(|((name, shape), values)| Ok((name, Tensor::from_slice(values, shape, &cpu)?)));
    let tensors: HashMap<String, Tensor> = tensors.collect::<Result<_>>()?;
    let model = BertModel::load(VarBuilder::from_tensors(tensors, DType::F32, &cpu), &config)?;
    let ids: Vec<u32> = inputs[0].iter().map(|&id| id as u32).collect();
    let ids = Tensor::from_vec(ids, (batch, tokens), &cpu)?;
    let kinds = ids.zeros_like()?;
    let there = Tensor::ones((batch, tokens), DType::F32, &cpu)?;
    Ok(move || {
        let x = model.forward(&ids, &kinds, Some(&there))?;
        let each = there.unsqueeze(2)?;
        let mean = x.broadcast_mul(&each)?.sum(1)?.broadcast_div(&each.sum(1)?)?;
        mean.broadcast_div(&mean.sqr()?.sum_keepdim(D::Minus1)?.sqrt()?)
    })
}
