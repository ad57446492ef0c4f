//! Text for a terminal: 100 columns, aligned, in colour where that is wanted.

use core::fmt::Display;
use std::io::{IsTerminal, Write};

pub(crate) use wharf::bytes;

/// Lines are kept to this many columns.
pub(crate) const WIDTH: usize = 100;

/// What a piece of text means; its colour follows from that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    Plain,
    Bold,
    Dim,
    Good,
    Caution,
    Bad,
}

impl Tone {
    const fn ansi(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Bold => "\x1b[1m",
            Self::Dim => "\x1b[2m",
            Self::Good => "\x1b[32m",
            Self::Caution => "\x1b[33m",
            Self::Bad => "\x1b[1;31m",
        }
    }
}

/// Where the text goes.
#[derive(Debug)]
pub(crate) struct Page {
    colour: bool,
    muted: bool,
}

/// Piece of a row: what it says, how wide its column is, and its tone.
pub(crate) type Cell<'a> = (Tone, &'a str, usize);

impl Page {
    pub(crate) fn stdout() -> Self {
        let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Self { colour: !refused && std::io::stdout().is_terminal(), muted: false }
    }

    /// Whether to drop all output from now on.
    pub(crate) const fn mute(&mut self, muted: bool) {
        self.muted = muted;
    }

    /// Prints text unchanged. A reader that has gone away (`| head`) is no error.
    pub(crate) fn text(&self, text: &str) {
        if !self.muted {
            let mut out = std::io::stdout().lock();
            let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
        }
    }

    /// Prints JSON on a line. Its DEL and C1 controls, which are legal, become escapes: they must
    /// not reach a terminal, and lie in nothing but texts.
    pub(crate) fn json(&self, json: &impl Display) {
        let mut line = String::new();
        for c in json.to_string().chars() {
            if c.is_control() {
                line += &format!("\\u{:04x}", u32::from(c));
            } else {
                line.push(c);
            }
        }
        self.text(&format!("{line}\n"));
    }

    pub(crate) fn blank(&self) {
        self.text("\n");
    }

    fn paint(&self, tone: Tone, text: &str) -> String {
        match tone {
            Tone::Plain => text.to_owned(),
            _ if !self.colour || text.is_empty() => text.to_owned(),
            _ => format!("{}{text}\x1b[0m", tone.ansi()),
        }
    }

    /// One line of several tones, wrapped between the words.
    pub(crate) fn line(&self, parts: &[(Tone, &str)]) {
        let whole: String = parts.iter().map(|(_, text)| *text).collect();
        let painted: String = if whole.chars().count() <= WIDTH {
            parts.iter().map(|(tone, text)| self.paint(*tone, text)).collect()
        } else {
            let tone = parts.first().map_or(Tone::Plain, |(tone, _)| *tone);
            let lines = wrap(&whole, WIDTH);
            lines.iter().map(|line| self.paint(tone, line)).collect::<Vec<_>>().join("\n")
        };
        self.text(&format!("{painted}\n"));
    }

    /// A heading with an empty line above.
    pub(crate) fn heading(&self, title: &str, subtitle: &str) {
        self.blank();
        self.row(&[(Tone::Bold, title, title.chars().count() + 2)], (Tone::Dim, subtitle));
    }

    /// Cells of fixed columns, and a last one that is wrapped inside its own column.
    pub(crate) fn row(&self, cells: &[Cell<'_>], last: (Tone, &str)) {
        let indent: usize = cells.iter().map(|(_, _, width)| width).sum();
        let mut line = String::new();
        for (tone, text, width) in cells {
            let gap = width.saturating_sub(text.chars().count());
            line += &format!("{}{}", self.paint(*tone, text), " ".repeat(gap));
        }
        let (tone, text) = last;
        let lines = wrap(text, WIDTH.saturating_sub(indent).max(20));
        for (i, part) in lines.iter().enumerate() {
            let gap = if i == 0 { String::new() } else { " ".repeat(indent) };
            line += &format!("{gap}{}", self.paint(tone, part));
            self.text(&format!("{}\n", line.trim_end()));
            line.clear();
        }
    }

    /// An error and its help, each on lines of its own.
    pub(crate) fn error(&self, error: &wharf::Error) {
        self.blank();
        self.row(&[(Tone::Bad, "error", 7)], (Tone::Plain, &error.to_string()));
        for (i, help) in error.help().unwrap_or_default().lines().enumerate() {
            self.row(&[(Tone::Good, if i == 0 { "help" } else { "" }, 7)], (Tone::Plain, help));
        }
    }
}

/// Replaces control characters in text of drivers and variables, which must not reach a terminal.
pub(crate) fn clean(text: &str) -> String {
    text.replace(|c: char| c.is_control(), "?")
}

/// Foreign text for a message: cleaned, in quotes, not endless.
pub(crate) fn quote(text: &str) -> String {
    format!("`{}`", shorten(&clean(text), 60))
}

/// At most `width` columns, with an ellipsis where something is left out.
pub(crate) fn shorten(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let kept: String = text.chars().take(width.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

/// Breaks text between words, and words wider than a line at any place. Returns at least one line.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in clean(text).split(' ') {
        let mut rest: Vec<char> = word.chars().collect();
        loop {
            let Some(line) = lines.last_mut() else { return lines };
            let used = line.chars().count();
            let gap = usize::from(used > 0);
            if used + gap + rest.len() <= width {
                line.extend(core::iter::repeat_n(' ', gap).chain(rest));
                break;
            }
            if used == 0 {
                line.extend(rest.drain(..width));
            }
            lines.push(String::new());
        }
    }
    lines
}

/// Units of sizes, the longest name first.
const UNITS: [(&str, u64); 8] = [
    ("TiB", 1 << 40),
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("KB", 1000),
    ("", 1),
];

/// As somebody writes it.
pub(crate) fn size(text: &str) -> Result<u64, String> {
    let unit = UNITS.iter().find_map(|(unit, bytes)| Some((text.strip_suffix(unit)?, bytes)));
    let parsed =
        unit.and_then(|(number, bytes)| number.trim().parse::<u64>().ok()?.checked_mul(*bytes));
    parsed.ok_or_else(|| format!("{} is no size, such as 8GiB", quote(text)))
}

/// `1 segment`, `2 segments`.
pub(crate) fn count(n: u64, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}
