//! What each dtype becomes: the negotiator's answers as exact text, and what holds for every plan.

use wharf::caps::{Caps, Feature, Limit, fixtures};
use wharf::plan::{How, negotiate};
use wharf::{DType, Policy};

mod invariants;

/// The lines of a plan for these dtypes.
fn lines(caps: &Caps, policy: &Policy, dtypes: &[DType]) -> Vec<String> {
    let table = negotiate(caps, policy).to_string();
    let line = |d: &DType| table.lines().nth(1 + *d as usize).unwrap().to_owned();
    dtypes.iter().map(line).collect()
}

const WIDE: [DType; 3] = [DType::F64, DType::I64, DType::U64];

#[test]
fn the_baseline_stores_every_small_dtype_and_refuses_the_wide_ones() {
    let plan = negotiate(&Caps::webgpu_baseline(), &Policy::exact());
    let want = "\
dtype  how        stored    computed  because
f32    native     f32       f32
f16    packed     u32 (x2)  f32       adapter lacks shader-f16
bf16   packed     u32 (x2)  f32       no 16-bit type of this kind in WGSL
f64    rejected   -         -         adapter lacks shader-f64; allow f64 -> f32 to round
i8     packed     u32 (x4)  i32       no 8-bit type of this kind in WGSL
u8     packed     u32 (x4)  u32       no 8-bit type of this kind in WGSL
i16    packed     u32 (x2)  i32       no 16-bit type of this kind in WGSL
u16    packed     u32 (x2)  u32       no 16-bit type of this kind in WGSL
i32    native     i32       i32
u32    native     u32       u32
i64    rejected   -         -         adapter lacks shader-int64; allow i64 -> i32 with a range check
u64    rejected   -         -         adapter lacks shader-int64; allow u64 -> u32 with a range check
bool   packed     u32 (x4)  bool      no 8-bit type of this kind in WGSL
f8e4m3 packed     u32 (x4)  -         no 8-bit type of this kind in WGSL
f8e5m2 packed     u32 (x4)  -         no 8-bit type of this kind in WGSL";
    assert_eq!(plan.to_string(), want);
}

#[test]
fn lavapipe_has_everything_that_wgsl_has_a_type_for() {
    let plan = negotiate(&fixtures::lavapipe(), &Policy::exact());
    let want = "\
dtype  how        stored    computed  because
f32    native     f32       f32
f16    native     f16       f32
bf16   packed     u32 (x2)  f32       no 16-bit type of this kind in WGSL
f64    native     f64       f64
i8     packed     u32 (x4)  i32       no 8-bit type of this kind in WGSL
u8     packed     u32 (x4)  u32       no 8-bit type of this kind in WGSL
i16    packed     u32 (x2)  i32       no 16-bit type of this kind in WGSL
u16    packed     u32 (x2)  u32       no 16-bit type of this kind in WGSL
i32    native     i32       i32
u32    native     u32       u32
i64    native     i64       i64
u64    native     u64       u64
bool   packed     u32 (x4)  bool      no 8-bit type of this kind in WGSL
f8e4m3 packed     u32 (x4)  -         no 8-bit type of this kind in WGSL
f8e5m2 packed     u32 (x4)  -         no 8-bit type of this kind in WGSL";
    assert_eq!(plan.to_string(), want);
    let plan = |caps: &Caps| negotiate(caps, &Policy::exact()).to_string();
    assert_eq!(plan(&fixtures::navi21()), want, "navi21");
    // Where the driver reports cooperative matrices, the plan says what becomes of them.
    let nvidia = fixtures::nvidia_vulkan();
    let of = "cooperative matrices 16 x 16 of f16 in f32";
    let unasked = format!("{want}\n{of}: not asked for: needs `Adapter::experimental`");
    assert_eq!(plan(&nvidia), unasked, "nobody has allowed it");
    let allowed =
        Caps { features: nvidia.features.with(Feature::CooperativeMatrix), ..nvidia.clone() };
    assert_eq!(plan(&allowed), format!("{want}\n{of}: for `Device::tune` to time"), "allowed");
    assert_eq!(plan(&allowed.without(Feature::CooperativeMatrix)), want, "a downgrade");
    let lossless =
        negotiate(&fixtures::lavapipe(), &Policy::lossless().allow(DType::F64, DType::F16));
    assert_eq!(lossless.to_string(), want, "a permission that is not needed changes nothing");
}

