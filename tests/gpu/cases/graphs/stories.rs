//! Stories of deferred operations: depth, sharing, order, and what is refused.

use wharf::caps::Feature;
use wharf::op::Reduction;
use wharf::testing::Inside;
use wharf::{Adapter, DType, ErrorKind, Layout, Shape, Target};

use super::ramp;
use crate::cases::pair::count;
use crate::ctx::{Case, Ctx, DOWNGRADES, Downgrade, Outcome, Size, case, ensure, ensure_eq, show};

pub(crate) fn cases(adapter: &Adapter) -> Vec<Case> {
    vec![
        case!("stories::ten_thousand_operations", |ctx| deep(ctx)),
        case!("stories::a_node_shared_at_every_level", |ctx| shared_deep(ctx)),
        case!("stories::consumers_that_went_away", |ctx| gone(ctx)),
        case!("stories::deep_consumers_that_went_away", |ctx| gone_deep(ctx)),
        case!("stories::an_intermediate_read_later", |ctx| later(ctx)),
        case!("stories::a_tensor_read_at_every_step", |ctx| read_often(ctx)),
        case!("stories::parts_read_before_their_sum", |ctx| parts_first(ctx)),
        case!("stories::a_sum_in_place_of_one_side_beside_a_copy", |ctx| beside_copy(ctx)),
        case!("stories::a_result_keeps_the_order_of_strides", |ctx| order(ctx)),
        case!("stories::refusals_name_both_sides", |ctx| refusals(ctx)),
        case!("stories::numbers_that_do_not_fit", |ctx| numbers(ctx)),
        case!("stories::two_devices_do_not_mix", |ctx| devices(ctx)),
        case!("stories::an_explanation_computes_nothing", |ctx| explained(ctx)),
        case!("stories::what_was_hit_long_before_a_read", |ctx| long_before(ctx)),
        case!("stories::sizes_and_numbers_make_no_pipelines", |ctx| pipelines(ctx)),
        case!("stories::f64_numbers_without_64_bit_integers", |ctx| lone_f64(ctx)).needs(
            adapter,
            NO_INT64,
            DType::F64,
        ),
        case!("stories::more_numbers_than_parameters", |ctx| words(ctx)).needs(
            adapter,
            DOWNGRADES[0],
            DType::I64,
        ),
        Case {
            size: Size::Large,
            ..case!("stories::more_groups_than_fit_a_row", |ctx| groups(ctx))
        },
        case!("stories::gelu_of_a_product_and_a_sum", |ctx| fused(ctx)),
    ]
}

/// Slots are asked for on the way, and the one that was hit is told as it is.
async fn long_before(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let (x, _) = device.upload(&[1i32, -5, 7], [3]).map_err(show)?;
    let (turned, _) = device.upload(&[1u32, 2, 0], [3]).map_err(show)?;
    let (far, _) = device.upload(&[0u32, 1, 9], [3]).map_err(show)?;
    for at in [None, Some(3), Some(399)] {
        let mut y = x.clone();
        for i in 0..600 {
            y = y.take(if at == Some(i) { &far } else { &turned }).map_err(show)?;
            y.compute().map_err(show)?;
        }
        count();
        match (at, y.read::<i32>().await) {
            (None, read) => ensure_eq!(read.map_err(show)?, [1, -5, 7], "in turn"),
            (Some(_), read) => {
                let error = read.err().ok_or("a place that is not there")?;
                ensure!(error.to_string().contains("the first at [2]"), "{error}");
                ensure_eq!(error.kind(), ErrorKind::Index, "{error}");
            }
        }
    }
    Ok(())
}

async fn deep(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let (x, _) = device.upload(&[1i32, -5, 7], [3]).map_err(show)?;
    let mut y = x;
    for i in 0..10_000 {
        let next = if i % 2 == 0 { &y + 3 } else { &y - 1 };
        y = next.map_err(show)?;
    }
    count();
    ensure_eq!(y.read::<i32>().await.map_err(show)?, [10_001, 9_995, 10_007], "the sum");
    Ok(())
}

/// Doubling: 2^60 paths, 60 nodes.
async fn shared_deep(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let mut y = device.upload(&[1u32, 3], [2]).map_err(show)?.0;
    let (mut want, x) = ([1u32, 3], y.clone());
    for _ in 0..60 {
        y = ((&y + &y).map_err(show)? + &x).map_err(show)?;
        want = [want[0].wrapping_mul(2).wrapping_add(1), want[1].wrapping_mul(2).wrapping_add(3)];
    }
    count();
    ensure_eq!(y.read::<u32>().await.map_err(show)?, want, "the doubling");
    Ok(())
}

