//! Rust read as text: words and signs without comments and tests, and what `use` brings in.

/// A word, a literal, a lifetime or a sign; `::`, `..`, `->` and `=>` are one sign each.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token<'a> {
    pub(crate) text: &'a str,
    /// From 0.
    pub(crate) line: usize,
}

impl Token<'_> {
    pub(crate) fn is_word(self) -> bool {
        self.text.starts_with(is_word)
    }
}

/// A path in a file: in a `use`, or where a name is used.
#[derive(Debug)]
pub(crate) struct Mention<'a> {
    /// As they are written.
    pub(crate) words: Vec<&'a str>,
    /// The module that it stands in.
    pub(crate) module: Vec<&'a str>,
    /// What a `use` calls it: `*` for all of it, `_` for nothing.
    pub(crate) name: Option<&'a str>,
    /// In a `pub use`.
    pub(crate) is_passed_on: bool,
    pub(crate) line: usize,
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The bytes of the first token, comment or run of blanks.
fn first_bytes(text: &str) -> usize {
    let until = |from: usize, end: &str| {
        text[from..].find(end).map_or(text.len(), |at| from + at + end.len())
    };
    let word = text.find(|c| !is_word(c)).unwrap_or(text.len());
    let quoted = text[word..].trim_start_matches('#');
    if text.starts_with("//") {
        return text.find('\n').unwrap_or(text.len());
    }
    if text.starts_with("/*") {
        return until(2, "*/");
    }
    if matches!(&text[..word], "r" | "br") && quoted.starts_with('"') {
        let open = text.len() - quoted.len();
        return until(open + 1, &format!("\"{}", &text[word..open]));
    }
    if matches!(&text[..word], "" | "b") && text[word..].starts_with('"') {
        let mut escaped = false;
        let end = text[word + 1..].find(|c| {
            let ends = c == '"' && !escaped;
            escaped = c == '\\' && !escaped;
            ends
        });
        return end.map_or(text.len(), |at| word + at + 2);
    }
    if let Some(rest) = text.strip_prefix('\'') {
        // A character, or a lifetime.
        let mut chars = rest.char_indices();
        return match (chars.next(), chars.next()) {
            (Some((_, '\\')), Some((at, escaped))) => until(1 + at + escaped.len_utf8(), "'"),
            (_, Some((at, '\''))) => at + 2,
            _ => 1 + rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
        };
    }
    match text.get(..2) {
        _ if word > 0 => word,
        Some("::" | "->" | "=>" | "..") => 2,
        _ => text.chars().next().map_or(1, char::len_utf8),
    }
}

/// All tokens of a file but comments and what is compiled for tests only.
pub(crate) fn tokens(text: &str) -> Vec<Token<'_>> {
    let (mut found, mut rest, mut line) = (Vec::new(), text, 0);
    while !rest.is_empty() {
        let (text, after) = rest.split_at(first_bytes(rest));
        if !text.trim().is_empty() && !text.starts_with("//") && !text.starts_with("/*") {
            found.push(Token { text, line });
        }
        line += text.matches('\n').count();
        rest = after;
    }
    without_tests(found)
}

