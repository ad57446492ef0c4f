//! A shader file, compiled in.

/// A shader file: where it lies, and its text, compiled in.
#[derive(Clone, Copy, Debug)]
pub struct Source {
    /// The path below `shaders/`.
    pub path: &'static str,
    /// The file as it lies on disk.
    pub text: &'static str,
}

macro_rules! source {
    ($path:expr) => {
        $crate::wgsl::Source {
            path: $path,
            text: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/shaders/", $path)),
        }
    };
}
pub(crate) use source;
