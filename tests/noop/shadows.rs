//! Shadows where nothing is computed: everything is wrong, is told as an error, and becomes a
//! capsule; and capsules that somebody has changed.

use wharf::ledger::Crossings;
use wharf::shadow::{Capsule, ShadowPolicy};
use wharf::tensor::{Align, Attention, Conv, Interpolation, Order, Pooling};
use wharf::{DType, Device, ErrorKind, Result, Tensor};

use crate::{device, scratch};

/// An expression, a reduction and a product, none of which is computed here.
fn work(device: &Device) -> Result<Vec<f32>> {
    let (x, _) = device.upload(&[0.5f32; 64], [8, 8])?;
    let y = ((&x + 1.0)? * 2.0)?;
    y.compute()?;
    y.matmul(&x)?.softmax(1)?.sum(0)?.read_now::<f32>()
}

fn capsule() -> Capsule {
    let device = device(|caps| caps);
    let shadow = device.shadow(ShadowPolicy::all());
    work(&device).expect_err("nothing is computed");
    shadow.capsule().expect("it is wrong")
}

#[test]
fn the_first_operation_is_the_error_of_every_read_while_the_shadow_lives() {
    let device = device(|caps| caps);
    assert_eq!(work(&device).expect("unnoticed without a shadow"), [0.0; 8]);
    let shadow = device.shadow(ShadowPolicy::all());
    let error = work(&device).expect_err("noticed");
    assert_eq!(error.kind(), ErrorKind::Wrong, "{error:?}");
    let text = error.to_string();
    assert!(text.starts_with("add, mul at tests/noop/shadows.rs:"), "{text}");
    assert!(text.contains("[0, 0] is 0.0, not 3.0 within"), "{text}");
    assert!(text.contains("64 of 64 judged elements"), "{text}");
    assert!(text.contains("; from 0.5; by elementwise"), "{text}");
    assert!(text.contains("on WebGPU baseline"), "{text}");
    assert!(error.help().is_some_and(|help| help.contains("--replay")), "{error:?}");
    let report = pollster::block_on(shadow.report()).expect("a report");
    assert!(report.left_out.iter().any(|row| row.why == "after the first wrong one"), "{report}");
    drop(shadow);
    work(&device).expect("nobody looks");
}

#[test]
fn a_capsule_is_written_read_and_replayed() {
    let folder = scratch("capsules");
    let device = device(|caps| caps);
    let shadow = device.shadow(ShadowPolicy::all().capsules_in(&folder));
    let error = work(&device).expect_err("noticed");
    let files: Vec<_> = std::fs::read_dir(&folder).expect("a folder").flatten().collect();
    let [file] = &*files else { panic!("{} files", files.len()) };
    let path = file.path().display().to_string();
    assert!(error.help().is_some_and(|help| help.contains(&path)), "{path}: {error:?}");
    let capsule = Capsule::open(&path).expect("it is whole");
    assert_eq!(Some(&capsule), shadow.capsule().as_ref(), "what the shadow has");
    assert!(
        capsule.origin().starts_with("by wharf 0.1.0 on WebGPU baseline"),
        "{}",
        capsule.origin()
    );
    assert!(capsule.operation().starts_with("add, mul at "), "{}", capsule.operation());
    assert!(capsule.finding().starts_with("[0, 0] is 0.0, not 3.0"), "{}", capsule.finding());
    let other = crate::device(|caps| caps);
    let replay = pollster::block_on(other.replay(&capsule)).expect("it runs");
    assert!(replay.is_wrong && replay.is_same, "{replay}");
    let ledger = other.ledger();
    assert_eq!((ledger.up.count, ledger.down.count), (1, 1), "{ledger}");
    assert!(ledger.up.bytes > 0 && ledger.down.bytes > 0, "{ledger}");
    let guard = other.guard(Crossings::Deny);
    let denied = pollster::block_on(other.replay(&capsule)).expect_err("it is denied");
    assert_eq!(denied.kind(), ErrorKind::Denied, "{denied}");
    drop(guard);
    std::fs::remove_dir_all(&folder).expect("it goes");
    let gone = Capsule::open(&path).expect_err("it is gone");
    assert!(gone.to_string().contains("cannot be read"), "{gone}");
}

#[test]
fn a_capsule_that_was_changed_is_an_error_or_another_capsule() {
    let bytes = capsule().to_bytes();
    assert_eq!(Capsule::from_bytes(&bytes).expect("whole").to_bytes(), bytes, "there and back");
    for end in 0..bytes.len() {
        let error = Capsule::from_bytes(&bytes[..end]).expect_err("cut short");
        assert_eq!(error.kind(), ErrorKind::File, "{end}: {error}");
    }
    let header = bytes.windows(2).position(|two| two == b"\n\n").expect("an empty line") + 2;
    let device = device(|caps| caps);
    let mut runs = 0;
    for at in 0..bytes.len() {
        for value in [0, 1, 0x7f, 0xff] {
            let mut changed = bytes.clone();
            changed[at] = value;
            // Whatever it says now, nothing is allocated for it, and nothing panics.
            if let Ok(capsule) = Capsule::from_bytes(&changed)
                && (at < header + 400 || at % 16 == 0)
            {
                runs += 1;
                drop(pollster::block_on(device.replay(&capsule)));
            }
        }
    }
    assert!(runs > 100, "{runs} of them ran");
    let behind = Capsule::from_bytes(&[&*bytes, b"x"].concat()).expect_err("more than it is");
    assert!(behind.to_string().contains("1 bytes behind its end"), "{behind}");
}

