//! Errors of operations that are made of others, as a table: see `errors_operations`.

use wharf::tensor::{Align, Attention, Conv, Insert, Interpolation, Key, Pooling, Triangle};
use wharf::{DType, Tensor};

use super::errors_operations::{BROADCAST, CAST, Row, check};
use super::support::capable;

const BINS: &str = "one bin at least, of a finite range whose lower end comes first; a bin is as \
                    wide as a normal number of f32: fewer bins, another range, or f64";
const RANKS: &str = "`reshape`, `at` and `unsqueeze` change the rank";

#[test]
fn norms_of_channels_name_what_does_not_fit() {
    let device = capable();
    let ones = |shape: &[usize]| device.ones(shape, DType::F32).unwrap();
    let (x, list, flat) = (ones(&[2, 6, 5]), ones(&[6]), ones(&[6, 1]));
    let (whole, wide) = (ones(&[6]).cast(DType::I32).unwrap(), ones(&[5]));
    check([
        Row {
            refused: x.group_norm(4, None, None, 1e-5),
            text: "group_norm: 6 channels are no 4 equal groups",
            help: "channels are axis 1; their number is divided by that of the groups",
            mended: x.group_norm(3, None, None, 1e-5),
        },
        Row {
            refused: x.instance_norm(Some(&wide), None, 1e-5),
            text: "instance_norm: a weight of [5] for the 6 channels of [2, 6, 5]",
            help: "channels are axis 1, and each has one number: `[6]`",
            mended: x.instance_norm(Some(&list), None, 1e-5),
        },
        Row {
            refused: x.batch_norm(&list, &flat, None, None, 1e-5),
            text: "batch_norm: a variance of [6, 1] for the 6 channels of [2, 6, 5]",
            help: "channels are axis 1, and each has one number: `[6]`",
            mended: flat.squeeze(1).and_then(|var| x.batch_norm(&list, &var, None, None, 1e-5)),
        },
        Row {
            refused: x.batch_norm(&whole, &list, None, None, 1e-5),
            text: "batch_norm: mean: input and it: dtypes differ: left f32, right i32",
            help: "cast one of them: `cast(dtype)`",
            mended: whole
                .cast(DType::F32)
                .and_then(|mean| x.batch_norm(&mean, &list, None, None, 1e-5)),
        },
        Row {
            refused: whole.group_norm(1, None, None, 1e-5),
            text: "group_norm: input: i32, not a float",
            help: CAST,
            mended: flat.group_norm(1, None, None, 1e-5),
        },
        Row {
            refused: list.group_norm(1, None, None, 1e-5),
            text: "group_norm: [6] has rank 1, not 2 or more",
            help: RANKS,
            mended: list.unsqueeze(0).and_then(|x| x.group_norm(1, None, None, 1e-5)),
        },
    ]);
}

#[test]
fn what_selects_names_what_does_not_fit() {
    let device = capable();
    let ones = |shape: &[usize], dtype| device.ones(shape, dtype).unwrap();
    let (x, y) = (ones(&[2, 3], DType::F32), ones(&[4], DType::F32));
    let (index, long) = (ones(&[4, 2], DType::I32), ones(&[4, 3], DType::I32));
    let (floats, truth) = (ones(&[4, 2], DType::F32), ones(&[3], DType::Bool));
    let (table, row) = (ones(&[4, 3], DType::F32), ones(&[4], DType::I32));
    check([
        Row {
            refused: x.gather_nd(&long),
            text: "gather_nd: coordinates of 3 axes for [2, 3] of rank 2",
            help: "the last axis of the index has a place of each of the first axes: 1 to 2",
            mended: long.slice(1, ..2).and_then(|index| x.gather_nd(&index)),
        },
        Row {
            refused: x.gather_nd(&floats),
            text: "gather_nd: f32 is no index, which is i32, u32, i64 or u64",
            help: "cast it: `cast(DType::I32)`",
            mended: floats.cast(DType::I32).and_then(|index| x.gather_nd(&index)),
        },
        Row {
            refused: x.scatter_nd(&index, &x),
            text: "scatter_nd: a source of [2, 3], not [4]",
            help: "it is the index without its last axis, and then [], what each place names",
            mended: x.scatter_nd(&index, &y),
        },
        Row {
            refused: x.scatter_nd(&index, &row),
            text: "scatter_nd: dtypes differ: left f32, right i32",
            help: "cast one of them: `cast(dtype)`",
            mended: row.cast(DType::F32).and_then(|row| x.scatter_nd(&index, &row)),
        },
        Row {
            refused: truth.scatter_max(0, &row.slice(0, ..3).unwrap(), &truth),
            text: "scatter_max: bool, not numbers",
            help: CAST,
            mended: truth.cast(DType::U8),
        },
        Row {
            refused: index.cross_entropy(-1, &device.zeros(4, DType::I32).unwrap()),
            text: "cross_entropy: input: i32, not a float",
            help: CAST,
            mended: index.cast(DType::F32).and_then(|scores| {
                scores.cross_entropy(-1, &scores.device().zeros(4, DType::I32)?)
            }),
        },
        Row {
            refused: x.index_add(0, &index, &table),
            text: "index_add: [4, 2] has rank 2, not 1",
            help: RANKS,
            mended: x.index_add(0, &row, &table),
        },
        Row {
            refused: x.masked_fill(&y.gt(0.0).unwrap(), 1.0),
            text: "masked_fill: choose: [4] and [2, 3] do not broadcast: 4 against 3 on axis 1",
            help: BROADCAST,
            mended: x.masked_fill(&truth, 1.0),
        },
    ]);
}

