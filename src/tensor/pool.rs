//! Pools: of windows by a kernel of their own; of many elements, reductions of a view.

use core::array::from_fn;

use super::cause::computed_with;
use super::number::Scalar;
use super::reduce::computed;
use super::{Pad, Tensor};
use crate::count::{product, signed};
use crate::device::Device;
use crate::dtype::{Class, DType};
use crate::engine::site::asked;
use crate::error::{Error, Result, causes};
use crate::kernel::plan::taps;
use crate::kernel::windows::text::Gather;
use crate::plan::Stored;
use crate::shape::cause::paced;
use crate::shape::{RANK_MAX, Shape};

mod backward;
mod folded;

/// The most elements that windows have along all their axes together, where sums are added along
/// one axis after the other. An addition is off by half a unit of the sum, which is up to one of
/// the mean, and the division by 2.5: a mean may be off by 128.
const ADDED_MAX: u64 = 127;

/// Windows of `D` dimensions over the last axes of a tensor: side by side, without padding, unless
/// told otherwise. See [`Tensor::max_pool`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pooling<const D: usize> {
    size: [usize; D],
    stride: [usize; D],
    padding: [usize; D],
    dilation: [usize; D],
    counts_padding: bool,
}

impl<const D: usize> Pooling<D> {
    /// Windows of this size, side by side.
    #[must_use]
    pub const fn new(size: [usize; D]) -> Self {
        let (padding, dilation) = ([0; D], [1; D]);
        Self { size, stride: size, padding, dilation, counts_padding: true }
    }

    /// From window to window.
    #[must_use]
    pub const fn stride(self, stride: [usize; D]) -> Self {
        Self { stride, ..self }
    }

    /// So many elements are added on both sides of an axis, at most half a window: to a maximum
    /// they are nothing, to a mean 0.
    #[must_use]
    pub const fn padding(self, padding: [usize; D]) -> Self {
        Self { padding, ..self }
    }

    /// Neighbours in a window lie so many elements apart.
    #[must_use]
    pub const fn dilation(self, dilation: [usize; D]) -> Self {
        Self { dilation, ..self }
    }

    /// A mean is one of the elements that are there, without those of the padding; of none of them
    /// NaN.
    #[must_use]
    pub const fn padding_uncounted(self) -> Self {
        Self { counts_padding: false, ..self }
    }
}

impl Tensor {
    /// The largest element of each window over the last axes, of any dtype but bool. NaN wins;
    /// exact. Along each axis there are `(size + 2 padding - dilation (window - 1) - 1) / stride +
    /// 1` windows, rounded down. Nothing is padded or unfolded, unless windows have more than 256
    /// elements, span more than 32 along the last axis with three strides, are alone along it, or
    /// go over four axes, of a tensor without others, or more than a segment: those are a reduction
    /// of a view, of a copy if there is padding; one axis after the other if they overlap along
    /// several. Deferred.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// use wharf::tensor::Pooling;
    ///
    /// let (x, _) = device.upload(&[1, 5, 2, 8, 3, 4], [1, 6])?;
    /// assert_eq!(x.max_pool(&Pooling::new([2]))?.read_now::<i32>()?, [5, 8, 4]);
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn max_pool<const D: usize>(&self, how: &Pooling<D>) -> Result<Self> {
        let pooled = || {
            computed_with("input", self.dtype())?;
            self.most_over(how)
        };
        asked(pooled).map_err(|error| error.during("max_pool"))
    }

    /// [`Tensor::max_pool`], and where each of these elements is: its position among those of the
    /// last `D` axes, row-major, as u32. It is the first of equals; the first NaN before all; never
    /// one of the padding: a dilated window of nothing else has the least number of its dtype, and
    /// the place `u32::MAX`. Two reductions of the windows. Deferred.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// use wharf::tensor::Pooling;
    ///
    /// let (x, _) = device.upload(&[1, 5, 8, 2, 8, 4], [1, 2, 3])?;
    /// let (most, places) = x.max_pool_with_indices(&Pooling::new([2, 2]).stride([1, 1]))?;
    /// assert_eq!(most.read_now::<i32>()?, [8, 8]);
    /// assert_eq!(places.read_now::<u32>()?, [4, 2]);
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn max_pool_with_indices<const D: usize>(&self, how: &Pooling<D>) -> Result<(Self, Self)> {
        let pooled = || {
            computed_with("input", self.dtype())?;
            let windows = self.windows_over(how, self.least())?;
            let most = windows.amax(last::<D>())?;
            let tap = windows.argmax(last::<D>())?.cast(DType::I32)?;
            let places = self.places_of(how, tap, &most)?;
            Ok((most.led_as::<D>(self)?, places.led_as::<D>(self)?))
        };
        asked(pooled).map_err(|error: Error| error.during("max_pool_with_indices"))
    }

