//! Kernels of the user's own, computed by the driver: bindings where wharf binds them, whatever
//! numbers the text has.

use wharf::caps::Feature;
use wharf::custom::{Contract, Kernel};
use wharf::ledger::Crossings;
use wharf::{Adapter, DType, Device, ErrorKind, Tensor};

use crate::broken_runs::{self, Stage};
use crate::broken_texts;
use crate::ctx::{Case, Ctx, DOWNGRADES, Outcome, case, ensure, ensure_eq, show};

pub(crate) fn cases(adapter: &Adapter) -> Vec<Case> {
    let no_f16 = !adapter.caps().has(Feature::ShaderF16);
    vec![
        case!("custom_kernel::numbers_of_bindings_are_wharfs", |ctx| numbers(ctx)),
        case!("custom_kernel::workgroup_memory_and_an_override", |ctx| sums(ctx)),
        case!("custom_kernel::atomics_begin_at_zero", |ctx| histogram(ctx)),
        case!("custom_kernel::halves_of_words_are_counted", |ctx| halves(ctx))
            .unless(no_f16, "shader-f16"),
        case!("custom_kernel::a_uniform_has_gaps", |ctx| gaps(ctx)),
        case!("custom_kernel::updates_leave_others_alone", |ctx| updates(ctx)),
        case!("custom_kernel::one_tensor_for_every_binding", |ctx| aliased(ctx)),
        case!("custom_kernel::two_results", |ctx| both(ctx)),
        case!("custom_kernel::nothing_crosses", |ctx| chained(ctx)),
        case!("custom_kernel::faults_are_passed_on", |ctx| faults(ctx)),
        case!("custom_kernel::loops_that_go_on_are_ended_and_named", |ctx| looping(ctx)),
        case!("custom_kernel::no_driver_ends_a_loop_without_a_word", |ctx| long(ctx)),
        case!("custom_kernel::broken_ones", |ctx| broken(ctx)),
        case!("custom_kernel::beyond_the_device", |ctx| beyond(ctx)),
    ]
}

/// A device that nobody shares, because its guards and watches count.
async fn device(ctx: &Ctx) -> Result<Device, String> {
    ctx.fresh(DOWNGRADES[0]).await
}

/// A uniform beside storage, in no order; a strided view and a deferred one; lengths that are the
/// tensors'.
async fn numbers(ctx: &Ctx) -> Outcome {
    let text = "
        struct P { scale: f32, plus: u32, } // two words
        @group(1) @binding(9) var<storage, read_write> z: array<f32>;
        @group(0) @binding(2) var<uniform> p: P;
        @binding(7) @group(0) var<storage, read> y: array<f32>;
        @group(0) @binding(3) var<storage> x: array<f32>;

        @compute @workgroup_size(4)
        fn anything(@builtin(global_invocation_id) at: vec3<u32>) {
            if at.x < arrayLength(&z) {
                z[at.x] = p.scale * x[at.x] + y[at.x] + f32(p.plus * arrayLength(&x));
            }
        }";
    let device = device(ctx).await?;
    let run = async || {
        let kernel = Kernel::from_wgsl("saxpy", text)?;
        let (x, _) = device.upload(&[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0], [2, 3])?;
        let (y, _) = device.upload(&[10.0f32, 20.0, 30.0, 40.0, 50.0, 60.0], [6])?;
        let run = device.run(&kernel).read("x", &x.t()?).read("y", &(y * 0.5)?);
        let run = run.create("z", [3, 2], DType::F32).set(&[2.0f32.to_bits(), 100]);
        let [z] = run.threads([6, 1, 1]).record()?;
        z.read::<f32>().await
    };
    let found = run().await.map_err(show)?;
    let expected = [607.0f32, 618.0, 619.0, 630.0, 631.0, 642.0];
    ensure_eq!(found, expected, "2 x^T + y / 2 + 100 * 6");
    Ok(())
}

