//! Assignment: random parts of every width against a model on the host. Earlier handles keep their
//! values, and memory is used in place.

use core::ops::Range;

use wharf::shape::Cut;
use wharf::{Adapter, DType, Device, ErrorKind, Layout, Shape, Target, Tensor};

use super::pair::{Pair, bits_of, carries, count, difference};
use super::probe::Random;
use super::views::{Move, TARGETS, probe_bits};
use crate::ctx::{
    Case, Ctx, DOWNGRADES, Downgrade, Outcome, case, ensure, ensure_eq, matters, show,
};

/// One dtype of each width.
const WIDTHS: [DType; 4] = [DType::U8, DType::F16, DType::F32, DType::I64];

/// Whole quads in rows, ragged rows, one row, rows shorter than a quad, nothing at all, and
/// several segments of a device with small bindings.
const SHAPES: [&[usize]; 7] =
    [&[4, 6, 16], &[3, 5, 7], &[37], &[9, 3], &[0, 4], &[2, 3, 1, 2, 5, 4], &[61, 4099]];

pub(crate) fn cases(adapter: &Adapter) -> Vec<Case> {
    let mut cases = vec![
        case!("assign::others_keep_what_they_had", |ctx| others(ctx)),
        case!("assign::a_cache_is_written_in_place", |ctx| cache(ctx)),
        case!("assign::a_step_is_taken_in_place", |ctx| step(ctx)),
        case!("assign::a_part_that_nobody_else_holds", |ctx| lone_part(ctx)),
        case!("assign::deep", |ctx| deep(ctx)),
        case!("assign::columns", |ctx| columns(ctx)),
        case!("assign::a_part_of_itself", |ctx| itself(ctx)),
        case!("assign::refusals_lose_nothing", |ctx| refusals(ctx)),
        case!("assign::a_step_without_memory_is_taken_once", |ctx| again(ctx)),
        case!("assign::nothing_tells_what_befell_it", |ctx| nothing(ctx)),
    ];
    // Moves depend on neither dtypes nor features: only segments make a difference.
    let segments = |d: &&Downgrade| ["native", "small_bindings"].contains(&d.name);
    for &downgrade in DOWNGRADES.iter().filter(segments).filter(|d| matters(adapter, **d)) {
        let name = format!("assign::regions::{}", downgrade.name);
        cases.push(case!(name, |ctx| regions(ctx, downgrade)));
        for dtype in WIDTHS {
            let name = format!("assign::parts::{dtype}::{}", downgrade.name);
            cases.push(
                case!(name, |ctx| parts(ctx, downgrade, dtype)).needs(adapter, downgrade, dtype),
            );
        }
    }
    cases
}

async fn parts(ctx: &Ctx, downgrade: Downgrade, dtype: DType) -> Outcome {
    let device = ctx.device(downgrade).await?;
    let mut random = Random::new(dtype.width() as u64);
    for dims in SHAPES {
        for round in 0..3 {
            let device = device.with_target(TARGETS[round % 2]);
            part(&device, dtype, dims, &mut random).await?;
        }
    }
    Ok(())
}

/// What could not be computed for want of memory has not happened.
async fn again(ctx: &Ctx) -> Outcome {
    let device = ctx.fresh(DOWNGRADES[0]).await?;
    let (mut w, _) = device.upload(&[3.0f32; 1 << 16], [1 << 16]).map_err(show)?;
    // So that the step needs memory of its own.
    let before = w.clone();
    let step = |w: &mut Tensor| w.assign(w.sub(1.0f32)?);
    device.set_cap(Some(device.memory().bytes_reserved));
    let mut full = Vec::new();
    while let Ok(more) = device.zeros([1 << 14], DType::F32) {
        full.push(more);
    }
    let error = step(&mut w).err().ok_or("the cap is reached")?;
    ensure!(error.is_out_of_memory(), "{error}");
    drop(full);
    device.set_cap(None);
    step(&mut w).map_err(show)?;
    count();
    ensure_eq!(w.read::<f32>().await.map_err(show)?[0], 2.0, "a step");
    ensure_eq!(before.read::<f32>().await.map_err(show)?[0], 3.0, "what there was before");
    Ok(())
}

/// Nothing is written, but what befell it is told.
async fn nothing(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let (half, _) = device.upload(&[0.5f32], [1]).map_err(show)?;
    let failed = half.cast_checked(DType::I32).map_err(show)?;
    let mut x = device.zeros([2], DType::I32).map_err(show)?;
    let clone = x.clone();
    x.assign_slice(0, 0..0, &failed.slice(0, ..0).map_err(show)?).map_err(show)?;
    count();
    ensure!(x.read::<i32>().await.is_err(), "it was told");
    ensure_eq!(clone.read::<i32>().await.map_err(show)?, [0, 0], "a clone knows nothing of it");
    Ok(())
}

