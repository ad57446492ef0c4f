//! `wharf`: what there is, and what will arrive, asked before anything moves.

use std::io::Write;
use std::process::ExitCode;

mod bench;
mod check;
mod doctor;

const HELP: &str = "\
wharf: tensors on any GPU, and what becomes of them

  wharf doctor      what there is, what each dtype becomes on it, and every dtype there and back
  wharf check FILE  whether the tensors of a file will arrive, as what, and whether they fit
  wharf bench       how fast this adapter copies, adds and multiplies

Each has a `--help` of its own.
";

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let command = arguments.next().map(|word| word.to_string_lossy().into_owned());
    match command.as_deref() {
        Some("doctor") => doctor::main(arguments),
        Some("bench") => bench::main(arguments),
        Some("check") => check::main(arguments),
        Some("help" | "--help" | "-h") => {
            // A reader that has gone away is no error.
            let _ = std::io::stdout().write_all(HELP.as_bytes());
            ExitCode::SUCCESS
        }
        unknown => {
            let unknown = unknown.map(|word| format!("wharf: no command {word:?}\n\n"));
            let text = unknown.unwrap_or_default() + HELP;
            let _ = std::io::stderr().write_all(text.as_bytes());
            ExitCode::from(doctor::grammar::EXIT_USAGE)
        }
    }
}
