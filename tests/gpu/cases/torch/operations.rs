//! Operations on whole tensors against `PyTorch`'s answers, in each dtype that the adapter has.

use std::collections::BTreeMap;

use wharf::op::Reduction;
use wharf::shadow::ShadowPolicy;
use wharf::tensor::{Align, Attention, Conv, Insert, Interpolation, Lu, Order, Pooling, Triangle};
use wharf::{Adapter, Axes, DType, Device, Scalar, Tensor};

use super::super::pair::{bits, bits_of, carries, count};
use super::super::views::TARGETS;
use super::near::{Got, check};
use super::uploaded;
use crate::ctx::{Case, Ctx, DOWNGRADES, LOWEST, Outcome, case, ensure, show};
use crate::torch_operations::{Golden, operations};

pub(super) fn cases(adapter: &Adapter) -> Vec<Case> {
    let mut groups: BTreeMap<&str, Vec<Golden>> = BTreeMap::new();
    for golden in operations() {
        groups.entry(golden.op).or_default().push(golden);
    }
    let one = |(op, lines): (&str, Vec<Golden>)| {
        let lines: &'static [Golden] = lines.leak();
        case!(format!("torch::operations::{op}"), |ctx| native(ctx, lines))
    };
    let shadow = case!("torch::operations_in_the_shadow", |ctx| shadowed(ctx));
    let lowest = case!("torch::operations::lowest", |ctx| lowered(ctx)).on_demand(adapter);
    groups.into_iter().map(one).chain([shadow, lowest]).collect()
}

/// Whose oracles only a shadow asks.
const MOVED: &str = "sort argsort top_k searchsorted bincount unique nonzero masked_select \
    scatter_max index_add gather_nd scatter_nd";

async fn native(ctx: &Ctx, lines: &[Golden]) -> Outcome {
    all_of(&ctx.native().await?, lines).await
}

/// Of each operation the first line, and every eighth.
pub(super) fn some() -> Vec<Golden> {
    let mut before: BTreeMap<&str, usize> = BTreeMap::new();
    let mut lines = operations();
    lines.retain(|golden| {
        let nth = before.entry(golden.op).or_default();
        *nth += 1;
        *nth % 8 == 1
    });
    lines
}

/// Every operation, with all taken away from the adapter that may be.
async fn lowered(ctx: &Ctx) -> Outcome {
    let device = ctx.device(LOWEST).await?;
    let mut wrong = Vec::new();
    for (i, golden) in some().into_iter().enumerate() {
        let dtypes = golden.dtypes.iter().copied().filter(|&dtype| carries(&device, dtype));
        // Of each line another of its dtypes.
        let dtypes: Vec<DType> = dtypes.collect();
        if let Some(&dtype) = dtypes.get(i % dtypes.len().max(1)) {
            count();
            let got = answered(&device, &golden, dtype).await?;
            wrong.extend(check(&golden, dtype, &got).err());
        }
    }
    ensure!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
    Ok(())
}

/// All of those once more: what they come to is what torch does.
async fn shadowed(ctx: &Ctx) -> Outcome {
    let device = ctx.fresh(DOWNGRADES[0]).await?;
    let shadow = device.shadow(ShadowPolicy::all());
    let mut lines = operations();
    lines.retain(|golden| MOVED.split_whitespace().any(|op| op == golden.op));
    all_of(&device, &lines).await?;
    let report = shadow.report().await.map_err(show)?;
    ensure!(report.wrong.is_none(), "{report}");
    ensure!(report.left_out.is_empty(), "{report}");
    ensure!(100 * report.judged > 99 * report.elements, "{report}");
    Ok(())
}

/// The first dtype of each line on both classes of target, the others on the own: every second one
/// where there are lines enough, since each dtype of each line has texts of its own.
async fn all_of(device: &Device, lines: &[Golden]) -> Outcome {
    let mut wrong = Vec::new();
    let both = TARGETS.map(|target| device.with_target(target));
    for (i, golden) in lines.iter().enumerate() {
        let wanted = |n: usize| n == 0 || lines.len() < 4 || (i + n).is_multiple_of(2);
        for (n, &dtype) in golden.dtypes.iter().enumerate().filter(|(n, _)| wanted(*n)) {
            let devices = if n == 0 { &both[..] } else { core::slice::from_ref(device) };
            for device in devices.iter().filter(|device| carries(device, dtype)) {
                count();
                let got = answered(device, golden, dtype).await?;
                wrong.extend(check(golden, dtype, &got).err());
            }
        }
    }
    ensure!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
    Ok(())
}

