//! Which mistakes nobody noticed.

use std::collections::{BTreeMap, HashMap};
use std::error::Error;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::Wanted;
use crate::drawn::{self, lot};
use crate::mistakes::{Field, Mistake};
use crate::tests::{End, Test, each, run};

/// Survivors that somebody has judged, as [`drawn::judged`] reads them.
const JUDGED: &str = "tests/mutants/judged_rust.txt";

#[derive(Clone, Debug, PartialEq, Eq)]
enum Verdict {
    Killed(String),
    /// It survives, which somebody has said to be right.
    Judged(String),
    Survived,
    /// No test comes by it, or none could be run.
    Untested,
}

/// Plants those that are wanted, one by one; whether each was noticed, or judged.
pub fn all(wanted: &Wanted, field: &Field, tests: &[Test]) -> Result<bool, Box<dyn Error>> {
    let names = field.names();
    let is_wanted = |number: &usize| {
        let path = &field.mistakes[*number].path;
        !field.refused.contains(number) && wanted.only.split(',').any(|part| path.contains(part))
    };
    let mut chosen: Vec<usize> = (0..names.len()).filter(is_wanted).collect();
    let of = chosen.len();
    chosen.sort_by_cached_key(|n| lot(&format!("{} {}", wanted.seed, names[*n])));
    chosen.truncate(wanted.sample);
    println!("plant: {} of {of} mistakes, seed {}", chosen.len(), wanted.seed);

    let judged = fs::read_to_string(wanted.tree.join(JUDGED)).unwrap_or_default();
    let kept =
        wanted.keep.as_ref().map(fs::read_to_string).and_then(Result::ok).unwrap_or_default();
    let kept: HashMap<&str, &str> = kept.lines().filter_map(|line| line.split_once('\t')).collect();
    let keep =
        wanted.keep.as_ref().map(|path| OpenOptions::new().create(true).append(true).open(path));
    let keep = Mutex::new(keep.transpose()?);
    let since = Instant::now();
    let verdicts = each(&chosen, |&number| {
        let mistake = &field.mistakes[number];
        let Mistake { path, line, rule, was, now, .. } = mistake;
        let why = drawn::judged(&judged, (path, rule), (was, now));
        let verdict = match (why, kept.get(&*names[number])) {
            (Some(why), _) => Verdict::Judged(why.into()),
            (None, Some(by)) => Verdict::Killed((*by).into()),
            (None, None) => judge(wanted, number, tests),
        };
        if let (Ok(mut file), Verdict::Killed(by)) = (keep.lock(), &verdict)
            && let Some(file) = &mut *file
            && !kept.contains_key(&*names[number])
        {
            let _ = writeln!(file, "{}\t{by}", names[number]);
        }
        let what = match &verdict {
            Verdict::Killed(by) => format!("killed     by {by}"),
            Verdict::Judged(why) => format!("judged     {why}"),
            Verdict::Survived => "SURVIVED  ".into(),
            Verdict::Untested => "UNTESTED  ".into(),
        };
        println!("{what}  [{rule}] {path}:{line}\n    {was}\n    {now}");
        verdict
    });
    report(field, &chosen, &verdicts, since.elapsed());
    let open = |verdict: &&Verdict| matches!(verdict, Verdict::Survived | Verdict::Untested);
    let open = verdicts.iter().filter(open).count();
    println!("plant: {open} not judged");
    Ok(open == 0 && !verdicts.is_empty())
}

/// Runs the tests that come by a mistake, the quickest first, more of them each time.
fn judge(wanted: &Wanted, number: usize, tests: &[Test]) -> Verdict {
    let mut left: Vec<&Test> =
        tests.iter().filter(|test| test.comes_by.contains(&number)).collect();
    if left.is_empty() {
        return Verdict::Untested;
    }
    left.sort_by_key(|test| test.time);
    let (mut some, mut spent) = (2, Duration::ZERO);
    while !left.is_empty() && spent < Duration::from_secs(wanted.seconds) {
        let now: Vec<&Test> = left.drain(..left.len().min(some)).collect();
        let mut programs = BTreeMap::<&Path, Vec<&Test>>::new();
        for test in now {
            programs.entry(&test.program).or_default().push(test);
        }
        for (program, tests) in programs {
            let time: Duration = tests.iter().map(|test| test.time).sum();
            spent += time;
            let names: Vec<&str> =
                tests.iter().flat_map(|test| &test.names).map(|name| &**name).collect();
            let limit = 5 + 5 * time.as_secs();
            match run(&wanted.copy, program, &names, (Some(number), None), limit) {
                Ok(End::Passed) => {}
                Ok(End::Failed(by)) => return Verdict::Killed(by),
                Ok(End::Late) => return Verdict::Killed("no end".into()),
                Err(error) => {
                    println!("plant: no run: {error}");
                    return Verdict::Untested;
                }
            }
        }
        some *= 4;
    }
    Verdict::Survived
}

fn report(field: &Field, chosen: &[usize], verdicts: &[Verdict], took: Duration) {
    let all: Vec<(&Mistake, &Verdict)> =
        chosen.iter().map(|number| &field.mistakes[*number]).zip(verdicts).collect();
    let count = |of: &dyn Fn(&Mistake) -> bool| {
        let mut counts = [0; 3];
        for (mistake, verdict) in &all {
            let column = match verdict {
                Verdict::Killed(_) => 0,
                Verdict::Judged(_) | Verdict::Survived => 1,
                Verdict::Untested => 2,
            };
            counts[column] += usize::from(of(mistake));
        }
        counts
    };
    let room = |path: &str| path.split('/').take(2).collect::<Vec<_>>().join("/");
    let kinds: Vec<(&str, Box<dyn Fn(&Mistake) -> String>)> = vec![
        ("rule", Box::new(|mistake: &Mistake| mistake.rule.to_owned())),
        ("room", Box::new(move |mistake: &Mistake| room(&mistake.path))),
    ];
    for (kind, of) in kinds {
        println!("\n{kind:<24} {:>7} {:>9} {:>9}", "killed", "survived", "untested");
        let mut names: Vec<String> = all.iter().map(|(mistake, _)| of(mistake)).collect();
        names.sort();
        names.dedup();
        for name in names {
            let [killed, survived, untested] = count(&|mistake| of(mistake) == name);
            println!("{name:<24} {killed:>7} {survived:>9} {untested:>9}");
        }
    }
    let [killed, survived, untested] = count(&|_| true);
    println!(
        "plant: {killed} killed, {survived} survived, {untested} untested: {:.1} % killed, {:.0} s",
        100.0 * killed as f64 / all.len().max(1) as f64,
        took.as_secs_f64()
    );
}
