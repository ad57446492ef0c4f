//! What is in a passport, as one table: by it a passport is checked, and documented.

use core::fmt;

use serde_json::{Map, Value};

/// The version of the table. It counts what is changed, not what is added by measuring more rows.
pub(crate) const VERSION: u64 = 1;

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Text,
    Count,
    /// A number, or null where there is none.
    Number,
    Truth,
    /// A text, or null where there is nothing to say.
    Note,
    /// Named values of one form.
    Named(&'static Self),
    /// These fields.
    One(&'static [Field]),
    /// Rows of these fields, each with a name of its own; or why there are none.
    Rows(&'static [Field]),
}

use Form::{Count, Named, Note, Number, One, Rows, Text, Truth};

/// A part of a passport, or a field of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(crate) form: Form,
    pub(crate) about: &'static str,
}

const fn field(name: &'static str, form: Form, about: &'static str) -> Field {
    Field { name, form, about }
}

const HOST: &[Field] = &[
    field("processor", Note, "as the system names it; a page is not told"),
    field("cores", Number, "how many run at once"),
    field("system", Text, "linux, macos, .., browser"),
    field("architecture", Text, "x86_64, aarch64, wasm32, .."),
];

const ADAPTER: &[Field] = &[
    field("name", Text, "as the driver names it"),
    field("vendor", Text, "PCI vendor"),
    field("device", Text, "PCI device"),
    field("kind", Text, "discrete, integrated, virtual, other, software"),
    field("memory", Text, "where the bytes of a tensor lie"),
    field("backend", Text, "vulkan, metal, dx12, webgpu, gl"),
    field("driver", Text, "the driver's name"),
    field("driver_info", Text, "the driver's version, in its own words"),
    field("cooperative", Text, "cooperative matrices that the driver reports"),
    field("kernels", Text, "the class of kernels that runs"),
];

const CARRIAGE: &[Field] = &[
    field("name", Text, "the dtype"),
    field("how", Text, "native, packed, converted or rejected, under `Policy::exact`"),
    field("stored", Text, "as what"),
    field("computed", Text, "in what"),
    field("because", Text, "why"),
    field("lossless", Text, "how under `Policy::lossless`"),
];

const CROSSINGS: &[Field] = &[
    field("name", Text, "the dtype, and what it becomes; how many values"),
    field("how", Text, "as planned"),
    field("verdict", Text, "bit-exact, as expected, refused, range-checked; FAILED or WRONG"),
    field("said", Note, "the refusal, or what is wrong"),
];

const CASES: &[Field] = &[
    field("name", Text, "what is done, with which dtype"),
    field("compared", Count, "results that were compared with the oracle's"),
    field("verdict", Text, "right, absent, WRONG"),
    field("said", Note, "what is lacking, or the first that is wrong"),
];

const ACCURACY: &[Field] = &[
    field("name", Text, "the operation, of f32"),
    field("contract", Text, "how far its result may lie from the exact one"),
    field("measured", Note, "how far it lies at worst"),
    field("ulp", Number, "the same in units in the last place"),
    field("at", Text, "where"),
    field("wrong", Note, "what breaks the contract"),
];

const QUIRKS: &[Field] = &[
    field("name", Text, "what raw WGSL does"),
    field("seen", Text, "here"),
    field("surprising", Truth, "whether a kernel that expects the textbook would be wrong"),
];

const CEILINGS: &[Field] = &[
    field("name", Text, "what is timed"),
    field("size", Note, "how much of it"),
    field("rate", Number, "by the median"),
    field("unit", Note, "of the rate: 10^9 bytes, or additions and multiplications, a second"),
    field("micros", Number, "the median, in microseconds"),
    field("micros_best", Number, "the fastest"),
    field("runs", Number, "how many were timed"),
    field("said", Note, "why there is none, or what is wrong with its result"),
];

const TUNED: &[Field] = &[
    field("name", Text, "what is computed"),
    field("kernel", Note, "the fastest of those that are right"),
    field("rate", Number, "how fast it is"),
    field("unit", Text, "of the rate"),
    field("candidates", Count, "how many were timed"),
    field("said", Note, "what failed or was wrong"),
];

/// The parts of a passport, by name.
pub(crate) const PARTS: &[Field] = &[
    field("accuracy", Rows(ACCURACY), "the worst of 2^18 samples of every operation that rounds"),
    field("adapter", One(ADAPTER), "who it is"),
    field("carriage", Rows(CARRIAGE), "what each dtype becomes"),
    field("cases", Rows(CASES), "the core of the gpu tier, judged by the oracle"),
    field("ceilings", Rows(CEILINGS), "measured on this host, as it was that day: no promise"),
    field("crossings", Rows(CROSSINGS), "each dtype up and back, bit by bit"),
    field("date", Text, "when it was made; not in the hash"),
    field("features", Named(&Truth), "of those that change what wharf does"),
    field("hash", Text, "FNV-1a, 64 bits, of the text without `hash` and `date`"),
    field("host", One(HOST), "the machine; neither its name nor its owner's"),
    field("limits", Named(&Count), "of those that wharf runs into; sizes in bytes"),
    field("quirks", Rows(QUIRKS), "what the driver does in its own way; no result rests on it"),
    field("schema", Count, "the version of this table"),
    field("tuned", Rows(TUNED), "what `Device::tune` settled on"),
    field("wharf", Text, "the version that made it"),
];

/// In place of rows: why there are none.
const ABSENT: &str = "absent";

/// What is wrong with a file that should be a passport, or a page of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Flaw {
    Unread { message: String },
    Unwritten { message: String },
    NoUtf8,
    Long { bytes: u64, most: u64 },
    NoJson { message: String },
    NoPassport,
    Version { written: u64, known: u64 },
    Missing { place: String },
    Unknown { place: String },
    Odd { place: String, is: String, should: &'static str },
    Twice { place: String, name: String },
    Hash { written: String, computed: String },
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unread { message } | Self::Unwritten { message } => f.write_str(message),
            Self::NoUtf8 => f.write_str("it is no text"),
            Self::Long { bytes, most } => {
                write!(f, "it has at least {bytes} bytes, a passport at most {most}")
            }
            Self::NoJson { message } => write!(f, "it is no JSON: {message}"),
            Self::NoPassport => f.write_str("it has no `schema`, and is no passport"),
            Self::Version { written, known } => {
                write!(f, "its schema is version {written}, this program knows {known}")
            }
            Self::Missing { place } => write!(f, "{place} is missing"),
            Self::Unknown { place } => write!(f, "{place} is not in the schema"),
            Self::Odd { place, is, should } => write!(f, "{place} is {is}, and should be {should}"),
            Self::Twice { place, name } => write!(f, "{place} has two rows {name:?}"),
            Self::Hash { written, computed } => {
                write!(f, "it says that its hash is {written}, and it is {computed}")
            }
        }
    }
}

