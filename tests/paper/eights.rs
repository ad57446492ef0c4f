//! Floats of 8 bits, held to what `ml_dtypes` makes of them, and what is refused to compute with
//! them.

use half::{bf16, f16};
use wharf::dtype::{f8e4m3, f8e5m2};
use wharf::tensor::{Attention, Conv, Key, Pooling};
use wharf::{DType, Device, Element, ErrorKind, Policy, Tensor};

use super::support::{Random, capable, device as open};
use crate::ends::{Ends, of_f8e4m3, of_f8e5m2};

/// A type of the host, as the tests here see it.
struct Eight {
    ends: Ends,
    decode: fn(u8) -> f32,
    encode: fn(f32) -> u8,
    saturate: fn(f32) -> u8,
    largest: f32,
}

fn eights() -> [Eight; 2] {
    [
        Eight {
            ends: of_f8e4m3(),
            decode: |code| f8e4m3::from_bits(code).to_f32(),
            encode: |x| f8e4m3::from_f32(x).to_bits(),
            saturate: |x| f8e4m3::from_f32_saturating(x).to_bits(),
            largest: 448.0,
        },
        Eight {
            ends: of_f8e5m2(),
            decode: |code| f8e5m2::from_bits(code).to_f32(),
            encode: |x| f8e5m2::from_f32(x).to_bits(),
            saturate: |x| f8e5m2::from_f32_saturating(x).to_bits(),
            largest: 57_344.0,
        },
    ]
}

/// Every f16, f32 about every place where rounding changes, and any.
fn values(ends: &Ends) -> Vec<f32> {
    let mut random = Random::new(8);
    let mut bits: Vec<u32> = (0..=u16::MAX).map(|x| f16::from_bits(x).to_f32().to_bits()).collect();
    bits.extend(
        ends.firsts
            .iter()
            .flat_map(|&first| [-2, -1, 0, 1, 2].map(|by| first.wrapping_add_signed(by))),
    );
    bits.extend((0..40_000).map(|_| random.next() as u32));
    bits.extend((0..20_000).map(|_| 0x3400_0000 + random.next() as u32 % 0x1400_0000));
    let both = bits.into_iter().flat_map(|bits| [bits, bits ^ 1 << 31]);
    both.map(f32::from_bits).collect()
}

#[test]
fn every_code_is_the_number_that_ml_dtypes_has() {
    for Eight { ends, decode, encode, .. } in eights() {
        for code in 0..=u8::MAX {
            let (got, want) = (decode(code), ends.value(code));
            assert!(got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan(), "{code:x}");
            assert_eq!(got.is_sign_negative(), code > 0x7f, "{code:x} keeps its sign");
            let kept = if got.is_nan() { encode(got) | 3 == code | 3 } else { encode(got) == code };
            assert!(kept, "{code:x} comes back as {:x}", encode(got));
        }
    }
}

#[test]
fn every_f32_is_rounded_as_ml_dtypes_does() {
    for Eight { ends, encode, saturate, largest, .. } in eights() {
        for x in values(&ends) {
            let (got, want) = (encode(x), ends.code(x));
            match want {
                Some(want) => assert_eq!(got, want, "{x:e} ({:x})", x.to_bits()),
                None => assert!(ends.value(got).is_nan(), "{x:e} is {got:x}"),
            }
            let saturated = ends.value(saturate(x));
            if x.is_nan() {
                assert!(saturated.is_nan());
            } else {
                let bounded = x.clamp(-largest, largest);
                assert_eq!(Some(saturate(x)), ends.code(bounded), "{x:e} saturates");
            }
        }
    }
}

/// What an upload makes of values, as codes.
fn uploaded<T: Element>(device: &Device, values: &[T], to: DType) -> Vec<u8> {
    let (tensor, receipt) = device.upload_as(values, values.len(), to).unwrap();
    assert_eq!(receipt.tally.values(), values.len() as u64, "each in one category");
    pollster::block_on(tensor.read_bytes()).unwrap()
}

