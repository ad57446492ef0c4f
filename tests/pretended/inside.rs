//! The side that a driver is asked from: each is a test that does nothing unless it was started on
//! a chip.

use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use wharf::caps::fixtures;
use wharf::shadow::ShadowPolicy;
use wharf::tensor::Blocks;
use wharf::tensor::Order;
use wharf::tune::{AttentionSize, Outcome, Problem, ProductSize};
use wharf::tune::{RowsSize, SortSize, SumSize, WeightsSize};
use wharf::{Adapter, DType, Device, ErrorKind, Policy, Result, Tensor};

/// The variable that says which chip this is.
pub(super) const CHIP: &str = "WHARF_PRETENDED";

/// Printed by whoever has asked everything.
pub(super) const SEEN: &str = "seen, and as it should be";

/// How long one call may wait for a device that is never done, and a little more.
pub(super) const PATIENCE: Duration = Duration::from_millis(200);
pub(super) const AT_MOST: Duration = Duration::from_secs(2);

/// The adapter, where one is pretended.
fn adapter() -> Option<(String, Adapter)> {
    let chip = std::env::var(CHIP).ok()?;
    Some((chip, pollster::block_on(Adapter::best()).expect("it is pretended")))
}

pub(super) fn device() -> Option<Device> {
    let (_, adapter) = adapter()?;
    let plan = adapter.negotiate(&Policy::exact());
    Some(pollster::block_on(adapter.open(plan)).expect("it opens"))
}

#[test]
fn its_caps_are_those_of_the_table() {
    let Some((chip, adapter)) = adapter() else { return };
    let all = fixtures::all();
    let (_, caps) = all.iter().find(|(name, _)| *name == chip).expect("it has a row");
    assert_eq!(adapter.caps(), caps, "{chip}");
    println!("{SEEN}");
}

/// Nothing that is read says so by itself: zeros are numbers. Whoever asks for a shadow is told.
#[test]
fn a_shadow_finds_the_first_operation() {
    let Some(device) = device() else { return };
    let sum = |device: &Device| -> Result<Vec<f32>> {
        let (x, _) = device.upload(&[1.5f32; 1000], [1000])?;
        (&x + 1.0f32)?.read_now::<f32>()
    };
    assert_eq!(sum(&device).expect("the driver says that it is done"), [0.0; 1000]);
    let _shadow = device.shadow(ShadowPolicy::all());
    let error = sum(&device).expect_err("0 + 1 is not 0");
    assert_eq!(error.kind(), ErrorKind::Wrong, "{error}");
    println!("{SEEN}");
}

/// Every candidate computes zeros; none may win for that, whatever it is for.
#[test]
fn tuning_takes_no_kernel() {
    let Some(device) = device() else { return };
    let product = ProductSize::new(256, 256, 256, DType::F32).into();
    for (problem, least, first) in [
        (product, 11, " of 65536 is 0, not "),
        (AttentionSize::new(2, 40, 300, 64, DType::F32).into(), 3, " of 5120 is 0, not "),
        (WeightsSize::new(3, 64, 256, Blocks::Q8).into(), 3, " of 192 is 0, not "),
        (RowsSize::softmax(4, 1024).into(), 4, " of 4096 is 0, not "),
        (SumSize::rows(4, 4096).into(), 3, " of 4 is 0, not "),
        (SortSize::new(1, 5000).into(), 2, " of 5000 is 0, not "),
    ] {
        let problem: Problem = problem;
        let mut wrong = 0;
        let tuned = device.tune_now(&[problem], |trial| {
            assert!(matches!(trial.outcome, Outcome::Wrong(_)), "{trial}");
            wrong += 1;
        });
        let error = tuned.expect_err("no kernel is right");
        let text = error.to_string();
        assert_eq!(error.kind(), ErrorKind::Wrong, "{text}");
        let count = format!("none of {wrong} kernels computes this on ");
        assert!(wrong >= least && text.contains(&count) && text.contains(first), "{text}");
    }
    println!("{SEEN}");
}

