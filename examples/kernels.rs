//! Makes the driver at hand compile wharf's kernels, one after the other: what `scripts/isa` runs
//! on GPUs that are only pretended. Nothing is read back.
//!
//! `cargo run --example kernels -- [TEXT]` compiles those with the text in their names; without it
//! they are only listed. Before a kernel is made, a line `KERNEL name` goes to the file
//! `PIPESTATS`. `--trusting` before TEXT leaves out wgpu's checks.

use std::fs::OpenOptions;
use std::io::Write as _;

use wharf::op::{Op, Reduction};
use wharf::tensor::{
    Align, Attention, Conv, Insert, Interpolation, Key, Order, Pad, Pooling, Quantized, Triangle,
};
use wharf::testing::Inside as _;
use wharf::tune::ProductSize;
use wharf::{Adapter, DType, Device, Policy, Result, Tensor};

#[path = "../tests/gpu/promise.rs"]
mod promise;

type Work = dyn Fn(&Device, &[Tensor]) -> Result<Tensor>;

/// A kernel's name, its operands, and what makes it.
struct Sample {
    name: String,
    operands: Vec<(DType, Vec<usize>)>,
    make: Box<Work>,
}

/// A kernel and the operands that it is made for.
fn sample(
    name: impl Into<String>,
    operands: &[(DType, &[usize])],
    make: impl Fn(&Device, &[Tensor]) -> Result<Tensor> + 'static,
) -> Sample {
    let operands = operands.iter().map(|(dtype, dims)| (*dtype, dims.to_vec())).collect();
    Sample { name: name.into(), operands, make: Box::new(make) }
}

/// Lengths of k that fit a chunk, and that do not.
const DEPTHS: [(&str, usize); 2] = [("shallow", 256), ("deep", 1024)];

/// Every kernel that could compute a product here.
fn candidates(device: &Device, all: &mut Vec<Sample>) {
    for dtype in [DType::F32, DType::F16] {
        for (depth, k) in DEPTHS {
            for kernel in device.products(ProductSize::new(1024, 1024, k, dtype)) {
                // A row's kernel is for a row, and for weights stored as `[out, in]`.
                let rows = if kernel.starts_with("vector") { 4 } else { 1024 };
                let near = kernel.starts_with("vector 1 ");
                let right: &[usize] = if near { &[1024, k] } else { &[k, 1024] };
                let name = format!("matmul {dtype} {depth}: {kernel}");
                let operands: [(DType, &[usize]); 2] = [(dtype, &[rows, k]), (dtype, right)];
                all.push(sample(name, &operands, move |device, t| {
                    let right = if near { t[1].t()? } else { t[1].clone() };
                    device.matmul_by(&t[0], &right, &kernel)
                }));
            }
        }
    }
}

/// What the chooser takes; of the dtypes that are sampled less, for few rows and for many.
fn chosen(all: &mut Vec<Sample>) {
    let every: &[[usize; 3]] = &[
        [1, 4096, 4096],
        [4, 4096, 4096],
        [8, 4096, 4096],
        [16, 4096, 4096],
        [64, 4096, 4096],
        [512, 512, 256],
        [1024, 1024, 1024],
        [4096, 4096, 4096],
    ];
    let some: &[[usize; 3]] = &[[4, 4096, 4096], [64, 4096, 4096], [1024, 1024, 1024]];
    let sizes = [DType::F32, DType::F16, DType::I8].map(|dtype| (dtype, every));
    let less = [DType::U8, DType::I32, DType::I64, DType::F64].map(|dtype| (dtype, some));
    for (dtype, sizes) in sizes.into_iter().chain(less) {
        for &[m, n, k] in sizes {
            let name = format!("chosen {dtype} {m}x{n}x{k}");
            let (left, right, turned) = ([m, k], [k, n], [n, k]);
            let operands: [(DType, &[usize]); 2] = [(dtype, &left), (dtype, &right)];
            all.push(sample(name.clone(), &operands, |_, t| t[0].matmul(&t[1])));
            let operands: [(DType, &[usize]); 2] = [(dtype, &left), (dtype, &turned)];
            all.push(sample(name + " weights", &operands, |_, t| t[0].matmul(&t[1].t()?)));
        }
    }
}

