//! Which mistakes a line of WGSL can have: what a tired engineer or a wrong optimisation writes.

/// One line of a file, and what it could be by mistake.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Mistake {
    /// The number of the line, from 1.
    pub(crate) line: u32,
    pub(crate) rule: &'static str,
    pub(crate) was: String,
    pub(crate) now: String,
}

/// A word of the language and what is written by mistake; a part of a longer word is left alone.
const EXCHANGES: &[(&str, &str, &str)] = &[
    ("comparison", " < ", " <= "),
    ("comparison", " <= ", " < "),
    ("comparison", " > ", " >= "),
    ("comparison", " >= ", " > "),
    ("comparison", " == ", " != "),
    ("comparison", " != ", " == "),
    ("sign", " + ", " - "),
    ("sign", " - ", " + "),
    ("sign", " += ", " -= "),
    ("sign", " -= ", " += "),
    ("operator", " * ", " + "),
    ("operator", " / ", " * "),
    ("operator", " % ", " / "),
    ("operator", " && ", " || "),
    ("operator", " || ", " && "),
    ("operator", " & ", " | "),
    ("operator", " | ", " & "),
    ("operator", " ^ ", " | "),
    ("operator", " << ", " >> "),
    ("operator", " >> ", " << "),
    ("function", "min(", "max("),
    ("function", "max(", "min("),
    ("function", "floor(", "ceil("),
    ("lane", ".x", ".y"),
    ("lane", ".y", ".x"),
    ("lane", ".z", ".w"),
    ("lane", ".w", ".z"),
    ("barrier", "workgroupBarrier();", ""),
];

/// Every mistake in a file, in its order.
pub(crate) fn mistakes(text: &str) -> Vec<Mistake> {
    let mut all = Vec::new();
    let mut alone = false;
    for (line, was) in (1..).zip(text.lines()) {
        alone = match was.trim() {
            "// region alone" => true,
            "// end alone" => false,
            _ => alone,
        };
        if alone || !computes(was) {
            continue;
        }
        let code = was.split("//").next().unwrap_or_default();
        let mut add = |rule, now: String| {
            if now != code {
                all.push(Mistake { line, rule, was: was.into(), now });
            }
        };
        for (rule, from, to) in EXCHANGES {
            for at in places(code, from) {
                add(rule, spliced(code, at, from.len(), to));
            }
        }
        numbers(code)
            .for_each(|(at, word, now)| add("number", spliced(code, at, word.len(), &now)));
        dropped_terms(code).for_each(|now| add("term", now));
        dropped_calls(code).for_each(|now| add("branch", now));
        if let Some(now) = dropped_statement(code) {
            add("statement", now);
        }
        decided(code).for_each(|now| add("condition", now));
    }
    all
}

/// Whether a line says what is computed, and not only of which types.
fn computes(line: &str) -> bool {
    let code = line.trim();
    const NAMING: [&str; 10] =
        ["//", "@", "enable ", "requires ", "override ", "struct ", "alias ", "fn ", "var<", "}"];
    let member = line.starts_with("    ") && code.ends_with(',') && code.contains(": ");
    !(code.is_empty() || member || NAMING.iter().any(|start| code.starts_with(start)))
        || code.starts_with("} else if")
}

fn spliced(code: &str, at: usize, len: usize, by: &str) -> String {
    format!("{}{by}{}", &code[..at], &code[at + len..])
}

fn is_word(c: Option<char>) -> bool {
    c.is_some_and(|c| c.is_alphanumeric() || c == '_')
}

/// Where a word stands, and not as a part of another.
fn places(code: &str, word: &str) -> Vec<usize> {
    let whole = |&at: &usize| {
        let before = code[..at].chars().next_back();
        let after = code[at + word.len()..].chars().next();
        let open = is_word(word.chars().next()) && is_word(before);
        !(open || is_word(word.chars().next_back()) && is_word(after))
    };
    code.match_indices(word).map(|(at, _)| at).filter(whole).collect()
}

/// Every number, and another one: the next whole number, or the fourth digit changed.
fn numbers(code: &str) -> impl Iterator<Item = (usize, &str, String)> {
    let starts = code.char_indices().filter(|&(at, c)| {
        c.is_ascii_digit() && !is_word(code[..at].chars().next_back()) && !code[..at].ends_with('.')
    });
    starts.filter_map(|(at, _)| {
        let rest = &code[at..];
        let signed = |i: usize| rest[..i].ends_with(['e', 'E']) && !rest.starts_with("0x");
        let ends = rest.char_indices().find(|&(i, c)| {
            !(c.is_alphanumeric() || c == '.' || matches!(c, '+' | '-') && signed(i))
        });
        let word = &rest[..ends.map_or(rest.len(), |(i, _)| i)];
        Some((at, word, another(word)?))
    })
}

