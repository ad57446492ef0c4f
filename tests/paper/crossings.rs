//! There and back on a device that only stores: every dtype bit by bit, every layout, every length,
//! any limits.

use half::{bf16, f16};
use wharf::caps::{Caps, Feature, Limit, fixtures};
use wharf::plan::How;
use wharf::{DType, Device, Element, HostView, Policy};

use super::support::{Random, baseline, bits, capable, device};

/// Ragged lengths, and those around what fits in one word, one block, one slot.
const LENGTHS: [usize; 13] = [0, 1, 2, 3, 4, 5, 31, 32, 33, 1023, 1024, 1025, 4099];

/// Carries random bits up and down, and says how they were stored.
#[track_caller]
fn round_trip<T: Element>(device: &Device, random: &mut Random, n: usize) -> wharf::Receipt {
    let values = random.values::<T>(n);
    let (tensor, receipt) = device.upload(&values, [n]).unwrap();
    assert_eq!(tensor.dtype(), T::DTYPE, "bits are kept as they are");
    assert_eq!(receipt.tally.values(), n as u64, "{receipt}");
    assert_eq!(receipt.tally.exact, n as u64, "NaNs too are exact where bits are kept: {receipt}");
    let back = tensor.read_now::<T>().unwrap();
    assert!(bits(&back) == bits(&values), "{n} values of {} come back bit by bit", T::DTYPE);
    let mut slice = vec![T::default(); n];
    pollster::block_on(tensor.read_into(&mut slice)).unwrap();
    assert!(bits(&slice) == bits(&values), "{n} values of {} into a slice", T::DTYPE);
    receipt
}

/// Every dtype that a device stores as it is.
fn every_dtype(device: &Device, random: &mut Random, lengths: &[usize]) {
    let stored = |dtype: DType| {
        let how = device.plan().carriage(dtype).how;
        matches!(how, How::Native | How::Packed)
    };
    for &n in lengths {
        let _ = round_trip::<f32>(device, random, n);
        let _ = round_trip::<f16>(device, random, n);
        let _ = round_trip::<bf16>(device, random, n);
        let _ = round_trip::<i8>(device, random, n);
        let _ = round_trip::<u8>(device, random, n);
        let _ = round_trip::<i16>(device, random, n);
        let _ = round_trip::<u16>(device, random, n);
        let _ = round_trip::<i32>(device, random, n);
        let _ = round_trip::<u32>(device, random, n);
        let _ = round_trip::<bool>(device, random, n);
        if stored(DType::F64) {
            let _ = round_trip::<f64>(device, random, n);
        }
        if stored(DType::I64) {
            let _ = round_trip::<i64>(device, random, n);
            let _ = round_trip::<u64>(device, random, n);
        }
    }
}

#[test]
fn every_dtype_comes_back_bit_by_bit_at_every_length() {
    let mut random = Random::new(0xc0de);
    every_dtype(&capable(), &mut random, &LENGTHS);
    every_dtype(&baseline(&Policy::exact()), &mut random, &LENGTHS);
}

#[test]
fn special_values_keep_their_bits() {
    let f32s: Vec<f32> =
        [0x7fc0_0001, 0xffc1_2345, 0x7f80_0001, 0x7f80_0000, 0x8000_0000, 1, 0x007f_ffff]
            .map(f32::from_bits)
            .into();
    let (tensor, _) = capable().upload(&f32s, [7]).unwrap();
    assert_eq!(
        bits(&tensor.read_now::<f32>().unwrap()),
        bits(&f32s),
        "signalling NaNs, subnormals"
    );
    let f64s: Vec<f64> =
        [0x7ff0_0000_0000_0001, 0xfff8_dead_beef_0000, 1, 1 << 63].map(f64::from_bits).into();
    let (tensor, _) = capable().upload(&f64s, [2, 2]).unwrap();
    assert_eq!(bits(&tensor.read_now::<f64>().unwrap()), bits(&f64s), "of 64 bits");
    for device in [capable(), baseline(&Policy::exact())] {
        let f16s: Vec<f16> = (0..=u16::MAX).map(f16::from_bits).collect();
        let (tensor, _) = device.upload(&f16s, [256, 256]).unwrap();
        assert!(bits(&tensor.read_now::<f16>().unwrap()) == bits(&f16s), "all 65536 of f16");
        let bf16s: Vec<bf16> = (0..=u16::MAX).map(bf16::from_bits).collect();
        let (tensor, _) = device.upload(&bf16s, [65_536]).unwrap();
        assert!(bits(&tensor.read_now::<bf16>().unwrap()) == bits(&bf16s), "all 65536 of bf16");
    }
}

