//! How much host memory a load takes at most, and a file that is refused, in a process of its own.

use std::path::Path;
use std::process::Command;

use wharf::caps::{Caps, fixtures};
use wharf::io::Archive;
use wharf::set::Arrival;
use wharf::tensor::Blocks;
use wharf::testing::noop;
use wharf::{DType, Policy};

/// What names the file in the process that loads it.
const FILE: &str = "WHARF_PEAK_FILE";

/// What says what they are to become: the place in `KINDS`.
const KIND: &str = "WHARF_PEAK_KIND";

/// What names the folder of the files that are refused.
const REFUSED: &str = "WHARF_PEAK_REFUSED";

/// What 256 MiB of f32 are loaded as, how many tensors one becomes, and how many MiB all take then;
/// on what, and how many MiB may be staged while they are carried.
type Becomes = (Option<Arrival>, usize, u64, fn() -> Caps, u64);

/// Lavapipe's memory is written where it lies; of a GPU of no kind it is staged.
const KINDS: [Becomes; 4] = [
    (None, 1, 256, fixtures::lavapipe, 4),
    (None, 1, 256, Caps::webgpu_baseline, 40),
    (Some(Arrival::Numbers(DType::F16)), 1, 128, fixtures::lavapipe, 4),
    (Some(Arrival::Blocks(Blocks::Q8)), 2, 68, fixtures::lavapipe, 4),
];

/// What says that tiny tensors are to be uploaded.
const TINY: &str = "WHARF_PEAK_TINY";

/// MiB that a load takes besides at any time.
const BESIDES: u64 = 48;

/// A line of what the system knows of this process, in KiB: the most memory that it has had
/// (`VmHWM`), and the most that it has asked for (`VmPeak`), touched or not.
fn mark(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find(|line| line.starts_with(name)).expect("a high-water mark");
    line.split_whitespace().nth(1).and_then(|kib| kib.parse().ok()).expect("a number")
}

/// In the process of its own: loads, and says by how much the mark rose.
#[test]
fn a_load_in_a_process_of_its_own() {
    let Ok(path) = std::env::var(FILE) else { return };
    let kind: usize = std::env::var(KIND).expect("it is said").parse().expect("a number");
    let (to, each, staged, caps, _) = KINDS[kind];
    let device = pollster::block_on(async {
        let adapter = noop(caps()).await?;
        adapter.open(adapter.negotiate(&Policy::exact())).await
    })
    .expect("the noop backend opens");
    let archive = Archive::open(path).expect("a header");
    let shipment = archive.shipment_as(|_| to).expect("f32");
    let (before, mut reserved) = (mark("VmHWM:"), None);
    let carried = device.upload_set_with(&shipment, |_| {
        // All of it has its memory now: from here on counts what is needed to carry it.
        reserved.get_or_insert_with(|| (mark("VmHWM:"), mark_again()));
    });
    let (set, receipt) = carried.expect("it fits");
    let tensors = archive.tensors().len();
    assert_eq!((set.len(), receipt.bytes_staged()), (each * tensors, staged << 20), "{receipt}");
    let (most, had) = reserved.expect("something was carried");
    let (rose, after) = (most.max(mark("VmHWM:")) - before, mark("VmHWM:").saturating_sub(had));
    println!("rose by {rose} KiB, while it was carried by {after} KiB");
}

/// Lets the mark begin again at what there is now, which is returned.
fn mark_again() -> u64 {
    std::fs::write("/proc/self/clear_refs", "5").expect("Linux");
    mark("VmHWM:")
}

/// A file of 256 MiB becomes what each takes, which this backend has in host memory too, and which
/// it makes a tensor at a time from a copy: the least that is seen of a load is a tensor more.
#[test]
fn a_load_holds_no_more_than_what_is_staged() {
    for (tensors, kind) in [(8, 0), (512, 0), (8, 1), (4, 2), (512, 2), (4, 3)] {
        let (to, _, bytes, _, staged) = KINDS[kind];
        let (rose, carried) = rise(tensors, kind);
        println!("{rose} KiB of {tensors} tensors as {to:?}, {carried} KiB of it to carry them");
        assert!(rose <= (bytes + BESIDES) << 10, "{rose} KiB for {bytes} MiB: {tensors}, {to:?}");
        assert!(carried <= staged << 10, "{carried} KiB to carry {tensors} as {to:?}");
    }
}

/// The same, where a few hundred KiB inflate to 256 MiB.
#[test]
fn what_is_inflated_is_never_there_as_a_whole() {
    use super::bundles::{Made, zip};

    let path = super::scratch("inflated");
    let zeros = |name| Made::zeros(name, "(8388608,)", 8 << 20, 0);
    let all = ["a.npy", "b.npy", "c.npy", "d.npy", "e.npy", "f.npy", "g.npy", "h.npy"];
    std::fs::write(&path, zip(&all.map(zeros))).expect("written");
    let (rose, carried) = rise_by(&path, 2);
    println!("{rose} KiB of what is inflated, {carried} KiB of it to carry it");
    assert!(rose <= (128 + BESIDES) << 10, "{rose} KiB for 128 MiB");
}

