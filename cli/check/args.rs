//! What may be written on the command line.

use wharf::DType;
use wharf::caps::Caps;
use wharf::set::Arrival;
use wharf::tensor::Blocks;

use crate::doctor::grammar::{Grammar, Words};
use crate::doctor::paper::known;
use crate::doctor::table::{quote, size};

pub(super) const GRAMMAR: Grammar = Grammar {
    name: "wharf check",
    help: HELP,
    options: &[
        ("--adapter", 1),
        ("--on", 1),
        ("--as", 1),
        ("--lossless", 0),
        ("--cap", 1),
        ("--reserve", 1),
        ("--json", 0),
    ],
    apart: &[&["--on", "--adapter"]],
    free: 1,
};

const HELP: &str = "\
wharf check: will the tensors of this file arrive on my GPU, as what, and will they fit?

Reads the headers of a file of safetensors (or of several with their index), npy, npz or GGUF, and
nothing else.

usage: wharf check FILE [--adapter TEXT | --on NAME] [--as DTYPE] [--lossless] [--cap SIZE]
                        [--reserve SIZE] [--json]
       wharf check --help

  --adapter TEXT  on this adapter instead of the best: its index in the doctor's table, or words
                  out of its name, vendor, driver, backend or kind
  --on NAME       on an adapter that is not here, such as browser, apple_m2 or amd:navi31: all names
                  are in `wharf doctor --help`
  --as DTYPE      floats converted to this dtype while they are staged: f64, f32, f16,
                  bf16, f8e4m3, f8e5m2; or q8 or q4, and then matrices whose rows are whole
                  blocks of 32; blocks of a GGUF stay as they are
  --lossless      under a policy that narrows a dtype where every value survives
  --cap SIZE      with so much memory at most: 8GiB, 512MiB, or bytes. Only a software adapter's is
                  known otherwise: without it nobody says whether they fit
  --reserve SIZE  leave so much of it for activations
  --json          print one JSON object

exit codes:
  0   every tensor arrives bit for bit, and they fit
  1   they fit once a conversion is made: the one of `--as`, or one that a policy has to allow
  2   a tensor does not arrive, they do not fit, or no adapter is chosen
  3   as 0 or 1, but how much memory there is nobody says: name a `--cap`
  64  the command line means nothing
  65  the file is not what it claims to be
  66  the file cannot be read
";

/// Where the tensors are to go.
#[derive(Debug)]
pub(super) enum Place {
    /// The best adapter here.
    Best,
    /// An adapter here, by words.
    Named(String),
    /// One that is not here.
    There(Box<Caps>),
}

/// The command line, understood.
#[derive(Debug)]
pub(super) struct Options {
    pub(super) file: String,
    pub(super) place: Place,
    pub(super) to: Option<Arrival>,
    pub(super) lossless: bool,
    pub(super) cap: Option<u64>,
    pub(super) reserve: u64,
    pub(super) json: bool,
}

fn arrival(text: &str) -> Result<Arrival, String> {
    let float = text.parse().ok().filter(|dtype: &DType| dtype.is_float()).map(Arrival::Numbers);
    let blocks = || text.parse().ok().filter(|to: &Blocks| to.is_made()).map(Arrival::Blocks);
    let known = float.or_else(blocks);
    known.ok_or_else(|| format!("{} is none of f32 f16 bf16 f64 f8e4m3 f8e5m2 q8 q4", quote(text)))
}

impl Options {
    pub(super) fn of(words: &Words) -> Result<Self, String> {
        let place = match (words.value("--adapter"), words.value("--on")) {
            (Some(text), _) => Place::Named(text.into()),
            (_, Some(text)) => Place::There(Box::new(known(text)?)),
            _ => Place::Best,
        };
        Ok(Self {
            file: words.free.first().ok_or("which file?")?.clone(),
            place,
            to: words.value("--as").map(arrival).transpose()?,
            lossless: words.has("--lossless"),
            cap: words.value("--cap").map(size).transpose()?,
            reserve: words.value("--reserve").map_or(Ok(0), size)?,
            json: words.has("--json"),
        })
    }
}
