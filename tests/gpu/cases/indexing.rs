//! Joining, picking and scattering, bit by bit against loops on the host.

use wharf::dtype::Class;
use wharf::tensor::Pad;
use wharf::{Adapter, DType, Device, ErrorKind, Tensor};

use super::faults::fails;
use super::pair::{Pair, bits_of, count, difference};
use super::probe::Random;
use super::views::{Move, TARGETS, probe_bits};
use crate::ctx::{
    Case, Ctx, DOWNGRADES, Downgrade, Outcome, case, ensure, ensure_eq, matters, show,
};

mod rows;
mod scatter;

/// A dense array of bits on the host.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Host {
    dims: Vec<usize>,
    bits: Vec<u64>,
}

impl Host {
    fn of(pair: &Pair) -> Self {
        Self { dims: pair.layout.shape().dims().to_vec(), bits: pair.expected() }
    }

    /// An array whose elements are given by a function of the place.
    fn build(dims: Vec<usize>, at: impl Fn(&[usize]) -> u64) -> Self {
        let bits = wharf::reference::places(&dims).map(|place| at(&place)).collect();
        Self { dims, bits }
    }

    fn at(&self, place: &[usize]) -> u64 {
        let at = place.iter().zip(&self.dims).fold(0, |at, (&i, &dim)| at * dim + i);
        self.bits[at]
    }
}

/// Targets to test for a dtype. They differ in the order of walking, which does not depend on the
/// width: one dtype tests both.
pub(crate) fn targets(dtype: DType) -> &'static [wharf::Target] {
    if dtype == DType::F32 { &TARGETS } else { &TARGETS[..1] }
}

/// The place with another coordinate.
fn with(place: &[usize], axis: usize, at: usize) -> Vec<usize> {
    let mut place = place.to_vec();
    place[axis] = at;
    place
}

pub(crate) fn cases(adapter: &Adapter) -> Vec<Case> {
    let mut cases = Vec::new();
    for &downgrade in DOWNGRADES.iter().filter(|d| matters(adapter, **d)) {
        // Moves depend on widths only.
        let dtypes: &[DType] = match downgrade.name {
            "native" | "small_bindings" => &[DType::Bool, DType::F16, DType::F32, DType::I64],
            _ => &[],
        };
        for &dtype in dtypes {
            let name = |what: &str| format!("indexing::{what}::{dtype}::{}", downgrade.name);
            cases.push(
                case!(name("join"), |ctx| joins(ctx, downgrade, dtype))
                    .needs(adapter, downgrade, dtype),
            );
            cases.push(
                case!(name("pick"), |ctx| picks(ctx, downgrade, dtype))
                    .needs(adapter, downgrade, dtype),
            );
            if downgrade.name == "small_bindings" {
                cases.push(
                    case!(name("wide"), |ctx| wide(ctx, downgrade, dtype))
                        .needs(adapter, downgrade, dtype),
                );
            }
        }
        for dtype in [DType::I32, DType::U32, DType::I64, DType::U64] {
            let name = format!("indexing::out_of_range::{dtype}::{}", downgrade.name);
            cases.push(
                case!(name, |ctx| out_of_range(ctx, downgrade, dtype))
                    .needs(adapter, downgrade, dtype),
            );
        }
    }
    cases.extend(rows::cases(adapter));
    cases.push(case!("indexing::one_hot", |ctx| one_hot(ctx)));
    cases.push(case!("indexing::mistakes", |ctx| mistakes(ctx)));
    #[cfg(target_pointer_width = "64")]
    cases.push(case!("indexing::counts_beyond_u32", |ctx| beyond_u32(ctx)));
    cases.extend(scatter::cases(adapter));
    cases
}

/// Compares a tensor with an array.
pub(crate) async fn same(what: &str, got: wharf::Result<Tensor>, want: &Host) -> Outcome {
    count();
    let got = got.map_err(|error| format!("{what}: {error:?}"))?;
    ensure_eq!(got.shape().dims(), &*want.dims, "{what}: the shape");
    let bits = bits_of(&got).await.map_err(|error| format!("{what}: {error}"))?;
    difference(got.dtype(), &bits, &want.bits).map_or(Ok(()), |d| Err(format!("{what}: {d}")))
}

