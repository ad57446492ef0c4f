//! What holds for every plan: every fixture and every downgrade of it, under every policy.

use wharf::caps::{Caps, Feature, Limit, fixtures};
use wharf::plan::{Carriage, How, negotiate};
use wharf::{DType, Plan, Policy};

use crate::support::adapter;

/// Policies that differ in every way a policy can.
fn policies() -> Vec<Policy> {
    let mut all = vec![
        Policy::exact(),
        Policy::lossless(),
        Policy::exact().overflow_is_error(),
        Policy::lossless().allow(DType::F64, DType::F16).overflow_is_error(),
    ];
    for from in DType::ALL.iter().copied() {
        all.extend(DType::ALL.iter().map(|&to| Policy::exact().allow(from, to)));
    }
    let everything = all.iter().skip(4).count();
    assert_eq!(everything, 225, "every pair of dtypes");
    let each = |policy: Policy, from| DType::ALL.iter().fold(policy, |p, &to| p.allow(from, to));
    all.push(DType::ALL.iter().copied().fold(Policy::exact(), each));
    all.push(DType::ALL.iter().copied().rev().fold(Policy::lossless(), each));
    all
}

/// Every fixture, and every downgrade of it.
fn adapters() -> Vec<(String, Caps)> {
    let mut all = Vec::new();
    for (name, caps) in fixtures::all() {
        for feature in Feature::ALL.iter().copied() {
            all.push((format!("{name} without {}", feature.name()), caps.clone().without(feature)));
        }
        all.push((format!("{name} at baseline limits"), caps.clone().with_baseline_limits()));
        for &limit in Limit::ALL {
            let worst = caps.clone().with_limit(limit, 0).with_limit(limit, u64::MAX);
            all.push((format!("{name} with the worst {}", limit.name()), worst));
        }
        all.push((name.to_owned(), caps));
    }
    all
}

const fn computed_in(stored: DType) -> DType {
    match stored {
        DType::F16 | DType::Bf16 => DType::F32,
        DType::I8 | DType::I16 => DType::I32,
        DType::U8 | DType::U16 => DType::U32,
        wide => wide,
    }
}

fn check(context: &str, plan: &Plan, carriage: &Carriage) {
    let Carriage { dtype, how, stored, packed, computed, .. } = carriage;
    let context = format!("{context}, {dtype}: {carriage:?}");
    let computes = stored.filter(|stored| !matches!(stored, DType::F8E4M3 | DType::F8E5M2));
    assert_eq!(*computed, computes.map(computed_in), "computed in, on {context}");
    match *how {
        How::Native | How::Packed => {
            assert_eq!(*stored, Some(*dtype), "bits are kept, on {context}");
            assert_eq!(*packed, *how == How::Packed, "packed, on {context}");
        }
        How::Converted { to, .. } => {
            assert_eq!(*stored, Some(to), "stored as what it becomes, on {context}");
            assert_ne!(to, *dtype, "a conversion changes the dtype, on {context}");
            let target = plan.carriage(to);
            assert_eq!(target.stored, Some(to), "the target itself is stored, on {context}");
            assert_eq!(*packed, target.packed, "as its target is, on {context}");
        }
        _ => assert_eq!((*stored, *packed), (None, false), "nothing, on {context}"),
    }
    assert_eq!(carriage.stored_as() == "-", stored.is_none(), "`-` is nothing, on {context}");
    assert_eq!(carriage.computed_in() == "-", computed.is_none(), "`-` is nothing, on {context}");
}

#[test]
fn every_plan_is_consistent() {
    let policies = policies();
    for (name, caps) in adapters() {
        for policy in &policies {
            let plan = negotiate(&caps, policy);
            assert_eq!(plan.caps(), &caps, "{name}: it remembers the adapter");
            assert_eq!(plan.policy(), policy, "{name}: it remembers the policy");
            let rejected = plan.carriages().iter().filter(|c| c.how == How::Rejected).count();
            let f32 = plan.carriage(DType::F32).how;
            let none = rejected == DType::ALL.len();
            assert!(f32 == How::Native || none, "{name}: f32 always, or nothing at all");
            for (dtype, carriage) in DType::ALL.iter().copied().zip(plan.carriages()) {
                assert_eq!(carriage.dtype, dtype, "{name}: one row per dtype, in order");
                assert_eq!(carriage, plan.carriage(dtype), "{name}: found by dtype");
                check(&format!("{name} under {policy:?}"), &plan, carriage);
            }
        }
    }
}

#[test]
fn every_table_is_tidy() {
    for (name, caps) in adapters() {
        for policy in
            [Policy::exact(), Policy::lossless(), Policy::exact().allow(DType::F64, DType::I8)]
        {
            let table = negotiate(&caps, &policy).to_string();
            let lines = 16 + usize::from(!caps.cooperative.is_empty());
            assert_eq!(table.lines().count(), lines, "{name}: a title, a line per dtype\n{table}");
            for line in table.lines() {
                assert_eq!(line, line.trim_end(), "{name}: no blanks at the end");
                assert!(line.chars().count() <= 120, "{name}: readable\n{line}");
            }
        }
    }
}

#[test]
fn exact_never_converts_and_never_needs_permission_for_storage() {
    for (name, caps) in adapters() {
        for c in negotiate(&caps, &Policy::exact()).carriages() {
            assert!(!matches!(c.how, How::Converted { .. }), "{name}: {c:?}");
        }
    }
}

#[test]
fn an_adapter_negotiates_like_its_caps() {
    for (name, caps) in fixtures::all() {
        let policy = Policy::lossless();
        assert_eq!(adapter(caps.clone()).negotiate(&policy), negotiate(&caps, &policy), "{name}");
    }
    assert_eq!(Policy::default(), Policy::exact(), "exact is the default");
}
