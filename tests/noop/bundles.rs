//! Files of several arrays (npz): as numpy writes them, stored and deflated, and with something
//! wrong in them.

use std::error::Error as _;
use std::io::{self, Write};

use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc};
use wharf::io::Archive;
use wharf::ledger::Crossings;
use wharf::{DType, ErrorKind, TensorSet};

use super::capable;
use super::formats::{Wrong, golden, load, number, numbers, replace};

/// Written whole, deflated, and deflated with sizes behind the data: the same arrays.
#[test]
fn arrays_in_a_file_are_what_numpy_wrote() {
    let device = capable();
    let want: Vec<f64> = (0..15).map(number).collect();
    for file in ["stored.npz", "deflated.npz", "streamed.npz"] {
        let archive = Archive::open(golden(file)).expect(file);
        let shipment = archive.shipment().expect("all are known");
        let names: Vec<&str> = shipment.names().collect();
        assert_eq!(names, ["weight", "layer/ü", "one"], "{file}: as they lie there");
        // A shipment goes more than once: a member begins again.
        for _ in 0..2 {
            let (set, receipt) = device.upload_set(&shipment).expect(file);
            assert!(receipt.is_exact() && receipt.bytes_host() == 60 + 30 + 8, "{receipt}");
            let tensor = |name: &str| set.get(name).expect("it arrived");
            assert_eq!(tensor("weight").dtype(), DType::F32, "{file}");
            assert_eq!(tensor("weight").shape().dims(), [3, 5], "{file}");
            assert_eq!(numbers(tensor("weight")), want, "{file}");
            assert_eq!(tensor("layer/ü").dtype(), DType::I16, "{file}");
            let whole: Vec<f64> = want.iter().map(|x| x.trunc()).collect();
            assert_eq!(numbers(tensor("layer/ü")), whole, "{file}");
            assert_eq!((tensor("one").shape().rank(), numbers(tensor("one"))), (0, vec![-3.0]));
        }
    }
    let stored = Archive::open(golden("stored.npz")).expect("a header");
    let packed = Archive::open(golden("deflated.npz")).expect("a header");
    let bytes = |archive: &Archive| -> Vec<u64> {
        archive.tensors().iter().map(wharf::io::FileTensor::bytes).collect()
    };
    assert_eq!(bytes(&stored), [60, 30, 8], "values");
    assert_eq!(bytes(&packed), [110, 79, 71], "as they lie there");
    let set = load(&device, "columns.npz");
    let columns = set.get("columns").expect("there");
    assert_eq!(columns.layout().strides(), [1, 3], "carried as it lies");
}

/// Byte for byte, header, checksums and directory.
#[test]
fn a_set_is_saved_as_numpy_saves_it() {
    let device = capable();
    let path = super::scratch("saved.npz");
    for (from, to) in [("columns.npz", "columns.npz"), ("deflated.npz", "stored.npz")] {
        let receipt = load(&device, from).save_npz(&path).expect("it is written");
        assert!(receipt.is_exact(), "{receipt}");
        let [got, want] = [path.clone(), golden(to)].map(std::fs::read);
        assert!(got.expect("written") == want.expect("there"), "{from}: not what numpy writes");
    }
    let kept = std::fs::read(&path).expect("written");
    for name in ["../x", "/x", "a\\b", "a/../b", "\n"] {
        let mut set = TensorSet::new();
        set.insert(name, device.ones([2], DType::F32).expect("small")).expect("new");
        let error = set.save_npz(&path).expect_err("no such name");
        let text = "its name leads out of a folder, or has characters that no name has";
        assert!(error.to_string().ends_with(text), "{error}");
    }
    let mut set = TensorSet::new();
    set.insert("x", device.ones([2], DType::Bf16).expect("small")).expect("new");
    let error = set.save_npz(&path).expect_err("numpy has no bf16");
    assert_eq!(error.kind(), ErrorKind::DType, "{error:?}");
    let guard = device.guard(Crossings::Deny);
    let error = set.save_npz(&path).expect_err("it would cross");
    assert_eq!(error.kind(), ErrorKind::Denied, "{error:?}");
    drop(guard);
    assert!(std::fs::read(&path).expect("there") == kept, "what was there stays");
    let _ = std::fs::remove_file(&path);
}

