//! Choices on paper.

use super::*;
use crate::caps::breadth::Breadth;
use crate::caps::{Caps, Identity, Limits, fixtures};
use crate::shape::Shape;

/// What is chosen for sizes, where neighbours in B lie along k or not, begins with these words.
fn chooses(processor: Processor, rows: &[([usize; 4], bool, &str)]) {
    for &(dims, near_k, want) in rows {
        let got = choice(processor, dims, near_k);
        assert!(got.starts_with(want), "{processor:?}, {dims:?}, {near_k}: {got}, not {want}");
    }
}

fn choice(processor: Processor, [batch, m, n, k]: [usize; 4], near_k: bool) -> String {
    best(processor, Size { batch, m, n, k }, near_k).to_string()
}

fn gpu(caps: &Caps) -> Processor {
    Processor::of(Rig::on_paper(Target::Gpu, caps), DType::F32)
}

#[test]
fn the_table_says_what_it_chose_and_why() {
    let cpu = |size| choice(Processor::Cpu, size, false);
    assert_eq!(
        cpu([1, 1024, 1024, 1024]),
        "a tile of 16 x 16, 8 lanes, 1 along k: rate 1.00 of the largest tile's, 100 % used"
    );
    assert!(cpu([1, 512, 512, 512]).starts_with("a tile of 8 x 16, 8 lanes, 1 along k"));
    assert!(cpu([1, 1, 4096, 4096]).starts_with("a tile of 1 x 16, 8 lanes, 8 along k"));
    let along_k = |processor| choice(processor, [1, 1, 4096, 4096], true);
    let (plain, sharing) = (along_k(Processor::Cpu), along_k(Processor::CpuSharing));
    assert!(plain.starts_with("a tile of 1 x 4, 8 lanes, 1 along k"), "{plain}");
    assert!(sharing.starts_with("1 x 8 in 8 parts, by subgroups, 8 lanes, 1"), "{sharing}");
    assert!(cpu([1, 8, 64, 1 << 20]).contains("8 along k"), "deep k is split");
    let sharing = |size| choice(Processor::CpuSharing, size, false);
    assert!(sharing([1, 1024, 1024, 1024]).starts_with("a tile of 32 x 8"), "worth compiling");
    assert!(sharing([1, 512, 512, 512]).starts_with("a tile of 32 x 4"), "compiled sooner");
    assert!(sharing([1, 64, 1024, 1024]).starts_with("a tile of 16 x 8"), "few rows");
}

/// Copies pay where enough rows share them, and a pass is as long as B's panel stays in the cache.
#[test]
fn later_drivers_copy_where_it_pays() {
    let rows = [
        ([1, 1024, 1024, 1024], false, "strips of 8 x 16, 8 lanes, 1 along k"),
        ([1, 2048, 2048, 2048], false, "strips of 8 x 16, 8 lanes, 2 along k"),
        ([1, 2048, 2048, 2048], true, "strips of 8 x 16, 8 lanes, 2 along k"),
        ([1, 64, 4096, 4096], false, "strips of 8 x 16, 8 lanes, 4 along k"),
        ([1, 256, 64, 256], false, "strips of 8 x 8, 8 lanes, 1 along k"),
        ([1, 31, 4096, 4096], false, "a tile of 4 x 16, 8 lanes, 4 along k"),
        ([1, 4, 4096, 4096], false, "a tile of 4 x 16, 8 lanes, 1 along k"),
        ([1, 8, 1024, 1024], true, "a tile of 8 x 4, 8 lanes, 1 along k"),
        ([1, 128, 128, 128], false, "a tile of 8 x 4, 8 lanes, 1 along k"),
        ([1, 1, 4096, 4096], false, "a tile of 1 x 16, 8 lanes, 8 along k"),
        ([1, 1, 4096, 4096], true, "a tile of 1 x 4, 8 lanes, 1 along k"),
    ];
    chooses(Processor::CpuLater, &rows);
    let size = Size { batch: 1, m: 1024, n: 1024, k: 1024 };
    let in_place = |processor| best_in_place(processor, size, false).to_string();
    let (alone, sharing) = (in_place(Processor::CpuLater), in_place(Processor::CpuLaterSharing));
    assert!(alone.starts_with("a tile of 4 x 16"), "{alone}");
    assert!(sharing.starts_with("a tile of 16 x 4"), "{sharing}");
}

