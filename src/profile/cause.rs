//! What can be wrong with writing a trace.

use crate::error::causes;

causes! {
    pub(super) enum ProfileCause;

    Unwritten { path: String, why: String }, File:
        ("the trace {path} cannot be written: {why}")
        help ("look at the folder, the space and the permissions");
}
