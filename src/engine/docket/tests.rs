//! That a budget bounds what waits.

use super::*;
use crate::DType;
use crate::testing::noop_device;

/// A budget bounds how many operations wait, however small what they read and write is.
#[test]
fn what_waits_takes_more_than_its_values() {
    let device = noop_device().expect("it opens");
    let shadow = device.shadow(ShadowPolicy::all().memory(16 * EXHIBIT_BYTES));
    let docket = device.engine.shadows.all().pop().expect("one");
    let x = device.zeros([4], DType::F32).expect("it is recorded");
    for n in 0..100 {
        (&x * 2.0f32).and_then(|y| y.compute()).expect("it is recorded");
        let waiting = docket.waiting();
        assert!((1..16).contains(&waiting.len()), "after {n}: {}", waiting.len());
        let takes = waiting.iter().map(|one| one.takes()).sum::<u64>();
        assert_eq!(docket.held(), takes, "after {n}");
    }
    let report = pollster::block_on(shadow.report()).expect("it is there");
    assert_eq!((report.operations, docket.held()), (101, 0), "{report}");
}