async fn sums(ctx: &Ctx) -> Outcome {
    let text = "
        override SIZE: u32;
        override SCALE = 1;
        @group(0) @binding(0) var<storage> x: array<i32>;
        @group(0) @binding(1) var<storage, read_write> sums: array<i32>;
        var<workgroup> shared_sums: array<i32, SIZE>;

        @compute @workgroup_size(SIZE)
        fn main(@builtin(local_invocation_index) i: u32, @builtin(workgroup_id) group: vec3<u32>) {
            let at = group.x * SIZE + i;
            shared_sums[i] = select(0, x[at], at < arrayLength(&x));
            for (var half = SIZE / 2; half > 0; half /= 2) {
                workgroupBarrier();
                if i < half { shared_sums[i] += shared_sums[i + half]; }
            }
            if i == 0 { sums[group.x] = SCALE * shared_sums[0]; }
        }";
    let device = device(ctx).await?;
    let run = async |size: usize| {
        let kernel = Kernel::from_wgsl("sums", text)?.with("SIZE", size)?.with("SCALE", -1)?;
        let x = device.arange(0, 100, 1, DType::I32)?;
        let groups = 100usize.div_ceil(size);
        let run = device.run(&kernel).read("x", &x).create("sums", [groups], DType::I32);
        let [sums] = run.groups([groups as u32, 1, 1]).record()?;
        sums.read::<i32>().await
    };
    for size in [16, 64] {
        let each: Vec<i32> = (0..100).collect();
        let expected: Vec<i32> = each.chunks(size).map(|part| -part.iter().sum::<i32>()).collect();
        ensure_eq!(run(size).await.map_err(show)?, expected, "workgroups of {size}");
    }
    Ok(())
}

async fn histogram(ctx: &Ctx) -> Outcome {
    let text = "
        @group(0) @binding(0) var<storage> x: array<vec4<u32>>;
        @group(0) @binding(1) var<storage, read_write> counts: array<atomic<u32>, 5>;

        @compute @workgroup_size(8)
        fn main(@builtin(global_invocation_id) at: vec3<u32>) {
            if at.x >= arrayLength(&x) { return; }
            for (var i = 0; i < 4; i++) { atomicAdd(&counts[x[at.x][i]], 1); }
        }";
    let device = device(ctx).await?;
    let run = async || {
        let kernel = Kernel::from_wgsl("histogram", text)?;
        let x: Vec<u32> = (0..400).map(|i| i * i % 5).collect();
        let (x, _) = device.upload(&x, [400])?;
        let mut all = Vec::new();
        // The second finds the memory of the first.
        for _ in 0..2 {
            let run = device.run(&kernel).read("x", &x).create("counts", [5], DType::U32);
            let [counts] = run.threads([100, 1, 1]).record()?;
            all.extend(counts.read::<u32>().await?);
        }
        Ok(all)
    };
    let found = run().await.map_err(show)?;
    ensure_eq!(found, [80, 160, 0, 0, 160].repeat(2), "squares modulo 5");
    Ok(())
}

async fn updates(ctx: &Ctx) -> Outcome {
    let text = "
        @group(0) @binding(0) var<storage> x: array<i32>;
        @group(0) @binding(1) var<storage, read_write> state: array<i32>;

        @compute @workgroup_size(4)
        fn main(@builtin(global_invocation_id) at: vec3<u32>) {
            if at.x < arrayLength(&state) { state[at.x] = 10 * state[at.x] + x[at.x]; }
        }";
    let device = device(ctx).await?;
    let run = async || {
        let kernel = Kernel::from_wgsl("step", text)?;
        let (x, _) = device.upload(&[1, 2, 3], [3])?;
        let mut state = device.ones([3], DType::I32)?;
        let step = |x: &Tensor, state: &mut Tensor| {
            let run = device.run(&kernel).read("x", x).update("state", state);
            run.threads([3, 1, 1]).record().map(|[]| ())
        };
        step(&x, &mut state)?;
        let before = state.clone();
        step(&x, &mut state)?;
        let after = state.clone();
        step(&before, &mut state)?;
        let mut all = before.read::<i32>().await?;
        all.extend(after.read::<i32>().await?);
        // What it reads are the values that it had.
        step(&state.clone(), &mut state)?;
        all.extend(state.read::<i32>().await?);
        Ok(all)
    };
    let third = [1121, 1232, 1343].map(|n| 11 * n);
    let expected = [&[11, 12, 13, 111, 122, 133], &third[..]].concat();
    ensure_eq!(run().await.map_err(show)?, expected, "clones keep what they had");
    Ok(())
}