/// Where lanes load A together there is less to gain from a copy.
#[test]
fn later_drivers_that_share_copy_where_it_pays() {
    let rows = [
        ([1, 1024, 1024, 1024], false, "strips of 16 x 8, 8 lanes, 1 along k"),
        ([1, 1024, 1024, 1024], true, "strips of 16 x 8, 8 lanes, 1 along k"),
        ([1, 512, 512, 512], false, "strips of 16 x 4, 8 lanes, 1 along k"),
        ([1, 64, 4096, 4096], false, "strips of 16 x 8, 8 lanes, 2 along k"),
        ([1, 256, 64, 256], false, "a tile of 16 x 4, 8 lanes, 1 along k"),
        ([1, 128, 128, 128], false, "a tile of 16 x 4, 8 lanes, 1 along k"),
        ([1, 16, 4096, 4096], false, "strips of 16 x 8, 8 lanes, 1 along k"),
        ([1, 8, 4096, 4096], false, "a tile of 8 x 4, 8 lanes, 1 along k"),
        ([1, 4, 4096, 4096], false, "a tile of 4 x 8, 8 lanes, 1 along k"),
        ([1, 4, 4096, 4096], true, "a tile of 4 x 4, 8 lanes, 1 along k"),
        ([1, 1, 4096, 4096], false, "a tile of 2 x 8, 8 lanes, 1 along k"),
        ([1, 1, 4096, 4096], true, "a tile of 2 x 4, 8 lanes, 1 along k"),
    ];
    chooses(Processor::CpuLaterSharing, &rows);
    let rows = [
        ([1, 1024, 1024, 1024], false, "strips of 16 x 8, 8 lanes, 1 along k"),
        ([1, 8, 4096, 4096], false, "a tile of 8 x 16, 8 lanes, 1 along k"),
        ([1, 8, 4096, 4096], true, "a tile of 8 x 4, 8 lanes, 1 along k"),
        ([1, 4, 4096, 4096], false, "a tile of 4 x 16, 8 lanes, 1 along k"),
        ([1, 1, 4096, 4096], false, "a tile of 1 x 16, 8 lanes, 1 along k"),
        ([1, 1, 4096, 4096], true, "a tile of 2 x 4, 8 lanes, 1 along k"),
        ([1, 1, 1024, 1024], false, "a tile of 2 x 8, 8 lanes, 1 along k"),
    ];
    chooses(Processor::CpuLaterGathering, &rows);
}

/// From Mesa 26 on a multiplication and an addition are one instruction, and a copy into sheets
/// pays where B is larger than a core's cache and many rows share it.
#[test]
fn the_newest_drivers_fuse() {
    let later = fixtures::lavapipe();
    for (driver, want) in [
        ("Mesa 22.3.6 (LLVM 15.0.6)", Processor::CpuSharing),
        ("Mesa 25.0.7-2~bpo12+1 (LLVM 15.0.6)", Processor::CpuLaterSharing),
        ("Mesa 26.2.6-1 (LLVM 22.1.8)", Processor::CpuNewestSharing),
    ] {
        let identity = Identity { driver_info: driver.into(), ..later.identity.clone() };
        let limits = Limits { subgroup_min: 8, subgroup_max: 8, ..later.limits };
        let caps = Caps { identity, limits, ..later.clone() };
        let processor = Processor::of(Rig::on_paper(Target::Cpu, &caps), DType::F32);
        assert_eq!(processor, want, "{driver}");
        for scheme in [Scheme::Registers, Scheme::Fused, Scheme::Sheets] {
            let tile = Variant { scheme, rows: 16, quads: 1, lanes: 8 };
            assert!(processor.shares(&tile), "{driver}: {scheme:?}");
        }
    }
    let rows = [
        ([1, 1024, 1024, 1024], false, "a fused tile of 32 x 8 by sheets, 8 lanes, 1 along k"),
        ([1, 1024, 1024, 1024], true, "a fused tile of 32 x 8 by sheets, 8 lanes, 1 along k"),
        ([1, 512, 512, 512], false, "a fused tile of 32 x 8, 8 lanes, 1 along k"),
        ([1, 256, 1024, 4096], false, "a fused tile of 32 x 8, 8 lanes, 2 along k"),
        ([1, 64, 1024, 1024], false, "a fused tile of 32 x 8, 8 lanes, 1 along k"),
        ([1, 64, 64, 64], false, "a fused tile of 16 x 4, 8 lanes, 1 along k"),
        ([1, 8, 4096, 4096], false, "a fused tile of 8 x 16, 8 lanes, 1 along k"),
        ([1, 8, 4096, 4096], true, "a fused tile of 8 x 8, 8 lanes, 1 along k"),
        ([1, 1, 4096, 4096], false, "a fused tile of 1 x 32, 8 lanes, 1 along k"),
        ([1, 1, 1024, 4096], false, "a fused tile of 1 x 4, 8 lanes, 1 along k"),
        ([1, 1, 4096, 4096], true, "a fused tile of 1 x 4, 8 lanes, 1 along k"),
    ];
    chooses(Processor::CpuNewestSharing, &rows);
}

