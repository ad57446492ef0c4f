//! Convolutions of one, two and three dimensions: strides, paddings, dilations, groups, ragged
//! sizes, views, every dtype, against the oracle and the bound of a product.

use wharf::op::Op;
use wharf::reference::{Convolution, Exact, Number, conv, matmul_dtype, matmul_keeps};
use wharf::tensor::Conv;
use wharf::{Adapter, DType, Device, Target, Tensor};

use super::pair::{NUMBERS, Pair, bits, bits_of, count, value};
use super::probe::Random;
use super::views::Move;
use crate::ctx::{
    Case, Ctx, DOWNGRADES, Downgrade, Outcome, Size, case, ensure, ensure_eq, is_slow, matters,
    show,
};

use Move::{Flip, Permute, Slice, Transpose};

mod backward;
mod flat;
mod group;

/// A convolution of views. Strides, paddings and dilations say how many dimensions it has.
#[derive(Clone, Debug)]
struct Form {
    input: Vec<usize>,
    moved: Vec<Move>,
    weight: Vec<usize>,
    turned: Vec<Move>,
    stride: Vec<usize>,
    padding: Vec<usize>,
    dilation: Vec<usize>,
    groups: usize,
}

impl Form {
    fn of(input: &[usize], weight: &[usize]) -> Self {
        let axes = input.len() - 2;
        Self {
            input: input.to_vec(),
            moved: Vec::new(),
            weight: weight.to_vec(),
            turned: Vec::new(),
            stride: vec![1; axes],
            padding: vec![0; axes],
            dilation: vec![1; axes],
            groups: 1,
        }
    }

    fn stride(self, stride: &[usize]) -> Self {
        Self { stride: stride.to_vec(), ..self }
    }

    fn padding(self, padding: &[usize]) -> Self {
        Self { padding: padding.to_vec(), ..self }
    }

    fn dilation(self, dilation: &[usize]) -> Self {
        Self { dilation: dilation.to_vec(), ..self }
    }

    fn groups(self, groups: usize) -> Self {
        Self { groups, ..self }
    }

    fn moved(self, moved: &[Move], turned: &[Move]) -> Self {
        Self { moved: moved.to_vec(), turned: turned.to_vec(), ..self }
    }

    fn apply(&self, x: &Tensor, w: &Tensor, bias: Option<&Tensor>) -> wharf::Result<Tensor> {
        match self.stride.len() {
            1 => x.conv1d(w, bias, &self.how()),
            2 => x.conv2d(w, bias, &self.how()),
            _ => x.conv3d(w, bias, &self.how()),
        }
    }

    fn how<const D: usize>(&self) -> Conv<D> {
        let each = |of: &[usize]| std::array::from_fn(|i| of[i]);
        let how = Conv::new().stride(each(&self.stride)).padding(each(&self.padding));
        how.dilation(each(&self.dilation)).groups(self.groups)
    }
}

/// What every dtype is tried on.
fn forms() -> Vec<Form> {
    vec![
        Form::of(&[1, 1, 5, 5], &[1, 1, 3, 3]),
        Form::of(&[2, 3, 7, 8], &[5, 3, 3, 3]).padding(&[1, 1]),
        Form::of(&[2, 6, 9, 7], &[8, 3, 3, 2]).padding(&[0, 1]).stride(&[2, 1]).groups(2),
        Form::of(&[1, 4, 9, 8], &[4, 1, 3, 3]).padding(&[1, 1]).groups(4),
        Form::of(&[2, 3, 4, 5], &[3, 1, 2, 3]).padding(&[1, 1]).groups(3),
    ]
}

