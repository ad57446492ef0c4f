//! Gradients of pools: what arrives at windows, brought back to their elements.
//!
//! ```text
//! an axis, padded       | block 0 | block 1 | block 2 ..       a stride each
//! its windows begin      0         1         2
//! an element of block b lies in windows b, b - 1, .. and no others
//! ```
//!
//! So what an element gets is the sum of a few views of what arrives, a window further each, where
//! its window has it. Nothing is sorted, and no two add to one element.

use super::{PoolCause, Pooling};
use crate::count::word;
use crate::dtype::DType;
use crate::engine::site::asked;
use crate::error::Result;
use crate::kernel::plan::taps;
use crate::shape::Shape;
use crate::shape::cause::{ShapeCause, paced};
use crate::tensor::cause::{TensorCause, computed_with, float};
use crate::tensor::number::Scalar;
use crate::tensor::reduce::{computed, computed_wrapping};
use crate::tensor::{Pad, Tensor};

/// How windows lie along an axis, seen from its elements.
#[derive(Clone, Copy, Debug)]
struct Covered {
    size: usize,
    pad: usize,
    windows: usize,
    step: usize,
    taps: usize,
    reach: usize,
    /// How many windows may have one element.
    over: usize,
    /// Strides from the first window on.
    blocks: usize,
}

impl Covered {
    /// Whether a window has the element so far behind where it begins.
    const fn has(&self, at: usize) -> bool {
        at.is_multiple_of(self.reach) && at / self.reach < self.taps
    }

    /// How many blocks before an element's own a window may begin that has it.
    fn backs(&self) -> Vec<usize> {
        let has_any =
            |&back: &usize| (back * self.step..(back + 1) * self.step).any(|at| self.has(at));
        // Others have none but of the padding.
        let least = (self.pad / self.step).saturating_sub(self.windows - 1);
        (least..self.over.min(self.blocks)).filter(has_any).collect()
    }
}

impl Tensor {
    /// The gradient of the input of a [maximum](Tensor::max_pool) of windows: this is what arrives
    /// at its result, `places` are where the maxima were, as
    /// [`Tensor::max_pool_with_indices`] says for the same windows, and the input was of this size
    /// along its last `D` axes. What arrives at windows with one maximum is added up, f16 and bf16
    /// in f32, by the contract of a [sum](crate::op); integers wrap. A place that its window has
    /// not is nobody's. Nothing is sorted: an element looks at each window that may have it.
    /// Deferred.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// use wharf::tensor::Pooling;
    ///
    /// let how = Pooling::new([3]).stride([1]);
    /// let (x, _) = device.upload(&[1.0f32, 5.0, 2.0, 4.0], [4])?;
    /// let (_, places) = x.max_pool_with_indices(&how)?;
    /// let (arrives, _) = device.upload(&[1.0f32, 10.0], [2])?;
    /// let gradient = arrives.max_pool_grad(&places, [4], &how)?;
    /// assert_eq!(gradient.read_now::<f32>()?, [0.0, 11.0, 0.0, 0.0]);
    /// # Ok(()) });
    /// ```
    #[doc(alias = "max_pool2d_backward")]
    #[doc(alias = "max_unpool")]
    #[track_caller]
    pub fn max_pool_grad<const D: usize>(
        &self,
        places: &Self,
        size: [usize; D],
        how: &Pooling<D>,
    ) -> Result<Self> {
        let gradient = || {
            self.device.engine.same_device(&places.device.engine)?;
            let axes = how.arrived(self.shape(), size)?;
            let (dtype, what) = (places.dtype(), "places");
            if dtype != DType::U32 {
                return Err(TensorCause::Only { what, dtype, only: "u32" }.into());
            }
            computed_with("what arrives", self.dtype())?;
            if self.dtype() == DType::Bool {
                let (dtype, what) = (DType::Bool, "what arrives");
                return Err(TensorCause::Only { what, dtype, only: "a number" }.into());
            }
            let (shape, given) = (*self.shape(), *places.shape());
            if given != shape {
                return Err(PoolCause::Places { places: given, shape }.into());
            }
            let lead = &shape.dims()[..shape.rank() - D];
            let result = Shape::new([lead, &size[..]].concat())?;
            let elements: usize = size.iter().fold(1, |all, &dim| all.saturating_mul(dim));
            if i32::try_from(elements.saturating_mul(2)).is_err() {
                let instead = "gradients of parts of it";
                let (axes, shape) = (D, result);
                return Err(PoolCause::Elements { shape, axes, elements, instead }.into());
            }
            if result.is_empty() || shape.is_empty() {
                let zeros = self.device.zeros(result, self.dtype())?;
                return zeros.on_behalf_of(&[self, places]);
            }
            let images: usize = lead.iter().product();
            let flat = [&[images], &shape.dims()[lead.len()..]].concat();
            let wide = computed_wrapping(self.dtype());
            let arrived = self.cast(wide)?.reshape_copied(flat.clone())?;
            let places = places.reshape_copied(flat)?;
            let sums = arrived.looked_up(&places, &axes)?;
            sums.reshape_copied(result)?.cast(self.dtype())
        };
        asked(gradient).map_err(|error| error.during("max_pool_grad"))
    }

