//! The program: what `wharf check` says of files, on adapters that are somewhere else.

use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

#[cfg(test)]
mod advice;
#[cfg(test)]
mod elsewhere;
#[cfg(test)]
mod files;
#[cfg(test)]
mod not_run;
#[cfg(test)]
mod on;
#[cfg(test)]
mod passports;

#[cfg(test)]
use not_run::{not_run, without_gpu};

/// Runs `wharf` and returns its exit code and what it prints, errors last.
#[cfg(test)]
fn wharf(arguments: &[&str]) -> (i32, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_wharf"))
        .args(arguments)
        .env("NO_COLOR", "1")
        .current_dir(env!("CARGO_TARGET_TMPDIR"))
        .output()
        .expect("the program runs");
    let text = [output.stdout, output.stderr].concat();
    (output.status.code().unwrap_or(-1), String::from_utf8_lossy(&text).into_owned())
}

/// A file of a test, which goes with it. The program runs in its folder, so that lines break at the
/// same places everywhere.
#[cfg(test)]
struct Scratch(PathBuf);

#[cfg(test)]
impl Scratch {
    fn new(name: &str, header: &str, values: u64) -> Self {
        let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
        let path = folder.join(format!("check-{name}.safetensors"));
        let length = (header.len() as u64).to_le_bytes();
        std::fs::write(&path, [&length[..], header.as_bytes()].concat()).expect("written");
        let file = std::fs::OpenOptions::new().write(true).open(&path).expect("it is there");
        file.set_len(8 + header.len() as u64 + values).expect("a file with a hole");
        Self(path)
    }

    fn path(&self) -> &str {
        self.0.file_name().and_then(|name| name.to_str()).expect("UTF-8")
    }

    /// What `wharf check` says of it, without its name.
    fn check(&self, arguments: &[&str]) -> (i32, String) {
        wharf(&[&["check", self.path()], arguments].concat())
    }
}

#[cfg(test)]
impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Compares with what is committed; `WHARF_GOLDENS=1` writes it.
#[cfg(test)]
#[track_caller]
fn golden(name: &str, text: &str) {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli");
    let path = folder.join(format!("{name}.txt"));
    if std::env::var("WHARF_GOLDENS").is_ok_and(|value| value == "1") {
        std::fs::write(&path, text).expect("it is written");
    }
    assert_eq!(text, std::fs::read_to_string(&path).unwrap_or_default(), "{text}");
}

#[cfg(test)]
const MIXED: &str = r#"{"embed":{"dtype":"F32","shape":[1000,384],"data_offsets":[0,1536000]},
"layer.0.half":{"dtype":"F16","shape":[384,384],"data_offsets":[1536000,1830912]},
"ids":{"dtype":"I64","shape":[1,512],"data_offsets":[1830912,1835008]}}"#;

/// Each row: what the file is, the arguments, the exit code and what is said.
#[test]
fn what_becomes_of_a_file_is_said_per_tensor_and_in_sum() {
    let file = Scratch::new("mixed", MIXED, 1_835_008);
    let (code, text) = file.check(&["--on", "lavapipe", "--cap", "1GiB"]);
    golden("mixed_lavapipe", &text);
    assert_eq!(code, 0, "{text}");
    let (code, text) = file.check(&["--on", "browser"]);
    golden("mixed_browser", &text);
    assert_eq!(code, 3, "i64 may be narrowed: {text}");
    assert_eq!(file.check(&["--on", "browser", "--cap", "1GiB"]).0, 1, "and there is room");
    assert_eq!(file.check(&["--on", "nvidia_vulkan"]).0, 3, "nobody says whether there is");
    let (code, text) =
        file.check(&["--on", "browser", "--lossless", "--as", "f16", "--cap", "8MiB"]);
    golden("mixed_narrow", &text);
    assert_eq!(code, 1, "{text}");
    let (code, text) = file.check(&["--on", "lavapipe", "--cap", "2MiB", "--reserve", "1MiB"]);
    golden("mixed_small", &text);
    assert_eq!(code, 2, "{text}");
}

