//! The model of `examples/embed`, with the weights of the comparison.

use peer_cases::Model;
use wharf::{Device, HostView, Result, Shipment, Tensor};

#[path = "../../../../examples/embed/model.rs"]
#[expect(dead_code, reason = "it has what a file of weights is loaded by as well")]
mod model;

/// A forward pass, which nothing crosses: tokens are on the device.
pub(crate) fn forward(
    device: &Device,
    Model { batch, tokens }: Model,
    inputs: &[Vec<f32>],
) -> Result<impl Fn() -> Result<Tensor> + use<>> {
    let named = peer_cases::weights();
    let mut shipment = Shipment::new();
    for ((name, shape), values) in named.iter().zip(&inputs[1..]) {
        shipment.add(name, HostView::new(values, shape.clone())?)?;
    }
    let (set, _) = device.upload_set(&shipment)?;
    let model = model::Model::of(&set)?;
    let ids: Vec<u32> = inputs[0].iter().map(|&id| id as u32).collect();
    let (there, _) = device.upload(&vec![true; ids.len()], [batch, tokens])?;
    let (ids, _) = device.upload(&ids, [batch, tokens])?;
    Ok(move || model.embed(&ids, &there))
}
