//! One text from a kernel, its fragments and what is generated for its bindings.
//!
//! A kernel file marks what may be replaced as `// region name` to `// end name`; `bindings` is
//! replaced here by one declaration and one `load_i` or `store_i` per binding, so that a kernel's
//! body never knows how its operands are stored or laid out. A fragment's region `alone` is what it
//! stands on when read by itself, and is dropped. The mathematics comes first in the text, the
//! machinery after it; WGSL does not mind.

use core::fmt::Write as _;
use std::collections::HashSet;

use super::catalog::{ELEMENTWISE, Entry, Needs, Source};
use super::form::Form;
use super::library::{self, Item};
use super::params::Target;

/// How a kernel reaches the quads of a binding. `index space` is the output's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Way {
    /// Quad `q` of the space is quad `q` of the binding, from an offset that is a multiple of four.
    Dense,
    /// One element for the whole space, loaded once.
    One,
    /// Strided; every quad of the space is dense and aligned: rows, offset and strides are
    /// multiples of four.
    Row,
    /// Strided; every quad is one element, four times: whole-quad rows, inner stride 0.
    Splat,
    /// Strided; the elements of a quad are equally far apart: whole-quad rows.
    Step,
    /// Strided, rows of any length: every element is located by itself.
    Any,
    /// In place: read from output `j`, dense.
    Own(u8),
    /// Element by element: the kernel asks for one element of the binding, and gets it four times.
    Each,
    /// Strided, element by element: for one element of the space.
    EachStrided,
    /// By places that the kernel computes itself: `load_i(e)` takes those of the four elements in
    /// the bound range.
    At,
    /// The same where the four are a whole quad: the place of the first one counts.
    AtQuad,
}

impl Way {
    /// Whether the kernel computes indices from the strides of the view.
    #[must_use]
    pub const fn is_strided(self) -> bool {
        matches!(self, Self::Row | Self::Splat | Self::Step | Self::Any | Self::EachStrided)
    }

    /// The same for kernels that ask element by element.
    #[must_use]
    pub const fn by_element(self) -> Self {
        match self {
            Self::Dense | Self::Own(_) | Self::Each => Self::Each,
            Self::One => Self::One,
            _ => Self::EachStrided,
        }
    }
}

/// One operand of a kernel: how it is stored and how it is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Slot {
    /// How elements are stored.
    pub form: Form,
    /// How quads are reached. Outputs are dense, rows or single elements.
    pub way: Way,
    /// Whether it is an output.
    pub written: bool,
}

impl Slot {
    /// An input.
    #[must_use]
    pub const fn read(form: Form, way: Way) -> Self {
        Self { form, way, written: false }
    }

    /// An output.
    #[must_use]
    pub const fn write(form: Form) -> Self {
        Self { form, way: Way::Dense, written: true }
    }
}

/// A kernel's text and what its pipeline is made with.
#[derive(Clone, Debug)]
pub struct Assembled {
    /// The kernel's name.
    pub name: &'static str,
    /// The text.
    pub wgsl: String,
    /// Pipeline constants, for `PipelineCompilationOptions::constants`.
    pub constants: Vec<(&'static str, f64)>,
    /// Capabilities beyond the baseline.
    pub needs: Needs,
    lines: Lines,
}

impl Assembled {
    /// Where a line of the text (from 1) comes from: `shaders/transpose.wgsl:12`.
    #[must_use]
    pub fn origin(&self, line: u32) -> String {
        self.lines.origin(line)
    }
}

/// What is written into an elementwise kernel.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Body<'a> {
    /// Bindings beyond those of the slots.
    pub bindings: &'a str,
    /// Before the loop.
    pub once: &'a str,
    /// For each quad.
    pub each: &'a str,
    /// After the loop.
    pub after: &'a str,
}

