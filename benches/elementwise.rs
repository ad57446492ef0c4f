//! Elementwise chains: against a device copy, the narrow dtypes against f32, fused kernels against
//! the best written by hand, and what one operation costs the host.
//!
//! GB/s count every byte of the inputs and of the result once.
//!
//! ```text
//! cargo bench --bench elementwise [-- [--quick] [--json FILE] [FILTER]]
//! ```

use std::process::ExitCode;
use std::time::Duration;

use common::raw::{Raw, buffer};
use common::{Bench, Case, Outcome, Settings, Work, ceiling, noise, timed};
use wharf::custom::{Formula, Kernel};
use wharf::{DType, Device, Tensor, wgpu};

mod common;

const BY_HAND: &str = include_str!("by_hand/elementwise.wgsl");
const TRANSPOSE_BY_HAND: &str = include_str!("by_hand/transpose.wgsl");

/// Operations of a chain on small tensors.
const CHAIN: usize = 1000;

fn main() -> ExitCode {
    common::main("elementwise", |bench| {
        memory_bound(bench)?;
        narrow(bench)?;
        beside_hand_written(bench)?;
        of_ones_own(bench)?;
        chains(bench)
    })
}

/// Three square matrices and a row.
struct Inputs {
    side: usize,
    a: Tensor,
    b: Tensor,
    c: Tensor,
    row: Tensor,
}

impl Inputs {
    fn new(settings: &Settings, device: &Device) -> Outcome<Self> {
        let side = settings.pick(64usize, 2048, 4096);
        let values: Vec<f32> = noise(side * side).map(|v| (v * 4.0) as f32).collect();
        let up = || device.upload(&values, [side, side]).map(|(tensor, _)| tensor);
        let row = device.upload(&values[..side], [side])?.0;
        Ok(Self { side, a: up()?, b: up()?, c: up()?, row })
    }

    /// Bytes of so many matrices of f32.
    fn bytes(&self, matrices: usize) -> f64 {
        (self.side * self.side * size_of::<f32>() * matrices) as f64
    }
}

fn memory_bound(bench: &mut Bench) -> Outcome {
    let device = bench.device();
    let inputs = Inputs::new(&bench.settings, &device)?;
    let Inputs { a, b, c, row, .. } = &inputs;
    let bytes = |matrices| Work::Bytes(inputs.bytes(matrices));
    let cases = vec![
        Case::kernel("a + b", bytes(3), || a + b),
        Case::kernel("a * b + c", bytes(4), || (a * b)? + c),
        Case::kernel("exp(a)", bytes(2), || a.exp()),
        Case::kernel("gelu(a * b + c)", bytes(4), || ((a * b)? + c)?.gelu()),
        Case::kernel("gelu_tanh(a * b + c)", bytes(4), || ((a * b)? + c)?.gelu_tanh()),
        Case::kernel("a + row", bytes(2), || a + row),
        Case::kernel("a.t() + 1", bytes(2), || a.t()? + 1.0f32),
        Case::kernel("a.t() row-major", bytes(2), || a.t()?.contiguous()),
        Case::kernel("a.t() + b", bytes(3), || a.t()? + b),
    ];
    let one = inputs.bytes(1);
    let ceilings = vec![
        ceiling::device_copy(&device, one as u64)?,
        ceiling::memcpy_both(inputs.side * inputs.side * size_of::<f32>()),
    ];
    bench.measure(9, ceilings, cases)
}

/// Elements per second of the narrow dtypes, against f32's.
fn narrow(bench: &mut Bench) -> Outcome {
    let device = bench.device();
    let Inputs { side, a, b, c, .. } = Inputs::new(&bench.settings, &device)?;
    let work = Work::Elements((side * side) as f64);
    let add = "a + b, f32";
    let gelu = "gelu(a * b + c), f32";
    let f32s = vec![
        Case::kernel(add, work, || &a + &b),
        Case::kernel(gelu, work, || ((&a * &b)? + &c)?.gelu()),
    ];
    let mut cases = Vec::new();
    for dtype in [DType::F16, DType::Bf16, DType::I8] {
        let cast = |tensor: &Tensor| {
            let tensor = tensor.cast(dtype)?;
            tensor.compute().map(|()| tensor)
        };
        let (x, y, z) = (cast(&a)?, cast(&b)?, cast(&c)?);
        let (left, right) = (x.clone(), y.clone());
        let name = format!("a + b, {dtype}");
        cases.push(Case::kernel(name, work, move || &left + &right).against(add));
        if dtype != DType::I8 {
            let name = format!("gelu(a * b + c), {dtype}");
            let make = move || ((&x * &y)? + &z)?.gelu();
            cases.push(Case::kernel(name, work, make).against(gelu));
        }
    }
    bench.measure(9, f32s, cases)
}

