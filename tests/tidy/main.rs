//! Style is a test, not a meeting: who imports from whom, names, lengths, leftovers, and that
//! nothing lies around unused.
//!
//! Every rule collects lines `file:line: rule`, so that one run shows everything there is to mend.

use std::fs;
use std::path::{Path, PathBuf};

mod api;
mod code;
mod early;
mod house;
mod imports;
mod names;
mod when;

const RUST_LINES_MAX: usize = 600;
const WGSL_LINES_MAX: usize = 200;
const FUNCTION_LINES_MAX: usize = 70;
const COLUMNS_MAX: usize = 100;

/// A text file of the repository.
#[derive(Debug)]
struct File {
    /// From the root, with `/`.
    path: String,
    text: String,
}

impl File {
    fn complaint(&self, line: usize, rule: &str) -> String {
        format!("{}:{}: {rule}", self.path, line + 1)
    }

    /// The lines that are not those of a `mod tests` at the end.
    fn lines_but_tests(&self) -> impl Iterator<Item = (usize, &str)> {
        let tests = self.path.contains("/tests") || self.path.starts_with("tests");
        let code = if tests {
            ""
        } else {
            self.text.split("\n#[cfg(test)]\nmod tests {").next().unwrap_or("")
        };
        code.lines().enumerate()
    }
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// All files under these folders with an extension, in the order of their paths.
fn files(folders: &[&str], extension: &str) -> Vec<File> {
    fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
        let Ok(entries) = fs::read_dir(folder) else { return };
        for path in entries.flatten().map(|entry| entry.path()) {
            if path.is_dir() { walk(&path, found) } else { found.push(path) }
        }
    }
    let mut found = Vec::new();
    for folder in folders {
        walk(&root().join(folder), &mut found);
    }
    found.sort();
    let file = |path: PathBuf| {
        let inside =
            path.strip_prefix(root()).unwrap_or(&path).to_string_lossy().replace('\\', "/");
        // What is no UTF-8 has no text, and then no opening line either.
        File { path: inside, text: fs::read_to_string(&path).unwrap_or_default() }
    };
    found.into_iter().filter(|p| p.extension().is_some_and(|e| e == extension)).map(file).collect()
}

fn rust() -> Vec<File> {
    files(&["src", "tests", "examples", "benches", "cli"], "rs")
}

fn shaders() -> Vec<File> {
    files(&["shaders"], "wgsl")
}

fn none(complaints: &[String]) {
    assert!(complaints.is_empty(), "{} to mend:\n{}", complaints.len(), complaints.join("\n"));
}

#[test]
fn files_are_short() {
    let mut complaints = Vec::new();
    for (all, most) in [(rust(), RUST_LINES_MAX), (shaders(), WGSL_LINES_MAX)] {
        for file in all {
            let lines = file.text.lines().count();
            if lines > most {
                complaints.push(file.complaint(most, &format!("{lines} lines, {most} are enough")));
            }
        }
    }
    none(&complaints);
}

#[test]
fn lines_are_short_and_clean() {
    let mut complaints = Vec::new();
    for file in rust().into_iter().chain(shaders()) {
        for (n, line) in file.text.lines().enumerate() {
            let columns = line.chars().count();
            if columns > COLUMNS_MAX && !line.contains("://") && !is_text(&file, line) {
                complaints.push(
                    file.complaint(n, &format!("{columns} columns, {COLUMNS_MAX} are enough")),
                );
            }
            if line.trim_end() != line || line.contains('\t') {
                complaints.push(file.complaint(n, "tabs, or blanks at the end"));
            }
        }
        if !file.text.ends_with('\n') || file.text.ends_with("\n\n") {
            complaints.push(file.complaint(file.text.lines().count(), "ends in one newline"));
        }
    }
    none(&complaints);
}

/// Whether a long line is expected output in a test, which breaks where the program breaks it.
fn is_text(file: &File, line: &str) -> bool {
    file.path.starts_with("tests/") && !line.starts_with([' ', '/'])
}

