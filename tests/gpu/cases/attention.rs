//! Attention against the oracle: shared heads, causal and other masks, ragged sizes, views.

use wharf::caps::{Caps, Feature};
use wharf::op::Joint;
use wharf::reference::{Exact, Number, attention};
use wharf::tensor::Attention;
use wharf::{Adapter, DType, Device, Target, Tensor};

use super::pair::{Pair, bits, bits_of, count, value};
use super::probe::Random;
use super::views::TARGETS;
use crate::ctx::{Case, Ctx, DOWNGRADES, Downgrade, Outcome, case, ensure, ensure_eq, show};

/// Batches, heads, shared heads, queries, keys, and the lengths of keys and values.
type Form = [usize; 7];

const FORMS: &[Form] = &[
    [1, 1, 1, 1, 1, 4, 4],
    [1, 2, 2, 5, 7, 8, 4],
    [2, 4, 2, 9, 9, 8, 8],
    [1, 6, 2, 3, 17, 6, 5],
    [2, 2, 1, 70, 133, 32, 16],
    [1, 8, 1, 1, 40, 16, 16],
    [2, 128, 4, 1, 16, 8, 8],
];

/// What workgroups take: by the most row groups for values of every length, in several workgroups
/// of a head, with edges just past whole blocks; and by few.
const CROWDS: &[Form] = &[
    [16, 8, 4, 33, 33, 32, 32],
    [16, 8, 8, 65, 71, 64, 64],
    [8, 8, 8, 65, 97, 128, 128],
    [4, 16, 16, 33, 97, 256, 256],
    [1, 2, 2, 70, 9, 12, 20],
    [1, 1, 1, 5, 40, 300, 200],
];

/// Keys that workgroups share: heads of every length, for one row, for a row group that is full,
/// for two and for four.
const SPLITS: &[Form] = &[
    [1, 3, 3, 1, 257, 32, 32],
    [1, 8, 1, 1, 261, 64, 64],
    [1, 8, 2, 1, 1000, 128, 128],
    [1, 2, 2, 1, 513, 256, 256],
    [1, 6, 2, 3, 700, 16, 24],
];

/// Elements of two bytes: by eight, for many rows and for few; and of lengths that are not.
const PACKED: &[Form] = &[
    [8, 8, 4, 17, 40, 64, 40],
    [1, 8, 2, 1, 400, 16, 128],
    [1, 2, 1, 3, 260, 8, 12],
    [1, 1, 1, 70, 9, 20, 8],
];

/// Windows that lie in the middle of many blocks and splits, for one row and for many; that leave
/// some of the queries without a key; and for kernels of values that no register holds.
const WINDOWS: &[Form] = &[
    [1, 4, 2, 150, 300, 32, 32],
    [1, 2, 1, 5, 1100, 64, 64],
    [1, 2, 2, 300, 90, 8, 8],
    [1, 4, 1, 1, 700, 16, 16],
    [1, 1, 1, 150, 260, 300, 200],
];

/// The window of [`Mask::Window`]: so many keys before a query's place, and after it.
const WINDOW: [usize; 2] = [69, 6];

#[derive(Clone, Copy, Debug, PartialEq)]
enum Mask {
    None,
    Causal,
    Window,
    /// Bools that broadcast over heads; one query sees nothing.
    Truth,
    /// Numbers that are added, one per key.
    Added,
    /// Numbers that are added, one for every head, query and key.
    All,
}

