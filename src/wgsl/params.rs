//! Parameters: the one uniform struct of each kernel.
//!
//! A room declares what its kernel is told once, by `params!`, as the WGSL struct has it: member
//! by member, by the same names. The struct is laid out as WGSL lays it out and written as words. A
//! test compares names and places with those that naga sees in the kernel's file. What the
//! accessors of operands need follows a kernel's own members: [`Operands`].

use super::grid::Grid;
use super::slot::{Slot, Way};
use crate::op::Kind;
use crate::shape::RANK_MAX;

/// The most bytes of a parameter struct.
pub const BYTES_MAX: usize = 1024;

/// A member of a parameter struct.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its name in WGSL.
    pub name: &'static str,
    /// What its numbers are.
    pub kind: Kind,
    /// Where it begins, in bytes.
    pub offset: u32,
    /// Its bytes.
    pub size: u32,
}

impl Member {
    /// The member of this name and type; where it begins depends on those before it.
    pub(crate) const fn of<T: Parameter>(name: &'static str) -> Self {
        Self { name, kind: T::KIND, offset: 0, size: 4 * T::WORDS as u32 }
    }

    /// One after the other, each at the next place that WGSL has for it.
    pub(crate) const fn laid_out<const N: usize>(mut all: [Self; N]) -> [Self; N] {
        let (mut i, mut end) = (0, 0);
        while i < N {
            let words = all[i].size as usize / 4;
            all[i].offset = 4 * place(end, words) as u32;
            end = place(end, words) + words;
            i += 1;
        }
        all
    }
}

/// The next place for a member of so many words: pairs begin at even ones, what is longer at whole
/// fours.
const fn place(end: usize, words: usize) -> usize {
    end.next_multiple_of(if words < 3 { words } else { 4 })
}

/// What a member can be.
pub(crate) trait Parameter: Copy {
    /// What its numbers are in WGSL.
    const KIND: Kind;
    /// How many there are.
    const WORDS: usize;

    /// Adds them.
    fn put(self, words: &mut Vec<u32>);
}

/// Types of one word each.
macro_rules! numbers {
    ($($of:ty, $kind:ident, $x:ident => $word:expr;)*) => {$(
        impl Parameter for $of {
            const KIND: Kind = Kind::$kind;
            const WORDS: usize = 1;

            fn put(self, words: &mut Vec<u32>) {
                let $x = self;
                words.push($word);
            }
        }
    )*};
}

numbers! {
    u32, U32, x => x;
    i32, I32, x => x.cast_unsigned();
    bool, U32, x => u32::from(x);
    f32, F32, x => x.to_bits();
}

impl<T: Parameter, const N: usize> Parameter for [T; N] {
    const KIND: Kind = T::KIND;
    const WORDS: usize = N * T::WORDS;

    fn put(self, words: &mut Vec<u32>) {
        self.into_iter().for_each(|one| one.put(words));
    }
}

impl Parameter for Grid {
    const KIND: Kind = Kind::U32;
    const WORDS: usize = 4;

    fn put(self, words: &mut Vec<u32>) {
        words.extend(self.words());
    }
}

/// Adds a member at its place.
pub(crate) fn put<T: Parameter>(words: &mut Vec<u32>, member: T) {
    words.resize(place(words.len(), T::WORDS), 0);
    member.put(words);
}

/// Declares what kernels are told, a struct each: `MEMBERS` for its entry, `words()` for its
/// dispatches. What the members mean stands in the WGSL struct, which they mirror.
macro_rules! params {
    ($($(#[$about:meta])* struct $name:ident { $($member:ident: $of:ty,)* })+) => {$(
        $(#[$about])*
        #[derive(Clone, Copy, Debug)]
        pub(crate) struct $name {
            $(pub(crate) $member: $of,)*
        }

        impl $name {
            /// The members, for the kernel's entry.
            pub(crate) const MEMBERS: &'static [$crate::wgsl::params::Member] = {
                use $crate::wgsl::params::Member;
                &Member::laid_out([$(Member::of::<$of>(stringify!($member))),*])
            };

            /// As words, in whole fours.
            pub(crate) fn words(&self) -> Vec<u32> {
                let mut words = Vec::new();
                $($crate::wgsl::params::put(&mut words, self.$member);)*
                words.resize(words.len().next_multiple_of(4), 0);
                words
            }
        }
    )+};
}
pub(crate) use params;

/// What follows a kernel's own parameters: what the accessors of its operands need.
#[derive(Clone, Copy, Debug, Default)]
pub struct Operands<'a> {
    /// The first element of this window of the index space, and the space, outermost first; `None`
    /// where no operand is strided.
    pub space: Option<(u32, &'a [u32])>,
    /// The first element (or quad, of dense operands) of each binding, in its bound range.
    pub offsets: &'a [u32],
    /// The strides of each strided operand, outermost first.
    pub strides: &'a [Vec<u32>],
    /// Scalars, as words.
    pub scalars: &'a [u32],
}

impl Operands<'_> {
    /// The members, in their order.
    pub const NAMES: [&'static str; 5] = ["space", "shape", "offset", "stride", "scalar"];

    /// All words, after a kernel's own.
    #[must_use]
    pub fn after(&self, mut words: Vec<u32>) -> Vec<u32> {
        if let Some((first, shape)) = self.space {
            let last = shape.iter().product::<u32>() - 1;
            put(&mut words, [first, last, 0, 0]);
            put(&mut words, innermost_first(shape, 1));
        }
        extend(&mut words, self.offsets);
        for strides in self.strides {
            put(&mut words, innermost_first(strides, 0));
        }
        extend(&mut words, self.scalars);
        words
    }

    /// The struct `Params` in WGSL: a kernel's own members, then those for these slots and so many
    /// words of scalars.
    pub(crate) fn text(own: &str, slots: &[Slot], scalars: usize) -> String {
        let views = slots.iter().filter(|slot| slot.way.is_strided()).count();
        let bound = slots.iter().filter(|slot| !matches!(slot.way, Way::Own(_))).count();
        let mut text = format!("struct Params {{\n{own}");
        if views > 0 {
            text += "    space: vec4<u32>, // the first element of this window, the last of all\n";
        }
        let fours = [0, 2 * views.min(1), bound.div_ceil(4), 2 * views, scalars.div_ceil(4)];
        for (name, fours) in Self::NAMES.into_iter().zip(fours).filter(|(_, fours)| *fours > 0) {
            text += &format!("    {name}: array<vec4<u32>, {fours}>,\n");
        }
        text + "}\n@group(1) @binding(0) var<uniform> p: Params;\n"
    }
}

/// Fours that hold all of these.
fn extend(words: &mut Vec<u32>, more: &[u32]) {
    words.extend(more);
    words.resize(words.len().next_multiple_of(4), 0);
}

/// A shape (filled up with 1) or strides (with 0) from innermost to outermost.
pub(crate) fn innermost_first(dims: &[u32], fill: u32) -> [u32; RANK_MAX] {
    let mut all = [fill; RANK_MAX];
    all.iter_mut().zip(dims.iter().rev()).for_each(|(to, from)| *to = *from);
    all
}
