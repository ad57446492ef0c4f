//! Which of several adapters is taken, and what the others are told.

use super::*;
use crate::caps::fixtures::{apple_m2, dx12_without_dxc, llvmpipe_gl, navi21, nvidia_vulkan};
use crate::caps::fixtures::{lavapipe, swiftshader};
use crate::caps::{Feature, Limit};

const HARDWARE: Wanted = Wanted::Best { software: false };
const ANYTHING: Wanted = Wanted::Best { software: true };

fn named(text: &str) -> Wanted {
    Wanted::Named { text: text.into(), from_env: false }
}

/// The verdicts, a line each.
fn told(adapters: &[Caps], wanted: &Wanted) -> Vec<String> {
    choose(adapters, wanted).iter().map(ToString::to_string).collect()
}

/// The index of the one that is taken.
fn taken(adapters: &[Caps], wanted: &Wanted) -> Option<usize> {
    let verdicts = choose(adapters, wanted);
    let chosen = verdicts.iter().filter(|v| **v == Verdict::Chosen).count();
    assert!(chosen <= 1, "more than one is chosen: {verdicts:?}");
    assert_eq!(verdicts.len(), adapters.len(), "a verdict each");
    verdicts.iter().position(|v| *v == Verdict::Chosen)
}

fn of_kind(device_type: DeviceType) -> Caps {
    let mut caps = nvidia_vulkan();
    caps.identity.device_type = device_type;
    caps.identity.name = device_type.name().into();
    caps
}

#[test]
fn discrete_comes_before_integrated_before_the_rest() {
    let order =
        [DeviceType::Discrete, DeviceType::Integrated, DeviceType::Virtual, DeviceType::Other];
    for first in 0..order.len() {
        let mut there: Vec<Caps> = order[first..].iter().copied().map(of_kind).collect();
        assert_eq!(taken(&there, &HARDWARE), Some(0), "best first: {:?}", &order[first..]);
        there.reverse();
        let last = there.len() - 1;
        assert_eq!(taken(&there, &HARDWARE), Some(last), "best last: {:?}", &order[first..]);
    }
    let there = [of_kind(DeviceType::Integrated), of_kind(DeviceType::Discrete)];
    assert_eq!(
        told(&there, &HARDWARE),
        ["after discrete (vulkan): its kind comes first", "chosen"]
    );
}

#[test]
fn what_is_settled_without_gl_stays_so() {
    let settled = |there: &[Caps], wanted: &Wanted| is_settled(there.iter(), wanted);
    let unfit = nvidia_vulkan().without(Feature::Compute);
    let by_gl = |kind| {
        let mut caps = of_kind(kind);
        caps.identity.backend = Backend::Gl;
        caps
    };
    use DeviceType::{Discrete, Integrated};
    for (there, want) in [
        (vec![of_kind(Integrated), of_kind(Discrete)], true),
        (vec![nvidia_vulkan(), lavapipe()], true),
        (vec![of_kind(Integrated)], false),
        (vec![lavapipe()], false),
        (vec![unfit], false),
        (vec![by_gl(Discrete)], false),
        (vec![], false),
    ] {
        for wanted in [HARDWARE, ANYTHING] {
            assert_eq!(settled(&there, &wanted), want, "{there:?}");
            let chosen = taken(&there, &wanted);
            for kind in [Discrete, Integrated, DeviceType::Cpu] {
                let more = [&there[..], &[by_gl(kind)]].concat();
                assert!(!want || taken(&more, &wanted) == chosen, "{kind:?} beside {there:?}");
            }
        }
        assert!(!settled(&there, &named("gl")), "an index counts all of them");
    }
}

#[test]
fn of_two_equal_cards_the_bus_names_one() {
    let there = ["0000:01:00.0", "0000:41:00.0"].map(|bus| {
        let mut caps = nvidia_vulkan();
        caps.identity.pci_bus = bus.into();
        caps
    });
    let rows = [("nvidia 0000:41:00.0", Some(1)), ("01:00.0", Some(0)), ("0000:81:00.0", None)];
    for (text, want) in rows {
        assert_eq!(taken(&there, &named(text)), want, "{text:?}");
    }
}

