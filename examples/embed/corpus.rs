//! Search in a corpus: the lines of a file, their embeddings kept beside it.
//!
//! Lines are read, embedded and written a window at a time, so that memory does not grow with the
//! corpus; a run that is killed goes on where the kept embeddings end. Scores are computed on the
//! device, a window of embeddings at a time.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use wharf::{Device, HostView, Shipment};

use super::embedder::{Embedder, Failure, Storage};
use super::model::WIDTH;
use super::{pace, say};

/// Lines that are embedded, and scored, at once.
const WINDOW: usize = 512;

const RECORD: u64 = (WIDTH * size_of::<f32>()) as u64;

/// Where the embeddings of a corpus are kept.
fn kept(corpus: &Path, storage: Storage) -> PathBuf {
    let name = match storage {
        Storage::Numbers(dtype) => dtype.name(),
        Storage::Blocks => "q8",
    };
    let mut path = corpus.as_os_str().to_os_string();
    path.push(format!(".{name}.embeddings"));
    path.into()
}

/// The best lines for a query with their scores, the best first.
pub(crate) fn search(
    device: &Device,
    embedder: &mut Embedder,
    storage: Storage,
    corpus: &Path,
    query: &str,
    top: usize,
) -> Result<Vec<(f32, String)>, Failure> {
    let path = kept(corpus, storage);
    let lines = embed(embedder, corpus, &path)?;
    let query = embedder.embed(&[query])?.concat();
    let best = score(device, &path, lines, &query, top)?;
    let mut found: Vec<(f32, usize, String)> = Vec::new();
    for (n, line) in BufReader::new(File::open(corpus)?).lines().enumerate() {
        let line = line?;
        if let Some((score, _)) = best.iter().find(|(_, place)| *place == n) {
            found.push((*score, n, line));
        }
    }
    found.sort_by(|(a, ..), (b, ..)| b.total_cmp(a));
    Ok(found.into_iter().map(|(score, _, line)| (score, line)).collect())
}

/// Embeds the lines that have no kept embedding yet; returns how many lines there are.
fn embed(embedder: &mut Embedder, corpus: &Path, path: &Path) -> Result<usize, Failure> {
    let all = BufReader::new(File::open(corpus)?).lines().count();
    let mut file =
        OpenOptions::new().create(true).truncate(false).read(true).write(true).open(path)?;
    // Only whole records count: the last write may have been cut short.
    let done = usize::try_from(file.metadata()?.len() / RECORD)?;
    if done > all {
        return Err(format!("{} has more lines than {}", path.display(), corpus.display()).into());
    }
    file.set_len(done as u64 * RECORD)?;
    file.seek(SeekFrom::End(0))?;
    if done > 0 {
        say(&format!("{done} of {all} embeddings are kept\n"));
    }
    let began = Instant::now();
    let mut lines = BufReader::new(File::open(corpus)?).lines().skip(done);
    let mut now = done;
    while now < all {
        let window = lines.by_ref().take(WINDOW).collect::<Result<Vec<String>, _>>()?;
        for vector in embedder.embed(&window)? {
            let bytes: Vec<u8> = vector.iter().flat_map(|x| x.to_le_bytes()).collect();
            file.write_all(&bytes)?;
        }
        file.flush()?;
        now += window.len();
        say(&pace(now - done, all - done, began));
        if window.is_empty() {
            break;
        }
    }
    say("\n");
    Ok(all)
}

/// The lines whose embeddings are nearest to the query's, with their scores.
fn score(
    device: &Device,
    path: &Path,
    lines: usize,
    query: &[f32],
    top: usize,
) -> Result<Vec<(f32, usize)>, Failure> {
    let (query, _) = device.upload(query, [1, WIDTH])?;
    let mut file = BufReader::new(File::open(path)?);
    let mut best: Vec<(f32, usize)> = Vec::new();
    for first in (0..lines).step_by(WINDOW) {
        let count = WINDOW.min(lines - first);
        let mut bytes = vec![0; count * WIDTH * size_of::<f32>()];
        file.read_exact(&mut bytes)?;
        let view = HostView::from_bytes(wharf::DType::F32, &bytes, [count, WIDTH])?;
        let mut shipment = Shipment::new();
        shipment.add("window", view)?;
        let (set, _) = device.upload_set(&shipment)?;
        let window = set.get("window").ok_or_else(|| wharf::Error::missing("window"))?;
        let scores = query.linear(window, None, None)?.to_vec::<f32>()?;
        best.extend(scores.into_iter().zip(first..));
        best.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        best.truncate(top);
    }
    Ok(best)
}
