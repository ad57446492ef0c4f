//! Stints: a kernel's workgroups, in as many dispatches as it takes.

use crate::caps::breadth::Breadth;
use crate::wgsl::grid::fold;

/// Some workgroups of a kernel, in one dispatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stint {
    pub(crate) first: u32,
    pub(crate) groups: [u32; 3],
    /// Its share of all additions and multiplications.
    pub(crate) work: u64,
}

/// What is folded without a workgroup too many, which another stint would have as well.
const EVEN: u32 = 64;

impl Stint {
    /// All workgroups at once, whatever they do.
    pub(crate) const fn whole(groups: [u32; 3]) -> Self {
        Self { first: 0, groups, work: 0 }
    }

    /// So many workgroups, that do so much together, in dispatches that keep no GPU so long that a
    /// system resets it. `None` stands for a processor, which nobody resets.
    pub(crate) fn all(groups: u32, work: u64, on: Option<Breadth>) -> impl Iterator<Item = Self> {
        let each = work.div_ceil(u64::from(groups.max(1))).max(1);
        let most = on.map_or(u64::MAX, |breadth| breadth.dispatch_work() / each);
        let most = u32::try_from(most).unwrap_or(u32::MAX).clamp(1, groups.max(1));
        let most = if most < groups && most > EVEN { most / EVEN * EVEN } else { most };
        (0..groups.max(1)).step_by(most as usize).map(move |first| {
            let count = most.min(groups - first);
            Self { first, groups: fold(count), work: each.saturating_mul(count.into()).min(work) }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stints(groups: u32, work: u64, on: Option<Breadth>) -> Vec<[u32; 2]> {
        let all = Stint::all(groups, work, on);
        all.map(|stint| [stint.first, stint.groups.iter().product()]).collect()
    }

    #[test]
    fn each_workgroup_is_in_one_stint_and_none_takes_too_long() {
        let usual = Breadth::USUAL;
        let most = usual.dispatch_work();
        assert_eq!(stints(1000, most, Some(usual)), [[0, fold(1000).iter().product()]]);
        assert_eq!(stints(200, most + 200, Some(usual)), [[0, 192], [192, 8]]);
        assert_eq!(stints(3, 3 * most, Some(usual)), [[0, 1], [1, 1], [2, 1]]);
        assert_eq!(stints(2, 9 * most, Some(usual)), [[0, 1], [1, 1]], "one cannot be parted");
        assert_eq!(stints(2, 9 * most, None), [[0, 2]], "nobody resets a processor");
        for groups in [1, 7, 64, 65, 1000, 70_001] {
            let all: Vec<Stint> = Stint::all(groups, 40 * most, Some(usual)).collect();
            let mut next = 0;
            for stint in &all {
                assert_eq!(stint.first, next);
                next += stint.groups.iter().product::<u32>();
                assert!(stint.work <= most || stint.groups == [1, 1, 1], "{stint:?} of {groups}");
            }
            assert!(next >= groups && next < groups + EVEN, "{next} of {groups}");
        }
    }
}
