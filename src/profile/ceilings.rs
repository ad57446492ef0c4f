//! Ceilings: the most that an adapter moves and computes, measured once in a process and kept.
//!
//! ```text
//! copy    a large tensor to another place: what is read and what is written
//! fused   hundreds of fused multiplications and additions for each element, in registers
//! ```
//!
//! Both are timed by the device, in memory of their own: neither watches nor the ledger see them.

use core::panic::Location;
use std::sync::{Arc, Mutex};

use crate::caps::Feature;
use crate::dtype::DType;
use crate::engine::{Engine, Site};
use crate::error::Result;
use crate::exec::Value;
use crate::kernel::elementwise::Fused;
use crate::kernel::{Operand, fill, moves};
use crate::op::Op;
use crate::shape::Shape;
use crate::shared::lock;
use crate::timeline::Ticket;
use crate::wgsl::{Expr, Target, Term};

/// The most that an adapter was seen to do, by its own clock, for what a
/// [`Report`](super::Report) calls a share of the ceiling.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Ceilings {
    /// Bytes that a copy on the device reads and writes.
    pub bytes_per_second: f64,
    /// Multiplications and additions of f32 that stay in registers.
    pub flops_per_second: f64,
}

/// What was measured in this process, by the adapter's name; one at a time.
static KNOWN: Mutex<Vec<(String, Target, Option<Ceilings>)>> = Mutex::new(Vec::new());

/// How often each is tried; the fastest counts.
const TRIES: usize = 3;
/// Elements of a copy and of what is computed, larger than caches, and within one binding of 128
/// MiB: on a processor, and on a GPU.
const ELEMENTS: [[usize; 2]; 2] = [[1 << 23, 1 << 20], [3 << 23, 1 << 24]];
/// Chains that do not wait for each other, by what they multiply with, and the steps of each.
const FACTORS: [f32; 4] = [0.5, 0.25, 0.75, 0.375];
const STEPS: usize = 64;
/// Additions and multiplications of an element.
const FLOPS: usize = 2 * STEPS * FACTORS.len();
/// Bytes of an element, which is read and written once.
const BYTES: usize = 2 * DType::F32.width();

impl Ceilings {
    /// As they are kept, or measured now; nothing where a device has no timestamps, or they say
    /// nothing, or there is no memory.
    pub(super) fn of(engine: &Arc<Engine>, target: Target) -> Option<Self> {
        let (gpu, name) = (&engine.gpu, engine.gpu.name());
        if gpu.is_on_paper() || !gpu.caps().has(Feature::TimestampQuery) {
            return None;
        }
        let mut known = lock(&KNOWN);
        if let Some((.., kept)) = known.iter().find(|row| row.0 == name && row.1 == target) {
            return *kept;
        }
        let measured = Self::measured(engine, target).ok()?;
        known.push((name, target, measured));
        measured
    }

    fn measured(engine: &Engine, target: Target) -> Result<Option<Self>> {
        let (engine, line) = (&engine.apart(), Location::caller());
        let breadth = engine.gpu.breadth;
        let site = Site { engine, target, breadth, batch_invariant: false, line };
        let [large, small] = ELEMENTS[usize::from(target == Target::Gpu)];
        let one = 1.0f32.to_le_bytes();
        let ones = |elements: usize| -> Result<Operand> {
            let shape = Shape::new([elements])?;
            let value = fill::full(site, &shape, DType::F32, &one)?;
            Ok(Operand::dense(value, shape, DType::F32))
        };
        let (from, x) = (ones(large)?, [ones(small)?]);
        let (expr, scalars) = (chains(), FACTORS.map(f32::to_bits));
        let scalars = [&scalars[..], &[1.0f32.to_bits()]].concat();
        let fused = Fused { expr: &expr, operands: &x, scalars: &scalars };
        let copied = fastest(site, || moves::copied(site, &from, &[]))?;
        let shape = x[0].layout.shape();
        let computed = fastest(site, || fused.record(site, shape, DType::F32, &[]))?;
        let flops_per_second = computed / BYTES as f64 * FLOPS as f64;
        let measured = Self { bytes_per_second: copied, flops_per_second };
        Ok((copied > 0.0 && computed > 0.0).then_some(measured))
    }
}

/// The chains, and the sum of their ends.
fn chains() -> Expr {
    let (inputs, scalars) = (vec![DType::F32], vec![DType::F32; FACTORS.len() + 1]);
    let mut nodes = vec![Term::Input(0)];
    nodes.extend((0..).zip(&scalars).map(|(scalar, _)| Term::Scalar(scalar)));
    let one = FACTORS.len() as u16 + 1;
    let mut ends: Vec<u16> = vec![0; FACTORS.len()];
    for _ in 0..STEPS {
        for (factor, end) in (1..).zip(&mut ends) {
            nodes.push(Term::Apply(Op::MulAdd, [*end, factor, one]));
            *end = nodes.len() as u16 - 1;
        }
    }
    let sum = ends.iter().copied().reduce(|a, b| {
        nodes.push(Term::Apply(Op::Add, [a, b, 0]));
        nodes.len() as u16 - 1
    });
    Expr { inputs, scalars, nodes, outputs: sum.into_iter().collect(), ..Expr::default() }
}

/// Bound bytes a second of the fastest of several tries; 0 if none has a time.
fn fastest(site: Site<'_>, record: impl Fn() -> Result<Arc<Value>>) -> Result<f64> {
    let gpu = &site.engine.gpu;
    let timeline = gpu.timelines.begin();
    for _ in 0..TRIES {
        record()?;
    }
    site.engine.flush()?;
    gpu.wait(None)?;
    let events = timeline.events();
    let all = events.flights.iter().flat_map(|flight| flight.tickets.iter().zip(flight.times()));
    // Other threads may be at work as well.
    let ours = |ticket: &Ticket| core::ptr::eq(ticket.line, site.line);
    let rate = |(ticket, time): (&Ticket, core::result::Result<(u64, f64), _>)| match time {
        Ok((_, time)) if ours(ticket) && time > 0.0 => ticket.bytes as f64 / time * 1e9,
        _ => 0.0,
    };
    Ok(all.map(rate).fold(0.0, f64::max))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_element_has_as_many_operations_and_bytes_as_are_counted() {
        let fused = |node: &&Term| matches!(node, Term::Apply(Op::MulAdd, _));
        assert_eq!(2 * chains().nodes.iter().filter(fused).count(), FLOPS);
        let device = crate::testing::noop_device().expect("the noop backend opens");
        let timeline = device.engine.gpu.timelines.begin();
        Ceilings::measured(&device.engine, Target::Cpu).expect("it is recorded");
        let events = timeline.events();
        let tickets = events.flights.iter().flat_map(|flight| &flight.tickets);
        let bytes: Vec<u64> = tickets.map(|ticket| ticket.bytes).collect();
        let [large, small] = ELEMENTS[0].map(|elements| (elements * BYTES) as u64);
        assert!(bytes.ends_with(&[[large; TRIES], [small; TRIES]].concat()), "{bytes:?}");
    }
}
