//! The texts of kernels, on paper, and what a pipeline needs to know about them. No wgpu here, and
//! nothing of a shader's insides outside: the runtime
//!
//! 1. picks a kernel - its [`Entry`] - and says for every binding in which [`Form`] its elements
//!    are stored and which [`Way`] the kernel reaches them;
//! 2. asks for its text: [`kept::kernel`] (or [`Frame::kept`], where there are expressions around
//!    it) gives an [`Assembled`]: WGSL and needed capabilities;
//! 3. has it checked once per new pipeline: [`reflect::check`] parses and validates with the
//!    declared capabilities *only* and returns the bindings and their access as naga sees them;
//! 4. writes the parameters by the struct that the kernel's room declares with [`params`].
//!
//! ```text
//! let kernel = kept::kernel(&FILL, &[Slot::write(Form::W32)], 0, Target::Gpu);
//! let grid = Grid::new(quads, Target::Gpu);
//! let job = FillJob { grid, bits: [7; 4] };
//! let words = Operands { offsets: &[0], ..Operands::default() }.after(job.words());
//! dispatch(kernel, &words, grid.groups());
//! ```
//!
//! Storage bindings are `@group(0)`, inputs first. A tensor's bound range starts where the runtime
//! likes; `offset`s are elements (quads, where said) from there.

pub(crate) mod access;
pub mod assemble;
pub mod assembled;
#[cfg(feature = "testing")]
pub mod backward;
pub mod edge;
pub mod entry;
pub mod expr;
pub mod form;
pub mod formula;
pub mod frame;
pub mod grid;
pub mod kept;
pub mod library;
pub(crate) mod lines;
#[cfg(feature = "testing")]
pub mod mutant;
pub mod needs;
pub(crate) mod own;
pub mod params;
pub mod reflect;
pub mod region;
pub(crate) mod rig;
pub(crate) mod scan;
pub mod slot;
pub mod source;
pub mod space;
pub(crate) mod statements;
pub mod subgroups;
pub mod target;
mod verdict;
pub mod wording;

pub use assembled::Assembled;
pub use edge::Edge;
pub use entry::{Entry, Worded};
pub use expr::{Expr, Term};
pub use form::Form;
pub use frame::Frame;
pub use grid::Grid;
pub use needs::Needs;
pub use region::Region;
pub use slot::{Slot, Way};
pub use source::Source;
pub use space::{Space, View};
pub use target::Target;
pub use wording::{Wording, Writes};
