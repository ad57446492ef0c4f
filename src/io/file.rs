//! A file on a disk or in memory, read piece by piece from any place.

use core::fmt;
#[cfg(any(feature = "safetensors", feature = "gguf", feature = "npz"))]
use core::ops::Deref;
use std::borrow::Cow;
use std::fs::{File, Metadata};
use std::io::{ErrorKind, Read as _, Seek as _, SeekFrom};
use std::path::Path;
use std::sync::{Arc, Mutex};

use super::cause::ArchiveCause;
use crate::dtype::DType;
use crate::error::{Cause as _, Error, Result};
use crate::host::supply::Supply;
use crate::layout::Layout;
use crate::shared::lock;

/// An open file and how long it was then.
#[derive(Debug)]
pub(super) struct Pieces {
    medium: Medium,
    pub(super) len: u64,
}

enum Medium {
    Disk(Mutex<File>),
    Memory(Cow<'static, [u8]>),
}

impl fmt::Debug for Medium {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Disk(file) => file.fmt(f),
            Self::Memory(bytes) => write!(f, "{} bytes in memory", bytes.len()),
        }
    }
}

fn unreadable(error: std::io::Error) -> Error {
    ArchiveCause::Unreadable { why: error.to_string() }.by(error)
}

/// What stopped a stream of a file, which says so itself where the file was changed.
#[cfg(any(feature = "safetensors", feature = "gguf", feature = "npz"))]
pub(super) fn stopped(error: std::io::Error) -> Error {
    error.downcast().unwrap_or_else(unreadable)
}

impl Pieces {
    pub(super) fn open(path: &Path) -> Result<Self> {
        Self::opened(path).map_err(unreadable)
    }

    fn opened(path: &Path) -> std::io::Result<Self> {
        let of_file = |about: Metadata| match about.is_file() {
            true => Ok(about),
            false => Err(std::io::Error::other("it is no file")),
        };
        // Before, because a pipe opens when somebody writes to it.
        of_file(std::fs::metadata(path)?)?;
        let file = File::open(path)?;
        let about = of_file(file.metadata()?)?;
        Ok(Self { medium: Medium::Disk(Mutex::new(file)), len: about.len() })
    }

    /// A file that lies beside another.
    #[cfg(any(feature = "safetensors", feature = "gguf"))]
    pub(super) fn beside(path: &Path, file: &str) -> Result<Arc<Self>> {
        let pieces = Self::opened(&path.with_file_name(file)).map_err(|error| {
            let why = ArchiveCause::Unreadable { why: error.to_string() }.to_string();
            ArchiveCause::Missing { file: file.to_owned(), why }.by(error)
        })?;
        Ok(Arc::new(pieces))
    }

    pub(super) fn in_memory(bytes: Cow<'static, [u8]>) -> Self {
        let len = bytes.len() as u64;
        Self { medium: Medium::Memory(bytes), len }
    }

    /// Fills `out` with the bytes from `at` on.
    pub(super) fn read(&self, at: u64, out: &mut [u8]) -> Result<()> {
        let gone = ArchiveCause::Changed { bytes: out.len() as u64, at };
        match &self.medium {
            Medium::Disk(file) => {
                let mut file = lock(file);
                let done = file.seek(SeekFrom::Start(at)).and_then(|_| file.read_exact(out));
                done.map_err(|error| match error.kind() {
                    ErrorKind::UnexpectedEof => gone.into(),
                    _ => unreadable(error),
                })
            }
            Medium::Memory(bytes) => {
                let rest = usize::try_from(at).ok().and_then(|at| bytes.get(at..));
                let part = rest.and_then(|rest| rest.get(..out.len())).ok_or(gone)?;
                out.copy_from_slice(part);
                Ok(())
            }
        }
    }

    /// The bytes `at..at + bytes` as a stream.
    #[cfg(any(feature = "safetensors", feature = "gguf", feature = "npz"))]
    pub(super) const fn stream(&self, at: u64, bytes: u64) -> FileStretch<&Self> {
        FileStretch { pieces: self, at, end: at + bytes }
    }

    /// [`Pieces::stream`], which keeps the file open.
    #[cfg(feature = "npz")]
    pub(super) fn shared(this: &Arc<Self>, at: u64, bytes: u64) -> FileStretch<Arc<Self>> {
        FileStretch { pieces: Arc::clone(this), at, end: at + bytes }
    }
}

/// A part of a file as a stream.
#[cfg(any(feature = "safetensors", feature = "gguf", feature = "npz"))]
#[derive(Debug)]
pub(super) struct FileStretch<P> {
    pieces: P,
    at: u64,
    end: u64,
}

#[cfg(feature = "gguf")]
impl<P> FileStretch<P> {
    /// Passes over so many bytes without reading them.
    pub(super) fn skip(&mut self, bytes: u64) {
        self.at = self.end.min(self.at.saturating_add(bytes));
    }
}

#[cfg(any(feature = "safetensors", feature = "gguf", feature = "npz"))]
impl<P: Deref<Target = Pieces>> std::io::Read for FileStretch<P> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let left = usize::try_from(self.end - self.at).unwrap_or(usize::MAX);
        let n = out.len().min(left);
        self.pieces.read(self.at, &mut out[..n]).map_err(std::io::Error::other)?;
        self.at += n as u64;
        Ok(n)
    }
}

/// A tensor that lies in a file as a device would have it.
#[derive(Debug)]
pub(super) struct FilePart {
    pub(super) file: Arc<Pieces>,
    pub(super) begin: u64,
    pub(super) dtype: DType,
    pub(super) layout: Layout,
}

impl Supply for FilePart {
    fn dtype(&self) -> DType {
        self.dtype
    }

    fn layout(&self) -> Layout {
        self.layout
    }

    fn read(&self, first: u64, out: &mut [u8]) -> Result<()> {
        self.file.read(self.begin + first, out)
    }
}
