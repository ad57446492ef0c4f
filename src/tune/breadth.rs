//! How many cores a GPU has: how long a workgroup takes alone, and among so many that they wait for
//! each other.
//!
//! A lane has four chains of multiplications and additions, so that a workgroup of 256 leaves a
//! core no time to spare: another one there takes as long again, and does not run in its pauses.
//! The way to the GPU and back, which is what a workgroup of no steps takes, does not count.

use crate::caps::breadth::Breadth;
use crate::clock::Stopwatch;
use crate::custom::Kernel;
use crate::device::Device;
use crate::dtype::DType;
use crate::error::Result;
use crate::gpu::Drive;
use crate::ledger::CallSite;
use crate::wgsl::Target;

const TEXT: &str = "
    struct Work { trips: u32, factor: f32 }
    @group(0) @binding(0) var<uniform> work: Work;
    @group(0) @binding(1) var<storage, read_write> sums: array<f32>;

    @compute @workgroup_size(256)
    fn cores(@builtin(global_invocation_id) at: vec3<u32>) {
        var x = vec4<f32>(0.0, 1.0, 2.0, 3.0) + f32(at.x);
        for (var i = 0u; i < work.trips; i++) {
            STEPS
        }
        sums[at.x] = x.x + x.y + x.z + x.w;
    }";
/// Steps of a trip; each comes nearer to twice the addend.
const STEPS: usize = 32;
const FACTOR: f32 = 0.5;

/// Invocations of a workgroup.
const LANES: usize = 256;
/// How often each is timed; the fastest counts.
const TRIES: usize = 3;
/// The fewest trips, and the most: llvmpipe leaves loops after twice as many.
const TRIPS: [u32; 2] = [64, 1 << 15];
/// How many times as long as the way to the GPU and back a workgroup should take.
const LONG: f64 = 8.0;
/// The fewest workgroups that are many, and the most; four times as many each time, until they
/// take so many times as long as one.
const GROUPS: [u32; 2] = [16, 4096];
const CROWDED: f64 = 6.0;

/// The cores of a device's GPU, of which a workgroup runs for so many seconds at least; nothing
/// where no time is given or seen.
pub(super) async fn timed_on(
    device: &Device,
    site: CallSite,
    seconds: f64,
) -> Result<Option<Breadth>> {
    if device.target() != Target::Gpu || seconds <= 0.0 {
        return Ok(None);
    }
    let step = "x = x * work.factor + 1.0; ".repeat(STEPS);
    let kernel = Kernel::from_wgsl("cores", &TEXT.replace("STEPS", &step))?;
    let time = async |[groups, trips]: [u32; 2]| {
        let clock = Stopwatch::start();
        let run = device.run(&kernel).set(&[trips, FACTOR.to_bits()]).groups([groups, 1, 1]);
        let [sums] = run.create("sums", [groups as usize * LANES], DType::F32).record()?;
        drop(sums.slice(0, 0..1)?.take_down(Drive::Wake, site).await?);
        Ok(clock.elapsed().as_secs_f64())
    };
    timed(seconds / 8.0, time).await.map_err(|error| error.during("timing cores"))
}

/// The cores of a GPU on which so many workgroups of so many trips each take a `time`.
async fn timed(
    seconds: f64,
    time: impl AsyncFn([u32; 2]) -> Result<f64>,
) -> Result<Option<Breadth>> {
    let best = async |work: [u32; 2]| -> Result<f64> {
        let mut best = f64::INFINITY;
        for _ in 0..TRIES {
            best = best.min(time(work).await?);
        }
        Ok(best)
    };
    // The first one is compiled.
    time([1, 0]).await?;
    let way = best([1, 0]).await?;
    // A browser has no clock.
    if way <= 0.0 {
        return Ok(None);
    }
    let [mut trips, trips_max] = TRIPS;
    let [mut groups, groups_max] = GROUPS;
    let mut alone = best([1, trips]).await?;
    while alone < seconds.max(LONG * way) && trips < trips_max {
        trips *= 2;
        alone = best([1, trips]).await?;
    }
    // What takes no longer than the way was not computed.
    if alone < 2.0 * way {
        return Ok(None);
    }
    let mut all = best([groups, trips]).await?;
    while all - way < CROWDED * (alone - way) && groups < groups_max {
        groups *= 4;
        all = best([groups, trips]).await?;
    }
    // Once more, now that clocks have risen.
    let (alone, way) = (alone.min(best([1, trips]).await?), way.min(best([1, 0]).await?));
    Ok(Breadth::timed(groups, [alone - way, all - way]))
}

#[cfg(test)]
mod tests {
    use core::cell::Cell;

    use super::*;

    /// What is found on a GPU of so many cores, a trip of which takes so long, and the longest time
    /// that something took.
    fn search(cores: u32, trip: f64, way: f64) -> (Option<u32>, f64) {
        let longest = Cell::new(0.0f64);
        let time = async |[groups, trips]: [u32; 2]| {
            let rounds = groups.div_ceil(cores);
            let time = way + f64::from(rounds * trips) * trip;
            longest.set(longest.get().max(time));
            Ok(time)
        };
        let breadth = pollster::block_on(timed(2.5e-3, time)).expect("no time fails");
        (breadth.map(Breadth::cores), longest.get())
    }

    #[test]
    fn cores_are_found_however_fast_they_and_the_way_are() {
        for cores in [6, 7, 16, 40, 132, 200] {
            for (trip, way) in [(1e-7, 2e-5), (1e-7, 3e-4), (2e-6, 1e-4)] {
                let (found, longest) = search(cores, trip, way);
                let found = found.expect("there is a clock");
                // Whole rounds of workgroups make a few less of them.
                assert!(found <= cores && 6 * found >= 5 * cores, "{found} of {cores}, {trip}");
                assert!(longest < 0.5, "{longest} s for {cores}, {trip}: a watchdog barks");
            }
        }
        assert_eq!(search(1, 1e-7, 1e-4).0, Some(4), "no fewer");
        assert_eq!(search(16, 1e-7, 0.0).0, None, "no clock");
        assert_eq!(search(16, 1e-12, 1e-4).0, None, "no work");
    }
}
