//! Every fault in turn, on a driver that is real: what fails says so with its kind and in time,
//! also where a GPU computes nothing or is never done.

use std::time::Instant;

use wharf::testing::{Call, Inside as _};
use wharf::{Device, ErrorKind, Result};

use super::inside::{AT_MOST, PATIENCE, SEEN, device};

/// Crossings of two sizes, an operation, a reduction, and a read.
fn story(device: &Device) -> Result<Vec<f32>> {
    let (x, _) = device.upload(&[1.5f32; 1000], [1000])?;
    let (more, _) = device.upload(&vec![1.0f32; 300_000], [300, 1000])?;
    (&more + &x)?.sum([0])?.read_now::<f32>()
}

/// What goes wrong from a number on, what that is called, and how often it is met: on a GPU that is
/// done at once, and on one that never is. There a trim waits in vain, and that is the error.
type Fault = (&'static str, fn(&Device, u64), ErrorKind, [usize; 2]);

const FAULTS: [Fault; 3] = [
    // It is tried again after a trim, except where no tensor is allocated.
    ("an allocation", |d, n| d.fail(Call::Allocation, n..n + 1), ErrorKind::OutOfMemory, [2, 2]),
    ("all memory", |d, n| d.fail(Call::Allocation, n..u64::MAX), ErrorKind::OutOfMemory, [6, 2]),
    ("a loss", |d, n| d.lose_after(n + 1), ErrorKind::DeviceLost, [2, 2]),
];

/// Each fault at each of the first calls. `end` is what a story comes to that meets none: an error
/// of that kind, or zeros.
fn sweep(end: Option<ErrorKind>) {
    for (what, fault, kind, times) in FAULTS {
        let mut met = 0;
        for n in 0..6 {
            let Some(device) = device() else { return };
            device.set_patience(end.map(|_| PATIENCE));
            fault(&device, n);
            let clock = Instant::now();
            match story(&device).map_err(|error| (error.kind(), error.to_string())) {
                Err((got, _)) if got == kind => met += 1,
                Err((got, text)) => assert_eq!(Some(got), end, "{what} {n}: {text}"),
                Ok(sums) => assert_eq!((sums, end), (vec![0.0; 1000], None), "{what} {n}"),
            }
            drop(device);
            assert!(clock.elapsed() < AT_MOST, "{what} {n} took {:?}", clock.elapsed());
        }
        assert_eq!(met, times[usize::from(end.is_some())], "{what} was met so often");
    }
    println!("{SEEN}");
}

#[test]
fn faults_beside_zeros() {
    sweep(None);
}

#[test]
fn faults_beside_waits() {
    sweep(Some(ErrorKind::TimedOut));
}
