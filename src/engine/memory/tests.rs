//! What is reserved, and what is lent.

use super::*;
use crate::Device;
use crate::caps::{Caps, fixtures};
use crate::dtype::DType;
use crate::gpu::Gpu;
use crate::store::ring::SMALL_READ;
use crate::tensor::Tensor;
use crate::testing::noop_device_of;

fn in_a_browser() -> Device {
    noop_device_of(Caps::webgpu_baseline()).expect("it opens")
}

/// Zeros in a buffer of their own, which have been recorded, and the buffer.
fn zeros(device: &Device) -> (Tensor, wgpu::Buffer) {
    let x = device.zeros([1 << 20], DType::F32).expect("there is memory");
    let value = x.realise().expect("it is recorded");
    let buffer = value.pin().expect("it has memory").pieces()[0].buffer.clone();
    (x, buffer)
}

fn is_there(gpu: &Gpu, buffer: &wgpu::Buffer) -> bool {
    gpu.write("a test", buffer, 0, &[0; 4]).is_ok()
}

#[test]
fn a_browser_gets_memory_back_once_nothing_is_recorded_with_it() {
    let device = in_a_browser();
    let (engine, (x, buffer)) = (&device.engine, zeros(&device));
    drop(x);
    assert_eq!(lock(&engine.state).trim(), 4 << 20, "what is given back");
    assert!(is_there(&engine.gpu, &buffer), "a command that is to be submitted uses it");
    engine.flush().expect("all that it needs is there");
    assert!(!is_there(&engine.gpu, &buffer), "JavaScript's garbage collector has it");
    let (x, buffer) = zeros(&device);
    engine.flush().expect("all that it needs is there");
    drop(x);
    engine.trim().expect("it is given back");
    assert!(!is_there(&engine.gpu, &buffer), "nothing was recorded");
    // Small ones share a buffer, which stays as long as one of them does.
    let [x, y] = [1.0f32, 2.0].map(|x| device.upload(&[x], [1]).expect("there is memory").0);
    drop(y);
    engine.trim().expect("it is given back");
    let next = (x + 1.0f32).and_then(|x| x.compute()).and_then(|()| engine.flush());
    next.expect("what it is computed from is there");
}

#[test]
fn a_device_takes_its_memory_along() {
    let device = in_a_browser();
    let (gpu, (x, buffer)) = (std::sync::Arc::clone(&device.engine.gpu), zeros(&device));
    drop((x, device));
    assert!(!is_there(&gpu, &buffer), "nobody can use it any more");
}

#[test]
fn a_read_that_is_given_up_leaves_nothing() {
    let device = in_a_browser();
    let engine = &device.engine;
    let [staging, kept] = [(); 2].map(|()| engine.ring.take(&engine.gpu, SMALL_READ));
    let (staging, kept) = (staging.expect("there is memory"), kept.expect("there is memory"));
    let [given_up, shelved] = [&staging, &kept].map(|buffer| wgpu::Buffer::clone(buffer));
    drop(staging);
    engine.ring.put(kept);
    let there = || [&given_up, &shelved].map(|buffer| is_there(&engine.gpu, buffer));
    assert_eq!(there(), [false, true]);
    engine.trim().expect("it is given back");
    assert_eq!(there(), [false; 2]);
}

#[test]
fn what_somebody_else_may_have_is_never_taken_away() {
    let device = in_a_browser();
    let gpu = std::sync::Arc::clone(&device.engine.gpu);
    let (x, lent) = zeros(&device);
    drop(x.lend().expect("it can be lent"));
    let usage =
        wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
    let foreign = gpu.create_buffer("foreign", 4 << 20, usage).expect("there is memory");
    let layout = crate::Layout::dense(*x.shape());
    let theirs = device.wrap_buffer(&foreign, layout, DType::F32).expect("it can be wrapped");
    drop((x, theirs.lend().expect("it can be lent"), theirs));
    device.engine.trim().expect("it is given back");
    assert_eq!(device.memory().bytes_reserved, 0, "all that is wharf's");
    assert!(is_there(&gpu, &lent) && is_there(&gpu, &foreign), "it was taken away");
    drop(device);
    assert!(is_there(&gpu, &lent) && is_there(&gpu, &foreign), "the device took it along");
}

/// wgpu keeps what is dropped as long as it is needed.
#[test]
fn natively_nothing_is_taken_away() {
    let device = noop_device_of(fixtures::lavapipe()).expect("it opens");
    let (x, buffer) = zeros(&device);
    drop(x);
    device.engine.trim().expect("it is given back");
    assert!(is_there(&device.engine.gpu, &buffer), "it was destroyed");
}
