//! The text of windows: taps are written out, by name. `e2_5` is the sixth element of those - or
//! the sixth quad - that a quad's windows have in the row two below the first, `q2_1` what the
//! second tap along x sees of it, `s3` what the windows of the fourth line come to.

use std::collections::BTreeSet;

use crate::dtype::DType;
use crate::kernel::reduce::text::{Fold, Reduce};
use crate::op::Kind;
use crate::wgsl::lines::{StoredQuad, lane, one_of, put};
use crate::wgsl::params::params;
use crate::wgsl::source::source;
use crate::wgsl::{Entry, Needs, Region, Writes};

/// The kernel.
pub const WINDOWS: Entry =
    Entry::core("windows", source!("windows.wgsl")).told(WindowsJob::MEMBERS);

params! {
    struct WindowsJob {
        columns: [u32; 4],
        result: [u32; 4],
        space: [u32; 4],
        step: [u32; 2],
        reach: [u32; 2],
        first: [u32; 2],
        along: [u32; 2],
        input: [u32; 4],
        weight: [u32; 4],
        outer: [u32; 2],
        first_group: u32,
    }
}

/// What the elements of a window come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Gather {
    /// The largest, or NaN if one is.
    Highest,
    /// Their sum.
    Sum,
    /// Their sum, each times a weight; the weights are another input.
    Weighted,
}

/// Taps along y that are written out: how many, from line to line of the result, from tap to tap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TapsDown {
    /// Taps of a trip: all, or one.
    pub taps: u32,
    /// From line to line of the result.
    pub step: u32,
    /// From tap to tap.
    pub reach: u32,
}

/// The kernel for windows that have so many taps along x.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct WindowsText {
    /// What it makes of them.
    pub gather: Gather,
    /// What the elements are.
    pub dtype: DType,
    /// The taps along x.
    pub taps: u32,
    /// From window to window.
    pub step: u32,
    /// From tap to tap.
    pub reach: u32,
    /// Along y.
    pub down: TapsDown,
    /// Lines of the result that a lane takes at a time.
    pub lines: u32,
    /// Which element of a quad the first one is, if quads are loaded.
    pub phase: Option<u32>,
    /// Whether rows of the result are whole quads. Otherwise it is stored by elements.
    pub whole: bool,
    /// Whether images and channels are one axis.
    pub lone: bool,
    /// Whether the result has one plane.
    pub flat: bool,
}

impl WindowsText {
    const fn fold(&self) -> Reduce {
        let fold = match self.gather {
            Gather::Highest => Fold::Max,
            Gather::Sum | Gather::Weighted => Fold::Sum,
        };
        Reduce { fold, kind: Kind::of(self.dtype), index: false }
    }

