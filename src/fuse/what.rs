//! How a node is computed, and what that is called.

use std::sync::Arc;

use crate::dtype::DType;
use crate::kernel::cores::Core;
use crate::op::Op;
use crate::wgsl::formula::FormulaText;

/// How a node is computed from its arguments.
#[derive(Clone, Debug)]
pub(crate) enum What {
    Apply(Op),
    /// An operation of the user's own.
    Call(Arc<FormulaText>),
    Cast(DType),
    /// A kernel of its own; its arguments are views.
    Core(Arc<dyn Core>),
}

impl What {
    pub(crate) fn core(core: impl Core + 'static) -> Self {
        Self::Core(Arc::new(core))
    }

    pub(super) fn name(&self) -> &str {
        match self {
            Self::Call(formula) => &formula.name,
            known => known.known_name(),
        }
    }

    /// Like `name`, but every formula of the user's is called "formula".
    pub(super) fn known_name(&self) -> &'static str {
        match self {
            Self::Apply(op) => op.method(),
            Self::Call(_) => "formula",
            Self::Cast(_) => "cast",
            Self::Core(core) => core.name(),
        }
    }

    /// Whether it tells numbers apart that lie as near as one likes, and so has to be given what is
    /// stored of them.
    pub(super) fn looks(&self) -> bool {
        match self {
            Self::Apply(op) => op.looks(),
            Self::Call(_) | Self::Cast(_) => true,
            Self::Core(_) => false,
        }
    }

    /// What compiling it takes, in additions.
    pub(super) fn effort(&self) -> u32 {
        match self {
            Self::Apply(op) => op.effort(),
            Self::Call(formula) => formula.effort,
            Self::Cast(_) | Self::Core(_) => 1,
        }
    }
}
