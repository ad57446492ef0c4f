//! Memory is accounted for: pool, cap, trim, compaction, segments.

use wharf::caps::{Caps, Limit};
use wharf::testing::{Call, Inside};
use wharf::{DType, Tensor};

use crate::device;

/// A small generator; the same sizes everywhere.
fn sizes(seed: u64, count: usize, max: usize) -> impl Iterator<Item = usize> {
    let mut state = seed;
    (0..count).map(move |_| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap_or(0) % max + 1
    })
}

#[test]
fn allocations_of_mixed_sizes_leave_nothing_behind() {
    // A million only under WHARF_TEST_LARGE: in a debug build each costs a tenth of a
    // millisecond, nearly all of it in wgpu.
    let large = std::env::var("WHARF_TEST_LARGE").is_ok_and(|value| matches!(&*value, "1" | "2"));
    let count = if large { 1_000_000 } else { 50_000 };
    let device = device(|caps| caps);
    let data = vec![7u8; 40_000];
    let before = device.memory();
    let mut held: Vec<Option<Tensor>> = (0..256).map(|_| None).collect();
    let mut places = sizes(3, count, 256);
    for size in sizes(1, count, data.len()) {
        // Most are tiny: the test is about many tensors, not many bytes.
        let size = if size % 16 == 0 { size } else { size % 64 + 1 };
        let place = places.next().unwrap_or(1) - 1;
        held[place] = Some(device.upload(&data[..size], [size]).expect("it fits").0);
    }
    let live: usize = held.iter().flatten().map(|t| t.shape().elements()).sum();
    assert_eq!(device.memory().bytes_live, live as u64, "what is held is what is live");
    held.clear();
    assert_eq!(device.memory().bytes_live, 0, "nothing is live");
    device.trim().expect("trimming works");
    let after = device.memory();
    assert_eq!(after.bytes_reserved, before.bytes_reserved, "everything went back");
    assert_eq!((after.tensors, after.buffers), (0, 0), "no tensor and no buffer is left");
}

#[test]
fn freed_memory_is_reused_and_padding_is_counted() {
    let device = device(|caps| caps);
    let data = vec![1u32; 1 << 20];
    let (first, _) = device.upload(&data, [data.len()]).expect("it fits");
    let reserved = device.memory().bytes_reserved;
    drop(first);
    let memory = device.memory();
    assert_eq!((memory.bytes_live, memory.bytes_pooled), (0, reserved), "it is pooled");
    let (second, _) = device.upload(&data[..1_000_000], [1_000_000]).expect("it fits");
    let memory = device.memory();
    assert_eq!(memory.bytes_reserved, reserved, "a slightly smaller tensor takes the same buffer");
    assert_eq!(memory.bytes_padding, reserved - 4_000_000, "and the rest is padding");
    assert_eq!(second.read_now::<u32>().expect("it reads"), &data[..1_000_000], "with its data");
}

/// As a cache does that is appended to: no size is ever asked for again.
#[test]
fn a_tensor_that_grows_does_not_leave_every_size_behind() {
    let device = device(|caps| caps);
    let (row, _) = device.upload(&vec![1f32; 1 << 20], [1, 1 << 20]).expect("4 MiB");
    let mut cache = row.clone();
    for _ in 1..32 {
        cache = Tensor::concat(&[&cache, &row], 0).expect("it fits");
        cache.compute().expect("there is memory");
    }
    let memory = device.memory();
    assert_eq!(memory.bytes_live, 33 << 22, "the row and the cache");
    assert!(memory.bytes_pooled <= (256 + 128) << 20, "{memory}");
}

/// Each is in use alone, so all the others are kept beyond what is.
#[test]
fn sizes_that_repeat_are_all_kept_in_the_end() {
    let device = device(|caps| caps);
    let mut reserved = Vec::new();
    for _ in 0..4 {
        for size in (0..16).map(|i| (1 << 20) + (i << 18)) {
            drop(device.zeros([2 * size], DType::F32).expect("8 MiB and more"));
        }
        reserved.push(device.memory().bytes_reserved);
    }
    assert!(reserved[0] <= (256 + 64) << 20, "the first time nobody knows: {reserved:?}");
    assert_eq!(reserved[2..], [reserved[3]; 2], "nothing is made anew");
}

