//! The judging half against literal machines, the reading half against directory trees.

use super::machine::{
    Library, Machine, Manifest, ManifestState, NodeAccess, Nvidia, Os, Overlooked, PciGpu,
    RenderNode,
};
use super::{Finding, Obstacle, diagnose, variables_in_force};

mod hardware;
mod reading;
mod software;

fn manifest(name: &str, state: ManifestState) -> Manifest {
    Manifest { path: format!("/usr/share/vulkan/icd.d/{name}_icd.x86_64.json"), state }
}

fn gpu(vendor: u16, driver: Option<&str>) -> PciGpu {
    PciGpu { address: "0000:03:00.0".to_owned(), vendor, driver: driver.map(str::to_owned) }
}

fn node(group: Option<&str>, access: NodeAccess) -> RenderNode {
    let path = "/dev/dri/renderD128".to_owned();
    RenderNode { path, group: group.map(str::to_owned), access }
}

/// A healthy Debian machine with an AMD GPU.
fn healthy() -> Machine {
    Machine {
        vulkan: Library::Found,
        egl: Library::Found,
        installed: Some(vec![
            manifest("lvp", ManifestState::Loads),
            manifest("radeon", ManifestState::Loads),
        ]),
        nodes: vec![node(Some("render"), NodeAccess::Open)],
        gpus: Some(vec![gpu(0x1002, Some("amdgpu"))]),
        ..Machine::unknown(Os::Debian)
    }
}

fn with(mut machine: Machine, variables: &[(&str, &str)]) -> Machine {
    for (name, value) in variables {
        machine.variables.push(((*name).to_owned(), (*value).to_owned()));
    }
    machine
}

const BOTH: [&str; 2] = ["vulkan", "gl"];

/// What is found when nothing is listed.
fn none_listed(machine: &Machine) -> Vec<Finding> {
    diagnose(machine, &BOTH, 0, 0)
}

#[track_caller]
fn assert_first(findings: &[Finding], cause: Obstacle, blocking: bool, text: &str) {
    let first = findings.first().expect("a finding");
    assert_eq!((first.cause, first.blocking), (cause, blocking), "{first}");
    assert_eq!(first.to_string(), text);
}

#[track_caller]
fn assert_has(findings: &[Finding], cause: Obstacle, blocking: bool, text: &str) {
    let finding = findings.iter().find(|finding| finding.cause == cause);
    let finding = finding.unwrap_or_else(|| panic!("no {cause} in {findings:#?}"));
    assert_eq!(finding.to_string(), text);
    assert_eq!(finding.blocking, blocking, "{finding}");
}

#[test]
fn a_healthy_machine_has_no_findings() {
    assert_eq!(diagnose(&healthy(), &BOTH, 3, 1), []);
}

#[test]
fn every_cause_has_a_name_of_its_own() {
    let mut names: Vec<_> = Obstacle::ALL.iter().map(|o| o.name()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), Obstacle::ALL.len());
    assert_eq!(format!("{:>10}|", Obstacle::Wsl), "       wsl|");
}

#[test]
fn what_blocks_comes_before_notes() {
    let machine = with(healthy(), &[("VK_DRIVER_FILES", ""), ("WGPU_BACKEND", "vulkan")]);
    let causes: Vec<Obstacle> = none_listed(&machine).iter().map(|finding| finding.cause).collect();
    assert_eq!(
        causes,
        [Obstacle::DriverVariable, Obstacle::BackendVariable, Obstacle::NothingListed]
    );
}

#[test]
fn long_findings_wrap_at_a_hundred_columns_and_obey_no_control_characters() {
    let words = "word ".repeat(40);
    let finding = Finding::note(Obstacle::Wsl, format!("{words}\u{1b}[31m"), words.trim());
    let text = finding.to_string();
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    assert!(text.contains("?[31m") && !text.contains('\u{1b}'));
    assert_eq!(text.lines().filter(|line| line.starts_with("  (")).count(), 1);
}

#[test]
fn nothing_is_invented_for_an_unknown_machine() {
    let found = none_listed(&Machine::unknown(Os::Linux));
    assert_eq!(found.len(), 1);
    assert_first(
        &found,
        Obstacle::NothingListed,
        false,
        "no adapter is listed, not even a software one\n  (for a software one, install Mesa's \
         lavapipe; \
         it is used only with WHARF_ALLOW_SOFTWARE=1)",
    );
}
