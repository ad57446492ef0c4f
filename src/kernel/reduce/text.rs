//! What the reducing kernels hold while they reduce: the region `state`.
//!
//! ```text
//! fold:   v = v + x,  v = v * x,  v = max(v, lift(x))
//! choice: the same as max, with the place of what won; of equals the first
//! ```
//!
//! Orders are those of integers (`op/order.wgsl`), so the maximum of floats is that of what they
//! are lifted to, the minimum that of what they are lifted to upside down, and NaN needs no care.

use crate::op::Kind;
use crate::wgsl::Entry;
use crate::wgsl::params::params;
use crate::wgsl::source::source;
use crate::wgsl::subgroups;

/// A lane to a row.
pub const REDUCE_ROWS: Entry =
    Entry::core("reduce_rows", source!("reduce_rows.wgsl")).told(ReduceRowsJob::MEMBERS);
/// A group to a row.
pub const REDUCE_GROUP: Entry = Entry::core("reduce_group", source!("reduce_group.wgsl"))
    .clearing()
    .told(ReduceRowsJob::MEMBERS);
/// A lane to a quad of columns.
pub const REDUCE_COLUMNS: Entry =
    Entry::core("reduce_columns", source!("reduce_columns.wgsl")).told(ReduceColumnsJob::MEMBERS);

params! {
    struct ReduceRowsJob {
        rows: u32,
        origin: u32,
        pitch: u32,
        length: u32,
        chunks: u32,
        each: u32,
        index: u32,
        first: u32,
    }
}

params! {
    struct ReduceColumnsJob {
        count: u32,
        units: u32,
        length: u32,
        chunks: u32,
        each: u32,
        unit: u32,
        index: u32,
        first: u32,
        per_row: u32,
        lead: u32,
        step: u32,
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

    /// The kind of the result.
    #[must_use]
    pub const fn result(self) -> Kind {
        if self.index { Kind::U32 } else { self.kind }
    }

    /// What changes nothing.
    const fn neutral(self) -> &'static str {
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

    /// The region `state` of a pass.
    #[must_use]
    pub fn state(self, pass: Pass) -> String {
        let text = if self.index { CHOICE } else { FOLD };
        let load = match (self.index, pass.from_parts) {
            (false, false) => format!("return {};", self.lift("head_0(q)")),
            (false, true) => "return head_0(q);".to_owned(),
            (true, false) => format!("return State({}, e);", self.lift("head_0(q)")),
            (true, true) => self.unpair(pass.reads_elements),
        };
        let put = match (self.index, pass.to_parts) {
            (false, false) => format!("finish(at, {});", self.lower("s")),
            (false, true) => "finish(at, s);".to_owned(),
            (true, false) => "finish(at, s.place);".to_owned(),
            (true, true) => self.pair(pass.stores_elements),
        };
        text.replace("LOAD", &load)
            .replace("PUT", &put)
            .replace("HELD", self.held().name())
            .replace("NEUTRAL", self.neutral())
            .replace("FOLDED", &self.folded("a", "b"))
    }

    /// How the lanes of a subgroup become one; `None` where subgroups may not know the type.
    #[must_use]
    pub const fn joined(self) -> Option<&'static str> {
        match (self.held(), self.fold) {
            (Kind::F32 | Kind::I32 | Kind::U32, _) if self.index => Some(JOINED_CHOICE),
            (Kind::F32 | Kind::I32 | Kind::U32, Fold::Sum) => Some(subgroups::SUM),
            (Kind::F32 | Kind::I32 | Kind::U32, Fold::Prod) => Some(JOINED_PROD),
            (Kind::F32 | Kind::I32 | Kind::U32, _) => Some(JOINED_MAX),
            _ => None,
        }
    }

    /// The region `state` of a scan. `totals`: what chunks come to is all that is asked for;
    /// `carried`: chunks begin with what is before them, the second input; `parts`: what is scanned
    /// are such totals.
    #[must_use]
    pub fn scan(self, totals: bool, carried: bool, parts: bool) -> String {
        let load = if parts { "head_0(q)".to_owned() } else { self.lift("head_0(q)") };
        let carry = match carried {
            true => "select(head_1(i - 1u + u32(first)), start(), vec4<bool>(first))",
            false => "start()",
        };
        let value = if parts { "s".to_owned() } else { self.lower("s") };
        let (put, close) = match totals {
            true => (String::new(), "finish(i, s);".to_owned()),
            false => (format!("finish(q, {value});"), String::new()),
        };
        SCAN.replace("LOAD", &load)
            .replace("CARRY", carry)
            .replace("PUT", &put)
            .replace("CLOSE", &close)
            .replace("HELD", self.held().name())
            .replace("NEUTRAL", self.neutral())
            .replace("FOLDED", &self.folded("a", "b"))
    }

    /// A state as two neighbours, its value and its place.
    fn pair(self, elements: bool) -> String {
        let place = match self.held() {
            Kind::I32 => "vec4<i32>(s.place)",
            // By way of u64: naga extends the sign when it converts at once.
            Kind::I64 => "vec4<i64>(vec4<u64>(s.place))",
            Kind::U64 => "vec4<u64>(s.place)",
            _ => "s.place",
        };
        let (low, high) = match elements {
            true => ("s.v", "n"),
            false => ("vec4<HELD>(s.v.x, n.x, s.v.y, n.y)", "vec4<HELD>(s.v.z, n.z, s.v.w, n.w)"),
        };
        format!("let n = {place};\n    finish(2u * at, {low});\n    finish(2u * at + 1u, {high});")
    }

    /// The state that `pair` left.
    fn unpair(self, elements: bool) -> String {
        let place = match self.held() {
            Kind::I32 | Kind::U64 => "vec4<u32>(n)",
            Kind::I64 => "vec4<u32>(vec4<u64>(n))",
            _ => "n",
        };
        let (v, n) = match elements {
            true => ("low", "high"),
            false => ("vec4<HELD>(low.xz, high.xz)", "vec4<HELD>(low.yw, high.yw)"),
        };
        format!(
            "let low = head_0(2u * q);\n    let high = head_0(2u * q + 1u);\n    \
             let n = {n};\n    return State({v}, {place});"
        )
    }
}

