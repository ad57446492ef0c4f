//! Kernels of the user's own, read and judged without a device.

use wharf::custom::Kernel;

use crate::texts::{HEAD, complaints};

#[test]
fn what_cannot_be_run_is_pointed_at() {
    assert_eq!(complaints(), "");
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

/// What 1 makes no valid text of, and what no number does.
#[test]
fn overrides_without_a_value_are_some_number_that_is_valid() {
    let text = |declared: &str| {
        format!(
            "override SIZE: u32;\n{HEAD}var<workgroup> part: array<f32, {declared}>;\n\
             @compute @workgroup_size(1)\nfn main() {{ part[0] = x[0]; y[0] = part[0]; }}"
        )
    };
    for declared in ["SIZE / 2", "SIZE - 1", "64 % SIZE + SIZE / 64", "SIZE / 129"] {
        let kernel = Kernel::from_wgsl("k", &text(declared)).expect(declared);
        kernel.with("SIZE", 192).expect(declared);
    }
    let error = Kernel::from_wgsl("k", &text("SIZE / 1024")).expect_err("nothing with 256 either");
    let begin = "k:4:33: array element count must be positive (> 0)";
    assert!(error.to_string().starts_with(begin), "{error}");
}

#[test]
fn names_of_arrays_are_free_where_a_function_has_its_own() {
    let text = |functions: &str| {
        format!(
            "@group(0) @binding(0) var<storage> x: array<V>;\n\
             @group(0) @binding(1) var<storage, read_write> y: array<V>;\n{functions}\n\
             @compute @workgroup_size(1) fn main() {{ store_y(0u, load_x(vec4(0u))); }}"
        )
    };
    for functions in [
        "fn both(x: bool, y: bool) -> bool { return x && y; }",
        "fn both(x: u32, y: u32) -> u32 { return x & y; }",
        "fn first(x: V) -> E { return x[0]; }",
        "fn second() -> E { let y = V(); return y[1]; }",
        "fn third() -> E { var x = V(); let p = &x; return (*p)[2]; }",
        "struct P { x: V }\nfn fourth(p: P) -> E { return p.x[3]; }",
    ] {
        let taken = Kernel::from_wgsl("k", &text(functions));
        assert!(taken.is_ok(), "{functions}: {:?}", taken.err());
    }
    for functions in [
        "fn before(y: V) -> E { return y[0]; }\nfn first() -> E { return E(y[0]); }",
        "fn length() -> u32 { return arrayLength( & y); }\nfn after(y: V) -> V { return y; }",
    ] {
        let error = Kernel::from_wgsl("k", &text(functions)).expect_err(functions).to_string();
        assert!(error.contains("y is an array of V"), "{functions}: {error}");
    }
}
