//! What a loader brings: bytes of any dtype at any alignment, dtypes named for the device, and
//! names that should be there.

use std::time::Duration;

use wharf::dtype::{f8e4m3, f8e5m2};
use wharf::half::{bf16, f16};
use wharf::plan::How;
use wharf::{DType, Error, ErrorKind, HostBytes, HostView, Shipment};

use super::capable;

/// Bytes that look random, the same in every run; those of a bool are 0 or 1.
pub(crate) fn bytes(dtype: DType, count: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        state.to_le_bytes()[7] & if dtype == DType::Bool { 1 } else { 0xff }
    };
    (0..count * dtype.width()).map(|_| next()).collect()
}

#[test]
fn bytes_of_every_dtype_arrive_from_every_alignment() {
    let device = capable();
    for dtype in DType::ALL.iter().copied() {
        let data = bytes(dtype, 3 * 701);
        for shift in 0..8 {
            let padded = [&vec![0xee; shift][..], &data].concat();
            let view = HostBytes::new(&padded[shift..], [3, 701], dtype).expect("it fits");
            let mut shipment = Shipment::new();
            shipment.add("x", view).expect("the first of its name");
            assert_eq!(format!("{shipment:?}"), format!("{{\"x\": {dtype} [3, 701] row-major}}"));
            let (set, receipt) = device.upload_set(&shipment).expect("lavapipe has all");
            assert!(receipt.is_exact() && receipt.bytes_host() == data.len() as u64, "{receipt}");
            assert!(raw(set.get("x").expect("it arrived")) == data, "{dtype} from {shift}");
        }
    }
}

/// The bytes of a tensor.
pub(crate) fn raw(tensor: &wharf::Tensor) -> Vec<u8> {
    macro_rules! of {
        ($($dtype:ident $ty:ty),*) => {
            match tensor.dtype() {
                $(DType::$dtype => {
                    let values = tensor.read_now::<$ty>().expect("it is read");
                    bytemuck::cast_slice(&values).to_vec()
                })*
                DType::Bool => {
                    let values = tensor.read_now::<bool>().expect("it is read");
                    values.into_iter().map(u8::from).collect()
                }
                dtype => unreachable!("no host type of {dtype} is here"),
            }
        };
    }
    of!(F32 f32, F16 f16, Bf16 bf16, F64 f64, I8 i8, U8 u8, I16 i16, U16 u16, I32 i32,
        U32 u32, I64 i64, U64 u64, F8E4M3 f8e4m3, F8E5M2 f8e5m2)
}

#[test]
fn a_named_dtype_is_what_upload_as_makes_of_it() {
    let device = capable();
    let values: Vec<f32> = (0..5000).map(|i| (i as f32 - 2500.0) * 33.3).collect();
    let data: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
    let padded = [&[0xee][..], &data].concat();
    for to in [DType::F16, DType::Bf16, DType::F64, DType::F32] {
        let (tensor, alone) = device.upload_as(&values, 5000, to).expect("a conversion");
        let mut shipment = Shipment::new();
        let odd = HostBytes::new(&padded[1..], 5000, DType::F32).expect("it fits");
        let even = HostView::new(&values, 5000).expect("it fits");
        shipment.add_as("odd", odd, to).expect("new").add_as("even", even, to).expect("new");
        let (set, receipt) = device.upload_set(&shipment).expect("a conversion");
        for name in ["odd", "even"] {
            let one = receipt.get(name).expect("it was carried");
            assert_eq!((one.tally, one.how, one.to), (alone.tally, alone.how, to), "{name}");
            assert_eq!(raw(set.get(name).expect("it arrived")), raw(&tensor), "{name} as {to}");
        }
        assert_eq!(alone.how == How::Native, to == DType::F32, "{alone}");
    }
}

#[test]
fn what_is_converted_on_its_way_never_takes_its_old_size() {
    let device = capable();
    let values = vec![1.5f32; 8 << 20];
    let mut shipment = Shipment::new();
    let view = HostView::new(&values, values.len()).expect("it fits");
    shipment.add_as("x", view, DType::F16).expect("new");
    let (_, receipt) = device.upload_set(&shipment).expect("it fits");
    assert_eq!((receipt.bytes_host(), receipt.bytes_staged()), (32 << 20, 16 << 20));
    let peak = device.memory().bytes_live_peak;
    assert_eq!(peak, 16 << 20, "of 32 MiB of f32");
}

#[test]
fn what_is_no_tensor_is_said_with_both_numbers() {
    let seven = [0u8; 7];
    let error = HostBytes::new(&seven, [2], DType::F32).expect_err("a byte is missing");
    assert_eq!(error.to_string(), "7 bytes for [2] of f32, which has 8");
    assert_eq!(error.kind(), ErrorKind::Shape, "{error}");
    let huge = HostBytes::new(&seven, [1 << 62], DType::F64).expect_err("no memory has it");
    let text = "7 bytes for [4611686018427387904] of f64, which has 36893488147419103232";
    assert_eq!(huge.to_string(), text);
    let error = HostBytes::new(&[0, 1, 1, 7], 4, DType::Bool).expect_err("7 is no bool");
    assert_eq!(error.to_string(), "byte 7 at index 3 is no bool, which is 0 or 1");
    assert_eq!(error.kind(), ErrorKind::Conversion, "{error}");
    let mut shipment = Shipment::new();
    let view = HostView::new(&[0.5f32], 1).expect("one");
    shipment.add_as("weights", view, DType::I32).expect("new");
    let error = capable().upload_set(&shipment).expect_err("an upload makes no integers of floats");
    let text = "tensor \"weights\": no conversion f32 -> i32 between host and device";
    assert_eq!(error.to_string(), text);
    let missing = Error::missing("bias");
    assert_eq!(missing.to_string(), "there is no tensor \"bias\"");
    assert!(missing.help().is_some_and(|help| help.contains("names")), "{missing:?}");
}

#[test]
fn progress_knows_its_rate_and_what_is_left() {
    let device = capable();
    let values = vec![0u32; 1 << 20];
    let mut shipment = Shipment::new();
    for name in ["x", "y", "z"] {
        shipment.add(name, HostView::new(&values, values.len()).expect("it fits")).expect("new");
    }
    let mut seen = Vec::new();
    let _ = device
        .upload_set_with(&shipment, |progress| {
            let rate = progress.bytes_done as f64 / progress.elapsed.as_secs_f64();
            assert!((progress.bytes_per_second() - rate).abs() <= rate * 1e-9, "{progress:?}");
            let left = (progress.bytes_total - progress.bytes_done) as f64 / rate;
            let said = progress.time_left().expect("time has passed").as_secs_f64();
            assert!((said - left).abs() < 1e-6, "{progress:?}: {said}, not {left}");
            seen.push(progress.elapsed);
        })
        .expect("it fits");
    assert!(seen.len() > 1 && seen.is_sorted() && seen[0] > Duration::ZERO, "{seen:?}");
}
