//! What may be written on the command line.

use std::ffi::OsString;

use crate::doctor::table::quote;

pub(super) const USAGE: &str = "\
usage: wharf bench [--adapter TEXT] [--quick] [--json]
       wharf bench --help";

pub(super) const HELP: &str = "\
wharf bench: how fast is this adapter, in seconds?

Copies, adds and multiplies on the best adapter, and checks each result against the oracle once.
A software adapter is measured where it is asked for (WHARF_ALLOW_SOFTWARE=1, or by its name).

usage: wharf bench [--adapter TEXT] [--quick] [--json]

  --adapter TEXT  on this adapter: its index in the doctor's table, or words out of its name,
                  vendor, driver, backend or kind
  --quick         small data, each once: to see that it works
  --json          print one JSON object

Rates are of the median; GB are 10^9 bytes, read and written counted both, and a GFLOP is 10^9
additions and multiplications.

exit codes:
  0   every result is right
  2   a result is wrong, something failed, or there is no adapter
  64  the command line means nothing
";

/// The command line, understood.
#[derive(Debug, Default)]
pub(super) struct Options {
    pub(super) adapter: Option<String>,
    pub(super) quick: bool,
    pub(super) json: bool,
}

impl Options {
    /// Reads the arguments that follow the command; `None` where help is asked for.
    pub(super) fn read(mut words: impl Iterator<Item = OsString>) -> Result<Option<Self>, String> {
        let mut options = Self::default();
        while let Some(word) = words.next() {
            match word.to_string_lossy().as_ref() {
                "--help" | "-h" => return Ok(None),
                "--quick" => options.quick = true,
                "--json" => options.json = true,
                "--adapter" if options.adapter.is_none() => {
                    let text = words.next().ok_or("--adapter needs a value")?;
                    options.adapter = Some(text.to_string_lossy().into_owned());
                }
                "--adapter" => return Err("--adapter once".into()),
                other => return Err(format!("what is {}?", quote(other))),
            }
        }
        Ok(Some(options))
    }
}
