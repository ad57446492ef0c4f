//! A kernel's entry: its file, its legal variants, and how often it may loop.

use super::form::Form;
use super::grid::TRIPS_MAX;
use super::params::Member;
use super::slot::Way;
use super::source::Source;
use super::target::Target;
use super::wording::Wording;
use crate::dtype::DType;
use crate::shape::RANK_MAX;

/// A kernel: one file with one entry point `main`.
#[derive(Debug)]
#[cfg_attr(not(feature = "testing"), expect(dead_code, reason = "what tests try of a kernel"))]
pub struct Entry {
    /// The kernel's name, the file's without its ending.
    pub name: &'static str,
    /// Its file.
    pub source: Source,
    /// The forms of its bindings, inputs first, for every legal variant. Empty where an
    /// [`expr`](super::expr) decides.
    pub variants: &'static [&'static [Form]],
    /// The files that its variants are written with, beside the library.
    pub parts: &'static [Source],
    /// What it is told: the members of its struct `Job`, or the first ones of its `Params`, which
    /// those for its operands follow.
    pub params: &'static [Member],
    /// How many of the bindings, the last ones, are written.
    pub outputs: usize,
    /// The most loop trips of one invocation, nested loops multiplied. llvmpipe ends all loops of
    /// an invocation after 65 535 without a word.
    pub trips_max: u32,
    /// Whether it writes all of its workgroup memory before it reads any of it, so that nobody
    /// needs to clear it first: naga does that from one invocation, word by word.
    pub clears: bool,
    /// Whether, as a core's, it has a region `prepare` where it begins: for parameters that
    /// operands are reached by.
    pub prepares: bool,
    /// Every way in which the kernel of a core is written, for who tries them all.
    pub wordings: fn() -> Vec<Worded>,
}

/// A kernel of a core as it is written for inputs of some dtypes.
#[derive(Debug)]
#[cfg_attr(not(feature = "testing"), expect(dead_code, reason = "what tests try of a kernel"))]
pub struct Worded {
    /// What is written into its file.
    pub wording: Box<dyn Wording>,
    /// Its inputs, each of which is a view, and how they are reached.
    pub inputs: Vec<(DType, Way)>,
    /// What is stored.
    pub result: DType,
    /// Whether results are stored one element at a time.
    pub by_element: bool,
    /// What it is written for.
    pub target: Target,
}

impl Worded {
    /// With inputs that are reached by elements, and a result that is stored by quads.
    #[must_use]
    pub fn of(wording: impl Wording, inputs: &[DType], result: DType, target: Target) -> Self {
        let inputs = inputs.iter().map(|&dtype| (dtype, Way::Each)).collect();
        Self { wording: Box::new(wording), inputs, result, by_element: false, target }
    }
}

/// The most loop trips that the plan of a core gives to one invocation.
pub const CORE_TRIPS: u32 = 60_000;

/// Trips of the strided index loop: the outermost dimension is free.
const INDEX_TRIPS: u32 = RANK_MAX as u32 - 1;

impl Entry {
    /// A kernel with one output, whose operands decide its variants.
    #[must_use]
    pub const fn new(name: &'static str, source: Source, trips_max: u32) -> Self {
        Self {
            name,
            source,
            variants: &[],
            parts: &[],
            params: &[],
            outputs: 1,
            trips_max,
            clears: false,
            prepares: true,
            wordings: Vec::new,
        }
    }

    /// A kernel of a core: heads and tails decide its bindings, its plan how often it loops.
    #[must_use]
    pub const fn core(name: &'static str, source: Source) -> Self {
        Self::new(name, source, CORE_TRIPS)
    }

    /// A kernel whose bindings are its own.
    #[must_use]
    pub const fn own(name: &'static str, source: Source, trips_max: u32) -> Self {
        Self { variants: &[&[]], outputs: 0, ..Self::new(name, source, trips_max) }
    }

    /// A kernel that walks a grid of quads, and the dimensions of so many strided bindings.
    #[must_use]
    pub const fn walking(name: &'static str, source: Source, strided: u32) -> Self {
        Self::new(name, source, TRIPS_MAX * (1 + strided * INDEX_TRIPS))
    }

    /// In these variants.
    #[must_use]
    pub const fn of(self, variants: &'static [&'static [Form]]) -> Self {
        Self { variants, ..self }
    }

    /// With these files, which its variants are written with.
    #[must_use]
    pub const fn with(self, parts: &'static [Source]) -> Self {
        Self { parts, ..self }
    }

    /// With these members in its parameters.
    #[must_use]
    pub const fn told(self, params: &'static [Member]) -> Self {
        Self { params, ..self }
    }

    /// Written in these ways.
    #[must_use]
    pub const fn worded(self, wordings: fn() -> Vec<Worded>) -> Self {
        Self { wordings, ..self }
    }

    /// A core of a file without the region `prepare`.
    #[must_use]
    pub const fn unprepared(self) -> Self {
        Self { prepares: false, ..self }
    }

    /// A kernel that writes all of its workgroup memory before it reads any.
    #[must_use]
    pub const fn clearing(self) -> Self {
        Self { clears: true, ..self }
    }
}
