//! Every error of buffers of the caller's own, as exact text, on a device that only stores.

use wharf::{DType, Device, ErrorKind, Layout, Policy, Shape, wgpu};

use super::support::{baseline, capable, says};

const READ: wgpu::BufferUsages = wgpu::BufferUsages::STORAGE.union(wgpu::BufferUsages::COPY_SRC);

fn buffer(device: &Device, size: u64, usage: wgpu::BufferUsages) -> wgpu::Buffer {
    let (label, mapped_at_creation) = (Some("mine"), false);
    let descriptor = wgpu::BufferDescriptor { label, size, usage, mapped_at_creation };
    device.wgpu_device().create_buffer(&descriptor)
}

fn list(length: usize) -> Layout {
    Layout::dense(Shape::new([length]).unwrap())
}

#[test]
fn buffers_that_were_made_for_something_else() {
    let device = capable();
    let mine = buffer(&device, 64, wgpu::BufferUsages::VERTEX);
    says(
        device.wrap_buffer(&mine, list(4), DType::F32),
        ErrorKind::Foreign,
        "wrap_buffer: the buffer has the usages VERTEX, and lacks COPY_SRC | STORAGE",
        "create it with COPY_SRC | STORAGE as well",
    );
    says(
        device.ones([4], DType::F32).unwrap().copy_to_buffer(&mine, 0),
        ErrorKind::Foreign,
        "copy_to_buffer: the buffer has the usages VERTEX, and lacks COPY_DST",
        "create it with COPY_DST as well",
    );
}

#[test]
fn layouts_that_a_buffer_has_no_room_for() {
    let device = capable();
    let mine = buffer(&device, 76, READ);
    says(
        device.wrap_buffer(&mine, list(20), DType::F32),
        ErrorKind::Layout,
        "wrap_buffer: layout reaches elements 0 to 19, data has 19",
        "an element at index i lies at offset + sum(i * stride); lower the shape, the strides \
         or the offset",
    );
    says(
        device.wrap_buffer(&mine, list(17), DType::F32),
        ErrorKind::Foreign,
        "wrap_buffer: elements end at byte 68 of 76, whole quads at byte 64",
        "create the buffer with 96 bytes, or copy it into a tensor that you lend: `lend_mut`",
    );
    assert!(device.wrap_buffer(&mine, list(16), DType::F32).is_ok(), "whole quads");
    let empty = buffer(&device, 4, READ);
    assert!(device.wrap_buffer(&empty, list(0), DType::F32).is_ok(), "nothing is read");
}

#[test]
fn dtypes_that_are_stored_as_others() {
    let lenient = baseline(&Policy::exact().allow(DType::F64, DType::F32));
    says(
        lenient.wrap_buffer(&buffer(&lenient, 64, READ), list(4), DType::F64),
        ErrorKind::Rejected,
        "wrap_buffer: f64 is stored as f32 here, a buffer has f64 as it is",
        "convert it in a pass of your own, or wrap its words as u32",
    );
    let exact = baseline(&Policy::exact());
    says(
        exact.wrap_buffer(&buffer(&exact, 64, READ), list(4), DType::I64),
        ErrorKind::Rejected,
        "wrap_buffer: i64 cannot be stored: WebGPU baseline lacks shader-int64",
        "narrow with a range check: `Policy::exact().allow(DType::I64, DType::I32)`",
    );
}

#[test]
fn buffers_of_wharfs_own() {
    let device = capable();
    let x = device.ones([4], DType::F32).unwrap();
    let lent = x.lend().unwrap();
    let (text, help) =
        ("the buffer is one of wharf's own", "what was lent is a tensor already: use that one");
    let ours = &lent.ranges()[0].buffer;
    says(
        device.wrap_buffer(ours, list(4), DType::F32),
        ErrorKind::Foreign,
        &format!("wrap_buffer: {text}"),
        help,
    );
    says(x.copy_to_buffer(ours, 0), ErrorKind::Foreign, &format!("copy_to_buffer: {text}"), help);
}

#[test]
fn places_that_copies_do_not_reach() {
    let device = capable();
    let mine = buffer(&device, 64, wgpu::BufferUsages::COPY_DST);
    let bytes = device.ones([6], DType::U8).unwrap();
    let help = "begin at a multiple of 4, and pad the tensor: `pad`";
    says(
        bytes.copy_to_buffer(&mine, 0),
        ErrorKind::Foreign,
        "copy_to_buffer: 6 bytes at byte 0 are no whole words of 4 bytes",
        help,
    );
    let words = device.ones([6], DType::F32).unwrap();
    says(
        words.copy_to_buffer(&mine, 2),
        ErrorKind::Foreign,
        "copy_to_buffer: 24 bytes at byte 2 are no whole words of 4 bytes",
        help,
    );
    for offset in [44, u64::MAX - 3] {
        says(
            words.copy_to_buffer(&mine, offset),
            ErrorKind::Foreign,
            &format!(
                "copy_to_buffer: 24 bytes at byte {offset} end beyond the buffer, which has 64"
            ),
            "a tensor takes elements times bytes of each, counted from the offset",
        );
    }
    words.copy_to_buffer(&mine, 40).unwrap();
}