/// What a member is made of: what it says of itself, and its data.
pub(crate) struct Made {
    pub(crate) name: &'static str,
    pub(crate) bytes: u64,
    pub(crate) crc: u32,
    pub(crate) data: Vec<u8>,
}

impl Made {
    /// A deflated array of so many zeros, and how many more or fewer bytes it says it has.
    pub(crate) fn zeros(name: &'static str, shape: &str, values: u64, more: i64) -> Self {
        Self::alike(name, (shape, values), &[0; 4], more)
    }

    /// The same of any numbers, again and again.
    fn alike(name: &'static str, (shape, values): (&str, u64), numbers: &[u8], more: i64) -> Self {
        let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}");
        let mut packed = DeflateEncoder::new(Vec::new(), Compression::fast());
        let mut crc = Crc::new();
        let mut put = |bytes: &[u8]| {
            crc.update(bytes);
            packed.write_all(bytes).expect("memory");
        };
        put(&[&b"\x93NUMPY\x01\x00"[..], &(header.len() as u16).to_le_bytes()].concat());
        put(header.as_bytes());
        let part = numbers.repeat((1 << 16) / numbers.len());
        let mut left = values * 4;
        while left > 0 {
            let now = left.min(part.len() as u64);
            put(&part[..usize::try_from(now).expect("small")]);
            left -= now;
        }
        let bytes = (10 + header.len() as u64 + values * 4).strict_add_signed(more);
        Self { name, bytes, crc: crc.sum(), data: packed.finish().expect("memory") }
    }
}

/// A file of deflated members.
pub(crate) fn zip(members: &[Made]) -> Vec<u8> {
    let (mut file, mut directory) = (Vec::new(), Vec::new());
    for member in members {
        let short = |n: usize| u32::try_from(n).expect("small").to_le_bytes();
        let sizes =
            [short(member.data.len()), short(usize::try_from(member.bytes).expect("small"))];
        let about = [
            &[20, 0, 0, 0, 8, 0, 0, 0, 0x21, 0][..],
            &member.crc.to_le_bytes(),
            sizes.as_flattened(),
            &[member.name.len().to_le_bytes()[0], 0, 0, 0],
        ]
        .concat();
        let place = short(file.len());
        let parts = [b"PK\x01\x02\x14\x00", &about[..], &[0; 10], &place, member.name.as_bytes()];
        directory.extend(parts.concat());
        file.extend([b"PK\x03\x04", &about[..], member.name.as_bytes(), &member.data].concat());
    }
    let count = [members.len().to_le_bytes()[0], 0];
    let place = [directory.len(), file.len()].map(|n| u32::try_from(n).expect("small"));
    let place = place.map(u32::to_le_bytes);
    let end = [b"PK\x05\x06", &[0; 4][..], &count, &count, place.as_flattened(), &[0; 2]];
    [file, directory, end.concat()].concat()
}

/// Where the `n`th signature of a kind is.
fn find(bytes: &[u8], sign: &[u8; 2], n: usize) -> usize {
    let whole = [b"PK", &sign[..]].concat();
    let mut places = (0..bytes.len()).filter(|&at| bytes[at..].starts_with(&whole));
    places.nth(n).expect("there is one")
}

/// The entry of the directory, and the header before the data.
const ENTRY: &[u8; 2] = b"\x01\x02";
const HEADER: &[u8; 2] = b"\x03\x04";
const END: &[u8; 2] = b"\x05\x06";

fn put(bytes: &mut [u8], at: usize, value: &[u8]) {
    bytes[at..at + value.len()].copy_from_slice(value);
}

/// Puts an end in 64 bits before the end: count, size and place of the directory, and of itself.
fn far(bytes: &mut Vec<u8>, numbers: [u64; 4]) {
    let at = find(bytes, END, 0);
    let [count, size, place, own] = numbers;
    let numbers: Vec<u8> =
        [count, count, size, place].iter().flat_map(|number| number.to_le_bytes()).collect();
    let record = [b"PK\x06\x06", &44u64.to_le_bytes()[..], &[0; 12], &numbers].concat();
    let locator = [b"PK\x06\x07", &[0; 4][..], &own.to_le_bytes(), &[1, 0, 0, 0]].concat();
    bytes.splice(at..at, [record, locator].concat());
}

