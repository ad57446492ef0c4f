//! What a view costs: a read or a kernel of a part of a large tensor is charged for that part, not
//! for its storage.

use wharf::caps::{Caps, Limit, fixtures};
use wharf::testing::noop;
use wharf::{DType, Device, Policy, Result, Tensor};

/// Of the large one: 4 MiB of f32, in one segment and in 64.
const SIDE: usize = 1 << 10;

/// What it is a part of, and what is read of it.
type Part = (&'static str, fn(&Tensor) -> Result<Tensor>, usize);

const PARTS: [Part; 7] = [
    ("a row", |x| x.slice(0, 7..8), SIDE),
    ("rows across segments", |x| x.slice(0, 15..18), 3 * SIDE),
    ("a column", |x| x.slice(1, 7..8), SIDE),
    ("a corner", |x| x.slice(0, 0..3)?.slice(1, 0..5), 15),
    ("the last element", |x| x.slice(0, SIDE - 1..SIDE)?.slice(1, SIDE - 1..SIDE), 1),
    ("every hundredth row", |x| x.slice_step(0, 0..SIDE, 100), 11 * SIDE),
    ("nothing", |x| x.slice(0, 5..5), 0),
];

/// Where bindings are small, so are segments.
const SEGMENT: u64 = 1 << 16;

/// What the store may reserve for a few small copies in buffers apart: a quarter of the large one.
const SLABS: u64 = 1 << 20;

/// On a memory of its own and on the host's, in large bindings and in small ones.
fn devices() -> Vec<Device> {
    let open = |caps: Caps| {
        let adapter = pollster::block_on(noop(caps)).expect("there is a noop backend");
        let plan = adapter.negotiate(&Policy::exact());
        pollster::block_on(adapter.open(plan)).expect("it opens")
    };
    let all = [Caps::webgpu_baseline(), fixtures::lavapipe()];
    let small = |caps: &Caps| caps.clone().with_limit(Limit::BindingBytes, SEGMENT);
    all.iter().flat_map(|caps| [caps.clone(), small(caps)]).map(open).collect()
}

fn large(device: &Device) -> Tensor {
    let values: Vec<f32> = (0..SIDE * SIDE).map(|i| i as f32).collect();
    device.upload(&values, [SIDE, SIDE]).expect("it fits").0
}

#[test]
fn a_read_of_a_part_is_charged_for_the_part() {
    for device in devices() {
        let x = large(&device);
        for (what, part, elements) in PARTS {
            let (part, bytes) = (part(&x).expect(what), 4 * elements as u64);
            device.trim().expect("the device lives");
            let (before, reserved) = (device.ledger(), device.memory().bytes_reserved);
            let profile = device.profile();
            let (values, receipt) = part.read_as_now::<f32>().expect(what);
            let (report, after) = (profile.report().expect("a report"), device.ledger());
            assert_eq!(values.len(), elements, "{what}");
            let down = after.down.bytes - before.down.bytes;
            assert_eq!((down, after.up), (bytes, before.up), "{what}");
            assert_eq!((receipt.bytes_staged, receipt.bytes_host), (bytes, bytes), "{what}");
            // What does not lie together is copied first, across segments in two steps.
            let (took, most) = (report.allocations.bytes, 2 * bytes.next_multiple_of(256));
            assert!(took <= most, "{what}: {took} bytes were allocated, not {most}");
            let rose = device.memory().bytes_reserved - reserved;
            assert!(rose <= SLABS, "{what}: {rose} bytes more are reserved");
        }
    }
}

/// What its dispatches bind is whole segments: those that it reads, and no others. New memory is
/// for the part.
#[test]
fn a_kernel_of_a_part_binds_the_segments_of_the_part() {
    let row = 4 * SIDE as u64;
    let rows =
        [("a row", 7..8, 1), ("rows of two segments", 15..18, 2), ("the last", 1023..1024, 1)];
    for device in devices().iter().skip(1).step_by(2) {
        let x = large(device);
        for (what, rows, segments) in rows.clone() {
            let read = row * rows.len() as u64;
            let part = x.slice(0, rows).expect(what);
            for (name, made, written) in [
                ("+", &part + 1.0f32, read),
                ("sum", part.sum(1), read / SIDE as u64),
                ("softmax", part.softmax(1), read),
            ] {
                let told = made.expect(name).explain();
                let bound: u64 = told.kernels.iter().map(|kernel| kernel.bytes).sum();
                assert!(told.error.is_none() && bound >= read + written, "{name} of {what}");
                // Rows of two segments may be brought together first.
                let copies = (segments - 1) * 2 * read;
                let most = segments * SEGMENT + copies + read + written;
                assert!(bound <= most, "{name} of {what}: {bound} bytes are bound, not {most}");
                let made = told.bytes_allocated;
                assert!(made <= copies + written.next_multiple_of(256), "{name} of {what}: {made}");
            }
        }
    }
}

/// A scalar of it all the same, of whatever dtype it is stored in.
#[test]
fn an_element_is_charged_for_its_width() {
    for device in devices() {
        for dtype in [DType::U8, DType::F16, DType::F32] {
            let x = device.ones([SIDE, SIDE], dtype).expect("ones");
            let one = x.slice(0, 9..10).and_then(|row| row.slice(1, 3..4)).expect("one");
            let before = device.ledger().down.bytes;
            one.read_bytes_now().expect("it reads");
            let down = device.ledger().down.bytes - before;
            assert_eq!(down, dtype.width() as u64, "of {dtype}");
        }
    }
}
