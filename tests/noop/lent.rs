//! Buffers that wharf and its caller share: who owns what, where it lies, and what is told when
//! something is wrong. What kernels make of them is in the gpu tier.

use wharf::caps::{CooperativeShape, Feature, Limit, fixtures};
use wharf::tensor::{BufferRange, Lent};
use wharf::testing::{Call, Inside, noop};
use wharf::{Adapter, DType, Device, Error, ErrorKind, Layout, Policy, Shape, Tensor, wgpu};

use crate::{device, promise};

const USAGE: wgpu::BufferUsages = wgpu::BufferUsages::STORAGE
    .union(wgpu::BufferUsages::COPY_SRC)
    .union(wgpu::BufferUsages::COPY_DST);

/// A buffer of the caller's own with these words.
fn own(device: &Device, words: &[u32]) -> wgpu::Buffer {
    let (size, mapped_at_creation) = (words.len() as u64 * 4, false);
    let descriptor =
        wgpu::BufferDescriptor { label: Some("mine"), size, usage: USAGE, mapped_at_creation };
    let buffer = device.wgpu_device().create_buffer(&descriptor);
    device.wgpu_queue().write_buffer(&buffer, 0, bytemuck::cast_slice(words));
    buffer
}

/// Elements from a place on, one after the other.
fn list(first: usize, length: usize) -> Layout {
    Layout::strided(Shape::new([length]).expect("a shape"), &[1], first).expect("a layout")
}

fn wrap(device: &Device, buffer: &wgpu::Buffer, layout: Layout) -> Tensor {
    device.wrap_buffer(buffer, layout, DType::U32).expect("it is wrapped")
}

fn upload(device: &Device, words: &[u32]) -> Tensor {
    device.upload(words, words.len()).expect("it fits").0
}

/// What lies in a range, copied out by commands of the caller's own.
fn seen(device: &Device, range: &BufferRange) -> Vec<u32> {
    let length = usize::try_from(range.bytes / 4).expect("a test is small");
    let copy = own(device, &vec![0; length.next_multiple_of(8)]);
    let (gpu, queue) = (device.wgpu_device(), device.wgpu_queue());
    let mut encoder = gpu.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    encoder.copy_buffer_to_buffer(&range.buffer, range.offset, &copy, 0, range.bytes);
    queue.submit([encoder.finish()]);
    wrap(device, &copy, list(0, length)).read_now().expect("it is read")
}

fn place(lent: &Lent) -> (&wgpu::Buffer, u64) {
    let [range] = lent.ranges() else { panic!("it is in one piece") };
    (&range.buffer, range.offset)
}

#[test]
fn a_wrapped_buffer_is_read_where_it_lies_and_is_nobodys_memory() {
    let device = device(|caps| caps);
    device.set_cap(Some(0));
    let before = device.memory();
    let mine = own(&device, &(0..64).collect::<Vec<u32>>());
    let rows = Layout::strided(Shape::new([2, 4]).expect("a shape"), &[4, 1], 13).expect("it is");
    let x = wrap(&device, &mine, rows);
    assert_eq!(x.read_now::<u32>().expect("it reads"), (13..21).collect::<Vec<u32>>());
    // What the caller writes is what is read next.
    device.wgpu_queue().write_buffer(&mine, 13 * 4, &[7; 8]);
    let sevens = u32::from_ne_bytes([7; 4]);
    assert_eq!(x.read_now::<u32>().expect("it reads")[..3], [sevens, sevens, 15]);
    let lent = x.lend().expect("it is lent");
    assert_eq!(place(&lent), (&mine, 0), "it is the buffer itself");
    assert_eq!((lent.layout(), lent.ranges()[0].bytes), (&rows, 256));
    let after = device.memory();
    assert_eq!((after.bytes_live, after.bytes_reserved, after.tensors), (0, 0, 0));
    drop((x, lent));
    device.trim().expect("it trims");
    assert_eq!(device.memory(), before, "as if it had never been");
}

#[test]
fn a_wrapped_buffer_beyond_a_binding_has_segments() {
    let device = device(|caps| caps.with_limit(Limit::BindingBytes, 1 << 16));
    let words: Vec<u32> = (0..300_000).collect();
    let mine = own(&device, &words);
    for (first, length) in [(0, 300_000), (16_383, 2), (100_001, 150_000), (299_999, 1)] {
        let x = wrap(&device, &mine, list(first, length));
        let read = x.read_now::<u32>().expect("it reads");
        assert!(read == words[first..first + length], "{length} from {first}");
    }
    let lent = wrap(&device, &mine, list(0, 8)).lend().expect("it is lent");
    let all: u64 = lent.ranges().iter().map(|range| range.bytes).sum();
    assert!(lent.ranges().len() > 10 && all == 1_200_000, "{lent:?}");
}

