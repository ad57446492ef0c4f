//! No call of the public surface can cause a panic: everything is called with absurd arguments.

use wharf::caps::{Caps, Feature, Limit, Limits, fixtures};
use wharf::ledger::Crossings;
use wharf::plan::negotiate;
use wharf::shape::RANK_MAX;
use wharf::tensor::{Conv, Pooling};
use wharf::testing::{Call, Inside};
use wharf::{DType, Device, ErrorKind, HostView, Layout, Policy, Receipt, Shape, Tensor};

use super::support::{Random, adapter, capable, device};

const SIZES: [usize; 14] = [
    0,
    1,
    2,
    3,
    7,
    8,
    255,
    1 << 20,
    1 << 32,
    isize::MAX as usize - 1,
    isize::MAX as usize,
    1 << 63,
    usize::MAX - 1,
    usize::MAX,
];

const STRIDES: [isize; 11] =
    [0, 1, -1, 2, -3, 1 << 31, -(1 << 40), isize::MAX, isize::MAX - 1, isize::MIN, isize::MIN + 1];

fn sizes(random: &mut Random, n: usize) -> Vec<usize> {
    (0..random.below(n)).map(|_| random.pick(&SIZES)).collect()
}

/// Calls everything on a layout except what visits each element.
fn ask(layout: &Layout) {
    let elements = layout.shape().elements();
    let _ = (layout.is_dense(), layout.overlaps(), layout.span(), layout.collapse());
    let _ = (layout.to_string(), format!("{layout:?}"), layout.t().is_ok());
    for n in [0, elements / 2, elements.saturating_sub(1), usize::MAX] {
        let _ = (layout.place(n), layout.check_within(n).is_ok());
    }
    let _ = layout.places().take(3).count();
}

/// Views with arbitrary arguments.
fn views(layout: &Layout, random: &mut Random) -> Vec<Layout> {
    let axis = random.pick(&[0, 1, 2, 7, 8, usize::MAX]);
    let (a, b, c) = (random.pick(&SIZES), random.pick(&SIZES), random.pick(&SIZES));
    let step = random.pick(&STRIDES);
    let dims = sizes(random, RANK_MAX + 3);
    let axes: Vec<usize> = sizes(random, RANK_MAX + 3);
    let all = [
        layout.slice_step(axis, a..b, step),
        layout.slice_step(axis, 0..layout.shape().dims().get(axis).copied().unwrap_or(b), step),
        layout.flip(axis),
        layout.permute(&axes),
        layout.broadcast_to(&dims),
        layout.squeeze(axis),
        layout.unsqueeze(axis),
        layout.windows(axis, a, c),
        layout.windows(axis, 1, c),
        layout.reshape(&dims),
        layout.reshape(layout.shape().elements()),
    ];
    all.into_iter()
        .filter_map(|view| match view {
            Ok(view) => Some(view),
            Err(error) => {
                assert!(!error.to_string().is_empty(), "an error says something");
                let _ = (error.help(), error.kind(), format!("{error:?}"));
                None
            }
        })
        .collect()
}

#[test]
fn layouts_bear_any_numbers() {
    let mut made = 0;
    for seed in 0..8000 {
        let mut random = Random::new(0xab5 + seed * 31);
        let dims = sizes(&mut random, RANK_MAX + 3);
        let Ok(shape) = Shape::new(&dims) else { continue };
        let strides: Vec<isize> = dims.iter().map(|_| random.pick(&STRIDES)).collect();
        let offset = random.pick(&SIZES);
        let layouts = [
            Some(Layout::dense(shape)),
            Some(Layout::column_major(shape)),
            Layout::strided(shape, &strides, offset).ok(),
        ];
        for layout in layouts.into_iter().flatten() {
            let mut layout = layout;
            for _ in 0..4 {
                ask(&layout);
                let views = views(&layout, &mut random);
                made += views.len();
                views.iter().for_each(ask);
                let Some(&next) = views.last() else { break };
                layout = next;
            }
        }
    }
    assert!(made > 10_000, "only {made} views");
}

