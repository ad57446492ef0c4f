//! Values that bring their shape along, and pictures of what is on the device.

use wharf::ndarray::{ArrayD, Axis, IxDyn, Slice, array};
use wharf::{Adapter, DType, Tensor};

use super::probe::{Probe, first_difference, of_dtype, values};
use crate::ctx::{Case, Ctx, DOWNGRADES, Outcome, case, ensure, ensure_eq, show};

pub(crate) fn cases(adapter: &Adapter) -> Vec<Case> {
    let mut cases: Vec<Case> = (DType::ALL.iter().copied())
        .map(|dtype| {
            case!(format!("arrays::{dtype}::of_any_strides"), |ctx| async move {
                of_dtype!(dtype, any_strides(ctx))
            })
            .needs(adapter, DOWNGRADES[0], dtype)
        })
        .collect();
    cases.extend((DType::ALL.iter().copied()).map(|dtype| {
        case!(format!("arrays::{dtype}::edges_of_a_large_view"), |ctx| async move {
            of_dtype!(dtype, edges(ctx))
        })
        .needs(adapter, DOWNGRADES[0], dtype)
    }));
    cases.extend([
        case!("arrays::a_literal_is_computed_with", |ctx| literal(ctx)),
        case!("arrays::a_picture_is_of_what_is_deferred", |ctx| deferred(ctx)),
        case!("arrays::a_picture_of_what_failed_is_its_error", |ctx| failed(ctx)),
    ]);
    cases
}

/// An array backwards, with gaps and turned: as the host has it, down again, and through a kernel.
async fn any_strides<T: Probe>(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let all = ArrayD::from_shape_vec(IxDyn(&[40, 7, 33]), values::<T>(40 * 7 * 33, 5));
    let all = all.map_err(|error| error.to_string())?;
    for step in [-2, -1, 1, 3] {
        let mut part = all.slice_axis(Axis(2), Slice::new(1, None, step));
        part.swap_axes(0, 1);
        let (tensor, receipt) = device.tensor(&part).map_err(show)?;
        ensure_eq!(receipt.tally.exact, part.len() as u64, "step {step}");
        let want: Vec<T> = part.iter().copied().collect();
        let back = tensor.read_array::<T>().await.map_err(show)?;
        ensure_eq!(back.shape(), part.shape(), "step {step}");
        let back: Vec<T> = back.into_iter().collect();
        first_difference(&want, &back).map_or(Ok(()), Err)?;
        let turned = tensor.swap_axes(0, 1).map_err(show)?;
        let back = turned.read_array::<T>().await.map_err(show)?;
        part.swap_axes(0, 1);
        let (want, back): (Vec<T>, Vec<T>) =
            (part.into_iter().copied().collect(), back.into_iter().collect());
        first_difference(&want, &back).map_or(Ok(()), Err)?;
    }
    Ok(())
}

/// The picture of a view shows the same values as that of its edges as a tensor of their own.
async fn edges<T: Probe>(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let numbers: Vec<T> = (0..9 * 50 * 40).map(|i| T::from_bits(i % 113)).collect();
    let (x, _) = device.upload(&numbers, [9, 50, 40]).map_err(show)?;
    let view = x.flip(1).and_then(|x| x.permute([2, 0, 1])).map_err(show)?;
    let picture = view.picture().await.map_err(show)?.to_string();
    let mut edges = Vec::new();
    let ends = |length: usize| (0..3).chain(length - 3..length);
    for i in ends(40) {
        for j in ends(9) {
            edges.extend(ends(50).map(|k| numbers[(j * 50 + 49 - k) * 40 + i]));
        }
    }
    let (small, _) = device.upload(&edges, [6, 6, 6]).map_err(show)?;
    let want = small.picture().await.map_err(show)?.to_string();
    let words = |picture: &str| -> Vec<String> {
        let values = picture.split_once('\n').map_or("", |(_, values)| values);
        let words = values.split([' ', '\n', ',', '[', ']']);
        words.filter(|word| !word.is_empty() && *word != "...").map(Into::into).collect()
    };
    ensure_eq!(words(&want).len(), 216, "{want}");
    ensure_eq!(words(&picture), words(&want), "the same values");
    ensure!(picture.starts_with(&format!("{} [40, 9, 50] on ", T::DTYPE)), "{picture}");
    Ok(())
}

async fn literal(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let (x, receipt) = device.tensor([[1.0f32, 2.0], [3.0, 4.0]]).map_err(show)?;
    let (y, _) = device.tensor(vec![10.0f32, 100.0]).map_err(show)?;
    ensure!(receipt.is_exact(), "{receipt}");
    let product = x.matmul(&y).map_err(show)?.read_array::<f32>().await.map_err(show)?;
    ensure_eq!(product, array![210.0f32, 430.0].into_dyn(), "x y");
    let (two, _) = device.tensor(2.0f32).map_err(show)?;
    let twice = (x * two).map_err(show)?.read_array::<f32>().await.map_err(show)?;
    ensure_eq!(twice, array![[2.0f32, 4.0], [6.0, 8.0]].into_dyn(), "2 x");
    Ok(())
}

async fn deferred(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let sum = |x: Tensor| ((&x + 1.0f32)? * 0.5f32)?.sum(1);
    let (x, _) = device.tensor([[1.0f32, 2.0], [3.0, 5.0]]).map_err(show)?;
    let picture = sum(x).map_err(show)?.picture().await.map_err(show)?.to_string();
    ensure!(picture.starts_with("f32 [2] on ") && picture.ends_with("\n[2.5, 5.0]"), "{picture}");
    let x = device.arange(0, 8000, 1, DType::F32).map_err(show)?;
    let large = x.reshape([4000, 2]).and_then(sum).map_err(show)?;
    let picture = large.picture().await.map_err(show)?.to_string();
    let values =
        "\n[1.5000e+00, 3.5000e+00, 5.5000e+00, ..., 7.9955e+03, 7.9975e+03,\n 7.9995e+03]";
    ensure!(picture.ends_with(values), "{picture}");
    Ok(())
}

async fn failed(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let (table, _) = device.tensor([[1.0f32; 40]; 40]).map_err(show)?;
    let (index, _) = device.tensor([40; 50]).map_err(show)?;
    let picked = table.index_select(0, &index).map_err(show)?;
    let error = picked.picture().await.err().ok_or("it has no row 40")?;
    ensure_eq!(error.kind(), wharf::ErrorKind::Index, "{error}");
    Ok(())
}
