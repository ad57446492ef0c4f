//! Reading as another dtype and into any layout.

use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use wharf::half::f16;
use wharf::ledger::Crossings;
use wharf::tensor::{Attention, Conv, Insert};
use wharf::{Adapter, DType, ErrorKind, HostViewMut, Receipt, Tensor};

use super::pair::{bits_of, difference};
use super::probe::{Probe, first_difference, of_dtype, values};
use crate::ctx::{Case, Ctx, DOWNGRADES, Outcome, case, ensure, ensure_eq, show};

pub(crate) fn cases(adapter: &Adapter) -> Vec<Case> {
    let mut cases: Vec<Case> = (DType::ALL.iter().copied())
        .map(|dtype| {
            case!(format!("reads::{dtype}::as_every_dtype"), |ctx| async move {
                of_dtype!(dtype, as_every(ctx))
            })
            .needs(adapter, DOWNGRADES[0], dtype)
        })
        .collect();
    cases.extend((DType::ALL.iter().copied()).map(|dtype| {
        case!(format!("reads::{dtype}::into_any_layout"), |ctx| async move {
            of_dtype!(dtype, any_layout(ctx))
        })
        .needs(adapter, DOWNGRADES[4], dtype)
    }));
    cases.extend([
        case!("reads::a_rounding_read_is_counted", |ctx| rounding(ctx)),
        case!("reads::of_nothing_says_what_befell_it", |ctx| of_nothing(ctx)),
        case!("reads::a_value_out_of_range_is_named", |ctx| out_of_range(ctx)),
        case!("reads::a_view_that_overlaps_or_differs_is_an_error", |ctx| wrong_views(ctx)),
        case!("reads::guards_are_asked", |ctx| guards(ctx)),
        case!("reads::dropped_midway", |ctx| dropped(ctx)),
    ]);
    cases
}

/// One dtype read as every other: the result equals that of an upload with this conversion, or both
/// are refused.
async fn as_every<T: Probe>(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let data: Vec<T> = match T::DTYPE.is_float() {
        true => values(5000, 9),
        // In the range of every integer.
        false => (0..5000).map(|i| T::from_bits(i % 100)).collect(),
    };
    let (tensor, _) = device.upload(&data, [50, 100]).map_err(show)?;
    for to in DType::ALL.iter().copied() {
        let read = of_dtype!(to, read_as(&tensor));
        let direct = device.upload_as(&data, [50, 100], to);
        as_one([T::DTYPE, to], read, direct)
            .await
            .map_err(|e| format!("{} as {to}: {e}", T::DTYPE))?;
    }
    Ok(())
}

type Read = wharf::Result<(Vec<u64>, Receipt)>;

async fn read_as<U: Probe>(tensor: &Tensor) -> Read {
    let (values, receipt) = tensor.read_as::<U>().await?;
    Ok((values.into_iter().map(U::to_bits).collect(), receipt))
}

async fn as_one(
    [from, to]: [DType; 2],
    read: Read,
    direct: wharf::Result<(Tensor, Receipt)>,
) -> Outcome {
    match (read, direct) {
        (Ok((values, receipt)), Ok((tensor, want))) => {
            ensure_eq!(receipt.tally, want.tally, "tally");
            let crossed = 5000 * from.width() as u64;
            ensure_eq!((receipt.from, receipt.to), (from, to), "dtypes");
            ensure_eq!(receipt.bytes_staged, crossed, "bytes that cross");
            let want = bits_of(&tensor).await?;
            difference(to, &values, &want).map_or(Ok(()), Err)
        }
        (Ok((values, _)), Err(error)) => {
            ensure_eq!(error.kind(), ErrorKind::Rejected, "{error}");
            ensure_eq!(values.len(), 5000, "values");
            Ok(())
        }
        (Err(error), _) => {
            let to_bool = to == DType::Bool && from != DType::Bool;
            ensure!(to_bool || from.is_float() && to.is_integer(), "{error:?}");
            let want = format!("no conversion {from} -> {to} ");
            ensure!(
                error.kind() == ErrorKind::DType && error.to_string().contains(&want),
                "{error}"
            );
            Ok(())
        }
    }
}

/// Layouts of a shape of 3 x 35 007, with the length that they need.
const LAYOUTS: [([isize; 2], usize, usize); 5] = [
    ([35_007, 1], 0, 105_021),
    ([1, 3], 0, 105_021),
    ([-35_007, -1], 105_020, 105_021),
    ([40_000, 1], 11, 120_011),
    ([2, 7], 5, 250_000),
];

async fn any_layout<T: Probe>(ctx: &Ctx) -> Outcome {
    let device = ctx.device(DOWNGRADES[4]).await?;
    let data: Vec<T> = values(3 * 35_007, 13);
    let (tensor, _) = device.upload(&data, [3, 35_007]).map_err(show)?;
    for (strides, offset, len) in LAYOUTS {
        let mark = T::from_bits(1);
        let mut out = vec![mark; len];
        let view = HostViewMut::strided(&mut out, [3, 35_007], &strides, offset);
        let mut view = view.map_err(show)?;
        let layout = *view.layout();
        tensor.read_view(&mut view).await.map_err(show)?;
        let read: Vec<T> = layout.places().map(|place| out[place]).collect();
        first_difference(&data, &read).map_or(Ok(()), |e| Err(format!("{layout}: {e}")))?;
        layout.places().for_each(|place| out[place] = mark);
        let kept = out.iter().all(|value| value.to_bits() == mark.to_bits());
        ensure!(kept, "{layout}: a place outside was written");
    }
    Ok(())
}

