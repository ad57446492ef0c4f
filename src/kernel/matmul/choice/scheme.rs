//! The nouns of a choice: how large a product is, how workgroups share it, and why they do so.

use core::fmt;

use crate::kernel::matmul::text::tile::{K_MAX, STRIP_K_MAX};
use crate::kernel::matmul::text::{group, squares};
use crate::shape::Shape;
use crate::wgsl::grid::GROUPS_MAX;

/// A product: batches, rows, columns, and what is summed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) batch: usize,
    pub(crate) m: usize,
    pub(crate) n: usize,
    pub(crate) k: usize,
}

/// Rows, where it must not matter how many there are.
const ROWS_OF_ANY: usize = 64;

impl Size {
    /// Of operands `[batch .., m, k]` and `[batch .., k, n]`.
    pub(crate) fn of(a: &Shape, b: &Shape) -> Self {
        let (a, b) = (a.dims(), b.dims());
        let rank = a.len();
        let batch = a[..rank - 2].iter().product();
        Self { batch, m: a[rank - 2], n: b[rank - 1], k: a[rank - 1] }
    }

    /// Of the transposed product.
    pub(super) const fn swapped(self) -> Self {
        Self { m: self.n, n: self.m, ..self }
    }

    /// What stands for any number of rows and batches.
    pub(super) const fn of_any_batch(self) -> Self {
        Self { batch: 1, m: ROWS_OF_ANY, ..self }
    }

    /// Multiplications.
    pub(super) fn work(&self) -> f64 {
        [self.batch, self.m, self.n, self.k].iter().map(|&d| d as f64).product()
    }
}

/// How a workgroup shares a product among its invocations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scheme {
    /// Registers only: all lanes along the columns.
    Registers,
    /// Registers, and the left side copied into strips first, of as many rows as an invocation
    /// sums; and the right one, if it is not read by quads of columns.
    Strips,
    /// Registers, and a product is added to its sum by `fma`, where that is one instruction: twice
    /// as fast as two. Compilers of GPUs make one by themselves, older drivers of processors none.
    Fused,
    /// Like `Fused`, and the right side copied into sheets first, of as many columns as a workgroup
    /// sums.
    Sheets,
    /// Tiles of both operands in workgroup memory, `depth` of k at a time; `across` lanes along the
    /// columns, the others along the rows. A lean one holds its totals there as well.
    Group { across: u32, depth: u32, lean: bool },
    /// A few rows: `across` lanes along the columns, the others along k, put together by subgroups
    /// or in workgroup memory.
    Vector { across: u32, subgroups: bool },
    /// Squares of `side` in workgroup memory, which subgroups multiply as one. There are `down` by
    /// `across` subgroups; each sums the variant's rows and quads.
    Cooperative { side: u32, down: u32, across: u32, depth: u32 },
}

impl Scheme {
    /// Whether products are added to their sums by `fma`.
    pub(crate) const fn fuses(self) -> bool {
        matches!(self, Self::Fused | Self::Sheets)
    }

    /// Whether nothing lies in workgroup memory, and all lanes along the columns.
    pub(crate) const fn is_registers(self) -> bool {
        matches!(self, Self::Registers | Self::Strips | Self::Fused | Self::Sheets)
    }
}

/// A kernel: a scheme, and what it is written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Variant {
    pub(crate) scheme: Scheme,
    /// Rows and quads of columns that an invocation sums.
    pub(crate) rows: u32,
    pub(crate) quads: u32,
    /// Invocations of a workgroup.
    pub(crate) lanes: u32,
}

/// A kernel, and how it is run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Choice {
    pub(crate) variant: Variant,
    /// Passes along k, whose sums are added.
    pub(crate) passes: usize,
    pub(crate) because: Because,
}

/// Why a choice was made, with its numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Because {
    /// It was asked for.
    #[cfg(feature = "testing")]
    Forced,
    /// It was measured here for problems of this class, or is being measured.
    Tuned,
    /// Its rate, and which part of it the shape uses.
    Best { rate: f64, used: f64 },
}

impl Variant {
    /// Rows and columns of a workgroup.
    pub(crate) const fn tile(&self) -> [usize; 2] {
        let (down, across) = match self.scheme {
            Scheme::Group { across, .. } => (self.lanes / across, across),
            Scheme::Vector { across, .. } => (1, across),
            Scheme::Cooperative { down, across, .. } => (down, across),
            Scheme::Registers | Scheme::Strips | Scheme::Fused | Scheme::Sheets => (1, self.lanes),
        };
        [(self.rows * down) as usize, (4 * self.quads * across) as usize]
    }

    /// The most columns of one dispatch.
    pub(crate) const fn columns_max(&self) -> usize {
        match self.scheme.is_registers() {
            true => GROUPS_MAX as usize * self.tile()[1],
            // Grids of the others fold over two dimensions.
            false => usize::MAX,
        }
    }

