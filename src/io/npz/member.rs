//! The data of a member, stored or deflated, from the front. At its end its checksum is compared.

use core::fmt;
use std::io::Read;
use std::sync::{Arc, Mutex};

use flate2::Crc;
use flate2::read::DeflateDecoder;

use super::directory::ZipMember;
use crate::dtype::DType;
use crate::error::Result;
use crate::host::supply::Supply;
use crate::io::cause::ArchiveCause;
use crate::io::file::Pieces;
use crate::layout::Layout;
use crate::shared::lock;

/// As many may read a member at once, none of whom begins again.
const FLOWS_MAX: usize = 4;

/// A member that is being read.
pub(super) struct Flow {
    stream: Box<dyn Read + Send>,
    at: u64,
    crc: Crc,
}

impl fmt::Debug for Flow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Flow").field("at", &self.at).finish_non_exhaustive()
    }
}

impl Flow {
    pub(super) fn open(file: &Arc<Pieces>, member: &ZipMember) -> Self {
        let data = Pieces::shared(file, member.begin, member.packed);
        let stream: Box<dyn Read + Send> =
            if member.deflated { Box::new(DeflateDecoder::new(data)) } else { Box::new(data) };
        Self { stream, at: 0, crc: Crc::new() }
    }

    /// Fills `out` with what comes next.
    pub(super) fn read(&mut self, member: &ZipMember, out: &mut [u8]) -> Result<()> {
        let mut done = 0;
        while done < out.len() {
            let read = self.some(&mut out[done..])?;
            if read == 0 {
                let (what, has) = ("the directory promises".into(), self.at + done as u64);
                return Err(ArchiveCause::Cut { what, needs: member.bytes.into(), has }.into());
            }
            done += read;
        }
        self.crc.update(out);
        self.at += out.len() as u64;
        if self.at == member.bytes { self.end(member) } else { Ok(()) }
    }

    fn some(&mut self, out: &mut [u8]) -> Result<usize> {
        self.stream.read(out).map_err(|error| {
            let why = error.to_string();
            // What befell the file, or what is wrong with its bytes.
            error.downcast().unwrap_or_else(|_| ArchiveCause::Inflate { why }.into())
        })
    }

    fn end(&mut self, member: &ZipMember) -> Result<()> {
        if self.some(&mut [0])? > 0 {
            return Err(ArchiveCause::Longer { bytes: member.bytes }.into());
        }
        let (crc, want) = (self.crc.sum(), member.crc);
        if crc != want {
            return Err(ArchiveCause::Checksum { crc, want }.into());
        }
        Ok(())
    }
}

/// An array in a member, behind its header.
#[derive(Debug)]
pub(super) struct MemberPart {
    pub(super) file: Arc<Pieces>,
    pub(super) member: ZipMember,
    /// Where its values begin in the member.
    pub(super) begin: u64,
    pub(super) dtype: DType,
    pub(super) layout: Layout,
    /// Of those who read it now: kept from piece to piece, and no longer than until the last.
    pub(super) flows: Mutex<Vec<Flow>>,
}

impl MemberPart {
    fn fill(&self, at: u64, out: &mut [u8]) -> Result<()> {
        let mut kept = lock(&self.flows);
        let behind = (0..kept.len()).filter(|&i| kept[i].at <= at).max_by_key(|&i| kept[i].at);
        let new = || Flow::open(&self.file, &self.member);
        let mut flow = behind.map_or_else(new, |i| kept.remove(i));
        let mut skipped = [0; 4096];
        while flow.at < at {
            let step = (at - flow.at).min(skipped.len() as u64) as usize;
            flow.read(&self.member, &mut skipped[..step])?;
        }
        flow.read(&self.member, out)?;
        if flow.at < self.member.bytes {
            if kept.len() == FLOWS_MAX {
                // Of the one who has not read for longest.
                kept.remove(0);
            }
            kept.push(flow);
        }
        Ok(())
    }
}

impl Supply for MemberPart {
    fn dtype(&self) -> DType {
        self.dtype
    }

    fn layout(&self) -> Layout {
        self.layout
    }

    fn read(&self, first: u64, out: &mut [u8]) -> Result<()> {
        self.fill(self.begin + first, out)
    }
}