#[test]
fn whoever_waits_gets_an_error_in_time() {
    let Some(device) = device() else { return };
    device.set_patience(Some(PATIENCE));
    let (x, _) = device.upload(&[1.5f32; 1000], [1000]).expect("it is taken");
    let y = (&x + 1.0f32).expect("it is recorded");
    let other = self::device().expect("it opened before");
    other.set_patience(Some(PATIENCE));
    let problem = ProductSize::new(256, 256, 256, DType::F32).into();
    type Wait<'a> = (&'a str, Box<dyn Fn() -> Result<()> + 'a>);
    let waits: [Wait<'_>; 9] = [
        ("read_now", Box::new(|| y.read_now::<f32>().map(drop))),
        ("read", Box::new(|| pollster::block_on(y.read::<f32>()).map(drop))),
        ("read_bytes_now", Box::new(|| y.read_bytes_now().map(drop))),
        ("picture", Box::new(|| y.picture_now().map(drop))),
        ("synchronize_now", Box::new(|| device.synchronize_now())),
        ("sum", Box::new(|| y.sum([0]).and_then(|sum| sum.read_now::<f32>()).map(drop))),
        (
            "sort",
            Box::new(|| {
                y.sort(0, Order::Ascending).and_then(|y: Tensor| y.read_now::<f32>()).map(drop)
            }),
        ),
        ("to", Box::new(|| pollster::block_on(y.to(&other)).map(drop))),
        ("tune", Box::new(|| device.tune_now(&[problem], |_| {}).map(drop))),
    ];
    for (name, wait) in waits {
        let clock = Instant::now();
        let error = wait().expect_err("it is never done");
        assert_eq!(error.kind(), ErrorKind::TimedOut, "{name}: {error}");
        assert!(clock.elapsed() < AT_MOST, "{name} took {:?}", clock.elapsed());
    }
    // What waits for nothing still works.
    assert!(device.memory().tensors >= 2, "{}", device.memory());
    device.flush().expect("nothing is waited for");
    drop((x, y));
    let clock = Instant::now();
    drop((device, other));
    assert!(clock.elapsed() < AT_MOST, "to let go took {:?}", clock.elapsed());
    println!("{SEEN}");
}

/// What waits to be judged is waited for once, not once for each operation, and who shadows waits
/// on.
#[test]
fn a_wait_under_a_shadow_is_one() {
    let Some(device) = device() else { return };
    device.set_patience(Some(PATIENCE));
    let shadow = device.shadow(ShadowPolicy::all());
    let (mut x, _) = device.upload(&[1.5f32; 1000], [1000]).expect("it is taken");
    for _ in 0..8 {
        x = (&x + 1.0f32).expect("it is recorded");
        x.compute().expect("it is submitted");
    }
    let reads: [&dyn Fn() -> Result<()>; 3] = [
        &|| x.read_now::<f32>().map(drop),
        &|| pollster::block_on(x.read::<f32>()).map(drop),
        &|| pollster::block_on(shadow.report()).map(drop),
    ];
    for read in reads {
        let clock = Instant::now();
        let error = read().expect_err("it is never done");
        assert_eq!(error.kind(), ErrorKind::TimedOut, "{error}");
        assert!(clock.elapsed() < AT_MOST, "it took {:?}", clock.elapsed());
    }
    println!("{SEEN}");
}

/// Whoever moves more than may be in flight at once blocks nobody.
#[test]
fn a_long_move_does_not_block_in_between() {
    let Some(there) = device() else { return };
    there.set_patience(Some(AT_MOST));
    let paper = pollster::block_on(wharf::testing::noop(fixtures::lavapipe())).expect("it is ours");
    let plan = paper.negotiate(&Policy::exact());
    let here = pollster::block_on(paper.open(plan)).expect("it opens");
    let x = here.zeros([16 << 20], DType::F32).expect("it is recorded");
    let mut moving = std::pin::pin!(x.to(&there));
    let context = &mut Context::from_waker(Waker::noop());
    let mut longest = Duration::ZERO;
    let error = loop {
        let clock = Instant::now();
        let polled = moving.as_mut().poll(context);
        longest = longest.max(clock.elapsed());
        match polled {
            Poll::Pending => std::thread::sleep(Duration::from_millis(1)),
            Poll::Ready(moved) => break moved.map(drop).expect_err("it is never done"),
        }
    };
    assert_eq!(error.kind(), ErrorKind::TimedOut, "{error}");
    assert!(longest < AT_MOST / 2, "it blocked for {longest:?}");
    println!("{SEEN}");
}

/// A patience that comes late names nothing that it has not seen.
#[test]
fn what_came_before_a_patience_is_said_to() {
    let Some(device) = device() else { return };
    device.set_patience(None);
    let (x, _) = device.upload(&[1.5f32; 1000], [1000]).expect("it is taken");
    x.flip(0).and_then(|x| x.contiguous()?.compute()).expect("it is recorded");
    device.flush().expect("it is submitted");
    device.set_patience(Some(PATIENCE));
    let error = (&x + 1.0f32).and_then(|y| y.read_now::<f32>()).expect_err("it is never done");
    let text = error.to_string();
    let before = "was not done after 200ms with what was submitted before there was a patience";
    assert!(text.contains(before) && text.contains("submissions behind it: 1"), "{text}");
    println!("{SEEN}");
}
