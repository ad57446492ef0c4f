//! Plain data as bytes and back. Numbers are little-endian; texts and lists begin with their
//! length. Nothing is allocated for a length that the bytes do not have.

use super::cause::ShadowCause;
use crate::dtype::DType;
use crate::error::Result;
use crate::kernel::ORACLES;
use crate::layout::Layout;
use crate::op::{Joint, Op, Reduction};
use crate::proof::{Claim, Formed, Lot, Oracle, OwnOracle, Seen};
use crate::reference::{Filter, Resampling, Sight};
use crate::shape::Shape;
use crate::wgsl::{Expr, Term};

/// What can be written down, and read again.
pub(super) trait Carry: Sized {
    fn put(&self, out: &mut Vec<u8>);
    fn take(from: &mut Left<'_>) -> Result<Self>;
}

/// The bytes that are left.
#[derive(Debug)]
pub(super) struct Left<'a>(pub(super) &'a [u8]);

pub(super) fn absurd(what: impl Into<String>) -> crate::Error {
    ShadowCause::Absurd { what: what.into() }.into()
}

impl<'a> Left<'a> {
    /// The next so many.
    pub(super) fn bytes(&mut self, what: &'static str, wanted: u64) -> Result<&'a [u8]> {
        let parts = usize::try_from(wanted).ok().and_then(|n| self.0.split_at_checked(n));
        let left = self.0.len() as u64;
        let (taken, rest) = parts.ok_or(ShadowCause::Cut { what, wanted, left })?;
        self.0 = rest;
        Ok(taken)
    }
}

macro_rules! numbers {
    ($($number:ty),*) => {$(
        impl Carry for $number {
            fn put(&self, out: &mut Vec<u8>) {
                out.extend(self.to_le_bytes());
            }

            fn take(from: &mut Left<'_>) -> Result<Self> {
                let bytes = from.bytes("a number", size_of::<Self>() as u64)?;
                let mut number = [0; size_of::<Self>()];
                number.copy_from_slice(bytes);
                Ok(Self::from_le_bytes(number))
            }
        }
    )*};
}
numbers!(u16, u32, u64, i64, f32, f64);

impl Carry for usize {
    fn put(&self, out: &mut Vec<u8>) {
        (*self as u64).put(out);
    }

    fn take(from: &mut Left<'_>) -> Result<Self> {
        let number = u64::take(from)?;
        Self::try_from(number).map_err(|_| absurd(format!("{number} is no size here")))
    }
}

impl Carry for isize {
    fn put(&self, out: &mut Vec<u8>) {
        (*self as i64).put(out);
    }

    fn take(from: &mut Left<'_>) -> Result<Self> {
        let number = i64::take(from)?;
        Self::try_from(number).map_err(|_| absurd(format!("{number} is no step here")))
    }
}

impl Carry for bool {
    fn put(&self, out: &mut Vec<u8>) {
        u16::from(*self).put(out);
    }

    fn take(from: &mut Left<'_>) -> Result<Self> {
        Ok(u16::take(from)? != 0)
    }
}

impl Carry for String {
    fn put(&self, out: &mut Vec<u8>) {
        self.len().put(out);
        out.extend(self.as_bytes());
    }

    fn take(from: &mut Left<'_>) -> Result<Self> {
        let length = u64::take(from)?;
        let text = from.bytes("a text", length)?;
        Self::from_utf8(text.to_vec()).map_err(|_| absurd("a text that is not UTF-8"))
    }
}

/// Raw bytes, unlike a list.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Blob(pub(super) Vec<u8>);

impl Carry for Blob {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.len().put(out);
        out.extend(&self.0);
    }

    fn take(from: &mut Left<'_>) -> Result<Self> {
        let length = u64::take(from)?;
        Ok(Self(from.bytes("data", length)?.to_vec()))
    }
}

impl<T: Carry> Carry for Vec<T> {
    fn put(&self, out: &mut Vec<u8>) {
        self.len().put(out);
        self.iter().for_each(|one| one.put(out));
    }

