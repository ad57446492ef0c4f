//! Weights that become blocks while they are staged: the same from memory and from files, in
//! chunks and segments, and no more on the device than the blocks.

use wharf::half::{bf16, f16};
use wharf::io::{Archive, FileTensor};
use wharf::set::Arrival;
use wharf::tensor::Blocks;
use wharf::{DType, Device, ErrorKind, HostBytes, HostView, Policy, Shipment, TensorSet};

use super::capable;
use super::formats::{golden, load};
use super::loads::raw;

/// Weights of many magnitudes, the same in every run.
fn weights(count: usize) -> Vec<f32> {
    let mut state = 7u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 40) as f32 / (1 << 23) as f32 - 1.0
    };
    let scale = |i: usize| f32::exp2((i / 32 % 16) as f32 - 12.0);
    (0..count).map(|i| if i / 32 % 7 == 0 { 0.0 } else { next() * scale(i) }).collect()
}

/// What may become blocks.
const FORMS: [Blocks; 2] = [Blocks::Q8, Blocks::Q4];

fn carried(
    device: &Device,
    form: Blocks,
    view: &HostView<'_, f32>,
) -> (TensorSet, wharf::set::SetReceipt) {
    let mut shipment = Shipment::new();
    shipment.add_as("w", *view, form).expect("new");
    device.upload_set(&shipment).expect("they become blocks")
}

/// The values and scales of blocks.
fn parts(set: &TensorSet) -> (Vec<i8>, Vec<f32>) {
    let blocks = set.quantized("w").expect("both are there");
    let scales = blocks.scales().read_now::<f16>().expect("read");
    let values = match blocks.form() {
        Blocks::Q8 => blocks.values().read_now::<i8>().expect("read"),
        _ => {
            let bytes = blocks.values().read_now::<u8>().expect("read");
            let place = |i: usize| bytes[i / 32 * 16 + i % 16] >> (i % 32 / 16 * 4) & 15;
            (0..2 * bytes.len()).map(|i| place(i).cast_signed() - 8).collect()
        }
    };
    (values, scales.iter().map(|s| s.to_f32()).collect())
}

#[test]
fn every_weight_is_its_block_of_it_and_counted_once() {
    let device = capable();
    let data = weights(90 * 1024);
    let view = HostView::new(&data, [90, 1024]).expect("it fits");
    let (set, receipt) = carried(&device, Blocks::Q8, &view);
    let (values, scales) = parts(&set);
    let (mut largest, mut squares, mut changed) = (0f64, 0f64, 0);
    for (i, &weight) in data.iter().enumerate() {
        let scale = f64::from(scales[i / 32]);
        let off = (f64::from(weight) - f64::from(values[i]) * scale).abs();
        assert!(off <= 0.500_01 * scale, "{i}: {weight} became {} times {scale}", values[i]);
        (largest, squares) = (largest.max(off), squares + off * off);
        changed += u64::from(off > 0.0);
    }
    let most = |block: &[f32]| block.iter().fold(0f32, |most, w| most.max(w.abs()));
    for (block, scale) in data.chunks(32).zip(&scales) {
        let least = most(block) / 127.0;
        assert!(*scale >= least * 0.999_999 && *scale <= least * 1.002 + 1.2e-7, "{least} {scale}");
    }
    let rounding = receipt.rounding("w").expect("they became blocks");
    let near = |a: f64, b: f64| (a - b).abs() <= 1e-3 * b;
    assert!(near(rounding.abs_error_max, largest), "{rounding}: {largest}");
    let rms = (squares / data.len() as f64).sqrt();
    assert!(near(rounding.rms_error, rms) && rounding.is_finite(), "{rounding}: {rms}");
    assert!(rounding.scaled_error_max <= 0.500_01, "{rounding}");
    let one = receipt.get("w.values").expect("it was carried");
    assert_eq!((one.from, one.to), (DType::F32, DType::I8), "{one}");
    assert_eq!(receipt.values(), data.len() as u64, "each weight once: {receipt:#}");
    assert!(receipt.changed().abs_diff(changed) <= changed / 1000, "{receipt}: {changed}");
    assert_eq!(receipt.bytes_host(), 4 * data.len() as u64, "{receipt:#}");
    assert_eq!(receipt.bytes_staged(), (data.len() + data.len() / 16) as u64, "{receipt:#}");
    let ledger = device.ledger();
    assert_eq!((ledger.up.count, ledger.down.count), (2, 2), "{ledger}");
    let live = device.memory();
    assert_eq!(live.bytes_live_peak, live.bytes_live, "at no time more than the blocks");
}

