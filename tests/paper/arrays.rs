//! Values that bring their shape along, and arrays of `ndarray` with any strides, on a device that
//! only stores.

use wharf::half::{bf16, f16};
use wharf::host::Sequence;
use wharf::ndarray::{ArrayD, ArrayView, ArrayViewD, Axis, Ix2, IxDyn, Slice, arr0, array, s};
use wharf::{DType, Element, ErrorKind, HostArray, Policy, Receipt};

use super::support::{Random, baseline, bits, capable, says};

/// What goes up, and comes down again.
fn carried<A: HostArray>(values: A) -> (Vec<A::Item>, Vec<usize>) {
    let (tensor, receipt) = capable().tensor(values).unwrap();
    assert!(receipt.is_exact(), "{receipt}");
    (tensor.read_now().unwrap(), tensor.shape().dims().to_vec())
}

#[test]
fn literals_have_the_shape_that_they_are_written_in() {
    assert_eq!(carried(7u8), (vec![7], vec![]));
    assert_eq!(carried(true), (vec![true], vec![]));
    assert_eq!(carried([1, 2, 3]), (vec![1, 2, 3], vec![3]));
    assert_eq!(carried([[1.0, 2.0], [3.0, 4.0]]), (vec![1.0f64, 2.0, 3.0, 4.0], vec![2, 2]));
    assert_eq!(carried(&[[[5i64; 3]; 1]; 2]), (vec![5; 6], vec![2, 1, 3]));
    assert_eq!(carried(&&vec![[1u16, 2], [3, 4]]), (vec![1, 2, 3, 4], vec![2, 2]));
    assert_eq!(carried(&[1i8, 2, 3][1..]), (vec![2, 3], vec![2]));
    assert_eq!(carried([[0f32; 0]; 4]), (vec![], vec![4, 0]));
    assert_eq!(carried(Vec::<[bool; 2]>::new()), (vec![], vec![0, 2]));
    assert_eq!(carried([f16::ONE, f16::NAN]).0[0], f16::ONE);
    assert_eq!(
        carried([[[[[[[[bf16::ONE; 1]; 1]; 2]; 1]; 1]; 1]; 1]; 1]).1,
        [1, 1, 1, 1, 1, 2, 1, 1]
    );
    says(
        capable().tensor([[[[[[[[[1; 1]; 1]; 1]; 1]; 1]; 1]; 1]; 1]; 1]),
        ErrorKind::Shape,
        "rank 9 is above the largest, 8",
        "merge neighbouring axes until at most 8 are left",
    );
}

#[test]
fn iterators_of_known_length_are_handed_over_in_pieces() {
    assert_eq!(carried(Sequence([0.5f32; 3].into_iter())), (vec![0.5; 3], vec![3]));
    assert_eq!(carried(Sequence(core::iter::empty::<i64>())), (vec![], vec![0]));
    // More than what is staged at once.
    let many: Vec<u16> = (0..3_000_001u32).map(|i| (i % 65_521) as u16).collect();
    assert!(carried(Sequence(many.iter().copied())).0 == many, "other values");
    let backwards = Sequence(many.iter().rev().map(|x| f32::from(*x)));
    let want: Vec<f32> = many.iter().rev().map(|x| f32::from(*x)).collect();
    assert!(carried(&backwards).0 == want, "other values");
    says(
        backwards.host_view(),
        ErrorKind::Layout,
        "what an iterator yields lies nowhere as a whole",
        "`device.tensor` takes it as it is; elsewhere collect it",
    );
}

/// One that promises more than it has.
#[derive(Clone)]
struct Liar(core::ops::Range<i32>);

impl Iterator for Liar {
    type Item = i32;

    fn next(&mut self) -> Option<i32> {
        self.0.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.0.len() + 2, Some(self.0.len() + 2))
    }
}

impl ExactSizeIterator for Liar {}

