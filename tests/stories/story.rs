//! Programs drawn by a seed: uploads, operations, views, assignments, sets, drops, guards, threads
//! and reads, on a few places that hold tensors.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Waker};

use wharf::ledger::Crossings;
use wharf::{DType, Device, Error, ErrorKind, HostView, Shipment, Tensor, wgpu};

use crate::random::Random;

/// Places that hold tensors.
const PLACES: usize = 6;

/// The last is more than one chunk of a crossing, and is drawn seldom.
const SHAPES: [[usize; 2]; 4] = [[3, 5], [64, 64], [300, 257], [700, 500]];
const DRAWN: [usize; 8] = [0, 0, 1, 1, 1, 2, 2, 3];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    Upload,
    Set,
    Chain,
    Pair,
    Turn,
    Part,
    Packed,
    Sum,
    Softmax,
    Square,
    Checked,
    Assign,
    Share,
    Drop,
    Compute,
    Flush,
    Wait,
    Trim,
    Compact,
    Read,
    /// A read that is begun and dropped.
    Abandon,
    /// A read on another thread.
    Aside,
    /// Computing under a guard, which a read may not pass.
    Denied,
    /// Lent, and copied by the caller into a buffer of its own, which becomes a tensor.
    Lend,
    /// Lent, and written by the caller.
    Write,
}

/// Which of a step's places are meant.
const NONE: u8 = 0;
const FROM: u8 = 1;
const WITH: u8 = 2;
const TO: u8 = 4;

/// What there is, how often it is drawn, the places it reads and those it writes.
const STEPS: [(What, usize, u8, u8); 25] = [
    (What::Upload, 4, NONE, TO),
    (What::Set, 1, NONE, TO | WITH),
    (What::Chain, 2, FROM, TO),
    (What::Pair, 2, FROM | WITH, TO),
    (What::Turn, 1, FROM, TO),
    (What::Part, 1, FROM, TO),
    (What::Packed, 1, FROM, TO),
    (What::Sum, 1, FROM, TO),
    (What::Softmax, 1, FROM, TO),
    (What::Square, 1, FROM, TO),
    (What::Checked, 1, FROM, TO),
    (What::Assign, 2, FROM | TO, TO),
    (What::Share, 1, FROM, TO),
    (What::Drop, 1, NONE, TO),
    (What::Compute, 1, FROM, NONE),
    (What::Flush, 1, NONE, NONE),
    (What::Wait, 1, NONE, NONE),
    (What::Trim, 1, NONE, NONE),
    (What::Compact, 1, NONE, NONE),
    (What::Read, 3, FROM, NONE),
    (What::Abandon, 1, FROM, NONE),
    (What::Aside, 1, FROM, NONE),
    (What::Denied, 1, FROM, NONE),
    (What::Lend, 0, FROM, TO),
    (What::Write, 0, FROM | TO, TO),
];

/// What is not drawn with the rest: after so many steps there is one of them, so that the others
/// are those that a seed has always had.
const APART: [What; 2] = [What::Lend, What::Write];
const APART_EVERY: usize = 6;

/// One step. What has an empty place for an operand does nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) what: What,
    from: usize,
    with: usize,
    to: usize,
    shape: usize,
}

impl Step {
    fn places(self, of: impl Fn(&(What, usize, u8, u8)) -> u8) -> impl Iterator<Item = usize> {
        let mask = STEPS.iter().find(|row| row.0 == self.what).map_or(NONE, of);
        let all = [(FROM, self.from), (WITH, self.with), (TO, self.to)];
        all.into_iter().filter(move |(bit, _)| mask & bit != 0).map(|(_, place)| place)
    }

    pub(crate) fn reads(self) -> impl Iterator<Item = usize> {
        self.places(|row| row.2)
    }

    pub(crate) fn writes(self) -> impl Iterator<Item = usize> {
        self.places(|row| row.3)
    }
}

/// A story of so many steps, the same for a seed everywhere. It begins with uploads, and all that
/// it leaves is read.
pub(crate) fn draw(seed: u64, steps: usize) -> Vec<Step> {
    let mut random = Random::new(seed);
    let mut below = move |n: usize| (random.bits() >> 33) as usize % n;
    let weighted = STEPS.iter().flat_map(|row| std::iter::repeat_n(row.0, row.1));
    let weighted: Vec<What> = weighted.collect();
    let step = |i: usize| {
        let what = weighted[if i < 3 { 0 } else { below(weighted.len()) }];
        let [from, with, to] = [0; 3].map(|_| below(PLACES));
        Step { what, from, with, to, shape: DRAWN[below(DRAWN.len())] }
    };
    let mut story: Vec<Step> = (0..steps).map(step).collect();
    let mut apart = Random::new(!seed);
    let mut below = move |n: usize| (apart.bits() >> 33) as usize % n;
    for at in (APART_EVERY..steps).step_by(APART_EVERY) {
        let [from, to] = [0; 2].map(|_| below(PLACES));
        let what = APART[below(APART.len())];
        story.insert(at, Step { what, from, with: 0, to, shape: 0 });
    }
    let read = |from| Step { what: What::Read, from, with: 0, to: 0, shape: 0 };
    story.extend((0..PLACES).map(read));
    story
}

