//! Embeddings that are kept in a file: of which model, and of which lines.
//!
//! ```text
//! stamp: what they were made by                     64 bytes
//! for each line: a hash of the line, its embedding
//! ```
//!
//! Nothing in the file is believed. Another stamp begins it anew; a torn end, or a line that is
//! another one now, ends what counts. Where lines are missing only whole windows count, so that a
//! run that goes on makes the same batches as one that was never killed, and the same embeddings to
//! the bit.

use std::fs::{File, OpenOptions};
use std::io::{BufReader, ErrorKind, Read, Result, Seek, SeekFrom, Write};
use std::path::Path;

use super::model::WIDTH;

const STAMP: u64 = 64;
const HASH: u64 = 8;
const RECORD: u64 = HASH + (WIDTH * size_of::<f32>()) as u64;

/// FNV-1a: the same in every program.
fn hash(bytes: impl IntoIterator<Item = u8>) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.into_iter().fold(0xcbf2_9ce4_8422_2325, step)
}

/// What embeddings are made by: the dtype, and the model's files by their lengths and a sample of
/// their bytes.
pub(crate) fn stamp(folder: &Path, dtype: &str) -> Result<[u8; STAMP as usize]> {
    const PIECES: u64 = 256;
    let mut sample = Vec::new();
    for name in ["model.safetensors", "tokenizer.json"] {
        let mut file = File::open(folder.join(name))?;
        let length = file.metadata()?.len();
        sample.extend(length.to_le_bytes());
        for i in 0..PIECES {
            file.seek(SeekFrom::Start(length / PIECES * i))?;
            Read::by_ref(&mut file).take(4096).read_to_end(&mut sample)?;
        }
    }
    let text = format!("wharf embeddings 2, {dtype}, {:016x}\n", hash(sample));
    let mut stamp = [b' '; STAMP as usize];
    stamp[..text.len()].copy_from_slice(text.as_bytes());
    Ok(stamp)
}

/// The file, open at the end of what counts.
pub(crate) struct Kept {
    file: File,
    /// Lines whose embeddings are there.
    pub(crate) done: usize,
    /// What was wrong with it, where something was.
    pub(crate) remark: Option<String>,
}

impl Kept {
    /// Opens the file, or makes it, and finds out how many of the lines it has: all of them, or
    /// whole windows.
    pub(crate) fn open(
        path: &Path,
        stamp: &[u8; STAMP as usize],
        lines: impl Iterator<Item = Result<String>>,
        window: usize,
    ) -> Result<Self> {
        let mut file =
            OpenOptions::new().create(true).truncate(false).read(true).write(true).open(path)?;
        let length = file.metadata()?.len();
        let mut there = [0; STAMP as usize];
        let stamped = match file.read_exact(&mut there) {
            Ok(()) => there == *stamp,
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => false,
            Err(error) => return Err(error),
        };
        let (mut done, mut remark, mut lines) = (0, None, lines);
        if stamped {
            (done, remark) = count(&file, length, &mut lines)?;
            if remark.is_some() || lines.next().is_some() {
                done -= done % window;
            }
        } else if length > 0 {
            remark = Some("they are of another model or dtype: begun anew".into());
            file.set_len(0)?;
        }
        if done == 0 {
            file.seek(SeekFrom::Start(0))?;
            file.write_all(stamp)?;
        }
        let end = STAMP + done as u64 * RECORD;
        file.set_len(end)?;
        file.seek(SeekFrom::Start(end))?;
        Ok(Self { file, done, remark })
    }

    /// Keeps a window: after this it is there, whatever becomes of the process.
    pub(crate) fn keep(&mut self, lines: &[String], vectors: &[Vec<f32>]) -> Result<()> {
        let mut bytes = Vec::with_capacity(lines.len() * RECORD as usize);
        for (line, vector) in lines.iter().zip(vectors) {
            bytes.extend(hash(line.bytes()).to_le_bytes());
            bytes.extend(vector.iter().flat_map(|x| x.to_le_bytes()));
        }
        self.file.write_all(&bytes)?;
        self.file.sync_data()?;
        self.done += lines.len();
        Ok(())
    }

    /// The embeddings from the first on.
    pub(crate) fn embeddings(&self) -> Result<Embeddings> {
        let mut file = self.file.try_clone()?;
        file.seek(SeekFrom::Start(STAMP))?;
        Ok(Embeddings(BufReader::new(file)))
    }
}

/// How many lines have their embedding, and why those after them do not count.
fn count(
    file: &File,
    length: u64,
    lines: &mut impl Iterator<Item = Result<String>>,
) -> Result<(usize, Option<String>)> {
    let whole = (length - STAMP) / RECORD;
    let torn = (length - STAMP) % RECORD;
    let mut records = BufReader::new(file);
    for done in 0..whole as usize {
        let mut there = [0; HASH as usize];
        records.read_exact(&mut there)?;
        records.seek_relative((RECORD - HASH) as i64)?;
        let Some(line) = lines.next().transpose()? else {
            let remark = format!("there are {whole}, and only {done} lines: the rest is dropped");
            return Ok((done, Some(remark)));
        };
        if hash(line.bytes()) != u64::from_le_bytes(there) {
            let remark = format!("line {} is another one now: computed again from there", done + 1);
            return Ok((done, Some(remark)));
        }
    }
    let remark = format!("the last is torn, {torn} of {RECORD} bytes: computed again");
    Ok((whole as usize, (torn > 0).then_some(remark)))
}

/// Kept embeddings, read from the front.
pub(crate) struct Embeddings(BufReader<File>);

impl Embeddings {
    /// The bytes of the next ones.
    pub(crate) fn next(&mut self, count: usize) -> Result<Vec<u8>> {
        let mut bytes = Vec::with_capacity(count * WIDTH * size_of::<f32>());
        for _ in 0..count {
            self.0.seek_relative(HASH as i64)?;
            let from = bytes.len();
            bytes.resize(from + WIDTH * size_of::<f32>(), 0);
            self.0.read_exact(&mut bytes[from..])?;
        }
        Ok(bytes)
    }
}
