//! Will the tensors of a file arrive on a GPU, as what, and will they fit? Only the header is read.

use std::ffi::OsString;
use std::process::ExitCode;

use wharf::adapter::Verdict as Choice;
use wharf::caps::Caps;
use wharf::io::Archive;
use wharf::{Adapter, Policy};

use crate::doctor::table::Page;

mod advice;
mod args;
mod freight;
mod json;
mod show;

use args::{Options, Place};
use freight::{Freight, Verdict};

/// `EX_DATAERR` and `EX_NOINPUT` of BSD's sysexits.
const EXIT_DAMAGED: u8 = 65;
const EXIT_UNREADABLE: u8 = 66;

/// The program, with the arguments that follow its name.
pub(crate) fn main(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let run = |page: &mut Page, options: &Options| pollster::block_on(run(page, options));
    args::GRAMMAR.answer(arguments, Options::of, run)
}

/// An adapter that is asked: here, or known by its capabilities.
struct Asked {
    caps: Caps,
    /// How much memory may be used, where that is known.
    cap: Option<u64>,
}

/// An adapter that is listed, and is not the one that is asked for.
struct Listed {
    /// Its place in the doctor's table, which `--adapter` takes.
    index: usize,
    name: String,
    /// An error where it does not open.
    asked: wharf::Result<Asked>,
}

/// All tensors on one of these.
#[derive(Debug)]
struct Other<'a> {
    index: usize,
    name: String,
    freight: wharf::Result<Freight<'a>>,
}

impl<'a> Other<'a> {
    fn of(listed: Listed, archive: &'a Archive, options: &Options) -> Self {
        let Listed { index, name, asked } = listed;
        let freight = asked.map(|asked| Freight::of(archive, &asked, options, &[]));
        Self { index, name, freight }
    }
}

async fn run(page: &Page, options: &Options) -> u8 {
    let archive = match Archive::open(&options.file) {
        Ok(archive) => archive,
        Err(error) => {
            if options.json {
                page.json(&json::refused(options, &error));
            } else {
                page.error(&error);
            }
            let file = std::path::Path::new(&options.file);
            let readable = file.is_file() && std::fs::File::open(file).is_ok();
            return if readable { EXIT_DAMAGED } else { EXIT_UNREADABLE };
        }
    };
    let (asked, listed) = ask(options).await;
    let others: Vec<Other<'_>> =
        listed.into_iter().map(|one| Other::of(one, &archive, options)).collect();
    let asked = match asked {
        Ok(asked) => asked,
        Err(error) => {
            if options.json {
                page.json(&json::unchosen(options, &error, &others));
            } else {
                show::unchosen(page, options, &error, &others);
            }
            return Verdict::No.exit_code();
        }
    };
    if options.reserve > 0 && asked.cap.is_none() {
        let error = "--reserve is a part of a cap, and none is known here: name a --cap";
        return args::GRAMMAR.complain(error);
    }
    let freight = Freight::of(&archive, &asked, options, &others);
    if options.json {
        page.json(&json::report(options, &asked.caps, &freight, &others));
    } else {
        show::report(page, options, &asked.caps, &freight, &others);
    }
    freight.verdict().exit_code()
}

/// The adapter to ask, or why there is none; and what else is listed.
async fn ask(options: &Options) -> (wharf::Result<Asked>, Vec<Listed>) {
    if let Place::There(caps) = &options.place {
        return (Ok(Asked { caps: (**caps).clone(), cap: options.cap }), Vec::new());
    }
    let listing = match &options.place {
        Place::Named(text) => Adapter::list_for(text).await,
        _ => Adapter::list().await,
    };
    let mut others = Vec::new();
    // By the verdict: two GPUs of a kind have one identity.
    let entries = listing.entries.iter().enumerate();
    for (index, entry) in entries.filter(|(_, entry)| entry.verdict != Choice::Chosen) {
        let (name, asked) = (show::name(entry.adapter.caps()), here(&entry.adapter, options).await);
        others.push(Listed { index, name, asked });
    }
    let asked = match listing.into_chosen() {
        Ok(chosen) => here(&chosen, options).await,
        Err(error) => Err(error),
    };
    (asked, others)
}

/// An adapter of this machine. Opening it reserves no memory, and tells the cap.
async fn here(adapter: &Adapter, options: &Options) -> wharf::Result<Asked> {
    let device = adapter.open(adapter.negotiate(&Policy::exact())).await?;
    let cap = options.cap.or(device.memory().bytes_cap);
    Ok(Asked { caps: adapter.caps().clone(), cap })
}
