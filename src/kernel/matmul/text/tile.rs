//! The nouns of the four texts: what an invocation sums, how it reads its operands, and what all of
//! them write with.

use crate::dtype::DType;
use crate::kernel::choice::processor::SHARERS;
use crate::wgsl::form::Form;
use crate::wgsl::lines::fused;

/// The longest k of one pass.
pub const K_MAX: u32 = 1 << 17;

/// The longest where k goes one by one, not by fours.
pub const STRIP_K_MAX: u32 = K_MAX / 4;

/// Along which axis an operand is read by quads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Along {
    /// Along k: rows of A, columns of B.
    K,
    /// Along the other: columns of A, rows of B.
    Outer,
    /// Along neither: element by element, at any strides.
    Neither,
}

/// How several quads are loaded at once, along k.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Packed {
    /// 32 bytes as four 64-bit integers, whose words are decoded here: llvmpipe pays by the load
    /// and lane, whatever the width.
    Wide(Form),
    /// 16 bytes, as four words of four signed or unsigned bytes. Two words are multiplied and added
    /// up by one function of the language, which is one instruction of most GPUs. No feature is
    /// asked for: naga writes what a driver lacks in steps.
    Bytes {
        /// Whether they are `i8`, not `u8`.
        signed: bool,
    },
}

impl Packed {
    /// Four products of bytes by one instruction, if both sides are bytes of one kind.
    pub(crate) const fn of_bytes(sides: [DType; 2]) -> Option<Self> {
        match sides {
            [DType::I8, DType::I8] => Some(Self::Bytes { signed: true }),
            [DType::U8, DType::U8] => Some(Self::Bytes { signed: false }),
            _ => None,
        }
    }

    /// Quads of elements in a load.
    #[must_use]
    pub const fn quads(self) -> u32 {
        match self {
            Self::Wide(form) => 8 / form.width(),
            Self::Bytes { .. } => 4,
        }
    }

    /// Elements in a load.
    #[must_use]
    pub const fn unit(self) -> usize {
        4 * self.quads() as usize
    }

    /// The dtype that operands are read as: a load is a quad of it.
    #[must_use]
    pub const fn dtype(self) -> DType {
        match self {
            Self::Wide(_) => DType::U64,
            Self::Bytes { .. } => DType::U32,
        }
    }
}

/// What an invocation sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tile {
    /// Rows of a tile; whole fours where A is read along its rows.
    pub rows: u32,
    /// Quads of columns.
    pub quads: u32,
    /// How A and B are read.
    pub along: [Along; 2],
    /// Whether k ends inside a trip.
    pub ragged: bool,
    /// Whether the lanes of a subgroup, which is all of the workgroup, load A together: each loads
    /// an eighth of what all need, and broadcasts it.
    pub shared: bool,
    /// Whether A was copied into strips of as many rows, of which one k follows the other, with its
    /// rows side by side. B is read along its rows then.
    pub strips: bool,
    /// Whether B was copied into sheets of as many columns as a workgroup sums, in which one k
    /// follows the other. It is read along its rows then.
    pub sheets: bool,
    /// Whether a product is added to its sum by `fma`, where that is one instruction.
    pub fused: bool,
    /// Whether all batches lie one step apart.
    pub even: bool,
    /// Whether both operands are read along k, several quads at a time.
    pub packed: Option<Packed>,
}

impl Tile {
    /// How many of k a trip of the loop takes.
    #[must_use]
    pub const fn trip(&self) -> u32 {
        match (self.strips, self.shared) {
            (false, _) => 4,
            (true, false) => 1,
            // As many as the lanes load quads of.
            (true, true) => 4 * SHARERS / self.rows,
        }
    }
}

/// What a sum grows by: a number of A, and the quad of B that it multiplies.
pub(super) struct Factors {
    pub(super) a: String,
    pub(super) b: String,
}

impl Factors {
    /// All of them added up.
    pub(super) fn total(terms: &[Self]) -> String {
        let products = terms.iter().map(|Self { a, b }| format!("{a} * {b}"));
        products.collect::<Vec<_>>().join(" + ")
    }

    /// Number `x` of a sum and of all of them, one after the other.
    pub(super) fn fused(terms: &[Self], sum: &str, x: char) -> String {
        let each = terms.iter().map(|Self { a, b }| (a.clone(), format!("{b}.{x}")));
        fused(format!("{sum}.{x}"), each)
    }
}

/// Four elements, `d` apart.
pub(super) fn four(head: &str, first: &str, d: &str) -> String {
    let of = |i: u32| format!("{head}({first} + {i}u * {d}).x");
    format!("Quad({}, {}, {}, {})", of(0), of(1), of(2), of(3))
}
