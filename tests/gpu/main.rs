//! The gpu tier: one table of async cases, run on whatever adapter there is.
//!
//! The cases know nothing of this binary - no `#[test]`, no blocking - so that the same table can
//! run in a browser. Natively libtest-mimic gives cargo's filters and closing lines.
//!
//! - `WHARF_ADAPTER`, `WHARF_ALLOW_SOFTWARE`: which adapter, as everywhere.
//! - `WHARF_TEST_DRIVER`: the driver that this must be; anything else is a failure.
//! - `WHARF_TEST_LARGE=1`: the cases of some hundred MiB too; `=2`: also those of many GiB.
//! - `WHARF_TEST_PROCESSES=N`: shared out among so many processes.
//! - `WHARF_TEST_NO_GPU=1`: says aloud that nothing was run, instead of failing without an adapter.

mod cases;
mod child;
mod ctx;
mod drivers;
mod promise;
mod shards;
#[path = "../goldens/torch.rs"]
mod torch_goldens;

use std::process::ExitCode;
use std::sync::Arc;

use ctx::{Case, Ctx, Size};
use libtest_mimic::{Arguments, Failed, Trial};

fn main() -> ExitCode {
    let _ = env_logger::builder().is_test(true).try_init();
    if let Some(code) = child::run() {
        return code;
    }
    let mut arguments = Arguments::from_args();
    let set = |name: &str| std::env::var(name).is_ok_and(|value| !value.is_empty() && value != "0");
    if set("WHARF_TEST_NO_GPU") {
        println!("gpu tier: NOT RUN, because WHARF_TEST_NO_GPU is set");
        return ExitCode::SUCCESS;
    }
    let adapter = match pollster::block_on(wharf::Adapter::best()) {
        Ok(adapter) => adapter,
        Err(error) => {
            eprintln!(
                "gpu tier: {error:?}\n  no adapter is a failure; WHARF_TEST_NO_GPU=1 skips aloud"
            );
            return ExitCode::FAILURE;
        }
    };
    let size = match std::env::var("WHARF_TEST_LARGE").as_deref() {
        Ok("1") => Size::Large,
        Ok("2") => Size::Huge,
        _ => Size::Usual,
    };
    let cases: Vec<Case> = cases::all(&adapter).into_iter().filter(|c| c.size <= size).collect();
    if let Err(message) = drivers::check_claim(adapter.caps(), cases.len()) {
        eprintln!("gpu tier: {message}");
        return ExitCode::FAILURE;
    }
    if let Some(processes) = shards::wanted().filter(|_| !arguments.list) {
        return shards::run(processes);
    }
    let own = shards::own();
    if own.is_some() {
        arguments.test_threads.get_or_insert(shards::THREADS);
    }
    let cases = cases.into_iter().filter(|case| own.is_none_or(|own| shards::holds(own, case)));
    let ctx = Arc::new(Ctx::new(adapter));
    let trials = cases.map(|case| trial(&ctx, case)).collect();
    let conclusion = libtest_mimic::run(&arguments, trials);
    println!("{}", summary(cases::pair::compared()));
    conclusion.exit_code()
}

const SUMMARY: [&str; 2] = ["gpu tier: ", " elementwise cases"];

/// The closing line.
fn summary(compared: usize) -> String {
    let [before, after] = SUMMARY;
    format!("{before}{compared}{after}")
}

/// What a closing line says.
fn summed(line: &str) -> Option<usize> {
    let [before, after] = SUMMARY;
    line.strip_prefix(before)?.strip_suffix(after)?.parse().ok()
}

fn trial(ctx: &Arc<Ctx>, case: Case) -> Trial {
    let ctx = Arc::clone(ctx);
    Trial::test(case.name, move || pollster::block_on((case.run)(&ctx)).map_err(Failed::from))
}
