//! Gradients of convolutions against what each product of the forward one sends back.

use wharf::reference::{Convolution, Exact, Number, matmul_dtype, matmul_keeps, places};
use wharf::tensor::Conv;
use wharf::{DType, Device, Tensor};

use super::{Form, Move, forms, more, pair};
use crate::cases::pair::{Pair, bits, bits_of, carries, count, value};
use crate::cases::probe::Random;
use crate::cases::views::TARGETS;
use crate::ctx::{Ctx, Downgrade, Outcome, ensure, ensure_eq, show};

pub(super) async fn run(ctx: &Ctx, downgrade: Downgrade, dtype: DType) -> Outcome {
    let device = ctx.device(downgrade).await?;
    let mut random = Random::new(78);
    for device in TARGETS.map(|target| device.with_target(target)) {
        let more = if dtype == DType::F32 { more() } else { Vec::new() };
        for (n, form) in forms().into_iter().chain(more).enumerate() {
            // What arrives is a view as well, now and then.
            let moved = if n % 2 == 1 { vec![Move::Flip(0), Move::Flip(2)] } else { Vec::new() };
            let place = format!("{form:?} for {:?}", device.target());
            let one = both(&device, &mut random, dtype, &form, &moved);
            one.await.map_err(|e| format!("{place}: {e}"))?;
        }
    }
    Ok(())
}

/// More windows than are copied at a time, in f32 and in what is summed as it.
pub(super) async fn in_parts(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let (images, rows, pixels) = (3, 2, 89 * 91);
    for dtype in [DType::F32, DType::F16].into_iter().filter(|&dtype| carries(&device, dtype)) {
        let ones = |dims: [usize; 4]| device.ones(dims, dtype).map_err(show);
        let (x, y) = (ones([images, 9, 97, 99])?, ones([images, rows, 89, 91])?);
        let gradient = y.conv_weight_grad(&x, [9, 9], &Conv::new()).map_err(show)?;
        ensure_eq!(gradient.shape().dims(), [rows, 9, 9, 9], "the shape");
        count();
        let want = bits(dtype, Number::Float((images * pixels) as f64));
        for got in bits_of(&gradient).await? {
            ensure_eq!(got, want, "{dtype}");
        }
    }
    Ok(())
}

/// More windows of one image than are copied at a time: its lines are parted, or its only line.
pub(super) async fn in_an_image(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let mut random = Random::new(79);
    for ([lines, columns], [down, across], [step, reach]) in
        [([463, 457], [9, 9], [2, 3]), ([1, 260_003], [1, 65], [1, 1])]
    {
        let (high, wide) = ((lines - 1) * step + (down - 1) * reach + 1, columns + across - 1);
        let mut drawn = |count: usize| -> Vec<f32> {
            (0..count).map(|_| random.below(3) as f32 - 1.0).collect()
        };
        let (x, y) = (drawn(high * wide), drawn(lines * columns));
        let (image, _) = device.upload(&x, [1, 1, high, wide]).map_err(show)?;
        let (arrives, _) = device.upload(&y, [1, 1, lines, columns]).map_err(show)?;
        let how = Conv::new().stride([step, 1]).dilation([reach, 1]);
        let gradient = arrives.conv_weight_grad(&image, [down, across], &how).map_err(show)?;
        let got = gradient.read::<f32>().await.map_err(show)?;
        for (n, got) in got.into_iter().enumerate() {
            let (i, j) = (n / across, n % across);
            let met = |line: usize| {
                let x = &x[(line * step + i * reach) * wide + j..][..columns];
                let y = &y[line * columns..][..columns];
                x.iter().zip(y).map(|(x, y)| x * y).sum::<f32>()
            };
            // Sums of whole numbers are exact.
            let want: f32 = (0..lines).map(met).sum();
            ensure_eq!(got, want, "{n} of {down} x {across} for {lines} x {columns}");
        }
        count();
    }
    Ok(())
}

fn gradients<const D: usize>(form: &Form, [x, w, y]: [&Tensor; 3]) -> wharf::Result<[Tensor; 2]> {
    let last = |t: &Tensor| std::array::from_fn(|i| t.shape().dims()[2 + i]);
    let how = form.how::<D>();
    Ok([y.conv_input_grad(w, last(x), &how)?, y.conv_weight_grad(x, last(w), &how)?])
}

