//! The page of an atlas: every passport of a folder beside the others, in one file that needs no
//! other.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::papers::{put, read, refuse};
use super::passport::document::Passport;
use super::passport::schema::Flaw;
use super::table::{Page, Tone, bytes, clean, count};

/// What a cell of the page says, and of which class it is in the style sheet.
struct Said {
    text: String,
    class: &'static str,
    /// What is shown to who points at it.
    more: String,
}

/// A table of the page: a part of the passports, and how a row of it becomes a cell.
struct Sheet {
    title: &'static str,
    part: &'static str,
    about: &'static str,
    cell: fn(&str, &Value) -> Said,
}

const SHEETS: [Sheet; 11] = [
    Sheet { title: "Adapter", part: "adapter", about: "as its driver names it", cell: plain },
    Sheet { title: "Host", part: "host", about: "where it was measured", cell: plain },
    Sheet {
        title: "Carriage",
        part: "carriage",
        about: "what each dtype becomes under Policy::exact",
        cell: carriage,
    },
    Sheet {
        title: "Worst error",
        part: "accuracy",
        about: "of f32, in units in the last place; the largest of a row stands out",
        cell: accuracy,
    },
    Sheet {
        title: "Ceilings",
        part: "ceilings",
        about: "measured on that host on that day, and no promise",
        cell: ceiling,
    },
    Sheet { title: "Tuned", part: "tuned", about: "what was fastest and right", cell: tuned },
    Sheet { title: "Limits", part: "limits", about: "sizes in bytes", cell: limit },
    Sheet { title: "Features", part: "features", about: "", cell: plain },
    Sheet {
        title: "Quirks",
        part: "quirks",
        about: "what raw WGSL does; no result of wharf's rests on it",
        cell: quirk,
    },
    Sheet {
        title: "Crossings",
        part: "crossings",
        about: "up and back, bit by bit",
        cell: verdict,
    },
    Sheet {
        title: "Cases",
        part: "cases",
        about: "the core of the gpu tier, judged by the oracle",
        cell: verdict,
    },
];