    /// The positions among the elements of the last axes of those that taps of windows are, where a
    /// tap is counted row-major.
    fn places_of<const D: usize>(&self, how: &Pooling<D>, tap: Self, most: &Self) -> Result<Self> {
        let shape = *self.shape();
        let dims = &shape.dims()[shape.rank() - D..];
        let elements: usize = dims.iter().fold(1, |all, &dim| all.saturating_mul(dim));
        // With what windows cover beside them.
        if i32::try_from(elements.saturating_mul(2)).is_err() {
            let instead = "pool parts of it, or leave the places out: `max_pool`";
            return Err(PoolCause::Elements { shape, axes: D, elements, instead }.into());
        }
        // Where there is nothing but the least number, the first tap may be one of the padding.
        let least = (how.padding != [0; D]).then(|| most.eq(self.least())).transpose()?;
        let (mut rest, mut place, mut inner, mut beside) = (tap, None, 1, None);
        for i in (0..D).rev() {
            let windows = most.shape().dims()[most.shape().rank() - D + i];
            let reach = taps::apart(how.size[i], how.dilation[i]);
            let step = taps::apart(windows, how.stride[i]);
            let is_beyond = reach > dims[i];
            let [size, step, pad, reach] = signed([how.size[i], step, how.padding[i], reach])?;
            let window = self.device.arange(0, windows, 1, DType::I32)?;
            let begin = ((window * step)? - pad)?;
            let begin = (i + 1..D).try_fold(begin, |begin, _| begin.unsqueeze(-1))?;
            let mut own = rest.rem_floor(size)?;
            if let Some(least) = &least {
                let first = (((-&begin)?.maximum(0)? + (reach - 1))? / reach)?;
                own = least.choose(&first, &own)?;
            }
            let lies = ((own * reach)? + &begin)?;
            // Only steps that are longer than the axis leave all of it out.
            if is_beyond {
                let here = lies.ge(dims[i])?;
                beside = Some(match beside {
                    Some(beside) => here.or(&beside)?,
                    None => here,
                });
            }
            let here = (lies * inner)?;
            place = Some(match place {
                Some(place) => (here + &place)?,
                None => here,
            });
            (rest, inner) = ((rest / size)?, inner * dims[i] as i32);
        }
        let place = place.unwrap_or(rest).cast(DType::U32)?;
        match beside {
            Some(beside) => beside.choose(u32::MAX, &place),
            None => Ok(place),
        }
    }

    /// The least number of its dtype.
    fn least(&self) -> Scalar {
        match self.dtype().class() {
            Class::Float => Scalar::from(f64::NEG_INFINITY),
            Class::Signed => Scalar::from(i64::MIN >> (64 - 8 * self.dtype().width())),
            Class::Unsigned | Class::Bool => Scalar::zero(self.dtype()),
        }
    }

