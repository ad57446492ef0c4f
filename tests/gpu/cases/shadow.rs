//! Shadows: a program that is right is clean, and of one with a mistake planted in a kernel the
//! first wrong operation is named - and its capsule says the same wherever it is replayed.

mod kinds;
mod lent;
mod replayed;
mod stretches;

use std::time::Duration;

use wharf::caps::Feature;
use wharf::custom::Kernel;
use wharf::kernel::CATALOG;
use wharf::shadow::{Capsule, Shadow, ShadowPolicy, ShadowReport};
use wharf::tensor::{Conv, Key, Order, Quantized};
use wharf::testing::Inside;
use wharf::wgsl::mutant::Mutant;
use wharf::wgsl::{Source, library};
use wharf::{DType, Device, ErrorKind, Result, Target, Tensor};

use super::pair::count;
use crate::ctx::{Case, Ctx, DOWNGRADES, Outcome, case, ensure, ensure_eq, show};

pub(crate) fn cases() -> Vec<Case> {
    let mut cases = vec![
        case!("shadow::two_hundred_operations_are_clean", |ctx| clean(ctx)),
        case!("shadow::every_kind_of_operation_is_judged", |ctx| kinds::all(ctx)),
        case!("shadow::where_nan_began", |ctx| began(ctx)),
        case!("shadow::guards_and_the_ledger_see_nothing", |ctx| guarded(ctx)),
        case!("shadow::what_is_left_out_is_counted", |ctx| left_out(ctx)),
        case!("shadow::products_that_leave_the_range_on_the_way", |ctx| on_the_way(ctx)),
        case!("shadow::edges_of_what_was_rounded", |ctx| stretches::none_convicted(ctx)),
        case!("shadow::buffers_of_the_callers_own", |ctx| lent::two_buffers(ctx)),
        case!("shadow::a_replay_beside_work", |ctx| replayed::beside_work(ctx)),
        case!("shadow::from_the_middle_of_an_input", |ctx| replayed::from_the_middle(ctx)),
    ];
    for plant in PLANTS {
        let name = format!("shadow::planted::{}", plant.name);
        cases.push(case!(name, |ctx| planted(ctx, plant)));
        if let Some(capsule) = plant.capsule {
            let name = format!("shadow::recorded::{}", plant.name);
            cases.push(case!(name, |ctx| replayed::recorded(ctx, plant, capsule)));
        }
    }
    cases
}

/// An operation of the program, and a mistake in a line that only it runs.
pub(super) struct Plant {
    name: &'static str,
    path: &'static str,
    was: &'static str,
    now: &'static str,
    /// What the shadow calls it, and the line of this file that asks.
    operation: &'static str,
    line: u32,
    pub(super) run: fn(&Tensor) -> Result<Tensor>,
    /// What lavapipe's shadow has made of it, where that is kept.
    capsule: Option<&'static [u8]>,
}

macro_rules! capsule {
    ($name:literal) => {
        Some(include_bytes!(concat!("../../goldens/capsules/", $name, ".capsule")))
    };
}

