//! Every kind of view of every width, read back bit by bit, against the layout on the host.

use core::ops::Range;

use wharf::{Adapter, DType, Device, Layout, Target, Tensor};

use super::pair::{COMPUTED, Pair, bits_of, count, difference};
use super::probe::{Probe, Random, of_dtype, values};
use crate::ctx::{Case, Ctx, DOWNGRADES, Downgrade, Outcome, case, matters, show};

/// Both ways of walking memory; without 64-bit integers the first is `Cpu`.
pub(crate) const TARGETS: [Target; 2] = [Target::Cpu64, Target::Gpu];

/// One step from a view to another.
#[derive(Clone, Debug)]
pub(crate) enum Move {
    Slice(usize, Range<usize>, isize),
    Flip(usize),
    Permute(Vec<usize>),
    Transpose,
    Broadcast(Vec<usize>),
    Reshape(Vec<usize>),
    Squeeze(usize),
    Unsqueeze(usize),
    Windows(usize, usize, usize),
}

impl Move {
    pub(crate) fn of_tensor(&self, t: &Tensor) -> wharf::Result<Tensor> {
        match self {
            Self::Slice(axis, range, 1) => t.slice(*axis, range.clone()),
            Self::Slice(axis, range, step) => t.slice_step(*axis, range.clone(), *step),
            Self::Flip(axis) => t.flip(*axis),
            Self::Permute(axes) => t.permute(axes),
            Self::Transpose => t.t(),
            Self::Broadcast(dims) => t.broadcast_to(dims),
            Self::Reshape(dims) => t.reshape(dims),
            Self::Squeeze(axis) => t.squeeze(*axis),
            Self::Unsqueeze(axis) => t.unsqueeze(*axis),
            Self::Windows(axis, size, step) => t.windows(*axis, *size, *step),
        }
    }

    pub(crate) fn of_layout(&self, l: &Layout) -> wharf::Result<Layout> {
        match self {
            Self::Slice(axis, range, step) => l.slice_step(*axis, range.clone(), *step),
            Self::Flip(axis) => l.flip(*axis),
            Self::Permute(axes) => l.permute(axes),
            Self::Transpose => l.t(),
            Self::Broadcast(dims) => l.broadcast_to(dims),
            Self::Reshape(dims) => l.reshape(dims),
            Self::Squeeze(axis) => l.squeeze(*axis),
            Self::Unsqueeze(axis) => l.unsqueeze(*axis),
            Self::Windows(axis, size, step) => l.windows(*axis, *size, *step),
        }
    }

    /// A random one that this layout has.
    pub(crate) fn random(random: &mut Random, layout: &Layout, elements_max: usize) -> Self {
        let dims = layout.shape().dims();
        let rank = dims.len();
        if rank == 0 {
            return Self::Unsqueeze(0);
        }
        let axis = random.below(rank);
        let dim = dims[axis];
        match random.below(9) {
            0 | 1 => {
                let start = random.below(dim + 1);
                let end = start + random.below(dim - start + 1);
                let step = [1, 2, 3, -1, -2, 1, 5][random.below(7)];
                Self::Slice(axis, start..end, step)
            }
            2 => Self::Flip(axis),
            3 => {
                let mut axes: Vec<usize> = (0..rank).collect();
                for i in 1..rank {
                    axes.swap(i, random.below(i + 1));
                }
                Self::Permute(axes)
            }
            4 if rank >= 2 => Self::Transpose,
            5 if layout.shape().elements() * 3 <= elements_max && rank < 5 => {
                let mut to = dims.to_vec();
                for d in to.iter_mut().filter(|d| **d == 1) {
                    *d = 1 + random.below(3);
                }
                if to == dims {
                    to.insert(0, 1 + random.below(3));
                }
                Self::Broadcast(to)
            }
            6 if dims.contains(&1) => {
                Self::Squeeze(dims.iter().position(|&d| d == 1).unwrap_or_default())
            }
            7 if dim > 1 && rank < 5 && layout.shape().elements() * 3 <= elements_max => {
                Self::Windows(axis, 1 + random.below(dim.min(3)), 1 + random.below(3))
            }
            8 if rank < 5 => Self::Unsqueeze(random.below(rank + 1)),
            _ => Self::Flip(axis),
        }
    }
}