/// A binding is whole words; an odd number of f16 has the length of its tensor all the same.
async fn halves(ctx: &Ctx) -> Outcome {
    let device = device(ctx).await?;
    let text = "enable f16;
        @group(0) @binding(0) var<storage> x: array<f16>;
        @group(0) @binding(1) var<storage, read_write> y: array<f16>;

        fn last() -> u32 { return arrayLength /* ) */ ((&x)) - 1u; }

        @compute @workgroup_size(64)
        fn k(@builtin(global_invocation_id) at: vec3<u32>) {
            if at.x < arrayLength(&y) { y[at.x] = x[last() - at.x]; }
        }";
    let backwards = Kernel::from_wgsl("backwards", text).map_err(show)?;
    let contract = Contract::ulp(0.0).on(-100.0..=100.0);
    let exact = |all: &[Vec<f64>]| all[0].iter().rev().copied().collect();
    let verdict = backwards.check(&device, &contract, exact, |run, n, dtype| {
        run.create("y", [n], dtype).threads([n, 1, 1])
    });
    let verdict = verdict.await.map_err(show)?;
    ensure!(verdict.is_right(), "{verdict}");
    ensure_eq!(verdict.dtypes, [DType::F16], "{verdict}");
    Ok(())
}

/// A uniform is what WGSL says it is, beside arrays of `V` too.
async fn gaps(ctx: &Ctx) -> Outcome {
    let device = device(ctx).await?;
    let text = |array, body| {
        format!(
            "struct P {{ a: f32, @align(32) @size(20) b: f32, @size(8) c: f32 /* }} */ }}
             @group(0) @binding(0) var<uniform> p: P;
             @group(0) @binding(1) var<storage, read_write> y: array<{array}>;
             @compute @workgroup_size(1) fn main() {{ let sum = p.a + p.b + p.c; {body} }}"
        )
    };
    let mut uniform = [0f32; 16];
    (uniform[0], uniform[8], uniform[13]) = (1.0, 20.0, 300.0);
    for text in [text("f32", "y[0] = sum;"), text("V", "store_y(0u, V(sum));")] {
        let kernel = Kernel::from_wgsl("sum", &text).map_err(show)?;
        let run = device.run(&kernel).create("y", [1], DType::F32).groups([1; 3]);
        let [y] = run.set(&uniform).record().map_err(show)?;
        ensure_eq!(y.read::<f32>().await.map_err(show)?, [321.0], "{text}");
    }
    Ok(())
}

/// What is read and written is one tensor to the caller, and never to the driver.
async fn aliased(ctx: &Ctx) -> Outcome {
    let text = "
        @group(0) @binding(0) var<storage> x: array<i32>;
        @group(0) @binding(1) var<storage, read_write> up: array<i32>;
        @group(0) @binding(2) var<storage, read_write> down: array<i32>;

        @compute @workgroup_size(64)
        fn main(@builtin(global_invocation_id) at: vec3<u32>) {
            let n = arrayLength(&x);
            if at.x < n {
                up[at.x] += x[n - 1 - at.x];
                down[at.x] -= x[n - 1 - at.x];
            }
        }";
    let device = device(ctx).await?;
    for size in [4, 100_000] {
        let run = async || {
            let kernel = Kernel::from_wgsl("both_ways", text)?;
            let data: Vec<i32> = (0..size).collect();
            let (x, _) = device.upload(&data, [data.len()])?;
            let (mut up, mut down) = (x.clone(), x.clone());
            let run = device.run(&kernel).read("x", &x).update("up", &mut up);
            let [] = run.update("down", &mut down).threads([data.len(), 1, 1]).record()?;
            Ok([x.read::<i32>().await?, up.read::<i32>().await?, down.read::<i32>().await?])
        };
        let [x, up, down] = run().await.map_err(show)?;
        ensure!(x.iter().copied().eq(0..size), "what is read stays, {size}");
        ensure!(up.iter().all(|up| *up == size - 1), "up, {size}");
        ensure!(down.iter().copied().eq((0..size).map(|i| 2 * i + 1 - size)), "down, {size}");
    }
    Ok(())
}

