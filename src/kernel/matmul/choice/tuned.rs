//! Products that are tuned for, and their choices as text.

use core::fmt;

use super::scheme::{Because, Choice, Scheme, Size, Variant};
use crate::dtype::DType;
use crate::kernel::choice::processor::Processor;
use crate::kernel::choice::size::SizeText;
use crate::kernel::matmul::text::tile::Packed;
use crate::layout::Layout;
use crate::wgsl::rig::Rig;

/// A product to tune for: `batch` of `[m, k]` by `[k, n]`, of one dtype.
///
/// ```
/// use wharf::DType;
/// use wharf::tune::ProductSize;
///
/// let layer = ProductSize::new(1, 1024, 4096, DType::F16).transposed();
/// assert_eq!(layer.to_string(), "f16 1 x 1024 x 4096, right [n, k]");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct ProductSize {
    /// How many products at once. Those that share a right side count as more rows instead.
    pub batch: usize,
    /// Rows of the result.
    pub m: usize,
    /// Columns of the result.
    pub n: usize,
    /// What is summed over.
    pub k: usize,
    /// The dtype of both sides.
    pub dtype: DType,
    /// Whether the right side is stored as `[n, k]`, as the weight of a layer is.
    pub transposed: bool,
}

impl ProductSize {
    /// One product of `[m, k]` by `[k, n]`.
    #[must_use]
    pub const fn new(m: usize, n: usize, k: usize, dtype: DType) -> Self {
        Self { batch: 1, m, n, k, dtype, transposed: false }
    }

    /// So many of them at once.
    #[must_use]
    pub const fn batched(self, batch: usize) -> Self {
        Self { batch, ..self }
    }

    /// With a right side that is stored as `[n, k]`.
    #[must_use]
    pub const fn transposed(self) -> Self {
        Self { transposed: true, ..self }
    }

    /// The size of a product of these sides. Batches that share a right side count as more rows.
    pub(crate) fn of_sides([left, right]: &[Layout; 2], dtype: DType) -> Self {
        let Size { batch, m, n, k } = Size::of(left.shape(), right.shape());
        let strides = right.strides();
        let outer = strides.len() - 2;
        let shared = strides[..outer].iter().all(|&stride| stride == 0);
        let [batch, m] = if shared { [1, batch * m] } else { [batch, m] };
        let transposed = strides[outer] == 1 && strides[outer + 1] != 1;
        Self { batch, m, n, k, dtype, transposed }
    }

    /// What is worth timing.
    pub(crate) fn candidates(&self, on: Rig<'_>) -> Vec<Choice> {
        let Self { batch, m, n, k, dtype, transposed } = *self;
        let processor = Processor::of(on, dtype);
        // Sides of such lengths are read by dots, but where a view begins within one.
        let dots = Packed::of_bytes([dtype; 2]).filter(|_| transposed);
        let processor = match dots.is_some_and(|bytes| k.is_multiple_of(bytes.unit())) {
            true => processor.of_dots(),
            false => processor,
        };
        super::candidates(processor, Size { batch, m, n, k }, transposed)
    }
}

impl SizeText for ProductSize {
    fn kind(&self) -> String {
        let right = if self.transposed { "[n,k]" } else { "[k,n]" };
        format!("product {} {right}", self.dtype)
    }

    fn dims(&self) -> Vec<usize> {
        vec![self.batch, self.m, self.n, self.k]
    }

    fn read(kind: &[&str], dims: &[usize]) -> Option<Self> {
        let (&["product", dtype, right], &[batch, m, n, k]) = (kind, dims) else { return None };
        let transposed = match right {
            "[n,k]" => true,
            "[k,n]" => false,
            _ => return None,
        };
        Some(Self { batch, m, n, k, dtype: DType::named(dtype)?, transposed })
    }

    fn each(self, make: impl Fn(usize) -> usize) -> Self {
        let [batch, m, n, k] = [self.batch, self.m, self.n, self.k].map(make);
        Self { batch, m, n, k, ..self }
    }
}

impl fmt::Display for ProductSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { batch, m, n, k, dtype, transposed } = self;
        if *batch != 1 {
            write!(f, "{batch} of ")?;
        }
        write!(f, "{dtype} {m} x {n} x {k}")?;
        f.write_str(if *transposed { ", right [n, k]" } else { "" })
    }
}

impl Variant {
    pub(super) fn text(&self) -> String {
        let Self { scheme, rows, quads, lanes } = self;
        let scheme = match scheme {
            Scheme::Registers => "tile".into(),
            Scheme::Strips => "strips".into(),
            Scheme::Fused => "fused".into(),
            Scheme::Sheets => "sheets".into(),
            Scheme::Group { across, depth, lean } => {
                format!("group {across} deep {depth}{}", if *lean { " lean" } else { "" })
            }
            Scheme::Vector { across, subgroups: false } => format!("vector {across}"),
            Scheme::Vector { across, subgroups: true } => format!("vector {across} subgroups"),
            Scheme::Cooperative { side, down, across, depth } => {
                format!("cooperative {side} {down}x{across} deep {depth}")
            }
        };
        format!("{scheme} sums {rows}x{} lanes {lanes}", 4 * quads)
    }

    fn parse(words: &[&str]) -> Option<Self> {
        let [scheme @ .., "sums", sums, "lanes", lanes] = words else { return None };
        let number = |word: &str| word.parse::<u32>().ok();
        let scheme = match scheme {
            ["tile"] => Scheme::Registers,
            ["strips"] => Scheme::Strips,
            ["fused"] => Scheme::Fused,
            ["sheets"] => Scheme::Sheets,
            ["group", across, "deep", depth, totals @ ..]
                if totals.is_empty() || totals == ["lean"] =>
            {
                let lean = !totals.is_empty();
                Scheme::Group { across: number(across)?, depth: number(depth)?, lean }
            }
            ["cooperative", side, teams, "deep", depth] => {
                let (down, across) = teams.split_once('x')?;
                let (down, across) = (number(down)?, number(across)?);
                Scheme::Cooperative { side: number(side)?, down, across, depth: number(depth)? }
            }
            ["vector", across, by @ ..] if by.is_empty() || by == ["subgroups"] => {
                Scheme::Vector { across: number(across)?, subgroups: !by.is_empty() }
            }
            _ => return None,
        };
        let (rows, columns) = sums.split_once('x')?;
        let (rows, columns, lanes) = (number(rows)?, number(columns)?, number(lanes)?);
        columns.is_multiple_of(4).then_some(Self { scheme, rows, quads: columns / 4, lanes })
    }

    /// Whether a kernel can be written for it.
    fn is_possible(&self) -> bool {
        let tile = (1..=32).contains(&self.rows) && (1..=8).contains(&self.quads);
        match self.scheme {
            Scheme::Strips if !self.rows.is_multiple_of(4) => false,
            scheme if scheme.is_registers() => tile && (1..=256).contains(&self.lanes),
            _ => self.is_known(),
        }
    }
}

impl Choice {
    /// As text, without why it was made.
    pub(crate) fn text(&self) -> String {
        format!("{} passes {}", self.variant.text(), self.passes)
    }

    /// The choice of a text, whatever it says.
    pub(crate) fn named(text: &str, because: Because) -> Option<Self> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let [variant @ .., "passes", passes] = &*words else { return None };
        Some(Self { variant: Variant::parse(variant)?, passes: passes.parse().ok()?, because })
    }

    /// The choice of a text, if it is one that a kernel can be written for.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let choice = Self::named(text, Because::Tuned)?;
        (choice.variant.is_possible() && (1..=64).contains(&choice.passes)).then_some(choice)
    }
}