pub(crate) const WRONG: [Wrong; 21] = [
    ("cut", "stored.npz", |b| b.truncate(700), "the header means nothing: no end of a directory"),
    ("of nothing but a begin", "stored.npz", |b| b.truncate(4), "the header means nothing: no end"),
    (
        "with another count",
        "stored.npz",
        |b| {
            let at = find(b, END, 0);
            put(b, at + 8, &[2, 0, 2, 0]);
        },
        "the header means nothing: it has 3 members, and says 2",
    ),
    (
        "with a count of 65535",
        "stored.npz",
        |b| {
            let at = find(b, END, 0);
            put(b, at + 8, &[0xff; 4]);
        },
        "the directory needs 3014610 bytes, there are 167",
    ),
    (
        "with a directory elsewhere",
        "stored.npz",
        |b| {
            let at = find(b, END, 0);
            put(b, at + 16, &[0xff; 4]);
        },
        "the header means nothing: its directory has 167 bytes at 4294967295, and ends at 828",
    ),
    (
        "in several parts",
        "stored.npz",
        |b| {
            let at = find(b, END, 0);
            put(b, at + 4, &[1]);
        },
        "the header means nothing: it is one of several parts",
    ),
    (
        "with members that overlap",
        "stored.npz",
        |b| {
            let at = find(b, ENTRY, 1);
            put(b, at + 42, &[0; 4]);
        },
        "member \"layer/ü.npy\": it begins at byte 0, before the tensor before it ends at ",
    ),
    (
        "with a name that leads out",
        "stored.npz",
        |b| {
            let at = find(b, ENTRY, 0);
            put(b, at + 46, b"../ght.npy");
        },
        "member \"../ght.npy\": its name leads out of a folder",
    ),
    (
        "with a name from the root",
        "stored.npz",
        |b| {
            let at = find(b, ENTRY, 0);
            put(b, at + 46, b"/");
        },
        "member \"/eight.npy\": its name leads out of a folder",
    ),
    (
        "with another name before the data",
        "stored.npz",
        |b| replace(b, "weight", "height"),
        "member \"weight.npy\": the header means nothing: its header has another name",
    ),
    (
        "with what is no array",
        "stored.npz",
        |b| {
            let at = find(b, ENTRY, 2);
            put(b, at + 46, b"one.txt");
        },
        "member \"one.txt\": it is no array, whose name ends in .npy",
    ),
    (
        "with an array that is none",
        "stored.npz",
        |b| replace(b, "NUMPY", "SNAKE"),
        "member \"weight.npy\": the header means nothing: it is no array of numpy's",
    ),
    (
        "packed otherwise",
        "deflated.npz",
        |b| {
            let at = find(b, ENTRY, 0);
            put(b, at + 10, &[12]);
        },
        "member \"weight.npy\": it is packed by method 12, not stored (0) or deflated (8)",
    ),
    (
        "encrypted",
        "deflated.npz",
        |b| {
            let at = find(b, ENTRY, 0);
            put(b, at + 8, &[1]);
        },
        "member \"weight.npy\": the header means nothing: flags 0x0001: encrypted, or patched",
    ),
    (
        "with an absurd size",
        "deflated.npz",
        |b| {
            let at = find(b, ENTRY, 0);
            put(b, at + 24, &[0xfe, 0xff, 0xff, 0xff]);
        },
        "member \"weight.npy\": 110 bytes cannot inflate to 4294967294",
    ),
    (
        "with absurd data",
        "stored.npz",
        |b| {
            let at = find(b, ENTRY, 0);
            put(b, at + 20, &[0xfe, 0xff, 0xff, 0x7f, 0xfe, 0xff, 0xff, 0x7f]);
        },
        "member \"weight.npy\": its data needs 2147483706 bytes, there are 661",
    ),
    (
        "without its sizes in 64 bits",
        "stored.npz",
        |b| {
            let at = find(b, ENTRY, 0);
            put(b, at + 24, &[0xff; 4]);
        },
        "member \"weight.npy\": the header means nothing: its sizes in 64 bits are missing",
    ),
    (
        "with two counts",
        "stored.npz",
        |b| far(b, [4, 167, 661, 828]),
        "the header means nothing: its end says 3, in 64 bits 4",
    ),
    (
        "with an end in 64 bits elsewhere",
        "stored.npz",
        |b| far(b, [3, 167, 661, u64::MAX - 9]),
        "the end in 64 bits needs 18446744073709551615 bytes, there are 884",
    ),
    (
        "with 2^63 members",
        "stored.npz",
        |b| {
            let at = find(b, END, 0);
            put(b, at + 8, &[0xff; 4]);
            far(b, [1 << 63, 167, 661, 828]);
        },
        "the directory needs 424275113695319687168 bytes, there are 167",
    ),
    (
        "with other sizes before the data",
        "streamed.npz",
        |b| {
            let at = find(b, HEADER, 0);
            put(b, at + 18, &[9, 0, 0, 0]);
        },
        "member \"weight.npy\": the header means nothing: its header and the directory differ",
    ),
];

