//! The kernels of sorting.

use crate::wgsl::Entry;
use crate::wgsl::params::params;
use crate::wgsl::source::source;

params! {
    struct RankJob {
        count: u32,
        mask: u32,
    }

    struct RoundJob {
        count: u32,
        blocks: u32,
        bit: u32,
    }

    struct RunningJob {
        count: u32,
        blocks: u32,
    }
}

/// The longest list that is faster ranked than sorted in rounds, which are thirty dispatches. On
/// lavapipe permutations of 64, 256, 1024, 2048 and 4096 take 0.9, 1.0, 1.6, 2.9 and 8.5 ms by
/// ranks, and 5.5 ms each in rounds.
pub const RANKED_MAX: u32 = 2048;
/// The whole sorting of a short list.
pub const RANK: Entry =
    Entry::own("rank", source!("sort/rank.wgsl"), RANKED_MAX).told(RankJob::MEMBERS);
/// First step of a round of sorting.
pub const DIGITS: Entry =
    Entry::own("digits", source!("sort/digits.wgsl"), 256 + 16).told(RoundJob::MEMBERS);
/// Last step of a round of sorting.
pub const PLACE: Entry =
    Entry::own("place", source!("sort/place.wgsl"), 16 + 256).told(RoundJob::MEMBERS);
/// First step of running sums.
pub const SUMS: Entry =
    Entry::own("sums", source!("sort/sums.wgsl"), 256).told(RunningJob::MEMBERS);
/// Last step of running sums.
pub const RUNNING: Entry =
    Entry::own("running", source!("sort/running.wgsl"), 256).told(RunningJob::MEMBERS);
