//! Sets and moves by their blocking methods, between devices that have everything and devices that
//! have what WebGPU guarantees; and the exact text of receipts and refusals.

use wharf::caps::{Caps, fixtures};
use wharf::half::f16;
use wharf::ledger::Crossings;
use wharf::plan::How;
use wharf::tensor::Blocks;
use wharf::testing::noop;
use wharf::{DType, Device, ErrorKind, HostView, HostViewMut, Policy, Shipment, TensorSet};

fn open(caps: Caps, policy: &Policy) -> Device {
    pollster::block_on(async {
        let adapter = noop(caps).await?;
        adapter.open(adapter.negotiate(policy)).await
    })
    .expect("the noop backend opens")
}

fn pair(policy: &Policy) -> (Device, Device) {
    (open(fixtures::lavapipe(), &Policy::exact()), open(Caps::webgpu_baseline(), policy))
}

#[test]
fn a_set_goes_up_over_and_comes_down_blocking() {
    let (here, there) = pair(&Policy::exact().allow(DType::F64, DType::F32));
    let (halves, wide) = ([f16::from_f32(1.5); 6], [0.5f64, 0.1, -2.0]);
    let mut shipment = Shipment::new();
    shipment.add("halves", HostView::column_major(&halves, [2, 3]).unwrap()).unwrap();
    shipment.add("wide", HostView::new(&wide, [3]).unwrap()).unwrap();
    assert_eq!(
        format!("{shipment:?}"),
        "{\"halves\": f16 [2, 3] column-major, \"wide\": f64 [3] row-major}"
    );
    let (set, receipt) = here.upload_set(&shipment).unwrap();
    assert!(receipt.is_exact(), "{receipt}");
    let (set, receipt) = set.to_now(&there).unwrap();
    assert_eq!(receipt.get("halves").unwrap().how, How::Packed);
    assert_eq!(receipt.changed(), 1, "0.1 is rounded: {receipt}");
    assert_eq!(set.get("halves").unwrap().read_now::<f16>().unwrap(), halves);
    let (back, receipt) = set.get("wide").unwrap().read_as_now::<f64>().unwrap();
    assert_eq!(back, [0.5, f64::from(0.1f32), -2.0]);
    assert_eq!((receipt.from, receipt.to, receipt.is_exact()), (DType::F32, DType::F64, true));
    let (home, _) = set.get("wide").unwrap().to_now(&here).unwrap();
    let mut out = [9.0f32; 6];
    home.read_view_now(&mut HostViewMut::strided(&mut out, [3], &[-2], 4).unwrap()).unwrap();
    assert_eq!(out, [-2.0, 9.0, 0.1, 9.0, 0.5, 9.0], "every second place, backwards");
    let lines: Vec<u32> = here.ledger().largest.iter().map(|c| c.line.line()).collect();
    assert!(lines.iter().all(|line| (20..60).contains(line)), "the lines of this test: {lines:?}");
}

#[test]
fn the_receipt_of_a_set_is_a_line_and_a_table() {
    let device = open(Caps::webgpu_baseline(), &Policy::exact().allow(DType::F64, DType::F32));
    let (a, b) = ([0.1f64; 100], [1u8; 12]);
    let mut shipment = Shipment::new();
    shipment.add("encoder.weights", HostView::new(&a, [10, 10]).unwrap()).unwrap();
    shipment.add("mask", HostView::new(&b, [12]).unwrap()).unwrap();
    let (_, receipt) = device.upload_set(&shipment).unwrap();
    let table = format!("{receipt:#}");
    let line = concat!(
        "2 tensors (1 converted): 112 values, 100 rounded, max error 1.5e-9 ",
        "in \"encoder.weights\"; staged 412 B"
    );
    let want = [
        line,
        "  tensor           shape     from  to   how        values  changed  max error  staged",
        "  encoder.weights  [10, 10]  f64   f32  converted     100      100     1.5e-9   400 B",
        "  mask             [12]      u8    u8   packed         12        0          0    12 B",
    ];
    assert_eq!(table.lines().take(4).collect::<Vec<_>>(), want);
    assert_eq!(table.lines().count(), 5, "{table}");
    assert!(table.lines().last().unwrap().starts_with("  812 bytes on the host, "), "{table}");
    assert_eq!(receipt.to_string(), line);
}