pub(crate) fn cases(adapter: &Adapter) -> Vec<Case> {
    let mut cases = Vec::new();
    for mask in [Mask::None, Mask::Causal, Mask::Truth, Mask::Added, Mask::All] {
        let narrow = matches!(mask, Mask::None | Mask::Causal);
        for dtype in
            [DType::F32, DType::F16, DType::Bf16].into_iter().take(if narrow { 3 } else { 1 })
        {
            let name = format!("attention::{mask:?}::{dtype}");
            cases.push(case!(name, |ctx| run(ctx, mask, dtype)).needs(
                adapter,
                DOWNGRADES[0],
                dtype,
            ));
        }
    }
    for mask in [Mask::Causal, Mask::All] {
        cases.push(case!(format!("attention::large::{mask:?}"), |ctx| large(ctx, mask)));
    }
    for (name, forms, masks) in [
        ("crowds", CROWDS, [(Mask::Causal, DType::F32), (Mask::All, DType::F32)]),
        ("splits", SPLITS, [(Mask::Causal, DType::F32), (Mask::All, DType::F32)]),
        ("packed", PACKED, [(Mask::None, DType::F16), (Mask::Causal, DType::Bf16)]),
    ] {
        for (mask, dtype) in masks {
            let name = format!("attention::{name}::{mask:?}::{dtype}");
            let case = case!(name, |ctx| crowds(ctx, mask, dtype, forms));
            cases.push(case.needs(adapter, DOWNGRADES[0], dtype));
        }
    }
    for dtype in [DType::F32, DType::F16] {
        let case = case!(format!("attention::windows::{dtype}"), |ctx| windows(ctx, dtype));
        cases.push(case.needs(adapter, DOWNGRADES[0], dtype));
    }
    cases.push(case!("attention::a_row_of_the_next_head", |ctx| next_head(ctx)));
    cases.push(case!("attention::of_infinite_values", |ctx| infinite(ctx)));
    cases.push(case!("attention::far_scores", |ctx| far_scores(ctx)));
    cases.push(case!("attention::unseen_scores", |ctx| unseen_scores(ctx)));
    cases.push(case!("attention::weights_beyond", |ctx| weights_beyond(ctx)));
    cases.push(case!("attention::of_length_0", |ctx| of_length_0(ctx)));
    cases.push(case!("attention::of_views", |ctx| views(ctx)));
    cases.push(case!("attention::masks_of_some_batches", |ctx| batches(ctx)));
    cases.push(case!("attention::in_small_bindings", |ctx| small_bindings(ctx)));
    cases.push(case!("attention::without_subgroups", |ctx| plain(ctx)));
    cases
}

/// An infinite value at the last key makes infinite what it is part of, and nothing else, although
/// kernels take whole blocks of keys.
async fn infinite(ctx: &Ctx) -> Outcome {
    let native = ctx.native().await?;
    let devices = [native.with_target(Target::Gpu), native];
    for (device, keys) in devices.iter().flat_map(|device| [1, 5, 33, 65, 300].map(|n| (device, n)))
    {
        let mut data = vec![1.0f32; 4 * keys];
        data[4 * keys - 4] = f32::INFINITY;
        let (values, _) = device.upload(&data, [1, keys, 4]).map_err(show)?;
        let [q, k] = [2, keys].map(|n| device.zeros([1, n, 8], DType::F32).map_err(show));
        let got = q?.attention(&k?, &values, &Attention::new()).map_err(show)?;
        let got = got.read::<f32>().await.map_err(show)?;
        for row in got.chunks(4) {
            let kept = row[1..].iter().all(|x| (x - 1.0).abs() < 1e-5);
            ensure!(row[0] == f32::INFINITY && kept, "{keys} keys: {row:?}");
        }
    }
    Ok(())
}

/// Keys whose scores are minus infinity are not seen, whether of one query or of several.
async fn unseen_scores(ctx: &Ctx) -> Outcome {
    let native = ctx.native().await?;
    for device in TARGETS.map(|target| native.with_target(target)) {
        let (keys, _) = device.upload(&[-1e30f32, -1e30], [1, 2, 1]).map_err(show)?;
        let (values, _) = device.upload(&[1.0f32, 2.0], [1, 2, 1]).map_err(show)?;
        for queries in [1, 2, 9] {
            let asked = device.full([1, queries, 1], 1e30, DType::F32).map_err(show)?;
            let got = asked.attention(&keys, &values, &Attention::new()).map_err(show)?;
            let got = got.read::<f32>().await.map_err(show)?;
            ensure_eq!(got, vec![0.0; queries], "{queries} queries for {:?}", device.target());
        }
    }
    Ok(())
}

/// The first queries at the first keys, of which there are more: weights of 0 beyond. And of
/// values without elements.
async fn weights_beyond(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let (values, _) = device.upload(&[2.0f32, 4.0, 8.0], [3, 1]).map_err(show)?;
    let alike = device.zeros([3, 4], DType::F32).map_err(show)?;
    let (two, how) = (alike.slice(0, ..2).map_err(show)?, Attention::new().causal());
    for (how, want, weights) in [
        (how.clone(), [3.0, 14.0 / 3.0], [0.5, 0.5, 0.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0]),
        (how.first_aligned(), [2.0, 3.0], [1.0, 0.0, 0.0, 0.5, 0.5, 0.0]),
    ] {
        let (got, by) = two.attention_with_weights(&alike, &values, &how).map_err(show)?;
        let got = got.read::<f32>().await.map_err(show)?;
        let by = by.read::<f32>().await.map_err(show)?;
        let mut both = got.iter().chain(&by).zip(want.iter().chain(&weights));
        let near = both.all(|(got, want)| (got - want).abs() <= 1e-6);
        ensure!(near && [got.len(), by.len()] == [2, 6], "{how:?}: {got:?} by {by:?}");
        let none = values.slice(1, ..0).map_err(show)?;
        let (got, alone) = two.attention_with_weights(&alike, &none, &how).map_err(show)?;
        ensure_eq!(got.shape().dims(), [2, 0], "of nothing");
        ensure_eq!(alone.read::<f32>().await.map_err(show)?, by, "the weights of nothing");
    }
    Ok(())
}