/// A tensor of bits that reveal mistakes, through a view.
async fn sample(
    device: &Device,
    dtype: DType,
    dims: &[usize],
    moves: &[Move],
    seed: u64,
) -> Result<Pair, String> {
    let bits = probe_bits(dtype, dims.iter().product(), seed).await;
    Pair::new(device, dtype, bits, dims).await?.view(moves)
}

/// Indices below a bound, as a tensor and as numbers.
pub(crate) async fn indices(
    device: &Device,
    dtype: DType,
    dims: &[usize],
    bound: usize,
    seed: u64,
) -> Result<(Tensor, Host), String> {
    let mut random = Random::new(seed);
    let bits: Vec<u64> = (0..dims.iter().product()).map(|_| random.below(bound) as u64).collect();
    let pair = Pair::new(device, dtype, bits.clone(), dims).await?;
    Ok((pair.tensor, Host { dims: dims.to_vec(), bits }))
}

fn concat(parts: &[Host], axis: usize) -> Host {
    let mut dims = parts[0].dims.clone();
    dims[axis] = parts.iter().map(|part| part.dims[axis]).sum();
    Host::build(dims, |place| {
        let mut at = place[axis];
        let part = parts.iter().find(|part| {
            let here = at < part.dims[axis];
            at -= if here { 0 } else { part.dims[axis] };
            here
        });
        part.map_or(0, |part| part.at(&with(place, axis, at)))
    })
}

async fn joins(ctx: &Ctx, downgrade: Downgrade, dtype: DType) -> Outcome {
    use Move::{Flip, Slice, Transpose};
    let device = ctx.device(downgrade).await?;
    // The sizes along the axis, the other dimensions and the axis.
    let table: [(&[usize], &[usize], usize); 12] = [
        (&[1], &[], 0),
        (&[3, 0, 5, 1, 4], &[], 0),
        (&[255, 257, 8, 1], &[], 0),
        (&[4, 8], &[12], 0),
        (&[4, 8, 12], &[5], 1),
        (&[3, 1], &[5], 1),
        (&[4, 1, 7], &[3, 2], 1),
        (&[5, 6], &[2, 3, 4], 0),
        (&[5, 6], &[2, 3, 4], 3),
        (&[1; 40], &[3], 1),
        (&[2, 3], &[0, 4], 1),
        (&[0, 0], &[3], 0),
    ];
    for &target in targets(dtype) {
        let here = device.with_target(target);
        for (sizes, beside, axis) in table {
            let mut pairs = Vec::new();
            for (i, &size) in sizes.iter().enumerate() {
                let mut dims = beside.to_vec();
                dims.insert(axis, size);
                let rank = dims.len();
                // Every other part is a view of a larger tensor.
                let (dims, moves) = match i % 4 {
                    1 => (dims, vec![Flip(axis)]),
                    2 if rank > 1 => {
                        dims.swap(rank - 1, rank - 2);
                        (dims, vec![Transpose])
                    }
                    3 => {
                        dims[0] += 3;
                        let end = dims[0] - 1;
                        (dims, vec![Slice(0, 2..end, 1)])
                    }
                    _ => (dims, vec![]),
                };
                pairs.push(sample(&here, dtype, &dims, &moves, i as u64).await?);
            }
            let tensors: Vec<Tensor> = pairs.iter().map(|p| p.tensor.clone()).collect();
            let hosts: Vec<Host> = pairs.iter().map(Host::of).collect();
            let what = format!("concat {sizes:?} beside {beside:?} on {axis} for {target:?}");
            let joined = Tensor::concat(&tensors, axis);
            same(&what, joined.clone(), &concat(&hosts, axis)).await?;
            let parts = joined.and_then(|t| t.split(axis, sizes)).map_err(show)?;
            for (part, host) in parts.into_iter().zip(&hosts) {
                same(&format!("split of {what}"), Ok(part), host).await?;
            }
        }
        paddings(&here, dtype).await?;
        stacks_and_rolls(&here, dtype).await?;
    }
    Ok(())
}

