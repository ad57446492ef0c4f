//! What can go wrong on a device: memory, limits, loss, and failures that only the driver can
//! explain.

use core::fmt;
use std::time::Duration;

use super::watchdog::Submission;
use crate::caps::{Backend, DXC, Identity};
use crate::count::bytes;
use crate::error::{Error, causes};

/// Why a device is lost that somebody has destroyed.
pub(super) const DESTROYED: &str = "destroyed";

/// How what the older of DX12's compilers says begins.
const FXC: &str = "FXC D3DCompile error";

/// What the store held when memory ran out.
#[derive(Clone, Debug)]
pub(crate) struct Shortage {
    pub(crate) requested: u64,
    pub(crate) live: u64,
    pub(crate) pooled: u64,
    pub(crate) largest_free: u64,
    pub(crate) cap: Option<u64>,
}

causes! {
    pub(crate) enum DeviceCause;

    OutOfMemory { shortage: Shortage, capped: bool }, OutOfMemory:
        ("out of memory: {} refuses {shortage}", if *capped { "the cap" } else { "the driver" })
        help ("{}", match capped {
            true => "drop tensors, raise the cap (`device.set_cap`), or split the tensor; unused \
                     memory has already been given back",
            false => "drop tensors or split the tensor; unused memory has already been given \
                      back. `device.memory()` shows what is held, `device.fit(shape, dtype)` asks \
                      beforehand",
        });
    /// Something other than a tensor, of so many bytes where that is known.
    NoMemory { what: String, size: Option<u64> }, OutOfMemory:
        ("out of memory: the driver refuses {} for {what}",
         size.map_or_else(|| "memory".into(), bytes))
        help ("drop tensors, give unused memory back (`device.trim()`), or close what else uses \
               this GPU; `device.memory()` shows what is held");
    TooLarge {
        what: &'static str,
        requested: u128,
        limit: &'static str,
        available: u64,
        unit: &'static str
    }, Limit:
        ("{what} needs {requested} {unit}, {limit} is {available}")
        help ("split the tensor");
    Lacks { kernel: &'static str, feature: String, adapter: String }, Rejected:
        ("{kernel}: its kernel works with {feature}, which {adapter} lacks")
        help ("cast first, `cast(DType::F32)`, or open an adapter that has it");
    Lost { reason: &'static str, message: String, last: String, backend: Backend }, DeviceLost:
        ("device lost ({reason}){}{message}; last submitted: {}",
         if message.is_empty() { "" } else { ": " },
         if last.is_empty() { "nothing" } else { last })
        help ("{}; {}", match backend {
            Backend::Dx12 => ANEW,
            _ => "open a fresh device (`device.reopen()`) and upload again",
        }, match backend {
            Backend::Metal => "a Mac grants more memory than its GPU can work with, and ends \
                               commands that need more: stay below (`device.set_cap`); long \
                               kernels can be cut by a watchdog as well",
            _ => "long kernels can be cut by a driver's watchdog",
        });
    /// A wait ended before the device did: what it is busy with, how many submissions are behind
    /// that, and what was submitted last.
    TimedOut {
        adapter: String,
        patience: Duration,
        busy: Option<Submission>,
        behind: usize,
        last: String
    }, TimedOut:
        ("{adapter} was not done after {patience:?} with {}{}",
         busy.as_ref().map_or_else(|| format!("what came last, {last}"), Submission::to_string),
         if *behind == 0 { String::new() } else { format!("; submissions behind it: {behind}") })
        help ("nothing on the device is lost: try the same call again; a read goes on waiting. A \
               loop that has no end is ended by `Kernel::bounded`; work that is only long wants \
               more patience (WHARF_WATCHDOG=seconds, `device.set_patience`); a driver that is \
               stuck goes with the process");
    /// A callback of the caller's panicked where wgpu called several back.
    Unanswered, Foreign:
        ("what is read was not called back: another callback of the device's panicked before")
        help ("nothing is lost: read again; what you have wgpu call back must not panic \
               (`Device::wgpu_device`)");
    Driver { doing: String, message: String }, Driver:
        ("{doing} failed in the driver: {message}")
        help ("{}", match message.contains(FXC) {
            true => format!("this is FXC, which Windows brings along: put DXC's {DXC} beside the \
                             program, and wgpu takes that; or try another backend \
                             (WGPU_BACKEND=vulkan)"),
            false => "update the driver, or try another backend (WGPU_BACKEND=...); please report \
                      it with the output of the doctor".into(),
        });
    /// What the caller brought, not what wharf did with it.
    Theirs { doing: String, message: String }, Foreign:
        ("{doing}: wgpu refuses what it was given: {message}")
        help ("buffers and encoders of your own come from the device of `Device::wgpu_device`; a \
               buffer is neither mapped nor destroyed while tensors lie in it");
    /// Raised after the call that caused it had returned. If memory ran out there, more of it is
    /// of no use any longer: nobody knows which call it was, so the device answers nothing else.
    Late { message: String }, Driver:
        ("an earlier call failed: {message}")
        help ("what this device computed meanwhile is not to be trusted, and it answers nothing \
               else from now on: open a fresh one (`device.reopen()`) and upload again; put error \
               scopes around calls of your own on `Device::wgpu_device`");
    Devices { left: String, right: String }, Mismatch:
        ("tensors are on two devices: left {left}, right {right}")
        help ("move one of them: `tensor.to(&device)`");
    /// Asked of a device that nobody has opened.
    OnPaper { doing: &'static str, adapter: String }, OnPaper:
        ("{doing} needs {adapter} itself, of which only the capabilities are here")
        help ("`device.watch()`, `tensor.explain()` and `device.memory()` say what would run \
               there and what it would take; values come from an adapter that is here: \
               `Adapter::best()`");
    /// Asked of one that somebody has.
    NotOnPaper { adapter: String }, Mismatch:
        ("{adapter} is here, and has no tensors without values")
        help ("upload values or make them, `device.zeros(shape, dtype)`; tensors without values \
               are for devices on paper: `Device::on_paper(&caps, &policy)`");
}

/// The error of what an adapter on paper cannot do.
pub(crate) fn on_paper(doing: &'static str, identity: &Identity) -> Error {
    DeviceCause::OnPaper { doing, adapter: identity.named() }.into()
}

/// The error of what only an adapter on paper has.
pub(crate) fn not_on_paper(identity: &Identity) -> Error {
    DeviceCause::NotOnPaper { adapter: identity.named() }.into()
}

/// The error of a driver that has no memory for something of wharf's own.
pub(crate) fn no_memory(what: &str, size: Option<u64>) -> Error {
    DeviceCause::NoMemory { what: what.into(), size }.into()
}

/// How to go on after a loss on DX12, which has one device of each GPU in a process.
pub(crate) const ANEW: &str = "drop every tensor, device, adapter and listing of this GPU - as \
                               long as one of them lives, Windows hands out the device that is \
                               lost - then open it anew (`Adapter::best()`) and upload again";

impl fmt::Display for Shortage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = [self.requested, self.live, self.pooled, self.largest_free];
        let [requested, live, pooled, largest] = all.map(bytes);
        let cap = self.cap.map_or_else(|| "none".into(), bytes);
        write!(f, "{requested}; live {live}, pooled {pooled}, largest free {largest}, cap {cap}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_windows_own_compiler_refuses_is_for_a_newer_one() {
        for (said, remedy) in [("FXC D3DCompile error (0x80004005)", "dxcompiler"), ("?", "update")]
        {
            let (doing, message) = ("a pipeline".into(), format!("internal: {said}: X3511"));
            let error = Error::from(DeviceCause::Driver { doing, message });
            assert!(error.help().is_some_and(|help| help.contains(remedy)), "{error:?}");
        }
    }
}