#[test]
fn an_upload_rounds_as_ml_dtypes_does() {
    let device = capable();
    for (Eight { ends, .. }, to) in eights().into_iter().zip([DType::F8E4M3, DType::F8E5M2]) {
        let check = |codes: Vec<u8>, values: &mut dyn Iterator<Item = f32>| {
            for (code, x) in codes.into_iter().zip(values) {
                match ends.code(x) {
                    Some(want) => assert_eq!(code, want, "{x:e} to {to}"),
                    None => assert!(ends.value(code).is_nan(), "{x:e} to {to}: {code:x}"),
                }
                assert!(x.is_sign_negative() == (code > 0x7f), "{x:e} to {to} keeps its sign");
            }
        };
        let singles = values(&ends);
        check(uploaded(&device, &singles, to), &mut singles.iter().copied());
        let doubles: Vec<f64> = singles.iter().map(|&x| x.into()).collect();
        check(uploaded(&device, &doubles, to), &mut singles.iter().copied());
        let halves: Vec<f16> = (0..=u16::MAX).map(f16::from_bits).collect();
        check(uploaded(&device, &halves, to), &mut halves.iter().map(|x| x.to_f32()));
        let brains: Vec<bf16> = (0..=u16::MAX).map(bf16::from_bits).collect();
        check(uploaded(&device, &brains, to), &mut brains.iter().map(|x| x.to_f32()));
        let whole: Vec<i16> = (i16::MIN..=i16::MAX).collect();
        check(uploaded(&device, &whole, to), &mut whole.iter().map(|&x| x.into()));
    }
}

#[test]
fn a_receipt_counts_what_has_no_place() {
    let device = capable();
    let data = [1.0f32, 0.3, 464.0, 465.0, f32::INFINITY, -1e9, 1e-9, f32::NAN];
    let (_, receipt) = device.upload_as(&data, 8, DType::F8E4M3).unwrap();
    let tally = receipt.tally;
    let counts = [tally.exact, tally.rounded, tally.overflowed, tally.flushed, tally.nan];
    assert_eq!(counts, [1, 2, 3, 1, 1], "an infinity is not kept: {receipt}");
    let (_, receipt) = device.upload_as(&data, 8, DType::F8E5M2).unwrap();
    let tally = receipt.tally;
    let counts = [tally.exact, tally.rounded, tally.overflowed, tally.flushed, tally.nan];
    assert_eq!(counts, [2, 3, 1, 1, 1], "{receipt}");
    let strict = open(wharf::caps::fixtures::lavapipe(), &Policy::exact().overflow_is_error());
    let error = strict.upload_as(&data, 8, DType::F8E4M3).unwrap_err();
    let text = "f32 -> f8e4m3: value 465.0 at index 3 overflows to NaN";
    assert_eq!((error.kind(), error.to_string().as_str()), (ErrorKind::Conversion, text));
    // A policy converts to it, and every value of it is one of what it is read as.
    let narrow = Policy::exact().allow(DType::F64, DType::F8E5M2);
    let device = open(wharf::caps::Caps::webgpu_baseline(), &narrow);
    let (tensor, receipt) = device.upload(&[1.5f64, 0.3], 2).unwrap();
    assert_eq!((tensor.dtype(), receipt.tally.rounded), (DType::F8E5M2, 1), "{receipt}");
    let (back, receipt) = tensor.read_as_now::<f32>().unwrap();
    assert!(back == [1.5, 0.3125] && receipt.is_exact(), "{back:?}: {receipt}");
}

type Call = fn(&Tensor) -> wharf::Result<Tensor>;

/// Everything that computes, of each kind of kernel there is.
const COMPUTES: &[(&str, Call)] = &[
    ("add", |x| x + x),
    ("neg", |x| x.neg()),
    ("eq", |x| x.eq(x)),
    ("clamp", |x| x.clamp(0.0, 1.0)),
    ("choose", |x| x.device().ones([4, 4], DType::Bool)?.choose(x, x)),
    ("sum", |x| x.sum(0)),
    ("argmax", |x| x.argmax(0)),
    ("any", |x| x.any(..)),
    ("cumsum", |x| x.cumsum(0)),
    ("softmax", |x| x.softmax(0)),
    ("layer_norm", |x| x.layer_norm(1, None, None, 0.0)),
    ("batch_norm", |x| x.batch_norm(x, x, None, None, 0.0)),
    ("matmul", |x| x.matmul(x)),
    ("linear", |x| x.linear(x, None)),
    ("einsum", |x| Tensor::einsum("ij,jk->ik", &[x, x])),
    ("einsum beside", |x| Tensor::einsum("ij,ij->i", &[x, x])),
    ("dot", |x| x.flatten(..)?.dot(&x.flatten(..)?)),
    ("outer", |x| x.flatten(..)?.outer(&x.flatten(..)?)),
    ("cross", |x| x.slice(0, ..3)?.cross(0, &x.slice(0, ..3)?)),
    ("rope", |x| x.rope(x, x)),
    ("attention", |x| x.attention(x, x, &Attention::new())),
    ("conv1d", |x| x.unsqueeze(0)?.conv1d(&x.unsqueeze(2)?, None, &Conv::new())),
    ("max_pool", |x| x.max_pool(&Pooling::new([2]))),
    ("avg_pool", |x| x.avg_pool(&Pooling::new([2]))),
    ("avg_pool_grad", |x| x.avg_pool_grad([8], &Pooling::new([2]))),
    ("rfft", |x| x.rfft(1, None)),
    ("selu", |x| x.selu()),
    ("cross_entropy", |x| x.cross_entropy(1, &x.device().zeros(4, DType::U32)?)),
    ("histogram", |x| x.histogram(2, 0.0..=1.0)),
    ("quantile", |x| x.median(0)),
    ("index_add", |x| x.index_add(0, &x.device().zeros(4, DType::U32)?, x)),
    ("scatter_max", |x| x.scatter_max(0, &x.device().zeros([4, 4], DType::U32)?, x)),
    ("cholesky", |x| x.cholesky()),
    ("uniform", |x| x.device().uniform(Key::new(1), 4, x.dtype())),
    ("normal", |x| x.device().normal(Key::new(1), 4, x.dtype())),
    ("arange", |x| x.device().arange(0, 4, 1, x.dtype())),
    ("linspace", |x| x.device().linspace(0, 4, 4, x.dtype())),
];

