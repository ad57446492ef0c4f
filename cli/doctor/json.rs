//! The report as one JSON object, and the small JSON writer that it needs.

use core::fmt;

use wharf::adapter::{Listed, Listing};
use wharf::caps::Caps;
use wharf::plan::Carriage;
use wharf::{Adapter, Device, Error, Policy, Result};

use super::adapters::driver;
use super::passport::crossing::{Crossing, End};
use super::verdict::{REMEDY_BROKEN, Verdict};

/// A JSON value; objects keep their order.
#[derive(Clone, Debug)]
pub(crate) enum Json {
    Null,
    Bool(bool),
    Number(u64),
    Text(String),
    List(Vec<Self>),
    Object(Vec<(&'static str, Self)>),
}

impl From<&str> for Json {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl From<String> for Json {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl<T: Into<Self>> From<Option<T>> for Json {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl Json {
    pub(crate) fn list<T>(items: &[T], each: impl Fn(&T) -> Self) -> Self {
        Self::List(items.iter().map(each).collect())
    }
}

/// Writes `open items close`, separated by commas.
fn sequence<T>(
    f: &mut fmt::Formatter<'_>,
    [open, close]: [&str; 2],
    items: &[T],
    each: impl Fn(&mut fmt::Formatter<'_>, &T) -> fmt::Result,
) -> fmt::Result {
    f.write_str(open)?;
    for (i, item) in items.iter().enumerate() {
        f.write_str(if i == 0 { "" } else { "," })?;
        each(f, item)?;
    }
    f.write_str(close)
}

fn text(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    f.write_str("\"")?;
    for c in text.chars() {
        match c {
            '"' => f.write_str("\\\"")?,
            '\\' => f.write_str("\\\\")?,
            '\n' => f.write_str("\\n")?,
            c if c < ' ' => write!(f, "\\u{:04x}", u32::from(c))?,
            c => write!(f, "{c}")?,
        }
    }
    f.write_str("\"")
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Number(value) => write!(f, "{value}"),
            Self::Text(value) => text(f, value),
            Self::List(items) => sequence(f, ["[", "]"], items, |f, item| item.fmt(f)),
            Self::Object(fields) => sequence(f, ["{", "}"], fields, |f, (name, value)| {
                text(f, name)?;
                write!(f, ":{value}")
            }),
        }
    }
}

/// The whole report.
pub(crate) fn report(
    listing: &Listing,
    opened: &Result<Device>,
    crossings: &[Crossing],
    verdict: &Verdict,
) -> Json {
    let plan = listing.chosen().map(|adapter: &Adapter| adapter.negotiate(&Policy::exact()));
    Json::Object(vec![
        ("verdict", verdict.word().into()),
        ("adapters", Json::list(&listing.entries, listed)),
        ("plan", Json::list(plan.as_ref().map_or(&[], |plan| plan.carriages()), carriage)),
        ("crossings", Json::list(crossings, crossing)),
        ("diagnosis", diagnosis(listing, opened, crossings)),
    ])
}

fn listed(entry: &Listed) -> Json {
    let chosen = entry.verdict == wharf::adapter::Verdict::Chosen;
    adapter(entry.adapter.caps(), chosen, entry.verdict.to_string())
}

pub(crate) fn adapter(caps: &Caps, chosen: bool, reason: String) -> Json {
    let id = &caps.identity;
    Json::Object(vec![
        ("name", id.name.as_str().into()),
        ("backend", id.backend.name().into()),
        ("device_type", id.device_type.name().into()),
        ("driver", driver(id).into()),
        ("pci_bus", Some(id.pci_bus.clone()).filter(|bus| !bus.is_empty()).into()),
        ("chosen", Json::Bool(chosen)),
        ("reason", reason.into()),
    ])
}

pub(crate) fn carriage(row: &Carriage) -> Json {
    Json::Object(vec![
        ("dtype", row.dtype.name().into()),
        ("how", row.how.name().into()),
        ("stored", row.stored.map(|_| row.stored_as()).into()),
        ("computed", row.computed.map(|_| row.computed_in()).into()),
        ("because", row.because.to_string().into()),
    ])
}

fn crossing(crossing: &Crossing) -> Json {
    let (error, help) = match &crossing.end {
        End::Exact | End::Converted => (None, None),
        End::Wrong(text) => (Some(text.clone()), None),
        End::Refused(e) | End::Checked(e) | End::Failed(e) => (Some(e.to_string()), e.help()),
    };
    Json::Object(vec![
        ("dtype", crossing.dtype.name().into()),
        ("to", crossing.to.unwrap_or(crossing.dtype).name().into()),
        ("how", crossing.how.name().into()),
        ("ok", Json::Bool(crossing.is_ok())),
        ("receipt", crossing.receipt.as_ref().map(ToString::to_string).into()),
        ("error", error.into()),
        ("help", help.into()),
    ])
}

fn row(cause: &str, found: String, remedy: Option<String>) -> Json {
    Json::Object(vec![("cause", cause.into()), ("found", found.into()), ("remedy", remedy.into())])
}

fn of_error(cause: &str, error: &Error) -> Json {
    row(cause, error.to_string(), error.help())
}

/// An adapter that did not open.
pub(crate) fn unfit(error: &Error) -> Json {
    of_error("not-opened", error)
}

/// The findings, then whatever else keeps this machine from a better verdict.
fn diagnosis(listing: &Listing, opened: &Result<Device>, crossings: &[Crossing]) -> Json {
    let mut rows: Vec<Json> = Vec::new();
    match opened {
        Err(error) if listing.chosen().is_some() => rows.push(of_error("not-opened", error)),
        // With no adapter at all the error only repeats the findings.
        Err(error) if !listing.entries.is_empty() => rows.push(of_error("not-chosen", error)),
        _ => {}
    }
    for crossing in crossings {
        match &crossing.end {
            End::Failed(error) => rows.push(of_error("crossing-failed", error)),
            End::Wrong(text) => {
                let found = format!("{}: {text}", crossing.name());
                rows.push(row("crossing-wrong", found, Some(REMEDY_BROKEN.into())));
            }
            _ => {}
        }
    }
    let findings = listing.findings.iter();
    rows.extend(findings.map(|f| row(f.cause.name(), f.found.clone(), Some(f.remedy.clone()))));
    Json::List(rows)
}