const STYLE: &str = "
:root { color-scheme: light dark; --paper: #fdfcf9; --ink: #23262b; --dim: #6c7078; --line: #d9d6cd;
  --good: #1d6b3a; --fair: #8a5a00; --bad: #b3261e; --head: #f1eee6; }
@media (prefers-color-scheme: dark) { :root { --paper: #16181c; --ink: #e3e4e6; --dim: #989da6;
  --line: #34383f; --good: #78c695; --fair: #dfb05e; --bad: #ff8f85; --head: #1f2227; } }
body { background: var(--paper); color: var(--ink); margin: 2rem auto; max-width: 84rem;
  padding: 0 1rem; font: 15px/1.45 system-ui, sans-serif; }
h1 { font-size: 1.6rem; margin-bottom: .2rem; } h2 { font-size: 1.15rem; margin: 2rem 0 .1rem; }
p { color: var(--dim); margin: 0 0 .6rem; }
div { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; width: 100%;
  table-layout: fixed; min-width: 48rem; }
thead th:first-child { width: 13rem; }
th, td { border-bottom: 1px solid var(--line); padding: .22rem .7rem; text-align: left;
  vertical-align: top; }
thead th { background: var(--head); } tbody th { font-weight: 400; color: var(--dim); }
td { overflow-wrap: anywhere; }
.good { color: var(--good); } .fair { color: var(--fair); }
.bad { color: var(--bad); font-weight: 600; }
.most { font-weight: 600; color: var(--fair); } .dim { color: var(--dim); }
";

/// Writes the page of a folder; returns the exit code.
pub(crate) fn write(page: &Page, folder: &str) -> u8 {
    let folder = Path::new(folder);
    let mut all = Vec::new();
    let paths = match passports(folder) {
        Ok(paths) => paths,
        Err(flaw) => return refuse(page, folder, &flaw),
    };
    for path in paths {
        match read(&path) {
            Ok(passport) => {
                let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                all.push((name, passport));
            }
            Err(flaw) => return refuse(page, &path, &flaw),
        }
    }
    let path = folder.join("index.html");
    if let Err(flaw) = put(&path, &html(&all)) {
        return refuse(page, &path, &flaw);
    }
    let said =
        format!("{}: {}", clean(&path.to_string_lossy()), count(all.len() as u64, "passport"));
    page.line(&[(Tone::Good, &said)]);
    0
}

/// The passports of a folder, by name; none is a flaw.
fn passports(folder: &Path) -> Result<Vec<PathBuf>, Flaw> {
    let unread = |error: std::io::Error| Flaw::Unread { message: error.to_string() };
    let entries = std::fs::read_dir(folder).map_err(unread)?;
    let paths = entries.map(|entry| entry.map(|entry| entry.path()));
    let mut paths: Vec<PathBuf> = paths.collect::<Result<_, _>>().map_err(unread)?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort_by_key(|path| path.file_stem().map(ToOwned::to_owned));
    if paths.is_empty() {
        return Err(Flaw::Unread { message: "no passport is there: no file NAME.json".into() });
    }
    Ok(paths)
}

fn html(all: &[(String, Passport)]) -> String {
    let mut out = String::from("<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n");
    // Writing to a String cannot fail.
    let _ = write!(
        out,
        "<meta name=\"viewport\" content=\"width=device-width\">\n<title>wharf: the atlas</title>\n\
         <style>{STYLE}</style>\n<h1>The atlas of adapters</h1>\n<p>Passports that \
         <code>wharf doctor --passport</code> made, side by side. What is measured is of one host \
         on one day.</p>\n"
    );
    for sheet in &SHEETS {
        sheet.write(&mut out, all);
    }
    out.push_str("</html>\n");
    out
}

impl Sheet {
    fn write(&self, out: &mut String, all: &[(String, Passport)]) {
        let columns: Vec<Vec<(String, &Value)>> =
            all.iter().map(|(_, passport)| entries(passport, self.part)).collect();
        let mut names: Vec<&str> = Vec::new();
        for (name, _) in columns.iter().flatten() {
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
        let _ = write!(
            out,
            "<h2>{}</h2>\n<p>{}</p>\n<div><table>\n<thead><tr><th></th>",
            self.title, self.about
        );
        for (name, _) in all {
            let _ = write!(out, "<th>{}</th>", escaped(name));
        }
        out.push_str("</tr></thead>\n<tbody>\n");
        for name in names {
            let _ = write!(out, "<tr><th>{}</th>", escaped(name));
            let row = columns.iter().map(|column| {
                let found = column.iter().find(|(other, _)| other == name);
                found.map(|(_, value)| *value)
            });
            let row: Vec<Option<&Value>> = row.collect();
            let most = most(&row);
            for value in &row {
                let said = value.map_or_else(nothing, |value| (self.cell)(name, value));
                let is_most =
                    most.is_some() && value.and_then(|value| value["ulp"].as_f64()) == most;
                let class = if is_most { "most" } else { said.class };
                let _ = write!(
                    out,
                    "<td class=\"{class}\" title=\"{}\">{}</td>",
                    escaped(&said.more),
                    escaped(&said.text)
                );
            }
            out.push_str("</tr>\n");
        }
        out.push_str("</tbody>\n</table></div>\n");
    }
}

/// The largest error of a row, if not all are the same.
fn most(row: &[Option<&Value>]) -> Option<f64> {
    let ulps: Vec<f64> = row.iter().flatten().filter_map(|value| value["ulp"].as_f64()).collect();
    let most = ulps.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    ulps.iter().any(|ulp| *ulp < most).then_some(most)
}

/// Told with the host: on which day, and by which wharf.
const MADE: [&str; 3] = ["date", "wharf", "hash"];

/// The rows of a part by name, or its fields; or why it was not measured.
fn entries<'a>(passport: &'a Passport, part: &str) -> Vec<(String, &'a Value)> {
    let made = MADE.into_iter().filter(|_| part == "host");
    let made = made.map(|name| (name.to_owned(), passport.part(name)));
    match passport.part(part) {
        Value::Array(rows) => {
            let name = |row: &Value| row["name"].as_str().unwrap_or_default().to_owned();
            rows.iter().map(|row| (name(row), row)).collect()
        }
        Value::Object(fields) => {
            let name =
                |name: &String| if name == "absent" { "not measured" } else { name }.to_owned();
            fields.iter().map(|(field, value)| (name(field), value)).chain(made).collect()
        }
        _ => Vec::new(),
    }
}

/// Foreign text as part of a page: a passport may come from anywhere.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in clean(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c => out.push(c),
        }
    }
    out
}

