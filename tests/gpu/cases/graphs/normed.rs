//! Norms and gates of random graphs. What they take is made so that their results are whole numbers
//! but for some ulp, and these are rounded away.

use wharf::reference::Number;
use wharf::{Axes, DType, Result, Tensor};

use super::kinds::{Call, Kind};
use super::lists::{Seen, with};
use super::numbers::most_exact;

/// Norms stand twice, because few of what is drawn are floats of as many axes.
pub(super) const NORMED: &[Kind] = &[
    Kind::of("batch_norm", batch_norm, left_alone).beside(by_channel),
    Kind::of("instance_norm", instance_norm, on_both_sides)
        .beside(|c, a, b| a.len() > 2 && by_channel(c, a, b)),
    Kind::of("rms_norm", rms_norm, by_seven),
    Kind::of("layer_norm", layer_norm, on_sides_of_rows),
    Kind::of("batch_norm", batch_norm, left_alone).beside(by_channel),
    Kind::of("instance_norm", instance_norm, on_both_sides)
        .beside(|c, a, b| a.len() > 2 && by_channel(c, a, b)),
    Kind::of("rms_norm", rms_norm, by_seven),
    Kind::of("glu", glu, gated),
    Kind::of("hard_sigmoid", |_, t| (t[0].hard_sigmoid()? * 6)?.round(), cut_off),
];

/// Up to here no error of a norm, of its weight and of its bias comes near to a half.
const LIMIT: f64 = 65_536.0;

/// Whether the first row of the second has a number for each channel of the first.
fn by_channel(_: &Call, a: &[usize], b: &[usize]) -> bool {
    a.len() > 1 && !b.contains(&0) && b.last() >= a.get(1)
}

/// These numbers.
fn list(of: &[Tensor]) -> Result<Tensor> {
    let channels = of[0].shape().dims()[1];
    let outer = 1..of[1].shape().rank();
    outer.into_iter().try_fold(of[1].clone(), |y, _| y.select(0, 0))?.slice(0, ..channels)
}

/// As a list, if there are and they are not too large.
fn listed(of: &[Seen]) -> Option<Vec<f64>> {
    let numbers = of[1].values.iter().take(of[0].dims[1]);
    numbers.map(|&x| float(of[1].dtype, x, 2.0)).collect()
}

/// The first of them, if it has floats.
fn floats(of: &[Seen]) -> Option<&Seen> {
    of.first().filter(|x| x.dtype.is_float())
}

/// A float, of which so many times are exact.
fn float(dtype: DType, x: Number, times: f64) -> Option<f64> {
    match x {
        Number::Float(x) if x.abs() * times <= most_exact(dtype).min(LIMIT) => Some(x),
        _ => None,
    }
}

/// Its size, but at least 1; or 1 everywhere.
fn scale(x: &Tensor, one: bool) -> Result<Tensor> {
    if one { x.ones_like() } else { x.abs()?.maximum(1) }
}

/// Something is added to a variance, or nothing is.
fn has_eps(call: &Call) -> bool {
    call.nth(0, 2) > 0
}

fn has_weight(call: &Call) -> bool {
    call.nth(1, 3) > 0
}

fn has_bias(call: &Call) -> bool {
    call.nth(2, 3) > 0
}

/// These numbers, or 1 for each, so many times larger; nothing where that is 1 everywhere.
fn weight(call: &Call, of: &Tensor, times: i32) -> Result<Option<Tensor>> {
    match (has_weight(call), times) {
        (false, 1) => Ok(None),
        (false, _) => of.full_like(times).map(Some),
        (true, _) => (of * times).map(Some),
    }
}

/// For each channel a weight, which is so many times larger, and a bias; or none.
fn ends(call: &Call, of: &Tensor, times: i32) -> Result<[Option<Tensor>; 2]> {
    let weight = weight(call, &of.flip(0)?, times)?;
    Ok([weight, if has_bias(call) { Some((-of)?) } else { None }])
}

/// What the ends make of a number of a channel.
fn ended(call: &Call, of: &[f64], x: f64, channel: usize) -> Option<Number> {
    let weight = if has_weight(call) { of[of.len() - 1 - channel] } else { 1.0 };
    let bias = if has_bias(call) { -of[channel] } else { 0.0 };
    let fits = (x * weight).abs() + bias.abs() <= LIMIT;
    fits.then_some(Number::Float(x * weight + bias))
}