/// First line, name and length of every function.
fn functions(text: &str) -> Vec<(usize, String, usize)> {
    let mut found: Vec<(usize, String, usize)> = Vec::new();
    let mut open: Option<(usize, usize, String)> = None;
    for (n, line) in text.lines().enumerate() {
        let indent = line.len() - line.trim_start().len();
        let code = line.trim_start();
        match &open {
            // rustfmt closes a function at the column where it began.
            Some((at, from, name)) if indent == *at && code.starts_with('}') => {
                found.push((*from, name.clone(), n - from + 1));
                open = None;
            }
            None => {
                // Who may use it stands in brackets, too.
                let seen = code.strip_prefix("pub(").and_then(|code| code.split_once(") "));
                let head = seen.map_or(code, |(_, code)| code).split('(').next().unwrap_or("");
                let mut words = head.split_whitespace().skip_while(|w| *w != "fn");
                let is_head = code.contains('(') && !code.starts_with("//");
                let name =
                    words.next().and(words.next()).filter(|_| is_head && !code.ends_with('}'));
                open = name.map(|name| (indent, n, name.to_owned()));
                if code.ends_with(';') {
                    open = None;
                }
            }
            Some(_) => {}
        }
    }
    found
}

#[test]
fn functions_are_short() {
    let mut complaints = Vec::new();
    for file in rust() {
        for (n, name, lines) in functions(&file.text) {
            if lines > FUNCTION_LINES_MAX {
                let rule = format!("`{name}` has {lines} lines, {FUNCTION_LINES_MAX} are enough");
                complaints.push(file.complaint(n, &rule));
            }
        }
    }
    none(&complaints);
}

#[test]
fn nothing_is_left_over() {
    // Split, so that this file does not find itself.
    let words = [
        concat!("to", "do!"),
        concat!("unimple", "mented!"),
        concat!("db", "g!("),
        concat!("X", "XX"),
        concat!("FIX", "ME"),
        concat!("TO", "DO"),
    ];
    let mut complaints = Vec::new();
    for file in rust().into_iter().chain(shaders()) {
        for (n, line) in file.text.lines().enumerate() {
            for word in words.iter().filter(|word| line.contains(**word)) {
                complaints.push(file.complaint(n, &format!("`{word}` is left over")));
            }
        }
    }
    none(&complaints);
}

/// What is no number is greater than nothing, and would pass for near.
#[test]
fn a_difference_is_small_rather_than_not_large() {
    let mut complaints = Vec::new();
    for file in rust() {
        for (n, line) in file.text.lines().enumerate() {
            // Split, so that this file does not find itself.
            if line.contains(concat!(").abs()", " >")) {
                complaints.push(file.complaint(n, "NaN passes: ask for `<=`, and negate that"));
            }
        }
    }
    none(&complaints);
}

#[test]
fn the_library_does_not_unwrap() {
    let mut complaints = Vec::new();
    for file in files(&["src"], "rs") {
        for (n, line) in file.lines_but_tests() {
            let code = line.split("//").next().unwrap_or("");
            for call in [".unwrap()", ".expect(", "panic!(", "unreachable!("] {
                if code.contains(call) {
                    complaints.push(file.complaint(n, &format!("`{call}` in the library")));
                }
            }
        }
    }
    none(&complaints);
}

/// Targets and the shape of lines are decided there.
#[test]
fn one_file_writes_to_the_log() {
    let mut complaints = Vec::new();
    for file in files(&["src"], "rs").into_iter().filter(|file| file.path != "src/news.rs") {
        for (n, line) in file.text.lines().enumerate() {
            if line.split("//").next().is_some_and(|code| code.contains("log::")) {
                complaints.push(file.complaint(n, "`log` is for src/news.rs"));
            }
        }
    }
    none(&complaints);
}

#[test]
fn every_exception_has_a_reason() {
    let mut complaints = Vec::new();
    for file in rust() {
        let lines: Vec<&str> = file.text.lines().collect();
        for (n, line) in lines.iter().enumerate() {
            let code = line.trim_start();
            let exception = ["#[allow(", "#![allow(", "#[expect(", "#![expect("];
            if !exception.iter().any(|e| code.starts_with(e)) {
                continue;
            }
            // An attribute may go over several lines.
            let end = lines[n..].iter().position(|l| l.trim_end().ends_with(")]")).unwrap_or(0);
            if !lines[n..=n + end].iter().any(|l| l.contains("reason")) {
                complaints.push(file.complaint(n, "an exception without a reason"));
            }
        }
    }
    none(&complaints);
}

