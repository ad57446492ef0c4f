//! A corpus whose run is killed: what was kept counts, nothing else does, and the answer is that of
//! a run that was never killed.

use std::fs::{self, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::corpus::Search;
use super::embedder::Embedder;
use super::kept::Kept;
use super::memory::Peak;
use super::model::WIDTH;
use super::near::{device, folder};
use super::weights::Storage;

/// What names the corpus in the process that searches it.
const CORPUS: &str = "WHARF_EMBED_CORPUS";
const STORAGE: Storage = Storage::Numbers(wharf::DType::F16);
const QUERY: &str = "the seventh ship carries salt";

const RECORD: u64 = 8 + 4 * WIDTH as u64;

fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    folder.join(format!("{name}-{}", std::process::id()))
}

/// Sentences that differ, of several lengths.
fn sentence(i: usize) -> String {
    const GOODS: [&str; 7] = ["salt", "timber", "tea", "copper wire", "wool", "glass", "rye"];
    const ENDS: [&str; 3] =
        ["", " to a town in the north", ", and nobody on the pier was told why"];
    let (goods, end) = (GOODS[i % 7], ENDS[i / 7 % 3]);
    format!("ship number {i} carries {goods}{end}")
}

fn corpus(name: &str, count: usize) -> PathBuf {
    let path = scratch(name);
    let lines: Vec<String> = (0..count).map(|i| sentence(i) + "\n").collect();
    fs::write(&path, lines.concat()).expect("written");
    path
}

fn search<'a>(folder: &'a Path, corpus: &'a Path) -> Search<'a> {
    let model = (folder, STORAGE.name());
    Search { model, corpus, query: QUERY, top: 5 }
}

/// In the process of its own: searches, and prints what it finds, to the bit.
#[test]
fn a_search_in_a_process_of_its_own() {
    let Ok(corpus) = std::env::var(CORPUS) else { return };
    let Some(device) = device() else { return };
    let folder = folder();
    let mut embedder = Embedder::open(&device, &folder, STORAGE, |_| ()).expect("it loads");
    let peak = Peak::watch();
    let found = search(&folder, Path::new(&corpus)).run(&device, &mut embedder);
    for (score, line) in found.expect("it searches") {
        println!("found {:08x} {line}", score.to_bits());
    }
    if let Some(host) = peak.and_then(|peak| peak.bytes_beyond()) {
        println!("memory {host} {}", device.memory().bytes_reserved_peak);
    }
}

fn started(corpus: &Path) -> Command {
    let mut program = Command::new(std::env::current_exe().expect("this program"));
    program.args(["resume::a_search_in_a_process_of_its_own", "--exact", "--nocapture"]);
    program.env(CORPUS, corpus).stdout(Stdio::piped()).stderr(Stdio::piped());
    program
}

/// What a whole run prints, and what it says.
fn output(corpus: &Path) -> (String, String) {
    let output = started(corpus).output().expect("it runs");
    let [printed, said] =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    assert!(output.status.success(), "{printed}{said}");
    (printed, said)
}

/// What a whole run finds, and what it says.
fn run(corpus: &Path) -> (Vec<String>, String) {
    let (printed, said) = output(corpus);
    let found = printed.lines().filter(|line| line.starts_with("found ")).map(String::from);
    (found.collect(), said)
}

/// Ten times the lines take no more: on the device not a byte, on the host what a driver's threads
/// make of it.
#[test]
fn memory_does_not_grow_with_the_corpus() {
    if device().is_none() || Peak::watch().is_none() {
        return;
    }
    const LINES: usize = 256;
    let folder = folder();
    let peak = |count: usize| {
        let path = scratch(&format!("{count}-lines"));
        // The same windows again and again.
        let lines: Vec<String> = (0..count).map(|i| format!("ship {}\n", i % LINES)).collect();
        fs::write(&path, lines.concat()).expect("written");
        let (printed, said) = output(&path);
        assert!(said.contains(&format!("embedding {count} of {count}")), "{said}");
        for path in [&search(&folder, &path).kept(), &path] {
            let _ = fs::remove_file(path);
        }
        let numbers = printed.lines().find_map(|line| line.strip_prefix("memory "));
        let numbers = numbers.expect("they are told").split(' ').flat_map(str::parse);
        let [host, device] = numbers.collect::<Vec<u64>>()[..] else { panic!("{printed}") };
        [host, device]
    };
    let ([host, device], [host_of_all, device_of_all]) = (peak(LINES), peak(10 * LINES));
    assert_eq!(device_of_all, device, "on the device");
    assert!(
        host_of_all < host + (48 << 20),
        "{host} bytes on the host, {host_of_all} for ten times"
    );
}

