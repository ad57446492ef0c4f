//! `wharf doctor --on NAME`: an adapter that is not here, planned, explained and asked.

use std::process::Command;

use wharf::caps::fixtures;
use wharf::plan::negotiate;
use wharf::{DType, Policy};

use super::{golden, wharf};

/// What is refused is said by the exit code: 1, where a dtype would have to be converted.
const CODES: [(&str, i32); 29] = [
    ("webgpu_baseline", 1),
    ("lavapipe", 0),
    ("swiftshader", 1),
    ("llvmpipe_gl", 1),
    ("browser", 1),
    ("apple_m2", 1),
    ("nvidia_vulkan", 0),
    ("dx12_without_dxc", 1),
    ("intel:skl", 0),
    ("intel:tgl", 1),
    ("intel:dg2", 1),
    ("intel:mtl", 0),
    ("intel:lnl", 0),
    ("intel:bmg", 0),
    ("amd:polaris10", 0),
    ("amd:vega10", 0),
    ("amd:renoir", 0),
    ("amd:navi10", 0),
    ("amd:navi21", 0),
    ("amd:navi31", 0),
    ("amd:gfx1150", 0),
    ("nvidia:162", 0),
    ("nvidia:172", 0),
    ("adreno:618", 1),
    ("adreno:630", 1),
    ("adreno:660", 1),
    ("adreno:730", 1),
    ("adreno:740", 1),
    ("adreno:750", 1),
];

#[test]
fn every_adapter_that_is_not_here_is_planned_and_explained() {
    let all = fixtures::all();
    let names: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, CODES.map(|(name, _)| name), "a fixture without a row");
    for ((name, caps), (_, code)) in all.iter().zip(CODES) {
        let (got, text) = wharf(&["doctor", "--on", name]);
        assert_eq!(got, code, "{name}: {text}");
        let begin = format!("On paper  {} ({}) is not here", caps.identity.name, {
            caps.identity.backend.name()
        });
        assert!(text.contains(&begin), "{name}: {text}");
        let plan = negotiate(caps, &Policy::exact());
        for carriage in plan.carriages() {
            let row = format!("  {:<7}{:<11}", carriage.dtype, carriage.how.name());
            assert!(text.contains(&row), "{name}: no {row:?} in {text}");
        }
        for work in ["add", "sum of rows", "softmax", "product", "two layers", "attention"] {
            let mut lines = text.lines().map(str::trim).filter(|line| line.starts_with(work));
            let told = lines.any(|line| line.contains(" dispatch"));
            assert!(told, "{name}: no {work} in {text}");
        }
        let last = text.rsplit("\n\n").next().unwrap_or_default();
        let word = if code == 0 { "healthy, on paper: all 15" } else { "usable (with refusals)" };
        assert!(last.starts_with(word), "{name}: {last}");
    }
    golden("on_apple_m2", &wharf(&["doctor", "--on", "apple_m2"]).1);
}

#[test]
fn the_same_is_one_object() {
    for ((name, caps), (_, code)) in fixtures::all().iter().zip(CODES) {
        let (got, text) = wharf(&["doctor", "--on", name, "--json"]);
        assert_eq!(got, code, "{name}: {text}");
        let said: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
        let word = if code == 0 { "healthy" } else { "usable" };
        assert_eq!(said["verdict"], word, "{name}");
        let adapter = &said["adapters"][0];
        assert_eq!(adapter["name"], caps.identity.name.as_str(), "{name}");
        assert_eq!((&adapter["chosen"], &adapter["reason"]), (&false.into(), &"on paper".into()));
        let plan = said["plan"].as_array().expect("a list");
        assert_eq!(plan.len(), DType::ALL.len(), "{name}");
        for (row, carriage) in plan.iter().zip(negotiate(caps, &Policy::exact()).carriages()) {
            let pair = (&row["dtype"], &row["how"]);
            let want = (carriage.dtype.name().into(), carriage.how.name().into());
            assert_eq!(pair, (&want.0, &want.1), "{name}");
        }
        let runs = said["runs"].as_array().expect("a list");
        assert_eq!(runs.len(), 6, "{name}");
        for run in runs {
            assert!(
                run["error"].is_null() && run["dispatches"].as_u64() > Some(0),
                "{name}: {run}"
            );
            let square = 4096 * 4096 * 4;
            if run["name"] == "add" {
                let figures = (run["bytes_bound"].as_u64(), run["bytes_made"].as_u64());
                assert_eq!(figures, (Some(3 * square), Some(square)), "{name}: {run}");
            }
        }
    }
}

