//! The tests, how long each takes, and which mistakes it comes by.

use std::collections::BTreeSet;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::build::{NUMBER, SEEN};

#[derive(Debug)]
pub struct Test {
    pub program: PathBuf,
    pub name: String,
    pub time: Duration,
    pub comes_by: BTreeSet<usize>,
}

/// The most memory that a program may take, in KiB: a mistake may ask for all of it.
const MEMORY: u64 = 8 << 20;

/// How a program ended.
#[derive(Debug)]
pub enum End {
    Passed,
    Failed(String),
    Late,
}

/// Runs tests of a program, with a mistake, within so many seconds of processor time.
pub fn run(
    copy: &Path,
    program: &Path,
    names: &[&str],
    (number, seen): (Option<usize>, Option<&Path>),
    seconds: u64,
) -> std::io::Result<End> {
    let limits =
        format!("ulimit -t {seconds}; ulimit -v {MEMORY}; ulimit -c 0; exec \"$0\" \"$@\"");
    let mut command = Command::new("sh");
    command.args(["-c", &limits]).arg(program);
    command.args(["--exact", "--test-threads=1"]).args(names);
    command.current_dir(copy).env("WHARF_TEST_NO_GPU", "1").env_remove(NUMBER).env_remove(SEEN);
    if let Some(number) = number {
        command.env(NUMBER, number.to_string());
    }
    if let Some(seen) = seen {
        command.env(SEEN, seen);
    }
    let log = std::env::temp_dir().join(format!("planted-{:?}.log", thread::current().id()));
    let file = fs::File::create(&log)?;
    command.stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file);
    let (mut child, since) = (command.spawn()?, Instant::now());
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        // One that waits takes no processor time.
        if since.elapsed() > Duration::from_secs(30 + 4 * seconds) {
            child.kill()?;
            child.wait()?;
            return Ok(End::Late);
        }
        thread::sleep(Duration::from_millis(2));
    };
    if status.success() {
        return Ok(End::Passed);
    }
    let said = fs::read(&log)?;
    let said = String::from_utf8_lossy(&said);
    let failed =
        said.lines().find_map(|line| line.strip_prefix("test ")?.strip_suffix(" ... FAILED"));
    Ok(End::Failed(failed.map_or_else(|| status.to_string(), str::to_owned)))
}

/// Does something with each of a list, on all cores.
pub fn each<T: Sync, R: Send>(all: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let i = next.fetch_add(1, Ordering::SeqCst);
                    let Some(one) = all.get(i) else { break };
                    let result = work(one);
                    if let Ok(mut done) = done.lock() {
                        done.push((i, result));
                    }
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_default();
    done.sort_by_key(|(i, _)| *i);
    done.into_iter().map(|(_, result)| result).collect()
}

/// Runs every test alone, without a mistake.
pub fn seen(programs: &[PathBuf], copy: &Path) -> Result<Vec<Test>, Box<dyn Error>> {
    let mut names = Vec::new();
    for program in programs {
        let list = Command::new(program).arg("--list").current_dir(copy).output()?;
        let list = String::from_utf8_lossy(&list.stdout).into_owned();
        let tests = list.lines().filter_map(|line| line.strip_suffix(": test"));
        names.extend(tests.map(|name| (program.clone(), name.to_owned())));
    }
    let since = Instant::now();
    let ran = each(&names, |(program, name)| -> Result<Option<Test>, String> {
        let seen = std::env::temp_dir().join(format!("seen-{:?}.txt", thread::current().id()));
        let _ = fs::remove_file(&seen);
        let since = Instant::now();
        let end =
            run(copy, program, &[name], (None, Some(&seen)), 120).map_err(|e| e.to_string())?;
        let time = since.elapsed();
        let lines = fs::read_to_string(&seen).unwrap_or_default();
        let comes_by = lines.lines().filter_map(|line| line.parse().ok()).collect();
        let test = Test { program: program.clone(), name: name.clone(), time, comes_by };
        match end {
            End::Passed => Ok(Some(test)),
            _ => {
                println!("plant: left out, for it fails without a mistake: {name}: {end:?}");
                Ok(None)
            }
        }
    });
    let mut tests = Vec::new();
    for test in ran {
        tests.extend(test?);
    }
    println!("plant: {} tests, {:.0} s", tests.len(), since.elapsed().as_secs_f64());
    Ok(tests)
}
