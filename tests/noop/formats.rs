//! Files by those who made the formats - numpy, and ggml's own writer - and the same with something
//! wrong in them.

use std::path::{Path, PathBuf};

use wharf::half::{bf16, f16};
use wharf::io::Archive;
use wharf::{DType, Device, ErrorKind, Policy, Tensor, TensorSet};

use super::capable;

pub(crate) fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/goldens/files").join(name)
}

pub(crate) fn load(device: &Device, name: &str) -> TensorSet {
    let archive = Archive::open(golden(name)).expect(name);
    let archive = archive.keep(|tensor| tensor.dtype().is_some());
    device.upload_set(&archive.shipment().expect(name)).expect(name).0
}

/// Element i of every array of the generator.
pub(crate) fn number(i: usize) -> f64 {
    i as f64 * 0.25 - 3.0
}

/// The elements of a tensor, as f64.
pub(crate) fn numbers(tensor: &Tensor) -> Vec<f64> {
    tensor.read_as_now::<f64>().expect("f64 holds them").0
}

#[test]
fn arrays_of_every_dtype_are_what_numpy_wrote() {
    let device = capable();
    type Row = (&'static str, DType, f64, fn(f64) -> f64);
    let rows: [Row; 9] = [
        ("f4", DType::F32, 0.0, |x| x),
        ("f2", DType::F16, 0.0, |x| x),
        ("f8", DType::F64, 0.0, |x| x),
        ("i1", DType::I8, 0.0, f64::trunc),
        ("u1", DType::U8, 3.0, f64::trunc),
        ("i2", DType::I16, 0.0, f64::trunc),
        ("u2", DType::U16, 3.0, f64::trunc),
        ("i4", DType::I32, 0.0, f64::trunc),
        ("u4", DType::U32, 3.0, f64::trunc),
    ];
    for (name, dtype, begin, what) in rows {
        let set = load(&device, &format!("{name}.npy"));
        let tensor = set.get(name).expect("named like its file");
        assert_eq!((tensor.dtype(), tensor.shape().dims()), (dtype, &[3, 5][..]), "{name}");
        let want: Vec<f64> = (0..15).map(|i| what(number(i) + begin)).collect();
        assert_eq!(numbers(tensor), want, "{name}");
    }
    let longs: Vec<i64> = (0..15).map(|i| number(i) as i64).collect();
    let set = load(&device, "i8.npy");
    assert_eq!(set.get("i8").expect("there").read_now::<i64>().expect("read"), longs);
    let set = load(&device, "u8.npy");
    let longs: Vec<u64> = (0..15).map(|i| (number(i) + 3.0) as u64).collect();
    assert_eq!(set.get("u8").expect("there").read_now::<u64>().expect("read"), longs);
    let truths: Vec<bool> = (0..15).map(|i| number(i) + 3.0 != 0.0).collect();
    let set = load(&device, "b1.npy");
    assert_eq!(set.get("b1").expect("there").read_now::<bool>().expect("read"), truths);
    // Some writers give a byte an order.
    let ordered = std::fs::read(golden("b1.npy")).expect("there");
    let at = ordered.windows(3).position(|word| word == b"|b1").expect("as numpy describes it");
    for order in *b"<>=" {
        let path = super::scratch("ordered");
        let bytes = [&ordered[..at], &[order], &ordered[at + 1..]].concat();
        std::fs::write(&path, bytes).expect("it is written");
        let archive = Archive::open(&path).expect("a header");
        assert_eq!(archive.tensors()[0].dtype(), Some(DType::Bool), "{order}");
        let _ = std::fs::remove_file(path);
    }
    let set = load(&device, "scalar.npy");
    assert_eq!(set.get("scalar").expect("there").shape().rank(), 0, "a scalar");
    for (name, dtype) in [("big-f4", ">f4"), ("c8", "<c8")] {
        let archive = Archive::open(golden(&format!("{name}.npy"))).expect("a header");
        assert_eq!(archive.tensors()[0].dtype_name(), dtype, "as numpy describes it");
        let error = archive.shipment().expect_err("wharf has none such");
        assert_eq!(error.kind(), ErrorKind::Rejected, "{error:?}");
        let turns = error.help().is_some_and(|help| help.contains("astype('<f4')"));
        assert_eq!(turns, dtype.starts_with('>'), "{error:?}");
    }
}

/// An array of what numpy says of it and its values.
fn described(descr: &str, order: &str, values: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': {descr}, 'fortran_order': {order}, 'shape': (3, 2), }}");
    let length = u16::try_from(header.len()).expect("short").to_le_bytes();
    [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), values].concat()
}

