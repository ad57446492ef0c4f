//! GPUs that are only pretended: one that says "done" and computes nothing, and one that is never
//! done. No machine that works has either.
//!
//! What they need is set up by `scripts/null-gpus CHIP true`; a chip for which that was not done is
//! said not to run, or fails where `WHARF_TEST_PRETENDED=intel,amd` names its kind. The tests start
//! themselves once more on a chip: what an `inside_` asks, it asks of the driver.

#![cfg_attr(
    all(test, target_os = "linux"),
    expect(clippy::expect_used, reason = "a test says what it expected")
)]

#[cfg(all(test, target_os = "linux"))]
mod faults;
#[cfg(all(test, target_os = "linux"))]
mod inside;
#[cfg(all(test, target_os = "linux"))]
#[allow(dead_code, reason = "what runs without an adapter here has none to miss")]
#[path = "../cli/not_run.rs"]
mod not_run;
#[cfg(all(test, target_os = "linux"))]
mod outside;
