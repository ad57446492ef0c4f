//! Convolutions of random graphs, by parts of another tensor, and what they come to on lists.

use core::array::from_fn;

use wharf::op::Reduction;
use wharf::reference::{Number, places};
use wharf::tensor::Conv;
use wharf::{DType, Result, Tensor};

use super::kinds::{Call, Kind};
use super::lists::{MOST_TERMS, Seen, flat, with};
use super::numbers::{dotted, plus};

pub(super) const CONVOLVED: &[Kind] = &[
    Kind::of("conv1d", |c, t| there(c, t, Tensor::conv1d), summed::<1>).beside(fits::<1, false>),
    Kind::of("conv2d", |c, t| there(c, t, Tensor::conv2d), summed::<2>).beside(fits::<2, false>),
    Kind::of("conv2d", |c, t| there(c, t, Tensor::conv2d), summed::<2>).beside(fits::<2, false>),
    Kind::of("conv3d", |c, t| there(c, t, Tensor::conv3d), summed::<3>).beside(fits::<3, false>),
    Kind::of("conv_transpose1d", |c, t| back(c, t, Tensor::conv_transpose1d), spread_out::<1>)
        .beside(fits::<1, true>),
    Kind::of("conv_transpose2d", |c, t| back(c, t, Tensor::conv_transpose2d), spread_out::<2>)
        .beside(fits::<2, true>),
    Kind::of("conv_input_grad 1", returned::<1>, brought_back::<1>).beside(fits::<1, true>),
    Kind::of("conv_input_grad 2", returned::<2>, brought_back::<2>).beside(fits::<2, true>),
    Kind::of("conv_weight_grad 1", gathered::<1, false>, met::<1>).beside(arrives::<1>),
    Kind::of("conv_weight_grad 2", gathered::<2, false>, met::<2>).beside(arrives::<2>),
    Kind::of("conv_transpose_input_grad", |c, t| there(c, t, returned_to::<2>), summed::<2>)
        .beside(fits::<2, false>),
    Kind::of("conv_transpose_weight_grad", gathered::<2, true>, met::<2>).beside(arrives::<2>),
];

/// A convolution that was drawn, or a transposed one: both sides are the first elements of tensors
/// that got as many axes as it takes.
struct Drawn<const D: usize> {
    input: Vec<usize>,
    weight: Vec<usize>,
    stride: [usize; D],
    padding: [usize; D],
    dilation: [usize; D],
    groups: usize,
    output_padding: [usize; D],
    result: Vec<usize>,
    /// The first elements of the weight which are the bias too.
    bias: Option<Vec<usize>>,
}

impl<const D: usize> Drawn<D> {
    fn of(call: &Call, a: &[usize], b: &[usize], is_back: bool) -> Option<Self> {
        let mut input = raised(a, D + 2, call.nth(0, 2))?;
        let mut weight = raised(b, D + 2, call.nth(1, 2))?;
        input[0] = input[0].min(1 + call.nth(2, 3));
        let channels = input[1];
        let groups = groups(channels, call.nth(3, 3));
        let few = 1 + call.nth(4, 3);
        let [first, second] =
            if is_back { [channels, few] } else { [groups * few, channels / groups] };
        let is_empty = input.contains(&0) || weight.contains(&0);
        if is_empty || weight[0] < first || weight[1] < second {
            return None;
        }
        (weight[0], weight[1]) = (first, second);
        for (i, taps) in weight[2..].iter_mut().enumerate() {
            *taps = 1 + call.nth(5 + i, 3).min(*taps - 1);
        }
        let rows = if is_back { groups * few } else { first };
        let bias = [&if is_back { [groups, few] } else { [rows, 1] }, &[1; D][..]].concat();
        let stride = from_fn(|i| 1 + call.nth(8 + i, 3));
        let mut drawn = Self {
            result: vec![input[0], rows],
            input,
            weight,
            stride,
            padding: from_fn(|i| call.nth(11 + i, 3)),
            dilation: from_fn(|i| 1 + call.nth(14 + i, 2)),
            groups,
            output_padding: from_fn(|i| if is_back { call.nth(17 + i, stride[i]) } else { 0 }),
            bias: (call.nth(20, 2) == 0).then_some(bias),
        };
        for i in 0..D {
            let size = if is_back { drawn.spread(i) } else { drawn.covered(i) };
            drawn.result.push(size.filter(|&size| size > 0)?);
        }
        let terms = drawn.result.iter().chain(&drawn.weight[1..]).product::<usize>();
        (terms <= MOST_TERMS).then_some(drawn)
    }

