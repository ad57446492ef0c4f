//! The library: every function, type, constant and variable of the fragment files, by name.
//!
//! A kernel simply calls what it needs; the assembler adds exactly the items whose names occur, and
//! what those need in turn. An item is what stands at the left margin of a fragment, with the
//! comment directly above it. A file's region `alone` only lets it be read by itself, and offers
//! nothing.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::form::Form;
use super::needs::Needs;
use super::source::{Source, source};

/// 64 bits of either kind.
const DOUBLE: Needs = Needs::F64.union(Needs::INT64);

/// Fragments beside the element files.
const FRAGMENTS: &[Source] = &[
    source!("fft/arrive.wgsl"),
    source!("fft/scatter.wgsl"),
    source!("random/draw.wgsl"),
    source!("random/draw64.wgsl", DOUBLE),
    source!("reduce/pairs.wgsl"),
    source!("resize/places.wgsl"),
    source!("shared/blockwise.wgsl"),
    source!("shared/nibbles.wgsl"),
    source!("shared/fault.wgsl"),
    source!("shared/philox.wgsl"),
    source!("shared/part.wgsl"),
    source!("shared/product.wgsl"),
    source!("shared/spread.wgsl"),
    source!("shared/square.wgsl"),
    source!("shared/strided.wgsl"),
    source!("shared/tree.wgsl"),
    source!("shared/turns.wgsl", Needs::SUBGROUPS),
    source!("shared/wide.wgsl", Needs::INT64),
    source!("shared/words.wgsl"),
    source!("op/activation.wgsl"),
    source!("op/activation64.wgsl", Needs::F64),
    source!("op/bits.wgsl"),
    source!("op/cast.wgsl"),
    source!("op/cast64.wgsl", Needs::INT64),
    source!("op/cast_f64.wgsl", Needs::F64),
    source!("op/cast_wide.wgsl", DOUBLE),
    source!("op/exp.wgsl"),
    source!("op/exp64.wgsl", Needs::F64),
    source!("op/f64.wgsl", Needs::F64),
    source!("op/int.wgsl"),
    source!("op/int64.wgsl", Needs::INT64),
    source!("op/log.wgsl"),
    source!("op/log64.wgsl", Needs::F64),
    source!("op/order.wgsl"),
    source!("op/order64.wgsl", DOUBLE),
    source!("op/parts64.wgsl", Needs::F64),
    source!("op/pow.wgsl"),
    source!("op/round.wgsl"),
    source!("op/softmax.wgsl"),
    source!("op/trig.wgsl"),
    source!("op/trig64.wgsl", Needs::F64),
];

/// The kernel that counts what ran.
pub const RAN: Source = source!("ran.wgsl");

/// Every fragment: files without an entry point.
#[cfg(feature = "testing")]
pub fn fragments() -> impl Iterator<Item = &'static Source> {
    Form::all().map(Form::part).chain(FRAGMENTS)
}

/// The fragments whose names are known everywhere: all but the move forms, which answer to the same
/// names.
fn offered() -> impl Iterator<Item = &'static Source> {
    let elements = Form::all().filter(|form| !form.is_move()).map(Form::part);
    elements.chain(FRAGMENTS)
}

/// One function, struct, alias, constant, override or variable of a fragment file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Item {
    pub name: &'static str,
    pub source: &'static Source,
    /// The number of its first line in the file.
    pub line: u32,
    pub text: &'static str,
}

static LIBRARY: LazyLock<HashMap<&'static str, Item>> = LazyLock::new(|| {
    let all = offered().flat_map(items);
    all.map(|item| (item.name, item)).collect()
});

/// The item of this name.
pub(crate) fn find(name: &str) -> Option<Item> {
    LIBRARY.get(name).copied()
}

/// The items of a file, in its order.
pub(crate) fn items(source: &'static Source) -> Vec<Item> {
    let mut items = Vec::new();
    let mut alone = false;
    // The comment lines directly above: the number and start of the first of them.
    let mut above = None;
    let mut open: Option<(&'static str, u32, usize)> = None;
    let mut start = 0;
    for (n, line) in source.text.split_inclusive('\n').enumerate() {
        let n = n as u32 + 1;
        let end = start + line.len();
        let start = core::mem::replace(&mut start, end);
        // Inside an item, as most lines are: skipped at once, because the first kernel of a process
        // waits for this.
        if line.starts_with(' ') {
            continue;
        }
        let body = line.trim_end();
        match body {
            "// region alone" => alone = true,
            "// end alone" => alone = false,
            _ if alone => {}
            _ if open.is_none() => {
                if body.starts_with("//") {
                    above.get_or_insert((n, start));
                } else if let Some(name) = defined(body) {
                    let (first, from) = above.take().unwrap_or((n, start));
                    open = Some((name, first, from));
                } else {
                    above = None;
                }
            }
            _ => {}
        }
        // A definition ends with its line, or with a closing brace at the margin.
        let closes = body.ends_with([';', '}']);
        if let Some((name, line, from)) = open.take_if(|_| closes) {
            items.push(Item { name, source, line, text: &source.text[from..end] });
        }
    }
    items
}

/// The name that a line at the margin defines.
pub(crate) fn defined(line: &str) -> Option<&str> {
    let keywords = ["fn ", "struct ", "alias ", "const ", "override ", "var<private> "];
    let rest = keywords.iter().find_map(|keyword| line.strip_prefix(keyword))?;
    rest.split(|c| !is_of_name(c)).next()
}

fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// The names by which a text may mean an item: not those of members, nor those that it gives to
/// members and parameters.
pub(crate) fn identifiers(text: &str) -> impl Iterator<Item = &str> {
    let code = text.lines().map(|line| line.split("//").next().unwrap_or_default());
    code.flat_map(|line| {
        // Code is ASCII.
        let (bytes, mut end) = (line.as_bytes(), 0);
        let words = line.split(|c| !is_of_name(c)).map(move |word| {
            let is_member = end > 0 && bytes.get(end - 1) == Some(&b'.');
            end += word.len() + 1;
            (word, is_member || bytes.get(end - 1) == Some(&b':'))
        });
        let named = words.filter(|(word, own)| !own && word.starts_with(char::is_alphabetic));
        named.map(|(word, _)| word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_have_their_comments_and_lines() {
        let strided = fragments().find(|source| source.path == "shared/strided.wgsl");
        let items = items(strided.expect("in the catalog"));
        let names = items.iter().map(|item| item.name).collect::<Vec<_>>();
        assert_eq!(
            names,
            ["rank", "elements", "stride_of", "index", "index_row", "index4"],
            "none of `alone`"
        );
        for item in items {
            let first = item.text.lines().next().expect("an item has lines");
            let line = strided.and_then(|s| s.text.lines().nth(item.line as usize - 1));
            assert_eq!(line, Some(first), "{}", item.name);
            assert!(item.text.ends_with(['\n', ';', '}']), "{} is whole", item.name);
        }
    }

    #[test]
    fn members_and_parameters_are_not_items() {
        let text = "fn place(index: u32) -> u32 {\n    return p.job.elements + rank; // index4\n}";
        let names: Vec<&str> = identifiers(text).filter(|name| find(name).is_some()).collect();
        assert_eq!(names, ["rank"], "the others only have the names of items");
    }

    #[test]
    fn names_are_unique() {
        let names = offered().flat_map(items).map(|item| item.name).collect::<Vec<_>>();
        for (i, name) in names.iter().enumerate() {
            assert!(!names[..i].contains(name), "{name} is defined twice");
        }
    }
}
