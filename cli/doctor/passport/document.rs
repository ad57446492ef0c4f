//! A passport as text, its hash, and reading it back.

use core::fmt;

use serde_json::{Map, Value, json};

use super::schema::{self, Flaw};

/// The most bytes that a passport has.
pub(crate) const BYTES_MAX: usize = 200_000;

/// What a hash leaves out: itself, and the day.
const UNHASHED: [&str; 2] = ["hash", "date"];

/// A passport whose parts are those of the schema, and whose hash is right.
#[derive(Clone, Debug)]
pub(crate) struct Passport(Map<String, Value>);

impl Passport {
    /// One of these parts, which is given its hash.
    pub(crate) fn sealed(mut parts: Map<String, Value>) -> Self {
        parts.insert("schema".into(), json!(schema::VERSION));
        let hash = hash(&parts);
        parts.insert("hash".into(), json!(hash));
        Self(parts)
    }

    /// Reads one that somebody made.
    pub(crate) fn parse(text: &str) -> Result<Self, Flaw> {
        if text.len() > BYTES_MAX {
            return Err(Flaw::Long { bytes: text.len() as u64, most: BYTES_MAX as u64 });
        }
        let value: Value = serde_json::from_str(text)
            .map_err(|error| Flaw::NoJson { message: error.to_string() })?;
        let Value::Object(parts) = value else { return Err(Flaw::NoPassport) };
        schema::check(&parts)?;
        let (written, computed) = (text_of(&parts, "hash").to_owned(), hash(&parts));
        if written != computed {
            return Err(Flaw::Hash { written, computed });
        }
        Ok(Self(parts))
    }

    /// One of its parts, or one that it has not.
    pub(crate) fn part(&self, name: &str) -> &Value {
        self.0.get(name).unwrap_or(&Value::Null)
    }

    /// A text among its parts.
    pub(crate) fn text(&self, name: &str) -> &str {
        text_of(&self.0, name)
    }
}

fn text_of<'a>(parts: &'a Map<String, Value>, name: &str) -> &'a str {
    parts.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// FNV-1a, because it is short and every build of it agrees. It finds slips; a forger writes the
/// hash of his forgery.
fn hash(parts: &Map<String, Value>) -> String {
    let mut hashed = parts.clone();
    hashed.retain(|name, _| !UNHASHED.contains(&name.as_str()));
    let hash = written(&hashed).bytes().fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    });
    format!("{hash:016x}")
}

/// The one text of these parts: by name, a line for each row.
fn written(parts: &Map<String, Value>) -> String {
    let mut out = String::new();
    object(
        &mut out,
        parts,
        &|out, value| match value {
            Value::Object(fields) => object(out, fields, &inline, "    "),
            Value::Array(rows) if !rows.is_empty() => {
                out.push('[');
                for (i, row) in rows.iter().enumerate() {
                    out.push_str(if i == 0 { "\n    " } else { ",\n    " });
                    inline(out, row);
                }
                out.push_str("\n  ]");
            }
            other => inline(out, other),
        },
        "  ",
    );
    out.push('\n');
    out
}

type Write<'a> = &'a dyn Fn(&mut String, &Value);

/// An object with a line for each field, whatever order its map keeps them in.
fn object(out: &mut String, fields: &Map<String, Value>, each: Write<'_>, margin: &str) {
    let mut sorted: Vec<_> = fields.iter().collect();
    sorted.sort_by_key(|(name, _)| *name);
    out.push('{');
    for (i, (name, value)) in sorted.into_iter().enumerate() {
        out.push_str(if i == 0 { "\n" } else { ",\n" });
        out.push_str(margin);
        inline(out, &json!(name));
        out.push_str(": ");
        each(out, value);
    }
    out.push('\n');
    out.push_str(&margin[2..]);
    out.push('}');
}

fn inline(out: &mut String, value: &Value) {
    match value {
        Value::Object(fields) => {
            let mut sorted: Vec<_> = fields.iter().collect();
            sorted.sort_by_key(|(name, _)| *name);
            out.push('{');
            for (i, (name, value)) in sorted.into_iter().enumerate() {
                out.push_str(if i == 0 { "" } else { ", " });
                inline(out, &json!(name));
                out.push_str(": ");
                inline(out, value);
            }
            out.push('}');
        }
        Value::Array(rows) => {
            out.push('[');
            for (i, row) in rows.iter().enumerate() {
                out.push_str(if i == 0 { "" } else { ", " });
                inline(out, row);
            }
            out.push(']');
        }
        other => out.push_str(&other.to_string()),
    }
}

impl fmt::Display for Passport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&written(&self.0))
    }
}
