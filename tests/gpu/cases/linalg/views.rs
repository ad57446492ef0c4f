//! Matrices and right sides as views show them: to the bit what the same numbers come to in a row.
//! Between the numbers of a view lies NaN, which spoils whatever reads it.

use wharf::tensor::Triangle;
use wharf::{DType, Device, Layout, Result, Shape, Tensor};

use crate::cases::pair::{Pair, bits_of, count, difference};
use crate::cases::probe::Random;
use crate::cases::views::Move::{self, Broadcast, Flip, Permute, Slice, Transpose};
use crate::cases::views::TARGETS;
use crate::ctx::{Ctx, Outcome, ensure_eq, show};

type Of = fn(&Tensor, &Tensor) -> Result<Tensor>;

/// Of matrices, and of right sides.
const OPERATIONS: &[(&str, Of)] = &[
    ("cholesky", |a, _| a.cholesky()),
    ("factors", |a, _| Ok(a.lu()?.factors)),
    ("order", |a, _| Ok(a.lu()?.order)),
    ("det", |a, _| a.det()),
    ("inv", |a, _| a.inv()),
    ("solve", Tensor::solve),
    ("sign", |a, _| Ok(a.slogdet()?.0)),
    ("logarithm", |a, _| Ok(a.slogdet()?.1)),
    ("vectors", |a, b| a.lu()?.solve(&b.select(2, 1)?)),
    ("lower", |a, b| a.solve_triangular(b, &Triangle::lower())),
    ("upper", |a, b| a.solve_triangular(b, &Triangle::upper().transposed())),
];

/// Views of two matrices, or of one as two.
fn forms(rows: usize, columns: usize) -> Vec<(Vec<usize>, Vec<Move>)> {
    let (r, c) = (rows, columns);
    vec![
        (vec![2, c, r], vec![Transpose]),
        (vec![2, 2 * r, 3 * c + 1], vec![Slice(1, 1..2 * r, 2), Slice(2, 1..3 * c + 1, 3)]),
        (vec![2, r, c], vec![Flip(1), Flip(2)]),
        (
            vec![3, r + 2, c + 3],
            vec![Slice(0, 1..3, 1), Slice(1, 2..r + 2, 1), Slice(2, 3..c + 3, 1)],
        ),
        (vec![r, c], vec![Broadcast(vec![2, r, c])]),
        (vec![r, 2, c], vec![Permute(vec![1, 0, 2])]),
        (vec![r, c, 2], vec![Permute(vec![2, 0, 1])]),
    ]
}

/// A view that shows numbers, and the same numbers in a row.
async fn shown(
    device: &Device,
    (dims, moves): &(Vec<usize>, Vec<Move>),
    numbers: &[f32],
) -> Result<[Tensor; 2], String> {
    let mut layout = Layout::dense(Shape::new(dims).map_err(show)?);
    for step in moves {
        layout = step.of_layout(&layout).map_err(show)?;
    }
    let mut bits = vec![u64::from(f32::NAN.to_bits()); dims.iter().product()];
    for (place, number) in layout.places().zip(numbers) {
        bits[place] = number.to_bits().into();
    }
    let view = Pair::new(device, DType::F32, bits, dims).await?.view(moves)?;
    let dense = Pair::new(device, DType::F32, view.expected(), layout.shape().dims()).await?;
    Ok([view.tensor, dense.tensor])
}

/// Two that are far from singular; of whose lower triangle alone Cholesky's factor is.
fn definite(random: &mut Random, n: usize) -> Vec<f32> {
    let one = |i: usize| {
        let diagonal = i / n % n == i % n;
        random.below(64) as f32 / 64.0 + if diagonal { n as f32 } else { 0.0 }
    };
    (0..2 * n * n).map(one).collect()
}

/// Few on all devices, and such as take several panels on one.
pub(super) async fn run(ctx: &Ctx) -> Outcome {
    let mut random = Random::new(85);
    let native = ctx.native().await?;
    let [first, second] = TARGETS.map(|target| native.with_target(target));
    for (device, n, m) in [(&first, 5, 3), (&first, 35, 6), (&second, 5, 3)] {
        let (of_a, of_b) = (forms(n, n), forms(n, m));
        for (i, form) in of_a.iter().enumerate() {
            let beside = &of_b[(i + 3) % of_b.len()];
            let [a, dense_a] = shown(device, form, &definite(&mut random, n)).await?;
            let numbers: Vec<f32> = (0..2 * n * m).map(|_| random.below(17) as f32 - 8.0).collect();
            let [b, dense_b] = shown(device, beside, &numbers).await?;
            for (what, of) in OPERATIONS {
                let (got, want) = (of(&a, &b).map_err(show)?, of(&dense_a, &dense_b));
                let want = want.map_err(show)?;
                ensure_eq!(got.shape(), want.shape(), "{what}: the shape");
                ensure_eq!(got.dtype(), want.dtype(), "{what}: the dtype");
                count();
                let (got, want) = (bits_of(&got).await?, bits_of(&want).await?);
                if let Some(text) = difference(DType::F32, &got, &want) {
                    let place = format!("{form:?} and {beside:?} for {:?}", device.target());
                    return Err(format!("{what} of {place}: {text}"));
                }
            }
        }
    }
    Ok(())
}
