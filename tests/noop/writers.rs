//! Files as others write them: models in several files, types that are newer than wharf, headers of
//! older Pythons; and what is wrong with such.

use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use wharf::io::Archive;
use wharf::tensor::Blocks;
use wharf::{DType, ErrorKind};

use super::capable;
use super::formats::{Modelled, golden, model, numbers};

/// A tensor of two numbers.
fn pair(name: &str) -> Modelled<'_> {
    (name, 0, &[2], [1.5f32, -2.0].map(f32::to_le_bytes).concat())
}

/// A row of 32 weights, in a block of eight bits.
fn block(name: &str) -> Modelled<'_> {
    (name, 8, &[32, 1], vec![7; 34])
}

/// The names of what is in an archive.
fn names(archive: &Archive) -> Vec<&str> {
    archive.tensors().iter().map(wharf::io::FileTensor::name).collect()
}

/// One of several files, counted from 0, as ggml's own program writes them.
fn shard(place: u16, of: u16, all: i32, tensors: &[Modelled<'_>]) -> Vec<u8> {
    let [place, of] = [place, of].map(|n| [&2u32.to_le_bytes()[..], &n.to_le_bytes()].concat());
    let all = [5u32.to_le_bytes(), all.to_le_bytes()].concat();
    let remarks = [("split.no", &place[..]), ("split.count", &of), ("split.tensors.count", &all)];
    model(&remarks, tensors, 32)
}

/// A folder that goes with the test.
struct Folder(PathBuf);

impl Folder {
    /// Of a model in three files, the first of which has no tensors.
    fn of_shards(name: &str) -> Self {
        let folder = Self(super::scratch(name));
        std::fs::create_dir_all(&folder.0).expect("a folder");
        folder.write(1, &shard(0, 3, 2, &[]));
        folder.write(2, &shard(1, 3, 2, &[block("w")]));
        folder.write(3, &shard(2, 3, 2, &[pair("pair")]));
        folder
    }

    fn shard(&self, place: usize) -> PathBuf {
        self.0.join(format!("model-{place:05}-of-00003.gguf"))
    }

    fn write(&self, place: usize, content: &[u8]) {
        std::fs::write(self.shard(place), content).expect("written");
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// What is said of a file that does not open, without its name.
fn wrong(path: &Path) -> String {
    let error = Archive::open(path).expect_err("it is refused");
    assert!(error.kind() == ErrorKind::File && error.help().is_some(), "{error:?}");
    let text = error.to_string();
    text.strip_prefix(&format!("{}: ", path.display())).unwrap_or(&text).to_owned()
}

#[test]
fn a_model_in_several_files_is_opened_by_any_of_them() {
    let folder = Folder::of_shards("sharded");
    for place in 1..=3 {
        let archive = Archive::open(folder.shard(place)).expect("all are there");
        assert_eq!(names(&archive), ["w.values", "w.scales", "pair"], "by {place}");
        let (set, _) = capable().upload_set(&archive.shipment().expect("known")).expect("up");
        assert!(set.quantized("w").is_ok_and(|w| w.shape().dims() == [1, 32]), "by {place}");
        assert_eq!(numbers(set.get("pair").expect("there")), [1.5, -2.0], "by {place}");
    }
    let whole = Archive::from_bytes(shard(0, 1, 1, &[pair("pair")]));
    assert_eq!(names(&whole.expect("the only one")), ["pair"]);
}

#[test]
fn a_shard_without_the_others_is_no_model() {
    let folder = Folder::of_shards("alone");
    let alone = Archive::from_bytes(shard(1, 3, 2, &[block("w")])).expect_err("one of three");
    assert!(alone.to_string().contains(": it is shard 2 of 3, and nothing says"), "{alone}");
    assert!(alone.kind() == ErrorKind::File && alone.help().is_some(), "{alone:?}");
    let renamed = folder.0.join("model.gguf");
    std::fs::copy(folder.shard(2), &renamed).expect("copied");
    let said = wrong(&renamed);
    assert!(said.starts_with("it is shard 2 of 3, and nothing says"), "{said}");
    let rows = [
        (
            shard(2, 2, 2, &[pair("pair")]),
            "\"model-00003-of-00003.gguf\" says that it is shard 3 of 2",
        ),
        (
            shard(1, 3, 2, &[pair("pair")]),
            "\"model-00003-of-00003.gguf\" says that it is shard 2 of 3",
        ),
        (shard(2, 3, 2, &[]), "its shards have 1 tensors, it promises 2"),
        (shard(2, 3, 2, &[pair("w")]), "shard \"model-00003-of-00003.gguf\": \"w\" is there twice"),
        (
            shard(2, 3, 2, &[pair("w.scales")]),
            "tensor \"w\": its blocks would be \"w.scales\", which is another tensor's name",
        ),
        (
            vec![7; 64],
            "shard \"model-00003-of-00003.gguf\": the header means nothing: it is no GGUF",
        ),
        (Vec::new(), "shard \"model-00003-of-00003.gguf\": the header needs 4 bytes"),
    ];
    for (content, text) in rows {
        folder.write(3, &content);
        let said = wrong(&folder.shard(1));
        assert!(said.starts_with(text), "{text}: {said}");
    }
    std::fs::remove_file(folder.shard(3)).expect("it was there");
    let said = wrong(&folder.shard(1));
    assert!(said.starts_with("shard \"model-00003-of-00003.gguf\": the file cannot"), "{said}");
}

#[test]
fn a_type_that_is_newer_can_be_left_out() {
    let odd = [("odd", 77, &[33][..], vec![7; 20]), ("last", 99, &[5], vec![7; 9])];
    let [odd, last] = odd;
    let content = model(&[], &[odd, pair("pair"), last], 32);
    let archive = Archive::from_bytes(content.clone()).expect("it opens");
    let about: Vec<_> = (archive.tensors().iter())
        .map(|tensor| (tensor.name(), tensor.dtype_name(), tensor.dtype(), tensor.bytes()))
        .collect();
    let want = [
        ("odd", "type 77", None, 32),
        ("pair", "F32", Some(DType::F32), 8),
        ("last", "type 99", None, 9),
    ];
    assert_eq!(about, want, "each up to what comes next");
    let error = archive.shipment().expect_err("nobody knows two of them");
    assert_eq!(error.kind(), ErrorKind::Rejected, "{error:?}");
    assert!(error.to_string().ends_with("\"odd\", \"last\" (type 77, type 99)"), "{error}");
    let known = archive.keep(|tensor| tensor.dtype().is_some()).shipment().expect("known");
    let (set, _) = capable().upload_set(&known).expect("up");
    assert_eq!(numbers(set.get("pair").expect("there")), [1.5, -2.0]);
    let cut = content[..content.len() - 10].to_vec();
    let error = Archive::from_bytes(cut).expect_err("the last would begin behind the end");
    assert!(error.to_string().contains("tensor \"last\": the file needs"), "{error}");
    let two = model(&[], &[("w", 42, &[64, 3], vec![7; 54]), pair("pair")], 32);
    let archive = Archive::from_bytes(two).expect("it opens");
    let two = &archive.tensors()[0];
    assert_eq!((two.dtype_name(), two.dtype(), two.bytes()), ("Q2_0", None, 54));
}

/// Other numbers would be no blocks.
#[test]
fn parts_of_blocks_arrive_as_they_are() {
    let device = capable();
    let archive = Archive::open(golden("blocks.gguf")).expect("it opens");
    let forms: Vec<_> = archive.tensors().iter().map(wharf::io::FileTensor::blocks).collect();
    let [eight, four] = [Blocks::Q8, Blocks::Q4].map(Some);
    assert_eq!(forms, [None, None, None, eight, eight, None, four, four]);
    let floats = archive
        .shipment_as(|tensor| tensor.dtype().filter(|dtype| dtype.is_float()).map(|_| DType::F32))
        .expect("known");
    let (set, _) = device.upload_set(&floats).expect("up");
    assert_eq!(set.get("half").map(wharf::Tensor::dtype), Some(DType::F32), "a tensor of its own");
    for name in ["blocks", "small"] {
        assert!(set.quantized(name).is_ok_and(|blocks| blocks.shape().dims() == [4, 64]), "{name}");
    }
    // Its scales are a matrix of f16, with rows of whole blocks.
    let wide = model(&[], &[("w", 8, &[1024, 2], vec![0; 64 * 34])], 32);
    let archive = Archive::from_bytes(wide).expect("it opens");
    let (set, _) =
        device.upload_set(&archive.shipment_as(|_| Some(Blocks::Q8)).expect("known")).expect("up");
    assert!(set.quantized("w").is_ok_and(|w| w.shape().dims() == [2, 1024]), "{set:?}");
}

/// A file of a hole, but for its ends.
fn with_hole(path: &Path, whole: &[u8], at: usize, hole: u64) {
    let mut file = std::fs::File::create(path).expect("it is new");
    file.write_all(&whole[..at]).expect("written");
    file.seek(SeekFrom::Current(hole.cast_signed())).expect("beyond its end");
    file.write_all(&whole[at..]).expect("written");
}

#[test]
fn a_remark_of_gigabytes_is_passed_over_at_once() {
    let path = super::scratch("remarkable.gguf");
    let hole = 1u64 << 35;
    let list = |kind: u32, count: u64| {
        [&9u32.to_le_bytes()[..], &kind.to_le_bytes(), &count.to_le_bytes()].concat()
    };
    let clock = Instant::now();
    for (kind, bytes) in [(0, 1), (6, 4), (12, 8)] {
        let value = list(kind, hole / bytes);
        let whole = model(&[("list", &value)], &[pair("pair")], 32);
        // Behind the beginning of a model, and that of a remark, its name and its value.
        with_hole(&path, &whole, 24 + 8 + 4 + value.len(), hole);
        let archive = Archive::open(&path).expect("it opens");
        let (set, _) = capable().upload_set(&archive.shipment().expect("known")).expect("up");
        assert_eq!(numbers(set.get("pair").expect("there")), [1.5, -2.0], "of {kind}");
    }
    // Texts are read one by one.
    let value = list(8, hole / 8);
    let whole = model(&[("list", &value)], &[pair("pair")], 32);
    with_hole(&path, &whole, 24 + 8 + 4 + value.len(), hole);
    let said = wrong(&path);
    assert!(said.starts_with("a header of 671088"), "{said}");
    assert!(clock.elapsed().as_secs() < 10, "{:?}", clock.elapsed());
    let _ = std::fs::remove_file(&path);
}

/// An array of a version of the format, of six bytes.
fn array(version: u8, header: &[u8]) -> Vec<u8> {
    let length = u16::try_from(header.len()).expect("short").to_le_bytes();
    let length = if version == 1 { length.to_vec() } else { [length, [0, 0]].concat() };
    [b"\x93NUMPY", &[version, 0][..], &length, header, &[7; 6]].concat()
}

#[test]
fn a_header_is_read_as_its_version_has_it() {
    let header = b"{'descr': [('\xe9', '|u1')], 'fortran_order': False, 'shape': (3, 2), }";
    for version in [1, 2] {
        let archive = Archive::from_bytes(array(version, header)).expect("Latin-1");
        assert_eq!(archive.tensors()[0].dtype_name(), "[('é', '|u1')]", "{version}");
    }
    let error = Archive::from_bytes(array(3, header)).expect_err("it would be UTF-8");
    assert!(error.to_string().ends_with("the header means nothing: it is not UTF-8"), "{error}");
    let header = "{'descr': [('é', '|u1')], 'fortran_order': False, 'shape': (3, 2), }";
    let archive = Archive::from_bytes(array(3, header.as_bytes())).expect("UTF-8");
    assert_eq!(archive.tensors()[0].dtype_name(), "[('é', '|u1')]");
}

#[test]
fn a_shape_may_have_the_long_numbers_of_python_2() {
    for (shape, dims) in [("(3L, 2L)", &[3, 2][..]), ("(6L,)", &[6]), ("(2, 3L)", &[2, 3])] {
        let header = format!("{{'descr': '|u1', 'fortran_order': False, 'shape': {shape}, }}");
        let archive = Archive::from_bytes(array(1, header.as_bytes())).expect(shape);
        assert_eq!(archive.tensors()[0].shape().dims(), dims, "{shape}");
    }
    let header = b"{'descr': '|u1', 'fortran_order': False, 'shape': (3M, 2), }";
    assert!(Archive::from_bytes(array(1, header)).is_err(), "that is no number");
}
