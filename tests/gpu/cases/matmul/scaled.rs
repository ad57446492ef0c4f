//! `alpha A B + beta C`.

use super::*;

/// `alpha A B + beta C` where all of them lie in several segments, against the product alone.
pub(super) async fn scaled(pool: &mut Pool, [m, n, k]: [usize; 3]) -> Outcome {
    let sides = [pool.view(&[], m, k), pool.view(&[], k, n), pool.view(&[], m, n)];
    let [a, b, c] = sides.map(|side| side.map_err(show));
    let (a, b, c) = (a?, b?, c?);
    let both = (a.matmul(&b).map_err(show)? * 0.5f32).and_then(|p| p + (&c * 3.0f32)?);
    let got = both.map_err(show)?.read::<f32>().await.map_err(show)?;
    let plain = a.matmul(&b).map_err(show)?.read::<f32>().await.map_err(show)?;
    let c = c.read::<f32>().await.map_err(show)?;
    count();
    for (i, ((got, plain), c)) in got.into_iter().zip(plain).zip(c).enumerate() {
        keeps_scale([got, plain, c]).map_err(|e| format!("{m} x {n} x {k}: index {i}: {e}"))?;
    }
    Ok(())
}

/// Whether `got` is half of `plain` and three times `c`, rounded in another order: three roundings
/// of terms of this size.
fn keeps_scale([got, plain, c]: [f32; 3]) -> Outcome {
    let want = plain.mul_add(0.5, 3.0 * c);
    let bound = 4.0 * f32::EPSILON * (plain.abs() + 3.0 * c.abs());
    ensure!((got - want).abs() <= bound, "{got}, not {want}");
    Ok(())
}

/// `alpha A B + beta C` costs no kernel beyond the product's own.
pub(super) async fn alpha_and_beta(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let mut pool = Pool::new(&device, DType::F32, 9).await?;
    // Whole quads of columns; ragged ones, which are added up; k split.
    for [m, n, k] in [[40, 64, 24], [17, 31, 40], [8, 64, 4000]] {
        let sides = [pool.lying(0, &[], m, k), pool.lying(0, &[], k, n), pool.lying(0, &[], m, n)];
        let [a, b, c] = sides.map(|side| side.map_err(show));
        let (a, b, c) = (a?, b?, c?);
        let product = || a.matmul(&b);
        let both = (product().map_err(show)? * 0.5f32).and_then(|p| p + (&c * 3.0f32)?);
        let both = both.map_err(show)?;
        let place = format!("{m} x {n} x {k}");
        // Kernels before the first product are the same for both.
        let kernels = |t: &Tensor| t.explain().kernels.len();
        let alone = kernels(&product().map_err(show)?);
        ensure_eq!(kernels(&both), alone, "{place}: {}", both.explain());
        let plain = product().map_err(show)?.read::<f32>().await.map_err(show)?;
        let c = c.read::<f32>().await.map_err(show)?;
        let got = both.read::<f32>().await.map_err(show)?;
        count();
        for (i, ((got, plain), c)) in got.into_iter().zip(plain).zip(c).enumerate() {
            keeps_scale([got, plain, c]).map_err(|e| format!("{place}: index {i}: {e}"))?;
        }
    }
    Ok(())
}
