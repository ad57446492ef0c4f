//! The text of an elementwise kernel: bindings, and what is computed before, in and after its loop.

use super::access::{Keeps, accessors, bindings};
use super::assemble::{Assembly, indented};
use super::assembled::Assembled;
use super::entry::Entry;
use super::needs::Needs;
use super::params::{GridJob, Operands};
use super::region::Region;
use super::slot::Slot;
use super::source::source;
use super::target::Target;

/// Every fused expression and every move is this kernel. 16 bindings at most, each of which may
/// walk the dimensions.
pub const ELEMENTWISE: Entry =
    Entry::walking("elementwise", source!("elementwise.wgsl"), 16).told(GridJob::MEMBERS);

/// The kernel of expressions over few elements.
pub const ELEMENTWISE_FEW: Entry =
    Entry::new("elementwise_few", source!("elementwise_few.wgsl"), 16 * 7).told(GridJob::MEMBERS);

/// What is written into an elementwise kernel.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Body<'a> {
    /// Bindings beyond those of the slots.
    pub bindings: &'a str,
    /// What they need beyond what the slots do.
    pub needs: Needs,
    /// Before the loop.
    pub once: &'a str,
    /// For each quad; of two at a time, for the first.
    pub each: &'a str,
    /// For the second of two quads at a time.
    pub second: Option<&'a str>,
    /// After the loop.
    pub after: &'a str,
}

/// The elementwise kernel with these operands, and `scalars` words of scalars.
pub(crate) fn elementwise(
    slots: &[Slot],
    body: Body<'_>,
    scalars: usize,
    shape: (u32, Target),
) -> Assembled {
    let params = elementwise_params(slots, scalars);
    let mut keeps = Keeps::of(slots, shape.1, body.second.is_some());
    let bindings = accessors(slots, shape.1, &mut keeps) + &keeps.declared + body.bindings;
    let once = keeps.once + body.once;
    let each = match body.second {
        None => keeps.each + body.each,
        Some(second) => {
            let of = |q: &str, keep: &str, text| {
                let text = format!("let q = {q};\n{keep}{text}");
                format!("{{\n{}}}\n", indented(&text, "    "))
            };
            let first = of("2u * pair", &keeps.each, body.each);
            let second = of("2u * pair + 1u", &keeps.second, second);
            format!("let pair = q;\n{first}{second}")
        }
    };
    let regions = [
        Region::text("params", params),
        Region::text("bindings", bindings).needing(body.needs),
        Region::text("once", once),
        Region::text("body", each),
        Region::text("after", body.after),
    ];
    let (rank, target) = shape;
    let (entry, regions) = (&ELEMENTWISE, &regions);
    Assembly { entry, slots, regions, rank, target, workgroup: None }.build()
}

/// The elementwise kernel for few elements: operands are reached element by element, and the
/// outputs are [`Way::Lane`](super::Way::Lane)s.
pub(crate) fn elementwise_few(
    slots: &[Slot],
    body: Body<'_>,
    scalars: usize,
    shape: (u32, Target),
) -> Assembled {
    let params = elementwise_params(slots, scalars);
    let (rank, target) = shape;
    let regions = [
        Region::text("params", params),
        Region::text("bindings", bindings(slots, target) + body.bindings).needing(body.needs),
        Region::text("body", format!("{}{}", body.once, body.each)),
    ];
    let (entry, regions) = (&ELEMENTWISE_FEW, &regions);
    Assembly { entry, slots, regions, rank, target, workgroup: None }.build()
}

/// The parameters of an elementwise kernel; `params::Elementwise` encodes them.
fn elementwise_params(slots: &[Slot], scalars: usize) -> String {
    Operands::text("    grid: vec4<u32>, // quads, lead, step, trips\n", slots, scalars)
}