#[test]
fn it_is_asked_whether_a_tensor_would_fit() {
    let rows = [
        ("lavapipe", "f64:4096x4096,cap=1GiB", 0, "native, stored as f64"),
        ("apple_m2", "f64:4096x4096,cap=1GiB", 1, "refused: f64 cannot be stored"),
        ("nvidia_vulkan", "f32:200000x200000", 3, "nobody says what is free"),
        ("nvidia_vulkan", "f32:200000x200000,cap=8GiB", 2, "does not fit: the cap is 8 GiB"),
        ("browser", "f32:100000x100000", 3, "37.3 GiB in 299 segments"),
        ("browser", "bf16:1000x3,layout=col", 3, "packed, stored as"),
        ("nvidia_vulkan", "f64:10000000x10000000", 2, "is more than any machine has"),
    ];
    for (name, spec, code, text) in rows {
        let (got, said) = wharf(&["doctor", "--on", name, "--would-it-fit", spec]);
        let flat = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flat.contains(text) && flat.contains("on paper"), "{name} {spec}: {said}");
        assert_eq!(got, code, "{name} {spec}: {said}");
    }
    let rows: [(&[&str], &str); 7] = [
        (&["--on", "a toaster"], "--on `a toaster` is none of webgpu_baseline lavapipe"),
        (&["--on"], "--on needs a value"),
        (&["--on", "browser", "--adapter", "0"], "--on and --adapter do not go together"),
        (&["--adapter=0", "--adapter", "0"], "--adapter is given twice"),
        (&["--json", "--explain"], "--json and --explain do not go together"),
        (&["json"], "unknown argument `json`"),
        (&["--on", "browser", "--explain"], "--on and --explain do not go together"),
    ];
    for (arguments, text) in rows {
        let (code, said) = wharf(&[&["doctor"], arguments].concat());
        assert!(code == 64 && said.contains(text), "{arguments:?}: {said}");
    }
}

/// Each text once, under a header; a folder that cannot be is no reason to fail.
#[test]
fn what_is_assembled_is_written_where_somebody_asks_for_it() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("dump");
    let _ = std::fs::remove_dir_all(&folder);
    let run = |folder: &std::path::Path| {
        let mut program = Command::new(env!("CARGO_BIN_EXE_wharf"));
        program.args(["doctor", "--on", "browser", "--json"]);
        let output = program.env("WHARF_DUMP", folder).env("RUST_LOG", "warn").output();
        let output = output.expect("the program runs");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, said) = run(&folder);
    assert_eq!((code, said.as_str()), (Some(1), ""), "{said}");
    let files = std::fs::read_dir(&folder).expect("it was made").map(|file| {
        let path = file.expect("it can be read").path();
        let name = path.file_name().and_then(|name| name.to_str()).expect("UTF-8").to_owned();
        (name, std::fs::read_to_string(&path).expect("it is text"))
    });
    let files: Vec<(String, String)> = files.collect();
    let mut texts: Vec<&str> = Vec::new();
    for (name, text) in &files {
        let (header, wgsl) = text.split_once("\n\n").expect("an empty line");
        let rows: Vec<&str> = header.lines().collect();
        let kernel = rows[0].strip_prefix("// kernel    ").expect("what it is");
        let hash = name.strip_prefix(&format!("{kernel}-")).and_then(|h| h.strip_suffix(".wgsl"));
        let short = |h: &str| h.len() == 8 && h.bytes().all(|b| b.is_ascii_hexdigit());
        assert!(hash.is_some_and(short), "{name} of {kernel}");
        assert!(rows[3].starts_with("// adapter   Chromium (webgpu)"), "{header}");
        assert!(rows[4].starts_with("// asked at  "), "{header}");
        assert!(rows[4].contains("paper.rs:"), "the caller's line: {header}");
        assert!(!texts.contains(&wgsl), "{name} is there twice");
        wgsl.contains("fn main").then_some(()).expect("a kernel");
        texts.push(wgsl);
    }
    let softmax = files.iter().find(|(name, _)| name.starts_with("softmax"));
    let softmax = &softmax.expect("softmax ran").1;
    assert!(softmax.contains("// reads     f32\n// writes    f32\n"), "{softmax}");
    // A file is no folder.
    let (code, said) = run(&folder.join(&files[0].0));
    assert_eq!(code, Some(1), "{said}");
    assert_eq!(said.matches("WHARF_DUMP").count(), 1, "said once: {said}");
    let _ = std::fs::remove_dir_all(&folder);
}
