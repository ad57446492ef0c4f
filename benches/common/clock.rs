//! The device's own clock: timestamps in two empty passes, one submitted before the work and one
//! after it.

use wharf::{Device, wgpu};

use super::Outcome;

/// Where the two timestamps go.
#[derive(Debug)]
pub(super) struct Clock {
    device: wgpu::Device,
    queue: wgpu::Queue,
    stamps: wgpu::QuerySet,
    resolved: wgpu::Buffer,
    read: wgpu::Buffer,
}

const BYTES: u64 = 16;

impl Clock {
    /// `None` if the adapter has no timestamp queries.
    pub(super) fn of(device: &Device) -> Option<Self> {
        let (device, queue) = (device.wgpu_device(), device.wgpu_queue());
        if !device.features().contains(wgpu::Features::TIMESTAMP_QUERY) {
            return None;
        }
        let stamps = device.create_query_set(&wgpu::QuerySetDescriptor {
            label: Some("bench.stamps"),
            ty: wgpu::QueryType::Timestamp,
            count: 2,
        });
        let buffer = |usage| {
            let label = Some("bench.stamps");
            let (size, mapped_at_creation) = (BYTES, false);
            device.create_buffer(&wgpu::BufferDescriptor { label, size, usage, mapped_at_creation })
        };
        use wgpu::BufferUsages as Usage;
        let resolved = buffer(Usage::QUERY_RESOLVE | Usage::COPY_SRC);
        let read = buffer(Usage::MAP_READ | Usage::COPY_DST);
        Some(Self { device: device.clone(), queue: queue.clone(), stamps, resolved, read })
    }

    /// Seconds the device spends on what `submit` submits.
    pub(super) fn time(&self, submit: impl FnOnce() -> Outcome) -> Outcome<f64> {
        self.stamp(Some(0), None);
        submit()?;
        self.stamp(None, Some(1));
        let mapped = self.read.slice(..);
        mapped.map_async(wgpu::MapMode::Read, |_| {});
        self.device.poll(wgpu::PollType::wait_indefinitely())?;
        let bytes = mapped.get_mapped_range()?.to_vec();
        self.read.unmap();
        let ticks: Vec<u64> = bytes.chunks_exact(8).map(number).collect();
        let [begin, end] = ticks[..] else { return Err("two timestamps were asked for".into()) };
        Ok(end.saturating_sub(begin) as f64 * f64::from(self.queue.get_timestamp_period()) * 1e-9)
    }

    /// An empty pass with a timestamp at its begin or end; the last pass reads both timestamps.
    fn stamp(&self, begin: Option<u32>, end: Option<u32>) {
        let mut encoder = self
            .device
            .create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some("bench.stamp") });
        drop(encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
            label: Some("bench.stamp"),
            timestamp_writes: Some(wgpu::ComputePassTimestampWrites {
                query_set: &self.stamps,
                beginning_of_pass_write_index: begin,
                end_of_pass_write_index: end,
            }),
        }));
        if end.is_some() {
            encoder.resolve_query_set(&self.stamps, 0..2, &self.resolved, 0);
            encoder.copy_buffer_to_buffer(&self.resolved, 0, &self.read, 0, BYTES);
        }
        self.queue.submit([encoder.finish()]);
    }
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |n, &byte| n << 8 | u64::from(byte))
}