async fn rounding(ctx: &Ctx) -> Outcome {
    let device = ctx.fresh(DOWNGRADES[0]).await?;
    let data = [1.0f32, 0.1, 1e6, 1e-9, -0.0, f32::NAN];
    let (tensor, _) = device.upload(&data, [6]).map_err(show)?;
    let (values, receipt) = tensor.read_as::<f16>().await.map_err(show)?;
    let t = receipt.tally;
    let counts = (t.exact, t.rounded, t.overflowed, t.flushed, t.nan);
    ensure_eq!(counts, (2, 1, 1, 1, 1), "{receipt:#}");
    ensure_eq!(t.first_changed, Some(1), "the first");
    ensure_eq!(values[1], f16::from_f32(0.1), "0.1");
    ensure!(values[2].is_infinite() && values[5].is_nan(), "{values:?}");
    ensure!(receipt.to_string().starts_with("f32 -> f16: 6 values, 1 rounded"), "{receipt}");
    ensure_eq!(device.ledger().down.bytes, 24, "what crosses is what the device has");
    Ok(())
}

/// A read that is dropped, before it begins or at any chunk, leaves nothing behind. It does not
/// disturb another read of the same tensor that is under way.
async fn dropped(ctx: &Ctx) -> Outcome {
    let device = ctx.fresh(DOWNGRADES[0]).await?;
    let n = 3 << 20;
    let data: Vec<f32> = (0..n).map(|i| (i % 8191) as f32).collect();
    let (x, _) = device.upload(&data, [n]).map_err(show)?;
    for polls in 0..4 {
        let y = (&x + 1.0).map_err(show)?;
        let mut other = pin!(y.read::<f32>());
        let mut early = poll_once(other.as_mut());
        {
            let mut read = pin!(y.read::<f32>());
            // A finished read must not be polled again.
            let _ = (0..polls).any(|_| poll_once(read.as_mut()).is_ready());
        }
        if early.is_pending() {
            early = Poll::Ready(other.await);
        }
        let Poll::Ready(got) = early else { return Err("pending".into()) };
        let same = |got: &[f32]| got.iter().zip(&data).all(|(got, x)| *got == x + 1.0);
        ensure!(same(&got.map_err(show)?), "{polls} polls: the other read");
        ensure!(same(&y.read::<f32>().await.map_err(show)?), "{polls} polls: the next read");
    }
    ensure_eq!(device.memory().tensors, 1, "tensors afterwards");
    Ok(())
}

/// What failed is an error although there is nothing to read.
async fn of_nothing(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let (three, _) = device.upload(&[3u32], [1]).map_err(show)?;
    let (seven, _) = device.upload(&[7u32], [1]).map_err(show)?;
    let counts = three.bincount(0).map_err(show)?;
    let picked = device.zeros([5, 0], DType::F32).and_then(|x| x.index_select(0, &seven));
    let picked = picked.map_err(show)?;
    let mut failed = device.zeros([0, 3], DType::F32).map_err(show)?;
    failed += &device.zeros([4], DType::F32).map_err(show)?;
    let image = failed.unsqueeze(0).and_then(|x| x.unsqueeze(0)).map_err(show)?;
    let weight = device.zeros([2, 1, 1, 1], DType::F32).map_err(show)?;
    let lost = |dtype| device.zeros([5], dtype).and_then(|x| x.index_select(0, &seven));
    let (lost, length) = (lost(DType::F32).map_err(show)?, lost(DType::U32).map_err(show)?);
    let (list, row) = (device.zeros([0], DType::F32), device.zeros([0, 1], DType::F32));
    let (list, row) = (list.map_err(show)?, row.map_err(show)?);
    let one = device.ones([1, 1, 1, 3], DType::F32).map_err(show)?;
    let (no_keys, no_values) = (one.slice(2, ..0).map_err(show)?, one.slice(3, ..0));
    let (no_values, masked) = (no_values.map_err(show)?, Attention::new().masked(&lost));
    let index = device.zeros([1, 0], DType::U32).map_err(show)?;
    let (flat, row_of_3) = (index.flatten(..).map_err(show)?, device.zeros([1, 3], DType::F32));
    let row_of_3 = row_of_3.map_err(show)?;
    let float = |x: wharf::Result<Tensor>| x.and_then(|x| x.cast(DType::F32));
    let made = [
        ("a list", float(failed.flatten(..).and_then(|x| x.searchsorted(&one, Insert::Left)))),
        ("values", float(list.searchsorted(&lost, Insert::Right))),
        ("scatter_add", row_of_3.scatter_add(1, &index, &picked)),
        ("scatter_mul", row_of_3.scatter_mul(1, &index, &picked)),
        ("index_add", row_of_3.index_add(1, &flat, &picked)),
        ("layer_norm", row.layer_norm(1, None, Some(&lost), 1e-5)),
        ("rms_norm", row.rms_norm(1, Some(&lost), 1e-5)),
        ("counts", float(picked.unique().await.map(|unique| unique.counts))),
        ("a mask", one.attention(&one, &no_values, &masked)),
        ("lengths", one.attention(&one, &no_values, &Attention::new().lengths(&length))),
        ("weights", one.attention_with_weights(&no_keys, &no_keys, &masked).map(|two| two.1)),
        ("picked", Ok(picked)),
        ("failed", Ok(failed.clone())),
        ("sum", failed.sum(0)),
        ("mean of none", failed.mean(1)),
        ("cumsum", failed.cumsum(0)),
        ("softmax", failed.softmax(1)),
        ("product", failed.t().and_then(|x| x.matmul(&failed))),
        ("conv2d", image.conv2d(&weight, None, &Conv::new().padding([1, 0]))),
        ("fft", failed.rfft(0, Some(4))),
        ("attention", image.attention(&image, &image, &Attention::new())),
    ];
    let mut silent = Vec::new();
    for (what, x) in made {
        let read = match x {
            Ok(x) => x.read::<f32>().await,
            Err(error) => Err(error),
        };
        let error = read.err().map_or_else(String::new, |error| error.to_string());
        if !["index_select", "+="].iter().any(|word| error.contains(word)) {
            silent.push((what, error));
        }
    }
    ensure!(silent.is_empty(), "nothing of what befell it: {silent:?}");
    let read = counts.read::<u32>().await;
    ensure!(read.is_err(), "counts: {read:?}");
    let nothing = device.zeros([0, 3], DType::F32).map_err(show)?;
    ensure_eq!(nothing.read::<f32>().await.map_err(show)?, Vec::<f32>::new(), "of nothing");
    Ok(())
}

