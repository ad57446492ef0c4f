//! Shapes around 2^31 and 2^32 elements, which nobody has memory for: of every operation the result
//! or a typed error with both numbers, no panic, and nothing that is left.

use wharf::op::Op;
use wharf::tensor::{Insert, Order, Pad, Quantized};
use wharf::{DType, Device, Error, ErrorKind, Result, Tensor};

use crate::device;

/// Where a sign, and where a word, is full.
const COUNTS: [usize; 6] =
    [(1 << 31) - 1, 1 << 31, (1 << 31) + 1, (1 << 32) - 1, 1 << 32, (1 << 32) + 1];

const DTYPES: [DType; 4] = [DType::F32, DType::F16, DType::I32, DType::Bool];

/// What is done to a tensor of one axis so long.
type Row = (&'static str, fn(&Tensor) -> Result<Tensor>);

#[rustfmt::skip]
const ROWS: &[Row] = &[
    ("sum", |x| x.sum(0)),
    ("mean", |x| x.mean(0)),
    ("prod", |x| x.prod(0)),
    ("amax", |x| x.amax(0)),
    ("argmax", |x| x.argmax(0)),
    ("argmin of a side", |x| wide(x)?.argmin(1)),
    ("any", |x| x.any(0)),
    ("count_nonzero", |x| x.count_nonzero(0)),
    ("var", |x| x.var(0, 1)),
    ("norm", |x| x.norm(0)),
    ("logsumexp", |x| x.logsumexp(0)),
    ("softmax", |x| x.softmax(0)),
    ("softmax of rows of one", |x| x.unsqueeze(1)?.softmax(1)),
    ("log_softmax", |x| x.log_softmax(0)),
    ("layer_norm", |x| x.layer_norm(0, None, None, 1e-5)),
    ("rms_norm", |x| x.rms_norm(0, None, 1e-5)),
    ("cumsum", |x| x.cumsum(0)),
    ("cumprod", |x| x.cumprod(0)),
    ("cummax", |x| x.cummax(0)),
    ("sort", |x| x.sort(0, Order::Ascending)),
    ("argsort", |x| x.argsort(0, Order::Descending)),
    ("top_k", |x| Ok(x.top_k(0, 3)?.1)),
    ("max_with_index", |x| Ok(x.max_with_index(0)?.1)),
    ("median", |x| x.median(0)),
    ("take", |x| x.take(&places(x)?)),
    ("index_select", |x| x.index_select(0, &places(x)?)),
    ("gather", |x| x.gather(0, &places(x)?)),
    ("take of so many", |x| few(x)?.take(&like(x, DType::U32)?)),
    ("embedding of so many", |x| few(x)?.unsqueeze(1)?.embedding(&like(x, DType::U32)?)),
    ("one_hot", |x| like(x, DType::U32)?.one_hot(2, DType::F32)),
    ("bincount", |x| like(x, DType::U32)?.bincount(4)),
    ("scatter_add to few", |x| few(x)?.scatter_add(0, &like(x, DType::U32)?, x)),
    ("scatter_add to many", |x| x.scatter_add(0, &places(x)?, &few(x)?)),
    ("searchsorted", |x| x.searchsorted(&few(x)?, Insert::Left)),
    ("concat", |x| Tensor::concat(&[x, x], 0)),
    ("concat with few", |x| Tensor::concat(&[x, &few(x)?], 0)),
    ("stack", |x| Tensor::stack(&[x, x], 0)),
    ("pad", |x| x.pad(&[(1, 1)], Pad::Replicate)),
    ("roll", |x| x.roll(0, 1)),
    ("flip", |x| x.flip(0)?.contiguous()),
    ("windows", |x| x.windows(0, 3, 2)?.amax(1)),
    ("repeat", |x| x.repeat([3])),
    ("repeat_interleave", |x| x.repeat_interleave(0, 2)),
    ("tril", |x| wide(x)?.tril(0)),
    ("diag", |x| x.diag(0)),
    ("contiguous", |x| x.contiguous()),
    ("a part of it", |x| (x + x)?.slice(0, 5..9)),
    ("matmul of many rows", |x| x.unsqueeze(1)?.matmul(&few(x)?.unsqueeze(0)?)),
    ("matmul to both", |x| x.unsqueeze(1)?.matmul(&x.unsqueeze(0)?)),
    ("matmul with blocks", |x| blocks(x)?.0.matmul(blocks(x)?.1.t())),
    ("outer", |x| x.outer(x)),
    ("dot", |x| x.dot(x)),
    ("+", |x| x + x),
    ("+ a number", |x| x + 1u8),
    ("+ a column", |x| few(x)?.unsqueeze(1)? + x),
    ("where", |x| like(x, DType::Bool)?.choose(x, x)),
    ("clamp", |x| x.apply(Op::Clamp, &[0u8.into(), 1u8.into()])),
    ("cast up", |x| x.cast(DType::F32)),
    ("cast down", |x| x.cast(DType::U8)),
    ("cast_checked", |x| x.cast_checked(DType::I8)),
    ("rfft", |x| x.rfft(0, None)),
];

/// As many of another dtype.
fn like(x: &Tensor, dtype: DType) -> Result<Tensor> {
    x.device().ones((), dtype)?.broadcast_to(*x.shape())
}

/// Three of the same dtype.
fn few(x: &Tensor) -> Result<Tensor> {
    x.device().ones(3, x.dtype())
}

/// The first place, one in the middle, and the last, as far as a word holds it.
fn places(x: &Tensor) -> Result<Tensor> {
    let last = u32::try_from(x.shape().elements() - 1).unwrap_or(u32::MAX);
    Ok(x.device().upload(&[0, 1 << 31, last], 3)?.0)
}

/// Three rows of them.
fn wide(x: &Tensor) -> Result<Tensor> {
    x.broadcast_to([3, x.shape().elements()])
}

/// So many rows, and weights in blocks of 8 bits.
fn blocks(x: &Tensor) -> Result<(Tensor, Quantized)> {
    let (device, n) = (x.device(), x.shape().elements());
    let (values, scales) = (device.zeros([8, 32], DType::I8)?, device.ones([8, 1], DType::F16)?);
    Ok((x.unsqueeze(1)?.broadcast_to([n, 32])?, Quantized::of(&values, &scales)?))
}

/// What is wrong with an error: it is about what there is room for, and has both numbers.
fn complaint(error: &Error) -> Option<String> {
    let text = error.to_string();
    // Of kind shape is what no shape has room for.
    let room = matches!(error.kind(), ErrorKind::Limit | ErrorKind::OutOfMemory | ErrorKind::Shape);
    let words = text.split(|c: char| !c.is_alphanumeric());
    let numbers = words.filter(|word| word.starts_with(|c: char| c.is_ascii_digit())).count();
    (!room || numbers < 2).then(|| format!("{:?}: {text}", error.kind()))
}

/// Whether an error says that this operation does not take the dtype, however many there are.
fn is_of_the_dtype(device: &Device, dtype: DType, of: fn(&Tensor) -> Result<Tensor>) -> bool {
    let small = device.ones((), dtype).and_then(|one| one.broadcast_to([5]));
    small.and_then(|x| of(&x)).is_err_and(|error| error.kind() == ErrorKind::DType)
}

/// What an operation comes to, first as it is looked at and then computed as far as there is
/// memory; and what is wrong with that.
fn tried(device: &Device, (name, of): Row, dtype: DType, count: usize) -> (bool, Vec<String>) {
    let x = device.ones((), dtype).and_then(|one| one.broadcast_to([count])).expect("a view");
    let made = of(&x);
    let told = made.as_ref().ok().and_then(|made| made.explain().error);
    let computed = made.and_then(|made| made.compute());
    let is_refused = computed.is_err();
    let errors = [told, computed.err()].into_iter().flatten();
    let mut wrong: Vec<String> = errors.filter_map(|error| complaint(&error)).collect();
    drop(x);
    device.trim().expect("the device lives");
    let memory = device.memory();
    if (memory.bytes_live, memory.tensors, memory.bytes_reserved) != (0, 0, 0) {
        wrong.push(format!("something is left:\n{memory}"));
    }
    let of = |text: String| format!("{name} of {count} {dtype}: {text}");
    (is_refused, wrong.into_iter().map(of).collect())
}

/// Of 64 MiB, in bindings of 128.
fn small() -> Device {
    let device = device(|caps| caps);
    device.set_cap(Some(64 << 20));
    device
}

#[test]
fn around_the_ends_of_words_there_are_results_and_errors_with_both_numbers() {
    let device = small();
    let (mut complaints, mut outcomes) = (Vec::new(), [0; 2]);
    for &(name, of) in ROWS {
        for dtype in DTYPES.into_iter().filter(|dtype| device.fit(1, *dtype).is_ok()) {
            if is_of_the_dtype(&device, dtype, of) {
                continue;
            }
            for count in COUNTS {
                let (is_refused, wrong) = tried(&device, (name, of), dtype, count);
                outcomes[usize::from(is_refused)] += 1;
                complaints.extend(wrong);
            }
        }
    }
    assert!(complaints.is_empty(), "{}:\n{}", complaints.len(), complaints.join("\n"));
    let [computed, refused] = outcomes;
    assert!(computed > 120 && refused > 900, "few of a kind: {computed} and {refused}");
}

/// A million panels, which take their time.
#[test]
fn a_product_of_rows_as_long_has_a_result_or_an_error_with_both_numbers() {
    let of: Row = ("matmul of long rows", |x| x.unsqueeze(0)?.matmul(&x.unsqueeze(1)?));
    let (_, wrong) = tried(&small(), of, DType::F32, (1 << 32) + 1);
    assert!(wrong.is_empty(), "{wrong:?}");
}

/// The greatest word stands for a place that is none, so an axis may not have it, not even one
/// that is a single element in memory.
#[test]
fn an_axis_of_every_word_has_no_places() {
    let device = small();
    let picked = |length: usize| {
        let one = device.ones((), DType::F32)?.broadcast_to([length])?;
        one.index_select(0, &device.zeros([3], DType::U32)?)
    };
    picked(u32::MAX as usize - 3).expect("the longest axis");
    for length in [u32::MAX as usize - 2, 1 << 32, 5_000_000_000] {
        let error = picked(length).expect_err("too long an axis").to_string();
        assert!(error.contains(&length.to_string()) && error.contains("4294967292"), "{error}");
    }
}
