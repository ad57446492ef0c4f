//! What a listing says that has nothing to choose.

use super::opener::{compiler_of, is_same, refused, threshold};
use super::*;
use crate::caps::Limit;
use crate::caps::fixtures::{apple_m2, dx12_without_dxc, lavapipe, navi21, nvidia_vulkan};
use crate::diagnosis::Obstacle;
use crate::error::Error;
use crate::gpu::cause::DeviceCause;

/// The error where these are listed, of which none is to be had.
fn told(adapters: &[Caps], wanted: Wanted) -> Error {
    let verdicts = choose(adapters, &wanted);
    let entries = adapters.iter().cloned().map(Adapter::on_paper).zip(verdicts);
    let entries = entries.map(|(adapter, verdict)| Listed { adapter, verdict }).collect();
    let findings = vec![Finding {
        cause: Obstacle::NodePermission,
        found: "a node is locked".into(),
        remedy: "unlock it".into(),
        blocking: true,
    }];
    let listing = Listing { entries, findings, notes: Vec::new(), wanted };
    listing.into_chosen().expect_err("there is none")
}

fn named() -> Wanted {
    Wanted::Named { text: "radeon".into(), from_env: true }
}

#[test]
fn where_nothing_is_listed_a_name_is_told_why() {
    for wanted in [named(), Wanted::Best { software: false }] {
        let error = told(&[], wanted);
        assert_eq!(error.to_string(), "no GPU adapter: a node is locked");
        assert_eq!(error.help().as_deref(), Some("unlock it"));
    }
    let other = told(&[lavapipe()], named());
    let text = "no adapter matches WHARF_ADAPTER=\"radeon\"; there is: 0: llvmpipe";
    assert!(other.to_string().starts_with(text), "{other}");
}

#[test]
fn hardware_that_is_unfit_comes_before_software() {
    let unfit = |caps: Caps| caps.with_limit(Limit::StorageBuffers, 2);
    let best = || Wanted::Best { software: false };
    let why = "cannot run wharf: storage_buffers_max is 2, wharf needs 5";
    let hardware = format!("AMD Radeon RX 6800 (RADV NAVI21) (vulkan) {why}");
    let beside = format!("{hardware}; the others are software");
    assert_eq!(told(&[lavapipe(), unfit(navi21())], best()).to_string(), beside);
    assert_eq!(told(&[unfit(lavapipe()), unfit(navi21())], best()).to_string(), hardware);
    let software = told(&[unfit(lavapipe()), lavapipe()], best()).to_string();
    assert!(software.starts_with("only software adapters"), "{software}");
    assert_eq!(told(&[unfit(navi21())], named()).to_string(), hardware);
}

/// Browsers hide what they are called.
#[test]
fn an_adapter_is_known_by_what_it_can_do() {
    let own = Caps::webgpu_baseline();
    assert!(is_same(&own, &own.clone()), "it is itself");
    assert!(!is_same(&own, &own.clone().with_limit(Limit::BufferBytes, 1 << 20)), "another");
    assert!(!is_same(&own, &navi21()), "another of another name");
    let [asked, unasked] = [true, false].map(|asked| nvidia_vulkan().with_experimental(asked));
    assert!(is_same(&asked, &unasked), "what is experimental is asked for");
}

#[test]
fn what_is_offered_instead_is_told() {
    let gone = |there: &[&str]| {
        let there = there.iter().map(|&name| name.to_owned()).collect();
        Error::from(AdapterCause::Gone { adapter: "this".into(), there })
    };
    assert_eq!(gone(&[]).to_string(), "the browser no longer offers this; there is none");
    let other = gone(&["that", "those"]);
    let told = "the browser no longer offers this; there is, able to do other things: that; those";
    assert_eq!(other.to_string(), told);
    assert!(other.help().is_some_and(|help| help.contains("`Adapter::best()`")), "{other:?}");
}

/// Whoever follows what is said of a loss gets another device.
#[test]
fn what_to_do_after_a_loss_is_told_by_backend() {
    let help = |caps: Caps| {
        let (reason, backend) = ("by the driver", caps.identity.backend);
        let [message, last] = [String::new(), String::new()];
        let lost = Error::from(DeviceCause::Lost { reason, message, last, backend });
        let refused = refused(&caps, "it is lost".into());
        [lost, refused].map(|error| error.help().unwrap_or_default())
    };
    let [lost, refused] = help(dx12_without_dxc());
    for help in [&lost, &refused] {
        assert!(help.contains("drop every tensor") && help.contains("`Adapter::best()`"), "{help}");
    }
    assert!(!lost.contains("reopen"), "there it cannot be: {lost}");
    let [lost, refused] = help(navi21());
    assert!(lost.contains("`device.reopen()`") && !lost.contains("set_cap"), "{lost}");
    assert!(refused.starts_with("choose another adapter"), "{refused}");
    let [lost, _] = help(apple_m2());
    let places = ["reopen", "set_cap", "watchdog"].map(|word| lost.find(word));
    assert!(places.is_sorted() && places[0].is_some(), "memory comes first: {lost}");
}

/// Where a card's window is full, the allocator goes elsewhere.
#[test]
fn vulkan_alone_may_fill_a_heap() {
    assert_eq!(threshold(wgpu::Backends::VULKAN), None);
    assert_eq!(threshold(wgpu::Backends::DX12), Some(95));
}

#[test]
fn no_compiler_is_asked_for_that_the_build_may_lack() {
    use wgpu::Dx12Compiler::{Auto, Fxc, StaticDxc};
    assert!(matches!([StaticDxc, Fxc, Auto].map(compiler_of), [Auto, Fxc, Auto]));
}