#[test]
fn json_says_the_same() {
    let file = Scratch::new("json", MIXED, 1_835_008);
    let (code, text) = file.check(&["--on", "browser", "--json"]);
    assert_eq!(code, 3, "{text}");
    let said: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
    let rows = [
        ("/verdict", "\"unknown\""),
        ("/native", "2"),
        ("/rejected", "1"),
        ("/segments", "2"),
        ("/bytes", "1830912"),
        ("/bytes_cap", "null"),
        ("/tensors/0/how", "\"native\""),
        ("/tensors/0/shape", "[1000,384]"),
        ("/tensors/2/how", "\"rejected\""),
        ("/tensors/2/error", "\"i64 cannot be stored: Chromium lacks shader-int64\""),
    ];
    for (at, want) in rows {
        assert_eq!(
            said.pointer(at).map(ToString::to_string).as_deref(),
            Some(want),
            "{at}: {text}"
        );
    }
}

/// Matrices with rows of whole blocks become blocks; the rest stays.
#[test]
fn what_becomes_blocks_takes_a_quarter_and_its_scales() {
    let header = r#"{"w":{"dtype":"F32","shape":[100,64],"data_offsets":[0,25600]},
"ragged":{"dtype":"F32","shape":[4,10],"data_offsets":[25600,25760]},
"bias":{"dtype":"F32","shape":[64],"data_offsets":[25760,26016]}}"#;
    let file = Scratch::new("blocks", header, 26016);
    let (code, text) = file.check(&["--on", "browser", "--as", "q8", "--json"]);
    assert_eq!(code, 3, "{text}");
    let said: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
    let rows: Vec<String> = said["tensors"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|one| format!("{} {} {} {}", one["name"], one["how"], one["stored"], one["bytes"]))
        .collect();
    let want = [
        r#""w" "converted" "q8" 6800"#,
        r#""ragged" "native" "f32" 160"#,
        r#""bias" "native" "f32" 256"#,
    ];
    assert_eq!(rows, want, "{text}");
}

/// What numpy wrote, deflated: names and sizes are asked of its headers.
#[test]
fn a_file_of_arrays_is_asked_as_any_other() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/goldens/files/deflated.npz");
    let (code, text) = wharf(&["check", path, "--on", "lavapipe", "--json"]);
    assert_eq!(code, 3, "{text}");
    let said: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
    for (at, want) in [
        ("/bytes", "98"),
        ("/tensors/0/name", "\"weight\""),
        ("/tensors/1/dtype", "\"<i2\""),
        ("/tensors/2/shape", "[]"),
    ] {
        let got = said.pointer(at).map(ToString::to_string);
        assert_eq!(got.as_deref(), Some(want), "{at}: {text}");
    }
}

/// Twelve files with something wrong, and what is said.
#[test]
fn hostile_files_are_refused_with_both_numbers() {
    let one = |dtype: &str, dims: &str, place: &str| {
        format!(r#"{{"x":{{"dtype":"{dtype}","shape":{dims},"data_offsets":{place}}}}}"#)
    };
    let twice = r#"{"x":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},
"x":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}"#;
    let apart = r#"{"x":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},
"y":{"dtype":"U8","shape":[1],"data_offsets":[5,6]}}"#;
    let over = r#"{"x":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},
"y":{"dtype":"U8","shape":[4],"data_offsets":[1,5]}}"#;
    let deep = format!(r#"{{"x":{}}}"#, "[".repeat(90_000));
    let rows: [(String, u64, &str); 10] = [
        (one("U8", "[4]", "[0,4]"), 3, "the values need 4 bytes, there are 3"),
        (one("U8", "[4]", "[0,4]"), 5, "the bytes 4..5 belong to no tensor"),
        (one("F32", "[4]", "[0,4]"), 4, "[4] of F32 takes 16 bytes, the header gives it 4"),
        (
            one("F32", "[4611686018427387904,8]", "[0,4]"),
            4,
            "has more elements than can be counted, 9223372036854775807",
        ),
        (
            one("U8", "[9223372036854775807]", "[0,9223372036854775807]"),
            4,
            "the values need 9223372036854775807",
        ),
        (one("U8", "[4]", "[4,0]"), 4, "it lies at bytes 4..0, which end before they begin"),
        (twice.into(), 1, "\"x\" is there twice"),
        (apart.into(), 6, "the bytes 1..5 belong to no tensor"),
        (over.into(), 5, "it begins at byte 1, before the tensor before it ends at 4"),
        (deep, 4, "the header means nothing: invalid type: sequence"),
    ];
    for (header, values, text) in rows {
        let file = Scratch::new("hostile", &header, values);
        let (code, said) = file.check(&["--on", "lavapipe"]);
        let flat = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            flat.starts_with("error check-hostile.safetensors: ") && flat.contains(text),
            "{text}: {said}"
        );
        assert!(flat.contains(" help "), "{said}");
        assert_eq!(code, 65, "{said}");
    }
    let long = Scratch::new("long", "{}", 0);
    std::fs::write(&long.0, (1u64 << 63).to_le_bytes()).expect("written");
    let (code, said) = long.check(&["--on", "lavapipe", "--json"]);
    assert!(
        said.contains("a header of 9223372036854775808 bytes, 100000000 are the most"),
        "{said}"
    );
    assert_eq!(code, 65, "{said}");
}

