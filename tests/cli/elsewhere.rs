//! Every adapter that the doctor lists is weighed, whichever is asked, and whether or not one is.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::{MIXED, Scratch, not_run, without_gpu};

/// What an environment adds to that of the tests, or takes out of it.
type Change<'a> = (&'a str, Option<&'a str>);

/// Runs `wharf` and returns its exit code and the object that it prints.
fn object(changes: &[Change<'_>], arguments: &[&str]) -> (i32, Value) {
    let mut program = Command::new(env!("CARGO_BIN_EXE_wharf"));
    program.args(arguments).arg("--json").current_dir(env!("CARGO_TARGET_TMPDIR"));
    for (name, value) in changes {
        match value {
            Some(value) => program.env(name, value),
            None => program.env_remove(name),
        };
    }
    let output = program.output().expect("the program runs");
    let text = String::from_utf8_lossy(&output.stdout);
    (output.status.code().unwrap_or(-1), serde_json::from_str(&text).expect("it is JSON"))
}

/// Name and backend of all that are listed, as the program names them, and which is chosen.
fn listed(changes: &[Change<'_>]) -> (Vec<String>, Option<usize>) {
    let (_, said) = object(changes, &["doctor"]);
    let all = said["adapters"].as_array().expect("a list");
    let text = |one: &Value, key: &str| one[key].as_str().unwrap_or_default().to_owned();
    let names = all.iter().map(|one| format!("{} ({})", text(one, "name"), text(one, "backend")));
    (names.collect(), all.iter().position(|one| one["chosen"] == true))
}

/// Index and name of each that is elsewhere.
fn elsewhere(said: &Value) -> Vec<(usize, String)> {
    let all = said["elsewhere"].as_array().expect("a list").iter();
    all.map(|one| {
        let index = one["index"].as_u64().expect("an index") as usize;
        (index, one["adapter"].as_str().expect("a name").to_owned())
    })
    .collect()
}

/// A manifest of a driver that is used here; only the Vulkan loader of Linux reads one.
fn manifest() -> Option<PathBuf> {
    let set = ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"].into_iter().find_map(std::env::var_os);
    let system = || PathBuf::from("/usr/share/vulkan/icd.d/lvp_icd.x86_64.json");
    let path = set.map_or_else(system, PathBuf::from);
    path.is_file().then_some(path)
}

/// The same manifest by two paths: the loader takes it for two drivers.
fn doubled(manifest: &Path) -> Option<String> {
    let (folder, file) = (manifest.parent()?.to_str()?, manifest.file_name()?.to_str()?);
    Some(format!("{folder}/{file}:{folder}/./{file}"))
}

/// As many as the doctor lists, but for one. Two GPUs of a kind have one identity, and are two.
#[test]
fn each_adapter_but_the_one_that_is_asked_is_elsewhere() {
    if without_gpu() {
        return;
    }
    let file = Scratch::new("elsewhere", MIXED, 1_835_008);
    let twice = manifest().and_then(|path| doubled(&path));
    let twice = twice.as_deref().map(|files| {
        let changes = [("VK_DRIVER_FILES", Some(files)), ("VK_ICD_FILENAMES", Some(files))];
        changes.to_vec()
    });
    let doubles = |names: &[String]| {
        names.iter().any(|one| names.iter().filter(|other| *other == one).count() > 1)
    };
    let mut pairs = 0;
    for changes in [Some(Vec::new()), twice].into_iter().flatten() {
        let (names, chosen) = listed(&changes);
        let (_, said) = object(&changes, &["check", file.path()]);
        let chosen = chosen.expect("an adapter; without one: WHARF_TEST_NO_GPU=1");
        let mut want: Vec<(usize, String)> = names.iter().cloned().enumerate().collect();
        assert_eq!(said["adapter"], want.remove(chosen).1.as_str(), "{said}");
        assert_eq!(elsewhere(&said), want, "{said}");
        pairs += usize::from(doubles(&names));
    }
    if pairs == 0 {
        not_run("two adapters of one kind: nothing here can be listed twice");
    }
}

/// None is chosen, and each is weighed: what is known is said, and the exit code says the rest.
#[test]
fn where_none_is_chosen_each_is_weighed() {
    if without_gpu() {
        return;
    }
    let file = Scratch::new("unchosen", MIXED, 1_835_008);
    let rows: [(&[Change<'_>], &[&str], &str); 2] = [
        (
            &[],
            &["--cap", "8GiB", "--adapter", "no such adapter"],
            "no adapter matches \"no such adapter\"",
        ),
        (
            &[("WHARF_ALLOW_SOFTWARE", None), ("WHARF_ADAPTER", None)],
            &["--cap", "8GiB"],
            "only software adapters, and none was asked for",
        ),
    ];
    for (changes, arguments, error) in rows {
        let (names, chosen) = listed(changes);
        if chosen.is_some() && !arguments.contains(&"--adapter") {
            not_run("only software: there is hardware here");
            continue;
        }
        let (code, said) = object(changes, &[&["check", file.path()], arguments].concat());
        assert_eq!(code, 2, "{said}");
        assert!(said["error"].as_str().is_some_and(|text| text.starts_with(error)), "{said}");
        assert!(said["adapter"].is_null() && said["help"].is_array(), "{said}");
        let all: Vec<(usize, String)> = names.into_iter().enumerate().collect();
        assert_eq!(elsewhere(&said), all, "{said}");
        let mut program = Command::new(env!("CARGO_BIN_EXE_wharf"));
        program.arg("check").arg(&file.0).args(arguments);
        program.env_remove("WHARF_ALLOW_SOFTWARE").env_remove("WHARF_ADAPTER");
        let output = program.output().expect("the program runs");
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(2), "{text}");
        let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flat.contains(&format!("error {error}")), "{text}");
        for ((index, name), one) in all.iter().zip(said["elsewhere"].as_array().expect("a list")) {
            let answer = one["answer"].as_str().expect("a line");
            let line = format!("elsewhere {index}: {name}: {answer}");
            assert!(flat.contains(&line), "{line}: {text}");
        }
    }
}

/// Where the one that is asked refuses a tensor and another takes all of them, that is the remedy.
#[test]
fn one_that_takes_all_of_it_is_named() {
    if without_gpu() {
        return;
    }
    let file = Scratch::new("named", MIXED, 1_835_008);
    let asked = |index: usize| {
        object(&[], &["check", file.path(), "--cap", "8GiB", "--adapter", &index.to_string()])
    };
    let count = elsewhere(&asked(0).1).len() + 1;
    let all: Vec<(i32, Value)> = (0..count).map(asked).collect();
    let best = all.iter().position(|(code, _)| *code == 0);
    let mut named = 0;
    for (index, (code, said)) in all.iter().enumerate() {
        let help = said["help"].as_array().expect("a list");
        let first = help.first().and_then(Value::as_str).unwrap_or_default();
        match best {
            Some(best) if *code != 0 => {
                let name = all[best].1["adapter"].as_str().expect("a name");
                let want = format!("--adapter {best}, {name}: yes: ");
                assert!(first.starts_with(&want), "{index}: {help:?}");
                named += 1;
            }
            _ => assert!(!first.starts_with("--adapter"), "{index}: {help:?}"),
        }
    }
    if named == 0 {
        not_run("each adapter here takes the same");
    }
}