/// The results of a line in a dtype.
pub(super) async fn answered(
    device: &Device,
    golden: &Golden,
    dtype: DType,
) -> Result<Vec<Got>, String> {
    let named = |error: String| format!("{dtype} of {}: {error}", golden.line);
    let mut tensors = Vec::new();
    for x in &golden.operands {
        let of = x.dtype(dtype);
        let words: Vec<u64> = x.numbers(dtype).into_iter().map(|number| bits(of, number)).collect();
        tensors.push(uploaded(device, of, &words, &x.dims).await.map_err(named)?);
    }
    let results = run(golden, &tensors).await.map_err(show).map_err(named)?;
    let mut got = Vec::new();
    for result in results {
        let dims = result.shape().dims().to_vec();
        let bits = bits_of(&result).await.map_err(named)?;
        got.push(Got { dtype: result.dtype(), dims, bits });
    }
    Ok(got)
}

/// A line that nobody reads has no results, and is wrong.
async fn run(g: &Golden, t: &[Tensor]) -> wharf::Result<Vec<Tensor>> {
    match g.op {
        "top_k" => {
            let (values, places) = t[0].top_k(g.count("axis"), g.count("k"))?;
            Ok(vec![values, places])
        }
        "max_with_index" | "min_with_index" => {
            let (axis, most) = (g.count("axis"), g.op == "max_with_index");
            let (values, places) =
                if most { t[0].max_with_index(axis)? } else { t[0].min_with_index(axis)? };
            Ok(vec![values, places])
        }
        "attention_with_weights" => {
            let how = attention(g, &t[3..]);
            let (result, weights) = t[0].attention_with_weights(&t[1], &t[2], &how)?;
            Ok(vec![result, weights])
        }
        "unique" => {
            let found = t[0].unique().await?;
            Ok(vec![found.values, found.inverse, found.counts])
        }
        "nonzero" => Ok(vec![t[0].nonzero().await?]),
        "masked_select" => Ok(vec![t[0].masked_select(&t[1]).await?]),
        "lu" => {
            let Lu { factors, order, .. } = t[0].lu()?;
            Ok(vec![factors, order])
        }
        "meshgrid" => Tensor::meshgrid(t),
        _ => placed(g, t).or_else(|| computed(g, t)).or_else(|| folded(g, t)).into_iter().collect(),
    }
}

/// What is sorted, found, selected and scattered.
fn placed(g: &Golden, t: &[Tensor]) -> Option<wharf::Result<Tensor>> {
    let axis = g.count("axis");
    let order = if g.word("way") == Some("down") { Order::Descending } else { Order::Ascending };
    let side = if g.word("side") == Some("left") { Insert::Left } else { Insert::Right };
    Some(match g.op {
        "sort" => t[0].sort(axis, order),
        "argsort" => t[0].argsort(axis, order),
        "searchsorted" => t[0].searchsorted(&t[1], side),
        "bincount" => t[0].bincount(g.count("bins")),
        "histogram" => t[0].histogram(g.count("bins"), g.number("low")..=g.number("high")),
        "masked_fill" => match g.number("value") {
            value if value.is_finite() => t[0].masked_fill(&t[1], Scalar::from(value as i64)),
            value => t[0].masked_fill(&t[1], value),
        },
        "scatter_add" => t[0].scatter_add(axis, &t[1], &t[2]),
        "scatter_mul" => t[0].scatter_mul(axis, &t[1], &t[2]),
        "scatter_max" => t[0].scatter_max(axis, &t[1], &t[2]),
        "scatter_min" => t[0].scatter_min(axis, &t[1], &t[2]),
        "index_add" => t[0].index_add(axis, &t[1], &t[2]),
        "gather_nd" => t[0].gather_nd(&t[1]),
        "scatter_nd" => t[0].scatter_nd(&t[1], &t[2]),
        "repeat" => t[0].repeat(g.list("counts")),
        "repeat_interleave" => t[0].repeat_interleave(axis, g.count("count")),
        "diag" => t[0].diag(g.number("k") as isize),
        "windows" => t[0].windows(axis, g.count("size"), g.count("step")),
        _ => return None,
    })
}

