//! The time to a first result: from the start of a process, and on a device that is open.
//!
//! A driver may keep compiled kernels on disk. Processes find theirs there from the second round
//! on. A never-seen expression is drawn anew every time, so that no cache can have it.
//!
//! ```text
//! cargo bench --bench startup [-- [--quick] [--json FILE] [FILTER]]
//! ```

use std::env;
use std::io::{BufRead, BufReader};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant, SystemTime};

use common::raw::{Raw, buffer};
use common::{Bench, Case, Outcome, Work, noise, timed};
use wharf::op::Op;
use wharf::{Device, Policy, Tensor};

mod common;

/// The variable that names the task of a child process.
const CHILD: &str = "WHARF_BENCH_CHILD";

fn main() -> ExitCode {
    if let Ok(task) = env::var(CHILD) {
        return match child(&task) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("error: {task}: {error}");
                ExitCode::FAILURE
            }
        };
    }
    common::main("startup", |bench| {
        processes(bench)?;
        expressions(bench)
    })
}

/// The smallest kernel that a driver compiles.
const NEGATION: &str = "@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
@compute @workgroup_size(8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    out[id.x] = -a[id.x];
}
";

/// Does a task in a fresh process and says how long it took from the open device on.
fn child(task: &str) -> Outcome {
    let device = Device::best_now(&Policy::exact())?;
    let four = || device.upload(&[1.0f32, 2.0, 3.0, 4.0], [4]).map(|(x, _)| x);
    let first = |x: &Tensor| ((x * x)? + x)?.gelu()?.read_now::<f32>().map(drop);
    if task == "another gelu" {
        first(&four()?)?;
    }
    let (result, elapsed) = timed(|| -> Outcome {
        match task {
            "open" => {}
            "product" => {
                let side = 512;
                let values: Vec<f32> = noise(side * side).map(|v| v as f32).collect();
                let a = device.upload(&values, [side, side])?.0;
                let b = device.upload(&values, [side, side])?.0;
                a.matmul(&b)?.read_now::<f32>()?;
            }
            "negation" => {
                let input = buffer(&device, 16, &[1.0, 2.0, 3.0, 4.0]);
                let out = buffer(&device, 16, &[]);
                Raw::new(&device, NEGATION, &[], &[&input, &out], 1).run()?;
            }
            "another gelu" => {
                let x = four()?;
                ((&x + &x)? * &x)?.gelu()?.read_now::<f32>()?;
            }
            _ => first(&four()?)?,
        }
        Ok(())
    });
    result?;
    println!("{}", elapsed.as_nanos());
    Ok(())
}

/// Runs a task in a process of its own. Returns how long it took until the process was done, and
/// how long that says it took from the open device on. `uncached` keeps Mesa's drivers from finding
/// kernels on disk.
fn spawn(task: &str, uncached: bool) -> Outcome<[Duration; 2]> {
    let start = Instant::now();
    let mut child = Command::new(env::current_exe()?)
        .env(CHILD, task)
        .envs(uncached.then_some(("MESA_SHADER_CACHE_DISABLE", "true")))
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let mut said = String::new();
    let mut out = BufReader::new(child.stdout.take().ok_or("a child without output")?);
    let read = out.read_line(&mut said);
    let elapsed = start.elapsed();
    let status = child.wait()?;
    read.map_err(|error| format!("{task}: the child said nothing: {error}, {status}"))?;
    let inside = said.trim().parse().map_err(|_| format!("{task}: the child said {said:?}"))?;
    Ok([elapsed, Duration::from_nanos(inside)])
}

fn processes(bench: &mut Bench) -> Outcome {
    let work = Work::Calls(1.0);
    let whole = |task, uncached| spawn(task, uncached).map(|[whole, _]| whole);
    let inside = |task| spawn(task, true).map(|[_, inside]| inside);
    let cases = vec![
        Case::new("process to open device", work, || whole("open", false)),
        Case::new("process to first gelu(x * x + x)", work, || whole("gelu", false)),
        Case::new("the same, nothing cached", work, || whole("gelu", true)),
        Case::new("of it from the open device on", work, || inside("gelu")),
        Case::new("a negation by hand like that", work, || inside("negation")),
        Case::new("gelu((x + x) * x) after that", work, || inside("another gelu")),
        Case::new("process to first 512^3 product", work, || whole("product", false)),
        Case::new("the same product, nothing cached", work, || whole("product", true)),
        Case::new("of it from the open device on, product", work, || inside("product")),
    ];
    bench.measure(9, Vec::new(), cases)
}

/// Operations that chains are drawn from. In any order results stay finite.
const DRAWN: &[(Op, &str)] = &[
    (Op::Sin, "sin(v)"),
    (Op::Cos, "cos(v)"),
    (Op::Abs, "abs(v)"),
    (Op::Neg, "-v"),
    (Op::Square, "v * v"),
    (Op::Floor, "floor(v)"),
    (Op::Ceil, "ceil(v)"),
    (Op::Atan, "atan(v)"),
    (Op::Trunc, "trunc(v)"),
    (Op::Tanh, "tanh(clamp(v, vec4<f32>(-9.0), vec4<f32>(9.0)))"),
];

/// Eight of the operations; the clock is the seed.
fn draw() -> Vec<(Op, &'static str)> {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let mut state = now.as_nanos() as u64 | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as usize % DRAWN.len()
    };
    (0..8).map(|_| DRAWN[next()]).collect()
}

/// The first result of a never-seen expression, and of one kernel written by hand: the latter shows
/// how much of the time the driver's own compiler takes.
fn expressions(bench: &mut Bench) -> Outcome {
    let device = bench.device();
    let values: Vec<f32> = noise(1024).map(|v| v as f32).collect();
    let x = device.upload(&values, [1024])?.0;
    let input = buffer(&device, 4096, &values);
    let out = buffer(&device, 4096, &[]);
    let by_hand = || {
        let body: String = draw().iter().map(|(_, text)| format!("    v = {text};\n")).collect();
        let text = format!(
            "@group(0) @binding(0) var<storage, read> a: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> out: array<vec4<f32>>;
@compute @workgroup_size(8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
    var v = a[id.x];
{body}    out[id.x] = v;
}}
"
        );
        let (ran, elapsed) =
            timed(|| Raw::new(&device, &text, &[], &[&input, &out], 32).run().map(drop));
        ran?;
        Ok(elapsed)
    };
    let fused = || {
        let drawn = draw();
        let (read, elapsed) = timed(|| {
            let mut v: Tensor = x.clone();
            for (op, _) in drawn {
                v = v.apply(op, &[])?;
            }
            v.read_now::<f32>()
        });
        read?;
        Ok(elapsed)
    };
    let work = Work::Calls(1.0);
    let top = Case::new("never-seen kernel by hand", work, by_hand);
    bench.measure(15, vec![top], vec![Case::new("never-seen expression, read", work, fused)])
}
