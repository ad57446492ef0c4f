//! New values for a tensor: in place where nobody else holds its memory.

use core::ops::Range;
use core::panic::Location;
use std::sync::Arc;

use super::cause::TensorCause;
use super::{Other, Tensor};
use crate::engine::site::asked;
use crate::engine::{Engine, Site};
use crate::error::{Error, Result, mistake};
use crate::exec::Value;
use crate::fuse::Node;
use crate::kernel::cores::Task;
use crate::kernel::moves::assign::Assignment;
use crate::kernel::own::Moored;
use crate::kernel::{Operand, moves};
use crate::layout::Layout;
use crate::op::Refusal;
use crate::proof::Oracle;
use crate::shadow::witnessed;
use crate::shape::{Axis, Cut, Cuts, Interval, Shape};

impl Tensor {
    /// Takes on other values: those of a tensor of this dtype, broadcast to this shape, or a number
    /// everywhere. Recorded at once.
    ///
    /// A tensor is a value, so clones and views made before keep what they had. If there are none,
    /// and the new values are computed from the old ones, they take their place in memory:
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let (mut weights, _) = device.upload(&[1.0f32, 2.0], [2])?;
    /// let (gradient, _) = device.upload(&[2.0f32, -2.0], [2])?;
    /// weights.assign((&weights - (&gradient * 0.5)?)?)?;
    /// assert_eq!(weights.read_now::<f32>()?, [0.0, 3.0]);
    /// # Ok(()) });
    /// ```
    ///
    /// If the call fails, this tensor has its old values still. But for want of memory values that
    /// are not computed from the old ones, which no clone or view has, take their place all the
    /// same, for when there is some.
    ///
    /// `x += &y` and its like are deferred instead, and have nowhere to put an error: see
    /// [`Tensor`].
    #[doc(alias("copy_", "fill_"))]
    #[track_caller]
    pub fn assign(&mut self, values: impl Into<Other>) -> Result<()> {
        let shape = *self.shape();
        let values = self.source("assign", values.into(), &shape)?;
        values.node.sound()?;
        let (old, layout) = (Arc::downgrade(&self.node), self.layout);
        // This handle no longer holds on to the old values.
        (self.node, self.layout) = (values.node, values.layout);
        let made = self.realise().map(drop);
        // What could not be computed from them yet still holds them.
        if let (Err(_), Some(old)) = (&made, old.upgrade()) {
            (self.node, self.layout) = (old, layout);
        }
        made
    }

    /// What an assigning operator made becomes this tensor, at the shape it has; or why there is
    /// nothing, which whoever reads it is told.
    #[track_caller]
    pub(super) fn become_or_carry(&mut self, sign: &str, made: Result<Self>) {
        let (shape, dtype) = (*self.shape(), self.dtype());
        let fits = |made: Self| {
            let grown = TensorCause::Grows { made: *made.shape(), shape };
            made.broadcast_to(shape).map_err(|_| grown.into())
        };
        match made.and_then(fits) {
            Ok(made) => *self = made,
            Err(error) => {
                let error = error.during(format!("`{sign}` at {}", Location::caller()));
                self.layout = Layout::dense(shape);
                self.node = Node::known(Err(error), shape, dtype);
            }
        }
    }

    /// Writes into the elements `range` of one axis: values of a tensor of this dtype, broadcast to
    /// their shape, or a number everywhere. Recorded at once.
    ///
    /// In place if nobody else holds the memory; otherwise it is copied first, and clones and views
    /// made before keep what they had, as this tensor does if the call fails; if the driver fails
    /// later, reading tells.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let mut cache = device.zeros([2, 3], wharf::DType::F32)?; // [heads, positions]
    /// let (keys, _) = device.upload(&[1.0f32, 2.0], [2, 1])?;
    /// cache.assign_slice(-1, 2.., &keys)?;
    /// assert_eq!(cache.read_now::<f32>()?, [0.0, 0.0, 1.0, 0.0, 0.0, 2.0]);
    /// # Ok(()) });
    /// ```
    #[doc(alias("slice_assign", "slice_set"))]
    #[track_caller]
    pub fn assign_slice(
        &mut self,
        axis: impl Into<Axis>,
        range: impl Into<Interval>,
        values: impl Into<Other>,
    ) -> Result<()> {
        let what = "assign_slice";
        let found = self.shape().range(axis, range);
        let (axis, range) = found.map_err(|error| error.during(what))?;
        let mut ranges = self.whole();
        ranges[axis] = range;
        self.write_part(what, &ranges, &[], values.into())
    }