impl Flaw {
    /// What to do about it.
    pub(crate) const fn help(&self) -> &'static str {
        match self {
            Self::Unread { .. } => "name a file that is there and can be read",
            Self::Unwritten { .. } => {
                "look at the space and the permissions, or name another place"
            }
            Self::Version { .. } => "read it with the wharf that made it, or make it anew",
            Self::Hash { .. } => "it was changed after it was made: make it anew on its machine",
            _ => "make one with `wharf doctor --passport FILE`",
        }
    }
}

/// Whether these parts are what the table says.
pub(crate) fn check(parts: &Map<String, Value>) -> Result<(), Flaw> {
    let written = parts.get("schema").and_then(Value::as_u64).ok_or(Flaw::NoPassport)?;
    if written != VERSION {
        return Err(Flaw::Version { written, known: VERSION });
    }
    fields("", PARTS, parts)
}

fn below(place: &str, name: &str) -> String {
    if place.is_empty() { name.to_owned() } else { format!("{place}.{name}") }
}

fn fields(place: &str, table: &'static [Field], found: &Map<String, Value>) -> Result<(), Flaw> {
    for field in table {
        let place = below(place, field.name);
        match found.get(field.name) {
            Some(value) => value_of(&place, field.form, value)?,
            // What has nothing to say may be left out.
            None if matches!(field.form, Note | Number) => {}
            None => return Err(Flaw::Missing { place }),
        }
    }
    match found.keys().find(|name| !table.iter().any(|field| field.name == **name)) {
        Some(name) => Err(Flaw::Unknown { place: below(place, &quoted(name)) }),
        None => Ok(()),
    }
}