#[test]
fn what_is_lent_is_not_moved() {
    let device = device(|caps| caps);
    // The first slab has 256 slots, the next one begins.
    let mut all: Vec<Tensor> = (0..300).map(|i| upload(&device, &[i; 16])).collect();
    let (still, moving) = (all.pop().expect("300"), all.pop().expect("299"));
    all.truncate(1);
    let lent = still.lend().expect("it is lent");
    let was = moving.lend().expect("it is lent").ranges()[0].clone();
    assert_eq!(place(&lent).0, &was.buffer, "one slab holds both");
    device.compact().expect("it compacts");
    let again = still.lend().expect("it is lent");
    assert_eq!(place(&again), place(&lent), "it was moved");
    let now = moving.lend().expect("it is lent");
    assert_ne!(place(&now), (&was.buffer, was.offset), "the test moves nothing");
    for (tensor, lent, value) in [(&still, &lent, 299), (&moving, &now, 298)] {
        assert_eq!(seen(&device, &lent.ranges()[0]), [value; 16], "as the caller sees it");
        assert_eq!(tensor.read_now::<u32>().expect("it reads"), [value; 16], "as wharf sees it");
    }
    drop((lent, again));
    device.compact().expect("it compacts");
    let after = still.lend().expect("it is lent");
    assert_eq!(place(&after).0, place(&now).0, "what is lent no more is moved");
    assert_eq!(seen(&device, &after.ranges()[0]), [299; 16], "with its values");
}

/// Every order of so many things.
fn orders(n: usize) -> Vec<Vec<usize>> {
    let Some(last) = n.checked_sub(1) else { return vec![Vec::new()] };
    let longer = |order: Vec<usize>| {
        (0..n).map(move |at| {
            let mut order = order.clone();
            order.insert(at, last);
            order
        })
    };
    orders(last).into_iter().flat_map(longer).collect()
}

#[test]
fn guards_and_tensors_are_dropped_in_every_order() {
    enum Holder {
        Tensor { _kept: Tensor },
        Guard(Lent),
    }
    let words: Vec<u32> = (0..40).collect();
    let all = orders(4);
    assert_eq!(all.len(), 24);
    for order in all {
        let device = device(|caps| caps);
        let x = upload(&device, &words);
        let view = x.slice(0, 3..9).expect("a view");
        let lend = |x: &Tensor| Holder::Guard(x.lend().expect("it is lent"));
        let guards = [lend(&x), lend(&view)];
        let tensors = [x, view].map(|x| Holder::Tensor { _kept: x });
        let mut holders: Vec<Option<Holder>> =
            guards.into_iter().chain(tensors).map(Some).collect();
        for gone in &order {
            assert_eq!(device.memory().bytes_live, 160, "{order:?} before {gone}");
            device.trim().expect("it trims");
            device.compact().expect("it compacts");
            // Whoever takes memory that is still lent is seen.
            let other = upload(&device, &[0xdead; 40]);
            for holder in holders.iter().flatten() {
                let Holder::Guard(lent) = holder else { continue };
                assert_eq!(seen(&device, &lent.ranges()[0]), words, "{order:?} before {gone}");
            }
            drop(other);
            holders[*gone] = None;
        }
        assert_eq!(device.memory().tensors, 0, "{order:?} leaves something");
        device.trim().expect("it trims");
        assert_eq!(device.memory().bytes_reserved, 0, "{order:?} leaves something");
    }
}

