//! Every allocation fails once, and every one fails for good; the device is lost after every
//! submission. Each time the right data or a typed error: no panic, no hang, no leak.

use wharf::testing::{Call, Inside};
use wharf::{Device, ErrorKind, Result, wgpu};

use crate::device;

/// Uploads of several sizes, kept and dropped, and read back.
fn story(device: &Device) -> Result<()> {
    let small: Vec<u16> = (0..1000).collect();
    let large: Vec<f32> = (0..300_000u32).map(|i| i as f32).collect();
    let (a, _) = device.upload(&small, [10, 100])?;
    let (b, _) = device.upload(&large, [300, 1000])?;
    assert_eq!(a.read_now::<u16>()?, small, "the small one");
    drop(a);
    let (c, _) = device.upload(&large[..100_000], [100_000])?;
    assert_eq!(b.slice(0, 0..10)?.read_now::<f32>()?, &large[..10_000], "a part of the large one");
    assert_eq!(c.read_now::<f32>()?, &large[..100_000], "the second large one");
    Ok(())
}

/// What zeroes the slots of faults that nobody read is the runtime's own traffic.
#[test]
fn slots_that_are_zeroed_are_in_the_ledger() {
    let device = device(|caps| caps);
    let (x, _) = device.upload(&[1.0f32, 2.0], [2]).expect("small");
    let before = device.ledger().control;
    for _ in 0..1030 {
        let checked = x.cast_checked(wharf::DType::U16).expect("nothing is computed yet");
        checked.compute().and_then(|()| device.flush()).expect("there is memory");
    }
    let after = device.ledger().control;
    assert_eq!(after.count - before.count, 1030 + 1, "one for each batch, and 1024 slots at once");
}

/// A tensor whose operator has failed says so to whoever assigns it.
#[test]
fn what_has_failed_is_not_assigned() {
    let device = device(|caps| caps);
    let (mut kept, _) = device.upload(&[1.0f32, 2.0], [2]).expect("small");
    let mut failed = kept.clone();
    failed += &device.zeros([3], wharf::DType::F32).expect("small");
    let twice = (&failed * 2.0f32).expect("nothing is computed yet");
    for values in [&failed, &twice] {
        let error = kept.assign(values).expect_err("it has no values");
        assert_eq!(error.kind(), ErrorKind::Shape, "{error:?}");
        assert_eq!(kept.read_now::<f32>().expect("what it had"), [1.0, 2.0]);
    }
}

#[test]
fn a_failing_allocation_is_tried_again_after_a_trim() {
    for n in 0..12 {
        let device = device(|caps| caps);
        device.fail(Call::Allocation, n..n + 1);
        // The staging of a read is not tried again: it may fail, but only with a typed error.
        if let Err(error) = story(&device) {
            assert!(error.is_out_of_memory(), "{n}: {error:?}");
        }
        device.fail(Call::Allocation, 0..0);
        story(&device).expect("the device survives");
    }
}

#[test]
fn memory_that_stays_away_is_a_typed_error_and_nothing_leaks() {
    let mut failures = 0;
    for n in 0..12 {
        let device = device(|caps| caps);
        device.fail(Call::Allocation, n..u64::MAX);
        if let Err(error) = story(&device) {
            failures += 1;
            assert_eq!(error.kind(), ErrorKind::OutOfMemory, "{n}: {error:?}");
            let text = error.to_string();
            let says = text.contains("; live ") || text.contains(" for wharf.");
            assert!(
                says && !text.contains("refuses 0 B"),
                "{n}: neither numbers nor a use: {text}"
            );
        }
        device.fail(Call::Allocation, 0..0);
        device.trim().expect("trimming works");
        let memory = device.memory();
        assert_eq!((memory.bytes_live, memory.bytes_reserved), (0, 0), "{n}: a leak:\n{memory}");
        story(&device).expect("the device survives");
    }
    assert!(failures >= 3, "only {failures} of the injected failures were met");
}

#[test]
fn a_device_lost_after_any_submission_answers_so() {
    let mut losses = 0;
    for n in 1..20 {
        let device = device(|caps| caps);
        device.lose_after(n);
        if let Err(error) = story(&device) {
            losses += 1;
            assert!(error.is_device_lost(), "{n}: {error:?}");
            let again = device.upload(&[1u8], [1]).expect_err("a lost device takes nothing");
            assert!(again.is_device_lost(), "{n}: {again:?}");
        }
        let fresh = pollster::block_on(device.reopen()).expect("the adapter opens again");
        story(&fresh).expect("the next story passes");
    }
    assert!(losses >= 3, "only {losses} losses were met");
}

/// What a lost device makes is invalid without a word, and the caller's own calls raise that: it is
/// not taken for the cause.
#[test]
fn a_loss_is_the_cause_of_what_the_callers_own_calls_raise() {
    let device = device(|caps| caps);
    let (x, _) = device.upload(&[1.0f32; 4], [4]).expect("it crosses");
    (&x * 2.0).and_then(|z| z.compute()).expect("it is recorded");
    device.lose_after(1);
    device.flush().expect("the loss comes behind it");
    let (raw, queue) = (device.wgpu_device(), device.wgpu_queue());
    let own = raw.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: 16,
        usage: wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    queue.write_buffer(&own, 0, &[0; 16]);
    for _ in 0..2 {
        let error = x.read_now::<f32>().expect_err("the device is gone");
        assert_eq!(error.kind(), ErrorKind::DeviceLost, "{error}");
    }
}
