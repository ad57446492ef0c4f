//! Choices that were measured on an adapter, by the problem they were measured for; and their text.
//!
//! An entry counts for its *class*: products of the same dtype and lie, each of whose dimensions is
//! rounded up to the same power of two. Of several entries of a class, one for just this problem
//! comes first.

use core::fmt;

use super::scheme::{Because, Choice, Scheme, Size, Variant};
use crate::dtype::DType;
use crate::layout::Layout;
use crate::wgsl::Target;

/// A product to tune for: `batch` of `[m, k]` by `[k, n]`, of one dtype.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Problem {
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

impl Problem {
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

    /// The problem that a product is. Batches that share a right side count as more rows.
    pub(super) fn of(size: Size, dtype: DType, right: &Layout) -> Self {
        let Size { batch, m, n, k } = size;
        let strides = right.strides();
        let outer = strides.len() - 2;
        let shared = strides[..outer].iter().all(|&stride| stride == 0);
        let [batch, m] = if shared { [1, batch * m] } else { [batch, m] };
        let transposed = strides[outer] == 1 && strides[outer + 1] != 1;
        Self { batch, m, n, k, dtype, transposed }
    }

    /// What may share an entry with it.
    fn class(&self) -> ([usize; 4], DType, bool) {
        // A file may hold any number. One that has no power of two above it is a class of its own.
        let class = |dim: usize| dim.checked_next_power_of_two().unwrap_or(dim);
        let dims = [self.batch, self.m, self.n, self.k].map(class);
        (dims, self.dtype, self.transposed)
    }

    /// Its operands' sizes.
    pub(crate) const fn size(&self) -> Size {
        let Self { batch, m, n, k, .. } = *self;
        Size { batch, m, n, k }
    }

    /// As one line of a file: `f32 1 512 512 512 [k,n]`.
    fn text(&self) -> String {
        let Self { batch, m, n, k, dtype, transposed } = self;
        let right = if *transposed { "[n,k]" } else { "[k,n]" };
        format!("{dtype} {batch} {m} {n} {k} {right}")
    }

    fn parse(text: &str) -> Option<Self> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let [dtype, dims @ .., right] = &*words else { return None };
        let dims: Option<Vec<usize>> = dims.iter().map(|word| word.parse().ok()).collect();
        let [batch, m, n, k] = *dims? else { return None };
        let transposed = match *right {
            "[n,k]" => true,
            "[k,n]" => false,
            _ => return None,
        };
        Some(Self { batch, m, n, k, dtype: DType::parse(dtype)?, transposed })
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { batch, m, n, k, dtype, transposed } = self;
        if *batch != 1 {
            write!(f, "{batch} of ")?;
        }
        write!(f, "{dtype} {m} x {n} x {k}")?;
        f.write_str(if *transposed { ", right [n, k]" } else { "" })
    }
}

/// What was measured for a problem.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Measured {
    pub(crate) problem: Problem,
    /// The fastest of those that are right; `None` where that is the built-in choice.
    pub(crate) choice: Option<Choice>,
    /// Billions of operations a second, multiplications and additions.
    pub(crate) rate: f64,
}

impl Measured {
    /// As one line of a file.
    pub(crate) fn text(&self) -> String {
        let choice = self.choice.map_or_else(|| "built-in".into(), |choice| choice.text());
        format!("{} = {choice} @ {:.2}", self.problem.text(), self.rate)
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (problem, rest) = text.split_once(" = ")?;
        let (choice, rate) = rest.split_once(" @ ")?;
        let problem = Problem::parse(problem)?;
        let choice = match choice {
            "built-in" => None,
            text => Some(Choice::parse(text)?),
        };
        let rate = rate.parse().ok().filter(|rate: &f64| rate.is_finite())?;
        Some(Self { problem, choice, rate })
    }
}

