//! Products whose sides are copied first, into strips or sheets; and fused ones.

use super::*;

pub(super) fn cases(adapter: &Adapter) -> Vec<Case> {
    let mut cases = Vec::new();
    for (i, &dtype) in [DType::F32, DType::F16, DType::I8, DType::I64].iter().enumerate() {
        let by = By::Strips([[8, 4, 8, 1], [4, 1, 8, 2], [8, 1, 8, 1], [4, 2, 8, 1]][i]);
        let case = case!(format!("matmul::{dtype}::strips"), |ctx| tiled(ctx, dtype, by, i as u64));
        cases.push(case.needs(adapter, DOWNGRADES[0], dtype));
    }
    let sums = [[8, 2, 8, 1], [4, 1, 8, 2], [2, 2, 8, 1]];
    let each = [DType::F32, DType::F16, DType::I32].into_iter().zip(sums);
    for (i, (dtype, sums)) in each.enumerate() {
        for (name, by) in [("fused", By::Fused(sums)), ("sheets", By::Sheets(sums))] {
            let case = case!(format!("matmul::{dtype}::{name}"), |ctx| {
                tiled(ctx, dtype, by, 7 + i as u64)
            });
            cases.push(case.needs(adapter, DOWNGRADES[0], dtype));
        }
    }
    cases.push(case!("matmul::chunks", |ctx| chunks(ctx)));
    cases.push(case!("matmul::without_room", |ctx| without_room(ctx)));
    cases.push(case!("matmul::of_all_the_axes_there_are", |ctx| of_all_axes(ctx)));
    cases.push(case!("matmul::as_a_later_operand", |ctx| later(ctx)));
    cases.push(case!("matmul::strips_copied_once", |ctx| copied_once(ctx)));
    cases
}

/// Where there is no memory for copies of the sides, or for sums of several passes, a product needs
/// none beside its result.
async fn without_room(ctx: &Ctx) -> Outcome {
    let by = [By::Strips([8, 1, 8, 1]), By::Tile([4, 2, 8, 8]), By::Sheets([8, 1, 8, 1])];
    let sizes = [[64, 1 << 16, 4], [512, 4096, 512], [4, 1 << 16, 64]];
    for (by, [m, k, n]) in by.into_iter().zip(sizes) {
        let device = ctx.fresh(DOWNGRADES[0]).await?;
        let a = device.full([m, k], 2.0f32, DType::F32).map_err(show)?;
        let b = device.full([k, n], 3.0f32, DType::F32).map_err(show)?;
        a.compute().and_then(|()| b.compute()).and_then(|()| device.trim()).map_err(show)?;
        for spare in [(3 << 19), usize::MAX] {
            let room = (device.memory().bytes_reserved).saturating_add(spare as u64);
            device.set_cap(Some(room));
            let product = by.product(&a, &b).map_err(show)?;
            let got = product.read::<f32>().await.map_err(show)?;
            let want = 6.0 * k as f32;
            ensure!(got.iter().all(|&got| got == want), "{by:?}, {spare}: {:?}", got.first());
            let peak = device.memory().bytes_reserved_peak;
            ensure!(peak <= room, "{by:?}: {peak} bytes, of {room}");
        }
    }
    Ok(())
}

/// What follows a product names it after operands of other dtypes.
async fn later(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let of = |rows: usize, columns: usize, x: f32| {
        device.full([rows, columns], x, DType::F32).map_err(show)
    };
    let product = of(5, 7, 2.0)?.matmul(&of(7, 8, 3.0)?).map_err(show)?;
    let (whole, _) = device.upload(&[100i32, 1, 2, 3, 4, 5, 6, 7], [8]).map_err(show)?;
    let (some, _) = device.upload(&[true, false].repeat(4), [8]).map_err(show)?;
    let made = || {
        let apart = (whole.cast(DType::F32)? - &product)?;
        some.choose(&apart, &product)
    };
    let got = made().map_err(show)?.read::<f32>().await.map_err(show)?;
    let want = [58.0, 42.0, -40.0, 42.0, -38.0, 42.0, -36.0, 42.0];
    ensure_eq!(got, want.repeat(5), "numbers less a product, or the product");
    Ok(())
}

/// Where a side has no axis left for strips, and would be copied otherwise.
async fn of_all_axes(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let of = |[rows, columns]: [usize; 2], x: f32| {
        let dims = [1, 1, 1, 1, 1, 1, rows, columns];
        device.full(dims, x, DType::F32).map_err(show)
    };
    let product = of([64, 512], 2.0)?.matmul(&of([512, 256], 3.0)?).map_err(show)?;
    let got = product.read::<f32>().await.map_err(show)?;
    ensure!(got.iter().all(|got| *got == 6.0 * 512.0), "{:?}", got.first());
    Ok(())
}

/// What several panels read is copied for the first of them.
async fn copied_once(ctx: &Ctx) -> Outcome {
    let small =
        DOWNGRADES.iter().find(|d| d.name == "small_bindings").ok_or("no such downgrade")?;
    let device = ctx.fresh(*small).await?;
    let side = 1024;
    let [a, b] = [2.0f32, 3.0].map(|x| device.full([side, 512], x, DType::F32));
    let (a, b) = (a.map_err(show)?, b.map_err(show)?);
    a.compute().and_then(|()| b.compute()).and_then(|()| device.trim()).map_err(show)?;
    let before = device.memory().bytes_reserved;
    let product = By::Strips([8, 2, 8, 1]).product(&a, &b.t().map_err(show)?).map_err(show)?;
    let corner = product.at((0..1, 0..1)).map_err(show)?.read::<f32>().await.map_err(show)?;
    ensure_eq!(corner, [6.0 * 512.0], "a corner");
    let more = device.memory().bytes_reserved_peak - before;
    // The result has twice the bytes of a side; and there is some rounding.
    let bytes = (4 * side * side + 2 * 4 * side * 512) as u64;
    ensure!(more <= bytes * 3 / 2, "{more} bytes for a result and two copies of {bytes}");
    Ok(())
}

/// Terms that are all rounded down by almost half a unit: sums are as short as the contract says.
async fn chunks(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let k = 1024;
    let mut terms = vec![1.0 + 0.49 * 2f32.powi(-13); k];
    terms[0] = 1024.0;
    let (a, b) =
        (vec![1.0f32; 2 * k], terms.iter().flat_map(|&term| [term; 4]).collect::<Vec<_>>());
    let (a, b) =
        (device.upload(&a, [2, k]).map_err(show)?.0, device.upload(&b, [k, 4]).map_err(show)?.0);
    let want = terms.iter().map(|&term| f64::from(term)).sum::<f64>();
    let sums = [2, 1, 8, 1];
    let ways = [By::Tile(sums), By::Strips([4, 1, 8, 1]), By::Fused(sums), By::Sheets(sums)];
    for by in ways {
        let got = by.product(&a, &b).map_err(show)?.read::<f32>().await.map_err(show)?;
        let exact = reference::Exact { value: Number::Float(want), scale: want };
        let got = Number::Float(got[0].into());
        ensure!(matmul_keeps(DType::F32, k, exact, got), "{by:?}: {got:?}, not {want}");
    }
    Ok(())
}
