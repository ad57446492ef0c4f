//! Views are as good as their copies, however they lie, on all ways that divide places by quads.
//! Addresses of llvmpipe's wrap, so that only SwiftShader sees some mistakes of views that run
//! backwards.

use wharf::tensor::{
    Align, Attention, Blocks, Conv, Interpolation, Key, Order, Pooling, Quantized,
};
use wharf::wgsl::Target;
use wharf::{DType, Device, Result, Tensor};

use super::pair::count;
use crate::ctx::{Case, Ctx, Outcome, case, ensure, ensure_eq, show};

pub(crate) fn cases() -> Vec<Case> {
    let of = |lies: Lies| {
        case!(format!("laid::as_good_as_copies::{lies:?}"), |ctx| as_copies(ctx, lies))
    };
    Lies::ALL.map(of).into()
}

/// How a view lies.
#[derive(Clone, Copy, Debug)]
enum Lies {
    /// With steps below zero.
    Backwards,
    /// One element along the last axis for all.
    SpreadLast,
    /// One along the first.
    SpreadFirst,
    /// With its last axis first.
    Across,
    /// Every other element.
    Stepped,
    /// Not from a whole quad on.
    Shifted,
}

impl Lies {
    const ALL: [Self; 6] = [
        Self::Backwards,
        Self::SpreadLast,
        Self::SpreadFirst,
        Self::Across,
        Self::Stepped,
        Self::Shifted,
    ];

    /// Random numbers that lie so; backwards along these axes.
    fn view(self, device: &Device, key: u64, dims: &[usize], axes: &[usize]) -> Result<Tensor> {
        let random = |dims: &[usize]| device.uniform(Key::new(key), dims, DType::F32);
        let (rank, mut held) = (dims.len(), dims.to_vec());
        let last = dims[rank - 1];
        match self {
            Self::Backwards => axes.iter().try_fold(random(dims)?, |x, &axis| x.flip(axis)),
            Self::SpreadLast => {
                held[rank - 1] = 1;
                random(&held)?.broadcast_to(dims)
            }
            Self::SpreadFirst => {
                held[0] = 1;
                random(&held)?.broadcast_to(dims)
            }
            Self::Across => {
                held.reverse();
                let reversed: Vec<usize> = (0..rank).rev().collect();
                random(&held)?.permute(&reversed[..])
            }
            Self::Stepped => {
                held[rank - 1] = 2 * last;
                random(&held)?.slice_step(rank - 1, .., 2)
            }
            Self::Shifted => {
                held[rank - 1] = last + 1;
                random(&held)?.slice(rank - 1, 1..last + 1)
            }
        }
    }
}

/// Work on views that lie so, each of which `given` takes as it is or copies.
fn works(
    device: &Device,
    weights: &Quantized,
    lies: Lies,
    given: impl Fn(Tensor) -> Result<Tensor>,
) -> Result<Vec<(&'static str, Tensor)>> {
    let random = |key: u64, dims: &[usize]| device.uniform(Key::new(key), dims, DType::F32);
    let given = &given;
    let back =
        |key: u64, dims: &[usize], axes: &[usize]| given(lies.view(device, key, dims, axes)?);
    let (image, padded) = (random(1, &[2, 16, 33, 33])?, Conv::new().padding([1, 1]));
    // Rows of weights side by side, and taps backwards.
    let turned = random(2, &[3, 3, 16, 40])?.permute([3, 2, 0, 1])?;
    let turned = given(turned.flip(2)?.flip(3)?)?;
    let across = given(random(3, &[3, 3, 40, 16])?.permute([3, 2, 0, 1])?)?;
    let (heads, queries) = (random(4, &[2, 24, 16])?, random(5, &[2, 6, 16])?);
    let masked = |mask| queries.attention(&heads, &heads, &Attention::new().masked(&mask));
    let plain = Attention::new();
    let mut works = vec![
        ("weights of a convolution", image.conv2d(&turned, None, &padded)?),
        ("those of a transposed one", image.conv_transpose2d(&across, None, &padded)?),
        ("an image", back(8, &[2, 16, 33, 33], &[0, 2, 3])?.conv2d(&turned, None, &padded)?),
        ("weights that lie so", {
            image.conv2d(&back(32, &[40, 16, 3, 3], &[0, 3])?, None, &padded)?
        }),
        ("a filter for each channel", {
            let each = back(33, &[16, 1, 3, 3], &[0, 3])?;
            image.conv2d(&each, None, &padded.groups(16))?
        }),
        ("an image of few channels", {
            back(9, &[2, 3, 17, 20], &[1, 3])?.conv2d(&random(10, &[5, 3, 3, 3])?, None, &padded)?
        }),
        ("a row by blocks", back(11, &[1, 64], &[0])?.linear(weights, None)?),
        ("four rows by blocks", back(12, &[4, 64], &[0])?.linear(weights, None)?),
        ("many rows by blocks", back(13, &[45, 64], &[0])?.linear(weights, None)?),
        ("a mask along queries", masked(back(14, &[6, 24], &[0])?)?),
        ("a mask along keys", masked(back(15, &[6, 24], &[1])?)?),
        ("a mask along heads", masked(back(16, &[2, 6, 24], &[0, 1])?)?),
        ("queries", back(17, &[2, 6, 16], &[0, 1])?.attention(&heads, &heads, &plain)?),
        ("keys", {
            let keys = back(18, &[2, 24, 16], &[0, 1])?;
            queries.attention(&keys, &keys, &plain)?
        }),
        ("values of f16", {
            let values = back(34, &[2, 24, 16], &[0, 1])?.cast(DType::F16)?;
            let [queries, heads] = [&queries, &heads].map(|x| x.cast(DType::F16));
            queries?.attention(&heads?, &values, &plain)?.cast(DType::F32)?
        }),
    ];
    works.extend(on_rows(device, lies, given)?);
    Ok(works)
}

