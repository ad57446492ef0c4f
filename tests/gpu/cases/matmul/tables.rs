//! The tables of GPUs beside what is forced here, on paper.

use std::collections::BTreeSet;

use wharf::Policy;
use wharf::caps::fixtures;
use wharf::testing::Inside;
use wharf::tune::ProductSize;

use super::rungs::Rung;
use super::*;

pub(super) fn cases() -> Vec<Case> {
    vec![case!("matmul::groups::of_every_table", |_ctx| async { of_every_table() })]
}

/// What the tables of GPUs have is among what is forced here, and among the tiles of registers.
fn of_every_table() -> Outcome {
    let forced = Rung::all().map(Rung::kernel);
    let tiles = TILES.iter().map(|&sums| By::Tile(sums).kernel());
    let tried: BTreeSet<String> = forced.chain(tiles).collect();
    let mut tables = BTreeSet::new();
    for (_, caps) in fixtures::all() {
        let device = Device::on_paper(&caps, &Policy::exact()).map_err(show)?;
        let device = device.with_target(Target::Gpu);
        for &dtype in DTYPES {
            tables.extend(device.products(ProductSize::new(4096, 4096, 4096, dtype)));
        }
    }
    tables.retain(|kernel| !kernel.starts_with("cooperative"));
    ensure!(tables.iter().any(|kernel| kernel.contains("lean")), "of {tables:?} none is lean");
    let missing: Vec<&String> = tables.difference(&tried).collect();
    ensure!(missing.is_empty(), "{missing:#?} are not tried");
    Ok(())
}