const FOLD: &str = "\
alias State = vec4<HELD>;

fn load(q: u32, e: vec4<u32>) -> State {
    LOAD
}

fn start() -> State {
    return State(NEUTRAL);
}

fn take(s: State, q: u32, e: vec4<u32>) -> State {
    return merge(s, load(q, e));
}

fn take_some(s: State, q: u32, e: vec4<u32>, inside: vec4<bool>) -> State {
    return merge(s, select(State(NEUTRAL), load(q, e), inside));
}

fn merge(a: State, b: State) -> State {
    return FOLDED;
}

fn turn_state(s: State, by: u32) -> State {
    return select(s.yxwz, s.zwxy, by == 2u);
}

fn put(at: u32, s: State) {
    PUT
}
";

const CHOICE: &str = "\
struct State {
    v: vec4<HELD>,
    place: vec4<u32>,
}

fn load(q: u32, e: vec4<u32>) -> State {
    LOAD
}

fn start() -> State {
    return State(vec4<HELD>(NEUTRAL), vec4<u32>(0xffffffffu));
}

fn take(s: State, q: u32, e: vec4<u32>) -> State {
    return merge(s, load(q, e));
}

fn take_some(s: State, q: u32, e: vec4<u32>, inside: vec4<bool>) -> State {
    let x = load(q, e);
    let none = start();
    let kept = State(select(none.v, x.v, inside), select(none.place, x.place, inside));
    return merge(s, kept);
}

fn merge(a: State, b: State) -> State {
    let other = (b.v > a.v) | ((b.v == a.v) & (b.place < a.place));
    return State(select(a.v, b.v, other), select(a.place, b.place, other));
}

fn turn_state(s: State, by: u32) -> State {
    if by == 2u {
        return State(s.v.zwxy, s.place.zwxy);
    }
    return State(s.v.yxwz, s.place.yxwz);
}

fn put(at: u32, s: State) {
    PUT
}
";

const JOINED_PROD: &str = "\
fn joined(s: State) -> State {
    return subgroupMul(s);
}
";

const JOINED_MAX: &str = "\
fn joined(s: State) -> State {
    return subgroupMax(s);
}
";

const JOINED_CHOICE: &str = "\
fn joined(s: State) -> State {
    let v = subgroupMax(s.v);
    return State(v, subgroupMin(select(vec4<u32>(0xffffffffu), s.place, s.v == v)));
}
";

const SCAN: &str = "\
alias State = vec4<HELD>;

fn start() -> State {
    return State(NEUTRAL);
}

fn load(q: u32) -> State {
    return LOAD;
}

fn merge(a: State, b: State) -> State {
    return FOLDED;
}

fn carry(i: u32, first: bool) -> State {
    return CARRY;
}

fn put(q: u32, s: State) {
    PUT
}

fn close(i: u32, s: State) {
    CLOSE
}
";