/// The elementwise kernel with these operands, and `scalars` words of scalars.
pub(crate) fn elementwise(
    slots: &[Slot],
    body: Body<'_>,
    scalars: usize,
    needs: Needs,
    shape: (u32, Target),
) -> Assembled {
    let params = elementwise_params(slots, scalars);
    let bindings = bindings(slots, shape.1) + body.bindings;
    let regions = [
        ("params", &*params),
        ("bindings", &*bindings),
        ("once", body.once),
        ("body", body.each),
        ("after", body.after),
    ];
    build(&ELEMENTWISE, slots, &regions, needs, shape)
}

/// The parameters of an elementwise kernel; `params::Elementwise` encodes them.
fn elementwise_params(slots: &[Slot], scalars: usize) -> String {
    params_after("    grid: vec4<u32>, // quads, lead, step, trips\n", slots, scalars)
}

/// A parameter struct: a kernel's own members, then what the accessors of its operands need.
pub(crate) fn params_after(own: &str, slots: &[Slot], scalars: usize) -> String {
    let views = slots.iter().filter(|slot| slot.way.is_strided()).count();
    let offsets = slots.iter().filter(|slot| !matches!(slot.way, Way::Own(_))).count().div_ceil(4);
    let mut text = format!("struct Params {{\n{own}");
    if views > 0 {
        text.push_str(
            "    space: vec4<u32>, // the first element of this window, the last of all\n",
        );
        text.push_str("    shape: array<vec4<u32>, 2>,\n");
    }
    put(&mut text, format_args!("    offset: array<vec4<u32>, {offsets}>,\n"));
    if views > 0 {
        put(&mut text, format_args!("    stride: array<vec4<u32>, {}>,\n", 2 * views));
    }
    if scalars > 0 {
        put(&mut text, format_args!("    scalar: array<vec4<u32>, {}>,\n", scalars.div_ceil(4)));
    }
    text.push_str("}\n@group(1) @binding(0) var<uniform> p: Params;\n");
    text
}

/// What replaces the regions of a kernel file: name and text.
pub type Regions<'a> = [(&'a str, &'a str)];

/// The text of a catalog kernel for these operands, inputs first. `rank` is the index space's (1 to
/// 8; 0 where no operand is strided).
#[must_use]
pub fn kernel(entry: &Entry, slots: &[Slot], rank: u32, target: Target) -> Assembled {
    let bindings = bindings(slots, target);
    build(entry, slots, &[("bindings", &bindings)], Needs::NONE, (rank, target))
}

/// The text with these regions replaced; `needs` beyond those of the slots.
pub(crate) fn build(
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
    if needs.contains(Needs::SUBGROUPS) && cfg!(target_family = "wasm") {
        // Browsers demand it, naga rejects it.
        text.generated("enable subgroups;\n");
    }
    text.file(&entry.source, regions);
    let moves = slots.iter().filter(|slot| slot.form.is_move()).map(|slot| slot.form.part());
    let local = moves.flat_map(library::items).collect::<Vec<_>>();
    let added = text.complete(&local);
    let mut constants = vec![("workgroup", f64::from(target.workgroup()))];
    constants.extend(added.contains(&"rank").then_some(("rank", f64::from(rank.max(1)))));
    Assembled { name: entry.name, wgsl: text.text, constants, needs, lines: text.lines }
}

const fn gathers(slot: &Slot) -> bool {
    use Way::{Any, At, Each, EachStrided, One, Splat, Step};
    matches!(slot.way, One | Splat | Step | Any | Each | EachStrided | At)
}

/// Which lines came from where.
#[derive(Clone, Debug, Default)]
struct Lines(Vec<Span>);

#[derive(Clone, Debug)]
struct Span {
    /// The first line in the text, from 1.
    first: u32,
    path: &'static str,
    /// Its number in the file.
    line: u32,
}

impl Lines {
    fn origin(&self, line: u32) -> String {
        match self.0.iter().rev().find(|span| span.first <= line) {
            Some(span) if !span.path.is_empty() => {
                format!("shaders/{}:{}", span.path, span.line + line - span.first)
            }
            _ => format!("generated:{line}"),
        }
    }
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
    fn complete(&mut self, local: &[Item]) -> Vec<&'static str> {
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
        added.iter().map(|item| item.name).collect()
    }
}

