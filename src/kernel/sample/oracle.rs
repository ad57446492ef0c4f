//! A grid sample once more: an element at the place that a grid names, in f64. A kernel finds the
//! place in f32, so that it may be a little beside it: all that lies there is what it may come to.

use super::text::Around;
use crate::dtype::DType;
use crate::op::{Exact, Number, Tolerance};
use crate::proof::{Cell, Claim, Estimate, OwnOracle};

/// It is told four words: whether the nearest element is taken, the index in `Around::ALL`, whether
/// corners are aligned, and the bits of the f32 that lies around.
pub(crate) const GRID_SAMPLE: OwnOracle =
    OwnOracle { name: "grid_sample", fits, effort: |_| 64, element };

/// How far off a result may be, in ulps of the largest element that it is made of: products, their
/// weights and three sums are rounded.
const BOUND: Tolerance = Tolerance::ulp(8.0);

/// How far off a place may be, of its distance from the first edge and of the image.
const OFF: f64 = 1.0 / (1 << 22) as f64;

/// The longest axis whose elements f32 tells apart.
pub(crate) const LENGTH_MAX: usize = 1 << 22;

fn fits(claim: &Claim, told: &[u32]) -> bool {
    let [x, grid] = &*claim.heads else { return false };
    let (result, given) = (claim.tail.shape.dims(), claim.tail.expr.inputs[0]);
    let (&[n, c, h, w], &[grids, lines, columns, 2], &[nearest, around, corners, _]) =
        (x.shape.dims(), grid.shape.dims(), told)
    else {
        return false;
    };
    result == [n, c, lines, columns]
        && n == grids
        && [h, w].iter().all(|size| (1..=LENGTH_MAX).contains(size))
        && [x, grid].iter().all(|head| head.dtype.is_float() && head.dtype != DType::F64)
        && given == DType::F32
        && nearest < 2
        && corners < 2
        && (around as usize) < Around::ALL.len()
}

/// An axis of an image: its elements, and how far from its middle 1 lies.
struct Line {
    size: f64,
    reach: f64,
    around: Around,
}

impl Line {
    /// Where a kernel may find a place, and where two elements meet between those; before it is
    /// known what lies around.
    fn places(&self, g: f64) -> Vec<f64> {
        let at = g * self.reach + (self.size - 1.0) / 2.0;
        let off = OFF * ((g.abs() + 1.0) * self.reach + self.size);
        let mut all = vec![at - off, at, at + off];
        all.extend(Some(at.round()).filter(|meet| (meet - at).abs() < off));
        all
    }

    /// A place that may be beside the image.
    fn within(&self, at: f64) -> f64 {
        let last = self.size - 1.0;
        match self.around {
            Around::Number => at.clamp(-1.0, self.size),
            Around::Ends => at.clamp(0.0, last),
            Around::Mirrors if self.reach == 0.0 => 0.0,
            Around::Mirrors => {
                let first = last / 2.0 - self.reach;
                let rest = (at - first).rem_euclid(4.0 * self.reach);
                (rest.min(4.0 * self.reach - rest) + first).clamp(0.0, last)
            }
            Around::Copies => at.rem_euclid(self.size),
        }
    }

    /// The element of a number, if it is one.
    fn tap(&self, i: f64) -> Option<usize> {
        let i = if self.around == Around::Copies { i.rem_euclid(self.size) } else { i };
        let i = if self.around == Around::Number { i } else { i.clamp(0.0, self.size - 1.0) };
        (0.0..self.size).contains(&i).then_some(i as usize)
    }

    /// The elements that a place is made of, and their weights.
    fn taps(&self, at: f64, nearest: bool) -> Vec<(Option<usize>, f64)> {
        let at = self.within(at);
        if nearest {
            return vec![(self.tap(at.round_ties_even()), 1.0)];
        }
        let (whole, far) = (at.floor(), at - at.floor());
        let both = [(self.tap(whole), 1.0 - far), (self.tap(whole + 1.0), far)];
        both.into_iter().filter(|(_, weight)| *weight != 0.0).collect()
    }
}

fn element(cell: &Cell<'_>) -> Option<Estimate> {
    let Cell { claim, told, n, input } = *cell;
    let &[nearest, around, corners, number] = told else { return None };
    let (nearest, around) = (nearest == 1, *Around::ALL.get(around as usize)?);
    let (&[_, channels, h, w], &[_, lines, columns, _]) =
        (claim.heads[0].shape.dims(), claim.heads[1].shape.dims())
    else {
        return None;
    };
    let (image, pixel) = (n / (channels * lines * columns), n % (lines * columns));
    let known = |i: usize, n: usize| match input(i, n) {
        Estimate::Known(number) => Some(number.float()),
        _ => None,
    };
    let named = 2 * (image * lines * columns + pixel);
    let (x, y) = (known(1, named)?, known(1, named + 1)?);
    let is_lost = |g: f64| match around {
        Around::Number | Around::Ends => g.is_nan(),
        Around::Mirrors | Around::Copies => !g.is_finite(),
    };
    if is_lost(x) || is_lost(y) {
        return Some(Estimate::NAN);
    }
    let axis = |size: usize| Line {
        size: size as f64,
        reach: (size - corners as usize) as f64 / 2.0,
        around,
    };
    let (across, down) = (axis(w), axis(h));
    let first = n / (lines * columns) * h * w;
    let mut all = Vec::new();
    for at_y in down.places(y.clamp(-1e30, 1e30)) {
        for at_x in across.places(x.clamp(-1e30, 1e30)) {
            let (mut value, mut scale) = (0.0, 0.0_f64);
            for (line, weight) in down.taps(at_y, nearest) {
                for (column, other) in across.taps(at_x, nearest) {
                    let one = match line.zip(column) {
                        Some((line, column)) => known(0, first + line * w + column)?,
                        None => f32::from_bits(number).into(),
                    };
                    value += one * weight * other;
                    scale = scale.max(one.abs());
                }
            }
            all.push(Exact { value: Number::Float(value), scale });
        }
    }
    let values = || all.iter().map(|exact| exact.value.float());
    if nearest {
        let only = all[0].value;
        // Where it may be one or another, nothing is said.
        return values()
            .all(|x| x.to_bits() == only.float().to_bits())
            .then_some(Estimate::Known(only));
    }
    let (low, high) = values()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
    let scale = all.iter().map(|exact| exact.scale).fold(0.0, f64::max);
    let room = BOUND.room(DType::F32, high.abs().max(low.abs()), scale)?;
    values().all(|x| !x.is_nan()).then(|| Estimate::stretch(DType::F32, low, high, room))
}
