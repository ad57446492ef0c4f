//! Errors whose help leads on: each remedy is taken, as in `errors_operations`.

use wharf::custom::{Formula, Kernel};
use wharf::op::Op;
use wharf::tensor::{Attention, Conv, Key, Pooling};
use wharf::{DType, ErrorKind, Tensor};

use super::errors_operations::{BROADCAST, CAST, NUMBER, Row, check};
use super::support::{capable, says};

const RANKS: &str = "`reshape`, `at` and `unsqueeze` change the rank";

#[test]
fn casts_are_offered_to_what_computes() {
    let device = capable();
    let ones = |dtype| device.ones([2], dtype).unwrap();
    let [x, half, whole] = [DType::F32, DType::F16, DType::I32].map(ones);
    let [e4, e5] = [DType::F8E4M3, DType::F8E5M2].map(|to| x.cast(to).unwrap());
    let float = |x: &Tensor| x.cast(DType::F32).unwrap();
    let (mut target, mut again) = (half.clone(), half.clone());
    check([
        Row {
            refused: whole.matmul(&x),
            text: "matmul: dtypes differ: left i32, right f32",
            help: "cast one side, such as the left one to f32: `cast`",
            mended: float(&whole).matmul(&x),
        },
        Row {
            refused: half.matmul(&e4),
            text: "matmul: dtypes differ: left f16, right f8e4m3",
            help: "cast one side, such as the right one to f16: `cast`",
            mended: e4.cast(DType::F16).and_then(|e4| half.matmul(&e4)),
        },
        Row {
            refused: e4.matmul(&e5),
            text: "matmul: dtypes differ: left f8e4m3, right f8e5m2",
            help: "cast both: `cast(DType::F32)`",
            mended: float(&e4).matmul(&float(&e5)),
        },
        Row {
            refused: half.dot(&e4),
            text: "dot: dtypes differ: f16 and f8e4m3",
            help: "cast one of them: `.cast(DType::F16)`",
            mended: e4.cast(DType::F16).and_then(|e4| half.dot(&e4)),
        },
        Row {
            refused: e4.outer(&e5),
            text: "outer: dtypes differ: f8e4m3 and f8e5m2",
            help: "cast both: `.cast(DType::F32)`",
            mended: float(&e4).outer(&float(&e5)),
        },
        Row {
            refused: target.assign(&x).map(|()| target),
            text: "assign: dtypes differ: f16 and f32",
            help: "cast the values: `.cast(DType::F16)`",
            mended: x.cast(DType::F16).and_then(|x| again.assign(&x).map(|()| again)),
        },
        Row {
            refused: whole.hard_sigmoid(),
            text: "hard_sigmoid: input: i32, not a float",
            help: CAST,
            mended: float(&whole).hard_sigmoid(),
        },
        Row {
            refused: whole.softsign(),
            text: "softsign: input: i32, not a float",
            help: CAST,
            mended: float(&whole).softsign(),
        },
    ]);
    let error = e4.equal_now(&e4).unwrap_err().to_string();
    assert_eq!(error, "equal: eq does not exist for f8e4m3");
}

#[test]
fn a_range_has_finite_ends() {
    let device = capable();
    check([
        Row {
            refused: device.linspace(0, f32::INFINITY, 3, DType::F32),
            text: "linspace: no steps are equally long from 0.0 to inf",
            help: "both ends are finite; `full` repeats one that is not",
            mended: device.linspace(0, f32::MAX, 3, DType::F32),
        },
        Row {
            refused: device.linspace(f64::NAN, 1, 1, DType::F32),
            text: "linspace: no steps are equally long from NaN to 1.0",
            help: "both ends are finite; `full` repeats one that is not",
            mended: device.linspace(0, 1, 1, DType::F32),
        },
    ]);
}

#[test]
fn makers_have_nothing_to_cast() {
    let device = capable();
    let help = "make f32, and `cast(DType::F8E4M3)`";
    let eighth = DType::F8E4M3;
    let cast = |x: wharf::Result<Tensor>| x.and_then(|x| x.cast(eighth));
    check([
        Row {
            refused: device.uniform(Key::new(1), [3], eighth),
            text: "uniform: f8e4m3 is stored and cast, not computed with",
            help,
            mended: cast(device.uniform(Key::new(1), [3], DType::F32)),
        },
        Row {
            refused: device.arange(0, 3, 1, eighth),
            text: "arange: f8e4m3 is stored and cast, not computed with",
            help,
            mended: cast(device.arange(0, 3, 1, DType::F32)),
        },
        Row {
            refused: device.linspace(0, 1, 3, eighth),
            text: "linspace: f8e4m3 is stored and cast, not computed with",
            help,
            mended: cast(device.linspace(0, 1, 3, DType::F32)),
        },
        Row {
            refused: device.arange(i64::MIN, u64::MAX, 1, DType::I64),
            text: "arange: an indexed tensor needs 18446744073709551615 elements, the reach of an \
                   index is 4294967292",
            help: "split the tensor",
            mended: device.arange(i64::MIN, 0, 1i64 << 40, DType::I64),
        },
        Row {
            refused: device.eye(1 << 33, 2, DType::F32),
            text: "eye: an indexed tensor needs 8589934592 elements, the reach of an index is \
                   4294967292",
            help: "split the tensor",
            mended: device.eye(1 << 10, 2, DType::F32),
        },
    ]);
}