fn indented(text: &str, indent: &str) -> String {
    text.lines()
        .map(|l| if l.is_empty() { "\n".into() } else { format!("{indent}{l}\n") })
        .collect()
}

/// The numbers under which a binding finds itself in the parameters, by position among the slots.
pub(crate) struct Numbers {
    /// `@binding`, also the place in `p.offset`. In-place inputs share their output's.
    pub binding: Vec<u32>,
    /// The view in `p.stride`, for strided slots.
    pub view: Vec<u32>,
}

/// Bindings and views are numbered in the order of the slots.
pub(crate) fn numbers(slots: &[Slot]) -> Numbers {
    let inputs =
        slots.iter().filter(|s| !s.written && !matches!(s.way, Way::Own(_))).count() as u32;
    let (mut next, mut views) = (0, 0);
    let mut numbers = Numbers { binding: Vec::new(), view: Vec::new() };
    for slot in slots {
        numbers.view.push(views);
        views += u32::from(slot.way.is_strided());
        if let Way::Own(output) = slot.way {
            numbers.binding.push(inputs + u32::from(output));
        } else {
            numbers.binding.push(next);
            next += 1;
        }
    }
    numbers
}

/// Declarations and accessors of every slot: `load_i` by input, `store_j` by output.
pub(crate) fn bindings(slots: &[Slot], target: Target) -> String {
    let numbers = numbers(slots);
    let inputs = slots.iter().filter(|slot| !slot.written).count();
    let mut text = String::new();
    for (i, slot) in slots.iter().enumerate() {
        let offset = offset(numbers.binding[i]);
        let wide = wide(slot, target);
        if slot.written {
            declare(&mut text, slot, numbers.binding[i], &format!("out_{}", i - inputs), None);
            store(&mut text, slot, i - inputs, &offset, numbers.view[i]);
        } else {
            if !matches!(slot.way, Way::Own(_)) {
                declare(&mut text, slot, numbers.binding[i], &format!("in_{i}"), wide);
            }
            load(&mut text, slot, i, &offset, numbers.view[i], wide);
        }
    }
    text
}

/// The offset of a binding in the parameters.
pub(crate) fn offset(binding: u32) -> String {
    format!("p.offset[{}].{}", binding / 4, ["x", "y", "z", "w"][binding as usize % 4])
}

/// The type that a quad is loaded as, and what makes its words of it, where words are loaded in
/// pairs.
type Wide = Option<(&'static str, &'static str)>;

fn wide(slot: &Slot, target: Target) -> Wide {
    let whole = matches!(slot.way, Way::Dense | Way::Row) && !slot.written;
    if !whole || target != Target::Cpu64 {
        return None;
    }
    match slot.form.quad() {
        "vec4<f32>" => Some(("vec2<u64>", "bitcast<vec4<f32>>(words4(")),
        "vec4<i32>" => Some(("vec2<u64>", "bitcast<vec4<i32>>(words4(")),
        "vec4<u32>" => Some(("vec2<u64>", "(words4(")),
        "vec2<u32>" => Some(("u64", "(words2(")),
        _ => None,
    }
}

fn declare(text: &mut String, slot: &Slot, binding: u32, name: &str, wide: Wide) {
    let access = if slot.written { "read_write" } else { "read" };
    let of = match wide {
        Some((quad, _)) => quad,
        None if gathers(slot) => slot.form.scalar(),
        None => slot.form.quad(),
    };
    let gap = if text.is_empty() { "" } else { "\n" };
    put(
        text,
        format_args!(
            "{gap}@group(0) @binding({binding}) \
             var<storage, {access}> {name}: array<{of}>;\n"
        ),
    );
}

fn store(text: &mut String, slot: &Slot, output: usize, offset: &str, view: u32) {
    let value = slot.form.value();
    let v =
        if slot.form.is_move() { "v".into() } else { format!("encode_{}(v)", slot.form.name()) };
    // By element: the four are the same one. Forms that pack several into a word cannot.
    let part = if slot.way == Way::Each { ".x" } else { "" };
    put(text, format_args!("\nfn store_{output}(q: u32, v: {value}) {{\n"));
    let at = if slot.way == Way::Row {
        put(text, format_args!("    let e = index({QUAD}, {view}u) + {offset};\n"));
        "e >> 2u".into()
    } else {
        format!("q + {offset}")
    };
    put(text, format_args!("    out_{output}[{at}] = {v}{part};\n}}\n"));
}