impl Pair {
    /// A view of both sides.
    pub(crate) fn view(&self, moves: &[Move]) -> Result<Self, String> {
        let mut pair = self.clone();
        for step in moves {
            pair.tensor = step.of_tensor(&pair.tensor).map_err(show)?;
            pair.layout = step.of_layout(&pair.layout).map_err(show)?;
        }
        Ok(pair)
    }
}

/// Views of shapes that are small, ragged, empty or of no dimension.
fn small() -> Vec<(&'static [usize], Vec<Move>)> {
    use Move::*;
    let mut table: Vec<(&'static [usize], Vec<Move>)> = vec![
        (&[], vec![Unsqueeze(0)]),
        (&[], vec![Broadcast(vec![3, 5])]),
        (&[0], vec![Flip(0)]),
        (&[1], vec![Flip(0), Squeeze(0)]),
        (&[1], vec![Broadcast(vec![257])]),
        (&[3, 0, 2], vec![Permute(vec![2, 0, 1])]),
        (&[31], vec![Slice(0, 3..3, 1)]),
        (&[31], vec![Slice(0, 3..4, 1)]),
        (&[31], vec![Slice(0, 1..30, 1)]),
        (&[31], vec![Slice(0, 5..31, -1)]),
        (&[257], vec![Slice(0, 1..257, 2)]),
        (&[257], vec![Slice(0, 2..256, -3)]),
        (&[256], vec![Flip(0)]),
        (&[256], vec![Slice(0, 0..256, 4)]),
        (&[256], vec![Slice(0, 3..255, 1), Reshape(vec![2, 3, 42])]),
        (&[64], vec![Windows(0, 5, 3)]),
        (&[64], vec![Windows(0, 4, 4), Transpose]),
        (&[64], vec![Windows(0, 64, 1)]),
        (&[5, 7], vec![Transpose]),
        (&[5, 7], vec![Flip(0)]),
        (&[5, 7], vec![Flip(1), Transpose]),
        (&[5, 7], vec![Slice(1, 2..7, 1), Slice(0, 0..5, -2)]),
        (&[8, 12], vec![Transpose]),
        (&[8, 12], vec![Slice(1, 4..12, 1)]),
        (&[8, 12], vec![Slice(1, 2..10, 1)]),
        (&[8, 12], vec![Slice(0, 1..8, 2), Flip(1)]),
        (&[64, 96], vec![Transpose]),
        (&[65, 67], vec![Transpose]),
        (&[2, 32, 64], vec![Permute(vec![0, 2, 1])]),
        (&[32, 3, 33], vec![Permute(vec![2, 1, 0])]),
        (&[3, 4, 5], vec![Permute(vec![1, 2, 0]), Slice(1, 1..4, 1)]),
        (&[2, 1, 3, 1, 2], vec![Squeeze(1), Squeeze(2), Reshape(vec![6, 2]), Transpose]),
        (&[1, 7], vec![Broadcast(vec![5, 7])]),
        (&[7, 1], vec![Broadcast(vec![2, 7, 8])]),
        (&[1, 8], vec![Broadcast(vec![4, 8]), Transpose]),
        (&[3, 1, 4], vec![Broadcast(vec![2, 3, 5, 4]), Permute(vec![3, 1, 0, 2])]),
        (&[2, 3, 4, 2, 3, 5, 2, 3], vec![Permute(vec![7, 5, 3, 1, 6, 4, 2, 0])]),
        (&[4, 6], vec![Transpose, Unsqueeze(1), Broadcast(vec![6, 3, 4])]),
    ];
    table.extend([1, 2, 3, 5, 33, 255].map(|n| (ONES[n % 2], vec![Broadcast(vec![n])])));
    table
}

const ONES: [&[usize]; 2] = [&[], &[1]];