/// Of rows and columns.
fn on_rows(
    device: &Device,
    lies: Lies,
    given: impl Fn(Tensor) -> Result<Tensor>,
) -> Result<Vec<(&'static str, Tensor)>> {
    let random = |key: u64, dims: &[usize]| device.uniform(Key::new(key), dims, DType::F32);
    let back =
        |key: u64, dims: &[usize], axes: &[usize]| given(lies.view(device, key, dims, axes)?);
    let (a, b) = (random(6, &[37, 64])?, random(7, &[64, 44])?);
    Ok(vec![
        ("rows of a product", back(19, &[37, 64], &[0])?.matmul(&b)?),
        ("terms of a product", back(20, &[37, 64], &[1])?.matmul(&b)?),
        ("the right side's rows", a.matmul(&back(21, &[64, 44], &[0])?)?),
        ("the right side's columns", a.matmul(&back(22, &[64, 44], &[1])?)?),
        ("the right side turned", a.matmul(&back(23, &[44, 64], &[0])?.t()?)?),
        ("a softmax", back(24, &[19, 64], &[0])?.softmax(1)?),
        ("a norm", back(25, &[19, 64], &[0, 1])?.layer_norm(1, None, None, 1e-5)?),
        ("sums", back(26, &[19, 64], &[0])?.sum(1)?),
        ("sums of columns", back(27, &[19, 64], &[0, 1])?.sum(0)?),
        ("running sums", back(28, &[19, 64], &[0])?.cumsum(1)?),
        ("windows", back(29, &[2, 3, 16, 20], &[0, 2])?.max_pool(&Pooling::new([2, 2]))?),
        ("joined", Tensor::concat(&[&back(30, &[8, 16], &[0])?, &b.at((..8, ..16))?], 0)?),
        ("sorted", back(35, &[19, 64], &[0, 1])?.sort(1, Order::Ascending)?),
        ("the largest", back(36, &[19, 64], &[0, 1])?.argmax(1)?.cast(DType::F32)?),
        ("picked", {
            let at = back(37, &[19, 64], &[0])?.mul_add(63.0, 0.0)?.cast(DType::U32)?;
            random(38, &[19, 64])?.gather(1, &at)?
        }),
        ("a spectrum", back(39, &[5, 64], &[0, 1])?.rfft([1], None)?),
        ("resized", {
            let how = Interpolation::Linear(Align::Edges);
            back(40, &[2, 3, 12, 16], &[1, 2])?.interpolate([24, 32], how)?
        }),
        ("a matrix solved", {
            let matrix =
                (back(41, &[20, 20], &[0, 1])? + (device.eye(20, 20, DType::F32)? * 20.0)?)?;
            matrix.solve(&back(42, &[20, 4], &[0])?)?
        }),
        ("as f16", back(31, &[9, 16], &[0])?.cast(DType::F16)?.cast(DType::F32)?),
    ])
}

async fn as_copies(ctx: &Ctx, lies: Lies) -> Outcome {
    let native = ctx.native().await?;
    let view = lies.view(&native, 99, &[96, 64], &[0]).map_err(show)?;
    let copy = view.contiguous().map_err(show)?;
    let (of_view, _) = view.quantize(Blocks::Q8).await.map_err(show)?;
    let (of_copy, _) = copy.quantize(Blocks::Q8).await.map_err(show)?;
    for device in [native.with_target(Target::Gpu), native] {
        let views = works(&device, &of_view, lies, Ok).map_err(show)?;
        let copies = works(&device, &of_copy, lies, |x| x.contiguous()).map_err(show)?;
        for ((what, view), (_, copy)) in views.iter().zip(&copies) {
            let got = view.read::<f32>().await.map_err(show)?;
            let want = copy.read::<f32>().await.map_err(show)?;
            count();
            ensure_eq!(got.len(), want.len(), "{what}");
            // Sums of some hundred terms below one, perhaps in another order.
            let near = |(x, y): (&f32, &f32)| (x - y).abs() <= 1e-4 * y.abs().max(1.0);
            let wrong = got.iter().zip(&want).position(|pair| !near(pair));
            ensure!(wrong.is_none(), "{what}, {:?}: from element {wrong:?} on", device.target());
        }
    }
    Ok(())
}