/// Weights that are narrower than what they multiply.
fn narrow_weights(all: &mut Vec<Sample>) {
    for dtype in [DType::F16, DType::Bf16] {
        for rows in [1, 4, 16, 64, 1024] {
            let left = [rows, 4096];
            let operands: [(DType, &[usize]); 2] = [(DType::F32, &left), (dtype, &[4096, 4096])];
            let name = format!("linear f32 by {dtype}, {rows} rows");
            all.push(sample(name, &operands, |_, t| t[0].linear(&t[1], None)));
        }
    }
}

fn quantized(all: &mut Vec<Sample>) {
    type Part = (DType, [usize; 2]);
    let forms: [(&str, Part, Part); 10] = [
        ("quantized", (DType::I8, [4096, 4096]), (DType::F16, [4096, 128])),
        ("quantized q4", (DType::U8, [4096, 2048]), (DType::F16, [4096, 128])),
        ("quantized q4_1", (DType::U8, [4096, 2048]), (DType::F16, [4096, 256])),
        ("quantized q5", (DType::U8, [4096, 2048]), (DType::U16, [4096, 384])),
        ("quantized q5_1", (DType::U8, [4096, 2048]), (DType::U32, [4096, 256])),
        ("quantized q4_k", (DType::U8, [4096, 2048]), (DType::U32, [4096, 64])),
        ("quantized q5_k", (DType::U8, [4096, 2560]), (DType::U32, [4096, 64])),
        ("quantized q6_k", (DType::U8, [4096, 3072]), (DType::U16, [4096, 144])),
        ("quantized q3_k", (DType::U8, [4096, 1536]), (DType::U16, [4096, 112])),
        ("quantized q2_k", (DType::U8, [4096, 1024]), (DType::U16, [4096, 160])),
    ];
    for (name, values, scales) in forms {
        for rows in [1, 4, 32, 256] {
            let left = [rows, 4096];
            let operands: [(DType, &[usize]); 3] =
                [(DType::F32, &left), (values.0, &values.1), (scales.0, &scales.1)];
            all.push(sample(format!("{name} {rows} rows"), &operands, |_, t| {
                t[0].linear(&Quantized::of(&t[1], &t[2])?, None)
            }));
        }
        let operands: [(DType, &[usize]); 3] =
            [(DType::U32, &[64]), (values.0, &values.1), (scales.0, &scales.1)];
        all.push(sample(format!("{name} to numbers"), &operands, |_, t| {
            Quantized::of(&t[1], &t[2])?.dequantize(DType::F32)
        }));
        all.push(sample(format!("{name} rows of a table"), &operands, |_, t| {
            Quantized::of(&t[1], &t[2])?.embedding(&t[0])
        }));
    }
}

fn attention(all: &mut Vec<Sample>) {
    for dtype in [DType::F32, DType::F16] {
        for width in [32, 64, 128, 256] {
            for (who, queries) in [("", 512), (" lone", 1)] {
                for (how, causal) in [("", false), (" causal", true)] {
                    let name = format!("attention {dtype} heads of {width}{who}{how}");
                    let (left, right) = ([1, 8, queries, width], [1, 2, 1024, width]);
                    let operands: [(DType, &[usize]); 3] =
                        [(dtype, &left), (dtype, &right), (dtype, &right)];
                    all.push(sample(name, &operands, move |_, t| {
                        let how = Attention::new();
                        let how = if causal { how.causal() } else { how };
                        t[0].attention(&t[1], &t[2], &how)
                    }));
                }
            }
        }
    }
}