    /// Writes into the part of several axes that [`Tensor::at`] would view: values of a tensor of
    /// this dtype, broadcast to its shape, or a number everywhere. Recorded at once; otherwise as
    /// [`Tensor::assign_slice`]. With steps, what lies between is written again.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// let mut field = device.zeros([3, 3], wharf::DType::I32)?;
    /// let (column, _) = device.upload(&[1, 2], [2])?;
    /// field.assign_at((1.., 0), &column)?;
    /// field.assign_at((0, -1), 9)?;
    /// assert_eq!(field.read_now::<i32>()?, [0, 0, 9, 1, 0, 0, 2, 0, 0]);
    /// field.assign_at(wharf::s![.., ..;2], 5)?; // every other column
    /// assert_eq!(field.read_now::<i32>()?, [5, 0, 5, 5, 0, 5, 5, 0, 5]);
    /// # Ok(()) });
    /// ```
    #[doc(alias = "index_put")]
    #[track_caller]
    pub fn assign_at(&mut self, cuts: impl Into<Cuts>, values: impl Into<Other>) -> Result<()> {
        let (what, cuts) = ("assign_at", cuts.into());
        let named = |error: Error| error.during(what);
        // What is wrong with them is the error of a view.
        let part = *Layout::dense(*self.shape()).at(cuts.clone()).map_err(named)?.shape();
        let (mut ranges, mut gone) = (self.whole(), Vec::new());
        let mut steps = vec![1; ranges.len()];
        for (axis, cut) in cuts.all().iter().enumerate() {
            let range = match *cut {
                Cut::Interval(interval) => interval,
                Cut::Stepped(interval, step) => {
                    steps[axis] = step;
                    interval
                }
                Cut::Place(place) => {
                    gone.push(axis);
                    (place..=place).into()
                }
            };
            let range = self.shape().range(axis, range).map_err(named)?.1;
            ranges[axis] = stepped(range, steps[axis]);
        }
        let values = values.into();
        if steps.iter().all(|&step| step == 1) {
            return self.write_part(what, &ranges, &gone, values);
        }
        let values = self.source(what, values, &part)?;
        let values = gone.iter().try_fold(values, |values, &axis| values.unsqueeze(axis))?;
        let between = self.view(self.layout.part(&ranges)?);
        let all = asked(|| between.with_each(&steps, &values)).map_err(named)?;
        // So that it is written in place.
        drop(between);
        self.write_part(what, &ranges, &[], all.into())
    }

    /// A copy with other values at every so many-th place of each axis, the first and the last
    /// among them; in turn from the last one on where a step is below 0.
    fn with_each(&self, steps: &[isize], values: &Self) -> Result<Self> {
        let Some(axis) = steps.iter().position(|&step| step != 1) else {
            return Ok(values.clone());
        };
        let (step, length) = (steps[axis], self.shape().dims()[axis]);
        let mut others = steps.to_vec();
        others[axis] = 1;
        let each = step.unsigned_abs();
        let values = if step < 0 { &values.flip(axis)? } else { values };
        let values = self.every(axis.cast_signed(), each)?.with_each(&others, values)?;
        if each == 1 || length < 2 {
            return Ok(values);
        }
        // Elements are moved, so that all bits stay.
        let place = self.device.iota(length)?;
        let own = ((&place / each)? + length)?;
        let source = (&place % each)?.eq(0)?.choose(&own, &place)?;
        Self::concat(&[self, &values], axis)?.index_select(axis, &source)
    }

    /// All of every axis.
    fn whole(&self) -> Vec<Range<usize>> {
        self.shape().dims().iter().map(|&dim| 0..dim).collect()
    }