/// The rule of ggml's reference, computed apart: the first weight of largest magnitude is -8
/// scales, places are rounded half up.
#[test]
fn four_bits_are_those_of_ggml() {
    let device = capable();
    let data = weights(90 * 1024);
    let view = HostView::new(&data, [90, 1024]).expect("it fits");
    let (set, receipt) = carried(&device, Blocks::Q4, &view);
    let (values, scales) = parts(&set);
    let (mut largest, mut squares) = (0f64, 0f64);
    for (i, block) in data.chunks(32).enumerate() {
        let most = block.iter().fold(0f32, |most, w| most.max(w.abs()));
        let first = block.iter().find(|w| w.abs() == most).expect("one is it");
        let step = first / -8.0;
        assert_eq!(scales[i], f16::from_f32(step).to_f32(), "block {i}");
        for (j, w) in block.iter().enumerate() {
            let inverse = if step == 0.0 { 0.0 } else { 1.0 / step };
            let place = (w * inverse + 8.5).trunc().min(15.0) - 8.0;
            let at = 32 * i + j;
            assert_eq!(f32::from(values[at]), place, "{at}: {w} by {step}");
            let off = f64::from((w - place * scales[i]).abs());
            (largest, squares) = (largest.max(off), squares + off * off);
        }
    }
    let rounding = receipt.rounding("w").expect("they became blocks");
    let near = |a: f64, b: f64| (a - b).abs() <= 1e-6 * b;
    let rms = (squares / data.len() as f64).sqrt();
    assert!(near(rounding.abs_error_max, largest), "{rounding}: {largest}");
    assert!(near(rounding.rms_error, rms) && rounding.is_finite(), "{rounding}: {rms}");
    assert_eq!(rounding.to, Blocks::Q4, "{rounding}");
    assert_eq!(receipt.values(), data.len() as u64, "each weight once: {receipt:#}");
    assert_eq!(receipt.bytes_staged(), (data.len() / 32 * 18) as u64, "{receipt:#}");
}

/// Bytes of ggml's blocks in `four_bits.gguf`, by tensor: they lie at its end.
fn ggmls(name: &str) -> Vec<u8> {
    let file = std::fs::read(golden("four_bits.gguf")).expect("it is there");
    let (from, bytes) = match name {
        "small" => (3264, 864),
        "odd" => (2400, 216),
        "super" => (2176, 2160),
        other => panic!("{other}"),
    };
    file[file.len() - from..][..bytes].to_vec()
}

/// A tensor of a file: its name, and each part of a block in the order of the file; true is of the
/// scales.
type Stored = (&'static str, Blocks, &'static [(bool, usize)]);

const SMALL: &[Stored] = &[
    ("q4_1", Blocks::Q4_1, &[(true, 4), (false, 16)]),
    ("q5_0", Blocks::Q5, &[(true, 6), (false, 16)]),
    ("q5_1", Blocks::Q5_1, &[(true, 8), (false, 16)]),
];

const LARGE: &[Stored] = &[
    ("q2_k", Blocks::Q2K, &[(true, 16), (false, 64), (true, 4)]),
    ("q3_k", Blocks::Q3K, &[(false, 96), (true, 14)]),
    ("q5_k", Blocks::Q5K, &[(true, 16), (false, 160)]),
    ("q6_k", Blocks::Q6K, &[(false, 192), (true, 18)]),
];

