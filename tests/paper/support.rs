//! What the tests share: a generator of numbers, devices that only store, and checks of errors.

use wharf::caps::{Caps, fixtures};
use wharf::testing::noop;
use wharf::{Adapter, Device, Element, Error, ErrorKind, Policy};

/// A small generator (xorshift64*): the same numbers in every run.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed | 1)
    }

    pub(crate) const fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// One of `0..n`.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        usize::try_from((self.next() >> 33) % n as u64).unwrap()
    }

    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// Values of any bits at all.
    pub(crate) fn values<T: Element>(&mut self, n: usize) -> Vec<T> {
        let bool = T::DTYPE == wharf::DType::Bool;
        let byte = |random: &mut Self| {
            let byte = random.next().to_le_bytes()[5];
            if bool { byte & 1 } else { byte }
        };
        let bytes: Vec<u8> = (0..n * size_of::<T>()).map(|_| byte(self)).collect();
        let mut values = vec![T::default(); n];
        T::copy_from_bytes(&bytes, &mut values);
        values
    }
}

/// An adapter with these capabilities, which only stores.
pub(crate) fn adapter(caps: Caps) -> Adapter {
    pollster::block_on(noop(caps)).unwrap()
}

pub(crate) fn device(caps: Caps, policy: &Policy) -> Device {
    let adapter = adapter(caps);
    pollster::block_on(adapter.open(adapter.negotiate(policy))).unwrap()
}

/// A device that has every dtype.
pub(crate) fn capable() -> Device {
    device(fixtures::lavapipe(), &Policy::exact())
}

/// A device that has nothing beyond what WebGPU guarantees.
pub(crate) fn baseline(policy: &Policy) -> Device {
    device(Caps::webgpu_baseline(), policy)
}

pub(crate) fn bits<T: Element>(values: &[T]) -> &[u8] {
    bytemuck::cast_slice(values)
}

/// Checks the kind, message and help of an error.
#[track_caller]
pub(crate) fn says<T>(result: wharf::Result<T>, kind: ErrorKind, text: &str, help: &str) {
    let error: Error = result.err().expect("it fails");
    assert_eq!(error.to_string(), text, "the message");
    assert_eq!(error.kind(), kind, "the kind of: {text}");
    assert_eq!(error.help().as_deref(), Some(help), "the help for: {text}");
}
