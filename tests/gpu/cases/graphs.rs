//! Random expression graphs against the oracle, node by node, and stories of the deferred graph.
//!
//! Every result in these graphs is exact whatever is fused: integers wrap, and floats are small
//! whole numbers. So a multiplication that a driver contracts with an addition changes nothing,
//! and equality is demanded.

mod grow;
mod passes;
mod stories;

use wharf::{Adapter, Device, Target, Tensor};

use super::pair::{bits_of, count, value};
use crate::ctx::{Case, Ctx, DOWNGRADES, Downgrade, Outcome, case, matters, show};
use grow::{Graph, LARGE, SMALL, Scale, Step};

const SEEDS: u64 = 24;
const SEEDS_LARGE: u64 = 12;

pub(crate) fn cases(adapter: &Adapter) -> Vec<Case> {
    let mut cases = stories::cases(adapter);
    cases.extend(passes::cases());
    for &downgrade in DOWNGRADES.iter().filter(|d| matters(adapter, **d)) {
        let seeds = match downgrade.name {
            "native" => 0..SEEDS,
            "small_bindings" | "no_f16" => SEEDS..SEEDS + 4,
            _ => continue,
        };
        for seed in seeds {
            let name = format!("graphs::seed_{seed}::{}", downgrade.name);
            cases.push(case!(name, |ctx| random(ctx, downgrade, &SMALL, seed)));
        }
    }
    for seed in 0..SEEDS_LARGE {
        let name = format!("graphs::large_seed_{seed}");
        cases.push(case!(name, |ctx| random(ctx, DOWNGRADES[0], &LARGE, seed)));
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
    // Reads the last node, fused as far as possible; on every fourth seed then all others, the
    // latest first.
    let first = if seed.is_multiple_of(4) { 0 } else { last };
    let all: Vec<usize> = (first..=last).rev().collect();
    let Err(failure) = agree(&device, &graph, &all).await else { return Ok(()) };
    // Shrinks a failure to the first node that is wrong when only it is read.
    for node in 0..=last {
        if let Err(text) = agree(&device, &graph, &[node]).await {
            return Err(format!("seed {seed}, {target:?}: {text}\n{}", graph.print(node)));
        }
    }
    Err(format!("seed {seed}, {target:?}, only after others: {failure}\n{}", graph.print(last)))
}

/// Builds the whole graph and reads some nodes of it.
async fn agree(device: &Device, graph: &Graph, read: &[usize]) -> Outcome {
    let mut tensors: Vec<Tensor> = Vec::new();
    for (i, node) in graph.steps.iter().enumerate() {
        let made = node.build(device, &tensors).await;
        tensors.push(made.map_err(|e| format!("node {i}: {e}"))?);
    }
    for &i in read {
        let node: &Step = &graph.steps[i];
        let tensor = &tensors[i];
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
