//! The one place of this repository that is `unsafe`: a promise to wgpu, which is a user's to give.

/// wgpu's token for features that it calls experimental.
#[expect(unsafe_code, reason = "what a user promises who wants these features, the tests promise")]
pub(crate) fn token() -> wgpu::ExperimentalFeatures {
    // SAFETY: nothing but an acknowledgement that these parts of wgpu may have bugs. The tests that
    // use it are there to find them.
    unsafe { wgpu::ExperimentalFeatures::enabled() }
}
