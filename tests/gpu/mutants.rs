//! Tests of the tests: plants one mistake at a time in a shader, runs the cases whose kernels have
//! the line, and says which mistakes nobody noticed. `scripts/mutants` is the way to run it.

use std::collections::{BTreeMap, HashMap};
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use wharf::kernel::CATALOG;
use wharf::wgsl::mutant::{self, Fate, Mutant};
use wharf::wgsl::{Source, library};

use crate::ctx::{BACKWARD, Case, Ctx};
use crate::drawn::{self, lot};
use crate::effort::{GLANCE, Watch};
use crate::mistakes::mistakes;
use crate::seen::{Row, rows};
use crate::uses::Use;
use crate::verdicts::{Kept, Verdict};
use crate::workers::guarded;

/// What to plant: `sample=100 seed=7 only=op/exp,gather seconds=20 keep=FILE`, all of it optional;
/// or `seen`, what `tests/mutants/seen.txt` has of shaders.
const WANTED: &str = "WHARF_MUTANTS";

/// Tells a process which mistake it has: its path, line, and both texts, a line each.
const PLANTED: &str = "WHARF_TEST_MUTANT";

/// Survivors that somebody has judged, as [`drawn::judged`] reads them. Read when it is run, so
/// that a judgement costs no build.
static JUDGED: LazyLock<String> = LazyLock::new(|| {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/mutants/judged.txt");
    std::fs::read_to_string(path).unwrap_or_default()
});

/// Whether mistakes are to be planted.
pub(crate) fn wanted() -> Option<String> {
    std::env::var(WANTED).ok().filter(|text| !text.is_empty())
}

/// Whether this process has one.
pub(crate) fn planted() -> Option<Mutant> {
    let text = std::env::var(PLANTED).ok()?;
    let mut lines = text.split('\n').map(str::to_owned);
    let (path, line) = (lines.next()?, lines.next()?.parse().ok()?);
    Some(Mutant { path, line, was: lines.next()?, now: lines.next()? })
}

/// The part of a process with a mistake: runs the cases it is told until one notices.
pub(crate) fn serve(ctx: &Ctx, cases: &[Case], mutant: Mutant) -> ExitCode {
    mutant::plant(mutant);
    let cases: HashMap<&str, &Case> = cases.iter().map(|case| (&*case.name, case)).collect();
    for name in std::io::stdin().lines().map_while(Result::ok) {
        let Some(case) = cases.get(&*name) else { continue };
        let outcome = guarded(|| pollster::block_on((case.run)(ctx)));
        match (outcome, mutant::fate()) {
            (_, Fate::Stillborn) => break,
            (Err(_), Fate::Alive) => {
                println!("\nkilled {name}");
                return ExitCode::SUCCESS;
            }
            (Err(message), Fate::Unreached) => {
                println!("\nmissed {name} fails without it: {}", message.replace('\n', " "));
                return ExitCode::SUCCESS;
            }
            (Ok(()), _) => {}
        }
    }
    println!(
        "\n{}",
        match mutant::fate() {
            Fate::Stillborn => "stillborn",
            Fate::Alive => "survived",
            Fate::Unreached => "missed no case came to it",
        }
    );
    ExitCode::SUCCESS
}

/// A mistake, with the rule that made it.
struct Candidate {
    rule: &'static str,
    mutant: Mutant,
}

/// Plants them, and reports.
pub(crate) fn run(wanted: &str, cases: &[Case]) -> ExitCode {
    let option = |name: &str| {
        wanted.split_whitespace().find_map(|word| word.strip_prefix(name)?.strip_prefix('='))
    };
    if wanted.split_whitespace().any(|word| word == "seen") {
        return seen(cases, option("only").unwrap_or_default());
    }
    let number = |name: &str| option(name).and_then(|text| text.parse::<u64>().ok());
    let Some(uses) = Use::all() else {
        eprintln!("mutants: {} names no record of a whole run", crate::uses::FILE);
        return ExitCode::FAILURE;
    };
    let all = candidates(&uses, option("only").unwrap_or_default());
    let (of, sample) = (all.len(), number("sample").unwrap_or(u64::MAX));
    let seed = number("seed").unwrap_or(1);
    let chosen = sampled(all, seed, sample);
    let patience = Duration::from_secs(number("seconds").unwrap_or(20));
    let kept = match Kept::open(option("keep").map(Path::new)) {
        Ok(kept) => kept,
        Err(error) => {
            eprintln!("mutants: what is to keep the verdicts cannot be opened: {error}");
            return ExitCode::FAILURE;
        }
    };
    println!("mutants: {} of {of} mistakes, seed {seed}", chosen.len());
    let since = Instant::now();
    let (next, verdicts) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        let lane = || {
            while let Some(candidate) = chosen.get(next.fetch_add(1, Ordering::SeqCst)) {
                let verdict = match (judged(candidate), kept.settled(&candidate.mutant)) {
                    (Some(_), _) => Verdict::Survived,
                    (None, Some(settled)) => settled,
                    (None, None) => {
                        let verdict = judge(&candidate.mutant, &uses, patience);
                        kept.keep(&candidate.mutant, &verdict);
                        verdict
                    }
                };
                println!("{}", line(candidate, &verdict));
                if let Ok(mut all) = verdicts.lock() {
                    all.push((candidate, verdict));
                }
            }
        };
        let cores = thread::available_parallelism().map_or(1, usize::from);
        (0..cores).for_each(|_| drop(scope.spawn(lane)));
    });
    let verdicts = verdicts.into_inner().unwrap_or_default();
    report(&verdicts, since.elapsed())
}

