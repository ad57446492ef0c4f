//! Formulas: operations of the user's own, fused, on every view and dtype, and the check that
//! authors hold them to.

use wharf::custom::{Contract, Formula};
use wharf::{Adapter, DType, ErrorKind};

use super::views::TARGETS;
use crate::ctx::{Case, Ctx, Outcome, case, ensure, ensure_eq, show};

pub(crate) fn cases(_: &Adapter) -> Vec<Case> {
    vec![
        case!("formulas::right_ones_pass", |ctx| right(ctx)),
        case!("formulas::integers_wrap", |ctx| integers(ctx)),
        case!("formulas::wrong_ones_are_found", |ctx| wrong(ctx)),
        case!("formulas::a_wrong_third_operand_is_found", |ctx| third(ctx)),
        case!("formulas::one_kernel_with_what_stands_around", |ctx| fused(ctx)),
        case!("formulas::names_of_the_librarys_are_the_users_own", |ctx| names(ctx)),
        case!("formulas::loops", |ctx| loops(ctx)),
        case!("formulas::what_they_do_not_take", |ctx| refused(ctx)),
    ]
}

/// A signature, a body, how far off it may be, up to which operands, and what it should be.
type Right = (&'static str, &'static str, f64, f64, fn(&[f64]) -> f64);

const RIGHT: &[Right] = &[
    ("swish2(x, b)", "x * sigmoid(b * x)", 8.0, 4.0, |x| x[0] / (1.0 + (-x[0] * x[1]).exp())),
    ("mean(a, b, c)", "(a + b + c) / 3.0", 4.0, 1e3, |x| (x[0] + x[1] + x[2]) / 3.0),
    ("ramp(x)", "let y = max(x, V(0.0));\nreturn min(y, V(1.0));", 0.0, f64::INFINITY, |x| {
        if x[0].is_nan() { f64::NAN } else { x[0].clamp(0.0, 1.0) }
    }),
    // A loop, and a choice for each element.
    (
        "steps(x)",
        "var n = V(0.0);\nfor (var i = 0u; i < 4u; i++) {\n    \
         n = select(n, n + 1.0, x > V(E(i)));\n}\nreturn n;",
        0.0,
        f64::INFINITY,
        |x| [0.0, 1.0, 2.0, 3.0].iter().filter(|&&i| x[0] > i).count() as f64,
    ),
    ("inside(x, y) -> bool", "x * x + y * y < V(1.0)", 0.0, 0.5, |x| {
        f64::from(x[0].mul_add(x[0], x[1] * x[1]) < 1.0)
    }),
];

async fn right(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    for &(signature, body, ulp, end, oracle) in RIGHT {
        let formula = Formula::new(signature, body).map_err(show)?;
        // Where terms cancel, the units are those of the largest operand.
        let unit = if end.is_finite() { end * f64::from(f32::EPSILON) } else { 0.0 };
        let contract = Contract::ulp(ulp).or(ulp * unit).on(-end..=end);
        let verdict = formula.check(&device, &contract, oracle).await.map_err(show)?;
        ensure!(verdict.is_right(), "{verdict}");
        ensure!(verdict.dtypes.contains(&DType::Bf16), "{verdict}");
        ensure!(verdict.results > 30_000, "{verdict}");
    }
    Ok(())
}

async fn integers(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let mix = Formula::new("mix2(x, y)", "x * 3 + y").map_err(show)?;
    let verdict = mix.check_integers(&device, |x| x[0] * 3 + x[1]).await.map_err(show)?;
    ensure!(verdict.is_right(), "{verdict}");
    ensure!(verdict.dtypes.contains(&DType::I8), "small integers wrap: {verdict}");
    let both = Formula::new("both(x, y)", "x & y").map_err(show)?;
    let verdict = both.check_integers(&device, |x| x[0] & x[1]).await.map_err(show)?;
    ensure!(verdict.is_right(), "{verdict}");
    ensure!(verdict.dtypes.contains(&DType::Bool), "{verdict}");
    Ok(())
}

/// Each is wrong somewhere else: everywhere, at the special values, in one lane, in the sixth
/// digit.
const WRONG: &[&str] = &[
    "x * 2.0 + 1.0",
    "select(x, V(0.0), is_nan(x))",
    "vec4(x.xyz, x.z)",
    "x * 1.000001",
    "select(x, V(1.0), x == V(0.5))",
];

async fn wrong(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    for wrong in WRONG {
        let formula = Formula::new("f(x)", wrong).map_err(show)?;
        let verdict = formula.check(&device, &Contract::ulp(1.0), |x| x[0]).await.map_err(show)?;
        ensure!(!verdict.is_right(), "{wrong} passed: {verdict}");
        let text = verdict.to_string();
        ensure!(text.contains("results wrong, the first f("), "{text}");
    }
    Ok(())
}

