//! Buffers that are given back when they are dropped.
//!
//! Natively wgpu sees to that, once the queue is done with one. In a browser a dropped buffer waits
//! for JavaScript's garbage collector, which does not know how much memory hangs on it. So it is
//! destroyed there: the browser keeps it until what was submitted is done, but refuses whatever is
//! submitted with it later.

use core::ops::Deref;

use super::Gpu;
use crate::caps::Backend;
use crate::error::Result;

/// A buffer that is wharf's own. Whoever drops it has submitted all commands that use it.
#[derive(Debug)]
pub(crate) struct Reservation {
    buffer: wgpu::Buffer,
    /// Whether to drop it takes it from everybody else who has it.
    is_destroyed: bool,
}

impl Reservation {
    /// Whether commands that use it may still be submitted after it was dropped.
    pub(crate) const fn outlives_drop(&self) -> bool {
        !self.is_destroyed
    }

    /// Leaves it to others, who may use it as long as they like.
    pub(crate) const fn share(&mut self) {
        self.is_destroyed = false;
    }
}

impl Deref for Reservation {
    type Target = wgpu::Buffer;

    fn deref(&self) -> &wgpu::Buffer {
        &self.buffer
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if self.is_destroyed {
            self.buffer.destroy();
        }
    }
}

impl Gpu {
    /// [`Gpu::create_buffer`], to be given back.
    pub(crate) fn reserve(
        &self,
        label: &str,
        size: u64,
        usage: wgpu::BufferUsages,
    ) -> Result<Reservation> {
        let buffer = self.create_buffer(label, size, usage)?;
        // On paper it stands for others as well.
        let is_destroyed = self.caps.identity.backend == Backend::Browser && !self.is_on_paper();
        Ok(Reservation { buffer, is_destroyed })
    }
}
