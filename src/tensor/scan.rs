//! Scans: running sums, products and extremes along an axis.

use std::sync::Arc;

use super::Tensor;
use super::ops::{inverse, memory_order};
use super::reduce::{ReduceCause, computed};
use crate::error::Result;
use crate::fuse::{Arg, Node, What};
use crate::kernel::reduce::text::{Fold, Reduce};
use crate::kernel::scan::Scan;
use crate::layout::Layout;
use crate::op::{Kind, Reduction};
use crate::shape::Shape;

impl Tensor {
    /// The sums of the elements so far along an axis. i8 to u16 become i32 or u32, bools are
    /// counted as u32; integers wrap. Floats lie within 256 units in the last place of the sum of
    /// the magnitudes so far.
    pub fn cumsum(&self, axis: usize) -> Result<Self> {
        self.scan("cumsum", Reduction::Sum, Fold::Sum, axis)
    }

    /// The products of the elements so far along an axis. i8 to u16 become i32 or u32; integers
    /// wrap.
    pub fn cumprod(&self, axis: usize) -> Result<Self> {
        self.scan("cumprod", Reduction::Prod, Fold::Prod, axis)
    }

    /// The largest of the elements so far along an axis; NaN from the first one on.
    pub fn cummax(&self, axis: usize) -> Result<Self> {
        self.scan("cummax", Reduction::Max, Fold::Max, axis)
    }

    /// The smallest of the elements so far along an axis; NaN from the first one on.
    pub fn cummin(&self, axis: usize) -> Result<Self> {
        self.scan("cummin", Reduction::Min, Fold::Min, axis)
    }

    /// `reduction` is what the last element of every row comes to.
    fn scan(
        &self,
        name: &'static str,
        reduction: Reduction,
        fold: Fold,
        axis: usize,
    ) -> Result<Self> {
        let made = || {
            self.shape().dim(axis)?;
            if !reduction.takes(self.dtype) {
                return Err(ReduceCause::Kind { reduction, dtype: self.dtype }.into());
            }
            let dtype = reduction.yields(self.dtype);
            if self.shape().is_empty() {
                return self.device.zeros(*self.shape(), dtype);
            }
            let x = self.cast(computed(self.dtype))?;
            // The others in the order in which memory walks them.
            let mut order = memory_order(&x.layout);
            order.retain(|&other| other != axis);
            order.push(axis);
            let view = x.layout.permute(&order)?;
            let dims: Vec<usize> = order.iter().map(|&axis| x.shape().dims()[axis]).collect();
            let stored = Shape::new(dims)?;
            let how = Reduce { fold, kind: Kind::of(x.dtype), index: false };
            let core = What::Core(Arc::new(Scan { name, how }));
            let args = vec![Arg::View(Arc::clone(&x.node), view)];
            let node = Node::deferred(x.device.context(), core, stored, x.dtype, args);
            let layout = Layout::dense(stored).permute(&inverse(&order))?;
            Self { device: x.device, node, layout, dtype: x.dtype }.cast(dtype)
        };
        made().map_err(|error| error.during(name))
    }
}
