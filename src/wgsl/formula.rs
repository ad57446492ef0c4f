//! Formulas: elementwise operations that are not in the table, as the user wrote them.
//!
//! ```text
//! swish2(x, b)    x * sigmoid(b * x)
//!
//! fn swish2_1f0c_f32(x: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
//!     return x * sigmoid_f32(b * x);
//! }
//! ```
//!
//! One text serves every kind of number: `V` is a quad of it and `E` one element, the name of an
//! operation is its function for that kind, and all other names are the user's own.

use core::hash::{Hash, Hasher};
use core::ops::Range;
use std::collections::HashSet;
use std::hash::DefaultHasher;
use std::sync::Arc;

use super::library;
use super::needs::Needs;
use super::scan::{tokens, without_comments};
use crate::op::{Kind, Op, Spell};

/// The most effort of one kernel, in additions: a driver's compiler takes about 10 ms for as many.
/// A loop takes all of it, so that nobody's trips are multiplied by those of another kernel's.
pub(crate) const EFFORT_MAX: u32 = 128;

/// What f64 may call beside operations: drivers compute WGSL's other functions of f64 wrongly.
const OF_F64: [&str; 12] =
    ["select", "all", "any", "vec4", "f64", "bool", "i32", "u32", "if", "for", "while", "return"];

/// An elementwise operation of the user's own.
#[derive(Debug)]
pub struct FormulaText {
    /// What it is called.
    pub name: String,
    /// The names of its operands, one to three.
    pub operands: Vec<String>,
    /// Whether it yields bool, whatever the operands are.
    pub truth: bool,
    /// An expression, or statements that return one.
    pub body: String,
    /// Its name in WGSL, but for the kind: unlike that of every other formula.
    tag: String,
    /// How much work it is to compile, in additions.
    pub(crate) effort: u32,
    /// Whether it has a loop.
    pub(crate) loops: bool,
}

/// Its function for one kind of number.
#[derive(Debug)]
pub struct Definition {
    /// The text.
    pub wgsl: String,
    /// Where parts of the text come from: their first byte here and in the body.
    marks: Vec<(usize, usize)>,
}

impl PartialEq for FormulaText {
    fn eq(&self, other: &Self) -> bool {
        let Self { name, operands, truth, body, .. } = self;
        (name, operands, truth, body) == (&other.name, &other.operands, &other.truth, &other.body)
    }
}

impl Eq for FormulaText {}

impl Hash for FormulaText {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.tag.hash(state);
    }
}

impl FormulaText {
    /// From the parts of its signature and its body.
    #[must_use]
    pub fn new(name: &str, operands: Vec<String>, truth: bool, body: &str) -> Self {
        let mut hasher = DefaultHasher::new();
        (name, &operands, truth, body).hash(&mut hasher);
        let tag = format!("{name}_{:08x}", hasher.finish() as u32);
        let plain = without_comments(body);
        let loops = tokens(&plain).any(|at| ["for", "while", "loop"].contains(&&plain[at]));
        let effort = if loops { EFFORT_MAX } else { effort(&plain) };
        let (name, body) = (name.to_owned(), body.to_owned());
        Self { name, operands, truth, body, tag, effort, loops }
    }

    /// Its call on named values of a kind.
    pub(crate) fn call(&self, kind: Kind, args: &str) -> String {
        format!("{}_{}({args})", self.tag, kind.name())
    }

    /// Its function for a kind.
    ///
    /// # Errors
    /// What it calls that does not exist there: the place in the body, and why.
    pub fn define(&self, kind: Kind) -> Result<Definition, (usize, String)> {
        let quad = format!("vec4<{}>", kind.name());
        let list: Vec<_> = self.operands.iter().map(|x| format!("{}: {quad}", own(x))).collect();
        let yields = if self.truth { "vec4<bool>" } else { &quad };
        let head = self.call(kind, &list.join(", "));
        let mut text = format!("\nfn {head} -> {yields} {{\n    ");
        let plain = without_comments(&self.body);
        let is_block = tokens(&plain).any(|at| &plain[at] == "return");
        if !is_block {
            text.push_str("return ");
        }
        let mut marks = Vec::new();
        let mut copy = |text: &mut String, from: Range<usize>| {
            for line in self.body[from.clone()].split_inclusive('\n') {
                let at = line.as_ptr() as usize - self.body.as_ptr() as usize;
                marks.push((text.len(), at));
                text.push_str(line);
                if line.ends_with('\n') {
                    text.push_str("    ");
                }
            }
        };
        let mut done = 0;
        for at in tokens(&plain) {
            if plain[..at.start].trim_end().ends_with('.') {
                continue; // a member
            }
            let called = plain[at.end..].trim_start().starts_with('(');
            let word = &plain[at.clone()];
            let written = match word {
                "V" => quad.clone(),
                "E" => kind.name().to_owned(),
                _ if called => meant(word, kind).map_err(|why| (at.start, why))?,
                _ => own(word),
            };
            copy(&mut text, done..at.start);
            if written == word {
                copy(&mut text, at.clone());
            } else {
                text.push_str(&written);
            }
            done = at.end;
        }
        copy(&mut text, done..self.body.len());
        text.push_str(if is_block { "\n}\n" } else { "\n    ;\n}\n" });
        Ok(Definition { wgsl: text, marks })
    }
}