#[test]
fn what_ranks_names_what_does_not_fit() {
    let device = capable();
    let ones = |shape: &[usize], dtype| device.ones(shape, dtype).unwrap();
    let (x, whole) = (ones(&[2, 3], DType::F32), ones(&[3], DType::I32));
    let (none, key) = (ones(&[2, 0], DType::F32), Key::new(1));
    check([
        Row {
            refused: whole.searchsorted(&x, Insert::Left),
            text: "searchsorted: list and values: dtypes differ: left i32, right f32",
            help: "cast one of them: `cast(dtype)`",
            mended: whole.cast(DType::F32).and_then(|list| list.searchsorted(&x, Insert::Left)),
        },
        Row {
            refused: x.histogram(4, 1.0..=1.0),
            text: "histogram: 4 bins of 1.0 to 1.0",
            help: BINS,
            mended: x.histogram(4, 1.0..=2.0),
        },
        Row {
            refused: x.histogram(4, -3e38..=3e38),
            text: "histogram: 4 bins of -3e38 to 3e38",
            help: BINS,
            mended: x.cast(DType::F64).and_then(|x| x.histogram(4, -3e38..=3e38)),
        },
        Row {
            refused: x.histogram(usize::MAX, 0.0..=1.0),
            text: "histogram: 18446744073709551615 bins of 0.0 to 1.0",
            help: BINS,
            mended: x.histogram(1 << 10, 0.0..=1.0),
        },
        Row {
            refused: x.quantile(1, 50.0),
            text: "quantile: 50.0 is outside 0..=1",
            help: "a part of all elements: the median is 0.5",
            mended: x.quantile(1, 0.5),
        },
        Row {
            refused: none.median(1),
            text: "median: no elements in [2, 0], which has 0 along the axes",
            help: "there is no value to yield: check the length first",
            mended: none.median(0),
        },
        Row {
            refused: x.multinomial_distinct(key, 4),
            text: "multinomial_distinct: 4 draws from 3 places",
            help: "from one place at least, and from as many as are drawn: `multinomial` puts back",
            mended: x.multinomial(key, 4),
        },
        Row {
            refused: whole.median(0),
            text: "median: input: i32, not a float",
            help: CAST,
            mended: whole.cast(DType::F32).and_then(|x| x.median(0)),
        },
    ]);
}