/// What is computed of several tensors, or of images.
fn computed(g: &Golden, t: &[Tensor]) -> Option<wharf::Result<Tensor>> {
    let (axis, eps) = (g.count("axis"), g.number("eps") as f32);
    let size = if g.word("size").is_some() { g.list("size") } else { g.list("to") };
    let length = g.word("n").map(|_| g.count("n"));
    let several = g.word("axes").is_some();
    Some(match g.op {
        "einsum" => Tensor::einsum(g.word("letters").unwrap_or_default(), t),
        "dot" => t[0].dot(&t[1]),
        "outer" => t[0].outer(&t[1]),
        "rope" => t[0].rope(&t[1], &t[2]),
        "rope_interleaved" => t[0].rope_interleaved(&t[1], &t[2]),
        "layer_norm" => t[0].layer_norm(g.list("axes"), t.get(1), t.get(2), eps),
        "rms_norm" => t[0].rms_norm(g.list("axes"), t.get(1), eps),
        "group_norm" => t[0].group_norm(g.count("groups"), t.get(1), t.get(2), eps),
        "instance_norm" => t[0].instance_norm(t.get(1), t.get(2), eps),
        "batch_norm" => t[0].batch_norm(&t[1], &t[2], t.get(3), t.get(4), eps),
        "conv1d" => t[0].conv1d(&t[1], t.get(2), &conv(g)),
        "conv2d" => t[0].conv2d(&t[1], t.get(2), &conv(g)),
        "conv3d" => t[0].conv3d(&t[1], t.get(2), &conv(g)),
        "conv_transpose1d" => t[0].conv_transpose1d(&t[1], t.get(2), &conv(g)),
        "conv_transpose2d" => t[0].conv_transpose2d(&t[1], t.get(2), &conv(g)),
        "conv_transpose3d" => t[0].conv_transpose3d(&t[1], t.get(2), &conv(g)),
        "conv_input_grad"
        | "conv_weight_grad"
        | "conv_transpose_input_grad"
        | "conv_transpose_weight_grad" => match g.list("stride").len() {
            1 => convolved_back::<1>(g, t),
            2 => convolved_back::<2>(g, t),
            _ => convolved_back::<3>(g, t),
        },
        "max_pool_grad" | "avg_pool_grad" => match g.list("size").len() {
            1 => pooled_back::<1>(g, t),
            2 => pooled_back::<2>(g, t),
            _ => pooled_back::<3>(g, t),
        },
        "max_pool" | "avg_pool" | "adaptive_avg_pool" | "interpolate" => match size.len() {
            1 => resized::<1>(g, &t[0]),
            2 => resized::<2>(g, &t[0]),
            _ => resized::<3>(g, &t[0]),
        },
        "attention" => t[0].attention(&t[1], &t[2], &attention(g, &t[3..])),
        "cross_entropy" => t[0].cross_entropy(axis, &t[1]),
        "cosine_similarity" => t[0].cosine_similarity(axis, &t[1]),
        "cholesky" => t[0].cholesky(),
        "det" => t[0].det(),
        "inv" => t[0].inv(),
        "solve" => right_side(t).and_then(|right| t[0].solve(&right)),
        "solve_triangular" => {
            let how = if g.count("upper") == 1 { Triangle::upper() } else { Triangle::lower() };
            let how = if g.count("unit") == 1 { how.unit() } else { how };
            right_side(t).and_then(|right| t[0].solve_triangular(&right, &how))
        }
        "cross" => t[0].cross(axis, &t[1]),
        "complex_mul" => t[0].complex_mul(&t[1]),
        "complex_conj" => t[0].complex_conj(),
        "rfft" if several => t[0].rfft(g.list("axes"), None),
        "fft" if several => t[0].fft(g.list("axes"), None),
        "ifft" if several => t[0].ifft(g.list("axes"), None),
        "rfft" => t[0].rfft(axis, length),
        "irfft" => t[0].irfft(axis, g.count("n")),
        "fft" => t[0].fft(axis, length),
        "ifft" => t[0].ifft(axis, length),
        "prelu" => t[0].prelu(&t[1]),
        _ => return None,
    })
}

/// What becomes of the elements of one tensor.
fn folded(g: &Golden, t: &[Tensor]) -> Option<wharf::Result<Tensor>> {
    let axis = g.count("axis");
    let axes = match g.count("kept") {
        0 => Axes::from(g.list("axes")),
        _ => Axes::keep(g.list("axes")),
    };
    Some(match g.op {
        "quantile" => t[0].quantile(axes, g.number("part")),
        "median" => t[0].median(axes),
        "softmax" => t[0].softmax(axis),
        "log_softmax" => t[0].log_softmax(axis),
        "cumsum" => t[0].cumsum(axis),
        "cumsum_exclusive" => t[0].cumsum_exclusive(axis),
        "cumsum_reverse" => t[0].cumsum_reverse(axis),
        "cumprod" => t[0].cumprod(axis),
        "cummax" => t[0].cummax(axis),
        "cummin" => t[0].cummin(axis),
        "trace" => t[0].trace(),
        "glu" => t[0].glu(axis),
        "selu" => t[0].selu(),
        "softsign" => t[0].softsign(),
        "hard_sigmoid" => t[0].hard_sigmoid(),
        "l1_norm" => t[0].l1_norm(axis),
        "var" => t[0].var(axes, g.count("correction")),
        "std" => t[0].std(axes, g.count("correction")),
        name => {
            let reduction = Reduction::ALL.iter().find(|reduction| reduction.name() == name)?;
            t[0].reduce(*reduction, axes)
        }
    })
}