/// What stands in the way of some scores, and what is done to them.
fn attention_otherwise(all: &mut Vec<Sample>) {
    type How = fn(&[Tensor]) -> Attention;
    let each: [(&str, How); 4] = [
        ("masked", |t| Attention::new().masked(&t[3])),
        ("of lengths", |t| Attention::new().lengths(&t[4])),
        ("of a window", |_| Attention::new().window(64, 0)),
        ("capped", |_| Attention::new().softcap(30.0)),
    ];
    for (name, how) in each {
        for queries in [512, 1] {
            let (left, right) = ([2, 8, queries, 64], [2, 2, 1024, 64]);
            let (mask, f32) = ([2, 1, queries, 1024], DType::F32);
            let operands: [(DType, &[usize]); 5] =
                [(f32, &left), (f32, &right), (f32, &right), (f32, &mask), (DType::U32, &[2])];
            let name = format!("attention f32 {name}, {queries} queries");
            all.push(sample(name, &operands, move |_, t| t[0].attention(&t[1], &t[2], &how(t))));
        }
    }
    let turned: [(DType, &[usize]); 3] =
        [(DType::F32, &[1, 8, 512, 64]), (DType::F32, &[512, 32]), (DType::F32, &[512, 32])];
    all.push(sample("rope f32", &turned, |_, t| t[0].rope(&t[1], &t[2])));
    all.push(sample("rope_interleaved f32", &turned, |_, t| t[0].rope_interleaved(&t[1], &t[2])));
}

fn convolutions(all: &mut Vec<Sample>) {
    for dtype in [DType::F32, DType::F16] {
        for (name, [images, channels, width], [rows, each], groups) in [
            ("64 to 64", [1, 64, 56], [64, 64], 1),
            ("64 to 64, eight images", [8, 64, 56], [64, 64], 1),
            ("512 to 512", [1, 512, 14], [512, 512], 1),
            ("512 to 512 of 7 x 7", [1, 512, 7], [512, 512], 1),
            ("3 to 4", [1, 3, 56], [4, 3], 1),
            ("depthwise", [1, 64, 56], [64, 1], 64),
        ] {
            let name = format!("conv {dtype} {name}");
            let (input, weight) = ([images, channels, width, width], [rows, each, 3, 3]);
            let operands: [(DType, &[usize]); 2] = [(dtype, &input), (dtype, &weight)];
            all.push(sample(name, &operands, move |_, t| {
                t[0].conv2d(&t[1], None, &Conv::new().padding([1, 1]).groups(groups))
            }));
        }
    }
}

/// What a step of learning adds to convolutions and pools; a kernel along one axis and over three.
fn learning(all: &mut Vec<Sample>) {
    const SAME: Conv<2> = Conv::new().padding([1, 1]);
    let f32 = DType::F32;
    let arrived: (DType, &[usize]) = (f32, &[2, 64, 56, 56]);
    let weight: (DType, &[usize]) = (f32, &[64, 64, 3, 3]);
    all.push(sample("conv f32 gradient of the input", &[arrived, weight], |_, t| {
        t[0].conv_input_grad(&t[1], [56, 56], &SAME)
    }));
    all.push(sample("conv f32 gradient of the weight", &[arrived, arrived], |_, t| {
        t[0].conv_weight_grad(&t[1], [3, 3], &SAME)
    }));
    all.push(sample("conv f32 transposed", &[arrived, weight], |_, t| {
        t[0].conv_transpose2d(&t[1], None, &SAME)
    }));
    let line: [(DType, &[usize]); 2] = [(f32, &[2, 64, 4096]), (f32, &[64, 64, 5])];
    all.push(sample("conv f32 along one axis", &line, |_, t| {
        t[0].conv1d(&t[1], None, &Conv::new().padding([2]))
    }));
    let three: [(DType, &[usize]); 2] = [(f32, &[1, 16, 16, 28, 28]), (f32, &[16, 16, 3, 3, 3])];
    all.push(sample("conv f32 over three axes", &three, |_, t| {
        t[0].conv3d(&t[1], None, &Conv::new().padding([1, 1, 1]))
    }));
    let pooled: (DType, &[usize]) = (f32, &[2, 64, 28, 28]);
    let places: (DType, &[usize]) = (DType::U32, &[2, 64, 28, 28]);
    all.push(sample("image f32 max_pool with places", &[arrived], |_, t| {
        Ok(t[0].max_pool_with_indices(&THREE)?.1)
    }));
    all.push(sample("image f32 gradient of max_pool", &[pooled, places], |_, t| {
        t[0].max_pool_grad(&t[1], [56, 56], &THREE)
    }));
    all.push(sample("image f32 gradient of avg_pool", &[pooled], |_, t| {
        t[0].avg_pool_grad([56, 56], &THREE)
    }));
    all.push(sample("image f32 adaptive_avg_pool", &[arrived], |_, t| {
        t[0].adaptive_avg_pool([7, 7])
    }));
    let classes: [(DType, &[usize]); 2] = [(f32, &[512, 1024]), (DType::U32, &[512])];
    all.push(sample("cross_entropy f32", &classes, |_, t| t[0].cross_entropy(1, &t[1])));
}