/// Hundreds of tensors of mixed sizes under a cap, every second one dropped. A large one that fits
/// into no free range then arrives after an automatic trim and compaction.
#[test]
fn a_large_tensor_arrives_in_fragmented_memory() {
    let device = device(|caps| caps);
    device.set_cap(Some(24 << 20));
    let data: Vec<u8> = (0..1 << 20).map(|i| u8::try_from(i % 251).unwrap_or(0)).collect();
    let mut held: Vec<Option<(usize, Tensor)>> = Vec::new();
    for size in sizes(9, 600, 60_000) {
        match device.upload(&data[..size], [size]) {
            Ok((tensor, _)) => held.push(Some((size, tensor))),
            Err(error) => {
                assert!(error.is_out_of_memory(), "{error:?}");
                break;
            }
        }
    }
    assert!(held.len() > 300, "only {} fit", held.len());
    held.iter_mut().step_by(2).for_each(|slot| *slot = None);
    let before = device.memory();
    let large = before.bytes_pooled / 2;
    assert!(before.bytes_largest_free < large, "no range is as large:\n{before}");
    assert!(
        before.bytes_reserved + large > 24 << 20,
        "it does not fit under the cap as it is:\n{before}"
    );
    let count = usize::try_from(large).unwrap_or(0);
    let pattern: Vec<u8> = data.iter().copied().cycle().take(count).collect();
    let (tensor, _) = device.upload(&pattern, [count]).expect("it arrives");
    let after = device.memory();
    assert!(after.bytes_reserved <= 24 << 20, "the cap holds:\n{after}");
    assert!(
        after.bytes_pooled < before.bytes_pooled,
        "memory was moved together:\n{before}\n{after}"
    );
    assert_eq!(tensor.read_now::<u8>().expect("it reads"), pattern, "the large one is right");
    for (size, tensor) in held.into_iter().flatten() {
        assert_eq!(tensor.read_now::<u8>().expect("it reads"), &data[..size], "{size} bytes moved");
    }
}

#[test]
fn tensors_beyond_every_limit_are_cut_into_segments() {
    for binding in [1 << 16, 1 << 17, 1 << 20] {
        let device = device(|caps| {
            caps.with_limit(Limit::BindingBytes, binding).with_limit(Limit::BufferBytes, 1 << 20)
        });
        let data: Vec<u32> = (0..700_001).collect();
        let (tensor, receipt) = device.upload(&data, [data.len()]).expect("it fits");
        assert!(receipt.segments > 1, "{binding}: {} segments", receipt.segments);
        assert_eq!(tensor.read_now::<u32>().expect("it reads"), data, "binding {binding}");
    }
}

/// Small segments lie in slots that may be longer, and a whole slot is bound.
#[test]
fn what_is_bound_is_within_a_limit_that_is_no_power_of_two() {
    for binding in [1 << 16, 68 << 10, 100 << 10, 127 << 10, 1 << 17, 200 << 10] {
        let device = device(|caps| caps.with_limit(Limit::BindingBytes, binding));
        for bytes in [65_536, 70_000, 102_400, 110_000, 300_000] {
            let more = device.zeros([bytes / 4], DType::F32).and_then(|x| (x + 1.0)?.compute());
            more.unwrap_or_else(|error| panic!("{bytes} bytes, bound by {binding}: {error:?}"));
        }
    }
}

#[test]
fn fit_answers_before_anything_is_allocated() {
    let device = device(|caps| caps);
    let open = device.fit([1 << 28], DType::F32).expect("f32 is carried");
    let unknown = ": no cap is set, and whether there is room is not known";
    assert!(open.bytes_cap.is_none() && open.to_string().ends_with(unknown), "{open}");
    device.set_cap(Some((1 << 30) - 1));
    let fit = device.fit([1 << 28], DType::F32).expect("f32 is carried");
    assert_eq!(fit.bytes, 1 << 30, "bytes");
    assert!(!fit.fits && fit.segments == 9, "{fit}");
    let fit = device.fit([1000, 1000], DType::F16).expect("f16 is carried");
    assert!(fit.fits && fit.bytes == 2_000_000 && fit.bytes_staging == 2_000_000, "{fit}");
    assert_eq!(device.memory().bytes_reserved, 0, "nothing was allocated");
    let refused = device.fit([1], DType::F64).expect_err("f64 is refused");
    assert_eq!(refused.kind(), wharf::ErrorKind::Rejected, "{refused}");
    // `fit` answers at once even for sizes beyond any memory, and any number.
    let caps = Caps::webgpu_baseline();
    for sizes in [&[u64::MAX][..], &[1 << 63, 1 << 63], &[u64::MAX; 3]] {
        let fit = wharf::memory::fit_all(&caps, Some(u64::MAX - 1), sizes);
        assert!(!fit.fits && fit.bytes == u64::MAX || sizes.len() == 1, "{fit}");
    }
    assert!(device.fit([1 << 59], DType::U8).is_ok_and(|fit| !fit.fits), "an absurd size");
    // Without a cap too, and in segments as small as can be.
    device.set_cap(None);
    let fit = device.fit([1 << 59], DType::U8).expect("u8 is carried");
    assert!(!fit.fits && fit.to_string().ends_with(": there can be no such tensor"), "{fit}");
    let refused = device.zeros([1 << 59], DType::U8).expect_err("as `fit` says");
    assert_eq!(refused.kind(), wharf::ErrorKind::Limit, "{refused}");
    let caps = caps.with_limit(Limit::BindingBytes, 1 << 16);
    let fit = wharf::memory::fit_all(&caps, Some(1 << 30), &[u64::MAX]);
    assert!(!fit.fits && fit.segments == 0, "{fit}");
}