/// Of the two only one has infinity; NaN both have.
#[test]
fn a_number_that_is_none_there_is_refused() {
    let device = capable();
    for (dtype, has) in [(DType::F8E4M3, false), (DType::F8E5M2, true), (DType::F16, true)] {
        for infinity in [f32::INFINITY, f32::NEG_INFINITY] {
            assert_eq!(device.full([2], infinity, dtype).is_ok(), has, "{dtype}: {infinity}");
        }
        assert!(device.full([2], f32::NAN, dtype).is_ok(), "{dtype}");
        assert!(device.full([2], 1e6f32, dtype).is_err(), "{dtype}");
    }
}

#[test]
fn what_is_only_stored_is_not_computed_with() {
    let device = capable();
    for dtype in [DType::F8E4M3, DType::F8E5M2] {
        let x = device.ones([4, 4], dtype).unwrap();
        for (name, call) in COMPUTES {
            let error = call(&x).map(|y| format!("{y:?}")).expect_err(name);
            assert_eq!(error.kind(), ErrorKind::DType, "{name}: {error}");
            assert!(error.to_string().contains(dtype.name()), "{name}: {error}");
            let help = error.help().unwrap_or_default();
            assert!(help.contains("cast"), "{name}: {error}: {help}");
            assert!(!error.to_string().contains("not a float"), "it is one, {name}: {error}");
        }
    }
}

const MOVES: &[(&str, Call)] = &[
    ("a view", |x| x.t()?.slice(0, 1..3)?.contiguous()),
    ("concat", |x| Tensor::concat(&[x, x], 0)),
    ("pad", |x| x.pad(&[(1, 1), (0, 0)], 0.0)),
    ("roll", |x| x.roll(1, 0)),
    ("tril", |x| x.tril(0)),
    ("gather", |x| x.gather(0, &x.device().zeros([2, 4], DType::I32)?)),
    ("index_select", |x| x.index_select(0, &x.device().zeros(2, DType::I32)?)),
    ("embedding", |x| x.embedding(&x.device().zeros([2, 2], DType::I32)?)),
    ("scatter", |x| x.scatter(0, &x.device().zeros([4, 4], DType::I32)?, x)),
    ("sort", |x| x.sort(0, wharf::tensor::Order::Ascending)),
    ("cast", |x| x.cast(DType::F16)?.cast(x.dtype())),
    ("cast_checked", |x| x.cast_checked(DType::I8)?.cast_checked(x.dtype())),
    ("cast_saturating", |x| x.cast_saturating(DType::F16)?.cast_saturating(x.dtype())),
    ("full", |x| x.device().full([4], 2.5, x.dtype())),
];

#[test]
fn what_moves_takes_what_is_only_stored() {
    let device = capable();
    for dtype in [DType::F8E4M3, DType::F8E5M2] {
        let x = device.ones([4, 4], dtype).unwrap();
        for (name, call) in MOVES {
            let y = call(&x).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(y.dtype(), dtype, "{name}");
        }
        assert!(device.full([4], 1e6, dtype).is_err(), "no number of {dtype}");
        let weight = device.ones([8, 4], dtype).unwrap();
        for of in [DType::F32, DType::F16, DType::Bf16] {
            let x = device.ones([2, 4], of).unwrap();
            let y = x.linear(&weight, None).unwrap();
            assert_eq!(y.dtype(), of, "weights of {dtype} are widened");
            let kernels = |y: &Tensor| {
                y.explain().kernels.iter().map(|k| k.name().to_owned()).collect::<Vec<_>>()
            };
            let wide = x.linear(&device.ones([8, 4], of).unwrap(), None).unwrap();
            assert_eq!(kernels(&y), kernels(&wide), "where they are loaded");
        }
    }
}
