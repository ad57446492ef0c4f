//! `WHARF_DUMP=dir`: every assembled text as a file there, once, under a header that says what it
//! is and who asked for it.
//!
//! A file that cannot be written is logged, the first one only, and harms nobody.

use core::fmt::Write;
use core::panic::Location;
use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};

use crate::dtype::DType;
use crate::news::{Level, Topic};
use crate::shared::{in_file_name, lock};
use crate::wgsl::Assembled;

/// Where texts go, and which are there.
#[derive(Debug)]
struct Dump {
    folder: PathBuf,
    written: Mutex<HashSet<u64>>,
    /// What failed has been said.
    told: OnceLock<()>,
}

/// Writes a text, if that was asked for and it is not there yet.
pub(crate) fn dump(
    kernel: &Assembled,
    line: &'static Location<'static>,
    adapter: impl FnOnce() -> String,
) {
    static DUMP: OnceLock<Option<Dump>> = OnceLock::new();
    let asked = || {
        let folder = std::env::var_os("WHARF_DUMP").filter(|folder| !folder.is_empty())?;
        Some(Dump::into(PathBuf::from(folder)))
    };
    if let Some(dump) = DUMP.get_or_init(asked) {
        dump.write(kernel, line, adapter);
    }
}

impl Dump {
    fn into(folder: PathBuf) -> Self {
        Self { folder, written: Mutex::default(), told: OnceLock::new() }
    }

    fn write(
        &self,
        kernel: &Assembled,
        line: &'static Location<'static>,
        adapter: impl FnOnce() -> String,
    ) {
        if !lock(&self.written).insert(kernel.hash) {
            return;
        }
        let name = in_file_name(kernel.name);
        let path = self.folder.join(format!("{name}-{:08x}.wgsl", kernel.hash >> 32));
        let text = format!("{}{}", header(kernel, line, &adapter()), kernel.wgsl);
        let written = fs::create_dir_all(&self.folder).and_then(|()| fs::write(&path, text));
        if let Err(error) = written {
            self.told.get_or_init(|| complain(&path, &error));
        }
    }
}

fn complain(path: &Path, error: &std::io::Error) {
    let path = path.display();
    Topic::Dump.tell(
        Level::Warn,
        "WHARF_DUMP",
        format_args!("{path} is not written, and perhaps no other: {error}"),
    );
}

/// What a text is, as a comment.
fn header(kernel: &Assembled, line: &'static Location<'static>, adapter: &str) -> String {
    let rows = [
        ("kernel", kernel.name.into()),
        ("reads", dtypes(&kernel.wgsl, "decode_")),
        ("writes", dtypes(&kernel.wgsl, "encode_")),
        ("adapter", adapter.into()),
        ("asked at", line.to_string()),
        ("version", format!("wharf {}", env!("CARGO_PKG_VERSION"))),
    ];
    let mut header = String::new();
    for (title, text) in rows {
        // One line each, whatever a driver calls itself.
        let text = text.replace(char::is_control, " ");
        let _ = writeln!(header, "// {title:<9} {text}");
    }
    header + "\n"
}

/// The dtypes whose coders a text has; what moves bits as they are has none.
fn dtypes(wgsl: &str, coder: &str) -> String {
    let called = |dtype: &DType| wgsl.contains(&format!("{coder}{dtype}"));
    let names: Vec<&str> = DType::ALL.iter().filter(|d| called(d)).map(|d| d.name()).collect();
    if names.is_empty() { "-".into() } else { names.join(" ") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::fill::text::FILL;
    use crate::wgsl::{Form, Slot, Target, kept};

    #[test]
    fn a_text_is_written_once_with_the_dtypes_that_it_has() {
        let text = "fn decode_f16p(w: u32) {} fn decode_bf16(w: u32) {} fn encode_u8(v: u32) {}";
        let both = ["decode_", "encode_", "nothing_"].map(|coder| dtypes(text, coder));
        assert_eq!(both, ["f16 bf16", "u8", "-"]);

        let folder = std::env::temp_dir().join(format!("wharf-dump-{}", std::process::id()));
        let dump = Dump::into(folder.join("made"));
        let fill = kept::kernel(&FILL, &[Slot::write(Form::W32)], 0, Target::Cpu);
        let here = Location::caller();
        dump.write(&fill, here, || "a driver\nof two lines".into());
        let name = format!("fill-{:08x}.wgsl", fill.hash >> 32);
        let written = fs::read_to_string(folder.join("made").join(&name)).unwrap_or_default();
        let want = [
            "// kernel    fill".to_owned(),
            format!("// adapter   a driver of two lines\n// asked at  {here}\n"),
            format!("\n\n{}", fill.wgsl),
        ];
        want.iter().for_each(|part| assert!(written.contains(part), "{part} in {written}"));
        assert!(written.ends_with(&want[2]), "{written}");
        // The name of a kernel from a file is its path.
        let mut own = Assembled::clone(&fill);
        (own.name, own.hash) = ("shaders/../blur.wgsl", 7 << 32);
        dump.write(&own, here, String::new);
        let path = folder.join("made/shaders-..-blur.wgsl-00000007.wgsl");
        assert!(path.exists(), "{path:?}");
        fs::remove_dir_all(&folder).unwrap_or_default();
        dump.write(&fill, here, || "another".into());
        assert!(!folder.exists(), "it was written already");
    }
}