    /// How many places the kernel has along an axis.
    fn covered(&self, i: usize) -> Option<usize> {
        let covers = self.dilation[i] * (self.weight[2 + i] - 1);
        let last = (self.input[2 + i] + 2 * self.padding[i]).checked_sub(covers + 1)?;
        Some(last / self.stride[i] + 1)
    }

    /// How far a transposed one goes along an axis.
    fn spread(&self, i: usize) -> Option<usize> {
        let begins = (self.input[2 + i] - 1) * self.stride[i];
        let covers = self.dilation[i] * (self.weight[2 + i] - 1);
        (begins + covers + 1 + self.output_padding[i]).checked_sub(2 * self.padding[i])
    }

    fn how(&self) -> Conv<D> {
        Conv::new()
            .stride(self.stride)
            .padding(self.padding)
            .dilation(self.dilation)
            .groups(self.groups)
            .output_padding(self.output_padding)
    }

    /// Where a tap of a place lies along each axis, counted from the first element, if there.
    fn beneath(&self, place: &[usize], tap: &[usize], size: &[usize]) -> Option<Vec<usize>> {
        let along = |i: usize| {
            let from = place[i] * self.stride[i] + tap[i] * self.dilation[i];
            from.checked_sub(self.padding[i]).filter(|&at| at < size[i])
        };
        (0..D).map(along).collect()
    }

    /// Both sides as they are seen, and what is added to each row.
    fn sides(&self, call: &Call, of: &[Seen]) -> Option<([Seen; 2], Option<Seen>)> {
        let (input, weight) = (seen(call, of, 0, &self.input)?, seen(call, of, 1, &self.weight)?);
        let bias = self.bias.as_ref().map(|dims| weight.first(dims));
        Some(([input, weight], if let Some(bias) = bias { Some(bias?) } else { None }))
    }
}

/// Dimensions with axes of length 1, put in at a place until there are so many.
fn raised(dims: &[usize], rank: usize, at: usize) -> Option<Vec<usize>> {
    let mut dims = dims.to_vec();
    let at = at.min(dims.len());
    while dims.len() < rank {
        dims.insert(at, 1);
    }
    (dims.len() == rank).then_some(dims)
}

/// The first elements of one of the tensors, which gets as many axes as it takes.
fn seen(call: &Call, of: &[Seen], n: usize, dims: &[usize]) -> Option<Seen> {
    let more = raised(&of[n].dims, dims.len(), call.nth(n, 2))?;
    Seen { dims: more, ..of[n].clone() }.first(dims)
}

fn side(call: &Call, of: &[Tensor], n: usize, dims: &[usize]) -> Result<Tensor> {
    let at = call.nth(n, 2).min(of[n].shape().rank());
    let mut missing = of[n].shape().rank()..dims.len();
    first(missing.try_fold(of[n].clone(), |x, _| x.unsqueeze(at))?, dims)
}

/// One group, one for each channel, or as few as there can be.
fn groups(channels: usize, way: usize) -> usize {
    let few = (2..=channels).find(|n| channels.is_multiple_of(*n));
    [1, channels.max(1), few.unwrap_or(1)][way]
}

fn fits<const D: usize, const BACK: bool>(call: &Call, a: &[usize], b: &[usize]) -> bool {
    Drawn::<D>::of(call, a, b, BACK).is_some()
}

