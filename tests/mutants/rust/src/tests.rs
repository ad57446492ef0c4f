//! The tests, how long each takes, and which mistakes it comes by.

use std::collections::BTreeSet;
use std::error::Error;
use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::build::{NUMBER, SEEN};

/// Tests that are run together, by one process.
#[derive(Debug)]
pub struct Test {
    pub program: PathBuf,
    pub names: Vec<String>,
    pub time: Duration,
    pub comes_by: BTreeSet<usize>,
}

/// Cases of the gpu tier that are run together: most of what one takes alone is the driver's start.
const TOGETHER: usize = 8;

/// The most memory that a program may take, in KiB: a mistake may ask for all of it.
const MEMORY: u64 = 10 << 20;

/// What chooses a driver, which the quick tiers must not see.
const OF_A_DRIVER: &[&str] = &[
    "WGPU_BACKEND",
    "VK_DRIVER_FILES",
    "VK_ICD_FILENAMES",
    "LD_LIBRARY_PATH",
    "WHARF_ALLOW_SOFTWARE",
    "WHARF_TEST_DRIVER",
];

/// How a program ended.
#[derive(Debug)]
pub enum End {
    Passed,
    Failed(String),
    Late,
}

/// Whether a program is that of a tier.
fn is_of(program: &Path, tier: &str) -> bool {
    let rest = program.file_name().and_then(|name| name.to_str()?.strip_prefix(tier));
    rest.is_some_and(|rest| rest.starts_with('-'))
}

/// Whether a program is the gpu tier's: it is told its cases, and answers for each.
fn is_gpu(program: &Path) -> bool {
    is_of(program, "gpu")
}

/// What runs tests of a program, as each tier wants it.
fn command(copy: &Path, program: &Path, names: &[&str], seconds: u64) -> Command {
    let limits =
        format!("ulimit -t {seconds}; ulimit -v {MEMORY}; ulimit -c 0; exec \"$0\" \"$@\"");
    let mut command = Command::new("sh");
    command.args(["-c", &limits]).arg(program).current_dir(copy);
    command.env_remove(NUMBER).env_remove(SEEN);
    if is_gpu(program) {
        command.env("WHARF_TEST_WORKER", "1").env("WHARF_TEST_SPOILED", "1");
    } else {
        command.args(["--exact", "--test-threads=1"]).args(names).env("WHARF_TEST_NO_GPU", "1");
    }
    if !is_gpu(program) && !is_of(program, "cli") {
        for name in OF_A_DRIVER {
            command.env_remove(name);
        }
    }
    command
}

/// Runs tests of a program, with a mistake, within so many seconds of processor time.
pub fn run(
    copy: &Path,
    program: &Path,
    names: &[&str],
    (number, seen): (Option<usize>, Option<&Path>),
    seconds: u64,
) -> std::io::Result<End> {
    let mut command = command(copy, program, names, seconds);
    if let Some(number) = number {
        command.env(NUMBER, number.to_string());
    }
    if let Some(seen) = seen {
        command.env(SEEN, seen);
    }
    let log = own_file("log");
    let file = fs::File::create(&log)?;
    command.stdin(Stdio::piped()).stdout(file.try_clone()?).stderr(file);
    let (mut child, since) = (command.spawn()?, Instant::now());
    if let Some(mut told) = child.stdin.take()
        && is_gpu(program)
    {
        // One that has ended does not listen.
        let _ = writeln!(told, "{}", names.join("\n"));
    }
    let mut looked = since;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        // The gpu tier goes on with its other cases.
        if is_gpu(program) && looked.elapsed() > Duration::from_millis(100) {
            looked = Instant::now();
            if let Some(name) = answers(&fs::read(&log)?, false).first() {
                child.kill()?;
                child.wait()?;
                return Ok(End::Failed(name.clone()));
            }
        }
        // One that waits takes no processor time.
        if since.elapsed() > Duration::from_secs(30 + 4 * seconds) {
            child.kill()?;
            child.wait()?;
            return Ok(End::Late);
        }
        thread::sleep(Duration::from_millis(2));
    };
    let said = fs::read(&log)?;
    let failed = match is_gpu(program) {
        // One that has ended before it came to a case has failed there.
        true => {
            let well = answers(&said, true);
            names.iter().find(|name| !well.iter().any(|one| one == **name)).map(|n| (*n).into())
        }
        false => String::from_utf8_lossy(&said)
            .lines()
            .find_map(|line| line.strip_prefix("test ")?.strip_suffix(" ... FAILED"))
            .map(str::to_owned),
    };
    Ok(match (status.success(), failed) {
        (true, None) => End::Passed,
        (_, Some(name)) => End::Failed(name),
        (false, None) => End::Failed(status.to_string()),
    })
}

