//! The table on this machine: cargo's filters and closing lines by libtest-mimic.

use std::process::ExitCode;
use std::sync::Arc;

use libtest_mimic::{Arguments, Failed, Trial};

use crate::ctx::{Case, Ctx, Size};
use crate::{cases, child, drivers, shards, share};

pub(crate) fn main() -> ExitCode {
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
    let claim = std::env::var("WHARF_TEST_DRIVER").ok();
    match drivers::check_claim(adapter.caps(), claim.as_deref()) {
        Ok(found) => println!("{found}, {} cases", cases.len()),
        Err(message) => {
            eprintln!("gpu tier: {message}");
            return ExitCode::FAILURE;
        }
    }
    if let Some(processes) = shards::wanted().filter(|_| !arguments.list) {
        return shards::run(processes);
    }
    let own = shards::own();
    if own.is_some() {
        arguments.test_threads.get_or_insert(shards::THREADS);
    }
    let cases = cases.into_iter().filter(|case| own.is_none_or(|own| own.holds(case)));
    let ctx = Arc::new(Ctx::new(adapter));
    let trials = cases.map(|case| trial(&ctx, case)).collect();
    let conclusion = libtest_mimic::run(&arguments, trials);
    println!("{}", share::summary(cases::pair::compared()));
    conclusion.exit_code()
}

fn trial(ctx: &Arc<Ctx>, case: Case) -> Trial {
    let ctx = Arc::clone(ctx);
    Trial::test(case.name, move || pollster::block_on((case.run)(&ctx)).map_err(Failed::from))
}