/// As many trips of a formula's as llvmpipe makes, beside many quads, and before a sum.
async fn loops(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let body = "var s = V(0.0);\nfor (var i = 0u; i < 2000u; i++) { s = s * 0.5 + x; }\nreturn s;";
    let f = Formula::new("f(x)", body).map_err(show)?;
    let data: Vec<f32> = (0..1 << 17).map(|i| (i % 1000) as f32).collect();
    for device in TARGETS.map(|target| device.with_target(target)) {
        let (x, _) = device.upload(&data, [128, 1 << 10]).map_err(show)?;
        let y = x.apply(&f, &[]).map_err(show)?;
        let sums = y.sum(1).map_err(show)?.read::<f32>().await.map_err(show)?;
        let got = y.read::<f32>().await.map_err(show)?;
        let near = |got: f32, want: f32| (got - want).abs() <= 1e-5 * want;
        let wrong = got.iter().zip(&data).position(|(&got, &x)| !near(got, 2.0 * x));
        ensure_eq!(wrong, None, "doubled for {:?}", device.target());
        let rows = data.chunks(1 << 10).map(|row| 2.0 * row.iter().sum::<f32>());
        let wrong = sums.iter().zip(rows).position(|(&got, want)| !near(got, want));
        ensure_eq!(wrong, None, "summed for {:?}", device.target());
    }
    Ok(())
}

/// Wrong for some special values of the third operand, in any company.
async fn third(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    for wrong in ["select(y, x, is_nan(z))", "select(y, x, (z == V(10.0)) & (y == V(3.0)))"] {
        let formula = Formula::new("f(x, y, z)", wrong).map_err(show)?;
        let verdict = formula.check(&device, &Contract::ulp(0.0), |v| v[1]).await.map_err(show)?;
        ensure!(!verdict.is_right(), "{wrong} passed: {verdict}");
    }
    Ok(())
}

async fn fused(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let f = Formula::new("f(x, y)", "x * y + 1.0").map_err(show)?;
    let g = Formula::new("g(x)", "square(x) - 2.0").map_err(show)?;
    let (x, _) = device.upload(&[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0], [2, 3]).map_err(show)?;
    let shifted = (&x - 1.0).map_err(show)?;
    let y = shifted.apply(&f, &[2.0.into()]).and_then(|y| y.apply(&g, &[])).map_err(show)?;
    let y = (&y + &y).map_err(show)?;
    let plan = y.explain();
    ensure!(plan.dispatches() == 1, "{} dispatches", plan.dispatches());
    let want: Vec<f32> = [1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0]
        .iter()
        .map(|x| 2.0 * (((x - 1.0) * 2.0 + 1.0) * ((x - 1.0) * 2.0 + 1.0) - 2.0))
        .collect();
    let got = y.read::<f32>().await.map_err(show)?;
    ensure!(got == want, "{got:?}, not {want:?}");

    // As the head and as the tail of a core.
    let total = x.apply(&g, &[]).and_then(|y| y.sum(1)).map_err(show)?;
    let total = total.apply(&f, &[0.5.into()]).map_err(show)?;
    let plan = total.explain();
    ensure!(plan.dispatches() == 1, "{} dispatches", plan.dispatches());
    let got = total.read::<f32>().await.map_err(show)?;
    ensure!(got == [5.0, 36.5], "{got:?}");
    let product = x.matmul(&x.t().map_err(show)?).and_then(|p| p.apply(&g, &[])).map_err(show)?;
    let got = product.read::<f32>().await.map_err(show)?;
    ensure!(got == [194.0, 1022.0, 1022.0, 5927.0], "{got:?}");
    Ok(())
}

/// The body's names are not those of wharf's functions, though they look the same.
async fn names(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let body = "let elements = rank + 1.0;\nlet index = elements * 2.0;\nreturn index + q;";
    let f = Formula::new("part(rank, q)", body).map_err(show)?;
    let (x, _) = device.upload(&[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0], [3, 2]).map_err(show)?;
    let turned = x.t().map_err(show)?;
    let y = turned.apply(&f, &[(&turned).into()]).map_err(show)?;
    let got = y.read::<f32>().await.map_err(show)?;
    ensure!(got == [5.0, 11.0, 17.0, 8.0, 14.0, 20.0], "{got:?}");
    Ok(())
}

async fn refused(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let f = Formula::new("f(x, y)", "x * sigmoid(y)").map_err(show)?;
    let (x, _) = device.upload(&[1.0f32, 2.0], [2]).map_err(show)?;
    let (n, _) = device.upload(&[1, 2], [2]).map_err(show)?;
    let errors = [
        (x.apply(&f, &[]), ErrorKind::Argument, "f: operands given: 1, taken: 2"),
        (n.apply(&f, &[2.into()]), ErrorKind::DType, "f does not exist for i32"),
        (x.apply(&f, &[(&n).into()]), ErrorKind::DType, "f: apply: dtypes differ: f32 and i32"),
    ];
    for (result, kind, text) in errors {
        let error = result.err().ok_or_else(|| format!("no error, not {text}"))?;
        ensure!(error.to_string() == text, "{error}, not {text}");
        ensure!(error.kind() == kind, "{error}");
    }
    let f = Formula::new("f(x)", "x << vec4<u32>(1u)").map_err(show)?;
    let nothing = f.check(&device, &Contract::ulp(1.0), |x| x[0]).await;
    ensure!(nothing.is_err(), "shifts of no float were checked");
    Ok(())
}