/// What was taken for the first segments is not kept where there is none for the last.
#[test]
fn a_tensor_that_is_refused_leaves_nothing_behind() {
    let device = device(|caps| caps.with_limit(Limit::BindingBytes, 1 << 20));
    let zeros = |bytes: usize| device.zeros([bytes], DType::U8);
    let held = zeros(1 << 20).expect("there is no cap");
    device.set_cap(Some(4 << 20));
    let before = device.memory();
    let error = zeros(7 << 19).expect_err("one of four segments finds no room");
    assert!(error.is_out_of_memory(), "{error:?}");
    let after = device.memory();
    let figures = |memory: &wharf::memory::Memory| {
        [memory.bytes_reserved, memory.bytes_pooled, memory.buffers]
    };
    assert_eq!(figures(&after), figures(&before));
    assert!(after.bytes_reserved_peak > before.bytes_reserved_peak, "some found room");
    drop(held);
}

#[test]
fn what_is_beyond_the_cap_empties_no_pool() {
    let device = device(|caps| caps);
    let zeros = |bytes: usize| device.zeros([bytes], DType::U8);
    drop(zeros(1 << 20).expect("there is no cap"));
    device.set_cap(Some(2 << 20));
    let error = zeros((2 << 20) + 1).expect_err("beyond the cap");
    assert!(error.is_out_of_memory(), "{error:?}");
    assert_eq!(device.memory().bytes_pooled, 1 << 20, "giving it back would not help");
}

/// Rows that are added lie in one piece, and so does a copy of as many as a segment holds: where a
/// driver has no room for it, that is a lack of memory, and not a limit.
#[test]
fn rows_that_are_added_find_memory_in_one_piece_or_none() {
    let most = [Limit::BindingBytes, Limit::BufferBytes];
    let device = device(|caps| {
        most.iter().fold(caps, |caps: Caps, &limit| caps.with_limit(limit, 17 << 20))
    });
    let sums = device.zeros([100, 5], DType::F32).expect("small");
    let rows = device.zeros([900_000, 5], DType::F32).expect("two segments");
    let index = device.zeros([900_000], DType::U32).expect("it fits");
    let added = || sums.index_add(0, &index, &rows)?.compute();
    device.fail(Call::Buffer, 12 << 20..u64::MAX);
    let error = added().expect_err("there is no room");
    assert!(error.is_out_of_memory(), "{error:?}");
    device.fail(Call::Buffer, 0..0);
    added().expect("there is room");
}

/// Sizes in between those that are handed out.
#[test]
fn what_is_told_binds_as_many_bytes_as_what_runs() {
    let device = device(|caps| caps);
    for count in [5, 1300, 17 << 10, 300_001] {
        let x = device.zeros([count], DType::F32).expect("small");
        let pads = [(1, 0)];
        for y in [&x + 1.0f32, x.pad(&pads, 2.0f32), x.sum(0)] {
            let y = y.expect("nothing is computed yet");
            let (told, watch) = (y.explain(), device.watch());
            y.compute().expect("it is recorded");
            let text = crate::forward::differ(&told, &watch.explanation());
            assert_eq!(text, None, "of {count}");
        }
    }
}

/// A fill writes whole quads up to the end, not all that was reserved.
#[test]
fn a_fill_writes_what_is_asked_for() {
    for (segment, most) in [(1 << 20, 293), (1 << 27, 295)] {
        let device = device(|caps| caps.with_limit(Limit::BindingBytes, segment));
        // In a slot of 80 KiB, and in buffers of a whole number of 64 KiB.
        for (count, groups) in [(17 << 10, 17), (300_001, most)] {
            let watch = device.watch();
            device.zeros([count], DType::F32).expect("small");
            let ran = watch.explanation();
            let all = ran.kernels.iter().flat_map(|run| &run.dispatches);
            let ran = all.map(|[x, y, z]| x * y * z).sum::<u32>();
            assert_eq!(ran, groups, "groups of 256 quads, of {count}");
        }
    }
}

#[test]
fn a_view_keeps_its_storage_and_costs_nothing() {
    let device = device(|caps| caps);
    let (tensor, _) = device.upload(&[1i32, 2, 3, 4, 5, 6], [2, 3]).expect("it fits");
    let live = device.memory();
    let row = tensor.slice(0, 1..2).expect("a view");
    drop(tensor);
    assert_eq!(device.memory(), live, "a view is no memory, and keeps its own");
    assert_eq!(row.read_now::<i32>().expect("it reads"), [4, 5, 6], "the second row");
}
