//! The text of an elementwise kernel: bindings, and what is computed before, in and after its loop.
//! What it is told.

use crate::dtype::DType;
use crate::op::Refusal;
use crate::wgsl::access::{Keeps, accessors, bindings, is_double};
use crate::wgsl::assemble::{Assembly, indented};
use crate::wgsl::formula::{definitions, needs};
use crate::wgsl::lines::put;
use crate::wgsl::params::{Operands, params};
use crate::wgsl::source::source;
use crate::wgsl::statements::{Statements, word_at};
use crate::wgsl::{
    Assembled, Entry, Expr, Form, Grid, Needs, Region, Slot, Space, Target, View, Way, Writes,
};

/// Every fused expression and every move is this kernel. 16 bindings at most, each of which may
/// walk the dimensions.
pub const ELEMENTWISE: Entry =
    Entry::walking("elementwise", source!("elementwise.wgsl"), 16).told(GridJob::MEMBERS);

/// The kernel of expressions over few elements.
pub const FEW: Entry =
    Entry::new("elementwise_few", source!("elementwise_few.wgsl"), 16 * 7).told(GridJob::MEMBERS);

/// How many elements an invocation takes at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pace {
    /// One, and no more. The ways are [`Way::Lane`], [`Way::One`], [`Way::EachStrided`] or
    /// [`Way::Own`].
    Few,
    /// Four.
    Quads,
    /// Eight, for adapters whose time goes into loads and stores.
    Pairs,
}

/// What a text is written for beside its structure and its ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TextShape {
    /// Dimensions of the index space.
    pub rank: u32,
    /// What it runs on.
    pub target: Target,
    /// How many elements at a time.
    pub pace: Pace,
}

/// It writes nothing: it only tells an expression's texts apart.
impl Writes for Pace {
    fn regions(&self) -> Vec<Region> {
        Vec::new()
    }
}

/// The accessors of operands that may be reached by pairs of quads, and what they are given.
#[derive(Clone, Copy, Debug)]
struct Calls {
    load: &'static str,
    store: &'static str,
    at: &'static str,
}

const BY_QUAD: Calls = Calls { load: "load", store: "store", at: "q" };
const FIRST_OF_PAIR: Calls = Calls { load: "low", store: "keep", at: "pair" };
const SECOND_OF_PAIR: Calls = Calls { load: "high", store: "store", at: "pair" };

/// The kernel of an expression with inputs reached in these ways; f16 native or packed.
///
/// # Errors
/// The first node that has no dtype.
pub fn fused(
    expr: &Expr,
    ways: &[Way],
    f16_native: bool,
    shape: TextShape,
) -> Result<Assembled, Refusal> {
    let TextShape { target, pace, .. } = shape;
    let dtypes = expr.dtypes()?;
    let read = |(&dtype, &way)| Slot::read(Form::read(dtype, target, f16_native), way);
    let way = if pace == Pace::Few { Way::Lane } else { Way::Dense };
    let written = |&output: &u16| {
        let form = Form::written(dtypes[usize::from(output)], target, f16_native);
        Slot { form, way, written: true }
    };
    let inputs = expr.inputs.iter().zip(ways).map(read);
    let slots: Vec<Slot> = inputs.chain(expr.outputs.iter().map(written)).collect();
    let lines = |calls| lines(expr, &dtypes, &slots, calls);
    let pairs = pace == Pace::Pairs;
    let (first, names) = lines(if pairs { FIRST_OF_PAIR } else { BY_QUAD });
    let formulas = expr.formulas(&dtypes);
    let mut body = Body {
        bindings: definitions(&formulas),
        needs: needs(&formulas),
        once: first.once,
        each: first.each,
        second: pairs.then(|| lines(SECOND_OF_PAIR).0.each),
        scalars: first.words,
        ..Body::default()
    };
    if let Some(fault) = expr.fault {
        let bound = slots.iter().filter(|slot| !matches!(slot.way, Way::Own(_))).count();
        body.note(&names[usize::from(fault)], bound);
    }
    Ok(assembled(&slots, body, shape))
}

/// What computes an expression from its slots and into them; and the names of its nodes.
fn lines(expr: &Expr, dtypes: &[DType], slots: &[Slot], calls: Calls) -> (Statements, Vec<String>) {
    let mut text = Statements::of_scalars(&expr.scalars, 0);
    for (i, slot) in slots[..expr.inputs.len()].iter().enumerate() {
        let Calls { load, at, .. } = if is_double(slot) { calls } else { BY_QUAD };
        match slot.way {
            Way::One => put!(text.once, "let x{i} = load_{i}();"),
            _ => put!(text.each, "let x{i} = {load}_{i}({at});"),
        }
    }
    let names = text.compute(expr, dtypes);
    let Calls { store, at, .. } = calls;
    for (j, &output) in expr.outputs.iter().enumerate() {
        put!(text.each, "{store}_{j}({at}, {});", names[usize::from(output)]);
    }
    (text, names)
}