    /// Writes into a range of every axis; the values lack the axes that are `gone`, of length 1.
    #[track_caller]
    fn write_part(
        &mut self,
        what: &'static str,
        ranges: &[Range<usize>],
        gone: &[usize],
        values: Other,
    ) -> Result<()> {
        let shape = *self.shape();
        let axes = ranges.iter().enumerate().filter(|(axis, _)| !gone.contains(axis));
        let part = Shape::new(axes.map(|(_, range)| range.len()).collect::<Vec<usize>>())?;
        let values = self.source(what, values, &part)?;
        let values = gone.iter().try_fold(values, |values, &axis| values.unsqueeze(axis))?;
        let from = values.operand()?;
        drop(values);
        if part.is_empty() {
            if !from.value.unsettled().is_empty() {
                self.own()?.inherit([&*from.value]);
            }
            return Ok(());
        }
        let value = self.own()?;
        let first = ranges.iter().map(|range| range.start).collect();
        let inputs = [Operand::dense(value, shape, self.dtype()), from];
        let assigned = |site: Site<'_>, inputs: &[Operand]| {
            let [onto, from] = inputs else { return Err(mistake(what, "not two operands")) };
            Assignment { value: &onto.value, shape: &shape, ranges }.assign(site, from)?;
            Ok(Arc::clone(&onto.value))
        };
        let named = Task::by(what, Oracle::Assigned { first });
        witnessed(self.device.site(), named, &inputs, (shape, self.dtype()), assigned)?;
        let [onto, from] = &inputs;
        onto.value.inherit([&*from.value]);
        Ok(())
    }

    /// The values to take on, as a view of this dtype and of the shape that is to be filled.
    #[track_caller]
    fn source(&self, what: &'static str, values: Other, shape: &Shape) -> Result<Self> {
        let named = |error: Error| error.during(what);
        let tensor = match values {
            Other::Scalar(scalar) => {
                self.device.filled(what, Shape::SCALAR, self.dtype(), scalar)?
            }
            Other::Tensor(tensor) => tensor,
        };
        self.device.engine.same_device(&tensor.device.engine).map_err(named)?;
        let (left, right) = (self.dtype(), tensor.dtype());
        if left != right {
            return Err(Refusal::Mixed { doing: what, left, right }.into());
        }
        tensor.broadcast_to(*shape).map_err(named)
    }

    /// Memory of its own in one piece and in none of these buffers: what it has, or a copy.
    #[track_caller]
    pub(crate) fn own_apart(&mut self, apart: &[u64]) -> Result<Moored> {
        let (shape, dtype) = (*self.shape(), self.dtype());
        let bytes = Engine::bytes_of(&shape, dtype)?;
        let value = self.own()?;
        if let Some(moored) = Moored::find(&value, bytes, apart)? {
            return Ok(moored);
        }
        let from = Operand::dense(value, shape, dtype);
        let copy = moves::copied(self.device.site(), &from, apart)?;
        copy.inherit([&*from.value]);
        let moored = Moored::find(&copy, bytes, apart)?;
        self.node = Node::leaf(copy, shape, dtype);
        moored.ok_or_else(|| mistake("a kernel of your own", "a copy that does not lie apart"))
    }

    /// Memory of its own, dense and shared with nobody: what it has, or a copy.
    #[track_caller]
    pub(super) fn own(&mut self) -> Result<Arc<Value>> {
        let (shape, dtype) = (*self.shape(), self.dtype());
        let old = self.realise()?;
        // The node and this function.
        let alone = Arc::strong_count(&self.node) == 1
            && Arc::strong_count(&old) == 2
            && old.is_sole_owner()
            && self.layout.is_all_of(&self.node.shape);
        let value = if alone {
            old.replaced()
        } else {
            let from = [Operand { value: Arc::clone(&old), layout: self.layout, dtype }];
            let named = Task::by("contiguous", Oracle::Copied);
            let copy = |site: Site<'_>, from: &[Operand]| moves::contiguous(site, &from[0]);
            witnessed(self.device.site(), named, &from, (shape, dtype), copy)?
        };
        value.inherit([&*old]);
        self.layout = Layout::dense(shape);
        self.node = Node::leaf(Arc::clone(&value), shape, dtype);
        Ok(value)
    }
}

/// From the first to the last place that a step has in a range.
fn stepped(range: Range<usize>, step: isize) -> Range<usize> {
    let each = step.unsigned_abs();
    let Some(rest) = range.len().checked_sub(1).map(|last| last % each) else { return range };
    if step > 0 { range.start..range.end - rest } else { range.start + rest..range.end }
}
