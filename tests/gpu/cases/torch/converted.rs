//! Every line of torch's that can be, of operands that an upload made narrower: the answers are
//! those of the dtype that they are stored as.

use std::collections::BTreeMap;

use wharf::plan::{Plan, negotiate};
use wharf::{Adapter, DType, Device, Policy};

use super::near::check;
use super::operations::{answered, some};
use super::{all_casts, all_of, asked, images, shapes};
use crate::cases::pair::count;
use crate::ctx::{Case, Ctx, DOWNGRADES, Outcome, case, ensure, ensure_eq};
use crate::torch_goldens::{casts, elementwise};
use crate::torch_operations::{Golden, operations};

pub(super) fn cases(adapter: &Adapter) -> Vec<Case> {
    let mut cases = Vec::new();
    for (i, (policy, _)) in POLICIES.iter().enumerate() {
        let name = format!("torch::operations_converted::{policy}");
        cases.push(case!(name, |ctx| whole(ctx, i)));
        let name = format!("torch::elements_converted::{policy}");
        cases.push(case!(name, |ctx| elements(ctx, i)));
        let name = format!("torch::lines_converted::{policy}");
        cases.push(case!(name, |ctx| lines(ctx, i)));
    }
    cases.push(case!("torch::operations_converted::lossless", |ctx| lossless(ctx)));
    cases.push(case!("torch::never_converted", |ctx| never(ctx)));
    cases.into_iter().map(|case| case.on_demand(adapter)).collect()
}

const SHAPES: &str = include_str!("../../../goldens/torch/shapes.txt");
const IMAGES: &str = include_str!("../../../goldens/torch/images.txt");

/// A policy by its name.
type Conversion = (&'static str, fn() -> Policy);

/// What dtypes of 64 bits become where there are none: every number is one of these.
const POLICIES: [Conversion; 3] = [
    ("words", || becoming(DType::F32, DType::I32, DType::U32)),
    ("halves", || becoming(DType::F16, DType::I16, DType::U16)),
    ("bytes", || becoming(DType::Bf16, DType::I8, DType::U8)),
];

fn becoming(float: DType, signed: DType, unsigned: DType) -> Policy {
    let policy = Policy::exact().allow(DType::F64, float);
    policy.allow(DType::I64, signed).allow(DType::U64, unsigned)
}

async fn device(ctx: &Ctx, policy: &Policy) -> Result<Device, String> {
    Ok(ctx.device(DOWNGRADES[2]).await?.with_policy(policy))
}

/// Of these dtypes, those that something is converted to.
fn narrowed<'a>(plan: &'a Plan, dtypes: &'a [DType]) -> impl Iterator<Item = DType> + 'a {
    dtypes.iter().copied().filter(|&dtype| asked(plan, dtype) != dtype)
}

/// Each line by the first policy that converts to a dtype of it, and some by the others too.
async fn whole(ctx: &Ctx, policy: usize) -> Outcome {
    let device = device(ctx, &POLICIES[policy].1()).await?;
    let earlier: Vec<Plan> =
        POLICIES[..policy].iter().map(|(_, policy)| negotiate(device.caps(), &policy())).collect();
    let is_new = |golden: &Golden| {
        earlier.iter().all(|plan| narrowed(plan, &golden.dtypes).next().is_none())
    };
    let mut all: Vec<Golden> = operations().into_iter().filter(is_new).collect();
    if policy > 0 {
        all.extend(some().into_iter().filter(|golden| !is_new(golden)).step_by(2));
    }
    judged(&device, &all).await
}

/// Where no value may change, whatever the dtype.
async fn lossless(ctx: &Ctx) -> Outcome {
    let all: Vec<Golden> = some().into_iter().step_by(4).collect();
    judged(&device(ctx, &Policy::lossless()).await?, &all).await
}

async fn judged(device: &Device, lines: &[Golden]) -> Outcome {
    let (mut wrong, mut all) = (Vec::new(), 0);
    for golden in lines {
        for dtype in narrowed(device.plan(), &golden.dtypes).take(1) {
            count();
            all += 1;
            let got = answered(device, golden, dtype).await?;
            wrong.extend(check(golden, dtype, &got).err());
        }
    }
    ensure!(all > 8, "{all} lines have operands that are converted");
    ensure!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
    Ok(())
}

/// What is elementwise, of the dtypes that something is converted to; and what casts those.
async fn elements(ctx: &Ctx, policy: usize) -> Outcome {
    let device = device(ctx, &POLICIES[policy].1()).await?;
    for dtype in narrowed(device.plan(), DType::ALL) {
        all_of(&device, dtype).await?;
    }
    all_casts(&device).await
}

/// Lines whose fields say their dtypes, if that of one is converted to.
async fn lines(ctx: &Ctx, policy: usize) -> Outcome {
    let device = device(ctx, &POLICIES[policy].1()).await?;
    let fields: Vec<String> =
        narrowed(device.plan(), DType::ALL).map(|dtype| format!(" {dtype}[")).collect();
    let of = |text: &'static str| -> Vec<&'static str> {
        let has = |line: &&str| fields.iter().any(|field| line.contains(field));
        text.lines().filter(has).collect()
    };
    shapes(&device, &of(SHAPES)).await?;
    images::judged(&device, of(IMAGES)).await
}

/// What is never converted to, by the file and the dtypes of its lines: how many lines, and why.
const NEVER: &[(&str, usize, &str)] = &[
    ("casts: bool", 9, LOGICAL),
    ("casts: f64", 9, WIDE),
    ("casts: i64", 9, WIDE),
    ("elementwise: bool", 6, LOGICAL),
    ("elementwise: f64", 66, WIDE),
    ("elementwise: i64", 26, WIDE),
    ("operations: bool", 21, LOGICAL),
    ("operations: f64", 117, WIDE),
];
const LOGICAL: &str = "no number is converted to bool";
const WIDE: &str = "of numbers that only 64 bits have";

async fn never(ctx: &Ctx) -> Outcome {
    let caps = device(ctx, &Policy::exact()).await?.caps().clone();
    let plans = POLICIES.map(|(_, policy)| negotiate(&caps, &policy()));
    let mut left = BTreeMap::<String, usize>::new();
    let mut note = |file: &str, dtypes: &[DType]| {
        if plans.iter().all(|plan| narrowed(plan, dtypes).next().is_none()) {
            let names: Vec<&str> = dtypes.iter().map(|dtype| dtype.name()).collect();
            *left.entry(format!("{file}: {}", names.join(" "))).or_default() += 1;
        }
    };
    operations().iter().for_each(|golden| note("operations", &golden.dtypes));
    elementwise().iter().for_each(|case| note("elementwise", &[case.dtype]));
    casts().iter().for_each(|(from, ..)| note("casts", &[*from]));
    for (file, text) in [("shapes", SHAPES), ("images", IMAGES)] {
        for line in text.lines() {
            let fields = DType::ALL.iter().copied();
            let dtypes = fields.filter(|dtype| line.contains(&format!(" {dtype}[")));
            note(file, &dtypes.collect::<Vec<_>>());
        }
    }
    let told: Vec<(&str, usize)> = left.iter().map(|(what, &count)| (&**what, count)).collect();
    let want: Vec<(&str, usize)> = NEVER.iter().map(|&(what, count, _)| (what, count)).collect();
    ensure_eq!(told, want, "lines that are never converted to, of {NEVER:?}");
    count();
    Ok(())
}
