//! Errors of operations as a table: each names what was called and what is wrong with it, and what
//! its help says can be done.

use wharf::tensor::{Attention, Conv, Pad, Pooling};
use wharf::{DType, ErrorKind, Result, Tensor, half};

use super::support::capable;

/// What is refused, the words of it, and what becomes of it as the help says.
pub(super) struct Row {
    pub(super) refused: Result<Tensor>,
    pub(super) text: &'static str,
    pub(super) help: &'static str,
    pub(super) mended: Result<Tensor>,
}

pub(super) const CAST: &str = "compute in another dtype and cast: `cast(dtype)`";
pub(super) const NUMBER: &str = "take a dtype that has it; a tensor becomes one by `cast(dtype)`";
const FLOAT: &str =
    "write an integer, or take a float dtype; a tensor becomes one by `cast(dtype)`";
const NO_CAP: &str = "leave `softcap` out for none";
pub(super) const BROADCAST: &str =
    "of two dimensions that differ one must be 1; `unsqueeze` adds an axis of length 1";

pub(super) fn check(rows: impl IntoIterator<Item = Row>) {
    for Row { refused, text, help, mended } in rows {
        let error = refused.err().unwrap_or_else(|| panic!("{text}: it was done"));
        assert_eq!(error.to_string(), text);
        assert_eq!(error.help().as_deref(), Some(help), "the help for: {text}");
        assert!(mended.is_ok(), "{text}\n{help}: {mended:?}");
    }
}

#[test]
fn rows_and_scans_name_themselves() {
    let device = capable();
    let ones = |shape: &[usize], dtype| device.ones(shape, dtype).unwrap();
    let i32 = ones(&[2, 3], DType::I32);
    let f32 = |x: &Tensor| x.cast(DType::F32);
    let truth = ones(&[2, 3], DType::Bool);
    check([
        Row {
            refused: truth.softmax(1),
            text: "softmax: bool, not a float",
            help: CAST,
            mended: f32(&truth).and_then(|x| x.softmax(1)),
        },
        Row {
            refused: i32.log_softmax(1),
            text: "log_softmax: i32, not a float",
            help: CAST,
            mended: f32(&i32).and_then(|x| x.log_softmax(1)?.cast(DType::I32)),
        },
        Row {
            refused: i32.layer_norm(1, None, None, 0.0),
            text: "layer_norm: i32, not a float",
            help: CAST,
            mended: f32(&i32).and_then(|x| x.layer_norm(1, None, None, 0.0)),
        },
        Row {
            refused: f32(&i32)
                .and_then(|x| x.layer_norm(1, None, Some(&ones(&[2], DType::F32)), 0.0)),
            text: "layer_norm: a bias of [2] for the [3] of [2, 3] that are normed",
            help: "it has the lengths of the axes that are normed, in their order: `[3]`",
            mended: f32(&i32)
                .and_then(|x| x.layer_norm(1, None, Some(&ones(&[3], DType::F32)), 0.0)),
        },
        Row {
            refused: f32(&i32).and_then(|x| x.rms_norm(.., Some(&i32), 0.0)),
            text: "rms_norm: weight: input and it: dtypes differ: left f32, right i32",
            help: "cast one of them: `cast(dtype)`",
            mended: f32(&i32).and_then(|x| x.rms_norm(.., Some(&f32(&i32)?), 0.0)),
        },
        Row {
            refused: i32.layer_norm_with_stats(1, None, None, 0.0).map(|(y, ..)| y),
            text: "layer_norm_with_stats: layer_norm: i32, not a float",
            help: CAST,
            mended: f32(&i32).and_then(|x| Ok(x.layer_norm_with_stats(1, None, None, 0.0)?.0)),
        },
        Row {
            refused: truth.rms_norm_with_stats(1, None, 0.0).map(|(y, _)| y),
            text: "rms_norm_with_stats: rms_norm: bool, not a float",
            help: CAST,
            mended: f32(&truth).and_then(|x| Ok(x.rms_norm_with_stats(1, None, 0.0)?.0)),
        },
        Row {
            refused: truth.cummax(1),
            text: "cummax does not exist for bool",
            help: "cummax takes f32, f16, bf16, f64, i8, u8, i16, u16, i32, u32, i64, u64: cast to \
                   one of them",
            mended: truth.cast(DType::U8).and_then(|x| x.cummax(1)),
        },
    ]);
}

