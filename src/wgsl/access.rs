//! Accessors: how a kernel reaches its operands. `load_i(q)` and `store_j(q, v)` hide how elements
//! are stored and where they lie, so that a kernel's body is mathematics alone.

use super::assemble::indented;
use super::entry::Entry;
use super::form::Form;
use super::lines::{lane, one_of, put};
use super::slot::{Slot, Way};
use super::target::{Target, VECTOR};

/// The numbers by which the parameters know bindings and views, by position among the slots.
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

/// What an invocation keeps from quad to quad, in private variables.
///
/// Parameters are loaded before the loop, because llvmpipe loads them wherever they are named. Row
/// and column of the quad are kept too: from quad to quad they advance by the rows and columns of a
/// step, without a division. On a GPU parameters are registers already, and nothing is kept.
#[derive(Default)]
pub(crate) struct Keeps {
    parameters: bool,
    rows: bool,
    /// Whether an invocation takes two quads at a time.
    pairs: bool,
    pub(crate) declared: String,
    /// Before the loop.
    pub(crate) once: String,
    /// For each quad; of a pair, for the first.
    pub(crate) each: String,
    /// For the second of a pair.
    pub(crate) second: String,
}

impl Keeps {
    pub(crate) fn of(slots: &[Slot], target: Target, pairs: bool) -> Self {
        let parameters = target != Target::Gpu;
        let rows = parameters && slots.iter().any(|slot| slot.way.is_by_row());
        Self { parameters, rows, pairs, ..Self::default() }
    }

    /// Parameters only: for kernels that go their own way.
    pub(super) fn parameters(entry: &Entry, target: Target) -> Self {
        Self { parameters: entry.prepares && target != Target::Gpu, ..Self::default() }
    }

    /// What to call a parameter: a variable of this name, if parameters are kept.
    fn parameter(&mut self, name: &str, parameter: String) -> String {
        if !self.parameters {
            return parameter;
        }
        self.variable(name);
        put!(self.once, "{name} = {parameter};");
        name.to_owned()
    }

    fn variable(&mut self, name: &str) {
        put!(self.declared, "var<private> {name}: u32;");
    }

    /// The step from one quad to the next: `starts` are the views and offsets of those that go by
    /// row. llvmpipe computes a branch even if no lane takes it, so there is no division unless
    /// rows have several dimensions.
    fn walk(&mut self, starts: &[(u32, String)]) {
        let mut names = ["row", "column", "rows_on", "columns_on"].map(str::to_owned).to_vec();
        names.extend(starts.iter().map(|(view, _)| format!("start_{view}")));
        names.iter().for_each(|name| self.variable(name));
        let length = self.parameter("row_length", "p.shape[0].x".into());
        let mut begin = String::new();
        for (view, offset) in starts {
            let stride =
                self.parameter(&format!("row_stride_{view}"), format!("stride_of({view}u, 1u)"));
            let many = format!("index_row(row, {view}u)");
            let start = format!("{offset} + select({many}, row * {stride}, rank == 2u)");
            put!(begin, "start_{view} = {start};");
        }
        // Of a pair, the second quad follows the first.
        let (elements, back) = if self.pairs { (8, " - 4u") } else { (4, "") };
        let on = format!("{elements}u * step{back}");
        put!(self.once, "begin_row(p.space.x + {elements}u * first, {on});");
        self.each.push_str("walk(rows_on, columns_on);\n");
        self.second.push_str("walk(0u, 4u);\n");
        put!(
            self.declared,
            "\nfn begin_row(e: u32, on: u32) {{\n    row = e / {length};\n\
             \u{20}   rows_on = on / {length};\n\
             \u{20}   columns_on = on - rows_on * {length};\n{}\
             \u{20}   // The first step is taken at once.\n\
             \u{20}   column = e - row * {length} - columns_on;\n\
             \u{20}   row -= rows_on;\n}}\n\n\
             fn walk(rows: u32, columns: u32) {{\n    column += columns;\n\
             \u{20}   let over = select(0u, 1u, column >= {length});\n\
             \u{20}   column -= over * {length};\n\
             \u{20}   if rows + over > 0u {{\n\
             \u{20}       row += rows + over;\n{}    }}\n}}",
            indented(&begin, "    "),
            indented(&begin, "        ")
        );
    }
}

/// Declarations and accessors of every slot: `load_i` by input, `store_j` by output.
pub(crate) fn bindings(slots: &[Slot], target: Target) -> String {
    accessors(slots, target, &mut Keeps::default())
}

