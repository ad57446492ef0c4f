//! Sums whose operands have something in common. A compiler may think that nothing is infinite and
//! nothing overflows, and cancel it or put it outside brackets.

use wharf::{Device, Result, Tensor};

use crate::cases::pair::count;
use crate::cases::views::TARGETS;
use crate::ctx::{Ctx, Outcome, ensure, show};

/// An expression of three tensors, and what it comes to: with each step rounded, and with none,
/// which is as far as a driver can go that rounds a product and a sum at once.
struct Form {
    name: &'static str,
    of: fn(&[Tensor; 3]) -> Result<Tensor>,
    rounded: fn([f32; 3]) -> f32,
    unrounded: fn([f64; 3]) -> f64,
}

macro_rules! forms {
    ($($name:literal: $of:expr, |$numbers:pat_param| $sum:expr;)*) => {
        &[$(Form {
            name: $name,
            of: $of,
            rounded: |$numbers| $sum,
            unrounded: |$numbers| $sum,
        }),*]
    };
}

#[expect(clippy::eq_op, reason = "nothing is the least that two sides share")]
const FORMS: &[Form] = forms! {
    "x - x": |[x, ..]| x - x, |[x, ..]| x - x;
    "x + y - x": |[x, y, _]| (x + y)? - x, |[x, y, _]| (x + y) - x;
    "x - (x + y)": |[x, y, _]| x - (x + y)?, |[x, y, _]| x - (x + y);
    "x + y + z - x": |[x, y, z]| ((x + y)? + z)? - x, |[x, y, z]| ((x + y) + z) - x;
    "-x + x": |[x, ..]| (-x)? + x, |[x, ..]| -x + x;
    "x z + y z": |[x, y, z]| (x * z)? + (y * z)?, |[x, y, z]| x * z + y * z;
    "x / 2 + y / 2": |[x, y, _]| (x * 0.5)? + (y * 0.5)?, |[x, y, _]| x * 0.5 + y * 0.5;
    "x x - x y": |[x, y, _]| x.square()? - (x * y)?, |[x, y, _]| x * x - x * y;
    "x (1 / x)": |[x, ..]| x * x.recip()?, |[x, ..]| x * x.recip();
    "x - fract x": |[x, ..]| x - x.fract()?, |[x, ..]| x - (x - x.floor());
    "1 / sqrt x / sqrt y": |[x, y, _]| x.rsqrt()? * y.rsqrt()?,
        |[x, y, _]| (1.0 / x.sqrt()) * (1.0 / y.sqrt());
    "silu(x) y": |[x, y, _]| x.clamp(-3.0, 3.0)?.silu()? * y,
        |[x, y, _]| x.clamp(-3.0, 3.0) / (1.0 + (-x.clamp(-3.0, 3.0)).exp()) * y;
    "from x to x": |[x, _, z]| x.lerp(x, z), |[x, _, z]| x + z * (x - x);
    "(x - y) z + y": |[x, y, z]| (x - y)?.mul_add(z, y), |[x, y, z]| (x - y) * z + y;
};

const VALUES: [f32; 8] = [0.0, 1.0, 0.5, -3.0, 3e38, -3e38, f32::INFINITY, f32::NAN];

pub(super) async fn sums(ctx: &Ctx) -> Outcome {
    for target in TARGETS {
        of(&ctx.native().await?.with_target(target)).await?;
    }
    Ok(())
}

async fn of(device: &Device) -> Outcome {
    let n = VALUES.len();
    let all: Vec<[f32; 3]> =
        (0..n.pow(3)).map(|i| [VALUES[i / n / n], VALUES[i / n % n], VALUES[i % n]]).collect();
    let operand = |at: usize| {
        let values: Vec<f32> = all.iter().map(|numbers| numbers[at]).collect();
        device.upload(&values, [values.len()]).map(|(x, _)| x).map_err(show)
    };
    let operands = [operand(0)?, operand(1)?, operand(2)?];
    for Form { name, of, rounded, unrounded } in FORMS {
        let got = of(&operands).map_err(show)?.read::<f32>().await.map_err(show)?;
        count();
        for (numbers, got) in all.iter().zip(got) {
            let want = rounded(*numbers);
            let or = unrounded(numbers.map(f64::from));
            let most = numbers.iter().fold(1.0, |most, x| f64::from(x.abs()).max(most));
            let near = |want: f64| (f64::from(got) - want).abs() <= most * most.min(9.0) * 1e-6;
            let right = if want.is_finite() {
                near(want.into())
            } else if or.is_finite() {
                // Infinite by rounding alone, at whichever step: or not, in another order.
                !got.is_finite() || near(or)
            } else {
                let same = |want: f64| f64::from(got) == want || (got.is_nan() && want.is_nan());
                same(want.into()) || same(or)
            };
            ensure!(right, "{name} of {numbers:?} for {:?}: {got}, not {want}", device.target());
        }
    }
    Ok(())
}
