//! Memory of a buffer: one block, which kernels and the host share.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ffi::c_void;
use std::ops::Range;
use std::ptr::{self, NonNull};
use std::sync::Arc;

use wgpu::custom::{
    BufferInterface, BufferMapCallback, BufferMappedRangeInterface, DispatchBufferMappedRange,
    QueueWriteBufferInterface,
};
use wharf::wgpu;

use super::device::Inner;

#[derive(Debug)]
pub(super) struct Memory {
    at: NonNull<u8>,
    layout: Layout,
    len: usize,
}

#[expect(unsafe_code, reason = "a kernel is given addresses")]
mod raw {
    use super::{Layout, Memory, NonNull, Range, alloc_zeroed, dealloc, ptr, wgpu};

    // SAFETY: whoever reads or writes does so one after the other, as wgpu has its users do it.
    unsafe impl Send for Memory {}
    // SAFETY: as above.
    unsafe impl Sync for Memory {}

    impl Memory {
        /// None, where there is no such memory.
        pub(in super::super) fn new(len: u64) -> Option<Self> {
            let len = usize::try_from(len).ok()?;
            let layout = Layout::from_size_align(len.max(1), 256).ok()?;
            // SAFETY: the layout is not empty.
            let at = NonNull::new(unsafe { alloc_zeroed(layout) })?;
            Some(Self { at, layout, len })
        }

        /// Where a part of it lies.
        fn part(&self, range: &Range<usize>) -> NonNull<[u8]> {
            assert!(range.start <= range.end && range.end <= self.len, "{range:?} of {}", self.len);
            // SAFETY: within the block, as was just looked at.
            NonNull::slice_from_raw_parts(unsafe { self.at.add(range.start) }, range.len())
        }

        pub(super) fn read(&self, range: &Range<usize>) -> &[u8] {
            // SAFETY: nobody writes it meanwhile.
            unsafe { self.part(range).as_ref() }
        }

        pub(super) fn write(&self, range: &Range<usize>) -> wgpu::WriteOnly<'_, [u8]> {
            // SAFETY: only one is there at a time.
            unsafe { wgpu::WriteOnly::new(self.part(range)) }
        }

        /// Copies bytes, which may overlap, and which lie where they are said to.
        pub(in super::super) fn copy_from(&self, to: u64, other: &Self, from: u64, many: u64) {
            let range = |start: u64| start as usize..(start + many) as usize;
            let (source, target) = (other.part(&range(from)), self.part(&range(to)));
            // SAFETY: both lie within their blocks.
            unsafe { ptr::copy(source.as_ptr().cast(), target.as_ptr().cast::<u8>(), source.len()) }
        }

        pub(in super::super) fn put(&self, to: u64, bytes: &[u8]) {
            let target = self.part(&(to as usize..to as usize + bytes.len())).as_ptr().cast();
            // SAFETY: within the block.
            unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), target, bytes.len()) }
        }

        pub(in super::super) fn fill(&self, range: &Range<u64>, byte: u8) {
            let target = self.part(&(range.start as usize..range.end as usize));
            // SAFETY: within the block.
            unsafe { ptr::write_bytes(target.as_ptr().cast::<u8>(), byte, target.len()) }
        }
    }

    impl Drop for Memory {
        fn drop(&mut self) {
            if self.layout.size() > 0 {
                // SAFETY: it was allocated with this layout.
                unsafe { dealloc(self.at.as_ptr(), self.layout) }
            }
        }
    }

    impl super::BufferMappedRangeInterface for super::Mapped {
        fn len(&self) -> usize {
            self.range.len()
        }

        unsafe fn read_slice(&self) -> &[u8] {
            self.memory.read(&self.range)
        }

        unsafe fn write_slice(&mut self) -> wgpu::WriteOnly<'_, [u8]> {
            self.memory.write(&self.range)
        }
    }

    impl super::QueueWriteBufferInterface for super::Staging {
        fn len(&self) -> usize {
            self.0.len
        }

        unsafe fn write_slice(&mut self) -> wgpu::WriteOnly<'_, [u8]> {
            self.0.write(&(0..self.0.len))
        }
    }
}

/// None at all.
impl Default for Memory {
    fn default() -> Self {
        Self { at: NonNull::dangling(), layout: Layout::new::<()>(), len: 0 }
    }
}

impl Memory {
    pub(super) fn len(&self) -> u64 {
        self.len as u64
    }

    /// Where a byte lies.
    pub(super) fn address(&self, offset: u64) -> *mut c_void {
        self.at.as_ptr().wrapping_add(offset as usize).cast()
    }
}

/// What is written before it is copied into a buffer.
#[derive(Debug)]
pub(super) struct Staging(pub(super) Memory);

#[derive(Debug)]
struct Mapped {
    memory: Arc<Memory>,
    range: Range<usize>,
}

#[derive(Debug)]
pub(super) struct Buffer {
    pub(super) memory: Arc<Memory>,
    device: Arc<Inner>,
}

impl Buffer {
    pub(super) fn new(device: Arc<Inner>, memory: Memory) -> Self {
        Self { memory: Arc::new(memory), device }
    }
}

impl BufferInterface for Buffer {
    fn map_async(&self, _: wgpu::MapMode, _: Range<u64>, callback: BufferMapCallback) {
        // All that was submitted has run.
        self.device.later(Box::new(move || callback(Ok(()))));
    }

    fn get_mapped_range(
        &self,
        range: Range<u64>,
    ) -> Result<DispatchBufferMappedRange, wgpu::MapRangeError> {
        let range = range.start as usize..range.end as usize;
        let mapped = Mapped { memory: self.memory.clone(), range };
        Ok(DispatchBufferMappedRange::custom(mapped))
    }

    fn unmap(&self) {}

    fn destroy(&self) {}
}
