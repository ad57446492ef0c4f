//! Kernels of the user's own: every tensor in one piece, what is written in a buffer of its own,
//! and one dispatch.

use std::sync::Arc;

use super::cause::FaultCause;
use super::{Operand, fill, moves};
use crate::dtype::DType;
use crate::engine::{Engine, Site};
use crate::error::{Result, mistake};
use crate::exec::{Bound, Fault, Hit, Job, Seat, Value};
use crate::shape::Shape;
use crate::store::{Piece, Pinned};
use crate::wgsl::own::Reflection;

/// A value that stays in its place, in one piece, until a kernel is recorded.
#[derive(Debug)]
pub(crate) struct Moored {
    pub(crate) value: Arc<Value>,
    _pinned: Pinned,
    piece: Piece,
    /// Of its elements.
    bytes: u64,
}

impl Moored {
    /// So many bytes of a value, if they lie in one piece, and in none of these buffers.
    pub(crate) fn find(value: &Arc<Value>, bytes: u64, apart: &[u64]) -> Result<Option<Self>> {
        let pinned = value.pin()?;
        let pieces = pinned.pieces();
        let whole = pieces.len() == 1 || bytes <= pinned.segment_bytes;
        let piece = pieces.into_iter().next().filter(|_| whole);
        let piece = piece.filter(|piece| !apart.contains(&piece.buffer_id));
        let value = Arc::clone(value);
        Ok(piece.map(|piece| Self { value, _pinned: pinned, piece, bytes }))
    }

    /// A value that was made for this.
    fn made(value: &Arc<Value>, bytes: u64) -> Result<Self> {
        let found = Self::find(value, bytes, &[])?;
        found.ok_or_else(|| mistake("a kernel of your own", "a tensor in several pieces"))
    }

    /// Binds the tensor as an array of this stride in bytes. It ends where the tensor does, not
    /// where its memory does, because a kernel may ask for the length.
    fn bound(&self, stride: u32) -> Bound {
        let bytes = self.bytes.next_multiple_of(u64::from(stride.max(4)));
        Bound { bytes: bytes.min(self.piece.bytes), ..Bound::from(&self.piece) }
    }
}

/// Where the tensor of a binding comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stock {
    /// The tensors that it reads.
    Read(usize),
    /// Those that it changes.
    Updated(usize),
    /// Those that it makes.
    Created(usize),
}

/// A dispatch of a kernel, all but the tensors.
#[derive(Debug)]
pub(crate) struct OwnJob {
    pub(crate) own: Arc<Reflection>,
    /// One for each binding.
    pub(crate) stocks: Vec<Stock>,
    pub(crate) created: Vec<(Shape, DType)>,
    /// The uniform.
    pub(crate) params: Vec<u32>,
    pub(crate) groups: [u32; 3],
    /// What fills new tensors that the kernel only writes, before it runs. `None` fills nothing,
    /// and they begin as whatever their memory had.
    pub(crate) soil: Option<[u32; 2]>,
}

/// The buffers of these values.
pub(crate) fn buffers<'a>(all: impl IntoIterator<Item = &'a Moored>) -> Vec<u64> {
    all.into_iter().map(|moored| moored.piece.buffer_id).collect()
}

/// What a kernel reads, each dense and in one piece: as it is, or a copy.
pub(crate) fn moored(site: Site<'_>, inputs: &[Operand]) -> Result<Vec<Moored>> {
    let one = |input: &Operand| {
        let shape = input.layout.shape();
        let bytes = Engine::bytes_of(shape, input.dtype)?;
        let is_dense = input.layout.is_all_of(shape);
        if is_dense && let Some(moored) = Moored::find(&input.value, bytes, &[])? {
            return Ok(moored);
        }
        let copy = match is_dense {
            true => moves::copied(site, input, &[])?,
            false => moves::contiguous(site, input)?,
        };
        copy.inherit([&*input.value]);
        Moored::made(&copy, bytes)
    };
    inputs.iter().map(one).collect()
}

impl OwnJob {
    /// Records it; returns what it makes. All that it changes lies apart.
    pub(crate) fn record(
        &self,
        site: Site<'_>,
        inputs: &[Moored],
        updated: &[Moored],
    ) -> Result<Vec<Arc<Value>>> {
        let mut created: Vec<Moored> = Vec::new();
        let reads = |i| {
            let port = self.stocks.iter().position(|stock| *stock == Stock::Created(i));
            port.is_some_and(|port| self.own.ports[port].reads)
        };
        for (i, (shape, dtype)) in self.created.iter().enumerate() {
            let bytes = Engine::bytes_of(shape, *dtype)?;
            let apart = buffers(inputs.iter().chain(updated).chain(&created));
            let value = Value::new(site.engine.allocate_whole(bytes, &apart)?);
            let moored = Moored::made(&value, bytes)?;
            let begins = if reads(i) { Some([0; 2]) } else { self.soil };
            if let Some(bits) = begins {
                fill::into(site, &value, bits)?;
            }
            created.push(moored);
        }
        let from = |stock: &Stock| match *stock {
            Stock::Read(i) => &inputs[i],
            Stock::Updated(i) => &updated[i],
            Stock::Created(i) => &created[i],
        };
        let ports = self.own.ports.iter().zip(&self.stocks);
        let mut bindings: Vec<_> =
            ports.map(|(port, stock)| from(stock).bound(port.stride)).collect();
        let written: Vec<_> = updated.iter().chain(&created).map(|moored| &moored.value).collect();
        for value in &written {
            let sources = inputs.iter().chain(updated).map(|moored| &moored.value);
            value.inherit(sources.filter(|source| !Arc::ptr_eq(source, value)).map(|v| &**v));
        }
        let fault = self.fault(site)?;
        if let Some(fault) = &fault {
            bindings.push(fault.alone());
            written.iter().for_each(|value| value.carry(Arc::clone(fault)));
        }
        site.dispatch(Job {
            kernel: &self.own.kernel,
            bindings,
            params: self.params.clone(),
            groups: self.groups,
            outputs: written.into_iter().map(Arc::downgrade).collect(),
        })?;
        Ok(created.into_iter().map(|moored| moored.value).collect())
    }

    /// Where it notes loops that went on, if they are counted.
    fn fault(&self, site: Site<'_>) -> Result<Option<Arc<Fault>>> {
        let Some(bound) = &self.own.bound else { return Ok(None) };
        let (name, bound) = (self.own.kernel.name, Arc::clone(bound));
        let explain = move |hit: Hit| {
            let (spot, most) = (bound.spot(hit.first), bound.most);
            FaultCause::Loop { name, spot, most, count: hit.count }.into()
        };
        site.engine.fault(Seat::Alone, explain).map(Some)
    }
}
