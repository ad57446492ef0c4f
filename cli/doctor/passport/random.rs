//! Numbers drawn by a seed.

/// A small generator; the same numbers everywhere.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn bits(&mut self) -> u64 {
        // xorshift64*
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number less than `n`.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.bits() % n.max(1) as u64).unwrap_or(0)
    }
}
