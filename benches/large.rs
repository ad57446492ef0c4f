//! The sizes of real GPUs: products, attention, rows, images and lists that a software driver would
//! take minutes for. Each is described over and over and waited for once, so that what counts is
//! the device; its dispatches alone are timed beside it.
//!
//! ```text
//! cargo bench --bench large [-- [--quick] [--json FILE] [FILTER]]
//! ```

use std::process::ExitCode;

use common::{Bench, Case, Outcome, Work, ceiling};
use wharf::tensor::{Attention, Blocks, Conv, Key, Order};
use wharf::{DType, Device, Tensor};

mod common;

const ROUNDS: usize = 5;

fn main() -> ExitCode {
    common::main("large", |bench| {
        if bench.leaves_out_large() {
            println!("large: left out, this adapter is software");
            return Ok(());
        }
        products(bench)?;
        rows_times_a_matrix(bench)?;
        attention(bench)?;
        elementwise(bench)?;
        along_rows(bench)?;
        images(bench)?;
        lists(bench)
    })
}

/// Random numbers, made on the device.
fn random(device: &Device, dims: &[usize], dtype: DType) -> wharf::Result<Tensor> {
    let tensor = device.normal(Key::new(7), dims, DType::F32)?.cast(dtype)?;
    tensor.compute().map(|()| tensor)
}

fn flops(dims: &[usize]) -> Work {
    Work::Flops(2.0 * dims.iter().map(|&d| d as f64).product::<f64>())
}

fn products(bench: &mut Bench) -> Outcome {
    let device = bench.device();
    let mut cases = Vec::new();
    let sides = bench.settings.pick([64, 64, 64], [1024, 2048, 4096], [1024, 4096, 8192]);
    let plain = [DType::F32, DType::F16, DType::Bf16].map(|dtype| (dtype, false));
    let kinds = [plain[0], (DType::F32, true), plain[1], plain[2]];
    for (n, (dtype, transposed)) in sides.iter().flat_map(|&n| kinds.map(|kind| (n, kind))) {
        let (a, b) = (random(&device, &[n, n], dtype)?, random(&device, &[n, n], dtype)?);
        let lie = if transposed { ", B transposed" } else { "" };
        let name = format!("{n}^3, {dtype}{lie}");
        cases.push(Case::stream(name, flops(&[n; 3]), move || match transposed {
            true => a.matmul(&b.t()?),
            false => a.matmul(&b),
        }));
    }
    let [batch, n] = bench.settings.pick([2, 32], [64, 256], [64, 512]);
    let (a, b) = (
        random(&device, &[batch, n, n], DType::F32)?,
        random(&device, &[batch, n, n], DType::F32)?,
    );
    let name = format!("{batch} of {n}^3");
    cases.push(Case::stream(name, flops(&[batch, n, n, n]), move || a.matmul(&b)));
    bench.measure(ROUNDS, vec![ceiling::fma(&bench.settings, &device)?], cases)
}

/// What a language model does for each word: rows times a matrix that has to be read.
fn rows_times_a_matrix(bench: &mut Bench) -> Outcome {
    let device = bench.device();
    let side = bench.settings.pick(64, 4096, 8192);
    let w = random(&device, &[side, side], DType::F32)?;
    let half = w.cast(DType::F16)?;
    half.compute()?;
    let (q8, _) = w.quantize_now(Blocks::Q8)?;
    let (q4, _) = w.quantize_now(Blocks::Q4)?;
    let (w, half, q8, q4) = (&w, &half, &q8, &q4);
    let elements = (side * side) as f64;
    let mut cases = Vec::new();
    for rows in [1, 4, 16] {
        let x = random(&device, &[rows, side], DType::F32)?;
        let x16 = random(&device, &[rows, side], DType::F16)?;
        let (y, z) = (x.clone(), x.clone());
        let work = |bytes: f64| Work::Bytes(elements * bytes);
        let name = |of: &str| format!("{rows} x {side} times {of}");
        cases.push(Case::stream(name("f32"), work(4.0), move || x.matmul(w)));
        cases.push(Case::stream(name("f32, transposed"), work(4.0), move || y.matmul(&w.t()?)));
        let name16 = name("f16, transposed");
        cases.push(Case::stream(name16, work(2.0), move || x16.matmul(&half.t()?)));
        let x = z.clone();
        cases.push(Case::stream(name("q8"), work(1.125), move || x.linear(q8, None)));
        cases.push(Case::stream(name("q4"), work(0.625), move || z.linear(q4, None)));
    }
    let bytes = (side * side * size_of::<f32>()) as u64;
    bench.measure(ROUNDS, vec![ceiling::device_copy(&device, bytes)?], cases)
}