/// What only f32 is tried on.
fn more() -> Vec<Form> {
    let channels_last = [Permute(vec![0, 3, 1, 2])];
    let mut forms = vec![
        Form::of(&[2, 3, 17], &[4, 3, 5]).padding(&[2]).stride(&[3]),
        Form::of(&[1, 3, 16], &[2, 3, 4]).padding(&[5]).dilation(&[3]),
        Form::of(&[1, 2, 5, 6, 4], &[3, 2, 2, 3, 2]).padding(&[1, 1, 0]).stride(&[1, 2, 1]),
        Form::of(&[2, 4, 4, 3, 5], &[4, 2, 3, 2, 3]).padding(&[1, 0, 2]).groups(2),
        Form::of(&[1, 3, 11, 13], &[9, 3, 3, 3]).dilation(&[2, 3]).padding(&[2, 3]),
        Form::of(&[3, 8, 6, 6], &[16, 8, 6, 6]),
        Form::of(&[1, 33, 5, 8], &[17, 33, 3, 3]).padding(&[1, 1]),
        Form::of(&[1, 12, 8, 8], &[24, 1, 3, 3]).groups(12).padding(&[1, 1]),
        Form::of(&[1, 12, 6, 8], &[12, 4, 3, 3]).groups(3),
        Form::of(&[1, 2, 24, 24], &[3, 2, 7, 7]).stride(&[2, 2]).padding(&[3, 3]),
        // More terms than a chunk has, in stages that its end does not divide.
        Form::of(&[1, 300, 3, 4], &[5, 300, 2, 1]),
        Form::of(&[1, 70, 5, 5], &[10, 70, 3, 3]).padding(&[1, 1]),
        // A single tap: a product, in place, by steps, in groups.
        Form::of(&[2, 7, 5, 4], &[3, 7, 1, 1]),
        Form::of(&[2, 6, 5, 7], &[4, 3, 1, 1]).stride(&[2, 3]).groups(2),
        Form::of(&[2, 3, 4, 4], &[3, 3, 1, 1]).padding(&[1, 2]),
        // Nothing but padding for some results; nothing at all.
        Form::of(&[1, 1, 2, 2], &[1, 1, 1, 2]).padding(&[3, 4]),
        Form::of(&[0, 3, 5, 5], &[2, 3, 3, 3]),
        Form::of(&[2, 0, 5, 5], &[2, 0, 3, 3]),
        Form::of(&[1, 2, 0, 5], &[2, 2, 1, 3]).padding(&[2, 0]),
        Form::of(&[2, 3, 5, 5], &[0, 3, 3, 3]),
        Form::of(&[0, 3, 5, 5], &[2, 3, 1, 1]),
    ];
    forms.extend(depthwise());
    let padded = || Form::of(&[2, 6, 7, 4], &[5, 4, 3, 3]).padding(&[1, 1]);
    forms.push(padded().moved(&channels_last, &[]));
    forms.push(Form::of(&[2, 3, 6, 9], &[4, 3, 3, 3]).moved(&[Transpose, Flip(2)], &[Flip(3)]));
    let forms_of_views = [
        Form::of(&[3, 5, 9, 11], &[3, 3, 3, 6])
            .moved(&[Slice(1, 1..4, 1), Slice(3, 0..11, 2)], &[Slice(3, 0..6, -2)]),
        Form::of(&[1, 1, 6, 6], &[3, 4, 3, 3])
            .moved(&[Move::Broadcast(vec![2, 4, 6, 6])], &[Flip(0), Flip(1)]),
        Form::of(&[4, 5, 3, 3], &[3, 3, 2, 5]).moved(&[], &[Permute(vec![1, 3, 0, 2])]),
    ];
    forms.extend(forms_of_views);
    forms
}

