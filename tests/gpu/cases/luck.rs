//! Kernels that are right by luck: on this driver, or where memory is fresh. `check` finds them on
//! every one; and kernels over integers are held to their oracle as well.

use wharf::custom::{CheckReport, Contract, Formula, Kernel};
use wharf::{DType, Device, ErrorKind};

use crate::ctx::{Case, Ctx, DOWNGRADES, Outcome, case, ensure, ensure_eq, show};

pub(crate) fn cases() -> Vec<Case> {
    vec![
        case!("luck::what_is_right_here_only_is_found", |ctx| luck(ctx)),
        case!("luck::what_is_right_everywhere_passes", |ctx| merit(ctx)),
        case!("luck::integers_are_counted", |ctx| integers(ctx)),
        case!("luck::operands_are_those_of_the_contract", |ctx| operands(ctx)),
    ]
}

/// The body of a kernel from x to y, as many elements as there are, and what it means to be.
type Row = (&'static str, fn(&[f64]) -> Vec<f64>);

fn kernel(body: &str) -> Result<Kernel, String> {
    let text = format!(
        "@group(0) @binding(0) var<storage> x: array<f32>;
         @group(0) @binding(1) var<storage, read_write> y: array<f32>;
         var<workgroup> w: array<f32, 64>;

         fn next(i: u32) -> f32 {{ return x[i + 1u]; }}

         @compute @workgroup_size(64)
         fn k(@builtin(global_invocation_id) at: vec3<u32>,
              @builtin(local_invocation_index) l: u32) {{
             let i = at.x;
             let n = arrayLength(&x);
             {body}
         }}"
    );
    Kernel::from_wgsl("k", &text).map_err(show)
}

/// The next element of each, and this behind the last.
fn next(x: &[f64], behind: f64) -> Vec<f64> {
    x[1..].iter().copied().chain([behind]).collect()
}

/// Past the end: zero, the last element, or nothing.
const LUCK: &[Row] = &[
    ("if i < n { y[i] = x[i + 1u]; }", |x| next(x, 0.0)),
    ("if i < n { y[i] = next(i); }", |x| next(x, x[x.len() - 1])),
    ("y[i] = 2.0 * x[i];", |x| x.iter().map(|x| 2.0 * x).collect()),
    ("if i < n { y[i] = 1.0; } else { y[i] = 2.0; }", |x| vec![1.0; x.len()]),
    ("if i < n { y[i] = x[i32(i) - 1]; }", |x| [&[0.0], &x[..x.len() - 1]].concat()),
    ("w[l] = f32(l); workgroupBarrier(); if i < n { y[i] = w[l + 1u]; }", |x| {
        (0..x.len()).map(|i| (i % 64 + 1).min(63) as f64).collect()
    }),
    ("if i < n && x[i] > 0.0 { y[i] = x[i]; }", |x| x.iter().map(|x| x.max(0.0)).collect()),
];

const MERIT: &[Row] = &[
    ("if i < n { y[i] = select(0.0, x[i + 1u], i + 1u < n); }", |x| next(x, 0.0)),
    ("if i < n { y[i] = x[min(i + 1u, n - 1u)]; }", |x| next(x, x[x.len() - 1])),
    ("if i < n { y[i] = 1.0; y[i] *= 2.0 * x[ /* ] */ i]; }", |x| {
        x.iter().map(|x| 2.0 * x).collect()
    }),
    (
        "w[l] = select(0.0, x[i], i < n); workgroupBarrier();
         if i < n { y[i] = w[min(l, 63u - (63u - l))] + 0.0 * x[0]; }",
        <[f64]>::to_vec,
    ),
];

async fn checked(device: &Device, (body, oracle): Row, most: f64) -> Result<CheckReport, String> {
    let contract = Contract::ulp(0.0).on(-most..=most);
    let kernel = kernel(body)?;
    let findings = kernel.check(
        device,
        &contract,
        |all| oracle(&all[0]),
        |run, n, dtype| run.create("y", [n], dtype).threads([n, 1, 1]),
    );
    findings.await.map_err(show)
}

async fn luck(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let mut lucky = 0;
    for &(body, oracle) in LUCK {
        // As it would be tried by hand.
        let fresh = ctx.fresh(DOWNGRADES[0]).await?;
        let data: Vec<f32> = (0..100).map(|i| (i % 7) as f32 - 3.0).collect();
        let (x, _) = fresh.upload(&data, [100]).map_err(show)?;
        let kernel = kernel(body)?;
        let run = fresh.run(&kernel).read("x", &x).create("y", [100], DType::F32);
        let [y] = run.threads([100, 1, 1]).record().map_err(show)?;
        let got = y.read::<f32>().await.map_err(show)?;
        let want = oracle(&data.iter().map(|x| f64::from(*x)).collect::<Vec<_>>());
        lucky += usize::from(got.iter().zip(&want).all(|(got, want)| f64::from(*got) == *want));

        let findings = checked(&device, (body, oracle), 1e6).await?;
        ensure!(!findings.is_right(), "{body}: {findings}");
    }
    // Nothing but zeros was ever in that memory.
    let fresh = ctx.fresh(DOWNGRADES[0]).await?;
    let nothing: Row = ("if i < n && x[i] > 1.0 { y[i] = 1.0; }", |x| vec![0.0; x.len()]);
    let findings = checked(&fresh, nothing, 0.0).await?;
    ensure!(findings.wrong == findings.results, "what is left out is no zero: {findings}");
    // The first and the second are right together nowhere.
    ensure!((2..LUCK.len()).contains(&lucky), "{lucky} of {} are right here", LUCK.len());
    Ok(())
}

async fn merit(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    for &row in MERIT {
        let findings = checked(&device, row, 1e6).await?;
        ensure!(findings.is_right(), "{}: {findings}", row.0);
        ensure_eq!(findings.dtypes, [DType::F32], "{}", row.0);
    }
    Ok(())
}

async fn integers(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let text = |step: &str| {
        format!(
            "@group(0) @binding(0) var<storage> x: array<V>;
             @group(0) @binding(1) var<storage, read_write> y: array<V>;

             @compute @workgroup_size(32)
             fn main(@builtin(global_invocation_id) at: vec3<u32>) {{
                 let e = 4u * at.x + vec4<u32>(0u, 1u, 2u, 3u);
                 store_y(at.x, load_x(length_x() - 1u - e) {step});
             }}"
        )
    };
    let exact = |all: &[Vec<i128>]| all[0].iter().rev().map(|x| 3 * x + 1).collect();
    for (step, is_right) in [("* V(3) + V(1)", true), ("* V(3) + V(2)", false)] {
        let kernel = Kernel::from_wgsl("back", &text(step)).map_err(show)?;
        let findings = kernel.check_integers(&device, .., exact, |run, n, dtype| {
            run.create("y", [n], dtype).threads([n.div_ceil(4), 1, 1])
        });
        let findings = findings.await.map_err(show)?;
        ensure_eq!(findings.is_right(), is_right, "{findings}");
        ensure!(findings.dtypes.contains(&DType::I8), "{findings}");
        ensure!(!findings.dtypes.contains(&DType::F32), "{findings}");
    }
    // Floats in, integers out: what the oracle says is an integer then.
    let signs = Kernel::from_wgsl(
        "signs",
        "@group(0) @binding(0) var<storage> x: array<f32>;
         @group(0) @binding(1) var<storage, read_write> y: array<i32>;
         @compute @workgroup_size(64)
         fn main(@builtin(global_invocation_id) at: vec3<u32>) {
             if at.x < arrayLength(&y) { y[at.x] = select(i32(sign(x[at.x])), 7, x[at.x] == 3.0); }
         }",
    )
    .map_err(show)?;
    for (three, is_right) in [(7.0, true), (1.0, false)] {
        let exact = |all: &[Vec<f64>]| {
            let sign = |x: &f64| match *x {
                3.0 => three,
                0.0 => 0.0,
                x => x.signum(),
            };
            all[0].iter().map(sign).collect()
        };
        let contract = Contract::ulp(0.0).on(-1e6..=1e6);
        let findings = signs.check(&device, &contract, exact, |run, n, _| {
            run.create("y", [n], DType::I32).threads([n, 1, 1])
        });
        let findings = findings.await.map_err(show)?;
        ensure_eq!(findings.is_right(), is_right, "{findings}");
    }
    let none = signs.check_integers(&device, 0..5, |_| Vec::new(), |run, _, _| run).await;
    let error = none.err().ok_or("floats were given integers")?;
    ensure_eq!(error.kind(), ErrorKind::DType, "{error}");
    let want = "signs: there is nothing to check: it reads nothing that integers of that range can \
                be given to";
    ensure_eq!(error.to_string(), want, "what it takes");
    Ok(())
}

/// A dtype that ends within the range is tried as far as it goes, and one that ends before it is
/// not.
async fn operands(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    let same = Kernel::from_wgsl(
        "same",
        "@group(0) @binding(0) var<storage> x: array<V>;
         @group(0) @binding(1) var<storage, read_write> y: array<V>;
         @compute @workgroup_size(64)
         fn same(@builtin(global_invocation_id) at: vec3<u32>) {
             store_y(at.x, load_x(4u * at.x + vec4<u32>(0u, 1u, 2u, 3u)));
         }",
    );
    let contract = Contract::ulp(0.0).on(-1e5..=1e5);
    let beyond = std::cell::Cell::new(None);
    let exact = |all: &[Vec<f64>]| {
        let found = all[0].iter().copied().find(|x| x.abs() > 1e5);
        beyond.set(found.or(beyond.get()));
        all[0].clone()
    };
    let same = same.map_err(show)?;
    let verdict = same.check(&device, &contract, exact, |run, n, dtype| {
        run.create("y", [n], dtype).threads([n.div_ceil(4), 1, 1])
    });
    let verdict = verdict.await.map_err(show)?;
    ensure_eq!(beyond.get(), None, "an operand beyond 1e5");
    ensure!(verdict.dtypes.contains(&DType::F16), "{verdict}");
    let (same, contract) = (Formula::new("same(x)", "x"), contract.on(1e5..=1e6));
    let verdict = same.map_err(show)?.check(&device, &contract, |x| x[0]).await.map_err(show)?;
    ensure!(verdict.is_right() && !verdict.dtypes.contains(&DType::F16), "{verdict}");
    Ok(())
}
