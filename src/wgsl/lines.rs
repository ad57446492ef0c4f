//! Text written line by line.

/// Adds a line to a text.
macro_rules! put {
    ($text:expr, $($line:tt)*) => {{
        use core::fmt::Write as _;
        // Writing to a String cannot fail.
        let _ = writeln!($text, $($line)*);
    }};
}
pub(crate) use put;

/// The names of a quad's four numbers.
pub(crate) const LANES: [char; 4] = ['x', 'y', 'z', 'w'];

/// The name of number `n` of the quad that it lies in.
pub(crate) const fn lane(n: u32) -> char {
    LANES[n as usize % 4]
}
