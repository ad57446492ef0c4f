//! Which way a convolution takes.

use super::*;
use crate::caps::{Caps, fixtures};
use crate::kernel::plan::taps::Taps;
use crate::layout::Layout;
use crate::shape::Shape;

const SEGMENT: usize = 1 << 25;

/// Images of a size under square kernels, one element apart.
fn part(
    [images, channels, side]: [usize; 3],
    [rows, of_group, count]: [usize; 3],
    padding: usize,
) -> ConvPart {
    let mut taps = Taps::single(channels / of_group);
    for axis in 1..3 {
        taps.along(axis, [side, count], [1, 1], padding);
    }
    let dense = |dims: [usize; 5]| Layout::dense(Shape::new(dims).expect("a shape"));
    let input = dense([images, channels, 1, side, side]);
    ConvPart { taps, input, weight: dense([rows, of_group, 1, count, count]) }
}

fn way(part: ConvPart, dtype: DType, target: Target) -> ConvWay {
    part.way(dtype, SEGMENT, (Rig::on_paper(target, &Caps::webgpu_baseline()), false))
}

#[test]
fn every_way_has_its_convolutions() {
    let [gpu, cpu] = [Target::Gpu, Target::Cpu];
    for (why, part, on_gpu, on_cpu) in [
        ("a tap", part([2, 8, 9], [4, 8, 1], 0), "Pointwise", "Pointwise"),
        ("a tap with a border", part([2, 8, 9], [4, 8, 1], 1), "InPlace", "Lines"),
        ("long lines", part([1, 64, 56], [64, 64, 3], 1), "InPlace", "Lines"),
        ("short lines", part([1, 512, 7], [512, 512, 3], 1), "Windows", "Windows"),
        ("of many images", part([8, 512, 7], [512, 512, 3], 1), "InPlace", "Windows"),
        ("few terms", part([1, 56, 7], [512, 56, 3], 1), "InPlace", "Windows"),
        ("few rows", part([1, 512, 7], [15, 512, 3], 1), "InPlace", "Windows"),
        ("large windows", part([1, 4096, 28], [16, 4096, 3], 1), "InPlace", "Lines"),
        ("a row", part([2, 8, 9], [1, 8, 3], 1), "InPlace", "InPlace"),
        ("a row to a group", part([2, 8, 9], [8, 1, 3], 1), "InPlace", "InPlace"),
        ("two to a group", part([2, 8, 9], [16, 1, 3], 1), "InPlace", "Lines"),
        ("many terms", part([1, 9000, 3], [1, 9000, 3], 1), "TooDeep", "TooDeep"),
    ] {
        for (want, target) in [(on_gpu, gpu), (on_cpu, cpu)] {
            let got = format!("{:?}", way(part, DType::F32, target));
            assert!(got.starts_with(want), "{why} on {target:?}: {got}, not {want}");
        }
    }
    let long = part([1, 64, 56], [64, 64, 3], 1);
    assert_eq!(way(long, DType::F64, cpu), ConvWay::Windows, "lines are of f32");
    let deep = way(part([1, 9000, 3], [1, 9000, 3], 1), DType::F32, gpu);
    let ConvWay::TooDeep { terms, trips } = deep else { panic!("{deep:?}") };
    assert!(terms == 81_000 && trips > terms, "{trips}");
}

/// What is few workgroups for one GPU is enough for another, and among others an image is taken
/// as it is alone, where that matters.
#[test]
fn windows_are_copied_for_gpus_that_would_be_idle() {
    let of = |images, caps: &Caps, any| {
        let part = part([images, 512, 7], [512, 512, 3], 1);
        part.way(DType::F32, SEGMENT, (Rig::on_paper(Target::Gpu, caps), any))
    };
    let (broad, few) = (Caps::webgpu_baseline(), fixtures::apple_m2());
    assert_eq!(of(1, &broad, false), ConvWay::Windows);
    assert_eq!(of(1, &few, false), ConvWay::InPlace);
    for images in [1, 8, 1000] {
        assert_eq!(of(images, &broad, true), ConvWay::Windows, "{images} images");
    }
}

#[test]
fn every_step_has_its_parts() {
    let step = |part: ConvPart, segment| part.step(segment).expect("in bounds");
    let channels = part([2, 8, 9], [8, 1, 3], 1);
    let ConvStep::Depthwise(windows) = step(channels, SEGMENT) else { panic!("by themselves") };
    assert_eq!((windows.size, windows.taps), ([1, 3, 3], channels.taps));
    let all = part([2, 8, 9], [8, 8, 3], 1);
    assert!(matches!(step(all, SEGMENT), ConvStep::General), "all together");
    assert!(matches!(step(all, 2 * 8 * 81), ConvStep::General), "just a segment");
    let ConvStep::Halves(0, halves) = step(all, 2 * 8 * 81 - 1) else { panic!("two images") };
    assert_eq!(halves.map(|half| half.dims()), [[1, 8, 1, 9, 9]; 2]);
    let one = part([1, 100, 3], [1, 100, 3], 0);
    assert!(matches!(step(one, 899), ConvStep::TooLarge(900)), "{:?}", step(one, 899));
}

#[test]
fn windows_are_parted_above_what_is_copied_at_a_time() {
    assert!(!are_parted(&[1 << 12, 1 << 12]) && are_parted(&[1 << 12, (1 << 12) + 1]));
    assert!(are_parted(&[usize::MAX, 2]), "more than can be counted");
}
