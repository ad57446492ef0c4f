//! Why nothing can be tuned.

use crate::error::causes;

causes! {
    pub(super) enum TuneCause;

    NoClock { adapter: String }, Limit:
        ("tuning on {adapter} takes a clock, and wharf has none in a browser")
        help ("leave it out there: without it the built-in choices stand; how long a whole program \
               takes, the page's own clock says");
    /// Where the first one went wrong, and how many there are.
    NoneRight { adapter: String, first: String, of: usize }, Wrong:
        ("none of {of} kernels computes this on {adapter}; the first one: {first}")
        help ("either the driver or wharf's own kernels may be wrong: please report it with the \
               output of the doctor, which tells whether data crosses at all; until then, update \
               the driver, or try another adapter or backend (WHARF_ADAPTER, WGPU_BACKEND)");
}