/// Plants those of `seen.txt`, each for the cases that are meant for it.
fn seen(cases: &[Case], only: &str) -> ExitCode {
    const LIST: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/mutants/seen.txt");
    let list = std::fs::read_to_string(LIST).unwrap_or_default();
    let mut all_die = true;
    for row in rows(&list).filter(|row| row.path.starts_with("shaders/")) {
        if [row.path, row.what].iter().any(|text| text.contains(only)) {
            let fate = tried(&row, cases);
            all_die &= fate.is_ok();
            let said = fate.unwrap_or_else(|why| format!("SURVIVED: {why}"));
            println!("{} | {said}", row.what);
        }
    }
    if all_die { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Who notices a row's mistake, of cases that pass where nothing is changed; or why nobody does.
fn tried(row: &Row<'_>, cases: &[Case]) -> Result<String, String> {
    const LIMIT: Duration = Duration::from_secs(300);
    let sources = sources();
    let path = row.path.strip_prefix("shaders/").unwrap_or(row.path);
    let source = sources.get(path).ok_or("no such file")?;
    let (line, was) = row.place(source.text)?;
    let here = cases.iter().filter(|case| case.absent.is_none());
    let names: Vec<String> =
        here.map(|case| case.name.clone()).filter(|name| name.starts_with(row.test.1)).collect();
    let verdict = |now: &str| {
        let mutant = Mutant { path: path.into(), line, was: was.into(), now: now.into() };
        child(&mutant, &names, LIMIT, false)
            .unwrap_or_else(|error| Verdict::Missed(error.to_string()))
    };
    match (verdict(was), verdict(row.now)) {
        (Verdict::Survived, Verdict::Killed(by)) => Ok(format!("killed by {by}")),
        (Verdict::Survived, other) => Err(format!("{other:?} of {} cases", names.len())),
        (other, _) => Err(format!("without it: {other:?}")),
    }
}

/// Every file of shaders that is the library's, by its path.
fn sources() -> BTreeMap<&'static str, &'static Source> {
    let entries = CATALOG.iter().flat_map(|entry| [&entry.source].into_iter().chain(entry.parts));
    library::fragments().chain(entries).map(|source| (source.path, source)).collect()
}

/// Every mistake in a line that some case runs.
fn candidates(uses: &[Use], only: &str) -> Vec<Candidate> {
    let of = |(path, source): (&str, &Source)| {
        let reached = |line| uses.iter().any(|one| one.holds(path, line));
        let all = mistakes(source.text).into_iter().filter(move |m| reached(m.line));
        let candidate = |m: crate::mistakes::Mistake| Candidate {
            rule: m.rule,
            mutant: Mutant { path: path.into(), line: m.line, was: m.was, now: m.now },
        };
        all.map(candidate).collect::<Vec<_>>()
    };
    let chosen = |path: &str| only.split(',').any(|part| path.contains(part));
    sources().into_iter().filter(|(path, _)| chosen(path)).flat_map(of).collect()
}

/// A sample. Each mistake is drawn by what it is, so that a change of one shader leaves the rest of
/// it alone.
fn sampled(mut all: Vec<Candidate>, seed: u64, sample: u64) -> Vec<Candidate> {
    all.sort_by_cached_key(|Candidate { mutant, .. }| {
        let Mutant { path, line, was, now } = mutant;
        (lot(&format!("{seed} {path} {was} {now}")), *line)
    });
    all.truncate(usize::try_from(sample).unwrap_or(usize::MAX));
    all
}

/// The cases that have a line: by how long one takes, times which of its group it is. So most of
/// them are tried, and no group of many quick ones keeps the others away.
fn order(uses: &[Use], mutant: &Mutant, patience: Duration) -> (Vec<String>, Duration) {
    let mut having: Vec<&Use> =
        uses.iter().filter(|one| one.holds(&mutant.path, mutant.line)).collect();
    having.sort_by_key(|one| one.time);
    let mut ranks = HashMap::<&str, u32>::new();
    let mut ranked: Vec<(Duration, &Use)> = (having.into_iter())
        .map(|one| {
            let rank = ranks.entry(one.case.split("::").next().unwrap_or_default()).or_default();
            *rank += 1;
            ((one.time + Duration::from_millis(1)) * *rank, one)
        })
        .collect();
    ranked.sort_by_key(|(cost, _)| *cost);
    let mut total = Duration::ZERO;
    let mut names = Vec::new();
    for (_, one) in ranked {
        if names.len() >= 3 && total + one.time > patience {
            break;
        }
        total += one.time;
        names.push(one.case.clone());
    }
    (names, total)
}

/// A mistake that nobody notices while groups run as they are numbered is tried once more with the
/// last one first: what it stores is not stored again by a later one.
fn judge(mutant: &Mutant, uses: &[Use], patience: Duration) -> Verdict {
    let (names, total) = order(uses, mutant, patience);
    let limit = total * 10 + Duration::from_secs(30);
    let verdict = child(mutant, &names, limit, false);
    let verdict = match verdict {
        Ok(Verdict::Survived) => child(mutant, &names, limit, true),
        verdict => verdict,
    };
    verdict.unwrap_or_else(|error| Verdict::Missed(error.to_string()))
}

fn child(
    mutant: &Mutant,
    names: &[String],
    limit: Duration,
    backward: bool,
) -> std::io::Result<Verdict> {
    let Mutant { path, line, was, now } = mutant;
    let mut child = Command::new(std::env::current_exe()?)
        .env(PLANTED, format!("{path}\n{line}\n{was}\n{now}"))
        .env(BACKWARD, u8::from(backward).to_string())
        .env_remove(WANTED)
        .env_remove(crate::uses::FILE)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let told =
        child.stdin.take().map_or(Ok(()), |mut input| writeln!(input, "{}", names.join("\n")));
    // One that has ended does not listen.
    drop(told);
    let mut watch = Watch::new(child.id(), limit);
    let mut out = child.stdout.take().ok_or(std::io::ErrorKind::BrokenPipe)?;
    let said = thread::spawn(move || {
        let mut said = String::new();
        out.read_to_string(&mut said).map(|_| said)
    });
    loop {
        if let Some(status) = child.try_wait()? {
            let said = said.join().map_err(|_| std::io::ErrorKind::Other)??;
            let last = said.lines().next_back().unwrap_or_default();
            let crash = || Verdict::Killed(format!("a crash: {status}"));
            return Ok(Verdict::read(last).unwrap_or_else(crash));
        }
        if watch.is_over() {
            child.kill()?;
            child.wait()?;
            return Ok(Verdict::Killed(format!("no end within {} s", limit.as_secs())));
        }
        thread::sleep(GLANCE);
    }
}

/// Why a survivor is none to worry about, if somebody has judged it.
fn judged(Candidate { rule, mutant }: &Candidate) -> Option<&'static str> {
    drawn::judged(&JUDGED, (&mutant.path, rule), (&mutant.was, &mutant.now))
}

fn line(candidate: &Candidate, verdict: &Verdict) -> String {
    let Candidate { rule, mutant } = candidate;
    let what = match verdict {
        Verdict::Killed(by) => format!("killed     by {by}"),
        Verdict::Stillborn => "stillborn ".into(),
        Verdict::Missed(why) => format!("missed     {why}"),
        Verdict::Survived => match judged(candidate) {
            Some(why) => format!("judged     {why}"),
            None => "SURVIVED  ".into(),
        },
    };
    let place = format!("shaders/{}:{}", mutant.path, mutant.line);
    format!("{what}  [{rule}] {place}\n    {}\n    {}", mutant.was.trim(), mutant.now.trim())
}

fn report(verdicts: &[(&Candidate, Verdict)], took: Duration) -> ExitCode {
    let count = |of: &dyn Fn(&Candidate, &Verdict) -> bool| {
        verdicts.iter().filter(|(candidate, verdict)| of(candidate, verdict)).count()
    };
    let killed = |v: &Verdict| matches!(v, Verdict::Killed(_));
    let unjudged = |c: &Candidate, v: &Verdict| *v == Verdict::Survived && judged(c).is_none();
    let rules: BTreeMap<&str, ()> = verdicts.iter().map(|(c, _)| (c.rule, ())).collect();
    println!("\n{:<12} {:>7} {:>9}", "rule", "killed", "survived");
    for rule in rules.into_keys() {
        let died = count(&|c, v| c.rule == rule && killed(v));
        let lived = count(&|c, v| c.rule == rule && *v == Verdict::Survived);
        println!("{rule:<12} {died:>7} {lived:>9}");
    }
    let (died, lived) = (count(&|_, v| killed(v)), count(&|_, v| *v == Verdict::Survived));
    let open = count(&unjudged);
    // Cases that fail without it, or do not come to its line, say nothing of it.
    let missed = count(&|_, v| matches!(v, Verdict::Missed(_)));
    println!(
        "mutants: {died} killed, {lived} survived ({open} of them not judged), {} stillborn, \
         {missed} missed: {:.1} % killed, {:.0} s",
        count(&|_, v| *v == Verdict::Stillborn),
        100.0 * died as f64 / (died + lived).max(1) as f64,
        took.as_secs_f64()
    );
    if open == 0 && missed == 0 && died > 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