/// Also for keys that nobody sees.
#[test]
fn a_mask_is_for_all_keys() {
    let device = capable();
    let q = device.ones([2, 3, 4], DType::F32).unwrap();
    let mask = device.ones([2, 5], DType::Bool).unwrap();
    let first_aligned = |mask: &Tensor| {
        let how = Attention::new().causal().first_aligned().masked(mask);
        q.slice(1, ..2)?.attention(&q, &q, &how)
    };
    check([Row {
        refused: first_aligned(&mask.slice(1, ..2).unwrap()),
        text: "attention: mask: [2, 2] does not broadcast to [2, 2, 3]",
        help: BROADCAST,
        mended: mask.slice(1, ..3).and_then(|mask| first_aligned(&mask)),
    }]);
}

#[test]
fn attention_names_what_is_wrong() {
    let device = capable();
    let ones = |shape: &[usize], dtype| device.ones(shape, dtype).unwrap();
    let [q, wide, whole] = [DType::F32, DType::F64, DType::I32].map(|t| ones(&[2, 3, 4], t));
    let (half, row) = (ones(&[2, 3, 4], DType::F16), ones(&[4], DType::F32));
    let (plain, mask) = (Attention::new(), ones(&[2, 5], DType::Bool));
    let counts = ones(&[3, 3], DType::I64);
    let masked = |mask: &Tensor| q.attention(&q, &q, &Attention::new().masked(mask));
    let capped = |cap| q.attention(&q, &q, &Attention::new().softcap(cap));
    let mended = |x: &Tensor| x.cast(DType::F32).and_then(|x| q.attention(&x, &x, &plain));
    check([
        Row {
            refused: wide.attention(&q, &q, &plain),
            text: "attention: queries: f64, not f32, f16 or bf16",
            help: CAST,
            mended: mended(&wide),
        },
        Row {
            refused: wide.attention_with_weights(&q, &q, &plain).map(|(y, _)| y),
            text: "attention_with_weights: queries: f64, not f32, f16 or bf16",
            help: CAST,
            mended: mended(&wide),
        },
        Row {
            refused: q.attention(&whole, &q, &plain),
            text: "attention: keys: i32, not f32, f16 or bf16",
            help: CAST,
            mended: mended(&whole),
        },
        Row {
            refused: q.attention(&q, &half, &plain),
            text: "attention: queries and values: dtypes differ: left f32, right f16",
            help: "cast one of them: `cast(dtype)`",
            mended: mended(&half),
        },
        Row {
            refused: masked(&counts),
            text: "attention: mask: i64, not bool or a float",
            help: CAST,
            mended: counts.cast(DType::Bool).and_then(|mask| masked(&mask)),
        },
        Row {
            refused: masked(&mask),
            text: "attention: mask: [2, 5] does not broadcast to [2, 3, 3]",
            help: BROADCAST,
            mended: mask.slice(1, 0..3).and_then(|mask| masked(&mask.unsqueeze(1)?)),
        },
        Row {
            refused: capped(0.0),
            text: "attention: a cap of 0.0 for scores, not finite and above 0",
            help: NO_CAP,
            mended: q.attention(&q, &q, &plain),
        },
        Row {
            refused: capped(f32::INFINITY),
            text: "attention: a cap of inf for scores, not finite and above 0",
            help: NO_CAP,
            mended: capped(30.0),
        },
        Row {
            refused: capped(f32::NAN),
            text: "attention: a cap of NaN for scores, not finite and above 0",
            help: NO_CAP,
            mended: capped(f32::MIN_POSITIVE),
        },
    ]);
    let error = q.attention(&q, &row, &plain).unwrap_err().to_string();
    assert_eq!(error, "attention: values: [4] has rank 1, not 2 or more");
}