/// What is computed of `[2, 3, 5, 7]`.
type Compute = fn(&Tensor) -> Result<Tensor>;

/// By the name of the core, each with an oracle of its own.
const CORES: [(&str, Compute); 13] = [
    ("concat", |x| Tensor::concat(&[x, &x.flip(2)?], 1)),
    ("matmul", |x| x.matmul(&x.t()?)),
    ("softmax", |x| x.softmax(-1)),
    ("cumsum", |x| x.cumsum(2)),
    ("sort", |x| x.sort(3, Order::Descending)),
    ("sum", |x| x.sum([1, 3])),
    ("index_select", |x| x.index_select(2, &x.device().zeros([4], DType::U32)?)),
    ("interpolate", |x| x.interpolate([5, 9], Interpolation::Linear(Align::Edges))),
    ("interpolate", |x| x.interpolate([11, 9], Interpolation::Cubic(Align::Edges))),
    ("max_pool", |x| x.max_pool(&Pooling::new([2, 3]))),
    ("conv2d", |x| {
        let (taps, _) = x.device().upload(&[0.8125f32; 36], [2, 3, 3, 2])?;
        x.conv2d(&taps, None, &Conv::new())
    }),
    ("attention", |x| {
        let (x, _) = x.device().upload(&[0.8125f32; 24], [1, 2, 3, 4])?;
        x.attention(&x, &x, &Attention::new())
    }),
    ("index_add", |x| {
        // The same bits, so that what they are added to is zero until then.
        let (source, _) = x.device().upload(&[0x3f50_0000i32; 28], [4, 7])?;
        let rows = x.device().zeros([4], DType::U32)?;
        x.device().zeros([3, 7], DType::I32)?.index_add(0, &rows, &source)
    }),
];

/// Nothing is computed here: the capsule of a core whose result is not zero.
fn capsule_of(name: &str, compute: Compute) -> Vec<u8> {
    let device = device(|caps| caps);
    let (x, _) = device.upload(&[0.8125f32; 210], [2, 3, 5, 7]).expect("it crosses");
    x.read_now::<f32>().expect("a read is no operation");
    let shadow = device.shadow(ShadowPolicy::all().steps(1));
    compute(&x).and_then(|y| y.compute()).expect("it is recorded");
    let report = pollster::block_on(shadow.report()).expect("a report");
    let capsule = shadow.capsule().unwrap_or_else(|| panic!("{name}: {report}"));
    let operation = capsule.operation();
    assert!(operation.contains(&format!("{name} at ")), "{operation}, not {name}");
    capsule.to_bytes()
}

/// What was asked for is in front of the first numbers. Each byte of it becomes another, and so do
/// two or three that are the same, one after the other: what is said of a view is said twice.
fn changed(bytes: &[u8]) -> Vec<Vec<u8>> {
    let first = [0.8125f32; 2].map(f32::to_le_bytes).concat();
    let end = bytes.windows(8).position(|part| part == first).expect("there are numbers");
    let begin = bytes.windows(2).position(|two| two == b"\n\n").expect("an empty line") + 2;
    let mut all = Vec::new();
    for was in 0..=u8::MAX {
        let places: Vec<usize> = (begin..end).filter(|&at| bytes[at] == was).collect();
        for run in 1..=if was == 0 { 1 } else { 3 } {
            for places in places.windows(run) {
                for value in [0, 1, 0x7f, 0xff].into_iter().filter(|value| *value != was) {
                    let mut changed = bytes.to_vec();
                    places.iter().for_each(|&at| changed[at] = value);
                    all.push(changed);
                }
            }
        }
    }
    all
}

#[test]
fn a_capsule_of_any_core_that_was_changed_is_an_error_or_another_capsule() {
    for (name, compute) in CORES {
        let bytes = capsule_of(name, compute);
        let device = device(|caps| caps);
        let mut runs = 0;
        for capsule in changed(&bytes).iter().flat_map(|bytes| Capsule::from_bytes(bytes)) {
            runs += 1;
            // Whatever it says now, nothing panics.
            drop(pollster::block_on(device.replay(&capsule)));
        }
        assert!(runs > 30, "{runs} of them ran: {name}");
    }
}

#[test]
fn nothing_is_copied_where_nobody_looks() {
    let device = device(|caps| caps);
    work(&device).expect("it runs");
    let shadow = device.shadow(ShadowPolicy::all());
    let (x, _) = device.upload(&[1.0f32; 4], [4]).expect("it crosses");
    x.read_now::<f32>().expect("a read is no operation");
    let report = pollster::block_on(shadow.report()).expect("a report");
    assert_eq!((report.operations, report.bytes), (0, 0), "{report}");
    device.zeros([4], DType::F32).expect("zeros").read_now::<f32>().expect("recorded at once");
    let report = pollster::block_on(shadow.report()).expect("a report");
    assert_eq!((report.operations, report.bytes), (1, 16), "its result alone: {report}");
}
