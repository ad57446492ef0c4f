//! What a plan makes of tensors that are made on the device: what it makes of the same values
//! uploaded.
//!
//! A maker asks once what becomes of its dtype. Where that is another one, values that the maker
//! knows go through an upload's own conversion, on the host and to nowhere, and are refused as an
//! upload of them would be. Values that only the device knows are checked there.

use core::ops::Range;

use super::number::Scalar;
use crate::device::Device;
use crate::dtype::DType;
use crate::error::Result;
use crate::host::Tally;
use crate::host::bytes::ByteView;
use crate::host::place::CACHED;
use crate::plan::Stored;
use crate::transfer::{Fill, Rules, UploadSource};

/// A dtype that was asked for, and what becomes of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Making {
    pub(super) asked: DType,
    pub(super) stored: Stored,
    pub(super) rules: Rules,
}

impl Device {
    /// What becomes of a dtype in tensors that are made here.
    pub(super) fn making(&self, what: &'static str, asked: DType) -> Result<Making> {
        let accepted = self.plan().accept(asked).map_err(|error| error.during(what));
        accepted.map(|(carriage, stored)| Making { asked, stored, rules: self.rules(carriage.how) })
    }
}

impl Making {
    /// Whether a value may be refused on its way into what is stored.
    pub(super) fn refuses(&self) -> bool {
        let strict = self.rules.lossless || self.rules.finite || !self.stored.is_float();
        self.stored != self.asked && strict
    }

    /// The bytes of a number: one of the dtype that was asked for, as an upload would store it.
    pub(super) fn number(&self, number: Scalar) -> Result<[u8; 8]> {
        let bytes = number.encode(self.asked)?;
        if self.stored == self.asked {
            return Ok(bytes);
        }
        let mut stored = [0; 8];
        self.convert(0, &bytes[..self.asked.width()], &mut stored[..self.stored.width()])?;
        Ok(stored)
    }

    /// A number to compute with in what is stored.
    pub(super) fn operand(&self, number: Scalar) -> Result<Scalar> {
        if self.stored == self.asked {
            return Ok(number);
        }
        if self.stored.is_float() {
            return Ok(number.as_float());
        }
        self.number(number).map(|_| number)
    }

    /// Refuses what an upload of these values would refuse.
    pub(super) fn check(&self, count: usize, value: impl Fn(usize) -> Scalar) -> Result<()> {
        if !self.refuses() {
            return Ok(());
        }
        let mut blocks = (0..count).step_by(CACHED);
        blocks.try_for_each(|first| self.check_part(first..count.min(first + CACHED), &value))
    }

    /// Checks values that never fall, or never rise. What is out of range lies at an end, so the
    /// others need no look.
    pub(super) fn check_row(&self, count: usize, value: impl Fn(usize) -> Scalar) -> Result<()> {
        if !self.refuses() || count == 0 {
            return Ok(());
        }
        // What is rounded may lie anywhere.
        if self.rules.lossless && self.stored.is_float() {
            return self.check(count, value);
        }
        let one = |place| self.check_part(place..place + 1, &value);
        one(0)?;
        let (mut taken, mut end) = (0, count - 1);
        let Err(mut refused) = one(end) else { return Ok(()) };
        // The first that is refused is what an upload names.
        while end - taken > 1 {
            let middle = taken.midpoint(end);
            match one(middle) {
                Ok(()) => taken = middle,
                Err(error) => (end, refused) = (middle, error),
            }
        }
        Err(refused)
    }

    /// Refuses what an upload would refuse of these places.
    fn check_part(&self, places: Range<usize>, value: impl Fn(usize) -> Scalar) -> Result<()> {
        let (asked, stored) = (self.asked.width(), self.stored.width());
        let (first, mut scratch) = (places.start, [0; CACHED * size_of::<u64>()]);
        let out = &mut scratch[..places.len() * stored];
        let mut bytes = Vec::with_capacity(places.len() * asked);
        for place in places {
            bytes.extend_from_slice(&value(place).encode(self.asked)?[..asked]);
        }
        self.convert(first, &bytes, out)
    }

    /// Values of the dtype that was asked for as an upload would store them, `first` being the
    /// place of the first.
    fn convert(&self, first: usize, from: &[u8], to: &mut [u8]) -> Result<()> {
        let view = ByteView::dense(self.asked, from)?;
        let source = UploadSource::new(view, *self.stored, self.rules)?.within(first as u64);
        let bytes = to.len() as u64;
        source.fill(0, wgpu::WriteOnly::from_mut(to), bytes, &mut Tally::default())
    }
}
