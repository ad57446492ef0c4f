//! What `fit` foretells, figure by figure: against the arithmetic of the store written down once
//! more, and against what an allocation then does.

use wharf::caps::{Caps, Limit, fixtures};
use wharf::memory::{Fit, fit_all};
use wharf::testing::noop;
use wharf::{DType, Device, HostView, Policy, Shipment};

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

fn open(caps: &Caps) -> Device {
    pollster::block_on(async {
        let adapter = noop(caps.clone()).await?;
        adapter.open(adapter.negotiate(&Policy::exact())).await
    })
    .expect("the noop backend opens")
}

/// Adapters with their usual limits and with others.
fn adapters() -> Vec<Caps> {
    let mut all = Vec::new();
    for caps in [Caps::webgpu_baseline(), fixtures::lavapipe()] {
        all.push(caps.clone().with_limit(Limit::StorageAlign, 256));
        all.push(caps.clone().with_limit(Limit::BindingBytes, MIB));
        all.push(caps.clone().with_limit(Limit::BindingBytes, 128 * KIB));
        all.push(caps);
    }
    all
}

/// Around every bound of the store: alignment, classes of slots, slabs, segments.
fn sizes() -> Vec<u64> {
    let edges = [32, 64, 80, 256, 320, 5 * KIB, 64 * KIB, 80 * KIB, 224 * KIB, 256 * KIB];
    let large = [320 * KIB, MIB - 64 * KIB, 3 * MIB, 4 * MIB - 64 * KIB, 4 * MIB, 5 * MIB];
    let around = |&size: &u64| [size - 1, size, size + 1];
    edges.iter().chain(&large).flat_map(around).chain([0, 1]).collect()
}

/// The slot of a slab: four sizes to an octave, all aligned.
fn slot(caps: &Caps, bytes: u64) -> u64 {
    let align = caps.limits.storage_align_bytes.max(64);
    let bytes = bytes.max(align);
    let octave = (0..64).map(|n| 1 << n).rfind(|&power: &u64| power <= bytes).unwrap_or(1);
    let step = (octave / 4).max(align);
    bytes.div_ceil(step) * step
}

/// The largest segment: a grain less than a shader can bind.
fn segment(caps: &Caps) -> u64 {
    let most = caps.limits.binding_bytes_max.min(caps.limits.buffer_bytes_max).min(1 << 32);
    match most / (64 * KIB) {
        0 | 1 => most / 32 * 32,
        grains => (grains - 1) * 64 * KIB,
    }
}

/// Segments, bytes that they occupy and bytes to reserve, of a tensor in a store that is empty.
fn foretold(caps: &Caps, bytes: u64, has_room: bool) -> [u64; 3] {
    let (segment, buffer) = (segment(caps), caps.limits.buffer_bytes_max);
    let (mut segments, mut occupied, mut reserved) = (0, 0, 0);
    // Of each class of slots: its slabs, and the free slots of the last.
    let mut classes = std::collections::BTreeMap::<u64, (u32, u64)>::new();
    let mut rest = bytes;
    while rest > 0 {
        let size = rest.min(segment);
        (rest, segments) = (rest - size, segments + 1);
        let slot = slot(caps, size);
        if size > 256 * KIB || slot > buffer {
            let large = size.div_ceil(64 * KIB) * 64 * KIB;
            // Seven places more where it may begin.
            let room = if has_room && size.div_ceil(32) * 32 >= 4 * MIB { 7 * 32 * KIB } else { 0 };
            occupied += large;
            reserved += large + room;
            continue;
        }
        let (slabs, free) = classes.entry(slot).or_default();
        if *free == 0 {
            *free = (((64 * KIB) << *slabs).min(2 * MIB) / slot).clamp(8, 1024).min(buffer / slot);
            *slabs += 1;
            reserved += *free * slot;
        }
        *free -= 1;
        occupied += slot;
    }
    [segments, occupied, reserved]
}

fn figures(fit: &Fit) -> [u64; 4] {
    [fit.segments, fit.bytes_padding, fit.bytes_reserve, fit.bytes_staging]
}

fn fit(device: &Device, bytes: u64) -> Fit {
    device.fit(bytes as usize, DType::U8).expect("u8 is stored")
}