/// Queries and keys without elements: every score is 0, and every query sees the mean.
async fn of_length_0(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let (values, _) = device.upload(&[1.0f32, 2.0, 3.0, 6.0], [1, 2, 2]).map_err(show)?;
    for queries in [1, 3] {
        let q = device.zeros([1, queries, 0], DType::F32).map_err(show)?;
        let k = device.zeros([1, 2, 0], DType::F32).map_err(show)?;
        let got = q.attention(&k, &values, &Attention::new()).map_err(show)?;
        ensure_eq!(got.read::<f32>().await.map_err(show)?, [2.0, 4.0].repeat(queries), "the mean");
        let none = device.zeros([0, 2, 0], DType::F32).map_err(show)?;
        let error = q.attention(&none, &none, &Attention::new()).err().map(|e| e.to_string());
        let text = error.unwrap_or_default();
        ensure!(text.contains("heads of queries are no multiple"), "no heads of keys: {text:?}");
    }
    Ok(())
}

async fn run(ctx: &Ctx, mask: Mask, dtype: DType) -> Outcome {
    let device = ctx.native().await?;
    let mut random = Random::new(9);
    for target in [Target::Cpu64, Target::Gpu] {
        let device = device.with_target(target);
        for &form in FORMS {
            one(&device, &mut random, mask, dtype, form).await?;
        }
    }
    Ok(())
}

/// By workgroups, whatever the device; and on a CPU heads too long for registers.
async fn crowds(ctx: &Ctx, mask: Mask, dtype: DType, forms: &[Form]) -> Outcome {
    let device = ctx.native().await?;
    let mut random = Random::new(19);
    for &form in forms {
        one(&device.with_target(Target::Gpu), &mut random, mask, dtype, form).await?;
        if form[5] + form[6] > 256 && form[0] == 1 {
            one(&device.with_target(Target::Cpu), &mut random, mask, dtype, form).await?;
        }
    }
    Ok(())
}

async fn windows(ctx: &Ctx, dtype: DType) -> Outcome {
    let device = ctx.native().await?;
    let mut random = Random::new(23);
    for &form in WINDOWS {
        for target in [Target::Cpu64, Target::Gpu] {
            one(&device.with_target(target), &mut random, Mask::Window, dtype, form).await?;
        }
    }
    Ok(())
}

/// Lengths large enough for the kernel that takes longest to compile; none is a whole number of
/// tiles.
async fn large(ctx: &Ctx, mask: Mask) -> Outcome {
    let device = ctx.native().await?.with_target(Target::Cpu64);
    let form = [1, 6, 3, 421, 635, 64, 64];
    one(&device, &mut Random::new(5), mask, DType::F32, form).await
}

/// A group's last row is the first query of another head, which sees the fewest keys.
async fn next_head(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?.with_target(Target::Cpu64);
    for queries in [15, 31] {
        let form = [1, 2, 1, queries, queries, 8, 4];
        one(&device, &mut Random::new(6), Mask::Causal, DType::F32, form).await?;
    }
    Ok(())
}

