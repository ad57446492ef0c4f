//! Resizing without aliases: where an axis becomes shorter, an element of the result is made of all
//! that it covers, because what weighs them is as much wider.
//!
//! ```text
//! centre of result i, in halves of a part     (2 i + 1) from
//! centre of element j                         (2 j + 1) to
//! 1 of what weighs                            2 max(from, to)
//! ```

use super::super::Tensor;
use super::super::reduce::computed;
use crate::dtype::DType;
use crate::error::Result;
use crate::shape::Axes;

/// What weighs elements by how far they are: nothing from `reach` on.
pub(super) struct Filter {
    pub(super) reach: usize,
    pub(super) weigh: fn(Tensor) -> Result<Tensor>,
}

impl Tensor {
    /// An axis at another length, each element the weighted mean of those that the filter reaches.
    pub(super) fn filtered(
        &self,
        what: &'static str,
        axis: usize,
        [from, to]: [usize; 2],
        Filter { reach, weigh }: &Filter,
    ) -> Result<Self> {
        let wide = computed(self.dtype());
        let longer = from.max(to);
        let span = (reach * longer).div_ceil(to) as i32;
        // Their product was checked.
        let (from, to) = (from as i32, to as i32);
        let one = 2.0 * longer as f64;
        let end = i32::try_from(2 * reach * longer).unwrap_or(i32::MAX);
        let centre =
            self.device.arange(0, to, 1, DType::I32)?.unsqueeze(1)?.mul_add(2 * from, from)?;
        let tap = self.device.arange(-span, span + 1, 1, DType::I32)?;
        let named = ((&centre / (2 * to))? + &tap)?;
        let place = named.clamp(0, from - 1)?;
        let far = (place.mul_add(2 * to, to)? - &centre)?.abs()?;
        let counts = named.eq(&place)?.and(far.lt(end)?)?;
        let weights = counts.choose(&weigh((far.cast(wide)? / one)?)?, 0.0)?;
        let weights = (&weights / &weights.sum(Axes::keep(1))?)?.contiguous()?;
        let elements = self.tapped(what, axis, &place.cast(DType::U32)?)?.cast(wide)?;
        elements.weighted(axis, &weights)
    }
}