/// Wide expressions whose other readers were dropped: they have more inputs than a kernel may.
async fn gone(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let mut sums = Vec::new();
    let mut want = 0;
    for _ in 0..4 {
        let mut sum = device.upload(&[1i32, 1], [2]).map_err(show)?.0;
        want += 1;
        for i in 0..6 {
            let (next, _) = device.upload(&[i, i], [2]).map_err(show)?;
            sum = (&sum + &next).map_err(show)?;
            want += i;
        }
        sums.push(sum);
    }
    let others: Vec<_> =
        sums.iter().flat_map(|sum| [sum.abs(), sum.sign(), sum.square()]).collect();
    let left = (&sums[0] + &sums[1]).map_err(show)?;
    let all = (left + (&sums[2] + &sums[3]).map_err(show)?).map_err(show)?;
    drop(others);
    drop(sums);
    count();
    ensure_eq!(all.read::<i32>().await.map_err(show)?, [want, want], "the sum of all");
    Ok(())
}

/// A long chain in which every node had other readers when the next was made.
async fn gone_deep(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let mut y = device.upload(&[0i32, 1], [2]).map_err(show)?.0;
    for _ in 0..300 {
        let others = [y.abs(), y.sign(), y.square()];
        y = (&y + 1).map_err(show)?;
        drop(others);
    }
    count();
    ensure_eq!(y.read::<i32>().await.map_err(show)?, [300, 301], "the count");
    Ok(())
}

async fn later(ctx: &Ctx) -> Outcome {
    let x = ramp(&ctx.native().await?, 37).await?;
    let host: Vec<f32> = (0..37).map(|i| (i % 13) as f32).collect();
    let square = (&x * &x).map_err(show)?;
    let (more, less) = ((&square + 1.0).map_err(show)?, (&square - &x).map_err(show)?);
    let of = |f: fn(f32) -> f32| host.iter().map(|&v| f(v)).collect::<Vec<f32>>();
    ensure_eq!(more.read::<f32>().await.map_err(show)?, of(|v| v * v + 1.0), "one consumer");
    ensure_eq!(square.read::<f32>().await.map_err(show)?, of(|v| v * v), "the intermediate");
    drop(square);
    ensure_eq!(less.read::<f32>().await.map_err(show)?, of(|v| v * v - v), "the other consumer");
    ensure_eq!(x.read::<f32>().await.map_err(show)?, host, "the operand");
    count();
    Ok(())
}

async fn order(ctx: &Ctx) -> Outcome {
    let x = ramp(&ctx.native().await?, 12).await?.reshape([3, 4]).map_err(show)?;
    let y = (x.t().map_err(show)? + 1.0).map_err(show)?;
    let shape = Shape::new([4, 3]).map_err(show)?;
    ensure_eq!(*y.layout(), Layout::column_major(shape), "the layout of a transposed result");
    ensure_eq!(y.contiguous().map_err(show)?.layout(), &Layout::dense(shape), "copied");
    let want = [1.0, 5.0, 9.0, 2.0, 6.0, 10.0, 3.0, 7.0, 11.0, 4.0, 8.0, 12.0];
    ensure_eq!(y.read::<f32>().await.map_err(show)?, want, "row-major when read");
    count();
    Ok(())
}

async fn refusals(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let (a, _) = device.upload(&[0.0f32; 6], [2, 3]).map_err(show)?;
    let (b, _) = device.upload(&[0.0f32; 8], [2, 4]).map_err(show)?;
    let (n, _) = device.upload(&[0i32; 6], [2, 3]).map_err(show)?;
    let error = (&a + &b).err().ok_or("[2, 3] + [2, 4] was taken")?;
    ensure_eq!(error.kind(), ErrorKind::Shape, "{error}");
    let text = error.to_string();
    let named = ["add", "[2, 3]", "[2, 4]", "3 against 4"].iter().all(|part| text.contains(part));
    ensure!(named, "{text}");
    let error = (&a * &n).err().ok_or("f32 * i32 was taken")?;
    ensure_eq!(error.kind(), ErrorKind::DType, "{error}");
    ensure!(error.to_string().contains("mul: dtypes differ: f32 and i32"), "{error}");
    ensure!(error.help().is_some_and(|h| h.contains("cast(DType::")), "{error:?}");
    let error = n.exp().err().ok_or("exp of i32 was taken")?;
    ensure!(error.to_string().contains("exp does not exist for i32"), "{error}");
    let error = a.choose(1.0, 2.0).err().ok_or("where of f32 was taken")?;
    ensure_eq!(error.kind(), ErrorKind::DType, "{error}");
    ensure!(error.to_string().contains("the condition is f32"), "{error}");
    ensure!(a.apply(wharf::op::Op::Add, &[]).is_err(), "add of one operand was taken");
    Ok(())
}

