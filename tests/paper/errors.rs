//! Every error of shapes, layouts and plans: its kind, its message and its help, as exact text.

use std::ops::Range;

use wharf::caps::{Caps, Feature, Limit, fixtures};
use wharf::plan::negotiate;
use wharf::{Adapter, ErrorKind, IntoShape, Layout, Policy, Shape};

use super::support::{adapter, capable, says};

fn dense<const N: usize>(dims: [usize; N]) -> Layout {
    Layout::dense(Shape::new(dims).unwrap())
}

const BROADCAST: &str =
    "of two dimensions that differ one must be 1; `unsqueeze` adds an axis of length 1";
const ORDER: &str = "each axis once, in any order: 0 to 1";
const LONGER: &str = "only an axis of length 1 goes away; `select` takes one place of a longer one";
const OUTSIDE: &str = "an element at index i lies at offset + sum(i * stride); lower the shape, the strides \
                       or the offset";

#[test]
fn shapes() {
    says(
        Shape::new([1; 9]),
        ErrorKind::Shape,
        "rank 9 is above the largest, 8",
        "merge neighbouring axes until at most 8 are left",
    );
    let many = "shape [4294967296, 4294967296] has more than 9223372036854775807 elements";
    let help = "nothing has room for it: look at how its lengths were reckoned";
    says(Shape::new([1 << 32; 2]), ErrorKind::Shape, many, help);
    says([1 << 32; 2].into_shape(), ErrorKind::Shape, many, help);
    let (a, b) = (Shape::new([4, 2, 3]).unwrap(), Shape::new([5, 3]).unwrap());
    let text = "[4, 2, 3] and [5, 3] do not broadcast: 2 against 5 on axis 1";
    says(a.broadcast(&b), ErrorKind::Shape, text, BROADCAST);
    let long = Shape::new([1 << 40, 1]).unwrap();
    let wide = Shape::new([1 << 40]).unwrap();
    says(
        long.broadcast(&wide),
        ErrorKind::Shape,
        "shape [1099511627776, 1099511627776] has more than 9223372036854775807 elements",
        help,
    );
}

#[test]
fn views() {
    let layout = dense([2, 3]);
    let shape = ErrorKind::Shape;
    let no_axis = "axis 2 does not exist in [2, 3] of rank 2";
    let axes = "its axes are 0 to 1, counted from 0 or back from -1";
    says(layout.slice(2, 0..1), shape, no_axis, axes);
    says(layout.flip(2), shape, no_axis, axes);
    says(layout.squeeze(2), shape, no_axis, axes);
    says(layout.windows(2, 1, 1), shape, no_axis, axes);
    let text = "range 1..4 is outside axis 1 of length 3";
    let help = "the axis has `0..3`, of which this is `1..3`";
    says(layout.slice(1, 1..4), shape, text, help);
    let backwards = Range { start: 3, end: 2 };
    let (text, help) =
        ("range 3..2 on axis 1 ends before it begins", "the lower end comes first: `2..3`");
    says(layout.slice(1, backwards), shape, text, help);
    let step = "a step is at least 1 forwards, or -1 and below backwards";
    says(layout.slice_step(0, 0..2, 0), ErrorKind::Argument, "step 0 on axis 0", step);
    let text = "[0, 0] is not a permutation of the 2 axes";
    says(layout.permute([0, 0]), shape, text, ORDER);
    says(layout.permute([0; 0]), shape, "[] is not a permutation of the 2 axes", ORDER);
    let text = "[0] is not a permutation of the 0 axes";
    says(dense([]).permute([0]), shape, text, "a scalar has no axes");
    says(layout.squeeze(1), shape, "axis 1 has length 3, not 1", LONGER);
    let text = "windows of 4 with step 1 do not exist on axis 1 of length 3";
    says(layout.windows(1, 4, 1), shape, text, "at most 3 fit; `pad` makes the axis longer");
    let text = "windows of 2 with step 0 and dilation 1 on axis 1";
    let help = "a window, a step and a dilation are 1 or more";
    says(layout.windows(1, 2, 0), ErrorKind::Argument, text, help);
    says(
        dense([1; 8]).unsqueeze(0),
        shape,
        "rank 9 is above the largest, 8",
        "merge neighbouring axes until at most 8 are left",
    );
}

