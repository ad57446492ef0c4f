//! How fast an adapter is: a few things measured in seconds, each result checked against the oracle
//! once.

use std::ffi::OsString;
use std::process::ExitCode;
use std::time::Instant;

use serde_json::{Value, json};
use wharf::{Adapter, Device, Error, Policy};

use crate::doctor::adapters::driver;
use crate::doctor::passport::rates::{CASES, Measured, Scene};
use crate::doctor::table::{Page, Tone, clean};

mod args;

use args::Options;

/// The exit code where a result is wrong, or nothing can be measured.
const EXIT_WRONG: u8 = 2;

/// Columns: what, size, rate, time; whether it is right has the rest.
const WIDTHS: [usize; 4] = [24, 18, 16, 20];

/// The program, with the arguments that follow its name.
pub(crate) fn main(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    args::GRAMMAR.answer(arguments, |words| Ok(Options::of(words)), run)
}

fn run(page: &mut Page, options: &Options) -> u8 {
    let clock = Instant::now();
    match open(options) {
        Ok(device) => bench(page, options, &device, clock),
        Err(error) if options.json => {
            page.json(&json!({ "error": error.to_string(), "help": error.help() }));
            EXIT_WRONG
        }
        Err(error) => {
            page.error(&error);
            EXIT_WRONG
        }
    }
}

fn open(options: &Options) -> Result<Device, Error> {
    let adapter = match &options.adapter {
        Some(text) => Adapter::find_now(text)?,
        None => Adapter::best_now()?,
    };
    adapter.open_now(adapter.negotiate(&Policy::exact()))
}

/// Measures one after the other, and says each as soon as it is known.
fn bench(page: &mut Page, options: &Options, device: &Device, clock: Instant) -> u8 {
    let id = &device.caps().identity;
    let place = format!("{} ({}), driver {}", clean(&id.name), id.backend.name(), driver(id));
    page.mute(options.json);
    page.heading("Measured", &place);
    row(page, ["what", "size", "rate", "time"], Tone::Dim, (Tone::Dim, "result"));
    let scene = Scene::new(device, options.quick);
    let (mut all, mut good) = (Vec::new(), true);
    for case in &CASES {
        match pollster::block_on((case.run)(&scene)) {
            Ok(Some(measured)) => {
                good &= measured.wrong.is_none();
                show(page, case.name, &measured);
                all.push(object(case.name, &measured));
            }
            Ok(None) => row(page, [case.name, "-", "-", "-"], Tone::Dim, (Tone::Dim, "not here")),
            Err(error) => {
                good = false;
                row(page, [case.name, "-", "-", "-"], Tone::Bad, (Tone::Bad, &error.to_string()));
                all.push(json!({ "name": case.name, "error": error.to_string() }));
            }
        }
    }
    let seconds = clock.elapsed().as_secs_f64();
    let (tone, verdict) = match good {
        true => (Tone::Good, "every result is right"),
        false => (Tone::Bad, "NOT EVERY RESULT IS RIGHT"),
    };
    page.blank();
    page.line(&[
        (tone, &format!("{verdict}: {place}")),
        (Tone::Dim, &format!(" ({seconds:.1} s)")),
    ]);
    page.mute(false);
    if options.json {
        page.json(&json!({
            "adapter": id.name,
            "backend": id.backend.name(),
            "driver": driver(id),
            "right": good,
            "seconds": seconds,
            "measured": all,
        }));
    }
    if good { 0 } else { EXIT_WRONG }
}

fn row(page: &Page, texts: [&str; 4], tone: Tone, last: (Tone, &str)) {
    let mut cells = [(Tone::Plain, "", 2); 5];
    for ((cell, text), width) in cells[1..].iter_mut().zip(texts).zip(WIDTHS) {
        *cell = (tone, text, width);
    }
    page.row(&cells, last);
}

fn show(page: &Page, name: &str, measured: &Measured) {
    let last = match &measured.wrong {
        None => (Tone::Good, "right"),
        Some(wrong) => (Tone::Bad, wrong.as_str()),
    };
    let texts = [name, &measured.size, &rate(measured), &time(measured)];
    row(page, texts, Tone::Plain, last);
}

fn rate(measured: &Measured) -> String {
    measured.rate().map_or_else(|| "-".into(), |(rate, unit)| format!("{rate:.1} {unit}"))
}

/// The median, and the best of several.
fn time(measured: &Measured) -> String {
    let [median, best] = [measured.median(), measured.best()].map(|seconds| seconds * 1e3);
    if measured.seconds.len() > 1 {
        format!("{median:.2} ms ({best:.2})")
    } else {
        format!("{median:.2} ms")
    }
}

fn object(name: &str, measured: &Measured) -> Value {
    let (rate, unit) = measured.rate().unzip();
    json!({
        "name": name,
        "size": measured.size,
        "seconds": measured.median(),
        "seconds_best": measured.best(),
        "runs": measured.seconds.len(),
        "rate": rate,
        "unit": unit,
        "wrong": measured.wrong,
    })
}