async fn stacks_and_rolls(device: &Device, dtype: DType) -> Outcome {
    let x = sample(device, dtype, &[4, 6], &[], 1).await?;
    let y = sample(device, dtype, &[6, 4], &[Move::Transpose], 2).await?;
    for axis in 0..3 {
        let hosts = [Host::of(&x), Host::of(&y)].map(|mut host| {
            host.dims.insert(axis, 1);
            host
        });
        let stacked = Tensor::stack(&[x.tensor.clone(), y.tensor.clone()], axis);
        same(&format!("stack on {axis}"), stacked, &concat(&hosts, axis)).await?;
    }
    let host = Host::of(&y);
    for axis in 0..2 {
        for shift in [0isize, 1, -1, 3, 6, -7, 1000] {
            let n = host.dims[axis] as isize;
            let from = |i: usize| (i as isize - shift).rem_euclid(n) as usize;
            let want = Host::build(host.dims.clone(), |p| host.at(&with(p, axis, from(p[axis]))));
            same(&format!("roll {axis} by {shift}"), y.tensor.roll(axis, shift), &want).await?;
        }
    }
    for dims in [vec![5, 5], vec![3, 8], vec![2, 9, 4], vec![1, 1], vec![0, 3], vec![4, 0]] {
        let x = sample(device, dtype, &dims, &[Move::Flip(0)], 3).await?;
        let (host, last) = (Host::of(&x), dims.len() - 1);
        for k in [0isize, 1, -1, 2, -3, 9, -9, isize::MAX, isize::MIN] {
            let keep = |lower: bool| {
                Host::build(host.dims.clone(), |p| {
                    let diagonal = p[last] as isize - p[last - 1] as isize;
                    let kept = if lower { diagonal <= k } else { diagonal >= k };
                    if kept { host.at(p) } else { 0 }
                })
            };
            same(&format!("tril {dims:?} {k}"), x.tensor.tril(k), &keep(true)).await?;
            same(&format!("triu {dims:?} {k}"), x.tensor.triu(k), &keep(false)).await?;
        }
    }
    Ok(())
}

async fn paddings(device: &Device, dtype: DType) -> Outcome {
    let one = match dtype {
        DType::Bool => wharf::Scalar::from(true),
        _ => wharf::Scalar::from(1u8),
    };
    let one_bits = {
        let ones = device.ones([1], dtype).map_err(show)?;
        bits_of(&ones).await?[0]
    };
    for (dims, pads) in [
        (vec![5], vec![(2, 1)]),
        (vec![4, 8], vec![(0, 0), (4, 4)]),
        (vec![3, 5], vec![(1, 2), (4, 3)]),
        (vec![2, 3, 4], vec![(1, 0), (0, 2), (3, 1)]),
        (vec![1, 6], vec![(0, 0), (5, 5)]),
    ] {
        let x = sample(device, dtype, &dims, &[Move::Flip(dims.len() - 1)], 4).await?;
        let host = Host::of(&x);
        let padded: Vec<usize> = dims.iter().zip(&pads).map(|(d, (a, b))| d + a + b).collect();
        for with in [Pad::Constant(one), Pad::Reflect, Pad::Replicate] {
            let want = Host::build(padded.clone(), |place| {
                let mut from = Vec::new();
                for ((&p, &(before, _)), &dim) in place.iter().zip(&pads).zip(&dims) {
                    let (i, n) = (p as isize - before as isize, dim as isize);
                    from.push(match with {
                        Pad::Constant(_) if i < 0 || i >= n => return one_bits,
                        Pad::Reflect if i < 0 => -i,
                        Pad::Reflect if i >= n => 2 * (n - 1) - i,
                        Pad::Replicate => i.clamp(0, n - 1),
                        _ => i,
                    } as usize);
                }
                host.at(&from)
            });
            let what = format!("pad {dims:?} by {pads:?} {with:?}");
            same(&what, x.tensor.pad(&pads, with), &want).await?;
        }
    }
    Ok(())
}