async fn both(ctx: &Ctx) -> Outcome {
    let text = "
        @group(0) @binding(0) var<storage, read_write> sum: array<f32>;
        @group(0) @binding(1) var<storage> x: array<vec2<f32>>;
        @group(0) @binding(2) var<storage, read_write> product: array<f32>;

        @compute @workgroup_size(64)
        fn main(@builtin(global_invocation_id) at: vec3<u32>) {
            if at.x < arrayLength(&x) {
                sum[at.x] = x[at.x].x + x[at.x].y;
                product[at.x] = x[at.x].x * x[at.x].y;
            }
        }";
    let device = device(ctx).await?;
    let run = async || {
        let kernel = Kernel::from_wgsl("both", text)?;
        let (x, _) = device.upload(&[1.0f32, 2.0, 3.0, 4.0], [2, 2])?;
        // In the order of the calls, not of the bindings.
        let run = device.run(&kernel).create("product", [2], DType::F32).read("x", &x);
        let run = run.create("sum", [2], DType::F32).threads([2, 1, 1]);
        let [product, sum] = run.record()?;
        let mut all = product.read::<f32>().await?;
        all.extend(sum.read::<f32>().await?);
        Ok(all)
    };
    ensure_eq!(run().await.map_err(show)?, [2.0, 12.0, 3.0, 7.0], "products, sums");
    Ok(())
}

/// A kernel among elementwise operations: deferred, explained, and nothing crosses.
async fn chained(ctx: &Ctx) -> Outcome {
    let text = "
        @group(0) @binding(0) var<storage> x: array<f32>;
        @group(0) @binding(1) var<storage, read_write> y: array<f32>;

        @compute @workgroup_size(4)
        fn main(@builtin(global_invocation_id) at: vec3<u32>) {
            if at.x < arrayLength(&y) { y[at.x] = x[arrayLength(&x) - 1 - at.x]; }
        }";
    let device = device(ctx).await?;
    let run = async || {
        let kernel = Kernel::from_wgsl("backwards", text)?;
        let (x, _) = device.upload(&[1.0f32, 2.0, 3.0], [3])?;
        let guard = device.guard(Crossings::Deny);
        let watch = device.watch();
        let run = device.run(&kernel).read("x", &(x + 1.0)?);
        let [y] = run.create("y", [3], DType::F32).threads([3, 1, 1]).record()?;
        let y = (y * 2.0)?;
        let planned: Vec<_> =
            y.explain().kernels.iter().map(|kernel| kernel.name().to_owned()).collect();
        let before = watch.explanation().dispatches();
        y.compute()?;
        let ran: Vec<_> =
            watch.explanation().kernels.iter().map(|kernel| kernel.name().to_owned()).collect();
        // Many launches are submitted as many operations are, where each result has memory of its
        // own.
        let submitted = || device.ledger().control.count;
        let (before_all, mut results) = (submitted(), vec![y.clone()]);
        for i in 0..20 {
            results.push((&results[i] + 1.0)?);
            results[i + 1].compute()?;
        }
        device.flush()?;
        let (before_own, mut results) = (submitted(), vec![y.clone()]);
        for i in 0..20 {
            let run = device.run(&kernel).read("x", &results[i]).create("y", [3], DType::F32);
            let [z] = run.threads([3, 1, 1]).record()?;
            results.push(z);
            results[i + 1].compute()?;
        }
        device.flush()?;
        let submitted = [before_own - before_all, submitted() - before_own];
        drop(guard);
        let as_planned =
            planned == ran && before == 0 && ran.iter().any(|name| name == "backwards");
        Ok((as_planned, submitted, y.read::<f32>().await?))
    };
    let (as_planned, submitted, found) = run().await.map_err(show)?;
    ensure_eq!(as_planned, true, "it runs as explained, and not before");
    let [operations, launches] = submitted;
    ensure!(
        launches <= operations,
        "{launches} submissions of 20 launches, {operations} of adding"
    );
    ensure_eq!(found, [8.0, 6.0, 4.0], "2 (x + 1) backwards");
    Ok(())
}

/// What is computed from an index out of range, deferred or updated, has its error.
async fn faults(ctx: &Ctx) -> Outcome {
    let text = "
        @group(0) @binding(0) var<storage> x: array<f32>;
        @group(0) @binding(1) var<storage, read_write> y: array<f32>;
        @compute @workgroup_size(1) fn main() { y[0] = x[0]; }";
    let device = device(ctx).await?;
    let run = async || {
        let kernel = Kernel::from_wgsl("copy", text)?;
        let (index, _) = device.upload(&[0, 7], [2])?;
        let x = device.ones([2], DType::F32)?.index_select(0, &index)?;
        let run = || device.run(&kernel).read("x", &x).groups([1; 3]);
        let [deferred] = run().create("y", [1], DType::F32).record()?;
        let mut updated = device.ones([1], DType::F32)?;
        let [] = run().update("y", &mut updated).record()?;
        Ok([deferred.read::<f32>().await, updated.read::<f32>().await])
    };
    for read in run().await.map_err(show)? {
        let kind = read.map_err(|error| error.kind());
        ensure_eq!(kind, Err(ErrorKind::Index), "7 of 2");
    }
    Ok(())
}