    /// The gradient of the input of a [mean](Tensor::avg_pool) of windows: this is what arrives at
    /// its result, and the input was of this size along its last `D` axes. Each window shares what
    /// arrives among its elements; those shares are added up, f16 and bf16 in f32, by the contract
    /// of a [sum](crate::op). Deferred.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// use wharf::tensor::Pooling;
    ///
    /// let how = Pooling::new([2]).stride([1]);
    /// let (arrives, _) = device.upload(&[2.0f32, 20.0], [2])?;
    /// assert_eq!(arrives.avg_pool_grad([3], &how)?.read_now::<f32>()?, [1.0, 11.0, 10.0]);
    /// # Ok(()) });
    /// ```
    #[doc(alias = "avg_pool2d_backward")]
    #[track_caller]
    pub fn avg_pool_grad<const D: usize>(
        &self,
        size: [usize; D],
        how: &Pooling<D>,
    ) -> Result<Self> {
        let gradient = || {
            let axes = how.arrived(self.shape(), size)?;
            let (dtype, what) = (self.dtype(), "what arrives");
            float(what, dtype)?;
            let lead = &self.shape().dims()[..self.shape().rank() - D];
            let result = Shape::new([lead, &size[..]].concat())?;
            if result.is_empty() || self.shape().is_empty() {
                return self.device.zeros(result, dtype)?.on_behalf_of(&[self]);
            }
            // An axis comes apart into two: there must be room for one more.
            let images = [lead.iter().product()];
            let flat = [&images, &self.shape().dims()[lead.len()..]].concat();
            let arrived = self.cast(computed(dtype))?.reshape_copied(flat)?;
            let counts = how.counts(&self.device, &size, arrived.dtype())?;
            let shares = match counts {
                Some(counts) => arrived / &counts,
                None => arrived / how.size.iter().map(|&dim| dim as f64).product::<f64>(),
            };
            let mut axes = axes.iter().enumerate();
            let sums = axes.try_fold(shares?, |x, (i, along)| x.spread_along(1 + i, along))?;
            sums.reshape_copied(result)?.cast(dtype)
        };
        asked(gradient).map_err(|error| error.during("avg_pool_grad"))
    }

    /// For each element of `[images, ..]` what arrives at the windows whose place it is.
    fn looked_up(&self, places: &Self, axes: &[Covered]) -> Result<Self> {
        let (mut own, mut inner) = (None::<Self>, 1);
        for along in axes.iter().rev() {
            let here = (self.device.iota(along.blocks * along.step)? - along.pad as u32)?;
            let here = (here * inner as u32)?.reshape([along.blocks, along.step])?;
            let after = own.as_ref().map_or(0, |own| own.shape().rank());
            let here = (0..after).try_fold(here, |here, _| here.unsqueeze(-1))?;
            own = Some(match own {
                Some(own) => (here + &own)?,
                None => here,
            });
            inner *= along.size;
        }
        let Some(own) = own else { return Ok(self.clone()) };
        let aside = |x: &Self, with: Scalar| {
            axes.iter().enumerate().try_fold(x.clone(), |x, (i, along)| x.lined(1 + i, along, with))
        };
        let zero = Scalar::zero(self.dtype());
        let (arrived, places) = (aside(self, zero)?, aside(places, Scalar::from(u32::MAX))?);
        let mut sums = None::<Self>;
        let backs: Vec<Vec<usize>> = axes.iter().map(Covered::backs).collect();
        for which in crate::reference::places(&backs.iter().map(Vec::len).collect::<Vec<_>>()) {
            let which: Vec<usize> = which.iter().zip(&backs).map(|(&i, backs)| backs[i]).collect();
            let one = |x: &Self| {
                let views = axes.iter().zip(&which).enumerate();
                // Of two axes for each, those in front have come apart.
                views.into_iter().try_fold(x.clone(), |x, (i, (along, &back))| {
                    x.blocks_before(1 + 2 * i, along, back)
                })
            };
            let mut is_place = one(&places)?.eq(&own)?;
            for (i, (along, &back)) in axes.iter().zip(&which).enumerate() {
                if let Some(inside) = self.inside(along, back)? {
                    let after = 2 * (axes.len() - 1 - i);
                    let inside = (0..after).try_fold(inside, |x, _| x.unsqueeze(-1))?;
                    is_place = is_place.and(&inside)?;
                }
            }
            let here = is_place.choose(&one(&arrived)?, zero)?;
            sums = Some(match sums {
                Some(sums) => (sums + &here)?,
                None => here,
            });
        }
        let sums = sums.unwrap_or(arrived);
        let whole = axes.iter().map(|along| along.blocks * along.step);
        let whole: Vec<usize> = [self.shape().dims()[0]].into_iter().chain(whole).collect();
        axes.iter().enumerate().try_fold(sums.reshape_copied(whole)?, |x, (i, along)| {
            x.slice(1 + i, along.pad..along.pad + along.size)
        })
    }

