//! What is said to help does: each option that is named is tried.

use serde_json::Value;

use super::Scratch;

/// 154 MiB, of which memory is taken in pieces that are small beside it: 81 MiB as f16, 43 as q8,
/// 23 as q4.
const LARGE: &str = r#"{"embed":{"dtype":"F32","shape":[100000,384],"data_offsets":[0,153600000]},
"half":{"dtype":"F16","shape":[10000,384],"data_offsets":[153600000,161280000]},
"ids":{"dtype":"I64","shape":[1,512],"data_offsets":[161280000,161284096]}}"#;

/// 64 MiB.
const DOUBLE: &str = r#"{"w":{"dtype":"F64","shape":[131072,64],"data_offsets":[0,67108864]}}"#;

/// Each row: which file, where, and which of what narrows is named, the options of each.
type Row = (&'static str, &'static [&'static str], &'static [&'static str]);

const ROWS: [Row; 9] = [
    ("large", &["lavapipe", "--cap", "100MiB"], &["--as f16", "--as bf16"]),
    ("large", &["lavapipe", "--cap", "60MiB"], &["--as q8"]),
    ("large", &["lavapipe", "--cap", "100MiB", "--reserve", "40MiB"], &["--as q8"]),
    ("large", &["lavapipe", "--cap", "30MiB"], &["--as q4"]),
    ("large", &["lavapipe", "--cap", "30MiB", "--as", "q8"], &["--as q4"]),
    ("large", &["lavapipe", "--cap", "16MiB"], &[]),
    ("large", &["browser", "--cap", "60MiB"], &["--as q8 --lossless"]),
    ("double", &["apple_m2"], &["--as f32"]),
    ("double", &["lavapipe", "--cap", "40MiB"], &["--as f32"]),
];

/// Of what narrows, the one that loses least is named, with what it takes.
#[test]
fn what_fits_and_loses_least_is_named() {
    let files = [("large", LARGE, 161_284_096), ("double", DOUBLE, 64 << 20)].map(
        |(name, header, values)| (name, Scratch::new(&format!("advice-{name}"), header, values)),
    );
    for (name, place, want) in ROWS {
        let (_, file) = files.iter().find(|(other, _)| *other == name).expect("a file");
        let check = |more: &[&str]| {
            let (code, text) = file.check(&[&["--on"], place, more, &["--json"]].concat());
            let said: Value = serde_json::from_str(&text).expect("it is JSON");
            (code, said)
        };
        let (_, said) = check(&[]);
        let help = said["help"].as_array().expect("a list").iter();
        let help: Vec<&str> = help.filter_map(Value::as_str).collect();
        let named = help.iter().filter_map(|help| help.split_once(" takes "));
        let named: Vec<(&str, &str)> = named.collect();
        let options: Vec<&str> = named.iter().map(|(options, _)| *options).collect();
        assert_eq!(options, want, "{name} on {place:?}: {help:?}");
        for (options, takes) in named.into_iter().filter(|_| !place.contains(&"--as")) {
            let (code, said) = check(&options.split(' ').collect::<Vec<_>>());
            let known = place.contains(&"--cap");
            assert_eq!(code, if known { 1 } else { 3 }, "{name} on {place:?} {options}: {said}");
            let mib = said["bytes_reserve"].as_u64().expect("a number") as f64 / f64::from(1 << 20);
            let told = takes.split_once(" MiB").and_then(|(told, _)| told.parse::<f64>().ok());
            let near = told.is_some_and(|told| (told - mib).abs() < 0.06);
            assert!(near, "{name} on {place:?} {options}: {takes}, and it is {mib} MiB");
        }
        let larger = help.iter().any(|help| help.starts_with("an adapter with more memory"));
        assert_eq!(larger, place.contains(&"--cap"), "{name} on {place:?}: {help:?}");
    }
}
