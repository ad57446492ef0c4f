//! The program of examples/embed as people run it: what it prints, and its closing line.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use super::model::WIDTH;
use super::near::device;

/// The program: cargo says where it lies, and builds it where a test alone is asked for.
fn built() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut build = Command::new(cargo);
        build.args(["build", "--locked", "--example", "embed", "--message-format=json"]);
        build.args((!cfg!(debug_assertions)).then_some("--release"));
        let output = build.current_dir(env!("CARGO_MANIFEST_DIR")).output().expect("cargo runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
        let messages = String::from_utf8_lossy(&output.stdout);
        let mut paths = messages.lines().filter_map(|line| {
            let message: serde_json::Value = serde_json::from_str(line).ok()?;
            message["executable"].as_str().map(PathBuf::from)
        });
        paths.next().expect("a program was built")
    })
}

/// The exit code, what it prints, and what it says beside.
fn embed(arguments: &[&str]) -> (i32, String, String) {
    let output = Command::new(built()).args(arguments).output().expect("it runs");
    let [printed, said] =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    (output.status.code().unwrap_or(-1), printed, said)
}

/// The matrix beside its texts.
fn matrix(printed: &str, texts: &[&str]) -> Vec<Vec<f32>> {
    assert_eq!(printed.lines().count(), texts.len(), "{printed}");
    let rows = printed.lines().zip(texts).map(|(line, text)| {
        let numbers = line.strip_suffix(text).expect("the text of the row").split_whitespace();
        numbers.map(|number| number.parse().expect("a number")).collect()
    });
    let rows: Vec<Vec<f32>> = rows.collect();
    assert!(rows.iter().all(|row| row.len() == texts.len()), "{printed}");
    for (i, row) in rows.iter().enumerate() {
        for (j, number) in row.iter().enumerate() {
            assert!(*number == rows[j][i] && (i != j || *number == 1.0), "{printed}");
            assert!(i == j || number.abs() < 1.0, "others are not the same: {printed}");
        }
    }
    rows
}

#[test]
fn texts_are_compared_and_what_crossed_is_said() {
    let Some(device) = device() else { return };
    let texts = ["a cat", "a kitten", "rain"];
    let (code, printed, said) = embed(&[&["--compare"], &texts[..]].concat());
    assert_eq!(code, 0, "{said}");
    let rows = matrix(&printed, &texts);
    assert!(rows[0][1] > rows[0][2].max(rows[1][2]) + 0.2, "a kitten is a cat: {printed}");
    // Weights as f32, each once; twice four tokens and once three, a u32 and a bool each.
    let up = 4 * 22_565_376 + 11 * 5;
    let down = 3 * WIDTH * 4;
    let want = format!(
        "{}: 90.3 MB in 101 tensors, {up} up in {} crossings, {down} down in 2, 11 tokens, ",
        device.caps().identity.name,
        101 + 2 * 2,
    );
    let last = said.lines().last().unwrap_or_default();
    assert!(last.starts_with(&want) && last.ends_with(" a second"), "{want}..\n{said}");
    let rate = last[want.len()..].trim_end_matches(" a second").parse::<u64>();
    assert!(rate.is_ok_and(|rate| rate > 0), "{last}");
}

#[test]
fn without_arguments_it_compares_sentences_of_its_own() {
    if device().is_none() {
        return;
    }
    let (code, printed, said) = embed(&[]);
    assert_eq!(code, 0, "{said}");
    let own =
        ["A cat sits on the mat.", "A kitten lies on the rug.", "Interest rates rose on Tuesday."];
    let rows = matrix(&printed, &own);
    assert!(rows[0][1] > rows[0][2].max(rows[1][2]) + 0.2, "{printed}");
}

/// Needs no adapter and no model.
#[test]
fn a_command_line_that_means_nothing_is_answered_by_usage() {
    let rows: [&[&str]; 5] = [
        &["--what"],
        &["--dtype", "f13", "a text"],
        &["--dtype"],
        &["--corpus", "lines.txt"],
        &["--top", "many", "a text"],
    ];
    for arguments in rows {
        let (code, printed, said) = embed(arguments);
        assert_eq!(code, 64, "{arguments:?}: {said}");
        assert!(
            said.contains("usage: embed [--dtype f32|f16|bf16|q8|q4]"),
            "{arguments:?}: {said}"
        );
        assert!(said.contains("--compare TEXT TEXT.."), "{arguments:?}: {said}");
        assert_eq!(printed, "", "{arguments:?}");
    }
}
