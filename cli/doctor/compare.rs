//! Two passports side by side: what differs first, then how much is the same.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use super::papers::{read, refuse};
use super::passport::document::Passport;
use super::table::{Page, Tone, clean, count};

/// The parts that are compared, what an adapter is before what it was measured to do.
const PARTS: [&str; 12] = [
    "adapter",
    "features",
    "limits",
    "carriage",
    "crossings",
    "cases",
    "accuracy",
    "quirks",
    "tuned",
    "ceilings",
    "host",
    "wharf",
];

/// The parts of which two runs on one machine never agree: they tell no adapters apart.
const TIMED: [&str; 2] = ["tuned", "ceilings"];

/// Columns: what it is, the first; the second has the rest.
const WIDTHS: [usize; 2] = [44, 28];

/// Shows them; returns the exit code.
pub(crate) fn compare(page: &Page, paths: &[String; 2]) -> u8 {
    let [one, other] = paths.each_ref().map(|path| read(Path::new(path)));
    let (one, other) = match (one, other) {
        (Ok(one), Ok(other)) => (one, other),
        (Err(flaw), _) => return refuse(page, Path::new(&paths[0]), &flaw),
        (_, Err(flaw)) => return refuse(page, Path::new(&paths[1]), &flaw),
    };
    page.heading("Compared", "two passports: what differs first");
    let title = |passport: &Passport| {
        let name = passport.part("adapter")["name"].as_str().unwrap_or_default();
        clean(&format!("{name}, {}, {}", passport.text("date"), passport.text("hash")))
    };
    row(page, Tone::Bold, "", [&title(&one), &title(&other)]);
    let (mut alike, mut same, mut differs) = (true, Vec::new(), 0);
    for part in PARTS {
        let [left, right] = [&one, &other].map(|passport| flat(passport.part(part)));
        let names = left.keys().chain(right.keys().filter(|name| !left.contains_key(*name)));
        let (mut equal, mut first) = (0, true);
        for name in names {
            let [a, b] = [&left, &right].map(|side| side.get(name).map_or("-", String::as_str));
            if a == b {
                equal += 1;
                continue;
            }
            if first {
                page.row(&[(Tone::Plain, "", 2)], (Tone::Bold, part));
                first = false;
            }
            row(page, Tone::Plain, name, [a, b]);
            differs += 1;
            alike &= TIMED.contains(&part);
        }
        same.extend((equal > 0).then(|| format!("{equal} of {part}")));
    }
    page.blank();
    let differences = count(differs, "difference");
    let same = if same.is_empty() { "nothing".into() } else { same.join(", ") };
    page.line(&[(Tone::Plain, &format!("{differences}; the same: {same}"))]);
    u8::from(!alike)
}

fn row(page: &Page, tone: Tone, name: &str, [a, b]: [&str; 2]) {
    let [wide, first] = WIDTHS;
    // What is longer than its column has a line of its own.
    if a.chars().count() < first && name.chars().count() < wide - 4 {
        let cells = [(Tone::Plain, "", 4), (Tone::Dim, name, wide - 4), (tone, a, first)];
        return page.row(&cells, (tone, b));
    }
    page.row(&[(Tone::Plain, "", 4)], (Tone::Dim, name));
    for text in [a, b] {
        page.row(&[(Tone::Plain, "", 8)], (tone, text));
    }
}

/// The values of a part, by row and field.
fn flat(value: &Value) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    match value {
        Value::Array(rows) => {
            for row in rows {
                let name = row["name"].as_str().unwrap_or_default();
                let fields = row.as_object().into_iter().flatten();
                for (field, value) in fields.filter(|(field, _)| *field != "name") {
                    all.insert(clean(&format!("{name}: {field}")), shown(value));
                }
            }
        }
        Value::Object(fields) => {
            all.extend(fields.iter().map(|(name, value)| (clean(name), shown(value))));
        }
        other => {
            all.insert(String::new(), shown(other));
        }
    }
    all
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) if text.is_empty() => "\"\"".into(),
        Value::String(text) => clean(text),
        Value::Null => "-".into(),
        other => other.to_string(),
    }
}