    fn take(from: &mut Left<'_>) -> Result<Self> {
        let length = u64::take(from)?;
        // Each takes two bytes at least; so a list grows no faster than it is read.
        let left = from.0.len() as u64;
        if length > left / 2 {
            return Err(ShadowCause::Cut {
                what: "a list",
                wanted: length.saturating_mul(2),
                left,
            }
            .into());
        }
        let mut all = Self::new();
        for _ in 0..length {
            all.push(T::take(from)?);
        }
        Ok(all)
    }
}

impl<T: Carry, const N: usize> Carry for [T; N] {
    fn put(&self, out: &mut Vec<u8>) {
        self.iter().for_each(|one| one.put(out));
    }

    fn take(from: &mut Left<'_>) -> Result<Self> {
        let all: Vec<T> = (0..N).map(|_| T::take(from)).collect::<Result<_>>()?;
        Self::try_from(all).map_err(|_| absurd("a list of another length"))
    }
}

impl<T: Carry> Carry for Option<T> {
    fn put(&self, out: &mut Vec<u8>) {
        self.is_some().put(out);
        self.iter().for_each(|one| one.put(out));
    }

    fn take(from: &mut Left<'_>) -> Result<Self> {
        Ok(if bool::take(from)? { Some(T::take(from)?) } else { None })
    }
}

/// What is known by its name.
macro_rules! by_name {
    ($($of:ty: $name:expr, $find:expr;)*) => {$(
        impl Carry for $of {
            fn put(&self, out: &mut Vec<u8>) {
                $name(*self).to_owned().put(out);
            }

            fn take(from: &mut Left<'_>) -> Result<Self> {
                let name = String::take(from)?;
                $find(&name).ok_or_else(|| absurd(format!("there is no {name:?}")))
            }
        }
    )*};
}
by_name! {
    DType: DType::name, DType::named;
    Op: Op::name, Op::named;
    Reduction: Reduction::name, |name| Reduction::ALL.iter().find(|r| r.name() == name).copied();
    Joint: Joint::name, |name| Joint::ALL.iter().find(|j| j.name() == name).copied();
}

/// Structs, field by field.
macro_rules! by_field {
    ($($of:ident { $($field:ident),* })*) => {$(
        impl $crate::shadow::carry::Carry for $of {
            fn put(&self, out: &mut Vec<u8>) {
                $(self.$field.put(out);)*
            }

            fn take(from: &mut $crate::shadow::carry::Left<'_>) -> $crate::Result<Self> {
                Ok(Self { $($field: $crate::shadow::carry::Carry::take(from)?),* })
            }
        }
    )*};
}
pub(super) use by_field;

by_field! {
    Seen { input, layout, dtype }
    Formed { expr, views, scalars, shape, dtype }
    Claim { core, heads, tail }
    Expr { inputs, scalars, nodes, outputs, fault }
}

impl Carry for Shape {
    fn put(&self, out: &mut Vec<u8>) {
        self.dims().to_vec().put(out);
    }

    fn take(from: &mut Left<'_>) -> Result<Self> {
        Self::new(Vec::<usize>::take(from)?)
    }
}

impl Carry for Layout {
    fn put(&self, out: &mut Vec<u8>) {
        self.shape().put(out);
        self.strides().to_vec().put(out);
        self.offset().put(out);
    }

    fn take(from: &mut Left<'_>) -> Result<Self> {
        let (shape, strides) = (Shape::take(from)?, Vec::<isize>::take(from)?);
        Self::strided(shape, &strides, usize::take(from)?)
    }
}

impl Carry for Term {
    fn put(&self, out: &mut Vec<u8>) {
        let (tag, places) = match *self {
            Self::Input(i) => (0u16, [i, 0, 0]),
            Self::Scalar(i) => (1, [i, 0, 0]),
            Self::Apply(_, args) => (2, args),
            Self::Cast(a, _) => (3, [a, 0, 0]),
            // Without an oracle, and so never written.
            Self::Call(_, args) => (4, args),
        };
        tag.put(out);
        places.put(out);
        match self {
            Self::Apply(op, _) => op.put(out),
            Self::Cast(_, dtype) => dtype.put(out),
            _ => {}
        }
    }