async fn both(
    device: &Device,
    random: &mut Random,
    dtype: DType,
    form: &Form,
    moved: &[Move],
) -> Outcome {
    let x = pair(device, random, dtype, (&form.input, &form.moved)).await?;
    let w = pair(device, random, dtype, (&form.weight, &form.turned)).await?;
    let how = Convolution {
        input: x.tensor.shape().dims(),
        weight: w.tensor.shape().dims(),
        stride: &form.stride,
        padding: &form.padding,
        dilation: &form.dilation,
        groups: form.groups,
    };
    let y = pair(device, random, dtype, (&how.result(), moved)).await?;
    let all = [&x.tensor, &w.tensor, &y.tensor];
    let got = match form.stride.len() {
        1 => gradients::<1>(form, all),
        2 => gradients::<2>(form, all),
        _ => gradients::<3>(form, all),
    };
    let want = sent_back(&how, dtype, [&x, &w, &y]);
    let pixels: usize = how.result()[2..].iter().product();
    let taps: usize = how.weight[2..].iter().product();
    let terms = [how.weight[0] / how.groups * taps, how.input[0] * pixels];
    for (i, got) in got.map_err(show)?.iter().enumerate() {
        let (of, dims) = [("input", how.input), ("weight", how.weight)][i];
        let result = matmul_dtype(dtype);
        ensure_eq!(got.dtype(), result, "the dtype of the {of}'s");
        ensure_eq!(got.shape().dims(), dims, "the shape of the {of}'s");
        count();
        for (n, (bits, want)) in bits_of(got).await?.into_iter().zip(&want[i]).enumerate() {
            let got = value(result, bits);
            let kept = matmul_keeps(result, terms[i], *want, got);
            ensure!(kept, "{n} of the {of}'s: {got:?}, not {want:?}");
        }
    }
    Ok(())
}

/// What every product of the convolution sends to both of its factors.
fn sent_back(how: &Convolution<'_>, dtype: DType, all: [&Pair; 3]) -> [Vec<Exact>; 2] {
    let [x, w, y] = all.map(|of| -> Vec<Number> {
        of.expected().into_iter().map(|bits| value(dtype, bits)).collect()
    });
    let flat =
        |place: &[usize], dims: &[usize]| place.iter().zip(dims).fold(0, |n, (i, dim)| n * dim + i);
    let nothing =
        || Exact::from(if dtype.is_float() { Number::Float(0.0) } else { Number::Int(0) });
    let mut sums = [vec![nothing(); x.len()], vec![nothing(); w.len()]];
    let result = how.result();
    for (place, &arrives) in places(&result).zip(&y) {
        let group = place[1] / (how.weight[0] / how.groups);
        for tap in places(&how.weight[1..]) {
            let mut from = vec![place[0], group * how.weight[1] + tap[0]];
            from.extend((0..how.stride.len()).map(|i| {
                let padded = place[2 + i] * how.stride[i] + tap[1 + i] * how.dilation[i];
                padded.wrapping_sub(how.padding[i])
            }));
            if from.iter().zip(how.input).all(|(i, dim)| i < dim) {
                let (i, j) =
                    (flat(&from, how.input), flat(&[&[place[1]][..], &tap].concat(), how.weight));
                add(&mut sums[0][i], arrives, w[j]);
                add(&mut sums[1][j], arrives, x[i]);
            }
        }
    }
    sums
}

fn add(sum: &mut Exact, a: Number, b: Number) {
    match (&mut sum.value, a, b) {
        (Number::Float(sum_of), Number::Float(a), Number::Float(b)) => {
            *sum_of += a * b;
            sum.scale += (a * b).abs();
        }
        (Number::Int(sum), Number::Int(a), Number::Int(b)) => *sum += a * b,
        _ => {}
    }
}

/// Channels, those of the result and groups; size; taps; stride, dilation, padding, output padding.
type Spread = ([usize; 3], [usize; 2], [usize; 2], [usize; 4]);

