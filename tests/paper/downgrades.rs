//! Downgrades of a good adapter, the literals of real ones, and how capabilities print.

use wharf::caps::{Caps, Feature, Features, Limit, Limits, fixtures};
use wharf::{ErrorKind, Policy};

use super::support::adapter;

/// Alignments and the size of the widest subgroup are worse when larger.
const SMALLER_IS_BETTER: [Limit; 3] =
    [Limit::StorageAlign, Limit::UniformAlign, Limit::SubgroupMax];

#[test]
fn without_takes_one_feature_and_nothing_else() {
    for (name, caps) in fixtures::all() {
        for feature in Feature::ALL.iter().copied() {
            let less = caps.clone().without(feature);
            assert!(!less.has(feature), "{name} without {}", feature.name());
            for other in Feature::ALL.iter().copied().filter(|f| *f != feature) {
                assert_eq!(less.has(other), caps.has(other), "{name}: {}", other.name());
            }
            assert_eq!(less.limits, caps.limits, "{name}");
            assert_eq!(less.identity, caps.identity, "{name}");
            assert_eq!(less.clone().without(feature), less, "{name}: twice is once");
        }
    }
}

#[test]
fn a_limit_is_lowered_and_never_improved() {
    for (name, caps) in fixtures::all() {
        for &limit in Limit::ALL {
            let own = caps.limits.get(limit);
            let smaller_is_better = SMALLER_IS_BETTER.contains(&limit);
            for value in [0, 1, own - 1, own, own + 1, u64::MAX] {
                let less = caps.clone().with_limit(limit, value);
                let want = if smaller_is_better { own.max(value) } else { own.min(value) };
                assert_eq!(less.limits.get(limit), want, "{name}: {} of {value}", limit.name());
                for &other in Limit::ALL.iter().filter(|&&l| l != limit) {
                    assert_eq!(less.limits.get(other), caps.limits.get(other), "{name}");
                }
            }
        }
    }
}

#[test]
fn baseline_limits_are_a_floor_that_nothing_sinks_below() {
    for (name, caps) in fixtures::all() {
        let floored = caps.clone().with_baseline_limits();
        assert_eq!(floored.features, caps.features, "{name}: limits only");
        for &limit in Limit::ALL {
            let (own, got) = (caps.limits.get(limit), floored.limits.get(limit));
            let base = Limits::BASELINE.get(limit);
            assert!(got == own || got == base, "{name}: {} is {got}", limit.name());
        }
        assert_eq!(floored.clone().with_baseline_limits(), floored, "{name}: twice is once");
    }
}

/// Whether an adapter with `own` capabilities takes a plan for `asked`.
fn opens(own: &Caps, asked: &Caps) -> Result<(), ErrorKind> {
    let plan = wharf::plan::negotiate(asked, &Policy::exact());
    let opened = pollster::block_on(adapter(own.clone()).open(plan));
    opened.map(drop).map_err(|error| error.kind())
}

#[test]
fn a_downgraded_plan_opens_and_an_improved_one_does_not() {
    let own = fixtures::lavapipe();
    for feature in own.features.iter().filter(|f| *f != Feature::Compute) {
        let less = own.clone().without(feature);
        assert_eq!(opens(&own, &less), Ok(()), "without {}", feature.name());
        assert_eq!(opens(&less, &own), Err(ErrorKind::Mismatch), "improved by {}", feature.name());
    }
    for &limit in Limit::ALL {
        let value = own.limits.get(limit);
        let worse = if SMALLER_IS_BETTER.contains(&limit) { value * 2 } else { value / 2 };
        let less = own.clone().with_limit(limit, worse);
        assert_ne!(less, own, "{} is worse", limit.name());
        assert_eq!(opens(&own, &less), Ok(()), "{} at {worse}", limit.name());
        assert_eq!(opens(&less, &own), Err(ErrorKind::Mismatch), "{} improved", limit.name());
    }
    assert_eq!(opens(&own, &own.clone().with_baseline_limits()), Ok(()), "baseline limits");
}

#[test]
fn every_fixture_opens_as_itself() {
    // The noop backend itself has no larger buffers.
    let noop = u64::from(i32::MAX.unsigned_abs());
    for (name, caps) in fixtures::all() {
        let caps = [Limit::BufferBytes, Limit::BindingBytes, Limit::UniformBytes]
            .into_iter()
            .fold(caps, |caps, limit| caps.with_limit(limit, noop));
        assert_eq!(opens(&caps, &caps), Ok(()), "{name}");
    }
}

#[test]
fn the_fixtures_are_plausible() {
    for (name, caps) in fixtures::all() {
        let l = &caps.limits;
        assert!(l.binding_bytes_max <= l.buffer_bytes_max, "{name}: a binding is part of a buffer");
        assert!(l.subgroup_min <= l.subgroup_max, "{name}: subgroups");
        assert!(l.storage_align_bytes.is_power_of_two(), "{name}: alignment");
        assert!(caps.has(Feature::Compute), "{name}: computes");
        assert!(!caps.identity.name.is_empty(), "{name}: has a name");
    }
    let vendor = |caps: Caps| caps.identity.vendor_name();
    assert_eq!(vendor(fixtures::nvidia_vulkan()), Some("NVIDIA"));
    assert_eq!(vendor(fixtures::navi21()), Some("AMD"));
    assert_eq!(vendor(fixtures::lavapipe()), Some("Mesa"));
    assert_eq!(vendor(Caps::webgpu_baseline()), None);
}

#[test]
fn caps_print_as_a_table() {
    let want = "\
SwiftShader Device (Subzero) (vulkan, software)
  driver    SwiftShader driver
  memory    host
  features  compute-shaders subgroups timestamp-query mappable-primary-buffers
  buffer_bytes_max            1073741824
  binding_bytes_max           1073741824
  uniform_bytes_max                65536
  storage_buffers_max                 10
  storage_align_bytes                256
  uniform_align_bytes                256
  groups_max                       65535
  invocations_max                    256
  group_x_max                        256
  group_y_max                        256
  group_z_max                         64
  group_storage_bytes_max          32768
  subgroup_min                         4
  subgroup_max                         4";
    assert_eq!(fixtures::swiftshader().to_string(), want);
    let second = |caps: &Caps| caps.to_string().lines().nth(1).map(str::to_owned);
    assert_eq!(second(&Caps::webgpu_baseline()).as_deref(), Some("  driver    -"));
    let gl = second(&fixtures::llvmpipe_gl());
    assert_eq!(gl.as_deref(), Some("  driver    4.5 (Core Profile) Mesa 22.3.6"));
    for (name, caps) in fixtures::all() {
        for line in caps.without(Feature::Compute).to_string().lines() {
            assert_eq!(line, line.trim_end(), "{name}: no blanks at the end");
        }
    }
}

#[test]
fn a_set_of_features_is_a_set() {
    let empty = Features::default();
    assert_eq!(empty.iter().count(), 0);
    assert_eq!(empty.to_string(), "");
    let all = Features::of(Feature::ALL);
    assert_eq!(all.iter().collect::<Vec<_>>(), Feature::ALL);
    assert_eq!(Features::of(&[Feature::Subgroup; 3]), empty.with(Feature::Subgroup));
    assert_eq!(format!("{:?}", Features::of(&[Feature::Compute])), "[Compute]");
    assert_eq!(Feature::ALL.iter().copied().fold(all, Features::without), empty);
}
