//! What a receipt says, in one line and in full; and what ledgers, memory and tensors print.

use wharf::caps::fixtures;
use wharf::{DType, HostView, Policy, Receipt};

use super::support::{baseline, capable, device};

fn loose() -> wharf::Device {
    baseline(&Policy::exact().allow(DType::F64, DType::F32).allow(DType::I64, DType::I32))
}

/// All lines but the last, which is about time.
fn full(receipt: &Receipt) -> String {
    let text = format!("{receipt:#}");
    let (text, time) = text.rsplit_once('\n').unwrap();
    assert!(time.starts_with("  time     ") && time.ends_with(" ms"), "{time}");
    text.into()
}

#[test]
fn one_line_says_what_happened() {
    let values = [1.0, 0.1, 1e300, 1e-300, f64::NAN, f64::INFINITY, -0.0];
    let rows = [
        (
            loose().upload(&values, [7]),
            "f64 -> f32: 7 values, 1 rounded, 1 overflowed, 1 flushed, 1 NaN, max error 1.5e-9; \
             staged 28 B",
        ),
        (loose().upload(&[0.5f64; 3], [3]), "f64 -> f32: 3 values, all exact; staged 12 B"),
        (loose().upload(&[5i64; 2], [2]), "i64 -> i32: 2 values, all exact; staged 8 B"),
        (loose().upload(&[true; 3], [3]), "bool packed: 3 values, all exact; staged 3 B"),
        (loose().upload::<f32>(&[], [0]), "f32 native: 0 values, all exact; staged 0 B"),
        (capable().upload(&values, [7]), "f64 native: 7 values, all exact; staged 56 B"),
        (
            loose().upload(&[f64::NAN; 2000], [2000]),
            "f64 -> f32: 2000 values, 2000 NaN; staged 7.8 KiB",
        ),
    ];
    for (uploaded, text) in rows {
        assert_eq!(uploaded.unwrap().1.to_string(), text);
    }
}

#[test]
fn a_named_conversion_says_its_target() {
    let as_f16 = |device: wharf::Device| device.upload_as(&[0.1f32, 1e6], [2], DType::F16).unwrap();
    let text = "f32 -> f16: 2 values, 1 rounded, 1 overflowed, max error 2.4e-5; staged 4 B";
    assert_eq!(as_f16(capable()).1.to_string(), text);
    assert_eq!(as_f16(baseline(&Policy::exact())).1.to_string(), text, "packed or not");
    let (tensor, receipt) = loose().upload_as(&[0.5f32], [1], DType::F64).unwrap();
    assert_eq!(tensor.dtype(), DType::F32, "f64 is stored as f32 there");
    assert_eq!((receipt.from, receipt.to), (DType::F32, DType::F32));
}

#[test]
fn the_long_form_has_every_number() {
    let data = [1.0, 0.1, 1e300, 1e-300, f64::NAN, 4.0];
    let view = HostView::column_major(&data, [2, 3]).unwrap();
    let (_, receipt) = loose().upload_view(view).unwrap();
    let want = "\
f64 -> f32: 6 values, 1 rounded, 1 overflowed, 1 flushed, 1 NaN, max error 1.5e-9; staged 24 B
  layout   [2, 3] column-major -> [2, 3] row-major
  values   2 exact, 1 rounded, 1 overflowed, 1 flushed, 1 NaN
  errors   absolute 1.49e-9 at index 3, relative 1.00e0 at index 4
  bytes    48 on the host, 24 staged, 256 on the device in 1 segment";
    assert_eq!(full(&receipt), want);
    assert!(!receipt.is_exact());
    let (_, receipt) = capable().upload(&[7u8; 5], [5]).unwrap();
    let want = "\
u8 packed: 5 values, all exact; staged 5 B
  layout   [5] row-major -> [5] row-major
  values   5 exact, 0 rounded, 0 overflowed, 0 flushed, 0 NaN
  errors   absolute 0, relative 0
  bytes    5 on the host, 5 staged, 64 on the device in 1 segment";
    assert_eq!(full(&receipt), want);
}

#[test]
fn tensors_and_devices_print_what_they_are_and_never_what_they_hold() {
    let device = device(fixtures::apple_m2().with_baseline_limits(), &Policy::exact());
    let (tensor, _) = device.upload(&[1.0f32, 2.0], [2, 1]).unwrap();
    assert_eq!(format!("{tensor:?}"), "Tensor(f32 [2, 1] row-major on Device(\"Apple M2\"))");
    assert_eq!(format!("{:?}", device.adapter()), "Adapter(\"Apple M2\")");
    assert_eq!(device.ledger().down.count, 0, "printing reads nothing");
}

#[test]
fn memory_and_ledger_print_as_tables() {
    let device = capable();
    device.set_cap(Some(3 << 30));
    let (_tensor, _) = device.upload(&[0u8; 1000], [1000]).unwrap();
    let text = device.memory().to_string();
    let text = text.split("\ndriver").next().unwrap();
    let want = "\
live      1000 B in 1 tensor, peak 1000 B
pooled    63 KiB, largest free 63 KiB, fragmentation 0 %
padding   24 B
reserved  64 KiB in 1 buffer, peak 64 KiB, cap 3 GiB";
    assert_eq!(text, want);
    let ledger = device.ledger().to_string();
    let lines: Vec<&str> = ledger.lines().collect();
    let totals =
        ["up             1 x  1000 B", "down           0 x  0 B", "control        0 x  0 B"];
    assert_eq!(lines[..3], totals);
    assert!(lines[3].starts_with("  up       1000 B u8   "), "{ledger}");
    assert!(lines[3].contains(&format!(" ms  upload at {}:", file!())), "{ledger}");
    let fit = device.fit([1 << 20], DType::F32).unwrap();
    assert!(fit.fits, "{fit:?}");
    assert_eq!((fit.bytes, fit.segments), (4 << 20, 1), "{fit:?}");
}