    /// The mean of each window over the last axes, of floats, by the contract of a
    /// [mean](crate::op). The padding counts as zeros, or does not count:
    /// [`Pooling::padding_uncounted`]. As many windows as [`Tensor::max_pool`] has, one axis after
    /// the other only where they have up to 127 elements along all axes together. Deferred.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// use wharf::tensor::Pooling;
    ///
    /// let (x, _) = device.upload(&[2.0f32, 4.0, 6.0], [1, 3])?;
    /// let how = Pooling::new([3]).stride([1]).padding([1]);
    /// assert_eq!(x.avg_pool(&how)?.read_now::<f32>()?, [2.0, 4.0, 10.0 / 3.0]);
    /// assert_eq!(x.avg_pool(&how.padding_uncounted())?.read_now::<f32>()?, [3.0, 4.0, 5.0]);
    /// # Ok(()) });
    /// ```
    #[track_caller]
    pub fn avg_pool<const D: usize>(&self, how: &Pooling<D>) -> Result<Self> {
        let pooled = || {
            computed_with("input", self.dtype())?;
            if !self.dtype.is_float() {
                // Which is refused as a mean is.
                return self.windows_over(how, Scalar::zero(self.dtype()))?.mean(last::<D>());
            }
            let all = self.sums_over(how)?;
            let dims = self.shape().dims();
            let means = match how.counts(&self.device, &dims[dims.len() - D..], all.dtype())? {
                Some(counts) => all / &counts,
                None => all / how.size.iter().product::<usize>() as f64,
            };
            means?.cast(self.dtype())
        };
        asked(pooled).map_err(|error| error.during("avg_pool"))
    }

    /// The largest of each window over the last axes.
    fn most_over<const D: usize>(&self, how: &Pooling<D>) -> Result<Self> {
        if let Some(most) = self.folded(how, "max_pool", Gather::Highest)? {
            return most.cast(self.dtype());
        }
        if let Some(mut parts) = how.by_axes(self.shape()) {
            return parts.try_fold(self.clone(), |x, how| x.most_over(&how));
        }
        self.windows_over(how, self.least())?.amax(last::<D>())?.led_as::<D>(self)
    }

    /// The sum of each window over the last axes, as it is computed in.
    fn sums_over<const D: usize>(&self, how: &Pooling<D>) -> Result<Self> {
        if let Some(sums) = self.folded(how, "avg_pool", Gather::Sum)? {
            return Ok(sums);
        }
        let by_axes = how.by_axes(self.shape());
        if let Some(mut parts) = by_axes.filter(|_| how.along_all() <= ADDED_MAX) {
            return parts.try_fold(self.clone(), |x, how| x.sums_over(&how));
        }
        let windows = self.windows_over(how, Scalar::zero(self.dtype()))?;
        windows.cast(computed(self.dtype()))?.sum(last::<D>())?.led_as::<D>(self)
    }

    /// The first of the axes that the windows go over.
    fn pooled_from<const D: usize>(&self) -> Result<usize> {
        let shape = *self.shape();
        let first = shape.rank().checked_sub(D);
        first.ok_or_else(|| PoolCause::Axes { shape, axes: D }.into())
    }

    /// The windows over the last axes, as the last axes of a view. Where that would have too many
    /// axes, those before are one: [`Tensor::led_as`] parts them.
    fn windows_over<const D: usize>(&self, how: &Pooling<D>, beside: Scalar) -> Result<Self> {
        let first = self.pooled_from::<D>()?;
        for (i, (size, pad)) in how.size.into_iter().zip(how.padding).enumerate() {
            if pad > size / 2 {
                return Err(PoolCause::Padding { pad, size, axis: first + i }.into());
            }
        }
        let (x, first) = match first + 2 * D > RANK_MAX && first > 1 {
            true => (self.flatten(..first)?, 1),
            false => (self.clone(), first),
        };
        let rank = first + 2 * D;
        if rank > RANK_MAX {
            return Err(PoolCause::View { shape: *self.shape(), axes: D, rank }.into());
        }
        if how.padding == [0; D] {
            return x.windows_from(first, how);
        }
        let mut pads = vec![(0, 0); first];
        pads.extend(how.padding.map(|pad| (pad, pad)));
        x.pad(&pads, Pad::Constant(beside))?.windows_from(first, how)
    }

    /// With those axes before the last `D` that another has.
    fn led_as<const D: usize>(&self, other: &Self) -> Result<Self> {
        let [own, others] = [self, other].map(|x| x.shape().dims());
        let (lead, last) = (&others[..others.len() - D], &own[own.len() - D..]);
        self.reshape_copied([lead, last].concat())
    }