async fn numbers(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let (n, _) = device.upload(&[1u8, 250], [2]).map_err(show)?;
    let (x, _) = device.upload(&[1.0f32, 2.0], [2]).map_err(show)?;
    let error = (&n + 300).err().ok_or("300 was taken as u8")?;
    ensure!(error.to_string().contains("scalar 300 is not a value of u8"), "{error}");
    ensure_eq!(error.kind(), ErrorKind::DType, "{error}");
    let error = (&n + 0.5).err().ok_or("a float was taken as u8")?;
    ensure!(error.to_string().contains("scalar 0.5 is a float, u8 an integer"), "{error}");
    for refused in [&n - (-1), &x * 1e300, &x + 16_777_217, &x + true, -1i32 - &n] {
        let error = refused.err().ok_or("a number that does not fit was taken")?;
        ensure!(error.to_string().contains("is not a value of"), "{error}");
    }
    ensure_eq!((&n + 10).map_err(show)?.read::<u8>().await.map_err(show)?, [11, 4], "u8 wraps");
    let thrice = (&x * 3).map_err(show)?;
    let x = (1i32 - &thrice).map_err(show)?;
    ensure_eq!(x.read::<f32>().await.map_err(show)?, [-2.0, -5.0], "whole numbers beside f32");
    count();
    Ok(())
}

async fn devices(ctx: &Ctx) -> Outcome {
    let (a, b) = (ctx.native().await?, ctx.fresh(DOWNGRADES[0]).await?);
    let (x, y) = (ramp(&a, 3).await?, ramp(&b, 3).await?);
    let error = (&x + &y).err().ok_or("two devices were mixed")?;
    ensure!(error.to_string().contains("add"), "the operation is not named: {error}");
    Ok(())
}

/// A chain of real numbers, within the sum of the errors of its parts.
async fn fused(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let n = 4099;
    let at = |i: usize, k: usize| ((i * k % 2003) as f32 - 1000.0) / 250.0;
    let data: Vec<[f32; 3]> = (0..n).map(|i| [at(i, 7), at(i, 13), at(i, 29)]).collect();
    let mut inputs = Vec::new();
    for k in 0..3 {
        let column: Vec<f32> = data.iter().map(|row| row[k]).collect();
        inputs.push(device.upload(&column, [n]).map_err(show)?.0);
    }
    let sum = ((&inputs[0] * &inputs[1]).map_err(show)? + &inputs[2]).map_err(show)?;
    let got = sum.gelu().map_err(show)?.cast(DType::F32).map_err(show)?;
    let got = got.read::<f32>().await.map_err(show)?;
    for (i, (got, row)) in got.iter().zip(&data).enumerate() {
        let [a, b, c] = row.map(f64::from);
        let gelu = |x: f64| {
            let x = wharf::reference::Number::Float(x);
            match wharf::reference::apply(wharf::op::Op::Gelu, DType::F32, &[x]).value {
                wharf::reference::Number::Float(y) => y,
                _ => f64::NAN,
            }
        };
        let want = gelu(a * b + c);
        // The slope of gelu is below 1.13; its argument errs by two roundings of a term.
        let bound = wharf::op::Op::Gelu.bound(DType::F32);
        let unit = f64::from(f32::EPSILON);
        let own = bound.ulp * unit * want.abs() + bound.abs;
        let slack = 1.13 * unit * (a * b).abs().max(c.abs()) + own;
        ensure!((f64::from(*got) - want).abs() <= slack, "index {i}: {got}, not {want}");
    }
    count();
    Ok(())
}