/// Scores that rise from key to key, and fall: the highest is in the last of many states, or in the
/// first, and by the score of any other all would be infinite or nothing.
async fn far_scores(ctx: &Ctx) -> Outcome {
    const KEYS: usize = 1024;
    let device = ctx.native().await?.with_target(Target::Gpu);
    let dtype = DType::F32;
    for sign in [1.0, -1.0] {
        let key = |i: usize| sign * i as f64 / 8.0;
        let to_bits = |x: f64| bits(dtype, Number::Float(x));
        let keys = (0..8 * KEYS).map(|i| to_bits(key(i / 8))).collect();
        let number = |i: usize| (i % 7) as f64 - 3.0;
        let values = (0..4 * KEYS).map(|i| to_bits(number(i))).collect();
        let q = Pair::new(&device, dtype, vec![to_bits(1.0); 8], &[1, 1, 1, 8]).await?;
        let k = Pair::new(&device, dtype, keys, &[1, 1, KEYS, 8]).await?;
        let v = Pair::new(&device, dtype, values, &[1, 1, KEYS, 4]).await?;
        let how = Attention::new();
        let sides = [&q.tensor, &k.tensor, &v.tensor];
        let got = results([1, 1, 1, 1, KEYS, 8, 4], sides, &how).await?;
        let scores: Vec<f64> = (0..KEYS).map(|i| 8.0 * key(i) / 8f64.sqrt()).collect();
        let rows: Vec<[f64; 4]> =
            (0..KEYS).map(|i| [0, 1, 2, 3].map(|c| number(4 * i + c))).collect();
        let rows: Vec<&[f64]> = rows.iter().map(<[f64; 4]>::as_slice).collect();
        judge(dtype, 0, &scores, &rows, &got)?;
    }
    Ok(())
}

async fn small_bindings(ctx: &Ctx) -> Outcome {
    // More results than a segment holds.
    let device = ctx.device(DOWNGRADES[4]).await?;
    one(&device, &mut Random::new(2), Mask::Causal, DType::F32, [5, 4, 2, 100, 40, 32, 32]).await?;
    // Larger masks for heads and for queries; then queries of which the first half sees no key.
    // Some of the heads share keys, or all of them do.
    let forms = [
        ([1, 6, 2, 100, 150, 8, 8], Mask::All),
        ([1, 6, 1, 100, 150, 8, 8], Mask::All),
        ([1, 1, 1, 300, 200, 8, 4], Mask::All),
        ([1, 1, 1, 800, 70, 64, 4], Mask::Causal),
        ([1, 1, 1, 800, 700, 64, 4], Mask::Window),
    ];
    for (form, mask) in forms {
        one(&device, &mut Random::new(6), mask, DType::F32, form).await?;
    }
    // More states of rows than a segment holds.
    let device = device.with_target(Target::Gpu);
    one(&device, &mut Random::new(7), Mask::None, DType::F32, [1, 8, 8, 60, 1500, 32, 32]).await
}

/// Kernels that hand nothing from lane to lane and have no 64-bit loads.
async fn plain(ctx: &Ctx) -> Outcome {
    let lower = |caps: Caps| caps.without(Feature::Subgroup).without(Feature::ShaderInt64);
    let device = ctx.device(Downgrade { name: "no_subgroups_no_64", lower }).await?;
    for form in [FORMS[2], FORMS[4]] {
        one(&device, &mut Random::new(3), Mask::Causal, DType::F32, form).await?;
    }
    Ok(())
}

fn random_bits(random: &mut Random, dtype: DType, n: usize) -> Vec<u64> {
    let number = |random: &mut Random| random.below(512) as f64 / 128.0 - 2.0;
    (0..n).map(|_| bits(dtype, Number::Float(number(random)))).collect()
}

fn floats(pair: &Pair) -> Vec<f64> {
    let float = |&bits: &u64| match value(pair.tensor.dtype(), bits) {
        Number::Float(x) => x,
        _ => f64::NAN,
    };
    pair.bits.iter().map(float).collect()
}

/// The length of a row of each result, and its bits: by the kernel, and where that is little by
/// weights, which come third.
async fn results(
    [batch, heads, _, queries, keys, _, e]: Form,
    [q, k, v]: [&Tensor; 3],
    how: &Attention,
) -> Result<Vec<(usize, Vec<u64>)>, String> {
    let result = q.attention(k, v, how).map_err(show)?;
    ensure_eq!(result.shape().dims(), [batch, heads, queries, e], "the shape");
    let mut results = vec![(e, bits_of(&result).await?)];
    if batch * heads * queries * keys < 20_000 {
        let (result, weights) = q.attention_with_weights(k, v, how).map_err(show)?;
        ensure_eq!(weights.shape().dims(), [batch, heads, queries, keys], "the weights' shape");
        results.push((e, bits_of(&result).await?));
        results.push((keys, bits_of(&weights).await?));
    }
    Ok(results)
}