#[test]
fn convolutions_name_what_does_not_fit() {
    let device = capable();
    let ones = |shape: &[usize]| device.ones(shape, DType::F32).unwrap();
    let (x, w, bias) = (ones(&[1, 4, 5, 6]), ones(&[6, 4, 3, 3]), ones(&[6]));
    let (half, small) = (ones(&[6, 2, 3, 3]), ones(&[1, 4, 5, 2]));
    let plain = Conv::new();
    let conv = |how: &Conv<2>| x.conv2d(&w, None, how);
    let truth = ones(&[1, 4, 5, 6]).cast(DType::Bool).unwrap();
    let whole = w.cast(DType::I32).unwrap();
    let zero = |what: &str| format!("conv2d: {what} 0 on axis 3, not 1 or more");
    check([
        Row {
            refused: x.conv2d(&whole, None, &plain),
            text: "conv2d: input and weight: dtypes differ: left f32, right i32",
            help: "cast one of them: `cast(dtype)`",
            mended: whole.cast(DType::F32).and_then(|w| x.conv2d(&w, None, &plain)),
        },
        Row {
            refused: truth.conv2d(&truth, None, &plain),
            text: "conv2d: input: bool, not a number",
            help: CAST,
            mended: truth.cast(DType::U8).and_then(|x| x.conv2d(&x, None, &plain)),
        },
        Row {
            refused: conv(&plain.groups(3)),
            text: "conv2d: 4 channels are no 3 equal groups",
            help: "both the channels and the rows of the weight are divided by `groups`",
            mended: x.conv2d(&half, None, &plain.groups(2)),
        },
        Row {
            refused: x.conv2d(&half, None, &plain),
            text: "conv2d: 4 channels in 1 groups have 4 each, a weight of [6, 2, 3, 3] takes 2",
            help: "a weight is `[out, channels / groups, ..]`, and its groups are those of \
                   `Conv::groups`",
            mended: x.conv2d(&half, None, &plain.groups(2)),
        },
        Row {
            refused: small.conv2d(&w, None, &plain.dilation([1, 3])),
            text: "conv2d: 3 taps cover 7 elements of axis 3, which has 2 with its padding, and 2 \
                   without",
            help: "pad it on both sides by 3 at least: `Conv::padding`",
            mended: small.conv2d(&w, None, &plain.dilation([1, 3]).padding([0, 3])),
        },
        Row {
            refused: x.conv2d(&w, Some(&ones(&[4])), &plain),
            text: "conv2d: a bias of [4] for 6 channels of the result",
            help: "one number for each: `[6]`",
            mended: x.conv2d(&w, Some(&bias), &plain),
        },
    ]);
    for (what, how) in [("stride", plain.stride([1, 0])), ("dilation", plain.dilation([1, 0]))] {
        assert_eq!(conv(&how).unwrap_err().to_string(), zero(what));
    }
    let none = x.conv2d(&ones(&[6, 4, 3, 0]), None, &plain).unwrap_err();
    let text = "conv2d: a weight of [6, 4, 3, 0] has no elements along axis 3, not 1 or more";
    assert_eq!(none.to_string(), text);
    let flat = x.squeeze(0).and_then(|x| x.conv2d(&w, None, &plain)).unwrap_err();
    assert_eq!(flat.to_string(), "conv2d: [4, 5, 6] has rank 3, not 4");
    let far = conv(&plain.padding([usize::MAX, 0])).unwrap_err();
    assert!(far.to_string().ends_with("with its padding, above 2147483647"), "{far}");
    let long = ones(&[1, 1, 1, 1]).broadcast_to([1, 70_000, 2, 2]).unwrap();
    let terms = long.conv2d(&long, None, &plain).unwrap_err().to_string();
    assert!(terms.starts_with("conv2d: a sum of 280000 terms loops 28"), "{terms}");
}