#[test]
fn what_is_lent_for_writing_is_alone() {
    let device = device(|caps| caps);
    let mut all: Vec<Tensor> = (0..4).map(|i| upload(&device, &[i; 16])).collect();
    let mut large = upload(&device, &[9; 1 << 18]);
    let (first, others) = all.split_at_mut(1);
    let (second, rest) = others.split_at_mut(1);
    let bystanders: Vec<Lent> = rest.iter().map(|x| x.lend().expect("it is lent")).collect();
    let was = large.lend().expect("it is lent").ranges()[0].clone();
    let written = [first, second].map(|x| x[0].lend_mut().expect("it is lent"));
    let third = large.lend_mut().expect("it is lent");
    assert_eq!(place(&third), (&was.buffer, was.offset), "it was alone already");
    let places = [&*written[0], &*written[1], &*third].map(|lent| place(lent).0);
    assert!(places[0] != places[1] && places[1] != places[2], "they share a buffer");
    for lent in &bystanders {
        assert!(!places.contains(&place(lent).0), "a bystander lies beside");
    }
    // Beyond its own elements there is nothing that could be harmed.
    let (buffer, offset) = place(&written[0]);
    device.wgpu_queue().write_buffer(buffer, offset, &[1; 256]);
    drop((written, third));
    let ones = u32::from_ne_bytes([1; 4]);
    for (x, value) in all.iter().zip([ones, 1, 2, 3]) {
        assert_eq!(x.read_now::<u32>().expect("it reads"), [value; 16], "of {value}");
    }
    assert_eq!(large.read_now::<u32>().expect("it reads"), [9; 1 << 18], "the large one");
}

#[test]
fn what_is_lent_for_writing_beyond_a_binding_keeps_its_values() {
    let device = device(|caps| {
        caps.with_limit(Limit::BindingBytes, 1 << 18).with_limit(Limit::BufferBytes, 1 << 20)
    });
    let words: Vec<u32> = (0..201_001).collect();
    let mut x = upload(&device, &words);
    let was: Vec<wgpu::Buffer> = buffers(&x.lend().expect("it is lent"));
    let lent = x.lend_mut().expect("it is lent");
    let now = buffers(&lent);
    assert!(now.len() > 3 && was.len() == now.len(), "{} segments", now.len());
    assert!(now.iter().all(|buffer| !was.contains(buffer)), "slabs hold something else as well");
    let last = lent.ranges().last().expect("there are some");
    device.wgpu_queue().write_buffer(&last.buffer, last.offset, &[0; 4]);
    let first = words.len() - usize::try_from(last.bytes / 4).expect("a test is small");
    drop(lent);
    let mut want = words;
    want[first] = 0;
    assert!(x.read_now::<u32>().expect("it reads") == want, "other values");
}

fn buffers(lent: &Lent) -> Vec<wgpu::Buffer> {
    lent.ranges().iter().map(|range| range.buffer.clone()).collect()
}

#[test]
fn whoever_holds_the_memory_too_keeps_its_values() {
    type Hold = fn(&Device, &Tensor) -> Box<dyn Fn() -> Vec<u32>>;
    let reads = |x: Tensor| -> Box<dyn Fn() -> Vec<u32>> {
        Box::new(move || x.read_now::<u32>().expect("it reads")[..2].to_vec())
    };
    let holds: [(&str, bool, Hold); 4] = [
        ("nobody", true, |_, _| Box::new(|| vec![5; 2])),
        ("a clone", false, |_, x| {
            let x = x.clone();
            Box::new(move || x.read_now::<u32>().expect("it reads")[..2].to_vec())
        }),
        ("a view", false, |_, x| {
            let x = x.slice(0, 100..).expect("a view");
            Box::new(move || x.read_now::<u32>().expect("it reads")[..2].to_vec())
        }),
        ("a guard", false, |device, x| {
            let (device, lent) = (device.clone(), x.lend().expect("it is lent"));
            Box::new(move || seen(&device, &lent.ranges()[0])[..2].to_vec())
        }),
    ];
    for (who, in_place, hold) in holds {
        let device = device(|caps| caps);
        let mut x = upload(&device, &[5; 1 << 18]);
        let was = x.lend().expect("it is lent").ranges()[0].clone();
        let held = hold(&device, &x);
        let lent = x.lend_mut().expect("it is lent");
        let (buffer, offset) = place(&lent);
        assert_eq!((buffer, offset) == (&was.buffer, was.offset), in_place, "{who}");
        device.wgpu_queue().write_buffer(buffer, offset, &[2; 1 << 20]);
        drop(lent);
        assert_eq!(held(), [5; 2], "what {who} has");
        let twos = u32::from_ne_bytes([2; 4]);
        assert_eq!(reads(x)(), [twos; 2], "beside {who}");
    }
}

