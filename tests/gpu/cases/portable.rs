//! Kernels over arrays of `V`: one text for every dtype, however the adapter stores it.

use wharf::custom::{Contract, Kernel};
use wharf::{Adapter, DType, Device};

use super::pair::NUMBERS;
use super::views::TARGETS;
use crate::ctx::{
    Case, Ctx, DOWNGRADES, Downgrade, Outcome, case, ensure, ensure_eq, matters, show,
};

pub(crate) fn cases(adapter: &Adapter) -> Vec<Case> {
    let lowered = DOWNGRADES.iter().filter(|downgrade| matters(adapter, **downgrade));
    let dtypes = lowered.map(|&downgrade| {
        let name = format!("portable::every_dtype::{}", downgrade.name);
        case!(name, |ctx| every_dtype(ctx, downgrade))
    });
    let rest = [
        case!("portable::operations_and_forms_mix", |ctx| mixed(ctx)),
        case!("portable::past_the_end", |ctx| past(ctx)),
        case!("portable::lengths_of_five", |ctx| lengths(ctx)),
        case!("portable::arrays_of_any_name", |ctx| names(ctx)),
        case!("portable::checked", |ctx| checked(ctx)),
    ];
    dtypes.chain(rest).collect()
}

/// Each element, three times, and one further on, around the end.
const TURNED: &str = "
    struct Told { shift: u32, times: u32 }
    @group(0) @binding(0) var<uniform> told: Told;
    @group(0) @binding(1) var<storage> x: array<V>;
    @group(0) @binding(2) var<storage, read_write> y: array<V>;

    @compute @workgroup_size(32)
    fn turned(@builtin(global_invocation_id) at: vec3<u32>) {
        let n = length_x();
        if 4u * at.x >= n { return; }
        let e = 4u * at.x + vec4<u32>(0u, 1u, 2u, 3u);
        store_y(at.x, load_x((e + told.shift) % n) + load_x(e) * E(told.times));
    }";

async fn every_dtype(ctx: &Ctx, downgrade: Downgrade) -> Outcome {
    let device = &ctx.device(downgrade).await?;
    let kernel = &Kernel::from_wgsl("turned", TURNED).map_err(show)?;
    let mut tried = 0;
    for &dtype in NUMBERS {
        if device.plan().carriage(dtype).stored != Some(dtype) {
            continue;
        }
        for target in TARGETS {
            let device = &device.with_target(target);
            for n in [1, 3, 4, 63, 1000, 1021] {
                turned(device, kernel, dtype, n).await.map_err(|e| format!("{dtype}: {e}"))?;
                tried += 1;
            }
        }
    }
    ensure!(tried >= 12 * 9, "{tried} runs of f32, f16, bf16 and six integers at least");
    Ok(())
}

async fn turned(device: &Device, kernel: &Kernel, dtype: DType, n: usize) -> Outcome {
    let data: Vec<f32> = (0..n).map(|i| (i % 11) as f32).collect();
    // A view that is not dense, of elements that begin anywhere.
    let (whole, _) = device.upload(&data, [n]).map_err(show)?;
    let x = whole.cast(dtype).and_then(|x| x.flip(0)).map_err(show)?;
    let run = device.run(kernel).read("x", &x).create("y", [n], dtype);
    let run = run.set(&[2u32, 3]).threads([n.div_ceil(4), 1, 1]);
    let [y] = run.record().map_err(show)?;
    let got = y.cast(DType::F32).map_err(show)?.read::<f32>().await.map_err(show)?;
    let at = |i: usize| data[n - 1 - i];
    let want: Vec<f32> = (0..n).map(|i| at((i + 2) % n) + 3.0 * at(i)).collect();
    ensure_eq!(got, want, "{n} elements");
    Ok(())
}

