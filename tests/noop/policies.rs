//! Files of dtypes that an adapter lacks, under each policy: what arrives, what the receipt says,
//! and that a refusal leaves memory as it was.

use wharf::caps::Caps;
use wharf::host::Tally;
use wharf::io::Archive;
use wharf::plan::How;
use wharf::testing::noop;
use wharf::{DType, Device, ErrorKind, HostBytes, Policy, Shipment, TensorSet};

use super::capable;
use super::formats::{Modelled, model, numbers};

fn baseline(policy: &Policy) -> Device {
    pollster::block_on(async {
        let adapter = noop(Caps::webgpu_baseline()).await?;
        adapter.open(adapter.negotiate(policy)).await
    })
    .expect("the noop backend opens")
}

/// Numbers of 64 bits.
#[derive(Clone, Copy, Debug)]
enum Wide {
    F64(&'static [f64]),
    I64(&'static [i64]),
    U64(&'static [u64]),
}

impl Wide {
    fn dtype(self) -> DType {
        match self {
            Self::F64(_) => DType::F64,
            Self::I64(_) => DType::I64,
            Self::U64(_) => DType::U64,
        }
    }

    fn bytes(self) -> Vec<u8> {
        match self {
            Self::F64(values) => bytemuck::cast_slice(values).to_vec(),
            Self::I64(values) => bytemuck::cast_slice(values).to_vec(),
            Self::U64(values) => bytemuck::cast_slice(values).to_vec(),
        }
    }
}

/// What comes of a file: a dtype, its values, and how many of them are exact, rounded and overflow;
/// or an error.
enum Comes {
    As(DType, &'static [f64], [u64; 3]),
    Refused(ErrorKind, &'static str),
}

use Comes::{As, Refused};

/// How a file is made of its values; whether there is another tensor before them.
type Format = (&'static str, fn(&TensorSet, &std::path::Path), bool);

const FORMATS: [Format; 4] = [
    ("safetensors", |set, path| drop(set.save(path).expect("it is written")), true),
    ("npz", |set, path| drop(set.save_npz(path).expect("it is written")), true),
    ("npy", |set, path| drop(set.get("x").expect("there").save_npy(path).expect("written")), false),
    ("gguf", |set, path| std::fs::write(path, modelled(set)).expect("it is written"), true),
];

/// The first is 100 000 zeros, which any dtype has.
const BEFORE: usize = 100_000;

fn modelled(set: &TensorSet) -> Vec<u8> {
    let kind = |dtype| if dtype == DType::F64 { 28 } else { 27 };
    let tensors = set.iter().map(|(name, tensor)| -> Modelled<'_> {
        let dims: &[u64] = if name == "x" { &[4] } else { &[BEFORE as u64] };
        (name, kind(tensor.dtype()), dims, tensor.read_bytes_now().expect("read"))
    });
    model(&[], &tensors.collect::<Vec<_>>(), 32)
}

/// On a device that has them.
fn whole(values: Wide) -> TensorSet {
    let zeros = vec![0; 8 * BEFORE];
    let bytes = values.bytes();
    let mut shipment = Shipment::new();
    let view = |bytes, count: usize| HostBytes::new(bytes, [count], values.dtype());
    shipment.add("before", view(&zeros, BEFORE).expect("it fits")).expect("new");
    shipment.add("x", view(&bytes, 4).expect("it fits")).expect("new");
    capable().upload_set(&shipment).expect("lavapipe has all").0
}

const LARGE: f64 = 16_777_217.0;

#[test]
fn a_file_arrives_as_its_policy_has_it_or_not_at_all() {
    let exact = Policy::exact;
    let narrow = Policy::exact().allow(DType::F64, DType::F32);
    let whole = Policy::exact().allow(DType::I64, DType::I32);
    let float = Policy::exact().allow(DType::I64, DType::F32);
    let odd = Wide::F64(&[0.5, LARGE, 1e300, -2.0]);
    let even = Wide::F64(&[0.5, -2.0, f64::INFINITY, 0.0]);
    let far = Wide::I64(&[-1, 7, 1 << 31, 0]);
    let near = Wide::I64(&[-1, 7, -1 << 31, 16_777_217]);
    let counts = Wide::U64(&[0, 1, 2, 1 << 32]);
    type Row = (Wide, Policy, Comes);
    let rows: [Row; 14] = [
        (even, exact(), Refused(ErrorKind::Rejected, "f64 cannot be stored: WebGPU baseline")),
        (near, exact(), Refused(ErrorKind::Rejected, "i64 cannot be stored: WebGPU baseline")),
        (counts, exact(), Refused(ErrorKind::Rejected, "u64 cannot be stored: WebGPU baseline")),
        (near, narrow.clone(), Refused(ErrorKind::Rejected, "i64 cannot be stored")),
        (odd, narrow.clone(), As(DType::F32, &[0.5, LARGE - 1.0, f64::INFINITY, -2.0], [2, 1, 1])),
        (even, narrow.clone(), As(DType::F32, &[0.5, -2.0, f64::INFINITY, 0.0], [4, 0, 0])),
        (odd, narrow.overflow_is_error(), Refused(ErrorKind::Conversion, "at index 2")),
        (odd, Policy::lossless(), Refused(ErrorKind::Conversion, "at index 1")),
        (even, Policy::lossless(), As(DType::F32, &[0.5, -2.0, f64::INFINITY, 0.0], [4, 0, 0])),
        (far, Policy::lossless(), Refused(ErrorKind::Conversion, "at index 2")),
        (near, Policy::lossless(), As(DType::I32, &[-1.0, 7.0, -2147483648.0, LARGE], [4, 0, 0])),
        (counts, Policy::lossless(), Refused(ErrorKind::Conversion, "at index 3")),
        (far, whole, Refused(ErrorKind::Conversion, "at index 2")),
        (near, float, As(DType::F32, &[-1.0, 7.0, -2147483648.0, LARGE - 1.0], [3, 1, 0])),
    ];
    for (values, policy, comes) in &rows {
        // ggml has no unsigned integers.
        let has = |format: &&Format| format.0 != "gguf" || values.dtype() != DType::U64;
        for format in FORMATS.iter().filter(has) {
            arrives(*values, policy, comes, *format);
        }
    }
}

fn arrives(values: Wide, policy: &Policy, comes: &Comes, (format, make, is_second): Format) {
    let said = format!("{format}: {values:?} under {policy:?}");
    let path = super::scratch("policies");
    make(&whole(values), &path);
    let device = baseline(policy);
    let (kept, _) = device.upload(&[1.0f32; 5], [5]).expect("small");
    let (before, crossed) = (device.memory(), device.ledger().up.count);
    let archive = Archive::open(&path).expect("a header");
    let shipment = archive.shipment().expect("all are known");
    match (device.upload_set(&shipment), comes) {
        (Ok((set, receipt)), As(dtype, want, [exact, rounded, overflowed])) => {
            let name = if format == "npy" { archive.tensors()[0].name() } else { "x" };
            let tensor = set.get(name).expect("it arrived");
            assert_eq!((tensor.dtype(), &*numbers(tensor)), (*dtype, *want), "{said}");
            let one = receipt.get(name).expect("it was carried");
            assert_eq!((one.from, one.to, one.bytes_host), (values.dtype(), *dtype, 32), "{said}");
            let lossless = *policy == Policy::lossless();
            assert_eq!(one.how, How::Converted { to: *dtype, lossless }, "{said}");
            assert_eq!(one.bytes_staged, 16, "{said}");
            let Tally { exact: e, rounded: r, overflowed: o, .. } = one.tally;
            assert_eq!([e, r, o], [*exact, *rounded, *overflowed], "{said}");
            let others = if is_second { BEFORE as u64 } else { 0 };
            assert_eq!((receipt.values(), receipt.changed()), (others + 4, r + o), "{said}");
        }
        (Err(error), Refused(kind, text)) => {
            assert!(error.to_string().contains(text), "{said}: {error}");
            assert!(error.kind() == *kind && error.help().is_some(), "{said}: {error:?}");
            let moved = device.ledger().up.count > crossed;
            assert!(!moved || *kind == ErrorKind::Conversion, "{said}: nothing moves first");
            device.trim().expect("it lives");
            let after = device.memory();
            assert_eq!((after.bytes_live, after.tensors), (before.bytes_live, before.tensors));
            assert_eq!(after.bytes_reserved, before.bytes_reserved, "{said}: as it was");
        }
        (outcome, _) => panic!("{said}: {outcome:?}"),
    }
    assert_eq!(numbers(&kept), [1.0; 5], "{said}: what was there stays");
    let _ = std::fs::remove_file(&path);
}

/// A dtype that is named is the permission for one step, not for the next that a policy forbids.
#[test]
fn what_a_named_dtype_becomes_is_as_lossless_as_the_policy() {
    let device = baseline(&Policy::lossless());
    let (same, _) = device.upload_as(&[-7i32, 1 << 24], [2], DType::F64).expect("both survive");
    assert_eq!((same.dtype(), &*numbers(&same)), (DType::F32, &[-7.0, LARGE - 1.0][..]));
    let error = device.upload_as(&[5i32, 16_777_217], [2], DType::F64).expect_err("one is odd");
    assert!(error.to_string().contains("at index 1"), "{error}");
    let narrow = baseline(&Policy::exact().allow(DType::F64, DType::F32));
    let (rounded, _) = narrow.upload_as(&[16_777_217i32], [1], DType::F64).expect("permitted");
    assert_eq!(numbers(&rounded), [LARGE - 1.0]);
}