#[test]
fn shapes_meet_the_kernels_made_for_them() {
    let discrete = gpu(&fixtures::nvidia_vulkan());
    for (dims, near_k, want) in [
        ([1, 4096, 4096, 4096], false, "workgroup tiles of 64 x 64 by 16, 64 lanes, 1"),
        ([1, 512, 512, 512], false, "workgroup tiles of "),
        ([64, 128, 128, 128], true, "workgroup tiles of "),
        ([1000, 16, 16, 16], false, "workgroup tiles of 32 x 32"),
        ([1, 1, 4096, 4096], false, "1 x 64 in 16 parts, 256 lanes"),
        ([1, 1, 4096, 4096], true, "1 x 4 in 64 parts, by subgroups, 64 lanes, 1"),
        ([1, 3, 4096, 4096], true, "4 x 4 in 64 parts, by subgroups"),
        ([1, 64, 64, 1 << 16], true, "4 x 4 in 64 parts, by subgroups, 64 lanes, 1"),
        // Too few tiles for the cores of a GPU: parts of k side by side, alike but for the last.
        ([1, 64, 4096, 4096], false, "workgroup tiles of 64 x 64 by 16, 64 lanes, 4"),
        ([1, 64, 4096, 4095], false, "workgroup tiles of 64 x 64 by 16, 64 lanes, 4"),
        ([1, 64, 4096, 4072], false, "workgroup tiles of 64 x 64 by 16, 64 lanes, 4"),
        // Most of the lanes that stand along k would have none of it.
        ([1000, 16, 16, 16], true, "workgroup tiles of 32 x 32"),
    ] {
        let got = choice(discrete, dims, near_k);
        assert!(got.starts_with(want), "{dims:?}: {got}, not {want}");
    }
}

/// As many workgroups are wanted as there are cores for: fewer passes, and larger tiles.
#[test]
fn chips_of_few_cores_are_wanted_fewer_workgroups() {
    let caps = fixtures::nvidia_vulkan();
    let usual = Rig::on_paper(Target::Gpu, &caps);
    let timed = Rig { breadth: Breadth::of(&fixtures::apple_m2()), ..usual };
    let [broad, few] = [usual, timed].map(|on| Processor::of(on, DType::F32));
    for (dims, usual, other) in [
        (
            [1, 64, 4096, 4096],
            "workgroup tiles of 64 x 64 by 16, 64 lanes, 4 along k",
            "workgroup tiles of 64 x 64 by 16, 64 lanes, 1 along k",
        ),
        (
            [1, 64, 64, 1 << 16],
            "2 x 64 in 16 parts, 256 lanes, 4 along k",
            "workgroup tiles of 32 x 32 by 16, 64 lanes, 8 along k",
        ),
        ([1, 512, 512, 512], "workgroup tiles of 32 x 32", "workgroup tiles of 64 x 64"),
        ([1, 16, 4096, 4096], "2 x 64 in 16 parts", "4 x 64 in 8 parts"),
        ([1, 4096, 4096, 4096], "workgroup tiles of 64 x 64", "workgroup tiles of 64 x 64"),
    ] {
        for (processor, want) in [(broad, usual), (few, other)] {
            let got = choice(processor, dims, false);
            assert!(got.starts_with(want), "{dims:?}: {got}, not {want}");
        }
    }
}