#[test]
fn gradients_name_what_does_not_fit() {
    let device = capable();
    let ones = |shape: &[usize]| device.ones(shape, DType::F32).unwrap();
    let (x, weight, arrives) = (ones(&[2, 6, 9]), ones(&[4, 3, 3]), ones(&[2, 4, 4]));
    let (how, pool) = (Conv::new().stride([2]).groups(2), Pooling::new([3]).stride([2]));
    let (bytes, places) = (arrives.cast(DType::I8).unwrap(), arrives.cast(DType::U32).unwrap());
    let (back, back_to) = (ones(&[3, 4, 1]), Conv::new().dilation([2]));
    check([
        Row {
            refused: arrives.conv_input_grad(&weight, [11], &how),
            text: "conv_input_grad: [2, 4, 4] arrives at the result of a convolution of \
                   [2, 6, 11], which is [2, 4, 5]",
            help: "the sizes, strides and paddings are those of the convolution whose gradient \
                   it is",
            mended: arrives.conv_input_grad(&weight, [10], &how),
        },
        Row {
            refused: arrives.conv_weight_grad(&x, [4], &how),
            text: "conv_weight_grad: [2, 4, 4] arrives at the result of a convolution of \
                   [2, 6, 9], which is [2, 4, 3]",
            help: "the sizes, strides and paddings are those of the convolution whose gradient \
                   it is",
            mended: arrives.conv_weight_grad(&x, [3], &how),
        },
        Row {
            refused: bytes.conv_weight_grad(&x, [3], &how),
            text: "conv_weight_grad: what arrives and input: dtypes differ: left i8, right f32",
            help: "cast one of them: `cast(dtype)`",
            mended: arrives.conv_weight_grad(&x, [3], &how),
        },
        Row {
            refused: arrives.conv_transpose_input_grad(&back, &back_to.output_padding([2])),
            text: "conv_transpose_input_grad: output padding of 2 on axis 2, not below 2",
            help: "it is less than the stride or the dilation: more would be nobody's",
            mended: arrives.conv_transpose_input_grad(&back, &back_to.output_padding([1])),
        },
        Row {
            refused: arrives.avg_pool_grad([8], &pool),
            text: "avg_pool_grad: [2, 4, 4] arrives at windows over [8], of which there are [3]",
            help: "the windows and sizes are those of the pool whose gradient it is",
            mended: arrives.avg_pool_grad([9], &pool),
        },
        Row {
            refused: bytes.avg_pool_grad([9], &pool),
            text: "avg_pool_grad: what arrives: i8, not a float",
            help: CAST,
            mended: arrives.avg_pool_grad([9], &pool),
        },
        Row {
            refused: arrives.max_pool_grad(&places.slice(0, 1..).unwrap(), [9], &pool),
            text: "max_pool_grad: places of [1, 4, 4] for [2, 4, 4] that arrives",
            help: "each window has one place: those of `max_pool_with_indices`",
            mended: arrives.max_pool_grad(&places, [9], &pool),
        },
        Row {
            refused: arrives.max_pool_grad(&arrives, [9], &pool),
            text: "max_pool_grad: places: f32, not u32",
            help: CAST,
            mended: arrives.max_pool_grad(&places, [9], &pool),
        },
        Row {
            refused: arrives.avg_pool_grad([9], &pool.padding([2])),
            text: "avg_pool_grad: padding of 2 beside windows of 3 on axis 2: more than half of \
                   one",
            help: "a window of nothing but padding has no value; `pad` adds elements that have one",
            mended: arrives.avg_pool_grad([7], &pool.padding([1])),
        },
    ]);
}

#[test]
fn matrices_name_what_does_not_fit() {
    let device = capable();
    let ones = |shape: &[usize]| device.ones(shape, DType::F32).unwrap();
    let (x, wide, list) = (ones(&[4, 3, 3]), ones(&[3, 4]), ones(&[3]));
    let (f64, lower) = (x.cast(DType::F64).unwrap(), Triangle::lower());
    check([
        Row {
            refused: wide.cholesky(),
            text: "cholesky: [3, 4] are matrices of 3 rows and 4 columns, not square",
            help: "the last two axes are equally long",
            mended: wide.slice(1, ..3).and_then(|x| x.cholesky()),
        },
        Row {
            refused: f64.lu().map(|lu| lu.factors),
            text: "lu: matrices: f64, not f32",
            help: CAST,
            mended: f64.cast(DType::F32).and_then(|x| x.lu()).map(|lu| lu.factors),
        },
        Row {
            refused: list.det(),
            text: "det: [3] has rank 1, not 2 or more",
            help: RANKS,
            mended: ones(&[1, 1]).det(),
        },
        Row {
            refused: x.solve(&ones(&[4, 4, 3])),
            text: "solve: a right side of [4, 4, 3] for matrices of [4, 3, 3], not [.., 3, m] or \
                   [4, 3]",
            help: "it has a row for each row of a matrix; of one axis less than the matrices it is \
                   a vector for each",
            mended: x.solve(&ones(&[4, 3, 4])),
        },
        Row {
            refused: x.solve_triangular(&ones(&[3, 3]), &lower),
            text: "solve_triangular: a right side of [3, 3] for matrices of [4, 3, 3], not \
                   [.., 3, m] or [4, 3]",
            help: "of one axis less than the matrices it is a vector for each; `unsqueeze(0)` \
                   makes it a matrix that all of them take",
            mended: ones(&[3, 3]).unsqueeze(0).and_then(|b| x.solve_triangular(&b, &lower)),
        },
        Row {
            refused: x.solve(&ones(&[2, 3, 1])),
            text: "solve: batches: [4] and [2] do not broadcast: 4 against 2 on axis 0",
            help: BROADCAST,
            mended: x.solve(&ones(&[1, 3, 1])),
        },
        Row {
            refused: ones(&[1, 1]).broadcast_to([65_537, 65_537]).and_then(|x| x.det()),
            text: "det: matrices of 65537 rows, above 65536",
            help: "pivots are looked for in one column at a time; `cholesky` takes larger ones",
            mended: x.det(),
        },
    ]);
}