/// The library forbids it. The tests promise wgpu what its users have to, in one place; in another
/// kernels run on this processor, by their addresses.
#[test]
fn only_two_places_are_unsafe() {
    let may = |path: &str| path == "tests/gpu/promise.rs" || path.starts_with("tests/metal/");
    let mut complaints = Vec::new();
    for file in rust().into_iter().filter(|file| !may(&file.path)) {
        for (n, line) in file.text.lines().enumerate() {
            let code = line.split("//").next().unwrap_or("");
            // Split, so that this file does not find itself.
            if code.contains(concat!("un", "safe {")) || code.contains(concat!("un", "safe fn")) {
                complaints.push(file.complaint(n, "not the place that may be so"));
            }
        }
    }
    none(&complaints);
    let library = fs::read_to_string(root().join("src/lib.rs")).unwrap_or_default();
    assert!(library.contains(concat!("#![forbid(un", "safe_code)]")), "the library forbids it");
}

#[test]
fn every_file_opens_with_its_idea() {
    let mut complaints = Vec::new();
    for file in rust() {
        let first = file.text.lines().next().unwrap_or("");
        // The crate's documentation may be a file of its own.
        if !first.starts_with("//! ") && !first.starts_with("#![doc = include_str!(") {
            complaints.push(file.complaint(0, "opens with `//!`: what it is for"));
        }
    }
    for file in shaders() {
        if !file.text.starts_with("// ") {
            complaints.push(file.complaint(0, "opens with `//`: the mathematics"));
        }
    }
    none(&complaints);
}

#[test]
fn every_shader_is_used() {
    let code: String = files(&["src"], "rs").into_iter().map(|file| file.text).collect();
    let unused = shaders().into_iter().filter(|file| {
        let name = file.path.strip_prefix("shaders/").unwrap_or(&file.path);
        let stem = name.trim_end_matches(".wgsl");
        let last = stem.rsplit('/').next().unwrap_or(stem);
        let named = |text: &str| code.contains(&format!("\"{text}\""));
        !code.contains(name) && !named(stem) && !named(last)
    });
    none(&unused.map(|file| file.complaint(0, "in no catalog")).collect::<Vec<_>>());
}

/// What an upload makes of a dtype is compared with what each of these makes, under policies that
/// convert. Those that name what arrives are such uploads.
#[test]
fn every_function_that_takes_a_dtype_is_tried_under_policies_that_convert() {
    const UPLOADS: [&str; 3] = ["upload_as", "upload_view_as", "tensor_as"];
    let tried = fs::read_to_string(root().join("tests/gpu/cases/makers.rs")).unwrap_or_default();
    let mut complaints = Vec::new();
    for room in house::house().rooms.iter().filter(|room| room.module.first() == Some(&"tensor")) {
        let texts: Vec<&str> = room.tokens.iter().map(|token| token.text).collect();
        for at in 2..texts.len().saturating_sub(1) {
            let ["pub", "fn", name, ..] = texts[at - 2..] else { continue };
            let mut depth = 0;
            let end = texts[at..].iter().position(|text| {
                depth += code::nesting(text);
                depth == 0 && *text == ")"
            });
            let takes = texts[at..at + end.unwrap_or(0)].contains(&"DType");
            if takes && !UPLOADS.contains(&name) && !tried.contains(&format!(".{name}(")) {
                let rule = format!("{name} has no row in makers.rs");
                complaints.push(room.file.complaint(room.tokens[at].line, &rule));
            }
        }
    }
    none(&complaints);
}

/// What the calls of these types begin with in the ledger.
const SIDES: [(&str, &str); 3] =
    [("TensorSet", "set."), ("Formula", "formula."), ("Kernel", "kernel.")];

/// What calls of these take or give if data crosses by them.
const CROSSES: [&str; 8] =
    ["Element", "Receipt", "SetReceipt", "Rounding", "Trial", "Picture", "Replay", "u8"];

