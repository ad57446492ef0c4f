//! Slots: an operand of a kernel, how it is stored and how it is reached.

use super::form::Form;

/// How a kernel reaches the quads of a binding. The index space is the output's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Way {
    /// Quad `q` of the space is quad `q` of the binding, from an offset that is a multiple of four.
    Dense,
    /// One element for the whole space, loaded once.
    One,
    /// Strided; every quad of the space is dense and aligned: rows, offset and strides are
    /// multiples of four.
    Row,
    /// Strided; every quad is one element, four times: whole-quad rows, inner stride 0.
    Splat,
    /// Strided; the elements of a quad are equally far apart: whole-quad rows.
    Step,
    /// Strided, rows of any length: every element is located by itself.
    Any,
    /// In place: read from output `j`, dense.
    Own(u8),
    /// Element by element: the kernel asks for one element of the binding, and gets it four times.
    Each,
    /// Element by element without an offset: element `q` of the binding.
    Lane,
    /// Strided, element by element: for one element of the space.
    EachStrided,
    /// By places that the kernel computes itself: `load_i(e)` takes those of the four elements in
    /// the bound range.
    At,
    /// By such places where the four are a whole quad: that of the first one counts.
    AtQuad,
}

impl Way {
    /// Whether the kernel computes indices from the strides of the view.
    #[must_use]
    pub const fn is_strided(self) -> bool {
        matches!(self, Self::Row | Self::Splat | Self::Step | Self::Any | Self::EachStrided)
    }

    /// Whether every quad lies in one row of the index space.
    pub(super) const fn is_by_row(self) -> bool {
        matches!(self, Self::Row | Self::Splat | Self::Step)
    }

    /// How a kernel that asks element by element reaches it.
    #[must_use]
    pub const fn by_element(self) -> Self {
        match self {
            Self::Dense | Self::Own(_) | Self::Each | Self::Lane => Self::Each,
            Self::One => Self::One,
            _ => Self::EachStrided,
        }
    }
}

/// One operand of a kernel: how it is stored and how it is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Slot {
    /// How elements are stored.
    pub form: Form,
    /// How quads are reached. Outputs are dense, rows or single elements.
    pub way: Way,
    /// Whether it is an output.
    pub written: bool,
}

impl Slot {
    /// An input.
    #[must_use]
    pub const fn read(form: Form, way: Way) -> Self {
        Self { form, way, written: false }
    }

    /// An output.
    #[must_use]
    pub const fn write(form: Form) -> Self {
        Self { form, way: Way::Dense, written: true }
    }
}
