//! The doctor: what there is, what each dtype becomes on it, and every dtype there and back.
//!
//! `cargo run --example doctor` answers, before anything of yours is moved, why a tensor would not
//! arrive on the GPU or would arrive as something else. `--help` lists what else it can tell.
//!
//! It uses nothing but wharf's public surface, so it is also a reading list: [`adapters`] lists and
//! chooses, [`plan`] negotiates, [`passport::crossing`] uploads and reads back, [`fit`] asks before
//! allocating, [`explain`] looks at memory, ledger and guards, [`paper`] asks of an adapter that is
//! not here.

use std::ffi::OsString;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use wharf::adapter::Listing;
use wharf::{Adapter, Device, Policy};

pub(crate) mod adapters;
mod args;
mod atlas;
mod compare;
mod diagnosis;
mod explain;
mod fit;
pub(crate) mod grammar;
mod json;
mod live;
pub(crate) mod paper;
mod papers;
pub(crate) mod passport;
mod plan;
mod replay;
mod shown;
pub(crate) mod table;
mod verdict;

use args::{Mode, Options};
use passport::{crossing, quirks};
use table::{Page, Tone};
use verdict::Verdict;

/// The program, with the arguments that follow its name.
pub(crate) fn main(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let run = |page: &mut Page, options: &Options| pollster::block_on(run(options, page));
    args::GRAMMAR.answer(arguments, Options::of, run)
}

async fn run(options: &Options, page: &mut Page) -> u8 {
    match &options.mode {
        Mode::Compare(paths) => return compare::compare(page, paths),
        Mode::Atlas(folder) => return atlas::write(page, folder),
        _ => {}
    }
    if let Some(caps) = &options.on {
        return match &options.mode {
            Mode::Fit(question) => fit::answer_on_paper(page, caps, question).await,
            mode => paper::check_up(page, caps, *mode == Mode::Json).await,
        };
    }
    let clock = Instant::now();
    let listing = match &options.adapter {
        Some(text) => Adapter::list_for(text).await,
        None => Adapter::list().await,
    };
    match &options.mode {
        Mode::Fit(question) => {
            fit::answer(page, &listing, question, options.adapter.is_some()).await
        }
        Mode::Explain => explain::explain(page, &listing).await,
        Mode::Passport(path) => papers::make(page, &listing, path).await,
        Mode::Replay(path) => replay::replay(page, &listing, path).await,
        _ => check_up(page, &listing, clock, options.mode == Mode::Json).await,
    }
}

/// How long a submission may take where `WHARF_WATCHDOG` says nothing: that a GPU hangs is a
/// finding, and no reason to hang as well.
const PATIENCE: Duration = Duration::from_secs(30);

/// The whole check: adapters, plan, crossings, verdict. Printed as text while it runs, or as one
/// JSON object at the end.
async fn check_up(page: &mut Page, listing: &Listing, clock: Instant, as_json: bool) -> u8 {
    page.mute(as_json);
    adapters::show(page, listing);
    diagnosis::show(page, listing);
    let opened = open(listing).await;
    let mut crossings = Vec::new();
    if let Ok(device) = &opened {
        plan::show(page, device.adapter());
        page.heading("Crossings", shown::SUBTITLE);
        crossings = crossing::check_all(device, &mut |one| shown::crossing(page, one)).await;
        if !as_json && !crossings.iter().any(crossing::Crossing::is_stuck) {
            shown::quirks(page, &quirks::probe(device).await, &quirks::loads(device).await);
        }
    }
    let verdict = Verdict::of(listing, &opened, &crossings);
    // With nothing listed the error would only repeat the diagnosis.
    if let Err(error) = &opened
        && (listing.findings.is_empty() || !listing.entries.is_empty())
    {
        page.error(error);
    }
    if verdict == Verdict::Broken {
        page.blank();
        page.row(&[(Tone::Good, "help", 7)], (Tone::Plain, verdict::REMEDY_BROKEN));
    }
    let seconds = clock.elapsed().as_secs_f64();
    page.blank();
    page.line(&[
        (verdict.tone(), &verdict.line(&opened, &crossings)),
        (Tone::Dim, &format!(" ({seconds:.1} s)")),
    ]);
    page.mute(false);
    if as_json {
        page.json(&json::report(listing, &opened, &crossings, &verdict));
    }
    verdict.exit_code()
}

/// The chosen adapter, opened under the default policy.
async fn open(listing: &Listing) -> wharf::Result<Device> {
    let adapter = listing.clone().into_chosen()?;
    let device = adapter.open(adapter.negotiate(&Policy::exact())).await?;
    if device.patience().is_none() {
        device.set_patience(Some(PATIENCE));
    }
    Ok(device)
}