#[rustfmt::skip]
pub(super) const PLANTS: &[Plant] = &[
    Plant {
        name: "a_bound_off_by_one",
        path: "softmax_rows.wgsl",
        was: "if row >= p.job.rows {",
        now: "if row + 1u >= p.job.rows {",
        operation: "softmax",
        line: line!(), run: |x| x.softmax(-1),
        capsule: capsule!("a_bound_off_by_one"),
    },
    Plant {
        name: "a_constant_in_its_sixth_digit",
        path: "op/activation.wgsl",
        was: "let u = c * fma(c * c, vec4<f32>(-0.0713548162726), vec4<f32>(-1.5957691216057308));",
        now: "let u = c * fma(c * c, vec4<f32>(-0.0713548162726), vec4<f32>(-1.5957791216057308));",
        operation: "gelu_tanh",
        line: line!(), run: |x| x.gelu_tanh(),
        capsule: capsule!("a_constant_in_its_sixth_digit"),
    },
    Plant {
        name: "a_lane_swapped",
        path: "norm_rows.wgsl",
        was: "finish(q + 2u, (head_0(q + 2u) - all.x) * all.y);",
        now: "finish(q + 2u, (head_0(q + 2u).yxzw - all.x) * all.y);",
        operation: "rms_norm",
        line: line!(), run: |x| x.rms_norm(-1, None, 1e-5),
        capsule: capsule!("a_lane_swapped"),
    },
    Plant {
        name: "a_window_led_astray",
        path: "windows.wgsl",
        was: "let at_y = y0 + j * p.job.reach.y;",
        now: "let at_y = y0 + j * p.job.reach.y + 1u;",
        operation: "conv2d",
        line: line!(), run: |x| image(x)?.conv2d(&taps(x)?, None, &depthwise()),
        capsule: None,
    },
    Plant {
        name: "a_tie_turned",
        path: "sort/rank.wgsl",
        was: "let came_first = (other == keys) & (vec4<u32>(i) < own);",
        now: "let came_first = (other == keys) & (vec4<u32>(i) > own);",
        operation: "argsort",
        line: line!(), run: |x| x.cast(DType::I32)?.argsort(1, Order::Ascending)?.cast(DType::F32),
        capsule: None,
    },
    Plant {
        name: "a_pattern_off_by_one",
        path: "fill.wgsl",
        was: "store_0(q, p.bits);",
        now: "store_0(q, p.bits + vec4<u32>(1u));",
        operation: "full",
        line: line!(), run: |x| x.device().full([ROWS, COLUMNS], 0.5, DType::F32),
        capsule: None,
    },
    Plant {
        name: "a_position_swapped",
        path: "iota.wgsl",
        was: "store_0(q, vec4<u32>(p.base + 4u * q) + vec4<u32>(0u, 1u, 2u, 3u));",
        now: "store_0(q, vec4<u32>(p.base + 4u * q) + vec4<u32>(0u, 1u, 3u, 2u));",
        operation: "arange",
        line: line!(), run: |x| x.device().arange(0, 1536, 1, DType::F32),
        capsule: None,
    },
    Plant {
        name: "another_stream",
        path: "random/draw.wgsl",
        was: "let kept = random_block(q, 0u) >> vec4<u32>(p.draw.x);",
        now: "let kept = random_block(q, 1u) >> vec4<u32>(p.draw.x);",
        operation: "uniform",
        line: line!(), run: |x| x.device().uniform(Key::new(7), [ROWS, COLUMNS], DType::F32),
        capsule: None,
    },
    Plant {
        name: "a_sine_for_a_cosine",
        path: "random/draw.wgsl",
        was: "return r * sin_part(b.yyww >> vec4<u32>(8u), vec4<u32>(1u, 0u, 1u, 0u));",
        now: "return r * sin_part(b.yyww >> vec4<u32>(8u), vec4<u32>(0u, 1u, 0u, 1u));",
        operation: "normal",
        line: line!(), run: |x| x.device().normal(Key::new(7), [ROWS, COLUMNS], DType::F32),
        capsule: None,
    },
    Plant {
        name: "the_last_but_one",
        path: "scatter.wgsl",
        was: "atomicMax(&last[at], p.begin + position + 1u);",
        now: "atomicMax(&last[at], p.begin + position);",
        operation: "scatter",
        line: line!(), run: |x| x.scatter(0, &rows_of(x)?, x),
        capsule: None,
    },
    Plant {
        name: "a_value_forgotten",
        path: "runs.wgsl",
        was: "run = folded(run, value);",
        now: "run = value;",
        operation: "scatter_add",
        line: line!(), run: |x| x.scatter_add(0, &rows_of(x)?, x),
        capsule: None,
    },
    Plant {
        name: "an_edge_left_alone",
        path: "shared/part.wgsl",
        was: "return at - begin >= vec4<u32>(length);",
        now: "return at - begin >= vec4<u32>(length - 1u);",
        operation: "assign_slice",
        line: line!(), run: |x| { let mut y = x.clone(); y.assign_slice(1, 3..10, 0.25)?; Ok(y) },
        capsule: None,
    },
    Plant {
        name: "a_frame_that_is_too_wide",
        path: "shared/part.wgsl",
        was: "return at - begin >= vec4<u32>(length);",
        now: "return at - begin >= vec4<u32>(length - 1u);",
        operation: "pad",
        line: line!(), run: |x| x.at((..23, ..59))?.pad(&[(1, 0), (2, 3)], 0.25),
        capsule: None,
    },
    Plant {
        name: "a_diagonal_short",
        path: "patch.wgsl",
        was: "let here = (place < vec4<u32>(p.count)) & \
              (at - vec4<u32>(p.start) < vec4<u32>(p.there));",
        now: "let here = (place < vec4<u32>(p.count - 1u)) & (at - vec4(p.start) < vec4(p.there));",
        operation: "triu",
        line: line!(), run: |x| x.triu(1),
        capsule: None,
    },
    Plant {
        name: "a_row_twice",
        path: "gather.wgsl",
        was: "let at = index4(e, 0u) + i * vec4<u32>(p.step) + vec4<u32>(p.offset[0].x);",
        now: "let at = index4(e, 0u) + (i | vec4(1u)) * vec4(p.step) + vec4(p.offset[0].x);",
        operation: "gather",
        line: line!(), run: |x| x.gather(1, &rows_of(x)?),
        capsule: None,
    },
    Plant {
        name: "a_sum_of_three",
        path: "shared/blockwise.wgsl",
        was: "return (c.x + c.y) + (c.z + c.w);",
        now: "return (c.x + c.y) + c.z;",
        operation: "linear",
        line: line!(), run: |x| x.linear(&blocks(x)?, None),
        capsule: None,
    },
];

