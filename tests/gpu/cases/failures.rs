//! Stories drawn by a seed, with a failure at each of their calls in turn: results are bit for bit
//! those of a story without one. Not in a browser: it has no threads, and tells of losses later.

use crate::ctx::{Case, Ctx, DOWNGRADES, Outcome, case, ensure};
use crate::search::Search;

/// Stories, each about 1600 steps with all its failures. All but the first found a mistake once.
const SEEDS: [u64; 8] = [1, 28, 30, 53, 66, 78, 81, 86];

pub(crate) fn cases() -> Vec<Case> {
    let one = |seed| {
        let name = format!("failures::at_every_call::{seed}");
        case!(name, |ctx| story(ctx, seed))
    };
    SEEDS.map(one).into()
}

async fn story(ctx: &Ctx, seed: u64) -> Outcome {
    let search = Search { seed, length: 20, steps: 1, computes: true };
    let found = search.run(async || ctx.fresh(DOWNGRADES[0]).await).await?;
    ensure!(found.met > 20 && found.said > 10, "few failures were met: {found}");
    Ok(())
}
