//! The noop tier: the store and the crossing on wgpu's noop backend, which stores, copies and maps
//! but never computes. Limits are lowered at will, and failures injected.

#[cfg(test)]
mod again;
#[cfg(test)]
mod blocks;
#[cfg(test)]
mod bounds;
#[cfg(test)]
#[path = "../broken/runs.rs"]
mod broken_runs;
#[cfg(test)]
mod bundles;
#[cfg(test)]
mod chosen;
#[cfg(test)]
mod doors;
#[cfg(test)]
mod extents;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod files;
#[cfg(test)]
mod fits;
#[cfg(test)]
mod formats;
#[cfg(test)]
#[path = "../stories/forward.rs"]
mod forward;
#[cfg(test)]
mod fuzz;
#[cfg(test)]
mod large;
#[cfg(test)]
mod lent;
#[cfg(test)]
mod loads;
#[cfg(test)]
mod memory;
#[cfg(test)]
mod news;
#[cfg(test)]
mod paper;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod peak;
#[cfg(test)]
mod policies;
#[cfg(test)]
mod profiles;
#[cfg(test)]
#[allow(dead_code, reason = "here nothing is without wgpu's checks")]
#[path = "../gpu/promise.rs"]
mod promise;
#[cfg(test)]
#[path = "../../cli/doctor/passport/random.rs"]
mod random;
#[cfg(test)]
mod remarks;
#[cfg(test)]
mod runs;
#[cfg(test)]
#[path = "../stories/search.rs"]
mod search;
#[cfg(test)]
mod sets;
#[cfg(test)]
mod shadows;
#[cfg(test)]
mod shown;
#[cfg(test)]
mod slices;
#[cfg(test)]
mod stories;
#[cfg(test)]
#[path = "../stories/story.rs"]
mod story;
#[cfg(test)]
mod tuned;
#[cfg(test)]
mod writers;

/// A file for one test of this process, each of which has a thread.
#[cfg(test)]
fn scratch(name: &str) -> std::path::PathBuf {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    folder.join(format!("{name}-{}-{:?}", std::process::id(), std::thread::current().id()))
}

/// A device on the noop backend that has just this.
#[cfg(test)]
fn open(caps: wharf::caps::Caps) -> wharf::Device {
    pollster::block_on(async {
        let adapter = wharf::testing::noop(caps).await?;
        adapter.open(adapter.negotiate(&wharf::Policy::exact())).await
    })
    .expect("the noop backend opens")
}

/// One that has all that a usual software driver has.
#[cfg(test)]
fn capable() -> wharf::Device {
    open(wharf::caps::fixtures::lavapipe())
}

#[cfg(test)]
fn device(lower: impl FnOnce(wharf::caps::Caps) -> wharf::caps::Caps) -> wharf::Device {
    open(lower(wharf::caps::Caps::webgpu_baseline()))
}
