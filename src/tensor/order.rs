//! Order: where the elements of an axis stand once it is sorted.
//!
//! All rows are sorted at once, by [keys](super::keys); a few of many are
//! [selected](super::foremost) first.

use super::Tensor;
use super::foremost;
use super::keys::{Keys, Order};
use crate::dtype::DType;
use crate::engine::site::asked;
use crate::error::{Error, Result, mistake};
use crate::shape::Axis;

/// The rows of a tensor along an axis, one after the other.
struct Unfolded {
    /// The tensor's axes in the order in which the list has them.
    axes: Vec<usize>,
    /// The shape of the tensor, less the axis, in that order.
    outer: Vec<usize>,
    /// `[rows, length]`, dense.
    list: Tensor,
}

impl Unfolded {
    fn of(tensor: &Tensor, axis: usize) -> Result<Self> {
        let axes = tensor.layout.order_along(axis);
        let turned = tensor.permute(&axes)?;
        let Some((&length, outer)) = turned.shape().dims().split_last() else {
            return Err(mistake("sorting", "along no axis"));
        };
        let outer = outer.to_vec();
        let list = turned.contiguous()?.reshape([outer.iter().product(), length])?;
        Ok(Self { axes, outer, list })
    }

    /// A list of rows as the tensor lies.
    fn back(&self, list: &Tensor) -> Result<Tensor> {
        let length = list.shape().dims()[1];
        list.reshape([&self.outer[..], &[length]].concat())?.unpermute(&self.axes)
    }
}

impl Tensor {
    /// Where the elements of an axis come from once it is sorted, as u32: what `gather` takes.
    ///
    /// Equal elements stay as they came, `-0.0` equals `0.0`, and NaN comes last, whichever way.
    /// Of any dtype; deferred. All elements are one list on the way, of 8 bytes each, which has to
    /// lie in one segment; two such lists are in memory at a time, beside 4 bytes of a key each (8
    /// of elements of 64 bits).
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// use wharf::tensor::Order;
    ///
    /// let (x, _) = device.upload(&[3.0f32, f32::NAN, 1.0, 3.0], [4])?;
    /// let order = x.argsort(0, Order::Descending)?;
    /// assert_eq!(order.read_now::<u32>()?, [0, 3, 2, 1]);
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn argsort(&self, axis: impl Into<Axis>, order: Order) -> Result<Self> {
        self.sorted_places(axis.into(), order).map_err(|error| error.during("argsort"))
    }

    /// An axis sorted, bit by bit: see [`Tensor::argsort`]. Deferred. Elements of 32 bits take 4
    /// bytes each on the way, and no keys.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// use wharf::tensor::Order;
    ///
    /// let (x, _) = device.upload(&[3, 1, 2, 5, 4, 6], [2, 3])?;
    /// assert_eq!(x.sort(1, Order::Ascending)?.read_now::<i32>()?, [1, 2, 3, 4, 5, 6]);
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn sort(&self, axis: impl Into<Axis>, order: Order) -> Result<Self> {
        let sorted = || {
            let (axis, _) = self.shape().find(axis)?;
            if !self.shape().is_empty() {
                let rows = Unfolded::of(self, axis)?;
                if let Some(sorted) = rows.list.sorted_rows(order)? {
                    return rows.back(&sorted);
                }
            }
            // Places need no check.
            self.picked("sort", &self.sorted_places(axis.into(), order)?, axis, 1)
        };
        asked(sorted).map_err(|error: Error| error.during("sort"))
    }

    /// The `k` largest of an axis, the largest first, and where they come from, as u32; of more
    /// than there are, all. Of equal elements those come first that lie first, and NaN comes last.
    /// Few of many (up to 1024, and a sixteenth) are selected, the others never sorted. Deferred.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (x, _) = device.upload(&[0.5f32, 0.1, 0.4], [3])?;
    /// let (values, places) = x.top_k(0, 2)?;
    /// assert_eq!(values.read_now::<f32>()?, [0.5, 0.4]);
    /// assert_eq!(places.read_now::<u32>()?, [0, 2]);
    /// # Ok(()) });
    /// ```
    #[doc(alias = "topk")]
    #[track_caller]
    pub fn top_k(&self, axis: impl Into<Axis>, k: usize) -> Result<(Self, Self)> {
        let largest = || {
            let (axis, length) = self.shape().find(axis)?;
            let k = k.min(length);
            let places = self.first_places(axis, k, Order::Descending)?;
            Ok((self.picked("top_k", &places, axis, 1)?, places))
        };
        asked(largest).map_err(|error: Error| error.during("top_k"))
    }

    /// The places of the first `k` of an axis, in order.
    #[track_caller]
    fn first_places(&self, axis: usize, k: usize, order: Order) -> Result<Self> {
        let length = self.shape().dims()[axis];
        if self.shape().is_empty() || !foremost::pays(length, k) {
            return self.sorted_places(axis.into(), order)?.slice(axis, 0..k);
        }
        asked(|| {
            let rows = Unfolded::of(self, axis)?;
            rows.back(&Keys::of(&rows.list, order)?.first(k)?)
        })
    }

    #[track_caller]
    fn sorted_places(&self, axis: Axis, order: Order) -> Result<Self> {
        let ((axis, _), count) = (self.shape().find(axis)?, self.shape().elements());
        if count == 0 {
            return self.device.zeros(*self.shape(), DType::U32)?.on_behalf_of(&[self]);
        }
        asked(|| {
            let rows = Unfolded::of(self, axis)?;
            rows.back(&Keys::of(&rows.list, order)?.sorted())
        })
    }
}
