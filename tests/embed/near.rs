//! How near the embeddings are, what crosses for them, and what they depend on.

use std::collections::BTreeMap;
use std::path::PathBuf;

use wharf::explain::Explanation;
use wharf::io::Archive;
use wharf::set::Arrival;
use wharf::tensor::Blocks;
use wharf::{DType, Device, Policy};

use super::embedder::{Embedder, Storage};
use super::model::{Model, is_matrix};

/// Sentences, and their embeddings by `transformers` with `torch` on the CPU.
fn references() -> Vec<(String, Vec<f32>)> {
    let lines: Vec<&str> = include_str!("../goldens/embed/vectors.txt").lines().collect();
    let parse = |pair: &[&str]| {
        let sentence = serde_json::from_str(pair[0]).expect("a JSON text");
        let word = |at: usize| u32::from_str_radix(&pair[1][at..at + 8], 16).expect("hexadecimal");
        let vector = (0..pair[1].len()).step_by(8).map(|at| f32::from_bits(word(at))).collect();
        (sentence, vector)
    };
    lines.chunks(2).map(parse).collect()
}

pub(crate) fn folder() -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("target/models/all-MiniLM-L6-v2");
    assert!(folder.join("model.safetensors").is_file(), "fetch the model: scripts/fetch-model");
    folder
}

/// Without an adapter this fails, unless `WHARF_TEST_NO_GPU=1` says so aloud.
pub(crate) fn device() -> Option<Device> {
    if std::env::var("WHARF_TEST_NO_GPU").is_ok_and(|value| value == "1") {
        return None;
    }
    Some(Device::best(&Policy::exact()).expect("an adapter; without one: WHARF_TEST_NO_GPU=1"))
}

fn cosine(a: &[f32], b: &[f32]) -> f64 {
    let dot = |a: &[f32], b: &[f32]| {
        a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum::<f64>()
    };
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}

/// The lowest cosine and the largest difference of a component.
fn distance(storage: Storage) -> Option<(f64, f32)> {
    let device = device()?;
    let references = references();
    assert_eq!(references.len(), 26, "sentences");
    let mut embedder = Embedder::open(&device, &folder(), storage, |_| ()).expect("it loads");
    let sentences: Vec<&str> = references.iter().map(|(sentence, _)| &**sentence).collect();
    let vectors = embedder.embed(&sentences).expect("it computes");
    let (mut lowest, mut largest) = (1f64, 0f32);
    for ((sentence, want), got) in references.iter().zip(&vectors) {
        let far = want.iter().zip(got).map(|(a, b)| (a - b).abs()).fold(0f32, f32::max);
        let near = cosine(want, got);
        assert!(near.is_finite() && far.is_finite(), "{sentence:?}");
        println!("{near:.9} {far:.1e} {:.30}", format!("{sentence:?}"));
        (lowest, largest) = (lowest.min(near), largest.max(far));
    }
    println!("{storage:?}: cosine {lowest:.9}, component {largest:.2e}");
    Some((lowest, largest))
}

#[test]
fn f32_is_what_the_reference_computes() {
    let Some((cosine, component)) = distance(Storage::Numbers(DType::F32)) else { return };
    assert!(cosine >= 0.999_999, "cosine {cosine}");
    assert!(component <= 1e-5, "component {component}");
}

#[test]
fn halves_are_near_it() {
    for dtype in [DType::F16, DType::Bf16] {
        let Some((cosine, _)) = distance(Storage::Numbers(dtype)) else { return };
        assert!(cosine >= 0.9999, "{dtype}: cosine {cosine}");
    }
}

#[test]
fn blocks_are_near_it() {
    let storage = Storage::parse("q8").expect("a name of the example");
    let Some((cosine, _)) = distance(storage) else { return };
    assert!(cosine >= 0.999, "cosine {cosine}");
}