/// The first element of quad `q` of the index space.
const QUAD: &str = "p.space.x + 4u * q";

fn load(text: &mut String, slot: &Slot, i: usize, offset: &str, view: u32, wide: Wide) {
    let form = slot.form;
    let argument = match slot.way {
        Way::One => "",
        Way::At | Way::AtQuad => "e: vec4<u32>",
        _ => "q: u32",
    };
    put(text, format_args!("\nfn load_{i}({argument}) -> {} {{\n", form.value()));
    let first = QUAD;
    // The element the quad begins with, or all four; then the quad's words.
    let (e, words) = match slot.way {
        Way::Dense => (String::new(), format!("in_{i}[q + {offset}]")),
        Way::Own(output) => (String::new(), format!("out_{output}[q + {offset}]")),
        Way::Row => {
            (format!("let e = index({first}, {view}u) + {offset};"), format!("in_{i}[e >> 2u]"))
        }
        Way::One => (format!("let e = {offset};"), gather(i, form, ["e"; 4])),
        Way::Each => (format!("let e = q + {offset};"), gather(i, form, ["e"; 4])),
        Way::EachStrided => (
            format!("let e = index(min(p.space.x + q, p.space.y), {view}u) + {offset};"),
            gather(i, form, ["e"; 4]),
        ),
        Way::Splat => {
            (format!("let e = index({first}, {view}u) + {offset};"), gather(i, form, ["e"; 4]))
        }
        Way::Step => (
            format!(
                "let e = index({first}, {view}u) + {offset} \
                 + stride_of({view}u, 0u) * vec4<u32>(0u, 1u, 2u, 3u);"
            ),
            gather(i, form, ["e.x", "e.y", "e.z", "e.w"]),
        ),
        Way::Any => (
            format!("let e = index4(elements(q), {view}u) + {offset};"),
            gather(i, form, ["e.x", "e.y", "e.z", "e.w"]),
        ),
        Way::At => (String::new(), gather(i, form, ["e.x", "e.y", "e.z", "e.w"])),
        Way::AtQuad => (String::new(), format!("in_{i}[e.x >> 2u]")),
    };
    if !e.is_empty() {
        put(text, format_args!("    {e}\n"));
    }
    let words = match wide {
        Some((_, unpack)) => format!("{unpack}{words}))"),
        None => words,
    };
    let v = if form.is_move() { words } else { format!("decode_{}({words})", form.name()) };
    put(text, format_args!("    return {v};\n}}\n"));
}

/// The words of a quad from four elements; one word where all four are the same element.
fn gather(i: usize, form: Form, e: [&str; 4]) -> String {
    let same = e[0] == e[1];
    let at = |e: &str| match form.width() {
        1 => format!("in_{i}[{e} >> 2u]"),
        2 if form.is_packed() => format!("in_{i}[{e} >> 1u]"),
        _ => format!("in_{i}[{e}]"),
    };
    let list = |e: &[&str]| e.iter().map(|e| at(e)).collect::<Vec<_>>().join(", ");
    if form.is_packed() {
        let (words, at) = if same { (list(&e[..1]), "vec4<u32>(e)") } else { (list(&e), "e") };
        return format!("join{}(vec4<u32>({words}), {at})", 8 * form.width());
    }
    if form == Form::W64 {
        let (low, high) = (list(&e[..2]), list(&e[2..]));
        return format!("array<vec4<u32>, 2>(vec4<u32>({low}), vec4<u32>({high}))");
    }
    format!("{}({})", form.quad(), if same { list(&e[..1]) } else { list(&e) })
}

fn put(text: &mut String, line: core::fmt::Arguments<'_>) {
    // Writing to a String cannot fail.
    let _ = text.write_fmt(line);
}
