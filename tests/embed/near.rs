//! What embeddings are made of, what crosses for them, and what they depend on. How near they are
//! to another implementation's, on every driver, the gpu tier says (`published::`).

use std::path::PathBuf;

use wharf::tensor::Blocks;
use wharf::{DType, Device, Policy};

use super::embedder::{self, Embedder};
use super::not_run;
use super::weights::Storage;

pub(crate) fn folder() -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("target/models/all-MiniLM-L6-v2");
    assert!(folder.join("model.safetensors").is_file(), "fetch the model: scripts/fetch-model");
    folder
}

/// Without an adapter this fails, unless `WHARF_TEST_NO_GPU=1` says so: aloud, past what captures a
/// test's own output.
pub(crate) fn device() -> Option<Device> {
    if not_run::without_gpu() {
        return None;
    }
    Some(Device::best_now(&Policy::exact()).expect("an adapter; without one: WHARF_TEST_NO_GPU=1"))
}

/// The gpu tier has no tokenizer: it takes the tokens of the sentences from a file, which are those
/// that an embedder makes. `WHARF_GOLDENS=1` writes them.
#[test]
fn the_tokens_of_the_sentences_are_those_of_the_file() {
    if device().is_none() {
        return;
    }
    let tokenizer = embedder::tokenizer(&folder()).expect("it is there");
    let sentences = include_str!("../goldens/embed/vectors.txt").lines().step_by(2);
    let tokens = sentences.map(|line| {
        let sentence: String = serde_json::from_str(line).expect("a JSON text");
        let tokens = tokenizer.encode(sentence, true).expect("tokens");
        tokens.get_ids().iter().map(u32::to_string).collect::<Vec<_>>().join(" ") + "\n"
    });
    let (tokens, path) = (tokens.collect::<String>(), "tests/goldens/embed/tokens.txt");
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(path);
    if std::env::var("WHARF_GOLDENS").is_ok_and(|value| value == "1") {
        std::fs::write(&path, &tokens).expect("it is written");
    }
    assert!(std::fs::read_to_string(path).unwrap_or_default() == tokens, "other tokens:\n{tokens}");
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

/// The same bits in every run, alone and among others, some of which make it padded.
#[test]
fn an_embedding_does_not_depend_on_its_batch() {
    let Some(device) = device() else { return };
    let long = ["many words", &"and more of them ".repeat(9)].concat();
    let longer = ["many words", &"and more of them ".repeat(9), "still"].concat();
    let texts = ["the first text", "a second text", "", "unbelievable", &long, &longer];
    for storage in [Storage::Numbers(DType::F32), Storage::Blocks(Blocks::Q8)] {
        let mut embedder = Embedder::open(&device, &folder(), storage, |_| ()).expect("it loads");
        let alone: Vec<Vec<f32>> =
            texts.iter().flat_map(|text| embedder.embed(&[text]).expect("it computes")).collect();
        for copies in [1, 1, 40] {
            let many = embedder.embed(&texts.repeat(copies)).expect("it computes");
            let same = many.chunks(texts.len()).all(|few| few == alone);
            assert!(same, "{} of {copies} times as many: other bits", storage.name());
        }
    }
}

/// Those that need an adapter, or the model, which is not fetched without one.
const NEEDY: [&str; 10] = [
    "check::the_published_model_is_weighed_tensor_by_tensor",
    "check::what_is_foretold_is_what_arrives",
    "near::an_embedding_does_not_depend_on_its_batch",
    "near::the_tokens_of_the_sentences_are_those_of_the_file",
    "near::what_crosses_is_counted_to_the_byte",
    "pass::a_pass_is_explained_before_it_runs",
    "pass::what_a_pass_runs_is_known_on_paper",
    "program::texts_are_compared_and_what_crossed_is_said",
    "program::without_arguments_it_compares_sentences_of_its_own",
    "resume::a_run_that_is_killed_goes_on_where_it_was",
];

#[test]
fn what_is_not_run_is_said() {
    not_run::each_says_so(&NEEDY);
}