#[test]
fn shapes_and_ranks_name_what_was_given() {
    let device = capable();
    let ones = |shape: &[usize]| device.ones(shape, DType::F32).unwrap();
    let (row, x, scalar) = (ones(&[3]), ones(&[2, 3]), ones(&[]));
    let letters = |letters: &str, x: &Tensor| Tensor::einsum(letters, &[x]);
    check([
        Row {
            refused: row.t(),
            text: "[3] has rank 1, not 2 or more",
            help: RANKS,
            mended: row.unsqueeze(0).and_then(|row| row.t()),
        },
        Row {
            refused: row.tril(0),
            text: "tril: [3] has rank 1, not 2 or more",
            help: RANKS,
            mended: row.unsqueeze(0).and_then(|row| row.tril(0)),
        },
        Row {
            refused: letters("ii->i", &row.unsqueeze(0).unwrap()),
            text: "einsum: axes i of one operand have lengths 1 and 3",
            help: "a letter twice in one operand is its diagonal: of axes that are equally long",
            mended: row.broadcast_to([3, 3]).and_then(|x| letters("ii->i", &x)),
        },
        Row {
            refused: device.arange(-3e38, 3e38, 1e38, DType::F32),
            text: "arange: scalar 5e38 is not a value of f32",
            help: NUMBER,
            mended: device.arange(-3e38, 0, 1e38, DType::F32),
        },
        Row {
            refused: row.chunk(0, 0).map(|parts| parts[0].clone()),
            text: "chunk: axis 0 of length 3 has no 0 equal parts",
            help: "one part at least",
            mended: row.chunk(0, 1).map(|parts| parts[0].clone()),
        },
        Row {
            refused: scalar.linear(&x, None),
            text: "linear: inner dimensions differ: left [], weights [2, 3] (a scalar against 3)",
            help: "weights are [out, in]; take `weight.t()` of an [in, out]",
            mended: row.linear(&x, None),
        },
        Row {
            refused: row.linear(&x, Some(&device.ones([2], DType::I32).unwrap())),
            text: "linear: result and bias: dtypes differ: left f32, right i32",
            help: "cast one of them: `cast(dtype)`",
            mended: row.linear(&x, Some(&ones(&[2]))),
        },
        Row {
            refused: row.linear(&x, None).and_then(|y| y.apply(Op::Add, &[])),
            text: "add: operands given: 1, taken: 2",
            help: "`x.apply(f, &[..])` gives those beside x",
            mended: row.linear(&x, None).and_then(|y| y.apply(Op::Add, &[1.0.into()])),
        },
    ]);
}

#[test]
fn angles_are_told_apart() {
    let device = capable();
    let ones = |shape: &[usize]| device.ones(shape, DType::F32).unwrap();
    check([Row {
        refused: ones(&[2, 4]).rope(&ones(&[2, 2]), &ones(&[3, 2])),
        text: "rope: sin: [3, 2] does not broadcast to [2, 2]",
        help: BROADCAST,
        mended: ones(&[2, 4]).rope(&ones(&[2, 2]), &ones(&[1, 2])),
    }]);
}

#[test]
fn windows_and_places_name_what_was_given() {
    let device = capable();
    let ones = |shape: &[usize]| device.ones(shape, DType::F32).unwrap();
    let (x, weight) = (ones(&[1, 16, 4, 4]), ones(&[16, 8, 3, 3]));
    let plain = Conv::new();
    let spread = |bias: usize| x.conv_transpose2d(&weight, Some(&ones(&[bias])), &plain);
    let far = Pooling::new([1 << 20; 2]);
    let arrived = ones(&[1, 1]);
    let places = arrived.cast(DType::U32).unwrap();
    let index = device.zeros([5], DType::I32).unwrap();
    check([
        Row {
            refused: spread(16),
            text: "conv_transpose2d: a bias of [16] for 8 channels of the result",
            help: "one number for each: `[8]`",
            mended: spread(8),
        },
        Row {
            refused: arrived.max_pool_grad(&places, [1 << 20; 2], &far),
            text: "max_pool_grad: the last 2 axes of [1048576, 1048576] have 1099511627776 \
                   elements, above 1073741823 whose places are counted",
            help: "gradients of parts of it",
            mended: arrived.max_pool_grad(&places, [4; 2], &Pooling::new([4; 2])),
        },
        Row {
            refused: x.max_pool(&Pooling::new([2, 2]).dilation([1, 0])),
            text: "max_pool: windows of 2 with step 2 and dilation 0 on axis 3",
            help: "a window, a step and a dilation are 1 or more",
            mended: x.max_pool(&Pooling::new([2, 2])),
        },
        Row {
            refused: ones(&[9]).scatter(0, &index, &ones(&[3])),
            text: "scatter: index: [5] does not broadcast to [3]",
            help: BROADCAST,
            mended: ones(&[9]).scatter(0, &index, &ones(&[5])),
        },
    ]);
}

