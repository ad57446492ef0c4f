//! One text from a kernel, its fragments and what is generated for its bindings.
//!
//! A kernel file marks what may be replaced as `// region name` to `// end name`; `bindings` is
//! replaced here by one declaration and one `load_i` or `store_i` per binding, so that a kernel's
//! body never knows how its operands are stored or laid out. A fragment's region `alone` is what it
//! stands on when read by itself, and is dropped; an `override` becomes a constant. The mathematics
//! comes first in the text, the machinery after it; WGSL does not mind.

use std::collections::HashSet;

use super::assembled::{Assembled, Lines, Span, hash};
use super::entry::Entry;
use super::library::{self, Item};
use super::lines::begun;
use super::needs::Needs;
use super::region::{Filling, Region};
use super::slot::Slot;
use super::source::Source;
use super::target::Target;

/// What becomes a kernel's text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Assembly<'a> {
    pub(crate) entry: &'a Entry,
    /// The operands, inputs first.
    pub(crate) slots: &'a [Slot],
    pub(crate) regions: &'a [Region],
    /// The index space's: 1 to 8; 0 where no operand is strided.
    pub(crate) rank: u32,
    pub(crate) target: Target,
    /// Invocations of a workgroup; `None` for the target's own number.
    pub(crate) workgroup: Option<u32>,
}

impl Assembly<'_> {
    /// The text. It needs what its file, regions, operands and the items it names need.
    pub(crate) fn build(&self) -> Assembled {
        let Self { entry, slots, regions, rank, target, workgroup } = *self;
        let mut page = Page { needs: entry.source.needs, ..Page::default() };
        page.needs = regions.iter().fold(page.needs, |all, region| all.union(region.needs));
        page.needs = slots.iter().fold(page.needs, |all, slot| all.union(slot.form.needs()));
        page.file(&entry.source, regions);
        let moves = slots.iter().filter(|slot| slot.form.is_move()).map(|slot| slot.form.part());
        let local = moves.flat_map(library::items).collect::<Vec<_>>();
        page.complete(&local);
        let workgroup = workgroup.unwrap_or(target.workgroup());
        if page.text.contains("\nvar<private> own_lane:") {
            page.text = begun(&page.text, "own_lane = lane;");
        }
        page.enable();
        page.settle(&[("rank", rank.max(1)), ("workgroup", workgroup)]);
        let Page { text: wgsl, needs, lines, .. } = page;
        let (name, clears, hash) = (entry.name, entry.clears, hash(&wgsl));
        let wgsl = wgsl.into();
        let text = Assembled { name, entry: "main", wgsl, needs, clears, hash, lines };
        #[cfg(feature = "testing")]
        let text = super::backward::turned(super::mutant::mutated(text));
        text
    }
}

/// A kernel's text under construction.
#[derive(Default)]
struct Page {
    text: String,
    needs: Needs,
    lines: Lines,
    /// How many lines there are so far.
    count: u32,
}

impl Page {
    fn generated(&mut self, text: &str) {
        self.lines.0.push(Span { first: self.count + 1, path: "", line: 1 });
        self.push(text);
    }

    fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.count += text.lines().count() as u32;
    }

    /// A file, less its `enable` lines, with regions replaced, also those of files that replace
    /// some. Regions of other names stay, less their marks.
    fn file(&mut self, source: &Source, regions: &[Region]) {
        let mut skipping = false;
        let mut resumed = true;
        for (n, line) in source.text.lines().enumerate() {
            let mark = line.trim_start();
            if let Some(name) = mark.strip_prefix("// region ") {
                for region in regions.iter().filter(|region| region.name == name) {
                    let indent = &line[..line.len() - mark.len()];
                    match &region.filling {
                        Filling::Text(text) => self.generated(&indented(text, indent)),
                        Filling::File(source) => self.file(source, regions),
                    }
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

    /// Adds the items of the library whose names occur, and those whose names occur in them;
    /// `local` ones first.
    fn complete(&mut self, local: &[Item]) {
        let added = occurring(&self.text, local);
        // What a function calls stands above it, as in the files.
        for item in added.iter().rev() {
            self.push("\n");
            let Source { path, needs, .. } = *item.source;
            self.lines.0.push(Span { first: self.count + 1, path, line: item.line });
            self.needs = self.needs.union(needs);
            self.push(item.text);
        }
    }

    /// Begins it with the `enable` lines that WGSL asks for.
    fn enable(&mut self) {
        let told = [
            (Needs::COOPERATIVE, "enable wgpu_cooperative_matrix;\n"),
            (Needs::F16, "enable f16;\n"),
        ];
        for (_, line) in told.into_iter().filter(|(need, _)| self.needs.contains(*need)) {
            self.text.insert_str(0, line);
            self.lines.0.iter_mut().for_each(|span| span.first += 1);
            self.lines.0.insert(0, Span { first: 1, path: "", line: 1 });
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

/// The items of the library whose names occur in a text that is not a kernel's, and those whose
/// names occur in them; and what they need.
pub(super) fn called(text: &str) -> (String, Needs) {
    let items = occurring(text, &[]);
    let needs = items.iter().fold(Needs::NONE, |all, item| all.union(item.source.needs));
    let items = items.iter().rev().map(|item| format!("\n{}", item.text));
    (items.collect(), needs)
}

/// The items whose names occur in a text that does not define them, and in those items in turn.
fn occurring(text: &str, local: &[Item]) -> Vec<Item> {
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
    let mut added = missing(text);
    let mut next = 0;
    while let Some(item) = added.get(next).copied() {
        added.extend(missing(item.text));
        next += 1;
    }
    added
}

pub(crate) fn indented(text: &str, indent: &str) -> String {
    text.lines()
        .map(|l| if l.is_empty() { "\n".into() } else { format!("{indent}{l}\n") })
        .collect()
}
