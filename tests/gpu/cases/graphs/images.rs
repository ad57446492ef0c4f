//! Pools of random graphs, and images of another size.

use core::array::from_fn;

use wharf::op::Reduction;
use wharf::reference::{Number, places};
use wharf::tensor::{Interpolation, Pooling};
use wharf::{DType, Result, Tensor};

use super::kinds::{Call, Kind};
use super::lists::{Seen, flat};
use super::numbers::{beats, is_exact, plus, zero};

pub(super) const IMAGES: &[Kind] = &[
    Kind::of(
        "max_pool of images",
        |c, t| most::<2>(c, &t[0]),
        |c, s| highest::<2>(c, &s[0], false),
    ),
    Kind::of("max_pool places", |c, t| found::<1>(c, &t[0]), |c, s| highest::<1>(c, &s[0], true)),
    Kind::of(
        "max_pool places of images",
        |c, t| found::<2>(c, &t[0]),
        |c, s| highest::<2>(c, &s[0], true),
    ),
    Kind::of("max_pool_grad", returned::<1>, handed_back::<1>).beside(arrives::<1>),
    Kind::of("max_pool_grad of images", returned::<2>, handed_back::<2>).beside(arrives::<2>),
    Kind::of("interpolate", |c, t| sized::<1>(c, &t[0]), resized::<1>),
    Kind::of("interpolate images", |c, t| sized::<2>(c, &t[0]), resized::<2>),
];

/// Windows that were drawn for the last axes.
struct Framed<const D: usize> {
    size: [usize; D],
    stride: [usize; D],
    padding: [usize; D],
    dilation: [usize; D],
    /// How many there are, and the axes before.
    windows: Vec<usize>,
}

impl<const D: usize> Framed<D> {
    fn of(call: &Call, dims: &[usize]) -> Option<Self> {
        let lead = dims.len().checked_sub(D)?;
        let size = from_fn(|i| 1 + call.nth(i, 3));
        let mut framed = Self {
            size,
            stride: from_fn(|i| 1 + call.nth(3 + i, 3)),
            padding: from_fn(|i| call.nth(6 + i, 1 + size[i] / 2)),
            dilation: from_fn(|i| 1 + call.nth(9 + i, 2)),
            windows: dims[..lead].to_vec(),
        };
        for i in 0..D {
            let covers = framed.dilation[i] * (size[i] - 1) + 1;
            let last = (dims[lead + i] + 2 * framed.padding[i]).checked_sub(covers)?;
            framed.windows.push(last / framed.stride[i] + 1);
        }
        Some(framed)
    }

    fn how(&self) -> Pooling<D> {
        let windows = Pooling::new(self.size).stride(self.stride);
        windows.padding(self.padding).dilation(self.dilation)
    }

    /// What a window has of an image, row-major.
    fn within(&self, place: &[usize], size: &[usize]) -> Vec<Vec<usize>> {
        let at = |tap: Vec<usize>| {
            let along = |i: usize| {
                let from = place[i] * self.stride[i] + tap[i] * self.dilation[i];
                from.checked_sub(self.padding[i]).filter(|&at| at < size[i])
            };
            (0..D).map(along).collect::<Option<Vec<_>>>()
        };
        places(&self.size).filter_map(at).collect()
    }

    /// The first of the largest elements of every window; `None` where a window has none.
    fn peaks(&self, x: &Seen) -> Option<Vec<Vec<usize>>> {
        let lead = x.dims.len() - D;
        let peak = |place: Vec<usize>| {
            let all = self.within(&place[lead..], &x.dims[lead..]);
            let all = all.into_iter().map(|at| [&place[..lead], &at[..]].concat());
            all.reduce(|best, at| if beats(x.at(&at), x.at(&best)) { at } else { best })
        };
        places(&self.windows).map(peak).collect()
    }
}

/// The windows of a tensor, or one window of everything where there are none.
fn how<const D: usize>(call: &Call, x: &Tensor) -> Pooling<D> {
    Framed::of(call, x.shape().dims()).map_or(Pooling::new([1; D]), |framed| framed.how())
}