impl Variant {
    pub(super) fn text(&self) -> String {
        let Self { scheme, rows, quads, lanes } = self;
        let scheme = match scheme {
            Scheme::Registers => "tile".into(),
            Scheme::Strips => "strips".into(),
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
            Scheme::Registers => tile && (1..=256).contains(&self.lanes),
            Scheme::Strips => {
                tile && self.rows.is_multiple_of(4) && (1..=256).contains(&self.lanes)
            }
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

/// What tuning found on one class of kernels of an adapter.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Table {
    pub(crate) target: Target,
    pub(crate) entries: Vec<Measured>,
}

impl Table {
    /// The measured choice for a problem, if there is one other than the built-in.
    pub(super) fn choice(&self, target: Target, problem: &Problem) -> Option<Choice> {
        if target != self.target {
            return None;
        }
        let equal = self.entries.iter().find(|entry| entry.problem == *problem);
        let alike = || self.entries.iter().find(|entry| entry.problem.class() == problem.class());
        equal.or_else(alike)?.choice
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_back_from_their_text() {
        let problem = Problem::new(1, 4096, 512, DType::Bf16).batched(3).transposed();
        for tile in [
            "tile sums 8x16 lanes 8 passes 2",
            "tile sums 1x4 lanes 64 passes 1",
            "group 16 deep 16 sums 8x8 lanes 256 passes 1",
            "group 16 deep 16 lean sums 8x4 lanes 256 passes 1",
            "vector 1 subgroups sums 4x4 lanes 64 passes 2",
            "vector 16 sums 1x4 lanes 256 passes 16",
            "vector 1 subgroups sums 2x8 lanes 8 passes 1",
            "cooperative 16 2x2 deep 32 sums 32x32 lanes 128 passes 1",
            "cooperative 8 2x2 deep 16 sums 16x16 lanes 32 passes 3",
        ] {
            let choice = Choice::parse(tile);
            assert_eq!(choice.map(|choice| choice.text()).as_deref(), Some(tile));
            let entry = Measured { problem, choice, rate: 12.5 };
            assert_eq!(Measured::parse(&entry.text()), Some(entry));
        }
        let built_in = Measured { problem, choice: None, rate: 0.25 };
        assert_eq!(Measured::parse(&built_in.text()), Some(built_in));
        for text in [
            "tile sums 8x16 lanes 8",
            "tile sums 8x15 lanes 8 passes 1",
            "tile sums 0x16 lanes 8 passes 1",
            "tile sums 8x16 lanes 0 passes 1",
            "tile sums 8x16 lanes 8 passes 0",
            "group 16 deep 7 sums 8x8 lanes 256 passes 1",
            "group 16 deep 16 fat sums 8x4 lanes 256 passes 1",
            "group 16 deep 16 lean sums 8x8 lanes 256 passes 1",
            "vector 0 sums 1x4 lanes 256 passes 1",
            "cooperative 4 2x2 deep 16 sums 16x16 lanes 32 passes 1",
            "cooperative 8 0x0 deep 16 sums 16x16 lanes 32 passes 1",
            "wave sums 8x16 lanes 8 passes 1",
        ] {
            assert_eq!(Choice::parse(text), None, "{text}");
        }
        let line = "f32 1 64 64 64 [k,n] = tile sums 8x16 lanes 8 passes 1 @ 3.00";
        assert!(Measured::parse(line).is_some(), "{line}");
        for (from, to) in [("f32", "f31"), ("[k,n]", "[m,n]"), ("64 64 ", "64 "), ("3.00", "fast")]
        {
            assert_eq!(Measured::parse(&line.replacen(from, to, 1)), None, "{to}");
        }
    }

    #[test]
    fn an_entry_counts_for_its_class() {
        let entry = |m, tile| Measured {
            problem: Problem::new(m, 512, 512, DType::F32),
            choice: Choice::parse(tile),
            rate: 1.0,
        };
        let (first, second) = ("tile sums 8x16 lanes 8 passes 1", "tile sums 4x8 lanes 8 passes 1");
        let table =
            Table { target: Target::Cpu, entries: vec![entry(512, first), entry(400, second)] };
        let of = |target, problem: Problem| table.choice(target, &problem).map(|c| c.text());
        let square = Problem::new(512, 512, 512, DType::F32);
        assert_eq!(of(Target::Cpu, square).as_deref(), Some(first));
        assert_eq!(of(Target::Cpu, Problem { m: 400, ..square }).as_deref(), Some(second));
        assert_eq!(of(Target::Cpu, Problem { m: 300, ..square }).as_deref(), Some(first));
        for other in [
            Problem { m: 513, ..square },
            Problem { k: 256, ..square },
            Problem { dtype: DType::F16, ..square },
            square.transposed(),
            square.batched(2),
        ] {
            assert_eq!(of(Target::Cpu, other), None, "{other}");
        }
        assert_eq!(of(Target::Gpu, square), None, "another class of kernels");
        let line = format!("f32 1 {} 64 64 [k,n] = {first} @ 3.00", usize::MAX);
        let table =
            Table { target: Target::Cpu, entries: Measured::parse(&line).into_iter().collect() };
        assert_eq!(table.choice(Target::Cpu, &square), None, "beyond every power of two");
    }
}
