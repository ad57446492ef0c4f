//! Files with bytes changed at random: whatever opens lies inside of the file, and arrives or says
//! why it does not; nothing panics, and memory is as it was.
//!
//! `WHARF_FUZZ` says how many are tried, and `WHARF_FUZZ_SEED` which: those of a run that failed
//! come again by the seed that it printed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use safetensors::tensor::{Dtype, TensorView, serialize};
use wharf::{DType, Device, ErrorKind};

use super::capable;
use super::files::menagerie;
use super::formats::{golden, opened};
use super::random::Random;

/// Seconds in CI; as many as `WHARF_FUZZ` says otherwise.
fn rounds() -> usize {
    std::env::var("WHARF_FUZZ").ok().and_then(|n| n.parse().ok()).unwrap_or(2000)
}

/// Numbers from this seed, or from that of `WHARF_FUZZ_SEED`.
fn draws(seed: u64) -> Random {
    let asked = std::env::var("WHARF_FUZZ_SEED").ok();
    let seed = asked.map_or(seed, |seed| seed.parse().expect("a seed is a number"));
    println!("WHARF_FUZZ_SEED={seed}");
    Random::new(seed)
}

fn one_of(draws: &mut Random, all: &[u8]) -> u8 {
    all[draws.below(all.len())]
}

fn byte(draws: &mut Random) -> u8 {
    draws.below(256).to_le_bytes()[0]
}

/// Where to change something: in a header, and seldom in the blanks that fill it up.
fn place(draws: &mut Random, content: &[u8]) -> usize {
    let mut places = core::iter::repeat_with(|| draws.below(content.len().min(1000)));
    let is_said = |at: &usize| content[*at] != b' ';
    places.by_ref().take(8).find(is_said).unwrap_or(0)
}

/// What became of all that was tried.
struct Tried {
    device: Device,
    path: PathBuf,
    is_zip: bool,
    opened: usize,
    refused: usize,
    arrived: usize,
}

impl Tried {
    fn at(name: &str) -> Self {
        let (path, is_zip) = (super::scratch(name), name.ends_with(".npz"));
        Self { device: capable(), path, is_zip, opened: 0, refused: 0, arrived: 0 }
    }

    /// Opens a file, which with those beside it has so many bytes, and carries what opens. Of
    /// values only a bool that is none is refused then, and in a zip what its checksum tells.
    fn open(&mut self, path: &Path, bytes: u64) {
        let archive = match opened(path) {
            Ok(archive) => archive,
            Err(error) => {
                assert!(error.kind() != ErrorKind::Internal, "{error:?}");
                self.refused += 1;
                return;
            }
        };
        self.opened += 1;
        let total: u64 = archive.tensors().iter().map(|tensor| tensor.bytes()).sum();
        assert!(total <= bytes, "{total} bytes of values in {bytes}");
        let known = archive.keep(|tensor| tensor.dtype().is_some());
        for tensor in known.tensors() {
            let width = tensor.dtype().map_or(0, DType::width);
            let takes = (tensor.shape().elements() * width) as u64;
            assert!(self.is_zip || tensor.bytes() == takes, "{tensor:?}: {}", tensor.bytes());
        }
        let shipment = known.shipment().expect("what opens can be asked for");
        match self.device.upload_set(&shipment) {
            Ok((set, _)) => {
                self.arrived += 1;
                assert_eq!(set.len(), known.tensors().len(), "all of it");
            }
            Err(error) => {
                let late = [ErrorKind::Conversion, ErrorKind::File];
                let kinds = &late[..if self.is_zip { 2 } else { 1 }];
                assert!(kinds.contains(&error.kind()), "{error:?}");
            }
        }
    }

    /// All happened, and nothing is left.
    fn done(&self, what: &str) {
        let Self { device, opened, refused, arrived, .. } = self;
        println!("{what}: {arrived} of {opened} that opened arrived, {refused} were refused");
        assert!(*arrived > 0 && *refused > 0, "{what}: {opened} opened");
        assert_eq!(device.memory().bytes_live, 0, "{what}: nothing is kept");
    }
}