#[test]
fn shapes_bear_any_numbers() {
    for seed in 0..20_000 {
        let mut random = Random::new(0x5ba + seed * 17);
        let (a, b) = (sizes(&mut random, RANK_MAX + 3), sizes(&mut random, RANK_MAX + 3));
        if let (Ok(a), Ok(b)) = (Shape::new(&a), Shape::new(&b)) {
            let _ = (a.broadcast(&b).is_ok(), a.elements(), a.is_empty(), a.to_string());
        }
    }
}

#[test]
fn host_views_bear_any_numbers() {
    let data = [1.0f32, 2.0, 3.0];
    for seed in 0..20_000 {
        let mut random = Random::new(0x40 + seed * 13);
        let dims = sizes(&mut random, RANK_MAX + 3);
        let strides: Vec<isize> = dims.iter().map(|_| random.pick(&STRIDES)).collect();
        let offset = random.pick(&SIZES);
        let view = HostView::strided(&data, &dims, &strides, offset);
        if let Ok(view) = view
            && view.shape().elements() < 1000
        {
            assert_eq!(view.iter().count(), view.shape().elements(), "{:?}", view.layout());
        }
        let _ = (HostView::new(&data, &dims).is_ok(), HostView::column_major(&data, &dims).is_ok());
    }
}

#[test]
fn uploads_bear_any_view() {
    let device = capable();
    device.set_cap(Some(32 << 20));
    let data = [1u8, 2, 3];
    for seed in 0..1000 {
        let mut random = Random::new(0x0b7 + seed * 11);
        let dims = sizes(&mut random, RANK_MAX + 1);
        let strides: Vec<isize> =
            dims.iter().map(|_| random.pick(&[0, 0, 0, 1, -1, isize::MIN])).collect();
        let Ok(view) = HostView::strided(&data, &dims, &strides, 1) else { continue };
        if view.shape().elements() > 1 << 21 {
            continue; // a test below has the large ones
        }
        match device.upload_view(view) {
            Ok((tensor, _)) => {
                assert_eq!(
                    tensor.read_now::<u8>().unwrap(),
                    view.iter().collect::<Vec<_>>(),
                    "{view:?}"
                );
            }
            Err(error) => assert!(!error.to_string().is_empty(), "an error says something"),
        }
    }
}

#[test]
fn a_view_larger_than_all_memory_is_refused() {
    let device = capable();
    device.set_cap(Some(8 << 20));
    for shift in [24, 30, 32, 40] {
        let one = [1u8];
        let view = HostView::strided(&one, [1 << shift], &[0], 0).unwrap();
        let error = device.upload_view(view).err().unwrap();
        assert!(error.is_out_of_memory(), "2^{shift}: {error}");
    }
    assert_eq!(device.memory().bytes_live, 0, "nothing is left of it");
    for shift in [30, 40, 50, 59] {
        let fit = device.fit([1 << shift], DType::U8).unwrap();
        assert!(!fit.fits, "2^{shift} under a cap of 8 MiB: {fit:?}");
        assert_eq!(fit.bytes, 1 << shift, "asked at once, however many segments");
    }
}

