//! What each dtype becomes on an adapter: the default policy, and what a lossless one would add.

use wharf::plan::{Carriage, How};
use wharf::{Adapter, Plan, Policy};

use super::table::{Page, Tone};

/// Columns: margin, dtype, how, stored, computed; the reason has the rest.
const WIDTHS: [usize; 5] = [2, 7, 11, 10, 10];

pub(crate) fn show(page: &Page, adapter: &Adapter) {
    let exact = adapter.negotiate(&Policy::exact());
    let lossless = adapter.negotiate(&Policy::lossless());
    let id = &adapter.caps().identity;
    page.heading(
        "Plan",
        &format!("what each dtype becomes on {} ({})", id.name, id.backend.name()),
    );
    head(page, "Policy::exact(), the default: every bit, or not at all");
    exact.carriages().iter().for_each(|carriage| row(page, carriage));
    let differs = |plan: &Plan, carriage: &Carriage| plan.carriage(carriage.dtype) != carriage;
    let changed: Vec<&Carriage> =
        lossless.carriages().iter().filter(|c| differs(&exact, c)).collect();
    page.blank();
    if changed.is_empty() {
        let text = "Policy::lossless(): the same, for nothing needs a conversion here";
        page.row(&[(Tone::Plain, "", WIDTHS[0])], (Tone::Dim, text));
        return;
    }
    let text = "Policy::lossless(): the same, except";
    page.row(&[(Tone::Plain, "", WIDTHS[0])], (Tone::Dim, text));
    changed.into_iter().for_each(|carriage| row(page, carriage));
}

fn head(page: &Page, title: &str) {
    let [margin, dtype, how, stored, computed] = WIDTHS;
    page.row(&[(Tone::Plain, "", margin)], (Tone::Dim, title));
    let cells = [
        (Tone::Dim, "", margin),
        (Tone::Dim, "dtype", dtype),
        (Tone::Dim, "how", how),
        (Tone::Dim, "stored", stored),
        (Tone::Dim, "computed", computed),
    ];
    page.row(&cells, (Tone::Dim, "because"));
}

fn row(page: &Page, carriage: &Carriage) {
    let [margin, dtype, how, stored, computed] = WIDTHS;
    let tone = match carriage.how {
        How::Native | How::Packed => Tone::Good,
        How::Converted { .. } => Tone::Plain,
        _ => Tone::Caution,
    };
    let stored_as = carriage.stored_as();
    let cells = [
        (Tone::Plain, "", margin),
        (Tone::Plain, carriage.dtype.name(), dtype),
        (tone, carriage.how.name(), how),
        (Tone::Plain, stored_as.as_str(), stored),
        (Tone::Plain, carriage.computed_in(), computed),
    ];
    page.row(&cells, (Tone::Plain, &carriage.because.to_string()));
}
