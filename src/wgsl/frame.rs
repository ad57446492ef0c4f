//! The text of a core's kernel: a file with the expressions before and after it as functions.

use std::sync::Arc;

use super::access::{Keeps, accessors};
use super::assemble::Assembly;
use super::assembled::Assembled;
use super::edge::Edge;
use super::entry::Entry;
use super::form::Form;
use super::formula::{self, definitions};
use super::kept::{Details, Recipe};
use super::params::Operands;
use super::region::Region;
use super::slot::{Slot, Way};
use super::statements::Function;
use super::target::Target;
use super::wording::Wording;
use crate::op::Refusal;

/// The kernel of a core: everything between its inputs and its output that is not elementwise, with
/// the expressions on both sides as functions.
///
/// - `fn head_i(q: u32) -> value` is quad (or element, where a way says so) `q` of input `i`;
/// - `fn finish(q: u32, x0: value)` applies the tail to quad (or element) `q` and stores it;
/// - a region `prepare`, where `main` begins, loads what both need more than once: see
///   [`Entry::prepares`].
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// The kernel's file.
    pub entry: &'static Entry,
    /// What else is written into it.
    pub wording: &'a dyn Wording,
    /// The heads, one for each input, then the tail: what becomes of the result, which is its
    /// expression's first input and has no way.
    pub edges: &'a [Edge<'a>],
    /// Whether results are stored one element at a time. Their dtype must be of at least 4 bytes.
    pub by_element: bool,
    /// Invocations of a workgroup; `None` for the target's own number.
    pub workgroup: Option<u32>,
    /// Whether f16 is stored natively on GPU targets.
    pub f16_native: bool,
    /// The rank of the index space; 0 where no operand is strided.
    pub rank: u32,
    /// What it runs on.
    pub target: Target,
}

impl Frame<'_> {
    /// The text, written once in the life of a process.
    ///
    /// # Errors
    /// The first node of an expression that has no dtype.
    pub fn kept(&self) -> Result<Arc<Assembled>, Refusal> {
        let Self { entry, wording, edges, .. } = *self;
        let Self { rank, target, workgroup, by_element, f16_native, .. } = *self;
        let details = Details { rank, target, workgroup, by_element, f16_native };
        Recipe { kernel: entry.name, edges, slots: &[], wording, details }.kept(|| self.assemble())
    }

    /// The text.
    ///
    /// # Errors
    /// The first node of an expression that has no dtype.
    pub fn assemble(&self) -> Result<Assembled, Refusal> {
        let form = |dtype| Form::read(dtype, self.target, self.f16_native);
        let (mut slots, mut functions, mut words) = (Vec::new(), String::new(), 0);
        let mut formulas = Vec::new();
        let mut stored = None;
        for (i, &Edge { expr, ways }) in self.edges.iter().enumerate() {
            let is_tail = i + 1 == self.edges.len();
            let (name, given) =
                if is_tail { ("finish".into(), 1) } else { (format!("head_{i}"), 0) };
            let function = Function::of(expr, &name, slots.len(), words, ways, given)?;
            let inputs = expr.inputs[given..].iter().zip(ways);
            slots.extend(inputs.map(|(&dtype, &way)| Slot::read(form(dtype), way)));
            functions.push_str(&function.text);
            formulas.extend(expr.formulas(&expr.dtypes()?));
            words = function.words;
            stored = Some(function.dtype);
        }
        let way = if self.by_element { Way::Each } else { Way::Dense };
        let form = |dtype| Form::written(dtype, self.target, self.f16_native);
        slots.extend(stored.map(|dtype| Slot { form: form(dtype), way, written: true }));
        let mut keeps = Keeps::parameters(self.entry, self.target);
        let bindings = accessors(&slots, self.target, &mut keeps) + &keeps.declared;
        let mut regions = vec![
            Region::text("params", Operands::text("    job: Job,\n", &slots, words)),
            Region::text("bindings", bindings),
            Region::text("functions", functions + &definitions(&formulas))
                .needing(formula::needs(&formulas)),
            Region::text("prepare", keeps.once),
        ];
        regions.extend(self.wording.regions());
        let Self { entry, rank, target, workgroup, .. } = *self;
        Ok(Assembly { entry, slots: &slots, regions: &regions, rank, target, workgroup }.build())
    }
}
