//! One dispatch of a core's kernel, as data.

use std::sync::Weak;

use super::reach::Reach;
use crate::caps::Feature;
use crate::count::word;
use crate::engine::Site;
use crate::error::{Result, mistake};
use crate::exec::{Bound, Job, Labour, Value};
use crate::wgsl::params::Operands;
use crate::wgsl::{Edge, Entry, Frame, Wording};

/// What a kernel is launched with, but for what it reads and where it stores.
#[derive(Debug)]
pub(crate) struct Launch<'a> {
    pub(crate) entry: &'static Entry,
    /// What is written into the kernel's file.
    pub(crate) wording: &'a dyn Wording,
    /// Invocations of a workgroup; `None` for the target's own number.
    pub(crate) workgroup: Option<u32>,
    /// The kernel's own parameters, in whole fours.
    pub(crate) job: Vec<u32>,
    pub(crate) groups: [u32; 3],
    pub(crate) work: Labour,
}

/// Where results go.
#[derive(Clone, Debug)]
pub(crate) struct Sink {
    pub(crate) bound: Bound,
    /// Where the result begins, counted from the bound part: negative if that holds a later part of
    /// the result.
    pub(crate) first: i64,
    pub(crate) written: Weak<Value>,
    /// Whether results are stored by element; otherwise by quads, and `first` is a multiple of
    /// four.
    pub(crate) by_element: bool,
}

impl<'a> Launch<'a> {
    /// By the target's own workgroups.
    pub(crate) fn of(
        entry: &'static Entry,
        wording: &'a dyn Wording,
        job: Vec<u32>,
        groups: [u32; 3],
    ) -> Self {
        Self { entry, wording, workgroup: None, job, groups, work: Labour::default() }
    }

    pub(crate) fn record(
        self,
        site: Site<'_>,
        heads: &[&Reach<'_>],
        tail: &Reach<'_>,
        sink: &Sink,
    ) -> Result<()> {
        let all = || heads.iter().copied().chain([tail]);
        let spaces = all().filter(|reach| reach.is_strided()).map(|reach| &*reach.space);
        let spaces: Vec<&[u32]> = spaces.collect();
        if spaces.iter().any(|space| *space != spaces[0]) {
            return Err(mistake(self.entry.name, "two index spaces in one kernel"));
        }
        let space = spaces.first().copied();
        let edges: Vec<Edge<'_>> = all().map(Reach::edge).collect();
        let frame = Frame {
            entry: self.entry,
            wording: self.wording,
            edges: &edges,
            by_element: sink.by_element,
            workgroup: self.workgroup,
            f16_native: site.engine.gpu.caps().has(Feature::ShaderF16),
            rank: word(space.map_or(0, <[u32]>::len))?,
            target: site.target,
        };
        let kernel = frame.kept()?;
        let first = if sink.by_element { sink.first } else { sink.first / 4 };
        #[expect(clippy::cast_possible_truncation, reason = "indices are modulo 2^32")]
        let first = first as u32;
        let mut scalars = Vec::new();
        for reach in all() {
            // A scalar of two words begins at an even one.
            scalars.resize(scalars.len().next_multiple_of(2), 0);
            scalars.extend_from_slice(reach.scalars);
        }
        let offsets = all().flat_map(|r| r.offsets.iter().copied()).chain([first]);
        let offsets: Vec<u32> = offsets.collect();
        let strides: Vec<Vec<u32>> = all().flat_map(|r| r.strides.iter().cloned()).collect();
        let (offsets, strides, scalars) = (&*offsets, &*strides, &*scalars);
        let space = space.map(|shape| (0, shape));
        let params = Operands { space, offsets, strides, scalars }.after(self.job);
        let bindings = all().flat_map(|r| r.bindings.iter().cloned());
        let bindings = bindings.chain([sink.bound.clone()]).collect();
        let (groups, outputs) = (self.groups, vec![sink.written.clone()]);
        site.dispatch_of(self.work, Job { kernel: &kernel, bindings, params, groups, outputs })
    }
}
