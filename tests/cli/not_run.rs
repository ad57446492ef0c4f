//! What a test says that is left out: aloud, past what captures its own output.

use std::io::Write;
use std::process::Command;

/// Whether `WHARF_TEST_NO_GPU=1` leaves out what needs an adapter, which is said then.
pub(crate) fn without_gpu() -> bool {
    let set = std::env::var("WHARF_TEST_NO_GPU").is_ok_and(|value| value == "1");
    if set {
        not_run("WHARF_TEST_NO_GPU is set");
    }
    set
}

/// The test of this thread does not run, and why.
pub(crate) fn not_run(why: &str) {
    let this = std::thread::current();
    let name = this.name().unwrap_or_default();
    let _ = writeln!(std::io::stderr(), "NOT RUN: {name}: {why}");
}

/// Runs these tests of this program without an adapter: each passes, and says once that it did not
/// run.
pub(crate) fn each_says_so(needy: &[&str]) {
    let mut these = Command::new(std::env::current_exe().expect("this program"));
    these.args(needy).args(["--exact", "--test-threads=2"]).env("WHARF_TEST_NO_GPU", "1");
    let output = these.output().expect("it runs");
    let [passed, said] =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    assert!(passed.contains(&format!("{} passed; 0 failed", needy.len())), "{passed}");
    for name in needy {
        let line = format!("NOT RUN: {name}: WHARF_TEST_NO_GPU is set\n");
        assert_eq!(said.matches(&line).count(), 1, "{name}: {said}");
    }
}