fn without_tests(mut tokens: Vec<Token<'_>>) -> Vec<Token<'_>> {
    const MARK: [&str; 7] = ["#", "[", "cfg", "(", "test", ")", "]"];
    let is_mark = |window: &[Token<'_>]| window.iter().map(|t| t.text).eq(MARK);
    while let Some(from) = tokens.windows(MARK.len()).position(is_mark) {
        // An item ends with its block, or with a semicolon.
        let mut depth = 0;
        let end = tokens[from..].iter().position(|token| {
            depth += nesting(token.text);
            depth == 0 && matches!(token.text, "}" | ";")
        });
        tokens.drain(from..end.map_or(tokens.len(), |end| from + end + 1));
    }
    tokens
}

/// How much deeper in brackets the text is after this token.
pub(crate) fn nesting(text: &str) -> i32 {
    match text {
        "(" | "[" | "{" => 1,
        ")" | "]" | "}" => -1,
        _ => 0,
    }
}

/// All paths of a file, which is this module.
pub(crate) fn mentions<'a>(tokens: &[Token<'a>], module: &[&'a str]) -> Vec<Mention<'a>> {
    let (mut found, mut module) = (Vec::new(), module.to_vec());
    let (mut depth, mut modules_open) = (0, Vec::new());
    let mut at = 0;
    let text = |at: usize| tokens.get(at).map_or("", |token| token.text);
    while let Some(token) = tokens.get(at) {
        let before = if at == 0 { "" } else { text(at - 1) };
        depth += nesting(token.text);
        if token.text == "}" && modules_open.last() == Some(&depth) {
            modules_open.pop();
            module.pop();
        }
        at += 1;
        match (before, token.text) {
            ("mod", name) if text(at) == "{" => {
                module.push(name);
                modules_open.push(depth);
            }
            // In `impl Sized + use<'a>` it is no item.
            (_, "use") if text(at) != "<" => {
                let is_passed_on = matches!(before, "pub" | ")");
                for (words, name, line) in imports(tokens, &mut at, &[]) {
                    let (module, name) = (module.clone(), Some(name));
                    found.push(Mention { words, module, name, is_passed_on, line });
                }
            }
            (before, _) if token.is_word() && !matches!(before, "::" | "." | "fn" | "mod") => {
                let mut words = vec![token.text];
                while text(at) == "::" && tokens.get(at + 1).is_some_and(|token| token.is_word()) {
                    words.push(text(at + 1));
                    at += 2;
                }
                let (module, line) = (module.clone(), token.line);
                found.push(Mention { words, module, name: None, is_passed_on: false, line });
            }
            _ => {}
        }
    }
    found
}

/// Paths, names and lines of the `use` whose path goes on at `*at`, which moves to its end.
fn imports<'a>(
    tokens: &[Token<'a>],
    at: &mut usize,
    before: &[&'a str],
) -> Vec<(Vec<&'a str>, &'a str, usize)> {
    let line = tokens.get(*at).map_or(0, |token| token.line);
    let (mut path, mut name) = (before.to_vec(), None);
    while let Some(&Token { text, .. }) = tokens.get(*at) {
        match text {
            "," | "}" | ";" => break,
            "{" => {
                let mut found = Vec::new();
                *at += 1;
                while tokens.get(*at).is_some_and(|token| !matches!(token.text, "}" | ";")) {
                    found.extend(imports(tokens, at, &path));
                    *at += usize::from(tokens.get(*at).is_some_and(|token| token.text == ","));
                }
                *at += 1;
                return found;
            }
            "as" => {
                *at += 1;
                name = tokens.get(*at).map(|token| token.text);
            }
            "*" => name = Some("*"),
            // `{self, ..}` names what is before the brace.
            "self" if !path.is_empty() => {}
            "::" | "$" => {}
            word => path.push(word),
        }
        *at += 1;
    }
    let name = name.or(path.last().copied()).unwrap_or("");
    vec![(path, name, line)]
}

#[test]
fn text_is_read_as_words_and_signs() {
    let text = |code: &str| -> String {
        tokens(code).iter().map(|token| token.text).collect::<Vec<_>>().join(" | ")
    };
    for (code, read) in [
        ("a::b->c..d", "a | :: | b | -> | c | .. | d"),
        ("a // b\nc /* d\n */ e", "a | c | e"),
        (r#""a \" // b" c"#, r#""a \" // b" | c"#),
        (r##"r#"a " // b"# c"##, r##"r#"a " // b"# | c"##),
        (r#"b"a\\" b"#, r#"b"a\\" | b"#),
        (r"'\'' '\\' 'a' '\u{1f}' &'a b", r"'\'' | '\\' | 'a' | '\u{1f}' | & | 'a | b"),
        ("a #[cfg(test)] mod tests { { } ; } b", "a | b"),
        ("a #[cfg(test)] #[x(y)] use a::b; c", "a | c"),
        ("a #[cfg(any())] c", "a | # | [ | cfg | ( | any | ( | ) | ) | ] | c"),
    ] {
        assert_eq!(text(code), read);
    }
    let lines: Vec<usize> = tokens("a /* \n */ \"\n\"\nb").iter().map(|token| token.line).collect();
    assert_eq!(lines, [0, 1, 3]);
}
