//! An operation as plain data, and what its result is held to: what the oracle makes of the very
//! inputs that the kernels had.
//!
//! ```text
//! heads -> core -> tail      as a kernel has them: expressions over views of inputs, the core by
//!                            its oracle, and each step allowed what its contract allows
//! Estimate                   where a value may lie; one that an oracle cannot decide is counted
//! judge                      every element, or a seeded sample of them where that takes too long
//! ```

use crate::dtype::DType;
use crate::layout::Layout;
use crate::op::{Joint, Number, Reduction};
use crate::reference::{Filter, Resampling, Sight};
use crate::shape::Shape;
use crate::wgsl::{Expr, Term};

mod cells;
mod estimate;
mod judge;
mod moves;
mod sums;

pub(crate) use cells::shown;
pub(crate) use estimate::Estimate;
pub(crate) use judge::{Budget, Judgement, Outlier, judge, mixed};

/// What computes a core once more.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Oracle {
    /// The elements of a view, in order.
    Copied,
    /// Over some axes of its input; the others are left.
    Reduced { reduction: Reduction, axes: Vec<bool> },
    /// Running, along the last axis.
    Scanned(Reduction),
    /// A row for each row along the last axis.
    Row { joint: Joint, eps: f64 },
    /// Of `[batch .., m, k]` and `[batch .., k, n]`, as they lie in the inputs.
    Product { sides: Box<[Layout; 2]> },
    /// Of queries, keys, values and perhaps a mask, of four axes each.
    Attention { scale: f32, sight: Sight },
    /// By an index, the second input: places of the first at a linear form of the place in the
    /// result, in steps of the index.
    Picked { offset: i64, strides: Vec<i64>, step: i64, bound: usize },
    /// One after the other along an axis.
    Joined { axis: usize },
    /// Of `[images, channels, z, y, x]` with `[rows, channels of a group, z, y, x]`: steps from
    /// pixel to pixel and from tap to tap, and where the first tap of the first pixel lies.
    Convolved { step: [usize; 3], reach: [usize; 3], first: [isize; 3], groups: usize },
    /// Over windows of `[images, channels, z, y, x]` that have so many taps along the last three,
    /// which lie as those of a convolution; of what is there.
    Pooled {
        reduction: Reduction,
        size: [usize; 3],
        step: [usize; 3],
        reach: [usize; 3],
        first: [isize; 3],
        /// Lengths of the result.
        result: [usize; 3],
    },
    /// An axis of `[rows, length, across]` at another length.
    Resized { to: usize, at: Resampling },
    /// The last two axes of three at other lengths.
    Enlarged { to: [usize; 2], at: [Resampling; 2] },
    /// An axis of `[rows, length, across]` at another length, each element the mean of what it
    /// covers by the weights of a filter.
    Covered { to: usize, filter: Filter },
    /// The words of 32 bits that a list lies in memory as.
    Words,
    /// Positions in rows of this length, in the order of keys. A key is so many bits of a word of
    /// each input, the lowest first.
    Ordered { bits: Vec<u32>, length: usize },
    /// Rows of this length, sorted: equal elements as they came, NaN last whichever way.
    Sorted { descending: bool, length: usize },
    /// The places of the first so many keys in each of rows, in the order in which they lie. Keys
    /// are those of [`Oracle::Ordered`].
    Foremost { bits: Vec<u32>, length: usize, count: usize },
    /// Everywhere the same, which is these bits.
    Filled { bits: [u32; 2] },
    /// Its own position.
    Counted,
    /// Drawn with a key, each by its position.
    Drawn { key: [u32; 2], lot: Lot },
    /// All positions in random order.
    Shuffled { key: [u32; 2] },
    /// Of each destination the last position in a list that names it, plus one; or 0.
    Last,
    /// The first input, or what the third names of the second, if it names anything.
    Replaced,
    /// The third input, and folded to it what lies in the rows of the second that are named for it
    /// by the first.
    Folded(Reduction),
    /// The first input, with the second from these places on.
    Assigned { first: Vec<usize> },
    /// The input from these places on; around it these bits.
    Framed { first: Vec<usize>, bits: [u32; 2] },
    /// Where the column less the row is in a range; elsewhere zero.
    Band { first: i64, end: i64 },
    /// What the core's own room says, of what the core was told.
    Own { by: &'static OwnOracle, told: Vec<u32> },
}

/// How taps lie over an input: steps from pixel to pixel, from tap to tap, and the first tap.
#[derive(Clone, Copy)]
struct Sweep<'a> {
    step: &'a [usize; 3],
    reach: &'a [usize; 3],
    first: &'a [isize; 3],
}

