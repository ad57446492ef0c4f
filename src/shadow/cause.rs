//! What a shadow finds, and what can be wrong with a capsule.

use crate::engine::docket::Exhibit;
use crate::error::causes;
use crate::proof::Outlier;

use super::words::at;

causes! {
    pub(super) enum ShadowCause;

    Wrong { at: String, words: String, from: String, counts: (u64, u64), kernels: String,
            adapter: String, file: Option<String> }, Wrong:
        ("{at} is {words}: {} of {} judged elements are outside the contract; from {from}; \
          by {kernels} on {adapter}", counts.0, counts.1)
        help ("the kernel, or the driver's compiler, computes something else: another driver says \
               which{}", match file {
            Some(file) => format!("; {file}"),
            None => "; `Shadow::capsule` has it as a file that `wharf doctor --replay` runs on \
                     any adapter".into(),
        });
    Format { begin: String }, File:
        ("this is no capsule: it begins with {begin:?}")
        help ("a shadow writes capsules: `WHARF_SHADOW=folder`, or `Shadow::capsule`");
    Version { version: String }, File:
        ("a capsule of version {version}, where this wharf reads version 2")
        help ("replay it with the wharf that wrote it, which it names in its first lines");
    Cut { what: &'static str, wanted: u64, left: u64 }, File:
        ("the capsule is cut short: {what} of {wanted} bytes, where {left} are left")
        help ("copy the file once more");
    Absurd { what: String }, File:
        ("the capsule contradicts itself: {what}")
        help ("it was changed or damaged after it was written");
    Text { why: String }, File:
        ("the capsule's kernel is no WGSL: {why}")
        help ("it was changed or damaged after it was written");
    Lacks { what: String, adapter: String }, Limit:
        ("the capsule cannot be replayed on {adapter}: {what}")
        help ("replay it on another adapter: `--adapter`");
    Unwritten { path: String, why: String }, File:
        ("the capsule {path} cannot be written: {why}")
        help ("look at the folder, the space and the permissions");
    Unread { path: String, why: String }, File:
        ("the capsule {path} cannot be read: {why}")
        help ("look at the path and the permissions");
}

impl ShadowCause {
    pub(super) fn wrong(
        exhibit: &Exhibit,
        worst: &Outlier,
        counts: (u64, u64),
        (adapter, file): (String, Option<String>),
    ) -> Self {
        let mut kernels: Vec<&str> = exhibit.dispatches.iter().map(|d| d.kernel.name).collect();
        kernels.dedup();
        let (at, from) = (at(&exhibit.claim.tail, worst.element), worst.from.clone());
        let (words, kernels) = (worst.words(), kernels.join(", "));
        Self::Wrong { at, words, from, counts, kernels, adapter, file }
    }
}
