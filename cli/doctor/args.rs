//! What may be written on the command line.

use std::path::PathBuf;

use wharf::caps::Caps;

use super::fit::{EXAMPLES, Question};
use super::grammar::{Grammar, Words};
use super::paper;

pub(super) const GRAMMAR: Grammar = Grammar {
    name: "doctor",
    help: HELP,
    options: &[
        ("--adapter", 1),
        ("--on", 1),
        ("--json", 0),
        ("--explain", 0),
        ("--would-it-fit", 1),
        ("--passport", 1),
        ("--compare", 2),
        ("--atlas", 1),
        ("--replay", 1),
    ],
    apart: &[
        &[
            "--json",
            "--explain",
            "--would-it-fit",
            "--passport",
            "--compare",
            "--atlas",
            "--replay",
        ],
        &["--on", "--adapter", "--compare", "--atlas"],
        &["--on", "--explain", "--passport", "--replay"],
    ],
    free: 0,
};

const HELP: &str = "\
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
                       SPEC is dtype:dims[,layout=row|col][,cap=SIZE]: f64:4096x4096,cap=8GiB,
                       f16:1000x3,layout=col, or f32: for a scalar
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
if the tensor fits on some adapter bit-exact, with 1 if only once a conversion is allowed, with 3
if it arrives but nobody says whether there is room (only a software adapter's memory is known; of
others, `cap` says it), else with 2. --passport ends with 0 where all is right, with 2 where
something is not; it and --atlas with 2 where nothing can be written. --compare ends with 0 where
two passports are alike but for what was timed, with 1 where they differ; it and --atlas with 65
where a file is no passport, with 66 where it cannot be read.

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
}

/// The command line, understood.
#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) adapter: Option<String>,
    /// An adapter that is not here.
    pub(crate) on: Option<Caps>,
    pub(crate) mode: Mode,
}

impl Options {
    pub(crate) fn of(words: &Words) -> Result<Self, String> {
        let path = |option| words.value(option).map(str::to_owned);
        let fit = |spec| {
            let complaint =
                |error| format!("--would-it-fit: {error}\n        for example {EXAMPLES}");
            Question::parse(spec).map(Mode::Fit).map_err(complaint)
        };
        let modes = [
            words.has("--json").then_some(Mode::Json),
            words.has("--explain").then_some(Mode::Explain),
            words.value("--would-it-fit").map(fit).transpose()?,
            path("--passport").map(Mode::Passport),
            words
                .values("--compare")
                .and_then(|both| Some(Mode::Compare(both.to_vec().try_into().ok()?))),
            path("--atlas").map(Mode::Atlas),
            path("--replay").map(|path| Mode::Replay(path.into())),
        ];
        let mode = modes.into_iter().flatten().next().unwrap_or(Mode::Check);
        let on = words.value("--on").map(paper::known).transpose()?;
        Ok(Self { adapter: path("--adapter"), on, mode })
    }
}
