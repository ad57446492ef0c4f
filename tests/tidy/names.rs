//! Names: one meaning for each, none of Rust's own, and one for everything that a function takes.

use std::collections::BTreeMap;

use crate::code::{Token, nesting, tokens};
use crate::house::{House, house};
use crate::{File, none};

/// What every file of Rust knows without importing it. Not `Result`: one with the error filled in
/// is the custom, of `std::io` too.
const PRELUDE: &str = "AsMut AsRef AsyncFn AsyncFnMut AsyncFnOnce Box Clone Copy Debug Default \
    DoubleEndedIterator Drop Eq Err ExactSizeIterator Extend Fn FnMut FnOnce From FromIterator \
    Future Hash Into IntoFuture IntoIterator Iterator None Ok Option Ord PartialEq PartialOrd \
    Send Sized Some String Sync ToOwned ToString TryFrom TryInto Unpin Vec";
const CRATES: &str = "alloc core std";

/// More that belong together are a type, whose fields have names.
const TUPLE_MAX: usize = 2;

/// Types and modules: what they are, and their names.
fn declared<'a>(tokens: &[Token<'a>]) -> Vec<(&'a str, Token<'a>)> {
    let mut depth = 0;
    let mut found = Vec::new();
    for pair in tokens.windows(2) {
        depth += nesting(pair[0].text);
        let is_declared = match pair[0].text {
            "struct" | "enum" | "trait" | "mod" => true,
            // Deeper it belongs to a trait.
            "type" => depth == 0,
            _ => false,
        };
        if is_declared && pair[1].is_word() {
            found.push((pair[0].text, pair[1]));
        }
    }
    found
}

/// Types of several files that have one name. In one file that is one type, per platform.
fn twins(house: &House<'_>) -> Vec<String> {
    let mut places: BTreeMap<&str, BTreeMap<&str, String>> = BTreeMap::new();
    for room in &house.rooms {
        for (what, name) in declared(&room.tokens).into_iter().filter(|(what, _)| *what != "mod") {
            let place = room.file.complaint(name.line, what);
            places.entry(name.text).or_default().insert(&room.file.path, place);
        }
    }
    let twins = places.into_iter().filter(|(_, places)| places.len() > 1);
    let complaint = |(name, places): (&str, BTreeMap<&str, String>)| {
        let places: Vec<String> = places.into_values().collect();
        format!("{} types `{name}`:\n    {}", places.len(), places.join("\n    "))
    };
    twins.map(complaint).collect()
}

/// Types and modules with names of Rust's own.
fn shadows(house: &House<'_>) -> Vec<String> {
    let mut complaints = Vec::new();
    for room in &house.rooms {
        for (what, name) in declared(&room.tokens) {
            let rusts = if what == "mod" { CRATES } else { PRELUDE };
            if rusts.split_whitespace().any(|rusts| rusts == name.text) {
                let rule = format!("`{what} {}` hides Rust's own", name.text);
                complaints.push(room.file.complaint(name.line, &rule));
            }
        }
    }
    complaints
}

/// The parts between these signs, up to where the bracket around them closes.
fn cut<'t, 'a>(tokens: &'t [Token<'a>], sign: &str) -> Vec<&'t [Token<'a>]> {
    let mut depth = 0;
    let end = tokens.iter().position(|token| {
        depth += nesting(token.text);
        depth < 0
    });
    let mut depth = 0;
    let ends_part = |token: &Token<'_>| {
        depth += match token.text {
            "<" => 1,
            ">" => -1,
            text => nesting(text),
        };
        depth == 0 && token.text == sign
    };
    let parts = tokens[..end.unwrap_or(tokens.len())].split(ends_part);
    parts.filter(|part| !part.is_empty()).collect()
}