/// Floats of several widths in one run, wharf's functions, and a uniform that is wharf's alone.
async fn mixed(ctx: &Ctx) -> Outcome {
    let text = "
        @group(0) @binding(0) var<storage> x: array<V>;
        @group(0) @binding(1) var<storage, read> b: array<V>;
        @group(0) @binding(2) var<storage> places: array<u32>;
        @group(0) @binding(3) var<storage, read_write> y: array<V>;
        @group(0) @binding(4) var<storage, read_write> counts: array<u32>;

        @compute @workgroup_size(64)
        fn picked(@builtin(global_invocation_id) at: vec3<u32>) {
            if 4u * at.x >= length_y() { return; }
            let e = vec4<u32>(4u * at.x) + vec4<u32>(0u, 1u, 2u, 3u);
            let at_places = vec4<u32>(places[e.x], places[e.y], places[e.z], places[e.w]);
            let b = op_max(op_maximum(load_b(e), V(0.5)), V(0.5));
            store_y(at.x, op_sigmoid(load_x(at_places)) * b);
            counts[at.x] = length_x() + 10u * length_b() + 1000u * length_y();
        }";
    let device = ctx.native().await?;
    let run = async || {
        let kernel = Kernel::from_wgsl("picked", text)?;
        let (x, _) = device.upload(&[-1.0f32, 0.0, 2.0], [3])?;
        let (b, _) = device.upload(&[1.0f32, 0.25, 3.0, 4.0, 0.0], [5])?;
        let (places, _) = device.upload(&[2u32, 1, 0, 1, 2, 0, 0, 0], [8])?;
        let run = device.run(&kernel).read("x", &x.cast(DType::F16)?).read("b", &b);
        let run = run.read("places", &places).create("y", [5], DType::Bf16);
        let [y, counts] = run.create("counts", [2], DType::U32).threads([2, 1, 1]).record()?;
        Ok::<_, wharf::Error>((
            y.cast(DType::F32)?.read::<f32>().await?,
            counts.read::<u32>().await?,
        ))
    };
    let (got, counts) = run().await.map_err(show)?;
    let want = [0.8808f32, 0.25, 0.8068, 2.0, 0.4404];
    let near = got.iter().zip(want).all(|(got, want)| (got - want).abs() < want / 128.0);
    ensure!(near && got.len() == 5, "{got:?}, not {want:?}");
    ensure_eq!(counts, [5053, 5053], "lengths");
    Ok(())
}

/// What lies past the end is the last element, and is not stored.
async fn past(ctx: &Ctx) -> Outcome {
    let text = "
        @group(0) @binding(0) var<storage> x: array<V>;
        @group(0) @binding(1) var<storage, read_write> y: array<V>;

        @compute @workgroup_size(64)
        fn past(@builtin(global_invocation_id) at: vec3<u32>) {
            store_y(at.x, load_x(vec4<u32>(0u, 4u, 5u, 4294967295u) + at.x));
        }";
    let device = ctx.native().await?;
    let run = async || {
        let kernel = Kernel::from_wgsl("past", text)?;
        let (x, _) = device.upload(&[1i8, 2, 3, 4, 5, 6], [6])?;
        let x = x.at(..5)?;
        let [y] = device
            .run(&kernel)
            .read("x", &x)
            .create("y", [8], DType::I8)
            .groups([1; 3])
            .record()?;
        y.read::<i8>().await
    };
    ensure_eq!(run().await.map_err(show)?, [1, 5, 5, 5, 2, 5, 5, 1], "of five");
    Ok(())
}

/// The length of the fifth is the first of a second quad.
async fn lengths(ctx: &Ctx) -> Outcome {
    const NAMES: [&str; 5] = ["a", "b", "c", "d", "f"];
    let arrays: String = (0..)
        .zip(NAMES)
        .map(|(at, name)| format!("@group(0) @binding({at}) var<storage> {name}: array<V>;\n"))
        .collect();
    let told: String =
        (0..).zip(NAMES).map(|(at, name)| format!("y[{at}] = length_{name}(); ")).collect();
    let text = format!(
        "{arrays}
         @group(0) @binding(5) var<storage, read_write> y: array<u32>;
         @compute @workgroup_size(1) fn lengths() {{ {told} }}"
    );
    let device = ctx.native().await?;
    let run = async || {
        let kernel = Kernel::from_wgsl("lengths", &text)?;
        let all: Vec<_> = (1..=NAMES.len())
            .map(|n| device.ones([n], DType::F32))
            .collect::<Result<_, wharf::Error>>()?;
        let run = device.run(&kernel).create("y", [NAMES.len()], DType::U32);
        let run = NAMES.iter().zip(&all).fold(run, |run, (name, x)| run.read(name, x));
        let [y] = run.groups([1; 3]).record()?;
        y.read::<u32>().await
    };
    ensure_eq!(run().await.map_err(show)?, [1, 2, 3, 4, 5], "of five");
    Ok(())
}

