//! What the crate shows: `docs/api.txt`, so that every change of it is seen.
//!
//! What is `pub` can be reached, which the compiler says, but for what nobody passes on. What a
//! macro makes stands as the rows of its call, and its functions and constants as the macro has
//! them; a macro that is exported, as the patterns of its arms.

use std::collections::BTreeSet;
use std::fs;

use wharf::DType;
use wharf::op::{Joint, Op, Reduction, Refusal};

use crate::code::{Token, nesting, tokens};
use crate::{File, files, root};

/// Where names can be had, and what they are: a line each.
#[derive(Debug, Default)]
struct Shown {
    /// The modules that users can name.
    modules: BTreeSet<String>,
    names: BTreeSet<String>,
    /// Traits, of whoever.
    traits: BTreeSet<String>,
    /// Each with the names on which it depends: one of them has to be shown.
    parts: Vec<Part>,
}

#[derive(Debug)]
struct Part {
    of: Vec<String>,
    text: String,
}

/// Items that stand in one place.
#[derive(Clone, Copy, Debug)]
struct Place<'a> {
    /// From the root of the crate, with `::`.
    module: &'a str,
    /// The type or trait whose items these are.
    owner: Option<&'a str>,
    /// In a trait everything is public.
    all: bool,
    /// Not documented: what is passed on from here is.
    hidden: bool,
}

/// The traits that an item derives.
fn derived(attributes: &[Token<'_>]) -> Vec<String> {
    let mut found = BTreeSet::new();
    for at in 1..attributes.len() {
        if attributes[at - 1].text == "derive" {
            let list = &attributes[at + 1..close(attributes, at)];
            found.extend(list.iter().filter(|token| token.is_word()).map(|t| t.text.to_owned()));
        }
    }
    found.into_iter().collect()
}

/// As Rust writes it.
fn spell(tokens: &[Token<'_>]) -> String {
    let mut text = String::new();
    for (n, token) in tokens.iter().enumerate() {
        let before = if n == 0 { "" } else { tokens[n - 1].text };
        let is_word = |text: &str| text.starts_with(|c: char| c.is_alphanumeric() || c == '_');
        let words = is_word(token.text) || token.text.starts_with('\'');
        let ends = tokens.get(n + 1).is_some_and(|next| next.text == ")");
        if token.text == "," && ends && before != "(" {
            continue;
        }
        let opens = matches!(before, "" | "(" | "[" | "<" | "::" | "&" | "!" | ".." | "#" | "?");
        let closes = matches!(token.text, "," | ";" | ":" | ")" | "]" | ">" | "::" | "?" | "!")
            || (matches!(token.text, "(" | "[" | "<") && (is_word(before) || before == ">"));
        let signs = matches!(token.text, "->" | "=" | "+" | "{" | "=>" | "|")
            || matches!(before, "->" | "=" | "+" | "," | ":" | ";" | "}" | "=>" | "|" | "{");
        let between = words && (is_word(before) || before.starts_with('\'') || before == ">");
        let apart = matches!(token.text, "&" | "$") && is_word(before);
        let gap = !opens && !closes && (signs || between || apart);
        text += if gap { " " } else { "" };
        text += token.text;
    }
    text
}

/// Where the bracket that opens here closes.
fn close(tokens: &[Token<'_>], open: usize) -> usize {
    let mut depth = 0;
    let end = tokens[open..].iter().position(|token| {
        depth += nesting(token.text);
        depth == 0
    });
    end.map_or(tokens.len(), |end| open + end)
}

/// Where the head of an item ends: at its block, its value or its semicolon.
fn head_end(tokens: &[Token<'_>], from: usize) -> usize {
    if tokens[from].text == "use" {
        let end = tokens[from..].iter().position(|token| token.text == ";");
        return end.map_or(tokens.len(), |end| from + end);
    }
    let mut depth = 0;
    let end = tokens[from..].iter().position(|token| {
        let ends = depth == 0 && matches!(token.text, "{" | ";" | "=");
        depth += match token.text {
            "<" => 1,
            ">" => -1,
            text => nesting(text),
        };
        ends
    });
    end.map_or(tokens.len(), |end| from + end)
}

/// Where a value ends. In it `<` is no bracket: it compares, or shifts.
fn value_end(tokens: &[Token<'_>], from: usize) -> usize {
    let mut depth = 0;
    let end = tokens[from..].iter().position(|token| {
        depth += nesting(token.text);
        depth == 0 && token.text == ";"
    });
    end.map_or(tokens.len(), |end| from + end)
}

/// Parts of a list, and where none is empty.
fn list<'t, 'a>(tokens: &'t [Token<'a>], sign: &str) -> Vec<&'t [Token<'a>]> {
    let mut depth = 0;
    let ends = |token: &Token<'_>| {
        depth += match token.text {
            "<" => 1,
            ">" => -1,
            text => nesting(text),
        };
        depth == 0 && token.text == sign
    };
    tokens.split(ends).filter(|part| !part.is_empty()).collect()
}

/// Without attributes, and whether it is public, with what stands behind that.
fn bare<'t, 'a>(mut tokens: &'t [Token<'a>]) -> (bool, &'t [Token<'a>]) {
    while let [sign, ..] = tokens
        && sign.text == "#"
    {
        let open = tokens.iter().position(|token| token.text == "[").unwrap_or(0);
        tokens = &tokens[(close(tokens, open) + 1).min(tokens.len())..];
    }
    match tokens {
        [first, open, ..] if first.text == "pub" && open.text == "(" => {
            (false, &tokens[close(tokens, 1) + 1..])
        }
        [first, rest @ ..] if first.text == "pub" => (true, rest),
        _ => (false, tokens),
    }
}

