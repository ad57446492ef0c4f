//! The portable form: arrays of `V`, the type of a quad. How a tensor stores its elements is
//! written behind the text when that is known, so that one text serves every dtype.
//!
//! ```text
//! @group(0) @binding(0) var<storage> x: array<V>;      ->  .. x: array<u32>;
//!
//!                                                          alias V = vec4<f32>;
//!                                                          fn load_x(e: vec4<u32>) -> V {..}
//! ```

use core::ops::Range;

use super::cause::OwnCause;
use crate::dtype::DType;
use crate::error::Result;
use crate::op::{Kind, Op};
use crate::wgsl::access::gathered;
use crate::wgsl::assemble::called;
use crate::wgsl::form::Form;
use crate::wgsl::formula::meant;
use crate::wgsl::lines::{lane, put};
use crate::wgsl::scan::{Spot, tokens, without_comments};
use crate::wgsl::target::Target;

/// The member of the uniform that has every length.
pub(super) const LENGTHS: &str = "wharf_lengths";
/// The uniform, where the text has none.
pub(super) const TOLD: &str = "wharf_told";

/// What the member of the uniform is behind: the same without it, as it was written.
pub(super) const WRITTEN: &str = "WharfWritten";

/// What the arrays are of, and for whom.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Stowage {
    /// Of the arrays of `V`, in their order. Where less is said, all are as the first; f32 where
    /// nothing is.
    pub(crate) dtypes: Vec<DType>,
    pub(crate) target: Target,
    pub(crate) f16_native: bool,
    /// The arrays of f16 whose tensors end in the middle of a word.
    pub(crate) halved: Vec<String>,
}

impl Default for Stowage {
    fn default() -> Self {
        Self { dtypes: Vec::new(), target: Target::Gpu, f16_native: false, halved: Vec::new() }
    }
}

impl Stowage {
    /// The dtype of an array.
    pub(crate) fn dtype(&self, array: usize) -> DType {
        self.dtypes.get(array).or(self.dtypes.first()).copied().unwrap_or(DType::F32)
    }

    fn form(&self, array: usize, written: bool) -> Form {
        let form = if written { Form::written } else { Form::read };
        form(self.dtype(array), self.target, self.f16_native)
    }

    /// What `V` is four of.
    fn kind(&self) -> Kind {
        Kind::of(self.dtype(0))
    }
}

/// A binding that is an array of `V`.
#[derive(Debug)]
pub(super) struct Array {
    pub(super) name: String,
    written: bool,
    /// Where `V` stands.
    of: Range<usize>,
}

/// The arrays of `V` in a text without comments.
pub(super) fn arrays(plain: &str) -> Vec<Array> {
    let all: Vec<_> = tokens(plain).collect();
    let word = |i: usize| all.get(i).map(|at: &Range<usize>| &plain[at.clone()]);
    let mut found = Vec::new();
    for i in 0..all.len() {
        if (word(i), word(i + 1)) != (Some("var"), Some("storage")) {
            continue;
        }
        let written = word(i + 2) == Some("read_write");
        let name = if matches!(word(i + 2), Some("read" | "read_write")) { i + 3 } else { i + 2 };
        if let (Some("array"), Some("V"), Some(of)) =
            (word(name + 1), word(name + 2), all.get(name + 2))
        {
            let name = word(name).unwrap_or_default().to_owned();
            found.push(Array { name, written, of: of.clone() });
        }
    }
    found
}

/// A text with its arrays stored as they are, and the functions that reach them.
pub(super) fn adapted(name: &str, text: &str, stowage: &Stowage) -> Result<String> {
    let plain = without_comments(text);
    let arrays = arrays(&plain);
    if arrays.is_empty() {
        return Ok(text.to_owned());
    }
    bare(name, (text, &plain), &arrays)?;
    let kind = stowage.kind();
    let mut edits: Vec<(Range<usize>, String)> = Vec::new();
    let mut behind = format!("\nalias V = vec4<{0}>;\nalias E = {0};\n", kind.name());
    let lengths = format!("{LENGTHS}: array<vec4<u32>, {}>", arrays.len().div_ceil(4));
    let told = match uniform(&plain) {
        Some((told, of)) => {
            let Some(members) = members(&plain, &plain[of.clone()]) else {
                let (name, binding) = (name.to_owned(), told.to_owned());
                let why = "beside arrays of V a uniform is a struct of yours".to_owned();
                let spot = Spot::of(text, of.start);
                return Err(OwnCause::Binding { name, spot, binding, why }.into());
            };
            put!(behind, "struct {WRITTEN} {{ {} }}", &plain[members.clone()]);
            let end = members.end;
            let comma = if plain[..end].trim_end().ends_with(',') { "" } else { "," };
            edits.push((end..end, format!("{comma} @align(16) {lengths} ")));
            told
        }
        None => {
            put!(behind, "struct WharfTold {{ {lengths} }}");
            put!(behind, "@group(1) @binding(0) var<uniform> {TOLD}: WharfTold;");
            TOLD
        }
    };
    for (i, array) in arrays.iter().enumerate() {
        let form = stowage.form(i, array.written);
        let stored = if array.written { form.quad() } else { form.scalar() };
        edits.push((array.of.clone(), stored.to_owned()));
        put!(
            behind,
            "\nfn length_{}() -> u32 {{\n    return {told}.{LENGTHS}[{}].{};\n}}",
            array.name,
            i / 4,
            lane(i as u32)
        );
        reach(&mut behind, array, form);
    }
    operations(name, (text, &plain), kind, &mut behind)?;
    let (items, needs) = called(&behind);
    behind.push_str(&items);
    let mut whole = text.to_owned();
    edits.sort_by_key(|(range, _)| range.start);
    for (range, written) in edits.into_iter().rev() {
        whole.replace_range(range, &written);
    }
    // On the first line, so that the others stay where they are.
    let f16 = needs.contains(crate::wgsl::Needs::F16) && !plain.contains("enable f16;");
    whole.insert_str(0, if f16 { "enable f16; " } else { "" });
    whole.push_str(&behind);
    Ok(whole)
}