#[test]
fn what_differs_from_adapter_to_adapter_is_f16_and_the_wide_dtypes() {
    let plans = fixtures::all().into_iter().map(|(name, caps)| {
        let plan = negotiate(&caps, &Policy::exact());
        let how = |d| plan.carriage(d).how.name();
        let [f16, f64, i64] = [DType::F16, DType::F64, DType::I64].map(how);
        format!("{name}: f16 {f16}, f64 {f64}, i64 {i64}")
    });
    let want = [
        "webgpu_baseline: f16 packed, f64 rejected, i64 rejected",
        "lavapipe: f16 native, f64 native, i64 native",
        "swiftshader: f16 packed, f64 rejected, i64 rejected",
        "llvmpipe_gl: f16 packed, f64 rejected, i64 rejected",
        "browser: f16 native, f64 rejected, i64 rejected",
        "apple_m2: f16 native, f64 rejected, i64 native",
        "nvidia_vulkan: f16 native, f64 native, i64 native",
        "dx12_without_dxc: f16 packed, f64 rejected, i64 rejected",
        "intel:skl: f16 native, f64 native, i64 native",
        "intel:tgl: f16 native, f64 rejected, i64 native",
        "intel:dg2: f16 native, f64 rejected, i64 native",
        "intel:mtl: f16 native, f64 native, i64 native",
        "intel:lnl: f16 native, f64 native, i64 native",
        "intel:bmg: f16 native, f64 native, i64 native",
        "amd:polaris10: f16 packed, f64 native, i64 native",
        "amd:vega10: f16 native, f64 native, i64 native",
        "amd:renoir: f16 native, f64 native, i64 native",
        "amd:navi10: f16 native, f64 native, i64 native",
        "amd:navi21: f16 native, f64 native, i64 native",
        "amd:navi31: f16 native, f64 native, i64 native",
        "amd:gfx1150: f16 native, f64 native, i64 native",
        "nvidia:162: f16 packed, f64 native, i64 native",
        "nvidia:172: f16 native, f64 native, i64 native",
        "adreno:618: f16 packed, f64 rejected, i64 native",
        "adreno:630: f16 packed, f64 rejected, i64 native",
        "adreno:660: f16 packed, f64 rejected, i64 native",
        "adreno:730: f16 packed, f64 rejected, i64 native",
        "adreno:740: f16 packed, f64 rejected, i64 native",
        "adreno:750: f16 packed, f64 rejected, i64 native",
    ];
    assert_eq!(plans.collect::<Vec<_>>(), want);
}

#[test]
fn what_is_allowed_by_name_is_converted_and_the_plan_says_so() {
    let policy = Policy::exact().allow(DType::F64, DType::F32);
    let want = [
        "f64    converted  f32       f32       adapter lacks shader-f64; policy allows f64 -> f32",
        "i64    rejected   -         -         adapter lacks shader-int64; \
         allow i64 -> i32 with a range check",
        "u64    rejected   -         -         adapter lacks shader-int64; \
         allow u64 -> u32 with a range check",
    ];
    assert_eq!(lines(&fixtures::swiftshader(), &policy, &WIDE), want);

    let policy = Policy::exact().allow(DType::I64, DType::I32).allow(DType::U64, DType::U32);
    let want = [
        "f64    rejected   -         -         adapter lacks shader-f64; allow f64 -> f32 to round",
        "i64    converted  i32       i32       adapter lacks shader-int64; \
         policy allows i64 -> i32",
        "u64    converted  u32       u32       adapter lacks shader-int64; \
         policy allows u64 -> u32",
    ];
    assert_eq!(lines(&fixtures::llvmpipe_gl(), &policy, &WIDE), want);
}

