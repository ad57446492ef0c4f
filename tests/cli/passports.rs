//! Passports: those that are committed, two side by side, hostile ones, and one that is made here.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use wharf::caps::{Caps, Feature, Limit, fixtures};

use super::{golden, wharf, without_gpu};

/// The folder of the committed ones.
const ATLAS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/atlas");

fn passports() -> Vec<(String, String)> {
    let entries = std::fs::read_dir(ATLAS).expect("docs/atlas is there");
    let paths = entries.map(|entry| entry.expect("it can be read").path());
    let mut paths: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|end| end == "json")).collect();
    paths.sort();
    let named = |path: PathBuf| {
        let name = path.file_stem().and_then(|name| name.to_str()).expect("UTF-8").to_owned();
        (name, std::fs::read_to_string(path).expect("it is text"))
    };
    paths.into_iter().map(named).collect()
}

/// Of these drivers there is one: part of the adapter's name, backend, and how many dtypes are
/// carried.
const DRIVERS: [(&str, &str, &str, usize); 5] = [
    ("chromium", "", "webgpu", 12),
    ("lavapipe", "llvmpipe", "vulkan", 15),
    ("lavapipe-new", "llvmpipe", "vulkan", 15),
    ("llvmpipe-gl", "llvmpipe", "gl", 12),
    ("swiftshader", "SwiftShader", "vulkan", 12),
];

#[test]
fn every_committed_passport_is_of_this_schema_and_unchanged() {
    let all = passports();
    for (name, adapter, backend, carried) in DRIVERS {
        let (_, text) = all.iter().find(|(other, _)| other == name).expect(name);
        let path = format!("{ATLAS}/{name}.json");
        let (code, said) = wharf(&["doctor", "--compare", &path, &path]);
        assert_eq!(code, 0, "{said}");
        assert!(said.contains("\n0 differences; the same: "), "{said}");
        assert!(text.len() <= 200_000, "{name} has {} bytes", text.len());
        let passport: Value = serde_json::from_str(text).expect("it is JSON");
        let of = &passport["adapter"];
        assert!(of["name"].as_str().is_some_and(|it| it.contains(adapter)), "{name}: {of}");
        assert_eq!(of["backend"], backend, "{name}");
        let rows = passport["carriage"].as_array().expect("rows");
        assert_eq!(rows.iter().filter(|row| row["how"] != "rejected").count(), carried, "{name}");
        for part in ["crossings", "cases"] {
            let rows = passport[part].as_array().expect("rows");
            assert!(rows.len() > 12, "{name} has {} {part}", rows.len());
            let wrong = |row: &&Value| matches!(row["verdict"].as_str(), Some("WRONG" | "FAILED"));
            assert_eq!(rows.iter().find(wrong), None, "{name}");
        }
        let rows = passport["accuracy"].as_array().expect("rows");
        assert!(rows.iter().all(|row| row["wrong"].is_null() && row["ulp"].is_number()), "{name}");
        for private in ["/home", "/root", "/tmp", "/usr", "\\\\"] {
            assert!(!text.contains(private), "{name} names a path: {private}");
        }
    }
}

/// What a passport says otherwise than capabilities of the same adapter.
fn differences(caps: &Caps, passport: &Value) -> Vec<String> {
    let mut all = Vec::new();
    let mut compare = |what: &str, ours: Value, theirs: &Value| {
        if ours != *theirs {
            all.push(format!("{what}: {ours}, the passport has {theirs}"));
        }
    };
    let id = &caps.identity;
    let of = &passport["adapter"];
    compare("vendor", json!(format!("{:#06x}", id.vendor)), &of["vendor"]);
    compare("device", json!(format!("{:#06x}", id.device)), &of["device"]);
    compare("kind", json!(id.device_type.name()), &of["kind"]);
    compare("driver", json!(id.driver), &of["driver"]);
    for feature in Feature::ALL.iter().copied() {
        // A passport is silent on what it is older than.
        if let Some(theirs) = passport["features"].get(feature.name()) {
            compare(feature.name(), json!(caps.has(feature)), theirs);
        }
    }
    for &limit in Limit::ALL {
        compare(limit.name(), json!(caps.limits.get(limit)), &passport["limits"][limit.name()]);
    }
    all
}