#[test]
#[expect(clippy::reversed_empty_ranges, reason = "ends below 0 count from the end")]
fn axes_and_places_as_they_are_given() {
    let (layout, shape) = (dense([2, 3]), ErrorKind::Shape);
    let (text, help) = (
        "axis -3 does not exist in [2, 3] of rank 2",
        "its axes are 0 to 1, counted from 0 or back from -1",
    );
    says(layout.flip(-3), shape, text, help);
    says(layout.slice(-3i64, ..), shape, text, help);
    let text = format!("axis {} does not exist in [2, 3] of rank 2", usize::MAX);
    says(layout.flip(usize::MAX), shape, &text, help);
    let rank = "`reshape`, `at` and `unsqueeze` change the rank";
    says(dense([3]).t(), shape, "[3] has rank 1, not 2 or more", rank);
    let text = "axis 1 does not exist in [3] of rank 1";
    let alone = "its axes are 0 alone, counted from 0 or back from -1";
    says(dense([3]).flip(1), shape, text, alone);
    let text = "axis -1 does not exist in [] of rank 0";
    says(dense([]).flip(-1), shape, text, "a scalar has no axes: `unsqueeze` adds one");
    let places = "its places are 0 to 2, counted from 0 or back from -1";
    let text = "no place for a new axis 3 in [2, 3] of rank 2";
    says(layout.unsqueeze(3), shape, text, places);
    let text = "no place for a new axis -4 in [2, 3] of rank 2";
    says(layout.unsqueeze(-4), shape, text, places);
    says(layout.permute([0, -2]), shape, "[0, -2] is not a permutation of the 2 axes", ORDER);
    says(layout.squeeze(-1), shape, "axis -1 has length 3, not 1", LONGER);

    let all = "the axis has `0..3`, of which this is `0..3`";
    let none = "the axis has `0..3`, of which this is `3..3`";
    let first = "the axis has `0..3`, of which this is `0..0`";
    let text = "range -4.. is outside axis -1 of length 3";
    says(layout.slice(-1, -4..), shape, text, all);
    says(layout.slice(1, 4..), shape, "range 4.. is outside axis 1 of length 3", none);
    says(layout.slice(1, ..=3), shape, "range ..=3 is outside axis 1 of length 3", all);
    says(layout.slice(1, ..-4), shape, "range ..-4 is outside axis 1 of length 3", first);
    let (text, help) =
        ("range 2..-2 on axis 1 ends before it begins", "the lower end comes first: `1..2`");
    says(layout.slice(1, 2..-2), shape, text, help);
    let (text, help) =
        ("range 2..=0 on axis 1 ends before it begins", "the lower end comes first: `0..3`");
    says(layout.slice(1, 2..=0), shape, text, help);
    let text = "range ..=-5 is outside axis 1 of length 3";
    says(layout.slice(1, ..=-5), shape, text, first);

    let text = "place 3 is outside axis -1 of length 3";
    says(layout.select(-1, 3), ErrorKind::Index, text, places);
    says(layout.at((.., -4)), ErrorKind::Index, "place -4 is outside axis 1 of length 3", places);
    let none = "an axis of length 0 has no places";
    says(dense([0]).at(0), ErrorKind::Index, "place 0 is outside axis 0 of length 0", none);
    let help = "at most one for each axis; those that are left out are taken whole";
    says(layout.at((0, .., 1)), shape, "places and ranges given: 3, axes of [2, 3]: 2", help);
}

#[test]
fn lengths_that_are_left_to_be_found() {
    let (layout, shape) = (dense([2, 3]), ErrorKind::Shape);
    let help = "a length is 0 or more; one of them may be -1, for what the others leave";
    says(layout.reshape([-1, -1]), shape, "[-1, -1] is no shape: -1 occurs more than once", help);
    says(layout.reshape([3, -2]), shape, "[3, -2] is no shape: -2 is no length", help);
    let large = 1i128 << 100;
    let text =
        format!("[{large}, -1] is no shape: {large} is more than can be counted, {}", usize::MAX);
    says(layout.reshape([large, -1]), shape, &text, help);
    let help = "the other lengths have to divide the number of elements";
    let text = "[2, 3] has 6 elements, no length of -1 makes [-1, 4] so many";
    says(layout.reshape([-1, 4]), shape, text, help);
    let text = "[2, 3] has 6 elements, no length of -1 makes [0, -1] so many";
    says(layout.reshape([0, -1]), shape, text, help);
    let text = "[0, 3] has 0 elements, no length of -1 makes [0, -1] so many";
    says(dense([0, 3]).reshape([0, -1]), shape, text, help);
    let text = "rank 9 is above the largest, 8";
    let help = "merge neighbouring axes until at most 8 are left";
    says(layout.reshape([-1; 9]), shape, text, help);
}

#[test]
fn shapes_of_views() {
    let layout = dense([2, 3]);
    let text = "[2, 3] does not broadcast to [3, 3]";
    says(layout.broadcast_to([3, 3]), ErrorKind::Shape, text, BROADCAST);
    let text = "[2, 3] does not broadcast to [3]";
    says(layout.broadcast_to([3]), ErrorKind::Shape, text, BROADCAST);
    let text = "[2, 3] has 6 elements, [4] has 4";
    let help = "the lengths multiply to as many; one may be -1: `reshape([-1, ..])`";
    says(layout.reshape([4]), ErrorKind::Shape, text, help);
    says(
        layout.t().unwrap().reshape([6]),
        ErrorKind::Layout,
        "[3, 2] with strides [1, 3] cannot be viewed as [6]",
        "`reshape_copied` copies what no view can express",
    );
}