fn attention(bench: &mut Bench) -> Outcome {
    let device = bench.device();
    let tokens = bench.settings.pick(32, 1024, 4096);
    let (heads, mut cases) = (16, Vec::new());
    for (d, dtype) in [(64, DType::F32), (128, DType::F32), (64, DType::F16), (128, DType::F16)] {
        let input = |tokens| random(&device, &[heads, tokens, d], dtype);
        let (q, one) = (input(tokens)?, input(1)?);
        let (k, v) = (input(tokens)?, input(tokens)?);
        let name = |of: &str| format!("{of}, {heads} heads of {tokens} x {d}, {dtype}");
        let work = |queries: usize| flops(&[2, heads, queries, tokens, d]);
        let (keys, values) = (k.clone(), v.clone());
        let all = Attention::new();
        let alone = move || one.attention(&keys, &values, &all);
        cases.push(Case::stream(name("one query"), work(1), alone));
        let (x, keys, values) = (q.clone(), k.clone(), v.clone());
        let causal = Attention::new().causal();
        let causal = move || x.attention(&keys, &values, &causal);
        cases.push(Case::stream(name("causal attention"), work(tokens / 2), causal));
        let whole = move || q.attention(&k, &v, &Attention::new());
        cases.push(Case::stream(name("attention"), work(tokens), whole));
    }
    bench.measure(ROUNDS, vec![ceiling::fma(&bench.settings, &device)?], cases)
}

fn elementwise(bench: &mut Bench) -> Outcome {
    let device = bench.device();
    let side = bench.settings.pick(64, 4096, 8192);
    let input = |dtype| random(&device, &[side, side], dtype);
    let (a, b, c) = (input(DType::F32)?, input(DType::F32)?, input(DType::F32)?);
    let (x, y) = (input(DType::F16)?, input(DType::F16)?);
    let row = random(&device, &[side], DType::F32)?;
    let bytes =
        |width: usize, matrices: usize| Work::Bytes((side * side * width * matrices) as f64);
    let cases = vec![
        Case::stream("a + b", bytes(4, 3), || &a + &b),
        Case::stream("a + b, f16", bytes(2, 3), || &x + &y),
        Case::stream("a * b + c", bytes(4, 4), || (&a * &b)? + &c),
        Case::stream("exp(a)", bytes(4, 2), || a.exp()),
        Case::stream("gelu(a * b + c)", bytes(4, 4), || ((&a * &b)? + &c)?.gelu()),
        Case::stream("gelu(x), f16", bytes(2, 2), || x.gelu()),
        Case::stream("a + row", bytes(4, 2), || &a + &row),
        Case::stream("a.t() + b", bytes(4, 3), || a.t()? + &b),
        Case::stream("a.t() row-major", bytes(4, 2), || a.t()?.contiguous()),
        Case::stream("a as f16", bytes(2, 3), || a.cast(DType::F16)),
        Case::stream("normal numbers", bytes(4, 1), || random(&device, &[side, side], DType::F32)),
    ];
    bench.measure(ROUNDS, vec![ceiling::device_copy(&device, (side * side * 4) as u64)?], cases)
}

