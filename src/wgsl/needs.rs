//! Capabilities that a text needs.

use core::fmt;

use crate::caps::{Caps, Feature};
use crate::op::Kind;

/// Capabilities beyond baseline WebGPU that a module uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Needs(u8);

impl Needs {
    /// Baseline WebGPU is enough.
    pub const NONE: Self = Self(0);
    /// `shader-f16`.
    pub const F16: Self = Self(1);
    /// `shader-f64`.
    pub const F64: Self = Self(2);
    /// `shader-int64`.
    pub const INT64: Self = Self(4);
    /// `subgroups`.
    pub const SUBGROUPS: Self = Self(8);
    /// `wgpu-cooperative-matrix`.
    pub const COOPERATIVE: Self = Self(16);

    /// No capability: wgpu's checks at run time, which a text needs that wharf did not write.
    pub const CHECKS: Self = Self(32);

    /// Every capability.
    pub const ALL: Self = Self(31);

    const NAMES: [(Self, &'static str); 5] = [
        (Self::F16, "shader-f16"),
        (Self::F64, "shader-f64"),
        (Self::INT64, "shader-int64"),
        (Self::SUBGROUPS, "subgroups"),
        (Self::COOPERATIVE, "wgpu-cooperative-matrix"),
    ];

    /// What is printed so.
    pub(crate) fn named(names: &str) -> Option<Self> {
        let one =
            |name| Self::NAMES.iter().find(|(_, known)| *known == name).map(|(need, _)| *need);
        let names = names.split(' ').filter(|name| *name != "-");
        names.map(one).try_fold(Self::NONE, |all, need| Some(all.union(need?)))
    }

    /// The capabilities that an adapter has.
    pub(crate) fn had_by(caps: &Caps) -> Self {
        let has = |name| Feature::ALL.iter().copied().any(|f| f.name() == name && caps.has(f));
        let had = Self::NAMES.into_iter().filter(|&(_, name)| has(name));
        had.fold(Self::NONE, |all, (need, _)| all.union(need))
    }

    /// Those of them that an adapter has not.
    pub(crate) fn lacking(self, caps: &Caps) -> Self {
        self.without(Self::had_by(caps))
    }

    /// Each of them by itself.
    pub fn each(self) -> impl Iterator<Item = Self> {
        Self::NAMES.into_iter().map(|(need, _)| need).filter(move |need| self.contains(*need))
    }

    /// What computing in a kind of number needs.
    #[must_use]
    pub const fn of(kind: Kind) -> Self {
        match kind {
            Kind::F64 => Self::F64,
            Kind::I64 | Kind::U64 => Self::INT64,
            _ => Self::NONE,
        }
    }

    /// Whether everything in `other` is in `self`.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Everything in either.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// `self` less what is in `other`.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

impl fmt::Display for Needs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = Self::NAMES.iter().filter(|(need, _)| self.contains(*need));
        let list = names.map(|(_, name)| *name).collect::<Vec<_>>().join(" ");
        f.write_str(if list.is_empty() { "-" } else { &list })
    }
}