#[test]
fn policies_that_allow_nothing_or_everything_upload_or_refuse() {
    let everything = DType::ALL.iter().flat_map(|&a| DType::ALL.iter().map(move |&b| (a, b)));
    let everything = everything.fold(Policy::exact(), |p, (a, b)| p.allow(a, b));
    for policy in
        [Policy::exact(), Policy::lossless(), everything, Policy::lossless().overflow_is_error()]
    {
        for caps in [Caps::webgpu_baseline(), fixtures::lavapipe()] {
            let device = device(caps, &policy);
            for to in DType::ALL.iter().copied() {
                let floats = [f64::NAN, f64::INFINITY, -f64::MAX, f64::MIN_POSITIVE, 5e-324, -0.0];
                arrives(device.upload_as(&floats, [6], to), (&device, to), 6);
                arrives(device.upload_as(&[i64::MIN, i64::MAX, 0], [3], to), (&device, to), 3);
                arrives(device.upload_as(&[true, false], [1, 2], to), (&device, to), 2);
                arrives(device.upload_as::<f32>(&[], [0], to), (&device, to), 0);
                let (fit, stored) = (device.fit([3, 0], to), device.plan().carriage(to).stored);
                assert_eq!(fit.is_ok(), stored.is_some(), "{to}: {fit:?}");
            }
            arrives(device.upload(&[f64::MAX; 3], [3]), (&device, DType::F64), 3);
            let _ = (device.flush(), device.trim(), device.compact(), device.synchronize_now());
        }
    }
}

/// What was uploaded is what the plan makes of the dtype, and can be read; what was not is refused
/// for its dtype or its values.
fn arrives(
    uploaded: wharf::Result<(Tensor, Receipt)>,
    (device, to): (&Device, DType),
    elements: usize,
) {
    match uploaded {
        Ok((tensor, receipt)) => {
            assert_eq!((receipt.to, tensor.shape().elements()), (tensor.dtype(), elements));
            let stored = device.plan().carriage(to).stored;
            assert_eq!(stored, Some(tensor.dtype()), "{to}");
            let bytes = pollster::block_on(tensor.read_bytes()).unwrap();
            assert_eq!(bytes.len(), elements * tensor.dtype().width(), "{to}");
        }
        Err(error) => {
            let known = [ErrorKind::Rejected, ErrorKind::Conversion, ErrorKind::DType];
            assert!(known.contains(&error.kind()), "{to}: {error:?}");
        }
    }
}

/// What windows and convolutions take is computed, or refused with both numbers.
#[test]
fn windows_bear_any_numbers() {
    let device = capable();
    let x = device.ones([1, 1, 9, 9], DType::F32).unwrap();
    let mut random = Random::new(29);
    let (mut taken, mut refused) = (0, 0);
    for _ in 0..600 {
        let mut two = |usual: usize| {
            [0, 1].map(|_| if random.below(3) > 0 { usual } else { random.pick(&SIZES) })
        };
        let (size, stride, padding, dilation) = (two(2), two(1), two(0), two(1));
        let pool = Pooling::new(size).stride(stride).padding(padding).dilation(dilation);
        let conv = Conv::new().stride(stride).padding(padding).dilation(dilation);
        let weight = device.ones([1, 1, size[0].min(3), size[1].min(3)], DType::F32).unwrap();
        let lone = device.ones([1, 1, 1, 1], DType::F32).unwrap();
        for made in [
            x.max_pool(&pool),
            x.avg_pool(&pool.padding_uncounted()),
            x.max_pool_with_indices(&pool).map(|(_, places)| places),
            x.conv2d(&weight, None, &conv),
            x.conv2d(&lone, None, &conv),
            x.conv_transpose2d(&weight, None, &conv),
            x.windows(-1, size[0], stride[1]),
        ] {
            let named = format!("{size:?} {stride:?} {padding:?} {dilation:?}");
            let made = made.and_then(|made| {
                // Of what is padded far there may be more than memory has.
                let few = made.shape().elements() < 1 << 20;
                if few { made.compute().map(|()| made) } else { Ok(made) }
            });
            match made {
                Ok(_) => taken += 1,
                Err(error) => {
                    let known = [
                        ErrorKind::Shape,
                        ErrorKind::Argument,
                        ErrorKind::Limit,
                        ErrorKind::OutOfMemory,
                    ];
                    assert!(known.contains(&error.kind()), "{named}: {error:?}");
                    refused += 1;
                }
            }
        }
    }
    assert!(taken > 600 && refused > 600, "{taken} taken, {refused} refused");
}

