//! Every error of uploads, reads, memory and guards, as exact text, on a device that only stores.

use wharf::caps::{Caps, Feature, Limit, fixtures};
use wharf::ledger::Crossings;
use wharf::testing::{Call, Inside};
use wharf::{DType, ErrorKind, Policy, Tensor, wgpu};

use super::support::{adapter, baseline, capable, device, says};

fn tensor() -> Tensor {
    capable().upload(&[1.0f32, 2.0, 3.0], [3]).unwrap().0
}

#[test]
fn counts_and_dtypes_of_reads() {
    let count = "give a shape whose product is the length of the data";
    says(
        capable().upload(&[1u8, 2], [3]),
        ErrorKind::Shape,
        "data has 2 elements, shape [3] has 3",
        count,
    );
    let mut short = [0.0f32; 2];
    says(
        tensor().read_into_now(&mut short),
        ErrorKind::Shape,
        "data has 2 elements, shape [3] has 3",
        count,
    );
    says(
        tensor().read_now::<f64>(),
        ErrorKind::DType,
        "tensor is f32, read asks for f64",
        "read it as f32, or ask for a conversion: `read_as::<f64>()`",
    );
    says(
        tensor().read_now::<i32>(),
        ErrorKind::DType,
        "tensor is f32, read asks for i32",
        "read it as f32, or cast it before, `cast(DType::I32)`",
    );
    says(
        tensor().read_scalar_now::<f32>(),
        ErrorKind::Shape,
        "[3] has 3 elements, not 1",
        "`read_now()` reads any number of elements",
    );
}

#[test]
fn sizes_whose_sum_overflows() {
    says(
        tensor().split(0, &[usize::MAX, 4]),
        ErrorKind::Shape,
        "split: sizes [18446744073709551615, 4] are 18446744073709551619, axis 0 has 3",
        "the sizes add up to 3; `chunk` and `split_evenly` take how many parts",
    );
}

#[test]
fn a_mask_of_integers_could_mean_either() {
    let device = capable();
    let x = device.zeros([1, 3, 4], DType::F32).unwrap();
    let mask = device.ones([3, 3], DType::I64).unwrap();
    says(
        x.attention(&x, &x, &wharf::tensor::Attention::new().masked(&mask)),
        ErrorKind::DType,
        "attention: mask: i64, not bool or a float",
        "compute in another dtype and cast: `cast(dtype)`",
    );
}

#[test]
fn numbers_that_a_dtype_has_not() {
    let help = "take a dtype that has it; a tensor becomes one by `cast(dtype)`";
    let device = capable();
    says(
        device.full([2], 300, DType::U8),
        ErrorKind::DType,
        "full: scalar 300 is not a value of u8",
        help,
    );
    says(
        device.arange(0, 300, 1, DType::U8),
        ErrorKind::DType,
        "arange: scalar 299 is not a value of u8",
        help,
    );
}

#[test]
fn dtypes_that_the_plan_rejects() {
    let exact = baseline(&Policy::exact());
    says(
        exact.upload(&[1.0f64], [1]),
        ErrorKind::Rejected,
        "f64 cannot be stored: WebGPU baseline lacks shader-f64",
        "write numbers as f32: `1.0f32`; round and get a receipt: \
         `Policy::exact().allow(DType::F64, DType::F32)`; or keep only exact values: \
         `Policy::lossless()`",
    );
    says(
        exact.upload(&[1i64], [1]),
        ErrorKind::Rejected,
        "i64 cannot be stored: WebGPU baseline lacks shader-int64",
        "narrow with a range check: `Policy::exact().allow(DType::I64, DType::I32)`",
    );
    says(
        device(fixtures::dx12_without_dxc(), &Policy::exact()).upload(&[1i64], [1]),
        ErrorKind::Rejected,
        "i64 cannot be stored: NVIDIA GeForce GTX 1060 6GB lacks shader-int64",
        "DX12 has it by DXC only: lay dxcompiler.dll (1.8.2502 or later) beside the program, or \
         build with wgpu's feature `static-dxc`; or narrow with a range check: \
         `Policy::exact().allow(DType::I64, DType::I32)`",
    );
    says(
        exact.fit([1], DType::U64),
        ErrorKind::Rejected,
        "u64 cannot be stored: WebGPU baseline lacks shader-int64",
        "narrow with a range check: `Policy::exact().allow(DType::U64, DType::U32)`",
    );
    says(
        baseline(&Policy::exact().allow(DType::F64, DType::I32)).upload(&[1.0f64], [1]),
        ErrorKind::Rejected,
        "f64 cannot be stored: WebGPU baseline lacks shader-f64",
        "allow another dtype, or convert on the host",
    );
}

