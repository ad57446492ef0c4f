//! Promises to wgpu that only a user can give. Only `tests/metal` is `unsafe` as well.

/// wgpu's token for features that it calls experimental.
#[expect(unsafe_code, reason = "what a user promises who wants these features, the tests promise")]
pub(crate) fn token() -> wgpu::ExperimentalFeatures {
    // SAFETY: the call only acknowledges that these parts of wgpu may have bugs. The tests that use
    // it are there to find them.
    unsafe { wgpu::ExperimentalFeatures::enabled() }
}

/// A shader module without the checks that wharf's kernels are said not to need.
#[expect(unsafe_code, reason = "what a user promises who trusts wharf, the tests promise")]
pub(crate) fn trusted(
    device: &wgpu::Device,
    module: wgpu::ShaderModuleDescriptor<'_>,
    checks: wgpu::ShaderRuntimeChecks,
) -> wgpu::ShaderModule {
    // SAFETY: the tests that use it are there to find out whether kernels stay within their arrays
    // and end, on drivers that survive it if they do not.
    unsafe { device.create_shader_module_trusted(module, checks) }
}