#[test]
fn an_instance_an_adapter_and_a_device_of_the_callers_own() {
    let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
    descriptor.backends = wgpu::Backends::NOOP;
    descriptor.backend_options.noop = wgpu::NoopBackendOptions::enabled();
    let instance = wgpu::Instance::new(descriptor);
    let theirs = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::NOOP)).remove(0);
    let asked = wgpu::DeviceDescriptor::default();
    let (gpu, queue) = pollster::block_on(theirs.request_device(&asked)).expect("it opens");
    let adapter = Adapter::from(theirs);
    let plan = adapter.negotiate(&Policy::exact());
    let device = adapter.adopt(&plan, gpu.clone(), queue.clone()).expect("it is adopted");
    assert_eq!(device.wgpu_device(), &gpu, "it is the caller's");
    let error = adapter.clone().adopt(&plan, gpu.clone(), queue.clone()).expect_err("once more");
    assert_eq!(error.to_string(), "the device is adopted already");
    assert_eq!(error.kind(), ErrorKind::Mismatch, "{error}");
    let most = u64::from(gpu.limits().max_storage_buffers_per_shader_stage);
    assert_eq!(device.caps().limits.storage_buffers_max, most, "no more than was asked for");
    assert!(adapter.caps().limits.storage_buffers_max > most, "the adapter has more");
    assert_eq!(upload(&device, &[1, 2, 3]).read_now::<u32>().expect("it reads"), [1, 2, 3]);
    let again = pollster::block_on(device.reopen()).expect("a fresh one of the same adapter");
    assert_eq!(upload(&again, &[4, 5]).read_now::<u32>().expect("it reads"), [4, 5]);
    drop(device);
    drop(adapter.adopt(&plan, gpu, queue).expect("nobody has it any more"));
}

/// Experimental features are the caller's promise, for the caller's device alone.
#[test]
fn a_promise_of_the_callers_is_not_repeated() {
    let mut caps = fixtures::lavapipe();
    caps.cooperative = vec![CooperativeShape { side: 16, factors: DType::F16, sums: DType::F32 }];
    let adapter = pollster::block_on(noop(caps)).expect("it opens");
    let promised = adapter.clone().experimental(promise::token());
    let theirs = pollster::block_on(promised.open(promised.negotiate(&Policy::exact())));
    let theirs = theirs.expect("it opens with what is experimental");
    let (gpu, queue) = (theirs.wgpu_device(), theirs.wgpu_queue());
    let plan = adapter.negotiate(&Policy::exact());
    let adopted = adapter.adopt(&plan, gpu.clone(), queue.clone()).expect("it is adopted");
    let has = |device: &Device| device.caps().has(Feature::CooperativeMatrix);
    assert!(has(&theirs) && has(&adopted), "it was created with it");
    let again = |device: &Device| pollster::block_on(device.reopen()).expect("it opens again");
    assert!(!has(&again(&adopted)), "nobody has promised this adapter anything");
    assert!(has(&again(&theirs)), "the promise was the adapter's");
}

#[test]
fn a_buffer_of_another_device_is_the_callers_fault() {
    let adapter = pollster::block_on(noop(fixtures::lavapipe())).expect("it opens");
    let open = || {
        let plan = adapter.negotiate(&Policy::exact());
        pollster::block_on(adapter.open(plan)).expect("it opens")
    };
    let (here, there) = (open(), open());
    let theirs = own(&there, &[0; 8]);
    let told = |error: Error, what: &str| {
        assert_eq!(error.kind(), ErrorKind::Foreign, "{error:?}");
        let begin = format!("{what}: wgpu refuses what it was given: ");
        assert!(error.to_string().starts_with(&begin), "{error}");
        assert!(
            error.help().is_some_and(|help| help.contains("`Device::wgpu_device`")),
            "{error:?}"
        );
    };
    let error = here.wrap_buffer(&theirs, list(0, 8), DType::U32).expect_err("another's");
    told(error, "wrap_buffer: binding");
    let x = upload(&here, &[1; 8]);
    told(x.copy_to_buffer(&theirs, 0).expect_err("another's"), "copy_to_buffer: copying");
    let encoder = there.wgpu_device().create_command_encoder(&Default::default());
    told(here.submit(encoder).expect_err("another's"), "submit");
    assert_eq!(x.read_now::<u32>().expect("nothing is lost"), [1; 8]);
    assert_eq!(upload(&there, &[2; 8]).read_now::<u32>().expect("nothing is lost"), [2; 8]);
}