pub(crate) fn accessors(slots: &[Slot], target: Target, keeps: &mut Keeps) -> String {
    let numbers = numbers(slots);
    let inputs = slots.iter().filter(|slot| !slot.written).count();
    let (mut text, mut starts) = (String::new(), Vec::new());
    for (i, slot) in slots.iter().enumerate() {
        let binding = numbers.binding[i];
        if let Some(double) = Double::of(slot).filter(|_| keeps.pairs) {
            double.accessors(&mut text, slot, i, i.saturating_sub(inputs), binding);
            continue;
        }
        let base = format!("base_{binding}");
        let offset = match slot.way {
            Way::One => offset(binding),
            // Kept for the output.
            Way::Own(_) if keeps.parameters => base,
            _ => keeps.parameter(&base, offset(binding)),
        };
        if slot.way.is_by_row() {
            starts.push((numbers.view[i], offset.clone()));
        }
        if keeps.rows && slot.way == Way::Step {
            let view = numbers.view[i];
            keeps.parameter(&format!("step_{view}"), format!("stride_of({view}u, 0u)"));
        }
        let wide = wide(slot, target);
        if slot.written {
            declare(&mut text, slot, numbers.binding[i], &format!("out_{}", i - inputs), None);
            store(&mut text, slot, i - inputs, &place(slot, numbers.view[i], &offset, keeps.rows));
        } else {
            if !matches!(slot.way, Way::Own(_)) {
                declare(&mut text, slot, numbers.binding[i], &format!("in_{i}"), wide);
            }
            let place = match slot.way {
                Way::Own(output) if slots[inputs + usize::from(output)].way == Way::Lane => {
                    Address::First("q".to_owned())
                }
                _ => place(slot, numbers.view[i], &offset, keeps.rows),
            };
            load(&mut text, slot, i, &place, (wide, target));
            if let Some((of, _)) = wide.filter(|_| target == Target::CpuByLane) {
                in_turn(&mut text, i, of);
            }
        }
    }
    if keeps.rows {
        keeps.walk(&starts);
    }
    if keeps.pairs && slots.iter().any(|slot| slot.written && is_double(slot)) {
        // Always 32: a grid has fewer than 2^31 quads.
        keeps.once.push_str("half_bits = 32u + (p.grid.x >> 31u);\n");
    }
    text
}

/// Where the elements of a quad lie: an expression for the quad, for the first of them or for all
/// four; or what the kernel says.
enum Address {
    Given,
    Quad(String),
    First(String),
    All(String),
}

fn place(slot: &Slot, view: u32, offset: &str, walks: bool) -> Address {
    let row = if walks {
        format!("start_{view}")
    } else {
        format!("index(p.space.x + 4u * q, {view}u) + {offset}")
    };
    match slot.way {
        Way::Dense | Way::Own(_) => Address::Quad(format!("q + {offset}")),
        Way::Row if walks => Address::First(format!("{row} + column")),
        Way::Row | Way::Splat => Address::First(row),
        Way::Step if walks => {
            Address::All(format!("{row} + step_{view} * (column + vec4<u32>(0u, 1u, 2u, 3u))"))
        }
        Way::Step => {
            Address::All(format!("{row} + stride_of({view}u, 0u) * vec4<u32>(0u, 1u, 2u, 3u)"))
        }
        Way::At | Way::AtQuad => Address::Given,
        Way::Any => Address::All(format!("index4(elements(q), {view}u) + {offset}")),
        Way::One => Address::First(offset.to_owned()),
        Way::Each => Address::First(format!("q + {offset}")),
        Way::Lane => Address::First("q".to_owned()),
        Way::EachStrided => {
            Address::First(format!("index(min(p.space.x + q, p.space.y), {view}u) + {offset}"))
        }
    }
}

/// The offset of a binding in the parameters.
pub(crate) fn offset(binding: u32) -> String {
    format!("p.offset[{}].{}", binding / 4, lane(binding))
}

/// Where words are loaded in pairs: the type that a quad is loaded as, and what its words are made
/// by, up to the closing brackets.
pub(super) type Widening = Option<(&'static str, &'static str)>;

pub(super) fn wide(slot: &Slot, target: Target) -> Widening {
    let whole = matches!(slot.way, Way::Dense | Way::Row) && !slot.written;
    if !whole || !target.is_wide() {
        return None;
    }
    match slot.form {
        Form::F32 => Some(("vec2<u64>", "bitcast<vec4<f32>>(words4(")),
        Form::I32 => Some(("vec2<u64>", "bitcast<vec4<i32>>(words4(")),
        Form::U32 | Form::W32 => Some(("vec2<u64>", "(words4(")),
        form if form.is_packed() && form.width() == 2 => Some(("u64", "(words2(")),
        _ => None,
    }
}

