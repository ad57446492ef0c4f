//! One case at a time, all runtimes in turn: A B C, A B C, .. within a minute, because machines
//! drift.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use peer_cases::{Case, Kind, What};

use crate::child::{Answer, Child};

/// Rounds that count. Rounds before them do not count; they take a second in all, because some
/// runtimes keep tuning for long.
const ROUNDS: usize = 9;
const WARM_UPS: core::ops::RangeInclusive<usize> = 3..=20;
const WARM_UP: Duration = Duration::from_secs(1);
/// Rounds of cases that take a process each.
const PROCESSES: usize = 5;

/// A runtime: its name and how it is started.
#[derive(Clone, Debug)]
pub struct Runtime {
    pub name: &'static str,
    /// The yardsticks that compute on the CPU are no peers.
    pub on_device: bool,
    program: PathBuf,
    args: Vec<&'static str>,
    log: PathBuf,
    /// Whether it is to run on a software adapter.
    software: bool,
}

impl Runtime {
    pub fn new(
        name: &'static str,
        program: &'static str,
        args: &[&'static str],
        at: &Path,
    ) -> Self {
        let file = format!("{program}{}", std::env::consts::EXE_SUFFIX);
        let on_device = program != "peer-cpu";
        let (program, log) = (at.join(file), at.join(format!("{program}.log")));
        Self { name, on_device, program, args: args.to_vec(), log, software: false }
    }

    /// Whether its program is there.
    pub fn is_built(&self) -> bool {
        self.program.exists()
    }

    fn start(&self, more: &[&str], home: Option<&Path>) -> Result<Child, String> {
        let args: Vec<&str> = self.args.iter().chain(more).copied().collect();
        Child::start(&self.program, &args, &self.log, self.software, home)
    }
}

/// How one runtime did in one case.
#[derive(Clone, Debug, Default)]
pub struct Side {
    /// The median; `None` if the result is wrong.
    pub value: Option<f64>,
    /// Seconds of the very first run.
    pub cold: Option<f64>,
    /// Whether it has the operation at all.
    pub present: bool,
    pub right: bool,
    /// What is wrong.
    pub why: String,
}

impl Side {
    fn fails(&mut self, why: impl Into<String>) {
        (self.value, self.right, self.why) = (None, false, why.into());
    }
}

/// One case, by runtime: ours first.
#[derive(Debug)]
pub struct Line {
    pub case: Case,
    pub sides: Vec<Side>,
}

impl Line {
    /// The better value of each side. A side that was wrong once stays wrong.
    fn or_better(mut self, other: Self) -> Self {
        for (side, new) in self.sides.iter_mut().zip(other.sides) {
            let better = match (side.value, new.value) {
                (Some(old), Some(new)) => self.case.ratio(new, old) > 1.0,
                _ => false,
            };
            if better || !new.right {
                *side = new;
            }
        }
        self
    }
}

/// The middle of some numbers.
pub fn median(samples: &[f64]) -> Option<f64> {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    let (low, high) = (sorted.get(n.checked_sub(1)? / 2)?, sorted.get(n / 2)?);
    Some((low + high) / 2.0)
}

/// The runtimes while they run.
pub struct Comparison {
    runtimes: Vec<Runtime>,
    children: Vec<Option<Child>>,
    args: Vec<&'static str>,
    /// A folder that does not exist yet: the caches of runtimes that must start without any.
    home: Option<PathBuf>,
}

impl Comparison {
    pub fn new(runtimes: Vec<Runtime>, args: Vec<&'static str>) -> Self {
        let children = runtimes.iter().map(|_| None).collect();
        Self { runtimes, children, args, home: None }
    }

    /// Says something to one of them; starts it if it is not running.
    fn ask(&mut self, i: usize, line: &str) -> Answer {
        if self.children[i].is_none() {
            match self.runtimes[i].start(&self.args, self.home.as_deref()) {
                Ok(child) => self.children[i] = Some(child),
                Err(error) => return Answer::Failed(error),
            }
        }
        let answer = self.children[i].as_mut().map(|child| child.ask(line));
        let answer = answer.unwrap_or(Answer::Absent);
        if answer.is_the_end() {
            self.children[i] = None;
        }
        answer
    }

    /// What each of them runs on. If ours is a software adapter the others are told to take one
    /// too: not every runtime does so by itself.
    pub fn hello(&mut self) -> Vec<Result<String, String>> {
        let mut said = Vec::new();
        for i in 0..self.runtimes.len() {
            let answer = match self.ask(i, "hello") {
                Answer::Hello(on) => Ok(on),
                other => Err(format!("{other:?}")),
            };
            if i == 0 && answer.as_ref().is_ok_and(|on| on.ends_with("software")) {
                self.runtimes.iter_mut().for_each(|runtime| runtime.software = true);
            }
            said.push(answer);
        }
        said
    }

    /// Leaves out yardsticks that are not on this machine. Who is left.
    pub fn retain(&mut self, said: &[Result<String, String>]) -> Vec<Runtime> {
        let both = self.runtimes.drain(..).zip(self.children.drain(..)).zip(said);
        let here = both.filter(|((runtime, _), said)| {
            if let (false, Err(why)) = (runtime.on_device, said) {
                eprintln!("{} is left out: {why}", runtime.name);
            }
            runtime.on_device || said.is_ok()
        });
        let (runtimes, children) = here.map(|(both, _)| both).collect();
        (self.runtimes, self.children) = (runtimes, children);
        self.runtimes.clone()
    }

