//! WGSL as words, for what is rewritten without being understood: comments are skipped.

use core::ops::Range;

/// The text with every comment as spaces, so that places stay where they are.
pub(crate) fn without_comments(text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let (mut at, mut depth) = (0, 0_u32);
    let mut to_line_end = false;
    while at < bytes.len() {
        let pair = [bytes[at], bytes.get(at + 1).copied().unwrap_or(b' ')];
        let width = match &pair {
            b"//" if depth == 0 && !to_line_end => {
                to_line_end = true;
                2
            }
            b"/*" if !to_line_end => {
                depth += 1;
                2
            }
            b"*/" if depth > 0 => {
                bytes[at..at + 2].fill(b' ');
                at += 2;
                depth -= 1;
                continue;
            }
            _ => 1,
        };
        to_line_end &= bytes[at] != b'\n';
        let end = (at + width).min(bytes.len());
        if to_line_end || depth > 0 {
            bytes[at..end].iter_mut().filter(|byte| **byte != b'\n').for_each(|b| *b = b' ');
        }
        at = end;
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The names and numbers of a text without comments, by place.
pub(crate) fn tokens(text: &str) -> impl Iterator<Item = Range<usize>> {
    let of_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut rest = 0;
    core::iter::from_fn(move || {
        let start = rest + text[rest..].find(of_word)?;
        let end = text[start..].find(|c| !of_word(c)).map_or(text.len(), |n| start + n);
        rest = end;
        Some(start..end)
    })
}

/// Where the parenthesis closes that opens there.
pub(crate) fn closing(plain: &str, open: usize) -> Option<usize> {
    let mut depth = 0;
    let close = plain[open..].find(|c| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        depth == 0
    })?;
    Some(open + close)
}

/// A place in a text that somebody wrote, for an error to point at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Spot {
    /// From 1.
    pub(crate) line: usize,
    /// In letters, from 1.
    pub(crate) column: usize,
    shown: String,
}

impl Spot {
    /// The place of a byte.
    pub(crate) fn of(text: &str, at: usize) -> Self {
        let before = text.get(..at).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        let shown = text.lines().nth(line - 1).unwrap_or_default().to_owned();
        Self { line, column, shown }
    }

    /// The line, with a mark below the place; it begins with a new line.
    pub(crate) fn picture(&self) -> String {
        let Self { line, column, shown } = self;
        let margin = " ".repeat(line.to_string().len());
        let shown = shown.replace('\t', " ");
        format!("\n  {line} | {shown}\n  {margin} | {}^", " ".repeat(column - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_spaces_and_places_stay() {
        let text = "a // b /*\nc /* d /* e */ f\n*/ g//";
        let plain = without_comments(text);
        assert_eq!(plain, "a        \nc               \n   g  ");
        let all: Vec<_> = tokens(&plain).map(|at| &text[at]).collect();
        assert_eq!(all, ["a", "c", "g"]);
    }

    #[test]
    fn letters_beyond_ascii_keep_their_places() {
        let text = "/* \u{e9}\u{e9} */ na\u{ef}ve";
        let plain = without_comments(text);
        let spot = Spot::of(text, 11);
        assert_eq!((plain.len(), spot.line, spot.column), (text.len(), 1, 10));
        assert_eq!(spot.picture(), "\n  1 | /* \u{e9}\u{e9} */ na\u{ef}ve\n    |          ^");
        assert_eq!(tokens(&plain).map(|at| &text[at]).collect::<Vec<_>>(), ["na\u{ef}ve"]);
    }
}