fn most<const D: usize>(call: &Call, x: &Tensor) -> Result<Tensor> {
    x.max_pool(&how::<D>(call, x))
}

fn found<const D: usize>(call: &Call, x: &Tensor) -> Result<Tensor> {
    Ok(x.max_pool_with_indices(&how::<D>(call, x))?.1)
}

/// The largest of each window, or where it is in its image.
fn highest<const D: usize>(call: &Call, x: &Seen, asks: bool) -> Option<Seen> {
    let framed = Framed::<D>::of(call, &x.dims)?;
    if x.dtype == DType::Bool {
        return None;
    }
    let lead = x.dims.len() - D;
    let value = |at: Vec<usize>| match asks {
        true => Number::Int(flat(&x.dims[lead..], &at[lead..]) as i128),
        false => x.at(&at),
    };
    let values = framed.peaks(x)?.into_iter().map(value).collect();
    let dtype = if asks { DType::U32 } else { x.dtype };
    Some(Seen { dtype, dims: framed.windows, values })
}

/// Whether enough arrives at the windows.
fn arrives<const D: usize>(call: &Call, a: &[usize], b: &[usize]) -> bool {
    let framed = Framed::<D>::of(call, a).filter(|_| a.len() == b.len());
    framed.is_some_and(|framed| framed.windows.iter().zip(b).all(|(n, dim)| n <= dim))
}

fn returned<const D: usize>(call: &Call, of: &[Tensor]) -> Result<Tensor> {
    let how = how::<D>(call, &of[0]);
    let places = of[0].max_pool_with_indices(&how)?.1;
    let windows = places.shape().dims().iter().enumerate();
    let arrives =
        windows.into_iter().try_fold(of[1].clone(), |y, (axis, &n)| y.slice(axis, ..n))?;
    let dims = of[0].shape().dims();
    arrives.max_pool_grad(&places, from_fn(|i| dims[dims.len() - D + i]), &how)
}

/// What arrives at each window goes to its largest element.
fn handed_back<const D: usize>(call: &Call, of: &[Seen]) -> Option<Seen> {
    let (x, y) = (&of[0], &of[1]);
    let framed = Framed::<D>::of(call, &x.dims)?;
    if x.dtype == DType::Bool {
        return None;
    }
    let mut all = vec![vec![]; x.values.len()];
    for (peak, window) in framed.peaks(x)?.iter().zip(places(&framed.windows)) {
        all[flat(&x.dims, peak)].push(y.at(&window));
    }
    let sum = |all: &Vec<Number>| {
        let sum = all.iter().fold(zero(x.dtype), |sum, &y| plus(x.dtype, sum, y));
        is_exact(Reduction::Sum, all).then_some(sum)
    };
    let values = all.iter().map(sum).collect::<Option<_>>()?;
    Some(Seen { dtype: x.dtype, dims: x.dims.clone(), values })
}

/// At most twice as long as it was.
fn size<const D: usize>(call: &Call, dims: &[usize]) -> Option<[usize; D]> {
    let lead = dims.len().checked_sub(D)?;
    let is_there = !dims[lead..].contains(&0);
    is_there.then(|| from_fn(|i| 1 + call.nth(i, 2 * dims[lead + i])))
}

fn sized<const D: usize>(call: &Call, x: &Tensor) -> Result<Tensor> {
    let size = size::<D>(call, x.shape().dims()).unwrap_or([1; D]);
    x.interpolate(size, Interpolation::Nearest)
}

fn resized<const D: usize>(call: &Call, of: &[Seen]) -> Option<Seen> {
    let x = &of[0];
    let (size, lead) = (size::<D>(call, &x.dims)?, x.dims.len() - D);
    x.moved([&x.dims[..lead], &size].concat(), |place| {
        let mut from = place.to_vec();
        for (i, at) in from[lead..].iter_mut().enumerate() {
            *at = *at * x.dims[lead + i] / size[i];
        }
        from
    })
}