fn samples_of_grids(all: &mut Vec<Sample>) {
    for dtype in [DType::F32, DType::F16] {
        for (name, around) in [("zeros", Pad::Constant(0.into())), ("mirrors", Pad::Reflect)] {
            let operands: [(DType, &[usize]); 2] =
                [(dtype, &[4, 64, 56, 56]), (DType::F32, &[4, 28, 28, 2])];
            all.push(sample(format!("grid_sample {dtype} {name}"), &operands, move |_, t| {
                t[0].grid_sample(&t[1], Align::Edges, around)
            }));
            all.push(sample(
                format!("grid_sample {dtype} {name} nearest"),
                &operands,
                move |_, t| t[0].grid_sample_nearest(&t[1], Align::Edges, around),
            ));
        }
    }
}

/// Windows of three by three at every other place.
const THREE: Pooling<2> = Pooling::new([3, 3]).stride([2, 2]).padding([1, 1]);

/// Pools and axes at other lengths, by quads and, where rows are ragged, by elements.
fn images(all: &mut Vec<Sample>) {
    type Make = fn(&Tensor) -> Result<Tensor>;
    let each: [(&str, usize, Make); 10] = [
        ("max_pool", 56, |t| t.max_pool(&THREE)),
        ("max_pool ragged", 55, |t| t.max_pool(&THREE)),
        ("avg_pool", 56, |t| t.avg_pool(&THREE)),
        ("linear across", 56, |t| t.interpolate([112, 56], Interpolation::Linear(Align::Edges))),
        ("linear along", 56, |t| t.interpolate([112], Interpolation::Linear(Align::Edges))),
        ("cubic along", 56, |t| t.interpolate([112], Interpolation::Cubic(Align::Edges))),
        ("linear", 56, |t| t.interpolate([112, 112], Interpolation::Linear(Align::Edges))),
        ("means across", 56, |t| t.adaptive_avg_pool([15, 56])),
        ("without aliases along", 56, |t| t.interpolate([21], Interpolation::CubicAntialiased)),
        ("cubic", 56, |t| t.interpolate([112, 112], Interpolation::Cubic(Align::Edges))),
    ];
    for dtype in [DType::F32, DType::F16] {
        for (name, width, make) in each {
            let operands: [(DType, &[usize]); 1] = [(dtype, &[1, 64, 56, width])];
            all.push(sample(format!("image {dtype} {name}"), &operands, move |_, t| make(&t[0])));
        }
    }
}

/// Blocks of matrices; what is more are products.
fn matrices(all: &mut Vec<Sample>) {
    let square: (DType, &[usize]) = (DType::F32, &[256, 32, 32]);
    all.push(sample("cholesky f32 32", &[square], |_, t| t[0].cholesky()));
    all.push(sample("triangle f32 32", &[square, square], |_, t| {
        t[0].solve_triangular(&t[1], &Triangle::lower().unit())
    }));
    let small: (DType, &[usize]) = (DType::F32, &[256, 8, 8]);
    all.push(sample("lu_panel f32 8", &[small], |_, t| Ok(t[0].lu()?.factors)));
}

