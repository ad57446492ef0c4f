//! Products of many batches, more than a dispatch or a segment takes.

use super::{By, Pool};
use crate::ctx::{Ctx, Outcome, ensure_eq, show};

/// More batches than a dispatch has groups along an axis.
pub(super) async fn many(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let batches = [2, 35_000];
    let values: Vec<i32> = (0..2 * 35_000 * 6).map(|i| i % 1013).collect();
    let (x, _) = device.upload(&values, [batches[0], batches[1], 2, 3]).map_err(show)?;
    let got = x.t().and_then(|t| x.matmul(&t)).map_err(show)?;
    let got = got.read::<i32>().await.map_err(show)?;
    for (b, (x, got)) in values.chunks(6).zip(got.chunks(4)).enumerate() {
        let dot = |i: usize, j: usize| (0..3).map(|k| x[3 * i + k] * x[3 * j + k]).sum::<i32>();
        let want = [dot(0, 0), dot(0, 1), dot(1, 0), dot(1, 1)];
        ensure_eq!(got, want, "batch {b}");
    }
    Ok(())
}

/// Thousands of batches, of which segments hold many: of both sides, of one, or of the result.
pub(super) async fn in_segments(pool: &mut Pool, bytes: &[u8]) -> Outcome {
    let (flat, all, outer, inner) = (&[3000][..], &[60, 50][..], &[60, 1][..], &[1, 50][..]);
    let kernels = [
        (16, None),
        (17, Some(By::Tile([4, 2, 8, 3]))),
        (16, Some(By::Strips([8, 1, 8, 1]))),
        (15, Some(By::Sheets([8, 1, 8, 1]))),
    ];
    for (left, right) in [(flat, flat), (all, all), (all, inner), (outer, all), (outer, inner)] {
        for (k, by) in kernels {
            let a = pool.view(left, 4, k).map_err(show)?;
            let b = pool.view(right, k, 3).map_err(show)?;
            let got = by.map_or_else(|| a.matmul(&b), |by| by.product(&a, &b)).map_err(show)?;
            pool.check(bytes, [&a, &b], &got).await?;
        }
    }
    Ok(())
}
