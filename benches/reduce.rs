//! Reductions, softmax and norms against kernels written by hand, and attention against its parts
//! composed.
//!
//! GB/s count every byte of the input once, and of the result if it is as large.
//!
//! ```text
//! cargo bench --bench reduce [-- [--quick] [--json FILE] [FILTER]]
//! ```

use std::process::ExitCode;

use common::raw::{Raw, buffer};
use common::{Bench, Case, Outcome, Work, ceiling, noise};
use wharf::tensor::Attention;
use wharf::{Device, Tensor};

mod common;

const ROWS_BY_HAND: &str = include_str!("by_hand/rows.wgsl");
const SOFTMAX_BY_HAND: &str = include_str!("by_hand/softmax.wgsl");

/// Lanes of the kernels written by hand.
const LANES: usize = 8;

fn main() -> ExitCode {
    common::main("reduce", |bench| {
        sums(bench)?;
        softmax(bench)?;
        norms(bench)?;
        attention(bench)
    })
}

fn matrix(device: &Device, rows: usize, columns: usize) -> Outcome<(Tensor, Vec<f32>)> {
    let values: Vec<f32> = noise(rows * columns).map(|v| (v * 4.0) as f32).collect();
    Ok((device.upload(&values, [rows, columns])?.0, values))
}

const fn bytes(elements: usize) -> f64 {
    (elements * size_of::<f32>()) as f64
}

/// A kernel written by hand over a square matrix, `quads` to a lane.
fn by_hand(device: &Device, wgsl: &str, values: &[f32], quads: usize) -> Raw {
    let size = bytes(values.len()) as u64;
    let (input, out) = (buffer(device, size, values), buffer(device, size, &[]));
    let lanes = (values.len() / 4 / quads).max(1);
    let constants = [("lanes", LANES as f64), ("quads", quads as f64)];
    Raw::new(device, wgsl, &constants, &[&input, &out], (lanes / LANES).max(1) as u32)
}

fn sums(bench: &mut Bench) -> Outcome {
    let device = bench.device();
    let side = bench.settings.pick(64, 2048, 4096);
    let (x, values) = matrix(&device, side, side)?;
    let work = Work::Bytes(bytes(side * side));
    let rows = by_hand(&device, ROWS_BY_HAND, &values, side / 4);
    let parts = by_hand(&device, ROWS_BY_HAND, &values, (side * side / 4 / 1024).max(8));
    let (over_rows, over_all) = ("sum over dim 1, by hand", "sum of chunks, by hand");
    let ceilings =
        vec![Case::new(over_rows, work, || rows.run()), Case::new(over_all, work, || parts.run())];
    let cases = vec![
        Case::kernel("sum over dim 1", work, || x.sum(1)),
        Case::kernel("sum of all", work, || x.sum(..)).against(over_all),
        Case::kernel("sum over dim 0", work, || x.sum(0)),
        Case::kernel("max over dim 1", work, || x.amax(1)),
        Case::kernel("argmax over dim 1", work, || x.argmax(1)),
        Case::kernel("var over dim 1", work, || x.var(1, 0)),
        Case::kernel("sum of (x - 1)^2 over dim 1", work, || (&x - 1.0f32)?.square()?.sum(1)),
        Case::kernel("cumsum along dim 1", Work::Bytes(bytes(2 * side * side)), || x.cumsum(1)),
    ];
    bench.measure(9, ceilings, cases)
}

fn softmax(bench: &mut Bench) -> Outcome {
    let device = bench.device();
    let side = bench.settings.pick(64, 2048, 4096);
    let (x, values) = matrix(&device, side, side)?;
    let work = Work::Bytes(bytes(2 * side * side));
    let kernel = by_hand(&device, SOFTMAX_BY_HAND, &values, side / 4);
    let ceilings = vec![Case::new("softmax of rows, by hand", work, || kernel.run())];
    let cases = vec![
        Case::kernel("softmax of rows", work, || x.softmax(1)),
        Case::kernel("log_softmax of rows", work, || x.log_softmax(1)),
        Case::kernel("softmax of columns", work, || x.softmax(0)),
    ];
    bench.measure(9, ceilings, cases)
}

fn norms(bench: &mut Bench) -> Outcome {
    let device = bench.device();
    let [rows, columns] = bench.settings.pick([64, 64], [2048, 1024], [4096, 1024]);
    let (x, values) = matrix(&device, rows, columns)?;
    let (weight, _) = device.upload(&values[..columns], [columns])?;
    let work = Work::Bytes(bytes(2 * rows * columns));
    let copied = rows * columns * size_of::<f32>();
    let cases = vec![
        Case::kernel("layer_norm of rows", work, || x.layer_norm(1, None, None, 1e-5)),
        Case::kernel("layer_norm * weight + 1", work, || {
            (x.layer_norm(1, None, None, 1e-5)? * &weight)? + 1.0f32
        }),
        Case::kernel("rms_norm of rows", work, || x.rms_norm(1, None, 1e-5)),
    ];
    bench.measure(9, vec![ceiling::device_copy(&device, copied as u64)?], cases)
}

/// Eight heads of 64, with as many keys as queries.
fn attention(bench: &mut Bench) -> Outcome {
    let device = bench.device();
    let tokens = bench.settings.pick(16, 256, 512);
    let [heads, d] = [8, 64];
    let input = || -> Outcome<Tensor> {
        Ok(matrix(&device, heads * tokens, d)?.0.reshape([heads, tokens, d])?)
    };
    let (q, k, v) = (input()?, input()?, input()?);
    let work = Work::Flops((4 * heads * tokens * tokens * d) as f64);
    let (all, causal) = (Attention::new(), Attention::new().causal());
    let composed = || (q.matmul(&k.t()?)? / (d as f64).sqrt())?.softmax(2)?.matmul(&v);
    let cases = vec![
        Case::kernel("attention, 8 heads of 64", work, || q.attention(&k, &v, &all)),
        Case::kernel("causal attention", work, || q.attention(&k, &v, &causal)),
    ];
    bench.measure(9, vec![Case::kernel("composed attention", work, composed)], cases)
}