/// Torch takes a matrix of one axis less than the matrices beside it for all of them.
fn right_side(t: &[Tensor]) -> wharf::Result<Tensor> {
    let shared = t[1].shape().rank() > 1 && t[1].shape().rank() < t[0].shape().rank();
    if shared { t[1].unsqueeze(0) } else { Ok(t[1].clone()) }
}

fn conv<const D: usize>(g: &Golden) -> Conv<D> {
    let how = Conv::new().stride(g.each("stride")).padding(g.each("padding"));
    let how = how.dilation(g.each("dilation")).groups(g.count("groups"));
    how.output_padding(g.each("output_padding"))
}

/// What arrives at a convolution comes first.
fn convolved_back<const D: usize>(g: &Golden, t: &[Tensor]) -> wharf::Result<Tensor> {
    let (size, how) = (|| g.each::<D>("size"), conv(g));
    match g.op {
        "conv_input_grad" => t[0].conv_input_grad(&t[1], size(), &how),
        "conv_weight_grad" => t[0].conv_weight_grad(&t[1], size(), &how),
        "conv_transpose_input_grad" => t[0].conv_transpose_input_grad(&t[1], &how),
        _ => t[0].conv_transpose_weight_grad(&t[1], size(), &how),
    }
}

/// What arrives at a pool comes first.
fn pooled_back<const D: usize>(g: &Golden, t: &[Tensor]) -> wharf::Result<Tensor> {
    let how = pooling::<D>(g);
    match g.op {
        "avg_pool_grad" if g.count("counted") == 1 => t[0].avg_pool_grad(g.each::<D>("to"), &how),
        "avg_pool_grad" => t[0].avg_pool_grad(g.each::<D>("to"), &how.padding_uncounted()),
        _ => {
            let (dims, how) = (t[1].shape().dims(), how.dilation(g.each("dilation")));
            let size = core::array::from_fn(|i| dims[dims.len() - D + i]);
            let (_, places) = t[1].max_pool_with_indices(&how)?;
            t[0].max_pool_grad(&places, size, &how)
        }
    }
}

fn pooling<const D: usize>(g: &Golden) -> Pooling<D> {
    Pooling::new(g.each("size")).stride(g.each("stride")).padding(g.each("padding"))
}

/// Pools, and images of another size.
fn resized<const D: usize>(g: &Golden, x: &Tensor) -> wharf::Result<Tensor> {
    let how = pooling::<D>(g);
    let align = if g.count("corners") == 1 { Align::Corners } else { Align::Edges };
    let size: [usize; D] = g.each("to");
    match (g.op, g.word("how")) {
        ("max_pool", _) => x.max_pool(&how.dilation(g.each("dilation"))),
        ("avg_pool", _) if g.count("counted") == 1 => x.avg_pool(&how),
        ("avg_pool", _) => x.avg_pool(&how.padding_uncounted()),
        ("adaptive_avg_pool", _) => x.adaptive_avg_pool(size),
        (_, Some("nearest")) => x.interpolate(size, Interpolation::Nearest),
        (_, Some("linear")) => x.interpolate(size, Interpolation::Linear(align)),
        _ => x.interpolate(size, Interpolation::Cubic(align)),
    }
}

/// The lengths come before the mask.
fn attention(g: &Golden, beside: &[Tensor]) -> Attention {
    let mut how = Attention::new().scaled(g.number("scaled") as f32);
    let mut beside = beside.iter().peekable();
    if let Some(lengths) = beside.next_if(|_| g.count("lengths") == 1) {
        how = how.lengths(lengths);
    }
    if let Some(mask) = beside.next() {
        how = how.masked(mask);
    }
    if g.word("window").is_some() {
        let [before, after] = g.each("window");
        how = how.window(before, after);
    }
    if g.word("softcap").is_some() {
        how = how.softcap(g.number("softcap") as f32);
    }
    if g.count("causal") == 1 { how.causal() } else { how }
}