fn poll_once<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

async fn out_of_range(ctx: &Ctx) -> Outcome {
    let device = ctx.fresh(DOWNGRADES[0]).await?;
    let mut data = vec![7i32; 3_000_001];
    data[2_500_000] = 70_000;
    let (tensor, _) = device.upload(&data, [data.len()]).map_err(show)?;
    let error = tensor.read_as::<i16>().await.err().ok_or("70000 is no i16")?;
    ensure_eq!(error.kind(), ErrorKind::Conversion, "{error}");
    ensure!(error.to_string().contains("70000 at index 2500000"), "{error}");
    let down = device.ledger().down;
    ensure!(down.count == 1 && down.bytes > 10_000_000 && down.bytes <= 12_000_004, "{down:?}");
    let (values, _) = tensor.read_as::<f64>().await.map_err(show)?;
    ensure_eq!(values[2_500_000], 70_000.0, "the next read works");
    Ok(())
}

async fn wrong_views(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let (tensor, _) = device.upload(&[1.0f32, 2.0, 3.0, 4.0], [2, 2]).map_err(show)?;
    let mut out = [0.0f32; 8];
    let error = HostViewMut::strided(&mut out, [2, 2], &[0, 1], 0).err();
    let error = error.ok_or("a view that overlaps")?;
    ensure_eq!(error.kind(), ErrorKind::Layout, "{error}");
    let error = HostViewMut::strided(&mut out, [2, 5], &[5, 1], 0).err();
    ensure!(error.is_some_and(|e| e.to_string().contains("data has 8")), "outside");
    let mut flat = HostViewMut::new(&mut out[..4], [4]).map_err(show)?;
    let error = tensor.read_view(&mut flat).await.err().ok_or("shapes differ")?;
    ensure_eq!(error.kind(), ErrorKind::Shape, "{error}");
    ensure!(error.to_string().ends_with("left [2, 2], right [4]"), "{error}");
    let mut integers = [0i32; 4];
    let mut view = HostViewMut::new(&mut integers, [2, 2]).map_err(show)?;
    let error = tensor.read_view(&mut view).await.err().ok_or("f32 into i32")?;
    ensure_eq!(error.to_string(), "tensor is f32, read asks for i32", "message");
    Ok(())
}

async fn guards(ctx: &Ctx) -> Outcome {
    let device = ctx.fresh(DOWNGRADES[0]).await?;
    let (tensor, _) = device.upload(&[1.0f32, 2.0], [2]).map_err(show)?;
    let _guard = device.guard(Crossings::Deny);
    let error = tensor.read_as::<f64>().await.err().ok_or("a denied read happened")?;
    ensure!(error.to_string().contains("read_as at tests/gpu/cases/reads.rs"), "{error}");
    let mut out = [0.0f32; 2];
    let mut view = HostViewMut::new(&mut out, [2]).map_err(show)?;
    let error = tensor.read_view(&mut view).await.err().ok_or("a denied read happened")?;
    ensure_eq!(error.kind(), ErrorKind::Denied, "{error}");
    ensure_eq!((device.ledger().down.count, out), (0, [0.0; 2]), "nothing crossed");
    Ok(())
}
