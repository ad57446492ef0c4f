//! What was measured for a passport, as rows of the doctor's page.

use super::passport::crossing::{Crossing, End};
use super::passport::quirks::Quirk;
use super::table::{Page, Tone};

/// What is carried, in one line.
pub(crate) const SUBTITLE: &str =
    "up and back, bit by bit: NaN payloads, infinities, signed zeros, subnormals, extremes";

/// Prints one crossing as a row: its refusal or its receipt, and below that the remedy.
pub(crate) fn crossing(page: &Page, crossing: &Crossing) {
    let (tone, word, text, help) = match &crossing.end {
        End::Exact => (Tone::Good, "bit-exact", None, None),
        End::Converted => (Tone::Good, "as expected", None, None),
        End::Refused(error) => (Tone::Caution, "refused", Some(error.to_string()), error.help()),
        End::Checked(error) => (Tone::Good, "range-checked", Some(error.to_string()), error.help()),
        End::Failed(error) => (Tone::Bad, "FAILED", Some(error.to_string()), error.help()),
        End::Wrong(text) => (Tone::Bad, "WRONG", Some(text.clone()), None),
    };
    let receipt = crossing.receipt.as_ref().map(ToString::to_string);
    let help = help.map(|help| format!("help: {help}"));
    let texts = [(Tone::Plain, text), (Tone::Plain, receipt), (Tone::Dim, help)];
    let (mut name, mut word) = (crossing.name(), word);
    for (text_tone, text) in texts {
        let Some(text) = text else { continue };
        let cells = [(Tone::Plain, "", 2), (Tone::Plain, name.as_str(), 12), (tone, word, 15)];
        page.row(&cells, (text_tone, &text));
        // Only the first line is labelled.
        (name, word) = (String::new(), "");
    }
}

/// What drivers differ in, or why it is not known.
pub(crate) fn quirks(
    page: &Page,
    quirks: &Result<Vec<Quirk>, String>,
    loads: &Result<Option<Quirk>, String>,
) {
    page.heading("Quirks", "what raw WGSL does here; wharf's kernels rely on none of it");
    let row = |quirk: &Quirk| {
        let tone = if quirk.surprising { Tone::Caution } else { Tone::Good };
        page.row(&[(Tone::Plain, "", 2), (Tone::Plain, quirk.what, 26)], (tone, &quirk.seen));
    };
    let failed = |error: &String| page.row(&[(Tone::Plain, "", 2)], (Tone::Bad, error));
    quirks.as_ref().map_or_else(failed, |quirks| quirks.iter().for_each(row));
    loads.as_ref().map_or_else(failed, |loads| loads.iter().for_each(row));
}