/// Views of some 500 KB: several segments where bindings are small.
fn wide(elements: usize) -> Vec<(Vec<usize>, Vec<Move>)> {
    use Move::*;
    let n = elements;
    let (rows, columns) = (n / 257, 257);
    let square = vec![n / 256, 256];
    vec![
        (vec![n], vec![Flip(0)]),
        (vec![n], vec![Slice(0, 1..n, 1)]),
        (vec![n], vec![Slice(0, 3..n - 1, 2)]),
        (vec![n], vec![Slice(0, 5..n, -3)]),
        (vec![n], vec![Slice(0, n / 4 - 1..n / 2 + 2, 1)]),
        (vec![n], vec![Slice(0, n / 2..n, 1), Slice(0, 0..n / 8, -1)]),
        (vec![n], vec![Windows(0, 3, 2)]),
        (vec![n], vec![Slice(0, n - 5..n, 1), Unsqueeze(1), Broadcast(vec![5, 70_001])]),
        (vec![rows, columns], vec![Transpose]),
        (vec![rows, columns], vec![Slice(1, 100..133, 1)]),
        (vec![rows, columns], vec![Flip(0)]),
        (vec![rows, columns], vec![Slice(0, 1..rows, 7), Transpose]),
        (square.clone(), vec![Transpose]),
        (square.clone(), vec![Slice(0, 0..n / 256, -1), Slice(1, 4..252, 1)]),
        (square, vec![Slice(1, 255..256, 1), Broadcast(vec![n / 256, 3])]),
    ]
}

pub(crate) fn cases(adapter: &Adapter) -> Vec<Case> {
    let mut cases = Vec::new();
    for &downgrade in DOWNGRADES.iter().filter(|d| matters(adapter, **d)) {
        // Moves depend on widths only, so one dtype of each width is enough.
        let widths = [DType::U8, DType::F16, DType::F32, DType::I64];
        let dtypes: &[DType] = match downgrade.name {
            "native" => COMPUTED,
            "no_64" | "no_f16" => &[],
            _ => &widths,
        };
        for &dtype in dtypes {
            let name = |group: &str| format!("views::{group}::{dtype}::{}", downgrade.name);
            cases.push(
                case!(name("small"), |ctx| run(ctx, downgrade, dtype, "small"))
                    .needs(adapter, downgrade, dtype),
            );
            cases.push(
                case!(name("chains"), |ctx| run(ctx, downgrade, dtype, "chains"))
                    .needs(adapter, downgrade, dtype),
            );
            if downgrade.name == "small_bindings" {
                cases.push(
                    case!(name("wide"), |ctx| run(ctx, downgrade, dtype, "wide"))
                        .needs(adapter, downgrade, dtype),
                );
            }
        }
    }
    cases.push(case!("views::deep", |ctx| deep(ctx)));
    cases.push(case!("views::many_tiles", |ctx| many_tiles(ctx)));
    cases
}

/// A transposition of so many tiles that each lane of a GPU takes several.
async fn many_tiles(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?.with_target(Target::Gpu);
    let (rows, columns) = (4096, 2052);
    let data: Vec<u8> = (0..rows * columns).map(|i| (i % 251 + i / columns % 5) as u8).collect();
    let (x, _) = device.upload(&data, [rows, columns]).map_err(show)?;
    let turned = x.t().and_then(|x| x.contiguous()).map_err(show)?;
    let got = turned.read::<u8>().await.map_err(show)?;
    let want = |i: usize| data[i % rows * columns + i / rows];
    match got.iter().enumerate().position(|(i, &x)| x != want(i)) {
        Some(i) => Err(format!("{i}: {}, not {}", got[i], want(i))),
        None => Ok(()),
    }
}

