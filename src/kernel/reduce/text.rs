//! What the reducing kernels hold while they reduce: the region `state`.
//!
//! ```text
//! fold:   v = v + x,  v = v * x,  v = max(v, lift(x))
//! choice: the same as max, with the place of what won; of equals the first
//! ```
//!
//! Floats are compared as integers of the same order (`op/order.wgsl`): each is lifted to one -
//! upside down for the minimum - and the maximum of those is lowered again. So NaN needs no care.

use crate::op::Kind;
use crate::wgsl::params::params;
use crate::wgsl::source::source;
use crate::wgsl::{Entry, Needs, Region, Source, Writes, subgroups};

/// A lane to a row.
pub const REDUCE_ROWS: Entry = Entry::core("reduce_rows", source!("reduce_rows.wgsl"))
    .with(&[FOLD, CHOICE])
    .told(ReduceRowsJob::MEMBERS);
/// A group to a row.
pub const REDUCE_GROUP: Entry = Entry::core("reduce_group", source!("reduce_group.wgsl"))
    .clearing()
    .unprepared()
    .with(&[FOLD, CHOICE, JOINED_PROD, JOINED_MAX, JOINED_CHOICE])
    .told(ReduceRowsJob::MEMBERS);
/// A lane to a quad of columns.
pub const REDUCE_COLUMNS: Entry = Entry::core("reduce_columns", source!("reduce_columns.wgsl"))
    .with(&[FOLD, CHOICE])
    .told(ReduceColumnsJob::MEMBERS);

params! {
    struct ReduceRowsJob {
        rows: u32,
        length: u32,
        chunks: u32,
        each: u32,
        place: u32,
        first: u32,
    }

    struct ReduceColumnsJob {
        count: u32,
        length: u32,
        chunks: u32,
        each: u32,
        place: u32,
        first: u32,
        units: u32,
        per_row: u32,
        step: u32,
        mask: u32,
    }
}

/// How two become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fold {
    /// The sum.
    Sum,
    /// The product.
    Prod,
    /// The highest.
    Max,
    /// The lowest.
    Min,
}

/// A reduction of elements of one kind, as a kernel does it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reduce {
    /// How two become one.
    pub fold: Fold,
    /// What the elements are.
    pub kind: Kind,
    /// Whether the place of the winner is asked for, not its value.
    pub index: bool,
}

/// What a pass reads and leaves: elements, or what passes before and after it make of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pass {
    /// Whether it reads what a pass before it left.
    pub from_parts: bool,
    /// Whether it leaves something for a pass after it.
    pub to_parts: bool,
    /// Whether it reads element by element.
    pub reads_elements: bool,
    /// Whether it stores element by element.
    pub stores_elements: bool,
}

impl Reduce {
    /// The kind of the state's value.
    #[must_use]
    pub const fn held(self) -> Kind {
        match (self.fold, self.kind) {
            (Fold::Sum | Fold::Prod, kind) => kind,
            (_, Kind::F32) => Kind::I32,
            (_, Kind::F64) => Kind::I64,
            (_, kind) => kind,
        }
    }

    /// Units of columns that an invocation takes: two where their states are as wide as they get,
    /// because four spill on GPUs of few registers.
    #[must_use]
    pub const fn units(self) -> u32 {
        match self.held() {
            Kind::I64 | Kind::U64 | Kind::F64 if self.index => 2,
            _ => 4,
        }
    }

    /// The kind of the result.
    #[must_use]
    pub const fn result(self) -> Kind {
        if self.index { Kind::U32 } else { self.kind }
    }

