//! The rules that plant mistakes in shaders: what they find in a line, and what they leave alone;
//! what is kept of a run that was stopped; and lists of mistakes, whose lines still stand.

use std::fs;
use std::io::Write;

use wharf::wgsl::mutant::Mutant;

use super::rules::mistakes;
use super::seen::rows;
use super::verdicts::{Kept, Verdict};

fn found(line: &str) -> Vec<String> {
    mistakes(line).into_iter().map(|mistake| format!("{}: {}", mistake.rule, mistake.now)).collect()
}

#[test]
fn every_rule_finds_its_mistake() {
    for (line, mistake) in [
        ("    while i < n {", "comparison:     while i <= n {"),
        ("    let y = a + b * c;", "sign:     let y = a - b * c;"),
        ("    let y = a + b * c;", "operator:     let y = a + b + c;"),
        ("    let y = a + b * c;", "term:     let y = a * c;"),
        ("    let y = a + f(b, 2u)[i].x;", "term:     let y = a;"),
        ("    let y = min(a, b);", "function:     let y = max(a, b);"),
        ("    let y = clamp(f(a, b), lo, hi);", "branch:     let y = (f(a, b));"),
        ("    let y = select(no, yes, which);", "branch:     let y = select(yes, no, which);"),
        ("    let y = v.xy + v.z;", "lane:     let y = v.xy + v.w;"),
        ("    workgroupBarrier();", "barrier:     "),
        ("    for (var i = 0u; i < n; i++) {", "number:     for (var i = 1u; i < n; i++) {"),
        ("    let y = x * 0.5f;", "number:     let y = x * 0.5005f;"),
        ("    let y = x & 0x7fu;", "number:     let y = x & 0x7eu;"),
        ("    let y = x * 1e-3;", "number:     let y = x * 0.001001;"),
        ("    total += x;", "statement: "),
        ("    if a < b {", "condition:     if true {"),
        ("} else if a < b {", "condition: } else if false {"),
    ] {
        let found = found(line);
        assert!(found.iter().any(|it| it == mistake), "{line}: no {mistake:?} in {found:#?}");
    }
}

#[test]
fn names_types_and_comments_are_left_alone() {
    for line in [
        "// a + b < c",
        "    count: u32, // a + b",
        "fn first(a: vec4<f32>) -> vec4<f32> {",
        "@group(0) @binding(1) var<storage, read> b: array<vec4<f32>>;",
        "override workgroup: u32 = 64u;",
        "struct Job {",
        "    argmin(a);",
        "}",
    ] {
        let found = found(line);
        assert!(found.is_empty(), "{line}: {found:#?}");
    }
    // What only lets a file be read by itself is in no kernel.
    assert!(found("// region alone\n    let y = a + b;\n// end alone").is_empty(), "alone");
}

#[test]
fn a_run_that_was_stopped_goes_on_where_it_was() {
    let path = std::env::temp_dir().join(format!("wharf-verdicts-{}", std::process::id()));
    let mutant = |now: &str| {
        let (was, now) = ("    if a < b {".into(), now.into());
        Mutant { path: "op/exp.wgsl".into(), line: 7, was, now }
    };
    let verdicts = [
        ("    if a <= b {", Verdict::Killed("order::f32".into()), true),
        ("    if a > b {", Verdict::Stillborn, true),
        // Other tests may notice them now.
        ("    if true {", Verdict::Survived, false),
        ("    if false {", Verdict::Missed("no case\tcame to it".into()), false),
    ];
    let first = Kept::open(Some(&path)).expect("a file of verdicts");
    verdicts.iter().for_each(|(now, verdict, _)| first.keep(&mutant(now), verdict));
    drop(first);
    // It was stopped while it wrote.
    let mut file = fs::OpenOptions::new().append(true).open(&path).expect("that file");
    write!(file, "killed order::f32\top/exp.wgsl:7\t    if a").expect("half a line");
    let second = Kept::open(Some(&path)).expect("that file");
    for (now, verdict, is_settled) in verdicts {
        let expected = is_settled.then_some(verdict);
        assert_eq!(second.settled(&mutant(now)), expected, "{now}");
    }
    let other = Mutant { line: 8, ..mutant("    if a <= b {") };
    assert_eq!(second.settled(&other), None, "the same mistake in another line");
    let none = Kept::open(None).expect("no file at all");
    assert_eq!(none.settled(&mutant("    if a <= b {")), None, "nothing is kept");
    fs::remove_file(path).expect("the file goes");
}

fn read(path: &str) -> String {
    fs::read_to_string(format!("{}/{path}", env!("CARGO_MANIFEST_DIR"))).unwrap_or_default()
}

#[test]
fn every_mistake_that_was_seen_can_be_planted() {
    let list = read("tests/mutants/seen.txt");
    let mut planted = 0;
    for row in rows(&list) {
        let (tier, test) = row.test;
        assert!(["gpu", "noop", "paper", "tidy"].contains(&tier), "{}: {tier} {test}", row.what);
        assert_ne!(row.was, row.now, "{}", row.what);
        row.place(&read(row.path)).unwrap_or_else(|message| panic!("{message}"));
        planted += 1;
    }
    assert_eq!(planted, list.lines().filter(|line| line.contains(" | ")).count(), "rows");
}

/// What somebody has judged is there to be judged: a line of a shader, or in Rust what a rule finds
/// in one, wherever it is broken; or the name of what gives a result at once.
#[test]
fn what_is_judged_still_stands() {
    let joined = |text: &str| text.split_whitespace().collect::<String>();
    let mut stale = Vec::new();
    for (list, below) in [("judged.txt", "shaders/"), ("judged_rust.txt", "")] {
        for line in read(&format!("tests/mutants/{list}")).lines() {
            let judged = line.split_once(" | ").zip(line.rsplit_once(" | "));
            let Some(((path, _), (change, _))) = judged else { continue };
            let change = &change[path.len() + 3..];
            let of_rule = change.strip_prefix('[').and_then(|text| text.split_once("] "));
            let was = match (of_rule, change.split_once(" -> ")) {
                (Some((_, was)), _) | (None, Some((was, _))) => was,
                (None, None) => change,
            };
            let text = read(&format!("{below}{path}"));
            let stands = if below.is_empty() {
                joined(&text).contains(&joined(was))
            } else {
                text.lines().any(|line| line.trim() == was)
            };
            if !stands {
                stale.push(format!("{list}: {path}: `{was}`"));
            }
        }
    }
    assert!(stale.is_empty(), "{} judged, and gone:\n{}", stale.len(), stale.join("\n"));
}
