//! The first few of each row of keys, in order, without sorting the others.
//!
//! ```text
//! keys            4 7 | 2 9 | 5 1 | 8 3     in pieces
//! lowest of each  4     2     1     3       the first two keys lie in the first two of these
//! what is left          2 9   5 1           selected from, and only what that leaves is sorted
//! ```
//!
//! Of equal pieces those that lie first are taken, as of equal keys: so it is exact. Pieces are
//! chosen as keys are, and in pieces themselves where there are many.

use super::Tensor;
use super::keys::Keys;
use crate::engine::Site;
use crate::error::Result;
use crate::kernel::Operand;
use crate::kernel::cores::Task;
use crate::kernel::sort::select;
use crate::kernel::sort::text::SELECTED_MAX;
use crate::plan::Stored;
use crate::proof::Oracle;
use crate::shape::Shape;

/// The operation that all kernels here are part of.
const WHAT: &str = "top_k";
/// The largest `k` for which keys are selected.
const FEW: usize = 1 << 10;
/// Rows of fewer than so many times `k` keys are sorted. Those of up to four times as many are
/// selected from as they are, longer ones by pieces.
const SOME: usize = 16;

/// Whether selecting takes less than sorting all.
pub(super) const fn pays(length: usize, k: usize) -> bool {
    0 < k && k <= FEW && SOME * k <= length
}

impl Keys {
    /// Where the first `k` of each row come from, in order.
    #[track_caller]
    pub(super) fn first(&self, k: usize) -> Result<Tensor> {
        let places = self.among(k)?;
        let order = self.at(&places)?.sorted();
        places.picked(WHAT, &order, 1, 1)
    }

    /// Where the first `k` of each row are, in the order in which they lie.
    #[track_caller]
    fn among(&self, k: usize) -> Result<Tensor> {
        let [rows, length] = self.dims();
        if length <= SELECTED_MAX && length <= 4 * SOME * k {
            return self.selected(k);
        }
        // As many pieces as there are elements in those that are left.
        let each = (length / k).isqrt();
        let (count, kept) = (length / each, k * each);
        let pieces =
            self.each(|word| word.slice(1, ..count * each)?.reshape([rows, count, each]))?;
        let left = pieces.lowest()?.among(k)?;
        let some = pieces.at(&left.unsqueeze(2)?.broadcast_to([rows, k, each])?)?;
        let some = some.each(|word| word.reshape([rows, kept]))?;
        let rest = self.each(|word| word.slice(1, count * each..))?;
        let places = some.and(&rest)?.among(k)?;
        let piece = (&places / each as u32)?.minimum((k - 1) as u32)?;
        let begin = (left.picked(WHAT, &piece, 1, 1)? * each as u32)?;
        let inside = (begin + places.rem(each as u32)?)?;
        // What is behind the last piece comes behind those that are left.
        let behind = (&places + (count * each - kept) as u32)?;
        places.lt(kept as u32)?.choose(&inside, &behind)
    }

    /// [`Keys::among`] of rows that one workgroup does.
    #[track_caller]
    fn selected(&self, k: usize) -> Result<Tensor> {
        let [rows, length] = self.dims();
        let bits: Vec<u32> = self.words.iter().map(|(_, bits)| *bits).collect();
        let named = Task::by(WHAT, Oracle::Foremost { bits: bits.clone(), length, count: k });
        let first = move |site: Site<'_>, words: &[Operand]| {
            let words: Vec<_> = words.iter().cloned().zip(bits.iter().copied()).collect();
            select::first(site, &words, length, k)
        };
        let words: Vec<&Tensor> = self.words.iter().map(|(word, _)| word).collect();
        Ok(words[0].alone(named, &words, (Shape::new([rows, k])?, Stored::U32), first))
    }

    /// The lowest key of each piece, `[rows, pieces]` of `[rows, pieces, each]`.
    #[track_caller]
    fn lowest(&self) -> Result<Self> {
        let mut words = Vec::new();
        // From the highest word on: a lower one counts where the higher one is the lowest.
        let mut same: Option<Tensor> = None;
        for (word, bits) in self.words.iter().rev() {
            let counted = same.map_or(Ok(word.clone()), |same| same.choose(word, u32::MAX))?;
            let low = counted.amin(2)?;
            same = Some(word.eq(&low.unsqueeze(2)?)?);
            words.insert(0, (low, *bits));
        }
        Ok(Self { words })
    }

    /// The keys at these places of axis 1.
    #[track_caller]
    fn at(&self, places: &Tensor) -> Result<Self> {
        self.each(|word| word.picked(WHAT, places, 1, 1))
    }

    /// With these behind those of each row.
    #[track_caller]
    fn and(self, rest: &Self) -> Result<Self> {
        if rest.dims()[1] == 0 {
            return Ok(self);
        }
        let words = self.words.iter().zip(&rest.words);
        let words = words.map(|((a, bits), (b, _))| Ok((Tensor::concat(&[a, b], 1)?, *bits)));
        Ok(Self { words: words.collect::<Result<_>>()? })
    }
}
