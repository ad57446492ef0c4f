//! What a kernel is chosen for.

use super::Target;
use crate::caps::Caps;
use crate::caps::breadth::Breadth;

/// An adapter, the class of kernels that it runs, and what is chosen by beside them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rig<'a> {
    pub(crate) target: Target,
    pub(crate) caps: &'a Caps,
    /// How broad a GPU it is.
    pub(crate) breadth: Breadth,
    /// Bytes of a segment.
    pub(crate) segment: u64,
}

#[cfg(test)]
impl<'a> Rig<'a> {
    /// One that nobody has timed.
    pub(crate) fn on_paper(target: Target, caps: &'a Caps) -> Self {
        Self { target, caps, breadth: Breadth::of(caps), segment: 1 << 27 }
    }
}
