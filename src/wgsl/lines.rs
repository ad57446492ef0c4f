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

/// The one of several that a number tells, by comparisons: what lies in registers has no index.
pub(crate) fn picked(number: &str, of: impl IntoIterator<Item = String>) -> String {
    let mut of = of.into_iter().enumerate();
    let first = of.next().map(|(_, one)| one).unwrap_or_default();
    of.fold(first, |all, (n, one)| format!("select({all}, {one}, {number} == {n}u)"))
}

/// The name of number `n` of the quad that it lies in.
pub(crate) const fn lane(n: u32) -> char {
    LANES[n as usize % 4]
}

/// The one of a quad's four numbers that `i` tells.
pub(crate) fn part(quad: &str) -> String {
    let [x, y, z, w] = LANES.map(|lane| format!("{quad}.{lane}"));
    format!("select(select({x}, {y}, i == 1u), select({z}, {w}, i == 3u), i > 1u)")
}