#[test]
fn seventy_gigabytes_are_answered_as_fast_as_a_few() {
    let (layers, bytes) = (700u64, 100_000_000u64);
    let tensors: Vec<String> = (0..layers)
        .map(|i| {
            let place = [i * bytes, (i + 1) * bytes];
            format!(r#""{i}":{{"dtype":"BF16","shape":[5000,10000],"data_offsets":{place:?}}}"#)
        })
        .collect();
    let file = Scratch::new("huge", &format!("{{{}}}", tensors.join(",")), layers * bytes);
    let clock = Instant::now();
    let (code, text) =
        file.check(&["--on", "nvidia_vulkan", "--cap", "24GiB", "--reserve", "2GiB"]);
    let elapsed = clock.elapsed();
    assert!(elapsed.as_millis() < 2000, "{elapsed:?}");
    assert_eq!(code, 2, "{text}");
    let last = text.lines().last().unwrap_or_default();
    assert!(last.starts_with("no: it takes 65.") && last.ends_with("of 24 GiB"), "{last}");
    let (code, text) = file.check(&["--on", "nvidia_vulkan", "--cap", "80GiB", "--json"]);
    assert_eq!(code, 0, "{text}");
}

#[test]
fn a_command_line_that_means_nothing_says_so() {
    let file = Scratch::new("usage", "{}", 0);
    let rows: [(&[&str], i32, &str); 13] = [
        (&["--on", "browser", "--reserve", "1GiB"], 64, "none is known here: name a --cap"),
        (&["--on", "a toaster"], 64, "--on `a toaster` is none of webgpu_baseline lavapipe"),
        (&["--cap", "much"], 64, "`much` is no size, such as 8GiB"),
        (&["--as", "i32"], 64, "`i32` is none of f32 f16 bf16 f64 f8e4m3 f8e5m2 q8"),
        (&["--what"], 64, "unknown argument `--what`\n\nusage: wharf check FILE"),
        (&["another"], 64, "one file, not `another` too"),
        (&["--on"], 64, "--on needs a value"),
        (&["--on=a toaster"], 64, "--on `a toaster` is none of"),
        (&["--cap=1", "--cap", "2"], 64, "--cap is given twice"),
        (&["--json", "--json"], 64, "--json is given twice"),
        (&["--json=yes"], 64, "--json takes no value"),
        (&["--on", "browser", "--adapter", "0"], 64, "--on and --adapter do not go together"),
        (&["--help"], 0, "wharf check: will the tensors of this file arrive on my GPU"),
    ];
    for (arguments, code, text) in rows {
        let (got, said) = file.check(arguments);
        assert!(said.contains(text), "{arguments:?}: {said}");
        assert_eq!(got, code, "{arguments:?}: {said}");
    }
    assert_eq!(wharf(&["check", "/nowhere/at all", "--on", "browser"]).0, 66, "no such file");
    let (code, said) = wharf(&["nonsense"]);
    assert!(code == 64 && said.starts_with("wharf: no command \"nonsense\"\n"), "{said}");
    let (code, said) = wharf(&["doctor", "--help"]);
    assert!(code == 0 && said.starts_with("doctor: why can't my tensor"), "{said}");
}

/// Where there is no desktop, too: a line of Mesa's own layer is left, which can be told off.
#[test]
fn nothing_is_written_that_nobody_asked_for() {
    const OF_MESA: &str = "error: XDG_RUNTIME_DIR is invalid or not set in the environment.";
    for arguments in [&["doctor"][..], &["check", "nowhere"], &["doctor", "--json"]] {
        for told_off in [true, false] {
            let mut program = Command::new(env!("CARGO_BIN_EXE_wharf"));
            program.args(arguments).env_remove("NODEVICE_SELECT");
            program.env_remove("XDG_RUNTIME_DIR").env_remove("RUST_LOG");
            if told_off {
                program.env("NODEVICE_SELECT", "1");
            }
            let output = program.output().expect("the program runs");
            let said = String::from_utf8_lossy(&output.stderr);
            let quiet = said.lines().all(|line| line == OF_MESA && !told_off);
            assert!(quiet, "{arguments:?}: {said}");
        }
    }
}

/// On the adapter there is: without one this fails, unless `WHARF_TEST_NO_GPU=1` says so aloud.
#[test]
fn the_adapter_at_hand_is_asked_too() {
    if without_gpu() {
        return;
    }
    let file = Scratch::new("here", MIXED, 1_835_008);
    let (code, text) = file.check(&[]);
    assert!(code <= 1, "{text}");
    let (code, text) = file.check(&["--json", "--adapter", "no such adapter"]);
    assert!(code == 2 && text.contains("\"error\""), "{text}");
}

/// The shape of what is said, not how fast it is. Without an adapter this fails, unless
/// `WHARF_TEST_NO_GPU=1` says so aloud.
#[test]
fn a_quick_bench_measures_and_judges_everything() {
    let (code, said) = wharf(&["bench", "--what"]);
    let complaint = "wharf bench: unknown argument `--what`\n\nusage: wharf bench [";
    assert!(code == 64 && said.starts_with(complaint), "{code}: {said}");
    let (code, said) = wharf(&["bench", "--help"]);
    assert!(code == 0 && said.starts_with("wharf bench: how fast is this adapter"), "{said}");
    let (code, said) = wharf(&["bench", "--adapter=no such adapter", "--json"]);
    assert!(code == 2 && said.contains("\"error\""), "{code}: {said}");
    if without_gpu() {
        return;
    }
    let (code, text) = wharf(&["bench", "--quick"]);
    assert_eq!(code, 0, "{text}");
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with("error: XDG")).collect();
    let titles: Vec<&str> = lines[2].split_whitespace().collect();
    assert_eq!(titles, ["what", "size", "rate", "time", "result"], "{text}");
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let last = flat.split("every result is right: ").nth(1).unwrap_or_default();
    assert!(last.contains(", driver ") && last.contains(" s)"), "{text}");
    let (code, text) = wharf(&["bench", "--quick", "--json"]);
    assert_eq!(code, 0, "{text}");
    let object = text.lines().find(|line| line.starts_with('{')).expect("an object");
    let said: serde_json::Value = serde_json::from_str(object).expect("it is JSON");
    assert_eq!((&said["right"], said["driver"].is_string()), (&true.into(), true), "{text}");
    let all = said["measured"].as_array().expect("a list");
    let names: Vec<&str> = all.iter().filter_map(|one| one["name"].as_str()).collect();
    for name in ["first product", "copy up", "add", "product f32", "row by matrix"] {
        assert!(names.contains(&name), "{name}: {names:?}");
    }
    for one in all {
        assert!(one["wrong"].is_null() && one["seconds"].as_f64() > Some(0.0), "{one}");
        let (rate, unit) = (&one["rate"], &one["unit"]);
        assert_eq!(rate.is_null(), unit.is_null(), "{one}");
    }
}

/// Those that need an adapter.
#[cfg(test)]
const NEEDY: [&str; 6] = [
    "a_quick_bench_measures_and_judges_everything",
    "elsewhere::each_adapter_but_the_one_that_is_asked_is_elsewhere",
    "elsewhere::one_that_takes_all_of_it_is_named",
    "elsewhere::where_none_is_chosen_each_is_weighed",
    "passports::a_passport_is_made_whole_and_right",
    "the_adapter_at_hand_is_asked_too",
];

#[test]
fn what_is_not_run_is_said() {
    not_run::each_says_so(&NEEDY);
}