#[test]
fn an_iterator_that_ends_early_is_refused_and_nothing_is_kept() {
    let device = capable();
    let before = device.memory().bytes_live;
    says(
        device.tensor(Sequence(Liar(0..400_000))),
        ErrorKind::Shape,
        "an iterator of 400002 elements ended after 400000",
        "its `len` promises more than it yields",
    );
    assert_eq!(device.memory().bytes_live, before, "something was kept");
}

#[test]
fn an_f64_that_is_not_carried_is_refused_with_the_suffix_in_the_help() {
    says(
        baseline(&Policy::exact()).tensor([[1.0, 2.0]]),
        ErrorKind::Rejected,
        "f64 cannot be stored: WebGPU baseline lacks shader-f64",
        "write numbers as f32: `1.0f32`; round and get a receipt: \
         `Policy::exact().allow(DType::F64, DType::F32)`; or keep only exact values: \
         `Policy::lossless()`",
    );
}

/// An array of these elements, some of which a view of it leaves out, repeats or turns.
fn twisted<'a, T>(random: &mut Random, array: &'a ArrayD<T>) -> ArrayViewD<'a, T> {
    let mut view = array.view();
    for axis in 0..view.ndim() {
        let (axis, dim) = (Axis(axis), view.shape()[axis]);
        match random.below(6) {
            0 => view.invert_axis(axis),
            1 => view.slice_axis_inplace(axis, Slice::new(0, None, 2)),
            2 => view.slice_axis_inplace(axis, Slice::new(0, None, -3)),
            3 => view.slice_axis_inplace(axis, Slice::from(random.below(dim + 1)..)),
            4 if view.ndim() > 1 => view.swap_axes(0, axis.0),
            _ => {}
        }
    }
    view
}

/// There and back, bit by bit; whether it is lent as a whole, and whether it lies in order.
fn there_and_back<T: Element>(random: &mut Random) -> (bool, bool) {
    let dims: Vec<usize> = (0..random.below(5)).map(|_| 1 + random.below(7)).collect();
    let values = random.values::<T>(dims.iter().product());
    let array = ArrayD::from_shape_vec(dims, values).unwrap();
    let part = twisted(random, &array);
    let repeated = [&[2 + random.below(3)], part.shape()].concat();
    let view = if random.below(3) == 0 { part.broadcast(repeated).unwrap() } else { part.view() };
    let what = format!("{:?} by {:?}", view.shape(), view.strides());
    let (tensor, receipt) = capable().tensor(&view).unwrap();
    let back = tensor.read_array_now::<T>().unwrap();
    let all = |view: ArrayViewD<'_, T>| view.iter().copied().collect::<Vec<T>>();
    assert_eq!(back.shape(), view.shape(), "{what}");
    assert_eq!(bits(&all(back.view())), bits(&all(view.view())), "{what}");
    assert_eq!(receipt.tally.exact, view.len() as u64, "{what}");
    assert_eq!(receipt.layout_from.shape().dims(), view.shape(), "{what}");
    if !view.is_empty() {
        assert_eq!(receipt.layout_from.strides(), view.strides(), "{what}");
    }
    (view.host_view().is_ok(), view.as_slice().is_some())
}

#[test]
fn arrays_of_any_strides_go_there_and_back() {
    let mut random = Random::new(77);
    let mut kinds = [0; 4];
    for _ in 0..150 {
        let of_each = [
            there_and_back::<f32>,
            there_and_back::<f16>,
            there_and_back::<bf16>,
            there_and_back::<f64>,
            there_and_back::<i8>,
            there_and_back::<u8>,
            there_and_back::<i16>,
            there_and_back::<u16>,
            there_and_back::<i32>,
            there_and_back::<u32>,
            there_and_back::<i64>,
            there_and_back::<u64>,
            there_and_back::<bool>,
        ];
        for there_and_back in of_each {
            let (is_lent, is_ordered) = there_and_back(&mut random);
            kinds[usize::from(is_lent) + 2 * usize::from(is_ordered)] += 1;
        }
    }
    let [gaps, twisted, _, ordered] = kinds;
    assert!(gaps > 300 && twisted > 300 && ordered > 300, "{kinds:?}");
    assert_eq!(kinds[2], 0, "what lies in order is lent");
}