/// Channels by themselves: rows of one to nine elements and of whole quads, strides, dilations,
/// several images, views; and more taps than are added one by one.
fn depthwise() -> Vec<Form> {
    let ragged = (1..10).map(|width| {
        let taps = [1, 2, 3][width % 3].min(width);
        Form::of(&[2, 3, 4, width], &[3, 1, 2, taps]).padding(&[1, 1]).groups(3)
    });
    let quads = || Form::of(&[2, 3, 7, 16], &[3, 1, 3, 3]).groups(3);
    let others = [
        quads().padding(&[1, 1]),
        quads().padding(&[1, 2]).stride(&[2, 2]),
        quads().padding(&[0, 3]).stride(&[1, 3]).dilation(&[2, 3]),
        quads().moved(&[Flip(2), Slice(3, 4..16, 1)], &[Flip(3), Transpose]),
        Form::of(&[3, 2, 9, 8], &[2, 1, 3, 2]).groups(2).moved(&[Permute(vec![0, 1, 3, 2])], &[]),
        Form::of(&[2, 4, 6, 5], &[5, 1, 2, 2]).groups(5).moved(&[Permute(vec![0, 3, 1, 2])], &[]),
        Form::of(&[3, 2, 12], &[2, 1, 4]).groups(2).padding(&[2]),
        Form::of(&[2, 2, 5, 4, 8], &[2, 1, 2, 3, 2])
            .groups(2)
            .padding(&[1, 1, 0])
            .dilation(&[3, 1, 1]),
        Form::of(&[1, 2, 18, 20], &[2, 1, 17, 16]).groups(2),
    ];
    ragged.chain(others).collect()
}

pub(crate) fn cases(adapter: &Adapter) -> Vec<Case> {
    let mut cases = Vec::new();
    let quick = !is_slow(adapter.caps());
    for &downgrade in DOWNGRADES.iter().filter(|d| matters(adapter, **d)) {
        for &dtype in NUMBERS {
            let runs = match downgrade.name {
                "native" => true,
                "small_bindings" | "baseline" => dtype == DType::F32,
                "no_f16" => dtype == DType::F16,
                _ => false,
            };
            if runs {
                let named = |what: &str| format!("conv::{what}{dtype}::{}", downgrade.name);
                let usual = quick || matches!(dtype, DType::F32 | DType::F16);
                let size = if usual { Size::Usual } else { Size::Large };
                for case in [
                    case!(named(""), |ctx| run(ctx, downgrade, dtype)),
                    case!(named("backward::"), |ctx| backward::run(ctx, downgrade, dtype)),
                ] {
                    cases.push(Case { size, ..case }.needs(adapter, downgrade, dtype));
                }
            }
        }
    }
    cases.push(case!("conv::bias_and_activation_follow_in_the_kernel", |ctx| fused(ctx)));
    cases.push(case!("conv::lines_share_what_they_load", |ctx| lines(ctx)));
    cases.push(case!("conv::padding_is_zero_whatever_lies_there", |ctx| beside(ctx)));
    cases.push(case!("conv::many_terms_are_summed_by_chunks", |ctx| many_terms(ctx)));
    cases.push(case!("conv::backward::many_windows_by_parts", |ctx| backward::in_parts(ctx)));
    cases.push(case!("conv::backward::windows_of_an_image_by_parts", |ctx| {
        backward::in_an_image(ctx)
    }));
    cases.push(case!("conv::backward::of_transposed", |ctx| backward::transposed(ctx)));
    cases.push(case!("conv::more_than_a_segment", |ctx| in_parts(ctx)));
    cases.extend(flat::cases(adapter));
    cases.extend(group::cases(adapter));
    cases
}

/// Channels by themselves, of every count of lines that a lane may have too few or too many of; of
/// images, and of planes behind each other, by quads and by elements.
async fn lines(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let mut random = Random::new(78);
    for high in 1..13 {
        for form in [
            Form::of(&[2, 3, high, 8], &[3, 1, 3, 3]).padding(&[1, 1]).groups(3),
            Form::of(&[1, 2, high, 7], &[2, 1, 5, 2]).padding(&[2, 0]).groups(2),
            Form::of(&[2, 2, 5, high, 4], &[2, 1, 2, 3, 1])
                .padding(&[1, 1, 0])
                .stride(&[2, 1, 1])
                .dilation(&[3, 1, 1])
                .groups(2),
        ] {
            one(&device, &mut random, DType::F32, &form).await?;
        }
    }
    Ok(())
}