#[test]
fn a_run_that_is_killed_goes_on_where_it_was() {
    if device().is_none() {
        return;
    }
    const LINES: usize = 384;
    let (whole, killed) = (corpus("whole", LINES), corpus("killed", LINES));
    let folder = folder();
    let kept = search(&folder, &killed).kept();
    let mut child = started(&killed).spawn().expect("it starts");
    let since = Instant::now();
    let length = || fs::metadata(&kept).map_or(0, |about| about.len());
    while length() < 64 + 128 * RECORD {
        assert!(since.elapsed() < Duration::from_secs(100), "no window after 100 s");
        assert!(child.try_wait().expect("it is ours").is_none(), "it ended by itself");
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().expect("it is ours");
    let _ = child.wait();
    let there = (length() - 64) / RECORD;
    assert!((128..LINES as u64).contains(&there), "killed in the middle, after {there}");
    // As if it had been killed while it wrote.
    let mut torn = OpenOptions::new().append(true).open(&kept).expect("there");
    torn.write_all(&[7; 100]).expect("written");
    let (found, said) = run(&killed);
    assert!(said.contains("the last is torn, 100 of 1544 bytes: computed again"), "{said}");
    let done = there / 128 * 128;
    assert!(said.contains(&format!("{done} of {LINES} embeddings are kept")), "{said}");
    assert!(said.contains(&format!("embedding {} of {0},", LINES as u64 - done)), "{said}");
    let (want, said) = run(&whole);
    assert!(!said.contains("are kept") && said.contains("embedding 384 of 384"), "{said}");
    assert!(found == want && want.len() == 5, "{found:#?}, without a break {want:#?}");
    let all = [&killed, &whole].map(|path| fs::read(search(&folder, path).kept()).expect("kept"));
    assert!(all[0] == all[1], "the same embeddings, to the bit");
    let (again, said) = run(&killed);
    assert!(again == want && said.contains("384 of 384 embeddings are kept"), "{said}");
    for path in [&whole, &killed] {
        let _ = fs::remove_file(search(&folder, path).kept());
        let _ = fs::remove_file(path);
    }
}

/// What is wrong with a kept file, how it got so, how many embeddings count, and what is said.
type Wrong = (&'static str, fn(&mut Vec<u8>), usize, Option<&'static str>);

const RECORD_BYTES: usize = RECORD as usize;

const WRONG: [Wrong; 9] = [
    ("nothing", |_| (), 10, None),
    ("empty", Vec::clear, 0, None),
    ("torn", |b| b.truncate(64 + 6 * RECORD_BYTES + 9), 4, Some("the last is torn, 9 of")),
    ("cut at a window's middle", |b| b.truncate(64 + 6 * RECORD_BYTES), 4, None),
    ("cut in the last window", |b| b.truncate(64 + 9 * RECORD_BYTES), 8, None),
    ("a torn stamp", |b| b.truncate(50), 0, Some("they are of another model or dtype: begun anew")),
    ("another stamp", |b| b[20] ^= 1, 0, Some("they are of another model or dtype: begun anew")),
    (
        "a line that was changed",
        |b| b[64 + 5 * RECORD_BYTES] ^= 1,
        4,
        Some("line 6 is another one now: computed again from there"),
    ),
    (
        "more than there are lines",
        |b| b.extend_from_within(64..64 + 2 * RECORD_BYTES),
        8,
        Some("there are 12, and only 10 lines: the rest is dropped"),
    ),
];

/// Needs no model.
#[test]
fn what_is_wrong_with_a_kept_file_is_noticed_and_said() {
    let (path, stamp) = (scratch("kept"), [b'x'; 64]);
    let lines = || (0..10).map(|i| Ok(sentence(i)));
    let _ = fs::remove_file(&path);
    let mut kept = Kept::open(&path, &stamp, lines(), 4).expect("it is made");
    assert!(kept.done == 0 && kept.remark.is_none(), "{:?}", kept.remark);
    for window in [0..4, 4..8, 8..10] {
        let lines: Vec<String> = window.clone().map(sentence).collect();
        let vectors: Vec<Vec<f32>> = window.map(|i| vec![i as f32; WIDTH]).collect();
        kept.keep(&lines, &vectors).expect("kept");
    }
    let whole = fs::read(&path).expect("kept");
    for (what, change, done, remark) in WRONG {
        let mut content = whole.clone();
        change(&mut content);
        fs::write(&path, content).expect("written");
        let kept = Kept::open(&path, &stamp, lines(), 4).expect(what);
        assert_eq!(kept.done, done, "{what}");
        let said = kept.remark.as_deref();
        let as_said = match remark {
            None => said.is_none(),
            Some(text) => said.is_some_and(|said| said.contains(text)),
        };
        assert!(as_said, "{what}: {said:?}");
        let mut there = Vec::new();
        fs::File::open(&path).and_then(|mut file| file.read_to_end(&mut there)).expect("there");
        assert!(there[..64] == stamp && there.len() == 64 + done * RECORD_BYTES, "{what}");
        assert!(there[64..] == whole[64..there.len()], "{what}: what counts stays");
        let bytes = kept.embeddings().and_then(|mut all| all.next(done)).expect(what);
        let first =
            |i: usize| f32::from_le_bytes(*bytes[i * 4 * WIDTH..].first_chunk().expect("4"));
        assert!((0..done).all(|i| first(i) == i as f32), "{what}");
    }
    let _ = fs::remove_file(&path);
}
