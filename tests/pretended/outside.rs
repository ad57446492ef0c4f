//! The side that starts a process on a chip, and judges what it says and how long it takes.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use wharf::caps::fixtures;

use super::inside::{CHIP, SEEN};
use super::not_run::not_run;

/// Whose drivers nobody has to build.
const CHIPS: [&str; 2] = ["intel:dg2", "amd:navi31"];

/// Seconds of `WHARF_WATCHDOG`, and what a process may take beside it.
const PATIENCE: u64 = 1;
const BESIDE: Duration = Duration::from_secs(20);

/// What a process said, its exit code, and how long it took.
struct Said {
    text: String,
    code: Option<i32>,
    time: Duration,
}

/// The folder of drivers and shims, and the driver of a chip.
fn is_set_up(chip: &str) -> bool {
    let kind = chip.split(':').next().unwrap_or_default();
    let library = match kind {
        "amd" => "radeon",
        "nvidia" => "nouveau",
        "adreno" => "freedreno",
        kind => kind,
    };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/null-gpus");
    let driver = folder.join(format!("drivers/libvulkan_{library}.so"));
    let all = driver.is_file() && folder.join("layer/libnever.so").is_file();
    if !all {
        let why = format!("nothing pretends to be {chip} here: scripts/null-gpus {chip} true");
        let must = std::env::var("WHARF_TEST_PRETENDED").unwrap_or_default();
        assert!(!must.split(',').any(|one| one == kind), "{why}");
        not_run(&why);
    }
    all
}

/// Runs a program on a chip; `None` where nothing pretends to be it.
fn on(chip: &str, program: &Path, arguments: &[&str], never_done: bool) -> Option<Said> {
    if !is_set_up(chip) {
        return None;
    }
    let mut command = Command::new("scripts/null-gpus");
    command.current_dir(env!("CARGO_MANIFEST_DIR")).arg(chip).arg(program).args(arguments);
    command.env(CHIP, chip).env_remove("WHARF_WATCHDOG").env_remove("NEVER_DONE");
    if never_done {
        command.env("NEVER_DONE", "1").env("WHARF_WATCHDOG", PATIENCE.to_string());
    }
    let clock = Instant::now();
    let output = command.output().expect("the script runs");
    let read = |said: Vec<u8>| String::from_utf8_lossy(&said).into_owned();
    let text = [output.stdout, output.stderr].map(read);
    Some(Said { text: text.concat(), code: output.status.code(), time: clock.elapsed() })
}

/// Runs a question of [`super::inside`] or [`super::faults`] on a chip, where it can be asked.
fn ask(chip: &str, question: &str, never_done: bool) {
    let this = std::env::current_exe().expect("it is a file");
    let Some(said) = on(chip, &this, &["--exact", question, "--nocapture"], never_done) else {
        return;
    };
    assert!(said.text.contains(SEEN) && said.code == Some(0), "{chip}: {}", said.text);
}

fn doctor(chip: &str, arguments: &[&str], never_done: bool) -> Option<Said> {
    let program = Path::new(env!("CARGO_BIN_EXE_wharf"));
    on(chip, program, &[&["doctor"], arguments].concat(), never_done)
}

/// Text without its line breaks.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_table_of_chips_is_what_their_drivers_say() {
    let all = fixtures::all();
    let chips = all.iter().map(|(name, _)| *name).filter(|name| name.contains(':'));
    for chip in chips {
        ask(chip, "inside::its_caps_are_those_of_the_table", false);
    }
}

#[test]
fn a_gpu_that_computes_nothing_is_found_out() {
    for chip in CHIPS {
        let Some(said) = doctor(chip, &[], false) else { continue };
        let text = flat(&said.text);
        assert_eq!(said.code, Some(2), "{chip}: {text}");
        assert!(text.contains(" (vulkan) DAMAGES DATA: f32, f16, bf16, "), "{chip}: {text}");
        assert!(text.contains("update the driver, or try another adapter"), "{chip}: {text}");
        let json = doctor(chip, &["--json"], false).expect("it ran before");
        let whole = json.text.lines().find(|line| line.starts_with('{')).expect("an object");
        let whole: serde_json::Value = serde_json::from_str(whole).expect("it is JSON");
        assert_eq!(whole["verdict"], "none", "{chip}");
        let crossings = whole["crossings"].as_array().expect("a list");
        let carried = |one: &&serde_json::Value| one["ok"] == true && one["how"] != "rejected";
        let carried: Vec<_> = crossings.iter().filter(carried).map(|one| &one["dtype"]).collect();
        assert!(crossings.len() > 12 && carried.is_empty(), "{chip}: {carried:?} came back");
        ask(chip, "inside::a_shadow_finds_the_first_operation", false);
        ask(chip, "inside::tuning_takes_no_kernel", false);
        ask(chip, "faults::faults_beside_zeros", false);
    }
}

#[test]
fn a_gpu_that_is_never_done_is_given_up() {
    for chip in CHIPS {
        let Some(said) = doctor(chip, &[], true) else { continue };
        let text = flat(&said.text);
        assert_eq!(said.code, Some(2), "{chip}: {text}");
        let verdict = "(vulkan) NEVER FINISHES what it is given";
        assert!(text.contains("NO USABLE ADAPTER: ") && text.contains(verdict), "{chip}: {text}");
        assert!(text.contains("was not done after 1s with"), "{chip}: {text}");
        assert_eq!(text.matches("was not done").count(), 1, "once is enough: {text}");
        assert!(said.time < BESIDE, "{chip}: {:?} at a patience of a second", said.time);
        ask(chip, "inside::whoever_waits_gets_an_error_in_time", true);
        ask(chip, "inside::a_wait_under_a_shadow_is_one", true);
        ask(chip, "inside::what_came_before_a_patience_is_said_to", true);
        ask(chip, "inside::a_long_move_does_not_block_in_between", true);
        ask(chip, "faults::faults_beside_waits", true);
    }
}
