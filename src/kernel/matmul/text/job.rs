//! The parameters that all four kernels are told.

use crate::wgsl::params::params;

params! {
    /// `matmul.wgsl` says what they mean.
    struct MatmulJob {
        size: [u32; 4],
        first: [u32; 4],
        result: [u32; 4],
        step: [u32; 4],
        batch: [[u32; 8]; 3],
    }
}
