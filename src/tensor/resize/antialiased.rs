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
use super::{KEYS, cubic};
use crate::dtype::DType;
use crate::error::Result;
use crate::kernel::resize::{Covering, ResizeCore};
use crate::reference::Filter;
use crate::shape::{Axes, Shape};

impl Tensor {
    /// An axis at another length, each element the weighted mean of those that the filter reaches:
    /// by a kernel of its own, as it is computed in, or where that does not take it, of lists.
    pub(super) fn filtered(
        &self,
        what: &'static str,
        axis: usize,
        [from, to]: [usize; 2],
        filter: Filter,
    ) -> Result<Self> {
        let covering = Covering { to, filter };
        if covering.takes(from) {
            let (before, after) = self.shape().dims().split_at(axis);
            let shape = Shape::new([before, &[to], &after[1..]].concat())?;
            let view = [before.iter().product(), from, after[1..].iter().product()];
            if let Some(mean) = self.resized_by(ResizeCore::Cover(covering), shape, view)? {
                return Ok(mean);
            }
        }
        self.filtered_by_lists(what, axis, [from, to], filter)
    }

    fn filtered_by_lists(
        &self,
        what: &'static str,
        axis: usize,
        [from, to]: [usize; 2],
        filter: Filter,
    ) -> Result<Self> {
        let wide = computed(self.dtype());
        let one = 2.0 * from.max(to) as f64;
        let end = filter.end(from as u64, to as u64);
        let span = end.div_ceil(2 * to as u64) as i32;
        let end = i32::try_from(end).unwrap_or(i32::MAX);
        // Their product was checked.
        let (from, to) = (from as i32, to as i32);
        let centre =
            self.device.arange(0, to, 1, DType::I32)?.unsqueeze(1)?.mul_add(2 * from, from)?;
        let tap = self.device.arange(-span, span + 1, 1, DType::I32)?;
        let named = ((&centre / (2 * to))? + &tap)?;
        let place = named.clamp(0, from - 1)?;
        let far = (place.mul_add(2 * to, to)? - &centre)?.abs()?;
        let counts = named.eq(&place)?.and(far.lt(end)?)?;
        let far = (far.cast(wide)? / one)?;
        let weights = match filter {
            Filter::Even => counts.cast(wide)?,
            Filter::Linear => counts.choose(&(1.0f32 - far)?, 0.0)?,
            Filter::Cubic => counts.choose(&cubic(far, KEYS[1])?, 0.0)?,
        };
        let weights = (&weights / &weights.sum(Axes::keep(1))?)?.contiguous()?;
        let elements = self.tapped(what, axis, &place.cast(DType::U32)?)?.cast(wide)?;
        elements.weighted(axis, &weights)
    }
}