/// The first elements along all axes.
fn first(x: Tensor, dims: &[usize]) -> Result<Tensor> {
    dims.iter().enumerate().try_fold(x, |x, (axis, &dim)| x.slice(axis, ..dim))
}

type By<const D: usize> = fn(&Tensor, &Tensor, Option<&Tensor>, &Conv<D>) -> Result<Tensor>;

fn there<const D: usize>(call: &Call, of: &[Tensor], by: By<D>) -> Result<Tensor> {
    run(call, of, by, false)
}

fn back<const D: usize>(call: &Call, of: &[Tensor], by: By<D>) -> Result<Tensor> {
    run(call, of, by, true)
}

fn run<const D: usize>(call: &Call, of: &[Tensor], by: By<D>, is_back: bool) -> Result<Tensor> {
    let [a, b] = [&of[0], &of[1]].map(Tensor::shape);
    let Some(drawn) = Drawn::of(call, a.dims(), b.dims(), is_back) else {
        return Ok(of[0].clone());
    };
    let (input, weight) = (side(call, of, 0, &drawn.input)?, side(call, of, 1, &drawn.weight)?);
    let bias = drawn.bias.as_ref().map(|dims| {
        let bias = first(weight.clone(), dims)?.reshape_copied([drawn.result[1]])?;
        bias.cast(Reduction::Sum.yields(weight.dtype()))
    });
    by(&input, &weight, bias.transpose()?.as_ref(), &drawn.how())
}

/// Each result the sum of what lies beneath the kernel.
fn summed<const D: usize>(call: &Call, of: &[Seen]) -> Option<Seen> {
    let drawn = Drawn::<D>::of(call, &of[0].dims, &of[1].dims, false)?;
    let ([input, weight], bias) = drawn.sides(call, of)?;
    let (each, size) = (drawn.weight[1], &drawn.input[2..]);
    added_up(drawn.result.clone(), input.dtype, bias, |place| {
        let (image, row) = (place[0], place[1]);
        let group = row / (drawn.result[1] / drawn.groups);
        let mut terms = Vec::new();
        for tap in places(&drawn.weight[1..]) {
            if let Some(at) = drawn.beneath(&place[2..], &tap[1..], size) {
                let channel = group * each + tap[0];
                let x = input.at(&[&[image, channel], &at[..]].concat());
                terms.push((x, weight.at(&[&[row], &tap[..]].concat())));
            }
        }
        terms
    })
}

fn spread_out<const D: usize>(call: &Call, of: &[Seen]) -> Option<Seen> {
    by_elements(call, of, &Drawn::<D>::of(call, &of[0].dims, &of[1].dims, true)?)
}

/// Each element goes to all results that the kernel has above it.
fn by_elements<const D: usize>(call: &Call, of: &[Seen], drawn: &Drawn<D>) -> Option<Seen> {
    let ([input, weight], bias) = drawn.sides(call, of)?;
    let (each, size) = (drawn.weight[1], &drawn.result[2..]);
    let mut terms = vec![Vec::new(); drawn.result.iter().product()];
    for (place, &x) in places(&drawn.input).zip(&input.values) {
        let group = place[1] / (drawn.input[1] / drawn.groups);
        for tap in places(&drawn.weight[1..]) {
            if let Some(at) = drawn.beneath(&place[2..], &tap[1..], size) {
                let row = group * each + tap[0];
                let to = [&[place[0], row], &at[..]].concat();
                let weight = weight.at(&[&[place[1]], &tap[..]].concat());
                terms[flat(&drawn.result, &to)].push((x, weight));
            }
        }
    }
    added_up(drawn.result.clone(), input.dtype, bias, |place| {
        terms[flat(&drawn.result, place)].clone()
    })
}

/// What arrives at a transposed convolution goes back to its input; a bias is added here.
fn returned_to<const D: usize>(
    arrives: &Tensor,
    weight: &Tensor,
    bias: Option<&Tensor>,
    how: &Conv<D>,
) -> Result<Tensor> {
    let y = arrives.conv_transpose_input_grad(weight, how)?;
    let Some(bias) = bias else { return Ok(y) };
    y + bias.reshape([bias.shape().dims(), &[1; D]].concat())?
}