/// All that is to be known of a core to compute it once more, in one place: its own room.
#[derive(Debug)]
pub(crate) struct OwnOracle {
    /// The core's, which capsules have it by.
    pub(crate) name: &'static str,
    /// Whether inputs, result and what was told are such that an element can be asked for: what a
    /// capsule holds somebody may have written.
    pub(crate) fits: fn(&Claim, &[u32]) -> bool,
    /// Steps of one element.
    pub(crate) effort: fn(&Claim) -> u64,
    /// An element of the core's result; `None` where nothing can be said.
    pub(crate) element: fn(&Cell<'_>) -> Option<Estimate>,
}

impl PartialEq for OwnOracle {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

/// An element that is asked for.
pub(crate) struct Cell<'a> {
    pub(crate) claim: &'a Claim,
    pub(crate) told: &'a [u32],
    /// Its position in the result.
    pub(crate) n: usize,
    /// An element of an input: which input, and its position there.
    pub(crate) input: &'a dyn Fn(usize, usize) -> Estimate,
}

/// What is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lot {
    /// The bits of a stream.
    Bits(u32),
    /// Uniform in 0..1.
    Uniform,
    Normal,
    /// So many integers (0 for 2^32) from the second on.
    Below([u32; 2]),
    /// Whether the bits are below this.
    Chance(u32),
}

/// A view of an input.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Seen {
    pub(crate) input: usize,
    pub(crate) layout: Layout,
    pub(crate) dtype: DType,
}

/// An expression over views, all of one shape.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Formed {
    pub(crate) expr: Expr,
    pub(crate) views: Vec<Seen>,
    pub(crate) scalars: Vec<u32>,
    pub(crate) shape: Shape,
    pub(crate) dtype: DType,
}

/// What a result claims to be.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Claim {
    /// Without one there are no heads, and the tail is all.
    pub(crate) core: Option<Oracle>,
    pub(crate) heads: Vec<Formed>,
    /// With a core, its result is the first input of the expression.
    pub(crate) tail: Formed,
}

impl Formed {
    /// A view of an input.
    pub(crate) fn view(input: usize, layout: Layout, dtype: DType) -> Self {
        let (expr, views) = (Expr::itself(dtype), vec![Seen { input, layout, dtype }]);
        Self { expr, views, scalars: Vec::new(), shape: *layout.shape(), dtype }
    }

    /// What a core makes of dtype `given`, as it is stored.
    pub(crate) fn stored(given: DType, shape: Shape, dtype: DType) -> Self {
        let is_cast = given != dtype;
        let expr = if is_cast { Expr::cast(given, dtype) } else { Expr::itself(dtype) };
        Self { expr, views: Vec::new(), scalars: Vec::new(), shape, dtype }
    }

    /// Its scalars as numbers.
    pub(super) fn numbers(&self) -> Vec<Number> {
        let mut at = 0;
        let number = |dtype: &DType| {
            let words = if dtype.width() == 8 { 2 } else { 1 };
            at = usize::next_multiple_of(at, words);
            let word = |i: usize| self.scalars.get(at + i).copied().unwrap_or_default();
            let bits = [word(0), if words == 2 { word(1) } else { 0 }];
            at += words;
            let held = crate::op::Kind::of(*dtype).dtype();
            let bytes: [u8; 8] = bytemuck::must_cast(bits);
            Number::decode(held, &bytes[..held.width()])
        };
        self.expr.scalars.iter().map(number).collect()
    }

    /// The view, if it is nothing but one.
    pub(super) fn plain(&self) -> Option<&Seen> {
        match &*self.views {
            [view] if self.expr.is_itself() => Some(view),
            _ => None,
        }
    }

    /// Whether an operation of the user's own is in it.
    fn has_own(&self) -> bool {
        self.expr.nodes.iter().any(|node| matches!(node, Term::Call(..)))
    }
}

impl Claim {
    /// Why there is no oracle for it, if there is none.
    pub(crate) fn refusal(&self) -> Option<&'static str> {
        let whole = matches!(
            self.core,
            Some(
                Oracle::Product { .. }
                    | Oracle::Attention { .. }
                    | Oracle::Picked { .. }
                    | Oracle::Joined { .. }
                    | Oracle::Convolved { .. }
                    | Oracle::Pooled { .. }
                    | Oracle::Resized { .. }
                    | Oracle::Enlarged { .. }
                    | Oracle::Covered { .. }
                    | Oracle::Words
            )
        );
        if self.heads.iter().chain([&self.tail]).any(Formed::has_own) {
            return Some("a formula of your own has no oracle");
        }
        (whole && self.heads.iter().any(|head| head.plain().is_none()))
            .then_some("its inputs are computed on the way in")
    }
}
