//! What can be wrong with shapes, axes and layouts.

use core::fmt;

use super::{RANK_MAX, Shape};
use crate::error::{Cause, ErrorKind};

#[derive(Debug)]
pub(crate) enum ShapeCause {
    Rank { rank: usize, rank_max: usize },
    Elements { dims: Vec<usize> },
    Axis { axis: usize, shape: Shape },
    NewAxis { axis: usize, shape: Shape },
    Broadcast { a: Shape, b: Shape, axis: usize, left: usize, right: usize },
    BroadcastTo { from: Shape, to: Shape },
    Count { elements: usize, shape: Shape },
    Reshape { from: Shape, to: Shape },
    NotAView { shape: Shape, strides: Vec<isize>, to: Shape },
    Range { axis: usize, start: usize, end: usize, dim: usize },
    Step { axis: usize },
    Permutation { axes: Vec<usize>, rank: usize },
    Squeeze { axis: usize, dim: usize },
    Strides { strides: usize, rank: usize },
    Outside { lowest: i128, highest: i128, elements: usize },
    Overlap { shape: Shape, strides: Vec<isize> },
    Window { axis: usize, size: usize, step: usize, dim: usize },
    Same { what: &'static str, left: Shape, right: Shape },
    NotOne { shape: Shape },
    Repeated { axis: usize, axes: Vec<usize> },
}

impl fmt::Display for ShapeCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rank { rank, rank_max } => {
                write!(f, "rank {rank} is above the largest, {rank_max}")
            }
            Self::Elements { dims } => {
                write!(f, "shape {dims:?} has more than {} elements", isize::MAX)
            }
            Self::Axis { axis, shape } => {
                write!(f, "axis {axis} does not exist in {shape} of rank {}", shape.rank())
            }
            Self::NewAxis { axis, shape } => {
                write!(f, "no place for a new axis {axis} in {shape} of rank {}", shape.rank())
            }
            Self::Broadcast { a, b, axis, left, right } => {
                write!(f, "{a} and {b} do not broadcast: {left} against {right} on axis {axis}")
            }
            Self::BroadcastTo { from, to } => write!(f, "{from} does not broadcast to {to}"),
            Self::Count { elements, shape } => {
                let wanted = shape.elements();
                write!(f, "data has {elements} elements, shape {shape} has {wanted}")
            }
            Self::Reshape { from, to } => {
                let (a, b) = (from.elements(), to.elements());
                write!(f, "{from} has {a} elements, {to} has {b}")
            }
            Self::NotAView { shape, strides, to } => {
                write!(f, "{shape} with strides {strides:?} cannot be viewed as {to}")
            }
            Self::Range { axis, start, end, .. } if start > end => {
                write!(f, "range {start}..{end} on axis {axis} ends before it begins")
            }
            Self::Range { axis, start, end, dim } => {
                write!(f, "range {start}..{end} is outside axis {axis} of length {dim}")
            }
            Self::Step { axis } => write!(f, "step 0 on axis {axis}"),
            Self::Permutation { axes, rank } => {
                write!(f, "{axes:?} is not a permutation of the {rank} axes")
            }
            Self::Squeeze { axis, dim } => write!(f, "axis {axis} has length {dim}, not 1"),
            Self::Strides { strides, rank } => {
                let plural = if *strides == 1 { "" } else { "s" };
                write!(f, "{strides} stride{plural} for a shape of rank {rank}")
            }
            Self::Outside { lowest, .. } if *lowest < 0 => {
                write!(f, "layout reaches element {lowest}, before the first")
            }
            Self::Outside { lowest, highest, elements } => {
                write!(f, "layout reaches elements {lowest} to {highest}, data has {elements}")
            }
            Self::Overlap { shape, strides } => {
                write!(f, "{shape} with strides {strides:?} writes some elements twice")
            }
            Self::Window { axis, size, step, dim } => write!(
                f,
                "windows of {size} with step {step} do not exist on axis {axis} of length {dim}"
            ),
            Self::Same { what, left, right } => {
                write!(f, "{what}: left {left}, right {right}")
            }
            Self::NotOne { shape } => {
                write!(f, "{shape} has {} elements, not 1", shape.elements())
            }
            Self::Repeated { axis, axes } => write!(f, "axis {axis} occurs twice in {axes:?}"),
        }
    }
}

impl Cause for ShapeCause {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::NotAView { .. }
            | Self::Strides { .. }
            | Self::Outside { .. }
            | Self::Overlap { .. } => ErrorKind::Layout,
            _ => ErrorKind::Shape,
        }
    }

    fn help(&self) -> Option<String> {
        let help = match self {
            Self::Rank { .. } => {
                format!("merge neighbouring axes until at most {RANK_MAX} are left")
            }
            Self::Broadcast { .. } | Self::BroadcastTo { .. } => {
                "of two dimensions that differ one must be 1; `unsqueeze` adds an axis of length 1"
                    .into()
            }
            Self::Count { .. } => "give a shape whose product is the length of the data".into(),
            Self::NotAView { .. } => "make it dense first: `contiguous()`".into(),
            Self::Step { .. } => "a step is at least 1 forwards, or -1 and below backwards".into(),
            Self::Outside { .. } => {
                "an element at index i lies at offset + sum(i * stride); lower the shape, the \
                 strides or the offset"
                    .into()
            }
            Self::Overlap { .. } => {
                "a destination needs a distinct place for each element: no stride of 0 on an axis \
                 longer than 1"
                    .into()
            }
            Self::NotOne { .. } => "`to_vec()` reads any number of elements".into(),
            Self::Elements { .. }
            | Self::Axis { .. }
            | Self::NewAxis { .. }
            | Self::Reshape { .. }
            | Self::Range { .. }
            | Self::Permutation { .. }
            | Self::Squeeze { .. }
            | Self::Strides { .. }
            | Self::Window { .. }
            | Self::Same { .. }
            | Self::Repeated { .. } => return None,
        };
        Some(help)
    }
}
