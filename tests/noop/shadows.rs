//! Shadows where nothing is computed: everything is wrong, is told as an error, and becomes a
//! capsule; and capsules that somebody has changed.

use wharf::ledger::Crossings;
use wharf::shadow::{Capsule, ShadowPolicy};
use wharf::{DType, Device, ErrorKind, Result};

use crate::{device, scratch};

/// An expression, a reduction and a product, none of which is computed here.
fn work(device: &Device) -> Result<Vec<f32>> {
    let (x, _) = device.upload(&[0.5f32; 64], [8, 8])?;
    let y = ((&x + 1.0)? * 2.0)?;
    y.compute()?;
    y.matmul(&x)?.softmax(1)?.sum(0)?.to_vec::<f32>()
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
    assert!(report.left_out.iter().any(|row| row.2 == "after the first wrong one"), "{report}");
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

#[test]
fn nothing_is_copied_where_nobody_looks() {
    let device = device(|caps| caps);
    work(&device).expect("it runs");
    let shadow = device.shadow(ShadowPolicy::all());
    let (x, _) = device.upload(&[1.0f32; 4], [4]).expect("it crosses");
    x.to_vec::<f32>().expect("a read is no operation");
    let report = pollster::block_on(shadow.report()).expect("a report");
    assert_eq!((report.operations, report.bytes), (0, 0), "{report}");
    device.zeros([4], DType::F32).expect("zeros").to_vec::<f32>().expect("recorded at once");
    let report = pollster::block_on(shadow.report()).expect("a report");
    assert_eq!((report.operations, report.bytes), (1, 16), "its result alone: {report}");
}
