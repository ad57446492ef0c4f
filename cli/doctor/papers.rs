//! Passports as files: made, and read with all that may be wrong with them.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::time::Instant;

use serde_json::Value;
use wharf::adapter::Listing;

use super::passport;
use super::passport::document::{BYTES_MAX, Passport};
use super::passport::schema::Flaw;
use super::table::{Page, Tone, bytes, clean};

/// The exit codes where a file is no passport, and where it cannot be read: `EX_DATAERR` and
/// `EX_NOINPUT` of BSD's sysexits.
const EXIT_DATA: u8 = 65;
const EXIT_NO_INPUT: u8 = 66;
/// Where something is not right, or cannot be written.
const EXIT_WRONG: u8 = 2;

/// Measures the chosen adapter and writes its passport; returns the exit code.
pub(crate) async fn make(page: &Page, listing: &Listing, path: &str) -> u8 {
    let clock = Instant::now();
    let device = match super::open(listing).await {
        Ok(device) => device,
        Err(error) => {
            page.error(&error);
            return EXIT_WRONG;
        }
    };
    let id = &device.caps().identity;
    page.heading("Passport", &format!("{} ({})", clean(&id.name), id.backend.name()));
    let passport = passport::make(&device, |part| {
        let seconds = format!("{:.0} s", clock.elapsed().as_secs_f64());
        page.row(&[(Tone::Plain, "", 2), (Tone::Dim, &seconds, 8)], (Tone::Plain, part));
    });
    let passport = passport.await;
    let wrong = wrongs(&passport);
    for row in &wrong {
        page.row(&[(Tone::Plain, "", 2), (Tone::Bad, "WRONG", 8)], (Tone::Plain, row));
    }
    let text = passport.to_string();
    let written = match text.len() {
        size if size > BYTES_MAX => Err(Flaw::Long { bytes: size as u64, most: BYTES_MAX as u64 }),
        _ => put(Path::new(path), &text),
    };
    if let Err(flaw) = written {
        refuse(page, Path::new(path), &flaw);
        return EXIT_WRONG;
    }
    let (size, hash) = (bytes(text.len() as u64), passport.text("hash"));
    let seconds = clock.elapsed().as_secs_f64();
    page.blank();
    page.line(&[
        (Tone::Good, &format!("{}: {size}, hash {hash}", clean(path))),
        (Tone::Dim, &format!(" ({seconds:.0} s)")),
    ]);
    if wrong.is_empty() { 0 } else { EXIT_WRONG }
}

/// The rows that say that something is wrong.
fn wrongs(passport: &Passport) -> Vec<String> {
    let bad = |part: &str, row: &Value| match part {
        "accuracy" => row["wrong"].is_string(),
        "ceilings" => row["said"].as_str().is_some_and(|said| said != "not here"),
        _ => matches!(row["verdict"].as_str(), Some("FAILED" | "WRONG")),
    };
    let mut all = Vec::new();
    for part in ["crossings", "cases", "accuracy", "ceilings"] {
        let rows = passport.part(part).as_array().map_or(&[][..], |rows| rows);
        all.extend(rows.iter().filter(|row| bad(part, row)).map(|row| format!("{part}: {row}")));
    }
    all
}

/// Writes a file: what was there before stays until all of it is written.
pub(crate) fn put(path: &Path, text: &str) -> Result<(), Flaw> {
    // A link stays one.
    let path = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let written = if path.exists() && !path.is_file() {
        // A pipe, or what else takes it as it comes.
        std::fs::write(&path, text)
    } else {
        let mut beside = path.clone().into_os_string();
        beside.push(format!(".{}.part", std::process::id()));
        let whole = std::fs::write(&beside, text).and_then(|()| std::fs::rename(&beside, &path));
        whole.inspect_err(|_| drop(std::fs::remove_file(&beside)))
    };
    written.map_err(|error| Flaw::Unwritten { message: error.to_string() })
}

/// Reads a passport.
pub(crate) fn read(path: &Path) -> Result<Passport, Flaw> {
    let unread = |error: std::io::Error| Flaw::Unread { message: error.to_string() };
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(unread)?;
    // One byte more than there may be, whatever the file promises.
    file.take(BYTES_MAX as u64 + 1).read_to_end(&mut bytes).map_err(unread)?;
    if bytes.len() > BYTES_MAX {
        return Err(Flaw::Long { bytes: bytes.len() as u64, most: BYTES_MAX as u64 });
    }
    Passport::parse(&String::from_utf8(bytes).map_err(|_| Flaw::NoUtf8)?)
}

/// Says what is wrong with a file, and what to do about it; returns the exit code.
pub(crate) fn refuse(page: &Page, path: &Path, flaw: &Flaw) -> u8 {
    let text = format!("{}: {flaw}", clean(&path.to_string_lossy()));
    page.row(&[(Tone::Bad, "error", 7)], (Tone::Plain, &text));
    page.row(&[(Tone::Good, "help", 7)], (Tone::Plain, flaw.help()));
    match flaw {
        Flaw::Unread { .. } => EXIT_NO_INPUT,
        Flaw::Unwritten { .. } => EXIT_WRONG,
        _ => EXIT_DATA,
    }
}
