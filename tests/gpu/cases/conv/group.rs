//! Convolutions by tiles in workgroup memory, which a GPU takes where there are rows, channels and
//! pixels to share: tiles that are not filled, channels that are no whole stages, several chunks.
//!
//! It takes many workgroups to be chosen: most are of small images, of a few pixels each.

use wharf::{Adapter, DType, Target};

use super::{DOWNGRADES, Downgrade, Form, Random, check, pair};
use super::{Move::Flip, Move::Permute, matters};
use crate::ctx::{Case, Ctx, Outcome, case, ensure};

/// Forms, and the rows of their tiles.
fn forms() -> Vec<(Form, u32)> {
    let channels_last = [Permute(vec![0, 3, 1, 2])];
    vec![
        // Half a stage of channels, rows for half a tile.
        (Form::of(&[64, 8, 8, 8], &[16, 8, 3, 3]).padding(&[1, 1]), 32),
        // Images of no whole quads, rows of no whole tile, a stage and a bit.
        (Form::of(&[350, 17, 4, 4], &[20, 17, 2, 2]), 32),
        // Groups, steps and dilations; whole stages.
        (
            Form::of(&[512, 32, 4, 6], &[32, 16, 2, 3]).stride(&[1, 2]).dilation(&[2, 1]).groups(2),
            32,
        ),
        // Two quads of rows to a lane: more stages than a chunk has, whole ones and not.
        (Form::of(&[2048, 32, 3, 3], &[36, 32, 3, 3]), 64),
        (Form::of(&[2048, 9, 3, 6], &[36, 9, 3, 6]), 64),
        (Form::of(&[180, 12, 4, 4], &[68, 12, 2, 3]), 32),
        (Form::of(&[1024, 8, 2, 3, 4], &[16, 8, 2, 3, 3]), 32),
        (
            Form::of(&[64, 8, 8, 10], &[24, 10, 3, 3])
                .padding(&[1, 1])
                .moved(&channels_last, &[Flip(0), Flip(3)]),
            32,
        ),
        (Form::of(&[1024, 20, 3], &[128, 20, 3]), 64),
    ]
}

pub(super) fn cases(adapter: &Adapter) -> Vec<Case> {
    let dtypes = [DType::F32, DType::F16, DType::Bf16, DType::I32, DType::U8];
    let kept = |d: &&Downgrade| ["native", "baseline"].contains(&d.name) && matters(adapter, **d);
    let each = |&downgrade: &Downgrade| {
        let few = if downgrade.name == "native" { dtypes.len() } else { 2 };
        dtypes.into_iter().take(few).map(move |dtype| {
            let name = format!("conv::group::{dtype}::{}", downgrade.name);
            case!(name, |ctx| run(ctx, downgrade, dtype)).needs(adapter, downgrade, dtype)
        })
    };
    DOWNGRADES.iter().filter(kept).flat_map(each).collect()
}

async fn run(ctx: &Ctx, downgrade: Downgrade, dtype: DType) -> Outcome {
    let device = ctx.device(downgrade).await?.with_target(Target::Gpu);
    let mut random = Random::new(43);
    let few = match (dtype, downgrade.name) {
        (DType::F32, "native") => usize::MAX,
        (DType::F32, _) => 3,
        _ => 2,
    };
    for (form, rows) in forms().into_iter().take(few) {
        let place = |e: &dyn std::fmt::Display| format!("{form:?}: {e}");
        let x = pair(&device, &mut random, dtype, (&form.input, &form.moved)).await?;
        let w = pair(&device, &mut random, dtype, (&form.weight, &form.turned)).await?;
        let y = form.apply(&x.tensor, &w.tensor, None).map_err(|e| place(&e))?;
        let plan = y.explain().to_string();
        let by = format!("by workgroup tiles of {rows} channels");
        ensure!(plan.contains(&by), "{}", place(&plan));
        check(dtype, &form, [&x, &w], &y).await.map_err(|e| place(&e))?;
    }
    Ok(())
}