#[test]
fn lossless_names_the_condition() {
    let want = [
        "f64    converted  f32       f32       adapter lacks shader-f64; \
         f64 -> f32 where each value survives",
        "i64    converted  i32       i32       adapter lacks shader-int64; \
         i64 -> i32 where each value survives",
        "u64    converted  u32       u32       adapter lacks shader-int64; \
         u64 -> u32 where each value survives",
    ];
    assert_eq!(lines(&fixtures::dx12_without_dxc(), &Policy::lossless(), &WIDE), want);
    let to_f32 = Policy::lossless().allow(DType::F64, DType::F32);
    let plan = negotiate(&Caps::webgpu_baseline(), &to_f32);
    let named = How::Converted { to: DType::F32, lossless: false };
    assert_eq!(plan.carriage(DType::F64).how, named, "a name is more than lossless");
    let lossless = How::Converted { to: DType::I32, lossless: true };
    assert_eq!(plan.carriage(DType::I64).how, lossless);
}

#[test]
fn a_conversion_can_end_in_a_packed_dtype() {
    let policy = Policy::exact().allow(DType::F64, DType::F16).allow(DType::I64, DType::I8);
    let want = [
        "f64    converted  u32 (x2)  f32       adapter lacks shader-f64; policy allows f64 -> f16",
        "i64    converted  u32 (x4)  i32       adapter lacks shader-int64; policy allows i64 -> i8",
    ];
    assert_eq!(lines(&Caps::webgpu_baseline(), &policy, &WIDE[..2]), want);
    let want = [
        "f64    converted  f16       f32       adapter lacks shader-f64; policy allows f64 -> f16",
    ];
    assert_eq!(lines(&fixtures::browser(), &policy, &WIDE[..1]), want);
}

#[test]
fn what_cannot_be_converted_is_rejected_by_name() {
    let policy = Policy::exact().allow(DType::F64, DType::I32).allow(DType::U64, DType::U64);
    let want = [
        "f64    rejected   -         -         adapter lacks shader-f64; \
         f64 -> i32 is no conversion of an upload",
        "u64    rejected   -         -         adapter lacks shader-int64; \
         u64 -> u64 is no conversion of an upload",
    ];
    assert_eq!(lines(&Caps::webgpu_baseline(), &policy, &[DType::F64, DType::U64]), want);
    let policy = Policy::exact().allow(DType::I64, DType::U64);
    let want = ["i64    rejected   -         -         adapter lacks shader-int64; \
                 u64 cannot be stored either"];
    assert_eq!(lines(&Caps::webgpu_baseline(), &policy, &[DType::I64]), want, "u64 is lacking too");
}

#[test]
fn of_several_permissions_the_first_possible_counts() {
    let first = |policy: Policy| match negotiate(&Caps::webgpu_baseline(), &policy)
        .carriage(DType::F64)
        .how
    {
        How::Converted { to, .. } => to.name(),
        how => how.name(),
    };
    let (f64, exact) = (DType::F64, Policy::exact);
    assert_eq!(first(exact().allow(f64, DType::F16).allow(f64, DType::F32)), "f16");
    assert_eq!(first(exact().allow(f64, DType::F32).allow(f64, DType::F16)), "f32");
    assert_eq!(first(exact().allow(f64, DType::I32).allow(f64, DType::Bf16)), "bf16");
    assert_eq!(first(exact().allow(DType::F32, DType::F16)), "rejected", "for another dtype");
}

#[test]
fn an_adapter_that_cannot_run_kernels_carries_nothing() {
    let rows = [
        (fixtures::lavapipe().without(Feature::Compute), "adapter lacks compute-shaders"),
        (
            fixtures::navi21().with_limit(Limit::StorageBuffers, 4),
            "storage_buffers_max is 4, wharf needs 5",
        ),
        (
            fixtures::apple_m2().with_limit(Limit::Invocations, 128),
            "invocations_max is 128, wharf needs 256",
        ),
        (
            Caps::webgpu_baseline().with_limit(Limit::BindingBytes, 65_535),
            "binding_bytes_max is 65535, wharf needs 65536",
        ),
        (
            Caps::webgpu_baseline().with_limit(Limit::BufferBytes, 131_072),
            "buffer_bytes_max is 131072, wharf needs 262144",
        ),
    ];
    for (caps, because) in rows {
        for policy in [Policy::exact(), Policy::lossless().allow(DType::F64, DType::F32)] {
            for (dtype, line) in DType::ALL.iter().zip(lines(&caps, &policy, DType::ALL)) {
                assert_eq!(
                    line,
                    format!("{:<7}rejected   -         -         {because}", dtype.name())
                );
            }
        }
    }
}