/// A number for each channel, as it stands beside them.
fn beside(of: &Tensor, x: &Tensor) -> Result<Tensor> {
    let ones = vec![1; x.shape().rank() - 2];
    of.reshape([of.shape().dims(), &*ones].concat())
}

/// Scaled and moved first, by what the norm divides by and takes off.
fn batch_norm(call: &Call, of: &[Tensor]) -> Result<Tensor> {
    let (x, mean, eps) = (&of[0], list(of)?, if has_eps(call) { 1 } else { 0 });
    let scale = scale(&mean, false)?;
    let moved = ((x * beside(&scale, x)?)? + beside(&mean, x)?)?;
    let [weight, bias] = ends(call, &mean, 1)?;
    let var = (scale.square()? - eps)?;
    moved.batch_norm(&mean, &var, weight.as_ref(), bias.as_ref(), eps)?.round()
}

fn left_alone(call: &Call, of: &[Seen]) -> Option<Seen> {
    let (x, means) = (floats(of)?, listed(of)?);
    let scales: Vec<f64> = means.iter().map(|mean| mean.abs().max(1.0)).collect();
    let fits = scales.iter().all(|scale| scale * scale <= most_exact(x.dtype));
    Seen::each(x.dtype, x.dims.clone(), |place| {
        let own = float(x.dtype, x.at(place), scales[place[1]] + 1.0).filter(|_| fits)?;
        ended(call, &means, own, place[1])
    })
}

/// Its elements as 1 and -1.
fn signs(x: &Tensor) -> Result<Tensor> {
    x.lt(0)?.choose_as(-1, 1, x.dtype())
}

fn sign(x: f64) -> f64 {
    if x < 0.0 { -1.0 } else { 1.0 }
}

/// Over some axes, of which one is twice as long, as much on one side of a mean as on the other.
fn both_sides(call: &Call, x: &Tensor, axes: &[usize], doubled: usize) -> Result<Tensor> {
    let mean = axes.iter().try_fold(x.clone(), |x, &axis| x.slice(axis, ..1))?;
    let off = (signs(x)? * scale(&mean, has_eps(call))?)?;
    Tensor::concat(&[(&mean - &off)?, (&mean + &off)?], doubled)
}

/// What a norm makes of an element there.
fn side(x: &Seen, place: &[usize], doubled: usize) -> Option<f64> {
    let length = x.dims[doubled];
    let own = float(x.dtype, x.at(&with(place, doubled, place[doubled] % length)), 2.0)?;
    Some(if place[doubled] < length { -sign(own) } else { sign(own) })
}

/// By this a weight makes up for what is added to the variance.
fn made_up(call: &Call) -> i32 {
    if has_eps(call) { 2 } else { 1 }
}

fn added(call: &Call) -> i32 {
    if has_eps(call) { 3 } else { 0 }
}

fn instance_norm(call: &Call, of: &[Tensor]) -> Result<Tensor> {
    let (x, rank) = (&of[0], of[0].shape().rank());
    let both = both_sides(call, x, &(2..rank).collect::<Vec<_>>(), rank - 1)?;
    let [weight, bias] = ends(call, &list(of)?, made_up(call))?;
    both.instance_norm(weight.as_ref(), bias.as_ref(), added(call))?.round()
}

fn on_both_sides(call: &Call, of: &[Seen]) -> Option<Seen> {
    let x = floats(of).filter(|x| !x.values.is_empty())?;
    let (last, numbers) = (x.dims.len() - 1, listed(of)?);
    Seen::each(x.dtype, with(&x.dims, last, 2 * x.dims[last]), |place| {
        ended(call, &numbers, side(x, place, last)?, place[1])
    })
}

/// 1, 2 and 3 in turn, for all places along the axes of a norm.
fn turns(x: &Tensor, axes: &[usize]) -> Result<Tensor> {
    let dims: Vec<_> = axes.iter().map(|&axis| x.shape().dims()[axis]).collect();
    let places = x.device().arange(0, dims.iter().product::<usize>(), 1, DType::I32)?;
    ((places % 3)? + 1)?.cast(x.dtype())?.reshape(dims)
}