    /// Covered one axis, the sum of what arrives at all windows that have an element.
    fn spread_along(&self, axis: usize, along: &Covered) -> Result<Self> {
        let &Covered { size, pad, step, blocks, .. } = along;
        let (rank, zero) = (self.shape().rank(), Scalar::zero(self.dtype()));
        let lined = self.lined(axis, along, zero)?;
        let mut dims = self.shape().dims().to_vec();
        dims.splice(axis..=axis, [blocks, step]);
        let mut sums = None::<Self>;
        for back in along.backs() {
            let mut here = lined.blocks_before(axis, along, back)?;
            if let Some(inside) = self.inside(along, back)? {
                let inside = (axis + 1..rank).try_fold(inside, |x, _| x.unsqueeze(-1))?;
                here = inside.choose(&here, zero)?;
            }
            sums = Some(match sums {
                Some(sums) => (sums + &here)?,
                None => here,
            });
        }
        let sums = sums.unwrap_or(lined).broadcast_to(dims)?;
        let mut dims = self.shape().dims().to_vec();
        dims[axis] = blocks * step;
        sums.reshape_copied(dims)?.slice(axis, pad..pad + size)
    }

    /// Which elements of a block the window has that begins so many blocks before; `None` if all.
    fn inside(&self, along: &Covered, back: usize) -> Result<Option<Self>> {
        let &Covered { step, taps, reach, .. } = along;
        let first = back * step;
        let all = if reach == 1 { first + step <= taps } else { step == 1 && along.has(first) };
        if all {
            return Ok(None);
        }
        let at = (self.device.iota(step)? + word(first)?)?;
        let inside = at.rem(word(reach)?)?.eq(0u8)?;
        inside.and(at.le(word((taps - 1) * reach)?)?).map(Some)
    }

    /// With a window for each block, and for as many before the first as an element may lie in.
    fn lined(&self, axis: usize, along: &Covered, with: Scalar) -> Result<Self> {
        let pads = (along.over - 1, along.blocks - along.windows);
        if pads == (0, 0) {
            return Ok(self.clone());
        }
        let mut all = vec![(0, 0); self.shape().rank()];
        all[axis] = pads;
        self.pad(&all, Pad::Constant(with))
    }

    /// For each block the window that begins so many before it, and an axis for its elements.
    fn blocks_before(&self, axis: usize, along: &Covered, back: usize) -> Result<Self> {
        let first = along.over - 1 - back;
        self.slice(axis, first..first + along.blocks)?.unsqueeze(axis + 1)
    }
}

impl<const D: usize> Pooling<D> {
    /// How windows lie along the last axes, of this size, if this shape arrives at them.
    fn arrived(&self, shape: &Shape, size: [usize; D]) -> Result<Vec<Covered>> {
        let Some(first) = shape.rank().checked_sub(D) else {
            return Err(PoolCause::Axes { shape: *shape, axes: D }.into());
        };
        let mut axes = Vec::with_capacity(D);
        for (i, &size) in size.iter().enumerate() {
            let (taps, step, pad, reach) =
                (self.size[i], self.stride[i], self.padding[i], self.dilation[i]);
            let axis = first + i;
            if pad > taps / 2 {
                return Err(PoolCause::Padding { pad, size: taps, axis }.into());
            }
            paced(axis.into(), [taps, step, reach])?;
            let (covers, dim) = (taps::covers(taps, reach), taps::padded(size, pad));
            if covers > dim {
                let axis = axis.into();
                return Err(ShapeCause::Window { axis, size: covers, step, dim }.into());
            }
            let windows = (dim - covers) / step + 1;
            let reach = taps::apart(taps, reach);
            // A single window has one block, as long as all there is.
            let end = size.saturating_add(pad);
            let step = if windows > 1 { step } else { covers.max(end) };
            let (over, blocks) = ((covers - 1) / step + 1, end.div_ceil(step));
            axes.push(Covered { size, pad, windows, step, taps, reach, over, blocks });
        }
        let windows: Vec<usize> = axes.iter().map(|along| along.windows).collect();
        if shape.dims()[first..] != windows {
            return Err(PoolCause::Arrived { shape: *shape, size: size.to_vec(), windows }.into());
        }
        Ok(axes)
    }
}