/// The array that `index_select` makes.
fn selected(host: &Host, axis: usize, index: &Host) -> Host {
    let (before, after) = host.dims.split_at(axis);
    let dims = [before, &index.dims, &after[1..]].concat();
    let rank = index.dims.len();
    Host::build(dims, |place| {
        let (head, rest) = place.split_at(axis);
        let (at, tail) = rest.split_at(rank);
        let at = usize::try_from(index.at(at)).unwrap_or(usize::MAX);
        host.at(&[head, &[at], tail].concat())
    })
}

async fn picks(ctx: &Ctx, downgrade: Downgrade, dtype: DType) -> Outcome {
    let device = ctx.device(downgrade).await?;
    for &target in targets(dtype) {
        let here = device.with_target(target);
        for (dims, moves, axis, index_dims) in [
            (vec![5], vec![], 0, vec![9]),
            (vec![7, 8], vec![], 0, vec![5]),
            (vec![7, 8], vec![Move::Flip(0)], 0, vec![3, 2]),
            (vec![7, 5], vec![Move::Transpose], 0, vec![4]),
            (vec![7, 12], vec![], 1, vec![257]),
            (vec![3, 6, 4], vec![Move::Flip(1)], 1, vec![2, 2]),
            (vec![3, 6, 4], vec![], 2, vec![]),
            (vec![3, 6, 4], vec![], 0, vec![0]),
            (vec![1, 16], vec![Move::Broadcast(vec![9, 16])], 0, vec![31]),
        ] {
            let x = sample(&here, dtype, &dims, &moves, 5).await?;
            let host = Host::of(&x);
            let bound = host.dims[axis];
            let (index, at) = indices(&here, DType::I32, &index_dims, bound, 6).await?;
            let what = format!("index_select {dims:?} {moves:?} {axis} by {index_dims:?}");
            let want = selected(&host, axis, &at);
            same(&what, x.tensor.index_select(axis, &index), &want).await?;
            if axis == 0 {
                same(&what, x.tensor.embedding(&index), &want).await?;
            }
            let all: usize = host.dims.iter().product();
            let (index, at) = indices(&here, DType::U32, &index_dims, all, 7).await?;
            let want = Host::build(at.dims.clone(), |p| host.bits[at.at(p) as usize]);
            same(&format!("take {what}"), x.tensor.take(&index), &want).await?;
        }
        for (dims, axis, length) in
            [(vec![6], 0, 65), (vec![5, 8], 1, 3), (vec![5, 8], 0, 12), (vec![2, 3, 4], 1, 7)]
        {
            let x = sample(&here, dtype, &dims, &[Move::Flip(0)], 8).await?;
            let host = Host::of(&x);
            let to = with(&dims, axis, length);
            let (index, at) = indices(&here, DType::U32, &to, dims[axis], 9).await?;
            let from = |p: &[usize]| host.at(&with(p, axis, at.at(p) as usize));
            let want = Host::build(to.clone(), from);
            same(&format!("gather {dims:?} {axis}"), x.tensor.gather(axis, &index), &want).await?;
            // An index that is a view.
            let (index, at) = (index.flip(axis).map_err(show)?, |p: &[usize]| {
                at.at(&with(p, axis, length - 1 - p[axis])) as usize
            });
            let want = Host::build(to, |p| host.at(&with(p, axis, at(p))));
            same(&format!("gather {dims:?} {axis}"), x.tensor.gather(axis, &index), &want).await?;
        }
    }
    Ok(())
}

