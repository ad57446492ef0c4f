//! Kernels of the user's own, given what they do not take: refused with both sides, and nothing is
//! lost.

use wharf::caps::{Caps, Feature, Limit, fixtures};
use wharf::custom::Kernel;
use wharf::testing::{Call, Inside};
use wharf::{DType, Device, ErrorKind, Policy, Result, Tensor};

use crate::broken_runs::{Stage, complaints, made};
use crate::device;

use ErrorKind::Shader;

use super::open;

#[test]
fn what_a_kernel_does_not_take_is_refused_with_both_sides() {
    let s = Stage::new(device(|caps| caps)).expect("it is right");
    let elsewhere = device(|caps| caps).ones([4], DType::F32).expect("ones");
    let before = s.device.memory().bytes_live;
    assert_eq!(complaints(&s, &elsewhere).expect("zeros"), "");
    assert_eq!(s.device.memory().bytes_live, before, "something was made");
    s.fed().create("y", [4], DType::F32).record().map(|[_]: [_; 1]| ()).expect("it is right");
}

#[test]
fn what_a_device_lacks_for_a_kernel_is_told_with_both_numbers() {
    let refused = |lower: fn(Caps) -> Caps, text: &str| {
        let device = device(lower);
        let kernel = Kernel::from_wgsl("k", text).expect("it is right");
        let run = device.run(&kernel).create("y", [1 << 15], DType::F32).groups([1, 1, 1]);
        let error = made(run).expect_err("the device lacks something");
        assert!(error.kind() != ErrorKind::Limit || error.help().is_some(), "{error:?}");
        (error.kind(), error.to_string())
    };
    let text = |head: &str, size: &str, body: &str| {
        format!(
            "{head} @group(3) @binding(1) var<storage, read_write> y: array<f32>;\n\
             @compute @workgroup_size({size}) fn any() {{ {body} }}"
        )
    };
    let limit = |text: &str| (ErrorKind::Limit, text.to_owned());
    for (lower, text, expected) in [
        (
            (|caps| caps) as fn(Caps) -> Caps,
            text("", "257", "y[0] = 1.0;"),
            limit("k: 257 invocations in x of a workgroup, the device takes 256"),
        ),
        (
            |caps| caps,
            text("", "1, 1, 65", "y[0] = 1.0;"),
            limit("k: 65 invocations in z of a workgroup, the device takes 64"),
        ),
        (
            |caps| caps,
            text("", "32, 16", "y[0] = 1.0;"),
            limit("k: 512 invocations of a workgroup, the device takes 256"),
        ),
        (
            |caps| caps,
            text("var<workgroup> w: array<f32, 4097>;", "1", "w[0] = 1.0; y[0] = w[1];"),
            limit("k: 16400 bytes of workgroup memory, the device takes 16384"),
        ),
        (
            |caps| caps.with_limit(Limit::BindingBytes, 1 << 16),
            text("", "1", "y[0] = 1.0;"),
            limit("k: binding y is given 128 KiB, one binding holds 64 KiB"),
        ),
        (
            |caps| caps,
            text("enable f16;", "1", "y[0] = f32(f16(y[1]));"),
            (ErrorKind::Rejected, "k: it needs shader-f16, which WebGPU baseline lacks".to_owned()),
        ),
        (
            |caps| caps,
            text("override N: u32;", "1", "y[0] = f32(N);"),
            (Shader, "k: override N has no value".to_owned()),
        ),
    ] {
        assert_eq!(refused(lower, &text), expected, "{text}");
    }
}

#[test]
fn metal_divides_pairs_of_wide_integers_and_no_single_ones() {
    let (metal, vulkan) = (fixtures::apple_m2(), fixtures::nvidia_vulkan());
    let pair = "(vec2<u64>(y[1]) / vec2<u64>(y[2])).x";
    for (caps, quotient, refused) in [
        (&metal, "y[1] / y[2]", true),
        (&metal, "y[1] % y[2]", true),
        (&metal, pair, false),
        (&vulkan, "y[1] / y[2]", false),
    ] {
        let text = format!(
            "@group(0) @binding(0) var<storage, read_write> y: array<u64>;\n\
             @compute @workgroup_size(1) fn any() {{ y[0] = {quotient}; }}"
        );
        let device = Device::on_paper(caps, &Policy::exact()).expect("it is on paper");
        let kernel = Kernel::from_wgsl("k", &text).expect("it is right");
        let run = device.run(&kernel).create("y", [4], DType::U64).groups([1, 1, 1]);
        let Err(error) = made(run) else {
            assert!(!refused, "{quotient} by {caps:?}");
            continue;
        };
        assert!(refused, "{error:?}");
        let begin = "k:2:47: it divides single integers of 64 bits, which Apple M2 cannot do by \
                     Metal\n";
        assert!(error.to_string().starts_with(begin), "{error}");
        assert_eq!(error.kind(), ErrorKind::Rejected);
        assert!(error.help().is_some_and(|help| help.contains("vec2<u64>(x)")), "{error:?}");
    }
}

