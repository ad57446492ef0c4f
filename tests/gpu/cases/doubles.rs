//! Spaces large enough to be computed two quads at a time: every stored form, every tail, offsets
//! that fall between quads and between pairs of them, results in place of their operands.

use wharf::{Adapter, DType, Tensor};

use super::pair::{COMPUTED, count};
use crate::ctx::{Case, Ctx, DOWNGRADES, Downgrade, Outcome, case, ensure, matters, show};

/// The fewest elements for which a kernel works by pairs of quads.
const LEAST: usize = 1 << 16;

pub(crate) fn cases(adapter: &Adapter) -> Vec<Case> {
    let mut cases = Vec::new();
    for &downgrade in DOWNGRADES.iter().filter(|d| matters(adapter, **d)) {
        let name = downgrade.name;
        let offsets = case!(format!("doubles::offsets::{name}"), |ctx| offsets(ctx, downgrade));
        cases.push(offsets);
        for &dtype in COMPUTED {
            let case = format!("doubles::{dtype}::{name}");
            cases.push(
                case!(case, |ctx| tails(ctx, downgrade, dtype)).needs(adapter, downgrade, dtype),
            );
        }
    }
    cases
}

/// Small whole numbers, which every dtype but bool has.
fn number(i: usize) -> i32 {
    (i % 11) as i32
}

/// Reads all of a tensor back as f32: what lies around the result must not change either.
async fn expect(of: &str, got: &Tensor, want: impl Fn(usize) -> i32) -> Outcome {
    let got = got.cast(DType::F32).map_err(show)?.read::<f32>().await.map_err(show)?;
    let wrong = got.iter().enumerate().find(|(i, got)| **got != want(*i) as f32);
    ensure!(wrong.is_none(), "{of}: element {wrong:?}");
    Ok(())
}

async fn tails(ctx: &Ctx, downgrade: Downgrade, dtype: DType) -> Outcome {
    let device = ctx.device(downgrade).await?;
    for tail in 0..=8 {
        let n = LEAST + tail;
        let numbers: Vec<i32> = (0..n).map(number).collect();
        let x = device.upload(&numbers, [n]).map_err(show)?.0;
        let y = x.cast(dtype).map_err(show)?;
        let truth = |n: i32| if dtype == DType::Bool { i32::from(n != 0) } else { n };
        expect(&format!("{n} as {dtype}"), &y, |i| truth(number(i))).await?;
        if dtype == DType::Bool {
            expect(&format!("not {n}"), &(!&y).map_err(show)?, |i| 1 - truth(number(i))).await?;
        } else {
            let sum = (&y + &y).map_err(show)?;
            expect(&format!("twice {n} {dtype}"), &sum, |i| 2 * number(i)).await?;
            // Nobody else holds the operand, so the result may be stored in its memory.
            let own = (sum + 1).map_err(show)?;
            expect(&format!("{n} {dtype} in place"), &own, |i| 2 * number(i) + 1).await?;
        }
        count();
    }
    Ok(())
}

async fn offsets(ctx: &Ctx, downgrade: Downgrade) -> Outcome {
    let device = ctx.device(downgrade).await?;
    let n = LEAST + 64;
    let numbers: Vec<f32> = (0..n).map(|i| number(i) as f32).collect();
    let bytes: Vec<u8> = (0..n).map(|i| number(i) as u8).collect();
    let x = device.upload(&numbers, [n]).map_err(show)?.0;
    let b = device.upload(&bytes, [n]).map_err(show)?.0;
    for from in [0, 4, 8, 12, 16, 32, 3] {
        let part = from..from + LEAST + 5;
        let sum = (x.slice(0, part.clone()).map_err(show)? + 1).map_err(show)?;
        expect(&format!("from {from}"), &sum, |i| number(i + from) + 1).await?;
        // Two forms in one kernel, one of which begins at another offset.
        let bytes = b.slice(0, part.clone()).and_then(|b| b.cast(DType::F32)).map_err(show)?;
        let mixed = (&bytes + &x.slice(0, 0..part.len()).map_err(show)?).map_err(show)?;
        expect(&format!("u8 from {from}"), &mixed, |i| number(i + from) + number(i)).await?;
        count();
    }
    // With a row, a column and a single number.
    let (rows, columns) = (257, 256);
    let grid = x.slice(0, 0..LEAST).and_then(|x| x.reshape([rows - 1, columns])).map_err(show)?;
    let row = x.slice(0, 8..8 + columns).map_err(show)?;
    let column = x.slice(0, 3..2 + rows).and_then(|c| c.reshape([rows - 1, 1])).map_err(show)?;
    let one = x.slice(0, 5..6).map_err(show)?;
    let sum = ((&(&grid + &row).map_err(show)? + &column).map_err(show)? + &one).map_err(show)?;
    let want = |i| number(i) + number(8 + i % columns) + number(3 + i / columns) + 5;
    expect("a row, a column and a number", &sum.reshape([LEAST]).map_err(show)?, want).await?;
    count();
    Ok(())
}