/// What arrives at a convolution goes back to its input, whatever that had beyond the last window.
fn returned<const D: usize>(call: &Call, of: &[Tensor]) -> Result<Tensor> {
    let [a, b] = [&of[0], &of[1]].map(Tensor::shape);
    let Some(drawn) = Drawn::<D>::of(call, a.dims(), b.dims(), true) else {
        return Ok(of[0].clone());
    };
    let (arrives, weight) = (side(call, of, 0, &drawn.input)?, side(call, of, 1, &drawn.weight)?);
    let size = from_fn(|i| drawn.result[2 + i]);
    arrives.conv_input_grad(&weight, size, &drawn.how().output_padding([0; D]))
}

fn brought_back<const D: usize>(call: &Call, of: &[Seen]) -> Option<Seen> {
    let drawn = Drawn::<D>::of(call, &of[0].dims, &of[1].dims, true)?;
    by_elements(call, of, &Drawn { bias: None, ..drawn })
}

/// A convolution by a weight that is not there, but for its shape: as large as was drawn.
fn weightless<const D: usize>(call: &Call, a: &[usize]) -> Option<Drawn<D>> {
    Drawn::of(call, a, &vec![usize::MAX; D + 2], false)
}

/// Whether enough arrives at its results.
fn arrives<const D: usize>(call: &Call, a: &[usize], b: &[usize]) -> bool {
    let both = weightless::<D>(call, a).zip(raised(b, D + 2, call.nth(1, 2)));
    both.is_some_and(|(drawn, b)| drawn.result.iter().zip(&b).all(|(n, dim)| n <= dim))
}

/// The weight's gradient; a transposed convolution has both sides exchanged.
fn gathered<const D: usize, const BACK: bool>(call: &Call, of: &[Tensor]) -> Result<Tensor> {
    let Some(drawn) = weightless::<D>(call, of[0].shape().dims()) else {
        return Ok(of[0].clone());
    };
    let (input, arrives) = (side(call, of, 0, &drawn.input)?, side(call, of, 1, &drawn.result)?);
    let size = from_fn(|i| drawn.weight[2 + i]);
    if BACK {
        input.conv_transpose_weight_grad(&arrives, size, &drawn.how())
    } else {
        arrives.conv_weight_grad(&input, size, &drawn.how())
    }
}

/// Each tap meets an element for every result: what it was, times what arrives there.
fn met<const D: usize>(call: &Call, of: &[Seen]) -> Option<Seen> {
    let drawn = weightless::<D>(call, &of[0].dims)?;
    let (input, arrives) = (seen(call, of, 0, &drawn.input)?, seen(call, of, 1, &drawn.result)?);
    added_up(drawn.weight.clone(), input.dtype, None, |place| {
        let (row, tap) = (place[0], &place[2..]);
        let group = row / (drawn.result[1] / drawn.groups);
        let channel = group * drawn.weight[1] + place[1];
        let mut terms = Vec::new();
        for result in places(&with(&drawn.result, 1, 1)) {
            if let Some(at) = drawn.beneath(&result[2..], tap, &drawn.input[2..]) {
                let x = input.at(&[&[result[0], channel], &at[..]].concat());
                terms.push((x, arrives.at(&with(&result, 1, row))));
            }
        }
        terms
    })
}

/// Sums of products, and what is added to each row of them.
fn added_up(
    dims: Vec<usize>,
    dtype: DType,
    bias: Option<Seen>,
    terms: impl Fn(&[usize]) -> Vec<(Number, Number)>,
) -> Option<Seen> {
    let wide = Reduction::Sum.yields(dtype);
    if dtype == DType::Bool {
        return None;
    }
    Seen::each(wide, dims, |place| {
        let sum = dotted(wide, terms(place))?;
        Some(bias.as_ref().map_or(sum, |bias| plus(wide, sum, bias.values[place[1]])))
    })
}