    /// The windows over `D` axes from this one on, without padding, as the last axes of a view.
    pub(super) fn windows_from<const D: usize>(
        &self,
        first: usize,
        how: &Pooling<D>,
    ) -> Result<Self> {
        (0..D).try_fold(self.clone(), |x, i| {
            let (size, step, dilation) = (how.size[i], how.stride[i], how.dilation[i]);
            paced((first + i).into(), [size, step, dilation])?;
            let windows = x.windows(first + i, taps::covers(size, dilation), step)?;
            if dilation == 1 { Ok(windows) } else { windows.every(-1, dilation) }
        })
    }
}

impl<const D: usize> Pooling<D> {
    /// It along one axis after the other, where large windows overlap along several: at once each
    /// element would be read as often as windows have it.
    fn by_axes(self, shape: &Shape) -> Option<impl Iterator<Item = Self>> {
        let dims = shape.dims().get(shape.rank().saturating_sub(D)..).unwrap_or_default();
        let overlaps = |(i, dim): (usize, &usize)| {
            let covers = taps::covers(self.size[i], self.dilation[i]);
            let padded = taps::padded(*dim, self.padding[i]);
            let several = padded >= covers.saturating_add(self.stride[i]);
            several && self.stride[i] < self.size[i]
        };
        let overlap = dims.iter().enumerate().filter(|&axis| overlaps(axis)).count();
        // What is kept in between has to pay.
        let fewer = product(self.size) > self.along_all().saturating_mul(4);
        let only = |axis, of: [usize; D], other| from_fn(|i| if i == axis { of[i] } else { other });
        let along = move |axis| Self {
            size: only(axis, self.size, 1),
            stride: only(axis, self.stride, 1),
            padding: only(axis, self.padding, 0),
            dilation: only(axis, self.dilation, 1),
            ..self
        };
        let nothing = Self { counts_padding: self.counts_padding, ..Self::new([1; D]) };
        let parts = (0..D).map(along).filter(move |part| *part != nothing);
        (overlap > 1 && fewer).then_some(parts)
    }

    /// The elements of a window along each axis, together.
    fn along_all(&self) -> u64 {
        self.size.iter().fold(0, |all: u64, &n| all.saturating_add(n as u64))
    }

    /// How many elements of each window are there, if windows have different numbers of them.
    fn counts(&self, device: &Device, dims: &[usize], dtype: DType) -> Result<Option<Tensor>> {
        if self.counts_padding || self.padding == [0; D] {
            return Ok(None);
        }
        device.constant(Shape::new(dims)?, Stored::F32, 1u8)?.sums_over(self)?.cast(dtype).map(Some)
    }
}

/// The last axes, counted from the end.
fn last<const D: usize>() -> [i32; D] {
    from_fn(|i| i as i32 - D as i32)
}

causes! {
    /// What can be wrong with a pool.
    enum PoolCause;

    Axes { shape: Shape, axes: usize }, Shape:
        ("windows over the last {axes} axes of {shape}, which has {}", shape.rank())
        help ("`unsqueeze` adds an axis of length 1");
    View { shape: Shape, axes: usize, rank: usize }, Shape:
        ("a view of the windows over the last {axes} axes of {shape} has {rank} axes, above \
          {RANK_MAX}")
        help ("windows over four axes are those of a tensor without others: otherwise pool one \
               axis after the other, which `move_axis` brings to the end");
    Elements { shape: Shape, axes: usize, elements: usize, instead: &'static str }, Limit:
        ("the last {axes} axes of {shape} have {elements} elements, above {} whose places are \
          counted", i32::MAX / 2)
        help ("{instead}");
    Arrived { shape: Shape, size: Vec<usize>, windows: Vec<usize> }, Shape:
        ("{shape} arrives at windows over {size:?}, of which there are {windows:?}")
        help ("the windows and sizes are those of the pool whose gradient it is");
    Places { places: Shape, shape: Shape }, Shape:
        ("places of {places} for {shape} that arrives")
        help ("each window has one place: those of `max_pool_with_indices`");
    Padding { pad: usize, size: usize, axis: usize }, Argument:
        ("padding of {pad} beside windows of {size} on axis {axis}: more than half of one")
        help ("a window of nothing but padding has no value; `pad` adds elements that have one");
}