#[test]
fn shapes_survive_empty_and_scalar_ones_too() {
    let device = capable();
    let (scalar, _) = device.upload(&[7i64], ()).unwrap();
    assert_eq!(scalar.read_scalar_now::<i64>().unwrap(), 7);
    assert_eq!(scalar.shape().rank(), 0);
    for dims in [vec![0], vec![3, 0], vec![0, 0, 0], vec![1, 0, 1, 1, 1, 1, 1, 9]] {
        let (empty, receipt) = device.upload::<f32>(&[], &dims).unwrap();
        assert_eq!(empty.shape().dims(), dims);
        assert_eq!(empty.read_now::<f32>().unwrap(), [0f32; 0], "{dims:?} has nothing to read");
        assert_eq!((receipt.bytes_staged, receipt.segments), (0, 0), "{dims:?} takes no memory");
    }
    let (deep, _) = device.upload(&[true, false], [1, 1, 1, 2, 1, 1, 1, 1]).unwrap();
    assert_eq!(deep.read_now::<bool>().unwrap(), [true, false]);
}

/// A view of every kind over the same data.
fn views(data: &[u16]) -> Vec<(&'static str, HostView<'_, u16>)> {
    let strided = |dims: &[usize], strides: &[isize], offset| {
        HostView::strided(data, dims, strides, offset).unwrap()
    };
    vec![
        ("column-major", HostView::column_major(data, [50, 60]).unwrap()),
        ("reversed", strided(&[50, 60], &[-60, -1], 2999)),
        ("upside down", strided(&[50, 60], &[-60, 1], 2940)),
        ("rows repeated", strided(&[50, 60], &[0, 1], 60)),
        ("one value", strided(&[50, 60], &[0, 0], 77)),
        ("every third", strided(&[1000], &[3], 2)),
        ("a window", strided(&[10, 10], &[60, 1], 65)),
        ("windows that overlap", strided(&[2991, 10], &[1, 1], 0)),
        ("permuted", strided(&[5, 60, 10], &[1, 50, 5], 0)),
        ("empty", strided(&[0, 4], &[1, 1], 0)),
    ]
}

#[test]
fn any_layout_arrives_row_major() {
    let data: Vec<u16> = (0..3000).collect();
    let (as_bits, converted) = (capable(), capable());
    for (name, view) in views(&data) {
        let (tensor, receipt) = as_bits.upload_view(view).unwrap();
        assert_eq!(tensor.read_now::<u16>().unwrap(), view.iter().collect::<Vec<_>>(), "{name}");
        assert!(tensor.layout().is_dense(), "{name} is row-major on the device");
        assert_eq!(receipt.layout_from, *view.layout(), "{name}: the receipt knows the layout");
        assert_eq!(receipt.layout_to, *tensor.layout(), "{name}");
        let gathered = view.iter().collect::<Vec<_>>();
        let (tensor, receipt) = converted.upload_as(&gathered, *view.shape(), DType::F32).unwrap();
        let want: Vec<f32> = gathered.iter().copied().map(f32::from).collect();
        assert_eq!(tensor.read_now::<f32>().unwrap(), want, "{name}, converted");
        assert!(receipt.is_exact(), "{name}: u16 fits in f32");
    }
}

#[test]
fn a_strided_view_is_converted_in_the_order_of_its_indices() {
    let data: Vec<f64> = (0..6000).map(|i| f64::from(i) / 7.0).collect();
    let device = baseline(&Policy::exact().allow(DType::F64, DType::F32));
    let view = HostView::strided(&data, [75, 80], &[-1, 75], 74).unwrap();
    let (tensor, receipt) = device.upload_view(view).unwrap();
    let want: Vec<f32> = view.iter().map(|v| v as f32).collect();
    assert_eq!(tensor.read_now::<f32>().unwrap(), want);
    let first = view.iter().position(|v| f64::from(v as f32) != v).unwrap();
    assert_eq!(
        receipt.tally.first_changed,
        Some(first as u64),
        "indices count the view's elements"
    );
}

const CHUNK: usize = 4 << 20;

#[test]
fn chunks_end_anywhere() {
    let mut random = Random::new(0xb10c);
    let device = capable();
    for n in [CHUNK - 1, CHUNK, CHUNK + 1] {
        let _ = round_trip::<u8>(&device, &mut random, n);
        let _ = round_trip::<u16>(&device, &mut random, n / 2 + usize::from(n % 2 == 1));
    }
    for n in [CHUNK / 4 - 1, CHUNK / 4, CHUNK / 4 + 1] {
        let _ = round_trip::<f32>(&device, &mut random, n);
    }
    for n in [CHUNK / 8 - 1, CHUNK / 8, CHUNK / 8 + 1] {
        let _ = round_trip::<u64>(&device, &mut random, n);
    }
}

