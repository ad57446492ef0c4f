//! Random expression graphs against the oracle, node by node, and stories of the deferred graph.
//!
//! Every result in these graphs is exact whatever is fused: integers wrap, and floats are small
//! whole numbers. So a multiplication that a driver contracts with an addition changes nothing,
//! and equality is demanded.

mod convolved;
mod finding;
mod grow;
mod images;
mod kinds;
mod lists;
mod normed;
mod numbers;
mod parts;
mod passes;
mod products;
mod stories;

use wharf::{Adapter, Device, Target, Tensor};

use super::pair::{bits_of, count, value};
use crate::ctx::{Case, Ctx, DOWNGRADES, Downgrade, LOWEST, Outcome, case, matters, show};
use grow::{Graph, LARGE, MIXED, MIXED_LARGE, SMALL, Scale, Step};

const SEEDS: u64 = 24;
const SEEDS_LARGE: u64 = 12;
/// Graphs of every kind of operation, and large ones of these.
const SEEDS_MIXED: u64 = 72;
const SEEDS_MIXED_LARGE: u64 = 4;

pub(crate) fn cases(adapter: &Adapter) -> Vec<Case> {
    let mut cases = stories::cases(adapter);
    cases.extend(passes::cases());
    for &downgrade in DOWNGRADES.iter().filter(|d| matters(adapter, **d)) {
        let seeds = match downgrade.name {
            "native" => 0..SEEDS,
            "small_bindings" | "no_f16" => SEEDS..SEEDS + 4,
            _ => continue,
        };
        let mixed = match downgrade.name {
            "native" => 0..SEEDS_MIXED,
            _ => SEEDS_MIXED..SEEDS_MIXED + 6,
        };
        for seed in mixed {
            let name = format!("graphs::mixed_seed_{seed}::{}", downgrade.name);
            cases.push(case!(name, |ctx| random(ctx, downgrade, &MIXED, seed)));
        }
        for seed in seeds {
            let name = format!("graphs::seed_{seed}::{}", downgrade.name);
            cases.push(case!(name, |ctx| random(ctx, downgrade, &SMALL, seed)));
        }
    }
    for seed in 0..SEEDS_LARGE {
        let name = format!("graphs::large_seed_{seed}");
        cases.push(case!(name, |ctx| random(ctx, DOWNGRADES[0], &LARGE, seed)));
    }
    for seed in 0..SEEDS_MIXED_LARGE {
        let name = format!("graphs::large_mixed_seed_{seed}");
        // Of small bindings some are in several segments.
        for downgrade in [DOWNGRADES[0], LOWEST] {
            let name = format!("{name}::{}", downgrade.name);
            cases.push(case!(name, |ctx| random(ctx, downgrade, &MIXED_LARGE, seed)));
        }
    }
    cases
}

/// A random graph, by the kernels of every class of adapter in turn.
async fn random(ctx: &Ctx, downgrade: Downgrade, scale: &'static Scale, seed: u64) -> Outcome {
    let device = ctx.device(downgrade).await?;
    let target = [Target::Gpu, Target::Cpu, Target::Cpu64][seed as usize % 3];
    let device = device.with_target(target);
    let graph = Graph::grow(&device, scale, seed)?;
    let last = graph.steps.len() - 1;
    // Reads the last node, fused as far as possible; on every fourth seed - of mixed ones on every
    // second - then all others, the latest first.
    let first = if seed.is_multiple_of(scale.every) { 0 } else { last };
    let all: Vec<usize> = (first..=last).rev().collect();
    // Of odd seeds nobody holds what is not read, so that its memory is free for results.
    let holds = seed.is_multiple_of(2);
    let Err(failure) = agree(&device, &graph, &all, holds).await else { return Ok(()) };
    // Shrinks a failure to the first node that is wrong when only it is read.
    for node in 0..=last {
        if let Err(text) = agree(&device, &graph, &[node], holds).await {
            return Err(format!("seed {seed}, {target:?}: {text}\n{}", graph.print(node)));
        }
    }
    Err(format!("seed {seed}, {target:?}, only after others: {failure}\n{}", graph.print(last)))
}

/// Builds the whole graph and reads some nodes of it.
async fn agree(device: &Device, graph: &Graph, read: &[usize], holds: bool) -> Outcome {
    let mut tensors: Vec<Tensor> = Vec::new();
    for (i, node) in graph.steps.iter().enumerate() {
        let made = node.build(device, &tensors).await;
        tensors.push(made.map_err(|e| format!("node {i}: {e}\n{}", graph.print(i)))?);
    }
    let asked: Vec<(usize, Tensor)> = read.iter().map(|&i| (i, tensors[i].clone())).collect();
    if !holds {
        tensors.clear();
    }
    for (i, tensor) in &asked {
        let node: &Step = &graph.steps[*i];
        if tensor.dtype() != node.dtype || tensor.shape().dims() != node.dims {
            return Err(format!("node {i} is {tensor:?}, not {} {:?}", node.dtype, node.dims));
        }
        let got = bits_of(tensor).await.map_err(|e| format!("node {i}: {e}"))?;
        count();
        // Compared as values: the sign of a zero may differ.
        let differ = |&k: &usize| value(node.dtype, got[k]) != value(node.dtype, node.bits[k]);
        if let Some(k) = (0..got.len()).find(differ) {
            let (got, want) = (value(node.dtype, got[k]), value(node.dtype, node.bits[k]));
            return Err(format!("node {i}, index {k}: {got:?}, not {want:?}"));
        }
    }
    Ok(())
}

/// Small tensors for stories.
async fn ramp(device: &Device, n: usize) -> Result<Tensor, String> {
    let data: Vec<f32> = (0..n).map(|i| (i % 13) as f32).collect();
    device.upload(&data, [n]).map(|(tensor, _)| tensor).map_err(show)
}
