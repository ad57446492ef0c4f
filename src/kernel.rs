//! Kernels: what an operation becomes - a variant chosen, windows cut, dispatches recorded.
//!
//! A tensor may lie in several segments, and an index space may be larger than 32 bits reach. So an
//! operation runs as a list of dispatches, each over a *window* of the output that touches one
//! segment of every operand:
//!
//! ```text
//! split the index space by its outermost axis until 32 bits reach all of it
//! cut the output at its segments, and at those of every dense input
//! an input whose view spans segments otherwise is first copied to dense, one pass per segment
//! ```

pub mod attention;
pub mod catalog;
pub(crate) mod cause;
pub mod conv;
pub(crate) mod cores;
pub mod elementwise;
pub mod fill;
pub mod iota;
mod limits;
pub mod matmul;
pub mod moves;
mod operand;
pub(crate) mod own;
pub mod pick;
pub mod quantised;
pub mod random;
pub mod reduce;
pub mod rows;
pub mod scan;
pub mod scatter;
pub mod sort;

pub(crate) use limits::index_space;
use limits::too_deep;
use operand::Held;
pub(crate) use operand::Operand;