/// A buffer that is mapped or destroyed while it is used, in all ways that wharf uses it.
#[test]
fn what_a_caller_does_to_a_buffer_is_told_to_the_caller() {
    let told = |error: &Error| {
        assert_eq!(error.kind(), ErrorKind::Foreign, "{error:?}");
        assert!(error.to_string().contains("wgpu refuses what it was given"), "{error}");
    };
    for destroyed in [true, false] {
        let device = device(|caps| caps);
        let (label, usage) = (Some("mine"), USAGE);
        let descriptor =
            wgpu::BufferDescriptor { label, size: 256, usage, mapped_at_creation: true };
        let mine = device.wgpu_device().create_buffer(&descriptor);
        let x = wrap(&device, &mine, list(0, 64));
        let bystander = upload(&device, &[3; 8]);
        if destroyed {
            mine.unmap();
            mine.destroy();
        }
        told(&x.read_now::<u32>().expect_err("a read"));
        told(&(&x + 1u32).and_then(|y| y.read_now::<u32>()).expect_err("a kernel"));
        told(&bystander.copy_to_buffer(&mine, 0).expect_err("a copy"));
        assert_eq!(bystander.read_now::<u32>().expect("a bystander is read"), [3; 8]);
        if !destroyed {
            mine.unmap();
            assert_eq!(x.read_now::<u32>().expect("it is there again"), [0; 64]);
        }
    }
}

#[test]
fn an_encoder_that_fails_takes_nothing_with_it() {
    let device = device(|caps| caps);
    let x = device.zeros([8], DType::U32).expect("it is recorded");
    let gpu = &device.wgpu_device();
    let mine = own(&device, &[4; 8]);
    let encoder = |bytes| {
        let mut encoder = gpu.create_command_encoder(&Default::default());
        let to = own(&device, &[0; 8]);
        encoder.copy_buffer_to_buffer(&mine, 0, &to, 0, bytes);
        (encoder, to)
    };
    let error = device.submit(encoder(64).0).expect_err("it copies more than there is");
    assert_eq!(error.kind(), ErrorKind::Foreign, "{error:?}");
    let profile = device.profile();
    device.fail(Call::Allocation, 0..u64::MAX);
    let error = device.submit(encoder(32).0).expect_err("there is no memory for parameters");
    assert!(error.is_out_of_memory(), "{error:?}");
    device.fail(Call::Allocation, 0..0);
    let before = device.ledger().control.count;
    let (right, to) = encoder(32);
    device.submit(right).expect("it is right");
    device.flush().expect("there is nothing left to submit");
    assert_eq!(device.ledger().control.count, before + 1, "what was recorded went along");
    assert_eq!(profile.report().expect("it is read").dispatches, 1, "what was submitted");
    assert_eq!(wrap(&device, &to, list(0, 8)).read_now::<u32>().expect("it reads"), [4; 8]);
    let empty = gpu.create_command_encoder(&Default::default());
    device.submit(empty).expect("nothing is recorded, nothing is encoded");
    assert_eq!(x.read_now::<u32>().expect("it is not poisoned"), [0; 8]);
}

type Use = fn(&Device, &mut Tensor, &wgpu::Buffer) -> Result<(), Error>;

/// Everything that uses buffers of the caller's own.
const CALLS: [(&str, Use); 4] = [
    ("lend", |_, x, _| x.lend().map(drop)),
    ("lend_mut", |_, x, _| x.lend_mut().map(drop)),
    ("wrap_buffer", |device, _, mine| {
        device.wrap_buffer(mine, list(0, 8), DType::U32)?.lend().map(drop)
    }),
    ("copy_to_buffer", |_, x, mine| x.copy_to_buffer(mine, 0)),
];

#[test]
fn without_memory_nothing_is_kept_and_the_next_call_succeeds() {
    for (name, call) in CALLS {
        let mut failures = 0;
        for n in 0..20 {
            let device = device(|caps| caps);
            let mine = own(&device, &[0; 8]);
            let mut x = (upload(&device, &[1; 8]) + 1u32).expect("it is deferred");
            device.fail(Call::Allocation, n..u64::MAX);
            if let Err(error) = call(&device, &mut x, &mine) {
                failures += 1;
                assert!(error.is_out_of_memory(), "{name} at {n}: {error:?}");
                assert!(error.to_string().starts_with(name), "{name} at {n}: {error}");
            }
            device.fail(Call::Allocation, 0..0);
            call(&device, &mut x, &mine).unwrap_or_else(|error| panic!("{name}: {error:?}"));
            x.read_now::<u32>().expect("it reads");
            drop(x);
            device.trim().expect("it trims");
            let memory = device.memory();
            assert_eq!((memory.tensors, memory.bytes_reserved), (0, 0), "{name} at {n} keeps some");
        }
        assert!((1..20).contains(&failures), "{name} met {failures} failures");
    }
}

