//! What may be written on the command line.

use core::fmt;
use std::ffi::OsString;
use std::path::PathBuf;

use wharf::caps::Caps;

use super::fit::Question;
use super::paper;
use super::table::quote;

/// The exit code for a command line that cannot be understood: `EX_USAGE` of BSD's sysexits.
pub(crate) const EXIT_USAGE: u8 = 64;

pub(crate) const USAGE: &str = "\
usage: doctor [--adapter TEXT]
              [--json | --explain | --would-it-fit SPEC | --passport FILE | --replay FILE]
       doctor --on NAME [--json | --would-it-fit SPEC]
       doctor --compare FILE FILE | --atlas FOLDER
       doctor --help";

pub(crate) const HELP: &str = "\
doctor: why can't my tensor be moved to the GPU?

Lists every adapter, shows what each dtype becomes on the chosen one, and carries every dtype to
the device and back. Nothing is installed, changed or sent anywhere.

usage: doctor [--adapter TEXT]
              [--json | --explain | --would-it-fit SPEC | --passport FILE | --replay FILE]
       doctor --on NAME [--json | --would-it-fit SPEC]
       doctor --compare FILE FILE | --atlas FOLDER
       doctor --help

  --adapter TEXT       look at this adapter: its index in the table, or words out of its name,
                       vendor, driver, backend or kind, such as 0, `radeon`, `vulkan llvmpipe`;
                       naming a software adapter admits it
  --on NAME            ask of an adapter that is not here, before it is bought: what each dtype
                       would become on it, which kernels would run, and what would fit
                       names: webgpu_baseline lavapipe swiftshader llvmpipe_gl browser apple_m2
                       nvidia_vulkan dx12_without_dxc
                       as read from their drivers: intel:skl intel:tgl intel:dg2 intel:mtl intel:lnl
                       intel:bmg amd:polaris10 amd:vega10 amd:renoir amd:navi10 amd:navi21
                       amd:navi31 amd:gfx1150 nvidia:162 nvidia:172 adreno:618 adreno:630
                       adreno:660 adreno:730 adreno:740 adreno:750
  --json               print one JSON object instead of text
  --explain            the known causes of \"my tensor did not arrive\": how wharf checks each,
                       and what it finds here
  --would-it-fit SPEC  what a tensor would become and take on each adapter; no tensor is made
                       SPEC is dtype:dims[,layout=row|col]: f64:4096x4096, f16:1000x3,layout=col,
                       or f32: for a scalar
                       dtypes: f32 f16 bf16 f64 i8 u8 i16 u16 i32 u32 i64 u64 bool f8e4m3
                       f8e5m2
  --passport FILE      measure everything, within two minutes or so, and write it as one hashed
                       JSON: limits, carriage, the core of the tests, the worst error of every
                       operation, quirks, ceilings, tuned kernels; docs/atlas/README.md has the
                       schema
  --compare FILE FILE  two passports side by side, what differs first
  --atlas FOLDER       a page of all passports in a folder, written there as index.html
  --replay FILE        run the kernels of a capsule, which a shadow wrote of an operation that was
                       wrong, on this adapter, and judge what comes back

verdicts, and the exit codes they give:
  0   healthy            each of the 15 dtypes crosses bit-exact
  1   usable             each dtype that the adapter can store does; the others are refused, as
                         they must be, and cross once a conversion is allowed
  2   no usable adapter  none is there, or none that may be used (software only when asked for);
                         or it does not open, or a value came back wrong or not at all
  64                     the command line means nothing

--on ends with 0 or 1 by what the plan refuses, and with 2 if such an adapter cannot run wharf.
--replay ends with 0 if the result is right here, with 1 if it is wrong here too, else with 2.
--explain ends with 0 where there is a device to look at, else with 2. --would-it-fit ends with 0
if the tensor fits on some adapter bit-exact, with 1 if only once a conversion is allowed, else
with 2. --passport ends with 0 where all is right, with 2 where something is not; it and --atlas
with 2 where nothing can be written. --compare ends with 0 where two passports are alike but for
what was timed, with 1 where they differ; it and --atlas with 65 where a file is no passport, with
66 where it cannot be read.

In the JSON object, `ok` of a crossing says that what happened is what the plan promises. So a
planned refusal is `ok`: its `how` is \"rejected\", its `receipt` is null, `error` and `help` say
why.

environment:
  WHARF_ALLOW_SOFTWARE=1  software adapters may be chosen
  WHARF_ADAPTER=TEXT      like --adapter, for every program that uses wharf
  WGPU_BACKEND=vulkan,gl  only these backends
  WHARF_SHADOW=FOLDER     results are computed once more, and capsules of wrong ones kept there
  WHARF_DUMP=FOLDER       every shader that is assembled, written there
  RUST_LOG=warn           show what drivers and wgpu say (by default nothing)
  NO_COLOR=1              no colour on a terminal
";

/// What is asked for.
#[derive(Debug, PartialEq)]
pub(crate) enum Mode {
    Check,
    Json,
    Explain,
    Fit(Question),
    Passport(String),
    Compare([String; 2]),
    Atlas(String),
    Replay(PathBuf),
    Help,
}

/// The command line, understood.
#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) adapter: Option<String>,
    /// An adapter that is not here.
    pub(crate) on: Option<Box<Caps>>,
    pub(crate) mode: Mode,
}