#[test]
fn software_is_taken_only_when_asked_for() {
    let there = [lavapipe(), llvmpipe_gl()];
    assert_eq!(told(&there, &HARDWARE), ["software, and none was asked for"; 2]);
    assert_eq!(
        told(&there, &ANYTHING),
        ["chosen", "after llvmpipe (LLVM 15.0.6, 256 bits) (vulkan): its backend comes first"]
    );
    assert_eq!(taken(&there, &named("llvmpipe")), Some(0), "a name asks for it");
    let there = [lavapipe(), apple_m2()];
    assert_eq!(told(&there, &HARDWARE), ["software, and none was asked for", "chosen"]);
    assert_eq!(told(&there, &ANYTHING), ["after Apple M2 (metal): its kind comes first", "chosen"]);
}

#[test]
fn a_name_is_an_index_or_words_out_of_the_identity() {
    let there = [nvidia_vulkan(), navi21(), lavapipe(), swiftshader(), llvmpipe_gl()];
    let rows = [
        ("0", Some(0)),
        (" 4 ", Some(4)),
        ("5", None),
        ("h100", Some(0)),
        ("NVIDIA H100", Some(0)),
        ("nvidia", Some(0)),
        ("amd", Some(1)),
        ("RADV", Some(1)),
        ("mesa gl", Some(4)),
        ("gl llvmpipe", Some(4)),
        ("llvmpipe vulkan", Some(2)),
        ("swiftshader", Some(3)),
        ("software", Some(2)),
        ("discrete", Some(0)),
        ("580.159", Some(0)),
        ("metal", None),
        ("h100 metal", None),
        ("radeonn", None),
        ("", None),
        ("   ", None),
        ("-1", None),
        ("99999999999999999999999", None),
    ];
    for (text, want) in rows {
        assert_eq!(taken(&there, &named(text)), want, "{text:?}");
    }
    assert_eq!(
        told(&there[..3], &named("radv")),
        ["does not match \"radv\"", "chosen", "does not match \"radv\""]
    );
}

#[test]
fn a_number_that_is_no_index_is_a_word_of_the_name() {
    let called = |name: &str| {
        let mut caps = nvidia_vulkan();
        caps.identity.name = name.into();
        caps
    };
    let there =
        [called("Arc 2"), called("GeForce RTX 4090/PCIe/SSE2"), called("Radeon 6800.5 (RADV)")];
    for (text, want) in [
        ("4090", Some(1)),
        ("2", Some(2)),
        ("409", None),
        ("6800", None),
        ("5", None),
        ("580", None),
    ] {
        assert_eq!(taken(&there, &named(text)), want, "{text:?}");
    }
}

#[test]
fn several_matches_are_ranked_like_the_best() {
    let there = [llvmpipe_gl(), lavapipe(), navi21()];
    assert_eq!(taken(&there, &named("mesa")), Some(2), "hardware before software");
    let twins = [nvidia_vulkan(), nvidia_vulkan()];
    assert_eq!(
        told(&twins, &HARDWARE),
        ["chosen", "after NVIDIA H100 80GB HBM3 (vulkan): it is listed first"]
    );
    assert_eq!(taken(&twins, &named("1")), Some(1), "an index tells twins apart");
}

#[test]
fn one_card_under_two_backends_is_taken_the_more_capable_way() {
    let vulkan = nvidia_vulkan();
    let mut gl = vulkan.clone();
    gl.identity.backend = Backend::Gl;
    let mut dx12 = dx12_without_dxc();
    dx12.identity.name.clone_from(&vulkan.identity.name);
    let there = [gl, dx12, vulkan];
    let because = "after NVIDIA H100 80GB HBM3 (vulkan): its backend comes first";
    assert_eq!(told(&there, &HARDWARE), [because, because, "chosen"]);
    assert_eq!(taken(&there, &named("h100 dx12")), Some(1));
}

#[test]
fn an_unfit_adapter_is_never_taken() {
    let unfit = [
        (nvidia_vulkan().without(Feature::Compute), "unfit: adapter lacks compute-shaders"),
        (
            nvidia_vulkan().with_limit(Limit::StorageBuffers, 2),
            "unfit: storage_buffers_max is 2, wharf needs 5",
        ),
    ];
    for (caps, why) in unfit {
        for wanted in [HARDWARE, ANYTHING, named("0"), named("nvidia")] {
            assert_eq!(told(std::slice::from_ref(&caps), &wanted), [why], "{wanted:?}");
        }
        assert_eq!(told(&[caps, apple_m2()], &HARDWARE), [why, "chosen"]);
    }
}

#[test]
fn nothing_there_is_nothing_chosen() {
    for wanted in [HARDWARE, ANYTHING, named("0")] {
        assert!(choose(&[], &wanted).is_empty(), "{wanted:?}");
    }
}