async fn run(ctx: &Ctx, downgrade: Downgrade, dtype: DType) -> Outcome {
    let device = ctx.device(downgrade).await?;
    let other = if device.target() == Target::Gpu { Target::Cpu } else { Target::Gpu };
    let mut random = Random::new(77);
    for device in [device.clone(), device.with_target(other)] {
        let more = if dtype == DType::F32 { more() } else { Vec::new() };
        for form in forms().into_iter().chain(more) {
            one(&device, &mut random, dtype, &form).await?;
        }
    }
    Ok(())
}

/// Elements whose products round: sixteenths and below, or small integers of either sign.
fn element(random: &mut Random, dtype: DType) -> u64 {
    if dtype.is_float() {
        return bits(dtype, Number::Float(random.below(1 << 20) as f64 / f64::from(1 << 19) - 1.0));
    }
    let least =
        if matches!(dtype, DType::U8 | DType::U16 | DType::U32 | DType::U64) { 0 } else { -128 };
    bits(dtype, Number::Int(random.below(256) as i128 + least))
}

async fn pair(
    device: &Device,
    random: &mut Random,
    dtype: DType,
    (dims, moves): (&[usize], &[Move]),
) -> Result<Pair, String> {
    let stored = (0..dims.iter().product()).map(|_| element(random, dtype)).collect();
    Pair::new(device, dtype, stored, dims).await?.view(moves)
}

async fn one(device: &Device, random: &mut Random, dtype: DType, form: &Form) -> Outcome {
    let place = format!("{form:?} for {:?}", device.target());
    let x = pair(device, random, dtype, (&form.input, &form.moved)).await?;
    let w = pair(device, random, dtype, (&form.weight, &form.turned)).await?;
    let y = form.apply(&x.tensor, &w.tensor, None).map_err(|e| format!("{place}: {e:?}"))?;
    check(dtype, form, [&x, &w], &y).await.map_err(|e| format!("{place}: {e}"))
}

/// Compares a result with the oracle's.
async fn check(dtype: DType, form: &Form, [x, w]: [&Pair; 2], y: &Tensor) -> Outcome {
    let how = Convolution {
        input: x.tensor.shape().dims(),
        weight: w.tensor.shape().dims(),
        stride: &form.stride,
        padding: &form.padding,
        dilation: &form.dilation,
        groups: form.groups,
    };
    let numbers =
        |of: &Pair| of.expected().into_iter().map(|b| value(dtype, b)).collect::<Vec<_>>();
    let want = conv(&how, dtype, &numbers(x), &numbers(w));
    let result = matmul_dtype(dtype);
    ensure_eq!(y.dtype(), result, "the dtype");
    ensure_eq!(y.shape().dims(), how.result(), "the shape");
    let got = bits_of(y).await?;
    count();
    ensure_eq!(got.len(), want.len(), "the elements");
    let terms = how.weight[1..].iter().product();
    for (i, (&got, &want)) in got.iter().zip(&want).enumerate() {
        let got = value(result, got);
        ensure!(matmul_keeps(result, terms, want, got), "index {i}: {got:?}, not {want:?}");
    }
    Ok(())
}

/// Bias and activation are what they are by themselves, and are no kernels of their own.
async fn fused(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let mut random = Random::new(5);
    for target in [Target::Cpu64, Target::Gpu] {
        let device = device.with_target(target);
        for (width, taps) in [(8, 3), (7, 3), (8, 1)] {
            let form = Form::of(&[2, 4, 6, width], &[5, 4, taps, taps]).padding(&[taps / 2; 2]);
            let x = pair(&device, &mut random, DType::F32, (&form.input, &[])).await?.tensor;
            let w = pair(&device, &mut random, DType::F32, (&form.weight, &[])).await?.tensor;
            let bias = pair(&device, &mut random, DType::F32, (&[5], &[])).await?.tensor;
            let plain = form.apply(&x, &w, None).map_err(show)?;
            let y = form.apply(&x, &w, Some(&bias)).and_then(|y| y.relu()).map_err(show)?;
            let [with, without] = [&y, &plain].map(|y| y.explain().kernels.len());
            ensure_eq!(with, without, "kernels of width {width}, {taps} taps, for {target:?}");
            let got = bits_of(&y).await?;
            bits_of(&plain).await?;
            let bias = bias.reshape([5, 1, 1]).map_err(show)?;
            let want = plain.apply(Op::Add, &[(&bias).into()]).and_then(|y| y.relu());
            ensure_eq!(got, bits_of(&want.map_err(show)?).await?, "a layer by parts, {target:?}");
            count();
        }
    }
    Ok(())
}

