//! Landing: how the result of a core comes into memory.
//!
//! ```text
//! inputs reached -> tail taken on board, or left -> memory apart from all that is read
//!                -> launches -> the tail by a kernel of its own, if it was left
//! ```

use std::sync::Arc;

use super::ends::{Head, Tail};
use super::launch::{Launch, Sink};
use super::reach::{ELEMENTS_MAX, Reach};
use crate::dtype::DType;
use crate::engine::{Engine, Site};
use crate::error::{Error, Result, mistake};
use crate::exec::{Bound, Value};
use crate::kernel::{Held, Operand};
use crate::news::Topic;
use crate::shape::Shape;
use crate::store::Pinned;

/// New memory in one segment: for a result, or for what one pass leaves to the next.
#[derive(Debug)]
pub(crate) struct Berth {
    /// Reads all of it.
    pub(crate) head: Head,
    pub(crate) sink: Sink,
    value: Arc<Value>,
    /// Keeps it in place while it is written and read.
    _pinned: Pinned,
}

impl Berth {
    /// Room for a dense tensor that is stored by elements or by quads, in none of the buffers in
    /// `apart`; `None` if it does not fit in one segment.
    pub(crate) fn new(
        site: Site<'_>,
        shape: Shape,
        dtype: DType,
        by_element: bool,
        apart: &[u64],
    ) -> Result<Option<Self>> {
        let bytes = Engine::bytes_of(&shape, dtype)?;
        if bytes > site.engine.segment_bytes() || shape.elements() > ELEMENTS_MAX {
            return Ok(None);
        }
        let (value, held) = Held::fresh(site, &shape, dtype, apart)?;
        let [piece] = &*held.pieces else { return Ok(None) };
        let (bound, written) = (Bound::from(piece), Arc::downgrade(&value));
        let sink = Sink { bound, first: 0, written, by_element };
        let head = Head::view(Operand::dense(Arc::clone(&value), shape, dtype));
        Ok(Some(Self { head, sink, value, _pinned: held.pinned }))
    }
}

/// A core on its way: what its kernels read, what they do to every element of the result, and
/// where they store it.
#[derive(Debug)]
pub(crate) struct Landing<'a> {
    site: Site<'a>,
    pub(crate) heads: Vec<Reach<'a>>,
    /// The tail, if it is on board; otherwise nothing is done to the result.
    pub(crate) tail: Reach<'a>,
    /// The tail, if it is left to a kernel of its own.
    left: Option<&'a Tail>,
    berth: Berth,
}

/// What was made to lie in one segment lies in several: memory came in smaller ones than the
/// adapter's limits say.
pub(crate) fn in_pieces(core: &'static str) -> Error {
    mistake(core, "what it reads or stores came in several segments")
}

impl<'a> Landing<'a> {
    /// A landing of a core whose inputs, which are reached like this, and whose result fit in one
    /// segment each.
    pub(crate) fn whole(
        core: &'static str,
        site: Site<'a>,
        heads: impl IntoIterator<Item = Result<Option<Reach<'a>>>>,
        tail: &'a Tail,
        by_element: bool,
    ) -> Result<Self> {
        let heads: Option<Vec<_>> = heads.into_iter().collect::<Result<_>>()?;
        let heads = heads.ok_or_else(|| in_pieces(core))?;
        Self::of(site, heads, tail, by_element, &[])?.ok_or_else(|| in_pieces(core))
    }

    /// A landing in none of the buffers that are read, nor of those in `apart`; `None` if the
    /// result does not fit in one segment.
    pub(crate) fn of(
        site: Site<'a>,
        heads: Vec<Reach<'a>>,
        tail: &'a Tail,
        by_element: bool,
        apart: &[u64],
    ) -> Result<Option<Self>> {
        // The tail's dtype may be wider than the core's, and not fit into a segment; or too narrow
        // to be stored element by element.
        let one_segment = Engine::bytes_of(&tail.shape, tail.dtype)? <= site.engine.segment_bytes();
        let fits = one_segment && (!by_element || tail.dtype.width() >= 4);
        let strided = heads.iter().any(Reach::is_strided);
        let on_board = tail.reach(by_element)?.filter(|r| fits && !(strided && r.is_strided()));
        let (dtype, left) = match on_board {
            Some(_) => (tail.dtype, None),
            None => (tail.given(), Some(tail)),
        };
        let reach = on_board.unwrap_or_else(|| Reach::identity(dtype));
        let read = heads.iter().chain([&reach]).flat_map(Reach::ids);
        let apart: Vec<u64> = read.chain(apart.iter().copied()).collect();
        let berth = Berth::new(site, tail.shape, dtype, by_element, &apart)?;
        Ok(berth.map(|berth| Self { site, heads, tail: reach, left, berth }))
    }

    /// Where the result goes.
    pub(crate) fn sink(&self) -> &Sink {
        &self.berth.sink
    }

    /// The result of one dispatch that reads all inputs, with the tail.
    pub(crate) fn by(self, launch: Launch<'_>) -> Result<Arc<Value>> {
        self.by_all([launch])
    }

    /// The result of dispatches that read all inputs each, with the tail.
    pub(crate) fn by_all<'l>(
        self,
        launches: impl IntoIterator<Item = Launch<'l>>,
    ) -> Result<Arc<Value>> {
        launches.into_iter().try_for_each(|launch| self.launch(launch))?;
        self.finish()
    }

    /// Records one dispatch that reads all inputs.
    pub(crate) fn launch(&self, launch: Launch<'_>) -> Result<()> {
        let heads: Vec<&Reach<'_>> = self.heads.iter().collect();
        launch.record(self.site, &heads, &self.tail, self.sink())
    }

    /// The result, with the tail.
    pub(crate) fn finish(self) -> Result<Arc<Value>> {
        let Self { site, left, berth: Berth { value, .. }, .. } = self;
        match left {
            Some(tail) => {
                if !tail.is_identity() {
                    let what = "a kernel of its own: it cannot be stored as the result is";
                    site.tell(Topic::Fallback, "what becomes of a result", what);
                }
                tail.apply(site, value)
            }
            None => Ok(value),
        }
    }
}
