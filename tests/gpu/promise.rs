//! The only `unsafe` code of this repository: a promise to wgpu that only a user can give.

/// wgpu's token for features that it calls experimental.
#[expect(unsafe_code, reason = "what a user promises who wants these features, the tests promise")]
pub(crate) fn token() -> wgpu::ExperimentalFeatures {
    // SAFETY: the call only acknowledges that these parts of wgpu may have bugs. The tests that use
    // it are there to find them.
    unsafe { wgpu::ExperimentalFeatures::enabled() }
}