#[test]
fn capabilities_that_are_written_down_are_those_that_were_measured() {
    let (mut met, mut wrong) = (Vec::new(), Vec::new());
    for (file, text) in passports() {
        let passport: Value = serde_json::from_str(&text).expect("it is JSON");
        // What nobody asks for any more would differ from every passport that is made now.
        let named = passport["features"].as_object().expect("by name");
        let gone = |name: &&String| Feature::ALL.iter().all(|known| known.name() != *name);
        wrong.extend(named.keys().filter(gone).map(|name| format!("{file}: {name} is gone")));
        let of = &passport["adapter"];
        for (name, caps) in fixtures::all() {
            let id = &caps.identity;
            let same = of["name"] == id.name.as_str()
                && of["backend"] == id.backend.name()
                && of["driver_info"] == id.driver_info.as_str();
            if same {
                met.push(name);
                let lies = differences(&caps, &passport);
                wrong.extend(lies.iter().map(|lie| format!("{name} and {file}: {lie}")));
            }
        }
    }
    let all = ["lavapipe", "llvmpipe_gl", "nvidia_vulkan", "swiftshader"];
    assert_eq!(met, all, "fixtures that have a passport");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let mut caps = fixtures::lavapipe().without(Feature::ShaderF16);
    caps.limits.groups_max = 7;
    let text =
        &passports().into_iter().find(|(name, _)| name == "lavapipe").expect("it is there").1;
    let lies = differences(&caps, &serde_json::from_str(text).expect("it is JSON"));
    let want =
        ["shader-f16: false, the passport has true", "groups_max: 7, the passport has 65535"];
    assert_eq!(lies, want, "two lies are found");
}

/// A passport of few rows, in the folder of this test.
fn small(name: &str) -> (String, Map<String, Value>) {
    let path = format!("{}/tests/cli/passport_{name}.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).expect("it is committed");
    (path, serde_json::from_str(&text).expect("it is JSON"))
}

#[test]
fn what_differs_comes_first_with_both_values() {
    let ((one, _), (other, _)) = (small("one"), small("other"));
    let (code, text) = wharf(&["doctor", "--compare", &one, &other]);
    golden("passports_compared", &text);
    assert_eq!(code, 1, "{text}");
    let (code, text) = wharf(&["doctor", "--compare", &one, &one]);
    assert!(code == 0 && text.contains("\n0 differences; the same: "), "{code}: {text}");
}

/// Makes a passport worse; the text that is said of it.
type Spoil = fn(&mut Map<String, Value>);

const SPOILT: [(Spoil, &str); 13] = [
    (
        |it| it["limits"]["groups_max"] = json!(65_536),
        "it says that its hash is 6d090f09a0778556, and it is ",
    ),
    (|it| it["hash"] = json!("0"), "it says that its hash is 0, and it is 6d090f09a0778556"),
    (|it| it["schema"] = json!(2), "its schema is version 2, this program knows 1"),
    (|it| drop(it.remove("schema")), "it has no `schema`, and is no passport"),
    (|it| drop(it.remove("limits")), "limits is missing"),
    (
        |it| it["limits"] = json!({"groups_max": -1}),
        "limits.\"groups_max\" is -1, and should be a whole number",
    ),
    (|it| it["carriage"] = json!("none"), "carriage is \"none\", and should be a list of rows"),
    (|it| it["carriage"][0]["how"] = json!(null), "carriage[0].how is null, and should be text"),
    (|it| it["host"]["owner"] = json!("me"), "host.\"owner\" is not in the schema"),
    (
        |it| {
            let row = it["quirks"][0].clone();
            it["quirks"] = json!([row, row]);
        },
        "quirks has two rows \"a * b + c\"",
    ),
    (
        |it| it["wharf"] = json!("\u{1b}[31m".repeat(60_000)),
        "it has at least 200001 bytes, a passport at most 200000",
    ),
    (|it| it["tuned"] = json!({"why": "no"}), "tuned is an object, and should be a list of rows"),
    (|it| it["tuned"] = json!({"absent": 3}), "tuned is an object, and should be a list of rows"),
];

#[test]
fn what_is_no_passport_is_refused_with_the_remedy() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (one, passport) = small("one");
    let said_of = |text: &str| {
        let path = folder.join("passport-spoilt.json");
        std::fs::write(&path, text).expect("written");
        wharf(&["doctor", "--compare", &one, "passport-spoilt.json"])
    };
    let mut texts: Vec<(String, &str)> = Vec::new();
    for (spoil, text) in SPOILT {
        let mut spoilt = passport.clone();
        spoil(&mut spoilt);
        texts.push((Value::Object(spoilt).to_string(), text));
    }
    texts.push(("[".repeat(100_000), "it is no JSON: recursion limit exceeded"));
    texts.push(("[1, 2]".into(), "it has no `schema`, and is no passport"));
    texts.push((String::new(), "it is no JSON: EOF while parsing"));
    for (text, want) in texts {
        let (code, said) = said_of(&text);
        let flat = said.split_whitespace().collect::<Vec<_>>().join(" ");
        let begin = format!("error passport-spoilt.json: {want}");
        assert!(flat.starts_with(&begin) && flat.contains(" help "), "{want}: {said}");
        assert_eq!(code, 65, "{said}");
    }
    // Blanks and the order of names are no part of what is hashed.
    let (code, said) = said_of(&Value::Object(passport).to_string());
    assert_eq!(code, 0, "{said}");
    let (code, said) = wharf(&["doctor", "--compare", &one, "no such file"]);
    assert!(code == 66 && said.contains("no such file: "), "{code}: {said}");
    let (code, said) = wharf(&["doctor", "--atlas", "no such folder"]);
    assert!(code == 66 && said.contains("no such folder: "), "{code}: {said}");
    let rows: [(&[&str], &str); 4] = [
        (&["--compare", &one], "--compare needs a value"),
        (&["--passport"], "--passport needs a value"),
        (&["--on", "browser", "--passport", "x"], "--on and --passport do not go together"),
        (&["--adapter", "0", "--atlas", "x"], "--adapter and --atlas do not go together"),
    ];
    for (arguments, text) in rows {
        let (code, said) = wharf(&[&["doctor"], arguments].concat());
        assert!(code == 64 && said.contains(text), "{arguments:?}: {said}");
    }
}

