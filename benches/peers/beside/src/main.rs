//! Runs the measuring programs in turn, and writes the results: a table on the terminal, JSON, a
//! section of RESULTS.md, a picture.
//!
//! ```text
//! beside [--quick | --large] [--json FILE] [--results FILE] [--picture FILE] [--benches FOLDER]
//!        [--costs FILE] [--facts TEXT] [FILTER]
//! ```
//!
//! A filter of several parts, `a|b`, takes the cases with one of them in their names.
//! `--benches` names the folder with the output of the cargo benches (`NAME.txt`, `NAME.json`),
//! which goes into RESULTS.md and gives the roofs of the roofline. `--costs` names a file with the
//! costs of building, and `--facts` is a line about date and machine. `scripts/bench-peers` gives
//! all of them.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use compare::{Comparison, Line, Runtime};
use peer_cases::{Scale, all};

mod child;
mod compare;
mod picture;
mod results;
mod table;

fn main() -> ExitCode {
    match Options::read().and_then(|options| run(&options)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("beside: {error}");
            ExitCode::FAILURE
        }
    }
}

/// What the command line asks for.
#[derive(Debug, Default)]
struct Options {
    scale: Scale,
    json: Option<PathBuf>,
    results: Option<PathBuf>,
    picture: Option<PathBuf>,
    benches: Option<PathBuf>,
    costs: Option<PathBuf>,
    facts: String,
    filter: String,
}

impl Options {
    fn read() -> Result<Self, String> {
        let mut options = Self::default();
        let mut args = std::env::args().skip(1);
        while let Some(arg) = args.next() {
            if let Some(scale) = Scale::of(&arg) {
                options.scale = scale;
                continue;
            }
            let mut value = || args.next().ok_or_else(|| format!("{arg} needs a value"));
            match arg.as_str() {
                "--json" => options.json = Some(value()?.into()),
                "--results" => options.results = Some(value()?.into()),
                "--picture" => options.picture = Some(value()?.into()),
                "--benches" => options.benches = Some(value()?.into()),
                "--costs" => options.costs = Some(value()?.into()),
                "--facts" => options.facts = value()?,
                other if other.starts_with('-') => return Err(format!("unknown option: {other}")),
                _ => options.filter = arg,
            }
        }
        Ok(options)
    }
}

fn run(options: &Options) -> Result<(), String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let folder = own.parent().ok_or("a program without a folder")?;
    let mut runtimes = vec![
        Runtime::new("wharf", "peer-wharf", &[], folder),
        Runtime::new("burn", "peer-burn", &[], folder),
        Runtime::new("candle (CPU)", "peer-cpu", &[], folder),
        Runtime::new("ndarray (CPU)", "peer-cpu", &["--ndarray"], folder),
        Runtime::new("PyTorch (CPU)", "peer-cpu", &["--torch"], folder),
    ];
    runtimes.retain(Runtime::is_built);
    let told = Scale::FLAGS.iter().filter(|(_, scale)| *scale == options.scale);
    let args = told.map(|(flag, _)| *flag).collect();
    let mut comparison = Comparison::new(runtimes.clone(), args);
    let said = comparison.hello();
    let adapter = same_adapter(&runtimes, &said)?;
    let runtimes = comparison.retain(&said);
    println!("on {adapter}");

    let mut cases = all(options.scale);
    cases.retain(|case| options.filter.split('|').any(|part| case.name.contains(part)));
    let mut lines = Vec::new();
    let mut lacking = Vec::new();
    for (i, case) in cases.iter().enumerate() {
        eprintln!("[{}/{}] {}", i + 1, cases.len(), case.name);
        match comparison.run(case) {
            Some(line) => {
                eprintln!("        {}", table::brief(&runtimes, &line));
                lines.push(line);
            }
            None => lacking.push(case.name.as_str()),
        }
    }
    println!("\n{}", table::text(&runtimes, &lines));
    if !lacking.is_empty() {
        println!("\nnot in wharf yet: {}", lacking.join(", "));
    }
    write(options, &adapter, &runtimes, &lines)?;
    if lines.iter().any(|line| !line.sides[0].right) {
        return Err("a result of ours is wrong".into());
    }
    Ok(())
}

/// The adapter that everyone on a device says to run on: anything else would be no comparison.
fn same_adapter(runtimes: &[Runtime], said: &[Result<String, String>]) -> Result<String, String> {
    let ours = said.first().ok_or("nobody to compare")?.clone()?;
    for (runtime, on) in runtimes.iter().zip(said).filter(|(runtime, _)| runtime.on_device) {
        match on {
            Ok(on) if *on == ours => {}
            Ok(on) => return Err(format!("{} runs on {on}, wharf on {ours}", runtime.name)),
            Err(error) => eprintln!("{}: {error}", runtime.name),
        }
    }
    Ok(ours)
}

fn write(o: &Options, adapter: &str, runtimes: &[Runtime], lines: &[Line]) -> Result<(), String> {
    let put = |file: &PathBuf, text: String| {
        fs::write(file, text).map_err(|error| format!("{}: {error}", file.display()))
    };
    if let Some(file) = &o.json {
        put(file, table::json(runtimes, lines))?;
    }
    if let Some(file) = &o.picture {
        let roofs = results::roofs(o.benches.as_deref());
        put(file, picture::svg(adapter, runtimes, lines, roofs))?;
    }
    if let Some(file) = &o.results {
        let picture = o.picture.as_ref().and_then(|p| p.file_name()?.to_str());
        let section = results::Section {
            adapter,
            facts: &o.facts,
            picture,
            table: &table::markdown(runtimes, lines),
            benches: o.benches.as_deref(),
            costs: o.costs.as_deref(),
        };
        let before = fs::read_to_string(file).unwrap_or_default();
        put(file, results::replaced(&before, &section))?;
    }
    Ok(())
}