/// How two quads lie side by side as 64-bit integers.
///
/// llvmpipe 22 spends some fifty instructions per lane on every load and store in a loop, of 32
/// bytes at most: that, not memory, is the limit. What else was tried stands in
/// `docs/measured/elementwise.md`.
struct Double {
    /// What the binding is an array of, and what one quad of it is.
    of: &'static str,
    part: &'static str,
    /// From the whole to the words of either quad.
    halves: [Phrase; 2],
    /// From a quad's words to its part, and from what is kept and `part` to the whole.
    pack: Phrase,
    join: Phrase,
}

/// What WGSL makes of an expression.
type Phrase = fn(&str) -> String;

/// By the bytes of an element: of so many words is a quad.
const DOUBLES: [(u32, Double); 3] = [
    (
        4,
        Double {
            of: "vec4<u64>",
            part: "vec2<u64>",
            halves: [|x| format!("words4({x}.xy)"), |x| format!("words4({x}.zw)")],
            pack: |x| format!("wide4(bitcast<vec4<u32>>({x}))"),
            join: |x| format!("vec4<u64>({x}, part)"),
        },
    ),
    (
        2,
        Double {
            of: "vec2<u64>",
            part: "u64",
            halves: [|x| format!("words2({x}.x)"), |x| format!("words2({x}.y)")],
            pack: |x| format!("wide2({x})"),
            join: |x| format!("vec2<u64>({x}, part)"),
        },
    ),
    (
        1,
        Double {
            of: "u64",
            part: "u32",
            halves: [|x| format!("words2({x}).x"), |x| format!("words2({x}).y")],
            pack: str::to_owned,
            join: |x| format!("wide2(vec2<u32>({x}, part))"),
        },
    ),
];

/// Whether a slot is reached by pairs of quads in a kernel that goes by them.
pub(crate) fn is_double(slot: &Slot) -> bool {
    Double::of(slot).is_some()
}

impl Double {
    fn of(slot: &Slot) -> Option<&'static Self> {
        let dense = matches!(slot.way, Way::Dense | Way::Own(_)) && !slot.form.is_move();
        let row = DOUBLES.iter().find(|(width, _)| *width == slot.form.width())?;
        (dense && slot.form != Form::F16).then_some(&row.1)
    }

    /// `low_i` loads two quads and gives the first, `high_i` the second; `keep_j` keeps the first
    /// for `store_j`, which stores both. The binding begins with the first pair, because adding an
    /// offset to every pair's number makes an addition of tensors a sixteenth slower.
    fn accessors(&self, text: &mut String, slot: &Slot, input: usize, output: usize, binding: u32) {
        let (form, value) = (slot.form, slot.form.value());
        let Self { of, part, halves, pack, join } = self;
        if slot.written {
            declare(text, slot, binding, &format!("out_{output}"), Some((of, "")));
            let pack = pack(&format!("encode_{}(v)", form.name()));
            let join = join(&format!("kept_{output}"));
            put!(
                text,
                "\nvar<private> kept_{output}: {part};\n\n\
                 fn keep_{output}(pair: u32, v: {value}) {{\n    \
                 kept_{output} = {pack};\n}}\n\n\
                 fn store_{output}(pair: u32, v: {value}) {{\n    \
                 let part = {pack};\n    \
                 out_{output}[pair] = {join};\n}}"
            );
            return;
        }
        let from = match slot.way {
            Way::Own(output) => format!("out_{output}"),
            _ => {
                declare(text, slot, binding, &format!("in_{input}"), Some((of, "")));
                format!("in_{input}")
            }
        };
        let held = format!("pair_{input}");
        let [low, high] = halves.map(|half| {
            let words = half(&held);
            let quad = form.quad();
            let words = if form.is_packed() { words } else { format!("bitcast<{quad}>({words})") };
            format!("decode_{}({words})", form.name())
        });
        put!(
            text,
            "\nvar<private> {held}: {of};\n\n\
             fn low_{input}(pair: u32) -> {value} {{\n    {held} = {from}[pair];\n    \
             return {low};\n}}\n\n\
             fn high_{input}(pair: u32) -> {value} {{\n    return {high};\n}}"
        );
    }
}

const fn gathers(slot: &Slot) -> bool {
    use Way::{Any, At, Each, EachStrided, Lane, One, Splat, Step};
    matches!(slot.way, One | Splat | Step | Any | Each | EachStrided | Lane | At)
}

