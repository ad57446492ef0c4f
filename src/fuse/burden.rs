//! What a deferred node costs the kernel that takes it in.

use core::hash::{Hash, Hasher};
use std::hash::DefaultHasher;

use super::what::What;
use crate::layout::Layout;
use crate::wgsl::formula::EFFORT_MAX;

/// The deepest graph of one kernel. A deeper one would save dispatches, but every walk recurses as
/// deep.
const DEPTH_MAX: u32 = 128;
/// Bindings of one kernel, where the adapter has as many; one is the result's.
pub(super) const BINDINGS_MAX: usize = 16;

/// What taking a node into a kernel costs at most; never above the limits.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Burden {
    /// Nodes not computed yet on the longest way down, taken in or not: what a walk recurses
    /// through.
    pub(super) depth: u32,
    pub(super) is_core: bool,
    /// In a kernel that takes a core on board, which is this node or what it is computed from.
    pub(super) carrying: Load,
    /// In a kernel that only reads what cores made.
    pub(super) plain: Load,
}

/// An expression's effort, and the views that it reads.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Load {
    pub(super) size: u32,
    pub(super) leaves: Leaves,
}

impl Load {
    pub(super) fn add(&mut self, other: &Self) {
        self.size += other.size;
        other.leaves.ids[..other.leaves.len].iter().for_each(|&id| self.leaves.insert(id));
    }
}

/// The views that an expression reads, each once; full when they are too many for any kernel.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Leaves {
    ids: [u64; BINDINGS_MAX],
    pub(super) len: usize,
}

impl Burden {
    /// The most that a node with these arguments could take into one kernel: as if every argument
    /// that is not computed yet were taken in, because what keeps one out today - another
    /// consumer - may be gone when the node is realised. A core takes in expressions, if any, but
    /// no other core.
    pub(super) fn of<'a>(what: &What, parts: impl Iterator<Item = Weighed<'a>>) -> Self {
        let core = match what {
            What::Core(core) => Some(core),
            What::Apply(_) | What::Call(_) | What::Cast(_) => None,
        };
        let mut own = Load { size: what.effort(), ..Load::default() };
        for n in 0..core.map_or(0, |core| core.bindings_between()) {
            own.leaves.insert(u64::MAX - n as u64);
        }
        let mut total = Self { depth: 1, is_core: core.is_some(), carrying: own, plain: own };
        for part in parts {
            let (id, dense, below) = match part {
                Weighed::View { id, dense, below } => (id, dense, below),
                Weighed::Words(words) => {
                    total.carrying.size += words;
                    total.plain.size += words;
                    continue;
                }
            };
            total.depth = total.depth.max(below.map_or(1, |below| below.depth + 1));
            let mut leaf = Load::default();
            leaf.leaves.insert(id);
            let below = below.filter(|_| dense);
            let plain = below.filter(|below| !below.is_core).map_or(leaf, |below| below.plain);
            let carrying = below.map_or(leaf, |below| below.carrying);
            match core {
                Some(core) if core.stands_alone() => {}
                Some(core) => total.carrying.add(if core.takes_heads() { &plain } else { &leaf }),
                None => {
                    total.plain.add(&plain);
                    total.carrying.add(&carrying);
                }
            }
        }
        total
    }

    /// Whether it is too much for one kernel that reads so many views at most.
    pub(super) const fn is_above(&self, leaves_max: usize) -> bool {
        let Load { size, leaves } = &self.carrying;
        self.depth > DEPTH_MAX || *size > EFFORT_MAX || leaves.len > leaves_max
    }
}

impl Leaves {
    pub(super) fn insert(&mut self, id: u64) {
        if self.len < BINDINGS_MAX && !self.ids[..self.len].contains(&id) {
            self.ids[self.len] = id;
            self.len += 1;
        }
    }
}

/// One number for a view. Views that share one by accident are counted once too few, which is found
/// out when the kernel is gathered.
pub(super) fn view_id(node: u64, layout: &Layout, dense: bool) -> u64 {
    if dense {
        return 2 * node;
    }
    let mut hasher = DefaultHasher::new();
    (node, layout).hash(&mut hasher);
    hasher.finish() | 1
}

/// An argument, as it weighs.
pub(super) enum Weighed<'a> {
    /// Words of the parameters.
    Words(u32),
    View {
        id: u64,
        dense: bool,
        /// Of what is not computed yet.
        below: Option<&'a Burden>,
    },
}
