//! What all benches share: cases measured in turn, medians with their spread, a table, and JSON.
//!
//! Machines are noisy and differ, so a figure alone is worth little. In every round each case runs
//! right after its ceiling - what the machine itself can do, such as a memcpy - and the median of
//! their ratios counts.
//!
//! ```text
//! mod common;
//!
//! fn main() -> ExitCode {
//!     common::main("things", things)
//! }
//!
//! fn things(bench: &mut Bench) -> Outcome {
//!     let device = bench.device();
//!     let x = device.upload(..)?.0;
//!     let bytes = 2.0 * 4.0 * count as f64; // read and written
//!     let cases = vec![Case::kernel("exp", Work::Bytes(bytes), || x.exp())];
//!     bench.measure(9, vec![ceiling::device_copy(&device, 64 << 20)?], cases)
//! }
//! ```
//!
//! `cargo bench --bench NAME [-- [--quick] [--json FILE] [FILTER]]`. Without `--bench`, which cargo
//! bench adds, everything runs once on tiny data, to see that it runs: `Settings::pick` gives the
//! sizes. Times are wall clock times, from the first call until the device is done. Where the
//! adapter has timestamp queries the device's own time is given too; the difference is what the
//! host added.
#![allow(dead_code, unused_imports, reason = "each bench uses its part")]

use std::error::Error;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use wharf::{Adapter, Device, Policy};

mod case;
pub(crate) mod ceiling;
mod clock;
mod measure;
mod memory;
pub(crate) mod raw;
mod report;
mod settings;

pub(crate) use case::{Case, Work};
pub(crate) use memory::Peak;
pub(crate) use report::Row;
pub(crate) use settings::Settings;

pub(crate) type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// One bench on one adapter, while it runs.
#[derive(Debug)]
pub(crate) struct Bench {
    pub(crate) settings: Settings,
    pub(crate) adapter: Adapter,
    device: Device,
    report: report::Report,
}

impl Bench {
    /// A handle on the device it runs on.
    pub(crate) fn device(&self) -> Device {
        self.device.clone()
    }

    /// Whether what only GPUs do in time is left out; tiny data runs anywhere.
    pub(crate) fn leaves_out_large(&self) -> bool {
        self.adapter.caps().identity.is_software() && self.settings.effort != settings::Effort::Test
    }

    /// A result that was measured in another way.
    pub(crate) fn push(&mut self, row: Row) {
        self.report.push(row);
    }
}

/// Runs a whole bench: settings, adapter, results. Returns what `main` returns.
pub(crate) fn main(name: &'static str, bench: impl FnOnce(&mut Bench) -> Outcome) -> ExitCode {
    match run(name, bench) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(name: &'static str, bench: impl FnOnce(&mut Bench) -> Outcome) -> Outcome {
    let settings = Settings::from_args()?;
    if std::env::var("WHARF_TEST_NO_GPU").is_ok_and(|value| value == "1") {
        println!("{name}: left out, WHARF_TEST_NO_GPU=1");
        return Ok(());
    }
    let adapter = pollster::block_on(Adapter::best())?;
    let device = pollster::block_on(adapter.open(adapter.negotiate(&Policy::exact())))?;
    let identity = &adapter.caps().identity;
    let on = format!("{} ({})", identity.name, identity.backend.name());
    let report = report::Report::new(name, on);
    let mut all = Bench { settings, adapter, device, report };
    bench(&mut all)?;
    all.report.finish(&all.settings)
}

/// Times one call.
pub(crate) fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let out = work();
    (out, start.elapsed())
}

/// Numbers in -1..1 without a pattern that a branch predictor or a cache could learn.
pub(crate) fn noise(n: usize) -> impl Iterator<Item = f64> {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    (0..n).map(move |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as i64 as f64 / i64::MAX as f64
    })
}