#[test]
fn letters_name_what_is_wrong_with_them() {
    let device = capable();
    let ones = |shape: &[usize]| device.ones(shape, DType::F32).unwrap();
    let (x, y, whole) = (ones(&[2, 3]), ones(&[3, 4]), device.ones([2, 3], DType::I32).unwrap());
    let of = |letters: &str| Tensor::einsum(letters, &[&x, &y]);
    let mended = || of("ij,jk->ik");
    check([
        Row {
            refused: of("ij->ji"),
            text: "einsum: operands given: 2, spelled: 1",
            help: "a comma stands between two operands: \"ij,jk->ik\" has two",
            mended: mended(),
        },
        Row {
            refused: of("ij,j2->i"),
            text: "einsum: '2' is no letter",
            help: "an axis is a letter from a to z or A to Z, and `...` stands for several",
            mended: mended(),
        },
        Row {
            refused: of("ij,j->i"),
            text: "einsum: axes of [3, 4]: 2, named by \"j\": 1",
            help: "one letter for each axis; `...` stands for those that are not named",
            mended: of("ij,j...->i..."),
        },
        Row {
            refused: of("ij,ik->jk"),
            text: "einsum: axes i have lengths 2 and 3",
            help: "axes of one letter are equally long, or of length 1",
            mended: mended(),
        },
        Row {
            refused: of("ij,jk->iz"),
            text: "einsum: no operand has the axis z of the result",
            help: "the result has letters of the operands: what it leaves out is summed over",
            mended: mended(),
        },
        Row {
            refused: of("ij,jk->ii"),
            text: "einsum: the result has the axis i twice",
            help: "each letter once; `eye` and a product put values on a diagonal",
            mended: mended(),
        },
        Row {
            // Not even where nothing is summed.
            refused: Tensor::einsum("i...,...j->i...j", &[&whole, &y]),
            text: "einsum: operands: dtypes differ: left i32, right f32",
            help: "cast one of them: `cast(dtype)`",
            mended: Tensor::einsum("i...,...j->i...j", &[&whole.cast(DType::F32).unwrap(), &y]),
        },
        Row {
            refused: x.dot(&y),
            text: "dot: [2, 3] has rank 2, not 1",
            help: RANKS,
            mended: x.at(0).and_then(|x| x.dot(&y.at((.., 0))?)),
        },
        Row {
            refused: x.rope(&y, &y),
            text: "rope: pairs: axis 1 of length 3 has no 2 equal parts",
            help: "its length is even",
            mended: y.rope(&x.at((.., ..2)).unwrap().at(0).unwrap(), &x.at((0, ..2)).unwrap()),
        },
    ]);
}

/// What stays as it is needs no places.
#[test]
fn an_axis_that_keeps_its_length_may_be_long() {
    let long = capable().ones([2, 100_000], DType::F32).unwrap();
    let cubic = Interpolation::Cubic(Align::Corners);
    for (x, size) in [
        (long.interpolate([3, 100_000], cubic), [3, 100_000]),
        (long.interpolate([5, 100_000], Interpolation::Nearest), [5, 100_000]),
        (long.adaptive_avg_pool([2, 50_000]), [2, 50_000]),
        (long.adaptive_avg_pool([1, 100_000]), [1, 100_000]),
        (long.t().unwrap().adaptive_avg_pool([100_000, 1]), [100_000, 1]),
    ] {
        assert_eq!(x.unwrap().shape().dims(), size);
    }
    assert!(long.interpolate([2, 100_001], cubic).is_err());
}