/// Also of those that the functions which reach them once had inside.
async fn names(ctx: &Ctx) -> Outcome {
    let device = ctx.native().await?;
    for (from, to) in [("e", "q"), ("place", "v"), ("q", "place"), ("v", "e")] {
        let text = format!(
            "@group(0) @binding(0) var<storage> {from}: array<V>;
             @group(0) @binding(1) var<storage, read_write> {to}: array<V>;
             @compute @workgroup_size(1) fn copied() {{
                 store_{to}(0u, load_{from}(vec4<u32>(3u, 2u, 1u, 0u)));
             }}"
        );
        let run = async || {
            let kernel = Kernel::from_wgsl("copied", &text)?;
            let (x, _) = device.upload(&[1.0f32, 2.0, 3.0, 4.0], [4])?;
            let run = device.run(&kernel).read(from, &x).create(to, [4], DType::F32);
            let [y] = run.groups([1; 3]).record()?;
            y.read::<f32>().await
        };
        ensure_eq!(run().await.map_err(show)?, [4.0, 3.0, 2.0, 1.0], "{from} to {to}");
    }
    Ok(())
}

/// A right kernel is right for every float, and each mistake is found.
async fn checked(ctx: &Ctx) -> Outcome {
    let text = |end: &str, before: &str, weight: &str| {
        format!(
            "@group(0) @binding(0) var<storage> x: array<V>;
             @group(0) @binding(1) var<storage> b: array<V>;
             @group(0) @binding(2) var<storage, read_write> y: array<V>;

             @compute @workgroup_size(32)
             fn lag(@builtin(global_invocation_id) at: vec3<u32>) {{
                 let e = 4u * at.x + vec4<u32>(0u, 1u, 2u, 3u);
                 if {end} >= length_x() {{ return; }}
                 let before = select(load_x({before}), V(0.0), e == vec4<u32>(0u));
                 store_y(at.x, load_b(e) - {weight} * before);
             }}"
        )
    };
    let exact = |all: &[Vec<f64>]| -> Vec<f64> {
        let before = [&[0.0], &all[0][..]].concat();
        all[1].iter().zip(before).map(|(b, before)| b - 0.5 * before).collect()
    };
    let device = ctx.native().await?;
    let contract = Contract::ulp(1.0).or(1e-3).on(-1000.0..=1000.0);
    for (end, before, weight, is_right) in [
        ("e.x", "e - 1u", "0.5", true),
        ("e.w", "e - 1u", "0.5", false), // leaves out what is no whole quad
        ("e.x", "e", "0.5", false),
        ("e.x", "e - 1u", "0.498", false),
        ("e.x", "e - 1u", "E(select(0.5, 0.0, at.x > 2000u))", false), // late in a long one
    ] {
        let lag = Kernel::from_wgsl("lag", &text(end, before, weight)).map_err(show)?;
        let verdict = lag.check(&device, &contract, exact, |run, n, dtype| {
            run.create("y", [n], dtype).threads([n.div_ceil(4), 1, 1])
        });
        let verdict = verdict.await.map_err(show)?;
        ensure_eq!(verdict.is_right(), is_right, "{end}, {before}, {weight}: {verdict}");
        ensure!(verdict.dtypes.contains(&DType::Bf16), "{verdict}");
        ensure!(verdict.results > 30_000, "{verdict}");
        let shown = verdict.to_string();
        ensure!(is_right || shown.contains(", where x has "), "{shown}");
        ensure!(!is_right || verdict.worst_ulp <= 1.5, "what 1e-3 excuses is no ULP: {shown}");
    }
    let whole = "@group(0) @binding(0) var<storage> x: array<V>;
        @group(0) @binding(1) var<storage, read_write> y: array<V>;
        @compute @workgroup_size(1) fn main() { store_y(0u, load_x(vec4<u32>()) + 1u); }";
    let whole = Kernel::from_wgsl("whole", whole).map_err(show)?;
    let unused = |_: &[Vec<f64>]| Vec::new();
    let verdict = whole.check(&device, &contract, unused, |run, _, _| run).await;
    let error = verdict.err().map(|error| error.to_string()).unwrap_or_default();
    ensure!(error.starts_with("whole:") && error.contains("load_x(vec4<u32>()) + 1u"), "{error}");
    Ok(())
}