fn value_of(place: &str, form: Form, value: &Value) -> Result<(), Flaw> {
    let should = match (form, value) {
        (Text | Note, Value::String(_)) | (Note | Number, Value::Null) => return Ok(()),
        (Number, Value::Number(_)) | (Truth, Value::Bool(_)) => return Ok(()),
        (Count, value) if value.is_u64() => return Ok(()),
        (Named(form), Value::Object(named)) => {
            return named.iter().try_for_each(|(name, value)| {
                value_of(&below(place, &quoted(name)), *form, value)
            });
        }
        (One(table), Value::Object(found)) => return fields(place, table, found),
        (Rows(table), Value::Array(all)) => return rows(place, table, all),
        (Rows(_), Value::Object(found)) if found.len() == 1 && is_reason(found.get(ABSENT)) => {
            return Ok(());
        }
        (Text, _) => "text",
        (Note, _) => "text or null",
        (Number, _) => "a number or null",
        (Count, _) => "a whole number",
        (Truth, _) => "true or false",
        (Named(_) | One(_), _) => "an object",
        (Rows(_), _) => "a list of rows",
    };
    let is = match value {
        Value::Null => "null".to_owned(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::String(text) => quoted(text),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    };
    Err(Flaw::Odd { place: place.to_owned(), is, should })
}

fn is_reason(why: Option<&Value>) -> bool {
    why.is_some_and(Value::is_string)
}

fn rows(place: &str, table: &'static [Field], all: &[Value]) -> Result<(), Flaw> {
    let mut names = Vec::new();
    for (i, row) in all.iter().enumerate() {
        value_of(&format!("{place}[{i}]"), One(table), row)?;
        let name = row.get("name").and_then(Value::as_str).unwrap_or_default();
        if names.contains(&name) {
            return Err(Flaw::Twice { place: place.to_owned(), name: name.to_owned() });
        }
        names.push(name);
    }
    Ok(())
}

/// Foreign text for a message: not endless, and without what a terminal obeys.
fn quoted(text: &str) -> String {
    let short: String = text.chars().take(40).collect();
    format!("{short:?}")
}

#[cfg(test)]
mod tests {
    use super::{Field, Form, Named, One, Rows};

    fn form(form: Form) -> &'static str {
        match form {
            Form::Text => "text",
            Form::Count => "a whole number",
            Form::Number => "a number or null",
            Form::Truth => "true or false",
            Form::Note => "text or null",
            Named(_) => "an object, by name",
            One(_) => "an object",
            Rows(_) => "a list of objects",
        }
    }

    fn lines(table: &[Field], margin: &str) -> String {
        let line = |field: &Field| {
            let inner = match field.form {
                One(inner) | Rows(inner) => lines(inner, "\u{2003}"),
                _ => String::new(),
            };
            let Field { name, about, .. } = field;
            format!("| {margin}`{name}` | {} | {about} |\n{inner}", form(field.form))
        };
        table.iter().map(line).collect()
    }

    /// `WHARF_GOLDENS=1` writes it anew.
    #[test]
    fn the_schema_is_documented() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/atlas/README.md");
        // What is published has not all of the documentation.
        let Ok(text) = std::fs::read_to_string(path) else { return };
        let mark = "| part | what | |\n|---|---|---|\n";
        let (before, after) = text.split_once(mark).unwrap_or((&text, ""));
        let after = after.split_once("\n\n").map_or("", |(_, after)| after);
        let want = format!("{before}{mark}{}\n{after}", lines(super::PARTS, ""));
        if std::env::var("WHARF_GOLDENS").is_ok_and(|value| value == "1") {
            assert!(std::fs::write(path, &want).is_ok(), "{path} is written");
            return;
        }
        assert_eq!(text, want, "docs/atlas/README.md, by WHARF_GOLDENS=1");
    }
}