#[test]
fn of_no_threads_nothing_runs_and_nothing_is_made() {
    let device = device(|caps| caps);
    let text = "@group(0) @binding(0) var<storage> x: array<f32>;
        @group(0) @binding(1) var<storage, read_write> y: array<f32>;
        @compute @workgroup_size(4) fn main(@builtin(global_invocation_id) at: vec3<u32>) {
            y[at.x] = x[at.x];
        }";
    let kernel = Kernel::from_wgsl("k", text).expect("it is right");
    let x = device.zeros([0, 3], DType::F32).expect("small");
    let run = |rows: usize, threads| {
        let run = device.run(&kernel).read("x", &x).create("y", [rows, 3], DType::F32);
        made(run.threads(threads))
    };
    for threads in [[0, 1, 1], [4, 1, 0]] {
        let y = run(0, threads).expect("there is nothing to do");
        assert_eq!(y.shape().dims(), [0, 3]);
        assert!(y.read_now::<f32>().expect("it is read").is_empty());
        let error = run(2, threads).expect_err("nothing would write it");
        assert_eq!(error.kind(), ErrorKind::Limit, "{error:?}");
        assert!(error.help().is_some_and(|help| help.starts_with("what is created")), "{error:?}");
    }
    assert_eq!(run(0, [4, 1, 1]).map_err(|error| error.kind()).err(), Some(ErrorKind::Shape));
    let mut state = device.ones([4], DType::F32).expect("small");
    let run = device.run(&kernel).read("x", &x).update("y", &mut state).threads([0, 1, 1]);
    let []: [Tensor; 0] = run.record().expect("nothing is changed");
    let [a, b] = [[1 << 27, 1], [1, 1 << 27]].map(|dims| device.zeros(dims, DType::U8));
    let large = (a.expect("small") + b.expect("small")).expect("it is deferred");
    let failed = large.slice(0, 0..0).expect("a view");
    let run = device.run(&kernel).read("x", &failed.cast(DType::F32).expect("deferred"));
    let run = run.create("y", [0], DType::F32).threads([0, 1, 1]);
    let error = made(run).expect_err("what it is given failed");
    assert!(error.to_string().starts_with("add u8"), "{error:?}");
}

#[test]
fn what_is_wrong_with_a_file_is_told_with_its_path() {
    let path = crate::scratch("kernel.wgsl");
    let shown = path.display().to_string();
    let told = |text: &str| {
        std::fs::write(&path, text).expect("it is written");
        Kernel::from_file(&path).map_err(|error| (error.kind(), error.to_string()))
    };
    let right = "@group(0) @binding(0) var<storage, read_write> y: array<f32>;\n\
                 @compute @workgroup_size(1) fn main() {\n    y[0] = 1.0;\n}";
    assert_eq!(told(right).expect("it is right").name(), shown, "its name");
    let wrong =
        format!("{shown}:3:12: no definition in scope for identifier: `z`\n  3 |     y[0] = z;");
    let (kind, found) = told(&right.replace("1.0", "z")).expect_err("there is no z");
    assert_eq!((kind, &found[..wrong.len()]), (Shader, &*wrong), "{found}");
    std::fs::remove_file(&path).expect("it is there");
    let error = Kernel::from_file(&path).expect_err("it is gone");
    assert_eq!(error.kind(), ErrorKind::File, "{error}");
    assert!(error.to_string().starts_with(&format!("{shown}: ")), "{error}");
}

/// More than what wharf's own kernels read: each may be deferred.
#[test]
fn as_many_tensors_are_bound_as_the_device_binds() {
    let mut caps = fixtures::lavapipe();
    caps.limits.storage_buffers_max = 20;
    let device = open(caps);
    let reads: Vec<String> = (0..20).map(|i| format!("x{i}")).collect();
    let run = |count: usize| {
        let bound = |(i, x): (usize, &String)| {
            format!("@group(0) @binding({i}) var<storage> {x}: array<f32>;\n")
        };
        let declared: String = reads[..count].iter().enumerate().map(bound).collect();
        let sum: Vec<_> = reads[..count].iter().map(|x| format!("{x}[0]")).collect();
        let text = format!(
            "{declared}@group(1) @binding(0) var<storage, read_write> y: array<f32>;\n\
             @compute @workgroup_size(1) fn main() {{ y[0] = {}; }}",
            sum.join(" + ")
        );
        let kernel = Kernel::from_wgsl("k", &text)?;
        let mut run = device.run(&kernel).create("y", [1], DType::F32).groups([1; 3]);
        for (i, x) in reads[..count].iter().enumerate() {
            run = run.read(x, &(device.ones([4], DType::F32)? * i)?);
        }
        made(run)?.compute()?;
        device.flush()
    };
    run(19).expect("20 bindings");
    let error = run(20).expect_err("21 bindings");
    assert_eq!(error.to_string(), "k: 21 storage bindings, the device takes 20");
}