/// Weights once, then tokens and masks up and embeddings down, to the byte.
#[test]
fn what_crosses_is_counted_to_the_byte() {
    let Some(device) = device() else { return };
    let storage = Storage::Numbers(DType::F16);
    let mut embedder = Embedder::open(&device, &folder(), storage, |_| ()).expect("it loads");
    let weights = device.ledger();
    let receipt = &embedder.receipt;
    assert!(receipt.changed() > 0, "f16 rounds: {receipt}");
    // All parameters but for the pooler's, each once: matrices of f16, vectors of f32.
    assert_eq!(receipt.values(), 22_565_376, "{receipt}");
    assert_eq!(weights.up.bytes, 2 * (22_565_376 - 30_720) + 4 * 30_720, "{weights}");
    assert_eq!((weights.up.count, weights.down.count), (101, 0), "{weights}");
    assert_eq!(device.memory().bytes_live, weights.up.bytes, "and nothing else lives there");
    let texts = ["one", "two and three", "four"];
    embedder.embed(&texts).expect("it computes");
    let ledger = device.ledger();
    // Two sequences of three tokens and one of five, a u32 and a bool each; three vectors.
    assert_eq!(ledger.up.bytes - weights.up.bytes, (2 * 3 + 5) * 5, "{ledger}");
    assert_eq!((ledger.down.count, ledger.down.bytes), (2, 3 * 384 * 4), "{ledger}");
    assert_eq!(embedder.tokens, 3 + 5 + 3, "tokens");
}

/// The same bits in every run, whatever else is in the batch, as long as nothing is padded.
#[test]
fn an_embedding_does_not_depend_on_its_batch() {
    let Some(device) = device() else { return };
    let storage = Storage::Numbers(DType::F32);
    let mut embedder = Embedder::open(&device, &folder(), storage, |_| ()).expect("it loads");
    let texts = ["the first text", "a second text", "some third text", "and another text"];
    let alone: Vec<Vec<f32>> =
        texts.iter().flat_map(|text| embedder.embed(&[text]).expect("it computes")).collect();
    let together = embedder.embed(&texts).expect("it computes");
    let again = embedder.embed(&texts).expect("it computes");
    assert!(together == again, "the same bits in every run");
    for (a, b) in alone.iter().zip(&together) {
        let far = a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0f32, f32::max);
        assert!(far <= 1e-6, "alone and together differ by {far}");
    }
    let equal = alone == together;
    println!("alone and together: {}", if equal { "the same bits" } else { "not the same bits" });
}

/// Nothing runs before it is asked for, and what is foretold of a whole pass is what runs.
#[test]
fn a_pass_is_explained_before_it_runs() {
    let Some(device) = device() else { return };
    for in_blocks in [false, true] {
        let archive = Archive::open(folder().join("model.safetensors")).expect("a header");
        let archive = archive.keep(|tensor| tensor.dtype().is_some_and(DType::is_float));
        let blocks =
            |name: &str| (in_blocks && is_matrix(name)).then_some(Arrival::Blocks(Blocks::Q8));
        let shipment = archive.shipment_as(|tensor| blocks(tensor.name())).expect("floats");
        let (set, _) = device.upload_set(&shipment).expect("it fits");
        let model = Model::of(&set).expect("all of it is there");
        let (ids, _) = device.upload(&[101u32, 2, 102, 101, 3, 102], [2, 3]).expect("it fits");
        let (there, _) = device.upload(&[true; 6], [2, 3]).expect("it fits");
        let watch = device.watch();
        let pass = model.embed(&ids, &there).expect("it fits");
        let early = watch.explanation();
        let told = pass.explain();
        pass.compute().expect("it computes");
        let ran = watch.explanation();
        let [early, told, all] = [&early, &told, &ran].map(Explanation::dispatches);
        assert_eq!(early + told, all, "what ran before, and what was told");
        // A graph that is deep enough is computed as it grows.
        assert!(early == 0 || in_blocks, "{early} before the pass was asked for");
        let mut counts = BTreeMap::new();
        for kernel in &ran.kernels {
            let (n, bytes) = counts.entry(kernel.name).or_insert((0, 0));
            (*n, *bytes) = (*n + kernel.dispatches.len(), *bytes + kernel.bytes);
        }
        println!("blocks {in_blocks}: {all} dispatches: {counts:?}");
    }
}
