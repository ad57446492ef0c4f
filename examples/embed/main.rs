//! Embeddings of texts by all-MiniLM-L6-v2, on any adapter: similar texts have similar vectors.
//!
//! `scripts/fetch-model` fetches the model; then `cargo run --release --example embed -- "a text"`
//! prints its vector, `--compare` a matrix of similarities, `--corpus FILE --query TEXT` the lines
//! of a file that are nearest to a question.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use wharf::{Device, Policy};

mod batch;
mod corpus;
mod embedder;
mod kept;
mod model;
mod say;
mod weights;

use corpus::Search;
use embedder::{Embedder, Failure};
use say::say;
use weights::Storage;

const USAGE: &str = "\
usage: embed [--dtype f32|f16|bf16|q8|q4] [--model FOLDER] TEXT..        prints their vectors
       embed [..] --compare TEXT TEXT..                               how similar they are
       embed [..] --corpus FILE --query TEXT [--top N]                the lines nearest to a text

Weights come from FOLDER, target/models/all-MiniLM-L6-v2 unless another is named:
`scripts/fetch-model`. The embeddings of a corpus are kept beside it, and what is there is not
computed again.
";

/// What is compared where nothing else is asked for.
const SENTENCES: [&str; 3] =
    ["A cat sits on the mat.", "A kitten lies on the rug.", "Interest rates rose on Tuesday."];

struct Options {
    storage: Storage,
    folder: PathBuf,
    compare: bool,
    corpus: Option<PathBuf>,
    query: Option<String>,
    top: usize,
    texts: Vec<String>,
}

fn read(arguments: impl Iterator<Item = String>) -> Option<Options> {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut options = Options {
        storage: Storage::Numbers(wharf::DType::F32),
        folder: root.join("target/models/all-MiniLM-L6-v2"),
        compare: false,
        corpus: None,
        query: None,
        top: 5,
        texts: Vec::new(),
    };
    let mut words = arguments;
    while let Some(word) = words.next() {
        match word.as_str() {
            "--dtype" => options.storage = Storage::parse(&words.next()?)?,
            "--model" => options.folder = words.next()?.into(),
            "--compare" => options.compare = true,
            "--corpus" => options.corpus = Some(words.next()?.into()),
            "--query" => options.query = Some(words.next()?),
            "--top" => options.top = words.next()?.parse().ok()?,
            option if option.starts_with("--") => return None,
            _ => options.texts.push(word),
        }
    }
    if options.texts.is_empty() && options.corpus.is_none() {
        (options.compare, options.texts) = (true, SENTENCES.map(String::from).to_vec());
    }
    (options.corpus.is_some() == options.query.is_some()).then_some(options)
}

fn main() -> ExitCode {
    // What drivers say while they are probed is for those who ask: `RUST_LOG=error`.
    env_logger::init_from_env(env_logger::Env::default().default_filter_or("off"));
    let Some(options) = read(std::env::args().skip(1)) else {
        say(USAGE);
        return ExitCode::from(64);
    };
    match run(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&format!("\nerror: {error}\n"));
            if let Some(help) = error.downcast_ref::<wharf::Error>().and_then(wharf::Error::help) {
                say(&format!(" help: {help}\n"));
            }
            if !options.folder.is_dir() {
                say(" help: fetch the model: scripts/fetch-model\n");
            }
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<(), Failure> {
    let device = Device::best_now(&Policy::exact())?;
    let mut loaded = Duration::ZERO;
    let mut embedder = Embedder::open(&device, &options.folder, options.storage, |progress| {
        // Ten times a second at most, and at the end.
        let done = progress.bytes_done == progress.bytes_total;
        if done || progress.elapsed > loaded + Duration::from_millis(100) {
            loaded = progress.elapsed;
            let (percent, rate) = (
                100 * progress.bytes_done / progress.bytes_total.max(1),
                progress.bytes_per_second() / 1e6,
            );
            let left = progress.time_left().unwrap_or_default().as_secs_f64();
            say(&format!("\rloading {percent:>3} %, {rate:.0} MB/s, {left:.1} s left "));
        }
    })?;
    say(&format!("\n{}\n", embedder.receipt));
    match (&options.corpus, &options.query) {
        (Some(corpus), Some(query)) => {
            let model = (&*options.folder, options.storage.name());
            let search = Search { model, corpus, query, top: options.top };
            let found = search.run(&device, &mut embedder)?;
            found.iter().for_each(|(score, line)| println!("{score:.4}  {line}"));
        }
        _ => {
            let vectors = embedder.embed(&options.texts)?;
            if options.compare { compare(&options.texts, &vectors) } else { print(&vectors) }
        }
    }
    let (memory, ledger) = (device.memory(), device.ledger());
    let rate = embedder.tokens as f64 / embedder.elapsed.as_secs_f64().max(1e-9);
    say(&format!(
        "{}: {:.1} MB in {} tensors, {} up in {} crossings, {} down in {}, {} tokens, {rate:.0} a \
         second\n",
        device.caps().identity.name,
        memory.bytes_live as f64 / 1e6,
        memory.tensors,
        ledger.up.bytes,
        ledger.up.count,
        ledger.down.bytes,
        ledger.down.count,
        embedder.tokens,
    ));
    Ok(())
}

fn print(vectors: &[Vec<f32>]) {
    for vector in vectors {
        let numbers: Vec<String> = vector.iter().map(|x| format!("{x:.6}")).collect();
        println!("{}", numbers.join(" "));
    }
}

/// The cosine of two vectors of length 1.
fn similarity(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn compare(texts: &[String], vectors: &[Vec<f32>]) {
    for (text, a) in texts.iter().zip(vectors) {
        let row: Vec<String> =
            vectors.iter().map(|b| format!("{:6.3}", similarity(a, b))).collect();
        println!("{}  {text}", row.join(" "));
    }
}
