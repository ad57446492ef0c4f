//! One text from a kernel, its fragments and what is generated for its bindings.
//!
//! A kernel file marks what may be replaced as `// region name` to `// end name`; `bindings` is
//! replaced here by one declaration and one `load_i` or `store_i` per binding, so that a kernel's
//! body never knows how its operands are stored or laid out. A fragment's region `alone` is what it
//! stands on when read by itself, and is dropped; an `override` becomes a constant. The mathematics
//! comes first in the text, the machinery after it; WGSL does not mind.

use core::hash::{Hash, Hasher};
use std::collections::HashSet;
use std::hash::DefaultHasher;
use std::sync::Arc;

use super::access::{bindings, wide};
use super::assembled::{Assembled, Lines, Span};
use super::entry::Entry;
use super::kept::kept;
use super::library::{self, Item};
use super::needs::Needs;
use super::slot::Slot;
use super::source::Source;
use super::target::Target;

/// What replaces the regions of a kernel file: name and text.
pub type Regions<'a> = [(&'a str, &'a str)];

/// The text of a catalog kernel for these operands, inputs first. `rank` is the index space's (1 to
/// 8; 0 where no operand is strided).
#[must_use]
pub fn kernel(entry: &Entry, slots: &[Slot], rank: u32, target: Target) -> Arc<Assembled> {
    kept(entry.name, slots, "", (rank, target), || {
        let bindings = bindings(slots, target);
        build(entry, slots, &[("bindings", &bindings)], Needs::NONE, (rank, target))
    })
}

/// The text of a kernel whose bindings are its own.
#[must_use]
pub fn plain(entry: &Entry, target: Target) -> Arc<Assembled> {
    let shape = (0, target);
    kept(entry.name, &[], "own bindings", shape, || build(entry, &[], &[], Needs::NONE, shape))
}

/// The text with these regions replaced; `needs` beyond those of the slots.
pub(crate) fn build(
    entry: &Entry,
    slots: &[Slot],
    regions: &Regions<'_>,
    needs: Needs,
    shape: (u32, Target),
) -> Assembled {
    build_by(shape.1.workgroup(), entry, slots, regions, needs, shape)
}

/// The same with a number of invocations to a workgroup that is not the target's own.
pub(crate) fn build_by(
    workgroup: u32,
    entry: &Entry,
    slots: &[Slot],
    regions: &Regions<'_>,
    needs: Needs,
    (rank, target): (u32, Target),
) -> Assembled {
    let needs = slots.iter().fold(needs, |all, slot| {
        let paired = if wide(slot, target).is_some() { Needs::INT64 } else { Needs::NONE };
        all.union(slot.form.needs()).union(paired)
    });
    let mut text = Text::default();
    if needs.contains(Needs::F16) {
        text.generated("enable f16;\n");
    }
    if needs.contains(Needs::COOPERATIVE) {
        text.generated("enable wgpu_cooperative_matrix;\n");
    }
    text.file(&entry.source, regions);
    let moves = slots.iter().filter(|slot| slot.form.is_move()).map(|slot| slot.form.part());
    let local = moves.flat_map(library::items).collect::<Vec<_>>();
    text.complete(&local);
    text.settle(&[("rank", rank.max(1)), ("workgroup", workgroup)]);
    let mut hasher = DefaultHasher::new();
    text.text.hash(&mut hasher);
    let (hash, lines) = (hasher.finish(), text.lines);
    Assembled { name: entry.name, wgsl: text.text, needs, clears: entry.clears, hash, lines }
}

#[derive(Default)]
struct Text {
    text: String,
    lines: Lines,
    count: u32,
}

impl Text {
    fn generated(&mut self, text: &str) {
        self.lines.0.push(Span { first: self.count + 1, path: "", line: 1 });
        self.push(text);
    }

    fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.count += text.lines().count() as u32;
    }

    /// A file, less its `enable` lines, with regions replaced. Regions of other names stay, less
    /// their marks.
    fn file(&mut self, source: &Source, regions: &Regions<'_>) {
        let mut skipping = false;
        let mut resumed = true;
        for (n, line) in source.text.lines().enumerate() {
            let mark = line.trim_start();
            if let Some(name) = mark.strip_prefix("// region ") {
                if let Some((_, text)) = regions.iter().find(|(region, _)| *region == name) {
                    let indent = &line[..line.len() - mark.len()];
                    self.generated(&indented(text, indent));
                    skipping = true;
                }
                skipping |= name == "alone";
                resumed = true;
                continue;
            }
            if mark.starts_with("// end ") {
                skipping = false;
                resumed = true;
                continue;
            }
            if skipping || line.starts_with("enable ") {
                resumed = true;
                continue;
            }
            if core::mem::take(&mut resumed) {
                let line = n as u32 + 1;
                self.lines.0.push(Span { first: self.count + 1, path: source.path, line });
            }
            self.push(line);
            self.text.push('\n');
            self.count += u32::from(line.is_empty());
        }
    }
}

impl Text {
    /// Adds the items of the library whose names occur, and those whose names occur in them;
    /// `local` ones first.
    fn complete(&mut self, local: &[Item]) {
        let text = self.text.clone();
        let mut known = text.lines().filter_map(library::defined).collect::<HashSet<_>>();
        let mut missing = |text: &str| {
            let find = |name| local.iter().find(|item| item.name == name).copied();
            let mut items = Vec::new();
            for name in library::identifiers(text) {
                if let Some(item) = find(name).or_else(|| library::find(name)) {
                    items.extend(known.insert(item.name).then_some(item));
                }
            }
            items
        };
        let mut added = missing(&text);
        let mut next = 0;
        while let Some(item) = added.get(next).copied() {
            added.extend(missing(item.text));
            next += 1;
        }
        // What a function calls stands above it, as in the files.
        for item in added.iter().rev() {
            self.push("\n");
            self.lines.0.push(Span { first: self.count + 1, path: item.path, line: item.line });
            self.push(item.text);
        }
    }

    /// Makes constants of the overrides: of these values, or of their own. With overrides wgpu
    /// would copy and validate the module once more for every pipeline.
    fn settle(&mut self, values: &[(&str, u32)]) {
        const OVERRIDE: &str = "\noverride ";
        while let Some(at) = self.text.find(OVERRIDE) {
            let rest = &self.text[at + OVERRIDE.len()..];
            let line = rest.lines().next().unwrap_or_default();
            let value = values.iter().find(|(name, _)| line.split(':').next() == Some(*name));
            let settled = match value {
                Some((name, value)) => format!("\nconst {name}: u32 = {value}u;"),
                None => format!("\nconst {line}"),
            };
            self.text.replace_range(at..at + OVERRIDE.len() + line.len(), &settled);
        }
    }
}

pub(super) fn indented(text: &str, indent: &str) -> String {
    text.lines()
        .map(|l| if l.is_empty() { "\n".into() } else { format!("{indent}{l}\n") })
        .collect()
}
