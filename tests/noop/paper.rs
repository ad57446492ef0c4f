//! Devices on paper: of every fixture the kernels, the memory and the receipts of a device that is
//! there, and nothing that only a driver has.

use std::sync::Arc;

use wharf::caps::{Caps, Limit, fixtures};
use wharf::ledger::Crossings;
use wharf::tensor::{Attention, Conv, Pooling};
use wharf::testing::noop;
use wharf::{DType, Device, ErrorKind, Layout, Policy, Shape, Tensor, wgpu};

use super::forward::{beside, forward};

fn paper(name: &str, policy: &Policy) -> Device {
    let all = fixtures::all();
    let caps = all.into_iter().find(|(fixture, _)| *fixture == name).expect("a fixture").1;
    Device::on_paper(&caps, policy).expect("it is on paper")
}

#[test]
fn every_fixture_explains_what_a_device_of_its_kind_does() {
    for (name, caps) in fixtures::all() {
        let paper = Device::on_paper(&caps, &Policy::exact()).expect("it is on paper");
        for tensor in forward(&paper).expect("it is recorded") {
            let told = tensor.explain();
            assert!(told.error.is_none() && told.dispatches() > 0, "{name}: {:?}", told.error);
        }
        // The backend that stores has some limits of its own.
        let most = [Limit::BufferBytes, Limit::BindingBytes, Limit::UniformBytes];
        let caps = most.iter().fold(caps, |caps, &limit| caps.with_limit(limit, (1 << 31) - 1));
        let paper = Device::on_paper(&caps, &Policy::exact()).expect("it is on paper");
        let adapter = pollster::block_on(noop(caps)).expect("there is a noop backend");
        let plan = adapter.negotiate(&Policy::exact());
        let there = pollster::block_on(adapter.open(plan)).expect("it opens");
        there.set_cap(None);
        assert_eq!(paper.target(), there.target(), "{name}: another class of kernels");
        let dispatches = beside(&there, &paper).unwrap_or_else(|text| panic!("{name}: {text}"));
        assert!(dispatches > 30, "{name}: a pass of {dispatches} dispatches");
        assert_eq!(paper.memory().driver, None, "{name}");
    }
}

/// Receipts are those of an upload, refusals too; the ledger has nothing.
#[test]
fn an_upload_is_negotiated_and_counted_and_crosses_nowhere() {
    let policy = Policy::exact().allow(DType::F64, DType::F32);
    let caps = fixtures::browser();
    let adapter = pollster::block_on(noop(caps.clone())).expect("there is a noop backend");
    let there = pollster::block_on(adapter.open(adapter.negotiate(&policy))).expect("it opens");
    let paper = Device::on_paper(&caps, &policy).expect("it is on paper");
    // More than a chunk, and not a multiple of one.
    let values: Vec<f64> = (0..100_003).map(|i| f64::from(i) / 3.0).collect();
    let receipts = [&there, &paper].map(|device| {
        let (tensor, receipt) = device.upload(&values, [values.len()]).expect("it is allowed");
        assert_eq!(tensor.dtype(), DType::F32);
        receipt
    });
    let figures = receipts.map(|r| (r.tally, r.bytes_host, r.bytes_staged, r.bytes_device, r.how));
    assert_eq!(figures[0], figures[1], "the receipt");
    assert!(figures[1].0.rounded > 60_000, "{:?}", figures[1].0);
    assert_eq!((there.ledger().up.bytes, paper.ledger().up.bytes), (400_012, 0));
    assert_eq!(paper.ledger().up.count, 0, "nothing crossed");
    let refused = [&there, &paper].map(|device| device.upload(&[1i64], [1]).expect_err("no i64"));
    assert_eq!(refused[0].to_string(), refused[1].to_string());
    let lossless = [&there, &paper].map(|device| {
        let strict = device.with_policy(&Policy::lossless());
        strict.upload(&[0.1f64], [1]).expect_err("it would change").to_string()
    });
    assert_eq!(lossless[0], lossless[1]);
    let _guard = paper.guard(Crossings::Deny);
    let denied = paper.upload(&[1.0f32], [1]).map_err(|error| error.kind());
    assert_eq!(denied.err(), Some(ErrorKind::Denied), "a guard guards on paper too");
}

