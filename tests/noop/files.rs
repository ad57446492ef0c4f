//! Files of safetensors: read as another implementation writes them, written as it reads them, and
//! refused whatever is wrong with them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use safetensors::tensor::{Dtype, SafeTensors, TensorView, serialize};
use wharf::caps::{Caps, fixtures};
use wharf::half::f16;
use wharf::io::Archive;
use wharf::ledger::Crossings;
use wharf::{DType, ErrorKind, HostBytes, Policy, Shipment, Tensor};

use super::formats::opened;
use super::loads::{bytes, raw};
use super::open;

/// A file of this test, which goes with it.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str, content: &[u8]) -> Self {
        let path = super::scratch(name);
        std::fs::write(&path, content).expect("the folder of tests can be written");
        Self(path)
    }

    fn archive(&self) -> wharf::Result<Archive> {
        opened(&self.0)
    }

    /// The message of what is wrong with it, without its name.
    fn wrong(&self) -> String {
        let error = self.archive().expect_err("it is refused");
        assert_eq!(error.kind(), ErrorKind::File, "{error:?}");
        let text = error.to_string();
        let begin = format!("{}: ", self.0.display());
        text.strip_prefix(&begin).unwrap_or_else(|| panic!("names the file: {text}")).to_owned()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// A file: the length of a header, the header, and so many bytes of values.
pub(crate) fn file(header: &str, values: usize) -> Vec<u8> {
    let length = (header.len() as u64).to_le_bytes();
    [&length[..], header.as_bytes(), &vec![7; values]].concat()
}

const PAIRS: [(DType, Dtype); 15] = [
    (DType::F32, Dtype::F32),
    (DType::F16, Dtype::F16),
    (DType::Bf16, Dtype::BF16),
    (DType::F64, Dtype::F64),
    (DType::I8, Dtype::I8),
    (DType::U8, Dtype::U8),
    (DType::I16, Dtype::I16),
    (DType::U16, Dtype::U16),
    (DType::I32, Dtype::I32),
    (DType::U32, Dtype::U32),
    (DType::I64, Dtype::I64),
    (DType::U64, Dtype::U64),
    (DType::Bool, Dtype::BOOL),
    (DType::F8E4M3, Dtype::F8_E4M3),
    (DType::F8E5M2, Dtype::F8_E5M2),
];

/// Its name, its dtype to wharf and to the other, its shape and its bytes.
pub(crate) type Kept = (String, (DType, Dtype), Vec<usize>, Vec<u8>);

/// Every dtype in several shapes.
pub(crate) fn menagerie() -> Vec<Kept> {
    let shapes: [&[usize]; 5] = [&[3, 701], &[], &[0, 4], &[1, 1, 5], &[280_001]];
    let all = PAIRS.iter().flat_map(|&pair| shapes.iter().map(move |&shape| (pair, shape)));
    all.map(|(pair, shape)| {
        let name = format!("{}.\"ü\\{shape:?}", pair.0);
        (name, pair, shape.to_vec(), bytes(pair.0, shape.iter().product()))
    })
    .collect()
}

#[test]
fn what_another_writes_is_read_bit_by_bit() {
    let device = open(fixtures::lavapipe());
    let all = menagerie();
    let views: BTreeMap<&str, TensorView<'_>> = all
        .iter()
        .map(|(name, (_, dtype), shape, data)| {
            (&**name, TensorView::new(*dtype, shape.clone(), data).expect("a view"))
        })
        .collect();
    let whole = serialize(&views, None).expect("it is written");
    let file = Scratch::new("read", &whole);
    for archive in [file.archive(), Archive::from_bytes(whole)] {
        let archive = archive.expect("it is whole");
        assert_eq!(archive.tensors().len(), all.len(), "each once");
        let shipment = archive.shipment().expect("all dtypes are known");
        let (set, receipt) = device.upload_set(&shipment).expect("lavapipe has all");
        assert!(receipt.is_exact(), "{receipt}");
        for (name, (dtype, _), shape, data) in &all {
            let tensor = set.get(name).expect("it arrived");
            assert_eq!((tensor.dtype(), tensor.shape().dims()), (*dtype, &shape[..]), "{name}");
            assert!(raw(tensor) == *data, "{name}");
        }
    }
}

#[test]
fn what_is_saved_is_read_by_another_bit_by_bit() {
    let device = open(fixtures::lavapipe());
    let all = menagerie();
    let mut shipment = Shipment::new();
    for (name, (dtype, _), shape, data) in &all {
        let view = HostBytes::new(data, shape, *dtype).expect("it fits");
        shipment.add(name, view).expect("new");
    }
    let (set, _) = device.upload_set(&shipment).expect("lavapipe has all");
    let scratch = Scratch::new("saved", b"what was there before");
    let receipt = set.save(&scratch.0).expect("it is written");
    assert!(receipt.is_exact() && receipt.iter().len() == all.len(), "{receipt}");
    let written = std::fs::read(&scratch.0).expect("it is there");
    let read = SafeTensors::deserialize(&written).expect("it is whole");
    assert_eq!(read.len(), all.len(), "each once");
    // Whoever maps the file finds each aligned for its dtype.
    let begin = written.len() - all.iter().map(|(.., data)| data.len()).sum::<usize>();
    assert!(begin.is_multiple_of(8), "the values begin at {begin}");
    for (name, (own, dtype), shape, data) in &all {
        let view = read.tensor(name).expect("it is there");
        assert_eq!((view.dtype(), view.shape()), (*dtype, &shape[..]), "{name}");
        assert!(view.data() == data, "{name}");
        let at = view.data().as_ptr().addr() - written.as_ptr().addr();
        assert!(at.is_multiple_of(own.width()), "{name} lies at {at}");
    }
    let back = scratch.archive().expect("wharf reads it too").shipment().expect("all dtypes");
    let (again, _) = device.upload_set(&back).expect("it fits");
    assert!(
        all.iter()
            .all(|(name, ..)| raw(again.get(name).expect("there"))
                == raw(set.get(name).expect("there"))),
        "there and back"
    );
}

#[test]
fn what_fails_to_be_saved_leaves_what_was_there() {
    let device = open(Caps::webgpu_baseline());
    let mut set = wharf::TensorSet::new();
    set.insert("x", device.ones([4], DType::F32).expect("small")).expect("new");
    let scratch = Scratch::new("kept", b"what was there before");
    let guard = device.guard(Crossings::Deny);
    assert_eq!(set.save(&scratch.0).expect_err("denied").kind(), ErrorKind::Denied, "the guard");
    drop(guard);
    // The second can never be computed: it is a part of one beyond any memory.
    let huge = device.ones((), DType::F32).and_then(|x| x.broadcast_to([1 << 30, 1 << 30]));
    let never = huge.and_then(|x| (x + 1.0f32)?.slice(0, 0..1)?.slice(1, 0..4));
    let mut half = set.clone();
    half.insert("y", never.expect("nothing is computed yet")).expect("new");
    let error = half.save(&scratch.0).expect_err("too large");
    assert_eq!(error.kind(), ErrorKind::Limit, "midway: {error:?}");
    let nowhere = scratch.0.join("below").join("a file");
    let error = set.save(nowhere).expect_err("a file is no folder");
    assert_eq!(error.kind(), ErrorKind::File, "{error:?}");
    assert_eq!(std::fs::read(&scratch.0).expect("there"), b"what was there before", "kept");
    let folder = scratch.0.parent().expect("a folder");
    let names = std::fs::read_dir(folder).expect("a folder").flatten();
    let left = names.filter(|entry| entry.file_name().to_string_lossy().ends_with(".part"));
    let mine = scratch.0.file_name().expect("a name").to_string_lossy().into_owned();
    assert_eq!(left.filter(|e| e.file_name().to_string_lossy().starts_with(&mine)).count(), 0);
}

#[test]
fn a_file_that_nobody_could_open_is_not_written() {
    let device = open(Caps::webgpu_baseline());
    let x = device.ones([4], DType::F32).expect("small");
    let scratch = Scratch::new("unnamed", b"what was there before");
    let long = "n".repeat((64 << 10) + 1);
    let remarks = "tensor \"__metadata__\": a file has its remarks under this name";
    for (name, says) in
        [("__metadata__", remarks), (long.as_str(), "its name has 65537 bytes, 65536 are the most")]
    {
        let mut set = wharf::TensorSet::new();
        set.insert(name, x.clone()).expect("new");
        let error = set.save(&scratch.0).expect_err("no name for a tensor");
        assert_eq!(error.kind(), ErrorKind::Mismatch, "{error:?}");
        assert!(error.to_string().ends_with(says) && error.help().is_some(), "{error}");
    }
    assert_eq!(std::fs::read(&scratch.0).expect("there"), b"what was there before", "kept");
    let mut set = wharf::TensorSet::new();
    set.insert(&long[1..], x).expect("new");
    let _ = set.save(&scratch.0).expect("the longest name");
    assert_eq!(scratch.archive().expect("it opens").tensors().len(), 1);
}

/// More bytes than can be counted are an error like any other size.
#[test]
fn what_no_host_could_hold_is_refused() {
    let device = open(fixtures::lavapipe());
    let huge = device.ones([1], DType::F64).and_then(|x| x.broadcast_to([1 << 61]));
    let huge = huge.expect("a view");
    let scratch = Scratch::new("huge", b"");
    let mut set = wharf::TensorSet::new();
    set.insert("x", huge.clone()).expect("new");
    let all =
        [huge.read_bytes_now().err(), set.save(&scratch.0).err(), set.save_npz(&scratch.0).err()];
    for error in all {
        assert_eq!(error.map(|error| error.kind()), Some(ErrorKind::Limit));
    }
}

/// Large enough for several chunks, and no multiple of any. What f16 cannot hold comes in the last.
fn large() -> (Vec<f32>, Scratch) {
    let values: Vec<f32> = (0..3_000_001).map(|i| i as f32 * 0.025).collect();
    let view = TensorView::new(Dtype::F32, vec![values.len()], bytemuck::cast_slice(&values));
    let views = BTreeMap::from([("large", view.expect("a view"))]);
    let whole = serialize(&views, None).expect("it is written");
    let name = format!("large-{:?}", std::thread::current().id());
    (values, Scratch::new(&name, &whole))
}

#[test]
fn a_file_is_converted_while_it_is_staged() {
    let device = open(fixtures::lavapipe());
    let (values, scratch) = large();
    let archive = scratch.archive().expect("it is whole");
    for to in [DType::F16, DType::Bf16, DType::F64] {
        let (tensor, alone) = device.upload_as(&values, values.len(), to).expect("a conversion");
        let shipment = archive.shipment_as(|_| Some(to)).expect("known");
        let (set, receipt) = device.upload_set(&shipment).expect("a conversion");
        let one = receipt.get("large").expect("it was carried");
        assert_eq!((one.tally, one.how), (alone.tally, alone.how), "{to}");
        assert!(raw(set.get("large").expect("there")) == raw(&tensor), "{to}");
    }
    let strict = device.with_policy(&Policy::exact().overflow_is_error());
    let shipment = archive.shipment_as(|_| Some(DType::F16)).expect("known");
    let error = strict.upload_set(&shipment).expect_err("70 000 is no f16");
    let first = values.iter().position(|v| f16::from_f32(*v).is_infinite()).expect("there is one");
    assert!(error.to_string().contains(&format!("at index {first} ")), "{error}");
}

#[test]
fn a_file_that_shrinks_leaves_memory_as_it_was() {
    let device = open(fixtures::lavapipe());
    let (_, scratch) = large();
    let archive = scratch.archive().expect("it is whole");
    let before = device.memory();
    let whole = std::fs::OpenOptions::new().write(true).open(&scratch.0).expect("there");
    whole.set_len(9_000_000).expect("cut");
    let error = device.upload_set(&archive.shipment().expect("known")).expect_err("cut short");
    assert_eq!(error.kind(), ErrorKind::File, "{error:?}");
    let text = error.to_string();
    assert!(text.starts_with("tensor \"large\": "), "{text}");
    assert!(text.ends_with("are no longer there"), "{text}");
    device.trim().expect("it lives");
    let after = device.memory();
    assert_eq!((after.bytes_live, after.tensors), (before.bytes_live, before.tensors), "as it was");
    assert_eq!(after.bytes_reserved, before.bytes_reserved, "as it was");
}

#[test]
fn a_bool_that_is_none_is_refused_where_it_lies() {
    let device = open(fixtures::lavapipe());
    let header = r#"{"mask":{"dtype":"BOOL","shape":[3],"data_offsets":[0,3]}}"#;
    let mut content = file(header, 3);
    let len = content.len();
    content[len - 3..].copy_from_slice(&[1, 0, 9]);
    let scratch = Scratch::new("truth", &content);
    let shipment = scratch.archive().expect("a header").shipment().expect("known");
    let error = device.upload_set(&shipment).expect_err("9 is no bool");
    let text = "tensor \"mask\": byte 9 at index 2 is no bool, which is 0 or 1";
    assert_eq!(error.to_string(), text);
}

/// What is wrong with a file, the file, and what is said about it.
pub(crate) type Wrong = (&'static str, Vec<u8>, &'static str);

/// A header of one tensor.
fn one(dtype: &str, dims: &str, begin: &str, end: &str) -> String {
    format!(r#"{{"x":{{"dtype":"{dtype}","shape":{dims},"data_offsets":[{begin},{end}]}}}}"#)
}

pub(crate) fn hostile_headers() -> Vec<Wrong> {
    let mut long = file(&one("U8", "[4]", "0", "4"), 4);
    long[..8].copy_from_slice(&(1u64 << 63).to_le_bytes());
    let mut beyond = file(&one("U8", "[4]", "0", "4"), 4);
    beyond[..8].copy_from_slice(&500u64.to_le_bytes());
    let deep = format!(r#"{{"__metadata__":{}{}}}"#, "[".repeat(50_000), "]".repeat(50_000));
    let same = r#"{"x":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},
        "x":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}}"#;
    let axes = format!("[{}1]", "1,".repeat(100_000));
    // As a name, a dtype, and what is neither.
    let endless = "a".repeat(1 << 18);
    let name = one("U8", "[4]", "0", "4").replace('x', &endless);
    let field = one("U8", "[4]", "0", "4").replace("shape", &endless);
    let long_word =
        "the header means nothing: a text of 262144 bytes, 65536 are the most at line 1";
    vec![
        ("empty", Vec::new(), "the length of the header needs 8 bytes, there are 0"),
        ("short", vec![1, 2, 3], "the length of the header needs 8 bytes, there are 3"),
        ("garbage", vec![9; 64], "no format that is compiled in begins with \"\\\\t\\\\t"),
        ("a length of 2^63", long, "a header of 9223372036854775808 bytes, 100000000 are the most"),
        (
            "a length beyond the file",
            beyond,
            "the header with its length needs 508 bytes, there are 65",
        ),
        (
            "no JSON",
            file("{no", 4),
            "the header means nothing: key must be a string at line 1 column 2",
        ),
        (
            "deep JSON",
            file(&deep, 4),
            "the header means nothing: invalid type: sequence, expected texts by name",
        ),
        ("duplicates", file(same, 4), "the header means nothing: \"x\" is there twice at line 2"),
        (
            "many axes",
            file(&one("U8", &axes, "0", "1"), 1),
            "the header means nothing: more than 64 dimensions",
        ),
        ("a name without an end", file(&name, 4), long_word),
        ("a dtype without an end", file(&one(&endless, "[4]", "0", "4"), 4), long_word),
        ("a field without an end", file(&field, 4), long_word),
    ]
}

pub(crate) fn hostile_places() -> Vec<Wrong> {
    let most = i64::MAX as u64;
    let fields = |name, dims, begin, end| {
        format!(r#""{name}":{{"dtype":"U8","shape":{dims},"data_offsets":[{begin},{end}]}}"#)
    };
    let three = [
        fields("a", format!("[{most}]"), 0, most),
        fields("b", format!("[{most}]"), most, 2 * most),
        fields("c", "[0]".into(), 2 * most, 2 * most),
    ];
    let three = format!("{{{}}}", three.join(","));
    let two = |second: &str| {
        let first = r#"{"x":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"#;
        format!(r#"{first}"y":{{"dtype":"U8","shape":[4],"data_offsets":{second}}}}}"#)
    };
    vec![
        (
            "truncated",
            file(&one("F32", "[4]", "0", "16"), 9),
            "the values need 16 bytes, there are 9",
        ),
        ("oversized", file(&one("U8", "[4]", "0", "4"), 9), "the bytes 4..9 belong to no tensor"),
        (
            "overlapping",
            file(&two("[2,6]"), 6),
            "tensor \"y\": it begins at byte 2, before the tensor before it ends at 4",
        ),
        ("a gap", file(&two("[6,10]"), 10), "tensor \"y\": the bytes 4..6 belong to no tensor"),
        (
            "backwards",
            file(&one("U8", "[4]", "4", "0"), 4),
            "tensor \"x\": it lies at bytes 4..0, which end before they begin",
        ),
        (
            "another size",
            file(&one("F32", "[4]", "0", "4"), 4),
            "tensor \"x\": [4] of F32 takes 16 bytes, the header gives it 4",
        ),
        (
            "an absurd shape",
            file(&one("F32", "[4294967296,4294967296]", "0", "4"), 4),
            "tensor \"x\": [4294967296, 4294967296] has more elements than can be counted",
        ),
        (
            "a negative axis",
            file(&one("F32", "[-1]", "0", "4"), 4),
            "the header means nothing: invalid value: integer `-1`, expected u64",
        ),
        (
            "an end of 2^64, and something behind it",
            file(&three, 4),
            "the values need 18446744073709551614 bytes, there are 4",
        ),
        (
            "an end of 2^63",
            file(&one("U8", "[9223372036854775807]", "0", "9223372036854775807"), 4),
            "the values need 9223372036854775807 bytes, there are 4",
        ),
    ]
}

#[test]
fn hostile_files_are_refused_at_once() {
    let clock = Instant::now();
    for (what, content, text) in hostile_headers().into_iter().chain(hostile_places()) {
        let scratch = Scratch::new("hostile", &content);
        let error = scratch.archive().expect_err(what);
        let said = error.to_string();
        let said = said.split_once(": ").map_or(&*said, |(_, said)| said);
        assert!(said.starts_with(text), "{what}: {said}");
        assert_eq!(error.kind(), ErrorKind::File, "{what}: {error:?}");
        assert!(error.help().is_some(), "{what}: {error:?}");
    }
    assert!(clock.elapsed().as_secs() < 5, "{:?}", clock.elapsed());
    let nowhere = Archive::open("/nowhere/at all").expect_err("it is not there");
    assert_eq!(nowhere.kind(), ErrorKind::File, "{nowhere:?}");
    assert!(Archive::open(env!("CARGO_MANIFEST_DIR")).is_err(), "a folder is no file");
}

#[test]
fn a_header_of_70_gigabytes_is_read_as_fast_as_a_small_one() {
    let (layers, bytes) = (700u64, 100_000_000u64);
    let tensors: Vec<String> = (0..layers)
        .map(|i| {
            let (begin, end) = (i * bytes, (i + 1) * bytes);
            format!(
                r#""{i}":{{"dtype":"BF16","shape":[5000,10000],"data_offsets":[{begin},{end}]}}"#
            )
        })
        .collect();
    let content = file(&format!("{{{}}}", tensors.join(",")), 0);
    let scratch = Scratch::new("sparse", &content);
    let sparse = std::fs::OpenOptions::new().write(true).open(&scratch.0).expect("there");
    sparse.set_len(content.len() as u64 + layers * bytes).expect("a file with a hole");
    let clock = Instant::now();
    let archive = Archive::open(&scratch.0).expect("it is whole");
    assert!(clock.elapsed().as_millis() < 1000, "{:?}", clock.elapsed());
    let total: u64 = archive.tensors().iter().map(|tensor| tensor.bytes()).sum();
    assert_eq!(total, 70_000_000_000, "of {} tensors", archive.tensors().len());
}

#[test]
fn a_dtype_that_wharf_lacks_is_named_and_can_be_left_out() {
    let device = open(fixtures::lavapipe());
    let header = r#"{"a":{"dtype":"F8_E8M0","shape":[4],"data_offsets":[0,4]},
        "b":{"dtype":"F4","shape":[3],"data_offsets":[4,6]},
        "c":{"dtype":"U8","shape":[2],"data_offsets":[6,8]},
        "d":{"dtype":"C64","shape":[1],"data_offsets":[8,16]},
        "e":{"dtype":"Q9","shape":[4],"data_offsets":[16,19]}}"#;
    let scratch = Scratch::new("foreign", &file(header, 19));
    let archive = scratch.archive().expect("it is whole");
    let dtypes: Vec<_> = archive.tensors().iter().map(|t| t.dtype_name()).collect();
    assert_eq!(dtypes, ["F8_E8M0", "F4", "U8", "C64", "Q9"]);
    let error = archive.shipment().expect_err("no such dtypes");
    assert_eq!(error.kind(), ErrorKind::Rejected, "{error:?}");
    let names = "\"a\", \"b\", \"d\", .. (C64, F4, F8_E8M0, Q9)";
    let text = format!("4 of 5 tensors are of dtypes that wharf does not have: {names}");
    assert_eq!(error.to_string(), text);
    let kept = archive.keep(|tensor| tensor.dtype().is_some()).shipment().expect("known");
    let (set, _) = device.upload_set(&kept).expect("it fits");
    assert_eq!(set.get("c").map(Tensor::read_now::<u8>).expect("there").expect("read"), [7, 7]);
}

/// A folder of two files and an index.
fn shards(name: &str, index: &str) -> (Vec<Scratch>, wharf::Result<Archive>) {
    let one =
        |name: &str| format!(r#"{{"{name}":{{"dtype":"U8","shape":[2],"data_offsets":[0,2]}}}}"#);
    let files: Vec<Scratch> = ["a", "b"]
        .into_iter()
        .map(|part| Scratch::new(&format!("{name}-{part}"), &file(&one(part), 2)))
        .collect();
    let called = |file: &Scratch| file_name(&file.0);
    let index = index.replace("FIRST", &called(&files[0])).replace("SECOND", &called(&files[1]));
    let index = Scratch::new(&format!("{name}-index"), index.as_bytes());
    let archive = index.archive();
    (files.into_iter().chain([index]).collect(), archive)
}

fn file_name(path: &Path) -> String {
    path.file_name().expect("a name").to_string_lossy().into_owned()
}

#[test]
fn several_files_are_one_set() {
    let device = open(fixtures::lavapipe());
    let index = r#"{"metadata":{"total_size":4},"weight_map":{"a":"FIRST","b":"SECOND"}}"#;
    let (_kept, archive) = shards("shards", index);
    let (set, _) = device
        .upload_set(&archive.expect("both are there").shipment().expect("known"))
        .expect("it fits");
    let names: Vec<&str> = set.iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["a", "b"], "of both files");
    let alone = Archive::from_bytes(index.as_bytes().to_vec()).expect_err("no file is beside it");
    assert!(alone.to_string().contains("in memory none lies beside it"), "{alone}");
    assert!(alone.kind() == ErrorKind::File && alone.help().is_some(), "{alone:?}");
    let endless = "a".repeat(100_000);
    let long_word = "the header means nothing: a text of 100000 bytes, 65536 are the most";
    let rows = [
        (r#"{"weight_map":{"a":"FIRST"}}"#, None),
        (r#"{"weight_map":{"a":"FIRST","b":"FIRST"}}"#, Some("tensor \"b\": the index has it in")),
        (r#"{"weight_map":{"b":"FIRST"}}"#, Some("tensor \"a\": \"")),
        (r#"{"weight_map":{"a":"../FIRST"}}"#, Some("the index names the file \"../")),
        (r#"{"weight_map":{"a":"/etc/passwd"}}"#, Some("the index names the file \"/etc/")),
        (r#"{"weight_map":{"a":"gone"}}"#, Some("shard \"gone\": the file cannot be read")),
        (r#"{"weight_map":{"a":"FIRST","a":"FIRST"}}"#, Some("the header means nothing: \"a\"")),
        (r#"{"metadata":{"total_size":4}}"#, Some("the header means nothing: missing field")),
        (&format!(r#"{{"weight_map":{{"{endless}":"FIRST"}}}}"#), Some(long_word)),
        (&format!(r#"{{"weight_map":{{"a":"{endless}"}}}}"#), Some(long_word)),
    ];
    for (i, (index, text)) in rows.into_iter().enumerate() {
        let (kept, archive) = shards(&format!("shards{i}"), index);
        match (archive, text) {
            (Ok(archive), None) => assert_eq!(archive.tensors().len(), 1, "{index}"),
            (Err(error), Some(text)) => {
                assert!(error.help().is_some(), "{error:?}");
                let said = kept.last().expect("the index").wrong();
                assert!(said.starts_with(text), "{index}: {said}, {error:?}");
            }
            (outcome, _) => panic!("{index}: {outcome:?}"),
        }
    }
    let index = r#"{"weight_map":{"a":"FIRST","b":"FIRST","c":"SECOND"}}"#;
    let said = shards("elsewhere", index).0.last().expect("the index").wrong();
    let text = " has it, and the index has it in \"elsewhere-a";
    assert!(said.starts_with("tensor \"b\": \"elsewhere-b") && said.contains(text), "{said}");
}

/// A link leads to the same file as before, and whoever could not read it still cannot.
#[cfg(unix)]
#[test]
fn a_file_that_is_saved_again_keeps_its_place_and_its_mode() {
    use std::os::unix::fs::PermissionsExt;

    let device = open(Caps::webgpu_baseline());
    let mut set = wharf::TensorSet::new();
    set.insert("x", device.ones([4], DType::F32).expect("small")).expect("new");
    let (scratch, link) = (Scratch::new("lasting", b"old"), super::scratch("link"));
    let path = &scratch.0;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).expect("it is ours");
    std::os::unix::fs::symlink(path, &link).expect("it is new");
    let _ = set.save(&link).expect("it is written");
    assert!(link.is_symlink() && std::fs::read(path).expect("it is there").len() > 3);
    let mode = std::fs::metadata(path).expect("it is there").permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "{mode:o}");
    let _ = std::fs::remove_file(link);
}

/// Nor is a link, which would no longer lead to where somebody reads.
#[cfg(unix)]
#[test]
fn what_is_no_file_is_not_saved_over() {
    use std::os::unix::fs::{FileTypeExt, symlink};

    let device = open(Caps::webgpu_baseline());
    let mut set = wharf::TensorSet::new();
    set.insert("x", device.ones([4], DType::F32).expect("small")).expect("new");
    let folder = std::env::temp_dir().join(format!("wharf-odd-{}", std::process::id()));
    std::fs::create_dir(&folder).expect("it is new");
    let [socket, link, circle] = ["socket", "link", "circle"].map(|name| folder.join(name));
    let _listener = std::os::unix::net::UnixListener::bind(&socket).expect("it is new");
    symlink("socket", &link).expect("it is new");
    symlink("circle", &circle).expect("it is new");
    for path in [&socket, &link, &folder, &circle] {
        let error = set.save(path).expect_err("it is no file");
        let said = error.to_string();
        let why = if path == &circle { "" } else { "it is no file" };
        assert!(said.ends_with(why) && said.contains("cannot be written"), "{path:?}: {said}");
        assert_eq!(error.kind(), ErrorKind::File, "{error:?}");
    }
    let kind = std::fs::metadata(&socket).expect("it is there").file_type();
    assert!(kind.is_socket() && circle.is_symlink(), "they are what they were");
    // What a link leads to may be made by this.
    let [far, near, file] = ["far", "near", "file"].map(|name| folder.join(name));
    symlink("near", &far).expect("it is new");
    symlink(&file, &near).expect("it is new");
    let _ = set.save(&far).expect("it is written");
    assert!(far.is_symlink() && near.is_symlink() && file.is_file(), "all links stay");
    let names = std::fs::read_dir(&folder).expect("it is there").count();
    assert_eq!(names, 6, "no part is left");
    std::fs::remove_dir_all(&folder).expect("it is ours");
}

/// A pipe opens when somebody writes to it, which may be never.
#[cfg(unix)]
#[test]
fn what_is_no_file_is_not_waited_for() {
    let pipe = super::scratch("pipe");
    let made =
        std::process::Command::new("mkfifo").arg(&pipe).status().expect("a tool of any Unix");
    assert!(made.success(), "{made}");
    let (sender, receiver) = std::sync::mpsc::channel();
    let path = pipe.clone();
    std::thread::spawn(move || sender.send(Archive::open(path).map(drop)));
    let opened = receiver.recv_timeout(core::time::Duration::from_secs(20));
    let error = opened.expect("nobody writes").expect_err("it is no file");
    assert!(error.to_string().ends_with("it is no file"), "{error}");
    std::fs::remove_file(&pipe).expect("it is ours");
}