/// Shapes, and orders of their axes in which none can be joined: by whole rows, by steps, by rows
/// that end within a quad, and few elements.
const DEEP: [(&[usize], &[usize]); 4] = [
    (&[3, 2, 4, 2, 3, 2, 8], &[5, 4, 3, 2, 1, 0, 6]),
    (&[8, 2, 4, 2, 3, 2, 3], &[6, 5, 4, 3, 2, 1, 0]),
    (&[3, 2, 4, 2, 3, 2, 5], &[5, 4, 3, 2, 1, 0, 6]),
    (&[2, 3, 2, 2, 3, 2], &[5, 4, 3, 2, 1, 0]),
];

/// Sums of views whose dimensions take more than one quad of the parameters.
async fn deep(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    for target in TARGETS {
        for (dims, axes) in DEEP {
            count();
            let here = device.with_target(target);
            let data: Vec<u64> = (0..dims.iter().product::<usize>() as u64).collect();
            let x = Pair::new(&here, DType::I32, data.clone(), dims).await?;
            let x = x.view(&[Move::Permute(axes.to_vec())])?;
            let y = Pair::new(&here, DType::I32, data, x.layout.shape().dims()).await?;
            let got = bits_of(&(&x.tensor + &y.tensor).map_err(show)?).await?;
            let want: Vec<u64> = (x.expected().iter().zip(&*y.bits)).map(|(a, b)| a + b).collect();
            if let Some(text) = difference(DType::I32, &got, &want) {
                return Err(format!("{dims:?} in the order {axes:?} for {target:?}: {text}"));
            }
        }
    }
    Ok(())
}

async fn run(ctx: &Ctx, downgrade: Downgrade, dtype: DType, group: &str) -> Outcome {
    let device = ctx.device(downgrade).await?;
    match group {
        "small" => {
            for (dims, moves) in small() {
                check(&device, dtype, dims, &moves).await?;
            }
        }
        "wide" => {
            for (dims, moves) in wide(500_000 / dtype.width()) {
                check(&device, dtype, &dims, &moves).await?;
            }
        }
        _ => {
            let seed = 11 + dtype as u64;
            let mut random = Random::new(seed);
            for _ in 0..40 {
                let (dims, moves) = chain(&mut random)?;
                check(&device, dtype, &dims, &moves).await?;
            }
        }
    }
    Ok(())
}

/// A random shape and up to five views, one of the other.
pub(crate) fn chain(random: &mut Random) -> Result<(Vec<usize>, Vec<Move>), String> {
    let rank = 1 + random.below(4);
    let dims: Vec<usize> = (0..rank).map(|_| [1, 2, 3, 4, 5, 8, 9, 12][random.below(8)]).collect();
    let mut layout = Layout::dense(wharf::Shape::new(&dims).map_err(show)?);
    let mut moves = Vec::new();
    for _ in 0..=random.below(5) {
        let step = Move::random(random, &layout, 10_000);
        layout = step.of_layout(&layout).map_err(show)?;
        moves.push(step);
    }
    Ok((dims, moves))
}

/// Raw bits of a dtype: the special ones first.
pub(crate) async fn probe_bits(dtype: DType, n: usize, seed: u64) -> Vec<u64> {
    async fn of<T: Probe>(n: usize, seed: u64) -> Vec<u64> {
        values::<T>(n, seed).into_iter().map(T::to_bits).collect()
    }
    of_dtype!(dtype, of(n, seed))
}

async fn check(device: &Device, dtype: DType, dims: &[usize], moves: &[Move]) -> Outcome {
    let data = probe_bits(dtype, dims.iter().product(), 3 + dims.len() as u64).await;
    let mut want = None;
    for target in TARGETS {
        let here = device.with_target(target);
        let view = Pair::new(&here, dtype, data.clone(), dims).await?.view(moves)?;
        let place = format!("{dims:?} {moves:?} for {target:?}");
        let got = bits_of(&view.tensor).await.map_err(|e| format!("{place}: {e}"))?;
        count();
        let want = want.get_or_insert_with(|| view.expected());
        if let Some(text) = difference(dtype, &got, want) {
            return Err(format!("{place}: {text}"));
        }
        if view.tensor.shape() != view.layout.shape() {
            return Err(format!("{place}: shape {}", view.tensor.shape()));
        }
    }
    Ok(())
}
