//! The text of a core's kernel: a file with the expressions before and after it as functions.

use super::access::{Keeps, accessors};
use super::assemble::build_by;
use super::assembled::Assembled;
use super::entry::Entry;
use super::expr::Expr;
use super::form::Form;
use super::needs::Needs;
use super::params::Operands;
use super::slot::{Slot, Way};
use super::target::Target;
use crate::op::Refusal;

/// A part of a core's kernel: an expression over operands, and the ways in which these are reached.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    /// The expression.
    pub expr: &'a Expr,
    /// One way per operand.
    pub ways: &'a [Way],
}

/// The kernel of a core: everything between its inputs and its output that is not elementwise, with
/// the expressions on both sides as functions.
///
/// - `fn head_i(q: u32) -> value` is quad (or element, where a way says so) `q` of input `i`;
/// - `fn finish(q: u32, x0: value)` applies the tail to quad (or element) `q` and stores it;
/// - a region `prepare`, where `main` begins, loads what both need more than once.
#[derive(Clone, Copy, Debug)]
pub struct Core<'a> {
    /// The kernel's file.
    pub entry: &'static Entry,
    /// The inputs.
    pub heads: &'a [Part<'a>],
    /// What becomes of the result, which is the expression's first input and has no way.
    pub tail: Part<'a>,
    /// Whether results are stored one element at a time. Their dtype must be of at least 4 bytes.
    pub by_element: bool,
    /// More regions of the file, with their text.
    pub regions: &'a [(&'a str, &'a str)],
    /// Invocations of a workgroup, where the target's own number does not count.
    pub workgroup: Option<u32>,
    /// Whether f16 is stored natively on GPU targets.
    pub f16_native: bool,
    /// The rank of the index space; 0 where no operand is strided.
    pub rank: u32,
    /// What it runs on.
    pub target: Target,
}

impl Core<'_> {
    /// The text.
    ///
    /// # Errors
    /// The first node of an expression that has no dtype.
    pub fn assemble(&self) -> Result<Assembled, Refusal> {
        let form = |dtype| Form::read(dtype, self.target, self.f16_native);
        let mut slots = Vec::new();
        let (mut functions, mut words, mut needs) = (String::new(), 0, Needs::NONE);
        for (i, Part { expr, ways }) in self.heads.iter().enumerate() {
            let name = format!("head_{i}");
            let function = expr.function(&name, slots.len(), words, ways, 0)?;
            slots.extend(expr.inputs.iter().zip(*ways).map(|(&d, &way)| Slot::read(form(d), way)));
            functions.push_str(&function.text);
            (words, needs) = (function.words, needs.union(function.needs));
        }
        let Part { expr, ways } = self.tail;
        let function = expr.function("finish", slots.len(), words, ways, 1)?;
        slots.extend(expr.inputs[1..].iter().zip(ways).map(|(&d, &way)| Slot::read(form(d), way)));
        functions.push_str(&function.text);
        let way = if self.by_element { Way::Each } else { Way::Dense };
        let form = Form::written(function.dtype, self.target, self.f16_native);
        slots.push(Slot { form, way, written: true });
        let mut keeps = Keeps::parameters(self.entry.source.text, self.target);
        let bindings = accessors(&slots, self.target, &mut keeps) + &keeps.declared;
        let params = Operands::text("    job: Job,\n", &slots, function.words);
        let mut regions =
            vec![("params", &*params), ("bindings", &*bindings), ("functions", &*functions)];
        regions.push(("prepare", &keeps.once));
        regions.extend_from_slice(self.regions);
        // What a region computes in beyond its operands stands in its text.
        let told = [
            ("i64", Needs::INT64),
            ("decode_f16w", Needs::F16),
            ("subgroup", Needs::SUBGROUPS),
            ("coop_mat", Needs::COOPERATIVE),
            ("<f16", Needs::F16),
        ];
        let told =
            told.into_iter().filter(|(word, _)| self.regions.iter().any(|r| r.1.contains(word)));
        let needs = told.fold(needs.union(function.needs), |all, (_, need)| all.union(need));
        let workgroup = self.workgroup.unwrap_or(self.target.workgroup());
        let shape = (self.rank, self.target);
        Ok(build_by(workgroup, self.entry, &slots, &regions, needs, shape))
    }
}
