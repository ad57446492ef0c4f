//! Cases end where they end: one that returns early has passed without what comes after it. What a
//! device cannot run is said in the table of cases instead, and counted.

use crate::{files, none};

/// Where cases may, how often, and why nothing goes missing.
const EARLY: [(&str, usize, &str); 7] = [
    ("crossing.rs", 1, "what is refused has said why"),
    ("elementwise.rs", 1, "an operation of one operand has none beside it"),
    ("elementwise/check.rs", 1, "nothing was wrong"),
    ("graphs.rs", 1, "nothing was wrong"),
    ("makers.rs", 1, "both were refused"),
    ("order.rs", 1, "few values have many equals, whose places are all there is to see"),
    ("profile.rs", 2, "one of several tries is enough; a browser has no ceilings"),
];

#[test]
fn cases_do_not_end_early() {
    let mut complaints = Vec::new();
    for file in files(&["tests/gpu/cases"], "rs") {
        let lines = file.text.lines().enumerate();
        let ends: Vec<_> = lines.filter(|(_, line)| line.contains("return Ok(())")).collect();
        let name = file.path.strip_prefix("tests/gpu/cases/").unwrap_or(&file.path);
        let allowed = EARLY.iter().find(|row| row.0 == name).map_or(0, |row| row.1);
        if ends.len() != allowed {
            let line = ends.first().map_or(0, |(n, _)| *n);
            let rule = format!("{} early ends, {allowed} have a reason", ends.len());
            complaints.push(file.complaint(line, &rule));
        }
    }
    none(&complaints);
}
