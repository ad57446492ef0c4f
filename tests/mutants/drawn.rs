//! Which mistakes a seed draws, and which survivors somebody has judged: of shaders and of Rust.

/// The lot of a text, the same with every Rust: what CI draws has been judged. FNV-1a, with its
/// bits mixed once more.
pub(crate) fn lot(text: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325, step);
    (hash ^ (hash >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// Why a survivor is none to worry about, if the list says so: `path | was -> now | why nobody can
/// notice`, or `path | [rule] was | why` for all that a rule does there.
pub(crate) fn judged<'a>(
    list: &'a str,
    (path, rule): (&str, &str),
    (was, now): (&str, &str),
) -> Option<&'a str> {
    let change = format!("{} -> {}", was.trim(), now.trim());
    let any = format!("[{rule}] {}", was.trim());
    list.lines().find_map(|line| {
        let (of, rest) = line.split_once(" | ")?;
        let (what, why) = rest.rsplit_once(" | ")?;
        (of == path && (what == change || what == any)).then_some(why)
    })
}