/// What is written into an elementwise kernel.
#[derive(Clone, Debug, Default)]
pub(in crate::kernel) struct Body {
    /// Bindings beyond those of the slots.
    bindings: String,
    /// What they need beyond what the slots do.
    needs: Needs,
    /// Before the loop.
    once: String,
    /// For each quad; of two at a time, for the first.
    each: String,
    /// For the second of two quads at a time.
    second: Option<String>,
    /// After the loop.
    after: String,
    /// Words of scalars.
    scalars: usize,
}

impl Body {
    /// What is done for each quad, and words of scalars.
    pub(in crate::kernel) fn of(each: &str, scalars: usize) -> Self {
        Self { each: each.to_owned(), scalars, ..Self::default() }
    }

    /// Notes the elements for which `bad` is true in one more binding.
    fn note(&mut self, bad: &str, binding: usize) {
        let [slot, count, base] = [0, 1, 2].map(|i| word_at(self.scalars + i));
        self.scalars += 3;
        put!(
            self.bindings,
            "\n@group(0) @binding({binding}) \
             var<storage, read_write> faults: array<atomic<u32>>;"
        );
        self.once.push_str("var bad = 0u;\nvar worst = 0u;\n");
        put!(self.each, "bad += count_faults({bad}, q, {count});");
        put!(self.each, "worst = max(worst, first_fault({bad}, q, {count}, {base}));");
        self.after = format!(
            "if bad > 0u {{\n    atomicAdd(&faults[2u * {slot}], bad);\n    \
             atomicMax(&faults[2u * {slot} + 1u], worst);\n}}"
        );
    }
}

/// The elementwise kernel with these operands and this body.
pub(in crate::kernel) fn assembled(slots: &[Slot], body: Body, shape: TextShape) -> Assembled {
    let TextShape { rank, target, pace } = shape;
    let own = "    grid: vec4<u32>, // quads, lead, step, trips\n";
    let (entry, bound, lines) = match pace {
        Pace::Few => {
            // Operands are reached element by element.
            (&FEW, bindings(slots, target), vec![Region::text("body", body.once + &body.each)])
        }
        Pace::Quads | Pace::Pairs => {
            let mut keeps = Keeps::of(slots, target, body.second.is_some());
            let bound = accessors(slots, target, &mut keeps) + &keeps.declared;
            let each = match body.second {
                None => keeps.each + &body.each,
                Some(second) => {
                    let of = |q: &str, keep: &str, text: &str| {
                        let text = format!("let q = {q};\n{keep}{text}");
                        format!("{{\n{}}}\n", indented(&text, "    "))
                    };
                    let first = of("2u * pair", &keeps.each, &body.each);
                    let second = of("2u * pair + 1u", &keeps.second, &second);
                    format!("let pair = q;\n{first}{second}")
                }
            };
            let once = keeps.once + &body.once;
            let lines = [("once", once), ("body", each), ("after", body.after)];
            (&ELEMENTWISE, bound, lines.map(|(name, text)| Region::text(name, text)).into())
        }
    };
    let mut regions = vec![
        Region::text("params", Operands::text(own, slots, body.scalars)),
        Region::text("bindings", bound + &body.bindings).needing(body.needs),
    ];
    regions.extend(lines);
    Assembly { entry, slots, regions: &regions, rank, target, workgroup: None }.build()
}

params! {
    /// What every elementwise kernel that loops is told.
    struct GridJob {
        grid: Grid,
    }
}

/// Parameters of the elementwise kernel and of `reindex`, in the order of the kernel's operands.
#[derive(Clone, Debug)]
pub struct Elementwise<'a> {
    /// The share of each invocation, in quads of the output window.
    pub grid: Grid,
    /// The index space and the inputs' views and ways.
    pub space: &'a Space,
    /// The first element of the window of the index space that this dispatch computes, a multiple
    /// of four. Dense operands are bound from their own window on; strided ones index the whole
    /// space.
    pub base: u32,
    /// The first element of each output in its bound range, multiples of four.
    pub outputs: &'a [u32],
    /// Scalars, as words.
    pub scalars: &'a [u32],
}

impl Elementwise<'_> {
    /// The struct as words.
    #[must_use]
    pub fn words(&self) -> Vec<u32> {
        let strides: Vec<_> = self.space.strided().map(View::stride_words).collect();
        let outputs = self.outputs.iter().map(|&element| element / 4);
        let offsets: Vec<_> = self.space.offsets().chain(outputs).collect();
        let space = (!strides.is_empty()).then_some((self.base, &*self.space.shape));
        let own = GridJob { grid: self.grid }.words();
        Operands { space, offsets: &offsets, strides: &strides, scalars: self.scalars }.after(own)
    }
}