/// A kernel over arrays of these.
fn kernel(of: &str, body: &str) -> Kernel {
    let text = format!(
        "@group(0) @binding(0) var<storage> x: array<{of}>;
         @group(0) @binding(1) var<storage, read_write> out: array<{of}>;
         @compute @workgroup_size(64)
         fn main(@builtin(global_invocation_id) at: vec3<u32>) {{ {body} }}"
    );
    Kernel::from_wgsl("k", &text).unwrap()
}

#[test]
fn kernels_name_the_binding_that_is_not_there() {
    let device = capable();
    let portable = kernel("V", "store_out(at.x, load_x(4u * at.x + vec4<u32>(0u, 1u, 2u, 3u)));");
    let x = device.ones([4], DType::I32).unwrap();
    let run = |name, to| {
        let run = device.run(&portable).read("x", &x).create(name, [4], to).threads([1, 1, 1]);
        run.record::<1>().map(|_| ())
    };
    let text = "k: there is no binding \"otu\", it has x, out";
    says(
        run("otu", DType::I32),
        ErrorKind::Shader,
        text,
        "a binding is given by the name of its `var<storage>`",
    );
    let text = "k: arrays of V are given i32 and f32";
    assert_eq!(run("out", DType::F32).unwrap_err().to_string(), text);
    run("out", DType::I32).unwrap();

    let plain = kernel("f32", "out[at.x] = x[at.x];");
    let x = device.ones([4], DType::F32).unwrap();
    let made = device.run(&plain).read("x", &x).create("out", [4], DType::F16);
    let text = "k: binding out holds f32, the tensor f16";
    let made = made.threads([1, 1, 1]).record::<1>();
    says(made, ErrorKind::DType, text, "create it as `DType::F32`");
    let given = device.run(&plain).read("x", &x.cast(DType::F16).unwrap());
    let given = given.create("out", [4], DType::F32).threads([1, 1, 1]).record::<1>();
    let text = "k: binding x holds f32, the tensor f16";
    says(given, ErrorKind::DType, text, "cast it: `cast(DType::F32)`");
}

/// Other shapes would not help.
#[test]
fn numbers_out_of_range_are_arguments() {
    let (device, key) = (capable(), Key::new(1));
    let x = device.ones([1, 1, 8], DType::F32).unwrap();
    let (convs, pools) = (Conv::new(), Pooling::new([3]));
    let refused = [
        device.arange(0, 4, 0, DType::I32),
        device.linspace(0, f32::INFINITY, 3, DType::F32),
        device.bernoulli(key, [2], 1.5),
        device.integers(key, [2], 3..3, DType::I32),
        x.attention(&x, &x, &Attention::new().softcap(0.0)),
        x.quantile(2, 1.5),
        x.histogram(0, 0.0..=1.0),
        x.conv1d(&x, None, &convs.stride([0])),
        x.conv1d(&x, None, &convs.output_padding([1])),
        x.conv_transpose1d(&x, None, &convs.output_padding([1])),
        x.max_pool(&pools.padding([2])),
        x.max_pool(&pools.dilation([0])),
        x.windows(2, 3, 0),
        x.apply(&Formula::new("f(x, y)", "x * y").unwrap(), &[]),
    ];
    for (i, refused) in refused.into_iter().enumerate() {
        let error = refused.expect_err("it is out of range");
        assert_eq!(error.kind(), ErrorKind::Argument, "{i}: {error}");
    }
    let error = Formula::new("f(", "x").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Shader, "{error}");
}

#[test]
fn heads_are_counted_in_fours() {
    let device = capable();
    let long = |d, e| {
        let [q, v] = [d, e].map(|length| device.ones([3, length], DType::F32).unwrap());
        q.attention(&q, &v, &Attention::new())
    };
    check([Row {
        refused: long(257, 255),
        text: "attention: queries of 257 and values of 255, each rounded up to fours, are 516 \
               together, above 512",
        help: "compose it: `q.matmul(&k.t()?)`, `softmax`, `matmul`",
        mended: long(256, 256),
    }]);
}

/// By whatever letters: some are products of matrices, some sums of products beside each other.
#[test]
fn bools_are_not_multiplied() {
    let device = capable();
    let ones = |shape: &[usize]| device.ones(shape, DType::Bool).unwrap();
    let (list, square) = (ones(&[3]), ones(&[3, 3]));
    let of = |letters: &str, x: &Tensor| Tensor::einsum(letters, &[x, x]);
    for product in [
        of("i,i->", &list),
        of("i,i->i", &list),
        of("i,j->ij", &list),
        of("ij,jk->ik", &square),
        list.cross(0, &list),
    ] {
        let error = product.expect_err("bools are not multiplied").to_string();
        assert!(error.contains("mul does not exist for bool"), "{error}");
    }
}
