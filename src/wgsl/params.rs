//! Parameters: the one uniform struct of each kernel, encoded as words in the order of its members,
//! and the grid.
//!
//! Every member is a `vec4<u32>` or an array of them, so the std140 rules never bite: words are
//! padded to fours and follow each other.

use super::grid::Grid;
use super::space::{RANK_MAX, Space};

/// The most bytes of a parameter struct.
pub const BYTES_MAX: usize = 1024;

/// Words of a parameter struct under construction.
#[derive(Debug, Default)]
pub struct Words(Vec<u32>);

impl Words {
    /// One `vec4<u32>`.
    #[must_use]
    pub fn vec4(mut self, v: [u32; 4]) -> Self {
        self.0.extend(v);
        self
    }

    /// An `array<vec4<u32>, N>` that just holds all of `words`.
    #[must_use]
    pub fn array(mut self, words: impl IntoIterator<Item = u32>) -> Self {
        self.0.extend(words);
        self.0.resize(self.0.len().next_multiple_of(4), 0);
        self
    }

    /// Eight words from outermost first to innermost first: a shape (filled up with 1) or strides
    /// (with 0).
    #[must_use]
    pub fn dims(self, dims: &[u32], fill: u32) -> Self {
        self.innermost_first(&dims.iter().rev().copied().collect::<Vec<_>>(), fill)
    }

    pub(crate) fn innermost_first(mut self, dims: &[u32], fill: u32) -> Self {
        let end = self.0.len() + RANK_MAX;
        self.0.extend(dims.iter().take(RANK_MAX));
        self.0.resize(end, fill);
        self
    }

    /// The words.
    #[must_use]
    pub fn done(self) -> Vec<u32> {
        debug_assert!(
            self.0.len() * 4 <= BYTES_MAX,
            "a parameter struct of {} words",
            self.0.len()
        );
        self.0
    }
}

/// Parameters of the elementwise kernel and of `reindex`, in the order of the kernel's operands.
#[derive(Clone, Debug)]
pub struct Elementwise<'a> {
    /// The share of each invocation, in quads of the output window.
    pub grid: Grid,
    /// The index space and the inputs' views and ways.
    pub space: &'a Space,
    /// The first element of the window of the index space that this dispatch computes, a multiple
    /// of four. Dense operands are bound from their own window on; strided ones index the whole
    /// space.
    pub base: u32,
    /// The first element of each output in its bound range, multiples of four.
    pub outputs: &'a [u32],
    /// Scalars, as words.
    pub scalars: &'a [u32],
}

impl Elementwise<'_> {
    /// The struct as words.
    #[must_use]
    pub fn words(&self) -> Vec<u32> {
        let strided = self.space.strided().collect::<Vec<_>>();
        let mut words = Words::default().vec4(self.grid.words());
        if !strided.is_empty() {
            let last = self.space.count() - 1;
            words = words.vec4([self.base, last, 0, 0]).dims(&self.space.shape, 1);
        }
        let outputs = self.outputs.iter().map(|&element| element / 4);
        words = words.array(self.space.offsets().chain(outputs));
        for view in strided {
            words = words.dims(&view.stride_words(), 0);
        }
        words.array(self.scalars.iter().copied()).done()
    }
}

/// Parameters of a core's kernel, in the order of its operands.
#[derive(Clone, Debug, Default)]
pub struct Core<'a> {
    /// The kernel's own struct `Job`, in whole fours.
    pub job: &'a [u32],
    /// The index space of strided operands: its shape, outermost first.
    pub space: Option<&'a [u32]>,
    /// The first element (or quad, of dense operands) of each operand and of the output, in its
    /// bound range.
    pub offsets: &'a [u32],
    /// The strides of each strided operand, outermost first.
    pub strides: &'a [Vec<u32>],
    /// Scalars, as words.
    pub scalars: &'a [u32],
}

impl Core<'_> {
    /// The struct as words.
    #[must_use]
    pub fn words(&self) -> Vec<u32> {
        let mut words = Words::default().array(self.job.iter().copied());
        if let Some(shape) = self.space {
            let last = shape.iter().product::<u32>() - 1;
            words = words.vec4([0, last, 0, 0]).dims(shape, 1);
        }
        words = words.array(self.offsets.iter().copied());
        for strides in self.strides {
            words = words.dims(strides, 0);
        }
        words.array(self.scalars.iter().copied()).done()
    }
}
