//! The kernel of scans.

use crate::kernel::reduce::text::Reduce;
use crate::wgsl::params::params;
use crate::wgsl::source::source;
use crate::wgsl::{Entry, Needs, Region, Source, Writes};

/// A lane to a chunk of a row.
pub const SCAN_ROWS: Entry = Entry::core("scan_rows", source!("scan_rows.wgsl"))
    .with(&[FRESH, TOTALS])
    .told(ScanJob::MEMBERS);
/// A group to a chunk of a row.
pub const SCAN_GROUP: Entry = Entry::core("scan_group", source!("scan_group.wgsl"))
    .clearing()
    .with(&[FRESH, TOTALS])
    .told(ScanJob::MEMBERS);

params! {
    struct ScanJob {
        rows: u32,
        length: u32,
        chunks: u32,
        each: u32,
    }
}

const FRESH: Source = source!("scan/fresh.wgsl");
const TOTALS: Source = source!("scan/totals.wgsl");

/// A kernel of one pass of a scan, which is a fold whose every state is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ScanPass {
    /// What is scanned.
    pub how: Reduce,
    /// The lanes of a group, if one takes a chunk.
    pub lanes: Option<u32>,
    /// Whether only the total of each chunk is stored.
    pub totals: bool,
    /// Whether a chunk begins with the total of those before it, which is the second input.
    pub carried: bool,
    /// Whether the elements that are scanned are themselves totals of chunks.
    pub parts: bool,
}

impl Writes for ScanPass {
    fn regions(&self) -> Vec<Region> {
        let Self { how, lanes, totals, carried, parts } = *self;
        let kind = how.arithmetic(parts, totals || parts);
        let mut regions = vec![Region::text("kind", kind).needing(Needs::of(how.held()))];
        let lanes = lanes.map(|lanes| format!("const lanes = {lanes}u;\n"));
        regions.extend(lanes.map(|line| Region::text("lanes", line)));
        regions.extend((!carried).then_some(Region::file("carry", FRESH)));
        regions.extend(totals.then_some(Region::file("put", TOTALS)));
        regions
    }
}