/// What is lent is the array's own memory, whatever its strides.
#[test]
fn nothing_is_copied_where_an_array_has_no_gaps() {
    let owned = ArrayD::<f32>::zeros(IxDyn(&[4, 3, 5]));
    let turned = owned.view().permuted_axes(IxDyn(&[2, 0, 1]));
    let flipped = turned.slice(s![..;-1, .., ..;-1]);
    let view = flipped.host_view().unwrap();
    assert_eq!((view.layout().strides(), view.layout().offset()), (&[-1, 15, -5][..], 14));
    let whole = owned.broadcast(IxDyn(&[9, 4, 3, 5])).unwrap();
    assert_eq!(whole.host_view().unwrap().layout().strides(), [0, 15, 5, 1]);
    let scalar = arr0(2.5f64);
    assert_eq!(scalar.host_view().unwrap().iter().collect::<Vec<_>>(), [2.5]);
    let one = scalar.broadcast(1).unwrap();
    assert_eq!(one.host_view().unwrap().iter().collect::<Vec<_>>(), [2.5]);
}

#[test]
fn gaps_belong_to_somebody_else() {
    let array = array![[1, 2, 3], [4, 5, 6]];
    let columns = array.slice(s![.., ..;2]);
    says(
        columns.host_view(),
        ErrorKind::Layout,
        "array [2, 2] with strides [3, 2] has gaps, which are not its own",
        "`device.tensor` takes it as it is; elsewhere copy it: `as_standard_layout()`",
    );
    assert_eq!(carried(&columns), (vec![1, 3, 4, 6], vec![2, 2]));
    let nine = ArrayView::from_shape(IxDyn(&[1; 9]), &[1]).unwrap();
    assert!(nine.host_view().is_err() && capable().tensor(&nine).is_err(), "rank 9");
}

/// A conversion counts what it does to an array with gaps as to the same values in a row: beyond
/// what is handed over at once, too.
#[test]
fn a_receipt_of_an_array_is_that_of_its_values() {
    let policy = Policy::exact().allow(DType::F64, DType::F32);
    let device = baseline(&policy);
    let array = ArrayD::from_shape_fn(IxDyn(&[700, 601]), |at| 0.1 * (at[0] * at[1]) as f64);
    let view = array.slice(s![.., ..;2]).into_dimensionality::<Ix2>().unwrap();
    let (tensor, receipt) = device.tensor(view).unwrap();
    let values: Vec<f64> = view.iter().copied().collect();
    let (same, want) = device.upload(&values, [700, 301]).unwrap();
    assert!(receipt.tally.rounded > 0 && view.len() * 8 > 1 << 20, "{receipt}");
    let told = |receipt: &Receipt| (receipt.tally, receipt.to, receipt.how, receipt.bytes_host);
    assert_eq!(told(&receipt), told(&want));
    assert_eq!(
        tensor.read_array_now::<f32>().unwrap().into_raw_vec_and_offset().0,
        same.read_now::<f32>().unwrap()
    );
    assert!(tensor.read_array_now::<f64>().is_err(), "it is f32 now");
}

/// Of a large tensor only the edges cross.
#[test]
fn a_picture_brings_only_what_it_shows() {
    for (dims, shown) in [
        (&[1000][..], 1000),
        (&[1001], 6),
        (&[40, 40], 36),
        (&[300, 2, 2], 24),
        (&[2, 300, 300, 7], 2 * 6 * 6 * 6),
        (&[1, 5, 0], 0),
    ] {
        let device = capable();
        let x = device.zeros(dims, DType::I16).unwrap();
        let picture = x.picture_now().unwrap().to_string();
        assert!(picture.starts_with(&format!("i16 {dims:?} on llvmpipe")), "{picture}");
        assert_eq!(device.ledger().down.bytes, shown * 2, "{dims:?}: {picture}");
        assert_eq!(picture.matches("...").count() > 0, dims.iter().product::<usize>() > 1000);
    }
}