/// Sources, indices and results of several segments each.
async fn wide(ctx: &Ctx, downgrade: Downgrade, dtype: DType) -> Outcome {
    let device = ctx.device(downgrade).await?;
    let n = 500_000 / dtype.width();
    let (rows, columns) = (n / 100, 100);
    let x = sample(&device, dtype, &[rows, columns], &[], 1).await?;
    let y = sample(&device, dtype, &[columns, rows], &[Move::Transpose], 2).await?;
    let (a, b) = (Host::of(&x), Host::of(&y));
    for axis in 0..2 {
        let joined = Tensor::concat(&[x.tensor.clone(), y.tensor.clone()], axis);
        let want = concat(&[a.clone(), b.clone()], axis);
        same(&format!("concat on {axis}"), joined, &want).await?;
    }
    let (index, at) = indices(&device, DType::U32, &[rows + 3], rows, 3).await?;
    same("rows", y.tensor.index_select(0, &index), &selected(&b, 0, &at)).await?;
    same("rows", x.tensor.index_select(0, &index), &selected(&a, 0, &at)).await?;
    let (index, at) = indices(&device, DType::I32, &[70_001], rows * columns, 4).await?;
    let want = Host::build(vec![70_001], |p| a.bits[at.at(p) as usize]);
    same("take", x.tensor.take(&index), &want).await?;
    let (index, at) = indices(&device, DType::U32, &[rows, columns], rows, 5).await?;
    let want = Host::build(a.dims.clone(), |p| b.at(&with(p, 0, at.at(p) as usize)));
    same("gather", y.tensor.gather(0, &index), &want).await
}

async fn out_of_range(ctx: &Ctx, downgrade: Downgrade, dtype: DType) -> Outcome {
    let device = ctx.device(downgrade).await?;
    let table = sample(&device, DType::F32, &[5, 8], &[], 1).await?.tensor;
    let highest = u64::MAX >> (64 - 8 * dtype.width());
    for bad in [5, highest, highest >> 1, (highest >> 1) + 1] {
        for n in [1usize, 5, 257, 65_535] {
            let mut bits = vec![4u64; n];
            for at in [n / 2, n - 1] {
                bits[at] = bad;
            }
            let count = if n / 2 == n - 1 { 1 } else { 2 };
            let index = Pair::new(&device, dtype, bits, &[n]).await?.tensor;
            let want = format!(
                "embedding of [5, 8] along axis 0: {count} of {n} indices in [{n}] are outside \
                 0..5, the first at [{}]",
                n / 2
            );
            let error = fails(&table.embedding(&index).map_err(show)?).await?;
            ensure_eq!(error.to_string(), want, "the message");
            ensure_eq!(error.kind(), ErrorKind::Index, "the kind");
            let help = "`clamp(0, 4)` keeps an index inside; one that counts from the end needs 5 \
                        added first";
            ensure_eq!(error.help().as_deref(), Some(help), "the help");
            let mut mended = vec![index.clamp(0, 4)];
            if n == 1 && bad == highest && dtype.class() == Class::Signed {
                mended.push(&index + 5); // -1 counts from the end
            }
            for index in mended {
                let picked = index.and_then(|index| table.embedding(&index)).map_err(show)?;
                ensure_eq!(picked.read::<f32>().await.map_err(show)?.len(), 8 * n, "as it says");
            }
            let sum = (&table.take(&index).map_err(show)? + 1.0f32).map_err(show)?;
            let error = sum.read::<f32>().await.err().map(|e| e.to_string()).unwrap_or_default();
            // Only 5 is the index of an element.
            ensure_eq!(error.contains("outside 0..40"), bad != 5, "take of {bad}: {error}");
        }
    }
    // An empty list of indices has no wrong one, even for an axis without elements.
    let none = Pair::new(&device, dtype, vec![], &[0]).await?.tensor;
    let empty = device.zeros([0, 8], DType::F32).map_err(show)?;
    let picked = empty.embedding(&none).map_err(show)?;
    ensure!(picked.read::<f32>().await.map_err(show)?.is_empty(), "nothing of nothing");
    let some = Pair::new(&device, dtype, vec![0], &[1]).await?.tensor;
    let error = fails(&empty.embedding(&some).map_err(show)?).await?;
    ensure!(error.to_string().contains("outside 0..0"), "{error}");
    Ok(())
}