/// They lie one after the other at the end of the file.
#[test]
fn other_blocks_are_ggmls_bit_for_bit() {
    for (name, tensors, dims) in
        [("small_blocks.gguf", SMALL, [5, 96]), ("large_blocks.gguf", LARGE, [3, 512])]
    {
        let file = std::fs::read(golden(name)).expect("it is there");
        let set = load(&capable(), name);
        let mut end = file.len();
        for &(name, form, order) in tensors.iter().rev() {
            let blocks = set.quantized(name).expect("both are there");
            assert_eq!((blocks.form(), blocks.shape().dims()), (form, &dims[..]), "{name}");
            let [mut values, mut scales] = [blocks.values(), blocks.scales()].map(raw);
            let mut whole = Vec::new();
            for _ in 0..dims[0] * dims[1] / form.weights() {
                for &(of_scales, bytes) in order {
                    let part = if of_scales { &mut scales } else { &mut values };
                    whole.extend(part.drain(..bytes));
                }
            }
            assert!(values.is_empty() && scales.is_empty(), "{name}");
            end -= whole.len().next_multiple_of(32);
            assert!(file[end..][..whole.len()] == whole, "{name}");
        }
    }
}

/// What ggml's own program makes of the same weights, and what it wrote: the same bits.
#[test]
fn blocks_of_four_bits_are_ggmls_bit_for_bit() {
    let device = capable();
    let set = load(&device, "four_bits.gguf");
    for (name, form, shape, [first, rest]) in [
        ("small", Blocks::Q4, [12, 128], [2, 16]),
        ("odd", Blocks::Q4, [4, 96], [2, 16]),
        ("super", Blocks::Q4K, [5, 768], [16, 128]),
    ] {
        let blocks = set.quantized(name).expect("both are there");
        assert_eq!((blocks.form(), blocks.shape().dims()), (form, &shape[..]), "{name}");
        let [values, scales] = [blocks.values(), blocks.scales()].map(raw);
        let parts = scales.chunks(first).zip(values.chunks(rest));
        let whole: Vec<u8> = parts.flat_map(|(scale, values)| [scale, values].concat()).collect();
        assert!(whole == ggmls(name), "{name}");
    }
    let plain = set.get("plain").expect("there").read_now::<f32>().expect("read");
    let mut shipment = Shipment::new();
    let view = HostView::new(&plain, [12, 128]).expect("it fits");
    shipment.add_as("small", view, Blocks::Q4).expect("new");
    let (made, _) = device.upload_set(&shipment).expect("they become blocks");
    let mut shipment = Shipment::new();
    shipment.add_as("none", view, Blocks::Q4K).expect("new");
    let mut half = Shipment::new();
    half.add("w.scales", view).expect("new");
    assert!(half.add_as("w", view, Blocks::Q8).is_err(), "a part of it is there");
    half.add("w.values", view).expect("nothing was added by halves");
    let error = device.upload_set(&shipment).expect_err("it is only read");
    assert!(error.to_string().contains("nothing is quantized to q4_k"), "{error}");
    assert!(error.help().is_some(), "{error:?}");
    for part in ["small.values", "small.scales"] {
        let [ours, theirs] = [&made, &set].map(|set| raw(set.get(part).expect("there")));
        assert!(ours == theirs, "{part}");
    }
}

/// In chunks and segments of any length, and from any layout.
#[test]
fn blocks_do_not_depend_on_how_they_are_cut() {
    FORMS.into_iter().for_each(cut);
}

fn cut(form: Blocks) {
    let data = weights(200 * 992);
    let view = HostView::new(&data, [200, 992]).expect("it fits");
    let want = parts(&carried(&capable(), form, &view).0);
    let small = super::device(|caps| {
        let limits = wharf::caps::Limits { binding_bytes_max: 65536, ..caps.limits };
        wharf::caps::Caps { limits, ..caps }
    });
    let (set, receipt) = carried(&small, form, &view);
    let segments = receipt.get("w.values").expect("it was carried").segments;
    assert!(segments > 1, "{segments} segments");
    assert!(parts(&set) == want, "in segments");
    let columns: Vec<f32> = (0..data.len()).map(|i| data[i % 200 * 992 + i / 200]).collect();
    let view = HostView::column_major(&columns, [200, 992]).expect("it fits");
    assert!(parts(&carried(&capable(), form, &view).0) == want, "from columns");
}