fn turn(dims: &[usize], axes: &[usize], place: &[usize]) -> f64 {
    (axes.iter().fold(0, |at, &axis| at * dims[axis] + place[axis]) % 3 + 1) as f64
}

fn layer_norm(call: &Call, of: &[Tensor]) -> Result<Tensor> {
    let both = both_sides(call, &of[0], &call.axes, call.axis)?;
    let (turns, times) = (turns(&both, &call.axes)?, made_up(call));
    let weight = weight(call, &turns, times)?;
    let bias = if has_bias(call) { Some((-&turns)?) } else { None };
    let axes = Axes::from(&call.axes);
    both.layer_norm(axes, weight.as_ref(), bias.as_ref(), added(call))?.round()
}

fn on_sides_of_rows(call: &Call, of: &[Seen]) -> Option<Seen> {
    let x = floats(of).filter(|x| !x.values.is_empty())?;
    let dims = with(&x.dims, call.axis, 2 * x.dims[call.axis]);
    Seen::each(x.dtype, dims.clone(), |place| {
        let turn = turn(&dims, &call.axes, place);
        let weight = if has_weight(call) { turn } else { 1.0 };
        let bias = if has_bias(call) { -turn } else { 0.0 };
        Some(Number::Float(side(x, place, call.axis)? * weight + bias))
    })
}

/// Beside every element one of seven times its size: the mean of their squares is that of five.
fn rms_norm(call: &Call, of: &[Tensor]) -> Result<Tensor> {
    let (x, (eps, root)) = (&of[0], if has_eps(call) { (11, 6) } else { (0, 5) });
    let size = call.axes.iter().try_fold(x.clone(), |x, &axis| x.slice(axis, ..1))?;
    let one = (signs(x)? * scale(&size, has_eps(call))?)?;
    let both = Tensor::concat(&[&one, &(&one * 7)?], call.axis)?;
    let weight = if has_weight(call) { Some(turns(&both, &call.axes)?) } else { None };
    (both.rms_norm(Axes::from(&call.axes), weight.as_ref(), eps)? * root)?.round()
}

fn by_seven(call: &Call, of: &[Seen]) -> Option<Seen> {
    let x = floats(of).filter(|x| !x.values.is_empty())?;
    let (axis, length) = (call.axis, x.dims[call.axis]);
    let dims = with(&x.dims, axis, 2 * length);
    Seen::each(x.dtype, dims.clone(), |place| {
        let own = float(x.dtype, x.at(&with(place, axis, place[axis] % length)), 8.0)?;
        let times = if place[axis] < length { 1.0 } else { 7.0 };
        let weight = if has_weight(call) { turn(&dims, &call.axes, place) } else { 1.0 };
        Some(Number::Float(sign(own) * times * weight))
    })
}

/// A gate is shut, half open or open: by 200 its sigmoid is 0 or 1.
fn glu(call: &Call, of: &[Tensor]) -> Result<Tensor> {
    let (x, axis) = (&of[0], call.axis);
    Tensor::concat(&[(x * 2)?, (x.flip(axis)?.sign()? * 200)?], axis)?.glu(axis)?.round()
}

fn gated(call: &Call, of: &[Seen]) -> Option<Seen> {
    let (x, axis) = (floats(of)?, call.axis);
    Seen::each(x.dtype, x.dims.clone(), |place| {
        let across = x.dims[axis] - 1 - place[axis];
        let own = float(x.dtype, x.at(place), 2.0)?;
        let gate = float(x.dtype, x.at(&with(place, axis, across)), 1.0)?;
        let open = if gate == 0.0 { 1.0 } else { 1.0 + gate.signum() };
        Some(Number::Float(own * open))
    })
}

fn cut_off(_: &Call, of: &[Seen]) -> Option<Seen> {
    let x = floats(of)?;
    Seen::each(x.dtype, x.dims.clone(), |place| {
        let own = float(x.dtype, x.at(place), 2.0)?;
        Some(Number::Float((own + 3.0).clamp(0.0, 6.0)))
    })
}