    /// What changes nothing.
    pub(in crate::kernel) const fn neutral(self) -> &'static str {
        match (self.fold, self.held()) {
            (Fold::Prod, Kind::F32) => "1.0",
            (Fold::Prod, Kind::F64) => "1.0lf",
            (Fold::Prod, Kind::I64) => "1li",
            (Fold::Prod, Kind::U64) => "1lu",
            (Fold::Prod, _) => "1",
            (Fold::Max | Fold::Min, Kind::I32) => "i32(-2147483648)",
            (Fold::Max | Fold::Min, Kind::I64) => "i64(-9223372036854775807li) - 1li",
            (_, Kind::F32) => "0.0",
            (_, Kind::F64) => "0.0lf",
            (_, Kind::I64) => "0li",
            (_, Kind::U64) => "0lu",
            _ => "0",
        }
    }

    fn lift(self, x: &str) -> String {
        let name = self.kind.name();
        match (self.fold, self.kind) {
            (Fold::Sum | Fold::Prod, _) => x.to_owned(),
            (Fold::Max, Kind::F32 | Kind::F64) => format!("lift_{name}({x})"),
            (Fold::Max, _) => x.to_owned(),
            (Fold::Min, Kind::F32 | Kind::F64) => format!("lift_down_{name}({x})"),
            (Fold::Min, _) => format!("~{x}"),
        }
    }

    fn lower(self, v: &str) -> String {
        let name = self.kind.name();
        match (self.fold, self.kind) {
            (Fold::Max, Kind::F32 | Kind::F64) => format!("lower_{name}({v})"),
            (Fold::Min, Kind::F32 | Kind::F64) => format!("lower_down_{name}({v})"),
            _ => self.lift(v),
        }
    }

    fn folded(self, a: &str, b: &str) -> String {
        match (self.fold, self.held()) {
            (Fold::Sum, _) => format!("{a} + {b}"),
            (Fold::Prod, _) => format!("{a} * {b}"),
            (_, kind @ (Kind::I64 | Kind::U64)) => format!("max_{}({a}, {b})", kind.name()),
            _ => format!("max({a}, {b})"),
        }
    }

    /// How an element becomes a state and a state a result, and how two states become one. States
    /// that one pass leaves to the next stay states.
    pub(in crate::kernel) fn arithmetic(self, from_parts: bool, to_parts: bool) -> String {
        let (held, kind) = (self.held().name(), self.kind.name());
        let same = || (held, String::from("x"));
        let (given, lifted) = if from_parts { same() } else { (kind, self.lift("x")) };
        let (result, lowered) = if to_parts { same() } else { (kind, self.lower("x")) };
        let (neutral, folded) = (self.neutral(), self.folded("a", "b"));
        format!(
            "alias Held = {held};\n\n\
             fn neutral() -> vec4<Held> {{\n    return vec4<Held>({neutral});\n}}\n\n\
             fn lift(x: vec4<{given}>) -> vec4<Held> {{\n    return {lifted};\n}}\n\n\
             fn lower(x: vec4<Held>) -> vec4<{result}> {{\n    return {lowered};\n}}\n\n\
             fn merge(a: vec4<Held>, b: vec4<Held>) -> vec4<Held> {{\n    \
             return {folded};\n}}\n\n"
        )
    }

    /// How a choice is loaded and stored.
    fn ends(self, pass: Pass) -> String {
        let (held, neutral) = (self.held(), self.neutral());
        let place = if Needs::of(held) == Needs::NONE { "u32" } else { "u64" };
        let unit = |elements| if elements { "elements" } else { "quads" };
        let load = match pass.from_parts {
            false => format!("State({}, e)", self.lift("head_0(q)")),
            true => format!("pairs_from_{}(q)", unit(pass.reads_elements)),
        };
        let put = match pass.to_parts {
            false => "finish(at, s.place)".to_owned(),
            true => format!("pairs_to_{}(at, s)", unit(pass.stores_elements)),
        };
        format!(
            "alias Held = {};\nalias Place = {place};\n\n\
             fn neutral() -> vec4<Held> {{\n    return vec4<Held>({neutral});\n}}\n\n\
             fn load(q: u32, e: vec4<u32>) -> State {{\n    return {load};\n}}\n\n\
             fn put(at: u32, s: State) {{\n    {put};\n}}\n\n",
            held.name()
        )
    }

    /// How the lanes of a subgroup become one; `None` where subgroups may not know the type.
    const fn joined(self) -> Option<Source> {
        match (self.held(), self.fold) {
            (Kind::F32 | Kind::I32 | Kind::U32, _) if self.index => Some(JOINED_CHOICE),
            (Kind::F32 | Kind::I32 | Kind::U32, Fold::Sum) => Some(subgroups::SUM),
            (Kind::F32 | Kind::I32 | Kind::U32, Fold::Prod) => Some(JOINED_PROD),
            (Kind::F32 | Kind::I32 | Kind::U32, _) => Some(JOINED_MAX),
            _ => None,
        }
    }
}

/// A kernel of one pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ReducePass {
    /// What is reduced.
    pub how: Reduce,
    /// What it reads and leaves.
    pub pass: Pass,
    /// Whether lanes are put together by subgroups, where these know the type.
    pub subgroups: bool,
}

impl Writes for ReducePass {
    fn regions(&self) -> Vec<Region> {
        let Self { how, pass, subgroups: by_subgroups } = *self;
        let (head, state) = match how.index {
            false => (how.arithmetic(pass.from_parts, pass.to_parts), FOLD),
            true => (how.ends(pass), CHOICE),
        };
        let head = Region::text("state", head).needing(Needs::of(how.held()));
        let units = format!("const units_each = {}u;\n", how.units());
        let mut regions = vec![head, Region::file("state", state), Region::text("units", units)];
        let joined = how.joined().filter(|_| by_subgroups);
        regions.extend(joined.into_iter().flat_map(subgroups::regions));
        regions
    }
}

const FOLD: Source = source!("reduce/fold.wgsl");
const CHOICE: Source = source!("reduce/choice.wgsl");
const JOINED_PROD: Source = source!("reduce/joined_prod.wgsl", Needs::SUBGROUPS);
const JOINED_MAX: Source = source!("reduce/joined_max.wgsl", Needs::SUBGROUPS);
const JOINED_CHOICE: Source = source!("reduce/joined_choice.wgsl", Needs::SUBGROUPS);