    fn take(from: &mut Left<'_>) -> Result<Self> {
        let (tag, args) = (u16::take(from)?, <[u16; 3]>::take(from)?);
        Ok(match tag {
            0 => Self::Input(args[0]),
            1 => Self::Scalar(args[0]),
            2 => Self::Apply(Op::take(from)?, args),
            3 => Self::Cast(args[0], DType::take(from)?),
            _ => return Err(absurd(format!("a step of kind {tag}"))),
        })
    }
}

impl<T: Carry> Carry for Box<T> {
    fn put(&self, out: &mut Vec<u8>) {
        T::put(self, out);
    }

    fn take(from: &mut Left<'_>) -> Result<Self> {
        T::take(from).map(Self::new)
    }
}

impl Carry for &'static OwnOracle {
    fn put(&self, out: &mut Vec<u8>) {
        self.name.to_owned().put(out);
    }

    fn take(from: &mut Left<'_>) -> Result<Self> {
        let name = String::take(from)?;
        let found = ORACLES.iter().copied().find(|by| by.name == name);
        found.ok_or_else(|| absurd(format!("an oracle called {name:?}")))
    }
}

/// Enums, by the number of a kind and its fields.
macro_rules! by_kind {
    ($of:ident, $what:literal:
        $($kind:literal $variant:ident { $($field:tt: $name:ident),* })*
    ) => {
        impl Carry for $of {
            fn put(&self, out: &mut Vec<u8>) {
                match self {
                    $(Self::$variant { $($field: $name),* } => {
                        let kind: u16 = $kind;
                        kind.put(out);
                        $($name.put(out);)*
                    })*
                }
            }

            fn take(from: &mut Left<'_>) -> Result<Self> {
                Ok(match u16::take(from)? {
                    $($kind => Self::$variant { $($field: Carry::take(from)?),* },)*
                    kind => return Err(absurd(format!("{} of kind {kind}", $what))),
                })
            }
        }
    };
}

by_kind! { Lot, "a draw":
    0 Bits { 0: stream }
    1 Uniform {}
    2 Normal {}
    3 Below { 0: words }
    4 Chance { 0: threshold }
}

by_field! { Resampling { factor, term, parts, cubic } }

by_kind! { Filter, "a filter":
    0 Even {}
    1 Linear {}
    2 Cubic {}
}

by_field! { Sight { first, before, after } }

by_kind! { Oracle, "an oracle":
    0 Copied {}
    1 Reduced { reduction: reduction, axes: axes }
    2 Scanned { 0: reduction }
    3 Row { joint: joint, eps: eps }
    4 Product { sides: sides }
    5 Attention { scale: scale, sight: sight }
    6 Picked { offset: offset, strides: strides, step: step, bound: bound }
    7 Joined { axis: axis }
    8 Convolved { step: step, reach: reach, first: first, groups: groups }
    9 Words {}
    10 Ordered { bits: bits, length: length }
    11 Filled { bits: bits }
    12 Counted {}
    13 Drawn { key: key, lot: lot }
    14 Shuffled { key: key }
    15 Last {}
    16 Replaced {}
    17 Folded { 0: reduction }
    18 Assigned { first: first }
    19 Band { first: first, end: end }
    20 Own { by: by, told: told }
    21 Pooled {
        reduction: reduction, size: size, step: step, reach: reach, first: first, result: result
    }
    22 Resized { to: to, at: at }
    23 Foremost { bits: bits, length: length, count: count }
    24 Sorted { descending: descending, length: length }
    25 Framed { first: first, bits: bits }
    26 Enlarged { to: to, at: at }
    27 Covered { to: to, filter: filter }
}
