//! The table on this machine: cargo's filters and closing lines by libtest-mimic.

use std::process::ExitCode;
use std::sync::{Arc, Mutex};

use libtest_mimic::{Arguments, Completion, Conclusion, Failed, Trial};
use wharf::Adapter;

use crate::counts::Counts;
use crate::ctx::{Case, Ctx, Outcome, Size};
use crate::share::Share;
use crate::times::Times;
use crate::uses::Recorder;
use crate::workers::Workers;
use crate::{cases, child, drivers, mutants, promise, workers};

pub(crate) fn main() -> ExitCode {
    let _ = env_logger::builder().is_test(true).try_init();
    if let Some(code) = child::run() {
        return code;
    }
    let arguments = Arguments::from_args();
    let set = |name: &str| std::env::var(name).is_ok_and(|value| value == "1");
    if set("WHARF_TEST_NO_GPU") {
        println!("gpu tier: NOT RUN, because WHARF_TEST_NO_GPU is set");
        return ExitCode::SUCCESS;
    }
    let adapter = match adapter() {
        Ok(adapter) if set("WHARF_TEST_TRUSTING") => adapter.trusting(promise::trusted),
        Ok(adapter) => adapter,
        Err(error) => {
            eprintln!(
                "gpu tier: {error}\n  no adapter is a failure; WHARF_TEST_NO_GPU=1 skips aloud"
            );
            // Whoever planted a mistake takes an end without a word for a crash.
            if mutants::planted().is_some() {
                println!("\nmissed no adapter: {}", error.replace('\n', " "));
            }
            return ExitCode::FAILURE;
        }
    };
    let size = size();
    let mut cases: Vec<Case> =
        cases::all(&adapter).into_iter().filter(|c| c.size <= size).collect();
    if let Some(mutant) = mutants::planted() {
        return mutants::serve(&Ctx::new(adapter), &cases, mutant);
    }
    if let Some(wanted) = mutants::wanted() {
        return mutants::run(&wanted, &cases);
    }
    if workers::is_worker() {
        return workers::serve(&Ctx::new(adapter), &cases);
    }
    // Of all cases: those that cannot run here are counted where a part runs as well.
    let absent = Counts::absent(&cases);
    let part = std::env::var("WHARF_TEST_PART").ok().filter(|text| !text.is_empty());
    match part.as_deref().map(Share::parse).transpose() {
        Ok(share) => cases.retain(|case| share.is_none_or(|share| share.holds(case))),
        Err(message) => {
            eprintln!("gpu tier: WHARF_TEST_PART: {message}");
            return ExitCode::FAILURE;
        }
    }
    let claim = std::env::var("WHARF_TEST_DRIVER").ok();
    match drivers::check_claim(adapter.caps(), claim.as_deref()) {
        Ok(found) => println!("{found}, {} cases", cases.len()),
        Err(message) => {
            eprintln!("gpu tier: {message}");
            return ExitCode::FAILURE;
        }
    }
    let all = !arguments.list && arguments.filter.is_none() && arguments.skip.is_empty();
    let claim = claim.filter(|_| all).map(|driver| format!("{driver} {}", size.name()));
    let (passed, compared) = match workers::wanted(adapter.caps().identity.is_software()) {
        Some(processes) => elsewhere(arguments, cases, processes),
        None => here(&arguments, cases, adapter),
    };
    println!("{}", cases::pair::summary(compared));
    // A part makes some of the comparisons.
    let counts = if part.is_none() { absent.compared(compared) } else { absent };
    let counted = claim.map_or(Ok(()), |driver| counts.check(&driver));
    if let Err(message) = &counted {
        eprintln!("gpu tier: {message}");
    }
    if passed && counted.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The best there is, or the one that is no GPU: Metal's texts, run by a compiler of this system.
fn adapter() -> Result<Adapter, String> {
    if let Some(folder) = std::env::var_os("WHARF_TEST_METAL") {
        #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
        return crate::metal::adapter(folder.as_ref());
        #[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
        return Err(format!("WHARF_TEST_METAL={}: not on this system", folder.display()));
    }
    pollster::block_on(Adapter::best()).map_err(|error| format!("{error:?}"))
}

/// The largest of the cases that are asked for.
fn size() -> Size {
    match std::env::var("WHARF_TEST_LARGE").as_deref() {
        Ok("1") => Size::Large,
        Ok("2") => Size::Huge,
        _ => Size::Usual,
    }
}

/// Runs the table in this process: whether all passed, and how many were compared.
fn here(arguments: &Arguments, cases: Vec<Case>, adapter: Adapter) -> (bool, usize) {
    let ctx = Ctx::new(adapter);
    let recorder = Recorder::wanted();
    let run =
        move |case: &Case| recorder.recorded(&case.name, || pollster::block_on((case.run)(&ctx)));
    let conclusion = conclude(arguments, cases, run);
    (!conclusion.has_failed(), cases::pair::compared())
}

/// Has it run by others.
fn elsewhere(mut arguments: Arguments, cases: Vec<Case>, processes: usize) -> (bool, usize) {
    arguments.test_threads.get_or_insert(processes * workers::LANES);
    let workers = Arc::new(Workers::default());
    let run = {
        let workers = Arc::clone(&workers);
        move |case: &Case| workers.run(&case.name)
    };
    let conclusion = conclude(&arguments, cases, run);
    let (compared, wrong) = workers.close();
    wrong.iter().for_each(|message| eprintln!("gpu tier: {message}"));
    (wrong.is_empty() && !conclusion.has_failed(), compared)
}

/// Cargo's lines, and what took longest.
fn conclude(
    arguments: &Arguments,
    cases: Vec<Case>,
    run: impl Fn(&Case) -> Outcome + Send + Sync + 'static,
) -> Conclusion {
    let (run, times) = (Arc::new(run), Arc::new(Times::default()));
    // Large cases take gigabytes: one at a time.
    let large = Arc::new(Mutex::new(()));
    let trial = |case: Case| {
        let (run, times, large) = (Arc::clone(&run), Arc::clone(&times), Arc::clone(&large));
        Trial::ignorable_test(case.name.clone(), move || {
            if let Some(lacking) = &case.absent {
                return Ok(Completion::ignored_with(format!("not here: {lacking}")));
            }
            let alone = (case.size > Size::Usual).then(|| large.lock());
            let outcome = times.measured(&case.name, || run(&case));
            drop(alone);
            outcome.map(|()| Completion::Completed).map_err(Failed::from)
        })
    };
    let conclusion = libtest_mimic::run(arguments, cases.into_iter().map(trial).collect());
    if !arguments.list {
        println!("{}", times.longest());
    }
    conclusion
}