    /// Measures a case; nothing if ours has no such operation.
    pub fn run(&mut self, case: &Case) -> Option<Line> {
        match case.kind {
            Kind::Process => self.processes(case),
            _ if case.is_luck() => self.anew(case),
            _ => self.rounds(case),
        }
    }

    /// Everybody's best of several processes that start without caches. Runtimes keep the result of
    /// tuning on disk, so one unlucky process would decide all later ones.
    fn anew(&mut self, case: &Case) -> Option<Line> {
        let home = std::env::temp_dir().join(format!("beside-{}", std::process::id()));
        let mut best: Option<Line> = None;
        for _ in 0..PROCESSES {
            self.end_all();
            self.home = Some(home.clone());
            let line = self.rounds(case);
            self.end_all();
            self.home = None;
            // The folder does not exist if no runtime keeps anything.
            let _ = fs::remove_dir_all(&home);
            best = Some(match (best, line?) {
                (Some(best), line) => best.or_better(line),
                (None, line) => line,
            });
        }
        best
    }

    fn end_all(&mut self) {
        self.children.iter_mut().for_each(|child| *child = None);
    }

    /// Some rounds of everybody in turn.
    fn rounds(&mut self, case: &Case) -> Option<Line> {
        let mut sides = vec![Side::default(); self.runtimes.len()];
        for (i, side) in sides.iter_mut().enumerate() {
            match self.ask(i, &format!("prepare {}", case.name)) {
                Answer::Ready(seconds, right) => {
                    (side.present, side.cold, side.right) = (true, Some(seconds), true);
                    if let Err(why) = right {
                        side.fails(why);
                    }
                }
                Answer::Absent => {}
                Answer::Failed(why) => {
                    side.present = true;
                    side.fails(why);
                }
                other => side.fails(format!("{other:?}")),
            }
            if i == 0 && !side.present {
                return None;
            }
        }
        let begin = Instant::now();
        let warm = |round| {
            round >= *WARM_UPS.end() || (round >= *WARM_UPS.start() && begin.elapsed() > WARM_UP)
        };
        let mut round = 0;
        while !warm(round) {
            self.round(&mut sides);
            round += 1;
        }
        let mut samples = vec![Vec::new(); sides.len()];
        for _ in 0..ROUNDS {
            for (samples, sample) in samples.iter_mut().zip(self.round(&mut sides)) {
                samples.extend(sample);
            }
        }
        // Autotuning may have chosen other kernels since the first check.
        for (i, side) in sides.iter_mut().enumerate().filter(|(_, side)| side.right) {
            side.value = median(&samples[i]).map(|seconds| case.value(seconds));
            match self.ask(i, "verify") {
                Answer::Right => {}
                Answer::Wrong(why) => side.fails(why),
                other => side.fails(format!("{other:?}")),
            }
        }
        Some(Line { case: case.clone(), sides })
    }

    /// Everybody who is right, once, in turn.
    fn round(&mut self, sides: &mut [Side]) -> Vec<Option<f64>> {
        let mut samples = vec![None; sides.len()];
        for (i, side) in sides.iter_mut().enumerate().filter(|(_, side)| side.right) {
            match self.ask(i, "time") {
                Answer::Took(seconds) => samples[i] = Some(seconds),
                other => side.fails(format!("{other:?}")),
            }
        }
        samples
    }

    /// Measures a case that takes a process of its own each time. Nobody else runs meanwhile.
    fn processes(&mut self, case: &Case) -> Option<Line> {
        self.end_all();
        let mut sides = vec![Side::default(); self.runtimes.len()];
        let mut samples = vec![Vec::new(); sides.len()];
        let rounds = if case.what == What::Largest { 1 } else { PROCESSES };
        for round in 0..rounds {
            for (i, side) in sides.iter_mut().enumerate() {
                if !self.runtimes[i].on_device || (round > 0 && !side.right) {
                    continue;
                }
                match process(&self.runtimes[i], case) {
                    Ok(Some(value)) => {
                        (side.present, side.right) = (true, true);
                        if case.what != What::Largest && round == 0 {
                            side.cold = Some(value);
                        }
                        // The first may compile what the driver keeps on disk: it does not count.
                        if round > 0 || rounds == 1 {
                            samples[i].push(value);
                        }
                    }
                    Ok(None) => {}
                    Err(why) => {
                        side.present = true;
                        side.fails(why);
                    }
                }
                if i == 0 && !side.present {
                    return None;
                }
            }
        }
        for (side, samples) in sides.iter_mut().zip(&samples).filter(|(side, _)| side.right) {
            side.value = median(samples).map(|seconds| case.value(seconds));
        }
        Some(Line { case: case.clone(), sides })
    }
}

/// Seconds from the start of a process until it has its result; mebibytes of the largest tensor.
fn process(runtime: &Runtime, case: &Case) -> Result<Option<f64>, String> {
    let begin = Instant::now();
    let largest = case.what == What::Largest;
    let args: &[&str] = if largest { &["largest"] } else { &["first", &case.name] };
    let mut child = runtime.start(args, None)?;
    let (end, answer) = child.next();
    match answer {
        Answer::Took(mebibytes) if largest => return Ok(Some(mebibytes)),
        Answer::Computed(_) => {}
        Answer::Absent => return Ok(None),
        Answer::Failed(why) => return Err(why),
        other => return Err(format!("{other:?}")),
    }
    match child.next().1 {
        Answer::Right => Ok(Some((end - begin).as_secs_f64())),
        Answer::Wrong(why) => Err(why),
        other => Err(format!("{other:?}")),
    }
}