/// Writes a random view into a random part.
async fn part(device: &Device, dtype: DType, dims: &[usize], random: &mut Random) -> Outcome {
    let axis = random.below(dims.len());
    let start = random.below(dims[axis] + 1);
    // Some parts begin at a quad.
    let start = if random.below(2) == 0 { start / 4 * 4 } else { start };
    let range = start..start + random.below(dims[axis] - start + 1);
    let turned = random.below(4);
    into_part(device, dtype, dims, axis, range, turned).await
}

/// Into a view whose base is dropped: the rest of the memory is not the tensor's.
async fn lone_part(ctx: &Ctx) -> Outcome {
    for target in TARGETS {
        let device = ctx.native().await?.with_target(target);
        let numbers: Vec<i32> = (0..40).collect();
        let (x, _) = device.upload(&numbers, [5, 8]).map_err(show)?;
        let mut part = x.slice(0, 2..4).map_err(show)?;
        drop(x);
        part.assign_slice(1, ..4, -1).map_err(show)?;
        let got = part.read::<i32>().await.map_err(show)?;
        let want = [-1, -1, -1, -1, 20, 21, 22, 23, -1, -1, -1, -1, 28, 29, 30, 31];
        ensure_eq!(got, want, "rows, for {target:?}");
        let (x, _) = device.upload(&numbers, [5, 8]).map_err(show)?;
        let mut turned = x.slice(1, 1..3).and_then(|x| x.t()).map_err(show)?;
        drop(x);
        turned.assign_slice(0, 1.., -1).map_err(show)?;
        let got = turned.read::<i32>().await.map_err(show)?;
        ensure_eq!(got, [1, 9, 17, 25, 33, -1, -1, -1, -1, -1], "columns, for {target:?}");
    }
    Ok(())
}

/// A part along every axis of more dimensions than a quad has, none of which can be joined.
async fn deep(ctx: &Ctx) -> Outcome {
    let dims = [3, 2, 2, 3, 2, 5];
    for target in TARGETS {
        let device = ctx.native().await?.with_target(target);
        for (axis, dim) in dims.into_iter().enumerate() {
            into_part(&device, DType::F32, &dims, axis, 1..dim, 1).await?;
        }
    }
    Ok(())
}

/// A few columns and planes, which a GPU stores element by element: of more than a lane takes, too.
async fn columns(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?.with_target(Target::Gpu);
    let forms: [(&[usize], usize, Range<usize>); 6] = [
        (&[300, 7], 1, 3..4),
        (&[9, 64], 1, 63..64),
        (&[5, 11, 6], 1, 9..11),
        (&[3, 2, 5, 7], 3, 0..3),
        (&[8, 1, 1], 0, 2..3),
        (&[150_001, 3], 1, 1..2),
    ];
    for dtype in WIDTHS.into_iter().filter(|&dtype| carries(&device, dtype)) {
        for (dims, axis, range) in forms.clone() {
            let large = dims[0] > 100_000;
            let turns = if large { usize::from(dtype == DType::F32) } else { 4 };
            for turned in 0..turns {
                into_part(&device, dtype, dims, axis, range.clone(), turned).await?;
            }
        }
    }
    Ok(())
}

/// The source as it is, transposed, or one row or column broadcast.
async fn into_part(
    device: &Device,
    dtype: DType,
    dims: &[usize],
    axis: usize,
    range: Range<usize>,
    turned: usize,
) -> Outcome {
    let shape = Shape::new(dims).map_err(show)?;
    let into = Pair::new(device, dtype, probe_bits(dtype, shape.elements(), 1).await, dims).await?;
    let place = Layout::dense(shape).slice(axis, range.clone()).map_err(show)?;
    let part = place.shape().dims().to_vec();
    let mut source = part.clone();
    match turned {
        1 => source.reverse(),
        2 => source[0] = 1,
        3 => source[dims.len() - 1] = 1,
        _ => {}
    }
    let elements = source.iter().product();
    let bits = probe_bits(dtype, elements, 2).await;
    let from = Pair::new(device, dtype, bits, &source).await?;
    let axes: Vec<usize> = (0..source.len()).rev().collect();
    let (values, layout) = if turned == 1 {
        let layout = from.layout.permute(&axes).map_err(show)?;
        (from.tensor.permute(&axes).map_err(show)?, layout)
    } else {
        (from.tensor.clone(), from.layout.broadcast_to(&part[..]).map_err(show)?)
    };
    let mut want = into.bits.to_vec();
    for (to, at) in place.places().zip(layout.places()) {
        want[to] = from.bits[at];
    }
    let mut tensor = into.tensor;
    tensor.assign_slice(axis, range.clone(), values).map_err(show)?;
    count();
    match difference(dtype, &bits_of(&tensor).await?, &want) {
        Some(text) => {
            Err(format!("{dims:?}, axis {axis}, {range:?} from {source:?} ({turned}): {text}"))
        }
        None => Ok(()),
    }
}

