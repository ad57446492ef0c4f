//! The one string wharf needs of a driver manifest, found by a scanner as tolerant as the loader.
//!
//! ```text
//! { "file_format_version": "1.0.0", "ICD": { "library_path": "libvulkan_lvp.so" } }
//! ```
//! One pass over the characters: brackets must balance and strings must end, and the string that
//! follows a key named `library_path` is the answer. Anything else between them is let pass.

use super::machine::ManifestState;

/// The library a manifest names, or what is wrong with the manifest.
pub(crate) fn library_path(text: &str) -> Result<String, ManifestState> {
    let mut rest = text.trim_start_matches('\u{feff}').trim().chars();
    if !rest.as_str().starts_with('{') {
        return Err(ManifestState::NotJson);
    }
    let mut open = Vec::new();
    let mut key = None; // the last string, if it may still turn out to be a key
    let mut after_colon = None;
    let mut library = None;
    while let Some(c) = rest.next() {
        match c {
            '"' => {
                let string = end_of_string(&mut rest).ok_or(ManifestState::NotJson)?;
                if after_colon.take().as_deref() == Some("library_path") {
                    library = library.or(Some(string));
                } else {
                    key = Some(string);
                }
            }
            ':' => after_colon = key.take(),
            '{' | '[' => open.push(c),
            '}' | ']' => {
                let opened = if c == '}' { '{' } else { '[' };
                if open.pop() != Some(opened) || (open.is_empty() && !rest.as_str().is_empty()) {
                    return Err(ManifestState::NotJson);
                }
            }
            ',' => (key, after_colon) = (None, None),
            _ => {}
        }
    }
    if !open.is_empty() {
        return Err(ManifestState::NotJson);
    }
    library.filter(|path| !path.is_empty()).ok_or(ManifestState::NoLibraryPath)
}

/// The string whose opening quote has been read; `None` if it never ends.
fn end_of_string(rest: &mut core::str::Chars<'_>) -> Option<String> {
    let mut string = String::new();
    loop {
        match rest.next()? {
            '"' => return Some(string),
            '\\' => match rest.next()? {
                'n' => string.push('\n'),
                't' => string.push('\t'),
                'u' => {
                    let digits: String = rest.by_ref().take(4).collect();
                    let code = u32::from_str_radix(&digits, 16).ok()?;
                    string.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
                }
                other => string.push(other),
            },
            other => string.push(other),
        }
    }
}
