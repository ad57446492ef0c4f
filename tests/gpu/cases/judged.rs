//! The core of this tier: the cases that a passport has the verdict of.

use wharf::Adapter;

use crate::ctx::{Case, Ctx, DOWNGRADES, Outcome, case, ensure};
use crate::passport::judged::{self, CoreCase};

pub(crate) fn cases(adapter: &Adapter) -> Vec<Case> {
    let row = |core: CoreCase| {
        let name = format!("judged::{}", core.name().replace(' ', "::"));
        case!(name, |ctx| run(ctx, core)).needs(adapter, DOWNGRADES[0], core.dtype)
    };
    judged::all().map(row).collect()
}

async fn run(ctx: &Ctx, core: CoreCase) -> Outcome {
    let compared = core.run(&ctx.native().await?).await?;
    ensure!(compared > 0, "nothing was compared");
    Ok(())
}
