//! Kernels of the user's own that are broken on purpose: what each is refused with, word for word,
//! and where it points.

use wharf::ErrorKind;
use wharf::custom::Kernel;

/// What most of them begin with.
const HEAD: &str = "\
@group(0) @binding(0) var<storage> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
";

fn main(body: &str) -> String {
    format!("{HEAD}@compute @workgroup_size(1)\nfn main() {{{body}}}")
}

/// Beside a kernel that is right.
fn declared(lines: &str) -> String {
    format!("{lines}\n{}", main(" y[0] = x[0]; "))
}

/// Texts, and their errors: all of each, or all but the line that is shown.
fn check<const N: usize>(rows: [(String, &str); N]) {
    let mut complaints = Vec::new();
    for (text, expected) in rows {
        let error = Kernel::from_wgsl("k", &text).expect_err(expected);
        let shown = error.to_string();
        assert_eq!(error.kind(), ErrorKind::Shader, "{shown}");
        let same = shown == expected || shown.starts_with(&format!("{expected}\n  "));
        if !same {
            complaints.push(format!("expected {expected}\nfound    {shown}\n"));
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn what_is_no_wgsl_is_pointed_at() {
    check([
        (main("\n    y[0] = x[0]\n"), "k:6:1: expected `;`, found \"}\"\n  6 | }\n    | ^"),
        (
            main("\n    y[0] = x[0] + 1u;\n"),
            "k:5:12: Entry point main at Compute is invalid: Expression [6] is invalid: \
             Operation Add can't work with [4] (of type Scalar(Scalar { kind: Float, width: 4 })) \
             and [5] (of type Scalar(Scalar { kind: Uint, width: 4 }))",
        ),
        (
            main("\n    y[0] = z[0]; // not there\n"),
            "k:5:12: no definition in scope for identifier: `z`\n  \
             5 |     y[0] = z[0]; // not there\n    |            ^",
        ),
        (
            main("\n    x[0] = 1.0;\n"),
            "k:5:5: Entry point main at Compute is invalid: The pointer [1] doesn't relate to a \
             valid destination for a store",
        ),
    ]);
}

#[test]
fn bindings_that_are_no_tensors_are_pointed_at() {
    check([
        (
            declared("struct P { a: f32, b: u32 }\n@group(0) @binding(2) var<storage> p: P;"),
            "k:2:23: binding p: it is no array of numbers, quads or pairs of them, or atomics",
        ),
        (
            declared("struct P { a: f32 }\n@group(0) @binding(2) var<storage> p: array<P>;"),
            "k:2:23: binding p: it is an array, but not of numbers, quads or pairs of them, or \
             atomics",
        ),
        (
            declared("@group(0) @binding(2) var<storage> p: array<vec3<f32>>;"),
            "k:1:23: binding p: its elements are 12 bytes, 16 apart: tensors have no gaps",
        ),
        (
            declared("@group(2) @binding(5) var p: texture_2d<f32>;"),
            "k:1:23: binding p: it is neither a storage array nor a uniform",
        ),
        (
            declared(
                "@group(0) @binding(2) var<uniform> a: f32;\n\
                 @group(0) @binding(3) var<uniform> b: f32;",
            ),
            "k:2:23: binding b: it is a second uniform, one is allowed",
        ),
        (
            declared("@group(0) @binding(2) var<uniform> a: array<vec4<f32>, 65>;"),
            "k:1:23: binding a: it is 1040 bytes, 1024 fit",
        ),
        (
            "@group(0) @binding(0) var<storage> x: array<f32>;\n\
             @compute @workgroup_size(1) fn main() { _ = x[0]; }"
                .to_owned(),
            "k: it writes nothing",
        ),
    ]);
}

#[test]
fn entry_points_and_loops_that_cannot_be_run_are_refused() {
    check([
        (HEAD.to_owned(), "k: there is no compute entry point"),
        (
            main("y[0] = x[0];") + "\n@compute @workgroup_size(1)\nfn other() { y[0] = 1.0; }",
            "k: several compute entry points: main, other",
        ),
        (
            main("\n    loop { y[0] += 1.0; }\n"),
            "k:5:5: nothing ends this loop\n  5 |     loop { y[0] += 1.0; }\n    |     ^",
        ),
        (
            main("\n    for (var i = 0;;) { switch i { case 0 { break; } default {} } }\n"),
            "k:5:5: nothing ends this loop",
        ),
        (main("\n    while true { loop { break; } }\n"), "k:5:5: nothing ends this loop"),
    ]);
}

#[test]
fn loops_that_end_are_taken() {
    for body in [
        "loop { if x[0] > 1.0 { break; } }",
        "loop { if x[0] > 1.0 { return; } }",
        "loop { continuing { break if x[0] > 1.0; } }",
        "for (var i = 0; i < 3; i++) { y[0] += 1.0; }",
        "while true { switch i32(x[0]) { case 0 { return; } default {} } }",
    ] {
        let text = format!("{HEAD}@compute @workgroup_size(1) fn main() {{ {body} y[0] = x[0]; }}");
        assert!(Kernel::from_wgsl("k", &text).is_ok(), "{body}");
    }
}

#[test]
fn overrides_are_set_by_name_and_type() {
    let text = format!(
        "override SIZE: u32;\noverride SCALE = 2.5;\n{HEAD}var<workgroup> w: array<f32, SIZE>;\n\
         @compute @workgroup_size(SIZE)\nfn main() {{ w[0] = x[0]; y[0] = w[0] * SCALE; }}"
    );
    let kernel = Kernel::from_wgsl("k", &text).expect("it is right but for a value");
    let refused = |name, value: wharf::Scalar| {
        kernel.with(name, value).map(drop).expect_err("not a value for it").to_string()
    };
    assert_eq!(refused("SIZ", 1.into()), "k: there is no override \"SIZ\", SIZE, SCALE");
    assert_eq!(refused("SIZE", (-1).into()), "k: SIZE: scalar -1 is not a value of u32");
    assert_eq!(
        refused("SIZE", 0.into()),
        "k:5:30: array element count must be positive (> 0)\n  \
         5 | var<workgroup> w: array<f32, SIZE>;\n    |                              ^"
    );
    kernel.with("SIZE", 64).and_then(|kernel| kernel.with("SCALE", 0.1)).expect("both are right");
}