/// Why the command line could not be understood.
#[derive(Debug)]
pub(crate) enum UsageError {
    Unknown(String),
    NoValue(&'static str),
    Unwanted(&'static str),
    Twice(&'static str),
    Together(&'static str, &'static str),
    NotUnicode(OsString),
    Spec(String),
    Nowhere(String),
}

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(text) => write!(f, "unknown argument {}", quote(text)),
            Self::NoValue(option) => write!(f, "{option} needs a value"),
            Self::Unwanted(option) => write!(f, "{option} takes no value"),
            Self::Twice(option) => write!(f, "{option} is given twice"),
            Self::Together(one, other) => write!(f, "{one} and {other} do not go together"),
            Self::NotUnicode(text) => write!(f, "{} is not UTF-8", quote(&text.to_string_lossy())),
            Self::Nowhere(error) => f.write_str(error),
            Self::Spec(error) => {
                write!(f, "--would-it-fit: {error}\n        for example {}", super::fit::EXAMPLES)
            }
        }
    }
}

impl Mode {
    /// Whether an adapter that is not here can be asked so.
    const fn is_on_paper(&self) -> bool {
        matches!(self, Self::Check | Self::Json | Self::Fit(_) | Self::Help)
    }

    const fn option(&self) -> &'static str {
        match self {
            Self::Check => "",
            Self::Json => "--json",
            Self::Explain => "--explain",
            Self::Fit(_) => "--would-it-fit",
            Self::Passport(_) => "--passport",
            Self::Compare(_) => "--compare",
            Self::Atlas(_) => "--atlas",
            Self::Replay(_) => "--replay",
            Self::Help => "--help",
        }
    }
}

impl Options {
    /// Reads the arguments that follow the program's name.
    pub(crate) fn read(arguments: impl Iterator<Item = OsString>) -> Result<Self, UsageError> {
        let mut options = Self { adapter: None, on: None, mode: Mode::Check };
        let mut words = arguments.map(|word| word.into_string().map_err(UsageError::NotUnicode));
        while let Some(word) = words.next() {
            let word = word?;
            let (name, attached) = match word.split_once('=') {
                Some((name, value)) if name.starts_with("--") => (name, Some(value.to_owned())),
                _ => (word.as_str(), None),
            };
            let plain = |option| {
                if attached.is_some() { Err(UsageError::Unwanted(option)) } else { Ok(()) }
            };
            let mode = match name {
                "--help" | "-h" => plain("--help").map(|()| Mode::Help)?,
                "--json" => plain("--json").map(|()| Mode::Json)?,
                "--explain" => plain("--explain").map(|()| Mode::Explain)?,
                "--would-it-fit" => {
                    let spec = value("--would-it-fit", attached, &mut words)?;
                    Mode::Fit(Question::parse(&spec).map_err(UsageError::Spec)?)
                }
                "--passport" => Mode::Passport(value("--passport", attached, &mut words)?),
                "--atlas" => Mode::Atlas(value("--atlas", attached, &mut words)?),
                "--compare" => {
                    let one = value("--compare", attached, &mut words)?;
                    Mode::Compare([one, value("--compare", None, &mut words)?])
                }
                "--replay" => Mode::Replay(value("--replay", attached, &mut words)?.into()),
                "--adapter" => {
                    let text = value("--adapter", attached, &mut words)?;
                    if options.adapter.replace(text).is_some() {
                        return Err(UsageError::Twice("--adapter"));
                    }
                    continue;
                }
                "--on" => {
                    let text = value("--on", attached, &mut words)?;
                    let caps = paper::known(&text).map_err(UsageError::Nowhere)?;
                    if options.on.replace(Box::new(caps)).is_some() {
                        return Err(UsageError::Twice("--on"));
                    }
                    continue;
                }
                _ => return Err(UsageError::Unknown(word)),
            };
            options.enter(mode)?;
        }
        match (&options.on, &options.adapter, &options.mode) {
            (Some(_), Some(_), _) => Err(UsageError::Together("--on", "--adapter")),
            (Some(_), _, mode) if !mode.is_on_paper() => {
                Err(UsageError::Together("--on", mode.option()))
            }
            (_, Some(_), mode @ (Mode::Compare(_) | Mode::Atlas(_))) => {
                Err(UsageError::Together("--adapter", mode.option()))
            }
            _ => Ok(options),
        }
    }

    /// Help goes with everything, the other modes with nothing.
    fn enter(&mut self, mode: Mode) -> Result<(), UsageError> {
        match (&self.mode, &mode) {
            (Mode::Help, _) => return Ok(()),
            (Mode::Check, _) | (_, Mode::Help) => {}
            (now, next) if now.option() == next.option() => {
                return Err(UsageError::Twice(next.option()));
            }
            (now, next) => return Err(UsageError::Together(now.option(), next.option())),
        }
        self.mode = mode;
        Ok(())
    }
}

/// The value of an option: after its `=`, or the next word.
fn value(
    option: &'static str,
    attached: Option<String>,
    words: &mut impl Iterator<Item = Result<String, UsageError>>,
) -> Result<String, UsageError> {
    match attached {
        Some(text) => Ok(text),
        None => words.next().unwrap_or(Err(UsageError::NoValue(option))),
    }
}