#[test]
fn conversions_go_on_across_chunks() {
    let device = baseline(&Policy::exact().allow(DType::U64, DType::U32));
    for n in [CHUNK / 4 - 1, CHUNK / 4, CHUNK / 4 + 1] {
        let values: Vec<u64> =
            (0..n as u64).map(|i| i.wrapping_mul(2_654_435_761) % (1 << 32)).collect();
        let (tensor, receipt) = device.upload(&values, [n]).unwrap();
        assert_eq!(receipt.tally.exact, n as u64, "{n} values");
        let same = tensor.read_now::<u32>().unwrap().into_iter().map(u64::from).eq(values);
        assert!(same, "{n} values arrive");
    }
    let mut values = vec![1u64; CHUNK / 4 + 2];
    values[CHUNK / 4 + 1] = 1 << 33;
    let text = device.upload(&values, [values.len()]).err().unwrap().to_string();
    assert_eq!(text, "u64 -> u32: value 8589934592 at index 1048577 is out of range");
}

#[test]
fn a_tensor_of_many_segments_is_one_tensor() {
    let mut random = Random::new(0x5e6);
    for binding in [1 << 16, 100_000, 1 << 18, 1 << 20] {
        let caps = fixtures::lavapipe()
            .with_limit(Limit::BindingBytes, binding)
            .with_limit(Limit::StorageAlign, 256);
        let device = device(caps, &Policy::exact());
        for bytes in [0, 1, 65_535, 65_536, 65_537, 131_073, 300_000, 1_234_567] {
            let receipt = round_trip::<u8>(&device, &mut random, bytes);
            let least = (bytes as u64).div_ceil(binding);
            assert!(
                receipt.segments >= least,
                "{bytes} bytes in bindings of {binding}: {receipt:#}"
            );
            assert!(receipt.bytes_device >= bytes as u64, "all of it: {receipt:#}");
            let _ = round_trip::<bf16>(&device, &mut random, bytes / 2 + 1);
            let _ = round_trip::<f32>(&device, &mut random, bytes / 4 + 1);
            let _ = round_trip::<i64>(&device, &mut random, bytes / 8 + 1);
        }
    }
}

#[test]
fn baseline_limits_and_every_lacking_feature_still_carry() {
    let mut random = Random::new(0xfee7);
    let lengths = [0, 1, 5, 1025];
    for (name, caps) in fixtures::all() {
        let opened = device(caps.clone().with_baseline_limits(), &Policy::exact());
        assert_eq!(opened.caps().limits.binding_bytes_max, 128 << 20, "{name}");
        every_dtype(&opened, &mut random, &lengths);
    }
    for feature in Feature::ALL.iter().copied().filter(|f| *f != Feature::Compute) {
        let caps = fixtures::lavapipe().without(feature);
        every_dtype(&device(caps, &Policy::exact()), &mut random, &lengths);
    }
}

#[test]
fn the_books_balance() {
    let device = capable();
    let (tensor, _) = device.upload(&[1.0f64; 100], [100]).unwrap();
    tensor.read_now::<f64>().unwrap();
    let (ledger, memory) = (device.ledger(), device.memory());
    assert_eq!((ledger.up.count, ledger.up.bytes), (1, 800));
    assert_eq!((ledger.down.count, ledger.down.bytes), (1, 800));
    assert_eq!(ledger.largest.len(), 2);
    assert!(ledger.largest.iter().all(|c| c.line.file() == file!()), "{ledger}");
    assert_eq!((memory.bytes_live, memory.tensors), (800, 1));
    let sum = memory.bytes_live + memory.bytes_padding + memory.bytes_pooled;
    assert_eq!(sum, memory.bytes_reserved, "{memory}");
    drop(tensor);
    assert_eq!(device.memory().bytes_live, 0, "dropped is free");
    assert!(device.trim().unwrap() > 0, "and can be given back");
    assert_eq!(device.memory().bytes_reserved, 0);
}

#[test]
fn handles_with_other_permissions_share_the_device() {
    let strict = baseline(&Policy::exact());
    let loose = strict.with_policy(&Policy::exact().allow(DType::F64, DType::F32));
    assert!(strict.same_device(&loose), "the same device");
    assert!(!strict.same_device(&baseline(&Policy::exact())), "not another");
    assert!(strict.upload(&[1.0f64], ()).is_err());
    let (tensor, _) = loose.upload(&[1.5f64], ()).unwrap();
    assert_eq!(tensor.read_scalar_now::<f32>().unwrap().to_bits(), 1.5f32.to_bits());
    assert_eq!(strict.memory().tensors, 1, "one store");
    let fresh = pollster::block_on(loose.reopen()).unwrap();
    assert!(!fresh.same_device(&loose), "a fresh device");
    assert_eq!(fresh.plan(), loose.plan(), "with the same plan");
    assert_eq!(Caps::webgpu_baseline(), *fresh.caps());
}
