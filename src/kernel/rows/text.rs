//! The kernels that make a row of each row.

use crate::wgsl::params::params;
use crate::wgsl::source::source;
use crate::wgsl::{Entry, Needs, Region, Source, Writes, subgroups};

/// Softmax, a lane to a row.
pub const SOFTMAX_ROWS: Entry = Entry::core("softmax_rows", source!("softmax_rows.wgsl"))
    .with(&[LOG_SOFTMAX])
    .told(SoftmaxJob::MEMBERS);
/// Softmax, a group to a row.
pub const SOFTMAX_GROUP: Entry = Entry::core("softmax_group", source!("softmax_group.wgsl"))
    .clearing()
    .unprepared()
    .with(&[LOG_SOFTMAX, JOINED_SOFTMAX])
    .told(SoftmaxJob::MEMBERS);
/// Norms, a lane to a row.
pub const NORM_ROWS: Entry =
    Entry::core("norm_rows", source!("norm_rows.wgsl")).told(NormJob::MEMBERS);
/// Norms, a group to a row.
pub const NORM_GROUP: Entry = Entry::core("norm_group", source!("norm_group.wgsl"))
    .clearing()
    .unprepared()
    .with(subgroups::PARTS)
    .told(NormJob::MEMBERS);

const LOG_SOFTMAX: Source = source!("rows/log_softmax.wgsl");
const JOINED_SOFTMAX: Source = source!("rows/joined_softmax.wgsl", Needs::SUBGROUPS);

/// What a kernel makes of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RowsKind {
    /// Its softmax.
    Softmax,
    /// The logarithm of that.
    LogSoftmax,
    /// A norm.
    Norm,
}

/// One of these kernels, as it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RowsText {
    /// What it makes.
    pub kind: RowsKind,
    /// How the lanes of a group stand, if a group takes a row.
    pub group: Option<RowGroup>,
}

/// The lanes that take a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RowGroup {
    /// How many.
    pub lanes: u32,
    /// Units of a row that each of them keeps in registers: all that it has of a row; or 0, if it
    /// reads them again for every pass.
    pub held: u32,
    /// Whether they are put together by subgroups.
    pub subgroups: bool,
}

impl RowGroup {
    fn each(self, line: impl Fn(u32) -> String) -> String {
        (0..self.held).map(|i| line(i) + "\n").collect()
    }

    fn regions(self, kind: RowsKind) -> Vec<Region> {
        let Self { lanes, held, subgroups } = self;
        let joined = if kind == RowsKind::Norm { subgroups::SUM } else { JOINED_SOFTMAX };
        let joined = subgroups.then(|| subgroups::regions(joined));
        let lanes = Region::text("lanes", format!("const lanes = {lanes}u;\n"));
        let passes = if held == 0 { Vec::new() } else { self.passes(kind) };
        joined.into_iter().flatten().chain([lanes]).chain(passes).collect()
    }

    /// Units past the last are the last once more, and count for nothing.
    fn passes(self, kind: RowsKind) -> Vec<Region> {
        let mut sum = self.each(|i| {
            format!(
                "let t{i} = lane + {i}u * lanes;\n\
                 let x{i} = head_0(first + min(t{i}, units - 1u));"
            )
        });
        let add = |term: &dyn Fn(u32) -> String, to: &str| {
            let none = "vec4<f32>(0.0)";
            self.each(|i| format!("{to} += select({none}, {}, t{i} < units);", term(i)))
        };
        let value: &dyn Fn(u32) -> String = match kind {
            RowsKind::Norm => {
                sum += &add(&|i| format!("x{i}"), "own");
                &|i| format!("(x{i} - all.x) * all.y")
            }
            RowsKind::Softmax | RowsKind::LogSoftmax => {
                let mask = "vec4<u32>(0x7fffffffu)";
                sum += &self.each(|i| {
                    format!(
                        "own.m = max(own.m, x{i});\n\
                         own.bits = max(own.bits, bitcast<vec4<u32>>(x{i}) & {mask});"
                    )
                });
                sum += &add(&|i| format!("exp_below(x{i} - own.m)"), "own.s");
                &|i| format!("nan_where(value(x{i}, most, sum), fault)")
            }
        };
        let result = |i| format!("if t{i} < units {{\nfinish(first + t{i}, {});\n}}", value(i));
        let mut regions =
            vec![Region::text("sum", sum), Region::text("results", self.each(result))];
        if kind == RowsKind::Norm {
            let off = self.each(|i| format!("let o{i} = x{i} - mean;"));
            let squares = off + &add(&|i| format!("o{i} * o{i}"), "own");
            regions.push(Region::text("squares", squares));
        }
        regions
    }
}

impl Writes for RowsText {
    fn regions(&self) -> Vec<Region> {
        let log = (self.kind == RowsKind::LogSoftmax).then_some(LOG_SOFTMAX);
        let written = log.map(|log| Region::file("write", log));
        let group = self.group.map(|group| group.regions(self.kind));
        written.into_iter().chain(group.into_iter().flatten()).collect()
    }
}

params! {
    struct SoftmaxJob {
        rows: u32,
        units: u32,
        quads: bool,
    }

    struct NormJob {
        rows: u32,
        units: u32,
        quads: bool,
        about_zero: bool,
        eps: f32,
    }
}
