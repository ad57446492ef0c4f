//! When work happens: every public method that makes a tensor says so, in one of a few words.

use crate::code::{Token, nesting, tokens};
use crate::{File, files, none};

/// What a part of its documentation ends with, up to a comma, a colon or the like.
const WORDS: [&str; 8] = [
    // Nothing happens until somebody reads it, or what is made of it.
    "deferred",
    // The call records the work, or sends it off, and does not wait.
    "recorded at once",
    "carried at once",
    // There is no work.
    "a view",
    "views",
    "nothing is recorded",
    // Something is read.
    "waited for",
    "blocking",
];

/// Types that are tensors, or have some.
const MADE: [&str; 5] = ["Self", "Tensor", "Lu", "Quantized", "Unique"];

/// What stands before the first of these signs, those inside of brackets left out.
fn before<'t, 'a>(tokens: &'t [Token<'a>], signs: &[&str]) -> &'t [Token<'a>] {
    let mut depth = 0;
    let end = tokens.iter().position(|token| {
        let is_end = depth == 0 && signs.contains(&token.text);
        depth += nesting(token.text);
        is_end
    });
    &tokens[..end.unwrap_or(tokens.len())]
}

/// What is in `impl Tensor` and `impl Device`; in a macro as well.
fn bodies<'t, 'a>(tokens: &'t [Token<'a>]) -> Vec<&'t [Token<'a>]> {
    let is_head = |three: &[Token<'_>]| {
        let [word, of, open] = [0, 1, 2].map(|n| three[n].text);
        word == "impl" && matches!(of, "Tensor" | "Device") && open == "{"
    };
    let heads = tokens.windows(3).enumerate().filter(|(_, three)| is_head(three));
    heads.map(|(at, _)| before(&tokens[at + 3..], &["}"])).collect()
}

/// What is written above a line, as one text and without examples.
fn documented(text: &str, line: usize) -> String {
    let above: Vec<&str> = text.lines().take(line).map(str::trim_start).collect();
    let belongs =
        |above: &&&str| ["///", "#[", "$(#["].iter().any(|begin| above.starts_with(*begin));
    let first = above.len() - above.iter().rev().take_while(belongs).count();
    let mut is_example = false;
    let is_said = |said: &&str| {
        let is_fence = said.trim_start().starts_with("```");
        is_example ^= is_fence;
        !is_example && !is_fence
    };
    above[first..].iter().filter_map(|line| line.strip_prefix("///")).filter(is_said).collect()
}

fn says_when(documentation: &str) -> bool {
    let text = documentation.to_lowercase();
    let mut parts = text.split(['.', ',', ';', ':']).map(str::trim);
    parts.any(|part| WORDS.iter().any(|word| part.ends_with(*word)))
}

/// Methods that make a tensor, or may fail to, and do not say when.
fn silent(file: &File) -> Vec<String> {
    let tokens = tokens(&file.text);
    let mut complaints = Vec::new();
    for body in bodies(&tokens) {
        for (at, first) in body.iter().enumerate() {
            let next = body.get(at + 1).map_or("", |next| next.text);
            if first.text != "pub" || !matches!(next, "fn" | "async" | "const") {
                continue;
            }
            let head = before(&body[at..], &["{", ";"]);
            let made = &head[before(head, &["->"]).len()..];
            let has = |names: &[&str]| made.iter().any(|token| names.contains(&token.text));
            let is_maker = has(&["Result"]) && has(&MADE);
            if is_maker && !says_when(&documented(&file.text, first.line)) {
                let words = head.iter().map(|token| token.text).skip_while(|word| *word != "fn");
                let name: String =
                    words.skip(1).take_while(|word| !matches!(*word, "(" | "<")).collect();
                complaints.push(file.complaint(first.line, &format!("`{name}` says no when")));
            }
        }
    }
    complaints
}

#[test]
fn every_method_says_when_its_work_happens() {
    let mut files = files(&["src"], "rs");
    files.retain(|file| file.path == "src/tensor.rs" || file.path.starts_with("src/tensor/"));
    assert!(files.len() > 1, "tensors are in `src/tensor.rs` and `src/tensor`");
    none(&files.iter().flat_map(silent).collect::<Vec<_>>());
}

#[test]
fn methods_that_do_not_say_when_are_found() {
    let found = |item: &str| {
        let text = format!("impl Tensor {{\n{item}\n}}\n");
        silent(&File { path: "src/tensor/a.rs".to_owned(), text })
    };
    for silent in [
        "/// Zeros.\npub fn f<const N: usize>(&self) -> Result<Self> { Ok(self) }",
        "/// Deferred.\nfn g() {}\n/// Zeros.\n#[x]\npub async fn f(a: A) -> Result<(u8, Self)> {}",
        "/// Zeros.\n///\n/// ```\n/// // Deferred.\n/// ```\npub fn f() -> Result<[Tensor; 2]> {}",
        "/// Computes what is deferred first.\npub fn f() -> impl Future<Output = Result<Lu>> {}",
        "/// Two views of it.\n#[doc(alias = \"g\")]\npub fn f(\n&self,\n) -> Result<Vec<Self>> {}",
    ] {
        let found = found(silent);
        assert!(matches!(&found[..], [one] if one.ends_with(": `f` says no when")), "{found:?}");
    }
    for fine in [
        "/// Zeros. Recorded at\n/// once; or an error.\npub fn f() -> Result<Self> {}",
        "#[doc = $d]\n///\n/// So and deferred: see.\n$(#[$x])*\npub fn $f() -> Result<Self> {}",
        "/// Some: a view. So.\n#[x]\npub fn f() -> Result<Self> {}",
        "/// [`Tensor::g`], blocking.\npub fn f() -> Result<(Quantized, u8)> {}",
        "/// How many.\npub fn f(&self, g: impl Fn() -> Result<Self>) -> Result<usize> {}",
        "/// Nobody's.\npub(crate) fn f() -> Result<Self> {}\nfn g() -> Result<Self> {}",
        "/// Itself.\npub const fn f(&self) -> &Self {}",
    ] {
        assert_eq!(found(fine), [""; 0], "{fine}");
    }
}