#[test]
fn every_figure_is_what_arithmetic_says_and_an_upload_does() {
    let data = vec![0u8; 6 << 20];
    for (caps, bytes) in
        adapters().iter().flat_map(|caps| sizes().into_iter().map(move |size| (caps, size)))
    {
        let device = open(caps);
        device.set_cap(None);
        let [segments, occupied, reserve] = foretold(caps, bytes, caps.identity.is_software());
        let fit = fit(&device, bytes);
        let staging = bytes.div_ceil(4) * 4;
        let said = format!("{bytes} bytes: {fit:?}");
        assert_eq!(figures(&fit), [segments, occupied - bytes, reserve, staging], "{said}");
        assert_eq!((fit.bytes, fit.bytes_give_back, fit.fits), (bytes, 0, true), "{said}");
        assert_eq!(device.memory().bytes_reserved, 0, "{said}: nothing is allocated");
        let size = bytes as usize;
        let (tensor, receipt) = device.upload(&data[..size], size).expect("there is memory");
        assert_eq!([receipt.segments, receipt.bytes_device], [segments, occupied], "{said}");
        assert_eq!(device.memory().bytes_reserved, reserve, "{said}");
        drop(tensor);
        let again = self::fit(&device, bytes);
        assert_eq!(figures(&again), [segments, occupied - bytes, 0, staging], "{said}, again");
    }
}

/// Tensors come and go, so that slabs are partly used and buffers are kept.
#[test]
fn what_is_reserved_beside_others_is_what_was_foretold() {
    let data = vec![0u8; 6 << 20];
    for caps in adapters() {
        let device = open(&caps);
        device.set_cap(None);
        let mut held = std::collections::VecDeque::new();
        let all = sizes();
        for n in 0..3 * all.len() {
            let size = all[n * 17 % all.len()] as usize;
            let (fit, before) = (fit(&device, size as u64), device.memory().bytes_reserved);
            let (tensor, receipt) = device.upload(&data[..size], size).expect("there is memory");
            let padding = receipt.bytes_device - receipt.bytes_staged;
            let reserve = device.memory().bytes_reserved - before;
            let got = [receipt.segments, padding, reserve];
            assert_eq!(figures(&fit)[..3], got, "upload {n} of {size} bytes: {fit:?}");
            held.push_back(tensor);
            if n % 5 > 1 {
                held.pop_front();
            }
        }
    }
}

/// What is kept serves the request or goes back, not both; and a slab in use stays.
#[test]
fn what_is_free_counts_once() {
    let device = open(&fixtures::lavapipe());
    let data = vec![0u8; 64 << 20];
    drop(device.upload(&data, data.len()).expect("there is no cap"));
    device.set_cap(Some(32 * MIB));
    let fit = fit(&device, 64 * MIB);
    assert!(!fit.fits, "it is larger than the cap: {fit:?}");
    let part = self::fit(&device, 16 * MIB);
    assert!(part.fits && part.bytes_give_back > 0, "what is kept goes back: {part:?}");
    assert!(device.upload(&data, data.len()).is_err());
    assert!(device.upload(&data[..16 << 20], 16 << 20).is_ok());

    for caps in adapters() {
        let device = open(&caps);
        let (small, _) = device.upload(&[1u8], 1).expect("small");
        let slab = device.memory().bytes_reserved;
        for size in [512 * KIB, MIB - slab, MIB, MIB + 1] {
            device.set_cap(Some(MIB + slab / 2));
            let fit = self::fit(&device, size);
            let size = size as usize;
            let uploaded = device.upload(&data[..size], size);
            assert_eq!(uploaded.is_ok(), fit.fits, "{size} beside a slab of {slab}: {fit:?}");
            device.set_cap(None);
            drop(uploaded);
            let _ = device.trim();
        }
        drop(small);
    }
}

/// Small tensors that lie apart are moved together where that makes room.
#[test]
fn what_moving_makes_free_counts() {
    let device = open(&fixtures::lavapipe());
    let data = vec![0u8; 1 << 20];
    let mut held: Vec<_> =
        (0..400).map(|_| device.upload(&data[..4096], 4096).expect("small").0).collect();
    let mut n = 0;
    held.retain(|_| {
        n += 1;
        n % 40 == 0
    });
    let reserved = device.memory().bytes_reserved;
    device.set_cap(Some(reserved));
    let fit = fit(&device, 512 * KIB);
    assert!(fit.fits && fit.bytes_give_back > 0, "{fit:?}");
    assert!(device.upload(&data[..512 << 10], 512 << 10).is_ok(), "{fit:?}");
    assert_eq!(held.len(), 10);
}

