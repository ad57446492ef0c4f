//! What is known of an adapter without measuring: who it is, what it can do, what it carries.

use serde_json::{Map, Value, json};
use wharf::caps::{Caps, Feature, Limit};
use wharf::plan::Carriage;
use wharf::{Device, Policy};

/// The parts of a passport that only have to be asked for.
pub(super) fn parts(device: &Device) -> Map<String, Value> {
    let caps = device.caps();
    let feature = |&feature: &Feature| (feature.name().into(), json!(caps.has(feature)));
    let features = Feature::ALL.iter().map(feature);
    let limit = |limit: &Limit| (limit.name().into(), json!(caps.limits.get(*limit)));
    let limits: Map<String, Value> = Limit::ALL.iter().map(limit).collect();
    Map::from_iter([
        ("wharf".into(), json!(env!("CARGO_PKG_VERSION"))),
        ("host".into(), host()),
        ("adapter".into(), adapter(device)),
        ("features".into(), Value::Object(Map::from_iter(features))),
        ("limits".into(), Value::Object(limits)),
        ("carriage".into(), carriage(device)),
    ])
}

/// The machine, as far as a driver in software is as fast as its processor. Not whose it is.
fn host() -> Value {
    json!({
        "processor": processor(),
        "cores": std::thread::available_parallelism().ok().map(usize::from),
        "system": if cfg!(target_family = "wasm") { "browser" } else { std::env::consts::OS },
        "architecture": std::env::consts::ARCH,
    })
}

/// The processor's name, where a file says it.
fn processor() -> Option<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    line.split_once(':').map(|(_, name)| name.trim().to_owned())
}

fn adapter(device: &Device) -> Value {
    let Caps { identity: id, cooperative, .. } = device.caps();
    let cooperative: Vec<String> = cooperative.iter().map(ToString::to_string).collect();
    json!({
        "name": id.name,
        "vendor": format!("{:#06x}", id.vendor),
        "device": format!("{:#06x}", id.device),
        "kind": id.device_type.name(),
        "memory": id.device_type.memory().name(),
        "backend": id.backend.name(),
        "driver": id.driver,
        "driver_info": id.driver_info,
        "cooperative": cooperative.join(", "),
        "kernels": format!("{:?}", device.target()),
    })
}

fn carriage(device: &Device) -> Value {
    let (exact, lossless) = (device.plan(), device.adapter().negotiate(&Policy::lossless()));
    let row = |carriage: &Carriage| {
        json!({
            "name": carriage.dtype.name(),
            "how": carriage.how.name(),
            "stored": carriage.stored_as(),
            "computed": carriage.computed_in(),
            "because": carriage.because.to_string(),
            "lossless": lossless.carriage(carriage.dtype).how.name(),
        })
    };
    exact.carriages().iter().map(row).collect()
}