/// As their compilers were seen to do (`scripts/isa`).
#[test]
fn processors_of_fewer_registers_get_smaller_tiles() {
    let by = |vendor, subgroup_min, dtype| {
        let mut caps = fixtures::nvidia_vulkan();
        (caps.identity.vendor, caps.limits.subgroup_min) = (vendor, subgroup_min);
        choice(
            Processor::of(Rig::on_paper(Target::Gpu, &caps), dtype),
            [1, 4096, 4096, 4096],
            false,
        )
    };
    let of = |vendor, subgroup_min| by(vendor, subgroup_min, DType::F32);
    for (vendor, subgroup_min, want) in [
        (0x10de, 32, "workgroup tiles of 64 x 64 by 16, 64 lanes"),
        (0x1002, 32, "workgroup tiles of 64 x 64 by 16, 64 lanes"),
        (0x1002, 64, "workgroup tiles of 128 x 64 by 16, 256 lanes"),
        (0x5143, 64, "workgroup tiles of 128 x 64 by 16, 256 lanes"),
        (0x8086, 8, "workgroup tiles of 128 x 64 by 16, lean, 256 lanes"),
        (0x8086, 16, "workgroup tiles of 128 x 64 by 16, lean, 256 lanes"),
    ] {
        let got = of(vendor, subgroup_min);
        assert!(got.starts_with(want), "{vendor:#x} from {subgroup_min}: {got}, not {want}");
    }
    // Products of integers spill at Intel where those of floats do not, and sums of 64 bits take
    // two registers anywhere, and lean ones of 64 x 64 more memory than a workgroup has here.
    for (vendor, subgroup_min, dtype, want) in [
        (0x8086, 8, DType::I32, "workgroup tiles of 64 x 64 by 16, lean, 256 lanes"),
        (0x8086, 8, DType::I64, "workgroup tiles of 32 x 64 by 16, lean, 128 lanes"),
        (0x10de, 32, DType::I32, "workgroup tiles of 64 x 64 by 16, 64 lanes"),
        (0x10de, 32, DType::F64, "workgroup tiles of 128 x 64 by 16, 256 lanes"),
        (0x1002, 64, DType::F64, "workgroup tiles of 128 x 64 by 16, 256 lanes"),
        (0x5143, 64, DType::I64, "workgroup tiles of 32 x 64 by 16, lean, 128 lanes"),
    ] {
        let got = by(vendor, subgroup_min, dtype);
        assert!(got.starts_with(want), "{vendor:#x} of {dtype}: {got}, not {want}");
    }
}

#[test]
fn lesser_machines_get_what_fits() {
    let large = [1, 4096, 4096, 4096];
    let mut tiny = Caps::webgpu_baseline();
    (tiny.limits.invocations_max, tiny.limits.group_storage_bytes_max) = (64, 1024);
    let got = choice(gpu(&tiny), large, false);
    assert!(got.starts_with("a tile of 4 x 4, 64 lanes"), "{got}");
    let wide = Processor::of(Rig::on_paper(Target::Gpu, &Caps::webgpu_baseline()), DType::F64);
    let got = choice(wide, large, false);
    assert!(got.starts_with("workgroup tiles of 64 x 32 by 8"), "{got}");
}

