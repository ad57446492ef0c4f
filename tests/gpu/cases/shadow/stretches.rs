//! What jumps or turns where it is applied to what was rounded: the value may lie on either side of
//! an edge, and nothing that is right is called wrong.

use wharf::shadow::ShadowPolicy;
use wharf::{DType, Result, Target, Tensor};

use crate::cases::pair::count;
use crate::ctx::{Ctx, DOWNGRADES, Outcome, ensure, show};

const ROWS: usize = 300;

type Compute = fn(&Tensor) -> Result<Tensor>;
type Make = fn(&[Tensor; 3]) -> Result<Tensor>;

/// Each has an edge, a peak or a pole that some of the values meet.
#[rustfmt::skip]
const OPERATIONS: &[(&str, Compute)] = &[
    ("eq", |y| y.eq(1.0)), ("ne", |y| y.ne(30.0)), ("eq 0", |y| y.eq(0.0)),
    ("choose", |y| y.eq(7.0)?.choose_as(2.5, 1.5, DType::F32)),
    ("lt", |y| y.lt(10.0)), ("le", |y| y.le(10.0)), ("gt", |y| y.gt(0.0)), ("ge", |y| y.ge(3.0)),
    ("sign", Tensor::sign), ("floor", Tensor::floor), ("ceil", Tensor::ceil),
    ("round", Tensor::round), ("trunc", Tensor::trunc), ("fract", Tensor::fract),
    ("rem", |y| y.rem(0.5)), ("rem_floor", |y| y.rem_floor(1.0)), ("of", |y| y.rem_floor(-3.0)),
    ("i32", |y| y.cast(DType::I32)), ("u8", |y| y.cast(DType::U8)),
    ("tens", |y| y.cast(DType::I32)?.div(10)), ("bool", |y| y.cast(DType::Bool)),
    ("sin", Tensor::sin), ("cos", Tensor::cos), ("tan", Tensor::tan),
    ("recip", Tensor::recip), ("pow", |y| y.pow(-1.0)), ("pow 2", |y| y.pow(2.0)),
    ("powers_of", |y| y.powers_of(-2.0)), ("atan2", |y| y.atan2(-1.0)), ("abs", Tensor::abs),
    ("sqrt", Tensor::sqrt), ("rsqrt", Tensor::rsqrt), ("ln", Tensor::ln),
    ("log1p", Tensor::log1p), ("asin", Tensor::asin), ("acos", Tensor::acos),
    ("acosh", Tensor::acosh), ("atanh", Tensor::atanh), ("cosh", Tensor::cosh),
    ("gelu", Tensor::gelu), ("gelu_tanh", Tensor::gelu_tanh), ("silu", Tensor::silu),
    ("mish", Tensor::mish), ("hard_swish", Tensor::hard_swish), ("relu", Tensor::relu),
];

/// What they are applied to: of 1, 2 and so on, and of rows with sums in the thousands and around
/// zero.
#[rustfmt::skip]
const OPERANDS: &[(&str, Make)] = &[
    ("tenths", |[x, ..]| x * 0.1),
    ("thirds", |[x, ..]| x * (1.0 / 3.0)),
    ("sevenths below zero", |[x, ..]| x / -7.0),
    ("hundredths", |[x, ..]| x * 0.01),
    ("hundredths below zero", |[x, ..]| x * -0.01),
    ("tenths around zero", |[x, ..]| (x * 0.1)? - 10.0),
    ("zeros of the other sign", |[x, ..]| ((x * 0.1)? - 10.0)? * -1.0),
    ("large sums", |[_, rows, _]| rows.sum(1)),
    ("small sums", |[.., rows]| rows.sum(1)),
];

pub(super) async fn none_convicted(ctx: &Ctx) -> Outcome {
    let device = ctx.fresh(DOWNGRADES[0]).await?.with_target(Target::Cpu);
    let x: Vec<f32> = (1..=ROWS).map(|i| i as f32).collect();
    let element = |i: usize| (i % 1009 * ((i + 7) % 1009) * 856 % 1009) as f32 / 17.0;
    let large: Vec<f32> = (0..8 * ROWS).map(|i| 400.0 + element(i)).collect();
    let small =
        |i: usize| (700.0 + element(i) / 30.0) * if i.is_multiple_of(2) { 1.0 } else { -1.0 };
    let small: Vec<f32> = (0..8 * ROWS).map(small).collect();
    let [(x, _), (large, _), (small, _)] = [
        device.upload(&x, [ROWS]).map_err(show)?,
        device.upload(&large, [ROWS, 8]).map_err(show)?,
        device.upload(&small, [ROWS, 8]).map_err(show)?,
    ];
    let given = [x, large, small];
    let (mut judged, mut elements, mut wrong) = (0, 0, String::new());
    for (operand, of) in OPERANDS {
        for (operation, compute) in OPERATIONS {
            let shadow = device.shadow(ShadowPolicy::all());
            let result = of(&given).and_then(|y| compute(&y)).map_err(show)?;
            result.compute().map_err(show)?;
            let report = shadow.report().await.map_err(show)?;
            if let Some(found) = &report.wrong {
                wrong += &format!("\n{operation} of {operand}: {found}");
            }
            judged += report.judged;
            elements += report.elements;
        }
    }
    count();
    ensure!(wrong.is_empty(), "{wrong}");
    ensure!(judged * 10 > elements * 9, "only {judged} of {elements} are judged");
    Ok(())
}