#[test]
fn a_refused_set_lists_each_reason_once() {
    let device = open(Caps::webgpu_baseline(), &Policy::exact());
    let (a, b) = ([0.5f64; 2], [1u64; 2]);
    let mut shipment = Shipment::new();
    shipment.add("x", HostView::new(&a, [2]).unwrap()).unwrap();
    shipment.add("n", HostView::new(&b, [2]).unwrap()).unwrap();
    shipment.add("y", HostView::new(&a, [2]).unwrap()).unwrap();
    let error = device.upload_set(&shipment).expect_err("f64 and u64 are refused");
    let name = &device.caps().identity.name;
    let floats = format!("f64 cannot be stored: {name} lacks shader-f64");
    let longs = format!("u64 cannot be stored: {name} lacks shader-int64");
    let want = format!("3 of 3 tensors are refused: \"x\", \"y\" ({floats}); \"n\" ({longs})");
    assert_eq!(error.to_string(), want);
    assert_eq!(error.help().expect("a remedy each").lines().count(), 2);
    for name in ["a", "b", "c"] {
        shipment.add(name, HostView::new(&a, [2]).unwrap()).unwrap();
    }
    let error = device.upload_set(&shipment).expect_err("f64 and u64 are refused");
    let want = format!(
        "6 of 6 tensors are refused: \"x\", \"y\", \"a\", 2 more ({floats}); \"n\" ({longs})"
    );
    assert_eq!(error.to_string(), want);
}

#[test]
fn what_does_not_cross_is_in_no_ledger() {
    let (here, there) = pair(&Policy::exact());
    let (tensor, _) = here.upload(&vec![7u32; 3_000_000], [3_000_000]).unwrap();
    drop(tensor.read::<u32>());
    assert_eq!(here.ledger().down.count, 0, "a future that is not polled does nothing");
    let guard = there.guard(Crossings::Deny);
    assert!(tensor.to_now(&there).is_err(), "denied on the other side");
    assert_eq!(here.ledger().down.count, 0, "and nothing came down for it");
    drop(guard);
    let _ = tensor.to_now(&there).unwrap();
    assert_eq!((here.ledger().down.bytes, there.ledger().up.bytes), (12_000_000, 12_000_000));
}

/// Of a set as large as a model's, what was meant is named.
#[test]
fn a_name_that_is_missing_is_told_with_those_that_are_near() {
    let device = open(fixtures::lavapipe(), &Policy::exact());
    let mut set = TensorSet::new();
    let empty = set.tensor("a").expect_err("there is none");
    assert_eq!(empty.help().as_deref(), Some("the set is empty"), "{empty:?}");
    let x = device.zeros(1, DType::F32).unwrap();
    for name in ["embed", "layers.0.bias", "layers.0.weight", "layers.1.weight", "norm"] {
        set.insert(name, x.clone()).unwrap();
    }
    let error = set.tensor("layers.2.weight").expect_err("there are two layers");
    assert_eq!(error.kind(), ErrorKind::Missing, "{error:?}");
    assert_eq!(error.to_string(), "there is no tensor \"layers.2.weight\"");
    let near = "\"layers.0.weight\", \"layers.1.weight\", \"layers.0.bias\"";
    assert_eq!(error.help(), Some(format!("of 5 names these are nearest: {near}")));
    assert!(set.tensor("norm").is_ok(), "it is there");
}

#[test]
fn what_is_taken_out_of_a_set_leaves_the_order_of_the_rest() {
    let device = open(fixtures::lavapipe(), &Policy::exact());
    let mut set = TensorSet::new();
    for (n, name) in (1..).zip(["a", "b", "c"]) {
        set.insert(name, device.zeros(n, DType::F32).unwrap()).unwrap();
    }
    assert_eq!(set.remove("b").map(|b| b.shape().elements()), Some(2));
    assert!(set.remove("b").is_none(), "only once");
    assert_eq!(set.names().collect::<Vec<_>>(), ["a", "c"]);
    assert_eq!(set.tensor("c").unwrap().shape().dims(), [3], "it is found where it is now");
    set.insert("b", device.zeros(4, DType::F32).unwrap()).expect("the name is free again");
    let names: Vec<String> = set.into_iter().map(|(name, _)| name.to_string()).collect();
    assert_eq!(names, ["a", "c", "b"]);
}

#[test]
fn weights_in_blocks_go_into_a_set_whole_or_not_at_all() {
    let device = open(fixtures::lavapipe(), &Policy::exact());
    let ones = device.ones([2, 64], DType::F32).unwrap();
    let (weights, _) = ones.quantize_now(Blocks::Q8).expect("they are whole blocks");
    let mut set = TensorSet::new();
    set.insert("up.scales", ones).unwrap();
    let error = set.insert_quantized("up", &weights).expect_err("a name is taken");
    assert_eq!(error.to_string(), "the name \"up.scales\" is taken in this set");
    assert_eq!(set.len(), 1, "nothing was added");
    set.insert_quantized("down", &weights).expect("both are free");
    let again = set.quantized("down").expect("both are there");
    assert_eq!((again.form(), again.shape()), (Blocks::Q8, weights.shape()));
}
