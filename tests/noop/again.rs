//! What found no memory is computed once there is some: the same handle, and everything computed
//! from it.

use wharf::caps::fixtures;
use wharf::testing::{Call, Inside};
use wharf::{DType, Device, Error, Tensor};

use crate::device;

const COUNT: usize = 1 << 18;

/// A tensor in a buffer of its own.
fn upload(device: &Device) -> Tensor {
    device.upload(&vec![1.0f32; COUNT], [COUNT / 64, 64]).expect("it fits").0
}

/// Kernels of every kind, each computed from the one before.
fn chain(x: &Tensor) -> wharf::Result<Vec<Tensor>> {
    let sum = (x + 1.0f32)?;
    let row = sum.softmax(1)?;
    let product = row.t()?.matmul(&sum)?;
    let total = product.sum(0)?;
    let scan = (&total * 2.0f32)?.cumsum(0)?;
    let last = (scan.exp()? + &total)?;
    Ok(vec![sum, row, product, total, scan, last])
}

fn computed(tensor: &Tensor) -> Result<(), Error> {
    tensor.read_now::<f32>().map(|values| {
        assert_eq!(values.len(), tensor.shape().elements(), "as many as it has");
    })
}

#[test]
fn a_handle_that_found_no_memory_reads_once_there_is_some() {
    let mut failures = 0;
    for n in 0..40 {
        let device = device(|caps| caps);
        let tensors = chain(&upload(&device)).expect("nothing is computed yet");
        device.fail(Call::Allocation, n..u64::MAX);
        // The last first, and then the others: each has tried.
        for tensor in tensors.iter().rev().chain(&tensors) {
            if let Err(error) = computed(tensor) {
                failures += 1;
                assert!(error.is_out_of_memory(), "{n}: {error:?}");
            }
        }
        device.fail(Call::Allocation, 0..0);
        for (i, tensor) in tensors.iter().enumerate().rev() {
            computed(tensor).unwrap_or_else(|error| panic!("{n}, tensor {i}: {error:?}"));
        }
        drop(tensors);
        assert_eq!(device.memory().bytes_live, 0, "{n}: what was kept is let go of");
    }
    assert!(failures >= 40, "only {failures} failures were met");
}

/// Also what the driver has no memory for when it is handed over.
#[test]
fn a_submission_that_found_no_memory_is_handed_over_again() {
    for n in 0..4 {
        let device = device(|caps| caps);
        let tensors = chain(&upload(&device)).expect("nothing is computed yet");
        device.fail(Call::MemoryOfSubmission, n..n + 2);
        let results: Vec<_> = tensors.iter().map(computed).collect();
        let errors: Vec<_> = results.iter().filter_map(|result| result.as_ref().err()).collect();
        assert!(errors.iter().all(|error| error.is_out_of_memory()), "{n}: {errors:?}");
        assert!(!errors.is_empty(), "{n}: nothing failed");
        for (i, tensor) in tensors.iter().enumerate().rev() {
            computed(tensor).unwrap_or_else(|error| panic!("{n}, tensor {i}: {error:?}"));
        }
        assert_eq!(device.failures(), 2, "{n}: as many as were asked for");
    }
}

#[test]
fn room_is_made_by_dropping_tensors() {
    let device = device(|caps| caps);
    let (x, in_the_way) = (upload(&device), upload(&device));
    device.set_cap(Some(device.memory().bytes_reserved));
    let sum = (&x + 1.0f32).expect("nothing is computed yet");
    let twice = (&sum * 2.0f32).expect("nothing is computed yet");
    for tensor in [&twice, &sum, &twice] {
        let error = tensor.compute().expect_err("the cap leaves no room");
        assert!(error.is_out_of_memory() && error.to_string().contains("live"), "{error:?}");
    }
    drop(in_the_way);
    sum.compute().expect("there is room");
    drop(x);
    computed(&twice).expect("there is room for one after the other");
}

/// Chains so long that parts of them are computed while they are made - which fails.
#[test]
fn chains_made_while_there_is_no_memory_are_computed_later() {
    for length in [100, 129, 130, 300, 2000] {
        let device = device(|caps| caps);
        let mut x = upload(&device);
        device.fail(Call::Allocation, 0..u64::MAX);
        let mut held = Vec::new();
        for i in 0..length {
            x = (&x + 1.0f32).expect("nothing has to be computed yet");
            if i % 50 == 0 {
                held.push(x.clone());
            }
        }
        let error = computed(&x).expect_err("there is no memory");
        assert!(error.is_out_of_memory(), "{length}: {error:?}");
        device.fail(Call::Allocation, 0..0);
        assert!(x.explain().error.is_none(), "{length}: on paper there is memory");
        computed(&x).unwrap_or_else(|error| panic!("{length}: {error:?}"));
        for tensor in held {
            computed(&tensor).unwrap_or_else(|error| panic!("{length}: {error:?}"));
        }
    }
}

#[test]
fn a_long_chain_that_nobody_reads_is_dropped() {
    let device = device(|caps| caps);
    let mut x = upload(&device);
    device.fail(Call::Allocation, 0..u64::MAX);
    for _ in 0..50_000 {
        x = (&x + 1.0f32).expect("nothing has to be computed yet");
    }
    drop(x);
    assert_eq!(device.memory().bytes_live, 0, "all of it is gone");
}