async fn explained(ctx: &Ctx) -> Outcome {
    let device = ctx.fresh(DOWNGRADES[0]).await?;
    let x = ramp(&device, 1300).await?.reshape([26, 50]).map_err(show)?;
    let y = (x.t().map_err(show)? + 1.0).map_err(show)?.gelu().map_err(show)?;
    let before = device.memory();
    let told = y.explain();
    let after = device.memory();
    ensure_eq!(after.tensors, before.tensors, "tensors");
    ensure_eq!(after.bytes_live_peak, before.bytes_live_peak, "memory at its most");
    ensure!(told.error.is_none(), "{told}");
    let names: Vec<&str> = told.kernels.iter().map(|kernel| kernel.name()).collect();
    ensure_eq!(names, ["elementwise", "reindex"], "one fused kernel, and a copy to row-major");
    ensure_eq!(told.dispatches(), 2, "dispatches");
    let text = told.to_string();
    let parts =
        ["2 kernels, 2 dispatches", "gelu_f32(", "fn main", "row-major", "const workgroup:"];
    for part in parts {
        ensure!(text.contains(part), "no {part} in:\n{text}");
    }
    let got = y.read::<f32>().await.map_err(show)?;
    // The fiftieth of the ramp is 11.
    ensure!((got[1] - 12.0).abs() < 1e-4, "gelu(12) is {}", got[1]);
    let told = y.explain();
    ensure_eq!(told.kernels.len(), 1, "only the copy is left once it is computed");
    ensure!(x.explain().to_string().contains("nothing to run"), "{}", x.explain());
    let one = (&x + 1.0).map_err(show)?.explain();
    ensure_eq!(one.bytes_allocated, 5200, "1300 floats");
    count();
    Ok(())
}

async fn pipelines(ctx: &Ctx) -> Outcome {
    let device = ctx.fresh(DOWNGRADES[0]).await?;
    // By words there are three classes of kernels by size: up to 1024 elements, up to 65 535, and
    // above. Elsewhere there is one class.
    let by_words = device.target().of_streams(device.caps()) == Target::Cpu64;
    let classes = |number| if by_words { number } else { 1 };
    let steps = [(8, 0.5, 1), (64, 2.0, 1), (4096, -3.0, 2), (20_000, 1e-3, 2), (70_000, 0.1, 3)];
    for (n, factor, class) in steps {
        let x = ramp(&device, n).await?;
        let y = ((&x * factor).map_err(show)? + 7.0).map_err(show)?;
        let got = y.read::<f32>().await.map_err(show)?;
        for (i, got) in got.into_iter().enumerate() {
            let want = (i % 13) as f64 * factor + 7.0;
            ensure!((f64::from(got) - want).abs() < 1e-5, "{n} * {factor}: {got}, not {want}");
        }
        ensure_eq!(device.pipelines(), classes(class), "pipelines up to {n} elements");
    }
    // Rows of another length are another view of the same structure.
    let before = device.pipelines();
    for n in [8, 32, 100, 200] {
        let x = ramp(&device, n * n).await?.reshape([n, n]).map_err(show)?;
        let row = ramp(&device, n).await?;
        (&x - &row).map_err(show)?.read::<f32>().await.map_err(show)?;
    }
    ensure_eq!(device.pipelines() - before, classes(2), "pipelines for four broadcasts");
    let before = device.pipelines();
    // A thousand steps on a small tensor, none of them folded away.
    let mut y = ramp(&device, 16).await?;
    for i in 0..1000 {
        y = (&y + i).map_err(show)?;
    }
    let got = y.read::<f32>().await.map_err(show)?;
    ensure_eq!(got[..2], [499_500.0, 499_501.0], "the sum of all steps");
    let made = device.pipelines() - before;
    ensure!(made <= 2, "{made} pipelines for a chain of a thousand");
    count();
    Ok(())
}

/// One tensor, added over and over, is one binding: few kernels, which `explain()` counts.
async fn read_often(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let x = ramp(&device, 16).await?;
    let mut y = x.clone();
    for _ in 0..100 {
        y = (&y + &x).map_err(show)?;
    }
    ensure_eq!(y.explain().kernels.len(), 1, "kernels of a hundred additions");
    let got = y.read::<f32>().await.map_err(show)?;
    ensure_eq!(got[..3], [0.0, 101.0, 202.0], "a hundred and one times it");
    count();
    Ok(())
}

/// Twenty parts of the same tensor, added up, are one kernel with one input; once each has been
/// read, they are twenty inputs, more than a kernel has.
async fn parts_first(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let x = ramp(&device, 16).await?;
    let parts: Vec<_> = (0..20).map(|i| &x + i).collect::<wharf::Result<_>>().map_err(show)?;
    let mut sum = parts[0].clone();
    for part in &parts[1..] {
        sum = (&sum + part).map_err(show)?;
    }
    for part in &parts {
        part.read::<f32>().await.map_err(show)?;
    }
    let got = sum.read::<f32>().await.map_err(show)?;
    ensure_eq!(got[..3], [190.0, 210.0, 230.0], "the sum of twenty parts");
    count();
    Ok(())
}