/// Quads of both tiles with their padding; and of the totals, where those are kept there.
#[test]
fn tiles_in_workgroup_memory_take_what_the_text_declares() {
    let group = |lean, [rows, quads]: [u32; 2], lanes, across, depth| {
        let scheme = Scheme::Group { across, depth, lean };
        Variant { scheme, rows, quads, lanes }.bytes_shared([4, 4]) / 16
    };
    assert_eq!(group(false, [8, 2], 256, 16, 16), 592 + 592);
    assert_eq!(group(true, [4, 1], 64, 32, 16), 72 + 552 + 256);
    // Stages of 64 rows and columns, whose squares of 16 by 16 have rows of 24, and a square of
    // each subgroup and one of zeros.
    let scheme = Scheme::Cooperative { side: 16, down: 2, across: 2, depth: 32 };
    let squares = Variant { scheme, rows: 32, quads: 8, lanes: 128 };
    assert_eq!(squares.bytes_shared([2, 4]), (32 / 16) * (4 + 4) * 16 * 24 * 2 + 5 * 256 * 4);
}

/// Sums are the same for any number of rows: by one kernel on a GPU; on a software driver by
/// kernels that add alike.
#[test]
fn a_choice_for_any_rows_is_made_for_those_that_stand_for_them() {
    let sizes = [1, 4, 64, 1024].map(|m| Size { batch: 1, m, n: 1024, k: 1024 });
    for chip in [fixtures::nvidia_vulkan(), fixtures::apple_m2(), Caps::webgpu_baseline()] {
        for judged in sizes {
            let want = best(gpu(&chip), judged, false).to_string();
            for size in sizes {
                let got = best_of_any(gpu(&chip), [judged, size], false).to_string();
                assert_eq!(got, want, "{size:?} on {}", chip.identity.name);
            }
        }
    }
    let any = |size| best_of_any(Processor::CpuLater, [sizes[2], size], false);
    assert!(sizes.map(any).iter().all(|of| of.variant.scheme == Scheme::Registers));
}

/// Both sides, as they are stored or transposed.
fn sides(dims: [[usize; 2]; 2], transposed: [bool; 2]) -> [Layout; 2] {
    [0, 1].map(|i| {
        let [rows, columns] = dims[i];
        let dense = |dims: [usize; 2]| Layout::dense(Shape::new(dims).unwrap());
        if transposed[i] { dense([columns, rows]).t().unwrap() } else { dense(dims[i]) }
    })
}

/// A decision on lavapipe, about f32.
fn decided(by: Chooser, dims: [[usize; 2]; 2], transposed: [bool; 2]) -> Decision {
    let (caps, sides) = (fixtures::lavapipe(), sides(dims, transposed));
    let (dtypes, result) = ([DType::F32; 2], DType::F32);
    let on = Rig::on_paper(Target::Cpu64, &caps);
    Question { on, sides, dtypes, result, by }.decide().unwrap()
}

#[test]
fn a_decision_says_how_the_sides_are_read() {
    let tables = Chooser::Tables;
    // A column by a row of results: lanes lie along the longer one.
    let tall = decided(tables, [[4096, 64], [64, 1]], [false, false]);
    assert!(tall.is_swapped, "{tall:?}");
    assert_eq!([tall.size.m, tall.size.n], [1, 4096]);
    assert_eq!(tall.sides[1].strides(), [1, 64], "the left side, transposed, is the right one");
    let wide = decided(tables, [[1, 64], [64, 4096]], [false, false]);
    assert!(!wide.is_swapped, "{wide:?}");
    // Who asks for a kernel gets it, in the order in which the sides were given, if it runs here.
    let asked = Choice { because: Because::Forced, ..tall.choice };
    let same = decided(Chooser::Asker(asked), [[4096, 64], [64, 1]], [false, false]);
    assert_eq!((same.is_swapped, same.choice), (false, asked));
    let scheme = Scheme::Cooperative { side: 16, down: 2, across: 2, depth: 32 };
    let variant = Variant { scheme, ..asked.variant };
    let foreign = Chooser::Asker(Choice { variant, ..asked });
    let other = decided(foreign, [[64, 64], [64, 64]], [false, false]).choice;
    assert!(matches!(other.because, Because::Best { .. }), "{other}");
}

