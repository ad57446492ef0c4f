//! A shader file, compiled in.

use super::needs::Needs;

/// A shader file: where it lies, its text, and what its items need.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Source {
    /// The path below `shaders/`.
    pub path: &'static str,
    /// The file as it lies on disk.
    pub text: &'static str,
    /// The capabilities that a text needs once it has an item of this file. Of a kernel's file:
    /// those that the kernel needs whatever is written into its regions.
    pub needs: Needs,
}

/// The file at this path below `shaders/`, with its needs if baseline WebGPU is not enough.
macro_rules! source {
    ($path:expr) => {
        source!($path, $crate::wgsl::Needs::NONE)
    };
    ($path:expr, $needs:expr) => {
        $crate::wgsl::Source {
            path: $path,
            text: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/shaders/", $path)),
            needs: $needs,
        }
    };
}
pub(crate) use source;

#[cfg(test)]
mod tests {
    use super::Source;

    impl Source {
        /// The number that a constant of the file stands for, or an override.
        pub(crate) fn number(&self, name: &str) -> u32 {
            let lines = self.text.lines().filter_map(|line| line.split_once(" = "));
            let of = |declared: &str| declared.split([' ', ':']).nth(1) == Some(name);
            let mut values = lines.filter(|(declared, _)| of(declared)).map(|(_, value)| value);
            let digits = values.next().and_then(|value| value.strip_suffix("u;"));
            digits.and_then(|n| n.parse().ok()).expect(name)
        }
    }
}