/// Everything that needs somebody to do it, and what is said instead.
#[test]
fn what_needs_a_driver_says_so() {
    let device = paper("apple_m2", &Policy::exact());
    let mut x = device.blank([4, 4], DType::F32).expect("without values");
    let other = super::device(|caps| caps);
    let (here, _) = other.upload(&[1.0f32; 16], [4, 4]).expect("it is taken");
    let y = (&x * 2.0f32).expect("recorded");
    let gpu = device.wgpu_device();
    let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC;
    let (label, mapped_at_creation) = (None, false);
    let mine = gpu.create_buffer(&wgpu::BufferDescriptor {
        label,
        size: 64,
        usage: usage | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation,
    });
    let layout = Layout::dense(Shape::new([16]).expect("it is a shape"));
    let encoder = gpu.create_command_encoder(&wgpu::CommandEncoderDescriptor { label });
    let problem = wharf::tune::ProductSize::new(64, 64, 64, DType::F32).into();
    let adapter = device.adapter();
    let again = adapter.negotiate(&Policy::exact());
    let (raw, queue) = (other.wgpu_device(), other.wgpu_queue());
    let rows: [(&str, wharf::Result<()>); 14] = [
        ("reading", y.read_now::<f32>().map(drop)),
        ("reading", y.read_bytes_now().map(drop)),
        ("reading", y.read_as_now::<f64>().map(drop)),
        ("reading", y.slice(0, 1..2).and_then(|row| row.picture_now()).map(drop)),
        ("reading", pollster::block_on(x.read::<f32>()).map(drop)),
        ("lend: lending", x.lend().map(drop)),
        ("lend_mut: lending", x.lend_mut().map(drop)),
        ("wrap_buffer: sharing a buffer", device.wrap_buffer(&mine, layout, DType::F32).map(drop)),
        ("copy_to_buffer: sharing a buffer", x.copy_to_buffer(&mine, 0)),
        ("submitting", device.submit(encoder).map(drop)),
        ("moving", pollster::block_on(x.to(&other)).map(drop)),
        ("moving", pollster::block_on(here.to(&device)).map(drop)),
        ("tuning", device.tune_now(&[problem], |_| {}).map(drop)),
        ("adopting a device", adapter.adopt(&again, raw.clone(), queue.clone()).map(drop)),
    ];
    for (doing, result) in rows {
        let error = result.expect_err("nobody is there");
        let text = format!(
            "{doing} needs Apple M2 (metal) itself, of which only the capabilities are here"
        );
        assert_eq!((error.to_string(), error.kind()), (text, ErrorKind::OnPaper));
        assert!(error.help().is_some_and(|help| help.contains("Adapter::best()")), "{error:?}");
    }
    // What computes on the way to a read was recorded, and is seen.
    assert_eq!(device.memory().tensors, 2, "y has a value now, on paper");
    let error = other.blank([4], DType::F32).expect_err("it is here");
    assert_eq!(error.kind(), ErrorKind::Mismatch, "{error}");
}

/// No host memory is asked for before anything is there to be put in it.
#[test]
fn what_is_refused_takes_no_host_memory() {
    let device = paper("apple_m2", &Policy::exact());
    // More than a process can address.
    let x = device.blank([1 << 24, 1 << 24], DType::F32).expect("without values");
    let reads = || {
        let kinds = [
            x.read_now::<f32>().map(drop),
            x.read_as_now::<f64>().map(drop),
            x.read_bytes_now().map(drop),
        ];
        kinds.map(|read| read.expect_err("nobody is there").kind())
    };
    assert_eq!(reads(), [ErrorKind::OnPaper; 3]);
    let _guard = device.guard(Crossings::Deny);
    assert_eq!(reads(), [ErrorKind::Denied; 3]);
}

/// What a device does for itself goes on: a program meets its first error where it reads.
#[test]
fn a_program_runs_up_to_its_first_read() {
    let device = paper("lavapipe", &Policy::exact());
    assert_eq!(device.memory().bytes_cap, None, "nobody knows the memory of another machine");
    let results = forward(&device).expect("it is recorded");
    assert_eq!(device.prewarm(&results).expect("there is nothing to do"), 0);
    results.iter().for_each(|tensor| tensor.compute().expect("it is recorded"));
    device.flush().expect("nothing is there");
    device.synchronize_now().expect("nothing is waited for");
    pollster::block_on(device.synchronize()).expect("nothing is waited for");
    assert!(results[0].explain().kernels.is_empty(), "it has a value, on paper");
    drop(results);
    assert_eq!(device.memory().bytes_live, 0);
    assert!(device.trim().expect("it is given back") > 0);
    assert_eq!(device.memory().bytes_reserved, 0);
    let again = pollster::block_on(device.reopen()).expect("it is on paper");
    assert!(again.is_on_paper(), "another one on paper");
    let empty = again.zeros([0], DType::F32).expect("it is recorded");
    assert_eq!(empty.read_now::<f32>().expect("there is nothing to read").len(), 0);
}

