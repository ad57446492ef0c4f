//! Why there is no adapter, or not the one that was asked for.

use core::fmt;

use crate::diagnosis::Finding;
use crate::error::{Cause, ErrorKind};

#[derive(Debug)]
pub(crate) enum AdapterCause {
    None { findings: Vec<Finding> },
    OnlySoftware { names: Vec<String> },
    NotFound { text: String, from_env: bool, there: Vec<String> },
    Unfit { name: String, because: String },
    OtherPlan { plan: String, adapter: String },
    Exceeds { adapter: String, what: String },
    Refused { adapter: String, message: String },
}

fn list(names: &[String]) -> String {
    if names.is_empty() { "no adapter at all".into() } else { names.join("; ") }
}

impl fmt::Display for AdapterCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None { findings } => {
                f.write_str("no GPU adapter")?;
                findings.first().map_or(Ok(()), |first| write!(f, ": {}", first.found))
            }
            Self::OnlySoftware { names } => {
                write!(f, "only software adapters, and none was asked for: {}", list(names))
            }
            Self::NotFound { text, from_env, there } => {
                let source = if *from_env { "WHARF_ADAPTER=" } else { "" };
                write!(f, "no adapter matches {source}{text:?}; there is: {}", list(there))
            }
            Self::Unfit { name, because } => write!(f, "{name} cannot run wharf: {because}"),
            Self::OtherPlan { plan, adapter } => {
                write!(f, "the plan was negotiated for {plan}, the adapter is {adapter}")
            }
            Self::Exceeds { adapter, what } => {
                write!(f, "the plan asks {adapter} for more than it has: {what}")
            }
            Self::Refused { adapter, message } => {
                write!(f, "{adapter} refused to open a device: {message}")
            }
        }
    }
}

impl Cause for AdapterCause {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::OtherPlan { .. } | Self::Exceeds { .. } => ErrorKind::Mismatch,
            Self::Refused { .. } => ErrorKind::Driver,
            _ => ErrorKind::Adapter,
        }
    }

    fn help(&self) -> Option<String> {
        Some(match self {
            Self::None { findings } => {
                let remedies: Vec<&str> = findings.iter().map(|f| f.remedy.as_str()).collect();
                remedies.join("\n")
            }
            Self::OnlySoftware { .. } if cfg!(target_family = "wasm") => {
                "to compute on the CPU on purpose: call `Adapter::any()`".into()
            }
            Self::OnlySoftware { .. } => {
                "to compute on the CPU on purpose: set WHARF_ALLOW_SOFTWARE=1 or \
                 WHARF_ADAPTER=name, or call `Adapter::any()` or `Adapter::find(name)`"
                    .into()
            }
            Self::NotFound { .. } => {
                "name an adapter by its index, or by part of its name, vendor, driver or backend"
                    .into()
            }
            Self::Unfit { .. } | Self::Refused { .. } => {
                "choose another adapter: `Adapter::list()` shows them".into()
            }
            Self::OtherPlan { .. } => "negotiate with the adapter that is opened".into(),
            Self::Exceeds { .. } => {
                "negotiate from the adapter's own `caps()`, downgraded but never improved".into()
            }
        })
    }
}
