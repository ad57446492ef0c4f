//! Timestamps of a batch: one before its first dispatch and one behind each, where somebody
//! profiles. Small dispatches in a row whose like was timed before share one, behind the last.
//!
//! They are resolved with the batch, and read when the host next looks. Without a device that
//! writes them inside a pass, each dispatch gets a pass of its own. A batch that finds no memory
//! for them runs without.

use std::sync::{Arc, Mutex};

use crate::caps::Feature;
use crate::error::Result;
use crate::gpu::Gpu;
use crate::shared::lock;
use crate::timeline::{Flight, NoTime, Stamped, Ticket};

/// Dispatches of one query set, which has one query more: as many as a usual batch.
pub(super) const DISPATCHES: usize = 256;

const TICK_BYTES: usize = size_of::<u64>();

/// A query set, and the way of its results to the host.
#[derive(Clone, Debug)]
pub(super) struct Stamps {
    pub(super) queries: wgpu::QuerySet,
    resolved: wgpu::Buffer,
    read: wgpu::Buffer,
}

/// Stamps that nothing uses.
#[derive(Debug, Default)]
pub(super) struct Spare(Mutex<Vec<Stamps>>);

/// A batch as those who profile see it, and what it is to be stamped with: nothing, or something
/// for every [`DISPATCHES`] dispatches.
#[derive(Debug, Default)]
pub(super) struct Begun {
    flights: Vec<Arc<Flight>>,
    pub(super) stampings: Vec<Stamping>,
}

impl Begun {
    /// The batch was submitted: everybody is told, and timestamps are read once they are there.
    pub(super) fn submitted(self, gpu: &Gpu, spare: &Arc<Spare>) {
        self.flights.iter().for_each(|flight| gpu.timelines.flight(flight));
        self.stampings.into_iter().for_each(|stamping| stamping.read(gpu, spare));
    }
}

/// Stamps of dispatches under way.
#[derive(Debug)]
pub(super) struct Stamping {
    pub(super) stamps: Stamps,
    flight: Arc<Flight>,
}

/// However it ends, the flight does not wait for ever.
impl Drop for Stamping {
    fn drop(&mut self) {
        self.flight.forgo(NoTime::Lost);
    }
}

impl Stamps {
    fn new(gpu: &Gpu) -> Result<Self> {
        use wgpu::BufferUsages as Usage;
        let (label, count) = ("wharf.stamps", DISPATCHES as u32 + 1);
        let ty = wgpu::QueryType::Timestamp;
        let descriptor = wgpu::QuerySetDescriptor { label: Some(label), ty, count };
        let queries = gpu.checked(label, || gpu.device.create_query_set(&descriptor))?;
        let bytes = u64::from(count) * TICK_BYTES as u64;
        let resolved = gpu.create_buffer(label, bytes, Usage::QUERY_RESOLVE | Usage::COPY_SRC)?;
        let read = gpu.create_buffer(label, bytes, Usage::MAP_READ | Usage::COPY_DST)?;
        Ok(Self { queries, resolved, read })
    }
}

/// Whether timestamps can be written inside a pass.
pub(super) fn inside_passes(gpu: &Gpu) -> bool {
    #[cfg(feature = "testing")]
    if gpu.is_timed_by_passes() {
        return false;
    }
    gpu.device.features().contains(wgpu::Features::TIMESTAMP_QUERY_INSIDE_PASSES)
}

impl Spare {
    /// How many there are.
    #[cfg(test)]
    pub(super) fn count(&self) -> usize {
        lock(&self.0).len()
    }

    /// What those who profile will see of a batch.
    pub(super) fn begin(&self, gpu: &Gpu, dispatches: impl Iterator<Item = Ticket>) -> Begun {
        if !gpu.timelines.any() {
            return Begun::default();
        }
        let has = gpu.caps().has(Feature::TimestampQuery);
        let dispatches: Vec<Ticket> = dispatches.collect();
        let (mut flights, mut stampings) = (Vec::new(), Vec::new());
        for dispatches in dispatches.chunks(DISPATCHES) {
            let timelines = &gpu.timelines;
            let flight = Arc::new(Flight::new(dispatches, timelines.now(), &timelines.solos));
            flights.push(Arc::clone(&flight));
            let kept = lock(&self.0).pop();
            let stamps = has.then(|| kept.map_or_else(|| Stamps::new(gpu), Ok));
            match stamps {
                Some(Ok(stamps)) => stampings.push(Stamping { stamps, flight }),
                _ => flight.forgo(NoTime::Lacking),
            }
        }
        // All of it or nothing: what is stamped goes with the commands place by place.
        if stampings.len() < flights.len() {
            stampings.clear();
        }
        Begun { flights, stampings }
    }
}