async fn one_hot(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let (index, at) = indices(&device, DType::I32, &[3, 7], 5, 1).await?;
    let want = |yes: u64| {
        Host::build(vec![3, 7, 5], |p| if at.at(&p[..2]) == p[2] as u64 { yes } else { 0 })
    };
    let one = f32::to_bits(1.0).into();
    same("one_hot f32", index.one_hot(5, DType::F32), &want(one)).await?;
    same("one_hot bool", index.one_hot(5, DType::Bool), &want(1)).await?;
    same("one_hot u8", index.one_hot(5, DType::U8), &want(1)).await?;
    let error = fails(&index.one_hot(3, DType::U8).map_err(show)?).await?;
    ensure!(error.to_string().starts_with("one_hot: "), "{error}");
    let help =
        Some("`clamp(0, 2)` keeps a number inside; or ask for more than 3 (none is below 0)");
    ensure_eq!(error.help().as_deref(), help, "no number counts from an end");
    let bins = index.bincount(3).map_err(show)?;
    let error = fails(&bins).await?;
    ensure!(error.to_string().starts_with("bincount: "), "{error}");
    ensure_eq!(error.help().as_deref(), help, "of bins");
    Ok(())
}

async fn mistakes(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let x = device.zeros([2, 3], DType::F32).map_err(show)?;
    let y = device.zeros([2, 3], DType::I32).map_err(show)?;
    let z = device.zeros([3, 3], DType::F32).map_err(show)?;
    let table = [
        (Tensor::concat(&[] as &[Tensor], 0), "concat of no tensors"),
        (Tensor::concat(&[x.clone(), y.clone()], 0), "concat: dtypes differ: left f32, right i32"),
        (
            Tensor::concat(&[x.clone(), z.clone()], 1),
            "concat: shapes differ beside axis 1: left [2, 3], right [3, 3]",
        ),
        (
            Tensor::concat(std::slice::from_ref(&x), 2),
            "concat: axis 2 does not exist in [2, 3] of rank 2",
        ),
        (
            device.linspace(0.0, 1e6, 3, DType::F16),
            "linspace: scalar 1000000.0 is not a value of f16",
        ),
        (x.pad(&[(1, 1)], Pad::Reflect), "pad: pairs given: 1, axes of [2, 3]: 2"),
        (x.pad(&[(2, 0), (0, 0)], Pad::Reflect), "pad: 2 reflected from axis 0 of length 2"),
        (x.gather(0, &z), "gather: f32 is no index, which is i32, u32, i64 or u64"),
        (x.tril(0).and_then(|t| t.slice(0, 0..1)?.squeeze(0)?.tril(0)), "tril: "),
        (x.scatter_add(0, &y, &y), "scatter_add: dtypes differ: left f32, right i32"),
    ];
    refused(table)
}

/// Counts that no `u32` holds; with a 32-bit `usize` nobody can ask for them.
#[cfg(target_pointer_width = "64")]
async fn beyond_u32(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let endless = device.zeros([1], DType::F32).map_err(show)?;
    let endless = endless.broadcast_to([isize::MAX as usize]).map_err(show)?;
    refused([
        (
            device.permutation(wharf::tensor::Key::new(1), 1 << 40),
            "permutation: a list to be sorted needs 8796093022208 bytes, one segment is ",
        ),
        (endless.argmax(0), "argmax: 9223372036854775807 elements, above 4294967295 of u32"),
        (endless.count_nonzero(0), "count_nonzero: 9223372036854775807 elements, above"),
        (
            Tensor::concat(&[endless.clone(), endless.clone(), endless], 0),
            "concat: shape [18446744073709551615] has more than 9223372036854775807 elements",
        ),
    ])
}

fn refused<const N: usize>(table: [(wharf::Result<Tensor>, &str); N]) -> Outcome {
    for (result, want) in table {
        let error = result.err().map(|error| error.to_string()).unwrap_or_default();
        ensure!(error.starts_with(want), "{error:?}, not {want:?}");
    }
    Ok(())
}