    /// What a window finds beside the input, as it is held: for a maximum the least of the dtype,
    /// for a sum 0.
    const fn least(&self) -> &'static str {
        match (self.gather, self.dtype) {
            // Negative infinity, lifted.
            (Gather::Highest, DType::F32 | DType::F16 | DType::Bf16) => "-2139095040",
            (Gather::Highest, DType::F64) => "-9218868437227405312li",
            (Gather::Highest, DType::I8) => "-128",
            (Gather::Highest, DType::I16) => "-32768",
            _ => self.fold().neutral(),
        }
    }

    fn arithmetic(&self) -> String {
        let least = self.least();
        self.fold().arithmetic(false, false)
            + &format!("fn least() -> vec4<Held> {{\n    return vec4<Held>({least});\n}}\n")
    }

    /// The place of the first window, and what is the same for all lines.
    fn place(&self) -> String {
        let mut text = String::new();
        match self.flat {
            true => put!(text, "let lead = plane;\nlet z0 = p.job.first.x;"),
            false => put!(
                text,
                "let lead = plane / p.job.result.x;\n\
                 let z0 = (plane - lead * p.job.result.x) * p.job.step.x + p.job.first.x;"
            ),
        }
        match self.lone {
            true => put!(text, "let channel = lead;\nlet begin = lead * p.job.input.w;"),
            false => put!(
                text,
                "let image = lead / p.job.result.w;\n\
                 let channel = lead - image * p.job.result.w;\n\
                 let begin = image * p.job.outer.x + channel * p.job.input.w;"
            ),
        }
        if self.gather == Gather::Weighted {
            put!(text, "let weights = channel * p.job.weight.w;");
        }
        text
    }

    /// The element of window `n` at tap `k`, counted from the first that is loaded.
    fn at(&self, n: u32, k: u32) -> u32 {
        self.phase.unwrap_or(0) + n * self.step + k * self.reach
    }

    /// What a lane loads of a row: quads by number, or elements, counted from the first.
    fn loaded(&self) -> BTreeSet<u32> {
        let all = (0..4).flat_map(|n| (0..self.taps).map(move |k| self.at(n, k)));
        let unit = if self.phase.is_some() { 4 } else { 1 };
        all.map(|at| at / unit).collect()
    }

    /// Rows of the input, by how far they lie below the first: windows of several lines share some.
    fn rows(&self) -> BTreeSet<u32> {
        self.windows().map(|window| self.row(window)).collect()
    }

    /// The lines of a lane, with each of their taps along y.
    fn windows(&self) -> impl Iterator<Item = (u32, u32)> {
        let taps = self.down.taps;
        (0..self.lines).flat_map(move |line| (0..taps).map(move |j| (line, j)))
    }

    const fn row(&self, (line, j): (u32, u32)) -> u32 {
        line * self.down.step + j * self.down.reach
    }

    /// Rows of the input in a trip, and how many there would be if lines shared none.
    pub(super) fn rows_shared(&self) -> [u32; 2] {
        [self.rows().len() as u32, self.lines * self.down.taps]
    }

    /// Loads of a row.
    pub(super) fn loads(&self) -> u32 {
        self.loaded().len() as u32
    }

    /// Which of them lie in the input along x: the same for all rows.
    fn across(&self) -> String {
        let check = |t: &u32| format!("let c{t} = edge + {t}u < p.job.space.z;\n");
        self.loaded().iter().map(check).collect()
    }

    fn take(&self) -> String {
        let stride = if self.phase.is_some() { "" } else { " * p.job.input.z" };
        let mut text = String::new();
        if self.gather == Gather::Weighted {
            put!(text, "let tap = weights + i * p.job.weight.x + j * p.job.weight.y;");
            let taps = (0..self.down.taps).flat_map(|j| (0..self.taps).map(move |k| (j, k)));
            for (j, k) in taps {
                let place = format!("tap + {j}u * p.job.weight.y + {k}u * p.job.weight.z");
                put!(text, "let w{j}_{k} = head_1({place}).x;");
            }
        }
        for t in self.rows() {
            put!(text, "let t{t} = in_space && at_y + {t}u < p.job.space.y;");
            put!(text, "let row{t} = plane_begin + (at_y + {t}u) * p.job.input.y + edge{stride};");
            for n in self.loaded() {
                let place = format!("select(begin, row{t} + {n}u{stride}, t{t} && c{n})");
                put!(text, "let e{t}_{n} = select(least(), lift(head_0({place})), t{t} && c{n});");
            }
            for k in 0..self.taps {
                let parts = [0, 1, 2, 3].map(|n| self.part(t, self.at(n, k))).join(", ");
                put!(text, "let q{t}_{k} = vec4<Held>({parts});");
            }
            for (line, j) in self.windows().filter(|&window| self.row(window) == t) {
                for k in 0..self.taps {
                    match self.gather {
                        Gather::Weighted => put!(text, "s{line} += w{j}_{k} * q{t}_{k};"),
                        _ => put!(text, "s{line} = merge(s{line}, q{t}_{k});"),
                    }
                }
            }
        }
        text
    }

    /// An element of a row.
    fn part(&self, row: u32, at: u32) -> String {
        match self.phase {
            Some(_) => format!("e{row}_{}.{}", at / 4, lane(at)),
            None => format!("e{row}_{at}.x"),
        }
    }

    /// A line of the result: in a loop, so that the tail is compiled once.
    fn store(&self) -> String {
        let kind = format!("vec4<{}>", self.fold().kind.name());
        let line = one_of("line", (0..self.lines).map(|line| format!("s{line}")));
        let within = ("4u * x", "p.job.result.z");
        let quad = format!("lower({line})");
        StoredQuad { quad: (&quad, &kind), to: "to", within }.lines(self.whole)
    }
}

impl Writes for WindowsText {
    fn regions(&self) -> Vec<Region> {
        let begin =
            (0..self.lines).map(|line| format!("var s{line} = least();\n")).collect::<String>();
        vec![
            Region::text("lines", format!("const lines = {}u;\n", self.lines)),
            Region::text("fold", self.arithmetic()).needing(Needs::of(self.fold().held())),
            Region::text("place", self.place()),
            Region::text("across", self.across()),
            Region::text("begin", begin),
            Region::text("take", self.take()),
            Region::text("store", self.store()),
        ]
    }
}
