//! How much host memory a load takes at most, in a process of its own.

use std::process::Command;

use wharf::caps::fixtures;
use wharf::io::Archive;
use wharf::set::Arrival;
use wharf::tensor::Blocks;
use wharf::testing::noop;
use wharf::{DType, Policy};

/// What names the file in the process that loads it.
const FILE: &str = "WHARF_PEAK_FILE";

/// What says that they are to become blocks.
const BLOCKS: &str = "WHARF_PEAK_BLOCKS";

/// The most memory that this process has had, in KiB.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).expect("a high-water mark");
    line.split_whitespace().nth(1).and_then(|kib| kib.parse().ok()).expect("a number")
}

/// In the process of its own: loads, and says by how much the mark rose.
#[test]
fn a_load_in_a_process_of_its_own() {
    let Ok(path) = std::env::var(FILE) else { return };
    let device = pollster::block_on(async {
        let adapter = noop(fixtures::lavapipe()).await?;
        adapter.open(adapter.negotiate(&Policy::exact())).await
    })
    .expect("the noop backend opens");
    let archive = Archive::open(path).expect("a header");
    let blocks = std::env::var_os(BLOCKS).is_some();
    let to = if blocks { Blocks::Q8.into() } else { Arrival::Numbers(DType::F16) };
    let shipment = archive.shipment_as(|_| Some(to)).expect("f32");
    let before = peak();
    let (set, receipt) = device.upload_set(&shipment).expect("it fits");
    let (each, staged) = if blocks { (2, 68 << 20) } else { (1, 128 << 20) };
    let tensors = archive.tensors().len();
    assert_eq!((set.len(), receipt.bytes_staged()), (each * tensors, staged), "{receipt}");
    println!("rose by {} KiB", peak() - before);
}

/// A file of 256 MiB becomes 128 MiB, which this backend has in host memory too.
#[cfg(target_os = "linux")]
#[test]
fn a_load_holds_no_more_than_what_is_staged() {
    for tensors in [4, 512] {
        let rose = rise(tensors, false);
        println!("{rose} KiB of {tensors} tensors");
        assert!(rose <= (128 + 48) << 10, "{rose} KiB for 128 MiB in {tensors} tensors");
    }
}

/// The same, where they become blocks of 68 MiB in all.
#[cfg(target_os = "linux")]
#[test]
fn what_becomes_blocks_is_nowhere_as_a_whole() {
    let rose = rise(4, true);
    println!("{rose} KiB of blocks");
    assert!(rose <= (68 + 48) << 10, "{rose} KiB for 68 MiB");
}

/// The same, where a few hundred KiB inflate to 256 MiB.
#[cfg(target_os = "linux")]
#[test]
fn what_is_inflated_is_never_there_as_a_whole() {
    use super::bundles::{Made, zip};

    let path = super::scratch("inflated");
    let zeros = |name| Made::zeros(name, "(8388608,)", 8 << 20, 0);
    let all = ["a.npy", "b.npy", "c.npy", "d.npy", "e.npy", "f.npy", "g.npy", "h.npy"];
    std::fs::write(&path, zip(&all.map(zeros))).expect("written");
    let rose = rise_by(&path, false);
    println!("{rose} KiB of what is inflated");
    assert!(rose <= (128 + 48) << 10, "{rose} KiB for 128 MiB");
}

/// By how many KiB the mark rises where so many tensors are loaded.
#[cfg(target_os = "linux")]
fn rise(tensors: u64, blocks: bool) -> u64 {
    let bytes = (256 << 20) / tensors;
    let shape = [bytes / 2048, 512];
    let entry = |i: u64| {
        let place = [i * bytes, (i + 1) * bytes];
        format!(r#""{i}":{{"dtype":"F32","shape":{shape:?},"data_offsets":{place:?}}}"#)
    };
    let header = format!("{{{}}}", (0..tensors).map(entry).collect::<Vec<_>>().join(","));
    let path = super::scratch(&format!("peak-{tensors}-{blocks}"));
    let length = (header.len() as u64).to_le_bytes();
    std::fs::write(&path, [&length[..], header.as_bytes()].concat()).expect("written");
    let sparse = std::fs::OpenOptions::new().write(true).open(&path).expect("there");
    sparse.set_len(8 + header.len() as u64 + tensors * bytes).expect("a file with a hole");
    rise_by(&path, blocks)
}

/// By how many KiB the mark rises where a file is loaded, which goes then.
#[cfg(target_os = "linux")]
fn rise_by(path: &std::path::Path, blocks: bool) -> u64 {
    let output = Command::new(std::env::current_exe().expect("this program"))
        .args(["peak::a_load_in_a_process_of_its_own", "--exact", "--nocapture"])
        .env(FILE, path)
        .envs(blocks.then_some((BLOCKS, "1")))
        .output();
    let _ = std::fs::remove_file(path);
    let output = output.expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let rose = text.split("rose by ").nth(1).and_then(|rest| rest.split(' ').next()?.parse().ok());
    rose.unwrap_or_else(|| panic!("{text}"))
}