/// What a step gave.
#[derive(Clone, PartialEq)]
pub(crate) enum Seen {
    Done,
    Values(Vec<u32>),
    Refused(ErrorKind, String),
}

impl std::fmt::Debug for Seen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Done => write!(f, "done"),
            Self::Values(values) => write!(f, "{} values", values.len()),
            Self::Refused(_, message) => write!(f, "{message}"),
        }
    }
}

/// Numbers, some of which a checked cast refuses.
fn numbers(shape: usize) -> Vec<f32> {
    let [rows, columns] = SHAPES[shape];
    let step = if shape == 1 { 0.5 } else { 1.0 };
    (0..rows * columns).map(|i| (i * 7 % 50) as f32 * step).collect()
}

/// Whoever plays a story, and what is in its places.
#[derive(Debug)]
pub(crate) struct Player<'a> {
    device: &'a Device,
    places: [Option<Tensor>; PLACES],
    /// Values that a device has which only copies.
    pub(crate) copied: [bool; PLACES],
    /// Reads so far, and the number of the one to drop.
    reads: u64,
    to_drop: Option<u64>,
}

impl<'a> Player<'a> {
    pub(crate) fn new(device: &'a Device) -> Self {
        let (places, copied) = ([const { None }; PLACES], [false; PLACES]);
        Self { device, places, copied, reads: 0, to_drop: None }
    }

    /// The read of this number is begun and dropped, before it is made.
    pub(crate) const fn drop_read(&mut self, n: u64) {
        self.to_drop = Some(n);
    }

    pub(crate) fn has_dropped(&self) -> bool {
        self.to_drop.is_some_and(|n| n < self.reads)
    }

    /// Goes before every read.
    fn counts(&mut self, x: &Tensor) {
        if self.to_drop == Some(self.reads) {
            abandon(x);
        }
        self.reads += 1;
    }

    /// Takes one step. One that fails changes no place.
    pub(crate) async fn step(&mut self, step: Step) -> Seen {
        match self.tried(step).await {
            Ok(seen) => seen,
            Err(error) => Seen::Refused(error.kind(), error.to_string()),
        }
    }

    /// Empties a place.
    pub(crate) fn forget(&mut self, place: usize) {
        self.places[place] = None;
    }

    pub(crate) fn holds(&self, place: usize) -> bool {
        self.places[place].is_some()
    }

    fn put(&mut self, place: usize, tensor: Tensor, copied: bool) {
        self.places[place] = Some(tensor);
        self.copied[place] = copied;
    }

    async fn tried(&mut self, step: Step) -> Result<Seen, Error> {
        let (device, Step { what, from, with, to, shape }) = (self.device, step);
        match what {
            What::Upload => {
                let (tensor, _) = device.upload(&numbers(shape), SHAPES[shape])?;
                self.put(to, tensor, true);
            }
            What::Set => {
                let all = [(with, "small", 0), (to, "large", 2)];
                let values = all.map(|(_, _, shape)| numbers(shape));
                let mut shipment = Shipment::new();
                for ((_, name, shape), values) in all.into_iter().zip(&values) {
                    shipment.add(name, HostView::new(values, SHAPES[shape])?)?;
                }
                let (set, _) = device.upload_set(&shipment)?;
                for (place, name, _) in all {
                    set.get(name).cloned().into_iter().for_each(|x| self.put(place, x, true));
                }
            }
            What::Drop => self.forget(to),
            What::Flush => device.flush()?,
            What::Wait => device.synchronize_now()?,
            What::Trim => device.trim().map(drop)?,
            What::Compact => device.compact().map(drop)?,
            _ => {
                let Some(x) = self.places[from].clone() else { return Ok(Seen::Done) };
                return self.with(step, &x).await;
            }
        }
        Ok(Seen::Done)
    }