/// Transforms of one pass and of several, of each radix, and of a prime length.
fn transforms(all: &mut Vec<Sample>) {
    type Make = fn(&Tensor) -> Result<Tensor>;
    let each: [(&str, &[usize], Make); 6] = [
        ("rfft 1024", &[64, 1024], |t| t.rfft(1, None)),
        ("rfft 1000", &[64, 1000], |t| t.rfft(1, None)),
        ("rfft 65536", &[2, 65_536], |t| t.rfft(1, None)),
        ("rfft 1021", &[2, 1021], |t| t.rfft(1, None)),
        ("irfft 1050", &[64, 526, 2], |t| t.irfft(1, 1050)),
        ("fft 343", &[64, 343, 2], |t| t.fft(1, None)),
    ];
    for (name, dims, make) in each {
        let operands: [(DType, &[usize]); 1] = [(DType::F32, dims)];
        all.push(sample(format!("{name} f32"), &operands, move |_, t| make(&t[0])));
    }
}

/// Kernels that walk or move a matrix.
fn walks(all: &mut Vec<Sample>) {
    type Make = fn(&Tensor) -> Result<Tensor>;
    let each: [(&str, Make); 21] = [
        ("softmax rows", |t| t.softmax(1)),
        ("softmax columns", |t| t.softmax(0)),
        ("log_softmax rows", |t| t.log_softmax(1)),
        ("layer_norm rows", |t| t.layer_norm(1, None, None, 1e-5)),
        ("rms_norm rows", |t| t.rms_norm(1, None, 1e-5)),
        ("sum rows", |t| t.sum([1])),
        ("sum columns", |t| t.sum([0])),
        ("sum all", |t| t.sum([0, 1])),
        ("max rows", |t| t.reduce(Reduction::Max, [1])),
        ("var rows", |t| t.var([1], 1)),
        ("logsumexp rows", |t| t.logsumexp([1])),
        ("cumsum rows", |t| t.cumsum(1)),
        ("cumsum columns", |t| t.cumsum(0)),
        ("cummax rows", |t| t.cummax(1)),
        ("transposed copy", |t| t.t()?.contiguous()),
        ("rows flipped", |t| t.flip(1)?.contiguous()),
        ("three side by side", |t| Tensor::stack(&[t, t, t], -1)),
        ("gelu of a * 2 + 1", |t| ((t * 2.0f32)? + 1.0f32)?.gelu()),
        ("silu of a, times a", |t| t.silu()? * t),
        ("sin of a", |t| t.sin()),
        ("pow of a", |t| t.apply(Op::Pow, &[t.into()])),
    ];
    for dtype in [DType::F32, DType::F16] {
        for (name, make) in each {
            let operands: [(DType, &[usize]); 1] = [(dtype, &[512, 1024])];
            all.push(sample(format!("{name} {dtype}"), &operands, move |_, t| make(&t[0])));
        }
    }
    let f32 = DType::F32;
    all.push(sample("linear, bias and gelu f32", &[(f32, &[512, 512]), (f32, &[512])], |_, t| {
        t[0].linear(&t[0], Some(&t[1]))?.gelu()
    }));
    let table: [(DType, &[usize]); 2] = [(f32, &[512, 1024]), (DType::U32, &[64])];
    all.push(sample("embedding f32", &table, |_, t| t[0].embedding(&t[1])));
    let rows: [(DType, &[usize]); 3] = [(f32, &[512]), (DType::U32, &[4096]), (f32, &[4096])];
    all.push(sample("scatter f32", &rows, |_, t| t[0].scatter(0, &t[1], &t[2])));
    all.push(sample("scatter_add f32", &rows, |_, t| t[0].scatter_add(0, &t[1], &t[2])));
    all.push(sample("uniform f32", &[], move |d, _| d.uniform(Key::new(1), [4096], f32)));
    all.push(sample("normal f32", &[], move |d, _| d.normal(Key::new(1), [4096], f32)));
    all.push(sample("permutation", &[], |d, _| d.permutation(Key::new(1), 65536)));
}