fn along_rows(bench: &mut Bench) -> Outcome {
    let device = bench.device();
    let side = bench.settings.pick(64, 4096, 8192);
    let x = random(&device, &[side, side], DType::F32)?;
    let thousands = random(&device, &[side * 8, side / 8], DType::F32)?;
    let work = |matrices: usize| Work::Bytes((side * side * 4 * matrices) as f64);
    let cases = vec![
        Case::stream("sum of all", work(1), || x.sum(..)),
        Case::stream("sum over dim 1", work(1), || x.sum(1)),
        Case::stream("sum over dim 0", work(1), || x.sum(0)),
        Case::stream("argmax over dim 1", work(1), || x.argmax(1)),
        Case::stream("softmax of rows", work(2), || x.softmax(1)),
        Case::stream("softmax of columns", work(2), || x.softmax(0)),
        Case::stream("layer_norm of short rows", work(2), || {
            thousands.layer_norm(1, None, None, 1e-5)
        }),
        Case::stream("rms_norm of rows", work(2), || x.rms_norm(1, None, 1e-5)),
        Case::stream("cumsum along dim 1", work(2), || x.cumsum(1)),
        Case::stream("cumsum along dim 0", work(2), || x.cumsum(0)),
    ];
    bench.measure(ROUNDS, vec![ceiling::device_copy(&device, (side * side * 4) as u64)?], cases)
}

fn images(bench: &mut Bench) -> Outcome {
    let device = bench.device();
    let batch = bench.settings.pick(1, 8, 32);
    let (side, channels) = (56, 64);
    let x = random(&device, &[batch, channels, side, side], DType::F32)?;
    let weight = |taps: usize| random(&device, &[channels, channels, taps, taps], DType::F32);
    let (w1, w3) = (weight(1)?, weight(3)?);
    let each = random(&device, &[channels, 1, 3, 3], DType::F32)?;
    let padded = Conv::new().padding([1, 1]);
    let apart = Conv::new().padding([1, 1]).groups(channels);
    let work = |taps: usize, of: usize| flops(&[batch, channels, side, side, of, taps, taps]);
    // As deep in a network: many channels, few pixels.
    let (small, many) = (14, bench.settings.pick(64, 256, 256));
    let y = random(&device, &[batch, many, small, small], DType::F32)?;
    let w = random(&device, &[many, many, 3, 3], DType::F32)?;
    let deep = flops(&[batch, many, small, small, many, 9]);
    let cases = vec![
        Case::stream("conv 3x3, 256 channels", deep, || y.conv2d(&w, None, &padded)),
        Case::stream("conv 3x3", work(3, channels), || x.conv2d(&w3, None, &padded)),
        Case::stream("conv 1x1", work(1, channels), || x.conv2d(&w1, None, &Conv::new())),
        Case::stream("conv 3x3, depthwise", work(3, 1), || x.conv2d(&each, None, &apart)),
    ];
    bench.measure(ROUNDS, vec![ceiling::fma(&bench.settings, &device)?], cases)
}

fn lists(bench: &mut Bench) -> Outcome {
    let device = bench.device();
    let n = bench.settings.pick(1 << 10, 1 << 20, 1 << 24);
    let x = random(&device, &[n], DType::F32)?;
    let pairs = random(&device, &[n / 2, 2], DType::F32)?;
    let width = 256;
    let table = random(&device, &[n / width, width], DType::F32)?;
    let index = device.integers(Key::new(3), [n / width], 0..(n / width) as i64, DType::U32)?;
    index.compute()?;
    let work = |times: usize| Work::Bytes((n * 4 * times) as f64);
    let cases = vec![
        Case::stream("sort", work(2), || x.sort(0, Order::Ascending)),
        Case::stream("largest 100", work(1), || Ok(x.top_k(0, 100)?.0)),
        Case::stream("rows of a table", work(2), || table.embedding(&index)),
        Case::stream("rows added to a table", work(3), || table.index_add(0, &index, &table)),
        Case::stream("fft", work(2), || pairs.fft(0, None)),
    ];
    bench.measure(ROUNDS, vec![ceiling::device_copy(&device, (n * 4) as u64)?], cases)
}
