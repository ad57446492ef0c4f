//! What may be written on the command line.

use crate::doctor::grammar::{Grammar, Words};

pub(super) const GRAMMAR: Grammar = Grammar {
    name: "wharf bench",
    help: HELP,
    options: &[("--adapter", 1), ("--quick", 0), ("--json", 0)],
    apart: &[],
    free: 0,
};

const HELP: &str = "\
wharf bench: how fast is this adapter, in seconds?

Copies, adds and multiplies on the best adapter, and checks each result against the oracle once.
A software adapter is measured where it is asked for (WHARF_ALLOW_SOFTWARE=1, or by its name).

usage: wharf bench [--adapter TEXT] [--quick] [--json]
       wharf bench --help

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
#[derive(Debug)]
pub(super) struct Options {
    pub(super) adapter: Option<String>,
    pub(super) quick: bool,
    pub(super) json: bool,
}

impl Options {
    pub(super) fn of(words: &Words) -> Self {
        let adapter = words.value("--adapter").map(str::to_owned);
        Self { adapter, quick: words.has("--quick"), json: words.has("--json") }
    }
}