/// So do their gradients, whatever size the input is said to have had.
#[test]
fn gradients_of_pools_bear_any_numbers() {
    let device = capable();
    let (one, two) = (device.ones([1], DType::F32).unwrap(), device.ones([2], DType::F32).unwrap());
    let wide = Pooling::new([1 << 40]).padding([1 << 39]);
    one.avg_pool_grad([1], &wide).and_then(|x| x.compute()).expect("a share of it");
    let square = device.ones([1, 1], DType::F32).unwrap();
    let places = |x: &Tensor| x.cast(DType::U32).unwrap();
    let far = Pooling::new([1 << 33; 2]);
    let both = Pooling::new([1 << 40; 2]).padding([1 << 39; 2]);
    square.avg_pool_grad([1; 2], &both).and_then(|x| x.compute()).expect("a share of it");
    for (named, refused) in [
        (
            "more places than are counted",
            square.max_pool_grad(&places(&square), [1 << 33; 2], &far),
        ),
        ("more than a shape has", square.avg_pool_grad([1 << 33; 2], &far)),
        ("a long window", one.max_pool_grad(&places(&one), [1], &wide)),
        ("an axis that ends nowhere", {
            two.avg_pool_grad(
                [usize::MAX],
                &Pooling::new([2]).stride([usize::MAX / 2]).padding([1]),
            )
        }),
        ("two long windows", two.avg_pool_grad([2], &wide.stride([2]))),
    ] {
        let error = refused.and_then(|x| x.compute()).expect_err(named);
        let known =
            [ErrorKind::Shape, ErrorKind::Argument, ErrorKind::Limit, ErrorKind::OutOfMemory];
        assert!(known.contains(&error.kind()), "{named}: {error:?}");
    }
}

#[test]
fn more_parts_than_memory_has_are_refused() {
    let one = capable().ones([1], DType::U8).unwrap();
    let far = isize::MAX as usize;
    for (x, count) in [(one.slice(0, ..0), usize::MAX), (one.broadcast_to([far]), far)] {
        let error = x.unwrap().split_evenly(0, count).expect_err("so many");
        assert_eq!(error.kind(), ErrorKind::Shape, "{error:?}");
    }
    assert_eq!(one.slice(0, ..0).unwrap().split_evenly(0, 3).unwrap().len(), 3);
}

#[test]
fn any_limit_opens_or_is_refused() {
    for &limit in Limit::ALL {
        for value in [0, 1, 33, 1000, 100_001, 131_073, 1 << 20, 1 << 63, u64::MAX] {
            let own = fixtures::lavapipe();
            let caps = own.clone().with_limit(limit, value);
            let adapter = adapter(own);
            let story = format!("{} at {value}", limit.name());

            let Ok(device) = pollster::block_on(adapter.open(negotiate(&caps, &Policy::exact())))
            else {
                continue;
            };
            for bytes in [0usize, 1, 100, 70_000, 300_000] {
                let uploaded = device.upload(&vec![1u8; bytes], [bytes]);
                let Ok((tensor, _)) = uploaded else { continue };
                assert!(tensor.read_now::<u8>().unwrap() == vec![1; bytes], "{story}");
            }
            let _ = (device.fit([1 << 20], DType::F32).is_ok(), device.memory().to_string());
        }
    }
}

#[test]
fn literals_that_no_adapter_has_are_planned_and_opened_or_refused() {
    let own = fixtures::lavapipe();
    for value in [0, 1, 3, 255, 257, 1 << 17, 1 << 40, u64::MAX] {
        for limits in absurd_limits(&own.limits, value) {
            let caps = Caps { limits, ..own.clone() };
            let plan = negotiate(&caps, &Policy::lossless());
            let _ = (plan.to_string(), caps.to_string(), caps.clone().with_baseline_limits());
            let Ok(device) = pollster::block_on(adapter(caps).open(plan)) else { continue };
            let _ = device.fit([1 << 20], DType::F32).is_ok();
            if let Ok((tensor, _)) = device.upload(&[1u16; 1000], [1000]) {
                assert!(
                    tensor.read_now::<u16>().is_ok_and(|v| v == [1; 1000]),
                    "{:?}",
                    device.caps()
                );
            }
        }
    }
}