/// Refuses what reaches into an array as if its elements lay there one by one, or by the function
/// that it does not have.
fn bare(name: &str, (text, plain): (&str, &str), arrays: &[Array]) -> Result<()> {
    for at in tokens(plain) {
        let lacking = arrays.iter().find(|array| {
            let lacks = if array.written { "load_" } else { "store_" };
            plain[at.clone()].strip_prefix(lacks) == Some(&array.name)
        });
        if let Some(array) = lacking {
            let (access, does) = match array.written {
                true => ("read_write", "written: read it by a binding of its own"),
                false => ("read", "read: declare it `var<storage, read_write>` to write it"),
            };
            let why =
                format!("{} is {access}, and arrays of V that are so are only {does}", array.name);
            let (name, spot) = (name.to_owned(), Spot::of(text, at.start));
            return Err(OwnCause::Portable { name, spot, why }.into());
        }
        let Some(array) = arrays.iter().find(|array| array.name == plain[at.clone()]) else {
            continue;
        };
        let indexed = plain[at.end..].trim_start().starts_with('[');
        // A single one is unary where nothing stands before it that could be its left side.
        let taken = plain[..at.start].trim_end().strip_suffix('&');
        let taken = taken.is_some_and(|left| left.trim_end().ends_with(['(', ',', '=', '*']));
        if (indexed || taken) && !is_hidden(&plain[..at.start], &array.name) {
            let (array, function) = (&array.name, if array.written { "store" } else { "load" });
            let why = format!(
                "{array} is an array of V: `{function}_{array}` and `length_{array}` reach it"
            );
            let (name, spot) = (name.to_owned(), Spot::of(text, at.start));
            return Err(OwnCause::Portable { name, spot, why }.into());
        }
    }
    Ok(())
}

/// Whether an array's name is another thing at the end of this text: a member, or what the function
/// declares.
fn is_hidden(before: &str, name: &str) -> bool {
    let all: Vec<_> = tokens(before).collect();
    let word = |at: &Range<usize>| &before[at.clone()];
    let first = all.iter().rposition(|at| word(at) == "fn").unwrap_or(all.len());
    let declares = |pair: &[Range<usize>]| {
        let parameter = before[pair[1].end..].trim_start().starts_with(':');
        word(&pair[1]) == name && (parameter || matches!(word(&pair[0]), "let" | "var" | "const"))
    };
    before.trim_end().ends_with('.') || all[first..].windows(2).any(declares)
}

/// The function that reaches an array, which may have any name but those that begin with wharf's.
fn reach(text: &mut String, array: &Array, form: Form) {
    let (name, value, coded) = (&array.name, form.value(), form.name());
    if array.written {
        put!(
            text,
            "\nfn store_{name}(wharf_q: u32, wharf_v: {value}) {{\n    \
             if 4u * wharf_q < length_{name}() {{\n        \
             {name}[wharf_q] = encode_{coded}(wharf_v);\n    }}\n}}"
        );
        return;
    }
    let e = ["wharf_e.x", "wharf_e.y", "wharf_e.z", "wharf_e.w"];
    let words = gathered(name, form, e, "wharf_e");
    put!(
        text,
        "\nfn load_{name}(wharf_place: vec4<u32>) -> {value} {{\n    \
         let wharf_e = min(wharf_place, vec4<u32>(length_{name}() - 1u));\n    \
         return decode_{coded}({words});\n}}"
    );
}

/// wharf's own operations where the text calls them, as `op_exp(x)`.
fn operations(
    name: &str,
    (text, plain): (&str, &str),
    kind: Kind,
    behind: &mut String,
) -> Result<()> {
    let mut known = Vec::new();
    for at in tokens(plain) {
        let Some(called) = plain[at.clone()].strip_prefix("op_") else { continue };
        let Some(op) = Op::named(called).filter(|_| !known.contains(&called)) else { continue };
        let function = meant(called, kind).map_err(|why| {
            let (name, spot) = (name.to_owned(), Spot::of(text, at.start));
            OwnCause::Portable { name, spot, why }
        })?;
        let names = &["x", "y", "z"][..op.arity().min(3)];
        let given = names.iter().map(|x| format!("{x}: V")).collect::<Vec<_>>().join(", ");
        let yields = if op.yields_bool() { "vec4<bool>" } else { "V" };
        put!(
            behind,
            "\nfn op_{called}({given}) -> {yields} {{\n    return {function}({});\n}}",
            names.join(", ")
        );
        known.push(called);
    }
    Ok(())
}

/// The name of the uniform, and where its type stands.
fn uniform(plain: &str) -> Option<(&str, Range<usize>)> {
    let all: Vec<_> = tokens(plain).collect();
    let at = all
        .windows(4)
        .find(|at| (&plain[at[0].clone()], &plain[at[1].clone()]) == ("var", "uniform"))?;
    Some((&plain[at[2].clone()], at[3].clone()))
}

/// What stands between the braces of a struct.
fn members(plain: &str, name: &str) -> Option<Range<usize>> {
    let all: Vec<_> = tokens(plain).collect();
    let at = all
        .windows(2)
        .find(|at| (&plain[at[0].clone()], &plain[at[1].clone()]) == ("struct", name))?;
    let open = at[1].end + plain[at[1].end..].find('{')? + 1;
    Some(open..open + plain[open..].find('}')?)
}