/// Regions of several axes, of tensors and of views of them.
async fn regions(ctx: &Ctx, downgrade: Downgrade) -> Outcome {
    let device = ctx.device(downgrade).await?;
    let mut random = Random::new(17);
    for dtype in WIDTHS.into_iter().filter(|&dtype| carries(&device, dtype)) {
        for dims in SHAPES {
            let rounds = if dims.iter().product::<usize>() > 10_000 { 1 } else { 5 };
            for round in 0..rounds {
                let device = device.with_target(TARGETS[round % 2]);
                region(&device, dtype, dims, &mut random).await?;
            }
        }
    }
    Ok(())
}

/// A place, or a range of places, with steps or without, of each of at most four axes; from the
/// end or not.
fn cut(random: &mut Random, dim: usize) -> (Range<usize>, isize, Cut) {
    let start = random.below(dim + 1);
    if start < dim && random.below(4) == 0 {
        let back = start as isize - dim as isize;
        let cut = if random.below(2) == 0 { Cut::from(start) } else { Cut::from(back) };
        return (start..start + 1, 1, cut);
    }
    let end = start + random.below(dim - start + 1);
    let step = [1, 1, 1, 2, 3, -1, -2][random.below(7)];
    let range = start..end;
    match step {
        1 => (range.clone(), 1, Cut::from(range)),
        step => (range.clone(), step, Cut::stepped(range, step)),
    }
}

/// Writes a drawn region of a tensor, or of the view of it whose axes are turned.
async fn region(device: &Device, dtype: DType, dims: &[usize], random: &mut Random) -> Outcome {
    let shape = Shape::new(dims).map_err(show)?;
    let bits = probe_bits(dtype, shape.elements(), 1).await;
    let mut own = Pair::new(device, dtype, bits, dims).await?;
    let before = own.tensor.clone();
    if random.below(2) == 0 {
        own = own.view(&[Move::Permute((0..dims.len()).rev().collect())])?;
    }
    let (mut place, mut cuts) = (own.layout, Vec::new());
    for &dim in own.layout.shape().dims().iter().take(1 + random.below(4)) {
        let (range, step, made) = cut(random, dim);
        let axis = cuts.iter().filter(|cut| !matches!(cut, Cut::Place(_))).count();
        place = place.slice_step(axis, range, step).map_err(show)?;
        if matches!(made, Cut::Place(_)) {
            place = place.squeeze(axis).map_err(show)?;
        }
        cuts.push(made);
    }
    let text = format!("{dtype} {cuts:?} of {:?} for {:?}", own.layout, device.target());
    // What is written: as many, or one row for all.
    let mut part = place.shape().dims().to_vec();
    if !part.is_empty() && random.below(3) == 0 {
        part[0] = 1;
    }
    let bits = probe_bits(dtype, part.iter().product(), 2).await;
    let from = Pair::new(device, dtype, bits, &part).await?;
    let mut want = own.bits.to_vec();
    for (to, bits) in place.places().zip(from.expected_in(place.shape())?) {
        want[to] = bits;
    }
    let mut tensor = own.tensor.clone();
    tensor.assign_at(cuts, &from.tensor).map_err(|e| format!("{text}: {e:?}"))?;
    count();
    let want: Vec<u64> = own.layout.places().map(|place| want[place]).collect();
    let wrong = difference(dtype, &bits_of(&tensor).await?, &want);
    ensure_eq!(wrong, None, "{text}");
    let wrong = difference(dtype, &bits_of(&before).await?, &own.bits);
    ensure_eq!(wrong, None, "what it was, {text}");
    Ok(())
}

async fn ramp(device: &Device, n: usize) -> Result<Tensor, String> {
    let data: Vec<f32> = (0..n).map(|i| i as f32).collect();
    device.upload(&data, [n]).map(|(tensor, _)| tensor).map_err(show)
}

async fn others(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let mut x = ramp(&device, 8).await?;
    let (clone, view) = (x.clone(), x.slice(0, 2..6).map_err(show)?);
    let sum = (&x + 1.0).map_err(show)?;
    x.assign_slice(0, 0..3, 9.0).map_err(show)?;
    let read = async |t: &Tensor| t.read::<f32>().await.map_err(show);
    ensure_eq!(read(&x).await?, [9.0, 9.0, 9.0, 3.0, 4.0, 5.0, 6.0, 7.0], "the new");
    ensure_eq!(read(&clone).await?, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], "the clone");
    ensure_eq!(read(&view).await?, [2.0, 3.0, 4.0, 5.0], "the view");
    ensure_eq!(read(&sum).await?, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], "the sum");
    x.assign(2.5).map_err(show)?;
    ensure_eq!(read(&x).await?, [2.5; 8], "a number");
    x.assign((&clone * 2.0).map_err(show)?).map_err(show)?;
    ensure_eq!(read(&x).await?[7], 14.0, "a tensor");
    count();
    Ok(())
}