/// 70 GB without a byte of them, and a cap that says what a card has.
#[test]
fn a_model_of_seventy_gigabytes_is_held_on_paper() {
    let device = paper("nvidia_vulkan", &Policy::exact());
    let layer = || device.blank([5000, 10_000], DType::Bf16);
    let model: Vec<_> = (0..700).map(|_| layer().expect("there is no cap")).collect();
    assert_eq!(device.memory().bytes_live, 70_000_000_000);
    assert!(device.memory().bytes_reserved >= 70_000_000_000, "{}", device.memory());
    device.set_cap(Some(80_000_000_000));
    let more: Vec<_> = (0..200).map_while(|_| layer().ok()).collect();
    assert!((90..100).contains(&more.len()), "{} more", more.len());
    let error = layer().expect_err("the cap");
    assert!(error.is_out_of_memory(), "{error}");
    drop(model);
    assert!(layer().is_ok(), "there is room again");
}

/// A device on paper is a device: threads share it.
#[test]
fn an_unfit_adapter_is_unfit_on_paper() {
    let caps = fixtures::browser().without(wharf::caps::Feature::Compute);
    let error = Device::on_paper(&caps, &Policy::exact()).expect_err("no compute shaders");
    assert_eq!(error.kind(), ErrorKind::Adapter, "{error}");
    let shared = Arc::new(paper("browser", &Policy::exact()));
    let there = Arc::clone(&shared);
    let made = std::thread::spawn(move || there.zeros([8], DType::F32).map(drop)).join();
    assert!(made.is_ok_and(|made| made.is_ok()), "made on another thread");
}

/// Windows of one image are copied a few lines at a time: all of them would be 1.1 GB.
#[test]
fn the_gradient_of_a_weight_fits_beside_one_large_image() {
    let device = paper("lavapipe", &Policy::exact());
    device.set_cap(Some(600 << 20));
    let zeros = |dims: [usize; 4]| device.zeros(dims, DType::F32).expect("it fits");
    let (image, arrives) = (zeros([1, 8, 2000, 2000]), zeros([1, 2, 1998, 1998]));
    let gradient = arrives.conv_weight_grad(&image, [3, 3], &Conv::new()).expect("it is deferred");
    gradient.compute().expect("there is room for some lines");
    assert_eq!(gradient.shape().dims(), [2, 8, 3, 3], "the shape");
}

/// Masks and lengths stay as long as they are, whatever of it they are broadcast over.
#[test]
fn no_mask_of_attention_becomes_a_matrix_of_scores() {
    let device = Device::on_paper(&Caps::webgpu_baseline(), &Policy::exact()).expect("on paper");
    let blank = |dims: &[usize], dtype| device.zeros(dims, dtype).expect("it is small");
    for (batch, mask) in [
        (&[2, 3][..], &[2, 1, 1, 1, 1024][..]),
        (&[2, 3], &[3, 1, 1, 1024]),
        (&[2, 3], &[1024, 1]),
        (&[6], &[6, 1, 1, 1024]),
    ] {
        let x = blank(&[batch, &[8, 1024, 16]].concat(), DType::F32);
        let how = Attention::new().masked(&blank(mask, DType::F32));
        let lengths = blank(batch, DType::U32);
        for how in [how.clone(), how.lengths(&lengths), Attention::new().lengths(&lengths)] {
            let told = x.attention(&x, &x, &how).expect("it fits").explain();
            assert!(told.error.is_none(), "{told}");
            // One of scores is 192 MiB.
            let made = told.bytes_allocated;
            assert!(made < 50 << 20, "{batch:?}, {mask:?}, {how:?}: {made} bytes");
        }
    }
}