const ROWS: usize = 24;
const COLUMNS: usize = 64;

/// A row for each channel.
fn image(x: &Tensor) -> Result<Tensor> {
    x.reshape([1, ROWS, 8, 8])
}

fn taps(x: &Tensor) -> Result<Tensor> {
    x.at((.., ..9))?.contiguous()?.reshape([ROWS, 1, 3, 3])
}

/// Rows by their number, some of them more than once.
fn rows_of(x: &Tensor) -> Result<Tensor> {
    (x.abs()? * 9.3)?.cast(DType::U32)?.rem(ROWS as u32)
}

fn blocks(x: &Tensor) -> Result<Quantized> {
    let whole = Tensor::concat(&[x, x, x], 0)?.at(..COLUMNS)?;
    Quantized::of(&(&whole * 40.0)?.cast(DType::I8)?, &whole.at((.., ..2))?.cast(DType::F16)?)
}

const fn depthwise() -> Conv<2> {
    Conv::new().padding([1, 1]).groups(ROWS)
}

/// Numbers that are no multiples of each other.
async fn numbers(device: &Device, rows: usize, columns: usize) -> Result<Tensor> {
    let values: Vec<f32> =
        (0..rows * columns).map(|i| ((i * 37 % 101) as f32 - 50.0) / 29.0).collect();
    Ok(device.upload(&values, [rows, columns])?.0)
}

/// Twenty rounds of ten operations; in the thirteenth there is one more.
async fn program(device: &Device, odd: impl Fn(&Tensor) -> Result<Tensor>) -> Result<Tensor> {
    let mut x = numbers(device, ROWS, COLUMNS).await?;
    let weight = (numbers(device, COLUMNS, COLUMNS).await? * 0.05)?;
    let bias = numbers(device, 1, COLUMNS).await?;
    for round in 0..20 {
        let y = (x.matmul(&weight)? + &bias)?.tanh()?;
        y.compute()?;
        let z = (&y * &y)?.sum(1)?.unsqueeze(1)?.sqrt()?;
        z.compute()?;
        x = (&y / &(z + 1.0)?)?.sub(&bias)?;
        x.compute()?;
        if round == 12 {
            let odd = odd(&x)?;
            odd.compute()?;
            x = (&x + &odd.reshape([ROWS, COLUMNS])?)?;
        }
    }
    Ok(x)
}

async fn shadowed(ctx: &Ctx) -> core::result::Result<(Device, Shadow), String> {
    let device = ctx.fresh(DOWNGRADES[0]).await?.with_target(Target::Cpu);
    let shadow = device.shadow(ShadowPolicy::all());
    Ok((device, shadow))
}

fn is_clean(report: &ShadowReport) -> Outcome {
    count();
    ensure!(report.wrong.is_none(), "{report}");
    ensure!(report.began.is_none(), "{report}");
    ensure_eq!(report.open, 0, "elements that nothing is said of: {report}");
    ensure_eq!(report.judged, report.elements, "judged: {report}");
    Ok(())
}

