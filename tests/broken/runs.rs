//! A kernel of the user's own, given what it does not take: what is said, and of which kind it is.

use wharf::custom::{Kernel, Run};
use wharf::{DType, Device, ErrorKind, Result, Tensor};

use ErrorKind::{DType as Dtypes, Limit as Limits, Mismatch, Shader, Shape};

const TEXT: &str = "\
struct P { a: f32, n: u32 }
@group(0) @binding(0) var<uniform> p: P;
@group(0) @binding(1) var<storage> x: array<f32>;
@group(0) @binding(2) var<storage> table: array<vec2<u32>, 4>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) at: vec3<u32>) {
    y[at.x] = p.a * x[at.x] + f32(table[at.x % 4].x + p.n);
}";

const PORTABLE: &str = "\
struct P { v: vec2<f32>, n: f32 } // a word short of whole pairs
@group(0) @binding(0) var<storage> x: array<V>;
@group(0) @binding(1) var<storage, read_write> y: array<V>;
@group(0) @binding(2) var<uniform> p: P;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) at: vec3<u32>) {
    store_y(at.x, load_x(vec4<u32>(at.x)) + V(E(p.n)));
}";

/// A run that is right but for what a row gives it.
pub(crate) struct Stage {
    pub(crate) device: Device,
    kernel: Kernel,
    /// One over arrays of `V`.
    adding: Kernel,
    x: Tensor,
    table: Tensor,
}

impl Stage {
    pub(crate) fn new(device: Device) -> Result<Self> {
        let (x, table) = (device.ones([4], DType::F32)?, device.ones([8], DType::U32)?);
        let (kernel, adding) = (Kernel::from_wgsl("k", TEXT)?, Kernel::from_wgsl("add", PORTABLE)?);
        Ok(Self { x, table, kernel, adding, device })
    }

    fn run(&self) -> Run<'_> {
        self.device.run(&self.kernel).set(&[0u32, 1]).threads([4, 1, 1])
    }

    /// With its inputs.
    pub(crate) fn fed(&self) -> Run<'_> {
        self.run().read("x", &self.x).read("table", &self.table)
    }
}

pub(crate) fn made(run: Run<'_>) -> Result<Tensor> {
    run.record().map(|[made]| made)
}

/// A call, and how it is to be refused.
type Row = (Result<()>, ErrorKind, &'static str);

fn only(run: Run<'_>) -> Result<()> {
    made(run).map(drop)
}

fn fed(run: Run<'_>) -> Result<()> {
    only(run.create("y", [4], DType::F32))
}

/// What is refused with other words, or not at all, by a device; another lends it a tensor.
pub(crate) fn complaints(s: &Stage, elsewhere: &Tensor) -> Result<String> {
    let complaint = |(refused, kind, text): Row| match refused {
        Err(error) if error.kind() == kind && error.to_string().starts_with(text) => None,
        found => Some(format!("expected {kind:?}: {text}\nfound    {found:?}\n")),
    };
    Ok(misfed(s, elsewhere)?.into_iter().chain(misled(s)?).filter_map(complaint).collect())
}

/// Tensors that bindings do not take.
fn misfed(s: &Stage, elsewhere: &Tensor) -> Result<Vec<Row>> {
    let zeros = |shape: &[usize], dtype| s.device.zeros(shape, dtype);
    let (whole, short) = (zeros(&[4], DType::I32)?, zeros(&[7], DType::U32)?);
    let (empty, mut state) = (zeros(&[0], DType::F32)?, zeros(&[4], DType::F32)?);
    let with_x = |x: &Tensor| fed(s.run().read("x", x).read("table", &s.table));
    Ok(vec![
        (with_x(&whole), Dtypes, "k: binding x holds f32, the tensor i32"),
        (with_x(&empty), Shape, "k: binding x is given a tensor without elements"),
        (with_x(elsewhere), Mismatch, "k: x: tensors are on two devices: "),
        (
            fed(s.run().read("x", &s.x).read("table", &short)),
            Shape,
            "k: binding table is an array of 8 numbers, the tensor has 7",
        ),
        (
            only(s.fed().create("y", [4], DType::I32)),
            Dtypes,
            "k: binding y holds f32, the tensor i32",
        ),
        (fed(s.run().read("x", &s.x)), Shader, "k: binding table is not given"),
        (only(s.fed()), Shader, "k: binding y is not given"),
        (fed(s.fed().read("z", &s.x)), Shader, "k: there is no binding \"z\", it has x, table, y"),
        (fed(s.fed().read("x", &s.x)), Shader, "k: binding x is given twice"),
        (only(s.fed().read("y", &s.x)), Shader, "k: binding y is read_write, and given to be read"),
        (
            fed(s.run().create("x", [4], DType::F32)),
            Shader,
            "k: binding x is read, and given by `create`",
        ),
        (
            fed(s.run().update("x", &mut state)),
            Shader,
            "k: binding x is read, and given by `update`",
        ),
    ])
}

/// Other numbers, and other sizes of the dispatch.
fn misled(s: &Stage) -> Result<Vec<Row>> {
    let whole = s.device.zeros([4], DType::I32)?;
    Ok(vec![
        (fed(s.fed().set(&1.0f32)), Shader, "k: the uniform is 8 bytes, 4 are given"),
        (
            fed(s.fed().groups([1, 0, 1])),
            Limits,
            "k: [1, 0, 1] workgroups, from 1 to 65535 are possible on each axis",
        ),
        (
            fed(s.fed().threads([64 * 65_535 + 1, 1, 1])),
            Limits,
            "k: [65536, 1, 1] workgroups, from 1 to 65535 are possible on each axis",
        ),
        (
            fed(s.device.run(&s.kernel).set(&[0u32; 2])),
            Shader,
            "k: neither groups nor threads are given",
        ),
        (
            s.fed().create("y", [4], DType::F32).record().map(|[]: [Tensor; 0]| ()),
            Shader,
            "k: tensors created: 1, taken: 0",
        ),
        (
            fed(s.device.run(&s.adding).read("x", &whole)),
            Dtypes,
            "add: arrays of V are given i32 and f32",
        ),
        (
            fed(s.device.run(&s.adding).read("x", &s.x).set(&0u32).groups([1; 3])),
            Shader,
            "add: the uniform is 16 bytes, 4 are given",
        ),
    ])
}