#[test]
fn a_batch_that_finds_no_memory_is_submitted_with_the_next() {
    let device = device(|caps| caps);
    let sum = (&upload(&device) + 1.0f32).expect("nothing is computed yet");
    sum.compute().expect("there is memory");
    device.fail(Call::Allocation, 0..u64::MAX);
    for _ in 0..2 {
        let error = device.flush().expect_err("there is none for its parameters");
        assert!(error.is_out_of_memory(), "{error:?}");
    }
    device.fail(Call::Allocation, 0..0);
    let before = device.ledger().control;
    device.flush().expect("there is memory again");
    assert!(device.ledger().control.bytes > before.bytes, "the batch crossed");
    computed(&sum).expect("it was computed");
}

#[test]
fn a_tensor_that_could_not_be_assigned_to_keeps_what_it_had() {
    for n in 0..6 {
        let device = device(|caps| caps);
        let (mut x, row) = (upload(&device), device.ones([1, 64], DType::F32).expect("it fits"));
        device.fail(Call::Allocation, n..u64::MAX);
        if let Err(error) = x.assign_slice(0, 3..4, &row) {
            assert!(error.is_out_of_memory(), "{n}: {error:?}");
        }
        device.fail(Call::Allocation, 0..0);
        computed(&x).unwrap_or_else(|error| panic!("{n}: {error:?}"));
        x.assign_slice(0, 3..4, &row).unwrap_or_else(|error| panic!("{n}: {error:?}"));
    }
}

/// Nor does it lose that by values that can never be.
#[test]
fn a_tensor_keeps_what_it_had_if_the_values_are_refused() {
    let device = device(|caps| caps);
    let mut x = device.full((), 1.0, DType::F32).expect("it fits");
    let many = x.broadcast_to([1usize << 59]).and_then(|many| many.sum(0)).expect("deferred");
    let error = x.assign(many).expect_err("nothing has so many elements");
    assert!(!error.is_out_of_memory(), "{error:?}");
    computed(&x).unwrap_or_else(|error| panic!("the old value: {error:?}"));
}

/// What was recorded to write memory fails after that was given to another value.
#[test]
fn a_failed_batch_is_told_of_memory_that_changed_hands() {
    let device = device(|caps| caps);
    let mut x = device.full([8], 1.0, DType::F32).expect("it fits");
    x.compute().expect("it is recorded");
    device.fail(Call::Submission, 0..1);
    let lent = x.lend_mut().map(drop).expect_err("what was recorded is dropped");
    let read = x.read_now::<f32>().expect_err("nothing was written");
    assert_eq!(read.kind(), lent.kind(), "{read}");
}

/// Three chains whose numbers one kernel has no room for, deferred together.
#[test]
fn what_was_deferred_together_for_lack_of_memory_is_computed_apart() {
    let device = device(|_| fixtures::lavapipe().with_baseline_limits());
    let list = || device.upload(&vec![1i64; COUNT], COUNT).expect("it fits").0;
    let chain = |x: Tensor| (0..42).try_fold(x, |x, i| x + i64::from(i)).expect("deferred");
    let [a, b, c] = [0; 3].map(|_| chain(list()));
    device.fail(Call::Allocation, 0..u64::MAX);
    let all = a.mul_add(&b, &c).expect("deferred");
    assert!(all.compute().is_err_and(|error| error.is_out_of_memory()), "there is no memory");
    device.fail(Call::Allocation, 0..0);
    all.compute().unwrap_or_else(|error| panic!("there is memory: {error:?}"));
}

/// A kernel that stores its result in one piece is never given several smaller ones.
#[test]
fn what_has_to_lie_in_one_piece_waits_for_it() {
    let device = device(|caps| caps);
    let (x, _) = device.upload(&vec![1.0f32; 24 << 20], [24 << 10, 1 << 10]).expect("it fits");
    let rows = x.softmax(1).expect("nothing is computed yet");
    // As often as a whole segment is tried.
    device.fail(Call::Allocation, 0..3);
    let error = rows.compute().expect_err("there is no segment");
    assert!(error.is_out_of_memory(), "{error:?}");
    rows.compute().expect("now there is one");
}

/// Whoever goes on from a product that is held has it computed twice at most: once on the way, and
/// once for all that follow.
#[test]
fn a_held_product_is_not_computed_for_each_that_goes_on_from_it() {
    let device = device(|caps| caps);
    let x = upload(&device);
    let product = x.t().and_then(|turned| turned.matmul(&x)).expect("nothing is computed yet");
    let held = (&product * 2.0f32).expect("nothing is computed yet");
    drop(product);
    let products = [0, 1, 2, 3].map(|n| {
        let next = (&held + n as f32).expect("nothing is computed yet");
        let told = next.explain();
        next.compute().expect("there is memory");
        told.kernels.iter().filter(|kernel| kernel.name().contains("matmul")).count()
    });
    assert_eq!(products, [1, 1, 0, 0]);
}
