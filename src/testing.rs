//! What the examples of the documentation run in, so that each of them is a test.

use crate::device::Device;
use crate::error::Result;
use crate::plan::Policy;

/// Runs an example with a device: [`Device::best`] under [`Policy::exact`].
///
/// Fails where there is no adapter, unless `WHARF_TEST_NO_GPU=1`: then it does nothing.
#[track_caller]
pub fn example(run: impl AsyncFnOnce(Device) -> Result<()>) {
    let set = |name: &str| std::env::var(name).is_ok_and(|value| !value.is_empty() && value != "0");
    if set("WHARF_TEST_NO_GPU") {
        return;
    }
    let outcome = Device::best(&Policy::exact()).and_then(|device| pollster::block_on(run(device)));
    assert!(outcome.is_ok(), "{outcome:?}\n  where there is no adapter: WHARF_TEST_NO_GPU=1");
}
