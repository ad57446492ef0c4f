//! Flat convolutions, which a processor takes for images that fill its tiles: ragged lines and
//! strips of rows, groups, dilations, several images, more terms than a chunk has, views.

use wharf::{Adapter, DType, Target};

use super::{DOWNGRADES, Downgrade, Form, Random, check, pair};
use super::{Move::Flip, Move::Permute, matters};
use crate::ctx::{Case, Ctx, Outcome, case, ensure};

fn forms() -> Vec<Form> {
    let channels_last = [Permute(vec![0, 3, 1, 2])];
    vec![
        // Strips of 16 rows, and of 8; lines of the result that are whole quads.
        Form::of(&[2, 3, 16, 16], &[16, 3, 3, 3]).padding(&[1, 1]),
        Form::of(&[2, 6, 16, 20], &[44, 3, 3, 3]).padding(&[1, 1]).groups(2),
        // More workgroups than a row of the grid has, and one for nothing.
        Form::of(&[3, 2, 32, 32], &[24, 2, 3, 3]).padding(&[1, 1]),
        // Stored by elements; the last tile reads beyond the last line.
        Form::of(&[1, 3, 20, 13], &[9, 3, 3, 3]).padding(&[1, 1]),
        Form::of(&[3, 2, 14, 15], &[8, 2, 3, 4]),
        Form::of(&[1, 2, 20, 18], &[8, 2, 5, 5]).padding(&[4, 4]).dilation(&[2, 2]),
        // Two chunks of channels, the second shorter.
        Form::of(&[1, 90, 8, 16], &[8, 90, 1, 3]).padding(&[0, 1]),
        Form::of(&[1, 40, 12, 16], &[24, 40, 3, 3]).padding(&[1, 1]),
        Form::of(&[2, 3, 100], &[8, 3, 5]).padding(&[2]),
        Form::of(&[1, 2, 16, 16], &[8, 2, 3, 1]).padding(&[1, 0]).dilation(&[1, usize::MAX >> 8]),
        Form::of(&[1, 1, 16, 24], &[8, 1, 1, 9]).padding(&[0, 4]),
        Form::of(&[2, 12, 20, 3], &[16, 3, 3, 3])
            .padding(&[1, 1])
            .moved(&channels_last, &[Flip(0), Flip(3)]),
        Form::of(&[1, 3, 1, 16, 16], &[8, 3, 1, 3, 3]).padding(&[0, 1, 1]),
    ]
}

pub(super) fn cases(adapter: &Adapter) -> Vec<Case> {
    let kept = |d: &&Downgrade| ["native", "baseline"].contains(&d.name) && matters(adapter, **d);
    let each = |&downgrade: &Downgrade| {
        [DType::F32, DType::F16, DType::Bf16].map(|dtype| {
            let name = format!("conv::flat::{dtype}::{}", downgrade.name);
            case!(name, |ctx| run(ctx, downgrade, dtype)).needs(adapter, downgrade, dtype)
        })
    };
    DOWNGRADES.iter().filter(kept).flat_map(each).collect()
}

async fn run(ctx: &Ctx, downgrade: Downgrade, dtype: DType) -> Outcome {
    let device = ctx.device(downgrade).await?;
    let mut random = Random::new(31);
    for target in [Target::Cpu, Target::Cpu64] {
        let device = device.with_target(target);
        let few = if dtype == DType::F32 { usize::MAX } else { 3 };
        for form in forms().into_iter().take(few) {
            let place = |e: &dyn std::fmt::Display| format!("{form:?} for {target:?}: {e}");
            let x = pair(&device, &mut random, dtype, (&form.input, &form.moved)).await?;
            let w = pair(&device, &mut random, dtype, (&form.weight, &form.turned)).await?;
            let y = form.apply(&x.tensor, &w.tensor, None).map_err(|e| place(&e))?;
            let plan = y.explain().to_string();
            ensure!(plan.contains("flat convolution"), "{}", place(&plan));
            check(dtype, &form, [&x, &w], &y).await.map_err(|e| place(&e))?;
        }
    }
    Ok(())
}