#[test]
fn vectors_of_other_lengths_or_dtypes_name_them() {
    let device = capable();
    let x = device.ones([2, 3], DType::F32).unwrap();
    let half = x.cast(DType::F16).unwrap();
    let first = |parts: [Tensor; 2]| parts[0].clone();
    check([
        Row {
            refused: x.cross(0, &x),
            text: "cross: 2 numbers along the axis of [2, 3], not 3",
            help: "a cross product is of three numbers each; of two, `pad` makes three",
            mended: x.pad(&[(0, 1), (0, 0)], 0).and_then(|x| x.cross(0, &x)),
        },
        Row {
            refused: half.cosine_similarity(1, &x),
            text: "cosine_similarity: dtypes differ: f16 and f32",
            help: "cast one of them: `.cast(DType::F16)` or `.cast(DType::F32)`",
            mended: half.cast(DType::F32).and_then(|half| half.cosine_similarity(1, &x)),
        },
        Row {
            refused: x.unstack(1).map(first),
            text: "unstack: axis 1 of length 3, taken apart into 2",
            help: "the array has a place for each: `let [x, y] = ..` takes a length of 2; `split` \
                   and `at` do where the length is not known",
            mended: x.at((.., ..2)).and_then(|x| x.unstack(1)).map(first),
        },
    ]);
}

/// Not as they became on the way, and what is done is said once.
#[test]
fn shapes_are_told_as_they_were_given() {
    let device = capable();
    let ones = |shape: &[usize]| device.ones(shape, DType::F32).unwrap();
    let (x, row, long) = (ones(&[2, 3]), ones(&[3]), ones(&[4]));
    let index = device.zeros(3, DType::I32).unwrap();
    check([
        Row {
            refused: Tensor::stack(&[&row, &long], 0),
            text: "stack: shapes differ: left [3], right [4]",
            help: "all have one shape; `concat` puts them together along an axis that they have",
            mended: Tensor::concat(&[&row, &long], 0),
        },
        Row {
            refused: x.cross_entropy(-1, &index),
            text: "cross_entropy: targets of [3] for [2, 3], not of [2]",
            help: "one class for each row: the shape without the axis of the classes",
            mended: x.cross_entropy(-1, &index.at(..2).unwrap()),
        },
        Row {
            refused: x.index_add(0, &index, &x),
            text: "index_add: 3 indices for the 2 parts of [2, 3] along axis 0",
            help: "one index for each part of the source",
            mended: x.index_add(0, &index.at(..2).unwrap(), &x),
        },
        Row {
            refused: x.linear(&x, Some(&row)),
            text: "linear: bias: [3] does not broadcast to [2, 2]",
            help: BROADCAST,
            mended: x.linear(&x, Some(&row.at(..2).unwrap())),
        },
        Row {
            // Neither does it become a result of more rows.
            refused: x.linear(&row.unsqueeze(0).unwrap(), Some(&long)),
            text: "linear: bias: [4] does not broadcast to [2, 1]",
            help: BROADCAST,
            mended: x.linear(&row.unsqueeze(0).unwrap(), Some(&long.at(..1).unwrap())),
        },
        Row {
            refused: row.dot(&index),
            text: "dot: dtypes differ: f32 and i32",
            help: "cast one of them: `.cast(DType::F32)` or `.cast(DType::I32)`",
            mended: row.dot(&index.cast(DType::F32).unwrap()),
        },
        Row {
            refused: x.cross(-1, &index),
            text: "cross: dtypes differ: f32 and i32",
            help: "cast one of them: `.cast(DType::F32)` or `.cast(DType::I32)`",
            mended: x.cross(-1, &index.cast(DType::F32).unwrap()),
        },
    ]);
}

#[test]
fn images_of_other_sizes_name_what_does_not_fit() {
    let device = capable();
    let ones = |shape: &[usize]| device.ones(shape, DType::F32).unwrap();
    let (x, row) = (ones(&[1, 4, 5, 6]), ones(&[7]));
    let bilinear = Interpolation::Linear(Align::Edges);
    let whole = x.cast(DType::U8).unwrap();
    check([
        Row {
            refused: row.interpolate([3, 3], bilinear),
            text: "interpolate: sizes of the last 2 axes of [7], which has 1",
            help: "`unsqueeze` adds an axis of length 1",
            mended: row.unsqueeze(0).and_then(|x| x.interpolate([3, 3], bilinear)),
        },
        Row {
            refused: x.adaptive_avg_pool([0, 1]),
            text: "adaptive_avg_pool: [1, 4, 5, 6] at the size [0, 1]: an axis of no elements",
            help: "an axis that is resized has an element before and after it",
            mended: x.adaptive_avg_pool([1, 1]),
        },
        Row {
            refused: row.interpolate([1 << 30], bilinear),
            text: "interpolate: an axis of length 7 at 1073741824: their product is above \
                   1073741823",
            help: "resize it in two steps, or in parts",
            mended: row.interpolate([(1 << 24) + 1], bilinear),
        },
        Row {
            refused: whole.interpolate([9, 9], bilinear),
            text: "interpolate: input: u8, not a float",
            help: CAST,
            mended: whole.interpolate([9, 9], Interpolation::Nearest),
        },
        Row {
            refused: whole.interpolate([2, 2], Interpolation::CubicAntialiased),
            text: "interpolate: input: u8, not a float",
            help: CAST,
            mended: whole
                .cast(DType::F32)
                .and_then(|x| x.interpolate([2, 2], Interpolation::CubicAntialiased)),
        },
    ]);
}

