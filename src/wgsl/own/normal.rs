//! The text of a kernel as it is run: constants settled, bindings where wharf binds them. Lines
//! stay where they are.

use core::ops::Range;

use crate::dtype::DType;
use crate::wgsl::scan::{closing, tokens, without_comments};

/// An override, and what it becomes if not its own value.
#[derive(Debug)]
pub(super) struct Setting {
    pub(super) name: String,
    pub(super) dtype: DType,
    pub(super) value: Option<String>,
}

/// What takes the place of a part of a text.
type Edit = (Range<usize>, String);

/// A text that naga has accepted, with overrides as constants, its uniform at group 1, binding 0,
/// and what it stores at group 0, counted in the order of declaration.
pub(super) fn normal(text: &str, settings: &[Setting]) -> String {
    let plain = without_comments(text);
    let mut edits: Vec<Edit> = Vec::new();
    let mut stored = 0;
    let mut all = tokens(&plain).peekable();
    while let Some(at) = all.next() {
        match &plain[at.clone()] {
            "override" => {
                let Some(name) = all.peek() else { continue };
                let found = settings.iter().find(|setting| setting.name == plain[name.clone()]);
                edits.extend(unnumbered(&plain, at.start));
                edits.push((at, "const   ".into()));
                edits.extend(found.and_then(|setting| settled(&plain, name.end, setting)));
            }
            "var" => {
                let Some(inside) = template(&plain, at.end) else { continue };
                let space = tokens(inside).next().map(|word| &inside[word]);
                let place = match space {
                    Some("uniform") => [1, 0],
                    Some("storage") => {
                        stored += 1;
                        [0, stored - 1]
                    }
                    _ => continue,
                };
                for (attribute, number) in ["group", "binding"].into_iter().zip(place) {
                    let found = argument(&plain, at.start, attribute);
                    edits.extend(found.map(|inside| (inside, number.to_string())));
                }
            }
            _ => {}
        }
    }
    applied(text, edits)
}

/// What stands between `<` and `>` at a place.
fn template(plain: &str, at: usize) -> Option<&str> {
    plain[at..].trim_start().strip_prefix('<')?.split('>').next()
}

/// Where the attributes of a declaration begin.
fn head(plain: &str, declared: usize) -> usize {
    plain[..declared].rfind([';', '}']).map_or(0, |end| end + 1)
}

/// The place of an attribute's argument before a declaration, without the parentheses.
fn argument(plain: &str, declared: usize, attribute: &str) -> Option<Range<usize>> {
    let begin = head(plain, declared);
    let before = &plain[begin..declared];
    let is_it = |at: &Range<usize>| {
        before[at.clone()] == *attribute && before[..at.start].trim_end().ends_with('@')
    };
    let at = tokens(before).find(is_it)?;
    let open = at.end + before[at.end..].find('(')?;
    Some(begin + open + 1..begin + closing(before, open)?)
}

/// An override's number, which a constant does not have.
fn unnumbered(plain: &str, declared: usize) -> Option<Edit> {
    let inside = argument(plain, declared, "id")?;
    let from = plain[..inside.start].rfind('@')?;
    let gone = from..inside.end + 1;
    Some((gone.clone(), " ".repeat(gone.len())))
}

/// What follows the name of an override: its type, and its value if that is not its own.
fn settled(plain: &str, name_end: usize, setting: &Setting) -> Option<Edit> {
    let dtype = setting.dtype;
    let end = name_end + plain[name_end..].find(';')?;
    match &setting.value {
        Some(value) => Some((name_end..end, format!(": {dtype} = {dtype}({value})"))),
        None if plain[name_end..].trim_start().starts_with(':') => None,
        None => Some((name_end..name_end, format!(": {dtype}"))),
    }
}

/// A text with its edits; a line that an edit would swallow stays.
fn applied(text: &str, mut edits: Vec<Edit>) -> String {
    edits.sort_by_key(|(range, _)| range.start);
    let mut whole = text.to_owned();
    for (range, mut written) in edits.into_iter().rev() {
        let lines = text[range.clone()].matches('\n').count();
        written.push_str(&"\n".repeat(lines));
        whole.replace_range(range, &written);
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bindings_are_counted_and_overrides_are_constants() {
        let text = "\
@id(3) override N: u32 = 4; // override M: u32;
override
  M
  : f32;
override K = 2;
const THERE = 5;
@binding(THERE) @group((1)) var<storage, read_write> y: array<f32>;
@group(0) @binding(2) var < uniform > p: vec4<f32>;
/* @group(9) */ @group(0) /* ) */ @binding(7)
var<storage> x: array<f32>;
var<workgroup> w: array<f32, N>;";
        let setting = |name: &str, dtype, value: Option<&str>| Setting {
            name: name.into(),
            dtype,
            value: value.map(str::to_owned),
        };
        let settings = [
            setting("N", DType::U32, None),
            setting("M", DType::F32, Some("0.5")),
            setting("K", DType::I32, None),
        ];
        let expected = "       const    N: u32 = 4; // override M: u32;
const  \x20
  M: f32 = f32(0.5)
;
const    K: i32 = 2;
const THERE = 5;
@binding(0) @group(0) var<storage, read_write> y: array<f32>;
@group(1) @binding(0) var < uniform > p: vec4<f32>;
/* @group(9) */ @group(0) /* ) */ @binding(1)
var<storage> x: array<f32>;
var<workgroup> w: array<f32, N>;";
        assert_eq!(normal(text, &settings), expected);
    }
}