    /// Rows of a strip of the left side, if that is copied into strips.
    pub(crate) const fn strip(&self) -> Option<usize> {
        if let Scheme::Strips = self.scheme { Some(self.rows as usize) } else { None }
    }

    /// What is copied comes in so many rows of the left side, and columns of the right one.
    pub(crate) const fn copied(&self) -> Option<[usize; 2]> {
        match self.scheme {
            Scheme::Strips => Some([self.rows as usize, 4]),
            Scheme::Sheets => Some([1, self.tile()[1]]),
            _ => None,
        }
    }

    /// Elements that are copied for each multiplication, where neighbours in B lie along k or not.
    pub(super) fn copies(&self, size: Size, near_k: bool) -> f64 {
        let [left, right] = [1.0 / size.n as f64, 1.0 / size.m as f64];
        match self.scheme {
            Scheme::Strips => left + if near_k { right } else { 0.0 },
            Scheme::Sheets => right,
            _ => 0.0,
        }
    }

    /// The longest k of one pass.
    pub(crate) const fn k_max(&self) -> usize {
        if let Scheme::Strips = self.scheme { STRIP_K_MAX as usize } else { K_MAX as usize }
    }

    /// Bytes of workgroup memory, where a factor and a sum have so many.
    pub(super) fn bytes_shared(&self, [factor, sum]: [u32; 2]) -> u32 {
        let [rows, columns] = self.tile();
        let quads = match self.scheme {
            Scheme::Registers | Scheme::Strips | Scheme::Fused | Scheme::Sheets => 0,
            Scheme::Group { across, depth, lean } => {
                // With the padding of each turn's rows, and of the turns.
                let (turn, pad) = (group::turn(depth), 32 / depth);
                let side = |quads: u32, lanes| quads * (depth * (lanes + pad) + turn);
                let totals = if lean { self.rows * self.quads * self.lanes } else { 0 };
                side(self.rows / 4, self.lanes / across) + side(self.quads, across) + totals
            }
            Scheme::Vector { .. } => self.rows * self.quads * self.lanes,
            Scheme::Cooperative { side, down, across, depth } => {
                let parts = (rows + columns) as u32 * depth / side * squares::pitch(side, factor);
                return parts * factor + (down * across + 1) * side * side * sum;
            }
        };
        4 * quads * sum
    }

    /// Which part of the lanes that stand along k have a quad of it in every round.
    pub(super) fn busy_along_k(&self, k: usize) -> f64 {
        let Scheme::Vector { across, .. } = self.scheme else { return 1.0 };
        let (quads, lanes) = (k.div_ceil(4).max(1), (self.lanes / across) as usize);
        quads as f64 / quads.next_multiple_of(lanes) as f64
    }

    /// Which part of a tile's work counts, and how many workgroups there are.
    pub(super) fn use_of(&self, size: Size) -> (f64, f64) {
        let [rows, columns] = self.tile();
        let (down, across) = (size.m.div_ceil(rows), size.n.div_ceil(columns));
        let part = |n: usize, tiles: usize| n as f64 / tiles as f64;
        let used = part(size.m, down * rows) * part(size.n, across * columns);
        (used, (down * across * size.batch) as f64)
    }
}

impl Choice {
    /// What it is expected to reach, in parts of the fastest kernel's rate.
    pub(super) fn worth(&self) -> f64 {
        if let Because::Best { rate, used } = self.because { rate * used } else { f64::INFINITY }
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { variant: Variant { scheme, quads, lanes, .. }, passes, because } = self;
        let [rows, columns] = self.variant.tile();
        match scheme {
            Scheme::Registers => write!(f, "a tile of {rows} x {}", 4 * quads)?,
            Scheme::Strips => write!(f, "strips of {rows} x {}", 4 * quads)?,
            Scheme::Fused => write!(f, "a fused tile of {rows} x {}", 4 * quads)?,
            Scheme::Sheets => write!(f, "a fused tile of {rows} x {} by sheets", 4 * quads)?,
            Scheme::Group { depth, lean, .. } => {
                let totals = if *lean { ", lean" } else { "" };
                write!(f, "workgroup tiles of {rows} x {columns} by {depth}{totals}")?;
            }
            Scheme::Vector { across, subgroups } => {
                let by = if *subgroups { ", by subgroups" } else { "" };
                write!(f, "{rows} x {columns} in {} parts{by}", lanes / across)?;
            }
            Scheme::Cooperative { side, depth, .. } => {
                write!(f, "cooperative matrices of {side} x {side}, ")?;
                write!(f, "tiles of {rows} x {columns} by {depth}")?;
            }
        }
        write!(f, ", {lanes} lanes, {passes} along k: ")?;
        match because {
            #[cfg(feature = "testing")]
            Because::Forced => f.write_str("forced"),
            Because::Tuned => f.write_str("tuned"),
            Because::Best { rate, used } => {
                write!(f, "rate {rate:.2} of the largest tile's, {:.0} % used", used * 100.0)
            }
        }
    }
}
