//! The rules that plant mistakes in shaders: what they find in a line, and what they leave alone.

use super::rules::mistakes;

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