fn declare(text: &mut String, slot: &Slot, binding: u32, name: &str, wide: Widening) {
    let access = if slot.written { "read_write" } else { "read" };
    let of = match wide {
        Some((quad, _)) => quad,
        None if gathers(slot) => slot.form.scalar(),
        None => slot.form.quad(),
    };
    let gap = if text.is_empty() { "" } else { "\n" };
    put!(
        text,
        "{gap}@group(0) @binding({binding}) \
         var<storage, {access}> {name}: array<{of}>;"
    );
}

fn store(text: &mut String, slot: &Slot, output: usize, place: &Address) {
    let value = slot.form.value();
    let v =
        if slot.form.is_move() { "v".into() } else { format!("encode_{}(v)", slot.form.name()) };
    put!(text, "\nfn store_{output}(q: u32, v: {value}) {{");
    let (at, part) = match place {
        Address::Given => (String::from("e.x >> 2u"), ""), // no kernel writes so
        Address::Quad(quad) => (quad.clone(), ""),
        Address::First(e) | Address::All(e) => {
            put!(text, "    let e = {e};");
            // By element the four are the same one. Forms that pack several into a word cannot.
            if matches!(slot.way, Way::Each | Way::Lane | Way::EachStrided) {
                ("e".into(), if slot.form == Form::W64 { "[0].xy" } else { ".x" })
            } else {
                ("e >> 2u".into(), "")
            }
        }
    };
    put!(text, "    out_{output}[{at}] = {v}{part};\n}}");
}

fn load(
    text: &mut String,
    slot: &Slot,
    i: usize,
    place: &Address,
    (wide, target): (Widening, Target),
) {
    let (form, name) = (slot.form, format!("in_{i}"));
    let one = |at: &str| match wide {
        Some(_) if target == Target::CpuByLane => format!("in_turn_{i}({at})"),
        _ => format!("{name}[{at}]"),
    };
    let argument = match slot.way {
        Way::One => "",
        Way::At | Way::AtQuad => "e: vec4<u32>",
        _ => "q: u32",
    };
    put!(text, "\nfn load_{i}({argument}) -> {} {{", form.value());
    let words = match place {
        Address::Quad(quad) => match slot.way {
            Way::Own(output) => format!("out_{output}[{quad}]"),
            _ => one(quad),
        },
        Address::Given if slot.way == Way::AtQuad => format!("{name}[e.x >> 2u]"),
        Address::Given => gathered(&name, form, ["e.x", "e.y", "e.z", "e.w"], "e"),
        Address::First(e) | Address::All(e) => {
            put!(text, "    let e = {e};");
            match (slot.way, place) {
                (Way::Row, _) => one("e >> 2u"),
                (Way::Own(output), _) => format!("{}(out_{output}[e])", form.quad()),
                (_, Address::All(_)) => gathered(&name, form, ["e.x", "e.y", "e.z", "e.w"], "e"),
                _ => gathered(&name, form, ["e"; 4], "vec4<u32>(e)"),
            }
        }
    };
    let words = match wide {
        Some((_, unpack)) => format!("{unpack}{words}))"),
        None => words,
    };
    let v = if form.is_move() { words } else { format!("decode_{}({words})", form.name()) };
    put!(text, "    return {v};\n}}");
}

/// What every lane loads from a place of its own, one lane's place after the other.
fn in_turn(text: &mut String, i: usize, of: &str) {
    let each = (0..VECTOR).map(|lane| format!("in_{i}[each[{lane}]]"));
    let own = one_of("own_lane", each);
    put!(text, "\nfn in_turn_{i}(at: u32) -> {of} {{\n    let each = places_of_all(at);");
    put!(text, "    return {own};\n}}");
}

/// The words of a quad from four elements of an array, and as a vector; one word where all four are
/// the same element.
pub(super) fn gathered(name: &str, form: Form, e: [&str; 4], vector: &str) -> String {
    let same = e[0] == e[1];
    let at = |e: &str| match form.width() {
        1 => format!("{name}[{e} >> 2u]"),
        2 if form.is_packed() => format!("{name}[{e} >> 1u]"),
        _ => format!("{name}[{e}]"),
    };
    let list = |e: &[&str]| e.iter().map(|e| at(e)).collect::<Vec<_>>().join(", ");
    if form.is_packed() {
        let words = if same { list(&e[..1]) } else { list(&e) };
        return format!("join{}(vec4<u32>({words}), {vector})", 8 * form.width());
    }
    if form == Form::W64 {
        let (low, high) = (list(&e[..2]), list(&e[2..]));
        return format!("array<vec4<u32>, 2>(vec4<u32>({low}), vec4<u32>({high}))");
    }
    format!("{}({})", form.quad(), if same { list(&e[..1]) } else { list(&e) })
}