/// Compares wharf's fused kernels with the best written by hand, formula by formula.
fn beside_hand_written(bench: &mut Bench) -> Outcome {
    let device = bench.device();
    let inputs = Inputs::new(&bench.settings, &device)?;
    let Inputs { side, a, b, c, .. } = &inputs;
    let hand = ByHand::new(&device, side * side);
    type Make<'a> = Box<dyn FnMut() -> wharf::Result<Tensor> + 'a>;
    let formulas: Vec<(&str, &str, usize, Make<'_>)> = vec![
        ("a + b", "a[q] + b[q]", 3, Box::new(|| a + b)),
        ("a * b + c", "a[q] * b[q] + c[q]", 4, Box::new(|| (a * b)? + c)),
        ("exp(a)", "exp(a[q])", 2, Box::new(|| a.exp())),
        (
            "gelu_tanh(a * b + c)",
            "gelu_tanh(a[q] * b[q] + c[q])",
            4,
            Box::new(|| ((a * b)? + c)?.gelu_tanh()),
        ),
    ];
    for (name, formula, matrices, make) in formulas {
        let fused = format!("{name}, fused");
        if !bench.settings.wants(&fused) {
            continue;
        }
        let work = Work::Bytes(inputs.bytes(matrices));
        let kernel = hand.best(formula)?;
        let top = Case::new(format!("{name}, by hand"), work, || kernel.run());
        bench.measure(9, vec![top], vec![Case::kernel(fused, work, make)])?;
    }
    let work = Work::Bytes(inputs.bytes(2));
    let kernel = hand.transpose(*side);
    let top = Case::new("a.t(), by hand", work, || kernel.run());
    bench.measure(9, vec![top], vec![Case::kernel("a.t(), copied", work, || a.t()?.contiguous())])
}

/// Buffers for kernels written by hand.
struct ByHand<'a> {
    device: &'a Device,
    elements: usize,
    inputs: Vec<wgpu::Buffer>,
    out: wgpu::Buffer,
}

impl<'a> ByHand<'a> {
    fn new(device: &'a Device, elements: usize) -> Self {
        let values: Vec<f32> = noise(elements).map(|v| (v * 4.0) as f32).collect();
        let bytes = (elements * size_of::<f32>()) as u64;
        let inputs = (0..3).map(|_| buffer(device, bytes, &values)).collect();
        Self { device, elements, inputs, out: buffer(device, bytes, &[]) }
    }

    /// The kernel of a formula. A trial picks the best of several shapes.
    fn best(&self, formula: &str) -> Outcome<Raw> {
        let software = self.device.caps().identity.is_software();
        let shapes: &[(u32, u32)] = if software {
            &[(8, 64), (8, 128), (8, 256), (8, 512), (16, 128), (64, 64)]
        } else {
            &[(64, 1), (256, 1), (256, 2), (256, 4)]
        };
        let text = BY_HAND.replace("let v = a[q] * b[q] + c[q];", &format!("let v = {formula};"));
        let mut best: Option<(Duration, Raw)> = None;
        for &(lanes, run) in shapes {
            let groups = (self.elements as u32 / 4).div_ceil(lanes * run);
            let constants = [("lanes", f64::from(lanes)), ("run", f64::from(run))];
            let mut buffers: Vec<&wgpu::Buffer> = self.inputs.iter().collect();
            buffers.push(&self.out);
            let kernel = Raw::new(self.device, &text, &constants, &buffers, groups);
            kernel.run()?;
            let took = kernel.run()?.min(kernel.run()?);
            if best.as_ref().is_none_or(|(least, _)| took < *least) {
                best = Some((took, kernel));
            }
        }
        best.map(|(_, kernel)| kernel).ok_or_else(|| "no shape was tried".into())
    }

    fn transpose(&self, side: usize) -> Raw {
        let constants = [("side", side as f64)];
        let buffers = [&self.inputs[0], &self.out];
        let groups = (self.elements as u32 / 16).div_ceil(8);
        Raw::new(self.device, TRANSPOSE_BY_HAND, &constants, &buffers, groups)
    }
}

