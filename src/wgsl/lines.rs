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

/// The constants of a kernel.
pub(crate) fn consts<N: core::fmt::Display, const K: usize>(of: [(&str, N); K]) -> String {
    of.map(|(name, n)| format!("const {name} = {n}u;\n")).concat()
}

/// The names of a quad's four numbers.
pub(crate) const LANES: [char; 4] = ['x', 'y', 'z', 'w'];

/// The one of several that a number tells, by comparisons: what lies in registers has no index.
pub(crate) fn one_of(number: &str, of: impl IntoIterator<Item = String>) -> String {
    let mut of = of.into_iter().enumerate();
    let first = of.next().map(|(_, one)| one).unwrap_or_default();
    of.fold(first, |all, (n, one)| format!("select({all}, {one}, {number} == {n}u)"))
}

/// A sum, to which products are added by `fma`, one after the other.
pub(crate) fn fused(sum: String, terms: impl IntoIterator<Item = (String, String)>) -> String {
    terms.into_iter().fold(sum, |sum, (a, b)| format!("fma({a}, {b}, {sum})"))
}

/// The name of number `n` of the quad that it lies in.
pub(crate) const fn lane(n: u32) -> char {
    LANES[n as usize % 4]
}

/// How a quad of a result's row is stored.
#[derive(Debug)]
pub(crate) struct StoredQuad<'a> {
    /// What is stored, and its type.
    pub(crate) quad: (&'a str, &'a str),
    /// The element of the result where it begins.
    pub(crate) to: &'a str,
    /// The element of its row where it begins, and where the row ends.
    pub(crate) within: (&'a str, &'a str),
}

impl StoredQuad<'_> {
    /// A quad as it is where rows are whole quads. Elsewhere those of its numbers that lie in the
    /// row, one by one: in a loop that no constant ends, so that its tail is compiled once.
    pub(crate) fn lines(&self, whole: bool) -> String {
        let Self { quad: (quad, kind), to, within: (at, end) } = self;
        if whole {
            return format!("finish({to} >> 2u, {quad});\n");
        }
        let [x, y, z, w] = LANES.map(|lane| format!("stored.{lane}"));
        let part = format!("select(select({x}, {y}, i == 1u), select({z}, {w}, i == 3u), i > 1u)");
        format!(
            "let stored = {quad};\nlet past = min({at} + 4u, {end});\n\
             for (var i = 0u; {at} + i < past; i++) {{\n    finish({to} + i, {kind}({part}));\n}}\n"
        )
    }
}

/// The text whose entry begins with one more statement. Its lines keep their numbers.
pub(super) fn begun(text: &str, statement: &str) -> String {
    const BEGIN: &str = "\n) {";
    match text.split_once("\nfn main(") {
        Some((before, main)) => {
            let main = main.replacen(BEGIN, &format!("{BEGIN} {statement}"), 1);
            format!("{before}\nfn main({main}")
        }
        None => text.to_owned(),
    }
}
