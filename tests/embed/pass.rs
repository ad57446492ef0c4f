//! What a pass of the model runs: foretold before it runs, and on paper as exact text.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use wharf::caps::fixtures;
use wharf::explain::{Explanation, Watch};
use wharf::io::Archive;
use wharf::tensor::Blocks;
use wharf::{DType, Device, Policy, Tensor};

use super::near::{device, folder};
use super::not_run;
use super::weights::{self, Storage};

const STORED: [Storage; 3] =
    [Storage::Numbers(DType::F32), Storage::Numbers(DType::F16), Storage::Blocks(Blocks::Q8)];

/// A pass over two sequences of 16 tokens that nothing was asked of yet, and what watches it.
fn pass(device: &Device, storage: Storage) -> (Tensor, Watch) {
    let archive = Archive::open(folder().join("model.safetensors")).expect("a header");
    let (model, _) = weights::load(device, archive, storage, |_| ()).expect("it fits");
    let (ids, _) = device.upload(&[101u32; 32], [2, 16]).expect("it fits");
    let (there, _) = device.upload(&[true; 32], [2, 16]).expect("it fits");
    let watch = device.watch();
    (model.embed(&ids, &there).expect("it fits"), watch)
}

/// Nothing runs before it is asked for, and what is foretold of a whole pass is what runs.
#[test]
fn a_pass_is_explained_before_it_runs() {
    let Some(device) = device() else { return };
    for storage in STORED {
        let (pass, watch) = pass(&device, storage);
        let early = watch.explanation();
        let told = pass.explain();
        pass.compute().expect("it computes");
        let ran = watch.explanation();
        let [early, told, all] = [&early, &told, &ran].map(Explanation::dispatches);
        let name = storage.name();
        assert_eq!(early + told, all, "{name}: what ran before, and what was told");
        // A graph that is deep enough is computed as it grows.
        let is_deep = matches!(storage, Storage::Blocks(_));
        assert!(early == 0 || is_deep, "{name}: {early} before the pass was asked for");
    }
}

/// Of each kernel how often it runs, and how many bytes are bound for it. `WHARF_GOLDENS=1` writes
/// that.
#[test]
fn what_a_pass_runs_is_known_on_paper() {
    // It needs no adapter, but the model, which a run without an adapter does not fetch.
    if not_run::without_gpu() {
        return;
    }
    let mut page = String::new();
    for chip in ["lavapipe", "apple_m2"] {
        let chips = fixtures::all();
        let (_, caps) = chips.iter().find(|(name, _)| *name == chip).expect("it is known");
        let device = Device::on_paper(caps, &Policy::exact()).expect("it is on paper");
        for storage in STORED {
            let (pass, watch) = pass(&device, storage);
            pass.compute().expect("it is recorded");
            let ran = watch.explanation();
            let _ = writeln!(page, "{chip}, {}: {} dispatches", storage.name(), ran.dispatches());
            let mut kernels = BTreeMap::new();
            for kernel in &ran.kernels {
                let (count, bytes) = kernels.entry(kernel.name()).or_insert((0, 0));
                (*count, *bytes) = (*count + kernel.dispatches.len(), *bytes + kernel.bytes);
            }
            for (name, (count, bytes)) in kernels {
                let _ = writeln!(page, "{count:>4} {name:<24} {bytes:>9} bytes");
            }
        }
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/goldens/embed/pass.txt");
    if std::env::var("WHARF_GOLDENS").is_ok_and(|value| value == "1") {
        std::fs::write(&path, &page).expect("it is written");
    }
    assert!(std::fs::read_to_string(&path).unwrap_or_default() == page, "otherwise:\n{page}");
}