#[test]
fn what_fits_under_a_cap_is_what_an_upload_finds() {
    let data = vec![0u8; 6 << 20];
    for caps in adapters() {
        for size in [100, 5 * KIB, 300 * KIB, 3 * MIB, 5 * MIB] {
            let [_, _, reserve] = foretold(&caps, size, false);
            for short in [0, 1] {
                let device = open(&caps);
                device.set_cap(Some(reserve - short));
                let fit = fit(&device, size);
                let figures = (fit.bytes_reserve, fit.bytes_give_back, fit.fits);
                assert_eq!(figures, (reserve, short, short == 0), "{size}: {fit:?}");
                let size = size as usize;
                let uploaded = device.upload(&data[..size], size);
                assert_eq!(uploaded.is_ok(), fit.fits, "{size}: {fit:?}");
            }
            // What the pool keeps of another size is given back.
            let device = open(&caps);
            drop(device.upload(&data, data.len()).expect("there is no cap that small"));
            let pooled = device.memory().bytes_pooled;
            device.set_cap(Some(pooled.max(reserve)));
            let fit = fit(&device, size);
            assert!(fit.fits, "{size}: {fit:?}");
            let over = (pooled + fit.bytes_reserve).saturating_sub(pooled.max(reserve));
            assert_eq!(fit.bytes_give_back, over, "{size}: {fit:?}");
            let size = size as usize;
            assert!(device.upload(&data[..size], size).is_ok(), "{size}: {fit:?}");
        }
    }
}

/// The first of a set leave room for the last, before they take any to begin apart.
#[test]
fn a_set_that_fits_goes_up_and_over() {
    let (caps, data) = (fixtures::lavapipe(), vec![0u8; 4 << 20]);
    let (from, mut shipment) = (open(&caps), Shipment::new());
    for n in 0..8 {
        let view = HostView::new(&data, data.len()).expect("it fits");
        shipment.add(n.to_string(), view).expect("new");
    }
    from.set_cap(None);
    let (set, _) = from.upload_set(&shipment).expect("there is no cap");
    for (cap, fits) in [(32 * MIB - 1, false), (32 * MIB, true), (33 * MIB, true), (34 * MIB, true)]
    {
        let fit = fit_all(&caps, Some(cap), &[4 * MIB; 8]);
        assert_eq!(fit.fits, fits, "{cap}: {fit:?}");
        let [up, over] = [0; 2].map(|_| {
            let device = open(&caps);
            device.set_cap(Some(cap));
            device
        });
        let carried = up.upload_set(&shipment);
        assert_eq!(carried.is_ok(), fits, "{cap}: {carried:?}");
        let moved = set.to_now(&over);
        assert_eq!(moved.is_ok(), fits, "{cap}: {moved:?}");
        let reserved = [up, over].map(|device| device.memory().bytes_reserved);
        let all = cap == 34 * MIB;
        assert!(!all || reserved == [fit.bytes_reserve; 2], "{reserved:?} for {fit:?}");
    }
}

/// What is free is not handed out beyond a cap that was lowered.
#[test]
fn what_is_free_counts_under_a_lower_cap() {
    let device = open(&fixtures::lavapipe());
    let zeros = || device.zeros([1 << 18], DType::F32);
    let mut all: Vec<_> = (0..8).map(|_| zeros().expect("there is memory")).collect();
    all.truncate(4);
    device.set_cap(Some(device.memory().bytes_live + 1000));
    let fits = || device.fit([1 << 18], DType::F32).expect("f32 is stored").fits;
    assert!(!fits() && zeros().is_err_and(|error| error.is_out_of_memory()), "beyond the cap");
    all.pop();
    assert!(fits() && zeros().is_ok(), "in place of one that is gone");
}

/// An adapter that nobody has opened may have no storage buffers at all.
#[test]
fn nothing_fits_where_nothing_can_be_bound() {
    for limit in [Limit::BindingBytes, Limit::BufferBytes] {
        let caps = Caps::webgpu_baseline().with_limit(limit, 0);
        let fit = fit_all(&caps, None, &[4096, 0, 80]);
        assert!(!fit.fits && fit.bytes == 4176, "{fit}");
        assert!(fit_all(&caps, None, &[]).fits && fit_all(&caps, None, &[0]).fits);
    }
}
