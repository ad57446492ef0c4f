//! The report as text.

use wharf::Error;
use wharf::caps::Caps;

use super::Other;
use super::advice::takes;
use super::args::Options;
use super::freight::{Freight, Parcel, Verdict, way};
use crate::doctor::table::{Page, Tone, bytes, clean, count, shorten};

/// Columns: name, shape, dtype, how, stored, bytes; segments have the rest.
const WIDTHS: [usize; 6] = [36, 14, 8, 11, 7, 10];

/// An adapter as people know it.
pub(super) fn name(caps: &Caps) -> String {
    format!("{} ({})", clean(&caps.identity.name), caps.identity.backend.name())
}

pub(super) fn report(
    page: &Page,
    options: &Options,
    caps: &Caps,
    freight: &Freight<'_>,
    others: &[Other<'_>],
) {
    page.heading("Tensors", &format!("{} on {}", clean(&options.file), name(caps)));
    let titles = ["name", "shape", "dtype", "how", "stored", "bytes"];
    row(page, titles, Tone::Dim, (Tone::Dim, "segments"));
    freight.parcels.iter().for_each(|parcel| tensor(page, parcel));
    page.heading("In all", "");
    for (title, text) in totals(freight) {
        page.row(&[(Tone::Plain, "", 2), (Tone::Dim, title, 12)], (Tone::Plain, &text));
    }
    elsewhere(page, others);
    for remedy in &freight.remedies {
        page.row(&[(Tone::Plain, "", 2), (Tone::Good, "help", 12)], (Tone::Plain, remedy));
    }
    page.blank();
    let tone = match freight.verdict() {
        Verdict::Exactly => Tone::Good,
        Verdict::Converted | Verdict::Unknown => Tone::Caution,
        Verdict::No => Tone::Bad,
    };
    page.line(&[(tone, &answer(freight))]);
}

/// Where none of those that are listed was chosen: the file on each, and why.
pub(super) fn unchosen(page: &Page, options: &Options, error: &Error, others: &[Other<'_>]) {
    if !others.is_empty() {
        page.heading("Adapters", &format!("{} on each that is listed", clean(&options.file)));
        elsewhere(page, others);
    }
    page.error(error);
    if let Some(remedy) = takes(others) {
        page.row(&[(Tone::Good, "help", 7)], (Tone::Plain, &remedy));
    }
}

fn elsewhere(page: &Page, others: &[Other<'_>]) {
    for other in others {
        let text = format!("{}: {}: {}", other.index, other.name, other.answer());
        page.row(&[(Tone::Plain, "", 2), (Tone::Dim, "elsewhere", 12)], (Tone::Plain, &text));
    }
}

fn row(page: &Page, texts: [&str; 6], tone: Tone, last: (Tone, &str)) {
    let mut cells = [(Tone::Plain, "", 0); 7];
    cells[0] = (Tone::Plain, "", 2);
    for ((cell, text), width) in cells[1..].iter_mut().zip(texts).zip(WIDTHS) {
        *cell = (tone, text, width);
    }
    page.row(&cells, last);
}

fn tensor(page: &Page, parcel: &Parcel<'_>) {
    let of = parcel.tensor;
    let name = shorten(&clean(of.name()), WIDTHS[0] - 2);
    let shape = shorten(&of.shape().to_string(), WIDTHS[1] - 1);
    let dtype = shorten(&clean(of.dtype_name()), WIDTHS[2] - 1);
    let stored = parcel.stored.unwrap_or("-");
    let taken = parcel.fit.as_ref().map_or_else(|| "-".into(), |fit| bytes(fit.bytes));
    let segments = parcel.fit.as_ref().map_or_else(|| "-".into(), |fit| fit.segments.to_string());
    let texts = [&name, &shape, &dtype, way(parcel), stored, &taken];
    let tone = if parcel.how.is_ok() { Tone::Plain } else { Tone::Caution };
    row(page, texts, tone, (tone, &segments));
    if let Err(refusal) = &parcel.how {
        page.row(&[(Tone::Plain, "", 4), (Tone::Dim, "because", 9)], (Tone::Plain, &refusal.why));
    }
}

fn totals(freight: &Freight<'_>) -> Vec<(&'static str, String)> {
    let ways = ["native", "packed", "converted", "rejected"].into_iter();
    let counts: Vec<String> = ways
        .filter(|way| freight.count(way) > 0)
        .map(|way| format!("{} {way}", freight.count(way)))
        .collect();
    let in_file = freight.parcels.iter().map(|parcel| parcel.tensor.bytes()).sum();
    let tensors = count(freight.parcels.len() as u64, "tensor");
    let fit = &freight.fit;
    let segments = count(fit.segments, "segment");
    let cap = match (freight.cap, freight.left()) {
        (Some(cap), Some(left)) => format!("{} of {} left", bytes(left), bytes(cap)),
        _ => "not known: `--cap 8GiB` says what there is".into(),
    };
    let mut rows = vec![
        ("tensors", format!("{tensors}: {}", counts.join(", "))),
        ("file", bytes(in_file)),
        (
            "device",
            format!("{} in {segments}; {} reserved", bytes(fit.bytes), bytes(fit.bytes_reserve)),
        ),
        ("staging", format!("{} of host memory at most", bytes(fit.bytes_staging))),
        ("memory", cap),
    ];
    if freight.reserve > 0 {
        rows.push(("activations", format!("{} asked for", bytes(freight.reserve))));
    }
    rows
}

impl Other<'_> {
    /// The verdict in a line.
    pub(super) fn answer(&self) -> String {
        match &self.freight {
            Ok(freight) => answer(freight),
            Err(error) => format!("no: {error}"),
        }
    }
}

/// The verdict in a line.
pub(super) fn answer(freight: &Freight<'_>) -> String {
    let refused = freight.count("rejected");
    let (needs, converted) = (bytes(freight.fit.bytes_reserve), freight.count("converted"));
    let room = format!("{} are left for activations", bytes(freight.left().unwrap_or(0)));
    let become_others = count(converted as u64, "tensor");
    match (freight.verdict(), refused, freight.cap) {
        (Verdict::Exactly, ..) => {
            format!("yes: every tensor arrives bit for bit, and fits: {room}")
        }
        (Verdict::Converted, 0, _) if freight.fits() => {
            format!("yes, {become_others} converted, and it fits: {room}")
        }
        (Verdict::Converted, ..) => "with permission: it fits once a conversion is allowed".into(),
        (Verdict::Unknown, refused, _) => {
            let how = match (refused, converted) {
                (0, 0) => "every tensor arrives bit for bit".into(),
                (0, _) => format!("all arrive, {become_others} converted"),
                // What is refused is in no sum.
                _ => {
                    let how = "all arrive once a conversion is allowed";
                    return format!("not known: {how}: ask with it, and name a `--cap`");
                }
            };
            format!("not known: {how}, and fit where {needs} are free: name a `--cap`")
        }
        (Verdict::No, 0, Some(cap)) => {
            let activations = bytes(freight.reserve);
            format!("no: it takes {needs} and {activations} for activations, of {}", bytes(cap))
        }
        (Verdict::No, 0, None) => format!("no: it takes {needs}"),
        (Verdict::No, n, _) => {
            format!("no: {} of {} do not arrive", n, count(freight.parcels.len() as u64, "tensor"))
        }
    }
}
