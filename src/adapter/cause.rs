//! Why there is no adapter, or not the one that was asked for.

use crate::caps::Backend;
use crate::diagnosis::Finding;
use crate::error::causes;
use crate::gpu::cause::ANEW;

causes! {
    pub(crate) enum AdapterCause;

    None { findings: Vec<Finding> }, Adapter:
        ("no GPU adapter{}", match findings.first() {
            Some(first) => format!(": {}", first.found),
            None => String::new(),
        })
        help ("{}", findings.iter().map(|f| f.remedy.as_str()).collect::<Vec<_>>().join("\n"));
    OnlySoftware { names: Vec<String> }, Adapter:
        ("only software adapters, and none was asked for: {}", list(names))
        help ("to compute on the CPU on purpose: {}", match cfg!(target_family = "wasm") {
            true => "call `Adapter::any()`",
            false => "set WHARF_ALLOW_SOFTWARE=1 or WHARF_ADAPTER=name, or call `Adapter::any()` \
                      or `Adapter::find(name)`",
        });
    NotFound { text: String, from_env: bool, there: Vec<String> }, Adapter:
        ("no adapter matches {}{text:?}; there is: {}",
         if *from_env { "WHARF_ADAPTER=" } else { "" }, list(there))
        help ("name an adapter by its index, or by part of its name, vendor, driver or backend");
    Unfit { name: String, because: String }, Adapter:
        ("{name} cannot run wharf: {because}")
        help ("{ANOTHER}");
    OtherPlan { plan: String, adapter: String }, Mismatch:
        ("the plan was negotiated for {plan}, the adapter is {adapter}")
        help ("negotiate with the adapter that is opened");
    Exceeds { adapter: String, what: String }, Mismatch:
        ("the plan asks {adapter} for more than it has: {what}")
        help ("negotiate from the adapter's own `caps()`, downgraded but never improved");
    Created { because: String }, Adapter:
        ("the device cannot run wharf: {because}")
        help ("create it with more: `required_limits: adapter.limits()`");
    Adopted, Mismatch:
        ("the device is adopted already")
        help ("clone the `Device` that adopted it, `device.clone()`: of two, only the later would \
               hear of the device's errors and of its loss");
    /// What a browser offers instead.
    Gone { adapter: String, there: Vec<String> }, Adapter:
        ("the browser no longer offers {adapter}; {}", match &there[..] {
            [] => "there is none".into(),
            there => format!("there is, able to do other things: {}", list(there)),
        })
        help ("negotiate with what it offers now, `Adapter::best()` or `Adapter::any()`");
    Refused { adapter: String, message: String, backend: Backend }, Driver:
        ("{adapter} refused to open a device: {message}")
        help ("{}", match backend {
            Backend::Dx12 => format!("where a device was lost: {ANEW}; or {ANOTHER}"),
            _ => ANOTHER.into(),
        });
}

const ANOTHER: &str = "choose another adapter: `Adapter::list()` shows them";

fn list(names: &[String]) -> String {
    names.join("; ")
}
