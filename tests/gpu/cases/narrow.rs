//! Floats of 16 bits are computed in 32: what looks at them finds what is stored, whether somebody
//! has read them before or not.

use wharf::custom::Formula;
use wharf::{Adapter, DType, Device, Result, Tensor};

use super::pair::count;
use crate::ctx::{Case, Ctx, DOWNGRADES, Outcome, case, ensure_eq, show};

pub(crate) fn cases(adapter: &Adapter) -> Vec<Case> {
    let one = |dtype: DType| {
        let name = format!("narrow::what_is_looked_at_is_what_is_read::{dtype}");
        case!(name, |ctx| looked_at(ctx, dtype)).needs(adapter, DOWNGRADES[0], dtype)
    };
    [DType::F16, DType::Bf16].into_iter().map(one).collect()
}

type Look = fn(&Tensor) -> Result<Tensor>;

/// Everything that tells apart what the dtype stores alike.
const LOOKS: &[(&str, Look)] = &[
    ("eq", |y| y.eq(2048.0)),
    ("ne", |y| y.ne(256.0)),
    ("gt", |y| y.gt(2048.0)),
    ("le", |y| y.le(256.0)),
    ("is_finite", Tensor::is_finite),
    ("floor", Tensor::floor),
    ("sign", Tensor::sign),
    ("rem", |y| y.rem(2.0)),
    ("a cast to i32", |y| y.cast(DType::I32)),
    ("a cast to f32", |y| y.cast(DType::F32)),
    ("a choice by what is finite", |y| y.is_finite()?.choose(1.0, &(y * 0.0)?)),
    ("acos", Tensor::acos),
    ("a power", |y| y.powers_of(-1.0)),
    ("a formula", |y| y.apply(&Formula::new("whole(x)", "floor(x)")?, &[])),
    ("argmax", |y| y.argmax(-1)),
    ("any", |y| y.any(-1)),
    ("count_nonzero", |y| y.count_nonzero(-1)),
    ("sum", |y| y.sum(-1)),
];

/// A number of it between two that f16 has, one between two that bf16 has, one beyond f16's range,
/// and one that is stored as 1.
fn made(x: &Tensor) -> Result<Tensor> {
    (x * x)? + 1.0
}

async fn looked_at(ctx: &Ctx, dtype: DType) -> Outcome {
    let device = ctx.native().await?;
    let numbers = |device: &Device, row: &[f32]| {
        device.upload(row, [1, row.len()]).and_then(|(x, _)| x.cast(dtype))
    };
    let elementwise = numbers(&device, &[45.254_834, 16.0, 300.0, 2048.0, 1e-4, 0.015_625, 0.0]);
    // Numbers that f16 stores as zero, and one that is stored as 2.
    let few = numbers(&device, &[1e-4, 2e-4, 1.414_062_5, 300.0, 16.0, 0.0]).map_err(show)?;
    let elementwise = elementwise.map_err(show)?;
    // Into rows of whole quads and of others: the one is the product's own tail.
    let wide = (device.ones([2, 8], DType::F32), numbers(&device, &[2048.0, 1.0]));
    let (ones, row) = (wide.0.and_then(|x| x.cast(dtype)).map_err(show)?, wide.1.map_err(show)?);
    let product = |columns: usize| row.matmul(&ones.at((.., ..columns))?);
    let makers: [(&str, &dyn Fn() -> Result<Tensor>); 4] = [
        ("a square and 1", &|| made(&elementwise)),
        ("a square", &|| few.square()),
        ("a product", &|| product(8)),
        ("a product of odd rows", &|| product(5)),
    ];
    for (what, make) in makers {
        for (name, look) in LOOKS {
            let unread = make().and_then(|y| look(&y)).map_err(show)?;
            let unread =
                unread.cast(DType::F32).map_err(show)?.read::<f32>().await.map_err(show)?;
            let y = make().map_err(show)?;
            y.compute().map_err(show)?;
            let read = look(&y).and_then(|z| z.cast(DType::F32)).map_err(show)?;
            let read = read.read::<f32>().await.map_err(show)?;
            count();
            let bits = |all: &[f32]| all.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            ensure_eq!(bits(&unread), bits(&read), "{name} of {what}, unread and read");
        }
    }
    Ok(())
}
