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
    /// The same, but 8 and 16 bits can be left on the way and have to be wrapped to.
    Wraps,
    /// bool.
    Truth,
}