async fn clean(ctx: &Ctx) -> Outcome {
    let (device, shadow) = shadowed(ctx).await?;
    let x = program(&device, Tensor::relu).await.map_err(show)?;
    x.read::<f32>().await.map_err(show)?;
    let report = shadow.report().await.map_err(show)?;
    is_clean(&report)?;
    ensure!(report.operations >= 60, "few operations: {report}");
    ensure!(report.left_out.is_empty(), "left out: {report}");
    Ok(())
}

/// Nobody told the order, so what comes of it is not wrong; nor is anything told of it.
async fn on_the_way(ctx: &Ctx) -> Outcome {
    let (device, shadow) = shadowed(ctx).await?;
    let mut row = vec![1.0f32; 256];
    row[..9].copy_from_slice(&[1e20, 0.0, 1e20, 1e-30, 1e20, 1e20, 1e-30, 1e30, 1e-20]);
    let (x, _) = device.upload(&row, [2, 128]).map_err(show)?;
    for y in [x.prod(-1), x.prod(..), x.cumprod(-1), x.cumprod(0)] {
        y.map_err(show)?.read::<f32>().await.map_err(show)?;
    }
    let report = shadow.report().await.map_err(show)?;
    count();
    ensure!(report.wrong.is_none(), "{report}");
    ensure!(report.judged > 128, "few are judged: {report}");
    Ok(())
}

pub(super) fn mutant(plant: &Plant) -> core::result::Result<Mutant, String> {
    mistake(plant.path, plant.was, plant.now)
}

/// The line of a shader file with this text, as another one.
pub(super) fn mistake(path: &str, was: &str, now: &str) -> core::result::Result<Mutant, String> {
    let entries = CATALOG.iter().flat_map(|entry| [&entry.source].into_iter().chain(entry.parts));
    let mut sources = library::fragments().chain(entries);
    let source: &Source =
        sources.find(|source| source.path == path).ok_or("there is no such file")?;
    let at = source.text.lines().position(|line| line.trim() == was);
    let line = at.ok_or("there is no such line")? as u32 + 1;
    let [path, was, now] = [path, was, now].map(str::to_owned);
    Ok(Mutant { path, line, was, now })
}

async fn planted(ctx: &Ctx, plant: &'static Plant) -> Outcome {
    let (device, shadow) = shadowed(ctx).await?;
    program(&device, plant.run).await.map_err(show)?;
    let report = shadow.report().await.map_err(show)?;
    is_clean(&report).map_err(|error| format!("without the mistake: {error}"))?;
    ensure!(report.left_out.is_empty(), "left out: {report}");
    drop(shadow);
    let shadow = device.shadow(ShadowPolicy::all());
    device.plant(Some(mutant(plant)?));
    let x = program(&device, plant.run).await.map_err(show)?;
    let Err(error) = x.read::<f32>().await else {
        return Err(format!("unnoticed: {}", shadow.report().await.map_err(show)?));
    };
    count();
    ensure_eq!(error.kind(), ErrorKind::Wrong, "{error:?}");
    let begin = format!("{} at {}:{}:", plant.operation, file!(), plant.line);
    ensure!(error.to_string().starts_with(&begin), "not {begin}: {error:?}");
    let again = x.read::<f32>().await;
    ensure!(again.is_err_and(|again| again.to_string() == error.to_string()), "told once only");

    let file = shadow.capsule().ok_or("no capsule")?.to_bytes();
    let capsule = Capsule::from_bytes(&file).map_err(show)?;
    #[cfg(not(target_family = "wasm"))]
    if plant.capsule.is_some() && std::env::var("WHARF_GOLDENS").is_ok_and(|value| value == "1") {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/goldens/capsules");
        capsule.save(format!("{folder}/{}.capsule", plant.name)).map_err(show)?;
    }
    ensure!(capsule.operation().starts_with(&begin), "{}", capsule.operation());
    // Elsewhere: on a device without the mistake, whose capsule has it.
    for downgrade in DOWNGRADES {
        let other = ctx.device(*downgrade).await?;
        let replay = match other.replay(&capsule).await {
            Ok(replay) => replay,
            Err(error) => {
                let text = error.to_string();
                let told = |need: &Feature| text.ends_with(&format!("it has no {}", need.name()));
                // What a kernel was written for here: numbers of 16 bits, and words of 64.
                let need = [Feature::ShaderF16, Feature::ShaderInt64].into_iter().find(told);
                let lacks = need.is_some_and(|need| !other.caps().has(need));
                ensure!(lacks, "with {}: {error:?}", downgrade.name);
                continue;
            }
        };
        count();
        ensure!(replay.is_wrong, "right with {}: {replay}", downgrade.name);
    }
    Ok(())
}

