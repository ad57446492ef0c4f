//! What can be wrong with shapes, axes and layouts.

use super::{RANK_MAX, Shape};
use crate::error::causes;

causes! {
    pub(crate) enum ShapeCause;

    Rank { rank: usize, rank_max: usize }, Shape:
        ("rank {rank} is above the largest, {rank_max}")
        help ("merge neighbouring axes until at most {RANK_MAX} are left");
    Elements { dims: Vec<usize> }, Shape:
        ("shape {dims:?} has more than {} elements", isize::MAX);
    Axis { axis: usize, shape: Shape }, Shape:
        ("axis {axis} does not exist in {shape} of rank {}", shape.rank());
    NewAxis { axis: usize, shape: Shape }, Shape:
        ("no place for a new axis {axis} in {shape} of rank {}", shape.rank());
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
        ("{from} has {} elements, {to} has {}", from.elements(), to.elements());
    NotAView { shape: Shape, strides: Vec<isize>, to: Shape }, Layout:
        ("{shape} with strides {strides:?} cannot be viewed as {to}")
        help ("make it dense first: `contiguous()`");
    Range { axis: usize, start: usize, end: usize, dim: usize }, Shape:
        ("range {start}..{end} {}", match start > end {
            true => format!("on axis {axis} ends before it begins"),
            false => format!("is outside axis {axis} of length {dim}"),
        })
        help ("{}", match start > end {
            true => format!("the lower end comes first: `{}..{}`", end.min(dim), start.min(dim)),
            false => {
                format!("the axis has `0..{dim}`, of which this is `{}..{dim}`", start.min(dim))
            }
        });
    Step { axis: usize }, Shape:
        ("step 0 on axis {axis}")
        help ("a step is at least 1 forwards, or -1 and below backwards");
    Permutation { axes: Vec<usize>, rank: usize }, Shape:
        ("{axes:?} is not a permutation of the {rank} axes");
    Squeeze { axis: usize, dim: usize }, Shape:
        ("axis {axis} has length {dim}, not 1");
    Strides { strides: usize, rank: usize }, Layout:
        ("{strides} stride{} for a shape of rank {rank}", if *strides == 1 { "" } else { "s" });
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
    Window { axis: usize, size: usize, step: usize, dim: usize }, Shape:
        ("windows of {size} with step {step} do not exist on axis {axis} of length {dim}");
    Same { what: &'static str, left: Shape, right: Shape }, Shape:
        ("{what}: left {left}, right {right}");
    NotOne { shape: Shape }, Shape:
        ("{shape} has {} elements, not 1", shape.elements())
        help ("`to_vec()` reads any number of elements");
    Repeated { axis: usize, axes: Vec<usize> }, Shape:
        ("axis {axis} occurs twice in {axes:?}");
}

const BROADCAST: &str =
    "of two dimensions that differ one must be 1; `unsqueeze` adds an axis of length 1";