fn another(word: &str) -> Option<String> {
    let digits = word.trim_end_matches(['u', 'i', 'f', 'h', 'l']);
    let hex = word.strip_prefix("0x");
    if let Some(hex) = hex {
        let suffix = if hex.ends_with('u') { "u" } else { "" };
        let n = u64::from_str_radix(hex.trim_end_matches('u'), 16).ok()?;
        return Some(format!("0x{:x}{suffix}", n ^ 1));
    }
    let suffix = &word[digits.len()..];
    if digits.contains(['.', 'e']) || suffix.contains(['f', 'h']) {
        let x: f64 = digits.parse().ok()?;
        let near = if x == 0.0 { 1.0 } else { x * 1.001 };
        return Some(format!("{near:?}{suffix}"));
    }
    Some(format!("{}{suffix}", digits.parse::<u64>().ok()?.checked_add(1)?))
}

/// The end of the operand that begins `code`: a name or number with its calls, indices and members.
fn operand(code: &str) -> Option<usize> {
    let mut end =
        code.find(|c: char| !(c.is_alphanumeric() || "_.".contains(c))).unwrap_or(code.len());
    while code[end..].starts_with(['(', '[']) {
        end += bracketed(&code[end..])?;
        let rest = &code[end..];
        end +=
            rest.find(|c: char| !(c.is_alphanumeric() || "_.".contains(c))).unwrap_or(rest.len());
    }
    (end > 0).then_some(end)
}

/// The length of what the bracket at the start of `code` closes.
fn bracketed(code: &str) -> Option<usize> {
    let mut depth = 0;
    for (at, c) in code.char_indices() {
        depth += i32::from("([".contains(c)) - i32::from(")]".contains(c));
        if depth == 0 {
            return Some(at + 1);
        }
    }
    None
}

/// A sum or product without one of its later operands.
fn dropped_terms(code: &str) -> impl Iterator<Item = String> {
    [" + ", " - ", " * ", " | ", " ^ "].into_iter().flat_map(move |operator| {
        code.match_indices(operator).filter_map(move |(at, _)| {
            let end = operand(&code[at + operator.len()..])?;
            Some(spliced(code, at, operator.len() + end, ""))
        })
    })
}

/// A bound or a choice replaced by one of its arguments, or with its branches exchanged.
fn dropped_calls(code: &str) -> impl Iterator<Item = String> {
    ["min(", "max(", "clamp(", "select("].into_iter().flat_map(move |call| {
        places(code, call).into_iter().flat_map(move |at| {
            let open = at + call.len() - 1;
            let Some(len) = bracketed(&code[open..]) else { return Vec::new() };
            let arguments = arguments(&code[open + 1..open + len - 1]);
            let with = |now: String| spliced(code, at, call.len() - 1 + len, &now);
            let mut all: Vec<String> =
                arguments.iter().take(2).map(|argument| with(format!("({argument})"))).collect();
            if let ("select(", [no, yes, which]) = (call, &arguments[..]) {
                all.push(with(format!("select({yes}, {no}, {which})")));
            }
            if call == "clamp(" {
                all.truncate(1);
            }
            all
        })
    })
}

/// What commas part, brackets aside.
fn arguments(code: &str) -> Vec<&str> {
    let mut all = Vec::new();
    let (mut depth, mut from) = (0, 0);
    for (at, c) in code.char_indices() {
        depth += i32::from("([".contains(c)) - i32::from(")]".contains(c));
        if c == ',' && depth == 0 {
            all.push(code[from..at].trim());
            from = at + 1;
        }
    }
    all.push(code[from..].trim());
    all
}

/// A line that only assigns, left out.
fn dropped_statement(code: &str) -> Option<String> {
    let statement = code.trim();
    let begins = ["let ", "var ", "const ", "return ", "for ", "if "];
    let assigns = statement.contains(" = ") || statement.contains("= ") && statement.contains(" +");
    let whole = statement.ends_with(';') && !begins.iter().any(|word| statement.starts_with(word));
    (whole && assigns).then(String::new)
}

/// A condition that always holds, and one that never does.
fn decided(code: &str) -> impl Iterator<Item = String> {
    let at = places(code, "if").first().map(|at| at + "if ".len());
    let condition = at.and_then(|at| Some((at, code[at..].trim_end().strip_suffix('{')?.len())));
    condition.into_iter().flat_map(move |(at, len)| {
        ["true ", "false "].map(|decided| spliced(code, at, len, decided))
    })
}