impl Definition {
    /// Where in the body a byte of the text comes from.
    #[must_use]
    pub fn origin(&self, at: usize) -> usize {
        let before = self.marks.iter().rev().find(|(here, _)| *here <= at);
        before.map_or(0, |(here, there)| there + (at - here))
    }
}

/// How much work a body is to compile, in additions.
fn effort(plain: &str) -> u32 {
    let called = tokens(plain).filter(|at| Op::named(&plain[at.clone()]).is_some()).count();
    let signs = plain.matches(|c| "+-*/%<>&|^".contains(c)).count();
    (1 + 4 * called + signs) as u32
}

/// What a function that is called by this name is for a kind.
pub(super) fn meant(word: &str, kind: Kind) -> Result<String, String> {
    let Some(op) = Op::named(word) else {
        if kind == Kind::F64 && !OF_F64.contains(&word) {
            return Err(format!("`{word}` is no function of f64"));
        }
        return Ok(own(word));
    };
    match op.spell(kind) {
        Some(Spell::Own) => Ok(format!("{}_{}", op.name(), kind.name())),
        Some(Spell::Builtin(name) | Spell::Prefix(name)) => Ok(name.to_owned()),
        Some(Spell::Itself) => Ok(String::new()),
        Some(Spell::Infix(sign)) => Err(format!("`{word}` is written `{sign}`")),
        Some(Spell::Select) => Err(format!("`{word}` is written `select(no, yes, condition)`")),
        None => Err(format!("`{word}` does not exist for {}", kind.name())),
    }
}

/// A name of the user's, which must not be one of the library's.
fn own(word: &str) -> String {
    if library::find(word).is_some() { format!("own_{word}") } else { word.to_owned() }
}

/// What a kernel needs that these formulas are written into.
pub(crate) const fn needs(used: &[(Arc<FormulaText>, Kind)]) -> Needs {
    if used.is_empty() { Needs::NONE } else { Needs::CHECKS }
}

/// The functions of formulas for kinds, each once.
pub(crate) fn definitions(used: &[(Arc<FormulaText>, Kind)]) -> String {
    let mut known = HashSet::new();
    let first = used.iter().filter(|used| known.insert(*used));
    // One that cannot be defined for a kind was refused when it was applied.
    let text = first.filter_map(|(formula, kind)| formula.define(*kind).ok());
    text.map(|definition| definition.wgsl).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn formula(body: &str) -> FormulaText {
        FormulaText::new("f", vec!["x".into(), "rank".into()], false, body)
    }

    #[test]
    fn names_are_those_of_the_kind_and_the_users_own() {
        let f = formula("// rank\nx.x * sigmoid(rank)");
        let text = f.define(Kind::F32).expect("defined").wgsl;
        let (_, body) = text.split_once('{').expect("a body");
        assert_eq!(body, "\n    return // rank\n    x.x * sigmoid_f32(own_rank)\n    ;\n}\n");
        assert_eq!(
            f.define(Kind::I32).expect_err("no such function"),
            (14, "`sigmoid` does not exist for i32".into())
        );
    }

    #[test]
    fn places_lead_back_to_the_body() {
        let f = formula("let y = exp(x);\nreturn y + V(wrong);");
        let definition = f.define(Kind::F32).expect("defined");
        let at = definition.wgsl.find("wrong").expect("copied");
        assert_eq!(definition.origin(at), f.body.find("wrong").expect("there"));
    }

    #[test]
    fn each_is_defined_once() {
        let f = Arc::new(formula("x + rank"));
        let same = Arc::new(formula("x + rank"));
        let used = [(Arc::clone(&f), Kind::F32), (same, Kind::F32), (f, Kind::I32)];
        assert_eq!(definitions(&used).matches("fn ").count(), 2);
    }
}
