//! "No adapter" is diagnosed, not just reported.
//!
//! Two halves. *Reading* (`read.rs`) collects what a GPU loader would see - libraries, driver
//! manifests, variables, device nodes, the PCI bus - into a `Machine`, plain data; whatever
//! cannot be read stays unknown. *Judging* (this file, with `drivers.rs`, `hardware.rs` and
//! `variables.rs`) is pure: a table of judges, each of which looks at the machine from one side and
//! adds what it finds. The table stands in the order of likelihood; findings that explain the
//! missing adapter by themselves come before notes.

mod drivers;
mod finding;
mod hardware;
mod machine;
mod manifest;
mod platform;
mod read;
mod scene;
#[cfg(test)]
mod tests;
mod variables;

pub use finding::{Finding, Obstacle};
pub(crate) use machine::Machine;
use scene::Scene;
pub(crate) use variables::variables_in_force;

/// The judges, most likely cause first.
const JUDGES: [fn(&Scene<'_>, &mut Vec<Finding>); 18] = [
    variables::backend_compiled_out,
    variables::backend_variable,
    drivers::replaced,
    drivers::overlooked,
    drivers::filtered,
    drivers::loader_missing,
    hardware::nvidia_graphics,
    hardware::nvidia_versions,
    hardware::node_permission,
    hardware::vendor_driver,
    drivers::broken,
    drivers::none_installed,
    hardware::node_missing,
    hardware::wsl,
    drivers::gl_missing,
    variables::notes,
    drivers::unproven,
    hardware::nothing_listed,
];

/// Why no adapter, or no hardware adapter, is listed: most likely first, and what blocks before
/// what may.
///
/// `compiled` names the backends compiled in (`vulkan`, `gl`, `dx12`, `metal`, `webgpu`), `listed`
/// counts the adapters listed at all and `hardware` those of them that are no software.
pub(crate) fn diagnose(
    machine: &Machine,
    compiled: &[&'static str],
    listed: usize,
    hardware: usize,
) -> Vec<Finding> {
    let scene = Scene { machine, compiled, listed, hardware };
    let mut findings = Vec::new();
    for judge in JUDGES {
        judge(&scene, &mut findings);
    }
    findings.sort_by_key(|finding| !finding.blocking); // stable: likelihood stays the order within
    findings
}