/// Copies of these limits, each with one limit set to a value, better or worse.
fn absurd_limits(own: &Limits, value: u64) -> Vec<Limits> {
    let own = own.clone();
    vec![
        Limits { buffer_bytes_max: value, ..own.clone() },
        Limits { binding_bytes_max: value, ..own.clone() },
        Limits { storage_buffers_max: value, ..own.clone() },
        Limits { storage_align_bytes: value, ..own.clone() },
        Limits { uniform_align_bytes: value, ..own.clone() },
        Limits { groups_max: value, ..own.clone() },
        Limits { subgroup_min: value, subgroup_max: value, ..own },
    ]
}

#[test]
fn failures_in_any_place_are_errors_and_leave_a_device_that_works() {
    for n in 1..8 {
        for lesser in [Feature::Subgroup, Feature::ShaderF16] {
            let caps =
                fixtures::lavapipe().without(lesser).with_limit(Limit::BindingBytes, 1 << 20);
            let device = device(caps, &Policy::exact());
            device.fail(Call::Allocation, n - 1..n);
            for _ in 0..3 {
                let values = vec![7u32; 1 << 19];
                if let Ok((tensor, _)) = device.upload(&values, [values.len()])
                    && let Ok(back) = tensor.read_now::<u32>()
                {
                    assert!(back == values, "what arrives is right, failure {n}");
                }
            }
            assert!(device.upload(&[1u8], ()).is_ok(), "it goes on after failure {n}");
        }
    }
}

#[test]
fn guards_may_end_in_any_order() {
    let device = capable();
    let (a, b) = (device.guard(Crossings::Deny), device.guard(Crossings::Log));
    drop(a);
    assert!(device.upload(&[1u8], ()).is_ok(), "the later one is in force");
    let c = device.guard(Crossings::Deny);
    drop((b, c));
    assert!(device.upload(&[1u8], ()).is_ok(), "none is");
}

#[test]
fn a_destroyed_device_answers_with_errors() {
    let device = capable();
    let (tensor, _) = device.upload(&[1.0f32; 10], [10]).unwrap();
    device.wgpu_device().destroy();
    for _ in 0..2 {
        let told = [
            ("read", tensor.read_now::<f32>().err()),
            ("upload", device.upload(&[1u8], ()).err()),
            ("operation", (&tensor + 1.0).and_then(|y| y.compute()).err()),
            ("flush", device.flush().err()),
            ("trim", device.trim().err()),
            ("compact", device.compact().err()),
            ("synchronize_now", device.synchronize_now().err()),
            ("done", pollster::block_on(device.synchronize()).err()),
        ];
        for (call, error) in told {
            let lost = error.as_ref().is_some_and(wharf::Error::is_device_lost);
            assert!(lost, "{call}: {error:?}");
        }
    }
    assert!(pollster::block_on(device.reopen()).is_ok(), "the adapter opens again");
}

#[test]
fn what_nothing_can_hold_is_refused_before_it_is_noted() {
    let paper = Device::on_paper(&Caps::webgpu_baseline(), &Policy::exact()).expect("paper");
    let blank = |dims: [usize; 2]| paper.blank(dims, DType::F32);
    let error = blank([1 << 29, 1 << 28]).expect_err("a thousand million segments");
    assert!(error.to_string().contains("segments, the largest number is 1048576"), "{error}");
    let (a, b) = (blank([1 << 27, 1]).expect("small"), blank([1, 1 << 27]).expect("small"));
    let explained = (&a + &b).expect("it is deferred").explain();
    let why = explained.error.map(|error| error.to_string()).unwrap_or_default();
    assert!(why.contains("segments, the largest number is"), "{why}");
}