/// In the process of its own: opens each file of a folder, and says by how much the marks rose.
#[test]
fn files_that_are_refused_in_a_process_of_their_own() {
    let Ok(folder) = std::env::var(REFUSED) else { return };
    let mut files: Vec<_> = (std::fs::read_dir(folder).expect("a folder").flatten())
        .map(|entry| entry.path())
        .collect();
    files.sort();
    let [had, asked] = ["VmHWM:", "VmPeak:"].map(mark);
    for file in files {
        let before = mark("VmHWM:");
        drop(Archive::open(&file).expect_err("it is refused"));
        println!("{} KiB more for {}", mark("VmHWM:") - before, file.display());
    }
    let [had, asked] = [mark("VmHWM:") - had, mark("VmPeak:") - asked];
    println!("rose by {had} KiB, asked for {asked} KiB more");
}

/// In the process of its own: uploads four bytes a hundred thousand times, of which none is kept,
/// and says by how much the mark rose.
#[test]
fn tiny_uploads_in_a_process_of_their_own() {
    if std::env::var_os(TINY).is_none() {
        return;
    }
    let device = super::device(|caps| caps);
    let up = || drop(device.upload(&[1.0f32], [1]).expect("it fits"));
    up();
    let before = mark("VmHWM:");
    (0..100_000).for_each(|_| up());
    println!("rose by {} KiB", mark("VmHWM:") - before);
}

/// What it takes to stage one is far more than its four bytes.
#[test]
fn tiny_uploads_are_sent_before_they_pile_up() {
    let text = apart("tiny_uploads_in_a_process_of_their_own", &[(TINY, "1".as_ref())]);
    let rose = number_after(&text, "rose by ");
    println!("{rose} KiB of tiny uploads");
    assert!(rose <= 16 << 10, "{rose} KiB");
}

/// By how many KiB the mark rises where so many tensors are loaded, and while they are carried.
fn rise(tensors: u64, kind: usize) -> (u64, u64) {
    let bytes = (256 << 20) / tensors;
    let shape = [bytes / 2048, 512];
    let entry = |i: u64| {
        let place = [i * bytes, (i + 1) * bytes];
        format!(r#""{i}":{{"dtype":"F32","shape":{shape:?},"data_offsets":{place:?}}}"#)
    };
    let header = format!("{{{}}}", (0..tensors).map(entry).collect::<Vec<_>>().join(","));
    let path = super::scratch(&format!("peak-{tensors}-{kind}"));
    let length = (header.len() as u64).to_le_bytes();
    std::fs::write(&path, [&length[..], header.as_bytes()].concat()).expect("written");
    let sparse = std::fs::OpenOptions::new().write(true).open(&path).expect("there");
    sparse.set_len(8 + header.len() as u64 + tensors * bytes).expect("a file with a hole");
    rise_by(&path, kind)
}

/// By how many KiB the mark rises where a file is loaded, which goes then.
fn rise_by(path: &Path, kind: usize) -> (u64, u64) {
    let kind = kind.to_string();
    let text =
        apart("a_load_in_a_process_of_its_own", &[(FILE, path.as_ref()), (KIND, kind.as_ref())]);
    let _ = std::fs::remove_file(path);
    (number_after(&text, "rose by "), number_after(&text, "carried by "))
}

/// What a test prints in a process of its own.
fn apart(test: &str, said: &[(&str, &std::ffi::OsStr)]) -> String {
    let output = Command::new(std::env::current_exe().expect("this program"))
        .args([&format!("peak::{test}"), "--exact", "--nocapture"])
        .envs(said.iter().copied())
        .output();
    String::from_utf8_lossy(&output.expect("it runs").stdout).into_owned()
}

fn number_after(text: &str, word: &str) -> u64 {
    let number = text.split(word).nth(1).and_then(|rest| rest.split(' ').next()?.parse().ok());
    number.unwrap_or_else(|| panic!("{text}"))
}

/// Every file of the three tables.
fn hostile() -> impl Iterator<Item = (String, Vec<u8>)> {
    use super::files::{hostile_headers, hostile_places};
    use super::formats::{HOSTILE, spoiled};

    let tensors = hostile_headers().into_iter().chain(hostile_places());
    let tensors = tensors.map(|(what, content, _)| (what.to_owned(), content));
    tensors.chain(spoiled(&HOSTILE)).chain(spoiled(&super::bundles::WRONG))
}

/// However much they promise.
#[test]
fn files_that_are_refused_take_no_memory() {
    let folder = super::scratch("refused");
    std::fs::create_dir_all(&folder).expect("a folder");
    let mut count = 0;
    for (what, content) in hostile() {
        let name: String =
            what.chars().map(|c| if c.is_alphanumeric() { c } else { '-' }).collect();
        std::fs::write(folder.join(format!("{count:02}-{name}")), content).expect("written");
        count += 1;
    }
    let test = "files_that_are_refused_in_a_process_of_their_own";
    let text = apart(test, &[(REFUSED, folder.as_ref())]);
    let _ = std::fs::remove_dir_all(&folder);
    let (had, asked) = (number_after(&text, "rose by "), number_after(&text, "asked for "));
    println!("{had} KiB, and {asked} KiB asked for, by {count} files");
    assert!(count > 60 && had <= 6 << 10 && asked <= 6 << 10, "{text}");
}