/// Rows that are short, long or of groups, and norms with what they normed by.
fn norms(all: &mut Vec<Sample>) {
    type Make = fn(&Tensor) -> Result<Tensor>;
    let each: [(&str, &[usize], Make); 10] = [
        ("softmax of short rows", &[65_536, 16], |t| t.softmax(1)),
        ("softmax of long rows", &[4, 1 << 18], |t| t.softmax(1)),
        ("layer_norm of short rows", &[65_536, 16], |t| t.layer_norm(1, None, None, 1e-5)),
        ("layer_norm of long rows", &[4, 1 << 18], |t| t.layer_norm(1, None, None, 1e-5)),
        ("layer_norm_with_stats", &[512, 1024], |t| {
            let (y, mean, scale) = t.layer_norm_with_stats(1, None, None, 1e-5)?;
            mean.compute()?;
            scale.compute()?;
            Ok(y)
        }),
        ("rms_norm_with_stats", &[512, 1024], |t| {
            let (y, scale) = t.rms_norm_with_stats(1, None, 1e-5)?;
            scale.compute()?;
            Ok(y)
        }),
        ("group_norm", &[2, 64, 56, 56], |t| t.group_norm(8, None, None, 1e-5)),
        ("instance_norm", &[2, 64, 56, 56], |t| t.instance_norm(None, None, 1e-5)),
        ("cumsum of short rows", &[65_536, 100], |t| t.cumsum(1)),
        ("quantile rows", &[512, 1024], |t| t.quantile([1], 0.9)),
    ];
    for (name, dims, make) in each {
        let operands: [(DType, &[usize]); 1] = [(DType::F32, dims)];
        all.push(sample(format!("{name} f32"), &operands, move |_, t| make(&t[0])));
    }
}

/// Reductions and scans along rows and along columns: all of f32, and of other widths some.
fn folds(all: &mut Vec<Sample>) {
    const SOME: &[Reduction] = &[Reduction::Sum, Reduction::ArgMax, Reduction::Prod];
    type Scan = fn(&Tensor, usize) -> Result<Tensor>;
    let scans: [(&str, Scan); 2] =
        [("cumprod", |t, axis| t.cumprod(axis)), ("cummin", |t, axis| t.cummin(axis))];
    let each: [(DType, &[Reduction]); 4] =
        [(DType::F32, Reduction::ALL), (DType::I8, SOME), (DType::I64, SOME), (DType::F64, SOME)];
    for (dtype, reductions) in each {
        let operands: [(DType, &[usize]); 1] = [(dtype, &[512, 1024])];
        for (way, axis) in [("along", 1), ("across", 0)] {
            for &reduction in reductions {
                let name = format!("{} {way} {dtype}", reduction.name());
                all.push(sample(name, &operands, move |_, t| t[0].reduce(reduction, [axis])));
            }
            for (scan, make) in scans {
                let name = format!("{scan} {way} {dtype}");
                all.push(sample(name, &operands, move |_, t| make(&t[0], axis)));
            }
        }
    }
}

/// Functions, a kernel each: all that are programs of their own for f64, and some in f32 and i64.
fn functions(all: &mut Vec<Sample>) {
    const F32: &[Op] = &[Op::Cbrt, Op::Expm1, Op::Log1p, Op::Tan, Op::Atan2, Op::Erf, Op::Mish];
    const I64: &[Op] = &[Op::Mul, Op::Div, Op::RemFloor, Op::Pow];
    for (dtype, ops) in [(DType::F64, Op::ALL), (DType::F32, F32), (DType::I64, I64)] {
        let operands: [(DType, &[usize]); 1] = [(dtype, &[512, 1024])];
        for &op in ops {
            let inputs = op.arity();
            if op.result(&vec![dtype; inputs]).is_ok() {
                all.push(sample(format!("{} of {dtype}", op.name()), &operands, move |_, t| {
                    t[0].apply(op, &vec![(&t[0]).into(); inputs - 1])
                }));
            }
        }
    }
    for (from, to) in [
        (DType::F32, DType::I8),
        (DType::F32, DType::I64),
        (DType::F32, DType::F64),
        (DType::I64, DType::F32),
        (DType::U8, DType::F16),
        (DType::F64, DType::F32),
        (DType::F64, DType::I64),
        (DType::I64, DType::F64),
    ] {
        let operands: [(DType, &[usize]); 2] = [(from, &[512, 1024]), (to, &[1])];
        all.push(sample(format!("cast {from} to {to}"), &operands, move |_, t| t[0].cast(to)));
    }
}

