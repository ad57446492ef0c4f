//! A published model: its embeddings of varied sentences beside those of another implementation,
//! which are committed (`tests/goldens/embed`), and so are the tokens.

use wharf::Device;
use wharf::io::Archive;

use wharf::ledger::Crossings;

use crate::ctx::{Case, Ctx, DOWNGRADES, Outcome, case, ensure, ensure_eq, is_slow, show};
use weights::Storage;

#[path = "../../../examples/embed/batch.rs"]
mod batch;
#[path = "../../../examples/embed/model.rs"]
mod model;
#[path = "../../../examples/embed/weights.rs"]
mod weights;

/// What weights are stored as, the lowest cosine, and the largest difference of a component.
const STORED: [(&str, f64, f32); 4] =
    [("f32", 0.999_999, 1e-5), ("f16", 0.9999, 1e-3), ("bf16", 0.9999, 1e-2), ("q8", 0.999, 1e-2)];

/// The most tokens of a sentence whose weights are not f32, on drivers that compute slowly.
const LONGEST: usize = 128;

/// Sentences of so many tokens at most are embedded alone as well.
const SHORT: usize = 64;

/// Sequences of a batch, at most.
const BATCH_MAX: usize = 8;

pub(crate) fn cases() -> Vec<Case> {
    let cases = STORED.iter().map(|(name, least, most)| {
        case!(format!("published::{name}"), |ctx| near(ctx, name, (*least, *most)))
    });
    cases.collect()
}

/// The tokens of each sentence, and its embedding.
fn sentences() -> Option<Vec<(Vec<u32>, Vec<f32>)>> {
    let tokens = include_str!("../../goldens/embed/tokens.txt").lines();
    let tokens = tokens.map(|line| line.split(' ').map(|id| id.parse().ok()).collect());
    // A sentence, and the bits of its embedding.
    let vectors = include_str!("../../goldens/embed/vectors.txt").lines().skip(1).step_by(2);
    let vectors = vectors.map(|line| {
        let words = (0..line.len()).step_by(8).map(|at| line.get(at..at + 8));
        words.map(|word| Some(f32::from_bits(u32::from_str_radix(word?, 16).ok()?))).collect()
    });
    tokens.zip(vectors).map(|(ids, vector): (Option<_>, Option<_>)| Some((ids?, vector?))).collect()
}

fn cosine(a: &[f32], b: &[f32]) -> f64 {
    let dot = |a: &[f32], b: &[f32]| {
        a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum::<f64>()
    };
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}

/// The embeddings of some sentences, one after the other.
async fn embedded(
    device: &Device,
    model: &model::Model,
    ids: &[&[u32]],
) -> Result<Vec<f32>, String> {
    let (ids, there) = batch::padded(device, ids).map_err(show)?;
    let guard = device.guard(Crossings::Deny);
    let vectors = model.embed(&ids, &there).map_err(show)?;
    vectors.compute().map_err(show)?;
    drop(guard);
    vectors.read().await.map_err(show)
}

/// Every sentence, shortest first, in batches where some are padded; and the first of a batch
/// alone, to the same bits.
async fn near(ctx: &Ctx, name: &str, (least, most): (f64, f32)) -> Outcome {
    let device = ctx.fresh(DOWNGRADES[0]).await?.with_batch_invariance();
    let storage = Storage::parse(name).ok_or("no name of the example's")?;
    ensure_eq!(storage.name(), name, "its name");
    let archive = Archive::from_bytes(crate::files::model().await?).map_err(show)?;
    let (model, receipt) = weights::load(&device, archive, storage, |_| ()).map_err(show)?;
    ensure_eq!(receipt.values(), 22_565_376, "parameters of the file: {receipt}");
    let mut sentences = sentences().ok_or("the committed sentences are no numbers")?;
    ensure_eq!(sentences.len(), 26, "sentences");
    let is_quick = name == "f32" || !is_slow(ctx.adapter.caps());
    let longest = if is_quick { model::TOKENS_MAX } else { LONGEST };
    sentences.retain(|(ids, _)| ids.len() <= longest);
    sentences.sort_by_key(|(ids, _)| ids.len());
    let (mut lowest, mut largest) = (1f64, 0f32);
    let mut rest = &sentences[..];
    while !rest.is_empty() {
        let count = batch::alike(rest.iter().map(|(ids, _)| &**ids), BATCH_MAX);
        let (together, later) = rest.split_at(count);
        rest = later;
        let ids: Vec<&[u32]> = together.iter().map(|(ids, _)| &**ids).collect();
        let vectors = embedded(&device, &model, &ids).await?;
        if count > 1 && ids[0].len() <= SHORT {
            let alone = embedded(&device, &model, &ids[..1]).await?;
            ensure!(alone == vectors[..model::WIDTH], "{} tokens: other bits alone", ids[0].len());
        }
        ensure_eq!(vectors.len(), count * model::WIDTH, "numbers of {count} sentences");
        for ((ids, want), got) in together.iter().zip(vectors.chunks(model::WIDTH)) {
            let far = want.iter().zip(got).map(|(a, b)| (a - b).abs());
            let (near, far) = (cosine(want, got), far.fold(0f32, f32::max));
            ensure!(near >= least, "{} tokens: cosine {near}, {far:e} at most", ids.len());
            ensure!(far <= most, "{} tokens: a component off by {far:e}", ids.len());
            (lowest, largest) = (lowest.min(near), largest.max(far));
        }
    }
    println!("{name}: cosine {lowest:.9}, component {largest:.2e}");
    Ok(())
}
