//! Every dtype there and back, bit by bit, at ragged sizes, on the adapter and on every downgrade
//! of it.

use wharf::plan::How;
use wharf::{Adapter, DType};

use super::probe::{Probe, first_difference, of_dtype, values};
use crate::ctx::{
    Case, Ctx, DOWNGRADES, Downgrade, Outcome, case, ensure, ensure_eq, matters, show,
};

const SIZES: [usize; 12] = [0, 1, 2, 3, 5, 31, 33, 255, 257, 4097, 65_537, 300_001];

pub(crate) fn cases(adapter: &Adapter) -> Vec<Case> {
    let mut cases = Vec::new();
    for &downgrade in DOWNGRADES.iter().filter(|d| matters(adapter, **d)) {
        for dtype in DType::ALL.iter().copied() {
            for size in SIZES {
                let name = format!("crossing::{dtype}::{size}::{}", downgrade.name);
                cases.push(case!(name, |ctx| async move {
                    of_dtype!(dtype, there_and_back(ctx, downgrade, size))
                }));
            }
        }
    }
    cases
}

async fn there_and_back<T: Probe>(ctx: &Ctx, downgrade: Downgrade, size: usize) -> Outcome {
    let device = ctx.device(downgrade).await?;
    let data = values::<T>(size, 7 + size as u64);
    if device.plan().carriage(T::DTYPE).how == How::Rejected {
        let refused = device.upload(&data, [size]).err().ok_or("a rejected dtype went up")?;
        ensure_eq!(refused.kind(), wharf::ErrorKind::Rejected, "{refused}");
        ensure!(refused.help().is_some(), "no remedy: {refused}");
        return Ok(());
    }
    let (tensor, receipt) = device.upload(&data, [size]).map_err(show)?;
    ensure!(receipt.is_exact(), "not exact: {receipt}");
    ensure_eq!(receipt.tally.values(), size as u64, "the tally counts every value");
    ensure_eq!(tensor.dtype(), T::DTYPE, "dtype");
    let back = tensor.read::<T>().await.map_err(show)?;
    first_difference(&data, &back).map_or(Ok(()), Err)
}