impl Stamping {
    /// How many dispatches stand before each timestamp but the first.
    pub(super) fn strides(&self) -> impl ExactSizeIterator<Item = usize> {
        self.flight.strides()
    }

    fn count(&self) -> u32 {
        self.strides().len() as u32 + 1
    }

    fn bytes(&self) -> u64 {
        u64::from(self.count()) * TICK_BYTES as u64
    }

    /// Behind its passes.
    pub(super) fn resolve(&self, encoder: &mut wgpu::CommandEncoder) {
        let Stamps { queries, resolved, read } = &self.stamps;
        encoder.resolve_query_set(queries, 0..self.count(), resolved, 0);
        encoder.copy_buffer_to_buffer(resolved, 0, read, 0, self.bytes());
    }

    /// Reads them once what was just submitted is done.
    fn read(self, gpu: &Gpu, spare: &Arc<Spare>) {
        let (period, bytes) = (f64::from(gpu.queue.get_timestamp_period()), self.bytes());
        let (timelines, spare) = (Arc::clone(&gpu.timelines), Arc::clone(spare));
        let read = self.stamps.read.clone();
        let done = move |outcome: Result<(), wgpu::BufferAsyncError>| {
            if outcome.is_err() {
                return;
            }
            if let Ok(mapped) = self.stamps.read.slice(..bytes).get_mapped_range() {
                let number = |tick: &[u8]| tick.iter().rev().fold(0, |n, b| n << 8 | u64::from(*b));
                let ticks = mapped.chunks_exact(TICK_BYTES).map(number).collect();
                self.flight.stamp(Stamped { ticks, period, arrived: timelines.now() });
            }
            self.stamps.read.unmap();
            lock(&spare.0).push(self.stamps.clone());
        };
        // If that fails the closure is dropped, and `Stamping::drop` says that the times are lost.
        let _ = gpu.checked("timestamps", || {
            read.slice(..bytes).map_async(wgpu::MapMode::Read, done);
        });
    }
}

#[cfg(test)]
mod tests {
    use core::panic::Location;

    use super::*;
    use crate::testing::noop_device;

    /// Query sets that were made for a dispatch.
    fn spare(profiled: bool) -> usize {
        let device = noop_device().expect("it opens");
        let _profile = profiled.then(|| device.profile());
        device.zeros([4], crate::DType::F32).expect("zeros");
        device.synchronize_now().expect("it is done");
        device.engine.stamps()
    }

    /// A submission that fails never reads its timestamps: who profiles does not wait for them.
    #[test]
    fn what_is_given_up_is_settled() {
        let device = noop_device().expect("it opens");
        let _profile = device.profile();
        let (kernel, line) = ("a test", Location::caller());
        let ticket = Ticket { count: 1, kernel, line, bytes: 0, flops: 0 };
        let begun = Spare::default().begin(&device.engine.gpu, [ticket].into_iter());
        let [stamping] = &begun.stampings[..] else { panic!("{begun:?}") };
        let flight = Arc::clone(&stamping.flight);
        assert!(!flight.is_settled(), "it is under way");
        drop(begun);
        assert!(flight.is_settled(), "it was given up");
    }

    #[test]
    fn a_set_takes_as_many_as_it_says() {
        let device = noop_device().expect("it opens");
        let (_profile, gpu) = (device.profile(), &device.engine.gpu);
        let (kernel, line) = ("a test", Location::caller());
        // So much that each has a timestamp of its own.
        let ticket = Ticket { count: 1, kernel, line, bytes: 1 << 30, flops: 0 };
        let begun = Spare::default().begin(gpu, [ticket; DISPATCHES + 1].into_iter());
        assert_eq!(begun.stampings.iter().map(Stamping::count).collect::<Vec<_>>(), [257, 2]);
        let encoded = gpu.checked("stamps", || {
            let mut encoder = gpu.device.create_command_encoder(&Default::default());
            begun.stampings.iter().for_each(|stamping| stamping.resolve(&mut encoder));
            encoder.finish()
        });
        encoded.expect("there is room for each");
    }

    #[test]
    fn there_are_timestamps_only_where_somebody_profiles() {
        assert_eq!(spare(false), 0, "a query set for nobody");
        assert_eq!(spare(true), 1, "none to be used again");
    }
}
