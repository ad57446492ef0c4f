//! A device on paper with the capabilities of the one at hand: the same kernels, dispatches, bytes
//! and memory, kernel by kernel.

use wharf::{Adapter, Device, Policy};

use super::pair::count;
use crate::ctx::{Case, Ctx, DOWNGRADES, Downgrade, Outcome, case, ensure, matters, show};
use crate::forward::beside;

pub(crate) fn cases(adapter: &Adapter) -> Vec<Case> {
    let matter = DOWNGRADES.iter().filter(|downgrade| matters(adapter, **downgrade));
    let one = |&downgrade: &Downgrade| {
        let name = format!("paper::a_forward_pass::{}", downgrade.name);
        case!(name, |ctx| pass(ctx, downgrade))
    };
    matter.map(one).collect()
}

async fn pass(ctx: &Ctx, downgrade: Downgrade) -> Outcome {
    let there = ctx.fresh(downgrade).await?;
    // Both with all the memory they like: whether segments are staggered depends on it.
    there.set_cap(None);
    let paper = Device::on_paper(there.caps(), &Policy::exact()).map_err(show)?;
    ensure!(paper.target() == there.target(), "another class of kernels");
    let dispatches = beside(&there, &paper)?;
    ensure!(dispatches > 30, "a pass of {dispatches} dispatches");
    count();
    Ok(())
}