async fn began(ctx: &Ctx) -> Outcome {
    let (device, shadow) = shadowed(ctx).await?;
    let x = numbers(&device, 4, 8).await.map_err(show)?;
    let (y, line) = (x.ln().map_err(show)?, line!());
    y.compute().map_err(show)?;
    (&y + 1.0).map_err(show)?.read::<f32>().await.map_err(show)?;
    let report = shadow.report().await.map_err(show)?;
    count();
    ensure!(report.wrong.is_none(), "{report}");
    let began = report.began.clone().ok_or("nowhere")?;
    let want = format!("ln at {}:{line}:", file!());
    ensure!(began.starts_with(&want) && began.contains("NaN at [0, 0]"), "not {want}: {began}");
    Ok(())
}

async fn guarded(ctx: &Ctx) -> Outcome {
    let (device, shadow) = shadowed(ctx).await?;
    let x = numbers(&device, 4, 8).await.map_err(show)?;
    let before = device.ledger();
    {
        let _guard = device.guard(wharf::ledger::Crossings::Deny);
        x.softmax(1).and_then(|y| y.compute()).map_err(show)?;
        let report = shadow.report().await.map_err(show)?;
        is_clean(&report)?;
        ensure_eq!((report.operations, report.bytes), (1, 2 * 4 * 8 * 4), "{report}");
    }
    let after = device.ledger();
    ensure_eq!((after.up, after.down), (before.up, before.down), "crossings");
    Ok(())
}

const DOUBLE: &str = "
    @group(0) @binding(0) var<storage, read_write> x: array<f32>;

    @compute @workgroup_size(4)
    fn main(@builtin(global_invocation_id) at: vec3<u32>) {
        if at.x < arrayLength(&x) {
            x[at.x] *= 2.0;
        }
    }";

async fn left_out(ctx: &Ctx) -> Outcome {
    let device = ctx.fresh(DOWNGRADES[0]).await?;
    let policy = ShadowPolicy::all().one_in(3).seeded(5).memory(1 << 12).steps(500);
    let shadow = device.shadow(policy);
    let x = numbers(&device, 30, 30).await.map_err(show)?;
    for _ in 0..30 {
        (&x + 1.0).and_then(|y| y.compute()).map_err(show)?;
    }
    let small = x.at((..2, ..2)).and_then(|x| x.contiguous()).map_err(show)?;
    small.read::<f32>().await.map_err(show)?;
    for _ in 0..30 {
        (&small + 1.0).and_then(|y| y.compute()).map_err(show)?;
    }
    // A kernel of the caller's own has no oracle; what it changes is copied first.
    let kernel = Kernel::from_wgsl("double", DOUBLE).map_err(show)?;
    let mut changed = small.clone();
    let run = device.run(&kernel).update("x", &mut changed).threads([4, 1, 1]);
    let [] = run.record().map_err(show)?;
    changed.read::<f32>().await.map_err(show)?;
    let report = shadow.report().await.map_err(show)?;
    count();
    let of = |why: &str| -> u64 {
        report.left_out.iter().filter(|row| row.why.contains(why)).map(|row| row.count).sum()
    };
    ensure!((20..55).contains(&of("sample")), "{report}");
    ensure!(of("budget of memory") > 0 && of("recorded at once") > 0, "{report}");
    ensure_eq!(report.operations + of("sample") + of("budget"), 62, "{report}");
    let shadow = device.shadow(ShadowPolicy::all().time(Duration::ZERO));
    for _ in 0..2 {
        (&x + 1.0).and_then(|y| y.compute()).map_err(show)?;
    }
    let report = shadow.report().await.map_err(show)?;
    let spent = [(2, "the budget of time is spent")];
    let left: Vec<_> = report.left_out.iter().map(|row| (row.count, row.why)).collect();
    ensure!(report.operations == 0 && left == spent, "{report}");
    Ok(())
}
