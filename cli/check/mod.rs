//! Will the tensors of a file arrive on a GPU, as what, and will they fit? Only the header is read.

use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

use wharf::caps::Caps;
use wharf::io::Archive;
use wharf::{Adapter, Policy};

use crate::doctor::table::Page;

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
    env_logger::Builder::from_env(env_logger::Env::default().default_filter_or("off")).init();
    let page = Page::stdout();
    let code = match Options::read(arguments) {
        Ok(Some(options)) => pollster::block_on(run(&page, &options)),
        Ok(None) => {
            page.text(args::HELP);
            0
        }
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "wharf check: {error}\n\n{}", args::USAGE);
            crate::EXIT_USAGE
        }
    };
    ExitCode::from(code)
}

/// An adapter that is asked: here, or known by its capabilities.
struct Asked {
    caps: Caps,
    /// How much memory may be used, where that is known.
    cap: Option<u64>,
}

async fn run(page: &Page, options: &Options) -> u8 {
    let archive = match Archive::open(&options.file) {
        Ok(archive) => archive,
        Err(error) => {
            if options.json {
                page.text(&format!("{}\n", json::refused(options, &error)));
            } else {
                page.error(&error);
            }
            let missing = !std::path::Path::new(&options.file).is_file();
            return if missing { EXIT_UNREADABLE } else { EXIT_DAMAGED };
        }
    };
    let (asked, others) = match ask(options).await {
        Ok(asked) => asked,
        Err(error) => {
            if options.json {
                page.text(&format!("{}\n", json::refused(options, &error)));
            } else {
                page.error(&error);
            }
            return Verdict::No.exit_code();
        }
    };
    let freight = Freight::of(&archive, &asked, options);
    let others: Vec<(String, Freight<'_>)> = (others.iter())
        .map(|other| (show::name(&other.caps), Freight::of(&archive, other, options)))
        .collect();
    let verdict = freight.verdict();
    if options.json {
        page.text(&format!("{}\n", json::report(options, &asked.caps, &freight, &others)));
    } else {
        show::report(page, options, &asked.caps, &freight, &others);
    }
    verdict.exit_code()
}

/// The adapter to ask, and the others that are listed.
async fn ask(options: &Options) -> wharf::Result<(Asked, Vec<Asked>)> {
    if let Place::There(caps) = &options.place {
        return Ok((Asked { caps: (**caps).clone(), cap: options.cap }, Vec::new()));
    }
    let listing = match &options.place {
        Place::Named(text) => Adapter::list_for(text).await,
        _ => Adapter::list().await,
    };
    let chosen = listing.clone().into_chosen()?;
    let mut others = Vec::new();
    for entry in &listing.entries {
        if entry.adapter.caps().identity != chosen.caps().identity {
            others.push(here(&entry.adapter, options).await);
        }
    }
    Ok((here(&chosen, options).await, others))
}

/// An adapter of this machine. Opening it reserves no memory, and tells the cap.
async fn here(adapter: &Adapter, options: &Options) -> Asked {
    let opened = adapter.open(adapter.negotiate(&Policy::exact())).await;
    let cap = opened.ok().and_then(|device| device.memory().bytes_cap);
    Asked { caps: adapter.caps().clone(), cap: options.cap.or(cap) }
}
