//! Commands that are counted as they end, handed in, and looked for when something is read.

use std::sync::MutexGuard;
#[cfg(feature = "testing")]
use std::sync::atomic::Ordering;

use super::Gpu;
#[cfg(feature = "testing")]
use super::odometer::Odometer;
use super::odometer::Sent;
use crate::count::bytes;
use crate::error::Result;
use crate::shared::lock;

impl Gpu {
    /// Whether what runs is counted.
    pub(crate) fn counts(&self) -> bool {
        self.odometer.get().is_some()
    }

    /// Ends commands, of which each submission has only such.
    pub(crate) fn finish(&self, mut encoder: wgpu::CommandEncoder) -> wgpu::CommandBuffer {
        if let Some(odometer) = self.odometer.get() {
            odometer.advance(&mut encoder);
        }
        encoder.finish()
    }

    /// Hands commands to the queue, one who does so after the other where they are counted.
    pub(super) fn hand_in(
        &self,
        commands: impl IntoIterator<Item = wgpu::CommandBuffer>,
        submit: impl FnOnce(Vec<wgpu::CommandBuffer>) -> Result<wgpu::SubmissionIndex>,
    ) -> Result<Sent> {
        let total = self.odometer.get().map(|odometer| lock(&odometer.submitted));
        #[cfg_attr(not(feature = "testing"), expect(unused_mut, reason = "a test takes some out"))]
        let mut commands: Vec<wgpu::CommandBuffer> = commands.into_iter().collect();
        let count = commands.len() as u32;
        #[cfg(feature = "testing")]
        if let Some(odometer) = self.odometer.get()
            && count > 1
            && odometer.fails.swap(false, Ordering::Relaxed)
        {
            commands.remove(0);
        }
        let index = submit(commands)?;
        let add = |mut total: MutexGuard<'_, u32>| {
            *total = total.wrapping_add(count);
            *total
        };
        Ok(Sent { index, ran: total.map_or(0, add) })
    }

    /// Brings the count along with what is copied, where there is one.
    pub(crate) fn copy_count(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        to: &wgpu::Buffer,
        at: u64,
    ) {
        if let Some(odometer) = self.odometer.get() {
            odometer.copy(encoder, to, at);
        }
    }

    /// What a read brought along, before its own commands were counted: the loss of the device if
    /// anything that was submitted before did not run, or the copy itself. It says what memory was
    /// reserved then: too much of it may be why.
    pub(crate) fn check_count(
        &self,
        count: &[u8],
        sent: &Sent,
        reserved: impl FnOnce() -> u64,
    ) -> Result<()> {
        let before = sent.ran.wrapping_sub(1);
        let ran = <[u8; 4]>::try_from(count).map_or(before, u32::from_le_bytes);
        if ran == before || !self.counts() {
            return Ok(());
        }
        // The word began at one.
        let [ran, all] = [ran, before].map(|count| count.saturating_sub(1));
        let reserved = bytes(reserved());
        let message = format!("{ran} of {all} command buffers ran, with {reserved} reserved");
        let _ = self.troubles.lost.set(("by the driver", message));
        self.told()
    }

    /// Counts on any backend; the first of two command buffers that are submitted next does not
    /// run.
    #[cfg(feature = "testing")]
    pub(crate) fn count_what_runs(&self, fails: bool) {
        let odometer = self.odometer.get_or_init(|| Odometer::new(&self.device, &self.queue));
        odometer.fails.store(fails, Ordering::Relaxed);
    }
}
