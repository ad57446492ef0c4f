//! What is carried, and for how long.

use super::*;
use crate::testing::noop_device;
use crate::{DType, Tensor};

fn carried(x: &Tensor) -> usize {
    x.realise().expect("a noop device").carried()
}

/// However long nobody reads, and however often values meet again.
#[test]
fn what_is_not_hit_is_not_carried_for_ever() {
    let device = noop_device().expect("it opens");
    let mut x = device.zeros([4], DType::F32).expect("small");
    let (index, _) = device.upload(&[3u32, 2, 1, 0], [4]).expect("small");
    let before = device.ledger().control.bytes;
    let mut most = 0;
    for _ in 0..1000 {
        let taken = x.take(&index).and_then(|taken| &taken + &x).expect("nothing is computed yet");
        most = most.max(carried(&taken));
        x = taken;
    }
    assert!((MANY..=MANY + 2).contains(&most), "{most} slots at most");
    assert!(device.ledger().control.bytes >= before + 1000 / MANY as u64 * 1024, "they crossed");
}

/// What was hit stays, and is not asked for again and again.
#[test]
fn what_is_hit_waits_for_a_read() {
    let device = noop_device().expect("it opens");
    let (index, _) = device.upload(&[0u32], [1]).expect("small");
    let x = device.zeros([1], DType::F32).and_then(|x| x.take(&index)).expect("small");
    let value = x.realise().expect("a noop device");
    let [slot] = &value.unsettled()[..] else { panic!("one operation, one slot") };
    slot.clear([1, !0]);
    assert!(slot.is_hit() && slot.is_of_interest() && slot.error().is_none(), "{slot:?}");
    assert_eq!(carried(&(&x + 1.0f32).expect("nothing is computed yet")), 1, "it goes on");
    slot.clear([0, 0]);
    assert!(!slot.is_of_interest(), "{slot:?}");
    assert_eq!(carried(&(&x + 2.0f32).expect("nothing is computed yet")), 0, "it is forgotten");
}