/// A layer of whole models: the encoder of `examples/embed`, and a decoder that is given one token.
fn models(all: &mut Vec<Sample>) {
    let f32 = DType::F32;
    let operands: [(DType, &[usize]); 5] = [
        (f32, &[1, 128, 384]),
        (f32, &[384, 384]),
        (f32, &[1536, 384]),
        (f32, &[384, 1536]),
        (f32, &[384]),
    ];
    all.push(sample("model: a layer of an encoder", &operands, |_, t| {
        let (x, bias) = (&t[0], Some(&t[4]));
        let heads = |x: Tensor| x.reshape([1, 128, 12, 32])?.permute([0, 2, 1, 3]);
        let query = heads(x.linear(&t[1], bias)?)?;
        let seen = query.attention(&query, &query, &Attention::new())?;
        let seen = seen.permute([0, 2, 1, 3])?.contiguous()?.reshape([1, 128, 384])?;
        let x = (seen.linear(&t[1], bias)? + x)?.layer_norm(2, bias, bias, 1e-12)?;
        let wide = x.linear(&t[2], None)?.gelu()?;
        (wide.linear(&t[3], bias)? + &x)?.layer_norm(2, bias, bias, 1e-12)
    }));
    let half = DType::F16;
    let operands: [(DType, &[usize]); 7] = [
        (half, &[1, 1, 2048]),
        (half, &[2048, 2048]),
        (half, &[8192, 2048]),
        (half, &[2048, 8192]),
        (half, &[2048]),
        (half, &[1, 8, 1024, 64]),
        (half, &[1, 32]),
    ];
    all.push(sample("model: a layer of a decoder", &operands, |_, t| {
        let (x, norm, past) = (&t[0], Some(&t[4]), &t[5]);
        let near = x.rms_norm(2, norm, 1e-5)?;
        let query = near.linear(&t[1], None)?.reshape([1, 32, 1, 64])?.rope(&t[6], &t[6])?;
        let seen = query.attention(past, past, &Attention::new())?.reshape([1, 1, 2048])?;
        let x = (seen.linear(&t[1], None)? + x)?;
        let near = x.rms_norm(2, norm, 1e-5)?;
        let wide = (near.linear(&t[2], None)?.silu()? * near.linear(&t[2], None)?)?;
        wide.linear(&t[3], None)? + x
    }));
}

/// What moves elements about by other elements, or by places.
fn moves(all: &mut Vec<Sample>) {
    type Make = fn(&[Tensor]) -> Result<Tensor>;
    let each: [(&str, Make); 14] = [
        ("gather", |t| t[0].gather(0, &t[1].reshape([4, 1024])?)),
        ("take", |t| t[0].take(&t[1])),
        ("index_add", |t| t[0].index_add(0, &t[1].at(..512)?, &t[0])),
        ("scatter_mul", |t| t[2].scatter_mul(0, &t[1], &t[2])),
        ("scatter_max", |t| t[2].scatter_max(0, &t[1], &t[2])),
        ("masked_fill", |t| t[0].masked_fill(&t[0].gt(0.0f32)?, 1.0f32)),
        ("one_hot", |t| t[1].one_hot(64, DType::F32)),
        ("concat", |t| Tensor::concat(&[&t[0], &t[0]], 1)),
        ("pad", |t| t[0].pad(&[(1, 1), (2, 2)], Pad::Reflect)),
        ("roll", |t| t[0].roll(1, 3)),
        ("tril", |t| t[0].tril(0)),
        ("bincount", |t| t[1].bincount(256)),
        ("bincount of many", |t| t[0].cast(DType::U32)?.bincount(256)),
        ("searchsorted", |t| t[2].searchsorted(&t[0], Insert::Left)),
    ];
    let operands: [(DType, &[usize]); 3] =
        [(DType::F32, &[512, 1024]), (DType::U32, &[4096]), (DType::F32, &[4096])];
    for (name, make) in each {
        all.push(sample(format!("{name} f32"), &operands, move |_, t| make(t)));
    }
    let key = Key::new(1);
    let wide: (DType, &[usize]) = (DType::F64, &[1]);
    all.push(sample("uniform f64", &[wide], move |d, _| d.uniform(key, [4096], DType::F64)));
    all.push(sample("bernoulli", &[], move |d, _| d.bernoulli(key, [4096], 0.5)));
    all.push(sample("integers", &[], move |d, _| d.integers(key, [4096], 0..6, DType::I32)));
}