/// How far live memory rose while `work` ran.
fn growth(device: &Device, work: impl FnOnce() -> Outcome) -> Result<u64, String> {
    let before = device.memory().bytes_live;
    work()?;
    Ok(device.memory().bytes_live_peak - before)
}

async fn cache(ctx: &Ctx) -> Outcome {
    let device = ctx.fresh(DOWNGRADES[0]).await?;
    let (heads, length, width) = (8, 256, 64);
    let mut cache = device.zeros([heads, length, width], DType::F32).map_err(show)?;
    let keys: Vec<f32> = (0..heads * width).map(|i| i as f32).collect();
    let (keys, _) = device.upload(&keys, [heads, 1, width]).map_err(show)?;
    let grown = growth(&device, || {
        (0..length)
            .step_by(5)
            .try_for_each(|at| cache.assign_slice(1, at..at + 1, &keys).map_err(show))
    })?;
    let bytes = (heads * length * width * 4) as u64;
    ensure!(grown < bytes / 2, "a cache of {bytes} bytes grew by {grown}");
    let got = cache.read::<f32>().await.map_err(show)?;
    for (i, got) in got.into_iter().enumerate() {
        let (head, at, w) = (i / (length * width), i / width % length, i % width);
        let want = if at % 5 == 0 { (head * width + w) as f32 } else { 0.0 };
        ensure_eq!(got, want, "head {head}, position {at}, {w}");
    }
    count();
    Ok(())
}

async fn step(ctx: &Ctx) -> Outcome {
    for target in [Target::Cpu64, Target::Gpu] {
        let device = ctx.fresh(DOWNGRADES[0]).await?.with_target(target);
        let n = 1 << 20;
        let mut weights = ramp(&device, n).await?;
        let (gradient, _) = device.upload(&vec![1.0f32; n], [n]).map_err(show)?;
        let grown = growth(&device, || {
            (0..10).try_for_each(|_| {
                let next = (&weights - &(&gradient * 2.0).map_err(show)?).map_err(show)?;
                weights.assign(next).map_err(show)
            })
        })?;
        ensure!(grown < 1 << 20, "ten steps took {grown} bytes more");
        let got = weights.read::<f32>().await.map_err(show)?;
        let want: Vec<f32> = (0..n).map(|i| i as f32 - 20.0).collect();
        ensure!(got == want, "the weights after ten steps on {target:?}");
        count();
    }
    Ok(())
}

async fn itself(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let mut x = ramp(&device, 12).await?;
    let back = x.slice(0, 0..6).map_err(show)?.flip(0).map_err(show)?;
    x.assign_slice(0, 6..12, &back).map_err(show)?;
    drop(back);
    let got = x.read::<f32>().await.map_err(show)?;
    ensure_eq!(got, [0., 1., 2., 3., 4., 5., 5., 4., 3., 2., 1., 0.], "mirrored");
    count();
    Ok(())
}

async fn refusals(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let mut x = ramp(&device, 6).await?.reshape([2, 3]).map_err(show)?;
    let (n, _) = device.upload(&[1i32], [1]).map_err(show)?;
    let (y, _) = device.upload(&[1.0f32; 4], [4]).map_err(show)?;
    let refused = [
        (x.assign(&n), ErrorKind::DType, "assign: dtypes differ: f32 and i32"),
        (x.assign(&y), ErrorKind::Shape, "[4] does not broadcast to [2, 3]"),
        (x.assign_slice(1, 0..2, &y), ErrorKind::Shape, "[4] does not broadcast to [2, 2]"),
        (x.assign_slice(0, 1..3, 1.0), ErrorKind::Shape, "1..3"),
        (x.assign_slice(0, 0..1, &n), ErrorKind::DType, "assign_slice: dtypes differ: f32 and i32"),
        (x.assign_slice(2, 0..1, 1.0), ErrorKind::Shape, "axis 2"),
        (x.assign_slice(0, 0..1, 1e300), ErrorKind::DType, "is not a value of f32"),
    ];
    for (result, kind, text) in refused {
        let error = result.err().ok_or(text)?;
        ensure_eq!(error.kind(), kind, "{error}");
        let said = error.to_string();
        ensure!(said.contains(text), "{error} does not say {text}");
        ensure_eq!(said.matches("assign").count(), 1, "{said}");
    }
    ensure_eq!(x.read::<f32>().await.map_err(show)?, [0., 1., 2., 3., 4., 5.], "what it had");
    count();
    Ok(())
}
