//! What keeps hardware adapters from being listed, most likely first.

use wharf::adapter::Listing;
use wharf::diagnosis::Finding;

use super::table::{Page, Tone};

pub(crate) fn show(page: &Page, listing: &Listing) {
    if listing.findings.is_empty() {
        return;
    }
    let subject = if listing.entries.is_empty() {
        "why there is no adapter"
    } else {
        "why there is no hardware adapter"
    };
    page.heading("Diagnosis", subject);
    listing.findings.iter().for_each(|found| finding(page, found));
}

fn finding(page: &Page, finding: &Finding) {
    let (tone, mark) = if finding.blocking { (Tone::Caution, "!") } else { (Tone::Dim, "-") };
    page.row(&[(tone, mark, 2)], (Tone::Plain, &finding.found));
    page.row(&[(Tone::Plain, "", 2), (Tone::Good, "->", 3)], (Tone::Good, &finding.remedy));
}
