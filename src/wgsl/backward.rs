//! For tests: workgroups that take each other's places, the last one the first one's.
//!
//! Nothing says in which order groups run. Drivers on processors begin with the first, so that what
//! a group stores where a later one stores again, is seen by nobody there.

use std::sync::atomic::{AtomicBool, Ordering};

use super::assembled::Assembled;
use super::lines::begun;

static BACKWARD: AtomicBool = AtomicBool::new(false);

/// Has groups of all kernels of this process, which has written no text yet, run backward.
pub fn run_groups_backward() {
    BACKWARD.store(true, Ordering::Relaxed);
}

/// The text as it is to run. Its lines keep their numbers.
pub(super) fn turned(text: Assembled) -> Assembled {
    if BACKWARD.load(Ordering::Relaxed) { backward(&text) } else { text }
}

/// The text with its groups the other way round; as it is, if it has a group of another name.
#[must_use]
pub fn backward(text: &Assembled) -> Assembled {
    const GROUP: &str = "@builtin(workgroup_id) group: vec3<u32>,";
    if !text.wgsl.contains(GROUP) {
        return text.clone();
    }
    let named = text.wgsl.split_once("@builtin(num_workgroups) ");
    let (asked, groups) = match named.and_then(|(_, on)| on.split_once(':')) {
        Some((name, _)) => ("", name),
        None => (" @builtin(num_workgroups) forwards: vec3<u32>,", "forwards"),
    };
    let taken = format!("@builtin(workgroup_id) forward: vec3<u32>,{asked}");
    let given = format!("let group = {groups} - 1u - forward;");
    let wgsl = begun(&text.wgsl.replacen(GROUP, &taken, 1), &given).into();
    Assembled { wgsl, ..text.clone() }
}