/// Results of a query, each with its length; the third are weights.
fn judge(
    dtype: DType,
    query: usize,
    scores: &[f64],
    values: &[&[f64]],
    results: &[(usize, Vec<u64>)],
) -> Outcome {
    for (which, (length, got)) in results.iter().enumerate() {
        let exact = if which == 2 { weights(scores) } else { attention(scores, values) };
        for (i, (exact, &bits)) in exact.iter().zip(&got[query * length..][..*length]).enumerate() {
            let got = value(dtype, bits);
            let kept = Joint::Attention.bound().within(dtype, *exact, got);
            ensure!(kept, "query {query}, {i} of {which} is {got:?}, not {exact:?}");
        }
    }
    Ok(())
}

/// What attention to an identity comes to.
fn weights(scores: &[f64]) -> Vec<Exact> {
    let row = |i| (0..scores.len()).map(|j| f64::from(u8::from(i == j))).collect();
    let identity: Vec<Vec<f64>> = (0..scores.len()).map(row).collect();
    attention(scores, &identity.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

async fn one(
    device: &Device,
    random: &mut Random,
    mask: Mask,
    dtype: DType,
    form: Form,
) -> Outcome {
    let place = format!("{form:?} for {:?}", device.target());
    let [batch, heads, shared, queries, keys, d, e] = form;
    let mut make = |n: usize| random_bits(random, dtype, n);
    let (q, k) = (make(batch * heads * queries * d), make(batch * shared * keys * d));
    let v = make(batch * shared * keys * e);
    let q = Pair::new(device, dtype, q, &[batch, heads, queries, d]).await?;
    let k = Pair::new(device, dtype, k, &[batch, shared, keys, d]).await?;
    let v = Pair::new(device, dtype, v, &[batch, shared, keys, e]).await?;
    let seen = |i: usize, j: usize| i > 0 && (i * 7 + j * 3) % 5 < 3;
    let added = |j: usize| [0.0, 1.5, f32::NEG_INFINITY, -0.25][j % 4];
    let by_place = |n: usize| [0.5, -1.0, f32::NEG_INFINITY, 0.0, 2.0][n * 7 % 5];
    let mut how = Attention::new();
    match mask {
        Mask::None => {}
        Mask::Causal => how = how.causal().scaled(0.3),
        Mask::Window => how = how.window(WINDOW[0], WINDOW[1]),
        Mask::Truth => {
            let data: Vec<bool> = (0..queries * keys).map(|n| seen(n / keys, n % keys)).collect();
            how = how.masked(&device.upload(&data, [queries, keys]).map_err(show)?.0);
        }
        Mask::Added => {
            let data: Vec<f32> = (0..keys).map(added).collect();
            how = how.masked(&device.upload(&data, [1, keys]).map_err(show)?.0);
        }
        Mask::All => {
            let dims = [batch, heads, queries, keys];
            let data: Vec<f32> = (0..dims.iter().product()).map(by_place).collect();
            how = how.masked(&device.upload(&data, dims).map_err(show)?.0);
        }
    }
    let results = results(form, [&q.tensor, &k.tensor, &v.tensor], &how);
    let results = results.await.map_err(|e| format!("{place}: {e}"))?;
    count();
    let [q, k, v] = [q, k, v].map(|pair| floats(&pair));
    let scale = if mask == Mask::Causal { 0.3 } else { 1.0 / (d as f32).sqrt() };
    let key_head = |head: usize| head / heads * shared + head % heads / (heads / shared);
    for n in 0..batch * heads * queries {
        let (part, i) = (key_head(n / queries), n % queries);
        let score = |j: usize| -> f64 {
            let key = &k[(part * keys + j) * d..][..d];
            let dot: f64 = q[n * d..][..d].iter().zip(key).map(|(a, b)| a * b).sum();
            let hidden = match mask {
                Mask::None | Mask::Added | Mask::All => false,
                Mask::Causal => j + queries > i + keys,
                Mask::Window => {
                    let ahead = (j + queries) as i64 - (i + keys) as i64;
                    ahead > WINDOW[1] as i64 || -ahead > WINDOW[0] as i64
                }
                Mask::Truth => !seen(i, j),
            };
            let more = match mask {
                Mask::Added => f64::from(added(j)),
                Mask::All => f64::from(by_place(n * keys + j)),
                _ => 0.0,
            };
            if hidden { f64::NEG_INFINITY } else { dot * f64::from(scale) + more }
        };
        let scores: Vec<f64> = (0..keys).map(score).collect();
        let values: Vec<&[f64]> = (0..keys).map(|j| &v[(part * keys + j) * e..][..e]).collect();
        judge(dtype, n, &scores, &values, &results).map_err(|e| format!("{place}: {e}"))?;
    }
    Ok(())
}

/// `[batch, rows, heads, d]`, as projections leave them, and rows of rank two.
async fn views(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let data: Vec<f32> = (0..2 * 6 * 3 * 8).map(|i| (i * 13 % 29) as f32 / 7.0 - 2.0).collect();
    let (x, _) = device.upload(&data, [2, 6, 3, 8]).map_err(show)?;
    let heads = x.permute([0, 2, 1, 3]).map_err(show)?;
    let dense = heads.contiguous().map_err(show)?;
    let how = Attention::new();
    let read = async |x: Tensor| x.read::<f32>().await.map_err(show);
    let viewed = read(heads.attention(&heads, &heads, &how).map_err(show)?).await?;
    let copied = read(dense.attention(&dense, &dense, &how).map_err(show)?).await?;
    ensure_eq!(viewed, copied, "a view and its copy");
    let flat = |i: usize| {
        let x = dense.slice(0, 1..2).and_then(|x| x.slice(1, i..i + 1)).map_err(show)?;
        x.reshape([6, 8]).map_err(show)
    };
    let scores = heads.matmul(&heads.t().map_err(show)?).map_err(show)?;
    let weights = (scores * 0.125f64.sqrt()).and_then(|s| s.softmax(3)).map_err(show)?;
    let composed = read(weights.matmul(&heads).map_err(show)?).await?;
    for (got, want) in viewed.iter().zip(&composed) {
        // Two roundings of sums of some dozen terms below 3.
        ensure!((got - want).abs() < 1e-5, "{got}, composed {want}");
    }
    let three = dense.slice(0, 0..1).and_then(|x| x.reshape([3, 6, 8])).map_err(show)?;
    let plan = three.attention(&three, &three, &how).and_then(|x| x.permute([1, 0, 2]));
    let plan = plan.map_err(show)?.explain();
    ensure_eq!(plan.kernels.len(), 1, "kernels where there is no batch: nothing is copied");
    let one = read(flat(2)?.attention(&flat(2)?, &flat(2)?, &how).map_err(show)?).await?;
    ensure_eq!(one, copied[5 * 48..6 * 48], "one head by itself");
    // Rows that are not whole quads from one to the next, and some that begin inside one.
    let wide = Tensor::concat(&[&dense, &dense], 3).and_then(|x| x.slice(3, ..10)).map_err(show)?;
    let wide = wide.contiguous().map_err(show)?;
    for first in [0, 1] {
        let odd = wide.slice(3, first..first + 8).map_err(show)?;
        let copy = odd.contiguous().map_err(show)?;
        copy.compute().map_err(show)?;
        let [viewed, copied] = [&odd, &copy].map(|x| x.attention(x, x, &how).map_err(show));
        let same = read(viewed?).await? == read(copied?).await?;
        ensure!(same, "rows of ten from {first} on differ from their copy");
    }
    Ok(())
}

/// Two axes of batches: masks and lengths of some axes hide what they hide where each is whole.
async fn batches(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let mut random = Random::new(23);
    let mut number = |_| random.below(400) as f32 / 100.0 - 2.0;
    let mut made = |dims: &[usize]| -> Result<Tensor, String> {
        let data: Vec<f32> = (0..dims.iter().product()).map(&mut number).collect();
        Ok(device.upload(&data, dims).map_err(show)?.0)
    };
    let (q, k) = (made(&[2, 3, 4, 5, 8])?, made(&[2, 3, 2, 7, 8])?);
    let (lengths, _) = device.upload(&[7u32, 1, 4, 0, 2, 6], [2, 3]).map_err(show)?;
    for dims in [
        &[2, 1, 1, 1, 7][..],
        &[2, 1, 4, 1, 1],
        &[1, 3, 1, 5, 1],
        &[3, 1, 1, 7],
        &[5, 7],
        &[1],
        &[2, 3, 4, 5, 7],
    ] {
        let mask = made(dims)?;
        let whole = mask.broadcast_to([2, 3, 4, 5, 7]).and_then(|x| x.contiguous());
        let whole = whole.map_err(show)?;
        for how in [Attention::new(), Attention::new().lengths(&lengths), Attention::new().causal()]
        {
            let got = q.attention(&k, &k, &how.clone().masked(&mask)).map_err(show)?;
            let want = q.attention(&k, &k, &how.masked(&whole)).map_err(show)?;
            count();
            ensure_eq!(bits_of(&got).await?, bits_of(&want).await?, "{dims:?}");
        }
    }
    Ok(())
}
