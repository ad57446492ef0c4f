//! Products of matrices, against what the device's multiply-adds reach. Single rows times a matrix,
//! against a device copy of the matrix. A convolution, against a kernel written by hand.
//!
//! ```text
//! cargo bench --bench matmul [-- [--quick] [--json FILE] [FILTER]]
//! ```

use std::process::ExitCode;

use common::raw::{Raw, buffer};
use common::{Bench, Case, Outcome, Work, ceiling, noise};
use wharf::tensor::{Blocks, Conv};
use wharf::{DType, Device, Layout, Shape, Tensor};

mod common;

const CONV_BY_HAND: &str = include_str!("by_hand/conv.wgsl");

fn main() -> ExitCode {
    common::main("matmul", |bench| {
        products(bench)?;
        rows(bench)?;
        convolution(bench)
    })
}

/// By hand the input has its borders already, and the weights are in order.
fn convolution(bench: &mut Bench) -> Outcome {
    let device = bench.device();
    let ([channels, side], [line, lines, lanes]) = ([64, 56], [60, 59, 8]);
    let values = |count: usize| noise(count).map(|v| v as f32).collect::<Vec<f32>>();
    let bytes = |count: usize| (count * size_of::<f32>()) as u64;
    let (image, weight) = (values(channels * side * side), values(channels * channels * 9));
    let mut padded = vec![0.0; channels * lines * line];
    for (i, row) in image.chunks(side).enumerate() {
        let at = (i / side * lines + i % side + 1) * line + 1;
        padded[at..at + side].copy_from_slice(row);
    }
    let terms = channels * 9;
    let strips = (0..channels * terms)
        .map(|n| weight[(n / (16 * terms) * 16 + n % 16) * terms + n / 16 % terms]);
    let strips: Vec<f32> = strips.collect();
    let out = buffer(&device, bytes(image.len()), &[]);
    let inputs = [&padded, &strips].map(|values| buffer(&device, bytes(values.len() + 16), values));
    let tiles = (side * line / 16_usize).div_ceil(lanes) * channels / 16;
    let constants = [("lanes", lanes as f64)];
    let buffers = [&inputs[0], &inputs[1], &out];
    let kernel = Raw::new(&device, CONV_BY_HAND, &constants, &buffers, tiles as u32);
    let (x, _) = device.upload(&image, [1, channels, side, side])?;
    let (w, _) = device.upload(&weight, [channels, channels, 3, 3])?;
    let work = Work::Flops((2 * channels * terms * side * side) as f64);
    let how = Conv::new().padding([1, 1]);
    kernel.run()?;
    let dense = Layout::dense(Shape::new([1, channels, side, side])?);
    let by_hand = device.wrap_buffer(&out, dense, DType::F32)?;
    if !by_hand.allclose_now(&x.conv2d(&w, None, &how)?, 0.0, 1e-3)? {
        return Err("the convolution by hand is another one".into());
    }
    let ceiling = Case::new("conv 3x3 of 64 x 56 x 56, by hand", work, || kernel.run());
    let case = Case::kernel("conv 3x3 of 64 x 56 x 56", work, || x.conv2d(&w, None, &how));
    bench.measure(9, vec![ceiling], vec![case])
}

fn matrix(device: &Device, dims: &[usize]) -> wharf::Result<Tensor> {
    let values: Vec<f32> = noise(dims.iter().product()).map(|v| v as f32).collect();
    device.upload(&values, dims).map(|(tensor, _)| tensor)
}

fn cast(tensor: &Tensor, dtype: DType) -> wharf::Result<Tensor> {
    let tensor = tensor.cast(dtype)?;
    tensor.compute().map(|()| tensor)
}

/// Batch, m, n, k, and a description.
const PRODUCTS: &[([usize; 4], &str)] = &[
    ([1, 256, 256, 256], "256^3"),
    ([1, 512, 512, 512], "512^3"),
    ([1, 1000, 1000, 1000], "1000^3"),
    ([1, 1024, 1024, 1024], "1024^3"),
    ([1, 2048, 2048, 2048], "2048^3"),
    ([1, 127, 333, 513], "127 x 513 x 333"),
    ([1, 64, 1024, 1024], "64 x 1024 x 1024"),
    ([16, 128, 128, 128], "16 of 128^3"),
];

fn products(bench: &mut Bench) -> Outcome {
    let device = bench.device();
    let largest = bench.settings.pick(256, 1024, 2048);
    let mut cases = Vec::new();
    for &([batch, m, n, k], name) in PRODUCTS.iter().filter(|(dims, _)| dims[1] <= largest) {
        let work = Work::Flops(2.0 * [batch, m, n, k].iter().map(|&d| d as f64).product::<f64>());
        let a = matrix(&device, &[batch, m, k])?;
        let b = matrix(&device, &[batch, k, n])?;
        if m == 512 || m == 1024 {
            let (a, b) = (a.clone(), matrix(&device, &[batch, n, k])?);
            let name = format!("{name}, B transposed");
            cases.push(Case::kernel(name, work, move || a.matmul(&b.t()?)));
        }
        if m == 512 {
            let half = [cast(&a, DType::F16)?, cast(&b, DType::F16)?];
            let narrow = format!("{name}, f16");
            cases.push(Case::kernel(narrow, work, move || half[0].matmul(&half[1])));
            let bias = matrix(&device, &[n])?;
            let (a, b) = (a.clone(), b.clone());
            let name = format!("{name}, bias and gelu");
            let layer = move || (a.matmul(&b)? + &bias)?.gelu();
            cases.push(Case::kernel(name, work, layer));
        }
        cases.push(Case::kernel(name, work, move || a.matmul(&b)));
    }
    let ceilings = vec![ceiling::fma(&bench.settings, &device)?];
    bench.measure(7, ceilings, cases)
}

/// One row times a matrix: reading the matrix is the limit.
fn rows(bench: &mut Bench) -> Outcome {
    let device = bench.device();
    let side = bench.settings.pick(256usize, 4096, 4096);
    let x = matrix(&device, &[1, side])?;
    let w = matrix(&device, &[side, side])?;
    let (x16, w16) = (cast(&x, DType::F16)?, cast(&w, DType::F16)?);
    let (w8, _) = w.quantize_now(Blocks::Q8)?;
    let (w4, _) = w.quantize_now(Blocks::Q4)?;
    let work = Work::Flops(2.0 * (side * side) as f64);
    let cases = vec![
        Case::kernel("row x [in, out]", work, || x.matmul(&w)),
        Case::kernel("row x [out, in]^T", work, || x.matmul(&w.t()?)),
        Case::kernel("row x [in, out], f16", work, || x16.matmul(&w16)),
        Case::kernel("row x [out, in]^T, f16", work, || x16.matmul(&w16.t()?)),
        Case::kernel("row x [out, in]^T, q8", work, || x.linear(&w8, None)),
        Case::kernel("row x [out, in]^T, q8, f16 row", work, || x16.linear(&w8, None)),
        Case::kernel("row x [out, in]^T, q4", work, || x.linear(&w4, None)),
        Case::kernel("[in, out]^T x column", work, || w.t()?.matmul(&x.t()?)),
    ];
    let bytes = (side * side * size_of::<f32>()) as u64;
    bench.measure(9, vec![ceiling::device_copy(&device, bytes)?], cases)
}
