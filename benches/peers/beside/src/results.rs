//! RESULTS.md: the section of this adapter is replaced, everything else stays as it is.

use std::fs;
use std::path::Path;

/// What a section is made of.
#[derive(Debug)]
pub struct Section<'a> {
    pub adapter: &'a str,
    pub facts: &'a str,
    pub picture: Option<&'a str>,
    pub table: &'a str,
    pub benches: Option<&'a Path>,
    pub costs: Option<&'a Path>,
}

/// The benches in the order in which they are shown.
const BENCHES: &[&str] =
    &["transfer", "elementwise", "matmul", "reduce", "large", "startup", "profile"];

const END: &str = "<!-- end of what was measured -->\n";

/// The text with the section of this adapter in place of an older one, or before the notes.
pub fn replaced(text: &str, section: &Section<'_>) -> String {
    let begin = format!("<!-- measured on {} -->\n", section.adapter);
    let new = format!("{begin}{}{END}", section.text());
    if let Some(at) = text.find(&begin)
        && let Some(length) = text[at..].find(END)
    {
        return format!("{}{new}{}", &text[..at], &text[at + length + END.len()..]);
    }
    // A new section goes before all others, right after the introduction.
    let first = ["\n<!-- measured on ", "\n## "].into_iter().filter_map(|of| text.find(of)).min();
    let at = first.map_or(text.len(), |at| at + 1);
    format!("{}{new}\n{}", &text[..at], &text[at..])
}

impl Section<'_> {
    fn text(&self) -> String {
        let mut out = format!("## {}\n\n{}\n", self.adapter, self.facts);
        if let Some(picture) = self.picture {
            out += &format!("\n![wharf beside its peers, and the roofline]({picture})\n");
        }
        out += "\n### Beside the peers\n";
        out += self.table;
        if let Some(costs) = self.costs.and_then(|file| fs::read_to_string(file).ok()) {
            out += &format!("\n### What building takes\n\n{costs}");
        }
        for name in BENCHES {
            let file = self.benches.map(|folder| folder.join(format!("{name}.txt")));
            if let Some(text) = file.and_then(|file| fs::read_to_string(file).ok()) {
                let title = format!("`cargo bench --bench {name}`");
                out += &format!("\n### {title}\n\n```text\n{}\n```\n", text.trim_end());
            }
        }
        out
    }
}

/// GB/s of a device copy and GFLOP/s of multiply-adds, from the output of the benches.
pub fn roofs(benches: Option<&Path>) -> Option<(f64, f64)> {
    let texts: Vec<String> = BENCHES
        .iter()
        .filter_map(|name| fs::read_to_string(benches?.join(format!("{name}.json"))).ok())
        .collect();
    let value = |case: &str| {
        let wanted = format!("\"case\": \"{case}\", \"value\": ");
        texts.iter().find_map(|text| {
            let rest = &text[text.find(&wanted)? + wanted.len()..];
            rest[..rest.find(',')?].parse::<f64>().ok()
        })
    };
    Some((value("device copy")?, value("fma")?))
}
