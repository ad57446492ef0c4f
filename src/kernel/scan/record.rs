//! The passes of a scan of what lies in one segment.

use std::sync::Arc;

use super::plan::{self, Chunks};
use super::text::{self, ScanJob, ScanPass};
use crate::count::{word, words};
use crate::engine::Site;
use crate::error::Result;
use crate::exec::Value;
use crate::kernel::cores::{Berth, Head, Landing, Launch, Reach, Sink, Tail, in_pieces};
use crate::kernel::reduce::text::Reduce;
use crate::shape::Shape;
use crate::wgsl::grid::fold;

/// A scan being recorded.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scanning<'a> {
    pub(super) site: Site<'a>,
    pub(super) how: Reduce,
}

impl Scanning<'_> {
    /// Scans a head that lies in one segment, into memory in none of these buffers. `None` if
    /// anything that it needs does not fit in one segment.
    pub(super) fn at_once(
        &self,
        head: &Head,
        tail: &Tail,
        apart: &[u64],
    ) -> Result<Option<Arc<Value>>> {
        let Some(source) = head.reach(true)? else { return Ok(None) };
        if self.site.batch_invariant && source.trips() > plan::TRIPS_FREE {
            let head = Head::view(head.realise(self.site)?);
            return self.at_once(&head, tail, apart);
        }
        let landing = Landing::of(self.site, vec![source], tail, true, apart)?;
        let Some(landing) = landing else { return Ok(None) };
        let source = &landing.heads[0];
        if !self.passes(&head.shape, source, &landing.tail, landing.sink(), false)? {
            return Ok(None);
        }
        landing.finish().map(Some)
    }

    /// Scans rows of a shape. `parts` says that its elements are themselves totals of chunks.
    /// `false` if the totals of its own chunks do not fit in one segment.
    fn passes(
        &self,
        shape: &Shape,
        source: &Reach<'_>,
        tail: &Reach<'_>,
        sink: &Sink,
        parts: bool,
    ) -> Result<bool> {
        let Site { target, breadth, batch_invariant, .. } = self.site;
        let chunks = Chunks::of(shape, target, breadth, batch_invariant, source.trips());
        let pass = |heads: &[&Reach<'_>], tail: &Reach<'_>, sink: &Sink, totals: bool| {
            let (how, carried) = (self.how, heads.len() > 1);
            let lanes = chunks.group.map(word).transpose()?;
            let wording = ScanPass { how, lanes, totals, carried, parts };
            self.launch(chunks, &wording)?.record(self.site, heads, tail, sink)
        };
        if chunks.count == 1 {
            pass(&[source], tail, sink, false)?;
            return Ok(true);
        }
        let dtype = self.how.held().dtype();
        let shape = Shape::new([chunks.rows, chunks.count])?;
        let keep = Reach::identity(dtype);
        let mut apart: Vec<u64> = source.ids().chain(tail.ids()).collect();
        apart.push(sink.bound.buffer_id);
        let room = |apart: &[u64]| Berth::new(self.site, shape, dtype, true, apart);
        let Some(totals) = room(&apart)? else { return Ok(false) };
        pass(&[source], &keep, &totals.sink, true)?;
        apart.push(totals.sink.bound.buffer_id);
        let Some(sums) = room(&apart)? else { return Ok(false) };
        let parts = totals.head.reach(true)?.ok_or_else(|| in_pieces("a scan"))?;
        if !self.passes(&shape, &parts, &keep, &sums.sink, true)? {
            return Ok(false);
        }
        let before = sums.head.reach(true)?.ok_or_else(|| in_pieces("a scan"))?;
        pass(&[source, &before], tail, sink, false)?;
        Ok(true)
    }

    fn launch<'b>(&self, chunks: Chunks, wording: &'b ScanPass) -> Result<Launch<'b>> {
        let Chunks { rows, length, count, each, group } = chunks;
        let groups = fold(word(chunks.groups(self.site.target.workgroup() as usize))?);
        let [rows, length, chunks, each] = words([rows, length, count, each])?;
        let entry = if group.is_some() { &text::SCAN_GROUP } else { &text::SCAN_ROWS };
        let job = ScanJob { rows, length, chunks, each };
        Ok(Launch::of(entry, wording, job.words(), groups))
    }
}