const ADD: &str = "
    @group(0) @binding(0) var<storage> x: array<vec4<f32>>;
    @group(0) @binding(1) var<storage> y: array<vec4<f32>>;
    @group(0) @binding(2) var<storage, read_write> sum: array<vec4<f32>>;

    @compute @workgroup_size(64)
    fn add(@builtin(global_invocation_id) at: vec3<u32>) {
        if at.x < arrayLength(&sum) { sum[at.x] = x[at.x] + y[at.x]; }
    }";

/// A formula beside the same operations of wharf's, in a fused kernel; and what a launch costs the
/// host, of a kernel of one's own and of an addition.
fn of_ones_own(bench: &mut Bench) -> Outcome {
    let device = bench.device();
    let inputs = Inputs::new(&bench.settings, &device)?;
    let Inputs { a, b, c, .. } = &inputs;
    let formula = Formula::new("mixed(a, b, c)", "gelu_tanh(a * b + c)")?;
    let (name, work) = ("gelu_tanh(a * b + c), wharf's", Work::Bytes(inputs.bytes(4)));
    let built_in = Case::kernel(name, work, || ((a * b)? + c)?.gelu_tanh());
    let own = Case::kernel("gelu_tanh(a * b + c), a formula", work, || {
        a.apply(&formula, &[b.into(), c.into()])
    });
    bench.measure(15, Vec::new(), vec![built_in, own])?;

    let steps = bench.settings.pick(40, CHAIN, CHAIN);
    let values: Vec<f32> = noise(1024).map(|v| v as f32).collect();
    let (start, step) = (device.upload(&values, [1024])?.0, device.upload(&values, [1024])?.0);
    let kernel = Kernel::from_wgsl("add", ADD)?;
    let launched = |one: &dyn Fn(&Tensor) -> wharf::Result<Tensor>| -> Outcome<Duration> {
        let (done, elapsed) = timed(|| {
            let mut x = start.clone();
            for _ in 0..steps {
                x = one(&x)?;
                x.compute()?;
            }
            device.flush()
        });
        done?;
        device.synchronize_now()?;
        Ok(elapsed)
    };
    let own = |x: &Tensor| {
        let run = device.run(&kernel).read("x", x).read("y", &step);
        let [sum] = run.create("sum", [1024], DType::F32).threads([256, 1, 1]).record()?;
        Ok(sum)
    };
    let work = Work::Calls(steps as f64);
    let cases = vec![
        Case::new("a launch of x + a", work, || launched(&|x| x + &step)),
        Case::new("a launch of one's own", work, || launched(&own)),
    ];
    bench.measure(15, Vec::new(), cases)
}

/// A thousand steps on small tensors: the time until the host is done, and until the result is
/// there.
fn chains(bench: &mut Bench) -> Outcome {
    let device = bench.device();
    let steps = bench.settings.pick(40, CHAIN, CHAIN);
    let work = Work::Calls(steps as f64);
    let values: Vec<f32> = noise(1024).map(|v| v as f32).collect();
    let start = device.upload(&values, [1024])?.0;
    let step = device.upload(&values, [1024])?.0;
    let chain = |one: &dyn Fn(&Tensor) -> wharf::Result<Tensor>| {
        let mut x = start.clone();
        for _ in 0..steps {
            x = one(&x)?;
        }
        x.compute().map(|()| x)
    };
    let host = |one: &dyn Fn(&Tensor) -> wharf::Result<Tensor>| -> Outcome<Duration> {
        let (x, elapsed) = timed(|| {
            let x = chain(one)?;
            device.flush().map(|()| x)
        });
        x?;
        device.synchronize_now()?;
        Ok(elapsed)
    };
    let whole = |one: &dyn Fn(&Tensor) -> wharf::Result<Tensor>| -> Outcome<Duration> {
        let (read, elapsed) = timed(|| chain(one)?.slice(0, 0..1)?.read_scalar_now::<f32>());
        read?;
        Ok(elapsed)
    };
    let add = |x: &Tensor| x + &step;
    let scale = |x: &Tensor| (x * 0.999f32)? + 0.001f32;
    let cases = vec![
        Case::new("x = x + a, host", work, || host(&add)),
        Case::new("x = x + a, read", work, || whole(&add)),
        Case::new("x = x * s + t, host", work, || host(&scale)),
        Case::new("x = x * s + t, read", work, || whole(&scale)),
        Case::new("one operation, read", Work::Calls(1.0), || {
            let (read, elapsed) =
                timed(|| (&start + &step)?.slice(0, 0..1)?.read_scalar_now::<f32>());
            read?;
            Ok(elapsed)
        }),
    ];
    bench.measure(15, Vec::new(), cases)
}