/// Four products to an instruction leave Intel's registers what sums of floats leave them; others
/// are put together from parts there.
#[test]
fn bytes_that_lie_along_k_are_multiplied_by_fours() {
    let mut caps = fixtures::nvidia_vulkan();
    (caps.identity.vendor, caps.limits.subgroup_min) = (0x8086, 8);
    let (on, by) = (Rig::on_paper(Target::Gpu, &caps), Chooser::Tables);
    let small = "workgroup tiles of 64 x 64 by 16, lean, 256 lanes";
    let large = "workgroup tiles of 128 x 64 by 16, lean, 256 lanes";
    for (dtypes, k, turned, want, packs) in [
        ([DType::I8; 2], 1024, true, large, Some(true)),
        ([DType::U8; 2], 1024, true, large, Some(false)),
        ([DType::I8; 2], 1024, false, small, Some(true)),
        ([DType::I8; 2], 1004, true, small, Some(true)),
        ([DType::I8, DType::U8], 1024, true, small, None),
        ([DType::I16; 2], 1024, true, small, None),
    ] {
        let sides = sides([[4096, k], [k, 4096]], [false, turned]);
        let Decision { choice, packed, .. } =
            Question { on, sides, dtypes, result: DType::I32, by }.decide().unwrap();
        let got = choice.to_string();
        assert!(got.starts_with(want), "{dtypes:?}, k of {k}: {got}, not {want}");
        let signed = packs.map(|signed| Packed::Bytes { signed });
        assert_eq!(packed, signed, "{dtypes:?}");
    }
    // Parts of k are whole loads of sixteen where both sides are read by them, and else quads.
    let three = Choice::parse("group 8 deep 16 sums 4x4 lanes 64 passes 3").unwrap();
    for (k, turned, want) in [
        (560, true, vec![0..176, 176..352, 352..528, 528..560]),
        (560, false, vec![0..184, 184..368, 368..552, 552..560]),
        (40, true, vec![0..12, 12..24, 24..36, 36..40]),
        (32, true, vec![0..12, 12..24, 24..32]),
    ] {
        let (dtypes, by) = ([DType::I8; 2], Chooser::Asker(three));
        let sides = sides([[8, k], [k, 8]], [false, turned]);
        let decision = Question { on, sides, dtypes, result: DType::I32, by }.decide().unwrap();
        assert_eq!(decision.ranges(1 << 20), want, "k of {k}");
    }
}

/// A table may come from a device on the same adapter that was allowed more.
#[test]
fn what_was_tuned_is_obeyed_only_where_there_is_what_it_takes() {
    let obeyed = |target, caps: &Caps, text: &str| {
        let dense = Layout::dense(Shape::new([4096, 4096]).unwrap());
        let sides = [dense, dense.t().unwrap()];
        let (dtypes, result) = ([DType::F32; 2], DType::F32);
        let by = Chooser::Asker(Choice::parse(text).unwrap());
        let on = Rig::on_paper(target, caps);
        let choice = Question { on, sides, dtypes, result, by }.decide().unwrap().choice;
        choice.because == Because::Tuned
    };
    let (gpu, cpu) = (fixtures::nvidia_vulkan(), fixtures::lavapipe());
    let lower = |caps: &Caps, lower: fn(&mut Limits)| {
        let mut caps = caps.clone();
        lower(&mut caps.limits);
        caps
    };
    let alone = |caps: &Caps| caps.clone().without(Feature::Subgroup);
    let few = lower(&gpu, |limits| limits.invocations_max = 128);
    let narrow = lower(&gpu, |limits| limits.group_storage_bytes_max = 8192);
    for (target, more, less, text) in [
        (Target::Gpu, &gpu, alone(&gpu), "vector 1 subgroups sums 4x4 lanes 64 passes 1"),
        (Target::Gpu, &gpu, few, "vector 16 sums 1x4 lanes 256 passes 1"),
        (Target::Gpu, &gpu, narrow, "group 8 deep 16 sums 8x8 lanes 64 passes 1"),
        (Target::Cpu64, &cpu, alone(&cpu), "vector 1 subgroups sums 1x8 lanes 8 passes 1"),
    ] {
        assert!(obeyed(target, more, text), "where it was tuned: {text}");
        assert!(!obeyed(target, &less, text), "where less is allowed: {text}");
        assert!(obeyed(target, &less, "tile sums 4x4 lanes 64 passes 1"), "what runs anywhere");
    }
}