#[test]
fn integers_out_of_range() {
    let device =
        baseline(&Policy::exact().allow(DType::I64, DType::I32).allow(DType::U64, DType::U32));
    let help = |from| match from {
        DType::I64 => "carry it as i64 on an adapter that has it, or bring the value into range",
        DType::U64 => "carry it as u64 on an adapter that has it, or bring the value into range",
        _ => "carry it as i8 on an adapter that has it, or bring the value into range",
    };
    says(
        device.upload(&[0i64, 1, 1 << 40, 1 << 41], [4]),
        ErrorKind::Conversion,
        "i64 -> i32: value 1099511627776 at index 2 is out of range",
        help(DType::I64),
    );
    let mut late = vec![0u64; 5000];
    late[4321] = 1 << 32;
    says(
        device.upload(&late, [5000]),
        ErrorKind::Conversion,
        "u64 -> u32: value 4294967296 at index 4321 is out of range",
        help(DType::U64),
    );
    says(
        device.upload_as(&[-1i8], [1], DType::U32),
        ErrorKind::Conversion,
        "i8 -> u32: value -1 at index 0 is out of range",
        help(DType::I8),
    );
    let (fits, _) = device.upload(&[i64::from(i32::MIN), 7], [2]).unwrap();
    assert_eq!(fits.read_now::<i32>().unwrap(), [i32::MIN, 7], "what fits crosses");
}

#[test]
fn values_that_may_not_change() {
    let lossless = baseline(&Policy::lossless());
    says(
        lossless.upload(&[1.0, 0.1], [2]),
        ErrorKind::Conversion,
        "f64 -> f32: value 0.1 at index 1 has no exact f32",
        "have roundings counted instead of refused: `.allow(DType::F64, DType::F32)`",
    );
    says(
        lossless.upload(&[1i64 << 40], [1]),
        ErrorKind::Conversion,
        "i64 -> i32: value 1099511627776 at index 0 is out of range",
        "carry it as i64 on an adapter that has it, or bring the value into range",
    );
    // What the plan narrows is allowed, not what was brought.
    says(
        lossless.upload_as(&[16_777_217i32], [1], DType::F64),
        ErrorKind::Conversion,
        "i32 -> f32: value 16777217 at index 0 has no exact f32",
        "have roundings counted instead of refused: `.allow(DType::F64, DType::F32)`",
    );
    let (kept, receipt) = lossless.upload(&[1.0, f64::NAN, -0.0], [3]).unwrap();
    assert_eq!(receipt.tally.exact, 2, "what survives crosses");
    assert_eq!(kept.read_now::<f32>().unwrap()[0].to_bits(), 1.0f32.to_bits());

    let policy = Policy::exact().allow(DType::F64, DType::F32).overflow_is_error();
    says(
        baseline(&policy).upload(&[0.1, f64::INFINITY, 1e39, -1e39], [4]),
        ErrorKind::Conversion,
        "f64 -> f32: value 1e39 at index 2 overflows to infinity",
        "scale the data, or leave out `overflow_is_error()` to have overflows counted",
    );
}

#[test]
fn conversions_that_do_not_exist() {
    let help = "convert on the host, or cast on the device";
    let device = capable();
    let rows = [
        (
            device.upload_as(&[1.0f32], [1], DType::I32),
            "no conversion f32 -> i32 between host and device",
        ),
        (
            device.upload_as(&[1i32], [1], DType::Bool),
            "no conversion i32 -> bool between host and device",
        ),
    ];
    for (result, text) in rows {
        says(result, ErrorKind::DType, text, help);
    }
}