#[test]
fn convolutions_that_go_back_name_what_does_not_fit() {
    let device = capable();
    let ones = |shape: &[usize]| device.ones(shape, DType::F32).unwrap();
    let (x, w, how) = (ones(&[1, 4, 5, 6]), ones(&[4, 2, 3, 3]), Conv::new());
    check([
        Row {
            refused: x.conv_transpose2d(&ones(&[6, 2, 3, 3]), None, &how),
            text: "conv_transpose2d: 4 channels, a weight of [6, 2, 3, 3] takes 6",
            help: "the weight of a transposed convolution is `[channels, out / groups, ..]`",
            mended: x.conv_transpose2d(&w, None, &how),
        },
        Row {
            refused: x.conv_transpose2d(&w, None, &how.stride([2, 2]).output_padding([0, 2])),
            text: "conv_transpose2d: output padding of 2 on axis 3, not below 2",
            help: "it is less than the stride or the dilation: more would be nobody's",
            mended: x.conv_transpose2d(&w, None, &how.stride([2, 2]).output_padding([0, 1])),
        },
        Row {
            refused: x.conv_transpose2d(&w, None, &how.padding([4, 0])),
            text: "conv_transpose2d: padding takes 4 from both ends of axis 2, of 7 elements",
            help: "the padding of a transposed convolution takes from the result: lower it",
            mended: x.conv_transpose2d(&w, None, &how.padding([3, 0])),
        },
        Row {
            refused: x.conv_transpose2d(&w, None, &how.stride([1, 1 << 62])),
            text: "conv_transpose2d: a stride of 4611686018427387904 and a dilation of 1 on axis \
                   3, which spread over 23058430092136939523 elements",
            help: "lower the stride or the dilation",
            mended: x.conv_transpose2d(&w, None, &how.stride([1, 2])),
        },
        Row {
            refused: x.conv_transpose2d(&w, None, &how.dilation([usize::MAX, 1])),
            text: "conv_transpose2d: a stride of 1 and a dilation of 18446744073709551615 on axis \
                   2, which spread over 36893488147419103235 elements",
            help: "lower the stride or the dilation",
            mended: x.conv_transpose2d(&w, None, &how.dilation([2, 1])),
        },
        Row {
            refused: x.conv_transpose2d(&w, None, &how.stride([1000, 1000])),
            text: "conv_transpose2d: a stride of [1000, 1000] has 1000000 places, above 4096",
            help: "each is a convolution by itself: put zeros between the elements and use \
                   `conv2d`",
            mended: x.conv_transpose2d(&w, None, &how.stride([64, 64])),
        },
        Row {
            refused: x.conv2d(&ones(&[2, 4, 3, 3]), None, &how.output_padding([1, 1])),
            text: "conv2d: output padding of [1, 1] of a convolution that is not transposed",
            help: "`Conv::padding` lies around the input; `conv_transpose2d` and its like take \
                   both",
            mended: x.conv2d(&ones(&[2, 4, 3, 3]), None, &how.padding([1, 1])),
        },
    ]);
}

#[test]
fn lengths_name_what_does_not_fit() {
    let device = capable();
    let q = device.ones([2, 3, 4, 8], DType::F32).unwrap();
    let to = |lengths: &Tensor| q.attention(&q, &q, &Attention::new().lengths(lengths));
    let ones = |shape: &[usize], dtype| device.ones(shape, dtype).unwrap();
    check([
        Row {
            refused: to(&ones(&[3], DType::I32)),
            text: "attention: lengths and batches differ: left [3], right [2]",
            help: "one length for each batch: the axes of the keys before their heads",
            mended: to(&ones(&[2], DType::I32)),
        },
        Row {
            refused: to(&ones(&[2], DType::F32)),
            text: "attention: lengths: f32, not an integer",
            help: CAST,
            mended: to(&ones(&[2], DType::U32)),
        },
    ]);
}