#[test]
fn hostile_files_of_arrays_are_refused_at_once() {
    super::formats::refused(&WRONG);
    let twice = || Made::zeros("x.npy", "(1,)", 1, 0);
    let path = super::scratch("twice.npz");
    std::fs::write(&path, zip(&[twice(), twice()])).expect("written");
    let error = Archive::open(&path).expect_err("a name twice");
    assert!(error.to_string().ends_with("\"x.npy\" is there twice"), "{error}");
    assert!(error.help().is_some_and(|help| help.contains("each name once")), "{error:?}");
    // The same in 64 bits is no lie.
    let mut content = std::fs::read(golden("stored.npz")).expect("there");
    far(&mut content, [3, 167, 661, 828]);
    std::fs::write(&path, content).expect("written");
    assert_eq!(Archive::open(&path).expect("it is whole").tensors().len(), 3);
    let _ = std::fs::remove_file(&path);
}

/// What only the last byte tells is told then, and nothing is on the device.
#[test]
fn data_that_is_not_what_it_promises_is_refused_with_the_set() {
    let device = capable();
    let path = super::scratch("broken.npz");
    let sum = |file: &str| {
        let mut content = std::fs::read(golden(file)).expect("there");
        let (entry, header) = (find(&content, ENTRY, 0), find(&content, HEADER, 0));
        put(&mut content, entry + 16, &[1, 2, 3, 4]);
        put(&mut content, header + 14, &[1, 2, 3, 4]);
        content
    };
    let mut torn = Made::zeros("x.npy", "(100000,)", 100_000, 0);
    let half = torn.data.len() / 2;
    torn.data[half..].fill(0xff);
    let rows = [
        (sum("stored.npz"), "its checksum is ef8235c2, not 04030201"),
        (sum("deflated.npz"), "its checksum is ef8235c2, not 04030201"),
        (zip(&[torn]), "it cannot be inflated: "),
        (
            zip(&[Made::zeros("x.npy", "(100001,)", 100_000, 4)]),
            "the directory promises 400076 bytes, there are 400072",
        ),
        (
            zip(&[Made::zeros("x.npy", "(99999,)", 100_000, -4)]),
            "it inflates to more than the 400067 bytes that it promises",
        ),
    ];
    for (content, text) in rows {
        std::fs::write(&path, content).expect("written");
        let archive = Archive::open(&path).expect("its headers are whole");
        let shipment = archive.shipment().expect("known dtypes");
        let error = device.upload_set(&shipment).expect_err(text);
        assert!(error.to_string().contains(text), "{text}: {error}");
        assert_eq!(error.kind(), ErrorKind::File, "{error:?}");
        assert_eq!(device.memory().bytes_live, 0, "{text}: nothing is kept");
    }
    let _ = std::fs::remove_file(&path);
}

/// A load that was refused in the middle leaves a member where it was; the next begins at its
/// front.
/// What befell the file is no fault of its bytes.
#[test]
fn a_file_that_shrinks_cannot_be_told_as_one_that_is_packed_wrong() {
    for name in ["stored.npz", "deflated.npz"] {
        let path = super::scratch(name);
        std::fs::copy(golden(name), &path).expect("the folder of tests can be written");
        let shipment = Archive::open(&path).expect("a header").shipment().expect("all are known");
        let whole = std::fs::OpenOptions::new().write(true).open(&path).expect("there");
        whole.set_len(40).expect("cut");
        let error = capable().upload_set(&shipment).expect_err("cut short");
        let said = error.to_string();
        let why = said.ends_with("are no longer there") && !said.contains("inflated");
        assert!(why, "{name}: {said}");
        std::fs::remove_file(&path).expect("it is ours");
    }
}