#[test]
fn a_file_with_any_bytes_changed_opens_or_says_why() {
    let all = menagerie();
    let views: BTreeMap<&str, TensorView<'_>> = all
        .iter()
        .filter(|(_, _, shape, _)| shape.len() != 1)
        .map(|(name, (_, dtype), shape, data)| {
            (&**name, TensorView::new(*dtype, shape.clone(), data).expect("a view"))
        })
        .collect();
    let whole = serialize(&views, None).expect("it is written");
    let header = u64::from_le_bytes(whole[..8].try_into().expect("eight"));
    let header = usize::try_from(header).expect("small") + 8;
    let (mut draws, mut tried) = (draws(0x5eed), Tried::at("fuzz"));
    let path = tried.path.clone();
    for _ in 0..rounds() {
        let mut content = whole.clone();
        for _ in 0..=draws.below(4) {
            let at = if draws.below(8) == 0 { draws.below(8) } else { draws.below(header) };
            content[at] = match draws.below(3) {
                0 => one_of(&mut draws, b"0123456789[]{},:\"\\"),
                1 => content[draws.below(header)],
                _ => byte(&mut draws),
            };
        }
        if draws.below(4) == 0 {
            content.truncate(draws.below(content.len()));
        }
        std::fs::write(&path, &content).expect("written");
        tried.open(&path, content.len() as u64);
    }
    tried.done("safetensors");
    let _ = std::fs::remove_file(&path);
}

#[test]
fn arrays_and_models_with_any_bytes_changed_open_or_say_why() {
    let mut draws = draws(0xf11e);
    for from in ["f4.npy", "fortran.npy", "blocks.gguf", "stored.npz", "deflated.npz"] {
        let whole = std::fs::read(golden(from)).expect("there");
        let mut tried = Tried::at(from);
        let path = tried.path.clone();
        for _ in 0..rounds() / 2 {
            let mut content = whole.clone();
            for _ in 0..=draws.below(3) {
                let at = place(&mut draws, &content);
                content[at] = match draws.below(3) {
                    0 => content[draws.below(128)],
                    1 => one_of(&mut draws, b"0123456789(),'TF"),
                    _ => byte(&mut draws),
                };
            }
            match draws.below(16) {
                0 => content.truncate(draws.below(whole.len())),
                1 => content.extend_from_slice(&whole[..draws.below(32)]),
                _ => {}
            }
            std::fs::write(&path, &content).expect("written");
            tried.open(&path, content.len() as u64);
        }
        tried.done(from);
        let _ = std::fs::remove_file(&path);
    }
}

/// A file of two tensors of these names.
fn shard(names: [&str; 2]) -> Vec<u8> {
    let data = [1u8; 24];
    let floats = TensorView::new(Dtype::F32, vec![2, 3], &data).expect("a view");
    let truths = TensorView::new(Dtype::BOOL, vec![5], &data[..5]).expect("a view");
    let [first, second] = names;
    serialize(&BTreeMap::from([(first, floats), (second, truths)]), None).expect("it is written")
}

/// Bytes of the index are changed or copied over others, and now and then one of a file of it.
#[test]
fn an_index_with_any_bytes_changed_opens_or_says_why() {
    const INDEX: &str = r#"{"metadata":{"total_size":58,"by":["a",{"b":null}]},"weight_map":{
        "layer.a":"a.st","mask.a":"a.st","layer.b":"b.st","mask.b":"b.st"}}"#;
    let (mut draws, mut tried) = (draws(0x1dec5), Tried::at("fuzzed-index"));
    std::fs::create_dir_all(&tried.path).expect("a folder");
    let shards = [("a.st", ["layer.a", "mask.a"]), ("b.st", ["layer.b", "mask.b"])];
    let shards = shards.map(|(file, names)| (tried.path.join(file), shard(names)));
    let bytes = shards.iter().map(|(_, whole)| whole.len() as u64).sum();
    let path = tried.path.join("model.safetensors.index.json");
    for (file, whole) in &shards {
        std::fs::write(file, whole).expect("written");
    }
    for _ in 0..rounds() {
        let mut index = INDEX.as_bytes().to_vec();
        for _ in 0..draws.below(4) {
            let (at, from) = (draws.below(index.len()), draws.below(index.len()));
            match draws.below(4) {
                0 => index[at] = one_of(&mut draws, b"abc./:,\"{}[]"),
                1 => index[at] = byte(&mut draws),
                _ => {
                    let most = 12.min(index.len() - from).min(index.len() - at);
                    index.copy_within(from..from + draws.below(most), at);
                }
            }
        }
        let (file, whole) = &shards[draws.below(2)];
        let is_torn = draws.below(4) == 0;
        if is_torn {
            let mut content = whole.clone();
            content[draws.below(whole.len())] = byte(&mut draws);
            std::fs::write(file, content).expect("written");
        }
        std::fs::write(&path, &index).expect("written");
        tried.open(&path, bytes);
        if is_torn {
            std::fs::write(file, whole).expect("written");
        }
    }
    tried.done("indices");
    let _ = std::fs::remove_dir_all(&tried.path);
}