#[test]
fn pools_name_what_does_not_fit() {
    let device = capable();
    let x = device.ones([2, 5], DType::F32).unwrap();
    let whole = x.cast(DType::I32).unwrap();
    let truth = x.ne(0.0).unwrap();
    let long = x.slice(1, ..1).unwrap().broadcast_to([2, 2_000_000_000]).unwrap();
    let padded = Pooling::new([2]).padding([1]).padding_uncounted();
    let pair =
        |x: &Tensor, how: &Pooling<1>| x.max_pool_with_indices(how).map(|(_, places)| places);
    check([
        Row {
            refused: x.max_pool(&Pooling::new([2, 2, 2])),
            text: "max_pool: windows over the last 3 axes of [2, 5], which has 2",
            help: "`unsqueeze` adds an axis of length 1",
            mended: x.unsqueeze(0).and_then(|x| x.max_pool(&Pooling::new([1, 2, 2]))),
        },
        Row {
            refused: x.max_pool(&Pooling::new([3]).padding([2])),
            text: "max_pool: padding of 2 beside windows of 3 on axis 1: more than half of one",
            help: "a window of nothing but padding has no value; `pad` adds elements that have one",
            mended: x
                .pad(&[(0, 0), (2, 2)], Pad::Constant(0.0.into()))
                .and_then(|x| x.max_pool(&Pooling::new([3]))),
        },
        Row {
            refused: pair(&x, &Pooling::new([3]).padding([2])),
            text: "max_pool_with_indices: padding of 2 beside windows of 3 on axis 1: more than \
                   half of one",
            help: "a window of nothing but padding has no value; `pad` adds elements that have one",
            mended: pair(&x, &Pooling::new([3]).padding([1])),
        },
        Row {
            refused: pair(&truth, &Pooling::new([2])),
            text: "max_pool_with_indices: amax does not exist for bool",
            help: "amax takes f32, f16, bf16, f64, i8, u8, i16, u16, i32, u32, i64, u64: cast to \
                   one of them",
            mended: truth.cast(DType::U8).and_then(|x| pair(&x, &Pooling::new([2]))),
        },
        Row {
            refused: pair(&long, &Pooling::new([2])),
            text: "max_pool_with_indices: the last 1 axes of [2, 2000000000] have 2000000000 \
                   elements, above 1073741823 whose places are counted",
            help: "pool parts of it, or leave the places out: `max_pool`",
            mended: long.slice(1, ..9).and_then(|x| pair(&x, &Pooling::new([2]))),
        },
        Row {
            refused: whole.avg_pool(&Pooling::new([2])),
            text: "avg_pool: mean does not exist for i32",
            help: "mean takes f32, f16, bf16, f64: cast to one of them",
            mended: whole.cast(DType::F32).and_then(|x| x.avg_pool(&Pooling::new([2]))),
        },
        Row {
            refused: whole.avg_pool(&padded),
            text: "avg_pool: mean does not exist for i32",
            help: "mean takes f32, f16, bf16, f64: cast to one of them",
            mended: whole.cast(DType::F32).and_then(|x| x.avg_pool(&padded)),
        },
    ]);
    let window = "max_pool: windows of 4 with step 2 do not exist on axis 1 of length 3";
    let short = x.slice(1, 0..3).unwrap().max_pool(&Pooling::new([4]).stride([2])).unwrap_err();
    assert_eq!(short.to_string(), window);
    for how in [Pooling::new([0]), Pooling::new([2]).stride([0]), Pooling::new([2]).dilation([0])] {
        let error = x.max_pool(&how).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Argument, "{error}");
        assert!(error.to_string().ends_with(" on axis 1"), "{error}");
    }
}