#[test]
fn only_what_a_kernel_uses_is_needed() {
    let text = "enable f16;\n\
        @group(0) @binding(0) var<storage, read_write> y: array<f16>;\n\
        @compute @workgroup_size(1) fn main() { y[0] = 1.5h; }";
    let half = Kernel::from_wgsl("half", text).expect("it is right");
    let run = |device: &Device| {
        made(device.run(&half).create("y", [3], DType::F16).groups([1; 3])).map(drop)
    };
    let caps = fixtures::lavapipe();
    assert!(caps.has(Feature::ShaderF16), "the fixture has f16");
    run(&open(caps.clone())).expect("it has f16");
    let error = run(&open(caps.without(Feature::ShaderF16))).expect_err("it lacks f16");
    assert_eq!(error.kind(), ErrorKind::Rejected, "{error}");
    Stage::new(device(|caps| caps))
        .expect("it is right")
        .fed()
        .create("y", [4], DType::F32)
        .record()
        .map(|[_]: [_; 1]| ())
        .expect("a kernel without needs runs on a device without features");
}

const STEP: &str = "\
@group(0) @binding(0) var<storage> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> a: array<f32>;
@group(0) @binding(2) var<storage, read_write> b: array<f32>;
@compute @workgroup_size(1) fn main() { a[0] = x[0]; b[0] = x[0]; }";

#[test]
fn an_update_is_in_place_only_where_nobody_else_looks() {
    let device = device(|caps| caps);
    let step = Kernel::from_wgsl("step", STEP).expect("it is right");
    // Tensors too large to share a buffer.
    let large = || device.ones([1 << 20], DType::F32).expect("ones");
    let (x, mut a, mut b) = (large(), large(), large());
    let bytes = device.memory().bytes_live;
    let live = || device.memory().bytes_live - bytes;
    let record = |x: &Tensor, a: &mut Tensor, b: &mut Tensor| -> Result<()> {
        let run = device.run(&step).read("x", x).update("a", a).update("b", b);
        run.groups([1; 3]).record().map(|[]| ())
    };
    record(&x, &mut a, &mut b).expect("it is right");
    assert_eq!(live(), 0, "nobody else holds them");
    let before = a.clone();
    record(&x, &mut a, &mut b).expect("it is right");
    assert_eq!(live(), 4 << 20, "a copy of what a clone holds");
    drop(before);
    // What is updated is read too: its old values are.
    let old = a.clone();
    record(&old, &mut a, &mut b).expect("it is right");
    assert_eq!(live(), 4 << 20, "a copy of what is read");
    drop(old);
    assert_eq!(live(), 0, "the old values are gone");
    // Small ones lie in one buffer, which must not be read and written by one dispatch.
    let small = || device.ones([4], DType::F32).expect("ones");
    let (x, mut a, mut b) = (small(), small(), small());
    record(&x, &mut a, &mut b).expect("copied apart");
    device.flush().expect("it is submitted");
}

#[test]
fn a_failed_submission_poisons_every_result_and_nothing_else() {
    let device = device(|caps| caps);
    let step = Kernel::from_wgsl("step", STEP).expect("it is right");
    let x = device.ones([4], DType::F32).expect("ones");
    device.flush().expect("it is submitted");
    let run = device.run(&step).read("x", &x).create("a", [4], DType::F32);
    let [a, b] = run.create("b", [4], DType::F32).groups([1; 3]).record().expect("it is right");
    device.fail(Call::Submission, 0..1);
    let first = device.flush().expect_err("the submission fails").to_string();
    for made in [&a, &b] {
        let error = made.read_now::<f32>().expect_err("it was never computed");
        assert_eq!(error.to_string(), first, "the original error");
    }
    let next = device.run(&step).read("x", &a).create("a", [4], DType::F32);
    let refused = next.create("b", [4], DType::F32).groups([1; 3]).record().map(|[_, _]| ());
    let error = refused.expect_err("what it reads was never computed").to_string();
    assert!(error.ends_with(&first), "the original error: {error}");
    assert_eq!(x.read_now::<f32>().expect("it was computed before").len(), 4, "all of it");
}