#[test]
fn a_file_becomes_blocks_and_blocks_a_file() {
    FORMS.into_iter().for_each(by_file);
}

fn by_file(form: Blocks) {
    let device = capable();
    let data = weights(300 * 512);
    let whole = HostView::new(&data, [300, 512]).expect("it fits");
    let want = parts(&carried(&device, form, &whole).0);
    let path = super::scratch(&format!("blocks-{}", form.name()));
    let (plain, _) = device.upload(&data, [300, 512]).expect("small");
    let mut set = TensorSet::new();
    set.insert("w", plain).expect("new");
    type Save = fn(&TensorSet, &std::path::Path) -> wharf::Result<wharf::set::SetReceipt>;
    let formats: [Save; 2] = [|set, path| set.save(path), |set, path| set.save_npz(path)];
    for save in formats {
        let receipt = save(&set, &path).expect("it is written");
        assert!(receipt.is_exact(), "{receipt}");
        let archive = Archive::open(&path).expect("a header");
        let shipment = archive.shipment_as(|_| Some(form)).expect("known");
        assert_eq!(shipment.names().collect::<Vec<_>>(), ["w.values", "w.scales"]);
        let (blocks, receipt) = device.upload_set(&shipment).expect("they become blocks");
        assert!(parts(&blocks) == want, "as from memory");
        assert!(receipt.rounding("w").is_some_and(wharf::tensor::Rounding::is_finite));
        let _ = save(&blocks, &path).expect("blocks are two tensors");
        let kept = Archive::open(&path).expect("a header").shipment().expect("known");
        assert!(parts(&device.upload_set(&kept).expect("it fits").0) == want, "kept");
    }
    let _ = std::fs::remove_file(&path);
    let halves: Vec<f16> = data.iter().map(|w| f16::from_f32(*w)).collect();
    let wide: Vec<f32> = halves.iter().map(|w| w.to_f32()).collect();
    let brains: Vec<bf16> = data.iter().map(|w| bf16::from_f32(*w)).collect();
    let broad: Vec<f32> = brains.iter().map(|w| w.to_f32()).collect();
    let shape = [300, 512];
    for (wide, dtype, bytes) in [
        (wide, DType::F16, bytemuck::cast_slice::<_, u8>(&halves)),
        (broad, DType::Bf16, bytemuck::cast_slice(&brains)),
    ] {
        let whole = HostView::new(&wide, shape).expect("it fits");
        let want = parts(&carried(&device, form, &whole).0);
        let mut shipment = Shipment::new();
        let view = HostBytes::new(bytes, shape, dtype).expect("it fits");
        shipment.add_as("w", view, form).expect("new");
        let (set, receipt) = device.upload_set(&shipment).expect("they become blocks");
        assert!(parts(&set) == want, "{dtype}");
        assert_eq!(receipt.rounding("w").expect("blocks").from, dtype);
    }
}

/// What is not finite is counted, and where the policy says so refused.
#[test]
fn blocks_that_are_lost_are_said() {
    let device = capable();
    let mut data = weights(4 * 64);
    (data[40], data[70], data[200]) = (f32::NAN, f32::INFINITY, -9e6);
    let view = HostView::new(&data, [4, 64]).expect("it fits");
    for form in FORMS {
        let (set, receipt) = carried(&device, form, &view);
        let rounding = receipt.rounding("w").expect("they became blocks");
        let counts = (rounding.nan, rounding.infinite, rounding.overflowed);
        assert_eq!(counts, (1, 1, 1), "{rounding}");
        let (_, scales) = parts(&set);
        let lost: Vec<usize> = (0..8).filter(|&i| !scales[i].is_finite()).collect();
        assert_eq!(lost, [1, 2, 6], "{scales:?}");
    }
    let strict = pollster::block_on(async {
        let adapter = wharf::testing::noop(wharf::caps::fixtures::lavapipe()).await?;
        adapter.open(adapter.negotiate(&Policy::exact().overflow_is_error())).await
    })
    .expect("it opens");
    let mut shipment = Shipment::new();
    shipment.add_as("w", view, Arrival::Blocks(Blocks::Q8)).expect("new");
    let error = strict.upload_set(&shipment).expect_err("it overflows");
    let text = "tensor \"w.values\": f32 -> f16: value -9000000 at index 200 overflows to infinity";
    assert_eq!(error.to_string(), text);
    assert_eq!(strict.memory().bytes_live, 0, "and nothing is there");
}