#[test]
fn what_is_lost_or_failed_is_told_as_it_is() {
    for (name, call) in CALLS {
        let device = device(|caps| caps);
        let mine = own(&device, &[0; 8]);
        let mut x = upload(&device, &[1; 8]);
        let lent = x.lend().expect("it lives");
        device.wgpu_device().destroy();
        let error = call(&device, &mut x, &mine).expect_err(name);
        assert!(error.is_device_lost(), "{name}: {error:?}");
        drop(lent);
    }
    let device = device(|caps| caps);
    let mine = own(&device, &[0; 8]);
    let huge = device.ones((), DType::U32).and_then(|x| x.broadcast_to([1 << 30, 1 << 30]));
    let huge = huge.and_then(|x| (x + 1u32)?.slice(0, 0..1)?.slice(1, 0..8)).expect("deferred");
    let kept = huge.compute().expect_err("it is too large").to_string();
    for (name, call) in CALLS.into_iter().filter(|(name, _)| *name != "wrap_buffer") {
        let error = call(&device, &mut huge.clone(), &mine).expect_err(name);
        assert_eq!(error.kind(), ErrorKind::Limit, "{name}: {error:?}");
        assert_eq!(error.to_string(), format!("{name}: {kept}"), "the original error");
    }
}

/// A blocking read maps a large tensor where host memory is device memory; not while a caller's
/// commands may use it.
#[test]
fn what_is_lent_is_not_mapped() {
    let adapter = pollster::block_on(noop(fixtures::lavapipe())).expect("it opens");
    let plan = adapter.negotiate(&Policy::exact());
    let device = pollster::block_on(adapter.open(plan)).expect("it opens");
    let words: Vec<u32> = (0..3 << 20).collect();
    let x = upload(&device, &words);
    let mappable = x.lend().expect("it is lent").ranges()[0].buffer.usage();
    assert!(mappable.contains(wgpu::BufferUsages::MAP_READ), "the test maps nothing");
    std::thread::scope(|scope| {
        let reads = scope.spawn(|| {
            for _ in 0..40 {
                assert!(x.read_now::<u32>().expect("it reads") == words, "another value");
            }
        });
        let gpu = device.wgpu_device();
        while !reads.is_finished() {
            let lent = x.lend().expect("it is lent");
            for _ in 0..20 {
                let scope = gpu.push_error_scope(wgpu::ErrorFilter::Validation);
                let [range] = lent.ranges() else { panic!("it is in one piece") };
                let mut part = range.clone();
                part.bytes = 64;
                let found = seen(&device, &part);
                let raised = pollster::block_on(scope.pop());
                assert!(raised.is_none(), "a submission of the caller's failed: {raised:?}");
                assert_eq!(found, words[..16]);
            }
        }
        reads.join().expect("no read fails");
    });
}

/// Nor is a size that leaves 64 bits taken for one of no bytes.
#[test]
fn more_than_can_be_counted_is_not_copied_out() {
    let device = device(|caps| caps);
    let one = device.ones([1], DType::F32).expect("it fits");
    let many = one.broadcast_to([1usize << 62]).expect("a view takes no memory");
    let copied = many.copy_to_buffer(&own(&device, &[0; 64]), 0).expect_err("256 bytes");
    assert_eq!(copied.kind(), ErrorKind::Limit, "{copied}");
}

#[test]
fn a_failing_call_of_the_callers_own_is_told_unless_a_scope_of_theirs_catches_it() {
    let device = device(|caps| caps);
    let gpu = device.wgpu_device();
    let ask = || {
        let (label, usage, size) = (Some("mine"), USAGE, u64::MAX / 8 * 4);
        let mapped_at_creation = false;
        gpu.create_buffer(&wgpu::BufferDescriptor { label, size, usage, mapped_at_creation })
    };
    let scope = gpu.push_error_scope(wgpu::ErrorFilter::Validation);
    drop(ask());
    assert!(pollster::block_on(scope.pop()).is_some(), "no buffer is as large");
    upload(&device, &[1]).lend().map(drop).expect("it was caught");
    drop(ask());
    let error = device.upload(&[1u32], 1).expect_err("nobody has caught it");
    assert!(error.to_string().contains("label = 'mine'"), "{error}");
    assert!(error.help().is_some_and(|help| help.contains("error scopes")), "{error:?}");
}