/// Batches that lie in one segment each are one dispatch, not one each.
#[test]
fn batches_beyond_a_binding_take_a_few_dispatches() {
    let caps = Caps::webgpu_baseline().with_limit(Limit::BindingBytes, 1 << 20);
    let device = Device::on_paper(&caps, &Policy::exact()).expect("it is on paper");
    let ones = |dims: &[usize]| device.ones(dims, DType::F32).expect("it fits");
    for [a, b] in [
        [&[20_000, 4, 4][..], &[20_000, 4, 4][..]],
        [&[20_000, 3, 5], &[20_000, 5, 3]],
        [&[100, 200, 4, 4], &[100, 200, 4, 4]],
        [&[200, 1, 4, 4], &[1, 200, 4, 4]],
    ] {
        let told = ones(a).matmul(&ones(b)).expect("it is a product").explain();
        assert!(told.error.is_none(), "{told}");
        assert!(told.dispatches() < 100, "{a:?} by {b:?}: {}", told.dispatches());
    }
}

/// Places of a stride that take the same elements are one convolution, as where frames of a sound
/// are added up.
#[test]
fn a_wide_stride_takes_a_few_dispatches() {
    let device = Device::on_paper(&Caps::webgpu_baseline(), &Policy::exact()).expect("on paper");
    let ones = |dims: &[usize]| device.ones(dims, DType::F32).expect("it fits");
    let (x, w) = (ones(&[3, 400, 276]), ones(&[400, 1, 400]));
    for padding in [0, 200] {
        let how = Conv::new().stride([160]).padding([padding]);
        let told = x.conv_transpose1d(&w, None, &how).expect("it is a convolution").explain();
        assert!(told.error.is_none() && told.dispatches() < 20, "{padding}: {told}");
    }
}

/// What passes along k come to is no more than is counted, where the result is not.
#[test]
fn a_product_whose_result_fits_is_not_refused_for_its_passes() {
    let all = fixtures::all().into_iter().chain([("baseline", Caps::webgpu_baseline())]);
    for (name, caps) in all {
        let device = Device::on_paper(&caps, &Policy::exact()).expect("it is on paper");
        device.set_cap(None);
        for [m, k, n] in [[33_000, 140_000, 33_000], [1_000_000, 4400, 1100]] {
            let side = |dims: [usize; 2]| {
                let one = device.ones([1, 1], DType::F32).expect("one");
                one.broadcast_to(dims).expect("a view")
            };
            let told = side([m, k]).matmul(&side([k, n])).expect("a product").explain();
            assert!(told.error.is_none(), "{name}, {m} x {k} x {n}: {:?}", told.error);
        }
    }
}

/// There is nothing to read, and nothing was hit.
#[test]
fn nothing_that_was_picked_is_read() {
    let paper = paper("apple_m2", &Policy::exact());
    let x = paper.ones([3, 4], DType::F32).expect("small");
    let none = paper.zeros([3, 0], DType::I32).expect("small");
    let picked = x.gather(1, &none).expect("it is deferred");
    assert!(picked.read_now::<f32>().expect("there is nothing to read").is_empty());
}

#[test]
fn what_two_views_read_is_computed_once() {
    let device = paper("lavapipe", &Policy::exact());
    let x = device.blank([64, 64], DType::F32).expect("paper is patient");
    let product = x.matmul(&x).expect("it is recorded");
    let sum = product.t().and_then(|turned| &product + turned).expect("it is recorded");
    let told = sum.explain();
    let products = told.kernels.iter().filter(|kernel| kernel.name().contains("matmul"));
    assert_eq!(products.map(|kernel| kernel.dispatches.len()).sum::<usize>(), 1, "{told}");
}

/// An element of 289 windows is loaded 17 times, and what that came to 17 times.
#[test]
fn large_windows_are_pooled_by_rows_and_by_columns() {
    let paper = paper("nvidia_vulkan", &Policy::exact());
    let x = paper.zeros([1, 80, 80], DType::F32).expect("small");
    let names = |pool: fn(&Tensor, &Pooling<2>) -> wharf::Result<Tensor>, size, stride| {
        let how = Pooling::new([size; 2]).stride([stride; 2]);
        let kernels = pool(&x, &how).expect("they fit").explain().kernels;
        kernels.iter().map(|kernel| kernel.name().to_owned()).collect::<Vec<_>>()
    };
    let [highest, mean] = [Tensor::max_pool::<2>, Tensor::avg_pool::<2>];
    assert_eq!(names(highest, 17, 1), ["windows"; 2]);
    assert_eq!(names(mean, 17, 1), ["windows"; 2]);
    assert_eq!(names(highest, 17, 17).len(), 1, "each element is in one");
    assert_eq!(names(highest, 64, 1).len(), 2, "nothing is rounded");
    assert_eq!(names(mean, 63, 1).len(), 2);
    assert_eq!(names(mean, 64, 1).len(), 1, "too many roundings one after the other");
}