#[test]
fn memory_that_runs_out() {
    let device = capable();
    device.set_cap(Some(1000));
    says(
        device.upload(&[0u8; 5000], [5000]),
        ErrorKind::OutOfMemory,
        "out of memory: the cap refuses 4.9 KiB; live 0 B, pooled 0 B, largest free 0 B, \
         cap 1000 B",
        "drop tensors, raise the cap (`device.set_cap`), or split the tensor; unused memory has \
         already been given back",
    );
    device.set_cap(None);
    assert!(device.upload(&[0u8; 5000], [5000]).is_ok(), "a lifted cap is lifted");
}

/// What is wharf's own has no numbers of the store: it says what it was for, and never "live 0 B".
#[test]
fn memory_that_the_driver_has_not() {
    let device = capable();
    let (x, _) = device.upload(&[1.5f32; 1000], [1000]).expect("there is memory");
    let help = "drop tensors, give unused memory back (`device.trim()`), or close what else uses \
                this GPU; `device.memory()` shows what is held";
    let sum = x.sum([0]).expect("nothing runs");
    device.fail(Call::Allocation, 2..u64::MAX);
    let message = "sum f32 []: out of memory: the driver refuses memory for reduce_rows";
    says(sum.read_now::<f32>(), ErrorKind::OutOfMemory, message, help);
    device.fail(Call::Allocation, 0..u64::MAX);
    let message = "out of memory: the driver refuses 64 KiB for wharf.read.staging";
    says(x.read_now::<f32>(), ErrorKind::OutOfMemory, message, help);
}

#[test]
fn a_failed_allocation_is_tried_again_and_only_then_an_error() {
    let device = capable();
    device.fail(Call::Allocation, 0..1);
    let (tensor, _) = device.upload(&[1u8, 2, 3], [3]).unwrap();
    assert_eq!(tensor.read_now::<u8>().unwrap(), [1, 2, 3], "the retry succeeded");
}

#[test]
fn sizes_beyond_any_memory() {
    let value = [1u8];
    let shape = [1usize << 61];
    let view = wharf::HostView::strided(&value, shape, &[0], 0).unwrap();
    says(
        capable().upload_view(view),
        ErrorKind::Limit,
        "the tensor needs 2305843009213693952 bytes, the largest size is 1152921504606846976",
        "split the tensor",
    );
    says(
        capable().fit([1 << 62], DType::F64),
        ErrorKind::Limit,
        "the tensor needs 36893488147419103232 bytes, the largest size is 1152921504606846976",
        "split the tensor",
    );
}

#[test]
fn a_guard_names_the_line_that_asked() {
    let device = capable();
    let (tensor, _) = device.upload(&[1.0f32], ()).unwrap();
    let guard = device.guard(Crossings::Deny);
    let (up, line) = (device.upload(&[1.0f32], ()), line!());
    let down = tensor.read_now::<f32>();
    drop(guard);
    let help = "move it out of the guarded region, or guard with `Crossings::Log` to see them all";
    let text = up.as_ref().err().unwrap().to_string();
    let at = format!("crossing up denied: upload at {}:{line}:", file!());
    assert!(text.starts_with(&at), "{text} begins with {at}");
    let down = down.err().unwrap();
    let at = format!("crossing down denied: read_now at {}:{}:", file!(), line + 1);
    assert!(down.to_string().starts_with(&at), "{down} begins with {at}");
    for error in [up.err().unwrap(), down] {
        assert_eq!(
            (error.kind(), error.help().as_deref()),
            (ErrorKind::Denied, Some(help)),
            "{error}"
        );
    }
    assert_eq!(
        tensor.read_scalar_now::<f32>().unwrap().to_bits(),
        1.0f32.to_bits(),
        "the guard is gone"
    );
    assert_eq!(device.ledger().up.count, 1, "what is denied is not in the ledger");
}

#[test]
fn the_innermost_guard_counts() {
    let device = capable();
    let outer = device.guard(Crossings::Deny);
    let inner = device.guard(Crossings::Allow);
    assert!(device.upload(&[1u8], ()).is_ok(), "allowed inside");
    drop(inner);
    assert!(device.upload(&[1u8], ()).is_err(), "denied again");
    let other = device.with_policy(&Policy::lossless());
    assert!(other.upload(&[1u8], ()).is_err(), "for every handle");
    drop(outer);
    assert!(device.upload(&[1u8], ()).is_ok(), "allowed again");
}

