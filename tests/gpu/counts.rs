//! What a whole run on a driver of the matrix counts: the comparisons, and the cases that cannot
//! run there. `expected.txt` has the numbers, so that nothing goes missing in silence.

use std::collections::BTreeMap;

use crate::ctx::{Case, Outcome, case, ensure, ensure_eq};

const EXPECTED: &str = include_str!("expected.txt");

/// Stands for the comparisons among what is counted.
const COMPARED: &str = "compared";

/// How often each thing was lacking.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts(BTreeMap<String, usize>);

impl Counts {
    /// Of the cases that cannot run on this adapter.
    pub(crate) fn absent(cases: &[Case]) -> Self {
        let mut counts = Self::default();
        for lacking in cases.iter().filter_map(|case| case.absent.clone()) {
            *counts.0.entry(lacking).or_default() += 1;
        }
        counts
    }

    /// With the comparisons that were made.
    #[cfg(not(target_family = "wasm"))]
    pub(crate) fn compared(mut self, n: usize) -> Self {
        self.0.insert(COMPARED.into(), n);
        self
    }

    /// What is expected of a run: a driver's name and the size of the cases.
    fn expected(run: &str) -> Self {
        let line = |line: &str| {
            let (what, n) = line.strip_prefix(run)?.trim().rsplit_once(' ')?;
            Some((what.to_owned(), n.parse().ok()?))
        };
        Self(EXPECTED.lines().filter_map(line).collect())
    }

    /// What is not as expected of a run, with the lines as they would have to be.
    pub(crate) fn check(&self, run: &str) -> Result<(), String> {
        let mut expected = Self::expected(run);
        let mut counted = self.0.clone();
        // A page makes a share of the comparisons, and texts for Metal nobody runs as a whole.
        if !counted.contains_key(COMPARED) || !expected.0.contains_key(COMPARED) {
            expected.0.remove(COMPARED);
            counted.remove(COMPARED);
        }
        // Of a run that nobody has counted yet nothing is expected.
        if counted == expected.0 || expected.0.is_empty() {
            return Ok(());
        }
        let lines: String = self.0.iter().map(|(what, n)| format!("\n{run} {what} {n}")).collect();
        Err(format!("tests/gpu/expected.txt says otherwise of {run}; this run counted:{lines}"))
    }
}

pub(crate) fn cases() -> Vec<Case> {
    vec![case!("counts::what_goes_missing_is_told", |_ctx| async { missing() })]
}

/// A run that counts one more or one less of anything is not the one that is expected.
fn missing() -> Outcome {
    const RUN: &str = "lavapipe large";
    let expected = Counts::expected(RUN);
    expected.check(RUN)?;
    ensure!(expected.0.len() > 2, "of {RUN} next to nothing is expected");
    for (what, &n) in &expected.0 {
        for other in [n - 1, n + 1] {
            let mut counts = expected.0.clone();
            counts.insert(what.clone(), other);
            ensure!(Counts(counts).check(RUN).is_err(), "{what}: {other}, not {n}");
        }
    }
    let named = |name: &str| case!(name, |_ctx| async { Ok(()) });
    let cases = [named("here"), named("not here").unless(true, "f64")];
    let absent = Counts(BTreeMap::from([("f64".into(), 1)]));
    ensure_eq!(Counts::absent(&cases), absent, "a case that cannot run");
    Ok(())
}
