//! Convolutions by tiles in workgroup memory, which a GPU takes where there are rows, channels and
//! pixels to share: tiles that are not filled, channels that are no whole stages, several chunks.
//!
//! It takes many workgroups to be chosen: most are of small images, of a few pixels each.

use wharf::reference::{Exact, Number, matmul_keeps};
use wharf::tensor::Conv;
use wharf::{Adapter, DType, Target};

use super::{DOWNGRADES, Downgrade, Form, Random, check, pair};
use super::{Move::Flip, Move::Permute, matters};
use crate::ctx::{Case, Ctx, Outcome, case, ensure, show};

/// A form by name, and the rows of its tiles.
type Named = (&'static str, Form, u32);

fn forms() -> Vec<Named> {
    let channels_last = [Permute(vec![0, 3, 1, 2])];
    let steps = Form::of(&[512, 32, 4, 6], &[48, 16, 2, 3]).stride(&[1, 2]).dilation(&[2, 1]);
    let turned = Form::of(&[64, 8, 8, 10], &[24, 10, 3, 3]).padding(&[1, 1]);
    vec![
        ("half_a_tile", Form::of(&[64, 8, 8, 8], &[16, 8, 3, 3]).padding(&[1, 1]), 32),
        // Images of no whole quads, rows of no whole tile, a stage and a bit.
        ("ragged", Form::of(&[350, 17, 4, 4], &[20, 17, 2, 2]), 32),
        ("groups_steps_and_dilations", steps.groups(2), 32),
        // Two quads of rows to a lane, more stages than a chunk has: whole ones, and not.
        ("two_chunks", Form::of(&[2048, 32, 3, 3], &[36, 32, 3, 3]), 64),
        ("ragged_chunks", Form::of(&[2048, 9, 3, 6], &[36, 9, 3, 6]), 64),
        ("three_tiles", Form::of(&[180, 12, 4, 4], &[68, 12, 2, 3]), 32),
        ("three_axes", Form::of(&[1024, 8, 2, 3, 4], &[16, 8, 2, 3, 3]), 32),
        ("turned", turned.moved(&channels_last, &[Flip(0), Flip(3)]), 32),
        ("one_axis", Form::of(&[1024, 20, 3], &[128, 20, 3]), 64),
    ]
}

/// A few small images and many terms, whose windows a GPU copies.
fn deep() -> Vec<Form> {
    let channels_last = [Permute(vec![0, 3, 1, 2])];
    let steps = Form::of(&[2, 132, 6, 5], &[34, 66, 4, 2]).stride(&[1, 2]).dilation(&[1, 2]);
    let turned = Form::of(&[1, 5, 6, 64], &[20, 64, 3, 3]).padding(&[1, 1]);
    vec![
        Form::of(&[1, 128, 7, 7], &[40, 128, 3, 3]).padding(&[1, 1]),
        Form::of(&[3, 57, 4, 4], &[16, 57, 3, 3]).padding(&[0, 1]),
        Form::of(&[1, 600, 2], &[17, 600, 2]),
        Form::of(&[2, 64, 2, 3, 4], &[16, 64, 1, 3, 3]),
        steps.groups(2),
        turned.moved(&channels_last, &[Flip(0), Flip(3)]),
    ]
}

pub(super) fn cases(adapter: &Adapter) -> Vec<Case> {
    let mut cases = Vec::new();
    for &downgrade in DOWNGRADES.iter().filter(|d| matters(adapter, **d)) {
        let of = |dtype: DType, names: &'static [&'static str]| {
            let name = format!("conv::group::{dtype}::{}", downgrade.name);
            case!(name, |ctx| run(ctx, downgrade, dtype, names.to_vec()))
                .needs(adapter, downgrade, dtype)
        };
        match downgrade.name {
            "native" => {
                for (name, ..) in forms() {
                    cases.push(case!(format!("conv::group::{name}"), |ctx| {
                        run(ctx, downgrade, DType::F32, vec![name])
                    }));
                }
                for dtype in [DType::F32, DType::F16, DType::I32] {
                    let name = format!("conv::group::deep::{dtype}");
                    let case = case!(name, |ctx| by_windows(ctx, dtype));
                    cases.push(case.needs(adapter, downgrade, dtype));
                }
                let narrow = [DType::F16, DType::Bf16, DType::I32, DType::U8];
                cases.extend(narrow.map(|dtype| of(dtype, &["half_a_tile", "ragged"])));
            }
            "baseline" => {
                cases.push(of(DType::F32, &["half_a_tile", "groups_steps_and_dilations"]));
                cases.push(of(DType::F16, &["half_a_tile", "ragged"]));
            }
            _ => {}
        }
    }
    cases.push(case!("conv::group::many_terms", |ctx| many_terms(ctx)));
    cases
}

/// Twenty thousand equal terms: one sum after the other would be far beyond the bound.
async fn many_terms(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?.with_target(Target::Gpu);
    let (images, rows, terms) = (1024, 16, 20_000);
    let one = device.ones([1; 4], DType::F32).map_err(show)?;
    let x = one.broadcast_to([images, terms / 4, 2, 2]).map_err(show)?;
    let w = device.full([rows, terms / 4, 2, 2], 0.1, DType::F32).map_err(show)?;
    let y = x.conv2d(&w, None, &Conv::new()).map_err(show)?;
    ensure!(y.explain().to_string().contains("by workgroup tiles"), "it is the other kernel");
    let want = f64::from(0.1f32) * terms as f64;
    let exact = Exact { value: Number::Float(want), scale: want };
    for got in y.read::<f32>().await.map_err(show)? {
        let kept = matmul_keeps(DType::F32, terms, exact, Number::Float(got.into()));
        ensure!(kept, "{got}, not {want}");
    }
    Ok(())
}

async fn by_windows(ctx: &Ctx, dtype: DType) -> Outcome {
    let device = ctx.native().await?.with_target(Target::Gpu);
    let mut random = Random::new(44);
    for form in deep() {
        let place = |e: &dyn std::fmt::Display| format!("{form:?}: {e}");
        let x = pair(&device, &mut random, dtype, (&form.input, &form.moved)).await?;
        let w = pair(&device, &mut random, dtype, (&form.weight, &form.turned)).await?;
        let y = form.apply(&x.tensor, &w.tensor, None).map_err(|e| place(&e))?;
        let plan = y.explain().to_string();
        let multiplied = plan.contains("matmul by") && !plan.contains("convolution by");
        ensure!(multiplied, "{}", place(&plan));
        check(dtype, &form, [&x, &w], &y).await.map_err(|e| place(&e))?;
    }
    Ok(())
}

async fn run(ctx: &Ctx, downgrade: Downgrade, dtype: DType, names: Vec<&str>) -> Outcome {
    let device = ctx.device(downgrade).await?.with_target(Target::Gpu);
    let mut random = Random::new(43);
    for (_, form, rows) in forms().into_iter().filter(|(name, ..)| names.contains(name)) {
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