/// The result takes the place of the left side. The right side is a view across segments, which is
/// copied to another buffer first.
async fn beside_copy(ctx: &Ctx) -> Outcome {
    let device = ctx.fresh(DOWNGRADES[4]).await?;
    let large = ramp(&device, 120_000).await?.reshape([2, 60_000]).map_err(show)?;
    let view = large.slice_step(1, 0..60_000, 100).map_err(show)?;
    let (left, _) = device.upload(&[1.0f32; 1200], [2, 600]).map_err(show)?;
    let sum = (left + &view).map_err(show)?;
    let got = sum.read::<f32>().await.map_err(show)?;
    let want: Vec<f32> = (0..1200).map(|i| (i * 100 % 13) as f32 + 1.0).collect();
    ensure_eq!(got, want, "the sum");
    count();
    Ok(())
}

const NO_INT64: Downgrade =
    Downgrade { name: "no_int64", lower: |caps| caps.without(Feature::ShaderInt64) };

async fn lone_f64(ctx: &Ctx) -> Outcome {
    let device = ctx.fresh(NO_INT64).await?;
    let (x, _) = device.upload(&[1.0f64, -2.0, 1e300], [3]).map_err(show)?;
    let y = ((&x * 0.1).map_err(show)? - 1e-9).map_err(show)?;
    let want = [1.0 * 0.1 - 1e-9, -2.0 * 0.1 - 1e-9, 1e300 * 0.1 - 1e-9];
    for (got, want) in y.read::<f64>().await.map_err(show)?.into_iter().zip(want) {
        ensure!((got - want).abs() <= 1e-15 * want.abs(), "{got}, not {want}");
    }
    // Their order is kept as integers.
    for y in [x.amax(0), x.softmax(0), x.cummax(0)] {
        let error =
            y.map_err(show)?.read::<f64>().await.err().ok_or("there are no such integers")?;
        ensure_eq!(error.kind(), ErrorKind::Rejected, "{}", error);
        ensure!(error.to_string().contains("works with shader-int64"), "{error}");
    }
    count();
    Ok(())
}

/// As many numbers of two words as one kernel takes, beside as many views as it reads.
async fn words(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let sum = || {
        let mut sum = device.zeros([4, 1], DType::I64)?;
        for i in 0..14 {
            let dims = if i % 2 == 0 { [1, 4] } else { [4, 1] };
            sum = (sum + device.full(dims, i, DType::I64)?)?;
        }
        for i in 0..53 {
            sum = (&sum + i)?;
        }
        Ok(sum)
    };
    let sum: wharf::Result<_> = sum();
    let got = sum.map_err(show)?.read::<i64>().await.map_err(show)?;
    ensure_eq!(got, [13 * 14 / 2 + 52 * 53 / 2; 16], "the sum");
    count();
    Ok(())
}

/// 2^28 elements and more. If one binding holds them, the class of a GPU has more workgroups than
/// one dimension of a dispatch takes, and that of a processor more than 2^14. Otherwise there are
/// several dispatches.
async fn groups(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let n = (1 << 28) + 4099;
    for target in [Target::Cpu64, Target::Gpu] {
        let device = device.with_target(target);
        let x = device.full([n], 3, DType::U8).map_err(show)?;
        let y = (&x + 4).map_err(show)?;
        let explanation = y.explain();
        let dispatches = explanation.kernels.iter().flat_map(|kernel| &kernel.dispatches);
        let groups = dispatches.map(|[x, y, z]| x * y * z).max().unwrap_or(0);
        let whole = device.caps().limits.binding_bytes_max > n as u64 + (1 << 20);
        let many = if target == Target::Gpu { 65_535 } else { 1 << 14 };
        ensure_eq!(groups > many, whole, "whether {groups} groups are more than {many}");
        let [low, high] = [Reduction::Min, Reduction::Max].map(|r| y.reduce(r, 0));
        let low = low.map_err(show)?.read::<u8>().await.map_err(show)?;
        let high = high.map_err(show)?.read::<u8>().await.map_err(show)?;
        ensure_eq!((low[0], high[0]), (7, 7), "the least and the greatest on {target:?}");
        count();
    }
    Ok(())
}
