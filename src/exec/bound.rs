//! What a binding is bound to.

use crate::gpu::Whose;
use crate::store::{Piece, whose};

/// A range of a buffer as a shader sees it.
#[derive(Clone, Debug)]
pub(crate) struct Bound {
    pub(crate) buffer: wgpu::Buffer,
    pub(crate) buffer_id: u64,
    pub(crate) offset: u64,
    pub(crate) bytes: u64,
}

impl Bound {
    /// Whose buffers these are: the caller's, if one of them is.
    pub(super) fn whose(all: &[Self]) -> Whose {
        let theirs = all.iter().any(|bound| whose(bound.buffer_id) == Whose::Theirs);
        if theirs { Whose::Theirs } else { Whose::Ours }
    }
}

impl From<&Piece> for Bound {
    fn from(piece: &Piece) -> Self {
        let (buffer, buffer_id) = (piece.buffer.clone(), piece.buffer_id);
        Self { buffer, buffer_id, offset: piece.offset, bytes: piece.bytes }
    }
}