#[test]
fn an_array_of_records_can_be_left_out() {
    for descr in [
        "[('x', '<f4'), ('y', '<f8')]",
        "[('x', '<f4', (3,))]",
        "[(('[', \"it's (\"), [('}', '|u1'), ('n', '<i4')]), ('', '|V7')]",
    ] {
        let archive = Archive::from_bytes(described(descr, "False", &[0; 24])).expect(descr);
        let [tensor] = archive.tensors() else { panic!("one: {archive:?}") };
        assert_eq!((tensor.dtype_name(), tensor.dtype(), tensor.bytes()), (descr, None, 24));
        let error = archive.shipment().expect_err("wharf has none such");
        assert_eq!(error.kind(), ErrorKind::Rejected, "{error:?}");
        let kept = archive.keep(|tensor| tensor.dtype().is_some());
        assert!(kept.shipment().is_ok_and(|none| none.is_empty()), "{descr}");
    }
    for open in ["[('x', '<f4')", "[('x', '<f4]"] {
        let error =
            Archive::from_bytes(described(open, "False", &[])).expect_err("it does not end");
        assert!(error.to_string().contains("the header means nothing: "), "{open}: {error}");
    }
}

#[test]
fn values_of_a_file_are_counted_as_they_lie_in_it() {
    let values = [1.0f64, 0.1, 2.0, 3.0, 1e300, 4.0];
    for order in ["False", "True"] {
        let file = described("'<f8'", order, bytemuck::cast_slice(&values));
        let archive = Archive::from_bytes(file).expect(order);
        let shipment = archive.shipment_as(|_| Some(DType::F32)).expect("known");
        let (_, receipt) = capable().upload_set(&shipment).expect("a conversion");
        let tally = receipt.get("array").expect("it was carried").tally;
        assert_eq!((tally.rounded, tally.first_changed), (1, Some(1)), "{order}: {tally:?}");
        let strict = super::device(|caps| caps).with_policy(&Policy::exact().overflow_is_error());
        let error = strict.upload_set(&shipment).expect_err("1e300 is no f32");
        assert!(error.to_string().contains(" at index 4 "), "{order}: {error}");
    }
}

/// Byte for byte, header and all.
#[test]
fn an_array_is_saved_as_numpy_saves_it() {
    let device = capable();
    let path = super::scratch("saved.npy");
    let names = ["f4", "f2", "f8", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "b1", "scalar"];
    for name in names.into_iter().chain(["fortran"]) {
        let set = load(&device, &format!("{name}.npy"));
        let receipt = set.get(name).expect("there").save_npy(&path).expect("it is written");
        assert!(receipt.is_exact(), "{receipt}");
        let [got, want] = [path.clone(), golden(&format!("{name}.npy"))].map(std::fs::read);
        assert!(got.expect("written") == want.expect("there"), "{name}");
    }
    let brain = device.ones([2], DType::Bf16).expect("small");
    let error = brain.save_npy(&path).expect_err("numpy has none such");
    assert_eq!((error.kind(), error.to_string().as_str()), (ErrorKind::DType, "numpy has no bf16"));
    let _ = std::fs::remove_file(&path);
}

