//! How an index space is cut, and how many elements an invocation takes at a time.

use core::iter;
use core::ops::Range;

use super::text::Pace;
use crate::dtype::DType;
use crate::shape::Shape;
use crate::wgsl::{Expr, Target, Term};

/// Elements of one index space: all of it within 32 bits, with room for the last quad.
pub(super) const SPACE_MAX: usize = 1 << 31;

/// Below so many elements, going by pairs of quads saves less than compiling it costs.
const PAIRS_MIN: usize = 1 << 16;

/// The most effort, in additions, of an expression that goes by pairs: loads and stores should be
/// most of the work, because the text is twice as long.
const PAIRS_EFFORT_MAX: u32 = 8;

/// Up to so many elements a lane for each of them runs as fast as a loop (measured from 4 to 1024:
/// a sum of two, a chain of sixty), and compiles in two thirds of the time.
const FEW_MAX: usize = 1 << 10;

/// From so many elements on, it is faster if a transposed operand is copied by tiles first than if
/// it is read element by element. An expression of a single operand is not affected. On an H100
/// 8192 x 8192 took 0.4 of the time; a kernel more costs what a smaller one saves.
pub(super) const fn tiles_min(target: Target) -> usize {
    match target {
        Target::Cpu | Target::Cpu64 | Target::CpuByLane => 1 << 16,
        Target::Gpu => 1 << 20,
    }
}

/// The paces beside [`Pace::Quads`] that the text of an expression is worth writing for.
#[must_use]
pub fn paces(expr: &Expr, dtypes: &[DType]) -> Vec<Pace> {
    let widths = || expr.outputs.iter().map(|&output| dtypes[usize::from(output)].width());
    let effort = |node: &Term| match node {
        Term::Apply(op, _) => op.effort(),
        Term::Call(formula, _) => formula.effort,
        _ => 0,
    };
    let effort = expr.nodes.iter().map(effort).sum::<u32>();
    // No two lanes may store to one word, and what the last eight store beyond the end has to be
    // padding.
    let few = widths().all(|width| width == 4);
    let narrow = !expr.inputs.is_empty() && widths().all(|width| width <= 4);
    let others = [(Pace::Few, few), (Pace::Pairs, narrow && effort <= PAIRS_EFFORT_MAX)];
    let others = others.iter().filter(|(_, goes)| *goes && expr.fault.is_none());
    others.map(|(pace, _)| *pace).collect()
}

/// The outermost axis, and its halves; `None` if the second does not begin at a whole quad.
pub(super) fn halves(shape: &Shape) -> Option<(usize, [Range<usize>; 2])> {
    let axis = shape.dims().iter().position(|&dim| dim > 1).unwrap_or(0);
    let dim = shape.dims()[axis];
    let middle = (dim / 2).next_multiple_of(4);
    let middle = if middle < dim { middle } else { dim / 2 };
    let begin = middle * (shape.elements() / dim);
    begin.is_multiple_of(4).then_some((axis, [0..middle, middle..dim]))
}

/// The longest ranges of so many elements that lie in one segment of each of these dense operands:
/// where it begins, and the elements of its segments.
pub(super) fn windows(
    elements: usize,
    operands: &[(usize, usize)],
) -> impl Iterator<Item = Range<usize>> {
    let window = move |at: usize| {
        let ends = operands
            .iter()
            .map(|(first, segment)| at.saturating_add(segment - (first + at) % segment));
        (at < elements).then(|| at..ends.fold(elements, usize::min))
    };
    iter::successors(window(0), move |last| window(last.end))
}

/// The pace of a window of so many elements: one of `paces`, or quads. It is `whole` if there is
/// no other, and `last` if only padding follows it.
pub(super) fn pace(elements: usize, whole: bool, last: bool, paces: &[Pace]) -> Pace {
    // The last pair may reach past the window: at the end of the result there is padding, elsewhere
    // the elements of the next window.
    let pairs = elements >= PAIRS_MIN && (last || matches!(elements % 8, 0 | 5..));
    let few = whole && elements <= FEW_MAX;
    let fits = [(few, Pace::Few), (pairs, Pace::Pairs)];
    let best = fits.into_iter().find(|(fits, pace)| *fits && paces.contains(pace));
    best.map_or(Pace::Quads, |(_, pace)| pace)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_end_where_a_segment_does() {
        let ends = |window: Range<usize>| (window.start, window.end);
        let of =
            |elements, operands: &[_]| windows(elements, operands).map(ends).collect::<Vec<_>>();
        assert_eq!(of(20, &[(0, 16)]), [(0, 16), (16, 20)]);
        assert_eq!(of(20, &[(0, 16), (12, 16)]), [(0, 4), (4, 16), (16, 20)]);
        assert_eq!(of(16, &[(16, 16)]), [(0, 16)]);
        assert_eq!(of(0, &[(0, 16)]), []);
    }

    #[test]
    fn halves_begin_at_whole_quads() {
        let of = |dims: &[usize]| halves(&Shape::new(dims).expect("a shape"));
        assert_eq!(of(&[1, 10, 3]), Some((1, [0..8, 8..10])));
        assert_eq!(of(&[2, 8]), Some((0, [0..1, 1..2])));
        assert_eq!(of(&[2, 7]), None, "the second half begins at 7");
    }

    #[test]
    fn few_and_many_have_a_pace_of_their_own() {
        let all = [Pace::Few, Pace::Pairs];
        assert_eq!(pace(FEW_MAX, true, true, &all), Pace::Few);
        assert_eq!(pace(FEW_MAX, false, true, &all), Pace::Quads, "a window of several");
        assert_eq!(pace(PAIRS_MIN + 1, true, true, &all), Pace::Pairs);
        assert_eq!(pace(PAIRS_MIN + 1, false, false, &all), Pace::Quads, "it reaches the next");
        assert_eq!(pace(PAIRS_MIN, true, true, &[]), Pace::Quads);
    }
}