/// Rows that are sorted, and selected from.
fn orders(all: &mut Vec<Sample>) {
    type Make = fn(&Tensor) -> Result<Tensor>;
    let each: [(&str, usize, Make); 4] = [
        ("sort", 1 << 18, |t| t.sort(1, Order::Ascending)),
        ("argsort", 1 << 18, |t| t.argsort(1, Order::Descending)),
        ("argsort of short rows", 64, |t| t.argsort(1, Order::Descending)),
        ("top_k", 1 << 18, |t| Ok(t.top_k(1, 10)?.1)),
    ];
    for dtype in [DType::F32, DType::U8, DType::I64, DType::F64] {
        for (name, length, make) in each {
            let operands: [(DType, &[usize]); 1] = [(dtype, &[2, length])];
            all.push(sample(format!("{name} {dtype}"), &operands, move |_, t| make(&t[0])));
        }
    }
}

/// A line for who reads statistics.
fn note(line: &str) {
    println!("{line}");
    let file = std::env::var_os("PIPESTATS").map(|path| OpenOptions::new().append(true).open(path));
    if let Some(Ok(mut file)) = file {
        let written = writeln!(file, "{line}");
        assert!(written.is_ok(), "{written:?}");
    }
}

fn main() -> Result<()> {
    // What drivers say while they are probed is for those who ask: `RUST_LOG=error`.
    env_logger::init_from_env(env_logger::Env::default().default_filter_or("off"));
    let mut arguments = std::env::args().skip(1).peekable();
    // So that products by cooperative matrices are among the candidates.
    let adapter = Adapter::best_now()?.experimental(promise::token());
    let adapter = match arguments.next_if(|argument| argument == "--trusting") {
        Some(_) => adapter.trusting(promise::trusted),
        None => adapter,
    };
    let filter = arguments.next();
    let device = adapter.open_now(adapter.negotiate(&Policy::exact()))?;
    let mut all = Vec::new();
    candidates(&device, &mut all);
    chosen(&mut all);
    narrow_weights(&mut all);
    quantized(&mut all);
    attention(&mut all);
    attention_otherwise(&mut all);
    convolutions(&mut all);
    learning(&mut all);
    samples_of_grids(&mut all);
    matrices(&mut all);
    transforms(&mut all);
    images(&mut all);
    walks(&mut all);
    norms(&mut all);
    models(&mut all);
    folds(&mut all);
    functions(&mut all);
    moves(&mut all);
    orders(&mut all);
    let Some(filter) = filter else {
        all.iter().for_each(|sample| println!("{}", sample.name));
        return Ok(());
    };
    // A chip has no kernels of a dtype that it does not have.
    let has = |(dtype, _): &(DType, Vec<usize>)| device.zeros([1], *dtype).is_ok();
    let mine = |sample: &&Sample| sample.name.contains(&filter) && sample.operands.iter().all(has);
    for Sample { name, operands, make } in all.iter().filter(mine) {
        let made = || {
            let zeros = |(dtype, dims): &(DType, Vec<usize>)| device.zeros(&dims[..], *dtype);
            let operands: Vec<Tensor> = operands.iter().map(zeros).collect::<Result<_>>()?;
            operands.iter().try_for_each(Tensor::compute)?;
            device.flush()?;
            note(&format!("KERNEL {name}"));
            make(&device, &operands)?.compute()?;
            device.flush()
        };
        if let Err(error) = made() {
            note(&format!("ERROR {}", error.to_string().lines().next().unwrap_or_default()));
        }
        note("END");
    }
    // Nothing is waited for: a driver that never signals must not hold the process.
    std::process::exit(0)
}