/// A view, what numpy says of such an array, and its elements as they lie in the file, from one to
/// another: counted in what it is a view of.
type Viewed = (fn(&Tensor) -> wharf::Result<Tensor>, &'static str, core::ops::Range<usize>);

/// This backend computes nothing: what has its elements was not moved.
#[test]
fn what_lies_column_by_column_is_saved_so() {
    let device = capable();
    let path = super::scratch("columns.npy");
    let values: Vec<f32> = (0..24).map(|i| number(i) as f32).collect();
    let (whole, _) = device.upload(&values, [2, 3, 4]).expect("small");
    let rows: [Viewed; 9] = [
        (|x| x.permute([2, 1, 0]), "True, 'shape': (4, 3, 2)", 0..24),
        (|x| x.reshape([6, 4])?.t(), "True, 'shape': (4, 6)", 0..24),
        (|x| x.reshape([6, 4])?.slice(0, 1..3)?.t(), "True, 'shape': (4, 2)", 4..12),
        (|x| x.reshape([6, 4])?.t()?.slice(1, 2..), "True, 'shape': (4, 4)", 8..24),
        (|x| x.reshape([6, 1, 4])?.permute([2, 1, 0]), "True, 'shape': (4, 1, 6)", 0..24),
        // Both at once, and rows of any kind.
        (|x| x.reshape([1, 24])?.t(), "False, 'shape': (24, 1)", 0..24),
        (|x| x.reshape([24])?.slice(0, 3..7), "False, 'shape': (4,)", 3..7),
        (|x| x.slice(0, 0..0)?.permute([2, 1, 0]), "False, 'shape': (4, 3, 0)", 0..0),
        (|x| x.slice(0, 1..)?.reshape([3, 4]), "False, 'shape': (3, 4)", 12..24),
    ];
    for (view, said, elements) in rows {
        let view = view(&whole).expect("a view");
        let receipt = view.save_npy(&path).expect("it is written");
        let written = std::fs::read(&path).expect("there");
        let header = written.split(|byte| *byte == b'\n').next().expect("a line").escape_ascii();
        assert!(header.to_string().contains(&said.replace('\'', "\\'")), "{said}: {header}");
        let want: &[u8] = bytemuck::cast_slice(&values[elements]);
        assert!(written[128..] == *want, "{said}: not as it lies");
        assert_eq!(receipt.layout_from, *view.layout(), "{said}");
        let archive = Archive::open(&path).expect("a header");
        let (set, back) = device.upload_set(&archive.shipment().expect("f32")).expect("it fits");
        let back = back.iter().next().expect("it was carried").1;
        assert_eq!(back.layout_from, receipt.layout_to, "{said}");
        assert_eq!(set.iter().next().expect("one").1.shape(), view.shape(), "{said}");
    }
    // Neither: it is put in order on the device first.
    for view in [
        whole.permute([1, 0, 2]),
        whole.flip(0),
        whole.permute([2, 1, 0]).and_then(|x| x.slice(0, 1..)),
    ] {
        let view = view.expect("a view");
        let receipt = view.save_npy(&path).expect("it is written");
        assert!(receipt.layout_to.is_dense(), "{receipt}");
        let written = std::fs::read(&path).expect("there");
        assert!(
            written.starts_with(b"\x93NUMPY\x01\x00v\x00{'descr': '<f4', 'fortran_order': False")
        );
    }
    let _ = std::fs::remove_file(&path);
}

/// It is carried as it lies; that it is column-major is a view.
#[test]
fn an_array_in_fortrans_order_keeps_its_elements() {
    let device = capable();
    let archive = Archive::open(golden("fortran.npy")).expect("a header");
    let (set, receipt) = device.upload_set(&archive.shipment().expect("f32")).expect("it fits");
    let tensor = set.get("fortran").expect("there");
    assert_eq!(tensor.shape().dims(), [3, 5]);
    assert_eq!(tensor.layout().strides(), [1, 3], "{receipt}");
    let written = std::fs::read(golden("fortran.npy")).expect("there");
    let values: &[u8] = &written[written.len() - 60..];
    let value =
        |at: usize| f32::from_le_bytes(values[4 * at..4 * at + 4].try_into().expect("four"));
    for (row, column) in [(0, 0), (1, 0), (2, 4), (0, 3)] {
        let one = tensor.slice(0, row..row + 1).and_then(|t| t.slice(1, column..column + 1));
        assert_eq!(f64::from(value(column * 3 + row)), number(row * 5 + column), "the generator");
        assert_eq!(one.expect("inside").layout().offset(), column * 3 + row, "where it lies");
    }
}

#[test]
fn what_ggml_wrote_arrives_bit_by_bit() {
    let device = capable();
    let set = load(&device, "blocks.gguf");
    let names: Vec<&str> = set.iter().map(|(name, _)| name).collect();
    let blocks = ["blocks.values", "blocks.scales", "brain", "small.values", "small.scales"];
    assert_eq!(names, [&["plain", "half", "one"][..], &blocks].concat());
    let want: Vec<f64> = (0..256).map(number).collect();
    let tensor = |name: &str| set.get(name).expect("it arrived");
    assert_eq!(tensor("plain").shape().dims(), [4, 64], "the slowest axis first");
    assert_eq!(numbers(tensor("plain")), want);
    assert_eq!(tensor("half").read_now::<f16>().expect("read").len(), 256);
    assert_eq!(numbers(tensor("half")), want);
    let rounded: Vec<bf16> = want.iter().map(|x| bf16::from_f64(*x)).collect();
    assert_eq!(tensor("brain").read_now::<bf16>().expect("read"), rounded);
    assert_eq!(tensor("one").read_now::<i32>().expect("read"), [0, 1, 2, 3, 4, 5, 6]);
    let (values, scales) = (load(&device, "values.npy"), load(&device, "scales.npy"));
    let read = |set: &TensorSet, name: &str| set.get(name).expect("there").clone();
    let [values, scales] = [read(&values, "values"), read(&scales, "scales")];
    let got = tensor("blocks.values").read_now::<i8>().expect("read");
    assert_eq!(got, values.read_now::<i8>().expect("read"), "as numpy takes the blocks apart");
    let got = tensor("blocks.scales").read_now::<f16>().expect("read");
    assert_eq!(got, scales.read_now::<f16>().expect("read"), "as numpy takes the blocks apart");
    let weights = set.quantized("blocks").expect("both are there");
    assert_eq!(weights.shape().dims(), [4, 64]);
    let missing = set.quantized("plain").expect_err("it is no block");
    assert_eq!(missing.kind(), ErrorKind::Missing, "{missing:?}");
}

/// A tensor of a model: its name, the number of its type, its axes, the fastest first, its bytes.
pub(crate) type Modelled<'a> = (&'a str, u32, &'a [u64], Vec<u8>);

/// A model of remarks, each a name, and its type and value, and of tensors, each of which lies at a
/// multiple of `align`.
pub(crate) fn model(remarks: &[(&str, &[u8])], tensors: &[Modelled<'_>], align: usize) -> Vec<u8> {
    let mut all = b"GGUF".to_vec();
    let name = |name: &str| [&(name.len() as u64).to_le_bytes(), name.as_bytes()].concat();
    all.extend(3u32.to_le_bytes());
    all.extend([tensors.len(), remarks.len()].map(|n| (n as u64).to_le_bytes()).concat());
    for (remark, value) in remarks {
        all.extend([&name(remark)[..], value].concat());
    }
    let mut values = Vec::new();
    for (tensor, kind, dims, bytes) in tensors {
        values.resize(values.len().next_multiple_of(align), 0);
        all.extend(name(tensor));
        all.extend((dims.len() as u32).to_le_bytes());
        all.extend(dims.iter().flat_map(|dim| dim.to_le_bytes()));
        all.extend(kind.to_le_bytes());
        all.extend((values.len() as u64).to_le_bytes());
        values.extend(bytes);
    }
    all.resize(all.len().next_multiple_of(align), 0);
    [all, values].concat()
}

/// A model of two numbers and of one remark.
fn remarked(remark: &str, value: &[u8], align: usize) -> Vec<u8> {
    let pair = [1.5f32, -2.0].map(f32::to_le_bytes).concat();
    model(&[(remark, value)], &[("pair", 0, &[2], pair)], align)
}

/// A model of blocks that would have a part of a name, and of another tensor of that name.
fn claimed(name: &str) -> Vec<u8> {
    let tensors = [("x", 8, &[32][..], vec![7; 34]), (name, 0, &[1], vec![0; 4])];
    model(&[], &tensors, 32)
}

fn aligned(bytes: u32) -> Vec<u8> {
    remarked("general.alignment", &[4, bytes].map(u32::to_le_bytes).concat(), bytes as usize)
}

/// Lists in lists, so many in all, each of one; the last of a byte.
fn nested(lists: usize) -> Vec<u8> {
    let of = |kind: u32| [&kind.to_le_bytes()[..], &1u64.to_le_bytes()].concat();
    let inner = of(9).repeat(lists - 1);
    remarked("deep", &[&9u32.to_le_bytes()[..], &inner, &of(0), &[7]].concat(), 32)
}

#[test]
fn a_model_says_where_its_values_begin() {
    let path = super::scratch("aligned.gguf");
    for bytes in [1, 8, 64, 1024] {
        std::fs::write(&path, aligned(bytes)).expect("written");
        let archive = Archive::open(&path).expect("it opens");
        let (set, _) = capable().upload_set(&archive.shipment().expect("read")).expect("up");
        assert_eq!(numbers(set.get("pair").expect("there")), [1.5, -2.0], "at {bytes}");
    }
    let _ = std::fs::remove_file(&path);
}

#[test]
fn a_remark_of_four_lists_in_each_other_is_passed_over() {
    let path = super::scratch("nested.gguf");
    std::fs::write(&path, nested(4)).expect("written");
    let archive = Archive::open(&path).expect("it opens");
    let (set, _) = capable().upload_set(&archive.shipment().expect("read")).expect("up");
    assert_eq!(numbers(set.get("pair").expect("there")), [1.5, -2.0]);
    let _ = std::fs::remove_file(&path);
}

/// The types of ggml's whose weights wharf does not read: so many in so many bytes.
#[test]
fn a_model_of_types_that_wharf_lacks_opens_without_them() {
    let sizes = [(29, 256, 56), (34, 256, 54), (35, 256, 66), (39, 32, 17), (40, 64, 36)];
    let iq = [(16, 256, 66), (17, 256, 74), (18, 256, 98), (19, 256, 50), (20, 32, 18)];
    let others = [(21, 256, 110), (22, 256, 82), (23, 256, 136), (9, 32, 36), (15, 256, 292)];
    let path = super::scratch("lacked.gguf");
    for (kind, weights, bytes) in sizes.into_iter().chain(iq).chain(others).chain([(41, 128, 18)]) {
        let pair = [1.5f32, -2.0].map(f32::to_le_bytes).concat();
        let tensors =
            [("odd", kind, &[weights, 32][..], vec![7; 32 * bytes]), ("pair", 0, &[2], pair)];
        std::fs::write(&path, model(&[], &tensors, 32)).expect("written");
        let archive = Archive::open(&path).expect("it opens");
        let known = archive.keep(|tensor| tensor.dtype().is_some());
        let (set, _) = capable().upload_set(&known.shipment().expect("known")).expect("up");
        assert_eq!(numbers(set.get("pair").expect("there")), [1.5, -2.0], "beside {kind}");
    }
    let _ = std::fs::remove_file(&path);
}

/// As other writers than numpy have it.
#[test]
fn a_header_in_double_quotes_says_the_same() {
    let path = super::scratch("quotes");
    let mut written = std::fs::read(golden("f4.npy")).expect("there");
    written[..128].iter_mut().filter(|b| **b == b'\'').for_each(|b| *b = b'"');
    std::fs::write(&path, written).expect("written");
    let archive = Archive::open(&path).expect("it opens");
    let (set, _) = capable().upload_set(&archive.shipment().expect("f32")).expect("it fits");
    let got: Vec<Vec<f64>> = set.iter().map(|(_, tensor)| numbers(tensor)).collect();
    let want = load(&capable(), "f4.npy");
    assert_eq!(got, [numbers(want.get("f4").expect("there"))]);
    let _ = std::fs::remove_file(&path);
}

/// What is wrong, the file it is made of, a change to it, and what is said.
pub(crate) type Wrong = (&'static str, &'static str, fn(&mut Vec<u8>), &'static str);

pub(crate) fn replace(bytes: &mut [u8], from: &str, to: &str) {
    let at =
        bytes.windows(from.len()).position(|part| part == from.as_bytes()).expect("it is there");
    bytes[at..at + to.len()].copy_from_slice(to.as_bytes());
}

/// Sets a number of 64 bits.
fn set(bytes: &mut [u8], at: usize, number: u64) {
    bytes[at..at + 8].copy_from_slice(&number.to_le_bytes());
}

pub(crate) const HOSTILE: [Wrong; 27] = [
    ("cut in its header", "f4.npy", |b| b.truncate(11), "the header needs 12 bytes, there are 11"),
    (
        "cut before its values",
        "f4.npy",
        |b| b.truncate(60),
        "the header needs 128 bytes, there are 60",
    ),
    ("cut in its values", "f4.npy", |b| b.truncate(140), "the values need 60 bytes, there are 12"),
    ("too long", "f4.npy", |b| b.push(0), "the bytes 188..189 belong to no tensor"),
    ("of another version", "f4.npy", |b| b[6] = 9, "the header is of version 9, wharf reads 1"),
    (
        "with a huge header",
        "f4.npy",
        |b| {
            b[6] = 2;
            b[8..12].copy_from_slice(&[0xff; 4]);
        },
        "a header of 4294967295 bytes, 65536 are the most",
    ),
    (
        "with an absurd shape",
        "f4.npy",
        |b| replace(b, "(3, 5), }       ", "(99999999999),} "),
        "the values need 399999999996",
    ),
    (
        "beyond counting",
        "f4.npy",
        |b| {
            replace(
                b,
                "(3, 5), }                                           ",
                "(9223372036854775807, 9223372036854775807), }      ",
            );
        },
        "[9223372036854775807, 9223372036854775807] has more",
    ),
    (
        "without a shape",
        "f4.npy",
        |b| replace(b, "'shape': (3, 5), }", "                 }"),
        "the header means nothing: \"shape\" is missing",
    ),
    (
        "with another field",
        "f4.npy",
        |b| replace(b, "'shape'", "'shade'"),
        "the header means nothing: what is \"shade\"?",
    ),
    (
        "of no truth",
        "f4.npy",
        |b| replace(b, "False", "Maybe"),
        "the header means nothing: False was expected",
    ),
    (
        "with a negative axis",
        "f4.npy",
        |b| replace(b, "(3, 5)", "(-3,5)"),
        "the header means nothing: a dimension was expected, there is \"-3,5)",
    ),
    (
        "with 65 axes",
        "f4.npy",
        |b| {
            let axes = "1, ".repeat(65);
            let header =
                format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({axes}), }}\n");
            let length = u16::try_from(header.len()).expect("it is short").to_le_bytes();
            b.splice(8..128, [&length[..], header.as_bytes()].concat());
        },
        "the header means nothing: more than 64 dimensions",
    ),
    (
        "aligned to 3",
        "blocks.gguf",
        |b| *b = aligned(3),
        "the header means nothing: an alignment of 3",
    ),
    (
        "aligned to 2^17",
        "blocks.gguf",
        |b| *b = aligned(1 << 17),
        "the header means nothing: an alignment of 131072",
    ),
    (
        "with five lists in each other",
        "blocks.gguf",
        |b| *b = nested(5),
        "the header means nothing: lists in more than 4 lists",
    ),
    ("of another version", "blocks.gguf", |b| b[4] = 1, "the header is of version 1, wharf reads"),
    ("turned around", "blocks.gguf", |b| b[4..8].reverse(), "the file is big-endian"),
    (
        "with 2^63 tensors",
        "blocks.gguf",
        |b| set(b, 8, 1 << 63),
        "9223372036854775808 tensors: the header needs",
    ),
    (
        "with 2^63 remarks",
        "blocks.gguf",
        |b| set(b, 16, 1 << 63),
        "9223372036854775808 remarks: the header needs",
    ),
    (
        "with a name of 2^63 bytes",
        "blocks.gguf",
        |b| set(b, 24, 1 << 63),
        "a name of 9223372036854775808 bytes, 65536 are the most",
    ),
    (
        "cut in its values",
        "blocks.gguf",
        |b| b.truncate(1500),
        "tensor \"plain\": the file needs 1536 bytes",
    ),
    (
        "with a name twice",
        "blocks.gguf",
        |b| replace(b, "small", "plain"),
        "\"plain\" is there twice",
    ),
    (
        "cut in its header",
        "blocks.gguf",
        |b| b.truncate(100),
        "6 tensors: the header needs 160 bytes, there are 100",
    ),
    (
        "with too many axes",
        "blocks.gguf",
        |b| {
            let at = b.windows(5).position(|part| part == b"plain").expect("there") + 5;
            b[at] = 9;
        },
        "the header means nothing: 9 axes, 4 are the most",
    ),
    (
        "with blocks beside what would be their values",
        "blocks.gguf",
        |b| *b = claimed("x.values"),
        "tensor \"x\": its blocks would be \"x.values\", which is another tensor's name",
    ),
    (
        "with blocks behind what would be their scales",
        "blocks.gguf",
        |b| *b = claimed("x.scales"),
        "tensor \"x\": its blocks would be \"x.scales\", which is another tensor's name",
    ),
];

#[test]
fn hostile_arrays_and_models_are_refused_at_once() {
    refused(&HOSTILE);
}

/// A file, of which the same is known when it is in memory, or the same is wrong; but for an index,
/// whose files lie nowhere then.
pub(crate) fn opened(path: &Path) -> wharf::Result<Archive> {
    let opened = Archive::open(path);
    let content = std::fs::read(path).expect("it is there");
    if content.first() == Some(&b'{') {
        return opened;
    }
    match (&opened, Archive::from_bytes(content)) {
        (Ok(opened), Ok(brought)) => {
            let [opened, brought] = [opened, &brought].map(|archive| {
                let about = archive.tensors().iter();
                about.map(|t| (t.dtype(), *t.shape(), t.bytes())).collect::<Vec<_>>()
            });
            assert_eq!(opened, brought, "{path:?}");
        }
        (Err(opened), Err(brought)) => {
            let said = opened.to_string().replace(&*path.to_string_lossy(), "a file in memory");
            assert_eq!((brought.kind(), brought.to_string()), (opened.kind(), said));
            assert_eq!(brought.help(), opened.help(), "{brought}");
        }
        (opened, brought) => panic!("{path:?}: {opened:?}, in memory {brought:?}"),
    }
    opened
}

/// Each is refused with what is said of it.
pub(crate) fn refused(all: &[Wrong]) {
    let path = super::scratch(&format!("wrong-{}", all.len()));
    for ((what, content), (.., text)) in spoiled(all).zip(all) {
        std::fs::write(&path, &content).expect("written");
        let error = opened(&path).expect_err(&what);
        let said = error.to_string();
        let said = said.split_once(": ").map_or(&*said, |(_, said)| said);
        assert!(said.starts_with(text), "{what}: {said}");
        assert_eq!(error.kind(), ErrorKind::File, "{what}: {error:?}");
        let help = error.help().unwrap_or_else(|| panic!("{what}: {error:?}"));
        let is_whole = ["version", "twice"].iter().any(|word| text.contains(word));
        assert!(!(is_whole && help.contains("damaged")), "{what}: {error:?}");
    }
    let _ = std::fs::remove_file(&path);
}

/// Each as a file: what it is, and its bytes.
pub(crate) fn spoiled(all: &[Wrong]) -> impl Iterator<Item = (String, Vec<u8>)> {
    all.iter().map(|(what, from, change, _)| {
        let mut content = std::fs::read(golden(from)).expect("there");
        change(&mut content);
        (format!("{from} {what}"), content)
    })
}

#[test]
fn too_many_axes_are_refused_and_the_others_are_carried() {
    let header = r#"{"deep":{"dtype":"U8","shape":[1,2,1,1,1,1,1,1,1],"data_offsets":[0,2]},
        "flat":{"dtype":"U8","shape":[2],"data_offsets":[2,4]}}"#;
    let file = [&(header.len() as u64).to_le_bytes(), header.as_bytes(), &[1, 2, 3, 4]].concat();
    let archive = Archive::from_bytes(file).expect("it is whole");
    let error = archive.shipment().map(drop).expect_err("nine axes").to_string();
    assert!(error.contains("\"deep\" (U8 of 9 axes, 8 are the most)"), "{error}");
    let others = archive.keep(|tensor| tensor.dtype().is_some());
    let (set, _) = capable().upload_set(&others.shipment().expect("known")).expect("up");
    assert_eq!(set.get("flat").expect("there").read_now::<u8>().expect("down"), [3, 4]);
}
