//! What may be written on the command line.

use std::ffi::OsString;

use wharf::DType;
use wharf::caps::Caps;
use wharf::set::Arrival;
use wharf::tensor::Blocks;

use crate::doctor::paper::known;
use crate::doctor::table::quote;

pub(super) const USAGE: &str = "\
usage: wharf check FILE [--adapter TEXT | --on NAME] [--as DTYPE] [--lossless] [--cap SIZE]
                        [--reserve SIZE] [--json]
       wharf check --help";

pub(super) const HELP: &str = "\
wharf check: will the tensors of this file arrive on my GPU, as what, and will they fit?

Reads the headers of a file of safetensors (or of several with their index), npy, npz or GGUF, and
nothing else.

usage: wharf check FILE [--adapter TEXT | --on NAME] [--as DTYPE] [--lossless] [--cap SIZE]
                        [--reserve SIZE] [--json]

  --adapter TEXT  on this adapter instead of the best: its index in the doctor's table, or words
                  out of its name, vendor, driver, backend or kind
  --on NAME       on an adapter that is not here, such as browser, apple_m2 or amd:navi31: all names
                  are in `wharf doctor --help`
  --as DTYPE      floats converted to this dtype while they are staged: f64, f32, f16,
                  bf16, f8e4m3, f8e5m2; or q8 or q4, and then matrices whose rows are whole
                  blocks of 32; blocks of a GGUF stay as they are
  --lossless      under a policy that narrows a dtype where every value survives
  --cap SIZE      with so much memory at most: 8GiB, 512MiB, or bytes. Only a software adapter's is
                  known otherwise
  --reserve SIZE  leave so much for activations
  --json          print one JSON object

exit codes:
  0   every tensor arrives bit for bit, and they fit
  1   they fit once a conversion is made: the one of `--as`, or one that a policy has to allow
  2   a tensor does not arrive, they do not fit, or no adapter is chosen
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

/// Units of sizes, the longest name first.
const UNITS: [(&str, u64); 8] = [
    ("TiB", 1 << 40),
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("KB", 1000),
    ("", 1),
];

fn size(text: &str) -> Result<u64, String> {
    let unit = UNITS.iter().find_map(|(unit, bytes)| Some((text.strip_suffix(unit)?, bytes)));
    let parsed =
        unit.and_then(|(number, bytes)| number.trim().parse::<u64>().ok()?.checked_mul(*bytes));
    parsed.ok_or_else(|| format!("{} is no size, such as 8GiB", quote(text)))
}

fn arrival(text: &str) -> Result<Arrival, String> {
    let float = DType::parse(text).filter(|dtype| dtype.is_float()).map(Arrival::Numbers);
    let known =
        float.or_else(|| Blocks::parse(text).filter(|to| to.is_made()).map(Arrival::Blocks));
    known.ok_or_else(|| format!("{} is none of f32 f16 bf16 f64 f8e4m3 f8e5m2 q8 q4", quote(text)))
}

fn elsewhere(text: &str) -> Result<Place, String> {
    known(text).map(|caps| Place::There(Box::new(caps)))
}

impl Options {
    /// Reads the arguments that follow the command; `None` where help is asked for.
    pub(super) fn read(arguments: impl Iterator<Item = OsString>) -> Result<Option<Self>, String> {
        let mut words = arguments.map(|word| {
            word.into_string()
                .map_err(|word| format!("{} is not UTF-8", quote(&word.to_string_lossy())))
        });
        let mut file = None;
        let (mut to, mut cap, mut reserve, mut place) = (None, None, 0, Place::Best);
        let (mut lossless, mut json) = (false, false);
        while let Some(word) = words.next() {
            let word = word?;
            let mut value = |option: &str| {
                words.next().unwrap_or_else(|| Err(format!("{option} needs a value")))
            };
            match word.as_str() {
                "--help" | "-h" => return Ok(None),
                "--json" => json = true,
                "--lossless" => lossless = true,
                "--as" => to = Some(arrival(&value("--as")?)?),
                "--cap" => cap = Some(size(&value("--cap")?)?),
                "--reserve" => reserve = size(&value("--reserve")?)?,
                "--adapter" | "--on" if !matches!(place, Place::Best) => {
                    return Err("one of --adapter and --on, once".into());
                }
                "--adapter" => place = Place::Named(value("--adapter")?),
                "--on" => place = elsewhere(&value("--on")?)?,
                option if option.starts_with('-') => {
                    return Err(format!("unknown option {}", quote(option)));
                }
                _ if file.is_some() => return Err(format!("one file, not {} too", quote(&word))),
                _ => file = Some(word),
            }
        }
        let file = file.ok_or("which file?")?;
        Ok(Some(Self { file, place, to, lossless, cap, reserve, json }))
    }
}