/// A device made by somebody else, with what WebGPU guarantees and no more.
fn foreign() -> (wgpu::Device, wgpu::Queue) {
    wgpu::Device::noop(&wgpu::DeviceDescriptor::default())
}

#[test]
fn an_adopted_device_is_cut_down_to_what_it_was_created_with() {
    let adapter = adapter(fixtures::lavapipe());
    let plan = adapter.negotiate(&Policy::exact().allow(DType::F64, DType::F32));
    let (device, queue) = foreign();
    let device = adapter.adopt(&plan, device, queue).unwrap();
    assert!(!device.caps().has(Feature::ShaderF64), "not requested, not there");
    assert_eq!(device.caps().limits.storage_buffers_max, 8, "the baseline's");
    assert_eq!(device.caps().limits.binding_bytes_max, 128 << 20);
    let (tensor, receipt) = device.upload(&[0.5f64, 0.25], [2]).unwrap();
    assert_eq!((tensor.dtype(), receipt.is_exact()), (DType::F32, true));
    assert_eq!(tensor.read_now::<f32>().unwrap(), [0.5, 0.25]);
}

#[test]
fn adopting_obeys_the_rules_of_opening() {
    let own = fixtures::lavapipe();
    let (device, queue) = foreign();
    let plan = wharf::plan::negotiate(&Caps::webgpu_baseline(), &Policy::exact());
    let error = adapter(own.clone()).adopt(&plan, device, queue).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Mismatch, "{error}");
    let (device, queue) = foreign();
    let plan = wharf::plan::negotiate(&own, &Policy::exact());
    let less = own.with_limit(Limit::Groups, 1000);
    let error = adapter(less).adopt(&plan, device, queue).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Mismatch, "{error}");
}

#[test]
fn an_adopted_device_that_was_made_with_too_little() {
    let adapter = adapter(fixtures::lavapipe());
    let limits = wgpu::Limits { max_storage_buffers_per_shader_stage: 4, ..Default::default() };
    let descriptor = wgpu::DeviceDescriptor { required_limits: limits, ..Default::default() };
    let (device, queue) = wgpu::Device::noop(&descriptor);
    says(
        adapter.adopt(&adapter.negotiate(&Policy::exact()), device, queue),
        ErrorKind::Adapter,
        "the device cannot run wharf: storage_buffers_max is 4, wharf needs 5",
        "create it with more: `required_limits: adapter.limits()`",
    );
}

const OURS: &str = "this is a mistake of wharf's own, neither yours nor the driver's: please report it \
                    with this message and the output of the doctor";

/// A call that wgpu refuses before any driver sees it should not have been made.
#[test]
fn mistakes_of_our_own_ask_for_a_report() {
    let version = env!("CARGO_PKG_VERSION");
    let text = format!(
        "wharf.test failed in wharf itself: Validation Error\n\nCaused by:\n  \
         In Device::create_buffer, label = 'wharf.test'\n    \
         Buffer size 1099511627776 is greater than the maximum buffer size (2147483647) \
         (wharf {version} on llvmpipe (LLVM 15.0.6, 256 bits) (vulkan), \
         llvmpipe Mesa 22.3.6 (LLVM 15.0.6))"
    );
    says(capable().ask_driver_for(1 << 40), ErrorKind::Internal, &text, OURS);
}

#[test]
fn destinations_beyond_the_reach_of_a_word() {
    let device = capable();
    let zeros = |shape: [usize; 2], dtype| {
        device.zeros([1, 1], dtype).and_then(|zero| zero.broadcast_to(shape)).unwrap()
    };
    let (side, x) = (1 << 17, zeros([1 << 17; 2], DType::F32));
    says(
        x.scatter_add(1, &zeros([side, 1], DType::U32), &zeros([side, 1], DType::F32)),
        ErrorKind::Limit,
        "scatter_add: an indexed tensor needs 17179869184 elements, the reach of an index is \
         4294967292",
        "split the tensor",
    );
}
