//! Shader modules without some of wgpu's checks, for a user who answers for it. The call that
//! leaves them out is `unsafe`, so it is the user's: the library contains none.

/// Makes a shader module with these checks at run time: see
/// [`Adapter::trusting`](crate::Adapter::trusting).
pub type TrustedModules = fn(
    &wgpu::Device,
    wgpu::ShaderModuleDescriptor<'_>,
    wgpu::ShaderRuntimeChecks,
) -> wgpu::ShaderModule;

/// The checks that stay: those whose results are defined, such as what a division by zero gives.
pub(super) fn checks_kept() -> wgpu::ShaderRuntimeChecks {
    wgpu::ShaderRuntimeChecks {
        bounds_checks: false,
        force_loop_bounding: false,
        ..wgpu::ShaderRuntimeChecks::checked()
    }
}