/// Gradients of transposed convolutions, by what each product of the forward one sends back.
pub(super) async fn transposed(ctx: &Ctx) -> Outcome {
    const FORMS: [Spread; 7] = [
        ([2, 3, 1], [5, 4], [3, 2], [1, 1, 0, 0]),
        ([4, 6, 2], [3, 5], [3, 3], [2, 1, 1, 1]),
        ([3, 3, 3], [4, 6], [2, 3], [3, 2, 2, 0]),
        ([4, 2, 2], [1, 7], [1, 1], [2, 1, 0, 1]),
        // A dilation has room for more places than there were elements.
        ([1, 1, 1], [1, 4], [1, 2], [1, 2, 0, 1]),
        ([4, 6, 2], [3, 5], [2, 3], [2, 5, 1, 4]),
        ([2, 3, 1], [4, 2], [3, 2], [1, 4, 2, 3]),
    ];
    let (native, mut random) = (ctx.native().await?, Random::new(80));
    for device in TARGETS.map(|target| native.with_target(target)) {
        for ([channels, out, groups], size, taps, [step, reach, pad, more]) in FORMS {
            let place = format!("{channels} to {out}, {taps:?} for {:?}", device.target());
            let grown = [0, 1].map(|i| (size[i] - 1) * step + reach * (taps[i] - 1) + 1 + more);
            let arrived = grown.map(|grown| grown - 2 * pad);
            let dims = [
                [2, channels, size[0], size[1]],
                [channels, out / groups, taps[0], taps[1]],
                [2, out, arrived[0], arrived[1]],
            ];
            let [x, w, y] = dims.map(|dims| -> Vec<f32> {
                (0..dims.iter().product()).map(|_| random.below(5) as f32 - 2.0).collect()
            });
            let mut sent = [vec![0.0; x.len()], vec![0.0; w.len()]];
            let flat = |of: usize, at: [usize; 4]| {
                at.iter().zip(dims[of]).fold(0, |n, (i, dim)| n * dim + i)
            };
            for [image, channel, i, j] in every_place(dims[0]) {
                for [_, own, k, l] in every_place([1, out / groups, taps[0], taps[1]]) {
                    let at = [i * step + reach * k, j * step + reach * l];
                    let inside = |n: usize| at[n] >= pad && at[n] - pad < arrived[n];
                    if inside(0) && inside(1) {
                        let to = channel / (channels / groups) * (out / groups) + own;
                        let arrives = y[flat(2, [image, to, at[0] - pad, at[1] - pad])];
                        let (from, by) =
                            (flat(0, [image, channel, i, j]), flat(1, [channel, own, k, l]));
                        sent[0][from] += arrives * w[by];
                        sent[1][by] += arrives * x[from];
                    }
                }
            }
            let up = |i: usize, values: &[f32]| device.upload(values, dims[i]).map_err(show);
            let ((x, _), (w, _), (y, _)) = (up(0, &x)?, up(1, &w)?, up(2, &y)?);
            let how = Conv::new().stride([step; 2]).dilation([reach; 2]).padding([pad; 2]);
            let how = how.groups(groups).output_padding([more; 2]);
            let forward = x.conv_transpose2d(&w, None, &how).map_err(show)?;
            ensure_eq!(forward.shape(), y.shape(), "{place}: the result");
            let gradients = [
                y.conv_transpose_input_grad(&w, &how).map_err(show)?,
                y.conv_transpose_weight_grad(&x, taps, &how).map_err(show)?,
            ];
            for ((got, want), of) in gradients.into_iter().zip(&sent).zip([&x, &w]) {
                ensure_eq!(got.shape(), of.shape(), "{place}: the shape");
                ensure_eq!(got.read::<f32>().await.map_err(show)?, *want, "{place}");
                count();
            }
        }
    }
    Ok(())
}

/// Every place of a shape.
fn every_place(dims: [usize; 4]) -> impl Iterator<Item = [usize; 4]> {
    let [a, b, c, d] = dims;
    (0..a * b * c * d).map(move |n| [n / (b * c * d), n / (c * d) % b, n / d % c, n % d])
}
