//! Products whose sides are copied into strips first.

use super::*;

pub(super) fn cases(adapter: &Adapter) -> Vec<Case> {
    let mut cases = Vec::new();
    for (i, &dtype) in [DType::F32, DType::F16, DType::I8, DType::I64].iter().enumerate() {
        let by = By::Strips([[8, 4, 8, 1], [4, 1, 8, 2], [8, 1, 8, 1], [4, 2, 8, 1]][i]);
        let case = case!(format!("matmul::{dtype}::strips"), |ctx| tiled(ctx, dtype, by, i as u64));
        cases.push(case.needs(adapter, DOWNGRADES[0], dtype));
    }
    cases.push(case!("matmul::strips_without_room", |ctx| strips_without_room(ctx)));
    cases
}

/// Where there is no memory for copies of the sides, they are read where they lie.
async fn strips_without_room(ctx: &Ctx) -> Outcome {
    let device = ctx.fresh(DOWNGRADES[0]).await?;
    let (rows, columns) = (64, 1 << 16);
    let a = device.full([rows, columns], DType::F32, 2.0f32).map_err(show)?;
    let b = device.full([columns, 4], DType::F32, 3.0f32).map_err(show)?;
    a.compute().and_then(|()| b.compute()).and_then(|()| device.trim()).map_err(show)?;
    for spare in [columns * 4, usize::MAX] {
        let room = (device.memory().bytes_reserved).saturating_add(spare as u64);
        device.set_cap(Some(room));
        let product = By::Strips([8, 1, 8, 1]).product(&a, &b).map_err(show)?;
        let got = product.read::<f32>().await.map_err(show)?;
        let want = 6.0 * columns as f32;
        ensure!(got.iter().all(|&got| got == want), "{spare} bytes to spare: {:?}", got.first());
        let peak = device.memory().bytes_reserved_peak;
        ensure!(peak <= room, "{peak} bytes, of {room}");
    }
    Ok(())
}
