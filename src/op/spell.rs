//! How WGSL writes an operation, and what it yields.

/// How WGSL writes an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spell {
    /// `a + b`
    Infix(&'static str),
    /// `-a`
    Prefix(&'static str),
    /// A builtin: `floor(a)`.
    Builtin(&'static str),
    /// A function of ours, named after the op and the kind: `gelu_f32(a)`.
    Own,
    /// `a` itself.
    Itself,
    /// `select(c, b, a)`.
    Select,
}

/// What an operation yields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Yields {
    /// The dtype of its operands.
    Same,
    /// The dtype of its operands, but a result may leave 8 or 16 bits and is wrapped back.
    Wraps,
    /// bool.
    Truth,
}