/// What is said does not depend on the driver, which sees none of them.
async fn broken(ctx: &Ctx) -> Outcome {
    ensure_eq!(broken_texts::complaints(), "", "texts");
    let stage = Stage::new(device(ctx).await?).map_err(show)?;
    let elsewhere = device(ctx).await?.ones([4], DType::F32).map_err(show)?;
    let complaints = broken_runs::complaints(&stage, &elsewhere).map_err(show)?;
    ensure_eq!(complaints, "", "runs");
    Ok(())
}

/// Workgroups that are larger than this device takes, by one; and a feature that it lacks.
async fn beyond(ctx: &Ctx) -> Outcome {
    let no_f16 = DOWNGRADES[1];
    let device = ctx.fresh(no_f16).await?;
    let limits = &device.caps().limits;
    let (x, all) = (limits.group_x_max, limits.invocations_max);
    let bytes = limits.group_storage_bytes_max;
    let rows = [
        ("", "", format!("{}", x + 1), ErrorKind::Limit, {
            format!("k: {} invocations in x of a workgroup, the device takes {x}", x + 1)
        }),
        ("", "", format!("{x}, {}", all / x + 1), ErrorKind::Limit, {
            let given = x * (all / x + 1);
            format!("k: {given} invocations of a workgroup, the device takes {all}")
        }),
        (
            &*format!("var<workgroup> w: array<vec4<f32>, {}>;", bytes / 16 + 1),
            "w[0] = vec4<f32>();",
            "1".to_owned(),
            ErrorKind::Limit,
            {
                let given = bytes / 16 * 16 + 16;
                format!("k: {given} bytes of workgroup memory, the device takes {bytes}")
            },
        ),
        ("enable f16;", "y[1] = f32(f16(y[1]));", "1".to_owned(), ErrorKind::Rejected, {
            format!("k: it needs shader-f16, which {} lacks", device.caps().identity.name)
        }),
    ];
    for (head, body, size, kind, expected) in rows {
        let text = format!(
            "{head} @group(0) @binding(0) var<storage, read_write> y: array<f32>;\n\
             @compute @workgroup_size({size}) fn any() {{ {body} y[0] = 1.0; }}"
        );
        let kernel = Kernel::from_wgsl("k", &text).map_err(show)?;
        let run = device.run(&kernel).create("y", [4], DType::F32).groups([1, 1, 1]);
        let refused = run.record().map(|[_]: [Tensor; 1]| ());
        let found = refused.err().map(|error| (error.kind(), error.to_string()));
        ensure_eq!(found, Some((kind, expected)), "{text}");
    }
    Ok(())
}

/// Every kind of loop, and how many trips it takes for a bound `n`: in a function too, nested, with
/// a `continue`, and left by none of its own breaks.
const LOOPS: &str = "
@group(0) @binding(0) var<storage> n: array<u32>;
@group(0) @binding(1) var<storage, read_write> y: array<u32>;
var<workgroup> all: atomic<u32>;

fn down(start: u32) -> u32 {
    var count = 0u; /* { */ while start != count { count += 1u; } return count;
}

@compute @workgroup_size(4)
fn main(@builtin(global_invocation_id) at: vec3<u32>) {
    let end = n[at.x];
    var sum = 0u;
    for (var i = 0u; i != end; i++) { if i % 2u == 0u { continue; } sum += 1u; }
    loop { sum += 10u; continuing { break if sum >= 10u * end; } }
    for (var i = 0u; i != 3u; i++) { for (var j = 0u; j != end; j++) { sum += 1u; } }
    for (var i = 0u; i != 3u; i++) { workgroupBarrier(); atomicAdd(&all, 1u); }
    y[at.x] = sum + down(end);
}";

/// What an invocation computes, and one, and how many trips it takes.
fn looped(n: u32) -> (u32, u32) {
    let tens = (10 * n).saturating_sub(n / 2).div_ceil(10).max(1);
    (1 + n / 2 + 10 * tens + 3 * n + n, n + tens + 3 + 3 * n + 3 + n)
}

