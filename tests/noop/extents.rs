//! Sizes that no count of 32 or 64 bits must lose: on paper, where they take no memory.

use wharf::caps::fixtures;
use wharf::tensor::Pooling;
use wharf::{DType, Device, Error, ErrorKind, Policy, Result, Tensor};

use crate::device;

fn paper() -> Device {
    Device::on_paper(&fixtures::lavapipe(), &Policy::exact()).expect("it is on paper")
}

fn refused(made: Result<Tensor>) -> Error {
    made.and_then(|tensor| tensor.compute()).expect_err("nothing has so many elements")
}

/// One element, seen as often as that.
fn ones(device: &Device, times: usize) -> Tensor {
    let one = device.ones([1], DType::F32).expect("it fits");
    one.broadcast_to([times]).expect("a view takes no memory")
}

#[test]
fn reductions_of_more_than_32_bits_count() {
    let device = paper();
    device.set_cap(None);
    let x = device.blank([6_000_000_000], DType::F32).expect("paper is patient");
    for total in [x.sum(..), x.mean(..), x.amax(..)] {
        total.and_then(|total| total.compute()).expect("it is reduced part by part");
    }
}

/// Rows of whole quads that no segment holds: as many at once as one has.
#[test]
fn parts_of_what_has_more_than_31_bits_of_elements_are_written() {
    let device = paper();
    device.set_cap(None);
    let x = device.blank([3, 1_000_000_000], DType::F32).expect("paper is patient");
    x.cumsum(1).and_then(|sums| sums.compute()).expect("slab by slab");
}

#[test]
fn products_of_sizes_that_leave_64_bits_are_refused() {
    let device = paper();
    let many = ones(&device, 1 << 62);
    let sum = refused(many.sum(..));
    assert_eq!(sum.kind(), ErrorKind::Limit, "{sum}");
    refused(many.softmax(0));
    let rows = many.unsqueeze(1).and_then(|x| x.unsqueeze(2)).expect("a view");
    let product = refused(rows.matmul(&rows));
    assert_eq!(product.kind(), ErrorKind::Limit, "{product}");
}

/// What an axis without elements is multiplied with has no places.
#[test]
fn nothing_is_scattered_among_more_than_32_bits_of_columns() {
    let device = device(|caps| caps);
    let dims = [0, 1 << 16, 1 << 16];
    let (x, index) = (device.zeros(dims, DType::I32), device.zeros([0, 1, 1], DType::U32));
    let (x, index) = (x.expect("empty"), index.expect("empty"));
    type Way = fn(&Tensor, usize, &Tensor, &Tensor) -> Result<Tensor>;
    let ways: [Way; 4] =
        [Tensor::scatter, Tensor::scatter_add, Tensor::scatter_mul, Tensor::scatter_max];
    for way in ways {
        let y = way(&x, 0, &index, &x).expect("nothing goes nowhere");
        y.compute().expect("it is empty");
        assert_eq!(y.shape().dims(), dims);
    }
}

/// A view of windows has each of their axes twice.
#[test]
fn windows_over_four_axes_are_those_of_a_tensor_without_others() {
    let device = device(|caps| caps);
    let how = Pooling::new([2; 4]);
    let with_places = |x: &Tensor, how: &_| x.max_pool_with_indices(how).map(|(most, _)| most);
    let pools: [fn(&Tensor, &Pooling<4>) -> Result<Tensor>; 3] =
        [Tensor::max_pool, Tensor::avg_pool, with_places];
    let ones = |dims: &[usize]| device.ones(dims, DType::F32).expect("small");
    let (alone, beside) = (ones(&[4; 4]), ones(&[3, 4, 4, 4, 4]));
    for pool in pools {
        pool(&alone, &how).and_then(|y| y.compute()).expect("eight axes");
        for how in [how, how.stride([1; 4])] {
            let error = pool(&beside, &how).expect_err("nine");
            assert_eq!(error.kind(), ErrorKind::Shape, "{error}");
            assert!(error.to_string().contains("has 9 axes, above 8"), "{error}");
            assert!(error.help().is_some_and(|help| help.contains("`move_axis`")), "{error}");
        }
    }
}

/// Scans and transforms bind what lies between their passes, too.
#[test]
fn as_much_is_fused_as_an_adapter_binds_beside_what_passes_leave() {
    let device = device(|caps| caps);
    let lists = |n: usize, length: usize| -> Vec<Tensor> {
        (0..n).map(|_| device.upload(&vec![1.0f32; length], [length]).expect("it fits").0).collect()
    };
    let before = lists(7, 20_000).into_iter().reduce(|a, b| (a + b).expect("a sum"));
    let scanned = before.expect("seven").cumsum(0);
    scanned.and_then(|x| x.compute()).expect("seven are added, then scanned");
    let spectrum = device.upload(&[1.0f32; 88], [4, 11, 2]).expect("it fits").0;
    let after = (0..6).try_fold(spectrum.ifft(1, None).expect("a spectrum"), |sum, _| {
        sum + device.upload(&[1.0f32; 88], [4, 11, 2])?.0
    });
    after.and_then(|x| x.compute()).expect("a transform, and six are added");
}