/// Calls through which data crosses, with their lines: what the ledger names, and what takes or
/// gives host values, or tells what became of them, or waits for a device that it is given.
fn doors(room: &house::Room<'_>) -> Vec<(String, usize)> {
    let texts: Vec<&str> = room.tokens.iter().map(|token| token.text).collect();
    let (mut found, mut of, mut depth) = (Vec::new(), "", 0);
    for at in 0..texts.len() {
        depth += code::nesting(texts[at]);
        let named = match texts[at..] {
            ["impl", name, ..] if depth == 0 => {
                of = name;
                None
            }
            ["CallSite", "::", "of", "(", name, ..] => Some(name.trim_matches('"').to_owned()),
            ["pub", "fn", name, ..] | ["pub", "async", "fn", name, ..] => {
                let head = texts[at..].iter().position(|text| *text == "{");
                let head = &texts[at..at + head.unwrap_or(0)];
                let side = SIDES.iter().find(|(side, _)| *side == of).map_or("", |(_, side)| side);
                let ours = matches!(of, "Device" | "Tensor" | "TensorSet");
                // Whether something holds of a tensor is an error only where it has to be asked.
                let answers = head.windows(4).any(|four| four == ["Result", "<", "bool", ">"]);
                // What a tensor has to be awaited for, or waits for, crosses, whatever it yields.
                let waits = head.iter().any(|text| matches!(*text, "Future" | "async"))
                    || name.ends_with("_now");
                let given = (head.windows(3))
                    .any(|three| matches!(three, ["&", "Device", _] | ["&", _, "Device"]));
                let is_door = waits && (of == "Tensor" || given)
                    || ours && (answers || head.iter().any(|text| CROSSES.contains(text)));
                is_door.then(|| format!("{side}{name}"))
            }
            _ => None,
        };
        found.extend(named.map(|name| (name, room.tokens[at].line)));
    }
    found
}

/// What is denied, counted, and given back when it fails is tried for all of them in one table.
#[test]
fn every_call_that_crosses_is_a_door() {
    let tried = fs::read_to_string(root().join("tests/noop/doors.rs")).unwrap_or_default();
    let rows: Vec<&str> = tried.split("door(").filter_map(|row| row.split('"').nth(1)).collect();
    let (mut complaints, mut found) = (Vec::new(), Vec::new());
    for room in &house::house().rooms {
        for (name, line) in doors(room) {
            if !rows.contains(&&*name) {
                let rule = format!("{name} has no row in tests/noop/doors.rs");
                complaints.push(room.file.complaint(line, &rule));
            }
            found.push(name);
        }
    }
    // Each is found twice, by its signature and by the name that it gives the ledger.
    let unknown = rows.iter().filter(|row| found.iter().filter(|name| name == *row).count() < 2);
    complaints
        .extend(unknown.map(|row| format!("{row} is not found as a door, by signature and name")));
    none(&complaints);
}

#[test]
fn every_example_is_in_the_readme() {
    let Ok(readme) = fs::read_to_string(root().join("README.md")) else { return };
    let complaints: Vec<String> = (files(&["examples"], "rs").into_iter())
        .filter(|file| file.text.contains("fn main("))
        .filter_map(|file| {
            let name =
                file.path.strip_prefix("examples/")?.split('/').next()?.trim_end_matches(".rs");
            let named = readme.contains(&format!("--example {name}"))
                || readme.contains(&format!("`{name}`"));
            (!named).then(|| file.complaint(0, "an example that the README does not name"))
        })
        .collect();
    none(&complaints);
}

#[test]
fn the_rules_find_what_they_look_for() {
    for seen in ["", "pub ", "pub(crate) ", "pub(in crate::a) const "] {
        let head = format!("    {seen}fn f(");
        let text =
            ["impl A {", &head, "        a: u8,", "    ) {", "        g(|| {", "        });"];
        let text = [&text[..], &["    }", "    fn h() {}", "}", ""]].concat().join("\n");
        assert_eq!(functions(&text), [(1, "f".to_owned(), 6)], "{seen}");
    }
}
