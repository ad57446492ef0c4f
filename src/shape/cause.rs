//! What can be wrong with shapes, axes and layouts.

use super::{Axis, Interval, RANK_MAX, Shape};
use crate::error::{Result, causes};

causes! {
    pub(crate) enum ShapeCause;

    Rank { rank: usize, rank_max: usize }, Shape:
        ("rank {rank} is above the largest, {rank_max}")
        help ("merge neighbouring axes until at most {RANK_MAX} are left");
    Elements { dims: Vec<usize> }, Shape:
        ("shape {dims:?} has more than {} elements", isize::MAX)
        help ("nothing has room for it: look at how its lengths were reckoned");
    Axis { axis: Axis, shape: Shape }, Shape:
        ("axis {axis} does not exist in {shape} of rank {}", shape.rank())
        help ("{}", match shape.rank() {
            0 => "a scalar has no axes: `unsqueeze` adds one".into(),
            rank => format!("its axes are {}, counted from 0 or back from -1", ends(rank)),
        });
    Span { axes: Interval, shape: Shape }, Shape:
        ("axes {axes} do not exist in {shape} of rank {}", shape.rank())
        help ("the range of all of them is `0..{}`", shape.rank());
    NoAxes { axes: Interval, shape: Shape }, Shape:
        ("axes {axes} of {shape} are none to join")
        help ("`unsqueeze` adds an axis of length 1");
    Ranks { shape: Shape, takes: &'static str }, Shape:
        ("{shape} has rank {}, not {takes}", shape.rank())
        help ("`reshape`, `at` and `unsqueeze` change the rank");
    NewAxis { axis: Axis, shape: Shape }, Shape:
        ("no place for a new axis {axis} in {shape} of rank {}", shape.rank())
        help ("its places are {}, counted from 0 or back from -1", ends(shape.rank() + 1));
    Broadcast { a: Shape, b: Shape, axis: usize, left: usize, right: usize }, Shape:
        ("{a} and {b} do not broadcast: {left} against {right} on axis {axis}")
        help ("{BROADCAST}");
    BroadcastTo { from: Shape, to: Shape }, Shape:
        ("{from} does not broadcast to {to}")
        help ("{BROADCAST}");
    Count { elements: usize, shape: Shape }, Shape:
        ("data has {elements} elements, shape {shape} has {}", shape.elements())
        help ("give a shape whose product is the length of the data");
    Reshape { from: Shape, to: Shape }, Shape:
        ("{from} has {} elements, {to} has {}", from.elements(), to.elements())
        help ("the lengths multiply to as many; one may be -1: `reshape([-1, ..])`");
    Lengths { lengths: Vec<i128> }, Shape:
        ("{lengths:?} is no shape: {}", match lengths.iter().max() {
            _ if lengths.iter().filter(|&&length| length == -1).count() > 1 => {
                "-1 occurs more than once".into()
            }
            Some(&most) if usize::try_from(most).is_err() && most > 0 => {
                format!("{most} is more than can be counted, {}", usize::MAX)
            }
            _ => format!("{} is no length", lengths.iter().min().unwrap_or(&-1)),
        })
        help ("a length is 0 or more; one of them may be -1, for what the others leave");
    Inferred { from: Shape, lengths: Vec<i128> }, Shape:
        ("{from} has {} elements, no length of -1 makes {lengths:?} so many", from.elements())
        help ("the other lengths have to divide the number of elements");
    NotAView { shape: Shape, strides: Vec<isize>, to: Shape }, Layout:
        ("{shape} with strides {strides:?} cannot be viewed as {to}")
        help ("`reshape_copied` copies what no view can express");
    Range { axis: Axis, range: Interval, length: usize, is_inside: bool }, Shape:
        ("range {range} {}", match is_inside {
            true => format!("on axis {axis} ends before it begins"),
            false => format!("is outside axis {axis} of length {length}"),
        })
        help ("{}", match (is_inside, range.clipped(*length)) {
            (true, part) => format!("the lower end comes first: `{part:?}`"),
            (false, part) => format!("the axis has `0..{length}`, of which this is `{part:?}`"),
        });
    Place { place: i128, axis: Axis, length: usize }, Index:
        ("place {place} is outside axis {axis} of length {length}")
        help ("{}", match length {
            0 => "an axis of length 0 has no places".into(),
            length => format!("its places are {}, counted from 0 or back from -1", ends(*length)),
        });
    Cuts { cuts: usize, shape: Shape }, Shape:
        ("places and ranges given: {cuts}, axes of {shape}: {}", shape.rank())
        help ("at most one for each axis; those that are left out are taken whole");
    Step { axis: Axis }, Argument:
        ("step 0 on axis {axis}")
        help ("a step is at least 1 forwards, or -1 and below backwards");
    Permutation { axes: Vec<Axis>, rank: usize }, Shape:
        ("{axes:?} is not a permutation of the {rank} axes")
        help ("{}", match rank {
            0 => "a scalar has no axes".into(),
            rank => format!("each axis once, in any order: {}", ends(*rank)),
        });
    Squeeze { axis: Axis, dim: usize }, Shape:
        ("axis {axis} has length {dim}, not 1")
        help ("only an axis of length 1 goes away; `select` takes one place of a longer one");
    Strides { strides: usize, rank: usize }, Layout:
        ("{strides} stride{} for a shape of rank {rank}", if *strides == 1 { "" } else { "s" })
        help ("give one for each axis, {rank} in all");
    Outside { lowest: i128, highest: i128, elements: usize }, Layout:
        ("layout reaches {}", match *lowest < 0 {
            true => format!("element {lowest}, before the first"),
            false => format!("elements {lowest} to {highest}, data has {elements}"),
        })
        help ("an element at index i lies at offset + sum(i * stride); lower the shape, the \
               strides or the offset");
    Overlap { shape: Shape, strides: Vec<isize> }, Layout:
        ("{shape} with strides {strides:?} writes some elements twice")
        help ("a destination needs a distinct place for each element: no stride of 0 on an axis \
               longer than 1");
    Window { axis: Axis, size: usize, step: usize, dim: usize }, Shape:
        ("windows of {size} with step {step} do not exist on axis {axis} of length {dim}")
        help ("at most {dim} fit; `pad` makes the axis longer");
    Pace { axis: Axis, size: usize, step: usize, dilation: usize }, Argument:
        ("windows of {size} with step {step} and dilation {dilation} on axis {axis}")
        help ("a window, a step and a dilation are 1 or more");
    Same { what: &'static str, left: Shape, right: Shape }, Shape:
        ("{what}: left {left}, right {right}")
        help ("both have to be of one shape here: `broadcast_to` and `reshape` change one");
    NotOne { shape: Shape }, Shape:
        ("{shape} has {} elements, not 1", shape.elements())
        help ("`read_now()` reads any number of elements");
    Repeated { axis: Axis, axes: Vec<Axis> }, Shape:
        ("axis {axis} occurs twice in {axes:?}")
        help ("name each axis once; -1 is the last, which has a place from 0, too");
}

const BROADCAST: &str =
    "of two dimensions that differ one must be 1; `unsqueeze` adds an axis of length 1";

/// Checks what windows need on an axis of any length: a size, a step and a dilation.
pub(crate) fn paced(axis: Axis, [size, step, dilation]: [usize; 3]) -> Result<()> {
    match size.min(step).min(dilation) {
        0 => Err(ShapeCause::Pace { axis, size, step, dilation }.into()),
        _ => Ok(()),
    }
}

/// The first and the last of so many, which are at least one.
fn ends(count: usize) -> String {
    match count {
        1 => "0 alone".into(),
        count => format!("0 to {}", count - 1),
    }
}
