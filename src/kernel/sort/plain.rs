//! Kernels whose operands all lie in one piece, and the memory that these are given.

use std::sync::Arc;

use crate::count::index;
use crate::engine::{Engine, Site};
use crate::error::{Result, mistake};
use crate::exec::{Bound, Job, Labour, Value};
use crate::kernel::cores::Stint;
use crate::kernel::limits::Ceiling;
use crate::kernel::{Operand, moves};
use crate::store::Pinned;
use crate::wgsl::Assembled;
use crate::wgsl::grid::groups_for;

/// Bytes of a word that is sorted by itself.
pub(crate) const WORD_BYTES: u64 = 4;
/// Bytes of a pair.
pub(crate) const PAIR_BYTES: u64 = 8;

/// The pairs that one sort takes: they have to lie in one segment.
pub(in crate::kernel) fn pairs_max(engine: &Engine) -> Result<usize> {
    index(engine.segment_bytes() / PAIR_BYTES)
}

/// Checks that one sort takes so many items of so many bytes.
pub(crate) fn check(engine: &Engine, count: usize, each: u64) -> Result<()> {
    one_segment(engine.segment_bytes()).check(count as u128 * u128::from(each))
}

const fn one_segment(available: u64) -> Ceiling {
    Ceiling { what: "a list to be sorted", limit: "one segment", unit: "bytes", available }
}

/// A pinned value: compaction will not move it, so buffers that were chosen apart from it stay so.
#[derive(Debug)]
pub(in crate::kernel) struct Kept {
    pub(in crate::kernel) value: Arc<Value>,
    _pinned: Pinned,
}

impl Kept {
    pub(in crate::kernel) fn new(value: &Arc<Value>) -> Result<Self> {
        Ok(Self { _pinned: value.pin()?, value: Arc::clone(value) })
    }
}

/// Kernels whose operands all lie in one piece.
#[derive(Clone, Copy)]
pub(in crate::kernel) struct Plain<'a> {
    pub(in crate::kernel) site: Site<'a>,
}

impl Plain<'_> {
    /// Memory in one piece, apart from these values.
    pub(in crate::kernel) fn memory(self, bytes: u64, apart: &[&Arc<Value>]) -> Result<Kept> {
        let mut avoid = Vec::new();
        for value in apart {
            avoid.extend(value.pin()?.pieces().iter().map(|piece| piece.buffer_id));
        }
        let kept = Kept::new(&Value::new(self.site.engine.allocate_whole(bytes, &avoid)?))?;
        self.bound(&kept.value)?;
        Ok(kept)
    }

    /// The only piece of a value.
    pub(in crate::kernel) fn bound(self, value: &Value) -> Result<Bound> {
        let pinned = value.pin()?;
        match &*pinned.pieces() {
            [piece] => Ok(Bound::from(piece)),
            _ => Err(one_segment(pinned.segment_bytes).passed(pinned.bytes.into())),
        }
    }

    /// Runs a kernel on these values, which the caller keeps in place. It writes the last one.
    pub(in crate::kernel) fn run(
        self,
        kernel: &Assembled,
        values: &[&Arc<Value>],
        params: Vec<u32>,
        invocations: u32,
    ) -> Result<()> {
        self.by_groups(kernel, values, params, groups_for(invocations, self.site.target))
    }

    /// Like `run`, but by so many workgroups.
    pub(in crate::kernel) fn by_groups(
        self,
        kernel: &Assembled,
        values: &[&Arc<Value>],
        params: Vec<u32>,
        groups: [u32; 3],
    ) -> Result<()> {
        self.by(kernel, values, (params, Stint::whole(groups)))
    }

    /// Like `run`, but some workgroups, whose work is known.
    pub(super) fn by(
        self,
        kernel: &Assembled,
        values: &[&Arc<Value>],
        (params, Stint { groups, work, .. }): (Vec<u32>, Stint),
    ) -> Result<()> {
        let bindings = values.iter().map(|value| self.bound(value)).collect::<Result<_>>()?;
        let Some(written) = values.last() else {
            return Err(mistake(kernel.name, "nothing that it writes"));
        };
        let outputs = vec![Arc::downgrade(written)];
        let job = Job { kernel, bindings, params, groups, outputs };
        self.site.dispatch_of(Labour::lasting(work), job)
    }
}

/// A dense list in one piece that begins where its value does.
pub(in crate::kernel) fn whole(site: Site<'_>, list: &Operand) -> Result<Arc<Value>> {
    let is_first = list.layout.is_dense() && list.layout.offset() == 0;
    match is_first && list.value.pin()?.pieces().len() == 1 {
        true => Ok(Arc::clone(&list.value)),
        false => moves::contiguous(site, list),
    }
}
