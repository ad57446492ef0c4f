//! For the tests of the tests: which lines of the shader files a text is made of, and a mistake
//! that is planted in one of them.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use super::assembled::Assembled;
use super::reflect;

/// One line of a file below `shaders/`, and what it is to be instead.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mutant {
    /// The path below `shaders/`.
    pub path: String,
    /// The number of the line, from 1.
    pub line: u32,
    /// The line as it is.
    pub was: String,
    /// The line with the mistake.
    pub now: String,
}

/// What became of the planted mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// No text had the line.
    Unreached,
    /// naga refused a text with it.
    Stillborn,
    /// Texts with it were valid.
    Alive,
}

/// Lines of a file that stand in a text: its path below `shaders/`, the first and the last.
pub type Quoted = (&'static str, u32, u32);

static PLANTED: OnceLock<Mutant> = OnceLock::new();
static REACHED: AtomicBool = AtomicBool::new(false);
static REFUSED: AtomicBool = AtomicBool::new(false);

thread_local! {
    static USED: RefCell<Option<BTreeSet<Quoted>>> = const { RefCell::new(None) };
}

/// Plants a mistake for the rest of this process, which has written no text yet. Only the first
/// call counts.
pub fn plant(mutant: Mutant) {
    PLANTED.get_or_init(|| mutant);
}

/// What became of it so far.
#[must_use]
pub fn fate() -> Fate {
    match (REACHED.load(Ordering::SeqCst), REFUSED.load(Ordering::SeqCst)) {
        (false, _) => Fate::Unreached,
        (true, true) => Fate::Stillborn,
        (true, false) => Fate::Alive,
    }
}

/// The lines of all texts that this thread has asked for since it last called this.
pub fn used() -> BTreeSet<Quoted> {
    USED.replace(Some(BTreeSet::new())).unwrap_or_default()
}

/// Notes that a text was asked for.
pub(super) fn note(text: &Assembled) {
    USED.with_borrow_mut(|used| {
        if let Some(used) = used {
            used.extend(text.lines.files(text.wgsl.lines().count() as u32));
        }
    });
}

impl Mutant {
    /// The text with the mistake, if it has the line.
    pub(crate) fn within(&self, text: &Assembled) -> Option<Assembled> {
        let origin = format!("shaders/{}:{}", self.path, self.line);
        let is_it =
            |(n, line): (u32, &str)| line.trim() == self.was.trim() && text.origin(n) == origin;
        if !(1..).zip(text.wgsl.lines()).any(is_it) {
            return None;
        }
        let line = |(n, line)| if is_it((n, line)) { &self.now } else { line };
        let lines = (1..).zip(text.wgsl.lines()).map(|at| format!("{}\n", line(at)));
        let wgsl: String = lines.collect();
        Some(Assembled { wgsl: wgsl.into(), ..text.clone() })
    }
}

/// The text with the planted mistake, if it has the line.
pub(super) fn mutated(text: Assembled) -> Assembled {
    let Some(mutant) = PLANTED.get() else { return text };
    let Some(text) = mutant.within(&text) else { return text };
    REACHED.store(true, Ordering::SeqCst);
    REFUSED.fetch_or(reflect::check(&text).is_err(), Ordering::SeqCst);
    text
}