/// The cases of which the gpu tier has said that all is well, or that it is not.
fn answers(said: &[u8], well: bool) -> Vec<String> {
    let answer = |line: &str| {
        let (name, wrong) = line.split_once('\u{1}')?.1.split_once('\u{1}')?;
        (wrong.is_empty() == well).then(|| name.to_owned())
    };
    let said = String::from_utf8_lossy(said);
    // The last line may not be whole yet.
    said.split_inclusive('\n').filter_map(|line| answer(line.strip_suffix('\n')?)).collect()
}

/// A scratch file of this thread's.
fn own_file(kind: &str) -> PathBuf {
    let thread = format!("{:?}", thread::current().id());
    let number: String = thread.chars().filter(char::is_ascii_digit).collect();
    std::env::temp_dir().join(format!("planted-{}-{number}.{kind}", std::process::id()))
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

/// Every test, without a mistake. What was seen of a program is kept beside the copy as long as the
/// program is the same.
pub fn seen(programs: &[PathBuf], copy: &Path, seconds: u64) -> Result<Vec<Test>, Box<dyn Error>> {
    let mut tests = Vec::new();
    for program in programs {
        let name = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let built = fs::metadata(program)?.modified()?.duration_since(std::time::UNIX_EPOCH)?;
        let kept = copy.with_file_name(format!("{name}-{}.seen", built.as_nanos()));
        let known: Vec<Test> = (fs::read_to_string(&kept).unwrap_or_default().lines())
            .filter_map(|line| read(program, line))
            .collect();
        let since = Instant::now();
        let count = look(program, copy, (&known, &kept), seconds)?;
        println!("plant: {name}: {count} tests seen, {:.0} s", since.elapsed().as_secs_f64());
        let text = fs::read_to_string(&kept)?;
        tests.extend(text.lines().filter_map(|line| read(program, line)));
    }
    Ok(tests)
}

fn written(test: &Test) -> String {
    let mut line = format!("{}\t{}\t", test.names.join(" "), test.time.as_millis());
    for number in &test.comes_by {
        let _ = write!(line, "{number} ");
    }
    line + "\n"
}

fn read(program: &Path, line: &str) -> Option<Test> {
    let mut fields = line.split('\t');
    let (names, time, numbers) = (fields.next()?, fields.next()?.parse().ok()?, fields.next()?);
    Some(Test {
        program: program.to_path_buf(),
        names: names.split(' ').map(str::to_owned).collect(),
        time: Duration::from_millis(time),
        comes_by: numbers.split(' ').filter_map(|number| number.parse().ok()).collect(),
    })
}

/// Runs every test that is not known, and keeps what was seen of it; how many.
fn look(
    program: &Path,
    copy: &Path,
    (known, kept): (&[Test], &Path),
    seconds: u64,
) -> Result<usize, Box<dyn Error>> {
    let list = Command::new(program).arg("--list").current_dir(copy).output()?;
    let list = String::from_utf8_lossy(&list.stdout).into_owned();
    let known: BTreeSet<&str> = known.iter().flat_map(|test| &test.names).map(|n| &**n).collect();
    let names = list.lines().filter_map(|line| line.strip_suffix(": test"));
    let names: Vec<&str> = names.filter(|name| !known.contains(name)).collect();
    let kept = Mutex::new(OpenOptions::new().create(true).append(true).open(kept)?);
    let together = if is_gpu(program) { TOGETHER } else { 1 };
    let groups: Vec<&[&str]> = names.chunks(together).collect();
    let ran = each(&groups, |names| -> std::io::Result<()> {
        for test in come_by(program, copy, names, seconds)? {
            if let Ok(mut kept) = kept.lock() {
                kept.write_all(written(&test).as_bytes())?;
            }
        }
        Ok(())
    });
    ran.into_iter().collect::<std::io::Result<()>>()?;
    Ok(names.len())
}

/// What tests come by together; each for itself, if that fails. One that fails alone, without a
/// mistake, or takes longer than a mistake is worth, comes by none.
fn come_by(
    program: &Path,
    copy: &Path,
    names: &[&str],
    seconds: u64,
) -> std::io::Result<Vec<Test>> {
    let seen = own_file("seen");
    let _ = fs::remove_file(&seen);
    let since = Instant::now();
    let end = run(copy, program, names, (None, Some(&seen)), seconds)?;
    let time = since.elapsed();
    let mut comes_by = BTreeSet::new();
    match (&end, names) {
        (End::Passed, _) => {
            let lines = fs::read_to_string(&seen).unwrap_or_default();
            comes_by.extend(lines.lines().filter_map(|line| line.parse::<usize>().ok()));
        }
        (_, [name]) => println!("plant: left out: {name}: {end:?} without a mistake"),
        _ => {
            let alone = names.iter().map(|name| come_by(program, copy, &[*name], seconds));
            return Ok(alone.collect::<std::io::Result<Vec<_>>>()?.into_iter().flatten().collect());
        }
    }
    let names = names.iter().map(|name| (*name).to_owned()).collect();
    Ok(vec![Test { program: program.into(), names, time, comes_by }])
}