#[test]
fn operations_of_elements_name_the_method() {
    let device = capable();
    let ones = |shape: &[usize], dtype| device.ones(shape, dtype).unwrap();
    let [x, whole, truth] = [DType::F32, DType::I32, DType::Bool].map(|t| ones(&[2], t));
    let (long, three) = (ones(&[2], DType::I64), ones(&[3], DType::F32));
    let float = |x: &Tensor| x.cast(DType::F32);
    check([
        Row {
            refused: x.choose(&x, 0.0),
            text: "choose: the condition is f32, not bool",
            help: "compare first, or cast to bool",
            mended: x.cast(DType::Bool).and_then(|yes| yes.choose(&x, 0.0)),
        },
        Row {
            refused: truth.choose(&x, &whole),
            text: "choose: dtypes differ: f32 and i32",
            help: "cast one of them: `.cast(DType::F32)` or `.cast(DType::I32)`",
            mended: float(&whole).and_then(|no| truth.choose(&x, no)),
        },
        Row {
            refused: truth.choose(&x, &three),
            text: "choose: [2] and [3] do not broadcast: 2 against 3 on axis 0",
            help: BROADCAST,
            mended: three.unsqueeze(1).and_then(|no| truth.choose(&x, no)),
        },
        Row {
            refused: x.pow(&whole),
            text: "pow: dtypes differ: f32 and i32",
            help: "cast one of them: `.cast(DType::F32)`",
            mended: float(&whole).and_then(|y| x.pow(y)),
        },
        Row {
            refused: long.pow(&whole),
            text: "pow: dtypes differ: i64 and i32",
            help: "pow takes f32, f16, bf16, f64: cast both",
            mended: float(&whole).and_then(|y| float(&long)?.pow(y)),
        },
        Row {
            refused: truth.matmul(&whole),
            text: "matmul: dtypes differ: left bool, right i32",
            help: "cast one side, such as the left one to i32: `cast`",
            mended: truth.cast(DType::I32).and_then(|truth| truth.matmul(&whole)),
        },
        Row {
            refused: ones(&[2], DType::I8).matmul(&truth),
            text: "matmul: dtypes differ: left i8, right bool",
            help: "cast one side, such as the right one to i8: `cast`",
            mended: truth.cast(DType::I8).and_then(|truth| truth.matmul(&truth)),
        },
    ]);
}

#[test]
fn operators_and_numbers_beside_them_say_what_they_take() {
    let device = capable();
    let ones = |dtype| device.ones([2], dtype).unwrap();
    let [x, whole, long] = [DType::F32, DType::I32, DType::I64].map(ones);
    let float = |x: &Tensor| x.cast(DType::F32);
    check([
        Row {
            refused: &x & &whole,
            text: "and: dtypes differ: f32 and i32",
            help: "and takes bool; bit_and i8, u8, i16, u16, i32, u32, i64, u64: cast both",
            mended: whole.cast(DType::Bool).and_then(|y| x.cast(DType::Bool)? & y),
        },
        Row {
            refused: &x | 1,
            text: "or does not exist for f32",
            help: "or takes bool; bit_or i8, u8, i16, u16, i32, u32, i64, u64: cast to one of them",
            mended: x.cast(DType::Bool).and_then(|x| x | true),
        },
        Row {
            refused: long.rem(&whole),
            text: "rem: dtypes differ: i64 and i32",
            help: "cast one of them: `.cast(DType::I64)` or `.cast(DType::I32)`",
            mended: whole.cast(DType::I64).and_then(|y| &long % y),
        },
        Row {
            refused: &whole * 2.0,
            text: "mul: scalar 2.0 is a float, i32 an integer",
            help: FLOAT,
            mended: float(&whole).and_then(|x| x * 2.0),
        },
        Row {
            refused: whole.maximum(half::f16::ONE),
            text: "maximum: scalar 1.0 is a float, i32 an integer",
            help: FLOAT,
            mended: whole.maximum(1usize),
        },
        Row {
            refused: -1isize + &ones(DType::U8),
            text: "add: scalar -1 is not a value of u8",
            help: NUMBER,
            mended: ones(DType::U8) - 1usize,
        },
    ]);
}