/// Whether a parameter is a long tuple, or refers to one.
fn is_crowd(parameter: &[Token<'_>]) -> bool {
    let kind = cut(parameter, ":").pop().unwrap_or_default();
    let is_reference = |text: &str| matches!(text, "&" | "mut") || text.starts_with('\'');
    let start = kind.iter().take_while(|token| is_reference(token.text)).count();
    match &kind[start..] {
        [open, inside @ ..] if open.text == "(" => cut(inside, ",").len() > TUPLE_MAX,
        _ => false,
    }
}

/// Functions, and types of functions, that take long tuples.
fn crowds<'a>(tokens: &[Token<'a>]) -> Vec<Token<'a>> {
    let mut found = Vec::new();
    for (n, head) in tokens.iter().enumerate() {
        if !matches!(head.text, "fn" | "Fn" | "FnMut" | "FnOnce") {
            continue;
        }
        // Generics come first, and their bounds have brackets too.
        let mut angles = 0;
        let open = tokens[n..].iter().position(|token| {
            angles += i32::from(token.text == "<") - i32::from(token.text == ">");
            angles == 0 && token.text == "("
        });
        let parameters = &tokens[open.map_or(tokens.len(), |open| n + open + 1)..];
        if cut(parameters, ",").into_iter().any(is_crowd) {
            found.push(if tokens[n + 1].is_word() { tokens[n + 1] } else { *head });
        }
    }
    found
}

#[test]
fn a_name_has_one_meaning() {
    none(&twins(house()));
}

#[test]
fn no_name_is_rusts_own() {
    none(&shadows(house()));
}

#[test]
fn functions_take_no_long_tuples() {
    let mut complaints = Vec::new();
    for room in &house().rooms {
        for head in crowds(&room.tokens) {
            let rule = format!("`{}` takes a tuple of more than {TUPLE_MAX}", head.text);
            complaints.push(room.file.complaint(head.line, &rule));
        }
    }
    none(&complaints);
}

#[test]
fn names_are_found() {
    let file = |path: &str, text: &str| File { path: path.to_owned(), text: text.to_owned() };
    let files = [
        file("src/lib.rs", "struct Part; trait Whole { type Part; }"),
        file(
            "src/a.rs",
            "fn f() {\n    enum Part {}\n}\n// struct Whole\nmod core {} mod whole {}",
        ),
        file("src/b.rs", "type Whole = Part; mod whole; struct Into; struct Result; mod into;"),
        file(
            "src/c.rs",
            "#[cfg(test)]\nmod tests {\n    struct Part;\n}\ntype Here = (); type Here = u8;",
        ),
    ];
    let house = House::of(&files);
    let part = "2 types `Part`:\n    src/a.rs:2: enum\n    src/lib.rs:1: struct";
    let whole = "2 types `Whole`:\n    src/b.rs:1: type\n    src/lib.rs:1: trait";
    assert_eq!(twins(&house), [part, whole]);
    let shadow =
        ["src/a.rs:5: `mod core` hides Rust's own", "src/b.rs:1: `struct Into` hides Rust's own"];
    assert_eq!(shadows(&house), shadow);
}

#[test]
fn long_tuples_are_found() {
    let names =
        |text| -> Vec<&str> { crowds(&tokens(text)).iter().map(|token| token.text).collect() };
    for long in [
        "fn f((rank, target, pace): (u32, Target, Pace)) {}",
        "fn f(\n    &self,\n    shape: &mut (\n        u32,\n        A,\n        B,\n    ),\n) {}",
        "fn f<F: Fn(u8) -> (u8, u8)>(_: F, a: &'a (A<B, C>, D, [u8; 3])) {}",
        "fn f(Pair { a: x, b: y }: Pair, _: (u8, u8, u8));",
    ] {
        assert_eq!(names(long), ["f"], "{long}");
    }
    assert_eq!(names("type Make = dyn Fn(&[Way], (u32, Target, Pace)) -> u8;"), ["Fn"]);
    for short in [
        "fn f((x, y): (u32, u32), z: u8) {}",
        "fn f(a: A<B, C, D>, b: (A<B, C>, D)) -> (u8, u8, u8) { g((1, 2, 3)) }",
        "fn f(rows: &[(u8, u8, u8)], g: impl Fn(u8, u8, u8)) {}",
        "fn f(Three(a, b, c): Three, d: fn(u8, u8, u8)) {}",
        "fn f(\n    shape: &(\n        u32,\n        A,\n    ),\n) {}",
        "fn f(a: A) { let g = |a, b: (u8, u8, u8)| a; }",
        "// fn f(a: (u8, u8, u8))",
    ] {
        assert_eq!(names(short), [""; 0], "{short}");
    }
}