#[test]
fn the_committed_page_is_that_of_the_committed_passports() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("atlas");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    for (name, text) in passports() {
        std::fs::write(folder.join(format!("{name}.json")), text).expect("written");
    }
    let (code, said) = wharf(&["doctor", "--atlas", "atlas"]);
    assert_eq!(code, 0, "{said}");
    let page = std::fs::read_to_string(folder.join("index.html")).expect("it was written");
    let committed = std::fs::read_to_string(format!("{ATLAS}/index.html")).unwrap_or_default();
    assert!(page == committed, "wharf doctor --atlas docs/atlas");
    for (name, _) in passports() {
        assert!(page.contains(&format!(">{name}</th>")), "no {name}");
    }
    // What a passport says is shown, never obeyed.
    let hostile = "<script>alert(\"1 & 2\")</script>\u{1b}";
    let (_, mut passport) = small("one");
    passport["adapter"]["name"] = json!(hostile);
    passport["carriage"][0]["name"] = json!(hostile);
    let path = folder.join("hostile.json");
    let write = |passport: &Map<String, Value>| {
        std::fs::write(&path, Value::Object(passport.clone()).to_string()).expect("written");
        wharf(&["doctor", "--atlas", "atlas"])
    };
    let (_, said) = write(&passport);
    let flat = said.split_whitespace().collect::<Vec<_>>().join(" ");
    let hash = flat.split("and it is ").nth(1).and_then(|rest| rest.get(..16)).expect("a hash");
    passport["hash"] = json!(hash);
    let (code, said) = write(&passport);
    assert_eq!(code, 0, "{said}");
    let page = std::fs::read_to_string(folder.join("index.html")).expect("it was written");
    let want = "&lt;script&gt;alert(&quot;1 &amp; 2&quot;)&lt;/script&gt;?";
    assert_eq!((page.matches("<script").count(), page.matches(want).count()), (0, 2), "{page}");
}

/// What cannot be written is told so, and leaves what is there; what was there is replaced whole.
#[test]
fn a_page_that_cannot_be_written_is_told_so() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("unwritten");
    let _ = std::fs::remove_dir_all(&folder);
    let page = folder.join("index.html");
    std::fs::create_dir_all(&page).expect("a folder in its place");
    std::fs::copy(small("one").0, folder.join("one.json")).expect("copied");
    let (code, said) = wharf(&["doctor", "--atlas", "unwritten"]);
    assert!(said.contains("index.html: ") && said.contains("look at the space"), "{said}");
    assert_eq!(code, 2, "{said}");
    std::fs::remove_dir(&page).expect("it is empty");
    std::fs::write(&page, "an old page").expect("written");
    let (code, said) = wharf(&["doctor", "--atlas", "unwritten"]);
    let text = std::fs::read_to_string(&page).expect("it is there");
    assert!(code == 0 && text.starts_with("<!doctype html>"), "{code}: {said}");
    let there = std::fs::read_dir(&folder).expect("a folder").count();
    assert_eq!(there, 2, "nothing is left beside it");
}

/// On the adapter there is: without one this fails, unless `WHARF_TEST_NO_GPU=1` says so aloud.
#[test]
fn a_passport_is_made_whole_and_right() {
    if without_gpu() {
        return;
    }
    let (code, text) = wharf(&["doctor", "--passport", "passport-made.json"]);
    assert_eq!(code, 0, "{text}");
    let (code, text) = wharf(&["doctor", "--compare", "passport-made.json", "passport-made.json"]);
    assert!(code == 0 && text.contains("\n0 differences; the same: "), "{code}: {text}");
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("passport-made.json");
    let text = std::fs::read_to_string(path).expect("it was written");
    let passport: Value = serde_json::from_str(&text).expect("it is JSON");
    for (part, least) in
        [("carriage", 15), ("crossings", 16), ("cases", 80), ("accuracy", 60), ("quirks", 9)]
    {
        let rows = passport[part].as_array().map_or(0, Vec::len);
        assert!(rows >= least, "{rows} {part}");
    }
    for row in passport["ceilings"].as_array().expect("rows") {
        let timed = row["micros"].as_f64() > Some(0.0) && row["said"].is_null();
        assert!(timed || row["said"] == "not here", "{row}");
    }
    for row in passport["tuned"].as_array().expect("rows") {
        assert!(row["kernel"].is_string() && row["rate"].as_f64() > Some(0.0), "{row}");
    }
}
