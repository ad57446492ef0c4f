//! The gpu tier: one table of async cases, run on whatever adapter there is.
//!
//! The cases know nothing of this binary - no `#[test]`, no blocking - so that the same table runs
//! natively and in a browser.
//!
//! - `WHARF_ADAPTER`, `WHARF_ALLOW_SOFTWARE`: which adapter, as everywhere.
//! - `WHARF_TEST_DRIVER`: the driver that this must be; anything else is a failure.
//! - `WHARF_TEST_METAL=FOLDER`: no adapter, but the texts for Metal, compiled there.
//! - `WHARF_TEST_LARGE=1`: the cases of some hundred MiB too; `=2`: also those of many GiB.
//! - `WHARF_TEST_PROCESSES=N`: how many processes. By default software drivers get one per core.
//! - `WHARF_TEST_TRUSTING=1`: without the checks of wgpu's that kernels are said not to need.
//! - `WHARF_TEST_PART=N/M`: the Nth of M parts of the cases.
//! - `WHARF_TEST_SPOILED=1`: memory is full of NaN when it is handed out.
//! - `WHARF_TEST_BACKWARD=1`: the last group of every kernel begins.
//! - `WHARF_TEST_COUNTED=1`: what runs is counted.
//! - `WHARF_TEST_USES=FILE`: writes which lines of shaders each case runs.
//! - `WHARF_MUTANTS=WANTED`: plants mistakes in shaders; `scripts/mutants` says which.
//! - `WHARF_TEST_NO_GPU=1`: without an adapter, prints that nothing was run instead of failing.
//!
//! For a browser `scripts/page` makes a page of it.

#[path = "../broken/runs.rs"]
mod broken_runs;
#[path = "../broken/texts.rs"]
mod broken_texts;
#[cfg(target_family = "wasm")]
mod browser;
mod cases;
#[cfg(not(target_family = "wasm"))]
mod child;
mod counts;
mod ctx;
#[cfg(not(target_family = "wasm"))]
#[path = "../mutants/drawn.rs"]
mod drawn;
mod drivers;
#[cfg(not(target_family = "wasm"))]
mod effort;
#[path = "../goldens/ends.rs"]
mod ends;
mod files;
#[cfg(not(target_family = "wasm"))]
#[path = "../stories/forward.rs"]
mod forward;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[path = "../metal/mod.rs"]
mod metal;
#[cfg(not(target_family = "wasm"))]
#[path = "../mutants/rules.rs"]
mod mistakes;
#[cfg(not(target_family = "wasm"))]
mod mutants;
#[cfg(not(target_family = "wasm"))]
mod native;
#[allow(dead_code, reason = "natively the program makes passports, here a page does")]
#[path = "../../cli/doctor/passport/mod.rs"]
mod passport;
mod promise;
#[cfg(not(target_family = "wasm"))]
#[path = "../stories/search.rs"]
mod search;
#[cfg(not(target_family = "wasm"))]
#[path = "../mutants/seen.rs"]
mod seen;
mod share;
#[cfg(not(target_family = "wasm"))]
#[path = "../stories/story.rs"]
mod story;
#[cfg(not(target_family = "wasm"))]
mod times;
#[path = "../goldens/torch.rs"]
mod torch_goldens;
#[path = "../goldens/operations.rs"]
mod torch_operations;
#[cfg(not(target_family = "wasm"))]
mod uses;
#[cfg(not(target_family = "wasm"))]
mod verdicts;
#[cfg(not(target_family = "wasm"))]
mod workers;

/// Stories draw from it.
#[cfg(not(target_family = "wasm"))]
use passport::random;

#[cfg(not(target_family = "wasm"))]
fn main() -> std::process::ExitCode {
    native::main()
}

/// In a browser the page calls the functions it needs.
#[cfg(target_family = "wasm")]
fn main() {}
