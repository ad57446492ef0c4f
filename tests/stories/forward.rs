//! A forward pass of many kernels, for a device on paper beside one that is there: a table, two
//! layers of attention and of dense weights, a norm, a choice by probability, and what sorts,
//! scans, draws and casts.

use wharf::explain::{Explanation, KernelRun};
use wharf::tensor::{Attention, Order};
use wharf::{DType, Device, Result, Tensor};

/// Tokens, width, heads, width of the inner layer, words.
const SIZES: [usize; 5] = [24, 64, 4, 256, 1000];

/// Values that are uploaded where there is somebody to take them.
fn weight(device: &Device, dims: &[usize]) -> Result<Tensor> {
    if device.is_on_paper() {
        return device.blank(dims, DType::F32);
    }
    let values: Vec<f32> = (0..dims.iter().product()).map(|i| (i * 37 % 101) as f32).collect();
    device.upload(&values, dims).map(|(tensor, _)| tensor)
}

/// One layer: `x + attention(x)`, then `x + dense(gelu(dense(x)))`, each after a norm.
fn layer(device: &Device, x: &Tensor) -> Result<Tensor> {
    let [tokens, width, heads, inner, _] = SIZES;
    let normed = x.layer_norm(-1, None, None, 1e-5)?;
    let mut parts = Vec::new();
    for _ in 0..3 {
        let part = normed.linear(&weight(device, &[width, width])?, None)?;
        parts.push(part.reshape([tokens, heads, width / heads])?.swap_axes(0, 1)?);
    }
    let seen = parts[0].attention(&parts[1], &parts[2], &Attention::new().causal())?;
    let seen = seen.swap_axes(0, 1)?.contiguous()?.reshape([tokens, width])?;
    let x = (x + &seen.linear(&weight(device, &[width, width])?, None)?)?;
    let (up, bias) = (weight(device, &[inner, width])?, weight(device, &[inner])?);
    let dense = x.layer_norm(-1, None, None, 1e-5)?.linear(&up, Some(&bias))?.gelu()?;
    &x + &dense.linear(&weight(device, &[width, inner])?, None)?
}

/// The results of the whole pass, none of them computed.
pub(crate) fn forward(device: &Device) -> Result<Vec<Tensor>> {
    let [tokens, width, _, _, words] = SIZES;
    let table = weight(device, &[words, width])?;
    let ids = device.arange(0, tokens as u32, 1, DType::I32)?;
    let mut x = table.embedding(&ids)?;
    for _ in 0..2 {
        x = layer(device, &x)?;
    }
    let scores = x.linear(&table, None)?;
    let chosen = scores.argmax(-1)?;
    let likely = scores.softmax(-1)?;
    let sorted = likely.sort(-1, Order::Descending)?;
    let summed = likely.cumsum(-1)?;
    let counted = (&scores.abs()? + 0.5f32)?.floor()?.cast_checked(DType::I32)?;
    // Large enough for a buffer to itself, in which it is staggered.
    let means = weight(device, &[1300, words])?.mean(0)?;
    Ok(vec![chosen, sorted, summed, counted, means, x.mean(0)?, scores.t()?])
}

/// What a kernel run is, without its text.
fn line(kernel: &KernelRun) -> String {
    let KernelRun { dispatches, bytes, remarks, .. } = kernel;
    format!("{} {dispatches:?}, {bytes} bytes, {remarks:?}", kernel.name())
}

/// Why two explanations are not the same, kernel by kernel.
pub(crate) fn differ(there: &Explanation, paper: &Explanation) -> Option<String> {
    for i in 0..there.kernels.len().max(paper.kernels.len()) {
        let kernels = [there, paper].map(|all| all.kernels.get(i));
        let [a, b] = kernels.map(|kernel| kernel.map_or("nothing".into(), line));
        let [own, other] = kernels.map(|kernel| kernel.map(|kernel| &kernel.wgsl));
        if a != b || own != other {
            return Some(format!("kernel {i}: {a} there, {b} on paper"));
        }
    }
    let bytes = [there, paper].map(|all| all.bytes_allocated);
    (bytes[0] != bytes[1]).then(|| format!("{bytes:?} bytes are allocated"))
}

/// Why a pass on paper is not what it is on a device that is there: told of each result, then run.
/// Returns how many dispatches it has.
pub(crate) fn beside(there: &Device, paper: &Device) -> Result<usize, String> {
    let show = |error: wharf::Error| format!("{error:?}");
    let both = [there, paper];
    // What is deep is computed as soon as it is made.
    let watches = both.map(Device::watch);
    let results = [forward(there).map_err(show)?, forward(paper).map_err(show)?];
    for (i, (a, b)) in results[0].iter().zip(&results[1]).enumerate() {
        let (a, b) = (a.explain(), b.explain());
        if let Some(error) = a.error.as_ref().or(b.error.as_ref()) {
            return Err(format!("result {i}: {error:?}"));
        }
        if let Some(text) = differ(&a, &b) {
            return Err(format!("result {i}, told: {text}"));
        }
    }
    for tensor in results.iter().flatten() {
        tensor.compute().map_err(show)?;
    }
    let [a, b] = watches.map(|watch| watch.explanation());
    if let Some(text) = differ(&a, &b) {
        return Err(format!("run: {text}"));
    }
    for _ in 0..2 {
        let held = both.map(|device| {
            let mut memory = device.memory();
            memory.driver = None;
            memory
        });
        if held[0] != held[1] {
            return Err(format!("memory: {} there, {} on paper", held[0], held[1]));
        }
        // What moving together and giving back leave is the same as well.
        let freed = both.map(|device| device.compact().map_err(show));
        let [freed, foretold] = freed;
        let (freed, foretold) = (freed?, foretold?);
        if freed != foretold {
            return Err(format!("{freed} bytes are given back there, {foretold} on paper"));
        }
    }
    Ok(a.dispatches())
}