#[test]
fn ranges_name_themselves() {
    let device = capable();
    let ones = |shape: &[usize], dtype| device.ones(shape, dtype).unwrap();
    let bytes = ones(&[2, 3], DType::U8);
    check([
        Row {
            refused: bytes.flatten(1..1),
            text: "flatten: axes 1..1 of [2, 3] are none to join",
            help: "`unsqueeze` adds an axis of length 1",
            mended: bytes.unsqueeze(1),
        },
        Row {
            refused: bytes.slice(1, 1..4),
            text: "range 1..4 is outside axis 1 of length 3",
            help: "the axis has `0..3`, of which this is `1..3`",
            mended: bytes.slice(1, 1..3),
        },
        Row {
            refused: bytes.slice(1, 7..9),
            text: "range 7..9 is outside axis 1 of length 3",
            help: "the axis has `0..3`, of which this is `3..3`",
            mended: bytes.slice(1, 3..3),
        },
    ]);
}

#[test]
fn what_takes_a_number_names_itself() {
    let device = capable();
    let ones = |shape: &[usize], dtype| device.ones(shape, dtype).unwrap();
    let mut bytes = ones(&[2, 3], DType::U8);
    let pad = |x: &Tensor| x.pad(&[(1, 0), (0, 0)], Pad::Constant(300.into()));
    let (tokens, mask) = (ones(&[2], DType::F32), ones(&[2], DType::Bool));
    check([
        Row {
            refused: pad(&bytes),
            text: "pad: scalar 300 is not a value of u8",
            help: NUMBER,
            mended: bytes.cast(DType::I32).and_then(|x| pad(&x)),
        },
        Row {
            refused: bytes.assign(300).map(|()| bytes.clone()),
            text: "assign: scalar 300 is not a value of u8",
            help: NUMBER,
            mended: bytes.cast(DType::I32).and_then(|mut x| x.assign(300).map(|()| x)),
        },
        Row {
            refused: device.arange(0, 4, 1.5, DType::I32),
            text: "arange: scalar 1.5 is a float, i32 an integer",
            help: FLOAT,
            mended: device.arange(0, 4, 1.5, DType::F32),
        },
        Row {
            refused: device.arange(0, 1i64 << 40, 1, DType::I32),
            text: "arange: an indexed tensor needs 1099511627776 elements, the reach of an index \
                   is 4294967292",
            help: "split the tensor",
            mended: device.arange(0, 1 << 20, 1, DType::I32),
        },
        Row {
            refused: device.arange(i32::MIN, 1, 1, DType::I32),
            text: "arange: scalar 2147483648 is not a value of i32",
            help: NUMBER,
            mended: device.arange(i32::MIN, 1, 1, DType::I64),
        },
        Row {
            refused: device.arange(0, 4, 0, DType::I32),
            text: "arange: steps of 0 never lead from 0 to 4",
            help: "start, end and step are finite, and the step is not 0",
            mended: device.arange(0, 4, 1, DType::I32),
        },
        Row {
            refused: mask.choose_as(256, 0, DType::U8),
            text: "choose_as: scalar 256 is not a value of u8",
            help: NUMBER,
            mended: mask.choose_as(255, 0, DType::U8),
        },
        Row {
            refused: bytes.embedding(&tokens),
            text: "embedding: f32 is no index, which is i32, u32, i64 or u64",
            help: "cast it: `cast(DType::I32)`",
            mended: tokens.cast(DType::I32).and_then(|tokens| bytes.embedding(&tokens)),
        },
    ]);
}

