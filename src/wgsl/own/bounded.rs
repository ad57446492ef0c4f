//! Loops that are counted: one that goes on too long is left, and that is noted where the host
//! finds it.
//!
//! ```text
//! while x > 1 { .. }   ->   while x > 1 { if wharf_trip(91u) { break; } .. }
//! ```

use naga::{Block, Function, Module, Statement};

use super::additions::Additions;
use super::endless::blocks;
/// What a text has that counts its trips.
const COUNTED: &str = "wharf_trip";

/// A loop, where it stands, and whether invocations meet in it: then one may not leave it alone.
struct Loop {
    at: usize,
    meets: bool,
}

/// What has every invocation of a valid text go through its loops so often at most; `None` where it
/// has none. What goes on is noted in the binding of that number: how often, and the complement of
/// the first such loop's place.
pub(super) fn bounded(
    plain: &str,
    module: &Module,
    most: u32,
    binding: usize,
) -> Option<Additions> {
    let functions = module.functions.iter().map(|(_, function)| function);
    let all = functions.chain(module.entry_points.iter().map(|entry| &entry.function));
    let mut loops = Vec::new();
    all.for_each(|function| find(module, &function.body, &mut loops));
    let mut counted = Additions::default();
    for Loop { at, meets } in &loops {
        let body = at + plain.get(*at..)?.find('{')? + 1;
        let count = match meets {
            true => format!(" _ = {COUNTED}({at}u);"),
            false => format!(" if {COUNTED}({at}u) {{ break; }}"),
        };
        counted.insert(body, count);
    }
    counted.append(&format!(
        "
@group(0) @binding({binding}) var<storage, read_write> wharf_trips_over: array<atomic<u32>, 2>;
var<private> wharf_trips: u32;
fn {COUNTED}(place: u32) -> bool {{
    wharf_trips += 1u;
    if wharf_trips == {most}u + 1u {{
        atomicAdd(&wharf_trips_over[0], 1u);
        atomicMax(&wharf_trips_over[1], ~place);
    }}
    return wharf_trips > {most}u;
}}
"
    ));
    (!loops.is_empty()).then_some(counted)
}

fn find(module: &Module, block: &Block, loops: &mut Vec<Loop>) {
    for (statement, span) in block.span_iter() {
        if let Statement::Loop { body, continuing, .. } = statement {
            let meets = [body, continuing].into_iter().any(|block| meets(module, block));
            loops.extend(span.to_range().map(|range| Loop { at: range.start, meets }));
        }
        blocks(statement).into_iter().for_each(|block| find(module, block, loops));
    }
}

/// Whether invocations wait for each other in a block, or hear of each other.
fn meets(module: &Module, block: &Block) -> bool {
    block.iter().any(|statement| match statement {
        Statement::ControlBarrier(_)
        | Statement::MemoryBarrier(_)
        | Statement::WorkGroupUniformLoad { .. }
        | Statement::SubgroupBallot { .. }
        | Statement::SubgroupGather { .. }
        | Statement::SubgroupCollectiveOperation { .. } => true,
        Statement::Call { function, .. } => {
            let function: &Function = &module.functions[*function];
            meets(module, &function.body)
        }
        statement => blocks(statement).into_iter().any(|block| meets(module, block)),
    })
}
