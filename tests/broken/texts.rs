//! Kernels of the user's own that are broken on purpose: what each is refused with, word for word,
//! and where it points.

use wharf::ErrorKind;
use wharf::custom::Kernel;

/// What most of them begin with.
pub(crate) const HEAD: &str = "\
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
type Rows = Vec<(String, &'static str)>;

fn no_wgsl() -> Rows {
    vec![
        (main("\n    y[0] = x[0]\n"), "k:6:1: expected `;`, found \"}\"\n  6 | }\n    | ^"),
        (
            main("\n    y[0] = x[0] + 1u;\n"),
            "k:5:12: `+` does not take f32 and u32: WGSL converts neither by itself",
        ),
        (
            main("\n    y[0] = z[0]; // not there\n"),
            "k:5:12: no definition in scope for identifier: `z`\n  \
             5 |     y[0] = z[0]; // not there\n    |            ^",
        ),
        (
            main("\n    x[0] = 1.0;\n"),
            "k:5:5: x is only read: `var<storage, read_write>` is written too",
        ),
        (main("\n    if x[0] { y[0] = 1.0; }\n"), "k:5:8: a condition is a bool, and this is none"),
        (main("\n    y[0] = x;\n"), "k:5:12: x is an array: `x[i]` is an element, `&x` all of it"),
        (main("\n    y[x[0]] = 1.0;\n"), "k:5:5: a place is an i32 or a u32"),
        (
            main("\n    y[0] = vec2(1.0);\n"),
            "k:5:5: this has another type than what is stored in it",
        ),
        (
            declared("fn f(a: f32) -> f32 { if a > 0.0 { return a; } }"),
            "k:1:1: a path through this ends without the value that it returns",
        ),
        (
            declared("fn f(a: u32) -> f32 { return a * 2; }"),
            "k:1:30: this has another type than what the function returns",
        ),
        (
            declared("fn f(a: u32) { return a * 2; }"),
            "k:1:23: this is returned, and the function names no type: `-> f32`",
        ),
        (
            declared("fn f(a: u32, b: f32) -> f32 { return f32(a + b); }"),
            "k:1:42: `+` does not take u32 and f32: WGSL converts neither by itself",
        ),
        // Where naga does not know the place, none is shown.
        (main("y[0] = f32(x[0] && true);"), "k: Incompatible operands: LogicalAnd(f32, _)"),
        (
            main("y[0] = x[0];").replace("size(1)", "size(0)"),
            "k:4:4: Workgroup size is out of range",
        ),
        (
            declared("@group(0) @binding(1) var<storage> z: array<f32>;")
                .replace("x[0]", "x[0] + z[0]"),
            "k:3:23: y has the group and the binding of another",
        ),
    ]
}

fn no_tensors() -> Rows {
    vec![
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
    ]
}

fn no_entry_and_no_end() -> Rows {
    vec![
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
    ]
}

fn arrays_of_quads() -> Rows {
    vec![
        (
            portable("", "store_y(q, load_z(e));"),
            "k:5:24: no definition in scope for identifier: `load_z`",
        ),
        (
            portable("", "store_y(q, load_y(e));"),
            "k:5:24: y is read_write, and arrays of V that are so are only written: read it by a \
             binding of its own",
        ),
        (
            portable("", "store_y(q, load_x(e)); store_x(q, V(1.0));"),
            "k:5:36: x is read, and arrays of V that are so are only read: declare it \
             `var<storage, read_write>` to write it",
        ),
        (
            portable("", "store_y(q, op_exq(load_x(e)));"),
            "k:5:24: no definition in scope for identifier: `op_exq`",
        ),
        (portable("", "store_y(q, op_add(load_x(e), V(1.0)));"), "k:5:24: `add` is written `+`"),
        (
            portable("@group(0) @binding(2) var<uniform> p: f32; ", "store_y(q, V(p));"),
            "k:3:39: binding p: beside arrays of V a uniform is a struct of yours",
        ),
        (
            portable("", "store_y(q, V(E(x[0])));"),
            "k:5:28: x is an array of V: `load_x` and `length_x` reach it",
        ),
        (
            portable("", "if arrayLength(&y) > 0 { store_y(q, load_x(e)); }"),
            "k:5:29: y is an array of V: `store_y` and `length_y` reach it",
        ),
    ]
}

/// Over two arrays of `V`; the body begins at column 13 of line 5.
fn portable(declared: &str, body: &str) -> String {
    format!(
        "@group(0) @binding(0) var<storage> x: array<V>;\n\
         @group(0) @binding(1) var<storage, read_write> y: array<V>;\n{declared}\n\
         const q = 0u; const e = vec4<u32>(); \
         @compute @workgroup_size(1)\nfn main() {{ {body} }}"
    )
}

/// What is refused with other words, or not at all.
pub(crate) fn complaints() -> String {
    let complaint = |(text, expected): (String, &str)| {
        let shown = match Kernel::from_wgsl("k", &text) {
            Ok(_) => return Some(format!("expected {expected}\nfound    nothing wrong\n")),
            Err(error) if error.kind() != ErrorKind::Shader => format!("{:?}", error.kind()),
            Err(error) => error.to_string(),
        };
        let same = shown == expected || shown.starts_with(&format!("{expected}\n  "));
        (!same).then(|| format!("expected {expected}\nfound    {shown}\n"))
    };
    let all = [no_wgsl(), no_tensors(), no_entry_and_no_end(), arrays_of_quads()];
    all.into_iter().flatten().filter_map(complaint).collect()
}