#[test]
fn layouts() {
    let (shape, layout) = (Shape::new([2, 3]).unwrap(), ErrorKind::Layout);
    let text = "3 strides for a shape of rank 2";
    let help = "give one for each axis, 2 in all";
    says(Layout::strided(shape, &[1, 2, 3], 0), layout, text, help);
    let text = "layout reaches element -3, before the first";
    says(Layout::strided(shape, &[-3, 1], 0), layout, text, OUTSIDE);
    let text = "layout reaches elements 18446744073709551615 to 18446744073709551620, \
                data has 9223372036854775807";
    says(Layout::strided(shape, &[3, 1], usize::MAX), layout, text, OUTSIDE);
    let text = "layout reaches elements 0 to 5, data has 5";
    says(dense([2, 3]).check_within(5), layout, text, OUTSIDE);
}

/// Opens an adapter with a plan made for another.
fn open(own: Caps, planned: &Caps) -> wharf::Result<()> {
    let plan = negotiate(planned, &Policy::exact());
    pollster::block_on(adapter(own).open(plan)).map(drop)
}

#[test]
fn plans_and_adapters_that_do_not_belong_together() {
    says(
        open(fixtures::apple_m2(), &fixtures::navi21()),
        ErrorKind::Mismatch,
        "the plan was negotiated for AMD Radeon RX 6800 (RADV NAVI21), the adapter is Apple M2 \
         (metal)",
        "negotiate with the adapter that is opened",
    );
    let better = "negotiate from the adapter's own `caps()`, downgraded but never improved";
    let own = fixtures::lavapipe();
    says(
        open(own.clone().without(Feature::ShaderF64), &own),
        ErrorKind::Mismatch,
        "the plan asks llvmpipe (LLVM 15.0.6, 256 bits) (vulkan) for more than it has: shader-f64",
        better,
    );
    says(
        open(own.clone().with_limit(Limit::BindingBytes, 1 << 20), &own),
        ErrorKind::Mismatch,
        "the plan asks llvmpipe (LLVM 15.0.6, 256 bits) (vulkan) for more than it has: \
         binding_bytes_max 134217728 (it has 1048576)",
        better,
    );
    says(
        open(own.clone().with_limit(Limit::StorageAlign, 256), &own),
        ErrorKind::Mismatch,
        "the plan asks llvmpipe (LLVM 15.0.6, 256 bits) (vulkan) for more than it has: \
         storage_align_bytes 32 (it has 256)",
        better,
    );
}

#[test]
fn unfit_adapters() {
    let other = "choose another adapter: `Adapter::list()` shows them";
    let own = fixtures::navi21();
    says(
        open(own.clone(), &own.clone().without(Feature::Compute)),
        ErrorKind::Adapter,
        "AMD Radeon RX 6800 (RADV NAVI21) (vulkan) cannot run wharf: adapter lacks compute-shaders",
        other,
    );
    says(
        open(own.clone(), &own.with_limit(Limit::StorageBuffers, 2)),
        ErrorKind::Adapter,
        "AMD Radeon RX 6800 (RADV NAVI21) (vulkan) cannot run wharf: storage_buffers_max is 2, \
         wharf needs 5",
        other,
    );
}

#[test]
fn a_name_that_no_adapter_has() {
    let error = pollster::block_on(Adapter::find("no such adapter")).err().unwrap();
    let text = error.to_string();
    if pollster::block_on(Adapter::list()).entries.is_empty() {
        // Then it says why there is none.
        assert!(text.starts_with("no GPU adapter"), "{text}");
        return;
    }
    let start = "no adapter matches \"no such adapter\"; there is: ";
    assert!(text.starts_with(start) && text.len() > start.len(), "it lists what there is: {text}");
    assert_eq!(error.kind(), ErrorKind::Adapter, "{text}");
    let help = "name an adapter by its index, or by part of its name, vendor, driver or backend";
    assert_eq!(error.help().as_deref(), Some(help), "{text}");
}

#[test]
fn debug_prints_message_and_help() {
    let error = dense([2, 3]).broadcast_to([3]).err().unwrap();
    let want = "[2, 3] does not broadcast to [3]\n  \
                help: of two dimensions that differ one must be 1; \
                `unsqueeze` adds an axis of length 1";
    assert_eq!(format!("{error:?}"), want);
    assert_eq!(error.clone().to_string(), error.to_string(), "a clone says the same");
    assert!(!error.is_out_of_memory() && !error.is_device_lost(), "of its own kind only");
}

#[test]
fn errors_travel() {
    const fn travels<T: Clone + Send + Sync + 'static>(_: &T) {}
    travels(&Shape::new([1; 9]).err());
}

/// An executor with threads takes them.
#[test]
fn devices_tensors_and_futures_travel() {
    const fn travels<T: Send>(_: &T) {}
    let device = capable();
    let x = device.ones([2], wharf::DType::F32).unwrap();
    travels(&(&device, &x, device.synchronize(), x.read::<f32>(), x.to(&device)));
    travels(&(Adapter::best(), Adapter::list(), device.reopen()));
}