#[test]
fn what_is_put_together_of_others_names_itself() {
    let device = capable();
    let ones = |shape: &[usize], dtype| device.ones(shape, dtype).unwrap();
    let (x, whole) = (ones(&[2, 3], DType::F32), ones(&[2, 3], DType::I32));
    let (row, cube) = (ones(&[3], DType::F32), ones(&[2, 3, 1], DType::F32));
    let one = |parts: Vec<Tensor>| parts[0].clone();
    let parts = "`chunk` makes the last part shorter; `split` takes the sizes";
    let rank = "`reshape`, `at` and `unsqueeze` change the rank";
    check([
        Row {
            refused: x.flatten(1..4),
            text: "flatten: axes 1..4 do not exist in [2, 3] of rank 2",
            help: "the range of all of them is `0..2`",
            mended: x.flatten(0..2),
        },
        Row {
            refused: x.split_evenly(-1, 2).map(one),
            text: "split_evenly: axis -1 of length 3 has no 2 equal parts",
            help: parts,
            mended: x.chunk(-1, 2).map(one),
        },
        Row {
            refused: x.glu(1),
            text: "glu: axis 1 of length 3 has no 2 equal parts",
            help: "its length is even",
            mended: x.split(1, &[2, 1]).and_then(|parts| parts[0].glu(1)),
        },
        Row {
            refused: Tensor::meshgrid(&[&row, &x]).map(one),
            text: "meshgrid: [2, 3] has rank 2, not 1",
            help: rank,
            mended: Tensor::meshgrid(&[row.clone(), x.reshape(-1).unwrap()]).map(one),
        },
        Row {
            refused: cube.diag(0),
            text: "diag: [2, 3, 1] has rank 3, not 1 or 2",
            help: rank,
            mended: cube.at((.., .., 0)).and_then(|x| x.diag(0)),
        },
        Row {
            refused: row.trace(),
            text: "trace: [3] has rank 1, not 2",
            help: rank,
            mended: row.unsqueeze(0).and_then(|x| x.trace()),
        },
        Row {
            refused: x.pad(&[(0, 0), (4, 0)], Pad::Wrap),
            text: "pad: 4 wrapped around axis 1 of length 3",
            help: "at most as many as the axis has can come from its other end",
            mended: x.pad(&[(0, 0), (3, 3)], Pad::Wrap),
        },
        Row {
            refused: whole.selu(),
            text: "selu: input: i32, not a float",
            help: CAST,
            mended: whole.cast(DType::F32).and_then(|x| x.selu()),
        },
    ]);
    let error = x.prelu(&ones(&[2], DType::F32)).unwrap_err().to_string();
    assert_eq!(error, "prelu: weights and channels differ: left [2], right [2, 3]");
    let error = whole.allclose_now(&whole, 0.0, 0.0).unwrap_err().to_string();
    assert_eq!(error, "allclose: i32, not a float");
    let error = whole.equal_now(&x).unwrap_err().to_string();
    assert_eq!(error, "equal: dtypes differ: i32 and f32");
}

type Assign = fn(&mut Tensor, &Tensor);

/// What an assigning operator cannot return is told by what is made of the tensor, with its line.
#[test]
fn an_operator_that_assigns_leaves_its_error_in_the_tensor() {
    let device = capable();
    let x = device.ones([2, 3], DType::F32).unwrap();
    let assigns: [(Assign, &str, &[usize], &str); 4] = [
        (|x, y| *x += y, "+=", &[2, 4], "add: [2, 3] and [2, 4] do not broadcast"),
        (|x, y| *x *= y, "*=", &[5, 2, 3], "a result of [5, 2, 3] does not fit into [2, 3]"),
        (|x, y| *x &= y, "&=", &[3], "and does not exist for f32"),
        (|x, _| *x %= &u64::MAX, "%=", &[3], "scalar 18446744073709551615 is not a value of f32"),
    ];
    for (assign, sign, shape, text) in assigns {
        let y = device.ones(shape, DType::F32).unwrap();
        let (mut both, before) = (x.clone(), x.clone());
        assign(&mut both, &y);
        assert_eq!((both.shape(), both.dtype()), (x.shape(), x.dtype()), "{sign}");
        let beyond = both.t().and_then(|both| both.exp()).unwrap();
        for told in [&both, &beyond] {
            let error = told.compute().expect_err(sign).to_string();
            let line = format!("`{sign}` at {}:", file!());
            assert!(error.contains(&line) && error.contains(text), "{error}");
        }
        before.compute().unwrap();
    }
}
