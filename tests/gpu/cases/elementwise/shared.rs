//! Sums whose operands have something in common. A compiler may think that nothing is infinite and
//! nothing overflows, and cancel it or put it outside brackets.

use wharf::{Device, Result, Tensor};

use crate::cases::pair::count;
use crate::cases::views::TARGETS;
use crate::ctx::{Ctx, Outcome, ensure, show};

type Numbers = [f32; 3];

/// An expression of three tensors, and what it comes to step by step.
struct Form {
    name: &'static str,
    of: fn(&[Tensor; 3]) -> Result<Tensor>,
    exact: fn(Numbers) -> f32,
}

#[expect(clippy::eq_op, reason = "nothing is the least that two sides share")]
const FORMS: &[Form] = &[
    Form { name: "x - x", of: |[x, ..]| x - x, exact: |[x, ..]| x - x },
    Form { name: "x + y - x", of: |[x, y, _]| (x + y)? - x, exact: |[x, y, _]| (x + y) - x },
    Form { name: "x - (x + y)", of: |[x, y, _]| x - (x + y)?, exact: |[x, y, _]| x - (x + y) },
    Form {
        name: "x + y + z - x",
        of: |[x, y, z]| ((x + y)? + z)? - x,
        exact: |[x, y, z]| ((x + y) + z) - x,
    },
    Form { name: "-x + x", of: |[x, ..]| (-x)? + x, exact: |[x, ..]| -x + x },
    Form {
        name: "x z + y z",
        of: |[x, y, z]| (x * z)? + (y * z)?,
        exact: |[x, y, z]| x * z + y * z,
    },
    Form {
        name: "x / 2 + y / 2",
        of: |[x, y, _]| (x * 0.5)? + (y * 0.5)?,
        exact: |[x, y, _]| x * 0.5 + y * 0.5,
    },
    Form {
        name: "x x - x y",
        of: |[x, y, _]| x.square()? - (x * y)?,
        exact: |[x, y, _]| x * x - x * y,
    },
    Form {
        name: "(x - y) z + y",
        of: |[x, y, z]| (x - y)?.mul_add(z, y),
        exact: |[x, y, z]| (x - y) * z + y,
    },
];

const VALUES: [f32; 8] = [0.0, 1.0, 0.5, -3.0, 3e38, -3e38, f32::INFINITY, f32::NAN];

pub(super) async fn sums(ctx: &Ctx) -> Outcome {
    for target in TARGETS {
        of(&ctx.native().await?.with_target(target)).await?;
    }
    Ok(())
}

async fn of(device: &Device) -> Outcome {
    let n = VALUES.len();
    let all: Vec<Numbers> =
        (0..n.pow(3)).map(|i| [VALUES[i / n / n], VALUES[i / n % n], VALUES[i % n]]).collect();
    let operand = |at: usize| {
        let values: Vec<f32> = all.iter().map(|numbers| numbers[at]).collect();
        device.upload(&values, [values.len()]).map(|(x, _)| x).map_err(show)
    };
    let operands = [operand(0)?, operand(1)?, operand(2)?];
    for Form { name, of, exact } in FORMS {
        let got = of(&operands).map_err(show)?.read::<f32>().await.map_err(show)?;
        count();
        for (numbers, got) in all.iter().zip(got) {
            let want = exact(*numbers);
            // A product and a sum may be rounded at once, so that less is out of range.
            let near = f64::from(got) - f64::from(want);
            let most = numbers.iter().fold(1.0, |most, x| f64::from(x.abs()).max(most));
            let right = if numbers.iter().all(|x| x.is_finite()) && !want.is_finite() {
                !got.is_finite()
            } else if want.is_finite() {
                near.abs() <= most * most.min(9.0) * 1e-6
            } else {
                got == want || (got.is_nan() && want.is_nan())
            };
            ensure!(right, "{name} of {numbers:?} for {:?}: {got}, not {want}", device.target());
        }
    }
    Ok(())
}