    /// A step that begins with a tensor.
    async fn with(&mut self, step: Step, x: &Tensor) -> Result<Seen, Error> {
        let (rows, copied) = (x.shape().dims()[0], self.copied[step.from]);
        let made = match step.what {
            What::Chain => (((x * 0.5f32)? + 1.0f32)?.abs()?, false),
            What::Pair => match &self.places[step.with] {
                Some(other) if other.shape() == x.shape() => ((x + other)?, false),
                _ => ((x + 3.0f32)?, false),
            },
            What::Turn => (x.t()?, false),
            What::Part => (x.slice(0, rows / 3..rows)?, copied),
            What::Packed => (x.flip(0)?.contiguous()?, false),
            What::Sum => (x.sum(1)?.unsqueeze(1)?, false),
            What::Softmax => (x.softmax(1)?, false),
            What::Square => (x.matmul(&x.t()?)?, false),
            What::Checked => (x.cast_checked(DType::I32)?.cast(DType::F32)?, false),
            What::Share => (x.clone(), copied),
            What::Lend => (lent(self.device, x)?, copied),
            _ => return self.look(step, x).await,
        };
        self.put(step.to, made.0, made.1);
        Ok(Seen::Done)
    }

    /// A step that makes no tensor.
    async fn look(&mut self, step: Step, x: &Tensor) -> Result<Seen, Error> {
        match step.what {
            What::Assign => {
                let Some(target) = &mut self.places[step.to] else { return Ok(Seen::Done) };
                let rows = target.shape().dims()[0];
                let half = rows / 2;
                if x.shape() == target.shape() {
                    target.assign_slice(0, 0..half, &x.slice(0, rows - half..rows)?)?;
                } else {
                    target.assign_slice(0, half..rows, 4.0f32)?;
                }
                self.copied[step.to] = false;
            }
            What::Write => {
                let Some(target) = &mut self.places[step.to] else { return Ok(Seen::Done) };
                let lent = target.lend_mut()?;
                let [first, ..] = lent.ranges() else { return Ok(Seen::Done) };
                let queue = self.device.wgpu_queue();
                queue.write_buffer(&first.buffer, first.offset, &[0; 12]);
                drop(lent);
                self.copied[step.to] = false;
            }
            What::Compute => compute(x)?,
            What::Abandon => abandon(x),
            What::Aside => {
                self.counts(x);
                let read = || pollster::block_on(x.read::<f32>());
                return match std::thread::scope(|scope| scope.spawn(read).join()) {
                    Ok(read) => values(read?),
                    Err(_) => Ok(Seen::Refused(ErrorKind::Internal, "it panicked".into())),
                };
            }
            What::Denied => {
                let _guard = self.device.guard(Crossings::Deny);
                let y = (x - 1.0f32)?;
                compute(&y)?;
                self.counts(&y);
                return match y.read::<f32>().await {
                    Err(error) if error.kind() == ErrorKind::Denied => Ok(Seen::Done),
                    Err(error) => Err(error),
                    Ok(values) => Ok(Seen::Values(vec![values.len() as u32])),
                };
            }
            _ => {
                self.counts(x);
                return values(x.read::<f32>().await?);
            }
        }
        Ok(Seen::Done)
    }
}

/// Begins a read, and drops it.
fn abandon(x: &Tensor) {
    let mut read = pin!(x.read::<f32>());
    let _ = read.as_mut().poll(&mut Context::from_waker(Waker::noop()));
}

/// What the caller copies of a lent tensor, as another.
fn lent(device: &Device, x: &Tensor) -> Result<Tensor, Error> {
    let lent = x.lend()?;
    let (gpu, queue) = (device.wgpu_device(), device.wgpu_queue());
    let bytes: u64 = lent.ranges().iter().map(|range| range.bytes).sum();
    let mine = gpu.create_buffer(&wgpu::BufferDescriptor {
        label: Some("mine"),
        size: bytes.next_multiple_of(32),
        usage: wgpu::BufferUsages::STORAGE
            | wgpu::BufferUsages::COPY_SRC
            | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    let mut encoder = gpu.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    let mut at = 0;
    for range in lent.ranges() {
        let (from, offset, bytes) = (&range.buffer, range.offset, range.bytes);
        encoder.copy_buffer_to_buffer(from, offset, &mine, at, bytes);
        at += bytes;
    }
    queue.submit([encoder.finish()]);
    device.wrap_buffer(&mine, *lent.layout(), DType::F32)
}

/// Computes. A refused value is not told here: whether it is known yet depends on reads that may
/// have failed.
fn compute(x: &Tensor) -> Result<(), Error> {
    match x.compute() {
        Err(error) if error.kind() == ErrorKind::Conversion => Ok(()),
        done => done,
    }
}

fn values(values: Vec<f32>) -> Result<Seen, Error> {
    Ok(Seen::Values(values.into_iter().map(f32::to_bits).collect()))
}
