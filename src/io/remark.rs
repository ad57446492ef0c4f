//! Remarks: what a file says besides its tensors.

use std::collections::BTreeMap;
use std::sync::Arc;

#[cfg(any(feature = "safetensors", feature = "gguf"))]
use super::cause::ArchiveCause;
use super::file::Pieces;
use crate::error::Result;

/// What a file says of its tensors under a name, as the format has it: texts in safetensors, any of
/// these in GGUF. Read by [`Archive::remarks`](super::Archive::remarks).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Remark {
    /// A text.
    Text(String),
    /// A whole number of up to 64 bits, with a sign or without.
    Integer(i128),
    /// A number of 32 or 64 bits.
    Float(f64),
    /// A bool.
    Bool(bool),
    /// A list, as of the tokens of a vocabulary.
    List(Vec<Self>),
}

impl Remark {
    /// The text, if it is one: what [`save_with_remarks`] writes.
    ///
    /// [`save_with_remarks`]: crate::TensorSet::save_with_remarks
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }
}

pub(super) type Remarks = BTreeMap<String, Remark>;

/// The most remarks that are kept: hundreds of times those of any model.
#[cfg(any(feature = "safetensors", feature = "gguf"))]
pub(super) const REMARKS_MAX: usize = 1 << 16;

/// Whether a remark of this name is kept.
pub(super) type Keep<'a> = &'a mut dyn FnMut(&str) -> bool;

/// The file that has the remarks, and what reads those for whose names `keep` says so.
#[derive(Clone)]
pub(super) struct Remarked {
    pub(super) file: Arc<Pieces>,
    /// Its name, where another file was opened.
    pub(super) shard: Option<String>,
    pub(super) read: fn(file: &Pieces, keep: Keep<'_>) -> Result<Remarks>,
}

/// That there are no more remarks than are kept.
#[cfg(any(feature = "safetensors", feature = "gguf"))]
pub(super) fn counted(given: usize) -> Result<()> {
    match given {
        0..=REMARKS_MAX => Ok(()),
        _ => Err(ArchiveCause::Remarks { given, most: REMARKS_MAX }.into()),
    }
}
