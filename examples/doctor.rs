//! The doctor: what there is, what each dtype becomes on it, and every dtype there and back.
//!
//! `cargo run --example doctor`; `--help` lists what else it can tell. It is `wharf doctor` too,
//! where the feature `cli` makes a program of the crate.

use std::process::ExitCode;

#[path = "../cli/doctor/mod.rs"]
mod doctor;

fn main() -> ExitCode {
    doctor::main(std::env::args_os().skip(1))
}