fn nothing() -> Said {
    Said { text: "-".into(), class: "dim", more: String::new() }
}

fn said(text: impl Into<String>, class: &'static str, more: &Value) -> Said {
    Said { text: text.into(), class, more: more.as_str().unwrap_or_default().into() }
}

fn plain(_: &str, value: &Value) -> Said {
    match value {
        Value::Null => nothing(),
        Value::String(text) if text.is_empty() => nothing(),
        Value::Bool(true) => said("yes", "good", &Value::Null),
        Value::Bool(false) => said("no", "dim", &Value::Null),
        Value::String(text) => said(text.as_str(), "", &Value::Null),
        other => said(other.to_string(), "", &Value::Null),
    }
}

fn carriage(_: &str, row: &Value) -> Said {
    let how = row["how"].as_str().unwrap_or_default();
    let class = match how {
        "native" | "packed" => "good",
        "converted" => "fair",
        _ => "bad",
    };
    let text = match row["stored"].as_str() {
        Some(stored) if how == "packed" => format!("packed, {stored}"),
        _ => how.to_owned(),
    };
    said(text, class, &row["because"])
}

fn accuracy(name: &str, row: &Value) -> Said {
    match (row["measured"].as_str(), row.is_object()) {
        (_, false) => plain(name, row),
        (Some(measured), _) => {
            let at = row["at"].as_str().unwrap_or_default();
            let contract = row["contract"].as_str().unwrap_or_default();
            let more = format!("contract {contract}, worst at {at}");
            Said { text: measured.into(), class: "", more }
        }
        (None, _) => said("breaks its contract", "bad", &row["wrong"]),
    }
}

fn ceiling(name: &str, row: &Value) -> Said {
    if !row.is_object() {
        return plain(name, row);
    }
    if let Some(text) = row["said"].as_str() {
        return said(text, if text == "not here" { "dim" } else { "bad" }, &Value::Null);
    }
    let text = match (row["rate"].as_f64(), row["unit"].as_str()) {
        (Some(rate), Some(unit)) => format!("{rate} {unit}"),
        _ => time(row["micros"].as_f64().unwrap_or_default()),
    };
    said(text, "", &row["size"])
}

/// Microseconds, or milliseconds where there are many.
fn time(micros: f64) -> String {
    if micros < 1e3 { format!("{micros} \u{b5}s") } else { format!("{} ms", micros / 1e3) }
}

fn tuned(name: &str, row: &Value) -> Said {
    match (row["kernel"].as_str(), row["rate"].as_f64()) {
        (Some(kernel), Some(rate)) => {
            let unit = row["unit"].as_str().unwrap_or_default();
            said(format!("{rate} {unit}, {kernel}"), "", &row["said"])
        }
        _ if row.is_object() => said("failed", "bad", &row["said"]),
        _ => plain(name, row),
    }
}

fn limit(name: &str, value: &Value) -> Said {
    match value.as_u64() {
        Some(n) if name.contains("bytes_max") => {
            Said { text: bytes(n), class: "", more: n.to_string() }
        }
        _ => plain(name, value),
    }
}

fn quirk(name: &str, row: &Value) -> Said {
    match row["seen"].as_str() {
        Some(seen) => said(seen, if row["surprising"] == true { "fair" } else { "" }, &Value::Null),
        None => plain(name, row),
    }
}

fn verdict(name: &str, row: &Value) -> Said {
    let Some(verdict) = row["verdict"].as_str() else { return plain(name, row) };
    let class = match verdict {
        "bit-exact" | "as expected" | "range-checked" | "right" => "good",
        "refused" | "absent" => "dim",
        _ => "bad",
    };
    let text = match row["compared"].as_u64() {
        Some(n) if n > 0 => format!("{n} {verdict}"),
        _ => verdict.to_owned(),
    };
    said(text, class, &row["said"])
}