/// The last words of paths in a `use`, or what they are called here.
fn passed_on<'a>(head: &[Token<'a>]) -> Vec<&'a str> {
    let ends = |n: usize| head.get(n + 1).is_none_or(|next| matches!(next.text, "," | "}"));
    let last = head.iter().enumerate().filter(|(n, token)| ends(*n) && token.text != "}");
    last.map(|(_, token)| token.text).collect()
}

/// The type that an `impl` is for, and its trait; without their parameters.
fn subjects(head: &[Token<'_>]) -> Vec<String> {
    let mut depth = 0;
    let mut found: Vec<String> = Vec::new();
    for (n, token) in head.iter().enumerate().skip(1) {
        depth += i32::from(token.text == "<") - i32::from(token.text == ">");
        let starts = n == 1 || matches!(head[n - 1].text, "for" | ">" | "&" | "mut" | "::");
        if depth == 0 && token.is_word() && starts && !matches!(token.text, "for" | "where") {
            found.push(token.text.to_owned());
        }
        if token.text == "where" {
            break;
        }
    }
    found.reverse();
    found
}

impl Shown {
    fn add(&mut self, place: Place<'_>, name: &str, text: String) {
        match place.owner {
            Some(owner) => {
                self.parts.push(Part { of: vec![owner.into()], text: format!("{owner}::{text}") });
            }
            None if place.hidden => self.parts.push(Part { of: vec![name.into()], text }),
            None => {
                self.names.insert(format!("{}::{name}", place.module));
                self.parts.push(Part { of: vec![name.into()], text });
            }
        }
    }

    /// All items of these tokens.
    fn read(&mut self, place: Place<'_>, tokens: &[Token<'_>], makers: &BTreeSet<&str>) {
        let mut at = 0;
        while at < tokens.len() {
            let start = at;
            let (is_public, rest) = bare(&tokens[at..]);
            let head_at = tokens.len() - rest.len();
            let attributes = spell(&tokens[start..head_at]);
            let hidden = attributes.contains("doc(hidden)");
            let end = head_end(tokens, head_at);
            let (head, is_block) =
                (&tokens[head_at..end], tokens.get(end).map(|t| t.text) == Some("{"));
            let body_end = if is_block { close(tokens, end) } else { end };
            let body = if is_block { &tokens[end + 1..body_end] } else { &[][..] };
            at = match tokens.get(end).map(|token| token.text) {
                Some("=") => value_end(tokens, end) + 1,
                _ => body_end + 1,
            };
            if attributes.contains("macro_export") {
                self.arms(head, body);
            } else if !hidden {
                self.derives(&tokens[start..head_at], head);
                self.item(Place { all: place.all || is_public, ..place }, head, body, makers);
            }
        }
    }

    /// What a type derives: shown where the type is.
    fn derives(&mut self, attributes: &[Token<'_>], head: &[Token<'_>]) {
        let derived = derived(attributes);
        if let ([.., _], [_, name, ..]) = (&*derived, head) {
            let text = format!("derive {}: {}", name.text, derived.join(" "));
            self.parts.push(Part { of: vec![name.text.into()], text });
        }
    }

    fn item(
        &mut self,
        place: Place<'_>,
        head: &[Token<'_>],
        body: &[Token<'_>],
        makers: &BTreeSet<&str>,
    ) {
        let word = |n: usize| head.get(n).map_or("", |token| token.text);
        let is_quality = |n: usize| match word(n) {
            "const" => word(n + 1) == "fn",
            word => matches!(word, "async" | "unsafe"),
        };
        let kind = (0..head.len()).find(|&n| !is_quality(n)).unwrap_or(0);
        let (kind, name) = (word(kind), word(kind + 1));
        if kind == "trait" {
            self.traits.insert(name.to_owned());
        }
        match kind {
            "impl" => self.block(place, head, body, makers),
            maker if name == "!" && makers.contains(maker) => {
                if let ("named", Some(made)) = (maker, named(body)) {
                    self.names.insert(format!("{}::{made}", place.module));
                }
                self.rows(maker, body);
            }
            // What a private module has of its own is not shown, but what it adds to others is.
            "mod" if !place.all => {
                self.read(Place { all: false, hidden: true, ..place }, body, makers);
            }
            _ if !place.all => {}
            "mod" => {
                let module = format!("{}::{name}", place.module);
                self.modules.insert(module.clone());
                self.read(Place { module: &module, all: false, ..place }, body, makers);
            }
            "use" if place.hidden => {}
            "use" => {
                for name in passed_on(head) {
                    self.names.insert(format!("{}::{name}", place.module));
                }
            }
            "struct" | "enum" => {
                let open = head.iter().position(|token| token.text == "(");
                let (front, fields) = head.split_at(open.unwrap_or(head.len()));
                self.add(place, name, spell(front));
                self.fields(
                    name,
                    kind,
                    if fields.is_empty() { body } else { &fields[1..fields.len() - 1] },
                );
            }
            "trait" => {
                self.add(place, name, spell(head));
                self.read(Place { owner: Some(name), all: true, ..place }, body, makers);
            }
            "fn" | "const" | "static" | "type" => self.add(place, name, spell(head)),
            _ => {}
        }
    }

    /// An `impl`.
    fn block(
        &mut self,
        place: Place<'_>,
        head: &[Token<'_>],
        body: &[Token<'_>],
        makers: &BTreeSet<&str>,
    ) {
        let subjects = subjects(head);
        let is_of_trait = head.iter().any(|token| token.text == "for");
        match subjects.first() {
            Some(owner) if !is_of_trait => {
                self.read(Place { owner: Some(owner), all: false, ..place }, body, makers);
            }
            _ if place.hidden => {}
            // The type first, then the trait.
            _ => self.parts.push(Part { of: subjects, text: spell(head) }),
        }
    }

    /// A macro that is exported, which stands at the root: what each arm takes.
    fn arms(&mut self, head: &[Token<'_>], body: &[Token<'_>]) {
        let name = head.get(2).map_or("", |token| token.text);
        self.names.insert(format!("wharf::{name}!"));
        for arm in list(body, ";") {
            let pattern = spell(&arm[..(close(arm, 0) + 1).min(arm.len())]);
            self.parts.push(Part { of: Vec::new(), text: format!("{name}!{pattern}") });
        }
    }

    /// What a macro is called with, without documentation.
    fn rows(&mut self, maker: &str, body: &[Token<'_>]) {
        for row in list(body, ";") {
            let words = bare(row).1.iter().copied().filter(|token| !token.text.starts_with('"'));
            let text = format!("{maker}! {}", spell(&words.collect::<Vec<_>>()));
            self.parts.push(Part { of: Vec::new(), text });
        }
    }

    /// The functions and constants that a macro makes, its types by name, and what they derive.
    fn made(&mut self, module: &str, maker: &str, body: &[Token<'_>]) {
        let derived = derived(body);
        if !derived.is_empty() {
            let text = format!("{maker}! derive {}", derived.join(" "));
            self.parts.push(Part { of: Vec::new(), text });
        }
        for at in 1..body.len().saturating_sub(1) {
            match (body[at - 1].text, body[at].text, body[at + 1]) {
                ("pub", "fn" | "const", _) => {
                    let text = format!("{maker}! {}", spell(&body[at..head_end(body, at)]));
                    self.parts.push(Part { of: Vec::new(), text });
                }
                ("pub", "struct" | "enum", name) if name.is_word() => {
                    self.names.insert(format!("{module}::{}", name.text));
                }
                _ => {}
            }
        }
    }

    /// Public fields, with names or numbers, or variants.
    /// What a macro of a hidden module adds to what is shown elsewhere.
    fn added(&mut self, place: Place<'_>, body: &[Token<'_>], makers: &BTreeSet<&str>) {
        for at in 2..body.len() {
            if body[at - 2].text == "impl" && body[at].text == "{" {
                let inner = &body[at + 1..close(body, at)];
                self.block(place, &body[at - 2..at], inner, makers);
            }
        }
    }

    fn fields(&mut self, name: &str, kind: &str, body: &[Token<'_>]) {
        for (n, part) in list(body, ",").into_iter().enumerate() {
            let (is_public, part) = bare(part);
            let text = match part {
                _ if kind == "enum" => format!("{name}::{}", spell(part)),
                [_, colon, ..] if colon.text == ":" => format!("{name}.{}", spell(part)),
                _ => format!("{name}.{n}: {}", spell(part)),
            };
            if is_public || kind == "enum" {
                self.parts.push(Part { of: vec![name.into()], text });
            }
        }
    }

    /// As lines: where names are, and what is shown of them.
    fn text(&self) -> String {
        let is_named = |path: &&String| {
            let module = path.rsplit_once("::").map_or("", |(module, _)| module);
            module == "wharf" || self.modules.contains(module)
        };
        let paths: Vec<&String> = self.names.iter().filter(is_named).collect();
        let last = |path: &&String| path.rsplit("::").next().unwrap_or("").to_owned();
        let heads: BTreeSet<String> = paths.iter().map(last).collect();
        // What implements a trait that nobody can name is of no use to anybody.
        let is_own = |name: &String| self.traits.contains(name) && !heads.contains(name);
        let is_shown = |part: &&Part| {
            let is_named = part.of.is_empty() || part.of.iter().any(|name| heads.contains(name));
            is_named && !part.of.iter().any(is_own)
        };
        let parts: BTreeSet<String> =
            self.parts.iter().filter(is_shown).map(|part| part.text.clone()).collect();
        let lines = paths.into_iter().cloned().chain([String::new()]).chain(parts);
        lines.map(|line| line + "\n").collect()
    }
}

/// The type that a table of `named!` makes.
fn named<'a>(body: &[Token<'a>]) -> Option<&'a str> {
    bare(body).1.first().map(|token| token.text)
}

/// Makers of what is private, or is listed otherwise.
const UNLISTED: [&str; 8] =
    ["causes", "params", "by_field", "by_name", "by_kind", "narrow", "sources", "wide"];

/// Macros that make something public, or implement a trait, and what is in them.
fn makers<'t, 'a>(tokens: &'t [Token<'a>]) -> Vec<(&'a str, &'t [Token<'a>])> {
    let mut found = Vec::new();
    for at in 0..tokens.len().saturating_sub(3) {
        if tokens[at].text == "macro_rules" {
            let body = &tokens[at + 3..close(tokens, at + 3)];
            let makes = body.windows(2).any(|pair| pair[0].text == "pub" && pair[1].text != "(");
            let implements = body.iter().any(|token| token.text == "impl");
            let listed = !UNLISTED.contains(&tokens[at + 2].text);
            if listed && (makes || implements) {
                found.push((tokens[at + 2].text, body));
            }
        }
    }
    found
}

fn shown(files: &[File], hidden: &[&str]) -> Shown {
    let mut shown = Shown::default();
    for file in files.iter().filter(|file| !file.path.contains("/tests")) {
        let inside = file.path.trim_start_matches("src/").trim_end_matches(".rs");
        let path: Vec<&str> = inside.split('/').filter(|part| *part != "lib").collect();
        let module = [&["wharf"][..], &path].concat().join("::");
        let hidden =
            hidden.iter().any(|name| module == *name || module.starts_with(&format!("{name}::")));
        let tokens = tokens(&file.text);
        let makers = makers(&tokens);
        let names: BTreeSet<&str> =
            makers.iter().map(|(maker, _)| *maker).chain(["named"]).collect();
        let place = Place { module: &module, owner: None, all: false, hidden };
        for (maker, body) in &makers {
            if hidden {
                shown.added(place, body, &names);
            } else {
                shown.made(&module, maker, body);
            }
        }
        shown.read(place, &tokens, &names);
    }
    shown
}

#[test]
fn what_the_crate_shows_is_listed() {
    let hidden = ["wharf::kernel", "wharf::wgsl", "wharf::testing", "wharf::caps::fixtures"];
    let text = shown(&files(&["src"], "rs"), &hidden).text();
    let path = root().join("docs/api.txt");
    if std::env::var("WHARF_GOLDENS").is_ok_and(|value| value == "1") {
        fs::write(&path, &text).expect("a writable checkout");
    }
    let listed = fs::read_to_string(&path).expect("WHARF_GOLDENS=1 writes it");
    let (now, before): (BTreeSet<&str>, BTreeSet<&str>) =
        (text.lines().collect(), listed.lines().collect());
    let gone = before.difference(&now).map(|line| format!("- {line}"));
    let new = now.difference(&before).map(|line| format!("+ {line}"));
    let changes: Vec<String> = gone.chain(new).collect();
    assert!(
        text == listed,
        "WHARF_GOLDENS=1 brings docs/api.txt up to date:\n{}",
        changes.join("\n")
    );
}

/// Errors, fused kernels and shadows name operations: a name that no method has leads nowhere.
#[test]
fn operations_are_called_as_their_methods_are() {
    let listed = fs::read_to_string(root().join("docs/api.txt")).expect("it is listed");
    let is_method = |name: &str| {
        let made = ["methods! ", "Tensor::fn ", "Device::fn "];
        listed.lines().any(|line| {
            let rest = made.iter().find_map(|front| line.strip_prefix(front)?.strip_prefix(name));
            rest.is_some_and(|rest| rest.starts_with(['(', ' ', '<']))
        })
    };
    let called = |&op: &Op| {
        let text = Refusal::Kind { op, given: DType::F8E4M3 }.to_string();
        text.split_once(' ').map_or(String::new(), |(name, _)| name.to_owned())
    };
    let mut names: Vec<String> = Op::ALL.iter().map(called).collect();
    for (op, name) in Op::ALL.iter().zip(&names) {
        assert_eq!(name.parse().ok(), Some(*op), "{name} is not found");
    }
    names.extend(Reduction::ALL.iter().map(|reduction| reduction.name().to_owned()));
    names.extend(Joint::ALL.iter().map(|joint| joint.name().to_owned()));
    names.retain(|name| !is_method(name));
    assert!(names.is_empty(), "no methods: {names:?}");
}

#[test]
fn what_is_shown_is_found() {
    let file = |path: &str, text: &str| File { path: path.to_owned(), text: text.to_owned() };
    let lib = "#![deny(x)]\npub mod a;\nmod b;\npub use b::{B, Q, c as d};\n#[doc(hidden)]\n\
        pub mod h;\npub use h::H;";
    let a = "#[derive(Debug, Clone)] pub struct A<T> { pub x: Vec<T>, y: u8 }\n\
        pub(crate) struct P { pub z: u8 }\n\
        impl<T> A<T> { pub const N: [u8; 2] = [1; 2]; #[x(y)] pub fn f(\n&self,\n\
        n: impl Fn(u8) -> T,\n) -> Result<T> { f(); } fn g() {} }\n\
        impl From<u8> for A<u8> {}\nimpl Q for P {}\n\
        trait R {}\nimpl R for A<u8> {}\nnamed! { C, name: D \"d\"; }\n\
        macro_rules! m { ($n:ident) => { pub fn $n() {} } }\nm! { one \"doc\"; two(x); }\n\
        #[macro_export]\nmacro_rules! e { (@ $x:expr) => { $x; }; ($($x:expr),+ $(,)?) => {}; }\n\
        macro_rules! own { () => {} }";
    let b = "pub enum B { One, Two { n: u8 } }\npub trait Q: Sized { fn q(&self) {} }";
    let h = "pub struct H(pub u8, u8);\npub struct I;\nimpl H { pub fn h() {} }\n\
        impl I { pub fn i() {} }";
    let files = [("lib", lib), ("a", a), ("b", b), ("h", h)];
    let files = files.map(|(name, text)| file(&format!("src/{name}.rs"), text));
    let want = [
        "wharf::B",
        "wharf::H",
        "wharf::Q",
        "wharf::a::A",
        "wharf::a::C",
        "wharf::d",
        "wharf::e!",
        "",
        "A.x: Vec<T>",
        "A::const N: [u8; 2]",
        "A::fn f(&self, n: impl Fn(u8) -> T) -> Result<T>",
        "B::One",
        "B::Two { n: u8}",
        "H.0: u8",
        "H::fn h()",
        "Q::fn q(&self)",
        "derive A: Clone Debug",
        "e!($($x: expr), + $(,)?)",
        "e!(@$x: expr)",
        "enum B",
        "impl From<u8> for A<u8>",
        "impl Q for P",
        "m! fn $n()",
        "m! one",
        "m! two(x)",
        "named! C, name: D",
        "struct A<T>",
        "struct H",
        "trait Q: Sized",
    ];
    let text = shown(&files, &["wharf::h"]).text();
    assert_eq!(text.lines().collect::<Vec<_>>(), want);
}