/// Beside a view lies its neighbour in memory, and padding is zero all the same.
async fn beside(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    for target in [Target::Cpu64, Target::Gpu] {
        let device = device.with_target(target);
        let (x, _) = device.upload(&[f32::NAN, 1.0, 2.0, f32::NAN], [1, 1, 4]).map_err(show)?;
        let ones = device.ones([1, 1, 3], DType::F32).map_err(show)?;
        let x = x.slice(2, 1..3).map_err(show)?;
        let y = x.conv1d(&ones, None, &Conv::new().padding([2])).map_err(show)?;
        let got = y.read::<f32>().await.map_err(show)?;
        ensure_eq!(got, [1.0, 3.0, 3.0, 2.0], "{target:?}");
        count();
    }
    Ok(())
}

/// Twenty thousand equal terms, as a product and along lines: one sum after the other would be far
/// beyond the bound.
async fn many_terms(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let terms = 20_000;
    for target in [Target::Cpu64, Target::Gpu] {
        let device = device.with_target(target);
        let all = |x: f32, dims: [usize; 4]| {
            device.full([1; 4], x, DType::F32).and_then(|t| t.broadcast_to(dims)).map_err(show)
        };
        let want = f64::from(0.1f32) * terms as f64;
        let exact = Exact { value: Number::Float(want), scale: want };
        for (input, weight) in [([2, 5], [5, 2, 2]), ([8, 17], [8, 1, 4])] {
            let (x, [rows, y, taps]) = (all(1.0, [1, terms / 4, input[0], input[1]])?, weight);
            let w = all(0.1, [rows, terms / 4, y, taps])?;
            let y = x.conv2d(&w, None, &Conv::new()).map_err(show)?;
            for got in y.read::<f32>().await.map_err(show)? {
                let kept = matmul_keeps(DType::F32, terms, exact, Number::Float(got.into()));
                ensure!(kept, "{got}, not {want}, {input:?} for {target:?}");
            }
        }
        count();
    }
    Ok(())
}

/// Images, lines, weights and results that a segment does not hold.
async fn in_parts(ctx: &Ctx) -> Outcome {
    let device = ctx.device(DOWNGRADES[4]).await?;
    let other = if device.target() == Target::Gpu { Target::Cpu } else { Target::Gpu };
    let mut random = Random::new(13);
    for device in [device.clone(), device.with_target(other)] {
        for form in [
            // The result of 5 images; of one image, whose lines overlap where it is cut.
            Form::of(&[5, 2, 96, 96], &[2, 2, 3, 3]).padding(&[1, 1]),
            Form::of(&[1, 1, 300, 301], &[1, 1, 5, 3]).padding(&[2, 0]).stride(&[2, 1]),
            // Far more input than results, and more weights than either.
            Form::of(&[1, 4, 300, 200], &[4, 2, 2, 2]).groups(2).stride(&[9, 9]),
            Form::of(&[1, 128, 4, 3], &[80, 128, 3, 3]),
            // Halves of nothing but padding.
            Form::of(&[1, 1, 2, 3], &[1, 1, 1, 2]).padding(&[300, 100]),
        ] {
            one(&device, &mut random, DType::F32, &form).await?;
        }
    }
    Ok(())
}