#[test]
fn what_was_broken_off_begins_again() {
    let strict = pollster::block_on(async {
        let adapter = wharf::testing::noop(wharf::caps::fixtures::lavapipe()).await?;
        adapter.open(adapter.negotiate(&wharf::Policy::exact().overflow_is_error())).await
    })
    .expect("it opens");
    let path = super::scratch("again.npz");
    let member = Made::alike("x.npy", ("(1000000,)", 1_000_000), &1e9f32.to_le_bytes(), 0);
    std::fs::write(&path, zip(&[member])).expect("written");
    let archive = Archive::open(&path).expect("it is whole");
    let halves = archive.shipment_as(|_| Some(DType::F16)).expect("known");
    let error = strict.upload_set(&halves).expect_err("no f16 is so large");
    assert_eq!(error.kind(), ErrorKind::Conversion, "{error:?}");
    let whole = archive.shipment().expect("known");
    let (set, _) = strict.upload_set(&whole).expect("from its front");
    let values = set.get("x").expect("there").read_now::<f32>().expect("read");
    assert!(values.len() == 1_000_000 && values.iter().all(|&x| x == 1e9), "all of it");
    let _ = std::fs::remove_file(&path);
}

/// Each reader goes on where it was: nobody reads the front again, which is gone.
#[test]
fn two_who_read_a_member_do_not_make_each_other_begin_again() {
    let [first, second] = [0; 2].map(|_| super::device(|caps| caps));
    let path = super::scratch("both.npz");
    // More than is packed or carried at once.
    let numbers = super::loads::bytes(DType::U8, 1 << 16);
    let content = zip(&[Made::alike("x.npy", ("(3000000,)", 3_000_000), &numbers, 0)]);
    std::fs::write(&path, &content).expect("written");
    let archive = Archive::open(&path).expect("it is whole");
    let shipment = archive.shipment().expect("known");
    let mut inner = None;
    let (set, _) = first
        .upload_set_with(&shipment, |_| {
            inner.get_or_insert_with(|| {
                let (set, _) = second.upload_set(&shipment).expect("from its front");
                let mut spoiled = content.clone();
                spoiled[..1 << 16].fill(0xff);
                std::fs::write(&path, spoiled).expect("written");
                set
            });
        })
        .expect("from where it was");
    let all = [&set, inner.as_ref().expect("it was called")]
        .map(|set| set.get("x").expect("there").read_bytes_now().expect("read"));
    assert!(all[0].len() == 12_000_000 && all[0] == all[1], "the same");
    let _ = std::fs::remove_file(&path);
}

/// A program asks whether a file is there yet of what the system said, in words and as its kind.
#[test]
fn what_the_system_said_is_the_source() {
    let kind = |error: &wharf::Error| {
        let said = error.source().and_then(|said| said.downcast_ref::<io::Error>());
        said.map(io::Error::kind)
    };
    let lost = Archive::open("there/is/none.npz").expect_err("there is none");
    assert_eq!(kind(&lost), Some(io::ErrorKind::NotFound), "{lost}");
    assert_eq!(kind(&lost.clone()), Some(io::ErrorKind::NotFound), "whoever has it");
    let text = lost.to_string();
    let said = lost.source().map(ToString::to_string).expect("it has a source");
    assert!(text.ends_with(&said), "{text}: {said}");
    let folder = Archive::open(env!("CARGO_MANIFEST_DIR")).expect_err("it is no file");
    assert_eq!(kind(&folder), Some(io::ErrorKind::Other), "{folder}");
    let nowhere = TensorSet::new().save("there/is/none.safetensors").expect_err("no folder");
    assert_eq!(kind(&nowhere), Some(io::ErrorKind::NotFound), "{nowhere}");
    let other = Archive::from_bytes(&b"no format"[..]).expect_err("it is none");
    assert!(other.source().is_none(), "nobody else said anything: {other}");
}