/// Under their own names both would arrive.
#[test]
fn blocks_beside_a_tensor_that_has_the_name_of_a_part_are_said_with_both_names() {
    let device = capable();
    let path = super::scratch("claimed");
    let row = || HostView::new(&[1.0f32; 32], [1, 32]).expect("it fits");
    for part in ["w.values", "w.scales"] {
        for names in [["w", part], [part, "w"]] {
            let mut shipment = Shipment::new();
            for name in names {
                shipment.add(name, row()).expect("new");
            }
            let (set, _) = device.upload_set(&shipment).expect("numbers");
            let _ = set.save(&path).expect("it is written");
            let archive = Archive::open(&path).expect("a header");
            let blocks = |tensor: &FileTensor| (tensor.name() == "w").then_some(Blocks::Q8);
            let error = archive.shipment_as(blocks).expect_err("a name for two");
            let text = format!("tensor \"w\": in blocks it would be {part:?}, which is another");
            assert!(error.to_string().starts_with(&text), "{error}");
            assert_eq!(error.kind(), ErrorKind::Mismatch, "{error:?}");
            assert!(error.help().is_some_and(|help| help.contains("archive.keep")), "{error:?}");
            // Each of what is said helps, and so do blocks of both.
            let kept = archive.clone().keep(|tensor| tensor.name() == "w");
            let both = archive.shipment_as(|_| Some(Blocks::Q8));
            for shipment in [archive.shipment(), kept.shipment_as(blocks), both] {
                let (set, _) =
                    device.upload_set(&shipment.expect("names for all")).expect("it fits");
                assert!(set.len() >= 2, "{part}");
            }
        }
    }
    let _ = std::fs::remove_file(&path);
}

#[test]
fn what_is_no_weights_is_refused_before_a_byte_moves() {
    let device = capable();
    let refused = |shipment: &Shipment<'_>, kind, text: &str| {
        let error = device.upload_set(shipment).expect_err(text);
        assert!(error.to_string().contains(text), "{error}");
        assert!(error.kind() == kind && error.help().is_some(), "{error:?}");
        assert_eq!(device.ledger().up.count, 0, "nothing moved");
    };
    let shipped = |view: HostView<'static, f32>| {
        let mut shipment = Shipment::new();
        shipment.add_as("w", view, Arrival::Blocks(Blocks::Q8)).expect("new");
        shipment
    };
    const DATA: [f32; 64] = [1.0; 64];
    let text = "weights [4, 16] as blocks, not [out, in] with rows of whole blocks of 32";
    let view = HostView::new(&DATA, [4, 16]).expect("it fits");
    refused(&shipped(view), ErrorKind::Shape, text);
    let view = HostView::new(&DATA, [64]).expect("it fits");
    refused(&shipped(view), ErrorKind::Shape, "weights [64] as blocks");
    let mut shipment = Shipment::new();
    let view = HostView::new(&[1i32; 32], [1, 32]).expect("it fits");
    shipment.add_as("w", view, Arrival::Blocks(Blocks::Q8)).expect("new");
    refused(&shipment, ErrorKind::DType, "weights of i32 as blocks, not f32, f16 or bf16");
    let header = "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 32), }";
    let length = [header.len().to_le_bytes()[0], 0];
    let path = super::scratch("columns");
    let content = [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), &[0; 256]].concat();
    std::fs::write(&path, content).expect("written");
    let archive = Archive::open(&path).expect("a header");
    let shipment = archive.shipment_as(|_| Some(Arrival::Blocks(Blocks::Q8))).expect("known");
    refused(&shipment, ErrorKind::Layout, "weights [2, 32] as blocks lie column by column");
    let _ = std::fs::remove_file(&path);
    let taken = load(&device, "blocks.gguf");
    assert_eq!(raw(taken.get("blocks.values").expect("there")).len(), 256, "as before");
}
