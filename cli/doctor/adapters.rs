//! The table of adapters: who is there, who was taken, and why not the others.

use wharf::adapter::{Listed, Listing, Verdict};
use wharf::caps::Identity;

use super::table::{Page, Tone, clean, shorten};

/// Columns: mark, index, name, backend, kind, memory; the verdict has the rest.
const WIDTHS: [usize; 6] = [2, 3, 42, 10, 13, 10];

pub(crate) fn show(page: &Page, listing: &Listing) {
    page.heading("Adapters", "");
    if listing.entries.is_empty() {
        page.row(&[(Tone::Plain, "", WIDTHS[0])], (Tone::Bad, "none"));
    } else {
        row(
            page,
            ["", "#", "name", "backend", "kind", "memory"],
            Tone::Dim,
            (Tone::Dim, "verdict"),
        );
    }
    for (index, entry) in listing.entries.iter().enumerate() {
        let id = identity(entry);
        let alike = |other: &&Listed| {
            (&identity(other).name, identity(other).backend) == (&id.name, id.backend)
        };
        let has_twin = listing.entries.iter().filter(alike).count() > 1;
        adapter(page, index, entry, has_twin);
    }
    for note in &listing.notes {
        page.row(&[(Tone::Plain, "", WIDTHS[0]), (Tone::Dim, "note", 6)], (Tone::Plain, note));
    }
}

fn row(page: &Page, texts: [&str; 6], name: Tone, verdict: (Tone, &str)) {
    let mut cells = [(Tone::Plain, "", 0); 6];
    for ((cell, text), width) in cells.iter_mut().zip(texts).zip(WIDTHS) {
        *cell = (name, text, width);
    }
    page.row(&cells, verdict);
}

fn identity(entry: &Listed) -> &Identity {
    &entry.adapter.caps().identity
}

fn adapter(page: &Page, index: usize, entry: &Listed, has_twin: bool) {
    let id = identity(entry);
    let (index, name) = (index.to_string(), shorten(&clean(&id.name), WIDTHS[2] - 2));
    let (mark, tone, verdict) = match entry.verdict {
        Verdict::Chosen => ("*", Tone::Bold, (Tone::Good, "chosen")),
        _ => ("", Tone::Plain, (Tone::Plain, "not chosen")),
    };
    let (backend, kind) = (id.backend.name(), id.device_type.name());
    row(page, [mark, &index, &name, backend, kind, id.device_type.memory().name()], tone, verdict);
    let detail = |label: &str, text: &str| {
        let margin = (Tone::Plain, "", WIDTHS[0] + WIDTHS[1]);
        page.row(&[margin, (Tone::Dim, label, 9)], (Tone::Dim, text));
    };
    detail("driver", &driver(id));
    if has_twin && !id.pci_bus.is_empty() {
        detail("bus", &id.pci_bus);
    }
    if entry.verdict != Verdict::Chosen {
        detail("because", &entry.verdict.to_string());
    }
}

/// The driver's name and version, without saying either twice.
pub(crate) fn driver(id: &Identity) -> String {
    match (id.driver.trim(), id.driver_info.trim()) {
        ("", "") => "unknown".into(),
        (one, "") | ("", one) => one.into(),
        (name, info) if info.contains(name) => info.into(),
        (name, info) => format!("{name} {info}"),
    }
}