async fn looping(ctx: &Ctx) -> Outcome {
    let device = device(ctx).await?;
    let kernel = Kernel::from_wgsl("loops", LOOPS).map_err(show)?;
    let run = async |kernel: &Kernel, counts: [u32; 4]| {
        let (n, _) = device.upload(&counts, [4])?;
        let run = device.run(kernel).read("n", &n).create("y", [4], DType::U32);
        let [y] = run.threads([4, 1, 1]).record()?;
        // Whatever is computed from it fails like it.
        (y + 1u32)?.read::<u32>().await
    };
    let counts = [2, 9, 4, 7];
    let (values, trips): (Vec<u32>, Vec<u32>) = counts.map(looped).into_iter().unzip();
    let most = trips.iter().max().copied().unwrap_or_default();
    for kernel in [kernel.clone(), kernel.bounded(most)] {
        ensure_eq!(run(&kernel, counts).await.map_err(show)?, values, "{trips:?} trips");
    }
    let expected = |at: &str, most: u32, count: &str, line: &str| {
        format!("loops:{at}: this loop goes on after {most} trips, in {count}\n  {line}")
    };
    for (most, counts, at, count, line) in [
        (most - 1, counts, "7:29", "one invocation", "7 |     var count"),
        (50, [9, 9, u32::MAX, 3], "14:5", "3 invocations", "14 |     for (var i = 0u; i != end"),
        (90, [9, 9, u32::MAX, 3], "14:5", "one invocation", "14 |     for (var i = 0u; i != end"),
    ] {
        let error = run(&kernel.bounded(most), counts).await.err();
        let error = error.ok_or_else(|| format!("{most} trips were enough for {counts:?}"))?;
        ensure_eq!(error.kind(), ErrorKind::Shader, "{error}");
        let (found, expected) = (error.to_string(), expected(at, most, count, line));
        ensure!(found.contains(&expected), "expected {expected}\nfound    {found}");
    }
    // One that is tried ends by itself.
    let endless = "@group(0) @binding(0) var<storage> x: array<f32>;
        @group(0) @binding(1) var<storage, read_write> y: array<f32>;
        @compute @workgroup_size(1) fn main() { while x[0] != 1e30 { y[0] += 1.0; } }";
    let endless = Kernel::from_wgsl("endless", endless).map_err(show)?;
    let zeros = |all: &[Vec<f64>]| vec![0.0; all[0].len()];
    let contract = Contract::ulp(1.0);
    let verdict = endless.check(&device, &contract, zeros, |run, n, dtype| {
        run.create("y", [n], dtype).groups([1, 1, 1])
    });
    let verdict = verdict.await;
    let error = verdict.err().map(|error| error.to_string()).unwrap_or_default();
    ensure!(error.starts_with("endless:3:49: this loop goes on after "), "{error}");
    // Nothing of it is left behind.
    ensure_eq!(run(&kernel, counts).await.map_err(show)?, values, "after all that");
    Ok(())
}

/// More trips than llvmpipe makes: they are made, or that is an error.
async fn long(ctx: &Ctx) -> Outcome {
    let text = "
        @group(0) @binding(0) var<storage> n: array<u32>;
        @group(0) @binding(1) var<storage, read_write> y: array<u32>;
        @compute @workgroup_size(1)
        fn main() {
            for (var i = 0u; i < n[0]; i++) { y[0] += n[1]; }
        }";
    let device = device(ctx).await?;
    let kernel = Kernel::from_wgsl("sum", text).map_err(show)?;
    for count in [64_000, 65_001, 65_600, 200_000] {
        let (n, _) = device.upload(&[count, 3], [2]).map_err(show)?;
        let run = device.run(&kernel).read("n", &n).create("y", [1], DType::U32);
        let [y] = run.groups([1, 1, 1]).record().map_err(show)?;
        match y.read::<u32>().await {
            Ok(found) => ensure_eq!(found, [3 * count], "{count} trips"),
            Err(error) => {
                let software = device.caps().identity.name.contains("llvmpipe");
                ensure!(software && count > 65_000, "{count}: {error}");
                ensure_eq!(error.kind(), ErrorKind::Shader, "{error}");
            }
        }
    }
    Ok(())
}
