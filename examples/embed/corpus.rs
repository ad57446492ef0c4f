//! Search in a corpus: the lines of a file, their embeddings kept beside it.
//!
//! Lines are read, embedded and written a window at a time, so that memory does not grow with the
//! corpus; a run that is killed goes on where the kept embeddings end. Scores are computed on the
//! device, a window of embeddings at a time.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::time::Instant;

use wharf::{Device, HostBytes, Shipment};

use super::embedder::{Embedder, Failure};
use super::kept::{Kept, stamp};
use super::model::WIDTH;
use super::say::{pace, say};

/// Lines that are embedded, kept, and scored, at once: four batches.
const WINDOW: usize = 128;

/// What is looked for, and where.
#[derive(Debug)]
pub(crate) struct Search<'a> {
    /// The folder of the model, and what its weights are stored as.
    pub(crate) model: (&'a Path, &'a str),
    pub(crate) corpus: &'a Path,
    pub(crate) query: &'a str,
    /// How many lines are asked for.
    pub(crate) top: usize,
}

impl Search<'_> {
    /// Where the embeddings of the corpus are kept.
    pub(crate) fn kept(&self) -> PathBuf {
        let mut path = self.corpus.as_os_str().to_os_string();
        path.push(format!(".{}.embeddings", self.model.1));
        path.into()
    }

    /// The best lines with their scores, the best first.
    pub(crate) fn run(
        &self,
        device: &Device,
        embedder: &mut Embedder,
    ) -> Result<Vec<(f32, String)>, Failure> {
        let kept = self.embed(embedder)?;
        let query = embedder.embed(&[self.query])?.concat();
        let best = self.score(device, &kept, &query)?;
        let mut found: Vec<(f32, usize, String)> = Vec::new();
        for (n, line) in self.lines()?.enumerate() {
            let line = line?;
            if let Some((score, _)) = best.iter().find(|(_, place)| *place == n) {
                found.push((*score, n, line));
            }
        }
        found.sort_by(|(a, ..), (b, ..)| b.total_cmp(a));
        Ok(found.into_iter().map(|(score, _, line)| (score, line)).collect())
    }

    fn lines(&self) -> std::io::Result<std::io::Lines<BufReader<File>>> {
        Ok(BufReader::new(File::open(self.corpus)?).lines())
    }

    /// Embeds the lines that have no kept embedding yet.
    fn embed(&self, embedder: &mut Embedder) -> Result<Kept, Failure> {
        let (all, path) = (self.lines()?.count(), self.kept());
        let stamp = stamp(self.model.0, self.model.1)?;
        let mut kept = Kept::open(&path, &stamp, self.lines()?, WINDOW)?;
        if let Some(remark) = &kept.remark {
            say(&format!("{}: {remark}\n", path.display()));
        }
        let done = kept.done;
        if done > 0 {
            say(&format!("{done} of {all} embeddings are kept\n"));
        }
        let began = Instant::now();
        let mut lines = self.lines()?.skip(done);
        while kept.done < all {
            let window = lines.by_ref().take(WINDOW).collect::<Result<Vec<String>, _>>()?;
            if window.is_empty() {
                return Err(format!("{} became shorter", self.corpus.display()).into());
            }
            kept.keep(&window, &embedder.embed(&window)?)?;
            say(&pace(kept.done - done, all - done, began));
        }
        say("\n");
        Ok(kept)
    }

    /// The lines whose embeddings are nearest to the query's, with their scores.
    fn score(
        &self,
        device: &Device,
        kept: &Kept,
        query: &[f32],
    ) -> Result<Vec<(f32, usize)>, Failure> {
        let (query, _) = device.upload(query, [1, WIDTH])?;
        let mut embeddings = kept.embeddings()?;
        let mut best: Vec<(f32, usize)> = Vec::new();
        for first in (0..kept.done).step_by(WINDOW) {
            let count = WINDOW.min(kept.done - first);
            let bytes = embeddings.next(count)?;
            let view = HostBytes::new(&bytes, [count, WIDTH], wharf::DType::F32)?;
            let mut shipment = Shipment::new();
            shipment.add("window", view)?;
            let (set, _) = device.upload_set(&shipment)?;
            let window = set.tensor("window")?;
            let scores = query.linear(window, None)?.read_now::<f32>()?;
            best.extend(scores.into_iter().zip(first..));
            best.sort_by(|(a, _), (b, _)| b.total_cmp(a));
            best.truncate(self.top);
        }
        Ok(best)
    }
}
